/* npgnn train: trains a model on a graph and saves it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cancel.h"
#include "checkpoint.h"
#include "comm.h"
#include "estimate.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "settings.h"

typedef struct train_settings {
    data_settings data;
    common_settings common;
    model_settings model;
    const char *output;
    double val; /* 0: train on all edges */
    const char *split;
    const char *log;
    const char *checkpoint, *checkpoint_every, *resume;
    int profile, estimate;
    npgnn_comm *comm; /* the processes that mpirun has started; NULL: one */
} train_settings;

/* The split that validation edges come from: a file, a fraction of the edges, or none (NULL: train on all edges, as
 * npgnn_fit does). */
static int make_split(npgnn_split **split, const npgnn_graph *graph, const train_settings *settings,
                      const npgnn_env *env, npgnn_error *err)
{
    if (settings->split)
        return split_open(split, graph, settings->split, env, err);
    if (settings->val == 0)
        return 0;
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_TRANSDUCTIVE, NULL);
    options.test = 0;
    options.val = settings->val;
    options.seed = settings->model.options.seed;
    return npgnn_split_new(split, graph, &options, env, err);
}

static json_t *summary_json(const npgnn_model_info *info, const train_settings *settings)
{
    json_t *summary =
        json_pack("{s:s, s:s, s:o, s:i, s:i, s:I, s:I, s:i, s:o, s:o}", "dataset", data_name(&settings->data), "model",
                  settings->output, "config", report_options(&settings->model.options), "threads",
                  common_threads(&settings->common), "train_nodes", info->train_nodes, "train_edges",
                  (json_int_t)info->train_edges, "parameters", (json_int_t)info->parameters, "iterations",
                  info->iterations, "val_auc", report_real(info->val_auc), "val_ap", report_real(info->val_ap));
    comm_report(summary, settings->comm);
    return summary;
}

static void print_summary(const npgnn_model_info *info, const char *path)
{
    char validation[64] = "";
    if (!isnan(info->val_auc))
        snprintf(validation, sizeof validation, "; validation AUC %.2f, AP %.2f", 100 * info->val_auc,
                 100 * info->val_ap);
    print_note("wrote %s: %" PRId64 " parameters, trained on %" PRId32 " node%s and %" PRId64 " edge%s%s", path,
               info->parameters, info->train_nodes, PLURAL(info->train_nodes), info->train_edges,
               PLURAL(info->train_edges), validation);
}

/* Saves the model and says so. */
static int save(const npgnn_model *model, const train_settings *settings)
{
    npgnn_model_info info = {.size = sizeof info};
    npgnn_error err = {0};
    if (comm_rank() > 0)
        return EXIT_DONE;
    if (npgnn_model_save(model, settings->output, &err) != 0)
        return print_error("%s", err.text);
    npgnn_model_describe(&info, model, NULL);
    if (!settings->common.quiet)
        print_summary(&info, settings->output);
    if (settings->common.json && report_write(summary_json(&info, settings), settings->common.json) != 0)
        return EXIT_FAILED;
    return EXIT_DONE;
}

/* Trains to the end or until something stops the training, and saves the model in both cases. */
static int train_and_save(cli_checkpoint *checkpoint, cli_progress *progress, const train_settings *settings)
{
    npgnn_error err = {0};
    progress_job_begin(progress);
    int trained = npgnn_trainer_run(checkpoint->trainer, &err);
    progress_job_end(progress);
    if (trained == NPGNN_E_CANCELLED) {
        print_error("stopped by a signal after %d iteration%s; saving the best model so far",
                    progress->latest.iteration, PLURAL(progress->latest.iteration));
        /* the checkpoint first: it is worth more than the model */
        if (checkpoint->path && comm_rank() == 0 && checkpoint_save(checkpoint) == 0)
            print_note("to resume, repeat the command with --resume %s", checkpoint->path);
    } else if (trained == NPGNN_E_DIVERGED) {
        print_error("%s; saving the best model so far", err.text);
    } else if (trained != 0) {
        return print_error("%s", err.text);
    }
    npgnn_model *model = NULL; /* after a training that was stopped or diverged: the best so far */
    int saved = npgnn_trainer_model(&model, checkpoint->trainer, &err) != 0 ? print_error("%s", err.text)
                                                                            : save(model, settings);
    saved = comm_settle(settings->comm, saved);
    npgnn_model_free(model);
    if (saved != 0 || checkpoint->failed)
        return EXIT_FAILED;
    if (trained == NPGNN_E_CANCELLED)
        return cancel_status();
    return trained ? EXIT_FAILED : EXIT_DONE;
}

/* With --resume and without --preset, options that the command line does not give are those of the checkpoint. */
static int take_checkpoint_options(train_settings *settings)
{
    npgnn_error err = {0};
    npgnn_env env = common_env(&settings->common);
    npgnn_options saved = {.size = sizeof saved};
    if (!settings->resume || settings->model.preset)
        return 0;
    if (npgnn_checkpoint_options(&saved, settings->resume, &env, &err) != 0)
        return print_error("%s", err.text);
    settings->model.options = saved;
    return model_settings_change(&settings->model, "train");
}

static int make_trainer(npgnn_trainer **trainer, const npgnn_graph *graph, const npgnn_split *split,
                        const train_settings *settings, const npgnn_env *env)
{
    npgnn_error err = {0};
    npgnn_progress at = {.size = sizeof at};
    if (npgnn_trainer_new(trainer, graph, split, &settings->model.options, env, &err) != 0)
        return print_error("%s", err.text);
    if (!settings->resume)
        return 0;
    if (npgnn_trainer_restore(*trainer, settings->resume, &err) != 0)
        return print_error("%s", err.text);
    npgnn_trainer_progress(&at, *trainer, NULL);
    if (!settings->common.quiet)
        print_note("resuming after iteration %d of %d", at.iteration, at.iterations);
    return 0;
}

/* Tunes the process on what the split, or the whole graph, lets it know. It holds links out by itself: --val is for
 * networks. */
static int tune(const npgnn_graph *graph, cli_progress *progress, const train_settings *settings, const npgnn_env *env)
{
    npgnn_split *split = NULL;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    int code = npgnn_comm_agree(settings->comm, split_open(&split, graph, settings->split, env, &err), &err);
    if (code == 0) {
        progress_job_begin(progress);
        code = npgnn_fit(&model, split ? npgnn_split_train(NULL, split) : graph, &settings->model.options, env, &err);
        progress_job_end(progress);
    }
    int status = EXIT_DONE;
    if (code == NPGNN_E_CANCELLED) {
        print_error("stopped by a signal; there is no model yet");
        status = cancel_status();
    } else if (code != 0) {
        status = print_error("%s", err.text);
    } else {
        status = comm_settle(settings->comm, save(model, settings));
    }
    npgnn_model_free(model);
    npgnn_split_free(split);
    return status;
}

/* From the graph to the saved model. */
static int train(const npgnn_graph *graph, cli_checkpoint *checkpoint, cli_progress *progress,
                 const train_settings *settings, const npgnn_env *env)
{
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    int status = make_split(&split, graph, settings, env, &err) != 0 ? print_error("%s", err.text) : 0;
    status = comm_settle(settings->comm, status);
    if (status == 0)
        status = make_trainer(&checkpoint->trainer, graph, split, settings, env);
    if (status == 0)
        status = train_and_save(checkpoint, progress, settings);
    npgnn_trainer_free(checkpoint->trainer);
    npgnn_split_free(split);
    return status;
}

static int estimate(const train_settings *settings)
{
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_env env = common_noting_env(&settings->common);
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    int status = data_load(&graph, &settings->data, &env);
    if (status == 0 && (make_split(&split, graph, settings, &env, &err) != 0 ||
                        npgnn_estimate_fit(&cost, graph, split, &settings->model.options, &env, &err) != 0))
        status = print_error("%s", err.text);
    if (status == 0)
        status = estimate_report(cost, &(estimate_text){"iterations", 1, 0}, &settings->common);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    return status;
}

/* Checks what is given, and opens what is written. A path that cannot be written is reported now, not after hours of
 * training. */
static int prepare(cli_checkpoint *checkpoint, cli_progress *progress, train_settings *settings)
{
    int first = comm_rank() == 0; /* of several processes the first one writes */
    int status = checkpoint_open(checkpoint, settings->checkpoint, settings->resume, settings->checkpoint_every);
    if (status == 0 && !settings->output)
        status = print_usage_error("train", "missing option -o MODEL: the file to save the model in");
    if (status == 0 && first)
        status = output_check(settings->output);
    if (status == 0 && checkpoint->path && first)
        status = output_check(checkpoint->path);
    if (status == 0)
        status = take_checkpoint_options(settings);
    if (status == 0)
        status = progress_open(progress, settings->common.quiet || !first, first ? settings->log : NULL,
                               settings->resume != NULL);
    return status;
}

static int run(void *given)
{
    train_settings *settings = given;
    npgnn_graph *graph = NULL;
    cli_progress progress;
    cli_checkpoint checkpoint;
    char who[128];
    model_settings_name(who, sizeof who, &settings->model);
    if (comm_ranks() > 1 && settings->estimate)
        return comm_refuse("--estimate");
    if (settings->estimate)
        return estimate(settings);
    int status = comm_open(&settings->comm, &settings->common, &cmd_train, settings);
    if (status != 0)
        return status;
    status = comm_settle(settings->comm, prepare(&checkpoint, &progress, settings));
    if (status != 0)
        return comm_close(settings->comm, status);
    progress.checkpoint = checkpoint.path && comm_rank() == 0 ? &checkpoint : NULL;
    progress.saves = !settings->model.options.process;
    npgnn_env env = progress_env(&progress, &settings->common);
    env.comm = settings->comm;
    if (settings->model.options.process)
        data_note_unweighted(&settings->data, who, &env);
    status = comm_settle(settings->comm, data_load(&graph, &settings->data, &env));
    if (status == 0)
        status = settings->model.options.process ? tune(graph, &progress, settings, &env)
                                                 : train(graph, &checkpoint, &progress, settings, &env);
    if (settings->profile && comm_rank() == 0)
        progress_profile(&progress);
    int closed = progress_close(&progress);
    npgnn_graph_free(graph);
    return comm_close(settings->comm, status ? status : closed);
}

#define AT(member) offsetof(train_settings, member)
static const arg_option options[] = {
    OPTION("output", 'o', ARG_TEXT, AT(output), "MODEL", "File to save the model in (required)."),
    OPTION("val", 0, ARG_REAL, AT(val), "F",
           "Fraction of the edges that are held out for the validation of a network (default 0: train on all edges). "
           "With 0, what depends on held-out edges comes from a rehearsal: a first training on nine tenths of the "
           "edges. A fraction such as 0.05 halves the time, and the model learns from fewer edges. The preset best "
           "needs no validation.",
           0, 0.9),
    OPTION("split", 0, ARG_TEXT, AT(split), "FILE|authors",
           "Use the training and validation edges of the split in FILE; authors: see 'npgnn eval --help'."),
    OPTION("seed", 's', ARG_PAIR, AT(model.changes), "N", "Seed of all random numbers (default 1).", .key = "seed"),
    OPTION_LOG(AT(log)),
    OPTION("checkpoint", 0, ARG_TEXT, AT(checkpoint), "FILE",
           "Save checkpoints of the training in FILE. The previous checkpoint is kept as FILE.prev."),
    OPTION("checkpoint-every", 0, ARG_TEXT, AT(checkpoint_every), "TIME",
           "Interval between checkpoints: a time such as 30s, 5m or 1h, or a number of iterations (default 60s)."),
    OPTION("resume", 0, ARG_TEXT, AT(resume), "FILE",
           "Resume the training from the checkpoint in FILE, and save further checkpoints there. DATA and the "
           "validation edges must be the same as before. Options that are not given are taken from FILE."),
    OPTION_PROFILE(AT(profile)),
    OPTION_ESTIMATE(AT(estimate)),
    OPTIONS_END,
};

static int is_process(char *by, size_t size, const void *part, const arg_option *option)
{
    const train_settings *settings = part;
    char name[128];
    (void)option;
    model_settings_name(name, sizeof name, &settings->model);
    snprintf(by, size, "by %s", name);
    return settings->model.options.process;
}

/* --val 0 is what a process does anyway. */
static int is_process_with_val(char *by, size_t size, const void *part, const arg_option *option)
{
    return is_process(by, size, part, option) && ((const train_settings *)part)->val > 0;
}

static int is_split(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --split");
    return ((const train_settings *)part)->split != NULL;
}

static const arg_rule rules[] = {
    {.options = "checkpoint|checkpoint-every|resume|profile",
     .unused = is_process,
     .hint = "it is for networks; a process is tuned in one go"},
    {.options = "val", .unused = is_process_with_val, .hint = "a process is tuned on all edges, each hidden in turn"},
    {.options = "val", .unused = is_split, .hint = "it has validation edges of its own"},
    {.options = NULL},
};

const cli_command cmd_train = {
    .args =
        {
            .name = "train",
            .usage = "DATA -o MODEL [OPTION...]",
            .summary = "Train a model on a graph and save it.",
            .description =
                "Trains a model on the graph DATA and saves it for 'npgnn predict': a network, or with --preset best "
                "the process learnt across graphs, tuned on DATA. An interrupt (Ctrl-C) stops the training of a "
                "network and saves the best model so far; a second one ends the program at once. With --checkpoint, a "
                "training that was stopped or killed can be resumed later; the result is the same, bit for bit. The "
                "preset best takes seconds and has no checkpoints. 'mpirun -n P npgnn train' divides the "
                "training among P processes; the result is the same.",
            .examples = "  npgnn train synthetic -o model.safetensors\n"
                        "  npgnn train --edges links.tsv --features words.tsv -o model.safetensors --iterations 1000\n"
                        "  npgnn train synthetic -o model.safetensors --resume training.checkpoint\n",
            .operands = {DATA_OPERAND(AT(data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(data)), COMMON_GROUP(AT(common)), MODEL_GROUP(AT(model))},
            .rules = rules,
        },
    .takes_processes = 1,
    .defaults = &(const train_settings){.val = 0},
    .size = sizeof(train_settings),
    .run = run,
};
