/* Hard negatives against an exhaustive search, PageRank against its defining series, and the metrics of an
 * evaluation with them. */
#include "check.h"

#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "cosines.h"
#include "graph/pagerank.h"
#include "jobs/test_set.h"
#include "meter.h"

enum { N = 60, F = 20 };

/* A random graph with features of 0 and 1, of which `density` percent are 1: sums of their products are exact. */
static npgnn_graph *random_graph(int64_t edges, unsigned density, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 0);
    npgnn_pair pairs[400];
    float x[N * F];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    for (int64_t i = 0; i < edges; i++) /* squared: some nodes have many neighbours, some have none */
        pairs[i] = (npgnn_pair){(int32_t)(N * pow(npi_rng_uniform(&rng), 2)), (int32_t)npi_rng_below(&rng, N)};
    for (int i = 0; i < N * F; i++)
        x[i] = npi_rng_below(&rng, 100) < density;
    assert_ok(npgnn_graph_from_arrays(&graph, pairs, x, N, edges, F, NULL, &err), err);
    return graph;
}

/* The graph without every third edge, which become the positives. Returns how many. */
static size_t hold_out(npgnn_graph **known, npgnn_pair *positives, const npgnn_graph *graph)
{
    npgnn_pair edges[400];
    int64_t kept = 0;
    size_t count = 0;
    npi_graph_list_edges(edges, graph);
    for (int64_t e = 0; e < graph->m; e++) {
        if (e % 3 == 0)
            positives[count++] = edges[e];
        else
            edges[kept++] = edges[e];
    }
    assert_int_equal(npi_graph_with_edges(known, graph, edges, kept, NULL), 0);
    return count;
}

/* ---- PageRank ---- */

/* Σ stop (1 - stop)^k P^k, summed until the terms vanish; a walk at a node without links stops. */
static void slow_pagerank(double *rank, const npi_csr *a, int32_t source, double stop)
{
    double now[N] = {0}, next[N];
    memset(rank, 0, N * sizeof *rank);
    now[source] = 1;
    for (int step = 0; step < 300; step++) {
        memset(next, 0, sizeof next);
        for (int32_t i = 0; i < N; i++) {
            int64_t degree = a->ptr[i + 1] - a->ptr[i];
            rank[i] += degree > 0 ? stop * now[i] : now[i];
            for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
                next[a->col[p]] += (1 - stop) * now[i] / (double)degree;
        }
        memcpy(now, next, sizeof now);
    }
}

static void test_pagerank(void **state)
{
    (void)state;
    const npgnn_env env = npi_env_resolve(NULL);
    npgnn_graph *graph = random_graph(90, 10, 3);
    npi_pagerank p;
    assert_int_equal(npi_pagerank_new(&p, N, &env, NULL), 0);
    for (int32_t source = 0; source < N; source++) {
        double exact[N];
        slow_pagerank(exact, &graph->a, source, 0.15);
        npi_pagerank_from(&p, &graph->a, source, 0.15, 1e-4);
        for (int32_t i = 0; i < N; i++) {
            double low = exact[i] - p.rank[i], degree = (double)(graph->a.ptr[i + 1] - graph->a.ptr[i]);
            assert_true(low >= -1e-12 && low <= 1e-4 * degree + 1e-12);
        }
        npi_pagerank_clear(&p);
        for (int32_t i = 0; i < N; i++)
            assert_true(p.rank[i] == 0 && p.residue[i] == 0 && !p.reached[i] && !p.queued[i]);
    }
    npi_pagerank_free(&env, &p);
    npgnn_graph_free(graph);
}

/* ---- exhaustive search ---- */

typedef struct slow_search {
    double score[3][N]; /* by shared neighbours, rank and features; 0: nothing speaks for it */
    uint32_t tie[N];
    unsigned char free[N];
} slow_search;

static double slow_shared(const npgnn_graph *graph, int32_t u, int32_t v)
{
    double sum = 0;
    for (int32_t w = 0; w < graph->n; w++)
        if (npgnn_graph_has_edge(graph, u, w) && npgnn_graph_has_edge(graph, w, v))
            sum += 1 / (double)(graph->a.ptr[w + 1] - graph->a.ptr[w]);
    return sum;
}

static slow_search slow_scores(const npgnn_graph *complete, const npgnn_graph *known, int32_t end)
{
    const npgnn_env env = npi_env_resolve(NULL);
    slow_search s = {0};
    npi_pagerank p;
    double norm[N];
    assert_int_equal(npi_pagerank_new(&p, N, &env, NULL), 0);
    npi_pagerank_from(&p, &known->a, end, 0.15, 1e-5);
    npi_cosine_norms(norm, known->x, 1);
    for (int32_t i = 0; i < N; i++) {
        npgnn_pair pair = {end, i};
        float cosine;
        s.free[i] = i != end && !npgnn_graph_has_edge(complete, end, i);
        s.tie[i] = (uint32_t)npi_hash_mix((uint64_t)(uint32_t)end << 32 | (uint32_t)i);
        s.score[0][i] = slow_shared(known, end, i);
        s.score[1][i] = p.rank[i];
        score_cosines(&cosine, known->x, &pair, 1);
        s.score[2][i] = (double)cosine;
        /* integers over a norm: rounding to float and back loses nothing that an order needs, ties stay ties */
    }
    npi_pagerank_free(&env, &p);
    return s;
}

/* The rank of node i by one score among the nodes that may be chosen; N where its score is zero. */
static int slow_place(const slow_search *s, const double *score, int32_t i)
{
    int place = 0;
    if (score[i] <= 0)
        return N;
    for (int32_t j = 0; j < N; j++)
        place += s->free[j] && (score[j] > score[i] || (score[j] == score[i] && s->tie[j] > s->tie[i]));
    return place;
}

/* Orders the nodes that may be chosen by the best of their three ranks; equal ranks by the order of the scores, then
 * by tie. */
static double slow_key(const slow_search *s, int32_t i)
{
    double best = 3 * N;
    for (int h = 0; h < 3; h++)
        best = fmin(best, 3 * slow_place(s, s->score[h], i) + h);
    return best < 3 * N ? best : 3 * N + (1 - s->tie[i] / 4294967296.0);
}

static void check_end(const npgnn_pair *got, int64_t count, const slow_search *s, int32_t end, int per_end)
{
    int64_t available = 0;
    double key[N], last = -1;
    for (int32_t i = 0; i < N; i++) {
        available += s->free[i];
        key[i] = slow_key(s, i);
    }
    assert_int_equal(count, available < per_end ? available : per_end);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(got[i].u, end);
        assert_true(s->free[got[i].v]);
        assert_true(key[got[i].v] > last); /* so that no node comes twice */
        for (int32_t j = 0; j < N; j++)    /* and none was left out */
            assert_false(s->free[j] && key[j] > last && key[j] < key[got[i].v]);
        last = key[got[i].v];
    }
}

static void check_graph(npgnn_graph *graph, int per_end, int threads)
{
    const npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = threads});
    npgnn_graph *known = NULL;
    npgnn_pair positives[400];
    npi_hard hard = {0};
    npgnn_error err = {0};
    size_t count = hold_out(&known, positives, graph);
    int32_t ends = 0;
    assert_ok(npi_hard_new(&hard, &(npi_population){.graph = graph}, known, positives, count, per_end, &env, &err),
              err);
    for (int32_t node = 0; node < N; node++) {
        int is_end = 0;
        for (size_t i = 0; i < count; i++)
            is_end |= positives[i].u == node || positives[i].v == node;
        assert_int_equal(hard.place[node] >= 0, is_end);
        if (!is_end)
            continue;
        slow_search s = slow_scores(graph, known, node);
        int64_t start = hard.start[hard.place[node]];
        check_end(hard.pairs + start, hard.start[hard.place[node] + 1] - start, &s, node, per_end);
        ends++;
    }
    assert_int_equal(hard.ends, ends);
    npi_hard_free(&env, &hard);
    npgnn_graph_free(known);
    npgnn_graph_free(graph);
}

static void test_sparse_features(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        check_graph(random_graph(150, 8, seed), 10, 1);
    check_graph(random_graph(150, 8, 7), 10, 3);
}

static void test_dense_features(void **state)
{
    (void)state;
    check_graph(random_graph(150, 50, 1), 10, 2);
}

/* More negatives are wanted than have a score, or than exist. */
static void test_few_candidates(void **state)
{
    (void)state;
    check_graph(random_graph(40, 3, 1), 40, 1);
    check_graph(random_graph(300, 0, 2), N, 1);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(150, 8, 1), *known = NULL;
    npgnn_pair positives[400];
    size_t count = hold_out(&known, positives, graph);
    int code = NPGNN_E_MEMORY;
    assert_int_equal(npi_features_transpose(known->x, NULL), 0); /* the graph's memory, which stays */
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env user = metered_env(&m);
        user.threads = 2;
        npgnn_env env = npi_env_resolve(&user);
        npi_hard hard = {0};
        assert_true(allow < 100);
        code = npi_hard_new(&hard, &(npi_population){.graph = graph}, known, positives, count, 10, &env, NULL);
        assert_true(code == 0 || code == NPGNN_E_MEMORY);
        npi_hard_free(&env, &hard);
        assert_int_equal(m.blocks, 0);
    }
    npgnn_graph_free(known);
    npgnn_graph_free(graph);
}

/* ---- evaluation ---- */

/* The rank of a pair among all hard negatives of its two nodes, by linear search. */
static double slow_rank(const npi_test_set *set, const float *score, size_t i)
{
    double rank = 1;
    for (size_t j = set->tested + set->matched; j < set->count; j++)
        if (set->pairs[j].u == set->pairs[i].u || set->pairs[j].u == set->pairs[i].v)
            rank += score[j] > score[i] ? 1 : score[j] == score[i] ? 0.5 : 0;
    return rank;
}

static void check_against_slow(const npgnn_eval_run *run, const npgnn_graph *graph, const npgnn_split_options *how)
{
    const npgnn_env env = npi_env_resolve(NULL);
    npgnn_split *split = NULL;
    npi_test_set set;
    npgnn_error err = {0};
    double mrr = 0, hits[3] = {0};
    assert_ok(npgnn_split_new(&split, graph, how, &env, &err), err);
    assert_ok(npi_test_set_new(&set, split, NPGNN_NEGATIVES_HARD, &env, &err), err);
    float *score = calloc(set.count, sizeof *score);
    assert_non_null(score);
    score_cosines(score, graph->x, set.pairs, set.count);
    for (size_t i = 0; i < set.positives; i++) {
        double rank = slow_rank(&set, score, i), share = 1 / (double)set.positives;
        mrr += share / rank;
        hits[0] += share * (rank <= 1);
        hits[1] += share * (rank <= 10);
        hits[2] += share * (rank <= 100);
    }
    /* pairs that could be test links, as many as there are up to 250 per end */
    npi_population among = npi_split_population(split, NPGNN_SET_TEST);
    for (int32_t u = 0; u < graph->n; u++) {
        int32_t place = set.hard.place[u], possible = 0;
        for (int32_t v = 0; v < graph->n; v++)
            possible +=
                u != v && !npgnn_graph_has_edge(graph, u, v) && npi_population_class(&among, (npgnn_pair){u, v}) >= 0;
        if (place < 0)
            continue;
        assert_int_equal(set.hard.start[place + 1] - set.hard.start[place], possible < 250 ? possible : 250);
        for (int64_t i = set.hard.start[place]; i < set.hard.start[place + 1]; i++)
            assert_true(npi_population_class(&among, set.hard.pairs[i]) >= 0);
    }
    /* the degree-matched AUC, pair by pair */
    double wins = 0;
    assert_int_equal(set.matched, set.positives);
    for (size_t i = 0; i < set.positives; i++)
        for (size_t j = set.tested; j < set.tested + set.matched; j++)
            wins += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
    assert_near(run->degree_auc, wins / (double)(set.positives * set.matched), 1e-12);
    assert_near(run->hard_mrr, mrr, 1e-12);
    assert_near(run->hard_hits1, hits[0], 1e-12);
    assert_near(run->hard_hits10, hits[1], 1e-12);
    assert_near(run->hard_hits100, hits[2], 1e-12);
    free(score);
    npi_test_set_free(&env, &set);
    npgnn_split_free(split);
}

static void test_evaluate(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_eval_run hard = {.size = sizeof hard}, plain = {.size = sizeof plain};
    npgnn_split_options split = {.size = sizeof split};
    assert_ok(npgnn_graph_synthetic(&graph, "nodes=700,seed=2", NULL, &err), err);
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_eval_options options = {.size = sizeof options, .method = "cosine", .split = &split, .first_seed = 4};
        assert_ok(npgnn_split_options_default(&split, protocol, &err), err);
        assert_ok(npgnn_evaluate(&plain, graph, 1, &options, NULL, &err), err);
        options.negatives = NPGNN_NEGATIVES_HARD;
        assert_ok(npgnn_evaluate(&hard, graph, 1, &options, NULL, &err), err);
        assert_true(isnan(plain.hard_mrr) && isnan(plain.hard_hits1) && isnan(plain.hard_hits100));
        assert_true(plain.auc == hard.auc && plain.ap == hard.ap && plain.mrr == hard.mrr && plain.hits1 == hard.hits1);
        assert_true(hard.hard_mrr > 0);
        if (protocol == NPGNN_TRANSDUCTIVE) /* few-shot ranks against far more than 500 */
            assert_true(hard.hard_mrr < hard.mrr);
        split.seed = 4;
        check_against_slow(&hard, graph, &split);
    }
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pagerank),       cmocka_unit_test(test_sparse_features),
        cmocka_unit_test(test_dense_features), cmocka_unit_test(test_few_candidates),
        cmocka_unit_test(test_out_of_memory),  cmocka_unit_test(test_evaluate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
