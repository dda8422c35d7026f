/* npgnn eval: splits a graph, trains and tests, once per seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "estimate.h"
#include "evaluate.h"
#include "message.h"
#include "progress.h"
#include "report.h"
#include "settings.h"

typedef struct eval_settings {
    data_settings data;
    common_settings common;
    model_settings model;
    int method; /* index of npgnn_method_info */
    split_settings splits;
    int bootstrap;
    const char *save_split, *log;
    int curves, profile, estimate;
    npgnn_comm *comm; /* the processes that mpirun has started; NULL: one */
} eval_settings;

/* The name of the method that is evaluated. */
static const char *method_name(const eval_settings *settings)
{
    const char *name = NULL, *help;
    if (settings->model.universal && settings->method == 0)
        return UNIVERSAL;
    npgnn_method_info(&name, &help, settings->method);
    return name;
}

/* Whether it is the model, or the process that replaces it. */
static int is_process(const eval_settings *settings)
{
    return settings->model.universal || settings->model.options.process;
}

/* What is evaluated, in words: "preset best", "cnp (preset default)", "katz"; then the options that differ from the
 * preset. */
static void describe_method(char *text, size_t size, const eval_settings *settings)
{
    const model_settings *model = &settings->model;
    const char *name = method_name(settings), *preset = model->preset ? model->preset : "default";
    size_t used;
    if (settings->method == 0)
        snprintf(text, size, "preset %s", preset);
    else if (npgnn_method_uses(name) & NPGNN_USES_OPTIONS)
        snprintf(text, size, "%s (preset %s)", name, preset);
    else
        snprintf(text, size, "%s", name);
    for (int i = 0; i < model->changes.count && (used = strlen(text)) < size; i++)
        snprintf(text + used, size - used, "%s%s %s", i ? ", " : " with ", model->changes.item[i].key,
                 model->changes.item[i].value);
}

/* The options of the evaluation. They point to `split`, which is filled too. */
static npgnn_eval_options options_from(npgnn_split_options *split, const eval_settings *settings,
                                       const npgnn_split *fixed)
{
    npgnn_eval_options options = {.size = sizeof options,
                                  .model = &settings->model.options,
                                  .split = split,
                                  .fixed = fixed,
                                  .first_seed = settings->splits.seed,
                                  .negatives = (npgnn_negatives)settings->splits.negatives,
                                  .bootstrap = settings->bootstrap};
    options.method = method_name(settings);
    *split = split_settings_options(&settings->splits);
    return options;
}

/* Writes the split of the first seed. The evaluation will make the same one. */
static int save_split(const npgnn_graph *graph, const char *path, const npgnn_eval_options *options,
                      const npgnn_env *env)
{
    npgnn_split *split = NULL;
    npgnn_split_options first = *options->split;
    npgnn_error err = {0};
    int code = 0;
    first.seed = options->first_seed;
    if (!options->fixed)
        code = npgnn_split_new(&split, graph, &first, env, &err);
    if (code == 0)
        code = npgnn_split_save(options->fixed ? options->fixed : split, path, &err);
    npgnn_split_free(split);
    return code ? print_error("%s", err.text) : 0;
}

static int report(const npgnn_eval_run *runs, int done, const cli_curves *curves, const eval_settings *settings,
                  const npgnn_eval_options *options)
{
    if (done == 0)
        return 0;
    npgnn_protocol protocol = options->fixed ? npgnn_split_protocol(options->fixed) : options->split->protocol;
    report_source source = {.dataset = data_name(&settings->data),
                            .protocol = evaluate_protocol_name(protocol),
                            .method = options->method,
                            .options = &settings->model.options,
                            .threads = common_threads(&settings->common)};
    if (settings->model.universal || npgnn_method_uses(options->method) & NPGNN_USES_OPTIONS)
        source.preset = settings->model.preset ? settings->model.preset : "default";
    if (!common_json_on_stdout(&settings->common)) {
        char method[512];
        describe_method(method, sizeof method, settings);
        printf("%s, %s, %s, %d seed%s, split%s %016" PRIx64 " (percent)\n", source.dataset, source.protocol, method,
               done, done == 1 ? "" : "s", options->fixed || done == 1 ? "" : "s", report_split_hash(runs, done));
        report_table(stdout, runs, done);
        if (protocol == NPGNN_RANDOM_LINKS || protocol == NPGNN_PAPER_INDUCTIVE || protocol == NPGNN_PAPER_FEW_SHOT)
            report_emptied(stdout, runs, done);
    }
    /* JSON with some of the seeds could be mistaken for the whole evaluation, so none is written then */
    if (!settings->common.json || done < settings->splits.seeds || comm_rank() > 0)
        return 0;
    json_t *json = report_json(runs, done, &source);
    if (settings->curves)
        curves_merge(json_object_get(json, "seeds"), curves);
    comm_report(json, settings->comm);
    return report_write(json, settings->common.json);
}

static int evaluate(const npgnn_graph *graph, const npgnn_split *fixed, cli_progress *progress,
                    const eval_settings *settings, const npgnn_env *env)
{
    npgnn_split_options split;
    npgnn_eval_options options = options_from(&split, settings, fixed);
    int done = 0;
    int status = 0;
    if (settings->save_split && comm_rank() == 0)
        status = save_split(graph, settings->save_split, &options, env);
    npgnn_eval_run *runs = calloc((size_t)settings->splits.seeds, sizeof *runs);
    if (!runs)
        status = print_error("out of memory");
    status = comm_settle(settings->comm, status);
    if (status) {
        free(runs);
        return status;
    }
    if (progress->curves) {
        options.scores = curves_scores;
        options.scores_user = progress->curves;
    }
    status = evaluate_run(runs, &done, graph, settings->splits.seeds, &options, progress, env);
    int reported = report(runs, done, progress->curves, settings, &options);
    free(runs);
    return status ? status : reported;
}

static int estimate(const npgnn_graph *graph, const npgnn_split *fixed, const eval_settings *settings)
{
    npgnn_split_options split;
    npgnn_eval_options options = options_from(&split, settings, fixed);
    npgnn_env env = common_env(&settings->common);
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    if (npgnn_estimate_evaluate(&cost, graph, settings->splits.seeds, &options, &env, &err) != 0)
        return print_error("%s", err.text);
    return estimate_report(cost, &(estimate_text){"iterations", 1, 0}, &settings->common);
}

static int run(void *given)
{
    eval_settings *settings = given;
    npgnn_graph *graph = NULL;
    npgnn_split *fixed = NULL;
    npgnn_error err = {0};
    cli_progress progress;
    cli_curves curves;
    settings->model.options.seed = settings->splits.seed; /* for the JSON */
    /* a process has seen the iterations of its own seeds only */
    const char *alone = settings->estimate  ? "--estimate"
                        : settings->log     ? "--log"
                        : settings->profile ? "--profile"
                        : settings->curves  ? "--curves"
                                            : NULL;
    if (comm_ranks() > 1 && alone)
        return comm_refuse(alone);
    int status = comm_open(&settings->comm, &settings->common, &cmd_eval, settings);
    if (status != 0)
        return status;
    if (progress_open(&progress, settings->common.quiet, settings->estimate ? NULL : settings->log, 0) != 0)
        return EXIT_FAILED;
    curves_begin(&curves);
    progress.curves = settings->curves ? &curves : NULL;
    npgnn_env env = progress_env(&progress, &settings->common);
    char who[128];
    snprintf(who, sizeof who, "the method %s", method_name(settings));
    if (is_process(settings))
        model_settings_name(who, sizeof who, &settings->model);
    if (is_process(settings) || !(npgnn_method_uses(method_name(settings)) & NPGNN_USES_WEIGHTS))
        data_note_unweighted(&settings->data, who, &env);
    status = data_load(&graph, &settings->data, &env);
    if (status == 0 && split_open(&fixed, graph, settings->splits.fixed, &env, &err) != 0)
        status = print_error("%s", err.text);
    status = comm_settle(settings->comm, status);
    env.comm = settings->comm;
    if (status == 0)
        status =
            settings->estimate ? estimate(graph, fixed, settings) : evaluate(graph, fixed, &progress, settings, &env);
    if (settings->profile && !settings->estimate)
        progress_profile(&progress);
    int closed = progress_close(&progress);
    curves_end(&curves);
    npgnn_split_free(fixed);
    npgnn_graph_free(graph);
    return comm_close(settings->comm, status ? status : closed);
}

#define AT(member) offsetof(eval_settings, member)
static const arg_option options[] = {
    OPTION("bootstrap", 0, ARG_INT, AT(bootstrap), "N",
           "Print 95 % intervals of AUC and AP from N bootstrap resamples of the test pairs; 1000 is usual (default 0: "
           "no intervals).",
           0, 1000000),
    OPTION("save-split", 0, ARG_TEXT, AT(save_split), "FILE", "Write the split of the first seed to FILE."),
    OPTION("curves", 0, ARG_FLAG, AT(curves), NULL,
           "Add ROC, precision-recall, loss and validation curves to the JSON, with about 100 points each."),
    OPTION_LOG(AT(log)),
    OPTION_PROFILE(AT(profile)),
    OPTION_ESTIMATE(AT(estimate)),
    OPTIONS_END,
};

/* ---- options without effect ---- */

static int method_lacks_options(char *by, size_t size, const void *part, const arg_option *option)
{
    const eval_settings *settings = part;
    const char *name = NULL, *help;
    npgnn_method_info(&name, &help, settings->method); /* also where the preset is UNIVERSAL, which is the complaint */
    snprintf(by, size, "by the method %s", name);
    return !(npgnn_method_uses(name) & NPGNN_USES_OPTIONS) && !(option->key && strcmp(option->key, "seed") == 0);
}

/* The method cnp is a network whose latent variable is chosen already. */
static int is_conditional(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "by the method cnp");
    return strcmp(method_name(part), "cnp") == 0;
}

static int is_conditional_process(char *by, size_t size, const void *part, const arg_option *option)
{
    return is_conditional(by, size, part, option) && is_process(part);
}

static int method_lacks_iterations(char *by, size_t size, const void *part, const arg_option *option)
{
    const eval_settings *settings = part;
    (void)option;
    snprintf(by, size, "by the method %s", method_name(settings));
    return !(npgnn_method_uses(method_name(settings)) & NPGNN_USES_ITERATIONS);
}

static int has_no_network(char *by, size_t size, const void *part, const arg_option *option)
{
    const eval_settings *settings = part;
    (void)option;
    if (is_process(settings))
        snprintf(by, size, "by the preset %s", settings->model.preset ? settings->model.preset : "default");
    else
        snprintf(by, size, "by the method %s", method_name(settings));
    return is_process(settings) || !(npgnn_method_uses(method_name(settings)) & NPGNN_USES_OPTIONS);
}

static int has_no_json(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "without --json FILE");
    return !((const eval_settings *)part)->common.json;
}

static const arg_rule rules[] = {
    {.table = model_options, .unused = method_lacks_options, .hint = "it is for npgnn and cnp"},
    {.options = "preset|process", .unused = is_conditional_process, .hint = "it needs a network"},
    {.options = "latent|no-latent|sample-latent|no-sample-latent", .unused = is_conditional},
    {.options = "samples|monte-carlo|kl-weight|sigma-mean|sigma-start|predict-samples",
     .unused = is_conditional,
     .hint = "it draws no latent variable"},
    {.options = "log", .unused = method_lacks_iterations, .hint = "it has no iterations"},
    {.options = "profile", .unused = has_no_network, .hint = "it is for networks"},
    {.options = "curves", .unused = has_no_json},
    SPLIT_RULES(AT(splits)),
    {.options = NULL},
};

const cli_command cmd_eval = {
    .args =
        {
            .name = "eval",
            .usage = "DATA [OPTION...]",
            .summary = "Evaluate a method on a graph: split, train and test, once per seed.",
            .description =
                "Holds out links of the graph DATA, trains on the rest, and measures how well the held-out links are "
                "ranked above non-links. Prints one line per seed, the mean and the standard deviation. 'mpirun -n P "
                "npgnn eval' divides the seeds among P processes; the result is the same.",
            .examples = "  npgnn eval synthetic --protocol inductive --seeds 5\n"
                        "  npgnn eval ind.cora --data-dir data/planetoid --seeds 10 --json cora.json\n"
                        "  npgnn eval synthetic --negatives hard --bootstrap 1000\n"
                        "  npgnn eval synthetic --preset universal --negatives all\n",
            .operands = {DATA_OPERAND(AT(data.name))},
            .groups = {METHOD_GROUP(AT(method)),
                       SPLIT_GROUP(AT(splits)),
                       {"Options", options, 0},
                       DATA_GROUP(AT(data)),
                       COMMON_GROUP(AT(common)),
                       MODEL_GROUP(AT(model))},
            .rules = rules,
        },
    .defaults = &(const eval_settings){.splits = {SPLIT_DEFAULTS, .seeds = 3}},
    .size = sizeof(eval_settings),
    .run = run,
    .takes_universal = 1,
    .takes_processes = 1,
};
