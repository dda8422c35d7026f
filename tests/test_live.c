/* A live graph against predictors that were made anew: what counts at once, what counts after a refresh, additions that
 * are refused, tables and networks, and many threads at once. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_model *universal;

static int make_all(void **state)
{
    (void)state;
    npgnn_error err = {0};
    assert_ok(npgnn_model_universal(&universal, NULL, &err), err);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    npgnn_model_free(universal);
    return 0;
}

static npgnn_live *live_of(const npgnn_model *model, const char *data)
{
    npgnn_graph *graph = NULL;
    npgnn_live *live = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, data, NULL, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, model, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph); /* it was copied */
    return live;
}

/* A node with some of the features of `like`, by the numbers of the columns, and links to its neighbours. */
static void add_like(npgnn_live *live, const char *name, int32_t like)
{
    enum { MOST = 8 };
    npgnn_error err = {0};
    char columns[MOST][12];
    npgnn_cell cells[MOST];
    npgnn_pair links[MOST];
    for (int c = 0; c < MOST; c++) {
        snprintf(columns[c], sizeof columns[c], "%d", (like * 7 + c * 31) % 1000);
        cells[c] = (npgnn_cell){columns[c], "1"};
    }
    const npgnn_new_node node = {.size = sizeof node, .name = name, .cells = cells, .cell_count = MOST};
    assert_ok(npgnn_live_add_nodes(live, &node, 1, &err), err);
    const npgnn_graph *graph = npgnn_live_begin(live);
    const int32_t *neighbors;
    int32_t added = npgnn_graph_find(graph, name);
    size_t count = 0;
    assert_int_equal(added, npgnn_graph_nodes(graph) - 1);
    for (int64_t i = 0, all = npgnn_graph_neighbors(&neighbors, graph, like); i < all && count < MOST; i++)
        links[count++] = (npgnn_pair){added, neighbors[i]};
    npgnn_live_end(live);
    int64_t made = 0;
    assert_ok(npgnn_live_add_links(&made, live, links, count, &err), err);
    assert_int_equal(made, count);
    assert_ok(npgnn_live_add_links(&made, live, links, count, &err), err); /* they are there already */
    assert_int_equal(made, 0);
}

/* The best of a node are what npgnn_live_score says of all pairs, to the bit and in order. */
static void check_top(npgnn_live *live, int32_t node)
{
    enum { K = 10 };
    npgnn_error err = {0};
    npgnn_link top[K];
    int32_t found = 0;
    const npgnn_graph *graph = npgnn_live_begin(live);
    int32_t n = npgnn_graph_nodes(graph);
    assert_ok(npgnn_live_top(top, &found, live, node, K, &err), err);
    npgnn_pair *pairs = calloc((size_t)n, sizeof *pairs);
    npgnn_prediction *all = calloc((size_t)n, sizeof *all);
    for (int32_t v = 0; v < n; v++)
        pairs[v] = (npgnn_pair){node, v};
    assert_ok(npgnn_live_score(all, live, pairs, (size_t)n, &err), err);
    assert_int_equal(found, K);
    for (int i = 0; i < K; i++) { /* the i-th is better than all that are not before it */
        int32_t best = -1;
        for (int32_t v = 0; v < n; v++) {
            int taken = v == node || npgnn_graph_has_edge(graph, node, v);
            for (int j = 0; j < i; j++)
                taken |= top[j].pair.v == v;
            if (!taken && (best < 0 || all[v].score > all[best].score))
                best = v;
        }
        assert_int_equal(top[i].pair.v, best);
        assert_memory_equal(&top[i].prediction, &all[best], sizeof all[best]);
    }
    npgnn_live_end(live);
    free(pairs);
    free(all);
}

/* Scores of some pairs by a predictor that is made anew on the graph as it is now. */
static void check_fresh(npgnn_live *live, const npgnn_model *model)
{
    enum { PAIRS = 300 };
    npgnn_error err = {0};
    npgnn_pair pairs[PAIRS];
    npgnn_prediction here[PAIRS], there[PAIRS];
    npgnn_predictor *fresh = NULL;
    const npgnn_predict_options options = {.size = sizeof options};
    const npgnn_graph *graph = npgnn_live_begin(live);
    int32_t n = npgnn_graph_nodes(graph);
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){(n - 1 - i % 9), (i * 37) % n};
    assert_ok(npgnn_predictor_new(&fresh, model, graph, &options, NULL, &err), err);
    assert_ok(npgnn_predictor_run(there, fresh, pairs, PAIRS, &err), err);
    assert_ok(npgnn_live_score(here, live, pairs, PAIRS, &err), err);
    npgnn_live_end(live);
    assert_memory_equal(here, there, sizeof here);
    npgnn_predictor_free(fresh);
}

static double column_of(const npgnn_explanation *why, const char *name)
{
    for (int32_t c = 0; c < why->column_count; c++)
        if (strcmp(why->columns[c].name, name) == 0)
            return why->columns[c].value;
    fail_msg("there is no column %s", name);
    return 0;
}

enum { TUNED_NODES = 300 }; /* of the graph that a process is tuned on, before others are added */

/* Whether the last node that was added has changed the links of a neighbour of this one, but not its own. */
static int beside_a_change(const npgnn_graph *graph, int32_t node)
{
    const int32_t *near, *far;
    int32_t last = npgnn_graph_nodes(graph) - 1;
    int64_t count = npgnn_graph_neighbors(&near, graph, node);
    int beside = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t others = npgnn_graph_neighbors(&far, graph, near[i]);
        beside |= far[others - 1] >= TUNED_NODES; /* they are in order */
    }
    return beside && node != last && !npgnn_graph_has_edge(graph, node, last);
}

/* What counts at once is what a new predictor says; the rest of the evidence of new nodes is near it. */
static void check_at_once(npgnn_live *live, const npgnn_model *model, const char *name)
{
    static const char *const exact[] = {
        "degree_sum", "degree_difference", "degree_least", "common", "jaccard", "lift2", "lift3", "lift4"};
    npgnn_error err = {0};
    npgnn_predictor *fresh = NULL;
    const npgnn_predict_options options = {.size = sizeof options};
    const npgnn_graph *graph = npgnn_live_begin(live);
    int32_t node = npgnn_graph_find(graph, name), n = npgnn_graph_nodes(graph);
    assert_ok(npgnn_predictor_new(&fresh, model, graph, &options, NULL, &err), err);
    double apart = 0, region_apart = 0, region_size = 0; /* largest, and means */
    for (int32_t other = 0; other < n; other += 3) {
        npgnn_explanation here = {.size = sizeof here}, there = {.size = sizeof there};
        if (other == node)
            continue;
        assert_ok(npgnn_live_explain(&here, live, (npgnn_pair){node, other}, &err), err);
        assert_ok(npgnn_predictor_explain(&there, fresh, (npgnn_pair){node, other}, &err), err);
        for (size_t c = 0; c < COUNT(exact); c++)
            assert_near(column_of(&here, exact[c]), column_of(&there, exact[c]), 1e-6);
        if (model !=
            universal) { /* the projection is the model's; the weights of words change little with two nodes more */
            assert_near(column_of(&here, "projection"), column_of(&there, "projection"), 1e-4);
            if (!beside_a_change(graph, other))
                assert_near(column_of(&here, "projection_around"), column_of(&there, "projection_around"), 1e-4);
            assert_near(column_of(&here, "overlap"), column_of(&there, "overlap"), 0.02);
        }
        apart = fmax(apart, fabs(column_of(&here, "features") - column_of(&there, "features")));
        region_apart += fabs(column_of(&here, "region16") - column_of(&there, "region16")) * 3 / n;
        region_size += fabs(column_of(&there, "region16")) * 3 / n;
    }
    npgnn_live_end(live);
    npgnn_predictor_free(fresh);
    assert_true(apart < 0.2); /* V of the features was found without this node */
    assert_true(region_size > 0.02 &&
                region_apart < 0.9 * region_size); /* nor did it take part in the regions: zeros would be 1 */
}

static void test_additions(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_live_info info = {.size = sizeof info};
    npgnn_live *live = live_of(universal, "synthetic:nodes=600,words=1000");
    check_fresh(live, universal);
    check_top(live, 17);
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "new %d", i);
        add_like(live, name, 11 + 5 * i);
        if (i % 4 == 0)
            check_top(live, 600 + i);
    }
    check_top(live, 17);
    check_at_once(live, universal, "new 3");
    assert_ok(npgnn_live_describe(&info, live, &err), err);
    assert_int_equal(info.new_nodes, 12);
    assert_true(info.new_links >= 12);
    assert_int_equal(info.refreshes, 0);

    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, universal);
    check_top(live, 605);
    assert_ok(npgnn_live_describe(&info, live, &err), err);
    assert_int_equal(info.new_nodes, 0);
    assert_int_equal(info.new_links, 0);
    assert_int_equal(info.refreshes, 1);
    npgnn_live_free(live);
}

/* Without features, and many links in one call, with repetitions and both directions. */
static void test_links_alone(void **state)
{
    (void)state;
    enum { NODES = 200, LINKS = 500 };
    npgnn_error err = {0};
    npgnn_pair edges[LINKS];
    npgnn_graph *graph = NULL;
    npgnn_live *live = NULL;
    for (int i = 0; i < LINKS; i++)
        edges[i] = (npgnn_pair){i % NODES, (i * 37 + i / NODES * 11 + 1) % NODES};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, LINKS / 2, 0, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, universal, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph);
    for (int i = 0; i < LINKS; i++) /* loops are refused, so none may be there */
        if (edges[i].u == edges[i].v)
            edges[i].v = (edges[i].v + 1) % NODES;
    int64_t added = 0;
    assert_ok(npgnn_live_add_links(&added, live, edges, LINKS, &err), err);
    assert_true(added > 100 && added < LINKS);
    const npgnn_graph *now = npgnn_live_begin(live);
    for (int i = 0; i < LINKS; i++)
        assert_true(npgnn_graph_has_edge(now, edges[i].v, edges[i].u));
    int64_t ends = 0;
    for (int32_t i = 0; i < NODES; i++) {
        const int32_t *neighbors;
        int64_t count = npgnn_graph_neighbors(&neighbors, now, i);
        for (int64_t j = 1; j < count; j++)
            assert_true(neighbors[j - 1] < neighbors[j]);
        ends += count;
    }
    assert_int_equal(ends, 2 * npgnn_graph_edges(now));
    npgnn_live_end(live);
    check_top(live, 3);
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, universal);
    npgnn_live_free(live);
}

static void test_refusals(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_live *live = live_of(universal, "synthetic:nodes=120,words=100");
    static const npgnn_cell unknown = {"100", "1"}, no_number = {"3", "red"}, twice[] = {{"3", "1"}, {"3", "2"}},
                            good = {"3", "1"};
    const npgnn_new_node bad[] = {
        {.size = sizeof bad[0], .name = "7"}, /* taken */
        {.size = sizeof bad[0], .name = ""},
        {.size = sizeof bad[0], .name = "\xff"},
        {.size = sizeof bad[0], .name = "a", .cells = &unknown, .cell_count = 1},
        {.size = sizeof bad[0], .name = "a", .cells = &no_number, .cell_count = 1},
        {.size = sizeof bad[0], .name = "a", .cells = twice, .cell_count = 2},
        {.size = sizeof bad[0], .name = "good"}, /* the same as the first of the call */
        {.name = "a"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) { /* the first is good, but all or none are added */
        const npgnn_new_node both[2] = {
            {.size = sizeof both[0], .name = "good", .cells = &good, .cell_count = 1},
            bad[i],
        };
        assert_int_equal(npgnn_live_add_nodes(live, both, 2, &err), NPGNN_E_ARGUMENT);
        const npgnn_graph *graph = npgnn_live_begin(live);
        assert_int_equal(npgnn_graph_nodes(graph), 120);
        assert_int_equal(npgnn_graph_find(graph, "good"), -1);
        npgnn_live_end(live);
    }
    static const npgnn_pair links[] = {{3, 3}, {0, 120}, {-1, 2}};
    const npgnn_graph *graph = npgnn_live_begin(live);
    int64_t edges = npgnn_graph_edges(graph);
    npgnn_live_end(live);
    for (size_t i = 0; i < COUNT(links); i++) {
        const npgnn_pair both[2] = {{5, 77}, links[i]};
        assert_int_equal(npgnn_live_add_links(NULL, live, both, 2, &err), NPGNN_E_ARGUMENT);
    }
    graph = npgnn_live_begin(live);
    npgnn_prediction out;
    npgnn_link top;
    int32_t found;
    assert_int_equal(npgnn_graph_edges(graph), edges);
    assert_int_equal(npgnn_live_score(&out, live, &links[1], 1, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_live_top(&top, &found, live, 120, 1, &err), NPGNN_E_ARGUMENT);
    npgnn_live_end(live);
    npgnn_live_free(live);
}

/* Cells as a table has them: a new member who is like another has the same features. */
static void test_table(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_live *live = NULL;
    npgnn_explanation why = {.size = sizeof why};
    const npgnn_load_options how = {.size = sizeof how,
                                    .features = NPGNN_SOURCE_ROOT "/examples/members.csv",
                                    .edges = NPGNN_SOURCE_ROOT "/examples/friendships.csv",
                                    .source = "member",
                                    .target = "friend",
                                    .skip_bad_rows = 1};
    assert_ok(npgnn_load(&graph, NULL, &how, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, universal, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph);
    static const npgnn_cell cells[] = {{"town", "St. Gallen"},
                                       {"born", "12.12.1946"},
                                       {"income", "29436"},
                                       {"newsletter", "no"},
                                       {"about me", "films, sailing (in winter too)"}};
    static const npgnn_cell unlike[] = {{"town", "Nowhere"}, {"newsletter", "yes"}, {"about me", "chess"}};
    const npgnn_new_node nodes[] = {
        {.size = sizeof nodes[0], .name = "twin", .cells = cells, .cell_count = COUNT(cells)},
        {.size = sizeof nodes[0], .name = "other", .cells = unlike, .cell_count = COUNT(unlike)}};
    assert_ok(npgnn_live_add_nodes(live, nodes, 2, &err), err);
    const npgnn_graph *now = npgnn_live_begin(live);
    int32_t model = npgnn_graph_find(now, "m1001"), twin = npgnn_graph_find(now, "twin");
    assert_ok(npgnn_live_explain(&why, live, (npgnn_pair){twin, model}, &err), err);
    assert_near(column_of(&why, "features"), 1, 1e-4);
    assert_ok(npgnn_live_explain(&why, live, (npgnn_pair){twin + 1, model}, &err), err);
    assert_true(column_of(&why, "features") < 0.9);
    npgnn_live_end(live);
    static const npgnn_cell wrong[] = {{"income", "much"}, {"shoe size", "42"}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const npgnn_new_node node = {.size = sizeof node, .name = "x", .cells = &wrong[i], .cell_count = 1};
        assert_int_equal(npgnn_live_add_nodes(live, &node, 1, &err), NPGNN_E_ARGUMENT);
        assert_non_null(strstr(err.text, wrong[i].column));
    }
    check_top(live, twin);
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, universal);
    npgnn_live_free(live);
}

/* A network embeds all nodes after each addition: it is always as a new predictor. */
static void test_network(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_model *network = NULL;
    npgnn_live *live = NULL;
    npgnn_options options = {.size = sizeof options};
    assert_ok(npgnn_options_preset(&options, NULL, &err), err);
    options.iterations = 5;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=300,words=1000", NULL, NULL, &err), err);
    assert_ok(npgnn_fit(&network, graph, &options, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, network, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph);
    add_like(live, "zoe", 17);
    check_fresh(live, network);
    check_top(live, 300);
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, network);
    npgnn_live_free(live);
    npgnn_model_free(network);
}

/* A process that was tuned on the graph has evidence of its own: a projection of the features, and features in common
 * to the letter. */
static void test_tuned(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_model *tuned = NULL;
    npgnn_live *live = NULL;
    npgnn_options options = {.size = sizeof options};
    assert_ok(npgnn_options_preset(&options, "best", &err), err);
    options.iterations = 10;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=300,words=1000", NULL, NULL, &err), err);
    assert_ok(npgnn_fit(&tuned, graph, &options, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, tuned, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph);
    add_like(live, "zoe", 17);
    add_like(live, "yan", 18);
    check_top(live, 300);
    check_top(live, 17);
    check_at_once(live, tuned, "yan");
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, tuned);
    npgnn_live_free(live);
    npgnn_model_free(tuned);
}

/* ---- additions during a refresh ---- */

/* Memory of a live graph that gets a node and links at the next allocation: in the middle of a refresh. */
typedef struct intruder {
    npgnn_live *live; /* NULL: not now */
} intruder;

static void *resize_and_add(void *user, void *block, size_t size)
{
    intruder *i = user;
    npgnn_live *live = i->live;
    i->live = NULL;
    if (live) {
        add_like(live, "during", 17);
        add_like(live, "another", 40);
    }
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static void test_addition_during_refresh(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_live *live = NULL;
    npgnn_live_info info = {.size = sizeof info};
    intruder user = {NULL};
    const npgnn_env env = {.size = sizeof env, .threads = 1, .allocator = {resize_and_add, &user}};
    assert_ok(npgnn_load(&graph, "synthetic:nodes=300,words=1000", NULL, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, universal, graph, NULL, &env, &err), err);
    npgnn_graph_free(graph);
    add_like(live, "before", 11);
    user.live = live;
    assert_ok(npgnn_live_refresh(live, &err), err);
    assert_null(user.live);
    assert_ok(npgnn_live_describe(&info, live, &err), err);
    assert_int_equal(info.new_nodes, 2); /* the refresh knew the first one only */
    assert_true(info.new_links > 0);
    const npgnn_graph *now = npgnn_live_begin(live);
    int32_t during = npgnn_graph_find(now, "during");
    npgnn_live_end(live);
    assert_int_equal(during, 301);
    check_at_once(live, universal, "during");
    check_at_once(live, universal, "before");
    check_top(live, during);
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, universal);
    npgnn_live_free(live);
}

/* ---- many threads ---- */

typedef struct reader {
    npgnn_live *live;
    atomic_int *stop;
    int queries, wrong;
} reader;

/* Every answer must be one of a graph that was whole: the best of a node are in the graph, and not linked to it. */
static void *read_on(void *arg)
{
    reader *r = arg;
    for (int i = 0; !atomic_load(r->stop); i++) {
        npgnn_link top[5];
        int32_t found = 0;
        const npgnn_graph *graph = npgnn_live_begin(r->live);
        int32_t n = npgnn_graph_nodes(graph), node = (i * 7) % n;
        if (npgnn_live_top(top, &found, r->live, node, 5, NULL) != 0)
            r->wrong++;
        for (int32_t j = 0; j < found; j++) {
            npgnn_prediction again;
            if (top[j].pair.v >= n || npgnn_graph_has_edge(graph, node, top[j].pair.v) ||
                npgnn_live_score(&again, r->live, &top[j].pair, 1, NULL) != 0 ||
                memcmp(&again, &top[j].prediction, sizeof again) != 0)
                r->wrong++;
        }
        npgnn_live_end(r->live);
        r->queries++;
    }
    return NULL;
}

static void *refresh_on(void *arg)
{
    reader *r = arg;
    while (!atomic_load(r->stop))
        if (npgnn_live_refresh(r->live, NULL) != 0)
            r->wrong++;
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_live *live = live_of(universal, "synthetic:nodes=150,words=1000");
    atomic_int stop = 0;
    pthread_t threads[3];
    reader readers[3] = {{live, &stop, 0, 0}, {live, &stop, 0, 0}, {live, &stop, 0, 0}};
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, t < 2 ? read_on : refresh_on, &readers[t]), 0);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "new %d", i);
        add_like(live, name, 3 * i);
    }
    atomic_store(&stop, 1);
    for (int t = 0; t < 3; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(readers[t].wrong, 0);
    }
    assert_ok(npgnn_live_refresh(live, &err), err);
    check_fresh(live, universal);
    npgnn_live_free(live);
}

/* More nodes than a search looks at at a time: the bound of the head leaves most of them out, and the best stay the
 * best. */
static void test_bounds(void **state)
{
    (void)state;
    enum { NODES = 2300, LINKS = 7000 };
    static npgnn_pair edges[LINKS];
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_live *live = live_of(universal, "synthetic:nodes=2300,degree=4");
    char name[12];
    for (int32_t node = 0; node < NODES; node += 460)
        check_top(live, node);
    for (int i = 0; i < 2; i++) { /* rounded rows of new and touched nodes */
        snprintf(name, sizeof name, "new %d", i);
        add_like(live, name, 100 * i);
        check_top(live, NODES + i);
        check_top(live, 100 * i);
    }
    npgnn_live_free(live);

    for (int i = 0; i < LINKS; i++)
        edges[i] = (npgnn_pair){i % NODES, (i * 37 + i / 70 * 11 + 1) % NODES};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, LINKS, 0, NULL, &err), err);
    assert_ok(npgnn_live_new(&live, universal, graph, NULL, NULL, &err), err);
    npgnn_graph_free(graph);
    for (int32_t node = 0; node < NODES; node += 460)
        check_top(live, node);
    npgnn_live_free(live);
}

/* Workspaces are kept from one question to the next, while links come and the graph outgrows its memory: answers are
 * those of a live graph that was not asked before. */
static void test_growth(void **state)
{
    (void)state;
    enum { NODES = 100, MORE = 24, ALL = NODES + MORE };
    npgnn_live *asked = live_of(universal, "synthetic:nodes=100,words=1000");
    npgnn_live *quiet = live_of(universal, "synthetic:nodes=100,words=1000");
    npgnn_error err = {0};
    npgnn_pair pairs[ALL];
    npgnn_prediction here[ALL], there[ALL];
    for (int32_t i = 0; i < MORE; i++) {
        char name[24];
        snprintf(name, sizeof name, "new-%d", (int)i);
        check_top(asked, 3 * i); /* two steps from it reach the new node */
        add_like(asked, name, 3 * i);
        add_like(quiet, name, 3 * i);
    }
    for (int32_t v = 0; v < ALL; v++)
        pairs[v] = (npgnn_pair){3 * (MORE - 1), v};
    npgnn_live_begin(asked);
    assert_ok(npgnn_live_score(here, asked, pairs, ALL, &err), err);
    npgnn_live_end(asked);
    npgnn_live_begin(quiet);
    assert_ok(npgnn_live_score(there, quiet, pairs, ALL, &err), err);
    npgnn_live_end(quiet);
    assert_memory_equal(here, there, sizeof here);
    npgnn_live_free(asked);
    npgnn_live_free(quiet);
}

int main(void)
{
    const struct CMUnitTest races[] = {
        cmocka_unit_test(test_threads)}; /* the others have one thread, and take minutes there */
    if (CHECK_TSAN)
        return cmocka_run_group_tests(races, make_all, free_all);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_additions),
        cmocka_unit_test(test_links_alone),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_tuned),
        cmocka_unit_test(test_addition_during_refresh),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
