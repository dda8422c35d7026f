/* Times the all-pairs loss, training iterations and predictions, and compares what is timed with its definition. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <pthread.h>
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

/* ---- several processes ---- */

typedef struct simulation {
    const npgnn_graph *graph;
    npgnn_options options;
    int iterations;
    pthread_mutex_t gate; /* closed until all threads are there, or one is missing: then `missing` is 1 */
    int missing;
} simulation;

typedef struct simulated_process {
    simulation *s;
    pthread_t thread;
    npgnn_env env;
    bench_process result;
    npgnn_error err;
    int code;
} simulated_process;

static double thread_cpu_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *simulate(void *arg)
{
    simulated_process *p = arg;
    simulation *s = p->s;
    npgnn_trainer *trainer = NULL;
    npgnn_progress progress = {.size = sizeof progress};
    npgnn_comm_info before = {.size = sizeof before}, after = {.size = sizeof after};
    pthread_mutex_lock(&s->gate);
    int missing = s->missing;
    pthread_mutex_unlock(&s->gate);
    if (missing)
        return NULL;
    p->code = npgnn_trainer_new(&trainer, s->graph, NULL, &s->options, &p->env, &p->err);
    if (p->code == 0) /* the first one is not counted */
        p->code = npgnn_trainer_step(&progress, trainer, &p->err);
    npgnn_comm_describe(&before, p->env.comm, NULL);
    double start = thread_cpu_now();
    for (int i = 0; p->code == 0 && i < s->iterations; i++)
        p->code = npgnn_trainer_step(&progress, trainer, &p->err);
    npgnn_comm_describe(&after, p->env.comm, NULL);
    p->result = (bench_process){.sent = (double)(after.sent - before.sent) / s->iterations,
                                .received = (double)(after.received - before.received) / s->iterations,
                                .cpu = (thread_cpu_now() - start) / s->iterations};
    npgnn_trainer_free(trainer);
    return NULL;
}

int bench_simulate(bench_process *out, const npgnn_graph *graph, const npgnn_options *options, int ranks,
                   int iterations, const npgnn_env *env, npgnn_error *err)
{
    simulation s = {.graph = graph, .options = *options, .iterations = iterations};
    simulated_process *all = calloc((size_t)ranks, sizeof *all);
    npgnn_comm **comm = calloc((size_t)ranks, sizeof(npgnn_comm *));
    int started = 0, code = 0;
    if (!all || !comm) {
        free(all);
        free(comm);
        return out_of_memory(err);
    }
    s.options.keep_best = s.options.calibrate = 0;
    s.options.iterations = iterations + 1;
    code = npgnn_comm_simulate(comm, ranks, env, err);
    pthread_mutex_init(&s.gate, NULL);
    pthread_mutex_lock(&s.gate);
    for (int r = 0; code == 0 && r < ranks; r++) {
        all[r].s = &s;
        all[r].env = *env;
        all[r].env.threads = 1;
        all[r].env.comm = comm[r];
        if (pthread_create(&all[r].thread, NULL, simulate, &all[r]) != 0)
            code = out_of_memory(err); /* for a thread per process */
        else
            started++;
    }
    s.missing = code != 0;
    pthread_mutex_unlock(&s.gate);
    for (int r = 0; r < started; r++) {
        pthread_join(all[r].thread, NULL);
        if (code == 0 && all[r].code != 0) {
            code = all[r].code;
            *err = all[r].err;
        }
        out[r] = all[r].result;
    }
    for (int r = 0; r < ranks; r++)
        npgnn_comm_free(comm[r]);
    pthread_mutex_destroy(&s.gate);
    free(all);
    free(comm);
    return code;
}

/* ---- predictions ---- */

enum { PARTNERS = 10, CHECKED = 5 };

static double cpu_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A generator of its own: the pairs are the same for any version of the library. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Every second one is a link, if its first node has any. */
static void draw_pairs(npgnn_pair *pairs, size_t count, const npgnn_graph *graph)
{
    uint64_t state = 1, n = (uint64_t)npgnn_graph_nodes(graph);
    for (size_t i = 0; i < count; i++) {
        const int32_t *neighbors;
        pairs[i].u = (int32_t)(next_random(&state) % n);
        int64_t degree = npgnn_graph_neighbors(&neighbors, graph, pairs[i].u);
        if (i % 2 == 0 && degree > 0)
            pairs[i].v = neighbors[next_random(&state) % (uint64_t)degree];
        else
            pairs[i].v = (int32_t)(((uint64_t)pairs[i].u + 1 + next_random(&state) % (n - 1)) % n);
    }
}

/* Compares the partners of a node with its scores: none that is left out may be better than the last one found. */
static int check_partners(const npgnn_link *found, int32_t count, int32_t node, const npgnn_graph *graph,
                          npgnn_predictor *predictor, npgnn_error *err)
{
    int32_t n = npgnn_graph_nodes(graph), better = 0;
    npgnn_pair *pairs = malloc((size_t)n * sizeof *pairs);
    npgnn_prediction *all = malloc((size_t)n * sizeof *all);
    int code = pairs && all ? 0 : out_of_memory(err);
    for (int32_t i = 0; !code && i < n - 1; i++)
        pairs[i] = (npgnn_pair){node, i < node ? i : i + 1};
    if (!code)
        code = npgnn_predictor_run(all, predictor, pairs, (size_t)n - 1, err);
    for (int32_t i = 0; !code && i < n - 1; i++)
        better += !npgnn_graph_has_edge(graph, node, pairs[i].v) && all[i].score > found[count - 1].prediction.score;
    if (!code && better > count - 1) {
        snprintf(err->text, sizeof err->text, "the search is wrong: %d pairs of node %d are better than the last of %d",
                 better, node, count);
        code = err->code = NPGNN_E_ARGUMENT;
    }
    free(pairs);
    free(all);
    return code;
}

int bench_predict(bench_predictions *out, const npgnn_graph *graph, size_t pairs, const npgnn_env *env,
                  npgnn_error *err)
{
    int32_t n = npgnn_graph_nodes(graph);
    npgnn_model *model = NULL;
    npgnn_predictor *predictor = NULL;
    npgnn_pair *given = malloc((pairs + 1) * sizeof *given);
    npgnn_prediction *predictions = malloc((pairs + 1) * sizeof *predictions);
    npgnn_link *links = pairs ? NULL : malloc((size_t)n * PARTNERS * sizeof *links);
    int32_t *found = pairs ? NULL : malloc((size_t)n * sizeof *found);
    int code = given && predictions && (pairs || (links && found)) ? 0 : out_of_memory(err);
    if (!code)
        code = npgnn_model_universal(&model, env, err);
    double cpu = cpu_now(), start = now();
    if (!code)
        code = npgnn_predictor_new(&predictor, model, graph, NULL, env, err);
    out->prepare = now() - start;
    if (!code && pairs)
        draw_pairs(given, pairs, graph);
    start = now();
    if (!code && pairs)
        code = npgnn_predictor_run(predictions, predictor, given, pairs, err);
    else if (!code)
        code = npgnn_predictor_top(links, found, predictor, PARTNERS, NULL, err);
    out->seconds = now() - start;
    out->cpu = cpu_now() - cpu;
    out->pairs = pairs ? (double)pairs : (double)n * (n - 1) / 2;
    for (int32_t i = 0; !code && !pairs && i < CHECKED; i++) {
        int32_t node = (int32_t)((int64_t)n * i / CHECKED);
        if (found[node] > 0)
            code = check_partners(links + (size_t)node * PARTNERS, found[node], node, graph, predictor, err);
    }
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    free(given);
    free(predictions);
    free(links);
    free(found);
    return code;
}
