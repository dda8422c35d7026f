/* What the exact and the sampled all-pairs loss share: the workspace, the schedule and the tile. Numbers in brackets
 * are equations of docs/understand/pairs.md. */
#ifndef NPI_MODEL_PAIRS_TILES_H
#define NPI_MODEL_PAIRS_TILES_H

#include "linalg/kernels.h"
#include "model/pairs.h"

/* n nodes in `count` blocks of consecutive ones, their sizes as even as multiples of `unit` can be; the last may be
 * shorter. */
typedef struct npi_blocks {
    int32_t n, count, unit;
} npi_blocks;

struct npi_pairs {
    npgnn_env env;
    const npi_kernels *kernels;
    int k;
    npi_blocks blocks;
    int size;            /* of the largest block */
    int32_t rounds;      /* of the schedule that a sample consists of; 0: the exact loss */
    real *scratch;       /* per thread: a tile and, in a sample, four sides (size, k) */
    size_t tile_reals;   /* of a tile */
    size_t thread_reals; /* what one thread has */
    double *part;        /* (blocks.count) partial sums of the loss */
    int32_t *completed;  /* (blocks.count) rounds that each block has completed */
    /* of a sample only */
    double weight;        /* of a pair that is seen: the inverse of its chance to be, (P7) */
    int32_t *node, *pick; /* (n) the node in each slot; the choices of the shuffle */
    real *gram, *sum;     /* (k, k) UᵀU; (k) Σ_i u_i */
    real *gram_scratch;
    /* of a two-sided graph only */
    struct npi_side_pairs {
        npi_pairs *pairs; /* within the side; NULL: the side has no nodes, or the graph has no sides */
        int32_t *node;    /* (count) its nodes */
        real *u, *du;     /* (count, k) their rows */
        npi_csr no_edges; /* (count, count) */
        int32_t count;
    } inside[2];
};

/* f(s) = a softplus(s) - (c1 s + c2 s² / 2) */
typedef struct npi_term {
    double a, c1, c2;
} npi_term;

/* One call of npi_pairs_run as its steps want it. */
typedef struct npi_pairs_job {
    real *du;             /* (n, k) or NULL */
    const real *u;        /* (n, k) */
    const npi_csr *edges; /* both orders of each */
    npi_term edge, self;  /* what edges and pairs (i, i) have on top of softplus, (P2) */
    double mean_weight;   /* of the edges, where they have weights */
    double step;          /* 2 * scale * factor: takes the slope of an ordered pair's loss into du, (P4) */
    double c1, c2;        /* q(s) = c1 s + c2 s² / 2; zero when exact */
} npi_pairs_job;

/* The nodes on one side of a tile. */
typedef struct npi_side {
    real *du;      /* (rows, k) or NULL */
    const real *u; /* (rows, k) */
    int rows;
} npi_side;

int32_t npi_block_start(npi_blocks blocks, int32_t block);

/* The schedule: all pairs of different blocks as npi_schedule_rounds rounds of npi_schedule_tiles tiles each. Every
 * pair is in exactly one round, and no block is in two tiles of a round. npi_schedule_blocks gives the blocks of tile t
 * of a round; it returns 0 where the first block has no second one, which occurs once per round where the number of
 * blocks is odd. */
int32_t npi_schedule_rounds(npi_blocks blocks);
int32_t npi_schedule_tiles(npi_blocks blocks);
int npi_schedule_blocks(int32_t pair[2], npi_blocks blocks, int32_t round, int32_t t);

/* The blocks of one tile: two or, where there is no second one, one. */
typedef struct npi_tile_blocks {
    int32_t round, block[2];
    int blocks;
} npi_tile_blocks;

/* Computes a tile and returns its loss. During the call its blocks are the calling thread's alone. */
typedef double npi_tile_fn(npi_pairs *pairs, const npi_pairs_job *job, const npi_tile_blocks *tile);

/* Computes the tiles of the first `rounds` rounds on all threads and returns the sum of their losses. The tiles of a
 * block are computed in the order of the rounds, so that no bit depends on which thread computes what. */
double npi_pairs_run_rounds(npi_pairs *pairs, const npi_pairs_job *job, int32_t rounds, npi_tile_fn *compute);

/* S = U_a U_bᵀ and G = sigmoid(S) - q'(S): returns Σ softplus(S) - q(S), and gives dU_a = step G U_b + beta dU_a,
 * dU_b = step Gᵀ U_a + beta dU_b. A side's du may be NULL. s (a.rows, b.rows) becomes G. */
double npi_tile(real *s, npi_side a, npi_side b, int k, double c1, double c2, double step, real beta,
                const npi_kernels *kernels);

/* The calling thread's scratch. */
real *npi_pairs_scratch(const npi_pairs *pairs);

/* ---- the sampled mode ---- */

/* What a sample needs on top of the exact mode. */
int npi_sample_new(npi_pairs *pairs, npgnn_error *err);
void npi_sample_free(npi_pairs *pairs);

/* Fits q to U: sets c1 and c2 of the job, (P9). */
void npi_sample_fit(const npi_pairs *pairs, npi_pairs_job *job, uint64_t seed, uint32_t draw);

/* Σ_ij q(s_ij) over all n² pairs, exact. After it, npi_sample_gradient adds its gradient to some rows of dU. (P8) */
double npi_sample_quadratic(npi_pairs *pairs, const npi_pairs_job *job);
void npi_sample_gradient(const npi_pairs *pairs, const npi_pairs_job *job, int32_t row, int32_t row_end);

/* The estimate of Σ_(i != j) softplus(s_ij) - q(s_ij), (P7). */
double npi_sample_rest(npi_pairs *pairs, const npi_pairs_job *job, uint64_t seed, uint32_t draw);

#endif
