/* Non-links (negatives): pairs of nodes without an edge, drawn for the held-out sets. */
#ifndef NPI_GRAPH_NEGATIVE_H
#define NPI_GRAPH_NEGATIVE_H

#include "base/rng.h"
#include "graph/split.h"

/* Draws count[0] + count[1] different non-links of the graph, uniformly from all of them, into out[0] (count[0]) and
 * out[1] (count[1]), in any order and direction. A function of graph, counts and seed. E_ARGUMENT where the graph
 * has too few. O(m + count) expected time. */
int npi_graph_draw_non_links(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                             const npgnn_env *env, npgnn_error *err);

/* Which pairs of nodes with certain roles are candidates. */
typedef enum {
    NPI_PAIRS_OWN,        /* of two nodes with role `own` */
    NPI_PAIRS_TOUCHING,   /* these, and those of one such node and one training node */
    NPI_PAIRS_MIXED,      /* of one such node and one training node */
    NPI_PAIRS_OWN_SOURCE, /* the same in a two-sided graph, whose source is the node with role `own` */
    NPI_PAIRS_OWN_TARGET  /* the same, whose target is */
} npi_pair_kind;

typedef struct npi_candidate_pairs {
    const npgnn_graph *graph;
    const unsigned char *role; /* (n) NPI_NODE_* */
    unsigned char own;
    npi_pair_kind kind;
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

/* ---- the pairs that could be in a held-out set ---- */

/* A pair of a held-out set belongs to the class that says which of its ends are new: without known links (temporal), or
 * held out (protocols that hide nodes). In a one-sided graph "one end" is NPI_SOURCE_NEW. */
enum { NPI_NONE_NEW, NPI_SOURCE_NEW, NPI_TARGET_NEW, NPI_BOTH_NEW, NPI_PAIR_CLASSES };

/* The links of a set are the links of these pairs, and its non-links are drawn from the others, as many per class in
 * proportion to the links: nothing but the link tells them apart. */
typedef struct npi_population {
    const npgnn_graph *graph;
    const unsigned char
        *standing;     /* (n) NPI_NODE_*: training, or new in this set; others are in no pair. NULL: any pair,
                                      of class NPI_NONE_NEW, is in it */
    unsigned char own; /* the standing of new nodes */
    unsigned classes;  /* a bit for each class that is in the set */
} npi_population;

/* Whether a protocol draws non-links from a population. The others (NPGNN_RANDOM_LINKS, NPGNN_PAPER_*) draw them from all
 * pairs of the graph. */
int npi_protocol_has_population(npgnn_protocol protocol);

npi_population npi_population_make(const npgnn_graph *graph, const unsigned char *standing, npgnn_protocol protocol,
                                   npgnn_set set);

/* The class of a pair, -1 where it could not be in the set. */
int npi_population_class(const npi_population *population, npgnn_pair pair);

/* The pairs of a class. */
npi_candidate_pairs npi_population_pairs(const npi_population *population, int pair_class);

/* The number of non-links of a class. O(m). */
uint64_t npi_population_count_non_links(const npi_population *population, int pair_class);

/* Divides `total` among the classes in proportion to links (NPI_PAIR_CLASSES), rounded. */
void npi_population_share(size_t count[NPI_PAIR_CLASSES], const size_t links[NPI_PAIR_CLASSES], double total);

/* Draws `count` different non-links of a class, in random order. E_ARGUMENT where there are too few. */
int npi_population_draw(npgnn_pair *out, const npi_population *population, int pair_class, size_t count, npi_rng *rng,
                        const npgnn_env *env, npgnn_error *err);

/* The population of a set; standing is NULL where the protocol has none. */
npi_population npi_split_population(const npgnn_split *split, npgnn_set set);

/* The number of links of a held-out set in each class. */
void npi_split_count_classes(size_t links[NPI_PAIR_CLASSES], const npgnn_split *split, npgnn_set set);

/* ---- non-links of a split ---- */

/* The number of non-links among all pairs that could be in a held-out set. O(m). */
uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set);

/* The share of links that the non-links of a set stand for: the links of the set among its links and all non-links that
 * could be in it; where these have classes, the mean over the links of the share in the class of each. O(m). */
double npi_split_link_rate(const npgnn_split *split, npgnn_set set);

/* Draws at most *count further non-links, which are in neither held-out set, of the same kinds as the validation links:
 * from their population, otherwise from all pairs. *count becomes the number drawn. A function of the split. */
int npi_split_draw_non_links(npgnn_pair *out, size_t *count, const npgnn_split *split, const npgnn_env *env,
                             npgnn_error *err);

/* What the score "touches a node without known links" is worth on the test set: the shares of links and of non-links
 * that do. Its AUC is 1/2 + (links - non_links) / 2. NaN without test links. */
void npi_split_emptied(double *links, double *non_links, const npgnn_split *split);

/* Draws degree-matched non-links of the complete graph, for the test links of a split, into out (count): an end of one
 * random test link is paired with an end of another, so that the ends have the distribution that the ends of test links
 * have. Where the split holds out nodes, one end is a test node, as in a link. A pair may occur twice. Given the
 * degrees, links and these non-links are equally likely in a random graph (configuration model), which is not so for
 * ends in proportion to the known degree: those have one known link more than the ends of test links on average.
 * Returns how many were drawn: `count`, or fewer where nearly all such pairs are links. A function of the split. */
size_t npi_split_draw_matched(npgnn_pair *out, size_t count, const npgnn_split *split);

#endif
