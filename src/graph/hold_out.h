/* Which links can be hidden such that a node without links does not betray them.
 *
 * In a graph that is read from a list of links, every node has one. If a node loses its only link, having none tells that
 * it has one to find, which is true of no pair that is ever predicted. So a link is hidden only if both ends keep one. */
#ifndef NPI_GRAPH_HOLD_OUT_H
#define NPI_GRAPH_HOLD_OUT_H

#include "graph/graph.h"

/* left (n): the number of links of each node. */
void npi_count_links(int32_t *left, const npgnn_graph *graph);

/* Hides edges (count), except those of nodes that would lose their last link: these get the role `bare`, and their edges are
 * moved behind the others. role (n) of nodes that keep a link, or have none to lose, stays. left (n): links of each node
 * that are not hidden. Returns how many edges are hidden. O(n + count).
 *
 * As for npi_draw_links, pairs of nodes that are not `bare` are all equally likely to be hidden links of a random graph. */
int64_t npi_hide_links(npgnn_pair *edges, int64_t count, unsigned char *role, unsigned char bare, int32_t *left,
                       int32_t n);

/* Chooses up to `wanted` links of a graph to hold out, such that their ends have nothing that tells them from the ends of
 * non-links. edges (m): all links, in random order. The first *drawn of them are drawn; a node all of whose links were
 * drawn is emptied (n: 1, others 0), and its links are not held out. Held-out are the drawn links without an emptied
 * end; their number is returned. left (n) is scratch. O(m).
 *
 * Why not pass over links one by one whose ends keep no other: what is passed over depends on what was hidden before. In
 * random graphs, the degree alone then tells held-out links from non-links (AUC 51 to 52 at a mean degree of 3 to 1).
 * Here, exchange a held-out link of a random graph for any other pair of nodes that are not emptied: the same links
 * are drawn and the same nodes emptied at every step. So given the other links, all such pairs are equally likely to be
 * held out, and no score of them has an AUC other than 1/2. */
int64_t npi_draw_links(int64_t *drawn, unsigned char *emptied, int32_t *left, const npgnn_graph *graph,
                       const npgnn_pair *edges, int64_t wanted);

#endif
