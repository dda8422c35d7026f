/* Labelled pairs of a graph, made of its own links: each link is hidden in turn, and its evidence is computed without it.
 *
 *   links   Hide a tenth of the links; compute the evidence of the hidden links, and of three times as many pairs
 *           without a link, on the links that are left; repeat with each tenth.
 *   nodes   Do the same with tenths of the nodes, which lose all their links: the hidden links, and three times as many
 *           other pairs that touch such nodes, are what the pairs of new nodes look like. If more than a tenth of the
 *           nodes of the graph are new, as large a share of them is hidden, up to a third: how often both ends of a pair
 *           are new depends on it.
 *
 * A node without links is new: its pairs are not examples (npi_known_pairs). Otherwise a graph with many new nodes would
 * teach that having no known links makes a non-link. Nor is a link hidden, or an example, that is the only one of an end
 * which is not hidden itself: it would teach that having no known links makes a link (graph/hold_out.h).
 *
 * Every pair belongs to a part, and a head that is fitted without a part has not seen the links of that part, in either
 * kind of fold. (z has seen a few of the first part.)
 *
 * Of a large graph some folds are enough. */
#ifndef NPI_EXAMPLES_FOLDS_H
#define NPI_EXAMPLES_FOLDS_H

#include "evidence/columns.h"
#include "graph/graph.h"

enum { NPI_FOLDS_PARTS = 10 };

/* What a non-link is for. */
typedef enum {
    NPI_EXTRA_NO,
    NPI_EXTRA_RANDOM, /* to calibrate on, never to learn from */
    NPI_EXTRA_NEAR    /* the same, and neither to judge by: drawn at the ends of walks (near.h) */
} npi_extra;

typedef struct npi_folds {
    npgnn_pair *pair; /* (count) */
    int has_features;
    int columns;            /* width of the evidence: NPI_COLUMNS or NPI_ALL_COLUMNS */
    float *evidence;        /* (count, columns), not standardised */
    unsigned char *is_link; /* (count) */
    unsigned char *part;    /* (count) 0 .. NPI_FOLDS_PARTS - 1 */
    unsigned char *extra;   /* (count) npi_extra */
    float *weight;          /* (count) of those to calibrate on: how many pairs each stands for, up to a factor */
    size_t count, capacity;
    size_t first_links, first_count; /* the first tenth of the links, with which the pairs begin: those, then its
                                        non-links */
    size_t new_from;                 /* the pairs of new nodes begin here */
    double new_share;                /* share of the pairs of the graph that touch a new node */
    double new_odds;                 /* odds that such a pair is linked next, against others (npi_new_odds), */
    int dated;                       /* 1: which the times of the links tell */
} npi_folds;

/* Whether a graph has enough links, and pairs without one, to hide some. */
int npi_folds_possible(const npgnn_graph *graph);

/* A function of graph and seed. If the nodes have features, the evidence has the columns of a projection too, which is
 * learnt anew for each fold, without its hidden links. 20 times the cost of npi_columns_new and of npi_project at most,
 * which the processes of env->comm divide by folds; all get all pairs. E_CANCELLED, E_MEMORY. */
int npi_folds_new(npi_folds *out, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err);
void npi_folds_free(const npgnn_env *env, npi_folds *folds);

#endif
