/* npgnn adapt: a model on a graph that it was not trained on: measured, or saved. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "cancel.h"
#include "estimate.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "settings.h"

/* ---- the figures ---- */

static const struct {
    const char *title, *name; /* in the table and in JSON */
} ways[NPGNN_TRANSFER_WAYS] = {
    [NPGNN_OLD_LATENT] = {"old z", "old_z"},
    [NPGNN_NEW_LATENT] = {"z of the new graph", "new_z"},
    [NPGNN_FROM_SCRATCH] = {"trained from scratch", "from_scratch"},
};

/* What was measured, a list of runs for each way, so that their figures can be summed up like those of an evaluation. */
typedef struct figures {
    int seeds;
    double shift; /* mean over the seeds */
    npgnn_eval_run *way[NPGNN_TRANSFER_WAYS];
    npgnn_eval_run *new_minus_old, *scratch_minus_new; /* AUC and AP, seed by seed */
} figures;

enum { LISTS = NPGNN_TRANSFER_WAYS + 2 };

static npgnn_eval_run difference(const npgnn_eval_run *a, const npgnn_eval_run *b)
{
    return (npgnn_eval_run){
        .size = sizeof(npgnn_eval_run), .seed = a->seed, .auc = a->auc - b->auc, .ap = a->ap - b->ap};
}

/* `block` has room for LISTS lists. */
static figures figures_of(npgnn_eval_run *block, const npgnn_eval_run *runs, const double *shift, int seeds)
{
    figures f = {.seeds = seeds};
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

/* ---- for people ---- */

static void print_share(double share)
{
    printf("%.4g %%", 100 * share);
}

static void print_heading(const figures *f, const cli_settings *settings)
{
    printf("%s: ", settings_dataset(settings, settings->operands[0]));
    if (settings->model_file) {
        printf("%s", settings->model_file);
    } else {
        printf("trained on ");
        print_share(settings->train_nodes);
        printf(" of the nodes, tried on %s", settings->grow ? "these and others, " : "others, ");
        print_share(settings->context_nodes);
    }
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

static void print_figures(const figures *f, const cli_settings *settings)
{
    print_heading(f, settings);
    printf("%-22s  %8s  %8s  %8s  %8s  %8s\n", "", "AUC", "sd", "AP", "sd", "seconds");
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        print_way(ways[w].title, f->way[w], f->seeds);
    printf("%-22s  %8s  %8s  %8s  %8s\n", "seed by seed", "AUC", "se", "AP", "se");
    print_difference("  new z - old z", f->new_minus_old, f->seeds);
    print_difference("  from scratch - new z", f->scratch_minus_new, f->seeds);
    if (isnan(f->shift))
        printf("the model has no z: the first two are the same\n");
    else
        printf("z moved by %.3g of its standard deviations\n", f->shift);
}

/* ---- for programs ---- */

static json_t *difference_json(const npgnn_eval_run *runs, int seeds)
{
    report_stats auc = report_summary(runs, seeds, COLUMN_AUC), ap = report_summary(runs, seeds, COLUMN_AP);
    return json_pack("{s:o, s:o, s:o, s:o}", "auc", report_real(auc.mean), "auc_se", report_real(auc.se), "ap",
                     report_real(ap.mean), "ap_se", report_real(ap.se));
}

static json_t *figures_json(const figures *f, const cli_settings *settings, const npgnn_options *model)
{
    json_t *json = json_pack("{s:s, s:s?, s:o, s:o, s:b, s:f, s:o, s:i, s:o}", "dataset",
                             settings_dataset(settings, settings->operands[0]), "model", settings->model_file,
                             "train_nodes", settings->model_file ? json_null() : json_real(settings->train_nodes),
                             "context_nodes", settings->model_file ? json_null() : json_real(settings->context_nodes),
                             "grow", settings->grow, "test", settings->test, "config", report_options(model), "threads",
                             settings->threads, "shift", report_real(f->shift));
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        json_object_set_new(json, ways[w].name, report_runs(f->way[w], f->seeds));
    json_object_set_new(json, "new_minus_old", difference_json(f->new_minus_old, f->seeds));
    json_object_set_new(json, "scratch_minus_new", difference_json(f->scratch_minus_new, f->seeds));
    return json;
}

/* As for eval: JSON on standard output leaves no room for a table, and JSON of a part of the seeds would pass for the whole. */
static int report(const npgnn_eval_run *runs, const double *shift, int done, const cli_settings *settings,
                  const npgnn_options *model)
{
    if (done == 0)
        return 0;
    npgnn_eval_run *block = calloc((size_t)done * LISTS, sizeof *block);
    if (!block)
        return say_error("out of memory");
    figures f = figures_of(block, runs, shift, done);
    if (!settings->json || strcmp(settings->json, "-") != 0)
        print_figures(&f, settings);
    int status = 0;
    if (settings->json && done == settings->seeds)
        status = report_write(figures_json(&f, settings, model), settings->json);
    free(block);
    return status;
}

/* ---- measuring ---- */

static int transfer(npgnn_eval_run *runs, double *shift, int *done, const npgnn_graph *graph, const npgnn_model *model,
                    const npgnn_transfer_options *options, cli_progress *progress, const cli_settings *settings)
{
    npgnn_env env = progress_env(progress, settings);
    npgnn_error err = {0};
    for (int i = 0; i < settings->seeds * NPGNN_TRANSFER_WAYS; i++) /* NaN tells the runs that did not finish */
        runs[i] = (npgnn_eval_run){.size = sizeof *runs, .auc = (double)NAN};
    progress_job_begin(progress);
    int code = npgnn_transfer(runs, shift, graph, model, settings->seeds, options, &env, &err);
    for (*done = 0; *done < settings->seeds && !isnan(runs[*done * NPGNN_TRANSFER_WAYS].auc);)
        ++*done;
    progress_job_end(progress);
    if (code == 0)
        return EXIT_DONE;
    if (code == NPGNN_E_CANCELLED) {
        say_error("stopped by a signal after %d of %d seeds", *done, settings->seeds);
        return cancel_status();
    }
    return say_error("%s", err.text);
}

/* `training` is where the options of training from scratch go: those of the model, if there is one. */
static npgnn_transfer_options options_of(npgnn_options *training, const npgnn_model *model,
                                         const cli_settings *settings)
{
    npgnn_transfer_options options = {.size = sizeof options, .model = training};
    *training = settings->model;
    if (model)
        npgnn_model_options(training, model, NULL);
    options.train_nodes = settings->train_nodes;
    options.context_nodes = settings->context_nodes;
    options.grow = settings->grow;
    options.test = settings->test;
    options.first_seed = settings->seed;
    return options;
}

static int measure(const npgnn_graph *graph, const npgnn_model *model, cli_progress *progress,
                   const cli_settings *settings)
{
    npgnn_options training = {.size = sizeof training};
    npgnn_transfer_options options = options_of(&training, model, settings);
    int done = 0;
    npgnn_eval_run *runs = calloc((size_t)settings->seeds * NPGNN_TRANSFER_WAYS, sizeof *runs);
    double *shift = calloc((size_t)settings->seeds, sizeof *shift);
    int status = runs && shift ? transfer(runs, shift, &done, graph, model, &options, progress, settings)
                               : say_error("out of memory");
    int reported = report(runs, shift, done, settings, &training);
    free(runs);
    free(shift);
    return status ? status : reported;
}

/* ---- saving ---- */

static int save_adapted(const npgnn_graph *graph, const npgnn_model *model, const cli_settings *settings)
{
    npgnn_model *adapted = NULL;
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    npgnn_error err = {0};
    int code = npgnn_model_adapt(&adapted, model, graph, &env, &err);
    if (code == 0)
        code = npgnn_model_save(adapted, settings->output, &err);
    npgnn_model_free(adapted);
    if (code)
        return say_error("%s", err.text);
    if (!settings->quiet)
        fprintf(stderr, "npgnn: wrote %s: %s with the latent of %" PRId32 " nodes and %" PRId64 " edges\n",
                settings->output, settings->model_file, npgnn_graph_nodes(graph), npgnn_graph_edges(graph));
    return EXIT_DONE;
}

/* ---- estimating ---- */

typedef struct inputs {
    npgnn_graph *graph;
    npgnn_model *model; /* or NULL */
} inputs;

static int measure_cost(npgnn_cost *cost, const void *input, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err)
{
    const inputs *in = input;
    npgnn_options training = {.size = sizeof training};
    npgnn_transfer_options options = options_of(&training, in->model, settings);
    return npgnn_estimate_transfer(cost, in->graph, in->model, settings->seeds, &options, env, err);
}

/* ---- the command ---- */

/* What does not go together. */
static int check_usage(const cli_settings *settings)
{
    if (settings->output && !settings->model_file)
        return say_usage("adapt", "--output needs --model: the model to adapt");
    if (settings->output && settings->estimate)
        return say_usage("adapt", "--estimate is of the measuring, and with --output nothing is measured");
    if (settings->model_file && (settings->preset || settings->changes.count > 0))
        return say_usage("adapt", "with --model, options of the model and its training are those of MODEL");
    return 0;
}

static int load(inputs *in, cli_progress *progress, const cli_settings *settings)
{
    npgnn_env env = progress_env(progress, settings);
    npgnn_error err = {0};
    if (!settings->model_file)
        return settings_load(&in->graph, settings, settings->operands[0], &env);
    if (npgnn_model_load(&in->model, settings->model_file, &env, &err) != 0)
        return say_error("%s", err.text);
    return apply_load(&in->graph, in->model, settings, settings->operands[0]);
}

static int work(const inputs *in, cli_progress *progress, const cli_settings *settings)
{
    if (settings->estimate)
        return estimate(&(cli_estimate){measure_cost, "iterations", 1, 0}, in, settings);
    if (settings->output)
        return save_adapted(in->graph, in->model, settings);
    return measure(in->graph, in->model, progress, settings);
}

static int run(const cli_settings *settings)
{
    inputs in = {0};
    cli_progress progress;
    if (check_usage(settings) != 0)
        return EXIT_USAGE;
    if (progress_open(&progress, settings) != 0)
        return EXIT_FAILED;
    int status = load(&in, &progress, settings);
    if (status == 0)
        status = work(&in, &progress, settings);
    int closed = progress_close(&progress);
    npgnn_model_free(in.model);
    npgnn_graph_free(in.graph);
    return status ? status : closed;
}

static const arg_option options[] = {
    SETTING("model", 0, ARG_TEXT, model_file, "MODEL",
            "Adapt this model to DATA instead of training one on a part of it."),
    SETTING("output", 'o', ARG_TEXT, output, "FILE",
            "Save MODEL with the latent of DATA to FILE, and measure nothing."),
    SETTING("train-nodes", 0, ARG_REAL, train_nodes, "F", "Share of the nodes to train on (default 0.3).", 0, 1),
    SETTING("context-nodes", 0, ARG_REAL, context_nodes, "F",
            "Share of the nodes, none of them trained on, to apply the model to (default 0.7).", 0, 1),
    SETTING("grow", 0, ARG_FLAG, grow, NULL, "The nodes trained on are among those the model is applied to."),
    SETTING("test", 0, ARG_REAL, test, "F", "Share of the links there that are hidden, to test on (default 0.1).", 0,
            0.9),
    SETTING("seeds", 'n', ARG_INT, seeds, "N", "How many seeds (default 3).", 1, 100000),
    SETTING("seed", 's', ARG_U64, seed, "N", "The first seed (default 1)."),
    SETTING_ESTIMATE,
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_adapt = {
    .args =
        {
            .name = "adapt",
            .usage = "DATA [--model MODEL [-o FILE]] [OPTION...]",
            .summary = "Use a model on a graph that it was not trained on.",
            .description =
                "Measures what a model is worth on a graph that it was not trained on: as it is, with its latent "
                "encoded from the new graph (nothing is trained), and beside a model that is trained there from "
                "scratch. The graphs are two parts of DATA or, with --model, that of the model and DATA. "
                "With --output, saves the model with the latent of DATA instead.",
            .examples = "  npgnn adapt citeseer --train-nodes 0.3 --context-nodes 0.7 --seeds 10\n"
                        "  npgnn adapt new-graph --model model.safetensors\n"
                        "  npgnn adapt new-graph --model model.safetensors -o new-model.safetensors\n",
            .operands = {"DATA"},
            .groups = {own_group, settings_data_group, settings_common_group, settings_model_group},
        },
    .defaults = {.train_nodes = 0.3, .context_nodes = 0.7, .test = 0.1, .seeds = 3, .seed = 1},
    .run = run,
};
