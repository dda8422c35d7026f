/* The evidence for a link between two nodes: a short row of numbers, the columns of table.h. All of them are computed
 * from the known links and the features only, and are symmetric in the two nodes.
 *
 * columns.c prepares the evidence of a graph, workspace.c the memory of a thread, pair.c and batch.c compute pairs,
 * rows.c one node against many; rounding.c makes the latter quick, grow.c follows a graph that grows. */
#ifndef NPI_EVIDENCE_COLUMNS_H
#define NPI_EVIDENCE_COLUMNS_H

#include <float.h>

#include "evidence/bank.h"
#include "evidence/reduced.h"
#include "evidence/spectral.h"
#include "evidence/vicinity.h"
#include "evidence/walks.h"
#include "linalg/kernels.h"

typedef struct npi_columns {
    npgnn_env env; /* without comm: every call is of this process alone */
    const npi_csr *a;
    int32_t n;
    npi_partition rows; /* the nodes of this process, whose rows the banks have; all of them without others */
    int has_features;
    int kept; /* 1: the rows of all banks are there; 0: npi_columns_pairs makes those of the features */
    npi_plan plan;
    npi_bank bank[NPI_BANKS];
    npi_view view;                     /* pointers into the banks; made again whenever their memory moves */
    npi_reduced *reduced, *projection; /* whose rows some banks borrow; NULL or width 0: none */
    /* numbers of nodes that are not divided among processes: */
    float *log_degree;                                /* (n) log(1 + d) */
    double *inverse;                                  /* (n) 1 / d, 0 without links */
    int32_t *two_steps;                               /* (n) see walks.h */
    float weight[NPI_WEIGHTINGS][NPI_SPECTRAL_WIDTH]; /* 2m λ, 2m / (1 - 0.9 λ) */
    double least_distance;                            /* the smallest distance of a row from its mean */
    /* what the rows of a further node are made with (npi_columns_extend): */
    double value[NPI_SPECTRAL_WIDTH]; /* λ */
    double mean_degree;               /* d̄ of spectral.h */
    real *to_region, *kernel;         /* (k, d) B and (k, k) K of regress.h */
    int32_t capacity;                 /* nodes that the arrays above have memory for */
    int is_rounded;                   /* 1: the banks have rounded rows */
    struct npi_spare *spare;          /* unused workspaces, kept for the next question; NULL unless rows are rounded */
} npi_columns;

/* Prepares the evidence of known links `a`, features `reduced` and a projection of them (each NULL or of width 0:
 * none), which must outlive it. Features do not depend on links, so that several sets of links can share them; a
 * projection does. O(links + n) with a large constant. E_CANCELLED.
 *
 * With `keep`, the banks of the features are kept: about 580 n numbers of memory, with those of `reduced`, and 130 n
 * without features. Without it, only npi_columns_pairs may be called, which makes the banks, a few at a time, with
 * every call: about 330 n numbers. The same bits. For pairs that are all known at once, that takes no longer.
 *
 * The processes of env->comm, which have all been given the same links and made `reduced` and `projection` together,
 * divide the nodes: each one has, and keeps, its rows of every bank. npi_columns_pairs and npi_columns_complete are
 * collective then, and all processes return the same code from all three. */
int npi_columns_new(npi_columns *out, const npi_csr *a, npi_reduced *reduced, npi_reduced *projection, int keep,
                    const npgnn_env *env, npgnn_error *err);

/* Bytes that are kept for n nodes with these features. */
static inline size_t npi_columns_size(int32_t n, const npi_reduced *reduced)
{
    return (size_t)n * (7 * (size_t)reduced->width + 2 * NPI_SPECTRAL_WIDTH) * sizeof(real);
}

/* Makes the banks that were not kept, and keeps tf-idf rows. E_MEMORY: the columns are as useful as before. */
int npi_columns_complete(npi_columns *columns, npgnn_error *err);
void npi_columns_free(npi_columns *columns);

/* Makes the banks of a group from those of the columns that are there; `links` are those of columns->a. Collective,
 * with the same code for all processes. */
int npi_columns_make_group(npi_bank banks[NPI_BANKS], const npi_columns *columns, npi_group group, npi_spread *links,
                           npgnn_error *err);

/* Numbers of the widest row of all banks. */
int npi_columns_widest(const npi_columns *columns);

/* Length of the spectral coordinates of each row: see npi_columns_rounding. */
static inline const float *npi_columns_reach(const npi_columns *columns)
{
    return columns->bank[NPI_BANK_COORDINATE].distance;
}

/* ---- a graph that grows (grow.c) ---- */

/* Follows a graph that has gained links and nodes: `a` replaces the links, and its nodes from columns->n on are new.
 * more_reduced and more_projection have their rows (npi_reduced_extend, npi_reduced_project; NULL where there are no
 * features, or no new nodes). `touched` (count) are the known nodes whose links have changed.
 *
 * Exact for all nodes: degrees, common neighbours, walks, and means of F over neighbours. Of new and touched nodes, the
 * other rows are computed from the rows of their neighbours: smooth banks as defined; ridge and bilinear with the
 * regressions of the last npi_columns_new; and spectral coordinates by one product with M, λ u_i = (M u)_i. The rows of
 * all other nodes stay as they are.
 *
 * The rows that the columns borrow grow with them; tf-idf rows of more_reduced are taken over. E_MEMORY: nothing has
 * changed. O(links of the neighbours of touched nodes). */
int npi_columns_extend(npi_columns *columns, const npi_csr *a, npi_reduced *more_reduced,
                       const npi_reduced *more_projection, const int32_t *touched, int32_t count, npgnn_error *err);

/* Makes memory for at least n nodes: an eighth more than that, so that nodes that come one by one seldom move all
 * others. E_MEMORY. */
int npi_columns_reserve(npi_columns *columns, int32_t n, npgnn_error *err);

/* The same for the rows of the banks and what goes with them alone: for exactly so many. */
int npi_columns_reserve_rows(npi_columns *columns, int32_t rows, npgnn_error *err);

/* Computes lengths and distances from means of rows first to last - 1, which have just been written. */
void npi_columns_measure(npi_columns *columns, int32_t first, int32_t last);

/* Lets the bounds that rounding depends on take the rows of nodes first to last - 1 into account. */
void npi_columns_bound(npi_columns *columns, int32_t first, int32_t last);

/* ---- the memory of one thread (workspace.c) ---- */

enum { NPI_ONE_RANGE = 256 }; /* nodes that a single node meets at a time: their rows of one bank stay in a cache */

typedef struct npi_columns_workspace {
    npi_walker walker;
    int32_t capacity;      /* nodes that it has memory for */
    int block;             /* nodes whose rows are computed together; 0: for pairs alone */
    const int32_t *nodes;  /* (count) the nodes that npi_columns_rows_begin was given, */
    const int32_t *places; /* (count) and where their rows are in the banks */
    int count;
    int range;       /* nodes that they meet at a time, at most */
    real *picked;    /* (block, widest bank) left vectors; of a single node, those of several products */
    real *scratch;   /* (NPI_SCRATCH_PLANES, block, range) */
    int16_t *left;   /* (products, NPI_SHORT_WIDTH) rounded left vectors of a single node, */
    float *unit;     /* (products) and their units */
    float *error;    /* (products, 2) see npi_columns_rounded_begin */
    double *doubles; /* (plan.doubles + NPI_WALK_LIFTS + 1, range) numbers of the nodes of a list, gathered, */
    float *floats;   /* (plan.floats + 3, range) the same in single precision */
    float *common;   /* (block, r) √ of the number of common neighbours */
    float *jaccard;  /* (block, r) their share of the union */
    double *lift;    /* (block, NPI_WALK_LIFTS, r) */
    double *overlap; /* (block, r); NULL without tf-idf rows */
} npi_columns_workspace;

int npi_columns_workspace_new(npi_columns_workspace *out, const npi_columns *columns, int block, npgnn_error *err);
void npi_columns_workspace_free(const npgnn_env *env, npi_columns_workspace *workspace);

/* The same for rounded columns, whose workspaces are kept for the next question: the memory of one is several numbers
 * per node. Safe for many threads at once, and while nobody extends the columns. A workspace may be given where taking
 * it has failed. */
int npi_columns_workspace_take(npi_columns_workspace *out, const npi_columns *columns, int block, npgnn_error *err);
void npi_columns_workspace_give(const npi_columns *columns, npi_columns_workspace *workspace);

/* The workspaces that are kept: none at first. */
int npi_spare_new(struct npi_spare **out, const npgnn_env *env, npgnn_error *err);
void npi_spare_free(const npgnn_env *env, struct npi_spare *spare);

/* ---- pairs (pair.c, batch.c) ---- */

/* value (plan.columns) of one pair, on the calling thread. The same bits for (u, v) as for (v, u). */
void npi_columns_pair(float *value, npi_columns_workspace *workspace, const npi_columns *columns, npgnn_pair pair);

/* The same where the rows of the two nodes are at these places in the banks: of one process, or one of several that
 * keeps its rows, and has fetched others (remote.h). */
void npi_columns_pair_at(float *value, npi_columns_workspace *workspace, const npi_columns *columns, npgnn_pair pair,
                         npgnn_pair place);

/* The columns of some groups (bits 1 << group) from these rows. Those of features come before the others. */
void npi_columns_pair_groups(float *value, npi_columns_workspace *workspace, const npi_columns *columns,
                             const npi_view *view, npgnn_pair pair, npgnn_pair place, unsigned groups);

/* Asks for what npi_columns_pair will read of a pair, which lies all over memory, so that it arrives while earlier
 * pairs are computed: to be called with ahead = NPI_AHEAD, ..., 2, 1, and with other work in between. First the rows of
 * the two nodes are asked for, then where the links of their neighbours are, then these links. */
void npi_columns_prefetch(const npi_columns *columns, const npi_view *view, npgnn_pair pair, npgnn_pair place,
                          int ahead);
enum { NPI_AHEAD = 3 };

/* value (pair_count, plan.columns) of many pairs, on `threads` threads. Where nodes are divided among processes, each
 * one gives pairs of its own, as many as it likes. */
int npi_columns_pairs(float *value, const npi_columns *columns, const npgnn_pair *pairs, size_t pair_count, int threads,
                      npgnn_error *err);

/* ---- one node with many (rows.c) ---- */

/* One node with all others, or with all of this process: begin with up to `block` nodes, which must outlive the rows,
 * and the places of their rows in the banks (where nodes are not divided, the nodes themselves); then, for any range of
 * at most workspace->range rows of this process, value (columns, nodes, last - first): column by column, as products of
 * matrices give them. On the calling thread, inside npi_blas_begin. Up to rounding those of npi_columns_pair. */
void npi_columns_rows_begin(npi_columns_workspace *workspace, const npi_columns *columns, const int32_t *nodes,
                            const int32_t *places, int count);
void npi_columns_rows(real *value, npi_columns_workspace *workspace, const npi_columns *columns, int32_t first,
                      int32_t last);

/* For a single node and a list of at most workspace->range nodes: value (columns, count), from the rows themselves. */
void npi_columns_list(real *value, npi_columns_workspace *workspace, const npi_columns *columns, const int32_t *list,
                      int count);

/* The same without npi_columns_rows_begin, with walks from the vicinity of the node. */
void npi_columns_near(real *value, npi_columns_workspace *workspace, const npi_columns *columns,
                      const npi_vicinity *near, const int32_t *list, int count);

/* ---- how far rows may be from pairs, and a quick first look (rounding.c) ---- */

/* rounding (plan.columns): how far a column of npi_columns_rows may be from that of npi_columns_pair, where inner
 * products of vectors of length 1 are off by at most `unit`: NPI_FLOAT_UNIT and, from rounded rows, NPI_ROUNDED_UNIT
 * more. Weighted products are sums of large terms that may cancel: for the nodes of rows u and j, the rounding of such
 * a column is larger by npi_columns_rounding_along(u) reach_j. */
void npi_columns_rounding(double *rounding, const npi_columns *columns, double unit);
double npi_columns_rounding_along(const npi_columns *columns, int column, int32_t u, double unit);

/* A sum of w terms in single precision: w ε |a| |b|, twice. */
#define NPI_FLOAT_UNIT (2 * NPI_SPECTRAL_WIDTH * (double)FLT_EPSILON)

/* What the rounding of the left vector adds: 4 / 32767 of its length, times at most the length of a row with its own
 * error, 1.032. */
#define NPI_ROUNDED_UNIT 1.27e-4

/* Builds the caches for quick questions about single nodes: the rows of all right banks as 8-bit integers, which take a
 * quarter of the memory and are all that is read of most nodes when one node meets all others; and workspaces that are
 * kept. E_MEMORY. */
int npi_columns_round(npi_columns *columns, npgnn_error *err);

/* Memory for the rounded rows of `capacity` nodes. */
int npi_columns_reserve_rounded(npi_columns *columns, int32_t capacity, npgnn_error *err);

/* Rounds the rows of nodes first to last - 1, after they have changed. */
void npi_columns_round_rows(npi_columns *columns, int32_t first, int32_t last);

/* npi_columns_rows of one node from rounded rows: npi_columns_rounded_begin after npi_columns_rows_begin, then any
 * ranges whose first node is a multiple of NPI_SHORT_GROUP. `weight` (plan.columns) says how much an error in each
 * column counts: error (last - first) is the weighted sum of what the integers may add to the errors of all columns,
 * beyond npi_columns_rounding with a unit of NPI_FLOAT_UNIT + NPI_ROUNDED_UNIT. */
void npi_columns_rounded_begin(npi_columns_workspace *workspace, const npi_columns *columns, const double *weight);
void npi_columns_rounded(real *value, real *error, npi_columns_workspace *workspace, const npi_columns *columns,
                         int32_t first, int32_t last);

#endif
