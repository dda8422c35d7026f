/* Explanations: contributions that add up to the log-odds, against integrated gradients by brute force; the facts of
 * small graphs, in numbers and in words; and what cannot be explained. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "folder.h"
#include "network.h"
#include "predict/attribution.h"
#include "predict/predictor.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_model *universal;

static int make_all(void **state)
{
    npgnn_error err = {0};
    if (make_folder(state))
        return -1;
    assert_ok(npgnn_model_universal(&universal, NULL, &err), err);
    return 0;
}

static int free_all(void **state)
{
    npgnn_model_free(universal);
    return remove_folder(state);
}

/* ---- the attribution alone, against a slow checker ---- */

enum { E = 5, H = 7 };

static double uniform(npi_rng *rng)
{
    return (double)npi_rng_below(rng, 1 << 20) / (1 << 19) - 1;
}

/* f(s(e)), straight from the definitions. */
static double log_odds_of(const npi_head *head, const npi_calibration *f, const double *e)
{
    double s = (double)head->shift[0];
    for (int j = 0; j < H; j++) {
        double h2 = (double)head->b2[j];
        for (int k = 0; k < H; k++) {
            double h1 = (double)head->b1[k];
            for (int i = 0; i < E; i++)
                h1 += e[i] * (double)head->w1[i * H + k];
            h2 += fmax(h1, 0) * (double)head->w2[k * H + j];
        }
        s += fmax(h2, 0) * (double)head->w3[j];
    }
    for (int i = 0; i < E; i++)
        s += e[i] * (double)head->line[i];
    return npi_calibration_log_odds(f, s);
}

/* Integrated gradients: a sum over many small steps, with central differences. */
static void attribute_slowly(double *share, const npi_head *head, const npi_calibration *f, const double *from,
                             const double *to)
{
    enum { STEPS = 20000 };
    const double apart = 1e-7;
    memset(share, 0, E * sizeof *share);
    for (int step = 0; step < STEPS; step++) {
        double at[E];
        for (int i = 0; i < E; i++)
            at[i] = from[i] + (step + 0.5) / STEPS * (to[i] - from[i]);
        for (int i = 0; i < E; i++) {
            double middle = at[i];
            at[i] = middle + apart;
            double above = log_odds_of(head, f, at);
            at[i] = middle - apart;
            double below = log_odds_of(head, f, at);
            at[i] = middle;
            share[i] += (to[i] - from[i]) * (above - below) / (2 * apart) / STEPS;
        }
    }
}

static void test_attribution(void **state)
{
    (void)state;
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npi_head head = {0};
    const npi_calibration f = {.pieces = 3, .knot = {-0.5, 0.7}, .slope = {0.4, 1.9, 0}, .offset = -2};
    assert_ok(npi_head_new(&head, E, H, &env, &err), err);
    for (uint32_t trial = 0; trial < 10; trial++) {
        npi_rng rng = npi_rng_make(7, NPI_RNG_TEST, trial);
        double from[E], to[E], share[E] = {0}, slow[E], start = 0, end = 0, sum = 0;
        for (size_t i = 0; i < head.count; i++)
            head.block[i] = (real)uniform(&rng);
        for (int i = 0; i < E; i++) {
            from[i] = uniform(&rng);
            to[i] = i == 2 ? from[i] : 3 * uniform(&rng);
        }
        npi_attribute(share, &start, &end, &head, &f, from, to);
        attribute_slowly(slow, &head, &f, from, to);
        for (int i = 0; i < E; i++) {
            assert_near(share[i], slow[i], 2e-3);
            sum += share[i];
        }
        assert_true(share[2] == 0); /* what does not differ contributes nothing */
        assert_near(start, log_odds_of(&head, &f, from), 1e-12);
        assert_near(end, log_odds_of(&head, &f, to), 1e-12);
        assert_near(start + sum, end, 1e-8);
        npi_attribute(share, &start, &end, &head, &f, from, from);
        assert_near(end, log_odds_of(&head, &f, to) + log_odds_of(&head, &f, from), 1e-12);
    }
    npi_head_free(&env, &head);
}

/* ---- contributions add up ---- */

static npgnn_predictor *predictor_of(const npgnn_model *model, const npgnn_graph *graph, int samples, int threads)
{
    npgnn_predict_options options = {.size = sizeof options, .samples = samples, .seed = 9};
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_predictor *p = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_predictor_new(&p, model, graph, &options, &env, &err), err);
    return p;
}

static void check_sums(const npgnn_model *model, const npgnn_graph *graph, int samples)
{
    npgnn_predictor *p = predictor_of(model, graph, samples, 1), *other = predictor_of(model, graph, samples, 3);
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 1);
    npgnn_error err = {0};
    double baseline = (double)NAN;
    for (int trial = 0; trial < 150; trial++) {
        npgnn_pair pair = {(int32_t)npi_rng_below(&rng, (uint64_t)graph->n),
                           (int32_t)npi_rng_below(&rng, (uint64_t)graph->n)};
        npgnn_explanation why = {.size = sizeof why};
        npgnn_prediction link;
        assert_ok(npgnn_predictor_run(&link, p, &pair, 1, &err), err);
        assert_ok(npgnn_predictor_explain(&why, p, pair, &err), err);
        double sum = why.baseline, by_reason = why.baseline;
        for (int32_t c = 0; c < why.column_count; c++) {
            const npgnn_contribution *column = &why.columns[c];
            assert_true(column->name && column->text && (unsigned)column->reason < NPGNN_REASONS);
            if (column->value == column->average)
                assert_true(fabs(column->log_odds) < 1e-6);
            sum += column->log_odds;
        }
        for (int32_t r = 0; r < why.reason_count; r++)
            by_reason += why.reasons[r];
        assert_near(sum, why.log_odds, 1e-7);
        assert_near(by_reason, why.log_odds, 1e-7);
        if (samples == 0)
            assert_near(1 / (1 + exp(-why.log_odds)), (double)link.probability, 1e-5);
        assert_true(trial == 0 || why.baseline == baseline); /* it is that of the graph */
        baseline = why.baseline;
        assert_true(strlen(why.text) > 0);

        /* the same for the pair the other way round, and with another number of threads */
        npgnn_contribution columns[NPI_ALL_COLUMNS];
        npgnn_explanation again = {.size = sizeof again};
        size_t size = (size_t)why.column_count * sizeof columns[0];
        memcpy(columns, why.columns, size);
        assert_ok(npgnn_predictor_explain(&again, other, (npgnn_pair){pair.v, pair.u}, &err), err);
        assert_memory_equal(columns, again.columns, size);
        assert_int_equal(why.neighbor_count, again.neighbor_count);
        assert_int_equal(why.feature_count, again.feature_count);
        assert_true(why.walks == again.walks && why.log_odds == again.log_odds);
    }
    npgnn_predictor_free(p);
    npgnn_predictor_free(other);
}

static npgnn_graph *load(const char *spec)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, spec, NULL, NULL, &err), err);
    return graph;
}

static void test_sums(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_model *best = NULL;
    npgnn_options tuning = {.size = sizeof tuning};
    static npgnn_pair edges[400];
    npgnn_graph *rich = load("synthetic:nodes=140,words=100,seed=3"), *wide = load("synthetic:nodes=400,seed=5");
    npgnn_graph *other = load("synthetic:nodes=140,words=100,seed=4");
    npgnn_graph *plain = NULL, *tiny = NULL, *complete = NULL;
    for (int i = 0; i < 400; i++) /* a ring with chords */
        edges[i] = (npgnn_pair){i % 200, i < 200 ? (i + 1) % 200 : (7 * i + 11) % 200};
    assert_ok(npgnn_graph_from_arrays(&plain, edges, NULL, 200, 400, 0, NULL, &err), err);
    assert_ok(npgnn_graph_from_arrays(&tiny, edges, NULL, 6, 5, 0, NULL, &err), err);
    int m = 0;
    for (int32_t u = 0; u < 9; u++)
        for (int32_t v = 0; v < u; v++)
            edges[m++] = (npgnn_pair){u, v};
    assert_ok(npgnn_graph_from_arrays(&complete, edges, NULL, 9, m, 0, NULL, &err), err);
    assert_ok(npgnn_options_preset(&tuning, "best", &err), err);
    tuning.iterations = 20;
    assert_ok(npgnn_fit(&best, rich, &tuning, NULL, &err), err);
    check_sums(universal, rich, 0);
    check_sums(universal, rich, 3);
    check_sums(universal, wide, 0);
    check_sums(universal, plain, 0);
    check_sums(universal, tiny, 0);
    check_sums(universal, complete, 0);
    check_sums(best, rich, 0);
    check_sums(best, other, 2);
    npgnn_predictor *tuned = predictor_of(best, rich, 0, 1);
    npgnn_explanation why = {.size = sizeof why};
    assert_ok(npgnn_predictor_explain(&why, tuned, (npgnn_pair){0, 1}, &err), err);
    assert_int_equal(why.column_count, NPI_ALL_COLUMNS); /* with those of its projection */
    npgnn_predictor_free(tuned);
    npgnn_model_free(best);
    npgnn_graph_free(rich);
    npgnn_graph_free(wide);
    npgnn_graph_free(other);
    npgnn_graph_free(plain);
    npgnn_graph_free(tiny);
    npgnn_graph_free(complete);
}

/* ---- facts ---- */

/* Neighbours, features and walks of every pair, by counting all of them. */
static void test_facts(void **state)
{
    (void)state;
    npgnn_graph *graph = load("synthetic:nodes=120,words=100,seed=8");
    npgnn_predictor *p = predictor_of(universal, graph, 0, 1);
    const npi_features *x = graph->x;
    npgnn_error err = {0};
    int most = 0;
    int32_t holders[100] = {0}; /* nodes that have a word: what most have is nothing to have in common */
    assert_true(!x->dense && x->f <= 100);
    for (int64_t i = 0; i < x->x.ptr[x->n]; i++)
        holders[x->x.col[i]]++;
    for (int32_t u = 0; u < 40; u++)
        for (int32_t v = 60; v < 100; v++) {
            npgnn_explanation why = {.size = sizeof why};
            int32_t neighbors = 0, features = 0;
            double walks = 0;
            assert_ok(npgnn_predictor_explain(&why, p, (npgnn_pair){u, v}, &err), err);
            for (int32_t a = 0; a < graph->n; a++) {
                neighbors += npgnn_graph_has_edge(graph, u, a) && npgnn_graph_has_edge(graph, v, a);
                for (int32_t b = 0; b < graph->n && npgnn_graph_has_edge(graph, u, a); b++)
                    walks += npgnn_graph_has_edge(graph, a, b) && npgnn_graph_has_edge(graph, b, v);
            }
            for (int64_t i = x->x.ptr[u]; i < x->x.ptr[u + 1]; i++)
                for (int64_t j = x->x.ptr[v]; j < x->x.ptr[v + 1]; j++)
                    features += x->x.col[i] == x->x.col[j] && 2 * holders[x->x.col[i]] <= graph->n;
            assert_int_equal(why.neighbor_count, neighbors);
            assert_int_equal(why.feature_count, features);
            assert_true(why.walks == walks);
            assert_true((why.walk_lift > 0) == (walks > 0));
            for (int32_t i = 0; i + 1 < neighbors; i++) {
                const int32_t *none;
                assert_true(npgnn_graph_neighbors(&none, graph, why.neighbors[i]) <=
                            npgnn_graph_neighbors(&none, graph, why.neighbors[i + 1]));
            }
            most = neighbors > most ? neighbors : most;
        }
    assert_true(most > 1);
    npgnn_predictor_free(p);
    npgnn_graph_free(graph);
}

/* Writes a file into the folder of the test. */
static const char *written(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path_of(name);
}

static void test_words(void **state)
{
    (void)state;
    char buffer[12], edges[2048] = "", table[4096] = "id,city,member,about,age\n";
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    for (int i = 0; i < 40; i++) {
        size_t used = strlen(edges);
        snprintf(edges + used, sizeof edges - used, "p%d p%d\np%d p%d\n", i, (i + 1) % 40, i, (i + 2) % 40);
        used = strlen(table);
        snprintf(table + used, sizeof table - used, "p%d,%s,%s,%s %s,%d\n", i, i % 4 ? "Rome" : "Berlin",
                 i % 8 ? "no"
                 : i   ? "yes"
                       : "",
                 i % 3 ? "likes trains and boats" : "reads old books about maps", i % 5 ? "daily" : "seldom", 20 + i);
    }
    char edge_file[4096];
    snprintf(edge_file, sizeof edge_file, "%s", written("people.edges", edges));
    npgnn_load_options options = {.size = sizeof options, .edges = edge_file, .features = written("people.csv", table)};
    assert_ok(npgnn_load(&graph, NULL, &options, NULL, &err), err);
    npgnn_predictor *p = predictor_of(universal, graph, 0, 1);
    npgnn_explanation why = {.size = sizeof why};

    int32_t u = npgnn_graph_find(graph, "p8"), v = npgnn_graph_find(graph, "p24"), none = npgnn_graph_find(graph, "p0");
    assert_ok(npgnn_predictor_explain(&why, p, (npgnn_pair){u, v}, &err), err);
    int member = 0, city = 0, age = 0, words = 0;
    for (int32_t i = 0; i < why.feature_count; i++) {
        const char *name = npgnn_graph_column_name(graph, why.features[i]);
        member += strcmp(name, "member") == 0;
        city += strcmp(name, "city=Berlin") == 0;
        words += strncmp(name, "about:", 6) == 0;
        age += strncmp(name, "age", 3) == 0;
    }
    assert_true(member == 1 && city == 1 && words == 0 && age == 0); /* a number is nothing to have in common */
    assert_ok(npgnn_predictor_explain(&why, p, (npgnn_pair){none, v}, &err), err);
    for (int32_t i = 0; i < why.feature_count; i++) { /* whether p0 is a member is not known */
        const char *name = npgnn_graph_column_name(graph, why.features[i]);
        assert_string_not_equal(name, "member");
        words += strncmp(name, "about:", 6) == 0;
    }
    assert_int_equal(words, 5);

    assert_ok(npgnn_predictor_explain(&why, p, (npgnn_pair){u, npgnn_graph_find(graph, "p11")}, &err), err);
    assert_int_equal(why.neighbor_count, 2);
    assert_string_equal(npgnn_graph_name(graph, why.neighbors[0], buffer), "p10");
    assert_string_equal(npgnn_graph_name(graph, why.neighbors[1], buffer), "p9");
    int said = 0; /* the reasons of some pair are about words, cities and membership */
    for (int32_t a = 0; a < graph->n; a++)
        for (int32_t b = 0; b < a; b++) {
            assert_ok(npgnn_predictor_explain(&why, p, (npgnn_pair){a, b}, &err), err);
            said |= strstr(why.text, "words in common: ") ? 1 : 0;
            said |= strstr(why.text, "same city=") ? 2 : 0;
            said |= strstr(why.text, "both member") ? 4 : 0;
            said |= strstr(why.text, "no neighbours in common") ? 8 : 0;
            said |= strstr(why.text, "2 neighbours in common (p") ? 16 : 0;
        }
    assert_int_equal(said, 31);
    npgnn_predictor_free(p);
    npgnn_graph_free(graph);
    empty_folder();
}

/* ---- what cannot be explained ---- */

static void test_refusals(void **state)
{
    (void)state;
    npgnn_graph *graph = load("synthetic:nodes=100,words=100,seed=2");
    npgnn_options options = rich_network();
    npgnn_model *network = NULL;
    npgnn_error err = {0};
    npgnn_explanation why = {.size = sizeof why};
    options.iterations = 2;
    assert_ok(npgnn_fit(&network, graph, &options, NULL, &err), err);
    npgnn_predictor *p = predictor_of(network, graph, 0, 1);
    assert_int_equal(npgnn_predictor_explain(&why, p, (npgnn_pair){0, 1}, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "universal"));
    npgnn_predictor_free(p);
    p = predictor_of(universal, graph, 0, 1);
    static const npgnn_pair outside[] = {{0, 100}, {-1, 3}, {100, 100}};
    for (size_t i = 0; i < COUNT(outside); i++)
        assert_int_equal(npgnn_predictor_explain(&why, p, outside[i], &err), NPGNN_E_ARGUMENT);
    assert_null(why.text);
    npgnn_predictor_free(p);
    npgnn_model_free(network);
    npgnn_graph_free(graph);
    assert_string_equal(npgnn_reason_name(NPGNN_REASON_WALKS), "walks");
    assert_string_equal(npgnn_reason_name((npgnn_reason)99), "unknown reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attribution), cmocka_unit_test(test_sums),     cmocka_unit_test(test_facts),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
