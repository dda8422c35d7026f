/* Several processes, simulated by threads: all of them compute what one process computes, to the bit. tests/mpi.sh has
 * real ones; here the sanitizers see the same exchanges. */
#include "check.h"

#include <pthread.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "model/model.h"

enum { RANKS = 3, PAIRS = 90, TOP = 3 };

static npgnn_graph *graph, *small;
static npgnn_model *universal;

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
        p->code = fit(&p->result.best, "best", NULL, 1, &p->env, &p->err);
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
    return npgnn_load(&graph, "synthetic:nodes=270,words=100", NULL, NULL, NULL) ||
           npgnn_load(&small, "synthetic:nodes=100,words=100", NULL, NULL, NULL) ||
           npgnn_model_universal(&universal, NULL, NULL);
}

static int free_all(void **state)
{
    (void)state;
    npgnn_graph_free(graph);
    npgnn_graph_free(small);
    npgnn_model_free(universal);
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
    p->code = fit(&p->result.best, "best", NULL, 1, &p->env, &p->err);
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

/* Where one process has too little memory, all of them end, and the message says which one it was. */
static void test_no_memory(void **state)
{
    static const struct {
        void *(*job)(void *);
        long allocations;
    } cases[] = {{compute_network, 20},     {compute_network, 150},    {compute_best, 100},
                 {compute_pretraining, 60}, {compute_predictions, 10}, {compute_predictions, 150},
                 {compute_predictions, 40}, {compute_predictions, 600}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_comm *comm[RANKS];
        process all[RANKS];
        npgnn_error err = {0};
        long left = cases[i].allocations;
        assert_ok(npgnn_comm_simulate(comm, RANKS, NULL, &err), err);
        for (int r = 0; r < RANKS; r++) {
            all[r] = (process){.env = {.size = sizeof all[r].env, .threads = 1, .comm = comm[r]}};
            all[r].env.allocator = (npgnn_allocator){limited, r == 1 ? &left : NULL};
            assert_int_equal(pthread_create(&all[r].thread, NULL, cases[i].job, &all[r]), 0);
        }
        for (int r = 0; r < RANKS; r++)
            pthread_join(all[r].thread, NULL);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(all[r].code, NPGNN_E_MEMORY);
            assert_non_null(strstr(all[r].err.text, "process 1 of 3: "));
            npgnn_comm_free(comm[r]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_agreement),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, make_all, free_all);
}
