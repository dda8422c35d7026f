/* What the exact and the sampled all-pairs loss share: the workspace, the schedule and the tile. Numbers in brackets
 * are equations of docs/understand/pairs.md. */
#ifndef NPI_MODEL_PAIRS_TILES_H
#define NPI_MODEL_PAIRS_TILES_H

#include "linalg/kernels.h"
#include "model/pairs.h"

/* n slots of a sample in `count` blocks of consecutive ones, their sizes as even as can be. */
typedef struct npi_blocks {
    int32_t n, count;
} npi_blocks;

struct npi_pairs {
    npgnn_env env;
    const npi_kernels *kernels;
    int k;
    npi_partition rows;
    int32_t own_blocks;  /* blocks of nodes of this process */
    int32_t rounds;      /* of the schedule that a sample consists of; 0: the exact loss */
    real *scratch;       /* per thread: a tile and, in a sample, four sides (size, k) */
    size_t tile_reals;   /* of a tile */
    size_t thread_reals; /* what one thread has */
    double *part;        /* (own_blocks) partial sums of the loss */
    /* of the exact loss only */
    int32_t *completed;                 /* (own_blocks) distances that each block has completed, and 1 */
    real *away;                         /* (rows of this process, k) what other blocks' tiles add to dU */
    real *visitor[2], *visitor_away[2]; /* (most rows of a process, k) of another process; NULL where there is none */
    /* of a sample only */
    npi_blocks blocks;      /* of slots */
    int size;               /* of the largest of them */
    int32_t tile, tile_end; /* of each round, those of this process */
    double *tile_loss;      /* (tile_end - tile, rounds) */
    double weight;          /* of a pair that is seen: the inverse of its chance to be, (P7) */
    int32_t *node, *pick;   /* (n) the node in each slot; the choices of the shuffle */
    real *gram;             /* (k + 1, k) UᵀU and Σ_i u_i */
    real *gram_scratch;
    struct npi_sample_fetch *fetch; /* rows of other processes; NULL where there is none */
    /* of a two-sided graph only */
    struct npi_side_pairs {
        npi_pairs *pairs; /* within the side; NULL: the side has no nodes, or the graph has no sides */
        int32_t *node;    /* (count) its nodes */
        real *u, *du;     /* (count, k) their rows */
        npi_adj no_edges; /* (count, count) */
        int32_t count;
    } inside[2];
};

/* f(s) = a softplus(s) - (c1 s + c2 s² / 2) */
typedef struct npi_term {
    double a, c1, c2;
} npi_term;

/* One call of npi_pairs_run as its steps want it. */
typedef struct npi_pairs_job {
    real *du;             /* (rows of this process, k) or NULL */
    const real *u;        /* (rows of this process, k) */
    const npi_adj *edges; /* both orders of each; their halo has U */
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

/* The schedule of a sample: all pairs of different blocks as npi_schedule_rounds rounds of npi_schedule_tiles tiles
 * each. Every pair is in exactly one round, and no block is in two tiles of a round. The number of blocks is even. */
int32_t npi_schedule_rounds(npi_blocks blocks);
int32_t npi_schedule_tiles(npi_blocks blocks);
void npi_schedule_blocks(int32_t pair[2], npi_blocks blocks, int32_t round, int32_t t);

/* Σ softplus(S) over all tiles, exact (P4, P5); dU, where the job has one, gets its gradient. `alone` computes what a
 * block has on its own: its pairs with itself, and known pairs. */
typedef double npi_block_fn(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block);
double npi_ring_run(npi_pairs *pairs, const npi_pairs_job *job, npi_block_fn *alone);

/* What the exact loss needs on top of the workspace. */
int npi_ring_new(npi_pairs *pairs, npgnn_error *err);
void npi_ring_free(npi_pairs *pairs);

/* The rows of a block of this process, counted from its first. */
npi_side npi_block_side(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block);

/* Σ_i values[i] over those of all processes, in order. */
double npi_pairs_sum(const npi_pairs *pairs, const double *values, int64_t count);

/* S = U_a U_bᵀ and G = sigmoid(S) - q'(S): returns Σ softplus(S) - q(S), and gives dU_a = step G U_b + beta dU_a,
 * dU_b = step Gᵀ U_a + beta dU_b. A side's du may be NULL. s (a.rows, b.rows) becomes G. */
double npi_tile(real *s, npi_side a, npi_side b, int k, double c1, double c2, double step, real beta,
                const npi_kernels *kernels);

/* The calling thread's scratch. */
real *npi_pairs_scratch(const npi_pairs *pairs);

/* ---- the sampled mode ---- */

/* What a sample needs on top of the exact mode. */
int npi_sample_new(npi_pairs *pairs, int tile, npgnn_error *err);
void npi_sample_free(npi_pairs *pairs);

/* Fits q to U: sets c1 and c2 of the job, (P9). */
void npi_sample_fit(npi_pairs *pairs, npi_pairs_job *job, uint64_t seed, uint32_t draw);

/* Σ_ij q(s_ij) over all n² pairs, exact. After it, npi_sample_gradient adds its gradient to some rows of dU. (P8) */
double npi_sample_quadratic(npi_pairs *pairs, const npi_pairs_job *job);
void npi_sample_gradient(const npi_pairs *pairs, const npi_pairs_job *job, npi_side rows);

/* The estimate of Σ_(i != j) softplus(s_ij) - q(s_ij), (P7). */
double npi_sample_rest(npi_pairs *pairs, const npi_pairs_job *job, uint64_t seed, uint32_t draw);

#endif
