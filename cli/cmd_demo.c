/* npgnn demo: trains and tests on a generated graph, in three protocols, beside a baseline. */
#include <inttypes.h>
#include <stdio.h>

#include "evaluate.h"
#include "message.h"
#include "report.h"
#include "settings.h"

typedef struct demo_settings {
    common_settings common;
    model_settings model;
    int seeds;
    uint64_t seed;
} demo_settings;

/* Small enough to take seconds on two cores, large enough for stable numbers. */
#define DEMO_GRAPH "synthetic:nodes=1000"
#define DEMO_ITERATIONS "200"

enum { PROTOCOLS = 3, METHODS = 2, MAX_SEEDS = 100 };

static void print_scores(const npgnn_eval_run *runs, int seeds)
{
    printf("  %6.2f / %6.2f", 100 * report_summary(runs, seeds, COLUMN_AUC).mean,
           100 * report_summary(runs, seeds, COLUMN_AP).mean);
}

/* Evaluates both methods in one protocol. Prints a row, or appends JSON objects to `results` where that is not NULL. */
static int run_protocol(json_t *results, const npgnn_graph *graph, npgnn_protocol protocol, cli_progress *progress,
                        const demo_settings *settings)
{
    static const char *const methods[METHODS] = {"npgnn", "cosine"};
    static npgnn_eval_run runs[METHODS][MAX_SEEDS];
    npgnn_env env = progress_env(progress, &settings->common);
    const char *name = evaluate_protocol_name(protocol);
    for (int m = 0; m < METHODS; m++) {
        npgnn_split_options split = {.size = sizeof split};
        npgnn_eval_options options = {.size = sizeof options,
                                      .method = methods[m],
                                      .model = &settings->model.options,
                                      .split = &split,
                                      .first_seed = settings->seed};
        int done = 0;
        npgnn_split_options_default(&split, protocol, NULL);
        int status = evaluate_run(runs[m], &done, graph, settings->seeds, &options, progress, &env);
        if (status)
            return status;
        report_source source = {DEMO_GRAPH, name, methods[m], &settings->model.options, env.threads};
        if (results)
            json_array_append_new(results, report_json(runs[m], done, &source));
    }
    if (results)
        return 0;
    printf("%-14s", name);
    print_scores(runs[0], settings->seeds);
    print_scores(runs[1], settings->seeds);
    printf("  %7.1f\n", report_summary(runs[0], settings->seeds, COLUMN_SECONDS).mean * settings->seeds);
    fflush(stdout);
    return 0;
}

static void print_heading(const npgnn_graph *graph, int seeds)
{
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_graph_describe(&info, graph, NULL);
    printf("Generated graph with %" PRId32 " nodes, %" PRId64 " edges and %" PRId32
           " features. Mean of %d seed%s, in percent.\n",
           info.nodes, info.edges, info.columns, seeds, seeds == 1 ? "" : "s");
    printf("%-14s  %15s  %15s\n", "", "npgnn", "feature cosine");
    printf("%-14s  %15s  %15s  %7s\n", "protocol", "AUC /     AP", "AUC /     AP", "seconds");
}

static int run(void *given)
{
    demo_settings *settings = given;
    const data_settings data = {.name = DEMO_GRAPH};
    npgnn_graph *graph = NULL;
    cli_progress progress;
    json_t *results = settings->common.json ? json_array() : NULL;
    settings->model.options.seed = settings->seed; /* for the JSON */
    progress_open(&progress, settings->common.quiet, NULL, 0);
    npgnn_env env = progress_env(&progress, &settings->common);
    int status = data_load(&graph, &data, &env);
    if (status == 0 && !results)
        print_heading(graph, settings->seeds);
    for (int protocol = 0; status == 0 && protocol < PROTOCOLS; protocol++)
        status = run_protocol(results, graph, (npgnn_protocol)protocol, &progress, settings);
    npgnn_graph_free(graph);
    if (status == 0 && results)
        return report_write(results, settings->common.json);
    json_decref(results);
    return status;
}

#define AT(member) offsetof(demo_settings, member)
static const arg_option options[] = {
    OPTION("seeds", 'n', ARG_INT, AT(seeds), "N", "Number of seeds (default 3).", 1, MAX_SEEDS),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "First seed (default 1)."),
    OPTIONS_END,
};

const cli_command cmd_demo = {
    .args =
        {
            .name = "demo",
            .usage = "[OPTION...]",
            .summary = "Train and test on a generated graph.",
            .description =
                "Generates a graph that resembles a citation network and holds out some of its links in three ways "
                "(protocols). Trains on the rest, and prints how well the held-out links are ranked above non-links, "
                "beside a baseline: the cosine similarity of the features. Takes seconds: the graph is small, and the "
                "default is " DEMO_ITERATIONS " iterations.",
            .examples = "  npgnn demo\n"
                        "  npgnn demo --seeds 1 --no-latent\n",
            .groups = {{"Options", options, 0}, COMMON_GROUP(AT(common)), MODEL_GROUP(AT(model))},
        },
    .defaults = &(const demo_settings){.seeds = 3,
                                       .seed = 1,
                                       .model.changes = {.item = {{"iterations", DEMO_ITERATIONS}}, .count = 1}},
    .size = sizeof(demo_settings),
    .run = run,
};
