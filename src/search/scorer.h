/* What a search needs of a model, or of anything else that scores pairs: approximate scores of a block of nodes with
 * many others and a bound of their error, and the exact judgement of a pair. The search decides by the former which
 * pairs are worth the latter. */
#ifndef NPI_SEARCH_SCORER_H
#define NPI_SEARCH_SCORER_H

#include "heuristics/heuristic.h"
#include "predict/predictor.h"
#include "search/clusters.h"

enum {
    NPI_MOST_BLOCK = 128, /* nodes that are scored together, at most */
    NPI_MODEL_BAND = 4    /* blocks of a model between two calls of progress */
};

/* A block of searched nodes and their approximate scores with candidates: the score of node r with candidate i is at
 * most value + slack_r and at least value - slack_r - along_r reach_i, reach_i of npi_scorer_reach. */
typedef struct npi_block {
    int count;
    int32_t node[NPI_MOST_BLOCK];
    int32_t place[NPI_MOST_BLOCK]; /* places of their rows: see search.h */
    real *value;                   /* (count, candidates) */
    double slack[NPI_MOST_BLOCK];
    double along[NPI_MOST_BLOCK];
} npi_block;

typedef struct npi_scorer npi_scorer;
struct npi_search;
struct npi_searcher;

/* What a scorer can do. */
typedef struct npi_scorer_kind {
    /* Memory of one thread. E_MEMORY: *out may hold a part of it, to be freed. */
    int (*workspace_new)(void **out, const npi_scorer *scorer, npgnn_error *err);
    void (*workspace_free)(void *workspace, const npi_scorer *scorer);

    /* Scores a block with the candidates begin to end - 1; NULL for a scorer that narrows down. On the calling thread
     * inside npi_blas_begin. A NaN stays. */
    void (*approximate)(npi_block *block, void *workspace, const npi_scorer *scorer, int32_t begin, int32_t end);

    /* The prediction of a pair as npgnn_predictor_run gives it, to the bit. */
    npgnn_prediction (*judge)(void *workspace, const npi_scorer *scorer, npgnn_pair pair, npgnn_pair place);

    /* NULL, or: finds the candidates of a single node that may be among its best without scoring all: candidate
     * (*count) of the searcher, with values and slack as above. Returns what a value must be, at least. */
    real (*narrow)(int32_t *count, struct npi_searcher *searcher, const struct npi_search *search);

    void (*free)(npi_scorer *scorer);
    int uses_blas; /* 1: approximate multiplies with BLAS */
} npi_scorer_kind;

struct npi_scorer {
    const npi_scorer_kind *kind;
    npgnn_predictor *p; /* NULL for a heuristic */
    int32_t candidates;
    int block;        /* nodes of a block */
    int band;         /* blocks that each thread takes between two calls of progress */
    int is_symmetric; /* 1: scores are the same in both directions, and ranges of candidates may be scored */
    /* used only by heuristics: */
    const npi_heuristic *heuristic;
    const npgnn_env *env;
    /* used only by networks, by draw of z: */
    real *drawn;     /* (draws, n, k) embeddings; NULL: those of the mean */
    double *longest; /* (draws) the length of the longest embedding */
    /* used only by processes, by head: */
    npi_slopes *slopes;
    double *score_error; /* how far a score from rows may be from that of a pair */
    /* used only where candidates are retrieved: */
    int32_t wanted;               /* candidates per searched node */
    const npi_clusters *clusters; /* of the nodes that may be candidates: those of the predictor, or: */
    npi_clusters own_clusters;
    int is_exact_value; /* 1: values are scores; 0: what scores cannot exceed, but for slack */
};

/* What a scorer is for. */
typedef struct npi_scorer_use {
    int32_t nodes;      /* number of nodes that are searched */
    int is_each_node;   /* 1: the best of each node are wanted; 0: the best of all pairs, or scores */
    int is_exact_value; /* as in the scorer */
    int32_t k;          /* wanted for each */
    int32_t candidates; /* to retrieve for each node; 0: all nodes are candidates */
    const int32_t *to;  /* (to_count) the nodes that may be candidates; NULL: all */
    int32_t to_count;
} npi_scorer_use;

/* The scorers of the kinds of models. */
int npi_network_scorer(npi_scorer *out, npgnn_predictor *predictor, const npi_scorer_use *use, npgnn_error *err);
int npi_process_scorer(npi_scorer *out, npgnn_predictor *predictor, const npi_scorer_use *use, npgnn_error *err);

/* A score without a probability. */
static inline npgnn_prediction npi_heuristic_prediction(float score)
{
    return (npgnn_prediction){NAN, NAN, NAN, NAN, score};
}

/* The scorer of a heuristic, where a score of 0 means that it has nothing to say of a pair. heuristic and env must outlive
 * it. */
void npi_heuristic_scorer(npi_scorer *out, const npi_heuristic *heuristic, const npgnn_env *env);

/* The scorer of a process for a single searched node, where npi_applied_prepare_bounds has been called. */
int npi_scorer_bounded(npi_scorer *out, npgnn_predictor *predictor, npgnn_error *err);

/* The scorer of a process that retrieves candidates (retrieve.h). */
int npi_scorer_retrieved(npi_scorer *out, npgnn_predictor *predictor, const npi_scorer_use *use, npgnn_error *err);

/* The reach of a candidate, or of a row after them: only processes have any. */
static inline double npi_scorer_reach(const npi_scorer *scorer, int32_t place)
{
    const float *reach = npi_columns_reach(&scorer->p->applied.columns);
    return reach ? (double)reach[place] : 0;
}

static inline void npi_scorer_free(npi_scorer *scorer)
{
    if (scorer->kind)
        scorer->kind->free(scorer);
}

/* ---- for the scorers of processes ---- */

/* First member of the workspaces of both scorers. */
typedef struct npi_process_workspace {
    npi_columns_workspace columns;
    real *evidence; /* (columns, block, columns.range) of a range of nodes */
    real *score;    /* (block, columns.range), twice for a bounded search */
    real *along;    /* (heads, block) what the rounding of a pair may add to its score, per unit of its reach */
} npi_process_workspace;

int npi_process_workspace_fill(npi_process_workspace *out, const npi_scorer *scorer, npgnn_error *err);
void npi_process_workspace_clear(npi_process_workspace *workspace, const npi_scorer *scorer);
npgnn_prediction npi_process_judge(void *workspace, const npi_scorer *scorer, npgnn_pair pair, npgnn_pair place);
void npi_process_scorer_free(npi_scorer *scorer);

#endif
