/* Non-links (negatives): pairs of nodes without an edge, drawn for the held-out sets. */
#ifndef NPI_GRAPH_NEGATIVE_H
#define NPI_GRAPH_NEGATIVE_H

#include "graph/split.h"

/* Draws count[0] + count[1] different non-links of the graph, uniformly from all of them, into out[0] (count[0]) and
 * out[1] (count[1]), in any order and direction. A function of graph, counts and seed. E_ARGUMENT where the graph
 * has too few. O(m + count) expected time. */
int npi_graph_draw_non_links(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                             const npgnn_env *env, npgnn_error *err);

/* The candidate pairs of a held-out set: those of two nodes with role `own` and, where `with_training` is set, those
 * of one such node and one training node. */
typedef struct npi_candidate_pairs {
    const npgnn_graph *graph;
    const unsigned char *role; /* (n) NPI_NODE_* */
    unsigned char own;
    int with_training;
} npi_candidate_pairs;

/* The candidate pairs to learn from: those of two nodes that have links, or of any two where nodes have no features. A
 * node that is known by its features only is a new one: that its links are not known does not say that it has none.
 * role (n) is written and must outlive the result. */
npi_candidate_pairs npi_known_pairs(unsigned char *role, const npgnn_graph *graph);

/* The number of candidate pairs that are not edges. O(m). */
uint64_t npi_candidate_pairs_count_non_links(const npi_candidate_pairs *candidates);

/* Draws `count` different non-links, uniformly from the candidate pairs. E_ARGUMENT where there are too few. */
int npi_candidate_pairs_draw_non_links(npgnn_pair *out, const npi_candidate_pairs *candidates, size_t count,
                                       uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* Whether a protocol draws the non-links of each set from the candidate pairs of that set, which are the pairs that its
 * links are chosen from. The others draw them from all pairs of the graph: where no nodes are held out, these are the
 * same pairs; the authors' protocols (NPGNN_PAPER_*) do so although their links touch a new node. */
int npi_protocol_has_candidates(npgnn_protocol protocol);

/* The candidate pairs of a held-out set. For a split by nodes only. */
npi_candidate_pairs npi_split_candidates(const npgnn_split *split, npgnn_set set);

/* The number of non-links among all pairs that could be in a held-out set. O(m). */
uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set);

/* Draws at most *count further non-links, which are in neither held-out set, of the same kind as the validation links:
 * from the candidate pairs of the validation set where the split holds out nodes, otherwise from all pairs. *count
 * becomes the number drawn. A function of the split. */
int npi_split_draw_non_links(npgnn_pair *out, size_t *count, const npgnn_split *split, const npgnn_env *env,
                             npgnn_error *err);

/* Draws degree-matched non-links of the complete graph, for the test links of a split, into out (count): an end of one
 * random test link is paired with an end of another, so that the ends have the distribution that the ends of test links
 * have. Where the split holds out nodes, one end is a test node, as in a link. A pair may occur twice. Given the
 * degrees, links and these non-links are equally likely in a random graph (configuration model), which is not so for
 * ends in proportion to the known degree: those have one known link more than the ends of test links on average.
 * Returns how many were drawn: `count`, or fewer where nearly all such pairs are links. A function of the split. */
size_t npi_split_draw_matched(npgnn_pair *out, size_t count, const npgnn_split *split);

#endif
