/* The split protocols: sizes of the sets, disjoint sets, no leaks, the negative ratio. */
#include "check.h"

#include <string.h>

#include "graph/hold_out.h"
#include "graph/negative.h"
#include "splitting.h"

static int refused(const npgnn_graph *graph, npgnn_protocol protocol, double test, double val, double train_nodes,
                   const char *word)
{
    npgnn_split_options options = {.size = sizeof options, protocol, test, val, train_nodes, 1, 1, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    int code = npgnn_split_new(&split, graph, &options, NULL, &err);
    int ok = code == NPGNN_E_ARGUMENT && !split && strstr(err.text, word);
    if (!ok)
        fprintf(stderr, "expected \"%s\", got %d: %s\n", word, code, err.text);
    npgnn_split_free(split);
    return ok;
}

/* Checks the sets independently of npgnn_split_check: each pair of nodes is in at most one set, links are edges of the
 * graph, and non-links are not. */
static void check_sets(const npgnn_split *split)
{
    const npgnn_graph *graph = split->graph;
    unsigned char *seen = calloc((size_t)graph->n * (size_t)graph->n, 1);
    const int32_t *map;
    const npgnn_graph *train = npgnn_split_train(&map, split);
    assert_non_null(seen);
    for (int32_t i = 0; i < train->n; i++)
        for (int64_t p = train->a.ptr[i]; p < train->a.ptr[i + 1]; p++) {
            int32_t u = map ? map[i] : i, v = map ? map[train->a.col[p]] : train->a.col[p];
            assert_true(npgnn_graph_has_edge(graph, u, v));
            seen[u * graph->n + v] = 1;
        }
    for (npgnn_set set = NPGNN_SET_VAL; set <= NPGNN_SET_TEST; set++) {
        const npgnn_pair *pairs;
        size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, set);
        assert_int_equal(count, 2 * positives);
        for (size_t i = 0; i < count; i++) {
            assert_true(pairs[i].u >= 0 && pairs[i].u < pairs[i].v && pairs[i].v < graph->n);
            assert_int_equal(npgnn_graph_has_edge(graph, pairs[i].u, pairs[i].v), i < positives);
            assert_int_equal(seen[pairs[i].u * graph->n + pairs[i].v], 0);
            seen[pairs[i].u * graph->n + pairs[i].v] = 1;
        }
    }
    free(seen);
}

/* ---- the protocols ---- */

static void test_transductive_counts(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(2708, 5278, 1); /* the size of Cora */
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 1);
    assert_int_equal(split->positives[NPGNN_SET_TEST], 527);
    assert_int_equal(split->positives[NPGNN_SET_VAL], 263);
    assert_int_equal(split->train->m, 4488);
    assert_int_equal(split->train->n, 2708);
    assert_null(split->map);
    assert_int_equal(npgnn_split_protocol(split), NPGNN_TRANSDUCTIVE);
    check_sets(split);
    npgnn_split_free(split);

    split = cut(graph, NPGNN_RANDOM_LINKS, 0.29, 0, -1, 1);
    assert_int_equal(split->positives[NPGNN_SET_TEST], 1530);
    assert_int_equal(split->count[NPGNN_SET_VAL], 0);
    npgnn_split_free(split);

    split = cut(graph, NPGNN_TRANSDUCTIVE, 0, 0, -1, 1);
    assert_int_equal(split->count[NPGNN_SET_TEST], 0);
    assert_int_equal(split->train->m, graph->m);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* 0.29 * 100 is 28.999999999999996 in double arithmetic, but a share of 0.29 must give 29 of 100. */
static void test_shares_of_round_numbers(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(60, 100, 1);
    for (int percent = 1; percent < 100; percent++) {
        npgnn_split *split = cut(graph, NPGNN_RANDOM_LINKS, percent / 100.0, 0, -1, 1);
        assert_int_equal(split->positives[NPGNN_SET_TEST], percent);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

/* ---- nothing betrays a held-out link ---- */

/* A graph that is read from m random links: nodes without one do not exist. `sides`: links are between the first half of the
 * nodes and the others. Times are random. */
static npgnn_graph *sparse_graph(int32_t most, int64_t m, int sides, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 7);
    npgnn_pair *edges = calloc((size_t)m, sizeof *edges);
    double *times = calloc((size_t)m, sizeof *times);
    int32_t *number = calloc((size_t)most, sizeof *number), n = 0, sources = 0;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_true(edges && times && number);
    for (int64_t e = 0; e < m; e++) {
        int32_t half = most / 2;
        do {
            edges[e].u = (int32_t)npi_rng_below(&rng, (uint64_t)(sides ? half : most));
            edges[e].v = (int32_t)npi_rng_below(&rng, (uint64_t)(sides ? half : most)) + (sides ? half : 0);
        } while (edges[e].u == edges[e].v);
        times[e] = npi_rng_uniform(&rng);
        number[edges[e].u] = number[edges[e].v] = 1;
    }
    for (int32_t i = 0; i < most; i++)
        if (number[i]) {
            sources += i < most / 2;
            number[i] = n++;
        }
    for (int64_t e = 0; e < m; e++)
        edges[e] = (npgnn_pair){number[edges[e].u], number[edges[e].v]};
    npgnn_graph_data data = {.size = sizeof data, .nodes = n, .edges = edges, .edge_count = m, .times = times};
    data.sources = sides ? sources : 0;
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    free(edges);
    free(times);
    free(number);
    return graph;
}

static int64_t known_links(const npgnn_split *split, int32_t node)
{
    const int64_t *ptr = npi_split_known(split)->a.ptr;
    return ptr[node + 1] - ptr[node];
}

/* Sums over the test pairs: how often a link has a higher, or the same, product of known degrees as a non-link. */
static double degree_auc(const npgnn_split *split)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    double won = 0;
    for (size_t i = 0; i < positives; i++)
        for (size_t j = positives; j < count; j++) {
            int64_t link = (1 + known_links(split, pairs[i].u)) * (1 + known_links(split, pairs[i].v));
            int64_t other = (1 + known_links(split, pairs[j].u)) * (1 + known_links(split, pairs[j].v));
            won += link > other ? 1 : link == other ? 0.5 : 0;
        }
    return won / (double)positives / (double)(count - positives);
}

/* Every protocol, on sparse random graphs: the degrees of the ends tell nothing, and the classes of links and non-links
 * are the same. With random links, degrees tell a lot. */
static void test_immune(void **state)
{
    (void)state;
    static const double degrees[] = {1, 1.5, 2, 3};
    enum { NODES = 2000 };
    for (int sides = 0; sides < 2; sides++)
        for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_RANDOM_LINKS; protocol++)
            for (int d = 0; d < 4; d++) {
                double sum = 0, square = 0;
                const int graphs =
                    protocol == NPGNN_TRANSDUCTIVE ? 80 : 12; /* 80 find links taken one after the other */
                if (protocol == NPGNN_PAPER_INDUCTIVE || protocol == NPGNN_PAPER_FEW_SHOT)
                    continue;
                for (uint64_t seed = 1; seed <= (uint64_t)graphs; seed++) {
                    npgnn_graph *graph = sparse_graph(NODES, (int64_t)(NODES * degrees[d] / 2), sides, seed);
                    int wide = protocol != NPGNN_FEW_SHOT;
                    npgnn_split *split = cut(graph, protocol, wide ? 0.2 : -1, wide ? 0.1 : -1, -1, seed);
                    double links, non_links, auc = degree_auc(split);
                    sum += auc / graphs;
                    square += auc * auc / graphs;
                    npi_split_emptied(&links, &non_links, split);
                    if (protocol == NPGNN_RANDOM_LINKS)
                        assert_true(links > non_links);
                    else
                        assert_near(links, non_links, 1e-12);
                    for (int set = 0; set < 2 && split->standing; set++) {
                        npi_population field = npi_split_population(split, (npgnn_set)set);
                        int counts[2][NPI_PAIR_CLASSES] = {{0}};
                        for (size_t i = 0; i < split->count[set]; i++) {
                            int found = npi_population_class(&field, split->pairs[set][i]);
                            assert_true(found >= 0);
                            counts[i < split->positives[set]][found]++;
                        }
                        assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
                    }
                    npgnn_split_free(split);
                    npgnn_graph_free(graph);
                }
                double error = sqrt(fmax(square - sum * sum, 0) / (graphs - 1));
                if (protocol == NPGNN_RANDOM_LINKS)
                    assert_true(degrees[d] > 2 || fabs(sum - 0.5) > 0.02);
                else if (fabs(sum - 0.5) > 4.5 * error)
                    fail_msg("protocol %d, mean degree %g, sides %d: degrees have an AUC of %.4f +- %.4f",
                             (int)protocol, degrees[d], sides, sum, error);
            }
}

/* Nodes that were set aside keep all their links, and no node of a graph of links ends up without. */
static void test_every_node_keeps_a_link(void **state)
{
    (void)state;
    npgnn_graph *graph = sparse_graph(1000, 900, 0, 3);
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, 0.1, 0.05, -1, 3);
    int aside = 0;
    assert_int_equal(split->positives[NPGNN_SET_TEST], graph->m / 10);
    for (int32_t i = 0; i < graph->n; i++) {
        int64_t degree = graph->a.ptr[i + 1] - graph->a.ptr[i];
        assert_true(known_links(split, i) > 0);
        assert_true(split->standing[i] == NPI_NODE_TRAIN || known_links(split, i) == degree);
        aside += npi_split_is_set_aside(split, i);
    }
    assert_true(aside > 50);
    assert_true(split->train->m + (int64_t)(split->positives[0] + split->positives[1]) == graph->m);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static char said[512];

static void note(void *user, const char *message)
{
    (void)user;
    snprintf(said, sizeof said, "%s", message);
}

/* Where fewer links can be held out than asked for, the sets share them in proportion, and a note says so; where none can,
 * an error does. */
static void test_too_sparse(void **state)
{
    (void)state;
    const npgnn_env env = {.size = sizeof env, .log = note};
    npgnn_graph *graph = sparse_graph(2000, 1000, 0, 1);
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    npgnn_split_options_default(&options, NPGNN_TRANSDUCTIVE, NULL);
    said[0] = '\0';
    assert_ok(npgnn_split_new(&split, graph, &options, &env, &err), err);
    size_t test = split->positives[NPGNN_SET_TEST], val = split->positives[NPGNN_SET_VAL];
    assert_in_range(test, 40, 99);
    assert_in_range(2 * val, test - 1, test + 2);
    if (!strstr(said, " of the 150 "))
        fail_msg("%s", said);
    npgnn_split_free(split);
    npgnn_graph_free(graph);

    npgnn_pair edges[200];
    for (int i = 0; i < 200; i++)
        edges[i] = (npgnn_pair){2 * i, 2 * i + 1};
    graph = build(edges, 400, 200); /* a perfect matching */
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, "would betray its held-out one"));
    assert_true(refused(graph, NPGNN_INDUCTIVE, -1, -1, -1, "test set would be empty"));
    assert_true(refused(graph, NPGNN_PRODUCTION, -1, -1, -1, "test set would be empty"));
    npgnn_graph_free(graph);
    for (int i = 0; i < 200; i++)
        edges[i] = (npgnn_pair){0, i + 1};
    graph = build(edges, 201, 200); /* a star */
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, -1, 0, -1, "would betray its held-out one"));
    npgnn_graph_free(graph);
}

/* Nodes without any link are in no pair of a transductive split, and are new nodes of a temporal one. */
static void test_unlinked_nodes(void **state)
{
    (void)state;
    npgnn_pair edges[100];
    double times[100];
    for (int i = 0; i < 100; i++) {
        edges[i] = (npgnn_pair){i % 40, (i * 7 + 3 + i / 40) % 40};
        times[i] = i;
    }
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    const npgnn_graph_data data = {.size = sizeof data, .nodes = 60, .edges = edges, .edge_count = 100, .times = times};
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    for (uint64_t seed = 1; seed < 20; seed++) {
        npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, 0.2, 0.1, -1, seed);
        for (int set = 0; set < 2; set++)
            for (size_t i = 0; i < split->count[set]; i++)
                assert_true(split->pairs[set][i].v < 40);
        npgnn_split_free(split);
        split = cut(graph, NPGNN_TEMPORAL, 0.2, 0.1, -1, seed);
        for (int32_t i = 40; i < 60; i++)
            assert_int_equal(split->standing[i], NPI_NODE_TEST);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

/* Two new nodes that are linked have no non-link: their link is left out, and a note says so. */
static void test_excess(void **state)
{
    (void)state;
    const npgnn_env env = {.size = sizeof env, .log = note};
    npgnn_pair edges[42];
    double times[42];
    for (int i = 0; i < 40; i++) {
        edges[i] = (npgnn_pair){i % 20, (i + 1 + 2 * (i / 20)) % 20};
        times[i] = i;
    }
    edges[40] = (npgnn_pair){20, 21};
    edges[41] = (npgnn_pair){3, 20};
    times[40] = times[41] = 41;
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    const npgnn_graph_data data = {.size = sizeof data, .nodes = 22, .edges = edges, .edge_count = 42, .times = times};
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_TEMPORAL, NULL);
    options.val = 0;
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    assert_ok(npgnn_split_new(&split, graph, &options, &env, &err), err);
    assert_int_equal(split->positives[NPGNN_SET_TEST], 3);
    assert_non_null(strstr(said, "too few non-links of their kind: 1"));
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* npi_hide_links hides all links that it is given, except those of nodes that would have none left, and counts these. */
static void test_hide_links(void **state)
{
    (void)state;
    npgnn_graph *graph = sparse_graph(300, 300, 0, 5);
    size_t n = (size_t)graph->n;
    npgnn_pair *edges = calloc((size_t)graph->m, sizeof *edges);
    int32_t *left = calloc(n, sizeof *left), *again = calloc(n, sizeof *again), *kept = calloc(n, sizeof *kept);
    unsigned char *role = calloc(n, 1);
    assert_true(edges && left && again && kept && role);
    for (int64_t count = 0; count <= graph->m; count += 10) {
        npi_graph_list_edges(edges, graph);
        npi_count_links(left, graph);
        memset(role, 7, n);
        int64_t hidden = npi_hide_links(edges, count, role, 1, left, graph->n);
        memset(again, 0, n * sizeof *again);
        memset(kept, 0, n * sizeof *kept);
        for (int64_t e = 0; e < graph->m; e++) {
            const int32_t ends[2] = {edges[e].u, edges[e].v};
            int is_bare = role[ends[0]] == 1 || role[ends[1]] == 1;
            assert_true(e < hidden ? !is_bare : e >= count || is_bare);
            for (int i = 0; i < 2; i++) {
                again[ends[i]] += e >= hidden;
                kept[ends[i]] += e >= count;
            }
        }
        assert_memory_equal(left, again, n * sizeof *left);
        for (size_t i = 0; i < n; i++)
            assert_true(left[i] > 0 && role[i] == (kept[i] > 0 ? 7 : 1));
    }
    free(edges);
    free(left);
    free(again);
    free(kept);
    free(role);
    npgnn_graph_free(graph);
}

static int count_role(const npgnn_split *split, int role)
{
    int count = 0;
    for (int32_t i = 0; i < split->graph->n; i++)
        count += split->role[i] == role;
    return count;
}

static int own_role(int set)
{
    return set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL;
}

/* Recounts from the roles of the nodes which set every edge belongs to. Links and non-links touch a node of their set
 * and none of the other; so "touches a new node" tells nothing. In the authors' protocols it tells nearly
 * everything. */
static void check_homes(const npgnn_split *split)
{
    int paper = split->protocol == NPGNN_PAPER_INDUCTIVE || split->protocol == NPGNN_PAPER_FEW_SHOT;
    size_t strangers = 0; /* non-links that do not touch their set */
    size_t train = 0, val = 0, test = 0;
    const npgnn_graph *graph = split->graph;
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++) {
            int a = split->role[u], b = split->role[graph->a.col[p]];
            int lost = !paper && (split->standing[u] == NPI_NODE_UNTESTED ||
                                  split->standing[graph->a.col[p]] == NPI_NODE_UNTESTED);
            int has_val = a == NPI_NODE_VAL || b == NPI_NODE_VAL, has_test = a == NPI_NODE_TEST || b == NPI_NODE_TEST;
            train += !has_val && !has_test;
            val += has_val && !has_test && !lost;
            test += has_test && !has_val && !lost;
        }
    assert_int_equal(split->train->m, train / 2);
    assert_int_equal(split->positives[NPGNN_SET_VAL], val / 2);
    assert_int_equal(split->positives[NPGNN_SET_TEST], test / 2);
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; i < split->count[set]; i++) {
            npgnn_pair pair = split->pairs[set][i];
            int own = own_role(set), other = own_role(!set), a = split->role[pair.u], b = split->role[pair.v];
            int kind = (a == own || b == own) && a != other && b != other;
            strangers += !kind;
            assert_true(kind || (paper && i >= split->positives[set]));
        }
    assert_true(paper == (strangers > 0));
}

static void test_inductive(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(2708, 5278, 1);
    for (int paper = 0; paper < 2; paper++) {
        npgnn_split *split = cut(graph, paper ? NPGNN_PAPER_INDUCTIVE : NPGNN_INDUCTIVE, -1, -1, -1, 1);
        assert_int_equal(count_role(split, NPI_NODE_TEST), 135);
        assert_int_equal(count_role(split, NPI_NODE_VAL), 67);
        assert_int_equal(split->train->n, 2708 - 135 - 67);
        check_homes(split);
        check_sets(split);
        npgnn_split_free(split);
    }

    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE, 0.3, 0.3, -1, 1); /* many edges between validation and test */
    assert_true((size_t)split->train->m + split->positives[0] + split->positives[1] < (size_t)graph->m);
    check_homes(split);
    check_sets(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_few_shot(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(1001, 3000, 1);
    const double shares[] = {0.3, 0.5, 0.7};
    for (int i = 0; i < 6; i++) {
        npgnn_split *split = cut(graph, i < 3 ? NPGNN_FEW_SHOT : NPGNN_PAPER_FEW_SHOT, -1, -1, shares[i % 3], 1);
        assert_int_equal(split->train->n, (int)(shares[i % 3] * 1001));
        assert_int_equal(count_role(split, NPI_NODE_VAL), 0);
        assert_int_equal(count_role(split, NPI_NODE_TEST), 1001 - split->train->n);
        check_homes(split);
        check_sets(split);
        npgnn_split_free(split);
    }
    npgnn_split *split = cut(graph, NPGNN_FEW_SHOT, -1, 0.1, -1, 1);
    assert_int_equal(split->train->n, 300);
    assert_int_equal(count_role(split, NPI_NODE_VAL), 100);
    check_homes(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* ---- protocols that test new nodes ---- */

/* The test links are exactly those between two hidden nodes of the set, and so are the candidates for non-links. */
static void test_inductive_hidden(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 4000, 1);
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE_HIDDEN, -1, -1, -1, 1);
    size_t between[2] = {0};
    check_sets(split);
    assert_int_equal(count_role(split, NPI_NODE_TEST), 30);
    assert_int_equal(count_role(split, NPI_NODE_VAL), 30);
    assert_int_equal(split->known->m, split->train->m);
    for (int set = 0; set < 2; set++) {
        for (int32_t u = 0; u < graph->n; u++)
            for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
                between[set] += u < graph->a.col[p] && split->role[u] == own_role(set) &&
                                split->role[graph->a.col[p]] == own_role(set);
        assert_int_equal(split->positives[set], between[set]);
        for (size_t i = 0; i < split->count[set]; i++) {
            assert_int_equal(split->role[split->pairs[set][i].u], own_role(set));
            assert_int_equal(split->role[split->pairs[set][i].v], own_role(set));
        }
    }
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* Half of the links of new nodes are known when predicting and half are tested; none is in training. */
static void test_production(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1);
    npgnn_split *split = cut(graph, NPGNN_PRODUCTION, -1, -1, -1, 1);
    int64_t touching = 0, across = 0;
    check_sets(split);
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++) {
            int a = split->role[u], b = split->role[graph->a.col[p]];
            touching += u < graph->a.col[p] && (a != NPI_NODE_TRAIN || b != NPI_NODE_TRAIN);
            across += a == NPI_NODE_TEST && b == NPI_NODE_VAL;
        }
    int64_t held_out = (int64_t)(split->positives[0] + split->positives[1]);
    int64_t revealed = split->known->m - split->train->m;
    assert_int_equal(held_out + revealed + across, touching);
    assert_in_range(held_out - revealed, 0, 2); /* halves, rounded down in each set */
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < split->count[set]; i++) {
            int a = split->role[split->pairs[set][i].u], b = split->role[split->pairs[set][i].v];
            assert_false(npgnn_graph_has_edge(split->known, split->pairs[set][i].u, split->pairs[set][i].v));
            assert_true(a == own_role(set) || b == own_role(set));
            assert_true(a != own_role(!set) && b != own_role(!set));
        }
    }
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static size_t negatives_at(const npgnn_graph *graph, npgnn_protocol protocol, double ratio, size_t *positives)
{
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    npgnn_split_options_default(&options, protocol, NULL);
    options.negative_ratio = ratio;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    *positives = split->positives[NPGNN_SET_TEST];
    size_t negatives = split->count[NPGNN_SET_TEST] - *positives;
    npgnn_split_free(split);
    return negatives;
}

static void test_ratio(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1); /* 44850 pairs: 21.425 non-links to a link */
    size_t positives;
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_RANDOM_LINKS; protocol++) {
        if (protocol == NPGNN_TEMPORAL)
            continue; /* the links have no times */
        size_t negatives = negatives_at(graph, protocol, 0, &positives);
        assert_int_equal(negatives, positives);
        negatives = negatives_at(graph, protocol, 7.5, &positives);
        assert_int_equal(negatives, 15 * positives / 2);
        negatives = negatives_at(graph, protocol, NPGNN_RATIO_FULL, &positives);
        size_t wanted = (size_t)(21.425 * (double)positives);
        /* the candidate pairs of a set may have fewer non-links than that */
        assert_true(npi_protocol_has_population(protocol) ? negatives <= wanted : negatives == wanted);
        assert_true(negatives + positives <= 435 || protocol != NPGNN_INDUCTIVE_HIDDEN); /* of 30 nodes */
        assert_true(negatives > 15 * positives);
    }
    npgnn_split_options options = {.size = sizeof options, NPGNN_TRANSDUCTIVE, -1, -1, -1, 1, 400, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "has only 42850"));
    options.negative_ratio = 0.5;
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    options.negative_ratio = 1e9;
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    npgnn_graph_free(graph);
}

static void test_invalid_options(void **state)
{
    (void)state;
    const npgnn_pair ring[6] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}};
    npgnn_graph *graph = random_graph(100, 200, 1), *small = build(ring, 8, 6);
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, 0.6, 0.4, -1, "add up to less than 1"));
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, (double)NAN, 0.4, -1, "add up to less than 1"));
    assert_true(refused(graph, NPGNN_INDUCTIVE, 1.5, 0.1, -1, "add up to less than 1"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 1, "leave some nodes to test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 0, "leave some nodes to test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, 0.7, 0.3, "leave some nodes to test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, (double)NAN, "leave some nodes to test"));
    assert_true(refused(graph, (npgnn_protocol)99, -1, -1, -1, "protocol"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 0.011, "no training links")); /* one training node */
    assert_true(refused(small, NPGNN_TRANSDUCTIVE, 0.1, 0, -1, "test set would be empty"));
    assert_true(refused(small, NPGNN_TRANSDUCTIVE, 0.2, 0.1, -1, "validation set would be empty"));
    npgnn_graph_free(small);
    npgnn_graph_free(graph);
}

static void test_seeds(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split *a = cut(graph, protocol, -1, -1, -1, 5), *b = cut(graph, protocol, -1, -1, -1, 5);
        npgnn_split *c = cut(graph, protocol, -1, -1, -1, 6);
        assert_int_equal(a->count[1], b->count[1]);
        assert_memory_equal(a->pairs[1], b->pairs[1], a->count[1] * sizeof *a->pairs[1]);
        assert_true(npgnn_split_hash(a) == npgnn_split_hash(b));
        assert_true(npgnn_split_hash(a) != npgnn_split_hash(c));
        npgnn_split_free(a);
        npgnn_split_free(b);
        npgnn_split_free(c);
    }
    npgnn_graph_free(graph);
}

/* The hash does not depend on the order and direction of the pairs. */
static void test_assembled_hash(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 5), *again = NULL;
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npgnn_pair *edges = calloc((size_t)split->train->m, sizeof *edges), *pairs[2];
    assert_non_null(edges);
    npi_graph_list_edges(edges, split->train);
    for (int set = 0; set < 2; set++) {
        pairs[set] = npi_alloc(&env, split->count[set], sizeof *pairs[set], NULL);
        assert_non_null(pairs[set]);
        for (size_t i = 0; i < split->count[set]; i++) {
            size_t half = split->positives[set];
            size_t from = i < half ? half - 1 - i : split->count[set] - 1 - (i - half);
            pairs[set][i] = (npgnn_pair){split->pairs[set][from].v, split->pairs[set][from].u};
        }
    }
    unsigned char *marks = npi_alloc(&env, (size_t)graph->n, 1, NULL);
    for (int32_t i = 0; i < graph->n; i++)
        marks[i] = split->standing[i] == NPI_NODE_UNTESTED ? NPI_NODE_UNTESTED : NPI_NODE_TRAIN;
    assert_ok(npi_split_assemble(&again, graph, NPGNN_TRANSDUCTIVE, edges, split->train->m, marks, pairs, split->count,
                                 split->positives, &env, &err),
              err);
    assert_true(npgnn_split_hash(split) == npgnn_split_hash(again));
    npgnn_split_free(again);
    npgnn_split_free(split);
    free(edges);
    npgnn_graph_free(graph);
}

static void test_dense_graphs(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(30, 335, 1); /* 100 non-edges */
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, 0.3, 0.1, -1, "has only 100"));
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, 0.2, 0.0986, -1, 1); /* 67 + 33: all of them */
    assert_int_equal(split->positives[0] + split->positives[1], 100);
    check_sets(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* ---- memory ---- */

static int allocations_left;

static void *failing_resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return allocations_left-- > 0 ? realloc(block, size) : NULL;
}

/* Lets 0, 1, 2... allocations succeed: every failure gives E_MEMORY and leaks nothing. */
static void test_out_of_memory(void **state)
{
    (void)state;
    const npgnn_env env = {.size = sizeof env, .allocator = {failing_resize, NULL}};
    const npgnn_pair ring[10] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 0}};
    const npgnn_protocol protocols[] = {NPGNN_TRANSDUCTIVE, NPGNN_INDUCTIVE, NPGNN_PRODUCTION};
    for (int i = 0; i < 3; i++) {
        npgnn_split_options options = {.size = sizeof options, protocols[i], 0.2, 0, -1, 1, 1, -1};
        npgnn_graph *graph = NULL;
        npgnn_split *split = NULL;
        int code = NPGNN_E_MEMORY;
        allocations_left = 1000;
        assert_int_equal(npgnn_graph_from_arrays(&graph, ring, NULL, 10, 10, 0, &env, NULL), 0);
        for (int allowed = 0; code == NPGNN_E_MEMORY; allowed++) {
            assert_in_range(allowed, 0, 100);
            allocations_left = allowed;
            code = npgnn_split_new(&split, graph, &options, &env, NULL);
            assert_true(code == 0 || (code == NPGNN_E_MEMORY && !split));
        }
        assert_int_equal(code, 0);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
}

/* The authors' split of a ring of 60 nodes with chords, as numpy 2.4 draws it: RandomState(1).shuffle of the links,
 * then randint. */
static void test_authors(void **state)
{
    (void)state;
    enum { NODES = 60, LINKS = 120 };
    static const npgnn_pair val[] = {{19, 20}, {23, 24}, {25, 32}, {34, 41}, {43, 50}, {56, 57},
                                     {2, 44},  {6, 22},  {10, 34}, {18, 41}, {28, 39}, {32, 54}};
    static const npgnn_pair test[] = {{0, 53},  {11, 18}, {20, 21}, {24, 25}, {36, 43}, {42, 43}, {44, 51}, {45, 46},
                                      {45, 52}, {47, 54}, {49, 50}, {52, 59}, {1, 12},  {7, 17},  {7, 45},  {10, 23},
                                      {10, 28}, {13, 32}, {18, 24}, {18, 48}, {20, 32}, {24, 57}, {30, 41}, {33, 51}};
    npgnn_pair edges[LINKS];
    npgnn_graph *graph = NULL, *small = NULL;
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    for (int i = 0; i < NODES; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % NODES};
        edges[2 * i + 1] = (npgnn_pair){i, (i + 7) % NODES};
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, LINKS, 0, NULL, &err), err);
    assert_ok(npgnn_split_authors(&split, graph, NULL, &err), err);
    for (int set = 0; set < 2; set++) {
        const npgnn_pair *expected = set == NPGNN_SET_VAL ? val : test, *pairs;
        size_t count = set == NPGNN_SET_VAL ? 12 : 24, positives;
        assert_int_equal(npgnn_split_pairs(&pairs, &positives, split, (npgnn_set)set), count);
        assert_int_equal(positives, count / 2);
        assert_memory_equal(pairs, expected, count * sizeof *pairs);
    }
    assert_int_equal(npgnn_graph_edges(npgnn_split_train(NULL, split)), LINKS - 18);
    npgnn_split_free(split);
    npgnn_graph_free(graph);

    assert_ok(npgnn_graph_from_arrays(&small, edges, NULL, NODES, 19, 0, NULL, &err), err);
    assert_int_equal(npgnn_split_authors(&split, small, NULL, &err), NPGNN_E_ARGUMENT);
    npgnn_graph_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transductive_counts),
        cmocka_unit_test(test_shares_of_round_numbers),
        cmocka_unit_test(test_immune),
        cmocka_unit_test(test_every_node_keeps_a_link),
        cmocka_unit_test(test_too_sparse),
        cmocka_unit_test(test_unlinked_nodes),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_hide_links),
        cmocka_unit_test(test_inductive),
        cmocka_unit_test(test_few_shot),
        cmocka_unit_test(test_inductive_hidden),
        cmocka_unit_test(test_production),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_invalid_options),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_assembled_hash),
        cmocka_unit_test(test_dense_graphs),
        cmocka_unit_test(test_authors),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
