/* Times the all-pairs loss and training iterations, and compares the loss with its definition. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The first repetition is not timed: it touches memory and starts threads for the first time. */
enum { WARM_UP = 1, MIN_REPETITIONS = 3 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void add_time(bench_times *times, double seconds)
{
    if (times->count == 0 || seconds < times->best)
        times->best = seconds;
    times->mean = (times->mean * times->count + seconds) / (times->count + 1);
    times->count++;
}

/* Whether to repeat: until the time is used up, and at least MIN_REPETITIONS times unless one takes the whole time. */
static int repeat(const bench_times *times, double seconds)
{
    double spent = times->mean * times->count;
    return spent < seconds || (times->count < MIN_REPETITIONS && times->best < seconds);
}

int bench_graph(npgnn_graph **graph, int nodes, const npgnn_env *env, npgnn_error *err)
{
    char spec[64];
    snprintf(spec, sizeof spec, "nodes=%d,words=100,length=4,degree=2", nodes);
    return npgnn_graph_synthetic(graph, spec, env, err);
}

/* ---- the all-pairs loss ---- */

/* Artificial embeddings whose scores resemble those of a trained model: most below zero, some far above. The same in
 * every run. */
static float *artificial_embeddings(int32_t nodes)
{
    size_t count = (size_t)nodes * BENCH_COLUMNS;
    float *u = malloc(count * sizeof *u);
    for (size_t i = 0; u && i < count; i++)
        u[i] = (float)(0.7 * sin(0.37 * (double)i) * cos(0.0011 * (double)(i % 100003)));
    return u;
}

static int out_of_memory(npgnn_error *err)
{
    snprintf(err->text, sizeof err->text, "out of memory");
    return err->code = NPGNN_E_MEMORY;
}

int bench_pairs(bench_times *times, const npgnn_graph *graph, int pairs_per_node, double seconds, const npgnn_env *env,
                npgnn_error *err)
{
    npgnn_pairs_loss *loss = NULL;
    int32_t nodes = npgnn_graph_nodes(graph);
    float *u = artificial_embeddings(nodes), *gradient = malloc((size_t)nodes * BENCH_COLUMNS * sizeof *gradient);
    int code = u && gradient ? 0 : out_of_memory(err);
    memset(times, 0, sizeof *times);
    if (code == 0)
        code = npgnn_pairs_loss_new(&loss, graph, BENCH_COLUMNS, pairs_per_node, NPGNN_WEIGHTED, 1, env, err);
    for (int i = 0; code == 0 && (i <= WARM_UP || repeat(times, seconds)); i++) {
        double start = now();
        npgnn_pairs_loss_run(gradient, loss, u, (uint32_t)i);
        if (i >= WARM_UP)
            add_time(times, now() - start);
    }
    npgnn_pairs_loss_free(loss);
    free(u);
    free(gradient);
    return code;
}

/* The definition of the loss, pair by pair: with s = u_i . u_j, p = sigmoid(s) and w = negatives / positives,
 *   loss = 1 / (2 negatives) * sum over i, j of  -w log p         for edges and the diagonal,
 *                                                -log (1 - p)     for all other pairs.
 * Returns the loss and adds its gradient to `gradient` (nodes, BENCH_COLUMNS), which is zero before. */
static double plain_loss(double *gradient, const npgnn_graph *graph, const float *u)
{
    int32_t n = npgnn_graph_nodes(graph);
    double positives = 2 * (double)npgnn_graph_edges(graph), negatives = (double)n * n - positives;
    double weight = negatives / positives, scale = 1 / (2 * negatives), loss = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const float *a = u + (size_t)i * BENCH_COLUMNS, *b = u + (size_t)j * BENCH_COLUMNS;
            double s = 0;
            for (int c = 0; c < BENCH_COLUMNS; c++)
                s += (double)a[c] * (double)b[c];
            int linked = i == j || npgnn_graph_has_edge(graph, i, j);
            double probability = 1 / (1 + exp(-s));
            double slope = scale * (linked ? weight * (probability - 1) : probability);
            loss += scale * (linked ? weight * log1p(exp(-s)) : log1p(exp(s)));
            for (int c = 0; c < BENCH_COLUMNS; c++) {
                gradient[(size_t)i * BENCH_COLUMNS + (size_t)c] += slope * (double)b[c];
                gradient[(size_t)j * BENCH_COLUMNS + (size_t)c] += slope * (double)a[c];
            }
        }
    return loss;
}

/* max |a - b| / max |b|; NaN where one of the values is NaN */
static double difference(const float *a, const double *b, size_t count)
{
    double apart = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - b[i]);
        apart = d <= apart ? apart : d; /* in this form a NaN is not lost */
        largest = fabs(b[i]) > largest ? fabs(b[i]) : largest;
    }
    return apart / largest;
}

static int check_exact(bench_check *check, const npgnn_graph *graph, const float *u, const double *gradient,
                       double loss, float *computed, const npgnn_env *env, npgnn_error *err)
{
    npgnn_pairs_loss *exact = NULL;
    int code = npgnn_pairs_loss_new(&exact, graph, BENCH_COLUMNS, 0, NPGNN_WEIGHTED, 1, env, err);
    if (code)
        return code;
    double apart = fabs(npgnn_pairs_loss_run(computed, exact, u, 0) / loss - 1);
    double slopes = difference(computed, gradient, (size_t)npgnn_graph_nodes(graph) * BENCH_COLUMNS);
    check->exact = slopes <= apart ? apart : slopes;
    npgnn_pairs_loss_free(exact);
    return 0;
}

static int check_sampled(bench_check *check, const npgnn_graph *graph, const float *u, double loss, int draws,
                         const npgnn_env *env, npgnn_error *err)
{
    npgnn_pairs_loss *sampled = NULL;
    double sum = 0;
    int code =
        npgnn_pairs_loss_new(&sampled, graph, BENCH_COLUMNS, BENCH_PAIRS_PER_NODE / 4, NPGNN_WEIGHTED, 1, env, err);
    for (int draw = 0; code == 0 && draw < draws; draw++)
        sum += npgnn_pairs_loss_run(NULL, sampled, u, (uint32_t)draw);
    check->sampled = fabs(sum / draws / loss - 1);
    npgnn_pairs_loss_free(sampled);
    return code;
}

int bench_check_pairs(bench_check *check, const npgnn_graph *graph, int draws, const npgnn_env *env, npgnn_error *err)
{
    int32_t nodes = npgnn_graph_nodes(graph);
    size_t count = (size_t)nodes * BENCH_COLUMNS;
    float *u = artificial_embeddings(nodes), *computed = malloc(count * sizeof *computed);
    double *gradient = calloc(count, sizeof *gradient);
    int code = u && computed && gradient ? 0 : out_of_memory(err);
    if (code == 0) {
        double loss = plain_loss(gradient, graph, u);
        code = check_exact(check, graph, u, gradient, loss, computed, env, err);
        if (code == 0)
            code = check_sampled(check, graph, u, loss, draws, env, err);
    }
    free(u);
    free(computed);
    free(gradient);
    return code;
}

/* ---- iterations ---- */

int bench_iterations(bench_times *times, npgnn_progress *progress, const npgnn_graph *graph,
                     const npgnn_options *options, int limit, double seconds, const npgnn_env *env, npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    double before = 0;
    npgnn_options timed = *options;
    memset(times, 0, sizeof *times);
    timed.keep_best = timed.calibrate = 0; /* no validation and no rehearsal */
    int code = npgnn_trainer_new(&trainer, graph, NULL, &timed, env, err);
    for (int i = 0; code == 0 && (i <= WARM_UP || (limit ? times->count < limit : repeat(times, seconds))); i++) {
        code = npgnn_trainer_step(progress, trainer, err);
        if (i >= WARM_UP)
            add_time(times, progress->seconds - before);
        before = progress->seconds;
    }
    npgnn_trainer_free(trainer);
    return code;
}
