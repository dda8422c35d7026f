/* A split of a graph into training, validation and test data. */
#ifndef NPI_GRAPH_SPLIT_H
#define NPI_GRAPH_SPLIT_H

#include "graph/graph.h"

/* The role of a node in a split by nodes. NPI_NODE_UNTESTED is no role but a standing, see below. */
enum { NPI_NODE_TRAIN, NPI_NODE_VAL, NPI_NODE_TEST, NPI_NODE_UNTESTED };

struct npgnn_split {
    npgnn_env env;
    const npgnn_graph *graph; /* the complete graph, which must outlive the split */
    npgnn_protocol protocol;
    npgnn_graph *train;
    npgnn_graph *known;  /* all nodes, and the edges known when predicting; NULL: the same as train */
    int32_t *map;        /* (train->n) node i of train is map[i] of the complete graph; NULL: the same nodes */
    unsigned char *role; /* (graph->n) NPI_NODE_*; NULL: all are training nodes */
    /* (graph->n) which held-out pairs a node can be in (graph/negative.h): the role of the node, or NPI_NODE_TEST for a
     * node that appears later (temporal); NPI_NODE_UNTESTED: in none. NULL: any node can be in any pair. */
    unsigned char *standing;
    npgnn_pair *pairs[2];          /* by npgnn_set: links, then non-links, each sorted */
    size_t count[2], positives[2]; /* by npgnn_set: all pairs, and the links among them */
    uint64_t hash;
};

/* The defaults of a protocol: negative shares, which npgnn_split_new replaces. */
npgnn_split_options npi_split_defaults(npgnn_protocol protocol);

/* The graph that a method may use when it predicts: all nodes, the training edges and, in the production protocol,
 * the known links of new nodes. */
const npgnn_graph *npi_split_known(const npgnn_split *split);

/* Whether a protocol holds out nodes, or links alone. */
int npi_protocol_hides_nodes(npgnn_protocol protocol);

/* Whether a node of a transductive split has training links and yet is in no held-out pair. */
int npi_split_is_set_aside(const npgnn_split *split, int32_t node);

/* Builds a split from its sets, and checks it for leaks (npgnn_split_check). Takes ownership of role and pairs[*],
 * also on failure. `edges` (u < v, ordered) are the training edges of a split by links. In
 * a split by nodes the training edges follow from the roles, and `edges` are additional ones that are known when
 * predicting. In a transductive split, `role` is NULL or marks nodes that have training links and yet are in no held-out
 * pair: NPI_NODE_UNTESTED, 0 for the others. */
int npi_split_assemble(npgnn_split **out, const npgnn_graph *graph, npgnn_protocol protocol, const npgnn_pair *edges,
                       int64_t edge_count, unsigned char *role, npgnn_pair *pairs[2], const size_t count[2],
                       const size_t positives[2], const npgnn_env *env, npgnn_error *err);

#endif
