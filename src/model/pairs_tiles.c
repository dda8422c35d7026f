/* The tiles of the all-pairs loss and the order in which threads compute them (docs/understand/pairs.md, P4, P5).
 *
 * The n nodes are divided into blocks. Two blocks a and b, with rows U_a and U_b of the embeddings, form a tile of
 * pairs:
 *
 *     S = U_a U_bᵀ,    G = sigmoid(S) - q'(S),    dU_a += step G U_b,    dU_b += step Gᵀ U_a
 *
 * A round-robin schedule puts the tiles into rounds. Within a round no block occurs twice, so the threads write to
 * different rows of dU. Over the rounds each block takes part in its tiles in a fixed order, so the bits do not depend
 * on the number of threads. */
#define _POSIX_C_SOURCE 200809L /* sched_yield */
#include "model/pairs_tiles.h"

#include <sched.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"

int32_t npi_block_start(npi_blocks blocks, int32_t block)
{
    int64_t units = ((int64_t)blocks.n + blocks.unit - 1) / blocks.unit;
    int64_t start = block * units / blocks.count * blocks.unit;
    return (int32_t)(start < blocks.n ? start : blocks.n);
}

/* ---- the schedule (P5): the circle method, for an even number of blocks; an odd number gets an empty one ---- */

int32_t npi_schedule_tiles(npi_blocks blocks)
{
    return (blocks.count + 1) / 2;
}

int32_t npi_schedule_rounds(npi_blocks blocks)
{
    return 2 * npi_schedule_tiles(blocks) - 1;
}

/* The last block stays, and the others are on a ring of as many places as there are rounds: the tile t of a round has
 * the blocks t places to the right and t places to the left of place `round`. */
int npi_schedule_blocks(int32_t pair[2], npi_blocks blocks, int32_t round, int32_t t)
{
    int32_t ring = npi_schedule_rounds(blocks);
    pair[0] = (int32_t)(((int64_t)round + t) % ring);
    pair[1] = t == 0 ? ring : (round - t + ring) % ring;
    return pair[1] < blocks.count;
}

/* ---- running the rounds ---- */

#define SPINS 256 /* looks at a block before each sched_yield */

typedef struct rounds_loop {
    npi_pairs *pairs;
    const npi_pairs_job *job;
    npi_tile_fn *compute;
    int64_t tiles, runs; /* of a round */
} rounds_loop;

/* One tile: waits until its blocks have completed the rounds before, computes it, and marks the round as completed. */
static void run_tile(const rounds_loop *l, int32_t round, int32_t t)
{
    npi_pairs *pairs = l->pairs;
    npi_tile_blocks tile = {.round = round};
    tile.blocks = 1 + npi_schedule_blocks(tile.block, pairs->blocks, round, t);
    /* The thread that works on a block may have lost its core to another program: after some looks, offer it
     * this one. */
    for (int side = 0; side < tile.blocks; side++)
        for (int spins = 0; __atomic_load_n(&pairs->completed[tile.block[side]], __ATOMIC_ACQUIRE) < round; spins++)
            if (spins >= SPINS)
                sched_yield();
    if (!npi_env_stopped(&pairs->env)) /* otherwise the result is discarded */
        pairs->part[tile.block[0]] += l->compute(pairs, l->job, &tile);
    for (int side = 0; side < tile.blocks; side++)
        __atomic_store_n(&pairs->completed[tile.block[side]], round + 1, __ATOMIC_RELEASE);
}

/* The runs [first, last) of all rounds, counted from the first run of the first round. */
static void run_tiles(const void *arg, int64_t first, int64_t last)
{
    const rounds_loop *l = arg;
    for (int64_t index = first; index < last; index++) {
        int32_t round = (int32_t)(index / l->runs);
        int64_t run = index % l->runs;
        for (int64_t t = run * l->tiles / l->runs; t < (run + 1) * l->tiles / l->runs; t++)
            run_tile(l, round, (int32_t)t);
    }
}

/* Each round is divided into runs of neighbouring tiles, one run per thread. Threads take the runs in the order of the
 * rounds. From round to round a block moves by one tile (P5), so it mostly stays in its run, and in the cache of its
 * thread.
 *
 * Instead of a barrier after each round, a tile waits for its own two blocks. They are in runs that come earlier, which
 * a thread has already taken, so there is no deadlock. A block's rows of dU and its part of the loss pass from thread
 * to thread with its counter (acquire and release). */
double npi_pairs_run_rounds(npi_pairs *pairs, const npi_pairs_job *job, int32_t rounds, npi_tile_fn *compute)
{
    npi_blocks blocks = pairs->blocks;
    int64_t tiles = npi_schedule_tiles(blocks), runs = tiles < pairs->env.threads ? tiles : pairs->env.threads;
    rounds_loop loop = {pairs, job, compute, tiles, runs};
    double sum = 0;
    memset(pairs->completed, 0, (size_t)blocks.count * sizeof *pairs->completed);
    memset(pairs->part, 0, (size_t)blocks.count * sizeof *pairs->part);
    npi_blas_begin(pairs->env.threads);
    npi_parallel(pairs->env.threads, rounds * runs, 1, run_tiles, &loop);
    npi_blas_end(pairs->env.threads);
    for (int32_t block = 0; block < blocks.count; block++)
        sum += pairs->part[block];
    return sum;
}

/* ---- the tile (P4) ---- */

double npi_tile(real *s, npi_side a, npi_side b, int k, double c1, double c2, double step, real beta,
                const npi_kernels *kernels)
{
    /* S (a, b) = U_a (a, k) U_bᵀ (k, b) */
    npi_gemm(s, b.rows, a.u, k, 0, b.u, k, 1, a.rows, b.rows, k, 1, 0);
    /* Σ softplus(S) - q(S), and S <- G = sigmoid(S) - q'(S) */
    double loss = kernels->pair_tile(s, (int64_t)a.rows * b.rows, c1, c2);
    /* dU_a (a, k) = step G (a, b) U_b (b, k) + beta dU_a */
    if (a.du)
        npi_gemm(a.du, k, s, b.rows, 0, b.u, k, 0, a.rows, k, b.rows, (real)step, beta);
    /* dU_b (b, k) = step Gᵀ (b, a) U_a (a, k) + beta dU_b */
    if (b.du)
        npi_gemm(b.du, k, s, b.rows, 1, a.u, k, 0, b.rows, k, a.rows, (real)step, beta);
    return loss;
}

real *npi_pairs_scratch(const npi_pairs *pairs)
{
    return pairs->scratch + (size_t)npi_worker() * pairs->thread_reals;
}
