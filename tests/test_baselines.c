/* The methods that npgnn is compared with: structural scores against slow, dense calculations, and what must hold for
 * every method of the library. */
#include <string.h>

#include "base/rng.h"
#include "baselines/alias.h"
#include "baselines/deepwalk.h"
#include "baselines/neighbors.h"
#include "baselines/spectral.h"
#include "baselines/walks.h"
#include "check.h"

/* Two components, of 9 nodes and of 3, and a node without an edge. */
enum { N = 13, LONE = 12, PAIRS = N * N };
static const npgnn_pair EDGES[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5},  {4, 6},
                                   {5, 6}, {6, 7}, {7, 8}, {5, 8}, {1, 3}, {2, 7}, {9, 10}, {10, 11}};
enum { M = sizeof EDGES / sizeof EDGES[0] };

typedef struct problem {
    npgnn_env env;
    npgnn_options options;
    npgnn_graph *graph;
    npgnn_split split;
    npgnn_pair pairs[PAIRS]; /* all of them, row by row */
    npi_task task;
    double a[N][N];
} problem;

/* Everything is known. It stays where it is: the task points into it. */
static void make_problem(problem *p, int threads)
{
    npgnn_error err = {0};
    memset(p, 0, sizeof *p);
    p->options.size = sizeof p->options;
    p->env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = threads});
    assert_ok(npgnn_options_preset(&p->options, NULL, &err), err);
    assert_ok(npgnn_graph_from_arrays(&p->graph, EDGES, NULL, N, M, 0, &p->env, &err), err);
    p->split.train = p->graph;
    for (int i = 0; i < PAIRS; i++)
        p->pairs[i] = (npgnn_pair){i / N, i % N};
    for (int e = 0; e < M; e++)
        p->a[EDGES[e].u][EDGES[e].v] = p->a[EDGES[e].v][EDGES[e].u] = 1;
    p->task = (npi_task){.graph = p->graph,
                         .split = &p->split,
                         .pairs = p->pairs,
                         .count = PAIRS,
                         .options = &p->options,
                         .env = &p->env};
}

/* Scores all pairs with what was learnt, and frees that. */
static void score_all(float score[PAIRS], npi_heuristic *heuristic, const problem *p)
{
    npgnn_error err = {0};
    for (int i = 0; i < PAIRS; i++)
        score[i] = NAN;
    assert_ok(npi_task_score(score, &p->task, heuristic, &err), err);
    npi_heuristic_free(&p->env, heuristic);
}

static void run(float score[PAIRS], npi_learn_fn *learn, const problem *p)
{
    npgnn_error err = {0};
    npi_heuristic heuristic = {0};
    npgnn_eval_run unused = {.size = sizeof unused};
    assert_ok(learn(&heuristic, &unused, &p->task, &err), err);
    score_all(score, &heuristic, p);
}

static double degree(const problem *p, int i)
{
    double sum = 0;
    for (int j = 0; j < N; j++)
        sum += p->a[i][j];
    return sum;
}

/* ---- neighbourhoods ---- */

static void check_shared(npi_learn_fn *learn, double (*weight)(double))
{
    problem p;
    float score[PAIRS];
    make_problem(&p, 2);
    run(score, learn, &p);
    for (int i = 0; i < PAIRS; i++) {
        double wanted = 0;
        for (int w = 0; w < N; w++)
            wanted += p.a[i / N][w] * p.a[w][i % N] > 0 ? weight(degree(&p, w)) : 0;
        if (i / N != i % N) /* a node with itself is no pair, and log 1 = 0 */
            assert_near((double)score[i], wanted, 1e-6);
    }
    npgnn_graph_free(p.graph);
}

static double one(double d)
{
    return d / d;
}

static double inverse_log(double d)
{
    return 1 / log(d);
}

static double inverse(double d)
{
    return 1 / d;
}

static void test_neighborhoods(void **state)
{
    (void)state;
    check_shared(npi_common_neighbors_learn, one);
    check_shared(npi_adamic_adar_learn, inverse_log);
    check_shared(npi_resource_allocation_learn, inverse);
}

/* c = b a */
static void multiply(double c[N][N], double b[N][N], double a[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            for (int l = 0; l < N; l++)
                c[i][j] += b[i][l] * a[l][j];
        }
}

static void test_katz(void **state)
{
    (void)state;
    problem p;
    float score[PAIRS];
    double power[N][N] = {{0}}, next[N][N], sum[N][N] = {{0}}, factor = 1;
    make_problem(&p, 2);
    run(score, npi_katz_learn, &p);
    for (int i = 0; i < N; i++)
        power[i][i] = 1;
    for (int length = 1; length <= 8; length++) {
        factor *= 0.005;
        multiply(next, power, p.a);
        memcpy(power, next, sizeof power);
        for (int i = 0; i < PAIRS; i++)
            sum[i / N][i % N] += factor * power[i / N][i % N];
    }
    for (int i = 0; i < PAIRS; i++) {
        double wanted = sum[i / N][i % N];
        assert_true(wanted > 0 ? check_near((double)score[i] / wanted, 1, 1e-5) : score[i] == 0);
    }
    npgnn_graph_free(p.graph);
}

/* Along a path, nodes 8 steps apart have one walk that counts, nodes 9 steps apart none. */
static void test_katz_length(void **state)
{
    (void)state;
    problem p;
    npgnn_error err = {0};
    npgnn_pair path[N - 1];
    float score[PAIRS];
    make_problem(&p, 1);
    npgnn_graph_free(p.graph);
    for (int i = 0; i + 1 < N; i++)
        path[i] = (npgnn_pair){i, i + 1};
    assert_ok(npgnn_graph_from_arrays(&p.graph, path, NULL, N, N - 1, 0, &p.env, &err), err);
    p.task.graph = p.graph;
    run(score, npi_katz_learn, &p);
    assert_near((double)score[8] / pow(0.005, 8), 1, 1e-5);
    assert_true(score[9] == 0);
    npgnn_graph_free(p.graph);
}

/* Where walks end that stop with probability 0.15 per step: 0.15 Σ_t 0.85^t P^t, both ways. */
static void test_pagerank(void **state)
{
    (void)state;
    problem p;
    float score[PAIRS];
    double power[N][N] = {{0}}, step[N][N] = {{0}}, next[N][N], sum[N][N] = {{0}}, factor = 0.15;
    make_problem(&p, 2);
    run(score, npi_pagerank_learn, &p);
    for (int i = 0; i < PAIRS; i++)
        step[i / N][i % N] = p.a[i / N][i % N] / fmax(degree(&p, i / N), 1);
    for (int i = 0; i < N; i++)
        power[i][i] = 1;
    for (int t = 0; t < 300; t++) {
        for (int i = 0; i < PAIRS; i++)
            sum[i / N][i % N] += factor * power[i / N][i % N];
        factor *= 0.85;
        multiply(next, power, step);
        memcpy(power, next, sizeof power);
    }
    for (int i = 0; i < PAIRS; i++) {
        int linked = degree(&p, i / N) > 0 && degree(&p, i % N) > 0;
        assert_near((double)score[i], linked ? sum[i / N][i % N] + sum[i % N][i / N] : 0, 1e-4);
    }
    npgnn_graph_free(p.graph);
}

/* ---- spectral embedding ---- */

/* One rotation of Jacobi's method: makes s[p][q] zero; the columns of v follow. */
static void rotate(double s[N][N], double v[N][N], int p, int q)
{
    double theta = 0.5 * atan2(2 * s[p][q], s[q][q] - s[p][p]), c = cos(theta), t = sin(theta);
    for (int i = 0; i < N; i++) {
        double a = s[i][p], b = s[i][q], x = v[i][p], y = v[i][q];
        s[i][p] = c * a - t * b;
        s[i][q] = t * a + c * b;
        v[i][p] = c * x - t * y;
        v[i][q] = t * x + c * y;
    }
    for (int i = 0; i < N; i++) {
        double a = s[p][i], b = s[q][i];
        s[p][i] = c * a - t * b;
        s[q][i] = t * a + c * b;
    }
}

/* All eigenvectors of s, as columns of v; their eigenvalues end on the diagonal of s. */
static void jacobi(double v[N][N], double s[N][N])
{
    for (int i = 0; i < PAIRS; i++)
        v[i / N][i % N] = i / N == i % N;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < N; p++)
            for (int q = p + 1; q < N; q++)
                rotate(s, v, p, q);
}

/* Of the eigenvalues between 1 and the next below `from`, the largest. */
static int largest_below(double s[N][N], double from)
{
    int best = -1;
    for (int i = 0; i < N; i++)
        if (s[i][i] < from - 1e-9 && (best < 0 || s[i][i] > s[best][best]))
            best = i;
    return best;
}

/* The scores of k eigenvectors below the eigenvalue 1, and of all with the eigenvalue 1 less the trivial one. */
static void dense_spectral(double wanted[N][N], const problem *p, int k)
{
    double s[N][N], v[N][N], at = 1 - 1e-6;
    for (int i = 0; i < PAIRS; i++)
        s[i / N][i % N] = p->a[i / N][i % N] > 0 ? 1 / sqrt(degree(p, i / N) * degree(p, i % N)) : 0;
    jacobi(v, s);
    for (int i = 0; i < PAIRS; i++) {
        wanted[i / N][i % N] = -sqrt(degree(p, i / N) * degree(p, i % N)) / (2 * M);
        for (int j = 0; j < N; j++)
            wanted[i / N][i % N] += s[j][j] > at ? v[i / N][j] * v[i % N][j] : 0;
    }
    for (int j = 0; j < k; j++) {
        int column = largest_below(s, at);
        at = s[column][column];
        for (int i = 0; i < PAIRS; i++)
            wanted[i / N][i % N] += v[i / N][column] * v[i % N][column];
    }
}

static void test_spectral(void **state)
{
    (void)state;
    problem p;
    float score[PAIRS];
    double wanted[N][N];
    npgnn_error err = {0};
    make_problem(&p, 2);
    for (int k = 1; k <= 3; k++) { /* positive eigenvalues, all different */
        npi_heuristic heuristic = {0};
        assert_ok(npi_spectral_learn_some(&heuristic, k, &p.task, &err), err);
        score_all(score, &heuristic, &p);
        dense_spectral(wanted, &p, k);
        for (int i = 0; i < PAIRS; i++)
            assert_near((double)score[i], wanted[i / N][i % N], 1e-6);
    }
    npgnn_graph_free(p.graph);
}

/* Graphs that leave a Krylov space early: all eigenvalues but one are equal. */
static void test_spectral_of_extreme_graphs(void **state)
{
    (void)state;
    npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 1});
    npgnn_error err = {0};
    for (int32_t n = 2; n < 20; n++)
        for (int star = 0; star < 2; star++) {
            npgnn_pair edges[200];
            int64_t m = 0;
            float score;
            for (int32_t i = 0; i < n; i++)
                for (int32_t j = i + 1; j < n && (i == 0 || !star); j++)
                    edges[m++] = (npgnn_pair){i, j};
            npgnn_graph *graph = NULL;
            assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, n, m, 0, &env, &err), err);
            const npgnn_options options = {.size = sizeof options, .seed = 1};
            const npi_task task = {
                .graph = graph, .pairs = &(npgnn_pair){0, 1}, .count = 1, .options = &options, .env = &env};
            npi_heuristic heuristic = {0};
            assert_ok(npi_spectral_learn_some(&heuristic, (n + 1) / 2, &task, &err), err);
            assert_ok(npi_task_score(&score, &task, &heuristic, &err), err);
            npi_heuristic_free(&env, &heuristic);
            assert_true(fabsf(score) <= 1.0001f);
            npgnn_graph_free(graph);
        }
}

/* ---- DeepWalk ---- */

/* Every step is along an edge, a walk is the same whoever asks, and windows have all sizes. */
static void test_walks(void **state)
{
    (void)state;
    problem p;
    npgnn_error err = {0};
    npi_walks walks;
    int32_t places[NPI_WALK_LENGTH], again[NPI_WALK_LENGTH];
    int windows[NPI_WALK_LENGTH], seen[11] = {0};
    make_problem(&p, 1);
    assert_ok(npi_walks_new(&walks, &p.graph->a, 7, &p.env, &err), err);
    assert_int_equal(walks.linked, N - 1);
    assert_int_equal(walks.place[LONE], -1);
    for (int64_t walk = 0; walk < 50; walk++) {
        npi_walks_get(places, &walks, walk);
        npi_walks_get(again, &walks, walk);
        npi_walks_windows(windows, &walks, walk, 10);
        assert_memory_equal(places, again, sizeof places);
        assert_int_equal(places[0], walk % walks.linked);
        for (int i = 0; i < NPI_WALK_LENGTH; i++) {
            assert_in_range(windows[i], 1, 10);
            seen[windows[i]]++;
            assert_true(i == 0 || p.a[walks.node[places[i - 1]]][walks.node[places[i]]] > 0);
        }
    }
    for (int size = 1; size <= 10; size++)
        assert_in_range(seen[size], 300, 500); /* of 4000, six standard deviations around 400 */
    npi_walks_free(&p.env, &walks);
    npgnn_graph_free(p.graph);
}

/* Each index as often as its weight says, within six standard deviations. */
static void test_alias(void **state)
{
    (void)state;
    enum { COUNT = 7, DRAWS = 100000 };
    const double weight[COUNT] = {0, 1, 5, 0.25, 3, 1, 9.75};
    double weights[COUNT], seen[COUNT] = {0};
    npi_alias cells[COUNT];
    int32_t stack[COUNT];
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    memcpy(weights, weight, sizeof weights);
    npi_alias_make(cells, weights, stack, COUNT);
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t bits[4];
        npi_rng_block(bits, &rng, i);
        seen[npi_alias_draw(cells, COUNT, bits[0])]++;
    }
    for (int i = 0; i < COUNT; i++)
        assert_near(seen[i] / DRAWS, weight[i] / 20, 0.01);
    assert_true(seen[0] == 0);
}

/* Groups of 50 nodes, each node with about 6 links inside its group and 1 outside: links inside are found. */
static void test_deepwalk_finds_groups(void **state)
{
    (void)state;
    enum { NODES = 400, GROUP = 50, LINKS = 1400 };
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    static npgnn_pair edges[LINKS];
    npi_rng rng = npi_rng_make(2, NPI_RNG_TEST, 0);
    npgnn_eval_options options = {.size = sizeof options, .method = "deepwalk"};
    npgnn_eval_run result = {.size = sizeof result};
    for (int e = 0; e < LINKS; e++) {
        int32_t u = (int32_t)npi_rng_below(&rng, NODES), inside = e % 7 != 0;
        int32_t v = (int32_t)npi_rng_below(&rng, inside ? GROUP : NODES);
        edges[e] = (npgnn_pair){u, inside ? u / GROUP * GROUP + v : v};
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, LINKS, 0, NULL, &err), err);
    assert_ok(npgnn_evaluate(&result, graph, 1, &options, NULL, &err), err);
    assert_true(result.auc > 0.75);
    npgnn_graph_free(graph);
}

/* ---- what training does not know ---- */

/* Nodes 0 and 1 are new, and LONE has no edge: pairs with them score 0. */
static void check_unknown_nodes(npi_learn_fn *learn)
{
    problem p;
    npgnn_error err = {0};
    npgnn_pair known[M];
    int64_t count = 0;
    float score[PAIRS];
    int some = 0;
    make_problem(&p, 1);
    npgnn_graph *all = p.graph;
    for (int e = 0; e < M; e++)
        if (EDGES[e].u > 1)
            known[count++] = EDGES[e];
    assert_ok(npgnn_graph_from_arrays(&p.graph, known, NULL, N, count, 0, &p.env, &err), err);
    p.task.graph = p.graph;
    run(score, learn, &p);
    for (int i = 0; i < PAIRS; i++) {
        assert_true(isfinite(score[i]));
        if (i / N < 2 || i % N < 2 || i / N == LONE)
            assert_true(score[i] == 0);
        some += score[i] != 0;
    }
    assert_true(some > 10);
    npgnn_graph_free(p.graph);
    npgnn_graph_free(all);
}

static void test_unknown_nodes(void **state)
{
    (void)state;
    check_unknown_nodes(npi_common_neighbors_learn);
    check_unknown_nodes(npi_adamic_adar_learn);
    check_unknown_nodes(npi_resource_allocation_learn);
    check_unknown_nodes(npi_katz_learn);
    check_unknown_nodes(npi_pagerank_learn);
    check_unknown_nodes(npi_spectral_learn);
    check_unknown_nodes(npi_deepwalk_learn);
}

/* ---- every method ---- */

static npgnn_eval_run evaluate(const char *method, const npgnn_graph *graph, npgnn_protocol protocol, int threads)
{
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_error err = {0};
    npgnn_options model = {.size = sizeof model};
    npgnn_split_options split = {.size = sizeof split};
    npgnn_eval_options options = {.size = sizeof options,
                                  .method = method,
                                  .model = &model,
                                  .split = &split,
                                  .first_seed = 5,
                                  .negatives = NPGNN_NEGATIVES_ALL};
    npgnn_eval_run result = {.size = sizeof result};
    assert_ok(npgnn_options_preset(&model, NULL, &err), err);
    assert_ok(npgnn_split_options_default(&split, protocol, &err), err);
    model.iterations = 60;
    assert_ok(npgnn_evaluate(&result, graph, 1, &options, &env, &err), err);
    return result;
}

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The same bits for any number of threads, and better than chance where all nodes are known. */
static void test_every_method(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    const char *name, *help;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=120,words=100,topics=4,degree=8", NULL, NULL, &err), err);
    for (int i = 0; npgnn_method_info(&name, &help, i); i++)
        for (int protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_FEW_SHOT; protocol++) {
            npgnn_eval_run first = evaluate(name, graph, (npgnn_protocol)protocol, 1);
            npgnn_eval_run again = evaluate(name, graph, (npgnn_protocol)protocol, 3);
            assert_true(same(first.auc, again.auc) && same(first.ap, again.ap) && same(first.mrr, again.mrr));
            assert_true(same(first.full_mrr, again.full_mrr) && same(first.full_hits10, again.full_hits10));
            if (protocol == NPGNN_TRANSDUCTIVE && !(first.auc > 0.55))
                fail_msg("%s: AUC %g", name, first.auc);
        }
    npgnn_graph_free(graph);
}

static int code_of(const char *method, const npgnn_graph *graph, npgnn_progress_fn *progress)
{
    npgnn_env env = {.size = sizeof env, .threads = 1, .progress = progress};
    npgnn_error err = {0};
    npgnn_eval_options options = {.size = sizeof options, .method = method};
    npgnn_eval_run result = {.size = sizeof result};
    int code = npgnn_evaluate(&result, graph, 1, &options, &env, &err);
    assert_true(code == 0 || strlen(err.text) > 10);
    return code;
}

/* Without features, those that need them say so and the others work. */
static void test_without_features(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_pair ring[60];
    const char *name, *help;
    for (int i = 0; i < 60; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % 60};
    assert_ok(npgnn_graph_from_arrays(&graph, ring, NULL, 60, 60, 0, NULL, &err), err);
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        int learns = strstr("npgnn cnp vgae gae sage", name) != NULL;
        assert_int_equal(code_of(name, graph, NULL), learns ? NPGNN_E_ARGUMENT : 0);
    }
    npgnn_graph_free(graph);
}

/* Lets `left` allocations succeed. */
static void *scarce(void *user, void *block, size_t size)
{
    int *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(block, size) : NULL;
}

/* Wherever memory runs out, the code says so; sanitizers watch that nothing leaks. */
static void test_out_of_memory(void **state)
{
    (void)state;
    enum { NODES = 30 };
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_pair ring[NODES];
    float x[NODES * 2];
    const char *name, *help;
    for (int i = 0; i < NODES; i++) {
        ring[i] = (npgnn_pair){i, (i + 1) % NODES};
        x[2 * i] = (float)(i % 3);
        x[2 * i + 1] = 1;
    }
    assert_ok(npgnn_graph_from_arrays(&graph, ring, x, NODES, NODES, 2, NULL, &err), err);
    for (int i = 1; npgnn_method_info(&name, &help, i); i++) {
        int code = NPGNN_E_MEMORY, left;
        npgnn_env env = {.size = sizeof env, .threads = 1, .allocator = {scarce, &left}};
        npgnn_eval_options options = {.size = sizeof options, .method = name, .negatives = NPGNN_NEGATIVES_ALL};
        npgnn_eval_run result = {.size = sizeof result};
        for (int allowed = 0; code == NPGNN_E_MEMORY; allowed += 1 + allowed / 16) {
            left = allowed;
            code = npgnn_evaluate(&result, graph, 1, &options, &env, &err);
        }
        assert_int_equal(code, 0);
    }
    npgnn_graph_free(graph);
}

static int stop(void *user, const npgnn_progress *progress)
{
    (void)user;
    return progress->iteration >= 2;
}

static void test_cancelling(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=300", NULL, NULL, &err), err);
    assert_int_equal(code_of("vgae", graph, stop), NPGNN_E_CANCELLED);
    assert_int_equal(code_of("sage", graph, stop), NPGNN_E_CANCELLED);
    assert_int_equal(code_of("deepwalk", graph, stop), NPGNN_E_CANCELLED);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighborhoods),
        cmocka_unit_test(test_katz),
        cmocka_unit_test(test_katz_length),
        cmocka_unit_test(test_pagerank),
        cmocka_unit_test(test_spectral),
        cmocka_unit_test(test_spectral_of_extreme_graphs),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_alias),
        cmocka_unit_test(test_deepwalk_finds_groups),
        cmocka_unit_test(test_unknown_nodes),
        cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_without_features),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
