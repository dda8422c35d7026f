/* Pairs of nodes that are not linked, for the held-out sets. */
#ifndef NPI_GRAPH_NEGATIVE_H
#define NPI_GRAPH_NEGATIVE_H

#include "graph/split.h"

/* count[0] + count[1] different non-edges of the graph, uniform over all of them, into out[0] and out[1] (which have that
 * room), in any order and direction. A function of the graph, the counts and the seed. E_ARGUMENT when the graph has
 * fewer non-edges. O(m + count) expected time. */
int npi_graph_draw_non_links(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                             const npgnn_env *env, npgnn_error *err);

/* A part of the pairs: those of two nodes with role `own`, and where `with_training` is set also those of one such node and
 * one with role NPI_NODE_TRAIN. */
typedef struct npi_candidate_pairs {
    const npgnn_graph *graph;
    const unsigned char *role; /* (n) */
    unsigned char own;
    int with_training;
} npi_candidate_pairs;

/* Whether a protocol draws the non-links of its sets from a field each, instead of from all pairs. */
int npi_protocol_has_candidates(npgnn_protocol protocol);

/* The field that the links of a held-out set are in, for a split by nodes. */
npi_candidate_pairs npi_split_candidates(const npgnn_split *split, npgnn_set set);

/* How many of all pairs that could be in a held-out set are no links. O(m). */
uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set);

/* Non-links besides those of the held-out sets, of all pairs or of the field of the validation set: at most *count, which becomes how
 * many there are. A function of the split. */
int npi_split_draw_non_links(npgnn_pair *out, size_t *count, const npgnn_split *split, int in_field,
                             const npgnn_env *env, npgnn_error *err);

/* How many pairs of the field are not edges. O(m). */
uint64_t npi_candidate_pairs_count_non_links(const npi_candidate_pairs *field);

/* `count` different non-edges of the field, uniform over all of them. E_ARGUMENT when there are fewer. */
int npi_candidate_pairs_draw_non_links(npgnn_pair *out, const npi_candidate_pairs *field, size_t count, uint64_t seed,
                                       const npgnn_env *env, npgnn_error *err);

#endif
