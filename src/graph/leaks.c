/* Checks that a split has no leaks: held-out data must be absent from training, from what is known when predicting,
 * and from the other held-out set.
 *
 * 1. The nodes of the training graph are exactly those whose role is training. 2. Every training edge is an edge of
 * the complete graph. 3. Every held-out pair has the right label, is not a training edge and touches nodes of its
 * own set only (in the authors' protocols, NPGNN_PAPER_*, only the links do). 4. The edges known when predicting are
 * training edges or, in production, edges of new nodes. 5. No pair is held out twice. 6. Nothing but the link tells links
 * from non-links (except NPGNN_RANDOM_LINKS and NPGNN_PAPER_*): no held-out pair has a node that lost its links, and about
 * as many links as non-links have new nodes. */
#include <math.h>
#include <stdio.h>

#include "base/sort.h"
#include "graph/negative.h"
#include "graph/pair.h"
#include "graph/split.h"

/* A pair for messages: "name - name". */
typedef struct pair_text {
    char text[144];
} pair_text;

static pair_text describe(const npgnn_graph *graph, npgnn_pair pair)
{
    char u[12], v[12];
    pair_text out;
    snprintf(out.text, sizeof out.text, "%.64s - %.64s", npgnn_graph_name(graph, pair.u, u),
             npgnn_graph_name(graph, pair.v, v));
    return out;
}

static const char *set_name(int set)
{
    return set == NPGNN_SET_TEST ? "test" : "validation";
}

/* The number in the complete graph of a node of the training graph. */
static int32_t complete_node(const npgnn_split *split, int32_t train_node)
{
    return split->map ? split->map[train_node] : train_node;
}

/* The number in the training graph of a node of the complete graph, -1 where it is not in it. */
static int32_t train_node(const npgnn_split *split, int32_t node)
{
    if (!split->map)
        return node;
    int32_t low = 0, high = split->train->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (split->map[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < split->train->n && split->map[low] == node ? low : -1;
}

/* ---- 1. nodes ---- */

static int check_nodes(const npgnn_split *split, npgnn_error *err)
{
    char name[12];
    int32_t training = split->role ? 0 : split->graph->n, previous = -1;
    if (npi_protocol_hides_nodes(split->protocol) != !!split->role || !split->role != !split->map)
        return npi_fail(err, NPGNN_E_MISMATCH, "the node roles of the split do not match its protocol");
    for (int32_t i = 0; split->role && i < split->graph->n; i++)
        training += split->role[i] == NPI_NODE_TRAIN;
    if (split->train->n != training)
        return npi_fail(err, NPGNN_E_MISMATCH, "held-out nodes leak: the training graph has %d nodes instead of %d",
                        split->train->n, training);
    for (int32_t i = 0; split->map && i < split->train->n; i++) {
        if (split->map[i] <= previous || split->map[i] >= split->graph->n)
            return npi_fail(err, NPGNN_E_MISMATCH, "the nodes of the training graph are not in ascending order");
        previous = split->map[i];
        if (split->role[previous] != NPI_NODE_TRAIN)
            return npi_fail(err, NPGNN_E_MISMATCH, "the held-out node %s leaks: it is in the training graph",
                            npgnn_graph_name(split->graph, previous, name));
    }
    return 0;
}

/* ---- 2. training edges ---- */

/* A neighbour that a node has in the training graph only, in numbers of the complete graph; -1 where there is none.
 * Both rows are ascending, so that one pass over them is enough. */
static int32_t find_extra_neighbor(const npgnn_split *split, int32_t node)
{
    const int32_t *known, *actual;
    int64_t known_count = npgnn_graph_neighbors(&known, split->train, node);
    int64_t actual_count = npgnn_graph_neighbors(&actual, split->graph, complete_node(split, node));
    int64_t p = 0;
    for (int64_t i = 0; i < known_count; i++) {
        int32_t neighbor = complete_node(split, known[i]);
        while (p < actual_count && actual[p] < neighbor)
            p++;
        if (p == actual_count || actual[p] != neighbor)
            return neighbor;
    }
    return -1;
}

static int check_train_edges(const npgnn_split *split, npgnn_error *err)
{
    for (int32_t i = 0; i < split->train->n; i++) {
        int32_t extra = find_extra_neighbor(split, i);
        if (extra >= 0)
            return npi_fail(err, NPGNN_E_MISMATCH, "the training link %s is not a link of the graph",
                            describe(split->graph, (npgnn_pair){complete_node(split, i), extra}).text);
    }
    return 0;
}

/* ---- 4. edges known when predicting: those of training and, in production, some of new nodes ---- */

/* What is wrong with a known link, as the end of a message; NULL where nothing is. */
static const char *fault_of_known(const npgnn_split *split, npgnn_pair pair)
{
    int u = split->role[pair.u], v = split->role[pair.v];
    if (!npgnn_graph_has_edge(split->graph, pair.u, pair.v))
        return "is not a link of the graph";
    if (u == NPI_NODE_TRAIN && v == NPI_NODE_TRAIN)
        return NULL; /* check_known compares the number of these */
    if (split->protocol != NPGNN_PRODUCTION)
        return "leaks: it has a held-out node";
    return u != v && u != NPI_NODE_TRAIN && v != NPI_NODE_TRAIN ? "joins a test node and a validation node" : NULL;
}

static int check_known(const npgnn_split *split, npgnn_error *err)
{
    const npgnn_graph *known = split->known;
    int64_t training = 0; /* entries, two per edge */
    if (!known)
        return 0;
    for (int32_t u = 0; u < known->n; u++) {
        for (int64_t p = known->a.ptr[u]; p < known->a.ptr[u + 1]; p++) {
            npgnn_pair pair = {u, known->a.col[p]};
            const char *fault = fault_of_known(split, pair);
            if (fault)
                return npi_fail(err, NPGNN_E_MISMATCH, "the known link %s %s", describe(split->graph, pair).text,
                                fault);
            training += split->role[pair.u] == NPI_NODE_TRAIN && split->role[pair.v] == NPI_NODE_TRAIN;
        }
    }
    if (training != 2 * split->train->m)
        return npi_fail(err, NPGNN_E_MISMATCH, "the known links among training nodes are not the training links");
    return 0;
}

/* ---- 3. held-out pairs, one by one ---- */

/* In a split by nodes, a held-out pair has a node of its own set and none of the other held-out set; with hidden
 * nodes, both its nodes are of its own set. */
static int roles_match(const npgnn_split *split, int set, npgnn_pair pair)
{
    int own = set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL;
    int other = set == NPGNN_SET_TEST ? NPI_NODE_VAL : NPI_NODE_TEST;
    int u = split->role[pair.u], v = split->role[pair.v];
    if (split->protocol == NPGNN_INDUCTIVE_HIDDEN)
        return u == own && v == own;
    return (u == own || v == own) && u != other && v != other;
}

/* The rule above, for messages. */
static const char *role_rule(npgnn_protocol protocol, int set)
{
    if (protocol == NPGNN_INDUCTIVE_HIDDEN)
        return set == NPGNN_SET_TEST ? "join two test nodes" : "join two validation nodes";
    return set == NPGNN_SET_TEST ? "touch a test node" : "touch a validation node";
}

static int check_pair(const npgnn_split *split, int set, npgnn_pair pair, int positive, npgnn_error *err)
{
    const npgnn_graph *graph = split->graph;
    const char *what = positive ? "link" : "non-link";
    if (pair.u < 0 || pair.u >= graph->n || pair.v < 0 || pair.v >= graph->n || pair.u == pair.v)
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s %s %d - %d is not a pair of different nodes from 0 to %d",
                        set_name(set), what, pair.u, pair.v, graph->n - 1);
    if (npgnn_graph_has_edge(graph, pair.u, pair.v) != positive)
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s %s %s is %s of the graph", set_name(set), what,
                        describe(graph, pair).text, positive ? "not a link" : "a link");
    int32_t u = train_node(split, pair.u), v = train_node(split, pair.v);
    if (u >= 0 && v >= 0 && npgnn_graph_has_edge(split->train, u, v))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s link %s leaks: it is also a training link", set_name(set),
                        describe(graph, pair).text);
    if ((positive || split->standing) && split->role && !roles_match(split, set, pair))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s %s %s must %s and no node of the other held-out set",
                        set_name(set), what, describe(graph, pair).text, role_rule(split->protocol, set));
    if (npgnn_graph_has_edge(npi_split_known(split), pair.u, pair.v))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s link %s leaks: it is known when predicting", set_name(set),
                        describe(graph, pair).text);
    return 0;
}

/* ---- 5. held-out pairs, against each other ---- */

static int check_overlap(const npgnn_split *split, npgnn_error *err)
{
    size_t count = split->count[0] + split->count[1], next = 0;
    int code = 0;
    uint64_t *keys =
        npi_resize(&split->env, NULL, count, 2 * sizeof *keys, err); /* the second half is scratch memory */
    if (!keys)
        return NPGNN_E_MEMORY;
    /* the set becomes the lowest bit of the key; node numbers have 31 bits, so that nothing is lost */
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; i < split->count[set]; i++)
            keys[next++] = npi_pair_key(split->pairs[set][i]) << 1 | (uint64_t)set;
    npi_u64_sort(keys, keys + count, count);
    for (size_t i = 1; !code && i < count; i++)
        if (keys[i] >> 1 == keys[i - 1] >> 1)
            code = npi_fail(err, NPGNN_E_MISMATCH, "the pair %s is held out twice: in the %s set and in the %s set",
                            describe(split->graph, npi_pair_from_key(keys[i] >> 1)).text,
                            set_name((int)(keys[i - 1] & 1)), set_name((int)(keys[i] & 1)));
    npi_free(&split->env, keys);
    return code;
}

/* ---- 6. links and non-links are of the same kinds ---- */

/* Of a pair that could not be in its set: the node that is in no pair. */
static int fail_betrayed(const npgnn_split *split, int set, npgnn_pair pair, int positive, npgnn_error *err)
{
    char name[12];
    int32_t node = split->standing[pair.u] == NPI_NODE_UNTESTED ? pair.u : pair.v;
    if (split->protocol == NPGNN_TRANSDUCTIVE)
        return npi_fail(err, NPGNN_E_MISMATCH,
                        "the %s %s %s betrays itself: %s has no training link, or is marked as untested; a split that "
                        "does not mind such nodes has the protocol random-links",
                        set_name(set), positive ? "link" : "non-link", describe(split->graph, pair).text,
                        npgnn_graph_name(split->graph, node, name));
    return npi_fail(err, NPGNN_E_MISMATCH,
                    "the %s %s %s betrays itself: %s has lost all its links by the split; leave such pairs out",
                    set_name(set), positive ? "link" : "non-link", describe(split->graph, pair).text,
                    npgnn_graph_name(split->graph, node, name));
}

/* The non-links of a class are as many as they should be, or as many as independent draws may make. */
static int check_population(const npgnn_split *split, int set, npgnn_error *err)
{
    npi_population population = npi_split_population(split, (npgnn_set)set);
    size_t counts[2][NPI_PAIR_CLASSES] = {{0}}, positives = split->positives[set];
    for (size_t i = 0; i < split->count[set]; i++) {
        int found = npi_population_class(&population, split->pairs[set][i]);
        if (found < 0)
            return fail_betrayed(split, set, split->pairs[set][i], i < positives, err);
        counts[i < positives][found]++;
    }
    for (int c = 0; c < NPI_PAIR_CLASSES && positives > 0; c++) {
        double ratio = (double)(split->count[set] - positives) / (double)positives;
        double expected = ratio * (double)counts[1][c], found = (double)counts[0][c];
        if (fabs(found - expected) > 5 * sqrt(expected * (1 + ratio) + 1) + ratio)
            return npi_fail(err, NPGNN_E_MISMATCH,
                            "the %s non-links betray themselves: %zu of them have %s, and %zu of the %zu links",
                            set_name(set), counts[0][c],
                            c == NPI_BOTH_NEW   ? "two new nodes"
                            : c == NPI_NONE_NEW ? "no new node"
                                                : "one new node",
                            counts[1][c], positives);
    }
    return 0;
}

int npgnn_split_check(const npgnn_split *split, npgnn_error *err)
{
    int code = check_nodes(split, err);
    if (!code)
        code = check_train_edges(split, err);
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; !code && i < split->count[set]; i++)
            code = check_pair(split, set, split->pairs[set][i], i < split->positives[set], err);
    if (!code)
        code = check_known(split, err);
    if (!code)
        code = check_overlap(split, err);
    for (int set = 0; !code && set < 2 && split->standing; set++)
        code = check_population(split, set, err);
    return code;
}
