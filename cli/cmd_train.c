/* npgnn train: learn a model from a graph and save it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cancel.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "settings.h"

/* The split that validation edges come from: a file, a share of the edges, or none (NULL: train on all edges). */
static int make_split(npgnn_split **split, const npgnn_graph *graph, const cli_settings *settings, const npgnn_env *env,
                      npgnn_error *err)
{
    if (settings->split)
        return npgnn_split_load(split, graph, settings->split, env, err);
    if (settings->val == 0)
        return 0;
    npgnn_split_options options;
    npgnn_split_options_default(&options, NPGNN_TRANSDUCTIVE);
    options.test = 0;
    options.val = settings->val;
    options.seed = settings->seed;
    return npgnn_split_new(split, graph, &options, env, err);
}

static json_t *summary_json(const npgnn_model_info *info, const cli_settings *settings)
{
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:I, s:I, s:i, s:o, s:o}", "dataset",
                     settings_dataset(settings, settings->operands[0]), "model", settings->output, "config",
                     report_options(&settings->model), "threads", settings->threads, "train_nodes", info->train_nodes,
                     "train_edges", (json_int_t)info->train_edges, "parameters", (json_int_t)info->parameters,
                     "iterations", info->iterations, "val_auc", report_real(info->val_auc), "val_ap",
                     report_real(info->val_ap));
}

static void print_summary(const npgnn_model_info *info, const cli_settings *settings)
{
    fprintf(stderr, "npgnn: wrote %s: %" PRId64 " parameters, learnt from %" PRId32 " nodes and %" PRId64 " edges",
            settings->output, info->parameters, info->train_nodes, info->train_edges);
    if (!isnan(info->val_auc))
        fprintf(stderr, "; validation AUC %.2f, AP %.2f", 100 * info->val_auc, 100 * info->val_ap);
    fputc('\n', stderr);
}

/* What was learnt, with probabilities that are true of the validation edges, where there are any. */
static int make_model(npgnn_model **model, const npgnn_trainer *trainer, const npgnn_split *split,
                      const cli_settings *settings, npgnn_error *err)
{
    npgnn_env env = {.threads = settings->threads};
    const npgnn_pair *pairs;
    size_t positives = 0;
    int code = npgnn_trainer_model(model, trainer, err);
    if (code == 0 && split)
        npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_VAL);
    return code == 0 && positives > 0 ? npgnn_model_calibrate(*model, split, &env, err) : code;
}

/* Saves what was learnt. A training that was stopped or diverged has a model too: the best one so far. */
static int save(const npgnn_trainer *trainer, const npgnn_split *split, const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_model_info info;
    npgnn_error err = {0};
    int code = make_model(&model, trainer, split, settings, &err);
    if (code == 0)
        code = npgnn_model_save(model, settings->output, &err);
    if (code == 0) {
        npgnn_model_describe(&info, model);
        if (!settings->quiet)
            print_summary(&info, settings);
        if (settings->json)
            code = report_write(summary_json(&info, settings), settings->json);
    } else {
        say_error("%s", err.text);
    }
    npgnn_model_free(model);
    return code ? EXIT_FAILED : EXIT_DONE;
}

/* Trains to the end or until something stops it, then saves in either case. */
static int train_and_save(npgnn_trainer *trainer, const npgnn_split *split, cli_progress *progress,
                          const cli_settings *settings)
{
    npgnn_error err = {0};
    progress_job_begin(progress);
    int trained = npgnn_trainer_run(trainer, &err);
    progress_job_end(progress);
    if (trained == NPGNN_E_CANCELLED)
        say_error("stopped by a signal after %d iterations; saving the best model so far", progress->latest.iteration);
    else if (trained == NPGNN_E_DIVERGED)
        say_error("%s; saving the best model so far", err.text);
    else if (trained != 0)
        return say_error("%s", err.text);
    int saved = save(trainer, split, settings);
    if (saved == 0 && trained == NPGNN_E_CANCELLED)
        return cancel_status();
    return saved || trained ? EXIT_FAILED : EXIT_DONE;
}

/* Finds out what the options want to know from held-out links where the split has none: a training of its own. */
static int settle(npgnn_options *model, const npgnn_graph *graph, const npgnn_split *split, cli_progress *progress,
                  const npgnn_env *env)
{
    npgnn_error err = {0};
    progress_job_begin(progress);
    int code = npgnn_options_settle(model, graph, split, env, &err);
    progress_job_end(progress);
    if (code == 0)
        return EXIT_DONE;
    say_error("%s; there is no model yet", err.text);
    return code == NPGNN_E_CANCELLED ? cancel_status() : EXIT_FAILED;
}

static int run(const cli_settings *settings)
{
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_options model = settings->model;
    npgnn_error err = {0};
    cli_progress progress;
    if (!settings->output)
        return say_usage("train", "train needs -o MODEL: where to save what it learns");
    if (output_check(settings->output) != 0)
        return EXIT_FAILED;
    if (progress_open(&progress, settings) != 0)
        return EXIT_FAILED;
    npgnn_env env = progress_env(&progress, settings);
    int status = settings_load(&graph, settings, settings->operands[0], &env);
    if (status == 0 && make_split(&split, graph, settings, &env, &err) != 0)
        status = say_error("%s", err.text);
    if (status == 0)
        status = settle(&model, graph, split, &progress, &env);
    if (status == 0)
        status = npgnn_trainer_new(&trainer, graph, split, &model, &env, &err) == 0
                     ? train_and_save(trainer, split, &progress, settings)
                     : say_error("%s", err.text);
    if (settings->profile)
        progress_profile(&progress);
    int logged = progress_close(&progress);
    npgnn_trainer_free(trainer);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    return status ? status : logged;
}

static const arg_option options[] = {
    SETTING("output", 'o', ARG_TEXT, output, "MODEL", "Where to save the model (required)."),
    SETTING("val", 0, ARG_REAL, val, "FRACTION",
            "Share of the edges kept aside to validate on (default 0.05); 0 trains on all edges, after a first "
            "training on a part of them where the options want to know something of held-out edges.",
            0, 0.9),
    SETTING("split", 0, ARG_TEXT, split, "FILE", "Train and validate on the split in FILE instead."),
    SETTING("seed", 's', ARG_U64, seed, "N", "Seed of all random numbers (default 1)."),
    SETTING("log", 0, ARG_TEXT, log, "FILE", "Write one JSON object a line to FILE, one per iteration."),
    SETTING_PROFILE,
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_train = {
    .args =
        {
            .name = "train",
            .usage = "DATA -o MODEL [OPTION...]",
            .summary = "Learn from a graph and save the model.",
            .description =
                "Learns from the graph DATA which links are likely and saves the model for 'npgnn predict'. "
                "An interrupt (Ctrl-C) stops the training and saves the best model so far; a second one ends "
                "the program at once.",
            .examples = "  npgnn train synthetic -o model.safetensors\n"
                        "  npgnn train --edges links.tsv --features words.tsv -o model.safetensors --iterations 1000\n",
            .operands = {"DATA"},
            .groups = {own_group, settings_data_group, settings_common_group, settings_model_group},
        },
    .defaults = {.val = 0.05, .seed = 1},
    .run = run,
};
