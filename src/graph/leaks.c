/* Verifying a split: what is held out must not be seen in training, nor in another set. */
#include <stdio.h>

#include "base/sort.h"
#include "graph/pair.h"
#include "graph/split.h"

/* A pair in the words of the graph's files. */
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

static int32_t whole_node(const npgnn_split *split, int32_t train_node)
{
    return split->map ? split->map[train_node] : train_node;
}

/* The training graph's number of a node of the complete graph, -1 when training does not know it. */
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

/* ---- nodes: those of the training graph are those whose role says so ---- */

static int check_map(const npgnn_split *split, npgnn_error *err)
{
    char name[12];
    int32_t previous = -1;
    for (int32_t i = 0; i < split->train->n; i++) {
        if (split->map[i] <= previous || split->map[i] >= split->graph->n)
            return npi_fail(err, NPGNN_E_MISMATCH, "the nodes of the training graph are not in ascending order");
        previous = split->map[i];
        if (split->role[previous] != NPI_NODE_TRAIN)
            return npi_fail(err, NPGNN_E_MISMATCH, "the held-out node %s leaks: it is in the training graph",
                            npgnn_graph_name(split->graph, previous, name));
    }
    return 0;
}

static int check_nodes(const npgnn_split *split, npgnn_error *err)
{
    int32_t known = split->role ? 0 : split->graph->n;
    if ((split->protocol == NPGNN_TRANSDUCTIVE) != !split->role || !split->role != !split->map)
        return npi_fail(err, NPGNN_E_MISMATCH, "the split's node roles do not fit its protocol");
    for (int32_t i = 0; split->role && i < split->graph->n; i++)
        known += split->role[i] == NPI_NODE_TRAIN;
    if (split->train->n != known)
        return npi_fail(err, NPGNN_E_MISMATCH, "the training graph has %d nodes instead of %d: held-out nodes leak",
                        split->train->n, known);
    return split->map ? check_map(split, err) : 0;
}

/* ---- training edges: all are edges of the complete graph ---- */

/* Both rows ascend, so one walk along them is enough. Returns a node that is linked in training only, or -1. */
static int32_t first_invented(const npgnn_split *split, int32_t node)
{
    const int32_t *known, *actual;
    int64_t known_count = npgnn_graph_neighbors(&known, split->train, node);
    int64_t actual_count = npgnn_graph_neighbors(&actual, split->graph, whole_node(split, node));
    int64_t p = 0;
    for (int64_t i = 0; i < known_count; i++) {
        int32_t neighbor = whole_node(split, known[i]);
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
        int32_t invented = first_invented(split, i);
        if (invented >= 0)
            return npi_fail(err, NPGNN_E_MISMATCH, "the training link %s is not a link of the graph",
                            describe(split->graph, (npgnn_pair){whole_node(split, i), invented}).text);
    }
    return 0;
}

/* ---- what is known when predicting: training's links and, in production, some of new nodes ---- */

/* NULL, or what is wrong with knowing a link besides those of training. */
static const char *fault_of_known(const npgnn_split *split, npgnn_pair pair)
{
    int u = split->role[pair.u], v = split->role[pair.v];
    if (!npgnn_graph_has_edge(split->graph, pair.u, pair.v))
        return "is not a link of the graph";
    if (u == NPI_NODE_TRAIN && v == NPI_NODE_TRAIN)
        return NULL; /* of training: counted */
    if (split->protocol != NPGNN_PRODUCTION)
        return "leaks: one of its nodes is held out";
    return u != v && u != NPI_NODE_TRAIN && v != NPI_NODE_TRAIN ? "joins a test node and a validation node" : NULL;
}

static int check_known(const npgnn_split *split, npgnn_error *err)
{
    const npgnn_graph *known = split->known;
    int64_t of_training = 0; /* in both directions */
    if (!known)
        return 0;
    for (int32_t u = 0; u < known->n; u++) {
        for (int64_t p = known->a.ptr[u]; p < known->a.ptr[u + 1]; p++) {
            npgnn_pair pair = {u, known->a.col[p]};
            const char *fault = fault_of_known(split, pair);
            if (fault)
                return npi_fail(err, NPGNN_E_MISMATCH, "the link %s, known when predicting, %s",
                                describe(split->graph, pair).text, fault);
            of_training += split->role[pair.u] == NPI_NODE_TRAIN && split->role[pair.v] == NPI_NODE_TRAIN;
        }
    }
    if (of_training != 2 * split->train->m)
        return npi_fail(err, NPGNN_E_MISMATCH, "what is known when predicting has other links among training nodes");
    return 0;
}

/* ---- held-out pairs, one by one ---- */

/* A held-out link of a protocol on nodes touches a node of its own set and none of the other one's; for hidden nodes, both
 * ends are of its set. */
static int roles_fit(const npgnn_split *split, int set, npgnn_pair pair)
{
    int own = set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL;
    int other = set == NPGNN_SET_TEST ? NPI_NODE_VAL : NPI_NODE_TEST;
    int u = split->role[pair.u], v = split->role[pair.v];
    if (split->protocol == NPGNN_INDUCTIVE_HIDDEN)
        return u == own && v == own;
    return (u == own || v == own) && u != other && v != other;
}

static const char *own_nodes(npgnn_protocol protocol, int set)
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
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s %s %d - %d is not a pair of two of the nodes 0 to %d",
                        set_name(set), what, pair.u, pair.v, graph->n - 1);
    if (npgnn_graph_has_edge(graph, pair.u, pair.v) != positive)
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s %s %s is %s the graph", set_name(set), what,
                        describe(graph, pair).text, positive ? "not in" : "a link of");
    int32_t u = train_node(split, pair.u), v = train_node(split, pair.v);
    if (u >= 0 && v >= 0 && npgnn_graph_has_edge(split->train, u, v))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s link %s leaks: it is also a training link", set_name(set),
                        describe(graph, pair).text);
    if (positive && split->role && !roles_fit(split, set, pair))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s link %s must %s, and none of the other held-out set",
                        set_name(set), describe(graph, pair).text, own_nodes(split->protocol, set));
    if (npgnn_graph_has_edge(npi_split_known(split), pair.u, pair.v))
        return npi_fail(err, NPGNN_E_MISMATCH, "the %s link %s leaks: it is known when predicting", set_name(set),
                        describe(graph, pair).text);
    return 0;
}

static int check_pairs(const npgnn_split *split, npgnn_error *err)
{
    int code = 0;
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; !code && i < split->count[set]; i++)
            code = check_pair(split, set, split->pairs[set][i], i < split->positives[set], err);
    return code;
}

/* ---- held-out pairs, against each other ---- */

/* A key in whose lowest bit the set is: node numbers have 31 bits, so there is room. */
static void add_keys(uint64_t *keys, const npgnn_pair *pairs, size_t count, int set)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = npi_pair_key(pairs[i]) << 1 | (uint64_t)set;
}

static int check_overlap(const npgnn_split *split, npgnn_error *err)
{
    size_t count = split->count[0] + split->count[1];
    int code = 0;
    uint64_t *keys = npi_resize(&split->env, NULL, count, 2 * sizeof *keys, err); /* with the sort's scratch */
    if (!keys)
        return NPGNN_E_MEMORY;
    add_keys(keys, split->pairs[0], split->count[0], 0);
    add_keys(keys + split->count[0], split->pairs[1], split->count[1], 1);
    npi_u64_sort(keys, keys + count, count);
    for (size_t i = 1; !code && i < count; i++)
        if (keys[i] >> 1 == keys[i - 1] >> 1)
            code = npi_fail(err, NPGNN_E_MISMATCH, "the pair %s occurs twice: in the %s set and in the %s set",
                            describe(split->graph, npi_pair_from_key(keys[i] >> 1)).text,
                            set_name((int)(keys[i - 1] & 1)), set_name((int)(keys[i] & 1)));
    npi_free(&split->env, keys);
    return code;
}

int npgnn_split_check(const npgnn_split *split, npgnn_error *err)
{
    int code = check_nodes(split, err);
    if (!code)
        code = check_train_edges(split, err);
    if (!code)
        code = check_pairs(split, err);
    if (!code)
        code = check_known(split, err);
    if (!code)
        code = check_overlap(split, err);
    return code;
}
