/* Ranks among all nodes against a slow search, for every method and protocol; samples of ends; errors. */
#include <string.h>

#include "check.h"
#include "eval/full.h"
#include "graph/pair.h"
#include "jobs/methods.h"
#include "jobs/test_set.h"
#include "model/options.h"

/* A method is asked for the scores of all pairs of nodes, as pairs, one list: what ranks are computed from here. */
typedef struct all_pairs {
    npgnn_pair *pairs; /* (n, n) */
    float *score, *probability;
} all_pairs;

static all_pairs score_all(const char *method, const npgnn_split *split, const npgnn_options *options)
{
    size_t n = (size_t)split->graph->n;
    npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 2});
    npgnn_error err = {0};
    npgnn_eval_run run = {.size = sizeof run};
    all_pairs all = {calloc(n * n, sizeof *all.pairs), calloc(n * n, sizeof *all.score),
                     calloc(n * n, sizeof *all.probability)};
    for (size_t i = 0; i < n * n; i++)
        all.pairs[i] = (npgnn_pair){(int32_t)(i / n), (int32_t)(i % n)};
    const npi_task task = {.graph = npi_split_known(split),
                           .split = split,
                           .pairs = all.pairs,
                           .count = n * n,
                           .probability = all.probability,
                           .link_rate = 0.01,
                           .options = options,
                           .env = &env};
    assert_ok(npi_method_run(all.score, &run, &task, npi_method_find(method, &err), &err), err);
    return all;
}

/* The rank of `partner` by the definition: between `least` and `most`, which differ where scores are equal but for
 * rounding. */
static void slow_rank(double *least, double *most, const npgnn_split *split, const float *row, int32_t end,
                      int32_t partner)
{
    const npgnn_graph *complete = split->graph;
    int end_is_new = split->role && split->role[end] == NPI_NODE_TEST;
    *least = *most = 1;
    for (int32_t w = 0; w < complete->n; w++) {
        if (w == end || npgnn_graph_has_edge(complete, end, w))
            continue;
        /* a test link has no node that lost its links, none of the validation set and, if nodes are held out, a test node */
        if (split->standing[w] == NPI_NODE_UNTESTED || (split->role && split->role[w] == NPI_NODE_VAL) ||
            (split->role && !end_is_new && split->role[w] != NPI_NODE_TEST))
            continue;
        double apart = (double)row[w] - (double)row[partner];
        int near = fabs(apart) <= 1e-5 * (1 + fabs((double)row[partner]));
        *least += near ? 0 : apart > 0;
        *most += near ? 1 : apart > 0;
    }
}

static void check(const char *method, const npgnn_graph *graph, npgnn_protocol protocol)
{
    npgnn_error err = {0};
    npgnn_options options = {.size = sizeof options};
    npgnn_split_options how = {.size = sizeof how};
    npgnn_split *split = NULL;
    npgnn_eval_run run = {.size = sizeof run};
    assert_ok(npgnn_options_preset(&options, NULL, &err), err);
    options.iterations = 20;
    options.seed = how.seed = 6;
    assert_ok(npgnn_split_options_default(&how, protocol, &err), err);
    npgnn_eval_options o = {.size = sizeof o,
                            .method = method,
                            .model = &options,
                            .split = &how,
                            .first_seed = 6,
                            .negatives = NPGNN_NEGATIVES_ALL};
    assert_ok(npgnn_evaluate(&run, graph, 1, &o, NULL, &err), err);
    how.seed = 6;
    assert_ok(npgnn_split_new(&split, graph, &how, NULL, &err), err);
    all_pairs all = score_all(method, split, &options);
    const npgnn_pair *pairs;
    size_t positives;
    npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    double low = 0, high = 0, hits_low = 0, hits_high = 0, ends = 2 * (double)positives;
    for (size_t i = 0; i < 2 * positives; i++) {
        int32_t end = i % 2 ? pairs[i / 2].v : pairs[i / 2].u, partner = i % 2 ? pairs[i / 2].u : pairs[i / 2].v;
        double least, most;
        slow_rank(&least, &most, split, all.score + (size_t)end * (size_t)graph->n, end, partner);
        low += 1 / most / ends;
        high += 1 / least / ends;
        hits_low += (most <= 10) / ends;
        hits_high += (least <= 10) / ends;
    }
    if (!(run.full_mrr >= low - 1e-9 && run.full_mrr <= high + 1e-9 && run.full_hits10 >= hits_low - 1e-9 &&
          run.full_hits10 <= hits_high + 1e-9))
        fail_msg("%s: MRR %g, hits@10 %g; expected %g to %g and %g to %g", method, run.full_mrr, run.full_hits10, low,
                 high, hits_low, hits_high);
    assert_true(run.full_ends == ends && run.full_mrr_se == 0 && run.full_hits10_se == 0);
    free(all.pairs);
    free(all.score);
    free(all.probability);
    npgnn_split_free(split);
}

static void test_every_method(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    const char *name, *help;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=150,words=100,topics=4,degree=8,seed=3", NULL, NULL, &err), err);
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        check(name, graph, NPGNN_TRANSDUCTIVE);
        check(name, graph, NPGNN_PRODUCTION);
    }
    npgnn_graph_free(graph);
}

/* ---- ranks alone ---- */

enum { NODES = 8 };
static npgnn_graph *star(void)
{
    /* 0 is linked to 1, 2, 3; 4 to 5 */
    const npgnn_pair edges[] = {{0, 1}, {0, 2}, {0, 3}, {4, 5}};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, 4, 0, NULL, &err), err);
    return graph;
}

/* By hand: from 0, the nodes 4 to 7 compete; other partners do not, ties count half. */
static void test_by_hand(void **state)
{
    (void)state;
    npgnn_graph *graph = star();
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npi_full full = {0};
    const npgnn_pair links[] = {{0, 1}, {2, 0}};
    assert_ok(npi_full_new(&full, &(npi_population){.graph = graph}, links, 2, 1, &env, &err), err);
    assert_int_equal(full.nodes, 3);
    assert_int_equal(full.count, 4);
    assert_int_equal(full.available, 4);
    /*                            0  1  2  3  4  5  6  7 */
    const float from[3][NODES] = {{9, 5, 1, 9, 7, 5, 5, 0}, {1, 9, 2, 0, 0, 0, 0, 0}, {4, 0, 9, 4, 0, 0, 0, 0}};
    for (int32_t i = 0; i < 3; i++)
        assert_true(npi_full_rank(&full, i, from[i]));
    double ranks = 0;
    for (int64_t i = full.start[0]; i < full.start[1]; i++) /* 1: 7 above, two ties; 2: 7, 5, 5 above */
        ranks += full.partner[i] == 1 ? full.rank[i] - 3 : full.rank[i] - 4;
    assert_true(ranks == 0);
    assert_true(full.rank[full.start[1]] == 2);   /* from 1, node 2 is above */
    assert_true(full.rank[full.start[2]] == 1.5); /* from 2, node 3 has the same score */
    npi_full_metrics m = npi_full_measure(&full);
    assert_near(m.mrr, (1 / 3. + 1 / 4. + 1 / 2. + 1 / 1.5) / 4, 1e-15);
    assert_true(m.hits10 == 1 && m.mrr_se == 0);
    float bad[NODES] = {0};
    bad[3] = NAN; /* a partner, which does not compete */
    assert_true(npi_full_rank(&full, 0, bad));
    bad[6] = NAN;
    assert_false(npi_full_rank(&full, 0, bad));
    npi_full_free(&env, &full);
    npgnn_graph_free(graph);
}

/* On a large graph the ends are a sample without repetition; its standard error is that of the ranks, measured over
 * many samples. */
static void test_sample(void **state)
{
    (void)state;
    enum { N = 40000, LINKS = 1000, SAMPLES = 300 };
    npgnn_pair *edges = calloc(LINKS, sizeof *edges);
    float *score = calloc(N, sizeof *score);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    double sum = 0, square = 0, claimed = 0;
    for (int32_t i = 0; i < LINKS; i++)
        edges[i] = (npgnn_pair){2 * i, 2 * i + 1};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, N, LINKS, 0, NULL, &err), err);
    for (uint64_t seed = 0; seed < SAMPLES; seed++) {
        npi_full full = {0};
        assert_ok(npi_full_new(&full, &(npi_population){.graph = graph}, edges, LINKS, seed, &env, &err), err);
        assert_int_equal(full.count, 500);
        assert_int_equal(full.available, 2 * LINKS);
        for (int32_t i = 0; i < full.nodes; i++) {
            assert_int_equal(full.start[i + 1] - full.start[i], 1); /* every end once */
            assert_int_equal(full.partner[i], full.node[i] ^ 1);
            full.rank[i] = 1 + full.node[i] % 17; /* what the scores would have given */
        }
        npi_full_metrics m = npi_full_measure(&full);
        sum += m.mrr / SAMPLES;
        square += m.mrr * m.mrr / SAMPLES;
        claimed += m.mrr_se / SAMPLES;
        npi_full_free(&env, &full);
    }
    double measured = sqrt(square - sum * sum);
    assert_true(fabs(measured / claimed - 1) < 0.15); /* 300 samples: 4 % is one standard deviation */
    free(edges);
    free(score);
    npgnn_graph_free(graph);
}

static void test_refusals(void **state)
{
    (void)state;
    npgnn_graph *graph = star();
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_eval_run run = {.size = sizeof run};
    const npgnn_test_options o = {.size = sizeof o, .negatives = NPGNN_NEGATIVES_ALL};
    assert_ok(npgnn_model_universal(&model, NULL, &err), err);
    assert_int_equal(npgnn_test(&run, NULL, model, graph, &(npgnn_pair){0, 1}, 1, 1, &o, NULL, &err), NPGNN_E_ARGUMENT);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
