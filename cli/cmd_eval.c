/* npgnn eval: split, train, test, over several seeds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "evaluate.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "settings.h"

/* Writes the split of the first seed; the evaluation makes the same one again. */
static int save_split(const npgnn_split *fixed, const npgnn_graph *graph, const cli_settings *settings,
                      const npgnn_eval_options *options, const npgnn_env *env)
{
    npgnn_split *split = NULL;
    npgnn_split_options first = *options->split;
    npgnn_error err = {0};
    int code = 0;
    first.seed = settings->seed;
    if (!fixed)
        code = npgnn_split_new(&split, graph, &first, env, &err);
    if (code == 0)
        code = npgnn_split_save(fixed ? fixed : split, settings->save_split, &err);
    npgnn_split_free(split);
    return code ? say_error("%s", err.text) : 0;
}

static int write_json(const npgnn_eval_run *runs, const cli_curves *curves, const cli_settings *settings,
                      const char *dataset, const char *protocol, const char *method)
{
    json_t *json = report_json(runs, settings->seeds, settings, dataset, protocol, method);
    if (curves)
        curves_merge(json_object_get(json, "seeds"), curves);
    return report_write(json, settings->json);
}

static int report(const npgnn_eval_run *runs, int done, const cli_curves *curves, const cli_settings *settings,
                  const npgnn_eval_options *options)
{
    if (done == 0)
        return 0;
    const char *dataset = settings_dataset(settings, settings->operands[0]);
    const char *protocol =
        evaluate_protocol_name(options->fixed ? npgnn_split_protocol(options->fixed) : options->split->protocol);
    /* JSON on standard output leaves no room for a table; JSON of a part of the seeds would pass for the whole */
    if (!settings->json || strcmp(settings->json, "-") != 0) {
        printf("%s, %s, %s, %d seed%s, split%s %016" PRIx64 " (percent)\n", dataset, protocol, options->method, done,
               done == 1 ? "" : "s", options->fixed || done == 1 ? "" : "s", report_split_hash(runs, done));
        report_table(stdout, runs, done);
    }
    if (settings->json && done == settings->seeds)
        return write_json(runs, curves, settings, dataset, protocol, options->method);
    return 0;
}

static int evaluate(const npgnn_graph *graph, const npgnn_split *fixed, cli_progress *progress,
                    const cli_settings *settings, const npgnn_env *env)
{
    npgnn_eval_options options;
    npgnn_split_options split;
    int done = 0;
    evaluate_options(&options, &split, settings, settings->protocol, evaluate_method_name(settings->method));
    options.fixed = fixed;
    if (settings->save_split && save_split(fixed, graph, settings, &options, env) != 0)
        return EXIT_FAILED;
    npgnn_eval_run *runs = calloc((size_t)settings->seeds, sizeof *runs);
    if (!runs)
        return say_error("out of memory");
    if (progress->curves) {
        options.scores = curves_scores;
        options.scores_user = progress->curves;
    }
    int status = evaluate_run(runs, &done, graph, settings->seeds, &options, progress, env);
    int reported = report(runs, done, progress->curves, settings, &options);
    free(runs);
    return status ? status : reported;
}

static int measure_cost(npgnn_cost *cost, const void *graph, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err)
{
    npgnn_split *fixed = NULL;
    npgnn_eval_options options;
    npgnn_split_options split;
    evaluate_options(&options, &split, settings, settings->protocol, evaluate_method_name(settings->method));
    int code = settings->split ? npgnn_split_load(&fixed, graph, settings->split, env, err) : 0;
    options.fixed = fixed;
    if (code == 0)
        code = npgnn_estimate_evaluate(cost, graph, settings->seeds, &options, env, err);
    npgnn_split_free(fixed);
    return code;
}

static int run(const cli_settings *settings)
{
    npgnn_graph *graph = NULL;
    npgnn_split *fixed = NULL;
    npgnn_error err = {0};
    cli_progress progress;
    cli_curves curves;
    if (settings->estimate)
        return estimate_data(&(cli_estimate){measure_cost, "iterations", 1, 0}, settings);
    if (progress_open(&progress, settings) != 0)
        return EXIT_FAILED;
    curves_begin(&curves);
    progress.curves = settings->curves ? &curves : NULL;
    npgnn_env env = progress_env(&progress, settings);
    int status = settings_load(&graph, settings, settings->operands[0], &env);
    if (status == 0 && settings->split && npgnn_split_load(&fixed, graph, settings->split, &env, &err) != 0)
        status = say_error("%s", err.text);
    if (status == 0)
        status = evaluate(graph, fixed, &progress, settings, &env);
    if (settings->profile)
        progress_profile(&progress);
    int logged = progress_close(&progress);
    curves_end(&curves);
    npgnn_split_free(fixed);
    npgnn_graph_free(graph);
    return status ? status : logged;
}

static arg_option options[] = {
    SETTING("method", 'm', ARG_CHOICE, method, "METHOD", "What is judged."), /* own_group knows more */
    SETTING("protocol", 'p', ARG_CHOICE, protocol, EVALUATE_PROTOCOLS,
            "What is held out: edges; all edges of some nodes; all edges of most nodes; edges between nodes that are "
            "hidden; some edges of new nodes, the others being known when predicting (default transductive)."),
    SETTING("test", 0, ARG_REAL, test, "F",
            "Share of edges, for all but transductive of nodes, to test on (default 0.1; inductive 0.05).", 0, 0.9),
    SETTING("val", 0, ARG_REAL, val, "F",
            "Share of edges or nodes to validate on (default 0.05; inductive 0.025; inductive-hidden 0.1).", 0, 0.9),
    SETTING("train-nodes", 0, ARG_REAL, train_nodes, "F",
            "Few-shot: share of the nodes known in training (default 0.3).", 0.01, 0.99),
    SETTING("known-links", 0, ARG_REAL, known_links, "F",
            "Production: share of the new nodes' edges that are known when predicting (default 0.5).", 0.01, 0.99),
    SETTING("negatives", 0, ARG_CHOICE, negatives, "uniform|hard",
            "What edges are ranked against: the pairs of the test set or, besides, 500 each that look like edges "
            "(default uniform)."),
    SETTING("negative-ratio", 0, ARG_REAL, negative_ratio, "R|full",
            "Unlinked pairs to each edge in the held-out sets (default 1); full: as many as in the graph.", 1, 1e6,
            .word = "full"),
    SETTING("bootstrap", 0, ARG_INT, bootstrap, "N",
            "95 % intervals of AUC and AP from N resamples of the test pairs, 1000 being usual (default 0: none).", 0,
            1000000),
    SETTING("seeds", 'n', ARG_INT, seeds, "N", "How many seeds: each has its own split and weights (default 3).", 1,
            10000),
    SETTING("seed", 's', ARG_U64, seed, "N", "The first of them (default 1)."),
    SETTING("split", 0, ARG_TEXT, split, "FILE", "Use the split in FILE for every seed."),
    SETTING("save-split", 0, ARG_TEXT, save_split, "FILE", "Write the split of the first seed to FILE."),
    SETTING("curves", 0, ARG_FLAG, curves, NULL,
            "Add ROC, precision-recall, loss and validation curves to the JSON, thinned for drawing."),
    SETTING("log", 0, ARG_TEXT, log, "FILE", "Write one JSON object a line to FILE, one per iteration."),
    SETTING_PROFILE,
    SETTING_ESTIMATE,
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    evaluate_method_option(&options[0]);
    return &group;
}

const cli_command cmd_eval = {
    .args =
        {
            .name = "eval",
            .usage = "DATA [OPTION...]",
            .summary = "Split a graph, train and test, over several seeds.",
            .description =
                "Holds out links of the graph DATA, learns from the rest, and measures how well the held-out "
                "links are told from pairs that are not linked. Once per seed, with the mean and the standard "
                "deviation over the seeds.",
            .examples = "  npgnn eval synthetic --protocol inductive --seeds 5\n"
                        "  npgnn eval ind.cora --data-dir data/planetoid --seeds 10 --json cora.json\n"
                        "  npgnn eval synthetic --negatives hard --bootstrap 1000\n",
            .operands = {"DATA"},
            .groups = {own_group, settings_data_group, settings_common_group, settings_model_group},
        },
    .defaults = {.test = -1, .val = -1, .train_nodes = -1, .seeds = 3, .seed = 1},
    .run = run,
};
