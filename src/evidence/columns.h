/* The evidence for a link between two nodes: a short row of numbers that mean the same in every graph. All of them
 * are computed from the known links and the features only, and are symmetric in the two nodes.
 *
 * Notation: d_i degree, F unit rows of the reduced features (reduced.h), Â = D̃^-½ (A + I) D̃^-½ with D̃ = D + I, u_i
 * spectral coordinates with eigenvalues λ (spectral.h), lift_t walks (walks.h), slog x = sign x log(1 + |x|). */
#ifndef NPI_EVIDENCE_COLUMNS_H
#define NPI_EVIDENCE_COLUMNS_H

#include <float.h>

#include "base/partition.h"
#include "evidence/reduced.h"
#include "evidence/spectral.h"
#include "evidence/walks.h"
#include "linalg/kernels.h"

/* X(name, text): the text completes the sentence "these two nodes have ...". The columns up to FEATURE_COLUMNS need
 * features. */
#define NPI_COLUMN_LIST(X)                                                                                             \
    X(FEATURES, "similar features")                          /* F_i · F_j */                                          \
    X(SMOOTH1, "neighbourhoods with similar features")       /* cos of rows of Â F */                                 \
    X(SMOOTH2, "wider neighbourhoods with similar features") /* cos of rows of Â² F */                               \
    X(CENTRED1, "neighbourhoods that differ alike")          /* the same two, rows centred on their mean */            \
    X(CENTRED2, "wider neighbourhoods that differ alike")                                                              \
    X(CROSS, "features like the other's neighbourhood")         /* centred F_i with centred (Â F)_j, and reversed */  \
    X(RIDGE, "features that point to the same region")          /* cos of regions predicted from features */           \
    X(CROSS_RIDGE, "features that point to the other's region") /* predicted with actual region, and reversed */       \
    X(BILINEAR, "features that go together")                    /* slog F_i K F_j, K regressed on the links */         \
    X(BILINEAR_MEANS, "neighbours whose features go together")  /* the same with means of F over neighbours */         \
    X(MEANS, "neighbours with similar features")                /* inner product of means of F over neighbours */      \
    X(DEGREE_SUM, "many links")                                 /* log(1 + d_i) + log(1 + d_j) */                      \
    X(DEGREE_DIFFERENCE, "different numbers of links")          /* | log(1 + d_i) - log(1 + d_j) | */                  \
    X(DEGREE_LEAST, "links on both sides")                      /* the smaller of the two */                           \
    X(COMMON, "neighbours in common")                           /* √ of their number */                              \
    X(JACCARD, "a large share of neighbours in common")         /* their number / size of the union */                 \
    X(LIFT2, "short walks between them")                        /* log(1 + lift_2) */                                  \
    X(LIFT3, "three-step walks between them")                                                                          \
    X(LIFT4, "four-step walks between them")                                                                           \
    X(REGION16, "the same large region") /* cos of λ u in 16 and in all dimensions */                                 \
    X(REGION64, "the same region")                                                                                     \
    X(SPECTRAL, "links that the structure predicts") /* slog 2m Σ λ s_i u_i s_j u_j */                               \
    X(PAGERANK, "long walks between them")           /* the same with 1 / (1 - 0.9 λ) */                              \
    X(HAS_FEATURES, "features at all")               /* 1 if the graph has features */

/* And those that need projections u and q of the features, which are learnt from the graph's own links. */
#define NPI_LEARNT_COLUMN_LIST(X)                                                                                      \
    X(PROJECTION, "features that go together here") /* u_i · u_j */                                                   \
    X(OVERLAP, "features in common") /* cos of tf-idf rows that are not reduced; FEATURES if they are not sparse */    \
    X(PROJECTION_AROUND, "neighbours whose features go together here") /* (Â q)_i · (Â q)_j */

enum {
#define NPI_X(name, text) NPI_COLUMN_##name,
    NPI_COLUMN_LIST(NPI_X) NPI_COLUMNS, /* of every graph */
    NPI_COLUMN_BEFORE_LEARNT = NPI_COLUMNS - 1,
    NPI_LEARNT_COLUMN_LIST(NPI_X) NPI_ALL_COLUMNS,
#undef NPI_X
    NPI_FEATURE_COLUMNS = NPI_COLUMN_DEGREE_SUM
};

/* What a column says, for people. */
const char *npi_column_text(int column);

/* A vector for every node and, for centred cosines, what is left of the mean μ of the rows that are not zero. */
typedef struct npi_bank {
    int width;
    real *row;       /* (r, width): of all n nodes, or of those of this process */
    real *mean;      /* (width) μ; NULL, as are the next two, unless the bank is centred */
    double *along;   /* (n) row · μ */
    float *distance; /* (n) |row - μ|; 0 for a row of zeros */
    double square;   /* μ · μ */
    /* after npi_columns_round: row_i ≈ unit_i rounded_i (rounded.c) */
    int8_t *rounded; /* (n, npi_short_width), in groups of rows as of npi_kernels.integer_products */
    float *unit;     /* (n) */
    float off;       /* the largest | row_i - unit_i rounded_i | / unit_i of all nodes */
} npi_bank;

/* along and distance of the rows first to last - 1, from the mean. */
void npi_bank_center(npi_bank *bank, int32_t first, int32_t last);

typedef struct npi_columns {
    npgnn_env env; /* of this process alone */
    const npi_csr *a;
    int32_t n;
    npi_partition rows; /* the nodes of this process, whose rows the banks have; all of them without others */
    int count;          /* of columns: NPI_COLUMNS or, with a projection, NPI_ALL_COLUMNS */
    int has_features;
    int kept;                    /* 1: the rows of all banks below are there; 0: npi_columns_pairs makes them */
    float *log_degree;           /* (n) log(1 + d) */
    double *inverse;             /* (n) 1 / d, 0 without links */
    int32_t *two_steps;          /* (n) see walks.h */
    npi_bank features;           /* F; its rows are borrowed */
    npi_csr exact, exact_t;      /* T and its transpose, borrowed; ptr NULL unless they are kept */
    const npi_features *exact_x; /* X, and the weights of its columns in T, borrowed: T row by row; */
    const double *exact_weight;  /* NULL unless T is needed */
    npi_bank smooth1, smooth2, means, ridge; /* see the table above */
    npi_bank bilinear, bilinear_means;       /* F K and (means of F) K */
    npi_bank projection, before_around;      /* u and q, whose rows are borrowed, */
    npi_bank projection_around;              /* and Â q */
    double *features_along, *smooth1_along;  /* (n) with the mean of the other bank, for CROSS, */
    double cross_square;                     /* and the inner product of the two means */
    npi_bank region;                         /* λ u, unit rows */
    npi_bank region16;                       /* their first 16 numbers; only rounded ones */
    float *length16;                         /* (r) their length */
    npi_bank coordinate;                     /* s u, */
    float *reach;                            /* (r) and its length */
    float spectral[NPI_SPECTRAL_WIDTH], pagerank[NPI_SPECTRAL_WIDTH]; /* weights of its columns, times 2m */
    /* how the rows of a further node are made (npi_columns_extend): */
    int32_t capacity;                 /* nodes that the arrays above have memory for */
    int is_rounded;                   /* 1: the banks have rounded rows */
    struct npi_spare *spare;          /* workspaces that nobody uses; NULL unless the rows are rounded */
    double value[NPI_SPECTRAL_WIDTH]; /* λ */
    double mean_degree;               /* d̄ of spectral.h */
    real *to_region, *to_bilinear; /* (k, width of a region), (k, k): ridge = F to_region, bilinear = F to_bilinear */
    /* what rounding depends on: the least distance from a mean, and the longest rows */
    double least_distance, longest_bilinear, longest_bilinear_means, longest_projection, longest_projection_around;
} npi_columns;

/* Prepares the evidence of known links `a`, features `reduced` and a projection of them (each NULL or of width 0: none),
 * which must outlive it. Features do not depend on links, so that several sets of links can share them; a projection
 * does. O(links + n) with a large constant. E_CANCELLED.
 *
 * With `keep`, the banks of the features are kept: about 580 n numbers of memory, with those of `reduced`, and 130 n
 * without features. Without it, only npi_columns_pairs may be called, which makes the banks, a few at a time, with
 * every call: about 330 n numbers. The same bits. For pairs that are all known at once, that takes no longer.
 *
 * The processes of env->comm, which have all been given the same links and made `reduced` and `projection` together,
 * divide the nodes: each one has, and keeps, its rows of every bank. npi_columns_pairs and npi_columns_complete are
 * collective then, and all processes return the same code from all three. */
int npi_columns_new(npi_columns *out, const npi_csr *a, const npi_reduced *reduced, const npi_reduced *projection,
                    int keep, const npgnn_env *env, npgnn_error *err);

/* Bytes that are kept for n nodes with these features. */
static inline size_t npi_columns_size(int32_t n, const npi_reduced *reduced)
{
    return (size_t)n * (7 * (size_t)reduced->width + 2 * NPI_SPECTRAL_WIDTH) * sizeof(real);
}

/* Makes the banks that were not kept, and T in `reduced` (NULL: no features). E_MEMORY: nothing that counts has
 * changed. */
int npi_columns_complete(npi_columns *columns, npi_reduced *reduced, npgnn_error *err);
void npi_columns_free(npi_columns *columns);

/* Follows a graph that has gained links and nodes: `a` replaces the links, and its nodes from columns->n on are new.
 * more_reduced and more_projection have their rows (npi_reduced_extend, npi_reduced_project; NULL where there are no
 * features, or no new nodes). `touched` (count) are the known nodes whose links have changed.
 *
 * Exact for all nodes: degrees, common neighbours, walks, and means of F over neighbours. Of new and touched nodes, the
 * other rows are computed from the rows of their neighbours: SMOOTH and Â q as defined; ridge and bilinear with the
 * regressions of the last npi_columns_new; and spectral coordinates by one product with M, λ u_i = (M u)_i. The rows of
 * all other nodes stay as they are.
 *
 * `reduced` and `projection`, whose rows the columns borrow, grow with them; T in more_reduced is taken over. E_MEMORY:
 * nothing has changed. O(links of the neighbours of touched nodes). */
int npi_columns_extend(npi_columns *columns, npi_reduced *reduced, npi_reduced *projection, const npi_csr *a,
                       npi_reduced *more_reduced, const npi_reduced *more_projection, const int32_t *touched,
                       int32_t count, npgnn_error *err);

/* Makes memory for at least n nodes: an eighth more than that, so that nodes that come one by one seldom move all
 * others. E_MEMORY. */
int npi_columns_reserve(npi_columns *columns, npi_reduced *reduced, npi_reduced *projection, int32_t n,
                        npgnn_error *err);

/* The same for the rows of the banks and what goes with them alone: for exactly so many. */
int npi_columns_reserve_rows(npi_columns *columns, npi_reduced *reduced, npi_reduced *projection, int32_t rows,
                             npgnn_error *err);

/* Computes what goes with the rows first to last - 1, which have just been written: lengths, distances from means. */
void npi_columns_measure(npi_columns *columns, int32_t first, int32_t last);

/* Prepares for many questions about one node, or a few pairs, each. Keeps the rows of all banks as 8-bit integers, too:
 * a quarter of the memory that they take, which is all that is read of most nodes when one node meets all others. And
 * keeps workspaces. E_MEMORY. */
int npi_columns_round(npi_columns *columns, npgnn_error *err);

/* Rounds the rows of nodes first to last - 1, after they have changed. */
void npi_columns_round_rows(npi_columns *columns, int32_t first, int32_t last);

/* Lets what rounding depends on take the rows of nodes first to last - 1 into account. */
void npi_columns_bound(npi_columns *columns, int32_t first, int32_t last);

/* Memory of one thread: for pairs and, with block > 0, for rows. */
typedef struct npi_columns_workspace {
    npi_walker walker;
    int32_t capacity;      /* nodes that it has memory for */
    int block;             /* nodes whose rows are computed together */
    const int32_t *nodes;  /* (count) those at hand, */
    const int32_t *places; /* (count) and where their rows are in the banks */
    int count;
    real *picked;  /* (block, widest bank) their vectors; of one node, several for several products */
    int range;     /* nodes that they meet at a time, at most */
    real *product; /* (2, block, range) */
    int16_t *left; /* (products, NPI_SHORT_WIDTH) of one node, the rounded left vectors of all products, */
    float *unit;   /* (products) their units, */
    /* (products, 2) and how much an error of a row counts: as it is, and over what a column divides by; of columns that
     * are slog of their product, as it is, and how far the product is off */
    float *error;
    double *listed;       /* (LISTED, range) numbers of the nodes of a list, gathered, */
    float *listed_floats; /* (LISTED_FLOATS, range) of both kinds */
    float *common;        /* (block, r) √ of the number of common neighbours, */
    float *jaccard;       /* (block, r) and its share of the union */
    double *lift;         /* (block, 3, r) */
    double *overlap;      /* (block, r), NULL unless the features are sparse */
} npi_columns_workspace;

int npi_columns_workspace_new(npi_columns_workspace *out, const npi_columns *columns, int block, npgnn_error *err);
void npi_columns_workspace_free(const npgnn_env *env, npi_columns_workspace *workspace);

/* The same for rounded columns, whose workspaces are kept for the next question: the memory of one is several numbers
 * per node. Safe for many threads at once, and while nobody extends the columns. A workspace may be given where taking
 * it has failed. */
int npi_columns_workspace_take(npi_columns_workspace *out, const npi_columns *columns, int block, npgnn_error *err);
void npi_columns_workspace_give(const npi_columns *columns, npi_columns_workspace *workspace);

/* value (count) of one pair, on the calling thread. The same bits for (u, v) as for (v, u). */
void npi_columns_pair(float *value, npi_columns_workspace *workspace, const npi_columns *columns, npgnn_pair pair);

/* The same where the rows of the two nodes are at these places in the banks: of one process, or one of several that
 * keeps its rows, and has fetched others (visitors.h). */
void npi_columns_pair_at(float *value, npi_columns_workspace *workspace, const npi_columns *columns, npgnn_pair pair,
                         npgnn_pair place);

/* Asks for what npi_columns_pair will read of a pair, which lies all over memory, so that it arrives while earlier
 * pairs are computed: to be called with ahead = NPI_AHEAD, ..., 2, 1, and with other work in between. First the rows of
 * the two nodes are asked for, then where the links of their neighbours are, then these links. */
void npi_columns_prefetch(const npi_columns *columns, npgnn_pair pair, int ahead);
enum { NPI_AHEAD = 3 };

/* rounding (count): how far a column of npi_columns_rows may be from that of npi_columns_pair, where inner products of
 * vectors of length 1 are off by at most `unit`: NPI_FLOAT_UNIT and, from rounded rows, NPI_ROUNDED_UNIT more. SPECTRAL
 * and PAGERANK are sums of large terms that may cancel: for the nodes of rows u and j, their rounding is larger by
 * npi_columns_rounding_along(u) reach_j. */
void npi_columns_rounding(double *rounding, const npi_columns *columns, double unit);
double npi_columns_rounding_along(const npi_columns *columns, int column, int32_t u, double unit);

/* A sum of w terms in single precision: w ε |a| |b|, twice. */
#define NPI_FLOAT_UNIT (2 * NPI_SPECTRAL_WIDTH * (double)FLT_EPSILON)

/* What the rounding of the left vector adds: 4 / 32767 of its length, times at most the length of a row with its own
 * error, 1.032. */
#define NPI_ROUNDED_UNIT 1.27e-4

/* value (pair_count, count) of many pairs, on all threads. Where nodes are divided among processes, each one gives pairs
 * of its own, as many as it likes. */
int npi_columns_pairs(float *value, const npi_columns *columns, const npgnn_pair *pairs, size_t pair_count,
                      npgnn_error *err);

/* One node with all others, or with all of this process: begin with up to `block` nodes, which must outlive the rows,
 * and the places of their rows in the banks (where nodes are not divided, the nodes themselves); then, for any range of
 * at most workspace->range rows of this process, value (columns, nodes, last - first): column by column, as products of
 * matrices give them. On the calling thread, inside npi_blas_begin. Up to rounding those of npi_columns_pair. */
void npi_columns_rows_begin(npi_columns_workspace *workspace, const npi_columns *columns, const int32_t *nodes,
                            const int32_t *places, int count);
void npi_columns_rows(real *value, npi_columns_workspace *workspace, const npi_columns *columns, int32_t first,
                      int32_t last);

/* The same for rounded rows of one node: npi_columns_rounded_begin after npi_columns_rows_begin, then any ranges whose
 * first node is a multiple of NPI_SHORT_GROUP. `weight` (count) says how much an error in each column counts: error
 * (last - first) is the weighted sum of what the integers may add to the errors of all columns, beyond
 * npi_columns_rounding with a unit of NPI_FLOAT_UNIT + NPI_ROUNDED_UNIT. */
void npi_columns_rounded_begin(npi_columns_workspace *workspace, const npi_columns *columns, const double *weight);
void npi_columns_rounded(real *value, real *error, npi_columns_workspace *workspace, const npi_columns *columns,
                         int32_t first, int32_t last);

/* And for a list of at most workspace->range nodes: value (columns, count), from the rows themselves. */
void npi_columns_list(real *value, npi_columns_workspace *workspace, const npi_columns *columns, const int32_t *list,
                      int count);

#endif
