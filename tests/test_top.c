/* The best partners and links: equal to sorting what npgnn_predictor_run says of every pair, to the bit. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "meter.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NODES 140 /* more than one block of a search */

/* ---- graphs and models ---- */

/* Words that few nodes share, so that X is sparse. */
static npgnn_graph *sparse_graph(void)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, "synthetic:nodes=140,words=100,seed=3", NULL, NULL, &err), err);
    return graph;
}

/* A ring. The features repeat after `patterns` nodes, and differ by `step` at most: by little, and so do the scores. */
static npgnn_graph *dense_graph(int patterns, int columns, double step)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_pair edges[NODES];
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    float *x = calloc((size_t)NODES * (size_t)columns, sizeof *x);
    for (int i = 0; i < NODES; i++) {
        edges[i] = (npgnn_pair){i, (i + 1) % NODES};
        for (int c = 0; c < columns; c++)
            x[i * columns + c] =
                (float)(1 + c % 3 + step * npi_rng_uniform_at(&rng, (uint64_t)(i % patterns * columns + c)));
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, x, NODES, NODES, columns, NULL, &err), err);
    free(x);
    return graph;
}

static npgnn_model *fit(const npgnn_graph *graph, const char *preset)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_env one = {.size = sizeof one, .threads = 1};
    assert_ok(npgnn_options_preset(&o, preset, &err), err);
    o.iterations = 12;
    assert_ok(npgnn_fit(&model, graph, &o, &one, &err), err);
    return model;
}

static npgnn_predictor *predictor_of(const npgnn_model *model, const npgnn_graph *graph, int samples, int threads)
{
    npgnn_predict_options options = {.size = sizeof options, .samples = samples, .seed = 9};
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_predictor *p = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_predictor_new(&p, model, graph, &options, &env, &err), err);
    return p;
}

/* ---- the slow, obvious way ---- */

typedef struct ranked {
    npgnn_link link;
    int draws;
    npgnn_rank rank;
} ranked;

static float rank_of(const ranked *r)
{
    return r->rank == NPGNN_BY_LOW ? r->link.prediction.low : r->link.prediction.probability;
}

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    const npgnn_prediction *p = &x->link.prediction, *q = &y->link.prediction;
    if (x->draws && rank_of(x) != rank_of(y))
        return rank_of(x) > rank_of(y) ? -1 : 1;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    if (x->link.pair.u != y->link.pair.u)
        return x->link.pair.u < y->link.pair.u ? -1 : 1;
    return (x->link.pair.v > y->link.pair.v) - (x->link.pair.v < y->link.pair.v);
}

static int listed(const int32_t *nodes, int32_t count, int32_t node)
{
    for (int32_t i = 0; nodes && i < count; i++)
        if (nodes[i] == node)
            return 1;
    return !nodes;
}

static int wanted(const npgnn_top_options *o, const npgnn_graph *graph, int32_t u, int32_t v)
{
    return u != v && listed(o->from, o->from_count, u) && listed(o->to, o->to_count, v) &&
           (o->known || !npgnn_graph_has_edge(graph, u, v));
}

static npgnn_prediction prediction_of[NODES][NODES]; /* what the last predictor says of all pairs */

static void predict_all(npgnn_predictor *p)
{
    static npgnn_pair pairs[NODES * NODES];
    npgnn_error err = {0};
    for (int32_t i = 0; i < NODES * NODES; i++)
        pairs[i] = (npgnn_pair){i / NODES, i % NODES};
    assert_ok(npgnn_predictor_run(&prediction_of[0][0], p, pairs, NODES * NODES, &err), err);
}

/* All pairs that are asked for, best first; for links each once. */
static ranked *rank_all(size_t *count, const npgnn_graph *graph, const npgnn_top_options *o, int samples, int links)
{
    size_t kept = 0;
    ranked *list = calloc(NODES * NODES + 1, sizeof *list);
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++)
            if (wanted(o, graph, u, v) && !(links && v < u && wanted(o, graph, v, u))) {
                int known = npgnn_graph_has_edge(graph, u, v);
                list[kept] = (ranked){{{u, v}, prediction_of[u][v], known}, samples > 0, o->rank};
                kept += (double)rank_of(&list[kept]) >= o->min_probability;
            }
    qsort(list, kept, sizeof *list, compare);
    *count = kept;
    return list;
}

/* Candidates are chosen by scores from rows: pairs that score the same up to rounding may come in the place of each other. */
static void assert_as_good(const npgnn_link *got, const npgnn_link *want, npgnn_rank rank)
{
    const npgnn_prediction *own = &prediction_of[got->pair.u][got->pair.v];
    assert_memory_equal(&got->prediction, own, sizeof *own);
    assert_int_equal(got->pair.u == want->pair.u && got->pair.v == want->pair.v ? got->known : 0,
                     got->pair.u == want->pair.u && got->pair.v == want->pair.v ? want->known : 0);
    double a = (double)(rank == NPGNN_BY_LOW ? own->low : own->probability);
    double b = (double)(rank == NPGNN_BY_LOW ? want->prediction.low : want->prediction.probability);
    if (!(a > b - 1e-3 * (b < 0.01 ? 0.01 : b)))
        fail_msg("(%d, %d) has %g, and (%d, %d) %g", got->pair.u, got->pair.v, a, want->pair.u, want->pair.v, b);
}

static void assert_link(const npgnn_link *got, const npgnn_link *want)
{
    assert_int_equal(got->pair.u, want->pair.u);
    assert_int_equal(got->pair.v, want->pair.v);
    assert_memory_equal(&got->prediction, &want->prediction, sizeof got->prediction);
    assert_int_equal(got->known, want->known);
}

static void check_top(npgnn_predictor *p, const npgnn_graph *graph, const npgnn_top_options *o, int samples, int k)
{
    npgnn_error err = {0};
    int32_t rows = o->from ? o->from_count : NODES, found[NODES];
    size_t count;
    npgnn_link *out = calloc((size_t)rows * (size_t)k, sizeof *out);
    ranked *want = rank_all(&count, graph, o, samples, 0);
    assert_ok(npgnn_predictor_top(out, found, p, k, o, &err), err);
    for (int32_t row = 0; row < rows; row++) {
        int32_t node = o->from ? o->from[row] : row, place = 0;
        for (size_t i = 0; i < count && place < k; i++)
            if (want[i].link.pair.u == node)
                o->search == NPGNN_SEARCH_CANDIDATES ? assert_as_good(&out[row * k + place++], &want[i].link, o->rank)
                                                     : assert_link(&out[row * k + place++], &want[i].link);
        assert_int_equal(found[row], place);
    }
    free(want);
    free(out);
}

static void check_links(npgnn_predictor *p, const npgnn_graph *graph, const npgnn_top_options *o, int samples, int k)
{
    npgnn_error err = {0};
    int32_t found = -1;
    size_t count;
    npgnn_link *out = calloc((size_t)k, sizeof *out);
    ranked *want = rank_all(&count, graph, o, samples, 1);
    assert_ok(npgnn_predictor_top_links(out, &found, p, k, o, &err), err);
    assert_int_equal(found, count < (size_t)k ? (int)count : k);
    for (int32_t i = 0; i < found; i++)
        o->search == NPGNN_SEARCH_CANDIDATES ? assert_as_good(&out[i], &want[i].link, o->rank)
                                             : assert_link(&out[i], &want[i].link);
    free(want);
    free(out);
}

/* ---- every way to ask ---- */

static const int32_t some[] = {7, 3, 139, 128, 0, 64}, others[] = {3, 5, 11, 100, 7, 8, 9, 122, 0};

/* The middle of what there is: it leaves out some. */
static double middling(const npgnn_graph *graph)
{
    npgnn_top_options o = {.size = sizeof o};
    size_t count;
    ranked *list = rank_all(&count, graph, &o, 0, 1);
    double probability = (double)list[count / 400].link.prediction.probability;
    free(list);
    return probability;
}

static void check_all(const npgnn_graph *graph, const npgnn_model *model, int samples, int threads)
{
    npgnn_predictor *p = predictor_of(model, graph, samples, threads);
    predict_all(p);
    npgnn_top_options ways[] = {
        {.known = 0},
        {.known = 1},
        {.min_probability = middling(graph)},
        {.min_probability = middling(graph), .rank = NPGNN_BY_LOW},
        {.from = some, .from_count = COUNT(some)},
        {.to = others, .to_count = COUNT(others), .known = 1},
        {.from = some, .from_count = COUNT(some), .to = others, .to_count = COUNT(others)},
        {.to = others, .to_count = 0},
    };
    for (size_t i = 0; i < COUNT(ways); i++)
        ways[i].size = sizeof ways[i];
    for (size_t i = 0; i < COUNT(ways); i++) {
        check_top(p, graph, &ways[i], samples, 10);
        check_links(p, graph, &ways[i], samples, 50);
        if (npgnn_predictor_retrieves(p)) { /* where all nodes are candidates, nothing is missed */
            ways[i].search = NPGNN_SEARCH_CANDIDATES;
            ways[i].candidates = NODES;
            check_top(p, graph, &ways[i], samples, 10);
            check_links(p, graph, &ways[i], samples, 50);
            ways[i].search = NPGNN_SEARCH_AUTO;
        }
    }
    check_top(p, graph, &ways[0], samples, 1);
    check_top(p, graph, &ways[1], samples, NODES + 5); /* more than there are */
    check_links(p, graph, &ways[1], samples, NODES * NODES + 1);
    npgnn_predictor_free(p);
}

static void check_graph(npgnn_graph *graph, const char *preset)
{
    npgnn_model *model = fit(graph, preset);
    check_all(graph, model, 0, 1);
    check_all(graph, model, 0, 3);
    check_all(graph, model, 4, 2);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

static void test_default(void **state)
{
    (void)state;
    check_graph(sparse_graph(), "default");
}

static void test_best(void **state)
{
    (void)state;
    check_graph(sparse_graph(), "best");
}

static void test_dense(void **state)
{
    (void)state;
    check_graph(dense_graph(NODES, 7, 0.3), "best");
}

/* Scores that differ in the last bits, where the product of matrices and the judgement disagree on the order. */
static void test_near_ties(void **state)
{
    (void)state;
    check_graph(dense_graph(NODES, 5, 1e-5), "best");
    check_graph(dense_graph(NODES, 40, 1e-5), "default"); /* fails where rounding is not allowed for */
    npgnn_graph *graph = dense_graph(NODES, 5, 1e-5);
    npgnn_model *model = fit(graph, "default");
    npgnn_predictor *p = predictor_of(model, graph, 60, 2); /* sums of many probabilities round many times */
    predict_all(p);
    check_top(p, graph, &(npgnn_top_options){.size = sizeof(npgnn_top_options)}, 60, 10);
    npgnn_predictor_free(p);
    check_all(graph, model, 0, 2);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* All embeddings the same: the numbers of the nodes decide everything. */
static void test_all_equal(void **state)
{
    (void)state;
    check_graph(dense_graph(1, 2, 0), "default");
}

/* ---- without a match ---- */

static void test_nothing_to_find(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    float x[] = {1, 2};
    npgnn_pair edge = {0, 1};
    npgnn_link out[4];
    int32_t found[2] = {9, 9}, links = 9;
    assert_ok(npgnn_graph_from_arrays(&graph, &edge, x, 2, 1, 1, NULL, &err), err);
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, NULL, NULL);
    npgnn_trainer *trainer = NULL;
    npgnn_model *model = NULL;
    assert_ok(npgnn_trainer_new(&trainer, graph, NULL, &o, NULL, &err), err);
    assert_ok(npgnn_trainer_model(&model, trainer, &err), err);
    npgnn_predictor *p = predictor_of(model, graph, 0, 2);
    assert_ok(npgnn_predictor_top(out, found, p, 2, NULL, &err), err);
    assert_ok(npgnn_predictor_top_links(out, &links, p, 2, NULL, &err), err);
    assert_true(found[0] == 0 && found[1] == 0 && links == 0); /* the only pair is known */
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(graph);
}

/* ---- refusals ---- */

static void refuse(npgnn_predictor *p, npgnn_top_options o, int32_t k, const char *part)
{
    npgnn_error err = {0};
    npgnn_link out = {.known = 77};
    int32_t found[NODES] = {77};
    assert_int_equal(npgnn_predictor_top(&out, found, p, k, &o, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, part));
    assert_int_equal(npgnn_predictor_top_links(&out, found, p, k, &o, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, part));
    assert_true(out.known == 77 && found[0] == 77);
}

static void test_refusals(void **state)
{
    (void)state;
    static const int32_t outside[] = {1, NODES}, negative[] = {-1}, twice[] = {4, 5, 4};
    npgnn_graph *graph = sparse_graph();
    npgnn_model *model = fit(graph, "default");
    npgnn_predictor *p = predictor_of(model, graph, 0, 1);
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .from = outside, .from_count = 2}, 3, "140");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .to = negative, .to_count = 1}, 3, "-1");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .to = twice, .to_count = 3}, 3, "twice");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .from = twice, .from_count = -1}, 3, "negative");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .min_probability = 1.5}, 3, "1.5");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .min_probability = (double)NAN}, 3, "nan");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options)}, 0, "0");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .candidates = -2}, 3, "-2");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .search = (npgnn_search)7}, 3, "7");
    refuse(p, (npgnn_top_options){.size = sizeof(npgnn_top_options), .search = NPGNN_SEARCH_CANDIDATES}, 3, "network");
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* ---- progress ---- */

typedef struct watch {
    int calls, last, stop;
} watch;

static int on_progress(void *user, const npgnn_progress *progress)
{
    watch *w = user;
    w->calls++;
    assert_int_equal(progress->iterations, NODES);
    assert_true(progress->iteration > w->last);
    w->last = progress->iteration;
    return w->stop;
}

static void test_progress(void **state)
{
    (void)state;
    static npgnn_link out[NODES];
    int32_t found[NODES];
    watch w = {0};
    npgnn_env env = {.size = sizeof env, .threads = 1, .progress = on_progress, .user = &w};
    npgnn_error err = {0};
    npgnn_graph *graph = sparse_graph();
    npgnn_model *model = fit(graph, "default");
    npgnn_predictor *p = NULL;
    assert_ok(npgnn_predictor_new(&p, model, graph, NULL, &env, &err), err);
    assert_ok(npgnn_predictor_top(out, found, p, 1, NULL, &err), err);
    assert_true(w.calls >= 1 && w.last == NODES);
    w = (watch){.stop = 1};
    assert_int_equal(npgnn_predictor_top_links(out, found, p, 1, NULL, &err), NPGNN_E_CANCELLED);
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* ---- memory ---- */

/* A search that runs out of memory, at whichever allocation, leaves its predictor as it was. */
static void starve(const npgnn_model *model, const npgnn_graph *graph, int samples, int links)
{
    static npgnn_link out[NODES];
    int32_t found[NODES];
    npgnn_predict_options draws = {.size = sizeof draws, .samples = samples, .seed = 1};
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    npgnn_predictor *p = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_predictor_new(&p, model, graph, &draws, &env, &err), err);
    long before = m.blocks;
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        m.allow = allow;
        code = links ? npgnn_predictor_top_links(out, found, p, 1, NULL, &err)
                     : npgnn_predictor_top(out, found, p, 1, NULL, &err);
        assert_true(code == 0 ? allow >= 5 : code == NPGNN_E_MEMORY);
        assert_int_equal(m.blocks, before);
    }
    npgnn_predictor_free(p);
    assert_int_equal(m.blocks, 0);
    assert_int_equal(m.refused, 0);
}

static void test_memory(void **state)
{
    (void)state;
    npgnn_graph *graph = sparse_graph();
    npgnn_model *model = fit(graph, "best");
    starve(model, graph, 0, 0);
    starve(model, graph, 2, 1);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),   cmocka_unit_test(test_best),
        cmocka_unit_test(test_dense),     cmocka_unit_test(test_near_ties),
        cmocka_unit_test(test_all_equal), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_progress),  cmocka_unit_test(test_nothing_to_find),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
