/* How long do the all-pairs loss, an iteration of training and predictions take on this machine?
 *
 *     build/bench/iteration [--nodes N] [--seconds S] [--threads N]
 *     build/bench/iteration --data DATA [--loss exact|sampled|auto] [--iterations N | --seconds S] [--threads N]
 *     build/bench/iteration --data DATA --ranks N [--loss exact|sampled|auto] [--iterations N]
 *
 * The first form compares the loss with plain loops over all pairs, and fails where they differ: the speed of a wrong
 * loss means nothing. Then it times the loss, beside the product of large matrices, iterations on generated graphs of
 * up to --nodes nodes (20000 unless given; a million need 3 GB, ten million 19 GB and half an hour), and predictions with
 * `universal`, some of which it compares with all scores. The shortest of the repetitions counts, of which there are as
 * many as fit into --seconds (1) per row; predictions are timed once.
 *
 * The second form times iterations on one graph. The third trains in --ranks processes, simulated by threads of one
 * machine, and counts what each of them sends, receives and computes in an iteration. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/env.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/dense.h"

enum {
    COLUMNS = 32,         /* width of the embeddings: the model's default */
    PAIRS_PER_NODE = 128, /* pairs in the sampled loss, as the model has by default */
    WARM_UP = 1,          /* repetitions that are not timed: they touch memory and start threads for the first time */
    LEAST_REPETITIONS = 3,
    MOST_RANKS = 64 /* parts that nodes are divided into */
};

typedef struct settings {
    const char *data; /* NULL: generated graphs */
    npgnn_loss loss;
    int ranks, iterations, nodes;
    double seconds;
    npgnn_env env;
} settings;

static const char *const loss_names[] = {
    [NPGNN_LOSS_EXACT] = "exact", [NPGNN_LOSS_SAMPLED] = "sampled", [NPGNN_LOSS_AUTO] = "auto"};

static void stop(const char *why)
{
    fprintf(stderr, "iteration: %s\n", why);
    exit(2);
}

static void must(int code, const npgnn_error *err)
{
    if (code)
        stop(err->text);
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        stop("out of memory");
    return memory;
}

static npgnn_graph *load(const char *data, const npgnn_env *env)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    must(npgnn_load(&graph, data, NULL, env, &err), &err);
    return graph;
}

/* ---- clocks ---- */

typedef struct repetitions {
    double best, total; /* seconds */
    int count;
} repetitions;

static void add_time(repetitions *times, double seconds)
{
    if (times->count == 0 || seconds < times->best)
        times->best = seconds;
    times->total += seconds;
    times->count++;
}

/* Whether to repeat: until the time is used up, and LEAST_REPETITIONS times unless one takes the whole time. */
static int repeat(const repetitions *times, double seconds)
{
    return times->total < seconds || (times->count < LEAST_REPETITIONS && times->best < seconds);
}

static double cpu_seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The peak of resident memory starts again from what is resident now. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5\n", file);
    fclose(file);
}

static double peak_megabytes(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* ---- the machine: a product of large matrices ---- */

enum { SIDE = 2048, PRODUCTS = 3 };

typedef struct product_loop {
    real *c;
    const real *a, *b;
} product_loop;

static void product_rows(const void *arg, int64_t first, int64_t last)
{
    const product_loop *l = arg;
    npi_gemm(l->c + first * SIDE, SIDE, l->a + first * SIDE, SIDE, 0, l->b, SIDE, 0, (int)(last - first), SIDE, SIDE, 1,
             0);
}

/* GFLOP/s of C = A B, all square, a band of rows for each thread. */
static double product_gflops(const npgnn_env *given)
{
    const size_t cells = (size_t)SIDE * SIDE;
    npgnn_env env = npi_env_resolve(given);
    npgnn_error err = {0};
    real *a = need(3 * cells, sizeof *a);
    const product_loop loop = {a + 2 * cells, a, a + cells};
    repetitions times = {0};
    must(npi_blas_open(&env, &err), &err);
    for (size_t i = 0; i < 2 * cells; i++)
        a[i] = (real)(i % 7) - 3;
    for (int i = 0; i < PRODUCTS; i++) {
        double start = npi_clock_seconds();
        npi_blas_begin(env.threads);
        npi_parallel(env.threads, SIDE, 0, product_rows, &loop);
        npi_blas_end(env.threads);
        add_time(&times, npi_clock_seconds() - start);
    }
    free(a);
    return 2e-9 * SIDE * SIDE * SIDE / times.best;
}

/* ---- the all-pairs loss ---- */

/* A graph with this many nodes and links like a citation network. It has few features, since only the loss is timed. */
static npgnn_graph *loss_graph(int nodes, const npgnn_env *env)
{
    char data[80];
    snprintf(data, sizeof data, "synthetic:nodes=%d,words=100,length=4,degree=2", nodes);
    return load(data, env);
}

/* Artificial embeddings (nodes, COLUMNS) whose scores resemble those of a trained model: most below zero, some far
 * above. */
static float *artificial_embeddings(int32_t nodes)
{
    size_t count = (size_t)nodes * COLUMNS;
    float *u = need(count, sizeof *u);
    for (size_t i = 0; i < count; i++)
        u[i] = (float)(0.7 * sin(0.37 * (double)i) * cos(0.0011 * (double)(i % 100003)));
    return u;
}

static npgnn_pairs_loss *new_loss(const npgnn_graph *graph, int pairs_per_node, const npgnn_env *env)
{
    npgnn_pairs_loss *loss = NULL;
    npgnn_error err = {0};
    must(npgnn_pairs_loss_new(&loss, graph, COLUMNS, pairs_per_node, NPGNN_WEIGHTED, 1, env, &err), &err);
    return loss;
}

/* The definition of the loss, pair by pair: with s = u_i . u_j, p = sigmoid(s) and w = negatives / positives,
 *
 *     loss = 1 / (2 negatives) * sum over i, j of  -w log p         for links and the diagonal,
 *                                                  -log (1 - p)     for all other pairs.
 *
 * Returns the loss and adds its gradient to `gradient` (nodes, COLUMNS). */
static double plain_loss(double *gradient, const npgnn_graph *graph, const float *u)
{
    int32_t n = npgnn_graph_nodes(graph);
    double positives = 2 * (double)npgnn_graph_edges(graph), negatives = (double)n * n - positives;
    double weight = negatives / positives, scale = 1 / (2 * negatives), loss = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const float *a = u + (size_t)i * COLUMNS, *b = u + (size_t)j * COLUMNS;
            double s = 0;
            for (int c = 0; c < COLUMNS; c++)
                s += (double)a[c] * (double)b[c];
            int linked = i == j || npgnn_graph_has_edge(graph, i, j);
            double probability = 1 / (1 + exp(-s));
            double slope = scale * (linked ? weight * (probability - 1) : probability);
            loss += scale * (linked ? weight * log1p(exp(-s)) : log1p(exp(s)));
            for (int c = 0; c < COLUMNS; c++) {
                gradient[(size_t)i * COLUMNS + (size_t)c] += slope * (double)b[c];
                gradient[(size_t)j * COLUMNS + (size_t)c] += slope * (double)a[c];
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

static void check_loss(const npgnn_env *env)
{
    enum { NODES = 500, DRAWS = 200, SAMPLED = PAIRS_PER_NODE / 4 };
    const double exact_tolerance = 1e-5, sampled_tolerance = 1e-2;
    const size_t count = (size_t)NODES * COLUMNS;
    npgnn_graph *graph = loss_graph(NODES, env);
    float *u = artificial_embeddings(NODES), *computed = need(count, sizeof *computed);
    double *gradient = need(count, sizeof *gradient), sum = 0;
    double plain = plain_loss(gradient, graph, u);

    npgnn_pairs_loss *loss = new_loss(graph, 0, env);
    double exact = fabs(npgnn_pairs_loss_run(computed, loss, u, 0) / plain - 1);
    double slopes = difference(computed, gradient, count);
    npgnn_pairs_loss_free(loss);

    loss = new_loss(graph, SAMPLED, env);
    for (int draw = 0; draw < DRAWS; draw++)
        sum += npgnn_pairs_loss_run(NULL, loss, u, (uint32_t)draw);
    npgnn_pairs_loss_free(loss);
    double sampled = fabs(sum / DRAWS / plain - 1);

    printf(
        "check against plain loops over all pairs of %d nodes: the exact loss differs by %.1e, its gradient by %.1e, "
        "the mean of %d sampled losses by %.1e\n",
        NODES, exact, slopes, DRAWS, sampled);
    if (!(exact <= exact_tolerance && slopes <= exact_tolerance &&
          sampled <= sampled_tolerance)) /* so that a NaN fails */
        stop("the all-pairs loss is wrong");
    npgnn_graph_free(graph);
    free(u);
    free(computed);
    free(gradient);
}

static void time_loss(const npgnn_graph *graph, int pairs_per_node, double product, const settings *s)
{
    int32_t nodes = npgnn_graph_nodes(graph);
    float *u = artificial_embeddings(nodes), *gradient = need((size_t)nodes * COLUMNS, sizeof *gradient);
    npgnn_pairs_loss *loss = new_loss(graph, pairs_per_node, &s->env);
    repetitions times = {0};
    for (int i = 0; i <= WARM_UP || repeat(&times, s->seconds); i++) {
        double start = npi_clock_seconds();
        npgnn_pairs_loss_run(gradient, loss, u, (uint32_t)i);
        if (i >= WARM_UP)
            add_time(&times, npi_clock_seconds() - start);
    }
    double pairs = pairs_per_node ? (double)nodes * pairs_per_node : (double)nodes * nodes;
    double gflops = 3e-9 * pairs * COLUMNS / times.best; /* three products over half of the pairs */
    printf("%9d  %-8s  %10.5f  %8.1f  %7.0f %%\n", nodes, pairs_per_node ? "sampled" : "exact", times.best, gflops,
           100 * gflops / product);
    fflush(stdout);
    npgnn_pairs_loss_free(loss);
    free(u);
    free(gradient);
}

static void time_losses(const settings *s)
{
    static const int nodes[] = {2708, 19717, 100000};
    const int most_exact = 20000; /* nodes: above, the exact loss takes seconds */
    double product = product_gflops(&s->env);
    printf("%d threads; large matrix product: %.1f GFLOP/s\n", s->env.threads, product);
    check_loss(&s->env);
    printf("\nall-pairs loss and gradient, %d columns; sampled: %d pairs per node\n%9s  %-8s  %10s  %8s  %9s\n",
           COLUMNS, PAIRS_PER_NODE, "nodes", "loss", "seconds", "GFLOP/s", "of gemm");
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0] && nodes[i] <= s->nodes; i++) {
        npgnn_graph *graph = loss_graph(nodes[i], &s->env);
        if (nodes[i] <= most_exact)
            time_loss(graph, 0, product, s);
        time_loss(graph, PAIRS_PER_NODE, product, s);
        npgnn_graph_free(graph);
    }
}

/* ---- whole iterations ---- */

/* The options of a training without validation and rehearsal. */
static npgnn_options training_options(npgnn_loss loss)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_options_preset(&options, "default", NULL);
    options.keep_best = options.calibrate = 0;
    options.loss = loss;
    return options;
}

static void time_iterations(const char *name, const npgnn_graph *graph, npgnn_loss loss, int threads, const settings *s)
{
    const npgnn_options options = training_options(loss);
    npgnn_progress progress = {.size = sizeof progress};
    npgnn_env env = s->env;
    npgnn_error err = {0};
    npgnn_trainer *trainer = NULL;
    repetitions times = {0};
    double before = 0;
    int nodes = npgnn_graph_nodes(graph);
    env.threads = threads;
    must(npgnn_trainer_new(&trainer, graph, NULL, &options, &env, &err), &err);
    for (int i = 0; i <= WARM_UP || (s->iterations ? times.count < s->iterations : repeat(&times, s->seconds)); i++) {
        must(npgnn_trainer_step(&progress, trainer, &err), &err);
        if (i >= WARM_UP)
            add_time(&times, progress.seconds - before);
        before = progress.seconds;
    }
    npgnn_trainer_free(trainer);
    printf("%-16.16s  %8d  %9" PRId64 "  %-8s  %7d  %10.5f  %10.2f  %9.2f  %8.0f\n", name, nodes,
           npgnn_graph_edges(graph), loss_names[loss], threads, times.best, 1 / times.best, 1e6 * times.best / nodes,
           peak_megabytes());
    fflush(stdout);
}

static void print_iterations_heading(void)
{
    printf("%-16s  %8s  %9s  %-8s  %7s  %10s  %10s  %9s  %8s\n", "data", "nodes", "links", "loss", "threads", "seconds",
           "per second", "us/node", "peak MB");
}

#define CORA_SIZED "synthetic:nodes=2708,words=1433,length=18,degree=2"
#define PUBMED_SIZED "synthetic:nodes=19717,words=500,length=50,degree=2.25"

/* With 1, 2, 4, ... threads and all of them on the small graphs; with all on the others. */
static void time_all_iterations(const settings *s)
{
    static const struct {
        const char *name, *data;
        int nodes, exact;
    } cases[] = {
        {"Cora-sized", CORA_SIZED, 2708, 1},
        {"PubMed-sized", PUBMED_SIZED, 19717, 1},
        {"10,000 nodes", "synthetic:nodes=10000,words=5000,length=50,degree=5", 10000, 0},
        {"100,000 nodes", "synthetic:nodes=100000,words=5000,length=50,degree=5", 100000, 0},
        {"1,000,000 nodes", "synthetic:nodes=1000000,words=5000,length=50,degree=5", 1000000, 0},
        {"10,000,000 nodes", "synthetic:nodes=10000000,words=5000,length=50,degree=5", 10000000, 0},
    };
    const int all = s->env.threads, small = 20000;
    printf("\ntraining iterations\n");
    print_iterations_heading();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].nodes > s->nodes)
            continue;
        for (int sampled = !cases[i].exact; sampled <= 1; sampled++) {
            reset_peak();
            npgnn_graph *graph = load(cases[i].data, &s->env);
            for (int threads = cases[i].nodes < small ? 1 : all; threads <= all;
                 threads = threads < all && 2 * threads > all ? all : 2 * threads)
                time_iterations(cases[i].name, graph, sampled ? NPGNN_LOSS_SAMPLED : NPGNN_LOSS_EXACT, threads, s);
            npgnn_graph_free(graph);
        }
    }
}

/* Only the graph of --data. */
static void time_data(const settings *s)
{
    const char *slash = strrchr(s->data, '/');
    npgnn_graph *graph = load(s->data, &s->env);
    print_iterations_heading();
    time_iterations(slash && slash[1] ? slash + 1 : s->data, graph, s->loss, s->env.threads, s);
    npgnn_graph_free(graph);
}

/* ---- predictions ---- */

enum { PARTNERS = 10, CHECKED = 5 };

/* Every second one is a link, if its first node has any. */
static void draw_pairs(npgnn_pair *pairs, size_t count, const npgnn_graph *graph)
{
    npi_rng rng = npi_rng_make(1, NPI_RNG_SYNTHETIC, 0);
    uint64_t n = (uint64_t)npgnn_graph_nodes(graph);
    for (size_t i = 0; i < count; i++) {
        const int32_t *neighbors;
        pairs[i].u = (int32_t)npi_rng_below(&rng, n);
        int64_t degree = npgnn_graph_neighbors(&neighbors, graph, pairs[i].u);
        if (i % 2 == 0 && degree > 0)
            pairs[i].v = neighbors[npi_rng_below(&rng, (uint64_t)degree)];
        else
            pairs[i].v = (int32_t)(((uint64_t)pairs[i].u + 1 + npi_rng_below(&rng, n - 1)) % n);
    }
}

/* Compares the partners of a node with its scores: none that is left out may be better than the last one found. */
static void check_partners(const npgnn_link *found, int32_t count, int32_t node, const npgnn_graph *graph,
                           npgnn_predictor *predictor)
{
    int32_t n = npgnn_graph_nodes(graph), better = 0;
    npgnn_pair *pairs = need((size_t)n, sizeof *pairs);
    npgnn_prediction *all = need((size_t)n, sizeof *all);
    npgnn_error err = {0};
    for (int32_t i = 0; i < n - 1; i++)
        pairs[i] = (npgnn_pair){node, i < node ? i : i + 1};
    must(npgnn_predictor_run(all, predictor, pairs, (size_t)n - 1, &err), &err);
    for (int32_t i = 0; i < n - 1; i++)
        better += !npgnn_graph_has_edge(graph, node, pairs[i].v) && all[i].score > found[count - 1].prediction.score;
    if (better > count - 1)
        stop("the search is wrong: pairs that it left out are better than the last one that it found");
    free(pairs);
    free(all);
}

/* Scores `count` given pairs, or finds the best partners of every node if that is 0. */
static void time_prediction(const char *name, const npgnn_graph *graph, size_t count, const settings *s)
{
    const int32_t n = npgnn_graph_nodes(graph);
    npgnn_model *model = NULL;
    npgnn_predictor *predictor = NULL;
    npgnn_error err = {0};
    npgnn_pair *pairs = need(count + 1, sizeof *pairs);
    npgnn_prediction *predictions = need(count + 1, sizeof *predictions);
    npgnn_link *links = count ? NULL : need((size_t)n * PARTNERS, sizeof *links);
    int32_t *found = count ? NULL : need((size_t)n, sizeof *found);
    draw_pairs(pairs, count, graph);
    must(npgnn_model_universal(&model, &s->env, &err), &err);

    double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID), start = npi_clock_seconds();
    must(npgnn_predictor_new(&predictor, model, graph, NULL, &s->env, &err), &err);
    double prepared = npi_clock_seconds();
    if (count)
        must(npgnn_predictor_run(predictions, predictor, pairs, count, &err), &err);
    else
        must(npgnn_predictor_top(links, found, predictor, PARTNERS, NULL, &err), &err);
    double end = npi_clock_seconds();
    cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

    double scored = count ? (double)count : (double)n * (n - 1) / 2;
    printf("%-16.16s  %8d  %9" PRId64 "  %-15s  %10.0f  %9.3f  %9.3f  %11.3f  %9.3f  %8.0f\n", name, (int)n,
           npgnn_graph_edges(graph), count ? "given pairs" : "ten best of all", scored, prepared - start,
           end - prepared, cpu, 1e6 * (end - prepared) / scored, peak_megabytes());
    fflush(stdout);
    for (int32_t i = 0; found && i < CHECKED; i++) {
        int32_t node = (int32_t)((int64_t)n * i / CHECKED);
        if (found[node] > 0)
            check_partners(links + (size_t)node * PARTNERS, found[node], node, graph, predictor);
    }
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    free(pairs);
    free(predictions);
    free(links);
    free(found);
}

static void time_predictions(const settings *s)
{
    static const struct {
        const char *name, *data;
        size_t pairs; /* 0: the ten best partners of every node */
        int nodes;
    } cases[] = {
        {"Cora-sized", CORA_SIZED, 0, 2708},
        {"PubMed-sized", PUBMED_SIZED, 0, 19717},
        {"10,000 nodes", "synthetic:nodes=10000,words=5000,length=50,degree=5", 100000, 10000},
        {"100,000 nodes", "synthetic:nodes=100000,words=5000,length=50,degree=5", 1000000, 100000},
        {"1,000,000 nodes", "synthetic:nodes=1000000,words=5000,length=50,degree=5", 1000000, 1000000},
        {"10,000,000 nodes", "synthetic:nodes=10000000,words=5000,length=50,degree=5", 1000000, 10000000},
    };
    printf("\npredictions with `universal`\n%-16s  %8s  %9s  %-15s  %10s  %9s  %9s  %11s  %9s  %8s\n", "data", "nodes",
           "links", "what", "pairs", "prepare s", "predict s", "processor s", "us/pair", "peak MB");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].nodes > s->nodes)
            continue;
        reset_peak();
        npgnn_graph *graph = load(cases[i].data, &s->env);
        time_prediction(cases[i].name, graph, cases[i].pairs, s);
        npgnn_graph_free(graph);
    }
}

/* ---- several processes ---- */

typedef struct process {
    pthread_t thread;
    npgnn_env env;
    const npgnn_graph *graph;
    npgnn_options options;
    double sent, received, cpu; /* bytes and processor seconds per iteration: a process that waits uses none */
    int code;
    npgnn_error err;
} process;

/* Trains for one iteration, which is not counted, and for the others. */
static void *simulate(void *arg)
{
    process *p = arg;
    const int iterations = p->options.iterations - 1;
    npgnn_trainer *trainer = NULL;
    npgnn_progress progress = {.size = sizeof progress};
    npgnn_comm_info before = {.size = sizeof before}, after = {.size = sizeof after};
    p->code = npgnn_trainer_new(&trainer, p->graph, NULL, &p->options, &p->env, &p->err);
    if (p->code == 0)
        p->code = npgnn_trainer_step(&progress, trainer, &p->err);
    npgnn_comm_describe(&before, p->env.comm, NULL);
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; p->code == 0 && i < iterations; i++)
        p->code = npgnn_trainer_step(&progress, trainer, &p->err);
    npgnn_comm_describe(&after, p->env.comm, NULL);
    p->sent = (double)(after.sent - before.sent) / iterations;
    p->received = (double)(after.received - before.received) / iterations;
    p->cpu = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / iterations;
    npgnn_trainer_free(trainer);
    return NULL;
}

static void print_process(const char *name, const process *p)
{
    printf("%-13s  %15.0f  %15.0f  %17.4f\n", name, p->sent, p->received, p->cpu);
}

static void report_processes(const process *processes, int ranks)
{
    process mean = {0}, largest = {0};
    printf("%-13s  %15s  %15s  %17s\n", "per iteration", "bytes sent", "bytes received", "processor seconds");
    for (int r = 0; r < ranks; r++) {
        const process *p = &processes[r];
        char name[32];
        snprintf(name, sizeof name, "process %d", r);
        print_process(name, p);
        mean.sent += p->sent / ranks;
        mean.received += p->received / ranks;
        mean.cpu += p->cpu / ranks;
        largest.sent = fmax(largest.sent, p->sent);
        largest.received = fmax(largest.received, p->received);
        largest.cpu = fmax(largest.cpu, p->cpu);
    }
    print_process("mean", &mean);
    print_process("largest", &largest);
}

static void simulate_all(const settings *s)
{
    process processes[MOST_RANKS] = {{0}};
    npgnn_comm *comm[MOST_RANKS] = {NULL};
    npgnn_error err = {0};
    npgnn_graph *graph = load(s->data, &s->env);
    must(npgnn_comm_simulate(comm, s->ranks, &s->env, &err), &err);
    for (int r = 0; r < s->ranks; r++) {
        process *p = &processes[r];
        p->graph = graph;
        p->options = training_options(s->loss);
        p->options.iterations = 1 + (s->iterations ? s->iterations : LEAST_REPETITIONS);
        p->env = s->env;
        p->env.threads = 1;
        p->env.comm = comm[r];
        if (pthread_create(&p->thread, NULL, simulate, p) != 0)
            stop("cannot start a thread for each process");
    }
    for (int r = 0; r < s->ranks; r++)
        pthread_join(processes[r].thread, NULL);
    for (int r = 0; r < s->ranks; r++) {
        must(processes[r].code, &processes[r].err);
        npgnn_comm_free(comm[r]);
    }
    printf("%s: %d nodes, %" PRId64 " links; %d processes, simulated by threads\n\n", s->data,
           (int)npgnn_graph_nodes(graph), npgnn_graph_edges(graph), s->ranks);
    report_processes(processes, s->ranks);
    npgnn_graph_free(graph);
}

/* ---- the command line ---- */

static npgnn_loss read_loss(const char *name)
{
    const int losses = sizeof loss_names / sizeof loss_names[0];
    int loss = 0;
    while (loss < losses && strcmp(loss_names[loss], name) != 0)
        loss++;
    if (loss == losses)
        stop("--loss is exact, sampled or auto");
    return (npgnn_loss)loss;
}

static settings read_arguments(int argc, char **argv)
{
    settings s = {.loss = NPGNN_LOSS_AUTO, .nodes = 20000, .seconds = 1, .env = {.size = sizeof s.env}};
    for (int i = 1; i < argc; i += 2) {
        const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(key, "--data") == 0)
            s.data = value;
        else if (strcmp(key, "--loss") == 0)
            s.loss = read_loss(value);
        else if (strcmp(key, "--ranks") == 0)
            s.ranks = atoi(value);
        else if (strcmp(key, "--iterations") == 0)
            s.iterations = atoi(value);
        else if (strcmp(key, "--nodes") == 0)
            s.nodes = atoi(value);
        else if (strcmp(key, "--seconds") == 0)
            s.seconds = atof(value);
        else if (strcmp(key, "--threads") == 0)
            s.env.threads = atoi(value);
        else
            stop("unknown option; see the top of iteration.c");
    }
    if (s.env.threads == 0)
        s.env.threads = npgnn_cores();
    if (s.ranks < 0 || s.ranks > MOST_RANKS || (s.ranks && !s.data))
        stop("--ranks is at most 64, and needs --data");
    return s;
}

int main(int argc, char **argv)
{
    const settings s = read_arguments(argc, argv);
    if (s.ranks) {
        simulate_all(&s);
    } else if (s.data) {
        time_data(&s);
    } else {
        time_losses(&s);
        time_all_iterations(&s);
        time_predictions(&s);
    }
    return 0;
}
