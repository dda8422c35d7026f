/* Tuning a process on a graph: what it learns from, that it learns, and that the result is the same wherever it is
 * made, saved and used. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "examples/folds.h"
#include "folder.h"
#include "model/model.h"
#include "train/tune.h"

static npgnn_graph *make(const char *spec)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_synthetic(&graph, spec, NULL, &err), err);
    return graph;
}

static npgnn_options tuning(void)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, "best", NULL);
    o.iterations = 5;
    return o;
}

static npgnn_model *tune(const npgnn_graph *graph, const npgnn_options *options, int threads)
{
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_fit(&model, graph, options, &env, &err), err);
    return model;
}

/* ---- what it learns from ---- */

static npi_folds folds_of(const npgnn_graph *graph)
{
    npi_folds folds = {0};
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    assert_ok(npi_folds_new(&folds, graph, 1, &env, &err), err);
    return folds;
}

static double degree_of(const npgnn_graph *graph, int32_t node)
{
    return (double)(graph->a.ptr[node + 1] - graph->a.ptr[node]);
}

/* The sum of the logarithms of the degrees is one of the columns: that of a hidden link is of a graph in which both
 * ends have at least one link less. */
static void test_no_link_is_in_its_own_evidence(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=200,words=100,seed=4");
    npi_folds f = folds_of(graph);
    size_t links = 0, cold = 0;
    for (size_t i = 0; i < f.count; i++) {
        npgnn_pair pair = f.pair[i];
        int linked = npgnn_graph_has_edge(graph, pair.u, pair.v);
        assert_int_equal(linked, f.is_link[i]);
        double u = degree_of(graph, pair.u) - linked, v = degree_of(graph, pair.v) - linked;
        double most = log1p(u) + log1p(v);
        double sum = (double)f.evidence[i * (size_t)f.columns + NPI_COLUMN_DEGREE_SUM];
        assert_true(sum <= most + 1e-4);
        links += f.is_link[i];
        cold += f.is_link[i] && sum < most - 1e-4;
    }
    assert_true(cold > 0); /* and others than itself are hidden too */
    /* nearly every link is there once as one of known nodes, and at least once as one of a new node */
    assert_true(links >= 2 * (size_t)graph->m * 95 / 100);
    for (size_t i = 0; i < f.first_count; i++)
        assert_int_equal(f.is_link[i], i < f.first_links);
    assert_in_range(f.first_links, graph->m / 10 * 9 / 10, graph->m / 10);
    npi_folds_free(&graph->env, &f);
    npgnn_graph_free(graph);
}

/* A node without links is a new one, whether it has features or not: nothing is learnt from the pairs that it is in. */
static void check_new_nodes_are_not_examples(npgnn_graph *graph)
{
    npgnn_graph *some = NULL;
    npgnn_pair *edges = calloc((size_t)graph->m, sizeof *edges);
    npgnn_error err = {0};
    int64_t kept = 0;
    npi_graph_list_edges(edges, graph);
    for (int64_t i = 0; i < graph->m; i++) /* the links among the first 120 nodes */
        if (edges[i].u < 120 && edges[i].v < 120)
            edges[kept++] = edges[i];
    assert_ok(npi_graph_with_edges(&some, graph, edges, kept, &err), err);
    npi_folds f = folds_of(some);
    assert_true(f.count > 4 * (size_t)kept);
    for (size_t i = 0; i < f.count; i++)
        assert_true(degree_of(some, f.pair[i].u) > 0 && degree_of(some, f.pair[i].v) > 0);
    /* Of the nodes with links, a third is hidden at a time. Of k hidden among n, k - 1 in 2 n - k - 1 pairs that touch
     * them have two hidden ends. */
    double known = 0, both = 0, pairs = 0;
    for (int32_t i = 0; i < some->n; i++)
        known += degree_of(some, i) > 0;
    for (size_t i = f.new_from; i < f.count; i++) {
        pairs += !f.is_link[i];
        both += !f.is_link[i] && f.evidence[i * (size_t)f.columns + NPI_COLUMN_DEGREE_SUM] == 0;
    }
    double k = known / 3, expected = (k - 1) / (2 * known - k - 1);
    assert_true(fabs(both / pairs - expected) < 0.04);
    assert_true(f.new_share > 1 - pow(known / some->n, 2) - 1e-9);
    npi_folds_free(&graph->env, &f);
    free(edges);
    npgnn_graph_free(some);
    npgnn_graph_free(graph);
}

static void test_new_nodes_are_not_examples(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=200,words=100,seed=4"), *bare = NULL;
    npgnn_pair *edges = calloc((size_t)graph->m, sizeof *edges);
    npgnn_error err = {0};
    npi_graph_list_edges(edges, graph);
    assert_ok(npgnn_graph_from_arrays(&bare, edges, NULL, graph->n, graph->m, 0, NULL, &err), err);
    check_new_nodes_are_not_examples(graph);
    check_new_nodes_are_not_examples(bare);
    free(edges);
}

/* A head that is fitted without a part has seen none of its links, in no fold and in neither direction. */
static void test_a_part_is_left_out_whole(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=150,words=100,seed=5");
    npi_folds f = folds_of(graph);
    size_t links[NPI_FOLDS_PARTS] = {0};
    for (size_t i = 0; i < f.new_from; i++) {
        links[f.part[i]] += f.is_link[i];
        assert_int_equal(f.extra[i] != NPI_EXTRA_NO, i < f.first_count && i >= 4 * f.first_links);
        for (size_t j = 0; f.is_link[i] && j < f.count; j++)
            if ((f.pair[j].u == f.pair[i].u && f.pair[j].v == f.pair[i].v) ||
                (f.pair[j].u == f.pair[i].v && f.pair[j].v == f.pair[i].u))
                assert_int_equal(f.part[j], f.part[i]);
    }
    for (int part = 0; part < NPI_FOLDS_PARTS; part++) { /* without those that are the only link of a node */
        size_t tenth = (size_t)(graph->m * (part + 1) / 10 - graph->m * part / 10);
        assert_in_range(links[part], tenth * 9 / 10, tenth);
    }
    npi_folds_free(&graph->env, &f);
    npgnn_graph_free(graph);
}

/* The links of a star are hidden all at once where its centre is: that fold of the nodes is skipped, and the non-links
 * for the calibration of new nodes come from the next. With some of the seeds it is the first fold. */
static void test_a_fold_without_known_links(void **state)
{
    enum { LEAVES = 40, NODES = LEAVES + 12, COLUMNS = 4, SEEDS = 12 };
    npgnn_pair edges[LEAVES];
    float features[NODES * COLUMNS];
    npgnn_graph *star = NULL;
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    (void)state;
    for (int i = 0; i < NODES * COLUMNS; i++)
        features[i] = (float)npi_rng_uniform(&rng);
    for (int i = 0; i < LEAVES; i++)
        edges[i] = (npgnn_pair){0, i + 1};
    assert_ok(npgnn_graph_from_arrays(&star, edges, features, NODES, LEAVES, COLUMNS, NULL, &err), err);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        npi_folds f = {0};
        size_t calibration = 0;
        assert_ok(npi_folds_new(&f, star, seed, &env, &err), err);
        assert_true(f.new_share > 0 && f.new_from < f.count);
        for (size_t i = f.new_from; i < f.count; i++)
            calibration += f.extra[i];
        assert_true(calibration > 0);
        npi_folds_free(&env, &f);
    }
    npgnn_graph_free(star);
}

/* Most nodes have no links: what the scores of known nodes say of probabilities does not hold for theirs. */
static void test_probabilities_of_new_nodes(void **state)
{
    enum { SEEDS = 2 };
    (void)state;
    npgnn_graph *graph = make("nodes=1200,words=200,seed=3");
    npgnn_options best = {.size = sizeof best};
    npgnn_options_preset(&best, "best", NULL);
    npgnn_split_options few = {.size = sizeof few};
    npgnn_split_options_default(&few, NPGNN_FEW_SHOT, NULL);
    const npgnn_eval_options o = {.size = sizeof o, .model = &best, .split = &few, .first_seed = 1};
    npgnn_eval_run run[SEEDS];
    npgnn_error err = {0};
    for (int i = 0; i < SEEDS; i++)
        run[i].size = sizeof run[i];
    assert_ok(npgnn_evaluate(run, graph, SEEDS, &o, NULL, &err), err);
    double error = 0;
    for (int i = 0; i < SEEDS; i++)
        error += run[i].calibration.balanced_ece / SEEDS;
    assert_true(error < 0.09);
    npgnn_graph_free(graph);
}

/* ---- that it learns ---- */

/* A graph whose links no corpus has: node i is linked to the nodes whose number has no digit in common with its own in
 * base 4, so similar features speak against a link. */
static void test_learns_what_the_corpus_does_not_have(void **state)
{
    enum { NODES = 240, COLUMNS = 12 };
    static float features[NODES * COLUMNS];
    static npgnn_pair edges[NODES * 8];
    int64_t m = 0;
    (void)state;
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    int kind[NODES];
    for (int i = 0; i < NODES; i++) {
        kind[i] = (int)npi_rng_below(&rng, 2);
        for (int c = 0; c < COLUMNS; c++)
            features[i * COLUMNS + c] = c / (COLUMNS / 2) == kind[i] ? (float)npi_rng_uniform(&rng) : 0;
    }
    while (m < NODES * 4) {
        npgnn_pair pair = {(int32_t)npi_rng_below(&rng, NODES), (int32_t)npi_rng_below(&rng, NODES)};
        if (kind[pair.u] != kind[pair.v])
            edges[m++] = pair;
    }
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, features, NODES, m, COLUMNS, NULL, &err), err);
    npgnn_options options = tuning();
    npgnn_eval_run run = {.size = sizeof run}, untrained = {.size = sizeof untrained};
    npgnn_eval_options how = {.size = sizeof how, .model = &options, .first_seed = 1, .method = "npgnn"};
    assert_ok(npgnn_evaluate(&run, graph, 1, &how, NULL, &err), err);
    how.method = "cosine";
    assert_ok(npgnn_evaluate(&untrained, graph, 1, &how, NULL, &err), err);
    assert_true(untrained.auc < 0.35); /* the features point the wrong way */
    assert_true(run.auc > 0.65); /* half of all pairs are of different kinds: 0.75 is the most that can be known */
    npgnn_graph_free(graph);
}

/* ---- that it does no harm ---- */

/* Users who arrive one after the other and buy for a while, items by how popular they are and by two topics that a user
 * likes: (user, item, time). Without names or features. */
static npgnn_graph *make_shop(void)
{
    enum { USERS = 250, ITEMS = 120, TOPICS = 6, EACH = 9 };
    static npgnn_pair edges[USERS * EACH];
    static double times[USERS * EACH];
    double popular[ITEMS], begun[USERS];
    npi_rng rng = npi_rng_make(2, NPI_RNG_TEST, 0);
    for (int i = 0; i < ITEMS; i++)
        popular[i] = 0.1 + pow(npi_rng_uniform(&rng), 4);
    for (int u = 0; u < USERS; u++)
        begun[u] = npi_rng_uniform(&rng);
    for (int k = 0; k < USERS * EACH;) {
        int user = k / EACH, item = (int)npi_rng_below(&rng, ITEMS), liked = item % TOPICS == user % TOPICS;
        if (npi_rng_uniform(&rng) > popular[item] * (liked ? 1 : 0.2))
            continue;
        edges[k] = (npgnn_pair){user, USERS + item};
        times[k++] = begun[user] + 0.03 * npi_rng_uniform(&rng);
    }
    const npgnn_graph_data data = {.size = sizeof data,
                                   .nodes = USERS + ITEMS,
                                   .sources = USERS,
                                   .edges = edges,
                                   .edge_count = USERS * EACH,
                                   .times = times};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    return graph;
}

/* The mean AUC of a preset over two splits. */
static double auc_of(const char *preset, const npgnn_graph *graph, npgnn_protocol protocol)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_split_options split = {.size = sizeof split};
    npgnn_eval_run run[2] = {{.size = sizeof *run}, {.size = sizeof *run}};
    npgnn_error err = {0};
    npgnn_options_preset(&options, strcmp(preset, "best") == 0 ? "best" : NULL, NULL);
    npgnn_split_options_default(&split, protocol, NULL);
    const npgnn_eval_options how = {.size = sizeof how,
                                    .model = &options,
                                    .split = &split,
                                    .first_seed = 1,
                                    .method = strcmp(preset, "best") == 0 ? "npgnn" : preset};
    assert_ok(npgnn_evaluate(run, graph, 2, &how, NULL, &err), err);
    return (run[0].auc + run[1].auc) / 2;
}

/* Nearly all links of the last days are those of users whom training has never seen: nothing is known of them, neither
 * links nor features. A tuned head that has not learnt what such pairs look like ranked them below chance. */
static void test_new_users_over_time(void **state)
{
    (void)state;
    npgnn_graph *shop = make_shop();
    for (int i = 0; i < 2; i++) {
        npgnn_protocol protocol = i == 0 ? NPGNN_TEMPORAL : NPGNN_INDUCTIVE;
        double best = auc_of("best", shop, protocol), universal = auc_of("universal", shop, protocol);
        assert_true(best > 0.6);
        assert_true(best > universal - 0.02);
    }
    npgnn_graph_free(shop);
}

/* On a random graph there is nothing to learn: tuning is not kept, the model says so, and it is the process as it is,
 * also when it was saved and loaded. */
static void test_tuning_that_does_not_help(void **state)
{
    enum { NODES = 150, LINKS = 450, PAIRS = 30 };
    (void)state;
    npgnn_pair edges[LINKS], pairs[PAIRS];
    npgnn_prediction said[PAIRS], says[PAIRS];
    npgnn_graph *graph = NULL;
    npgnn_model *universal = NULL, *loaded = NULL;
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    for (int i = 0; i < LINKS; i++) {
        int32_t u = (int32_t)npi_rng_below(&rng, NODES);
        edges[i] = (npgnn_pair){u, (int32_t)((u + 1 + (int32_t)npi_rng_below(&rng, NODES - 1)) % NODES)};
    }
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, 2 * i + 1};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, LINKS, 0, NULL, &err), err);
    npgnn_options options = {.size = sizeof options};
    npgnn_options_preset(&options, "best", NULL);
    npgnn_model *model = tune(graph, &options, 2);
    assert_ok(npgnn_model_universal(&universal, NULL, &err), err);
    assert_ok(npgnn_model_save(model, path_of("untuned"), &err), err);
    assert_ok(npgnn_model_load(&loaded, path_of("untuned"), NULL, &err), err);
    assert_ok(npgnn_predict(said, universal, graph, pairs, PAIRS, NULL, NULL, &err), err);
    for (int i = 0; i < 2; i++) {
        const npgnn_model *same = i == 0 ? model : loaded;
        npgnn_model_info info = {.size = sizeof info};
        npgnn_model_describe(&info, same, NULL);
        assert_true(info.across_graphs && !info.tuned && info.train_nodes == NODES);
        assert_true(info.hidden_links_auc[0] > 0.3 && info.hidden_links_auc[1] < 0.7);
        assert_true(info.hidden_nodes_auc[0] > 0.3 && info.hidden_nodes_auc[1] < 0.7);
        assert_ok(npgnn_predict(says, same, graph, pairs, PAIRS, NULL, NULL, &err), err);
        assert_memory_equal(said, says, sizeof said);
    }
    assert_true(auc_of("best", graph, NPGNN_TRANSDUCTIVE) == auc_of("universal", graph, NPGNN_TRANSDUCTIVE));
    npgnn_model_free(model);
    npgnn_model_free(loaded);
    npgnn_model_free(universal);
    npgnn_graph_free(graph);
    empty_folder();
}

static void test_small_graphs(void **state)
{
    (void)state;
    npgnn_options options = tuning();
    npgnn_pair ring[12];
    for (int i = 0; i < 12; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % 12};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, ring, NULL, 12, 12, 0, NULL, &err), err);
    npgnn_model *model = tune(graph, &options, 1);
    npgnn_model_info info = {.size = sizeof info};
    npgnn_prediction said[1];
    const npgnn_pair pair = {0, 5};
    npgnn_model_describe(&info, model, NULL);
    assert_true(info.across_graphs && info.train_nodes == 12 && !info.calibrated && !info.tuned);
    assert_true(isnan(info.hidden_links_auc[0]) && isnan(info.hidden_nodes_auc[1]));
    assert_ok(npgnn_predict(said, model, graph, &pair, 1, NULL, NULL, &err), err);
    assert_true(said[0].probability >= 0 && said[0].probability <= 1);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* ---- the same everywhere ---- */

static void test_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    npgnn_options options = tuning();
    npgnn_graph *graph = make("nodes=300,words=100,seed=5");
    npgnn_model *one = tune(graph, &options, 1), *three = tune(graph, &options, 3);
    const npi_process *a = &one->process, *b = &three->process;
    assert_memory_equal(a->change.block, b->change.block, a->change.count * sizeof *a->change.block);
    size_t weights = npi_projection_count(&a->projection);
    assert_true(weights > 0);
    assert_memory_equal(a->projection.weight, b->projection.weight, weights * sizeof *a->projection.weight);
    assert_memory_equal(a->z, b->z, 2 * (size_t)a->params.size.d * sizeof *a->z);
    assert_memory_equal(&one->scorer.calibration, &three->scorer.calibration, sizeof one->scorer.calibration);
    npgnn_model_free(one);
    npgnn_model_free(three);
    npgnn_graph_free(graph);
}

static void test_saved_and_loaded(void **state)
{
    enum { PAIRS = 40 };
    (void)state;
    npgnn_options options = tuning(), read = {.size = sizeof read};
    npgnn_graph *graph = make("nodes=300,words=100,seed=5");
    npgnn_model *model = tune(graph, &options, 2), *loaded = NULL;
    npgnn_model_info before = {.size = sizeof before}, after = {.size = sizeof after};
    npgnn_pair pairs[PAIRS];
    npgnn_prediction said[PAIRS], says[PAIRS];
    npgnn_error err = {0};
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, 3 * i % 119 + 1};
    assert_ok(npgnn_model_save(model, path_of("tuned"), &err), err);
    assert_ok(npgnn_model_load(&loaded, path_of("tuned"), NULL, &err), err);
    npgnn_model_describe(&before, model, NULL);
    npgnn_model_describe(&after, loaded, NULL);
    assert_memory_equal(&before, &after, sizeof before);
    npgnn_model_options(&read, loaded, NULL);
    assert_true(read.process && read.iterations == options.iterations);
    for (int samples = 0; samples <= 4; samples += 4) { /* the mean of z, and draws */
        const npgnn_predict_options how = {.size = sizeof how, .samples = samples, .seed = 3};
        assert_ok(npgnn_predict(said, model, graph, pairs, PAIRS, &how, NULL, &err), err);
        assert_ok(npgnn_predict(says, loaded, graph, pairs, PAIRS, &how, NULL, &err), err);
        for (int i = 0; i < PAIRS; i++) {
            assert_true(fabsf(said[i].score - says[i].score) <= 1e-5f * (1 + fabsf(said[i].score)));
            assert_int_equal(said[i].low<said[i].high, samples> 0);
        }
    }
    npgnn_model_free(model);
    npgnn_model_free(loaded);
    npgnn_graph_free(graph);
    empty_folder();
}

/* A model that projects features reads the columns that it was tuned on, in whatever order they come, and no others. */
static void test_columns_by_name(void **state)
{
    (void)state;
    npgnn_options options = tuning();
    npgnn_graph *graph = make("nodes=300,words=100,seed=5"), *other = make("nodes=300,words=177,seed=5");
    npgnn_model *model = tune(graph, &options, 1);
    npgnn_predictor *predictor = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_predictor_new(&predictor, model, other, NULL, NULL, &err), NPGNN_E_MISMATCH);
    assert_non_null(strstr(err.text, "feature columns"));
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    npgnn_graph_free(other);
}

/* ---- what goes wrong ---- */

static void test_refusals(void **state)
{
    (void)state;
    npgnn_options options = tuning();
    npgnn_graph *graph = make("nodes=100,words=100,seed=3");
    npgnn_trainer *trainer = NULL;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_trainer_new(&trainer, graph, NULL, &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "npgnn_fit"));
    const volatile int stop = 1;
    npgnn_env env = {.size = sizeof env, .stop = &stop};
    assert_int_equal(npgnn_fit(&model, graph, &options, &env, &err), NPGNN_E_CANCELLED);
    assert_null(model);
    options.learning_rate = 1e3;
    int code = npgnn_fit(&model, graph, &options, NULL, &err);
    assert_true(code == NPGNN_E_DIVERGED || code == 0); /* never a crash, never a model with numbers that are none */
    if (code == 0) {
        npgnn_prediction said[1];
        const npgnn_pair pair = {0, 5};
        assert_ok(npgnn_predict(said, model, graph, &pair, 1, NULL, NULL, &err), err);
        assert_true(said[0].probability >= 0 && said[0].probability <= 1);
    }
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_link_is_in_its_own_evidence),
        cmocka_unit_test(test_new_nodes_are_not_examples),
        cmocka_unit_test(test_a_part_is_left_out_whole),
        cmocka_unit_test(test_a_fold_without_known_links),
        cmocka_unit_test(test_probabilities_of_new_nodes),
        cmocka_unit_test(test_learns_what_the_corpus_does_not_have),
        cmocka_unit_test(test_new_users_over_time),
        cmocka_unit_test(test_tuning_that_does_not_help),
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_saved_and_loaded),
        cmocka_unit_test(test_columns_by_name),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
