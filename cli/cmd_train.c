/* npgnn train: learn a model from a graph and save it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cancel.h"
#include "checkpoint.h"
#include "estimate.h"
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
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_TRANSDUCTIVE, NULL);
    options.test = 0;
    options.val = settings->val;
    options.seed = settings->model.seed;
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

/* Saves what was learnt. A training that was stopped or diverged has a model too: the best one so far. */
static int save(const npgnn_trainer *trainer, const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_model_info info = {.size = sizeof info};
    npgnn_error err = {0};
    int code = npgnn_trainer_model(&model, trainer, &err);
    if (code == 0)
        code = npgnn_model_save(model, settings->output, &err);
    if (code == 0) {
        npgnn_model_describe(&info, model, NULL);
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

/* What a signal leaves: the checkpoint first, for it is worth more than the model. */
static void stop(cli_checkpoint *checkpoint, int iteration)
{
    say_error("stopped by a signal after %d iterations; saving the best model so far", iteration);
    if (checkpoint->path && checkpoint_save(checkpoint) == 0)
        say_error("to go on, repeat the command with --resume %s", checkpoint->path);
}

/* Trains to the end or until something stops it, then saves in either case. */
static int train_and_save(cli_checkpoint *checkpoint, cli_progress *progress, const cli_settings *settings)
{
    npgnn_error err = {0};
    progress_job_begin(progress);
    int trained = npgnn_trainer_run(checkpoint->trainer, &err);
    progress_job_end(progress);
    if (trained == NPGNN_E_CANCELLED)
        stop(checkpoint, progress->latest.iteration);
    else if (trained == NPGNN_E_DIVERGED)
        say_error("%s; saving the best model so far", err.text);
    else if (trained != 0)
        return say_error("%s", err.text);
    int saved = save(checkpoint->trainer, settings);
    if (saved != 0 || checkpoint->failed)
        return EXIT_FAILED;
    if (trained == NPGNN_E_CANCELLED)
        return cancel_status();
    return trained ? EXIT_FAILED : EXIT_DONE;
}

/* The options of a checkpoint stand where the command line gives none. */
static int take_options(cli_settings *settings)
{
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    npgnn_options saved = {.size = sizeof saved};
    if (!settings->resume || settings->preset)
        return 0;
    if (npgnn_checkpoint_options(&saved, settings->resume, &env, &err) != 0)
        return say_error("%s", err.text);
    settings->model = saved;
    return settings_change(settings, &cmd_train.args);
}

static int make_trainer(npgnn_trainer **trainer, const npgnn_graph *graph, const npgnn_split *split,
                        const cli_settings *settings, const npgnn_env *env)
{
    npgnn_error err = {0};
    npgnn_progress at = {.size = sizeof at};
    if (npgnn_trainer_new(trainer, graph, split, &settings->model, env, &err) != 0)
        return say_error("%s", err.text);
    if (!settings->resume)
        return 0;
    if (npgnn_trainer_restore(*trainer, settings->resume, &err) != 0)
        return say_error("%s", err.text);
    npgnn_trainer_progress(&at, *trainer, NULL);
    if (!settings->quiet)
        fprintf(stderr, "npgnn: going on after iteration %d of %d\n", at.iteration, at.iterations);
    return 0;
}

/* With a graph at hand: the rest of the job. */
static int train(const npgnn_graph *graph, cli_checkpoint *checkpoint, cli_progress *progress,
                 const cli_settings *settings, const npgnn_env *env)
{
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    int status = make_split(&split, graph, settings, env, &err) != 0 ? say_error("%s", err.text) : 0;
    if (status == 0)
        status = make_trainer(&checkpoint->trainer, graph, split, settings, env);
    if (status == 0)
        status = train_and_save(checkpoint, progress, settings);
    npgnn_trainer_free(checkpoint->trainer);
    npgnn_split_free(split);
    return status;
}

/* Whether what is going to be written can be: better known now than after hours. */
static int check_outputs(const cli_checkpoint *checkpoint, const cli_settings *settings)
{
    if (!settings->output)
        return say_usage("train", "train needs -o MODEL: where to save what it learns");
    if (output_check(settings->output) != 0 || (checkpoint->path && output_check(checkpoint->path) != 0))
        return EXIT_FAILED;
    return 0;
}

static int measure_cost(npgnn_cost *cost, const void *graph, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err)
{
    npgnn_split *split = NULL;
    int code = make_split(&split, graph, settings, env, err);
    if (code == 0)
        code = npgnn_estimate_fit(cost, graph, split, &settings->model, env, err);
    npgnn_split_free(split);
    return code;
}

static int run(const cli_settings *given)
{
    cli_settings settings = *given;
    npgnn_graph *graph = NULL;
    cli_progress progress;
    cli_checkpoint checkpoint;
    if (given->estimate)
        return estimate_data(&(cli_estimate){measure_cost, "iterations", 1, 0}, given);
    int status = checkpoint_open(&checkpoint, &settings);
    if (status == 0)
        status = check_outputs(&checkpoint, &settings);
    if (status == 0)
        status = take_options(&settings);
    if (status == 0)
        status = progress_open(&progress, &settings);
    if (status != 0)
        return status;
    progress.checkpoint = checkpoint.path ? &checkpoint : NULL;
    progress.saves = 1;
    npgnn_env env = progress_env(&progress, &settings);
    status = settings_load(&graph, &settings, settings.operands[0], &env);
    if (status == 0)
        status = train(graph, &checkpoint, &progress, &settings, &env);
    if (settings.profile)
        progress_profile(&progress);
    int logged = progress_close(&progress);
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
    SETTING("seed", 's', ARG_PAIR, changes, "N", "Seed of all random numbers (default 1).", .key = "seed"),
    SETTING("log", 0, ARG_TEXT, log, "FILE", "Write one JSON object a line to FILE, one per iteration."),
    SETTING("checkpoint", 0, ARG_TEXT, checkpoint, "FILE",
            "Save the training in FILE now and then; the one saved before stays as FILE.prev."),
    SETTING("checkpoint-every", 0, ARG_TEXT, checkpoint_every, "TIME",
            "How often: a time such as 30s, 5m or 1h, or a number of iterations (default 60s)."),
    SETTING("resume", 0, ARG_TEXT, resume, "FILE",
            "Go on with the training saved in FILE, and save it there. DATA and what is held out must be the same; "
            "options that "
            "are not given are those of FILE."),
    SETTING_PROFILE,
    SETTING_ESTIMATE,
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
                "the program at once. With --checkpoint, a training that is stopped or killed can go on later, and "
                "ends with the very same model.",
            .examples = "  npgnn train synthetic -o model.safetensors\n"
                        "  npgnn train --edges links.tsv --features words.tsv -o model.safetensors --iterations 1000\n"
                        "  npgnn train synthetic -o model.safetensors --resume training.checkpoint\n",
            .operands = {"DATA"},
            .groups = {own_group, settings_data_group, settings_common_group, settings_model_group},
        },
    .defaults = {.val = 0.05, .seed = 1},
    .run = run,
};
