/* Evidence: pairs and rows against sums written out, whatever the threads; weights that were planted; memory that runs out. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "linalg/dense.h"
#include "meter.h"
#include "model/evidence.h"

enum { NODES = 60, FEATURES = 9, PAIRS = NODES * NODES };

static npgnn_graph *graphs[2]; /* sparse features, dense ones */

/* A random graph with a hub, a node without links and one without features. */
static npgnn_graph *make(double density)
{
    static npgnn_pair edges[PAIRS];
    static float features[NODES * FEATURES];
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    int64_t count = 0;
    for (int32_t u = 1; u < NODES; u++)
        for (int32_t v = u + 1; v < NODES; v++)
            if (npi_rng_uniform(&rng) < (u == 1 ? 0.5 : 0.06))
                edges[count++] = (npgnn_pair){u, v};
    for (int i = FEATURES; i < NODES * FEATURES; i++)
        features[i] = npi_rng_uniform(&rng) < density ? (float)npi_rng_uniform(&rng) : 0;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, features, NODES, count, FEATURES, NULL, &err), err);
    return graph;
}

static int make_graphs(void **state)
{
    (void)state;
    graphs[0] = make(0.1);
    graphs[1] = make(0.8);
    return graphs[0]->x->dense || !graphs[1]->x->dense;
}

static int free_graphs(void **state)
{
    (void)state;
    npgnn_graph_free(graphs[0]);
    npgnn_graph_free(graphs[1]);
    return 0;
}

static npi_evidence evidence_of(const npgnn_graph *graph, int threads)
{
    npi_evidence e;
    npgnn_options options;
    npgnn_error err = {0};
    npgnn_env asked = {.threads = threads}, env = npi_env(&asked);
    npgnn_options_preset(&options, NULL, NULL);
    assert_ok(npi_evidence_new(&e, &options, 1, &graph->a, graph->x, &env, &err), err);
    assert_int_equal(e.count, NPI_EVIDENCE_COLUMNS);
    return e;
}

/* ---- the columns, written out ---- */

static double feature(const npgnn_graph *graph, int32_t node, int32_t column)
{
    const npi_features *x = graph->x;
    if (x->dense)
        return (double)x->dense[node * FEATURES + column];
    for (int64_t p = x->x.ptr[node]; p < x->x.ptr[node + 1]; p++)
        if (x->x.col[p] == column)
            return x->x.val ? (double)x->x.val[p] : 1;
    return 0;
}

static double slow_cosine(const npgnn_graph *graph, int32_t u, int32_t v)
{
    double uv = 0, uu = 0, vv = 0;
    for (int32_t c = 0; c < FEATURES; c++) {
        double a = feature(graph, u, c), b = feature(graph, v, c);
        uv += a * b;
        uu += a * a;
        vv += b * b;
    }
    return uu > 0 && vv > 0 ? uv / sqrt(uu * vv) : 0;
}

typedef double slow_fn(const npgnn_graph *graph, int32_t u, int32_t v);
static slow_fn *const slow[NPI_EVIDENCE_COLUMNS] = {slow_cosine};

static void all_pairs(npgnn_pair pairs[PAIRS])
{
    for (int32_t i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i / NODES, i % NODES};
}

static void test_pairs_are_what_they_say(void **state)
{
    (void)state;
    static npgnn_pair pairs[PAIRS];
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS];
    all_pairs(pairs);
    for (int kind = 0; kind < 2; kind++) {
        npi_evidence e = evidence_of(graphs[kind], 1);
        npi_evidence_pairs(value, &e, pairs, PAIRS);
        for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
            for (int i = 0; i < PAIRS; i++)
                assert_near((double)value[c * PAIRS + i], slow[c](graphs[kind], pairs[i].u, pairs[i].v), 1e-6);
        npi_evidence_free(&e);
    }
}

static void test_same_bits_for_any_threads_and_direction(void **state)
{
    (void)state;
    static npgnn_pair pairs[PAIRS];
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS], other[NPI_EVIDENCE_COLUMNS * PAIRS];
    all_pairs(pairs);
    npi_evidence one = evidence_of(graphs[0], 1), three = evidence_of(graphs[0], 3);
    npi_evidence_pairs(value, &one, pairs, PAIRS);
    npi_evidence_pairs(other, &three, pairs, PAIRS);
    assert_memory_equal(value, other, sizeof value);
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        for (int i = 0; i < PAIRS; i++)
            assert_true(value[c * PAIRS + i] == value[c * PAIRS + i % NODES * NODES + i / NODES]);
    npi_evidence_free(&one);
    npi_evidence_free(&three);
}

/* ---- complete scores ---- */

static npi_weights some_weights(void)
{
    npi_weights weights = {.shift = -0.75, .own = 0.5};
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        weights.column[c] = 1 + c;
    return weights;
}

static void test_rows_are_pairs(void **state)
{
    (void)state;
    static npgnn_pair pairs[PAIRS];
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS], by_pair[PAIRS], by_row[PAIRS];
    enum { BLOCK = 8 };
    npi_weights weights = some_weights();
    all_pairs(pairs);
    for (int kind = 0; kind < 2; kind++) {
        npi_evidence e = evidence_of(graphs[kind], 1);
        npi_evidence_desk desk;
        npgnn_error err = {0};
        assert_ok(npi_evidence_desk_new(&desk, &e, BLOCK, &err), err);
        for (int i = 0; i < PAIRS; i++)
            by_pair[i] = by_row[i] = (float)(i % 17 - 8);
        npi_evidence_pairs(value, &e, pairs, PAIRS);
        npi_evidence_add(by_pair, value, &e, &weights, PAIRS);
        int saved = npi_blas_begin(1);
        for (int32_t first = 0; first < NODES; first += BLOCK) {
            int32_t nodes[BLOCK], count = 0;
            while (count < BLOCK && first + count < NODES) {
                nodes[count] = first + count;
                count++;
            }
            npi_evidence_rows(by_row + first * NODES, &desk, &e, &weights, nodes, count);
        }
        npi_blas_end(saved);
        for (int i = 0; i < PAIRS; i++)
            assert_near((double)by_row[i], (double)by_pair[i], 2e-6);
        npi_evidence_desk_free(&e.env, &desk);
        npi_evidence_free(&e);
    }
}

/* Without a weight there is no column, and a score stays what it is. */
static void test_no_weights_change_nothing(void **state)
{
    (void)state;
    npi_evidence e;
    npgnn_options options;
    npgnn_error err = {0};
    npgnn_env env = npi_env(NULL);
    float score[] = {0.1f, -0.0f, 3};
    const float before[] = {0.1f, -0.0f, 3};
    npgnn_options_preset(&options, NULL, NULL);
    npi_weights weights = npi_weights_of(&options);
    assert_ok(npi_evidence_new(&e, &options, 0, &graphs[0]->a, graphs[0]->x, &env, &err), err);
    assert_int_equal(e.count, 0);
    npi_evidence_add(score, NULL, &e, &weights, 3);
    assert_memory_equal(score, before, sizeof score);
    npi_evidence_free(&e);
}

static void test_weights_live_in_the_options(void **state)
{
    (void)state;
    npgnn_options options;
    npgnn_options_preset(&options, NULL, NULL);
    npi_weights weights = some_weights();
    npi_weights_store(&options, &weights);
    npi_weights back = npi_weights_of(&options);
    assert_memory_equal(&weights, &back, sizeof back);
}

/* ---- fitting ---- */

/* Pairs that are links by the column `c` alone, and scores that are noise: all weight goes to the column. */
static void test_each_column_can_carry_everything(void **state)
{
    (void)state;
    static npgnn_pair pairs[PAIRS];
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS], score[PAIRS], all[NPI_EVIDENCE_COLUMNS * PAIRS];
    npi_evidence e = evidence_of(graphs[0], 1);
    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    all_pairs(pairs);
    npi_evidence_pairs(all, &e, pairs, PAIRS);
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++) {
        size_t first = 0, last = PAIRS;
        double mean = 0;
        for (int i = 0; i < PAIRS; i++)
            mean += (double)all[c * PAIRS + i] / PAIRS;
        for (int i = 0; i < PAIRS; i++) {
            size_t at = (double)all[c * PAIRS + i] > mean ? first++ : --last;
            score[at] = (float)npi_rng_uniform(&rng);
            for (int k = 0; k < NPI_EVIDENCE_COLUMNS; k++)
                value[(size_t)k * PAIRS + at] = all[k * PAIRS + i];
        }
        npi_weights weights = npi_evidence_fit(score, value, &e, first, PAIRS);
        assert_true(weights.own >= 0 && weights.own < 1);
        assert_true(weights.column[c] > 5);
    }
    npi_evidence_free(&e);
}

/* ---- memory ---- */

static int make_and_free(const npgnn_env *env, const npgnn_options *options)
{
    npi_evidence e;
    npi_evidence_desk desk;
    int code = npi_evidence_new(&e, options, 1, &graphs[0]->a, graphs[0]->x, env, NULL);
    if (code)
        return code;
    code = npi_evidence_desk_new(&desk, &e, 4, NULL);
    if (!code)
        npi_evidence_desk_free(env, &desk);
    npi_evidence_free(&e);
    return code;
}

static void test_memory_that_runs_out(void **state)
{
    (void)state;
    npgnn_options options;
    npgnn_options_preset(&options, NULL, NULL);
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code && allow < 50; allow++) {
        meter m = {.allow = allow};
        npgnn_env asked = metered_env(&m), env = npi_env(&asked);
        code = make_and_free(&env, &options);
        assert_true(code == 0 || (code == NPGNN_E_MEMORY && allow < 49));
        assert_int_equal(m.blocks, 0);
    }
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_what_they_say),
        cmocka_unit_test(test_same_bits_for_any_threads_and_direction),
        cmocka_unit_test(test_rows_are_pairs),
        cmocka_unit_test(test_no_weights_change_nothing),
        cmocka_unit_test(test_weights_live_in_the_options),
        cmocka_unit_test(test_each_column_can_carry_everything),
        cmocka_unit_test(test_memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, make_graphs, free_graphs);
}
