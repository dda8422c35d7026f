/* npgnn adapt: applies a model to a graph that it was not trained on, and measures how well it does, or saves the
 * result. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "estimate.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "saved_model.h"
#include "settings.h"

typedef struct adapt_settings {
    data_settings data;
    common_settings common;
    model_settings model;
    const char *model_file; /* --model; NULL: train one on a part of DATA */
    const char *output;
    double train_nodes, context_nodes, test;
    int grow;
    int seeds;
    uint64_t seed;
    int estimate;
} adapt_settings;

/* ---- results ---- */

static const struct {
    const char *title, *name; /* in the table and in JSON */
} ways[NPGNN_TRANSFER_WAYS] = {
    [NPGNN_OLD_LATENT] = {"original latent", "old_z"},
    [NPGNN_NEW_LATENT] = {"latent of new graph", "new_z"},
    [NPGNN_FROM_SCRATCH] = {"trained from scratch", "from_scratch"},
};

/* One array of runs per way, so that each can be summarized like an evaluation. */
typedef struct results {
    int seeds;
    double shift; /* mean over the seeds */
    npgnn_eval_run *way[NPGNN_TRANSFER_WAYS];
    npgnn_eval_run *new_minus_old, *scratch_minus_new; /* AUC and AP, seed by seed */
} results;

enum { LISTS = NPGNN_TRANSFER_WAYS + 2 };

static npgnn_eval_run difference(const npgnn_eval_run *a, const npgnn_eval_run *b)
{
    return (npgnn_eval_run){.size = sizeof *a, .seed = a->seed, .auc = a->auc - b->auc, .ap = a->ap - b->ap};
}

/* Arranges the runs in `block`, of LISTS * seeds elements. */
static results arrange(npgnn_eval_run *block, const npgnn_eval_run *runs, const double *shift, int seeds)
{
    results f = {.seeds = seeds};
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        f.way[w] = block + w * seeds;
    f.new_minus_old = block + NPGNN_TRANSFER_WAYS * seeds;
    f.scratch_minus_new = f.new_minus_old + seeds;
    for (int i = 0; i < seeds; i++) {
        const npgnn_eval_run *way = runs + i * NPGNN_TRANSFER_WAYS;
        for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
            f.way[w][i] = way[w];
        f.new_minus_old[i] = difference(&way[NPGNN_NEW_LATENT], &way[NPGNN_OLD_LATENT]);
        f.scratch_minus_new[i] = difference(&way[NPGNN_FROM_SCRATCH], &way[NPGNN_NEW_LATENT]);
        f.shift += shift[i] / seeds;
    }
    return f;
}

static void print_heading(const results *f, const adapt_settings *settings)
{
    printf("%s: ", data_name(&settings->data));
    if (settings->model_file)
        printf("%s", settings->model_file);
    else
        printf("trained on %.4g %% of the nodes, applied to %s%.4g %%", 100 * settings->train_nodes,
               settings->grow ? "these and others, together " : "another ", 100 * settings->context_nodes);
    printf("; %d seed%s, split%s %016" PRIx64 " (percent)\n", f->seeds, f->seeds == 1 ? "" : "s",
           f->seeds == 1 ? "" : "s", report_split_hash(f->way[0], f->seeds));
}

static void print_cell(double value, int with_sign)
{
    if (isnan(value))
        printf("  %8s", "-");
    else
        printf(with_sign ? "  %+8.2f" : "  %8.2f", value);
}

static void print_way(const char *title, const npgnn_eval_run *runs, int seeds)
{
    report_stats auc = report_summary(runs, seeds, COLUMN_AUC), ap = report_summary(runs, seeds, COLUMN_AP);
    printf("%-22s", title);
    print_cell(100 * auc.mean, 0);
    print_cell(100 * auc.std, 0);
    print_cell(100 * ap.mean, 0);
    print_cell(100 * ap.std, 0);
    print_cell(report_summary(runs, seeds, COLUMN_SECONDS).mean, 0);
    putchar('\n');
}

static void print_difference(const char *title, const npgnn_eval_run *runs, int seeds)
{
    report_stats auc = report_summary(runs, seeds, COLUMN_AUC), ap = report_summary(runs, seeds, COLUMN_AP);
    printf("%-22s", title);
    print_cell(100 * auc.mean, 1);
    print_cell(100 * auc.se, 0);
    print_cell(100 * ap.mean, 1);
    print_cell(100 * ap.se, 0);
    putchar('\n');
}

static void print_results(const results *f, const adapt_settings *settings)
{
    print_heading(f, settings);
    printf("%-22s  %8s  %8s  %8s  %8s  %8s\n", "", "AUC", "sd", "AP", "sd", "seconds");
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        print_way(ways[w].title, f->way[w], f->seeds);
    printf("%-22s  %8s  %8s  %8s  %8s\n", "paired by seed", "AUC", "se", "AP", "se");
    print_difference("  new - original", f->new_minus_old, f->seeds);
    print_difference("  from scratch - new", f->scratch_minus_new, f->seeds);
    if (isnan(f->shift))
        printf("The model has no latent variable, so the first two rows are the same.\n");
    else
        printf("The mean of the latent variable moved by %.3g standard deviations.\n", f->shift);
}

static json_t *difference_json(const npgnn_eval_run *runs, int seeds)
{
    report_stats auc = report_summary(runs, seeds, COLUMN_AUC), ap = report_summary(runs, seeds, COLUMN_AP);
    return json_pack("{s:o, s:o, s:o, s:o}", "auc", report_real(auc.mean), "auc_se", report_real(auc.se), "ap",
                     report_real(ap.mean), "ap_se", report_real(ap.se));
}

static json_t *results_json(const results *f, const adapt_settings *settings, const npgnn_options *model)
{
    json_t *json = json_pack("{s:s, s:s?, s:o, s:o, s:b, s:f, s:o, s:i, s:o}", "dataset", data_name(&settings->data),
                             "model", settings->model_file, "train_nodes",
                             settings->model_file ? json_null() : json_real(settings->train_nodes), "context_nodes",
                             settings->model_file ? json_null() : json_real(settings->context_nodes), "grow",
                             settings->grow, "test", settings->test, "config", report_options(model), "threads",
                             common_threads(&settings->common), "shift", report_real(f->shift));
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        json_object_set_new(json, ways[w].name, report_runs(f->way[w], f->seeds));
    json_object_set_new(json, "new_minus_old", difference_json(f->new_minus_old, f->seeds));
    json_object_set_new(json, "scratch_minus_new", difference_json(f->scratch_minus_new, f->seeds));
    return json;
}

static int report(const npgnn_eval_run *runs, const double *shift, int done, const adapt_settings *settings,
                  const npgnn_options *model)
{
    if (done == 0)
        return 0;
    npgnn_eval_run *block = calloc((size_t)done * LISTS, sizeof *block);
    if (!block)
        return print_error("out of memory");
    results f = arrange(block, runs, shift, done);
    int status = 0;
    if (!common_json_on_stdout(&settings->common))
        print_results(&f, settings);
    /* JSON with some of the seeds could be mistaken for the whole, so none is written then */
    if (settings->common.json && done == settings->seeds)
        status = report_write(results_json(&f, settings, model), settings->common.json);
    free(block);
    return status;
}

/* ---- measuring ---- */

/* The options of the measurement. They point to `training`: the options of the model, where one is given, so that the
 * model from scratch is trained in the same way. */
static npgnn_transfer_options options_from(npgnn_options *training, const npgnn_model *model,
                                           const adapt_settings *settings)
{
    *training = settings->model.options;
    if (model)
        npgnn_model_options(training, model, NULL);
    return (npgnn_transfer_options){.size = sizeof(npgnn_transfer_options),
                                    .model = training,
                                    .train_nodes = settings->train_nodes,
                                    .context_nodes = settings->context_nodes,
                                    .grow = settings->grow,
                                    .test = settings->test,
                                    .first_seed = settings->seed};
}

static int measure(const npgnn_graph *graph, const npgnn_model *model, cli_progress *progress,
                   const adapt_settings *settings)
{
    npgnn_options training;
    npgnn_transfer_options options = options_from(&training, model, settings);
    npgnn_env env = progress_env(progress, &settings->common);
    npgnn_error err = {0};
    int seeds = settings->seeds, done = 0, status = EXIT_DONE;
    npgnn_eval_run *runs = calloc((size_t)seeds * NPGNN_TRANSFER_WAYS, sizeof *runs); /* (seeds, ways) */
    double *shift = calloc((size_t)seeds, sizeof *shift);                             /* (seeds) */
    if (!runs || !shift) {
        free(runs);
        free(shift);
        return print_error("out of memory");
    }
    for (int i = 0; i < seeds * NPGNN_TRANSFER_WAYS; i++)
        runs[i] = (npgnn_eval_run){.size = sizeof *runs, .auc = (double)NAN}; /* NaN marks unfinished runs */
    progress_job_begin(progress);
    int code = npgnn_transfer(runs, shift, graph, model, seeds, &options, &env, &err);
    while (done < seeds && !isnan(runs[done * NPGNN_TRANSFER_WAYS].auc))
        done++;
    progress_job_end(progress);
    if (code == NPGNN_E_CANCELLED) {
        print_error("stopped by a signal after %d of %d seeds", done, seeds);
        status = cancel_status();
    } else if (code != 0) {
        status = print_error("%s", err.text);
    }
    int reported = report(runs, shift, done, settings, &training);
    free(runs);
    free(shift);
    return status ? status : reported;
}

static int estimate(const npgnn_graph *graph, const npgnn_model *model, const adapt_settings *settings)
{
    npgnn_options training;
    npgnn_transfer_options options = options_from(&training, model, settings);
    npgnn_env env = common_env(&settings->common);
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    if (npgnn_estimate_transfer(&cost, graph, model, settings->seeds, &options, &env, &err) != 0)
        return print_error("%s", err.text);
    return estimate_report(cost, &(estimate_text){"iterations", 1, 0}, &settings->common);
}

/* ---- saving ---- */

static int save_adapted(const npgnn_graph *graph, const npgnn_model *model, const adapt_settings *settings)
{
    npgnn_model *adapted = NULL;
    npgnn_env env = common_env(&settings->common);
    npgnn_error err = {0};
    int code = npgnn_model_adapt(&adapted, model, graph, &env, &err);
    if (code == 0)
        code = npgnn_model_save(adapted, settings->output, &err);
    npgnn_model_free(adapted);
    if (code)
        return print_error("%s", err.text);
    if (!settings->common.quiet)
        print_note("wrote %s: %s adapted to a graph of %" PRId32 " node%s and %" PRId64 " edge%s", settings->output,
                   settings->model_file, npgnn_graph_nodes(graph), PLURAL(npgnn_graph_nodes(graph)),
                   npgnn_graph_edges(graph), PLURAL(npgnn_graph_edges(graph)));
    return EXIT_DONE;
}

/* ---- the command ---- */

static int run(void *given)
{
    adapt_settings *settings = given;
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL; /* NULL without --model */
    npgnn_error err = {0};
    cli_progress progress;
    int status = 0;
    if (settings->output && !settings->model_file)
        return print_usage_error("adapt", "--output needs --model MODEL: the model to adapt");
    settings->model.options.seed = settings->seed; /* for the JSON */
    progress_open(&progress, settings->common.quiet, NULL, 0);
    npgnn_env env = progress_env(&progress, &settings->common);
    if (settings->model_file && saved_model_open(&model, settings->model_file, &env, &err) != 0)
        status = print_error("%s", err.text);
    else if (model)
        status = saved_model_load_graph(&graph, model, &settings->data, &env);
    else
        status = data_load(&graph, &settings->data, &env);
    if (status == 0)
        status = settings->estimate ? estimate(graph, model, settings)
                 : settings->output ? save_adapted(graph, model, settings)
                                    : measure(graph, model, &progress, settings);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return status;
}

#define AT(member) offsetof(adapt_settings, member)
static const arg_option options[] = {
    OPTION("model", 0, ARG_TEXT, AT(model_file), "MODEL",
           "Apply this model to DATA, instead of one trained on a part of DATA."),
    OPTION("output", 'o', ARG_TEXT, AT(output), "FILE",
           "Save MODEL, with its latent variable encoded from DATA, in FILE. Nothing is measured."),
    OPTION("train-nodes", 0, ARG_REAL, AT(train_nodes), "F", "Fraction of the nodes to train on (default 0.3).", 0, 1),
    OPTION("context-nodes", 0, ARG_REAL, AT(context_nodes), "F",
           "Fraction of the nodes to apply the model to; none of them were trained on (default 0.7).", 0, 1),
    OPTION("grow", 0, ARG_FLAG, AT(grow), NULL, "Include the nodes trained on among those the model is applied to."),
    OPTION("test", 0, ARG_REAL, AT(test), "F",
           "Fraction of the links there that are held out for the test (default 0.1).", 0, 0.9),
    OPTION("seeds", 'n', ARG_INT, AT(seeds), "N", "Number of seeds (default 3).", 1, 100000),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "First seed (default 1)."),
    OPTION_ESTIMATE(AT(estimate)),
    OPTIONS_END,
};

static int is_given_model(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --model");
    return ((const adapt_settings *)part)->model_file != NULL;
}

static int only_saves(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --output");
    return ((const adapt_settings *)part)->output != NULL;
}

static const arg_rule rules[] = {
    {.table = model_options, .unused = is_given_model, .hint = "the model has options of its own"},
    {.options = "train-nodes|context-nodes|grow",
     .unused = is_given_model,
     .hint = "the model is applied to all of DATA"},
    {.options = "test|seeds|seed|json|estimate", .unused = only_saves, .hint = "nothing is measured"},
    {.options = NULL},
};

const cli_command cmd_adapt = {
    .args =
        {
            .name = "adapt",
            .usage = "DATA [--model MODEL [-o FILE]] [OPTION...]",
            .summary = "Apply a model to a graph that it was not trained on.",
            .description =
                "Measures how well a model does on a graph that it was not trained on: unchanged, with its latent "
                "variable encoded from the new graph (nothing is trained), and compared with a model trained on the "
                "new graph from scratch. The two graphs are two parts of DATA or, with --model, the training graph of "
                "MODEL and DATA. With --output, saves the adapted model and measures nothing.",
            .examples = "  npgnn adapt citeseer --train-nodes 0.3 --context-nodes 0.7 --seeds 10\n"
                        "  npgnn adapt new-graph --model model.safetensors\n"
                        "  npgnn adapt new-graph --model model.safetensors -o new-model.safetensors\n",
            .operands = {DATA_OPERAND(AT(data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(data)), COMMON_GROUP(AT(common)), MODEL_GROUP(AT(model))},
            .rules = rules,
        },
    .defaults = &(const adapt_settings){.train_nodes = 0.3, .context_nodes = 0.7, .test = 0.1, .seeds = 3, .seed = 1},
    .size = sizeof(adapt_settings),
    .run = run,
};
