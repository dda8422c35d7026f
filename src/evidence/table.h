/* The columns of evidence as data. A column is a number for a pair of nodes that means the same in every graph. Most
 * are made from an inner product of two vectors, one per node: vectors of one kind, for all nodes, are a bank. Whatever
 * is done to all banks or all columns is a loop over the two tables of this file.
 *
 * Notation: F unit rows of the reduced features (reduced.h), d_i degrees, Â = D̃^-½ (A + I) D̃^-½ with D̃ = D + I,
 * u_i spectral coordinates with eigenvalues λ and scales s (spectral.h), lift_t walks (walks.h), q and u projections of
 * the features that are learnt from a graph's own links (features/projection.h), slog x = sign x log(1 + |x|). */
#ifndef NPI_EVIDENCE_TABLE_H
#define NPI_EVIDENCE_TABLE_H

#include "npgnn/npgnn.h"

/* ---- banks ---- */

/* Banks that are made, kept and released together; the columns that are computed from them. */
typedef enum npi_group {
    NPI_GROUP_SMOOTH,
    NPI_GROUP_MEANS,
    NPI_GROUP_BILINEAR,
    NPI_GROUP_RIDGE,
    NPI_FEATURE_GROUPS, /* those above need features; the last one is always kept */
    NPI_GROUP_STRUCTURE = NPI_FEATURE_GROUPS,
    NPI_GROUPS
} npi_group;

/* Numbers of a row. */
typedef enum npi_bank_width {
    NPI_WIDTH_REDUCED,  /* k, of the reduced features */
    NPI_WIDTH_SPECTRAL, /* d, of the spectral coordinates */
    NPI_WIDTH_FIRST16,  /* the first 16 of these */
    NPI_WIDTH_PROJECTION
} npi_bank_width;

/* How the rows are made from those of the source. */
typedef enum npi_bank_make {
    NPI_GIVEN,   /* they are there from the beginning */
    NPI_SMOOTH,  /* Â source */
    NPI_AVERAGE, /* the mean of the source over a node and its neighbours */
    NPI_KERNEL,  /* source K, K regressed on the links (regress.h) */
    NPI_REGIONS  /* source B, B regressed on the regions */
} npi_bank_make;

enum {
    NPI_BANK_UNIT = 1,     /* rows are made unit length; zeros stay zeros */
    NPI_BANK_CENTRED = 2,  /* cosines of row - μ are wanted, μ the mean of the rows that are not zero */
    NPI_BANK_MEASURED = 4, /* the lengths of its rows are wanted */
    NPI_BANK_LONG = 8      /* rows may be longer than 1 */
};

/* X(bank, width, group, make, source, flags, partner). Centred banks with a partner may be compared with it. */
#define NPI_BANK_LIST(X)                                                                                               \
    X(FEATURES, REDUCED, SMOOTH, GIVEN, NONE, NPI_BANK_CENTRED, SMOOTH1)                      /* F */                  \
    X(SMOOTH1, REDUCED, SMOOTH, SMOOTH, FEATURES, NPI_BANK_UNIT | NPI_BANK_CENTRED, FEATURES) /* Â F */               \
    X(SMOOTH2, REDUCED, SMOOTH, SMOOTH, SMOOTH1, NPI_BANK_UNIT | NPI_BANK_CENTRED, NONE)      /* Â² F */             \
    X(MEANS, REDUCED, MEANS, AVERAGE, FEATURES, 0, NONE)                                                               \
    X(BILINEAR_MEANS, REDUCED, MEANS, KERNEL, MEANS, NPI_BANK_LONG, NONE)                                              \
    X(BILINEAR, REDUCED, BILINEAR, KERNEL, FEATURES, NPI_BANK_LONG, NONE) /* F K */                                    \
    X(RIDGE, SPECTRAL, RIDGE, REGIONS, FEATURES, NPI_BANK_UNIT, NONE)     /* F B */                                    \
    X(REGION, SPECTRAL, STRUCTURE, GIVEN, NONE, 0, NONE)                  /* λ u, unit rows */                        \
    X(REGION16, FIRST16, STRUCTURE, GIVEN, NONE, NPI_BANK_MEASURED, NONE)                                              \
    X(COORDINATE, SPECTRAL, STRUCTURE, GIVEN, NONE, NPI_BANK_MEASURED, NONE) /* s u */                                 \
    X(PROJECTION, PROJECTION, STRUCTURE, GIVEN, NONE, NPI_BANK_LONG, NONE)   /* u */                                   \
    X(NEIGHBOR_PROJECTION, PROJECTION, STRUCTURE, GIVEN, NONE, 0, NONE)      /* q */                                   \
    X(SMOOTH_PROJECTION, PROJECTION, STRUCTURE, SMOOTH, NEIGHBOR_PROJECTION, NPI_BANK_LONG, NONE)

typedef enum npi_bank_id {
#define NPI_X(bank, ...) NPI_BANK_##bank,
    NPI_BANK_LIST(NPI_X) NPI_BANKS,
    NPI_BANK_NONE = NPI_BANKS
#undef NPI_X
} npi_bank_id;

typedef struct npi_bank_spec {
    npi_bank_width width;
    npi_group group;
    npi_bank_make make;
    npi_bank_id source;
    int flags;
    npi_bank_id partner;
} npi_bank_spec;

extern const npi_bank_spec npi_bank_specs[NPI_BANKS];

/* ---- columns ---- */

/* How a column of nodes u and v is computed from row a of its left bank and row b of its right one. */
typedef enum npi_operation {
    NPI_PRODUCT,   /* a · b */
    NPI_SLOG,      /* slog(a · b) */
    NPI_COSINE,    /* a · b / |a| |b| */
    NPI_CENTRED,   /* the same of a - μ and b - ν */
    NPI_STRUCTURE, /* from degrees and walks (structure.h) */
    NPI_OVERLAP,   /* from rows that are not reduced (tfidf.h); NPI_PRODUCT of the banks where there are none */
    NPI_PRESENCE   /* 1 if the graph has features, otherwise 0 */
} npi_operation;

/* What the terms of an inner product are multiplied by. */
typedef enum npi_weighting {
    NPI_PLAIN,      /* nothing */
    NPI_EIGENVALUE, /* 2m λ */
    NPI_RESOLVENT,  /* 2m / (1 - 0.9 λ) */
    NPI_WEIGHTINGS
} npi_weighting;

/* X(column, name, text, reason, operation, left, right, weighting). The name is that of JSON; the text completes the
 * sentence "these two nodes have ..."; columns with the same reason, which may say nearly the same, are explained
 * together. With two banks the column is the mean of a(u) with b(v) and a(v) with b(u), except where K, which is
 * symmetric, makes these equal. */
#define NPI_FEATURE_COLUMN_LIST(X)                                                                                     \
    X(FEATURES, "features", "similar features", FEATURES, PRODUCT, FEATURES, FEATURES, PLAIN)                          \
    X(SMOOTH1, "smooth1", "neighbourhoods with similar features", NEIGHBOR_FEATURES, PRODUCT, SMOOTH1, SMOOTH1, PLAIN) \
    X(SMOOTH2, "smooth2", "wider neighbourhoods with similar features", NEIGHBOR_FEATURES, PRODUCT, SMOOTH2, SMOOTH2,  \
      PLAIN)                                                                                                           \
    X(CENTRED1, "centred1", "neighbourhoods that differ alike", NEIGHBOR_FEATURES, CENTRED, SMOOTH1, SMOOTH1, PLAIN)   \
    X(CENTRED2, "centred2", "wider neighbourhoods that differ alike", NEIGHBOR_FEATURES, CENTRED, SMOOTH2, SMOOTH2,    \
      PLAIN)                                                                                                           \
    X(CROSS, "cross", "features like the other's neighbourhood", NEIGHBOR_FEATURES, CENTRED, FEATURES, SMOOTH1, PLAIN) \
    X(RIDGE, "ridge", "features that point to the same region", FEATURES, PRODUCT, RIDGE, RIDGE, PLAIN)                \
    X(CROSS_RIDGE, "cross_ridge", "features that point to the other's region", FEATURES, PRODUCT, RIDGE, REGION,       \
      PLAIN)                                                                                                           \
    X(BILINEAR, "bilinear", "features that go together", FEATURES, SLOG, BILINEAR, FEATURES, PLAIN) /* F_u K F_v */    \
    X(BILINEAR_MEANS, "bilinear_means", "neighbours whose features go together", NEIGHBOR_FEATURES, SLOG,              \
      BILINEAR_MEANS, MEANS, PLAIN)                                                                                    \
    X(MEANS, "means", "neighbours with similar features", NEIGHBOR_FEATURES, PRODUCT, MEANS, MEANS, PLAIN)
#define NPI_STRUCTURE_COLUMN_LIST(X)                                                                                   \
    /* log(1 + d_u) + log(1 + d_v), the magnitude of their difference, the smaller of the two */                       \
    X(DEGREE_SUM, "degree_sum", "many links", LINKS, STRUCTURE, NONE, NONE, PLAIN)                                     \
    X(DEGREE_DIFFERENCE, "degree_difference", "different numbers of links", LINKS, STRUCTURE, NONE, NONE, PLAIN)       \
    X(DEGREE_LEAST, "degree_least", "links on both sides", LINKS, STRUCTURE, NONE, NONE, PLAIN)                        \
    /* √ of the number of common neighbours; their number / size of the union */                                     \
    X(COMMON, "common", "neighbours in common", NEIGHBORS, STRUCTURE, NONE, NONE, PLAIN)                               \
    X(JACCARD, "jaccard", "a large share of neighbours in common", NEIGHBORS, STRUCTURE, NONE, NONE, PLAIN)            \
    /* log(1 + lift_t) */                                                                                              \
    X(LIFT2, "lift2", "short walks between them", NEIGHBORS, STRUCTURE, NONE, NONE, PLAIN)                             \
    X(LIFT3, "lift3", "three-step walks between them", WALKS, STRUCTURE, NONE, NONE, PLAIN)                            \
    X(LIFT4, "lift4", "four-step walks between them", WALKS, STRUCTURE, NONE, NONE, PLAIN)                             \
    X(REGION16, "region16", "the same large region", REGION, COSINE, REGION16, REGION16, PLAIN)                        \
    X(REGION64, "region64", "the same region", REGION, PRODUCT, REGION, REGION, PLAIN)                                 \
    X(SPECTRAL, "spectral", "links that the structure predicts", REGION, SLOG, COORDINATE, COORDINATE, EIGENVALUE)     \
    X(PAGERANK, "pagerank", "long walks between them", REGION, SLOG, COORDINATE, COORDINATE, RESOLVENT)                \
    X(HAS_FEATURES, "has_features", "features at all", FEATURES, PRESENCE, NONE, NONE, PLAIN)
/* And those that need the projections. OVERLAP: tf-idf rows that are not reduced. */
#define NPI_LEARNT_COLUMN_LIST(X)                                                                                      \
    X(PROJECTION, "projection", "features that go together here", FEATURES, PRODUCT, PROJECTION, PROJECTION, PLAIN)    \
    X(OVERLAP, "overlap", "features in common", FEATURES, OVERLAP, FEATURES, FEATURES, PLAIN)                          \
    X(PROJECTION_AROUND, "projection_around", "neighbours whose features go together here", NEIGHBOR_FEATURES,         \
      PRODUCT, SMOOTH_PROJECTION, SMOOTH_PROJECTION, PLAIN)

enum {
#define NPI_X(column, ...) NPI_COLUMN_##column,
    NPI_FEATURE_COLUMN_LIST(NPI_X) NPI_FEATURE_COLUMNS,
    NPI_COLUMN_BEFORE_STRUCTURE = NPI_FEATURE_COLUMNS - 1,
    NPI_STRUCTURE_COLUMN_LIST(NPI_X) NPI_COLUMNS, /* columns that every graph has */
    NPI_COLUMN_BEFORE_LEARNT = NPI_COLUMNS - 1,
    NPI_LEARNT_COLUMN_LIST(NPI_X) NPI_ALL_COLUMNS
#undef NPI_X
};

typedef struct npi_column_spec {
    const char *name, *text;
    npgnn_reason reason;
    npi_operation operation;
    npi_bank_id left, right;
    npi_weighting weighting;
} npi_column_spec;

extern const npi_column_spec npi_column_specs[NPI_ALL_COLUMNS];

/* ---- products ---- */

/* An inner product that columns are computed from, once however many there are. */
typedef struct npi_product {
    npi_bank_id left, right;
    npi_weighting weighting;
    npi_group group;
    int plane; /* place of the products with many nodes (rows.c): a column's number, or a scratch plane after them */
} npi_product;

enum {
#define NPI_X(bank, width, group, make, source, flags, partner) NPI_MAKE_OF_##bank = NPI_##make,
    NPI_BANK_LIST(NPI_X) NPI_MAKE_OF_NONE = NPI_GIVEN,
#undef NPI_X
/* 1 where a column is the mean of both directions, and so has a second product: not where one bank is the other
 * times K */
#define NPI_X(column, name, text, reason, operation, left, right, weighting)                                           \
    +((int)NPI_BANK_##left != (int)NPI_BANK_##right && (int)NPI_MAKE_OF_##left != (int)NPI_KERNEL)
    NPI_SCRATCH_PLANES = NPI_FEATURE_COLUMN_LIST(NPI_X) NPI_STRUCTURE_COLUMN_LIST(NPI_X) NPI_LEARNT_COLUMN_LIST(NPI_X),
#undef NPI_X
    NPI_PLANES = NPI_ALL_COLUMNS + NPI_SCRATCH_PLANES,
    NPI_MOST_PRODUCTS = NPI_PLANES
};

/* What is to be computed for a graph: the columns that it has, and the products that these need. */
typedef struct npi_plan {
    int columns;
    npi_operation operation[NPI_ALL_COLUMNS];
    int term[NPI_ALL_COLUMNS][2]; /* the products of a column, -1: none */
    npi_product product[NPI_MOST_PRODUCTS];
    int products;                                          /* those with the same right bank are next to each other */
    unsigned char is_left[NPI_BANKS], is_right[NPI_BANKS]; /* 1: some product has it there */
    /* what else of a right bank is read: products with its own mean, or that of its partner, and distances */
    unsigned char along[NPI_BANKS], cross[NPI_BANKS], distance[NPI_BANKS];
    int doubles, floats; /* how many of these there are */
} npi_plan;

/* has_overlap: 1 if tf-idf rows are at hand. */
void npi_plan_make(npi_plan *plan, int has_features, int has_projection, int has_overlap);

#endif
