/* Evidence: pairs and rows against sums written out, whatever the threads; weights that were planted; memory that runs out. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "evidence/evidence.h"
#include "graph/graph.h"
#include "linalg/dense.h"
#include "meter.h"
#include "model/model.h"

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
    npgnn_error err = {0};
    npgnn_env asked = {.size = sizeof asked, .threads = threads}, env = npi_env_resolve(&asked);
    assert_ok(npi_evidence_new(&e, npi_evidence_asked(NPGNN_EVIDENCE_ALL), &graph->a, graph->x, &env, &err), err);
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

static int64_t degree(const npgnn_graph *graph, int32_t node)
{
    return graph->a.ptr[node + 1] - graph->a.ptr[node];
}

static double slow_excess(const npgnn_graph *graph, int32_t node)
{
    double sum = 0;
    int linked = 0;
    for (int32_t i = 0; i < NODES; i++) {
        sum += log(1 + (double)degree(graph, i));
        linked += degree(graph, i) > 0;
    }
    return degree(graph, node) > 0 ? log(1 + (double)degree(graph, node)) - sum / linked : 0;
}

static double slow_degrees(const npgnn_graph *graph, int32_t u, int32_t v)
{
    return slow_excess(graph, u) + slow_excess(graph, v);
}

static double slow_neighbors(const npgnn_graph *graph, int32_t u, int32_t v)
{
    double sum = 0;
    for (int32_t k = 0; k < NODES; k++)
        if (npgnn_graph_has_edge(graph, u, k) && npgnn_graph_has_edge(graph, k, v))
            sum += 1.0 / (double)degree(graph, k);
    return sqrt(sum);
}

static double slow_paths(const npgnn_graph *graph, int32_t u, int32_t v)
{
    double sum = 0;
    for (int32_t k = 0; k < NODES; k++)
        for (int32_t l = 0; l < NODES; l++)
            if (npgnn_graph_has_edge(graph, u, k) && npgnn_graph_has_edge(graph, k, l) &&
                npgnn_graph_has_edge(graph, l, v))
                sum += 1.0 / (double)(degree(graph, k) * degree(graph, l));
    return sqrt(sum);
}

enum { WIDTH = (NODES - 1) / 4 };

/* out = S (A + I) S in, S being 1 / sqrt(degree + mean degree) of nodes that have links */
static void slow_product(double out[NODES][WIDTH], double in[NODES][WIDTH], const npgnn_graph *graph)
{
    double scale[NODES], linked = 0;
    for (int32_t i = 0; i < NODES; i++)
        linked += degree(graph, i) > 0;
    for (int32_t i = 0; i < NODES; i++)
        scale[i] = degree(graph, i) > 0 ? 1 / sqrt((double)degree(graph, i) + 2 * (double)graph->m / linked) : 0;
    for (int32_t i = 0; i < NODES; i++)
        for (int c = 0; c < WIDTH; c++) {
            out[i][c] = 0;
            for (int32_t j = 0; j < NODES; j++)
                if (i == j || npgnn_graph_has_edge(graph, i, j))
                    out[i][c] += scale[i] * scale[j] * in[j][c];
        }
}

static double slow_dot(double q[NODES][WIDTH], int c, int d)
{
    double sum = 0;
    for (int i = 0; i < NODES; i++)
        sum += q[i][c] * q[i][d];
    return sum;
}

/* By Gram and Schmidt */
static void slow_orthonormal(double q[NODES][WIDTH])
{
    for (int c = 0; c < WIDTH; c++) {
        for (int d = 0; d < c; d++) {
            double along = slow_dot(q, c, d);
            for (int i = 0; i < NODES; i++)
                q[i][c] -= along * q[i][d];
        }
        double length = sqrt(slow_dot(q, c, c));
        for (int i = 0; i < NODES; i++)
            q[i][c] /= length;
    }
}

/* Both graphs have the same links, so the rows are made once. */
static double slow_regions(const npgnn_graph *graph, int32_t u, int32_t v)
{
    static double q[NODES][WIDTH], next[NODES][WIDTH];
    static int made;
    if (!made++) {
        npi_rng rng = npi_rng_make(0, NPI_RNG_SPECTRAL, 1);
        for (int i = 0; i < NODES; i++)
            for (int c = 0; c < WIDTH; c++)
                q[i][c] = degree(graph, i) > 0 ? (npi_rng_uniform_at(&rng, (uint64_t)(i * 64 + c)) < 0.5 ? -1 : 1) : 0;
        for (int round = 0; round < 6; round++) {
            slow_product(next, q, graph);
            slow_product(q, next, graph);
            slow_product(next, q, graph);
            slow_product(q, next, graph);
            slow_orthonormal(q);
        }
        slow_product(next, q, graph);
    }
    double uv = 0, uu = 0, vv = 0;
    for (int c = 0; c < WIDTH; c++) {
        uv += next[u][c] * next[v][c];
        uu += next[u][c] * next[u][c];
        vv += next[v][c] * next[v][c];
    }
    return uu > 0 && vv > 0 ? uv / sqrt(uu * vv) : 0;
}

typedef double slow_fn(const npgnn_graph *graph, int32_t u, int32_t v);
static slow_fn *const slow[NPI_EVIDENCE_COLUMNS] = {slow_cosine, slow_degrees, slow_neighbors, slow_paths,
                                                    slow_regions};
/* the regions come out of an iteration in floats */
static const double tolerance[NPI_EVIDENCE_COLUMNS] = {1e-6, 1e-6, 1e-6, 1e-6, 2e-5};

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
                assert_near((double)value[c * PAIRS + i], slow[c](graphs[kind], pairs[i].u, pairs[i].v), tolerance[c]);
        npi_evidence_free(&e);
    }
}

/* A graph of these links, and its columns for all pairs. */
static void columns_of(float value[NPI_EVIDENCE_COLUMNS * PAIRS], const npgnn_pair *links, int64_t count)
{
    static npgnn_pair pairs[PAIRS];
    static const float features[NODES * FEATURES] = {1, 2, 3};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    all_pairs(pairs);
    assert_ok(npgnn_graph_from_arrays(&graph, links, features, NODES, count, FEATURES, NULL, &err), err);
    npi_evidence e = evidence_of(graph, 1);
    npi_evidence_pairs(value, &e, pairs, PAIRS);
    npi_evidence_free(&e);
    npgnn_graph_free(graph);
}

/* Nothing is known of its structure, and that is what the columns say. */
static void test_a_graph_without_links(void **state)
{
    (void)state;
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS];
    columns_of(value, NULL, 0);
    for (int i = NPI_EVIDENCE_DEGREES * PAIRS; i < NPI_EVIDENCE_COLUMNS * PAIRS; i++)
        assert_true(value[i] == 0);
}

/* One link and, for some of its places, the iteration starts with what the link undoes. */
static void test_graphs_of_one_link(void **state)
{
    (void)state;
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS];
    for (int32_t v = 1; v < 20; v++) {
        npgnn_pair link = {0, v};
        columns_of(value, &link, 1);
        for (int i = 0; i < NPI_EVIDENCE_COLUMNS * PAIRS; i++)
            assert_true(isfinite(value[i]));
    }
}

/* Four cliques in a ring: regions if there ever were any. */
static void test_cliques_are_regions(void **state)
{
    (void)state;
    enum { CLIQUES = 4, SIZE = NODES / CLIQUES };
    static npgnn_pair links[PAIRS];
    static float value[NPI_EVIDENCE_COLUMNS * PAIRS];
    int64_t count = 0;
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = u + 1; v < NODES; v++)
            if (u / SIZE == v / SIZE || (v == u + 1 || (u == 0 && v == NODES - 1)))
                links[count++] = (npgnn_pair){u, v};
    columns_of(value, links, count);
    double within = 0, across = 0;
    for (int i = 0; i < PAIRS; i++) {
        double cosine = (double)value[NPI_EVIDENCE_REGIONS * PAIRS + i];
        assert_true(fabs(cosine) < 1.0001);
        if (i / NODES / SIZE == i % NODES / SIZE)
            within += cosine / (CLIQUES * SIZE * SIZE);
        else
            across += cosine / (PAIRS - CLIQUES * SIZE * SIZE);
    }
    assert_true(within > 0.8 && across < 0.2);
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
        npi_blas_begin(1);
        for (int32_t first = 0; first < NODES; first += BLOCK) {
            int32_t nodes[BLOCK], count = 0;
            while (count < BLOCK && first + count < NODES) {
                nodes[count] = first + count;
                count++;
            }
            npi_evidence_rows(by_row + first * NODES, &desk, &e, &weights, nodes, count);
        }
        npi_blas_end(1);
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
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    float score[] = {0.1f, -0.0f, 3};
    const float before[] = {0.1f, -0.0f, 3};
    npi_weights weights = NPI_WEIGHTS_PLAIN;
    assert_ok(npi_evidence_new(&e, npi_evidence_weighed(&weights), &graphs[0]->a, graphs[0]->x, &env, &err), err);
    assert_int_equal(e.count, 0);
    npi_evidence_add(score, NULL, &e, &weights, 3);
    assert_memory_equal(score, before, sizeof score);
    npi_evidence_free(&e);
}

/* What an option asks for, and what has a weight. */
static void test_sets_of_columns(void **state)
{
    (void)state;
    const unsigned cosine = 1u << NPI_EVIDENCE_COSINE, all = (1u << NPI_EVIDENCE_COLUMNS) - 1;
    npi_weights weights = NPI_WEIGHTS_PLAIN;
    assert_int_equal(npi_evidence_asked(NPGNN_EVIDENCE_NONE), 0);
    assert_int_equal(npi_evidence_asked(NPGNN_EVIDENCE_FEATURES), cosine);
    assert_int_equal(npi_evidence_asked(NPGNN_EVIDENCE_STRUCTURE), all - cosine);
    assert_int_equal(npi_evidence_asked(NPGNN_EVIDENCE_ALL), all);
    assert_int_equal(npi_evidence_weighed(&weights), 0);
    weights.column[NPI_EVIDENCE_PATHS] = 1e-9;
    assert_int_equal(npi_evidence_weighed(&weights), 1u << NPI_EVIDENCE_PATHS);
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

/* Labels drawn by (15): the weights come back, and a column that has none gets none. */
static void test_planted_weights_are_found(void **state)
{
    (void)state;
    static npgnn_pair pairs[PAIRS];
    static float all[NPI_EVIDENCE_COLUMNS * PAIRS], value[NPI_EVIDENCE_COLUMNS * PAIRS], score[PAIRS];
    const npi_weights planted = {
        .shift = -2, .own = 0.8, .column = {[NPI_EVIDENCE_COSINE] = 3, [NPI_EVIDENCE_PATHS] = 1.5}};
    npi_evidence e = evidence_of(graphs[1], 1);
    npi_rng rng = npi_rng_make(6, NPI_RNG_TEST, 0);
    size_t first = 0, last = PAIRS;
    all_pairs(pairs);
    npi_evidence_pairs(all, &e, pairs, PAIRS);
    for (uint64_t i = 0; i < PAIRS; i++) {
        double own = 2 * npi_rng_normal_at(&rng, i), t = planted.shift + planted.own * own;
        for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
            t += planted.column[c] * (double)all[(size_t)c * PAIRS + i];
        size_t at = npi_rng_uniform_at(&rng, PAIRS + i) < 1 / (1 + exp(-t)) ? first++ : --last;
        score[at] = (float)own;
        for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
            value[(size_t)c * PAIRS + at] = all[(size_t)c * PAIRS + i];
    }
    npi_weights found = npi_evidence_fit(score, value, &e, first, PAIRS);
    found.shift += log((double)first) - log((double)(PAIRS - first)); /* it was fitted for even odds */
    assert_near(found.shift, planted.shift, 0.15);
    assert_near(found.own, planted.own, 0.15);
    assert_near(found.column[NPI_EVIDENCE_COSINE], 3, 0.15);
    assert_near(found.column[NPI_EVIDENCE_PATHS], 1.5, 0.15);
    assert_true(found.column[NPI_EVIDENCE_DEGREES] == 0 && found.column[NPI_EVIDENCE_NEIGHBORS] == 0 &&
                found.column[NPI_EVIDENCE_REGIONS] == 0);
    npi_evidence_free(&e);
}

/* ---- models ---- */

/* Trained a little, with these weights. */
static npgnn_model *model_with(const npi_weights *weights, const npgnn_graph *graph)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 3;
    assert_ok(npgnn_fit(&model, graph, &options, NULL, &err), err);
    model->scorer.weights = *weights;
    return model;
}

static void predict_all(npgnn_prediction out[PAIRS], const npgnn_model *model, const npgnn_graph *graph)
{
    static npgnn_pair pairs[PAIRS];
    npgnn_error err = {0};
    all_pairs(pairs);
    assert_ok(npgnn_predict(out, model, graph, pairs, PAIRS, NULL, NULL, &err), err);
}

static void test_predictions_use_it(void **state)
{
    (void)state;
    static npgnn_prediction out[PAIRS];
    npi_weights weights = some_weights();
    npgnn_model *model = model_with(&weights, graphs[0]);
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    npgnn_model_options(&options, model, NULL);
    int k = options.output_size;
    float *u = calloc((size_t)NODES * (size_t)k, sizeof *u);
    assert_ok(npgnn_model_embed(u, model, graphs[0], NULL, &err), err);
    predict_all(out, model, graphs[0]);
    for (int32_t i = 0; i < PAIRS; i++) {
        double own = 0, expected = weights.shift;
        for (int c = 0; c < k; c++)
            own += (double)u[i / NODES * k + c] * (double)u[i % NODES * k + c];
        expected += weights.own * own;
        for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
            expected += weights.column[c] * slow[c](graphs[0], i / NODES, i % NODES);
        assert_near((double)out[i].score, expected, 1e-4);
    }
    free(u);
    npgnn_model_free(model);
}

static void test_model_files_keep_it(void **state)
{
    (void)state;
    static npgnn_prediction before[PAIRS], after[PAIRS];
    npi_weights weights = some_weights();
    weights.own = 1.0 / 3; /* needs all its digits */
    npgnn_model *model = model_with(&weights, graphs[0]), *loaded = NULL;
    npgnn_error err = {0};
    char path[] = "/tmp/npgnn-evidence-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(npgnn_model_save(model, path, &err), err);
    assert_ok(npgnn_model_load(&loaded, path, NULL, &err), err);
    unlink(path);
    predict_all(before, model, graphs[0]);
    predict_all(after, loaded, graphs[0]);
    assert_memory_equal(before, after, sizeof before);
    npgnn_model_free(model);
    npgnn_model_free(loaded);
}

/* What the options ask for is found with validation links and without, and the model tells its weights. */
static void test_trainings_find_weights(void **state)
{
    (void)state;
    npgnn_split *split = NULL;
    npgnn_split_options how = {.size = sizeof how};
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 40;
    npgnn_split_options_default(&how, NPGNN_TRANSDUCTIVE, NULL);
    assert_ok(npgnn_split_new(&split, graphs[0], &how, NULL, &err), err);
    for (int evidence = NPGNN_EVIDENCE_NONE; evidence <= NPGNN_EVIDENCE_ALL; evidence++)
        for (int whole = 0; whole < 2; whole++) {
            npgnn_trainer *trainer = NULL;
            npgnn_model *model = NULL;
            const char *name;
            double weight;
            options.evidence = (npgnn_evidence)evidence;
            assert_ok(npgnn_trainer_new(&trainer, graphs[0], whole ? NULL : split, &options, NULL, &err), err);
            assert_ok(npgnn_trainer_run(trainer, &err), err);
            assert_ok(npgnn_trainer_model(&model, trainer, &err), err);
            const npi_weights *found = &model->scorer.weights;
            unsigned asked = npi_evidence_asked(options.evidence), weighed = npi_evidence_weighed(found);
            assert_int_equal(weighed & ~asked, 0);
            assert_int_equal(found->own != 1 && found->shift != 0, evidence != NPGNN_EVIDENCE_NONE);
            int index = 0;
            for (; npgnn_model_weight(&name, &weight, model, index); index++) {
                assert_string_equal(name, index == 0 ? "intercept" : index == 1 ? "embeddings" : npi_evidence_name(index - 2));
                assert_true(weight == (index == 0 ? found->shift : index == 1 ? found->own : found->column[index - 2]));
            }
            assert_int_equal(index, 2 + NPI_EVIDENCE_COLUMNS);
            assert_false(npgnn_model_weight(&name, &weight, model, -1));
            npgnn_model_free(model);
            npgnn_trainer_free(trainer);
        }
    npgnn_split_free(split);
}

static void test_stopping(void **state)
{
    (void)state;
    const volatile int stop = 1;
    npi_evidence e;
    npgnn_env asked = {.size = sizeof asked, .stop = &stop}, env = npi_env_resolve(&asked);
    unsigned all = npi_evidence_asked(NPGNN_EVIDENCE_ALL);
    assert_int_equal(npi_evidence_new(&e, all, &graphs[0]->a, graphs[0]->x, &env, NULL), NPGNN_E_CANCELLED);

    npi_weights weights = some_weights();
    npgnn_model *model = model_with(&weights, graphs[0]);
    npgnn_predictor *predictor = NULL;
    assert_int_equal(npgnn_predictor_new(&predictor, model, graphs[0], NULL, &asked, NULL), NPGNN_E_CANCELLED);
    assert_null(predictor);
    npgnn_model_free(model);
}

/* ---- memory ---- */

static int make_and_free(const npgnn_env *env)
{
    npi_evidence e;
    npi_evidence_desk desk;
    int code = npi_evidence_new(&e, npi_evidence_asked(NPGNN_EVIDENCE_ALL), &graphs[0]->a, graphs[0]->x, env, NULL);
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
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code && allow < 50; allow++) {
        meter m = {.allow = allow};
        npgnn_env asked = metered_env(&m), env = npi_env_resolve(&asked);
        code = make_and_free(&env);
        assert_true(code == 0 || (code == NPGNN_E_MEMORY && allow < 49));
        assert_int_equal(m.blocks, 0);
    }
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_what_they_say),
        cmocka_unit_test(test_a_graph_without_links),
        cmocka_unit_test(test_graphs_of_one_link),
        cmocka_unit_test(test_cliques_are_regions),
        cmocka_unit_test(test_same_bits_for_any_threads_and_direction),
        cmocka_unit_test(test_rows_are_pairs),
        cmocka_unit_test(test_no_weights_change_nothing),
        cmocka_unit_test(test_sets_of_columns),
        cmocka_unit_test(test_each_column_can_carry_everything),
        cmocka_unit_test(test_planted_weights_are_found),
        cmocka_unit_test(test_predictions_use_it),
        cmocka_unit_test(test_model_files_keep_it),
        cmocka_unit_test(test_trainings_find_weights),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, make_graphs, free_graphs);
}
