/* Rows of heuristics: against dense matrices, against pairs to the bit, and searches against sorting all pairs; on
 * graphs with one and two sides, hubs, stars, lone nodes and no links. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "baselines/neighbors.h"
#include "graph/graph.h"
#include "jobs/methods.h"
#include "meter.h"

enum { MOST = 90, K = 5, GRAPHS = 8, LINKED = 6 /* those before have links, which a search asks for */ };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const methods[] = {
    "common-neighbors", "adamic-adar", "resource-allocation", "three-steps", "item-cosine", "pagerank", "katz"};

/* ---- graphs ---- */

typedef struct sample {
    npgnn_graph *graph;
    double a[MOST][MOST];
} sample;

static unsigned char sides[MOST];

static void add(npgnn_pair *edges, int64_t *m, int32_t u, int32_t v)
{
    edges[(*m)++] = (npgnn_pair){u, v};
}

/* `count` random links between nodes below n; across: between the first third and the rest. Small numbers are popular. */
static void add_random(npgnn_pair *edges, int64_t *m, int32_t n, int count, int across)
{
    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, (uint32_t)(n + count));
    while (count > 0) {
        int32_t u = (int32_t)npi_rng_below(&rng, (uint32_t)(across ? n / 3 : n));
        int32_t v = (int32_t)npi_rng_below(&rng, (uint32_t)n);
        v = v * v / n;
        if (u == v || (across && v < n / 3))
            v = n - 1 - u;
        if (u != v && (!across || v >= n / 3)) {
            add(edges, m, u, v);
            count--;
        }
    }
}

static void sample_new(sample *s, int which)
{
    static npgnn_pair edges[MOST * MOST];
    int32_t n = which == 7 ? 1 : 60 + 4 * which;
    int64_t m = 0;
    npgnn_error err = {0};
    switch (which) {
    case 0: /* the last ten nodes are lone */
        add_random(edges, &m, n - 10, 120, 0);
        break;
    case 1: /* two sides */
        add_random(edges, &m, n, 150, 1);
        break;
    case 2: /* a star, and links between some of its leaves */
        for (int32_t v = 0; v < n - 1; v++)
            add(edges, &m, n - 1, v);
        add_random(edges, &m, 20, 12, 0);
        break;
    case 3: /* two hubs */
        for (int32_t v = 2; v < n; v++)
            add(edges, &m, v % 3 > 0, v);
        add_random(edges, &m, n, 30, 0);
        break;
    case 4: /* complete */
        for (int32_t u = 0; u < n; u++)
            for (int32_t v = 0; v < u; v++)
                add(edges, &m, u, v);
        break;
    case 5: /* stars of 1, 2, 3, ... leaves */
        for (int32_t hub = 0, leaves = 1; hub + leaves < n; hub += leaves + 1, leaves++)
            for (int32_t v = 1; v <= leaves; v++)
                add(edges, &m, hub, hub + v);
        break;
    default: /* no links */
        break;
    }
    assert_ok(npgnn_graph_from_arrays(&s->graph, edges, NULL, n, m, 0, NULL, &err), err);
    if (which == 1) {
        for (int32_t i = 0; i < n; i++)
            sides[i] = i >= n / 3;
        s->graph->side = sides;
    }
    memset(s->a, 0, sizeof s->a);
    for (int64_t e = 0; e < m; e++)
        s->a[edges[e].u][edges[e].v] = s->a[edges[e].v][edges[e].u] = 1;
}

static void sample_free(sample *s)
{
    if (s->graph->side == sides)
        s->graph->side = NULL;
    npgnn_graph_free(s->graph);
}

/* ---- dense twins ---- */

static double degree(const sample *s, int32_t i)
{
    double sum = 0;
    for (int32_t j = 0; j < s->graph->n; j++)
        sum += s->a[i][j];
    return sum;
}

/* c = b a, each (n, n) */
static void multiply(double c[MOST][MOST], double b[MOST][MOST], double a[MOST][MOST], int32_t n)
{
    static double product[MOST][MOST];
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            product[i][j] = 0;
            for (int32_t l = 0; l < n; l++)
                product[i][j] += b[i][l] * a[l][j];
        }
    memcpy(c, product, sizeof product);
}

static double shared(const sample *s, int32_t u, int32_t v)
{
    double sum = 0;
    for (int32_t w = 0; w < s->graph->n; w++)
        sum += s->a[u][w] * s->a[w][v];
    return sum;
}

/* Σ over the neighbours j of `from` of |N(j) ∩ N(to)| / sqrt(d_j d_to), without j = to */
static double cosines(const sample *s, int32_t from, int32_t to)
{
    double sum = 0;
    for (int32_t j = 0; j < s->graph->n; j++)
        if (s->a[from][j] > 0 && j != to && degree(s, to) > 0)
            sum += shared(s, j, to) / sqrt(degree(s, j) * degree(s, to));
    return sum;
}

static void dense(double wanted[MOST][MOST], const char *method, const sample *s)
{
    static double step[MOST][MOST], power[MOST][MOST], sum[MOST][MOST];
    int32_t n = s->graph->n;
    const unsigned char *side = s->graph->side;
    int katz = strcmp(method, "katz") == 0, pagerank = strcmp(method, "pagerank") == 0;
    memset(wanted, 0, sizeof sum);
    memset(sum, 0, sizeof sum);
    memset(power, 0, sizeof power);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double di = fmax(degree(s, i), 1), dj = fmax(degree(s, j), 1);
            step[i][j] = katz ? 0.005 * s->a[i][j] : pagerank ? 0.85 * s->a[i][j] / di : s->a[i][j] / sqrt(di * dj);
            power[i][j] = i == j;
        }
    for (int t = 0; t <= (katz ? 8 : pagerank ? 200 : 3); t++) {
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                sum[i][j] += katz ? (t > 0) * power[i][j] : pagerank ? 0.15 * power[i][j] : (t == 3) * power[i][j];
        multiply(power, power, step, n);
    }
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = 0; v < n; v++) {
            if (katz || strcmp(method, "three-steps") == 0)
                wanted[u][v] = sum[u][v];
            else if (pagerank)
                wanted[u][v] = degree(s, u) * degree(s, v) > 0 ? sum[u][v] + sum[v][u] : 0;
            else if (strcmp(method, "item-cosine") == 0)
                wanted[u][v] = (!side || side[v] ? cosines(s, u, v) : 0) + (!side || side[u] ? cosines(s, v, u) : 0);
            else
                for (int32_t w = 0; w < n; w++)
                    if (s->a[u][w] * s->a[w][v] > 0)
                        wanted[u][v] += strcmp(method, "common-neighbors") == 0 ? 1
                                        : strcmp(method, "adamic-adar") == 0    ? 1 / log(fmax(degree(s, w), 2))
                                                                                : 1 / degree(s, w);
        }
}

static npgnn_env two_threads(void)
{
    return npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 2});
}

static void learn(npi_heuristic *out, const char *method, const sample *s, const npgnn_env *env)
{
    npgnn_error err = {0};
    npgnn_eval_run run = {.size = sizeof run};
    const npi_task task = {.graph = s->graph, .env = env};
    assert_ok(npi_method_find(method, &err)->learn(out, &run, &task, &err), err);
}

/* A row lists each node with a score once, is what the pairs are, to the bit, and near the dense twin. */
static void check_rows(const char *method, const sample *s)
{
    static double wanted[MOST][MOST];
    npgnn_error err = {0};
    npgnn_env env = two_threads();
    npi_heuristic heuristic = {0};
    npi_scratch rows = {0}, pairs = {0};
    int32_t n = s->graph->n;
    learn(&heuristic, method, s, &env);
    assert_ok(npi_scratch_new(&rows, &heuristic, &env, &err), err);
    assert_ok(npi_scratch_new(&pairs, &heuristic, &env, &err), err);
    dense(wanted, method, s);
    for (int32_t u = n - 1; u >= 0; u--) {
        const npi_row *row = npi_heuristic_row(&rows, &heuristic, u);
        int32_t listed[MOST] = {0};
        for (int32_t i = 0; i < row->count; i++)
            listed[row->node[i]]++;
        for (int32_t v = 0; v < n; v++) {
            float pair = npi_heuristic_pair(&pairs, &heuristic, (npgnn_pair){u, v});
            double slack = strcmp(method, "pagerank") ? 1e-6 * wanted[u][v] : 1e-6 * (degree(s, u) + degree(s, v));
            assert_int_equal(listed[v], row->score[v] != 0);
            if (u == v) /* no pair */
                continue;
            assert_memory_equal(&row->score[v], &pair, sizeof pair);
            if (!(fabs((double)pair - wanted[u][v]) <= slack))
                fail_msg("%s of %d and %d: %.9g instead of %.9g", method, u, v, (double)pair, wanted[u][v]);
        }
    }
    npi_scratch_free(&env, &rows);
    npi_scratch_free(&env, &pairs);
    npi_heuristic_free(&env, &heuristic);
}

static void test_rows(void **state)
{
    (void)state;
    for (int which = 0; which < GRAPHS; which++) {
        static sample s;
        sample_new(&s, which);
        for (size_t i = 0; i < COUNT(methods); i++)
            check_rows(methods[i], &s);
        sample_free(&s);
    }
}

/* With a tolerance, a score of Katz is too low by at most what katz.c says, and something is left out. */
static void test_katz_tolerance(void **state)
{
    (void)state;
    static sample s;
    static double wanted[MOST][MOST], walks[MOST][MOST];
    npgnn_error err = {0};
    npgnn_env env = two_threads();
    npi_heuristic heuristic = {0};
    npi_scratch scratch = {0};
    sample_new(&s, 0);
    int32_t n = s.graph->n, lower = 0;
    dense(wanted, "katz", &s);
    for (double tolerance = 1e-4; tolerance > 1e-9; tolerance /= 10) {
        double bound[MOST] = {0};
        memset(walks, 0, sizeof walks); /* (n, 1): w_j, as the first column */
        for (int32_t i = 0; i < n; i++)
            walks[0][i] = degree(&s, i);
        for (int j = 1; j <= 7; j++) {
            multiply(walks, walks, s.a, n);
            for (int32_t v = 0; v < n; v++)
                bound[v] += tolerance * (8 - j) * pow(0.005, j) * walks[0][v];
        }
        assert_ok(npi_katz_learn_to(&heuristic, tolerance, &(npi_task){.graph = s.graph, .env = &env}, &err), err);
        assert_ok(npi_scratch_new(&scratch, &heuristic, &env, &err), err);
        for (int32_t u = 0; u < n; u++)
            for (int32_t v = 0; v < n; v++) {
                double score = (double)npi_heuristic_row(&scratch, &heuristic, u)->score[v];
                assert_true(score <= wanted[u][v] * (1 + 1e-6) && score >= wanted[u][v] * (1 - 1e-6) - bound[v]);
                lower += score < wanted[u][v] * (1 - 1e-5);
            }
        npi_scratch_free(&env, &scratch);
        scratch = (npi_scratch){0};
        npi_heuristic_free(&env, &heuristic);
    }
    assert_true(lower > 0);
    sample_free(&s);
}

/* ---- searches ---- */

/* The best of node u by looking at all its pairs, again and again. */
static int32_t slow_best(int32_t best[K], const float *score, const sample *s, int32_t u, int known)
{
    unsigned char used[MOST] = {0};
    int32_t count = 0;
    for (; count < K; count++) {
        int32_t next = -1;
        for (int32_t v = 0; v < s->graph->n; v++)
            if (!used[v] && score[v] != 0 && npi_graph_allows(s->graph, u, v) && (known || s->a[u][v] == 0) &&
                (next < 0 || score[v] > score[next]))
                next = v;
        if (next < 0)
            break;
        used[next] = 1;
        best[count] = next;
    }
    return count;
}

static void check_top(const char *method, const sample *s, int known, int threads)
{
    static npgnn_pair pairs[MOST * MOST];
    static float score[MOST * MOST];
    static npgnn_link links[MOST * K];
    int32_t n = s->graph->n, found[MOST], best[K];
    const npgnn_method_options options = {.size = sizeof options, .method = method, .seed = 1};
    const npgnn_top_options top = {.size = sizeof top, .known = known};
    const npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_error err = {0};
    for (int32_t i = 0; i < n * n; i++)
        pairs[i] = (npgnn_pair){i / n, i % n};
    assert_ok(npgnn_method_score(score, s->graph, pairs, (size_t)(n * n), &options, &env, &err), err);
    assert_ok(npgnn_method_top(links, found, s->graph, K, 0, &options, &top, &env, &err), err);
    for (int32_t u = 0; u < n; u++) {
        assert_int_equal(found[u], slow_best(best, score + u * n, s, u, known));
        for (int32_t i = 0; i < found[u]; i++) {
            const npgnn_link *link = &links[u * K + i];
            assert_int_equal(link->pair.u, u);
            assert_int_equal(link->pair.v, best[i]);
            assert_memory_equal(&link->prediction.score, &score[u * n + best[i]], sizeof *score);
        }
    }
}

static void test_top(void **state)
{
    (void)state;
    for (int which = 0; which < LINKED; which++) {
        static sample s;
        sample_new(&s, which);
        for (size_t i = 0; i < COUNT(methods); i++) {
            check_top(methods[i], &s, 0, 1);
            check_top(methods[i], &s, 1, 4);
        }
        sample_free(&s);
    }
}

/* Wherever memory runs out, the code says so and nothing is left behind. */
static void test_out_of_memory(void **state)
{
    (void)state;
    static sample s;
    static npgnn_link links[MOST * K];
    int32_t found[MOST];
    npgnn_error err = {0};
    sample_new(&s, 0);
    for (size_t i = 0; i < COUNT(methods); i++)
        for (int links_only = 0; links_only < 2; links_only++) {
            const npgnn_method_options options = {.size = sizeof options, .method = methods[i]};
            meter m = {0};
            npgnn_env env = metered_env(&m);
            env.threads = 2;
            int code = NPGNN_E_MEMORY;
            for (long allow = 0; code; allow++) {
                m.allow = allow;
                code = npgnn_method_top(links, found, s.graph, K, links_only, &options, NULL, &env, &err);
                assert_true(code == 0 || code == NPGNN_E_MEMORY);
                assert_int_equal(m.blocks, 0);
            }
        }
    sample_free(&s);
}

/* A flag that is set ends a search and scores of pairs. */
static void test_stop(void **state)
{
    (void)state;
    static sample s;
    static npgnn_link links[MOST * K];
    int32_t found[MOST];
    float score = 0;
    int stop = 1;
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .stop = &stop};
    sample_new(&s, 0);
    for (size_t i = 0; i < COUNT(methods); i++) {
        const npgnn_method_options options = {.size = sizeof options, .method = methods[i]};
        assert_int_equal(npgnn_method_top(links, found, s.graph, K, 0, &options, NULL, &env, &err), NPGNN_E_CANCELLED);
        assert_int_equal(npgnn_method_score(&score, s.graph, &(npgnn_pair){0, 1}, 1, &options, &env, &err),
                         NPGNN_E_CANCELLED);
    }
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_katz_tolerance), cmocka_unit_test(test_top),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
