/* npgnn bench: measures the speed of this machine, and checks what it times. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "message.h"
#include "report.h"
#include "settings.h"

typedef struct bench_settings {
    data_settings data; /* --data: an option here */
    common_settings common;
    model_settings model;
    double seconds;
    int iterations, max_nodes, large;
    int ranks; /* processes to simulate; 0: none */
} bench_settings;

enum { MOST_RANKS = 64 }; /* parts that nodes are divided into */

/* The benchmark: tables are printed row by row, JSON is written at the end. */
typedef struct bench {
    const bench_settings *settings;
    npgnn_env env;
    double gflops; /* of a large matrix product */
    json_t *json;  /* NULL: tables */
    npgnn_error err;
} bench;

/* Graphs of the sizes that the literature uses, and larger ones for the sampled loss. */
static const struct {
    const char *name, *data;
    int nodes;
    npgnn_loss loss;
    int large; /* only with --large */
} iteration_cases[] = {
    {"Cora-sized", "synthetic:nodes=2708,words=1433,length=18,degree=2", 2708, NPGNN_LOSS_EXACT, 0},
    {"Cora-sized", "synthetic:nodes=2708,words=1433,length=18,degree=2", 2708, NPGNN_LOSS_SAMPLED, 0},
    {"PubMed-sized", "synthetic:nodes=19717,words=500,length=50,degree=2.25", 19717, NPGNN_LOSS_EXACT, 0},
    {"PubMed-sized", "synthetic:nodes=19717,words=500,length=50,degree=2.25", 19717, NPGNN_LOSS_SAMPLED, 0},
    {"10,000 nodes", "synthetic:nodes=10000,words=5000,length=50,degree=5", 10000, NPGNN_LOSS_SAMPLED, 0},
    {"100,000 nodes", "synthetic:nodes=100000,words=5000,length=50,degree=5", 100000, NPGNN_LOSS_SAMPLED, 0},
    {"1,000,000 nodes", "synthetic:nodes=1000000,words=5000,length=50,degree=5", 1000000, NPGNN_LOSS_SAMPLED, 1},
    {"10,000,000 nodes", "synthetic:nodes=10000000,words=5000,length=50,degree=5", 10000000, NPGNN_LOSS_SAMPLED, 1},
};
enum { ITERATION_CASES = sizeof iteration_cases / sizeof iteration_cases[0] };

/* Predictions with `universal`: given pairs or, with none, the ten best partners of every node. */
static const struct {
    const char *name, *data;
    size_t pairs;
    int nodes, large;
} prediction_cases[] = {
    {"Cora-sized", "synthetic:nodes=2708,words=1433,length=18,degree=2", 0, 2708, 0},
    {"PubMed-sized", "synthetic:nodes=19717,words=500,length=50,degree=2.25", 0, 19717, 1},
    {"10,000 nodes", "synthetic:nodes=10000,words=5000,length=50,degree=5", 100000, 10000, 0},
    {"100,000 nodes", "synthetic:nodes=100000,words=5000,length=50,degree=5", 1000000, 100000, 1},
    {"1,000,000 nodes", "synthetic:nodes=1000000,words=5000,length=50,degree=5", 1000000, 1000000, 1},
    {"10,000,000 nodes", "synthetic:nodes=10000000,words=5000,length=50,degree=5", 1000000, 10000000, 1},
};
enum { PREDICTION_CASES = sizeof prediction_cases / sizeof prediction_cases[0] };

static const char *loss_name(npgnn_loss loss)
{
    static const char *const names[] = {"exact", "sampled", "auto"};
    return names[loss];
}

/* Adds an object to the list `name` of the report. */
static void append(bench *b, const char *name, json_t *item)
{
    json_t *list = json_object_get(b->json, name);
    if (!list)
        json_object_set_new(b->json, name, list = json_array());
    json_array_append_new(list, item);
}

/* ---- the machine and the check ---- */

static int measure_machine(bench *b)
{
    if (npgnn_machine_gflops(&b->gflops, &b->env, &b->err) != 0)
        return print_error("%s", b->err.text);
    if (b->json)
        json_object_set_new(b->json, "machine",
                            json_pack("{s:i, s:f}", "threads", b->env.threads, "gemm_gflops", b->gflops));
    else
        printf("%d threads; large matrix product: %.1f GFLOP/s\n", b->env.threads, b->gflops);
    return 0;
}

/* Compares the loss with plain loops over all pairs of a small graph: the speed of a wrong loss means nothing. */
static int check_loss(bench *b)
{
    enum { NODES = 500, DRAWS = 200 };
    const double exact_tolerance = 1e-5, sampled_tolerance = 1e-2;
    npgnn_graph *graph = NULL;
    bench_check check;
    int code = bench_graph(&graph, NODES, &b->env, &b->err);
    if (code == 0)
        code = bench_check_pairs(&check, graph, DRAWS, &b->env, &b->err);
    npgnn_graph_free(graph);
    if (code)
        return print_error("%s", b->err.text);
    if (b->json)
        json_object_set_new(
            b->json, "check",
            json_pack("{s:f, s:f}", "exact_difference", check.exact, "sampled_difference", check.sampled));
    else
        printf(
            "check against plain loops over all pairs of %d nodes: exact loss and gradient differ by %.1e, the mean of "
            "%d sampled losses by %.1e\n",
            NODES, check.exact, DRAWS, check.sampled);
    int correct = check.exact <= exact_tolerance && check.sampled <= sampled_tolerance; /* false for NaN */
    return correct
               ? 0
               : print_error("the all-pairs loss is wrong: it differs from plain loops by %g (exact) and %g (sampled)",
                             check.exact, check.sampled);
}

/* ---- the all-pairs loss ---- */

static void report_pairs(bench *b, int nodes, int pairs_per_node, const bench_times *times)
{
    /* three products over half of the pairs */
    double pairs = pairs_per_node ? (double)nodes * pairs_per_node : (double)nodes * nodes;
    double gflops = 3e-9 * pairs * BENCH_COLUMNS / times->best;
    const char *mode = pairs_per_node ? "sampled" : "exact";
    if (b->json)
        append(b, "pairs",
               json_pack("{s:i, s:s, s:f, s:f, s:f, s:f}", "nodes", nodes, "loss", mode, "seconds", times->best,
                         "mean_seconds", times->mean, "gflops", gflops, "share_of_gemm", gflops / b->gflops));
    else
        printf("%9d  %-8s  %10.5f  %8.1f  %7.0f %%\n", nodes, mode, times->best, gflops, 100 * gflops / b->gflops);
    fflush(stdout);
}

#define ALWAYS_EXACT 3000 /* nodes: the exact loss of so few takes a moment on any machine */

static int measure_pairs(bench *b, int nodes)
{
    double seconds = b->settings->seconds;
    double estimate = 3e-9 * (double)nodes * nodes * BENCH_COLUMNS / (0.5 * b->gflops);
    npgnn_graph *graph = NULL;
    bench_times times;
    int code = bench_graph(&graph, nodes, &b->env, &b->err);
    for (int pairs = 0; code == 0 && pairs <= BENCH_PAIRS_PER_NODE; pairs += BENCH_PAIRS_PER_NODE) {
        if (pairs == 0 && nodes > ALWAYS_EXACT && estimate > 4 * seconds)
            continue; /* would take much longer than --seconds */
        code = bench_pairs(&times, graph, pairs, seconds, &b->env, &b->err);
        if (code == 0)
            report_pairs(b, nodes, pairs, &times);
    }
    npgnn_graph_free(graph);
    return code ? print_error("%s", b->err.text) : 0;
}

static int measure_all_pairs(bench *b)
{
    static const int nodes[] = {2708, 19717, 100000};
    int status = 0;
    if (!b->json)
        printf("\nall-pairs loss and gradient, %d columns; sampled: %d pairs per node\n%9s  %-8s  %10s  %8s  %9s\n",
               BENCH_COLUMNS, BENCH_PAIRS_PER_NODE, "nodes", "loss", "seconds", "GFLOP/s", "of gemm");
    for (size_t i = 0; status == 0 && i < sizeof nodes / sizeof nodes[0]; i++)
        if (nodes[i] <= b->settings->max_nodes)
            status = measure_pairs(b, nodes[i]);
    return status;
}

/* ---- whole iterations ---- */

/* A path without its folders, which fits into a column of the table. */
static const char *short_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

static json_t *steps_json(const npgnn_progress *progress)
{
    json_t *steps = json_object();
    for (int step = 0; step < NPGNN_STEPS; step++)
        json_object_set_new(steps, npgnn_step_name((npgnn_step)step),
                            report_real(progress->step_seconds[step] / progress->iteration));
    return steps;
}

static void report_iterations(bench *b, const char *name, const npgnn_graph *graph, npgnn_loss loss, int threads,
                              const bench_times *times, const npgnn_progress *progress)
{
    int64_t peak = report_peak_bytes();
    int nodes = npgnn_graph_nodes(graph);
    if (b->json)
        append(b, "iterations",
               json_pack("{s:s, s:i, s:I, s:s, s:i, s:i, s:f, s:f, s:f, s:I, s:o}", "data", name, "nodes", nodes,
                         "edges", (json_int_t)npgnn_graph_edges(graph), "loss", loss_name(loss), "threads", threads,
                         "iterations", times->count, "seconds", times->best, "mean_seconds", times->mean, "final_loss",
                         progress->loss, "peak_rss_bytes", (json_int_t)peak, "step_seconds", steps_json(progress)));
    else
        printf("%-16.16s  %8d  %9" PRId64 "  %-8s  %7d  %10.5f  %10.2f  %9.2f  %8.0f\n", short_name(name), nodes,
               npgnn_graph_edges(graph), loss_name(loss), threads, times->best, 1 / times->best,
               1e6 * times->best / nodes, (double)peak / 1e6);
    fflush(stdout);
}

/* With `scaling` one row per number of threads, 1, 2, 4, ... and all; otherwise one row with all threads. */
static int measure_iterations(bench *b, const char *name, const npgnn_graph *graph, npgnn_loss loss, int scaling)
{
    npgnn_options options = b->settings->model.options;
    npgnn_progress progress = {.size = sizeof progress};
    bench_times times;
    int all = b->env.threads;
    options.loss = loss;
    for (int threads = scaling ? 1 : all; threads <= all;
         threads = threads < all && 2 * threads > all ? all : 2 * threads) {
        npgnn_env env = b->env;
        env.threads = threads;
        if (bench_iterations(&times, &progress, graph, &options, b->settings->iterations, b->settings->seconds, &env,
                             &b->err) != 0)
            return print_error("%s", b->err.text);
        report_iterations(b, name, graph, loss, threads, &times, &progress);
    }
    return 0;
}

static void print_iterations_heading(const bench *b)
{
    if (!b->json)
        printf("\ntraining iterations\n%-16s  %8s  %9s  %-8s  %7s  %10s  %10s  %9s  %8s\n", "data", "nodes", "edges",
               "loss", "threads", "seconds", "per second", "us/node", "peak MB");
}

static int measure_all_iterations(bench *b)
{
    int status = 0;
    print_iterations_heading(b);
    for (int i = 0; status == 0 && i < ITERATION_CASES; i++) {
        npgnn_graph *graph = NULL;
        if ((iteration_cases[i].large && !b->settings->large) || iteration_cases[i].nodes > b->settings->max_nodes)
            continue;
        report_reset_peak();
        if (npgnn_load(&graph, iteration_cases[i].data, NULL, &b->env, &b->err) != 0)
            return print_error("%s", b->err.text);
        status = measure_iterations(b, iteration_cases[i].name, graph, iteration_cases[i].loss,
                                    iteration_cases[i].nodes < 20000);
        npgnn_graph_free(graph);
    }
    return status;
}

/* ---- predictions ---- */

static void report_predictions(bench *b, int i, const npgnn_graph *graph, const bench_predictions *p)
{
    const char *what = prediction_cases[i].pairs ? "given pairs" : "ten best of all";
    int64_t peak = report_peak_bytes();
    if (b->json)
        append(b, "predictions",
               json_pack("{s:s, s:i, s:I, s:s, s:f, s:f, s:f, s:f, s:I}", "data", prediction_cases[i].name, "nodes",
                         (int)npgnn_graph_nodes(graph), "edges", (json_int_t)npgnn_graph_edges(graph), "what", what,
                         "pairs", p->pairs, "prepare_seconds", p->prepare, "seconds", p->seconds, "cpu_seconds", p->cpu,
                         "peak_rss_bytes", (json_int_t)peak));
    else
        printf("%-16.16s  %8d  %9" PRId64 "  %-15s  %10.0f  %9.3f  %9.3f  %11.3f  %9.3f  %8.0f\n",
               prediction_cases[i].name, (int)npgnn_graph_nodes(graph), npgnn_graph_edges(graph), what, p->pairs,
               p->prepare, p->seconds, p->cpu, 1e6 * p->seconds / p->pairs, (double)peak / 1e6);
    fflush(stdout);
}

static int measure_all_predictions(bench *b)
{
    if (!b->json)
        printf("\npredictions with `universal`\n%-16s  %8s  %9s  %-15s  %10s  %9s  %9s  %11s  %9s  %8s\n", "data",
               "nodes", "edges", "what", "pairs", "prepare s", "predict s", "processor s", "us/pair", "peak MB");
    for (int i = 0; i < PREDICTION_CASES; i++) {
        npgnn_graph *graph = NULL;
        bench_predictions predictions = {0};
        if ((prediction_cases[i].large && !b->settings->large) || prediction_cases[i].nodes > b->settings->max_nodes)
            continue;
        report_reset_peak();
        int code = npgnn_load(&graph, prediction_cases[i].data, NULL, &b->env, &b->err);
        if (code == 0)
            code = bench_predict(&predictions, graph, prediction_cases[i].pairs, &b->env, &b->err);
        if (code == 0)
            report_predictions(b, i, graph, &predictions);
        npgnn_graph_free(graph);
        if (code)
            return print_error("%s", b->err.text);
    }
    return 0;
}

/* ---- several processes ---- */

/* The seconds that an iteration would take over a network of so many bits per second: the slowest process, and what it
 * receives. */
static double seconds_at(double bits, const bench_process *largest)
{
    return largest->cpu + 8 * largest->received / bits;
}

static void report_simulation(bench *b, const npgnn_graph *graph, const bench_process *processes, int ranks)
{
    const bench_settings *settings = b->settings;
    bench_process largest = {0}, mean = {0};
    json_t *list = json_array();
    for (int r = 0; r < ranks; r++) {
        const bench_process *p = &processes[r];
        largest.sent = p->sent > largest.sent ? p->sent : largest.sent;
        largest.received = p->received > largest.received ? p->received : largest.received;
        largest.cpu = p->cpu > largest.cpu ? p->cpu : largest.cpu;
        mean.sent += p->sent / ranks;
        mean.received += p->received / ranks;
        mean.cpu += p->cpu / ranks;
        json_array_append_new(list, json_pack("{s:f, s:f, s:f}", "bytes_sent", p->sent, "bytes_received", p->received,
                                              "cpu_seconds", p->cpu));
    }
    double slow = seconds_at(10e9, &largest), fast = seconds_at(100e9, &largest);
    if (b->json) {
        append(b, "simulations",
               json_pack("{s:s, s:i, s:I, s:i, s:O, s:f, s:f}", "data", data_name(&settings->data), "nodes",
                         (int)npgnn_graph_nodes(graph), "edges", (json_int_t)npgnn_graph_edges(graph), "processes",
                         ranks, "per_iteration", list, "seconds_at_10_gbit", slow, "seconds_at_100_gbit", fast));
    } else {
        printf("%s: %d nodes, %" PRId64 " edges; %d processes, simulated by threads\n\n%-28s  %10s  %10s\n",
               short_name(data_name(&settings->data)), (int)npgnn_graph_nodes(graph), npgnn_graph_edges(graph), ranks,
               "per iteration and process", "mean", "largest");
        printf("%-28s  %10.3f  %10.3f\n", "MB sent", mean.sent / 1e6, largest.sent / 1e6);
        printf("%-28s  %10.3f  %10.3f\n", "MB received", mean.received / 1e6, largest.received / 1e6);
        printf("%-28s  %10.4f  %10.4f\n", "processor seconds", mean.cpu, largest.cpu);
        printf("\nan iteration on as many machines, one core each, without latency: %.4f s at 10 Gbit/s, %.4f s at 100 "
               "Gbit/s\n",
               slow, fast);
    }
    json_decref(list);
}

static int measure_simulation(bench *b)
{
    const bench_settings *settings = b->settings;
    npgnn_graph *graph = NULL;
    bench_process processes[MOST_RANKS];
    int status = data_load(&graph, &settings->data, &b->env);
    if (status == 0 && bench_simulate(processes, graph, &settings->model.options, settings->ranks,
                                      settings->iterations > 0 ? settings->iterations : 3, &b->env, &b->err) != 0)
        status = print_error("%s", b->err.text);
    if (status == 0)
        report_simulation(b, graph, processes, settings->ranks);
    npgnn_graph_free(graph);
    return status;
}

/* ---- one graph ---- */

/* Only the graph of --data, with the loss that the options give. */
static int measure_data(bench *b)
{
    const bench_settings *settings = b->settings;
    npgnn_graph *graph = NULL;
    int status = data_load(&graph, &settings->data, &b->env);
    if (status == 0) {
        print_iterations_heading(b);
        status = measure_iterations(b, data_name(&settings->data), graph, settings->model.options.loss, 0);
    }
    npgnn_graph_free(graph);
    return status;
}

/* ---- the command ---- */

static int run(void *given)
{
    const bench_settings *settings = given;
    bench b = {.settings = settings, .env = common_env(&settings->common)};
    int status = 0;
    if (settings->ranks && !settings->data.name && !settings->data.load.edges)
        return print_usage_error("bench", "--ranks needs --data DATA");
    if (settings->common.json && !(b.json = json_object()))
        return print_error("out of memory");
    if (settings->ranks) {
        status = measure_simulation(&b);
    } else if (settings->data.name || settings->data.load.edges) {
        status = measure_data(&b);
    } else {
        status = measure_machine(&b);
        if (status == 0)
            status = check_loss(&b);
        if (status == 0)
            status = measure_all_pairs(&b);
        if (status == 0)
            status = measure_all_iterations(&b);
        if (status == 0)
            status = measure_all_predictions(&b);
    }
    if (status == 0 && b.json)
        return report_write(b.json, settings->common.json);
    json_decref(b.json);
    return status;
}

#define AT(member) offsetof(bench_settings, member)
static const arg_option options[] = {
    OPTION("data", 0, ARG_TEXT, AT(data.name), "DATA", "Time training iterations on this graph only."),
    OPTION("ranks", 0, ARG_INT, AT(ranks), "N",
           "Simulate the training on the graph of --data in N processes, by threads, for --iterations (default 3): "
           "what each of "
           "them sends, receives and computes per iteration.",
           2, MOST_RANKS),
    OPTION("seconds", 0, ARG_REAL, AT(seconds), "S", "Time to spend per row (default 1).", 0, 3600),
    OPTION("iterations", 0, ARG_INT, AT(iterations), "N", "Time N iterations per row, instead of --seconds.", 1,
           1000000),
    OPTION("nodes", 0, ARG_INT, AT(max_nodes), "N", "Skip graphs with more than N nodes (default 1000000).", 1, 1e9),
    OPTION(
        "large", 0, ARG_FLAG, AT(large), NULL,
        "Also time graphs of a million nodes, and the search among all pairs of 20,000; takes some minutes and 3 GB of "
        "memory. With --nodes 10000000 also graphs of ten million, which take half an hour and 19 GB."),
    OPTIONS_END,
};

const cli_command cmd_bench = {
    .args =
        {
            .name = "bench",
            .usage = "[OPTION...]",
            .summary = "Measure the speed of this machine.",
            .description =
                "Times the all-pairs loss, compared with the product of large matrices, and training iterations on "
                "graphs of several sizes, and reports the shortest of several repetitions. Then times predictions with "
                "the model "
                "universal. Compares the loss and the search with plain loops over all pairs, and fails where they "
                "differ.",
            .examples = "  npgnn bench\n"
                        "  npgnn bench --data ind.cora --loss exact --iterations 50 --json -\n"
                        "  npgnn bench --data graph.npg --ranks 16\n",
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(data)), COMMON_GROUP(AT(common)), MODEL_GROUP(AT(model))},
        },
    .defaults = &(const bench_settings){.seconds = 1, .max_nodes = 1000000},
    .size = sizeof(bench_settings),
    .run = run,
};
