/* A search as its parts see it: the best of rows of searched nodes (search.c), each pair once for both of its ends
 * (mutual.c), and how several processes divide it (divided.c).
 *
 * Nodes that are searched meet candidates: all nodes or, where the evidence of a process is divided, those of this
 * process. Then the rows of searched nodes are fetched, a batch at a time (evidence/remote.h). Evidence, values and
 * lists are counted by places: of all nodes the nodes themselves, otherwise as remote.h has them. */
#ifndef NPI_SEARCH_SEARCH_H
#define NPI_SEARCH_SEARCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/shortlist.h"
#include "evidence/remote.h"
#include "search/scorer.h"

enum { NPI_LIST_LOCKS = 256 }; /* for the lists of all nodes */

/* Memory of one thread. */
typedef struct npi_searcher {
    npi_block block;
    void *workspace; /* the scorer's */
    npi_shortlist list;
    int32_t *candidate; /* (n) where the scorer narrows down: the nodes that block.value has values of */
} npi_searcher;

/* A pair that may be among the best of a node: its other end, and its score is from `least` to `most`. */
typedef struct npi_contender {
    int32_t node;
    real most, least;
} npi_contender;

/* The contenders of one node, where each pair is scored for both of its ends. */
typedef struct npi_contenders {
    npi_contender *items; /* (capacity) */
    int count, capacity;
    npi_shortlist sure; /* lower bounds of the best scores */
} npi_contenders;

typedef struct npi_mutual {
    int32_t places;         /* candidates, and remote nodes */
    npi_contenders *of;     /* (places) */
    npi_candidate *sure;    /* (places, k) of all of them */
    _Atomic(double) *least; /* (places) lower bound of the k-th best score of each node */
    pthread_mutex_t lock[NPI_LIST_LOCKS];
    atomic_int failed; /* 1: out of memory */
} npi_mutual;

/* Where the evidence is divided among processes. */
typedef struct npi_division {
    npi_remote remote;
    int32_t *visiting;     /* (remote.most) the remote nodes */
    npi_candidate *lists;  /* (rows of a batch, room) the best of each row among the candidates; id -1: none */
    npi_candidate *others; /* (processes, rows of a batch that are merged here, room) those of all processes */
    int room;              /* that a list has */
} npi_division;

typedef struct npi_search {
    npgnn_env env;               /* without comm */
    npgnn_comm *comm;            /* the processes that share the search; NULL: one */
    npi_calibration calibration; /* what scores mean */
    const npgnn_graph *graph;
    npgnn_predictor *p; /* NULL for a method without a model */
    npi_scorer scorer;
    npgnn_top_options options;
    int32_t n, rows;     /* nodes, and searched nodes */
    int32_t from, own;   /* the candidates: nodes from to from + own - 1 */
    int32_t begin, end;  /* rows to search now; where they are remote, the first one is at place `own` */
    int32_t before;      /* rows that are done, for the caller's progress */
    int32_t times;       /* rows done in all processes per row done in this one */
    int averaged;        /* 1: predictions are averages over draws of z */
    unsigned char *role; /* (n) */
    int by_candidates;   /* 1: each searched node meets candidates that are retrieved for it, not all nodes */
    int32_t checking;    /* rows of the search that this one checks; 0: none */
    int links;           /* 1: the best of all pairs, each once; 0: the best of each node */
    double worst;        /* with links: lower bound of the k-th best score, over all processes */
    int threads;
    npi_searcher *searchers; /* (threads) */
    npgnn_link *out;         /* (rows, k); with links (k) */
    int32_t *found;          /* (rows); with links (1) */
    int32_t k;
    npi_mutual *mutual; /* NULL: each node is searched by itself */
    int is_divided;     /* 1: the evidence is divided among processes */
    npi_division division;
} npi_search;

/* The node of a row. */
static inline int32_t npi_search_node(const npi_search *search, int32_t row)
{
    return search->options.from ? search->options.from[row] : row;
}

/* The pair of a candidate of a list. */
static inline npgnn_pair npi_search_pair(const npi_search *search, int64_t id)
{
    return (npgnn_pair){(int32_t)(id / search->n), (int32_t)(id % search->n)};
}

/* ---- of top.c ---- */

/* score (count, n): those of `count` different nodes with all nodes, at the mean of z, up to rounding what
 * npgnn_predictor_run gives; on all threads. For a predictor without draws. */
int npi_predictor_rows(float *score, npgnn_predictor *predictor, const int32_t *nodes, int32_t count, npgnn_error *err);

/* ---- of search.c ---- */

/* Prepares a search: `kind` has out, found, k and links. plain: 1 if values are wanted that are scores. Collective
 * where there are several processes. To be freed on failure, too. */
int npi_search_new(npi_search *out, npgnn_predictor *predictor, npi_search kind, int plain,
                   const npgnn_top_options *options, npgnn_error *err);

/* The same for a heuristic, a row per thread. */
int npi_search_new_heuristic(npi_search *out, const npi_heuristic *heuristic, npi_search kind,
                             const npgnn_top_options *options, const npgnn_env *env, npgnn_error *err);

/* Finds the best of each node, or of all pairs. Collective where there are several processes. */
int npi_search_run(npi_search *search, npgnn_error *err);

/* Memory of the threads, with lists of the best `room`. Not collective. */
int npi_search_allocate(npi_search *search, int room, npgnn_error *err);
void npi_search_free(npi_search *search);

/* Searches a block of rows from `first` on, each by itself. */
void npi_search_block(const npi_search *search, npi_searcher *searcher, int32_t first);

/* Whether the options ask for the pair; among the best links, a pair is eligible in one direction only. */
int npi_search_eligible(const npi_search *search, int32_t u, int32_t v);

/* The same without a look at the known links. */
int npi_search_asks(const npi_search *search, int32_t u, int32_t v);

/* The pair of a searched node u and a candidate v. The best links have each pair in one direction; where candidates are
 * retrieved, it may be found from either end. */
npgnn_pair npi_search_direct(const npi_search *search, int32_t u, int32_t v);

/* Least value with which a pair may still be better than the worst one that is kept, in this list or elsewhere. */
real npi_search_least_value(const npi_search *search, const npi_shortlist *list, double slack);

/* What a pair is ordered by. A NaN is not in any list. */
npi_candidate npi_search_candidate(const npi_search *search, npgnn_pair pair, npgnn_prediction judged);

/* Judges a pair and offers it to the list of a thread. Returns whether the worst that a full list keeps has changed. */
int npi_search_offer(const npi_search *search, npi_searcher *searcher, npgnn_pair pair, npgnn_pair place);

/* Writes a list, best first, as far as it is probable enough. judged (list->count): their predictions in the order of
 * the list; NULL: those of their scores. Returns how many that are. */
int32_t npi_search_write(npgnn_link *out, const npi_search *search, const npi_shortlist *sorted,
                         const npgnn_prediction *judged);

/* The same for the list of a thread, where nothing is divided. */
int32_t npi_search_write_list(npgnn_link *out, const npi_search *search, npi_searcher *searcher);

/* ---- of bands.c ---- */

/* Runs over the rows begin to end - 1: each node by itself or, where pairs are scored for both ends, those of this
 * process with each other. E_CANCELLED, E_MEMORY. */
int npi_search_rows(const npi_search *search, npgnn_error *err);

/* Tells the caller how many rows are done. E_CANCELLED. */
int npi_search_report(const npi_search *search, int64_t done, npgnn_error *err);

/* ---- of check.c ---- */

/* Candidates per node that a search of `rows` nodes retrieves; 0: none, all pairs are scored. E_ARGUMENT where the options
 * ask for candidates that this predictor has not. */
int npi_search_candidates(int32_t *out, const npgnn_predictor *predictor, int32_t rows,
                          const npgnn_top_options *options, npgnn_error *err);

/* Measures the recall of a search by candidates, and tells env.log. */
int npi_search_check(npgnn_search_info *out, npgnn_predictor *predictor, int32_t k, const npgnn_top_options *options,
                     npgnn_error *err);

/* ---- of mutual.c ---- */

/* Whether all nodes are searched for, in order, with all nodes as partners, by scores that are the same for both. */
int npi_mutual_applies(const npi_search *search);
int npi_mutual_new(npi_search *search, npgnn_error *err);
void npi_mutual_free(const npi_search *search);

/* A block of candidates, from `first` on, with all that come after them. */
void npi_mutual_block(const npi_search *search, npi_searcher *searcher, int32_t first);

/* Scores a block with the candidates begin to end - 1 for both ends; nodes that are candidates themselves, with those
 * that come after them. */
void npi_mutual_meet(const npi_search *search, npi_searcher *searcher, int32_t begin, int32_t end);

/* Adds a pair to the list of the node at `place`: its other end, and what its score is from and to. */
void npi_mutual_contend(const npi_search *search, int32_t place, int32_t other, double least, double most);

/* Drops the contenders of a place that are beaten. */
void npi_mutual_drop(const npi_search *search, int32_t place);

/* Judges the contenders of all nodes and writes their lists, where nothing is divided. */
void npi_mutual_decide(const npi_search *search);

/* ---- of divided.c ---- */

/* Memory for remote nodes, and for the lists of a batch of rows. Not collective. */
int npi_divided_new(npi_search *search, npgnn_error *err);
void npi_divided_free(npi_search *search);

/* What follows is collective, and all return the same code. */

/* Runs over all rows, batch by batch. Of the best links, the lists of the threads then have those of this process; of
 * the best of each node, all processes have all results. */
int npi_divided_rows(npi_search *search, npgnn_error *err);

/* The best of every node, where each pair is scored once (divided_mutual.c). */
int npi_divided_mutual(npi_search *search, npgnn_error *err);

/* Writes a list that all processes have. */
int npi_divided_write(npgnn_link *out, int32_t *found, const npi_search *search, npi_shortlist *list, npgnn_error *err);

#endif
