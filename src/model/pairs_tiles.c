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

#define PATIENCE 256 /* looks at a block before the core is offered to whoever else wants it */

/* Waits until a block is through with `rounds` rounds. The thread that plays the last of them may have lost its core to
 * another program, and should have this one rather than be waited for. */
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
    if (!npi_env_stopped(&pairs->env)) /* otherwise nobody will look at the result */
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
 * Instead of a barrier after each round, a match waits for its own two blocks: what they wait for has a smaller ticket,
 * so somebody is playing it, and nobody waits in a circle. A block's rows of dU and its part of the loss go from thread to
 * thread with its counter. */
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
    npi_gemm(s, b.rows, a.u, k, 0, b.u, k, 1, a.rows, b.rows, k, 1, 0);
    double loss = kernels->pair_tile(s, (int64_t)a.rows * b.rows, c1, c2);
    if (a.du)
        npi_gemm(a.du, k, s, b.rows, 0, b.u, k, 0, a.rows, k, b.rows, (real)step, beta);
    if (b.du)
        npi_gemm(b.du, k, s, b.rows, 1, a.u, k, 0, b.rows, k, a.rows, (real)step, beta);
    return loss;
}

real *npi_pairs_scratch(const npi_pairs *pairs)
{
    return pairs->scratch + (size_t)npi_worker() * pairs->thread_reals;
}
