/* Several processes, simulated by threads: all of them compute what one process computes, to the bit. tests/mpi.sh has
 * real ones; here the sanitizers see the same exchanges. */
#include "check.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "evidence/columns.h"
#include "evidence/endpoints.h"
#include "graph/graph.h"
#include "model/model.h"

enum { RANKS = 3, PAIRS = 90, TOP = 3 };

static npgnn_graph *graph, *small;
static npgnn_model *universal, *best; /* best: with a projection, and a z of its own */

/* What a process computes: hashes of the results. */
typedef struct result {
    uint64_t network, best, pretrained, top, links, pairs, seeds;
} result;

typedef struct process {
    pthread_t thread;
    npgnn_env env;
    result result;
    npgnn_error err;
    int code;
} process;

static uint64_t hash_links(const npgnn_link *links, size_t count)
{
    uint64_t hash = NPI_HASH_START;
    for (size_t i = 0; i < count; i++) {
        hash = npi_hash_bytes(hash, &links[i].pair, sizeof links[i].pair);
        hash = npi_hash_bytes(hash, &links[i].prediction.score, sizeof links[i].prediction.score);
    }
    return hash;
}

static int fit(uint64_t *hash, const char *preset, const char *loss, int iterations, const npgnn_env *env,
               npgnn_error *err)
{
    npgnn_model *model = NULL;
    npgnn_options o = {.size = sizeof o};
    int code = npgnn_options_preset(&o, preset, err);
    if (!code && loss)
        code = npgnn_options_set(&o, "loss", loss, err);
    o.iterations = iterations;
    if (!code)
        code = npgnn_fit(&model, o.process ? small : graph, &o, env, err);
    if (!code)
        *hash = npi_model_hash(model);
    npgnn_model_free(model);
    return code;
}

static int pretrain(uint64_t *hash, const npgnn_env *env, npgnn_error *err)
{
    static const int family = 0;
    const npgnn_graph *all = small;
    npgnn_model *model = NULL;
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = 3};
    int code = npgnn_pretrain(&model, &all, &family, 1, &options, env, err);
    if (!code)
        *hash = npi_model_hash(model);
    npgnn_model_free(model);
    return code;
}

static int predict(result *r, const npgnn_env *env, npgnn_error *err)
{
    npgnn_predictor *predictor = NULL;
    int32_t n = npgnn_graph_nodes(graph), found_links = 0, *found = calloc((size_t)n, sizeof *found);
    npgnn_link *links = calloc((size_t)n * TOP, sizeof *links); /* (n, TOP) */
    npgnn_pair pairs[PAIRS];
    npgnn_prediction predictions[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, (7 * i + 1) % n};
    int code = found && links ? npgnn_predictor_new(&predictor, universal, graph, NULL, env, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npgnn_predictor_run(predictions, predictor, pairs, PAIRS, err);
    if (!code)
        code = npgnn_predictor_top(links, found, predictor, TOP, NULL, err);
    if (!code) {
        r->pairs = npi_hash_bytes(NPI_HASH_START, predictions, sizeof predictions);
        r->top = hash_links(links, (size_t)n * TOP); /* every node has as many partners */
        code = npgnn_predictor_top_links(links, &found_links, predictor, 50, NULL, err);
        r->links = hash_links(links, (size_t)found_links);
    }
    npgnn_predictor_free(predictor);
    free(found);
    free(links);
    return code;
}

static int evaluate(uint64_t *hash, const npgnn_env *env, npgnn_error *err)
{
    npgnn_eval_run runs[3];
    const npgnn_eval_options options = {
        .size = sizeof options, .method = "common-neighbors", .first_seed = 1, .bootstrap = 10};
    for (int i = 0; i < 3; i++)
        runs[i] = (npgnn_eval_run){.size = sizeof runs[i]};
    int code = npgnn_evaluate(runs, graph, 3, &options, env, err);
    *hash = NPI_HASH_START;
    for (int i = 0; i < 3; i++) {
        *hash = npi_hash_bytes(*hash, &runs[i].auc, sizeof runs[i].auc);
        *hash = npi_hash_bytes(*hash, runs[i].auc_interval, sizeof runs[i].auc_interval);
    }
    return code;
}

static void *compute(void *arg)
{
    process *p = arg;
    p->code = fit(&p->result.network, "default", "sampled", 3, &p->env, &p->err);
    if (!p->code)
        p->code = fit(&p->result.best, "best", NULL, 5, &p->env, &p->err);
    if (!p->code)
        p->code = pretrain(&p->result.pretrained, &p->env, &p->err);
    if (!p->code)
        p->code = predict(&p->result, &p->env, &p->err);
    if (!p->code)
        p->code = evaluate(&p->result.seeds, &p->env, &p->err);
    return NULL;
}

static int make_all(void **state)
{
    (void)state;
    npgnn_options o = {.size = sizeof o};
    if (npgnn_options_preset(&o, "best", NULL))
        return 1;
    o.iterations = 5; /* with fewer, tuning would not be kept */
    return npgnn_load(&graph, "synthetic:nodes=270,words=100", NULL, NULL, NULL) ||
           npgnn_load(&small, "synthetic:nodes=200,words=100", NULL, NULL, NULL) ||
           npgnn_fit(&best, small, &o, NULL, NULL) || !best->process.z || npgnn_model_universal(&universal, NULL, NULL);
}

static int free_all(void **state)
{
    (void)state;
    npgnn_graph_free(graph);
    npgnn_graph_free(small);
    npgnn_model_free(universal);
    npgnn_model_free(best);
    return 0;
}

static void test_same_bits(void **state)
{
    (void)state;
    process alone = {.env = {.size = sizeof alone.env, .threads = 1}};
    compute(&alone);
    assert_ok(alone.code, alone.err);
    npgnn_comm *comm[RANKS];
    process all[RANKS];
    npgnn_error err = {0};
    assert_ok(npgnn_comm_simulate(comm, RANKS, NULL, &err), err);
    for (int r = 0; r < RANKS; r++) {
        all[r] = (process){.env = {.size = sizeof all[r].env, .threads = 1, .comm = comm[r]}};
        assert_int_equal(pthread_create(&all[r].thread, NULL, compute, &all[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(all[r].thread, NULL);
    for (int r = 0; r < RANKS; r++) {
        assert_ok(all[r].code, all[r].err);
        assert_memory_equal(&all[r].result, &alone.result, sizeof alone.result);
        npgnn_comm_free(comm[r]);
    }
}

/* ---- evidence whose nodes are divided ---- */

/* One pair more than fill a batch in each of two processes: one of them has a batch that the other one has not. */
enum { MOST_PROCESSES = 4, MANY_PAIRS = 2 * NPI_ENDPOINTS_BATCH + 1, FEW_PAIRS = 300 };

/* The graph that all processes work on, and a projection of its features. */
static npgnn_graph *subject;
static npi_projection projection;

static npgnn_pair pair_of(int64_t i)
{
    int32_t n = subject->n;
    return (npgnn_pair){(int32_t)(i * 7919 % n), (int32_t)((i * 104729 + 1) % n)};
}

/* The evidence of pairs, of which each process computes its share: a hash of all. */
static void *compute_evidence(void *arg)
{
    process *p = arg;
    const npgnn_env *env = &p->env;
    npi_reduced words = {0}, projected = {0};
    npi_columns columns = {0};
    npgnn_pair pairs[FEW_PAIRS];
    float value[FEW_PAIRS * NPI_ALL_COLUMNS];
    int begin = (int)npi_comm_share_start(env->comm, FEW_PAIRS, npi_comm_rank(env->comm));
    int end = (int)npi_comm_share_start(env->comm, FEW_PAIRS, npi_comm_rank(env->comm) + 1);
    for (int i = 0; i < FEW_PAIRS; i++)
        pairs[i] = pair_of(i);
    p->code = npi_reduced_new(&words, subject->x, NULL, env, &p->err);
    if (!p->code)
        p->code = npi_reduced_project(&projected, subject->x, &projection, env, &p->err);
    if (!p->code && projected.width > 0)
        p->code = words.width > 0 ? npi_tfidf_new(&words.tfidf, subject->x, env, &p->err) : 0;
    if (!p->code)
        p->code = npi_columns_new(&columns, &subject->a, &words, &projected, 0, env, &p->err);
    if (!p->code)
        p->code = npi_columns_pairs(value + begin * columns.plan.columns, &columns, pairs + begin,
                                    (size_t)(end - begin), env->threads, &p->err);
    if (!p->code) {
        npi_comm_gather_shares(env->comm, value, FEW_PAIRS, (size_t)columns.plan.columns * sizeof *value);
        p->result.pairs =
            npi_hash_bytes(NPI_HASH_START, value, FEW_PAIRS * (size_t)columns.plan.columns * sizeof *value);
    }
    npi_columns_free(&columns);
    npi_reduced_free(env, &words);
    npi_reduced_free(env, &projected);
    return NULL;
}

/* What searches leave out depends on these numbers: those of all nodes, in every process that keeps its own. */
static void *bound_evidence(void *arg)
{
    process *p = arg;
    const npgnn_env *env = &p->env;
    npi_reduced words = {0}, projected = {0};
    npi_columns columns = {0};
    p->code = npi_reduced_new(&words, subject->x, NULL, env, &p->err);
    if (!p->code)
        p->code = npi_reduced_project(&projected, subject->x, &projection, env, &p->err);
    if (!p->code)
        p->code = npi_columns_new(&columns, &subject->a, &words, &projected, 1, env, &p->err);
    if (!p->code) {
        double bounds[NPI_BANKS + 1] = {columns.least_distance};
        for (int bank = 0; bank < NPI_BANKS; bank++)
            bounds[1 + bank] = columns.bank[bank].longest;
        p->result.pairs = npi_hash_bytes(NPI_HASH_START, bounds, sizeof bounds);
    }
    npi_columns_free(&columns);
    npi_reduced_free(env, &words);
    npi_reduced_free(env, &projected);
    return NULL;
}

/* A predictor whose evidence is not kept: pairs, then a search, which keeps it, then pairs. */
static int answer(result *r, size_t memory, const npgnn_env *env, npgnn_error *err)
{
    npgnn_predictor *predictor = NULL;
    npgnn_predict_options o = {.size = sizeof o, .samples = 2, .memory = memory};
    int32_t found = 0, from = 5;
    const npgnn_top_options top = {.size = sizeof top, .from = &from, .from_count = 1};
    npgnn_pair *pairs = calloc(MANY_PAIRS, sizeof *pairs);
    npgnn_prediction *predictions = calloc(MANY_PAIRS, sizeof *predictions);
    npgnn_link links[TOP];
    for (int i = 0; i < MANY_PAIRS; i++)
        pairs[i] = pair_of(i);
    int code = npgnn_predictor_new(&predictor, universal, subject, &o, env, err);
    if (!code)
        code = npgnn_predictor_run(predictions, predictor, pairs, MANY_PAIRS, err);
    if (!code)
        r->pairs = npi_hash_bytes(NPI_HASH_START, predictions, MANY_PAIRS * sizeof *predictions);
    if (!code && env->comm) { /* rather than wait for the others, who do not explain anything */
        npgnn_explanation why = {.size = sizeof why};
        assert_int_equal(npgnn_predictor_explain(&why, predictor, pairs[0], NULL), NPGNN_E_ARGUMENT);
    }
    if (!code)
        code = npgnn_predictor_top(links, &found, predictor, TOP, &top, err);
    if (!code)
        code = npgnn_predictor_run(predictions, predictor, pairs, FEW_PAIRS, err);
    if (!code) {
        r->top = hash_links(links, (size_t)found);
        r->links = npi_hash_bytes(NPI_HASH_START, predictions, FEW_PAIRS * sizeof *predictions);
    }
    npgnn_predictor_free(predictor);
    free(pairs);
    free(predictions);
    return code;
}

static void *answer_divided(void *arg)
{
    process *p = arg;
    p->code = answer(&p->result, 1, &p->env, &p->err);
    return NULL;
}

/* Runs a job in so many processes. */
static void run_processes(process *all, int ranks, void *(*job)(void *), int threads)
{
    npgnn_comm *comm[MOST_PROCESSES];
    npgnn_error err = {0};
    assert_ok(npgnn_comm_simulate(comm, ranks, NULL, &err), err);
    for (int r = 0; r < ranks; r++) {
        npgnn_allocator allocator = all[r].env.allocator;
        all[r] = (process){.env = {.size = sizeof all[r].env, .threads = threads, .comm = comm[r]}};
        all[r].env.allocator = allocator;
        all[r].env = npi_env_resolve(&all[r].env); /* the internal functions below expect it */
        assert_int_equal(pthread_create(&all[r].thread, NULL, job, &all[r]), 0);
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(all[r].thread, NULL);
    for (int r = 0; r < ranks; r++)
        npgnn_comm_free(comm[r]);
}

/* A ring with chords, with or without a table of features. */
static npgnn_graph *ring_graph(int32_t n, const npgnn_column *table, int32_t columns)
{
    npgnn_graph *made = NULL;
    npgnn_error err = {0};
    npgnn_pair *edges = calloc(2 * (size_t)n, sizeof *edges);
    for (int32_t i = 0; i < n; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % n};
        edges[2 * i + 1] = (npgnn_pair){i, (i * 7 + 11) % n};
    }
    const npgnn_graph_data data = {.size = sizeof data,
                                   .nodes = n,
                                   .edges = edges,
                                   .edge_count = 2 * (int64_t)n,
                                   .table = table,
                                   .table_columns = columns};
    assert_ok(npgnn_graph_new(&made, &data, NULL, &err), err);
    free(edges);
    return made;
}

/* Numbers, which become dense angles, and categories. */
static npgnn_graph *table_graph(int32_t n)
{
    static const char *const colours[] = {"red", "green", "blue"};
    double *height = calloc((size_t)n, sizeof *height), *weight = calloc((size_t)n, sizeof *weight);
    const char **colour = calloc((size_t)n, sizeof *colour);
    for (int32_t i = 0; i < n; i++) {
        height[i] = i % 17 == 0 ? (double)NAN : sin(i);
        weight[i] = i * i % 101;
        colour[i] = colours[i % 5 % 3];
    }
    const npgnn_column table[] = {{.name = "height", .numbers = height},
                                  {.name = "weight", .numbers = weight},
                                  {.name = "colour", .texts = colour}};
    npgnn_graph *made = ring_graph(n, table, 3);
    free(height);
    free(weight);
    free(colour);
    return made;
}

/* The job of one process, then of several: all have the same result. */
static void check_same(const process *alone, int first, int last, void *(*job)(void *))
{
    for (int ranks = first; ranks <= last; ranks++) {
        process all[MOST_PROCESSES] = {{0}};
        run_processes(all, ranks, job, 1 + ranks % 2);
        for (int r = 0; r < ranks; r++) {
            assert_ok(all[r].code, all[r].err);
            assert_memory_equal(&all[r].result, &alone->result, sizeof alone->result);
        }
    }
}

/* Sparse, dense and no features, with a projection of them and without; with several parts of nodes, and with fewer
 * parts than processes. */
static void test_divided_evidence(void **state)
{
    (void)state;
    enum { WIDTH = 12, WORDS = 100 };
    npgnn_graph *words = NULL, *table = table_graph(1100), *plain = ring_graph(1300, NULL, 0);
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_projection own = {0};
    assert_ok(npgnn_load(&words, "synthetic:nodes=1700,words=100", NULL, NULL, &err), err);
    assert_ok(npi_projection_new(&own, WORDS, WIDTH, &env, &err), err);
    for (int i = 0; i < 2 * WORDS * WIDTH; i++) /* and what is behind: for the neighbourhoods */
        own.weight[i] = (real)sin(i);
    const struct {
        npgnn_graph *graph;
        npi_projection projection;
    } cases[] = {{words, own}, {table, {0}}, {plain, {0}}, {small, own}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        process alone = {.env = env};
        subject = cases[i].graph;
        projection = cases[i].projection;
        compute_evidence(&alone);
        assert_ok(alone.code, alone.err);
        check_same(&alone, 2, MOST_PROCESSES, compute_evidence);
        bound_evidence(&alone);
        assert_ok(alone.code, alone.err);
        check_same(&alone, 3, 3, bound_evidence);
    }
    projection = (npi_projection){0};
    npi_projection_free(&env, &own);
    npgnn_graph_free(words);
    npgnn_graph_free(table);
    npgnn_graph_free(plain);
}

/* And what is made of it: the links that are set aside, draws, several batches of pairs, and a search afterwards. */
static void test_divided_predictor(void **state)
{
    (void)state;
    npgnn_error err = {0};
    process kept = {.env = {.size = sizeof kept.env, .threads = 2}};
    assert_ok(npgnn_load(&subject, "synthetic:nodes=1100,words=100,degree=12", NULL, NULL, &err), err);
    assert_ok(answer(&kept.result, 0, &kept.env, &err), err);
    check_same(&kept, 2, 2, answer_divided);
    npgnn_graph_free(subject);
}

/* ---- searches whose evidence is divided ---- */

enum { SOME = 40, LARGE = 1500 }; /* the draws of all pairs of so many nodes would take long */

/* What one process finds is checked elsewhere (test_top.c, test_universal.c, test_explain.c). */
static const npgnn_model *finder;

/* The best of every node, where each pair is scored once, or of some nodes, with a few of them as partners too; or
 * links. */
typedef enum { EVERY, SOME_NODES, SOME_PARTNERS, ALL_LINKS, SOME_LINKS, SEARCHES } search_kind;

static int find(uint64_t *hash, search_kind kind, npgnn_predictor *predictor, npgnn_error *err)
{
    int32_t n = subject->n, from[SOME], to[SOME], *found = calloc((size_t)n, sizeof *found), count = 0;
    npgnn_link *links = calloc((size_t)n * TOP, sizeof *links); /* (n, TOP) */
    npgnn_top_options o = {.size = sizeof o};
    for (int i = 0; i < SOME; i++) { /* in no order, and across the sides of a graph that has two */
        from[i] = (int32_t)((int64_t)i * 7919 % n);
        to[i] = (int32_t)(((int64_t)i * 104729 + 3) % n);
    }
    if (kind == SOME_NODES || kind == SOME_PARTNERS || kind == SOME_LINKS) {
        o.from = from;
        o.from_count = SOME;
        o.min_probability = 1e-4;
    }
    if (kind == SOME_PARTNERS || kind == SOME_LINKS) {
        o.to = to;
        o.to_count = SOME;
        o.known = 1;
    }
    int code = found && links ? 0 : NPGNN_E_MEMORY;
    if (!code && kind >= ALL_LINKS)
        code = npgnn_predictor_top_links(links, &count, predictor, 50, &o, err);
    else if (!code)
        code = npgnn_predictor_top(links, found, predictor, TOP, &o, err);
    *hash = hash_links(links, (size_t)count);
    for (int32_t row = 0; kind < ALL_LINKS && row < (o.from ? SOME : n); row++) {
        *hash = npi_hash_bytes(*hash, &found[row], sizeof found[row]);
        for (int32_t i = 0; i < found[row]; i++) {
            const npgnn_link *link = &links[row * TOP + i];
            *hash = npi_hash_bytes(*hash, &link->pair, sizeof link->pair);
            *hash = npi_hash_bytes(*hash, &link->prediction, sizeof link->prediction);
        }
    }
    free(found);
    free(links);
    return code;
}

/* Explains pairs, some of which are given twice, and either way round. */
static int explain(uint64_t *hash, npgnn_predictor *predictor, npgnn_error *err)
{
    npgnn_pair pairs[SOME];
    for (int i = 0; i < SOME; i++) {
        pairs[i] = pair_of(i % (SOME - 3));
        if (i % 3 == 0)
            pairs[i] = (npgnn_pair){pairs[i].v, pairs[i].u};
    }
    *hash = NPI_HASH_START;
    int code = npgnn_predictor_gather(predictor, pairs, SOME, err);
    for (int i = 0; !code && i < SOME; i++) {
        npgnn_explanation why = {.size = sizeof why};
        code = npgnn_predictor_explain(&why, predictor, pairs[i], err);
        *hash = npi_hash_bytes(*hash, &why.log_odds, sizeof why.log_odds);
        *hash = npi_hash_bytes(*hash, &why.baseline, sizeof why.baseline);
        *hash = npi_hash_bytes(*hash, why.reasons, sizeof why.reasons);
    }
    return code;
}

/* All kinds of searches, at the mean of z and with draws; explanations; and pairs, from the evidence that is then
 * kept. */
static int find_all(result *r, const npgnn_env *env, npgnn_error *err)
{
    uint64_t hash[2][SEARCHES] = {{0}}, why[2] = {0};
    npgnn_pair pairs[FEW_PAIRS];
    npgnn_prediction predictions[FEW_PAIRS];
    /* The predictors of universal learn for seconds under sanitizers, which see draws with best. */
    int code = 0, drawn_too = !CHECK_SANITIZED || finder != universal;
    for (int i = 0; i < FEW_PAIRS; i++)
        pairs[i] = pair_of(i);
    for (int drawn = 0; !code && drawn <= drawn_too; drawn++) {
        npgnn_predictor *predictor = NULL;
        /* kept from the beginning, or when a search needs it */
        npgnn_predict_options o = {.size = sizeof o, .samples = 2 * drawn, .memory = drawn ? 0 : 1};
        code = npgnn_predictor_new(&predictor, finder, subject, &o, env, err);
        if (!code)
            code = explain(&why[drawn], predictor, err);
        for (int kind = EVERY; !code && kind < SEARCHES; kind++)
            if (!drawn || subject->n < LARGE || (kind != EVERY && kind != ALL_LINKS))
                code = find(&hash[drawn][kind], (search_kind)kind, predictor, err);
        if (!code)
            code = npgnn_predictor_run(predictions, predictor, pairs, FEW_PAIRS, err);
        npgnn_predictor_free(predictor);
    }
    r->top = npi_hash_bytes(NPI_HASH_START, hash, sizeof hash);
    r->links = npi_hash_bytes(NPI_HASH_START, why, sizeof why);
    r->pairs = npi_hash_bytes(NPI_HASH_START, predictions, sizeof predictions);
    return code;
}

static void *find_divided(void *arg)
{
    process *p = arg;
    p->code = find_all(&p->result, &p->env, &p->err);
    return NULL;
}

/* A graph with two sides. */
static npgnn_graph *sided_graph(int32_t sources, int32_t targets)
{
    enum { LINKS = 3 };
    npgnn_graph *made = NULL;
    npgnn_error err = {0};
    npgnn_pair *edges = calloc(LINKS * (size_t)sources, sizeof *edges);
    for (int32_t i = 0; i < LINKS * sources; i++)
        edges[i] = (npgnn_pair){i / LINKS, sources + (i * 7 + i / LINKS % 5) % targets};
    const npgnn_graph_data data = {.size = sizeof data,
                                   .nodes = sources + targets,
                                   .sources = sources,
                                   .edges = edges,
                                   .edge_count = LINKS * (int64_t)sources};
    assert_ok(npgnn_graph_new(&made, &data, NULL, &err), err);
    free(edges);
    return made;
}

/* Sparse and no features, and two sides; a projection of the features, with T; fewer parts of nodes than processes, and
 * processes without nodes. */
static void test_divided_search(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *words = NULL, *plain = ring_graph(1040, NULL, 0), *sided = sided_graph(700, 400);
    assert_ok(npgnn_load(&words, "synthetic:nodes=1600,words=100", NULL, NULL, &err), err);
    const struct {
        npgnn_graph *graph;
        const npgnn_model *model;
        int first, last; /* numbers of processes */
    } cases[] = {{words, universal, 4, 4},
                 {plain, universal, 3, 3},
                 {sided, universal, 2, 2},
                 {words, best, 2, 2},
                 {small, best, 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (CHECK_SANITIZED && cases[i].graph == plain)
            continue; /* sanitizers see its evidence in test_divided_evidence */
        process alone = {.env = {.size = sizeof alone.env, .threads = 2}};
        subject = cases[i].graph;
        finder = cases[i].model;
        assert_ok(find_all(&alone.result, &alone.env, &err), err);
        check_same(&alone, cases[i].first, cases[i].last, find_divided);
    }
    npgnn_graph_free(words);
    npgnn_graph_free(plain);
    npgnn_graph_free(sided);
}

/* Processes that search for different things say so, rather than wait for each other. */
static void *find_different(void *arg)
{
    process *p = arg;
    npgnn_predictor *predictor = NULL;
    npgnn_link links[TOP];
    int32_t found = 0, from = npi_comm_rank(p->env.comm);
    const npgnn_top_options o = {.size = sizeof o, .from = &from, .from_count = 1};
    p->code = npgnn_predictor_new(&predictor, universal, subject, NULL, &p->env, &p->err);
    if (!p->code)
        p->code = npgnn_predictor_top(links, &found, predictor, TOP, &o, &p->err);
    npgnn_predictor_free(predictor);
    return NULL;
}

static void test_different_searches(void **state)
{
    (void)state;
    process all[2] = {{0}};
    subject = small;
    run_processes(all, 2, find_different, 1);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(all[r].code, NPGNN_E_MISMATCH);
        assert_non_null(strstr(all[r].err.text, "the search of process 1 is not that of process 0"));
    }
}

/* Process 1 has memory for this many further allocations; negative: for any number. */
static void *budgeted(void *user, void *block, size_t size)
{
    long *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (left && *left == 0)
        return NULL;
    if (left && *left > 0)
        --*left;
    return realloc(block, size);
}

/* Every allocation of one process fails in turn: all processes say so, and the same predictor then finds the rest. */
static void *find_with_little(void *arg)
{
    process *p = arg;
    long *left = p->env.allocator.user;
    npgnn_predictor *predictor = NULL;
    npgnn_predict_options o = {.size = sizeof o, .memory = 1};
    uint64_t hash[SEARCHES + 1];
    int failures = 0;
    p->code = npgnn_predictor_new(&predictor, finder, subject, &o, &p->env, &p->err);
    for (int kind = EVERY; !p->code && kind <= SEARCHES; kind++)
        for (long budget = 0;; budget += CHECK_SANITIZED && kind == EVERY ? 3 : 1) { /* many are of the same place */
            if (left)
                *left = budget;
            int code = kind < SEARCHES ? find(&hash[kind], (search_kind)kind, predictor, &p->err)
                                       : explain(&hash[kind], predictor, &p->err);
            if (left)
                *left = -1;
            /* an explanation is of one process, and another one may have memory for it */
            code = npi_comm_agree(p->env.comm, code, &p->err);
            if (!code)
                break;
            failures++;
            if (code != NPGNN_E_MEMORY || !strstr(p->err.text, "process 1 of 2: ")) {
                p->code = code;
                break;
            }
        }
    if (!p->code && p->env.comm && failures < 3 * SEARCHES)
        p->code = NPGNN_E_ARGUMENT; /* nothing has failed */
    p->result.top = npi_hash_bytes(NPI_HASH_START, hash, sizeof hash);
    npgnn_predictor_free(predictor);
    return NULL;
}

static void test_search_memory_out(void **state)
{
    (void)state;
    npgnn_error err = {0};
    process alone = {.env = {.size = sizeof alone.env, .threads = 1}}, all[2] = {{0}};
    long left = -1;
    npgnn_graph *words = NULL;
    assert_ok(npgnn_load(&words, "synthetic:nodes=530,words=100", NULL, NULL, &err), err);
    subject = words;
    finder = universal;
    find_with_little(&alone);
    assert_ok(alone.code, alone.err);
    for (int r = 0; r < 2; r++)
        all[r].env.allocator = (npgnn_allocator){budgeted, r == 1 ? &left : NULL};
    run_processes(all, 2, find_with_little, 1);
    for (int r = 0; r < 2; r++) {
        assert_ok(all[r].code, all[r].err);
        assert_int_equal(all[r].result.top, alone.result.top);
    }
    npgnn_graph_free(words);
}

/* Bytes that are allocated, and most of all times. */
typedef struct meter {
    size_t bytes, peak;
} meter;

static void *metered(void *user, void *block, size_t size)
{
    meter *m = user;
    m->bytes -= block ? malloc_usable_size(block) : 0;
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *resized = realloc(block, size);
    m->bytes += malloc_usable_size(resized ? resized : block);
    m->peak = m->bytes > m->peak ? m->bytes : m->peak;
    return resized;
}

static void *make_evidence(void *arg)
{
    process *p = arg;
    npi_reduced words = {0};
    npi_columns columns = {0};
    p->code = npi_reduced_new(&words, subject->x, NULL, &p->env, &p->err);
    if (!p->code)
        p->code = npi_columns_new(&columns, &subject->a, &words, NULL, 0, &p->env, &p->err);
    if (!p->code)
        assert_int_equal(columns.rows.to - columns.rows.from > 0, 1);
    npi_columns_free(&columns);
    npi_reduced_free(&p->env, &words);
    return NULL;
}

/* A search with a predictor that does nothing else: the examples that universal learns from take memory, too. */
static void *make_search(void *arg)
{
    process *p = arg;
    npgnn_predictor *predictor = NULL;
    p->code = npgnn_predictor_new(&predictor, best, subject, NULL, &p->env, &p->err);
    if (!p->code)
        p->code = find(&p->result.top, SOME_NODES, predictor, &p->err);
    npgnn_predictor_free(predictor);
    return NULL;
}

/* Of four processes, none needs half of the memory of one: its rows, those of its neighbours, and what does not depend
 * on the number of nodes. */
static void test_divided_memory(void **state)
{
    (void)state;
    void *(*const jobs[])(void *) = {make_evidence, make_search};
    npgnn_error err = {0};
    npgnn_graph *large = NULL;
    assert_ok(npgnn_load(&large, "synthetic:nodes=9000,words=100", NULL, NULL, &err), err);
    subject = large;
    for (size_t job = 0; job < sizeof jobs / sizeof jobs[0]; job++) {
        meter one = {0}, several[MOST_PROCESSES] = {{0}};
        process alone = {.env = {.size = sizeof alone.env, .threads = 1, .allocator = {metered, &one}}};
        process all[MOST_PROCESSES] = {{0}};
        jobs[job](&alone);
        assert_ok(alone.code, alone.err);
        for (int r = 0; r < MOST_PROCESSES; r++)
            all[r].env.allocator = (npgnn_allocator){metered, &several[r]};
        run_processes(all, MOST_PROCESSES, jobs[job], 1);
        for (int r = 0; r < MOST_PROCESSES; r++) {
            assert_ok(all[r].code, all[r].err);
            assert_int_equal(all[r].result.top, alone.result.top);
            if (2 * several[r].peak >= one.peak)
                fail_msg("process %d of %d has %zu bytes, one alone %zu", r, MOST_PROCESSES, several[r].peak, one.peak);
        }
    }
    npgnn_graph_free(large);
}

/* What one process fails at, all fail at, and the message names it. */
static void *fail_alone(void *arg)
{
    process *p = arg;
    int code = npi_comm_rank(p->env.comm) == 1 ? npi_fail(&p->err, NPGNN_E_IO, "no such file") : 0;
    p->code = npgnn_comm_agree(p->env.comm, code, &p->err);
    return NULL;
}

static void test_agreement(void **state)
{
    (void)state;
    npgnn_comm *comm[RANKS];
    process all[RANKS];
    npgnn_error err = {0};
    assert_ok(npgnn_comm_simulate(comm, RANKS, NULL, &err), err);
    for (int r = 0; r < RANKS; r++) {
        all[r] = (process){.env = {.size = sizeof all[r].env, .comm = comm[r]}};
        assert_int_equal(pthread_create(&all[r].thread, NULL, fail_alone, &all[r]), 0);
    }
    for (int r = 0; r < RANKS; r++) {
        pthread_join(all[r].thread, NULL);
        assert_int_equal(all[r].code, NPGNN_E_IO);
        assert_string_equal(all[r].err.text, "process 1 of 3: no such file");
        npgnn_comm_free(comm[r]);
    }
    assert_int_equal(npgnn_comm_simulate(comm, 0, NULL, &err), NPGNN_E_ARGUMENT);
}

/* What one process has been given differently, all refuse, and the message names it. */
static void *differ_alone(void *arg)
{
    process *p = arg;
    int rank = npi_comm_rank(p->env.comm);
    p->code = npgnn_comm_same(p->env.comm, 7, "another number", &p->err);
    if (p->code == 0)
        p->code = npgnn_comm_same(p->env.comm, rank == 2 ? 8 : 7, "the number", &p->err);
    return NULL;
}

static void test_sameness(void **state)
{
    (void)state;
    npgnn_comm *comm[RANKS];
    process all[RANKS];
    npgnn_error err = {0};
    assert_int_equal(npgnn_comm_same(NULL, 7, "the number", &err), 0);
    assert_ok(npgnn_comm_simulate(comm, RANKS, NULL, &err), err);
    for (int r = 0; r < RANKS; r++) {
        all[r] = (process){.env = {.size = sizeof all[r].env, .comm = comm[r]}};
        assert_int_equal(pthread_create(&all[r].thread, NULL, differ_alone, &all[r]), 0);
    }
    for (int r = 0; r < RANKS; r++) {
        pthread_join(all[r].thread, NULL);
        assert_int_equal(all[r].code, NPGNN_E_MISMATCH);
        assert_string_equal(all[r].err.text, "the number of process 2 is not that of process 0 (hash 0000000000000008 "
                                             "instead of 0000000000000007): give all processes the same files and "
                                             "options");
        npgnn_comm_free(comm[r]);
    }
}

/* Process 1 has memory for so many allocations. */
static void *limited(void *user, void *block, size_t size)
{
    long *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return left && (*left)-- <= 0 ? NULL : realloc(block, size);
}

static void *compute_network(void *arg)
{
    process *p = arg;
    p->code = fit(&p->result.network, "default", "exact", 1, &p->env, &p->err);
    return NULL;
}

static void *compute_best(void *arg)
{
    process *p = arg;
    p->code = fit(&p->result.best, "best", NULL, 5, &p->env, &p->err);
    return NULL;
}

static void *compute_pretraining(void *arg)
{
    process *p = arg;
    p->code = pretrain(&p->result.pretrained, &p->env, &p->err);
    return NULL;
}

static void *compute_predictions(void *arg)
{
    process *p = arg;
    p->code = predict(&p->result, &p->env, &p->err);
    return NULL;
}

/* A job in three processes, of which one may allocate so often. Returns how many allocations it had left. */
static long run_limited(process all[RANKS], void *(*job)(void *), long allocations)
{
    npgnn_comm *comm[RANKS];
    npgnn_error err = {0};
    long left = allocations;
    assert_ok(npgnn_comm_simulate(comm, RANKS, NULL, &err), err);
    for (int r = 0; r < RANKS; r++) {
        all[r] = (process){.env = {.size = sizeof all[r].env, .threads = 1, .comm = comm[r]}};
        all[r].env.allocator = (npgnn_allocator){limited, r == 1 ? &left : NULL};
        assert_int_equal(pthread_create(&all[r].thread, NULL, job, &all[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(all[r].thread, NULL);
    for (int r = 0; r < RANKS; r++)
        npgnn_comm_free(comm[r]);
    return left;
}

/* Where one process has too little memory, all of them end, and the message says which one it was. */
static void check_no_memory(void *(*job)(void *), long allocations)
{
    process all[RANKS];
    run_limited(all, job, allocations);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(all[r].code, NPGNN_E_MEMORY);
        assert_non_null(strstr(all[r].err.text, "process 1 of 3: "));
    }
}

static void test_no_memory(void **state)
{
    static const struct {
        void *(*job)(void *);
        long allocations;
    } cases[] = {{compute_network, 20},     {compute_network, 150},     {compute_best, 100},
                 {compute_pretraining, 60}, {compute_predictions, 10},  {compute_predictions, 150},
                 {compute_predictions, 40}, {compute_predictions, 600}, {answer_divided, 1000},
                 {compute_evidence, 20},    {compute_evidence, 70},     {compute_evidence, 100},
                 {compute_evidence, 130}};
    (void)state;
    subject = small;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_no_memory(cases[i].job, cases[i].allocations);
}

/* Between the rehearsals of small graphs, each process fits and judges for itself. */
static void test_no_memory_to_judge(void **state)
{
    enum { MOST = 1 << 20, STEP = CHECK_SANITIZED ? 18 : 6 }; /* with 18, in five different functions */
    process all[RANKS];
    (void)state;
    long needed = MOST - run_limited(all, compute_best, MOST);
    assert_ok(all[0].code, all[0].err);
    for (long before_end = 2; before_end < 80; before_end += STEP)
        check_no_memory(compute_best, needed - before_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),          cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_sameness),           cmocka_unit_test(test_divided_evidence),
        cmocka_unit_test(test_divided_predictor),  cmocka_unit_test(test_divided_search),
        cmocka_unit_test(test_different_searches), cmocka_unit_test(test_divided_memory),
        cmocka_unit_test(test_search_memory_out),  cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_to_judge)};
    return cmocka_run_group_tests(tests, make_all, free_all);
}
