/* npgnn demo: train and judge on the built-in graph, in all three protocols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "report.h"
#include "say.h"
#include "settings.h"

/* Small enough for seconds on two cores, large enough that the numbers mean something. */
static const char DEMO_GRAPH[] = "synthetic:nodes=1000";
#define DEMO_ITERATIONS "200"

enum { PROTOCOLS = 3, METHODS = 2, MOST_SEEDS = 100 };
static const char *const methods[METHODS] = {"npgnn", "cosine"};

static void print_scores(const npgnn_eval_run *runs, int seeds)
{
    printf("  %6.2f / %6.2f", 100 * report_summary(runs, seeds, COLUMN_AUC).mean,
           100 * report_summary(runs, seeds, COLUMN_AP).mean);
}

static void print_row(const char *protocol, const npgnn_eval_run *model, const npgnn_eval_run *cosine, int seeds)
{
    printf("%-14s", protocol);
    print_scores(model, seeds);
    print_scores(cosine, seeds);
    printf("  %7.1f\n", report_summary(model, seeds, COLUMN_SECONDS).mean * seeds);
    fflush(stdout);
}

/* Evaluates both methods in one protocol. JSON objects are appended to `results` where it is not NULL. */
static int run_protocol(json_t *results, const npgnn_graph *graph, npgnn_protocol protocol, cli_progress *progress,
                        const cli_settings *settings)
{
    static npgnn_eval_run runs[METHODS][MOST_SEEDS];
    npgnn_env env = progress_env(progress, settings);
    const char *name = evaluate_protocol_name(protocol);
    for (int m = 0; m < METHODS; m++) {
        npgnn_eval_options options;
        npgnn_split_options split;
        int done = 0;
        evaluate_options(&options, &split, settings, protocol, methods[m]);
        int status = evaluate_run(runs[m], &done, graph, settings->seeds, &options, progress, &env);
        if (status)
            return status;
        if (results)
            json_array_append_new(results, report_json(runs[m], done, settings, DEMO_GRAPH, name, methods[m]));
    }
    if (!results)
        print_row(name, runs[0], runs[1], settings->seeds);
    return 0;
}

static void print_heading(const npgnn_graph *graph, const cli_settings *settings)
{
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_graph_describe(&info, graph, NULL);
    printf("The built-in graph: %d nodes, %lld edges, %d features. Mean of %d seeds, percent.\n", (int)info.nodes,
           (long long)info.edges, (int)info.columns, settings->seeds);
    printf("%-14s  %15s  %15s\n", "", "npgnn", "feature cosine");
    printf("%-14s  %15s  %15s  %7s\n", "protocol", "AUC /     AP", "AUC /     AP", "seconds");
}

static int run(const cli_settings *settings)
{
    npgnn_graph *graph = NULL;
    cli_progress progress;
    json_t *results = settings->json ? json_array() : NULL;
    progress_open(&progress, settings);
    npgnn_env env = progress_env(&progress, settings);
    int status = settings_load(&graph, settings, DEMO_GRAPH, &env);
    if (status == 0 && !results)
        print_heading(graph, settings);
    for (int protocol = 0; status == 0 && protocol < PROTOCOLS; protocol++)
        status = run_protocol(results, graph, (npgnn_protocol)protocol, &progress, settings);
    npgnn_graph_free(graph);
    if (status == 0 && results)
        return report_write(results, settings->json);
    json_decref(results);
    return status;
}

static const arg_option options[] = {
    SETTING("seeds", 'n', ARG_INT, seeds, "N", "How many seeds (default 3).", 1, MOST_SEEDS),
    SETTING("seed", 's', ARG_U64, seed, "N", "The first of them (default 1)."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_demo = {
    .args =
        {
            .name = "demo",
            .usage = "[OPTION...]",
            .summary = "Train and judge on the built-in graph, all three protocols.",
            .description =
                "Generates a citation-like graph, holds out some of its links in three ways, learns from the rest, "
                "and shows how well the held-out links are told from pairs that are not linked, beside what the "
                "similarity of the features alone can tell. Takes seconds: the graph is small, and training stops "
                "after " DEMO_ITERATIONS " iterations unless --iterations says otherwise.",
            .examples = "  npgnn demo\n"
                        "  npgnn demo --seeds 1 --no-latent\n",
            .groups = {own_group, settings_common_group, settings_model_group},
        },
    .defaults =
        {
            .test = -1,
            .val = -1,
            .train_nodes = -1,
            .seeds = 3,
            .seed = 1,
            .changes = {.item = {{"iterations", DEMO_ITERATIONS}}, .count = 1},
        },
    .run = run,
};
