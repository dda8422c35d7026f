/* All pairs of blocks of nodes as a round-robin tournament (docs/understand/pairs.md, P4, P5): in each round every block meets one
 * other block, and two blocks that meet form a tile of pairs,
 *
 *     S = U_a U_bᵀ,    G = sigmoid(S) - q'(S),    dU_a += step G U_b,    dU_b += step Gᵀ U_a
 *
 * Within a round no block occurs twice, so the threads write to different rows of dU; and each block meets the others in a fixed
 * order, so the bits do not depend on the number of threads. */
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

/* ---- the tournament (P5): the circle method, for an even number of players; an odd one gets a dummy ---- */

static int32_t players(npi_blocks blocks)
{
    return blocks.count + blocks.count % 2;
}

int32_t npi_matches(npi_blocks blocks)
{
    return players(blocks) / 2;
}

int32_t npi_rounds(npi_blocks blocks)
{
    return players(blocks) - 1;
}

int npi_match(int32_t pair[2], npi_blocks blocks, int32_t round, int32_t t)
{
    int32_t ring = players(blocks) - 1;
    pair[0] = (int32_t)(((int64_t)round + t) % ring);
    pair[1] = t == 0 ? ring : (round - t + ring) % ring;
    return pair[1] < blocks.count;
}

/* ---- playing ---- */

#define PATIENCE 256 /* looks at a block before each sched_yield */

/* Waits until a block has completed `rounds` rounds. The thread that works on the last of them may have lost its core to
 * another program; after some looks this thread offers it its own. */
static void await(const int32_t *played, int32_t rounds)
{
    for (int looks = 0; __atomic_load_n(played, __ATOMIC_ACQUIRE) < rounds; looks++)
        if (looks >= PATIENCE)
            sched_yield();
}

static void play_match(npi_pairs *pairs, const npi_pairs_job *job, int32_t round, int32_t t, npi_play *play)
{
    int32_t *played = pairs->played;
    npi_game game = {.round = round};
    game.blocks = 1 + npi_match(game.block, pairs->blocks, round, t);
    for (int side = 0; side < game.blocks; side++)
        await(&played[game.block[side]], round);
    if (!npi_env_stopped(&pairs->env)) /* otherwise the result is discarded */
        pairs->part[game.block[0]] += play(pairs, job, &game);
    for (int side = 0; side < game.blocks; side++)
        __atomic_store_n(&played[game.block[side]], round + 1, __ATOMIC_RELEASE);
}

typedef struct rounds_loop {
    npi_pairs *pairs;
    const npi_pairs_job *job;
    npi_play *play;
    int64_t matches, runs;
} rounds_loop;

static void play_tickets(const void *arg, int64_t first, int64_t last)
{
    const rounds_loop *l = arg;
    for (int64_t ticket = first; ticket < last; ticket++) {
        int64_t run = ticket % l->runs;
        for (int64_t t = run * l->matches / l->runs; t < (run + 1) * l->matches / l->runs; t++)
            play_match(l->pairs, l->job, (int32_t)(ticket / l->runs), (int32_t)t, l->play);
    }
}

/* Threads take tickets: a run of neighbouring matches of a round, as many runs as threads, in the order of the rounds. From
 * round to round a block moves on by one match (P5), so it mostly stays in its run, and in the cache of its thread.
 *
 * Instead of a barrier after each round, a match waits for its own two blocks. What it waits for has a smaller ticket, which a
 * thread has already taken, so there is no deadlock. A block's rows of dU and its part of the loss pass from thread to thread
 * with its counter (acquire and release). */
double npi_play_rounds(npi_pairs *pairs, const npi_pairs_job *job, int32_t rounds, npi_play *play)
{
    npi_blocks blocks = pairs->blocks;
    int64_t matches = npi_matches(blocks), runs = matches < pairs->env.threads ? matches : pairs->env.threads;
    rounds_loop loop = {pairs, job, play, matches, runs};
    double sum = 0;
    memset(pairs->played, 0, (size_t)blocks.count * sizeof *pairs->played);
    memset(pairs->part, 0, (size_t)blocks.count * sizeof *pairs->part);
    npi_blas_begin(pairs->env.threads);
    npi_parallel(pairs->env.threads, rounds * runs, 1, play_tickets, &loop);
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
