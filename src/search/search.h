/* A search as its two parts see it: that of one process (top.c), and how several processes divide it (divided.c).
 *
 * Nodes that are searched meet candidates: all nodes or, where the evidence of a process is divided, those of this
 * process. Then the rows of searched nodes are fetched, a batch at a time (evidence/remote.h). Evidence, values and
 * lists are counted by places: of all nodes the nodes themselves, otherwise as visitors.h has them. */
#ifndef NPI_SEARCH_SEARCH_H
#define NPI_SEARCH_SEARCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/shortlist.h"
#include "evidence/remote.h"
#include "predict/predictor.h"

enum {
    NPI_MOST_BLOCK = 128, /* searched nodes that a thread takes at a time, at most */
    NPI_OWN_BOXES = 2,    /* that a search may make for its own nodes */
    NPI_MOST_BOXES = NPI_BOUND_BOXES + NPI_OWN_BOXES,
    NPI_LIST_LOCKS = 256 /* for the lists of all nodes */
};

/* What one thread works with. */
typedef struct npi_searcher {
    int32_t node[NPI_MOST_BLOCK];  /* the block's nodes, */
    int32_t place[NPI_MOST_BLOCK]; /* their places, */
    real *picked;                  /* (block, k) their embeddings, */
    real *value;        /* (block, candidates) their scores; with draws, the largest of each pair. Of a bounded */
    int32_t *candidate; /* (n) search, those of these nodes alone */
    double slack[NPI_MOST_BLOCK]; /* (block) and how far these may be from what they stand for */
    real *score;                  /* (block, n) of one draw of a network, with draws */
    /* of a process, instead of `picked` and `evidence`: */
    npi_columns_workspace columns;
    real *rows;  /* (columns, block, columns.range) evidence with a range of nodes */
    real *range; /* (block, columns.range) its scores; of a bounded search, or those of the queue */
    npi_head_workspace head;
    /* of a bounded search: */
    real *error;                    /* (columns.range) what rounding may add to the scores of a range */
    npi_pieces made[NPI_OWN_BOXES]; /* bounds of boxes around nodes of this search, where the head's are not close, */
    const npi_pieces
        *boxes[NPI_MOST_BOXES]; /* (box_count) the bounds to use: first what leaves over the fewest nodes, */
    int box_count;              /* 0: not chosen yet */
    int32_t *over;              /* (2 columns.range) those of a range, or of the queue, that a bound leaves over */
    int32_t *queue;             /* (2 columns.range) nodes that the bound of a box leaves over, */
    int queued;                 /* so many, */
    real *apart;                /* (2 columns.range) what rounding may add to their scores, */
    real *evidence;             /* (columns, queue_stride) and their evidence */
    unsigned char *scored;      /* (n) 1 for nodes that were scored before all others */
    real *most; /* (heads, block) what the rounding of a pair may add to its score, per unit of its reach */
    npi_shortlist list;
} npi_searcher;

/* A pair that may be among the best of a node: its other end, and what its score is at most and at
 * least. */
typedef struct npi_contender {
    int32_t node;
    real most, least;
} npi_contender;

/* Those of one node, where each pair is scored for both of its ends. */
typedef struct npi_contenders {
    npi_contender *items; /* (capacity) */
    int count, capacity;
    npi_shortlist sure; /* what the best scores are at least */
} npi_contenders;

typedef struct npi_mutual {
    int32_t places;         /* candidates, and visitors */
    npi_contenders *of;     /* (places) */
    npi_candidate *sure;    /* (places, k) of all of them */
    _Atomic(double) *least; /* (places) what the score of a pair must reach, at least, to be among the best of a node */
    pthread_mutex_t lock[NPI_LIST_LOCKS];
    atomic_int failed; /* memory is out */
} npi_mutual;

typedef struct npi_search {
    npgnn_predictor *p;
    npgnn_top_options options;
    int32_t n, rows;     /* nodes, and those at the first end */
    int32_t from, own;   /* the candidates: nodes from to from + own - 1 */
    int32_t begin, end;  /* rows to search now; where they are visitors, the first one is at place `own` */
    int32_t before;      /* rows that are done, for the caller's progress, */
    int32_t times;       /* and how many are done, in all processes, when this one has done one */
    int draws;           /* embeddings there are: at least 1 */
    real *drawn;         /* (draws, n, k) with draws of z; NULL: p->embedder.u */
    int averaged;        /* 1: predictions are averages over draws of z */
    double *reach;       /* (draws) the length of the longest embedding; of a process, the error of a score, */
    npi_slopes *slopes;  /* (draws) and how steep its head is */
    unsigned char *role; /* (n) */
    int links;           /* 1: the best of all pairs, each once; 0: the best of each node */
    double worst;        /* of all pairs: what the worst of the best, in all processes, is at least */
    int plain;           /* 1: values are scores; 0: of a process, what its scores cannot exceed */
    int bounded;         /* 1: one node is searched, and a bound of the head decides who is scored */
    int block, threads;
    npi_searcher *workspaces; /* (threads) */
    /* with links 0 */
    npgnn_link *out; /* (rows, k) */
    int32_t *found;  /* (rows) */
    int32_t k;
    npi_mutual *mutual; /* NULL: each node is searched by itself */
    /* where the evidence is divided */
    int divided;
    npi_remote visitors;
    int32_t *visiting;     /* (visitors.most) their nodes */
    npi_candidate *lists;  /* (rows of a batch, room) the best of each row among the candidates; id -1: none */
    npi_candidate *others; /* (processes, rows of a batch that are merged here, room) those of all processes */
    int room;              /* that a list has */
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

/* Runs over the rows begin to end - 1: each node by itself or, where pairs are scored for both ends, those of this
 * process with each other. E_CANCELLED, E_MEMORY. */
int npi_search_rows(const npi_search *search, npgnn_error *err);

/* Scores `count` nodes of d->node with the candidates begin to end - 1 for both ends; nodes that are candidates
 * themselves, with those that come after them. */
void npi_search_meet(const npi_search *search, npi_searcher *d, int count, int32_t begin, int32_t end);

/* Adds a pair to the list of the node at `place`: its other end, and what its score is from and to. */
void npi_search_contend(const npi_search *search, int32_t place, int32_t other, double least, double most);

/* Drops the contenders of a place that are beaten. */
void npi_search_drop(const npi_search *search, int32_t place);

/* What a pair is ordered by. A NaN is not in any list. */
npi_candidate npi_search_candidate(const npi_search *search, npgnn_pair pair, npgnn_prediction judged);

/* Writes a list, best first, as far as it is probable enough. judged (list->count): their predictions in the order of
 * the list; NULL: those of their scores. Returns how many that are. */
int32_t npi_search_write(npgnn_link *out, const npi_search *search, const npi_shortlist *sorted,
                         const npgnn_prediction *judged);

/* Tells the caller how many rows are done. E_CANCELLED. */
int npi_search_report(const npi_search *search, int64_t done, npgnn_error *err);

/* ---- of divided.c ---- */

/* Memory for visitors, and for the lists of a batch of rows. Not collective. */
int npi_divided_new(npi_search *search, npgnn_error *err);
void npi_divided_free(npi_search *search);

/* What follows is collective, and all return the same code. */

/* Runs over all rows, batch by batch. Of the best links, the lists of the threads then have those of this process; of
 * the best of each node, all processes have all results. */
int npi_divided_rows(npi_search *search, npgnn_error *err);

/* The best of every node, where each pair is scored once. */
int npi_divided_mutual(npi_search *search, npgnn_error *err);

/* Writes a list that all processes have. */
int npi_divided_write(npgnn_link *out, int32_t *found, const npi_search *search, npi_shortlist *list, npgnn_error *err);

#endif
