/* The tiles of the all-pairs loss, and the order in which threads and processes compute them (docs/understand/pairs.md,
 * P4, P5).
 *
 * The n nodes are divided into c blocks. Two blocks a and b, with rows U_a and U_b of the embeddings, form a tile of
 * pairs:
 *
 *     S = U_a U_bᵀ,    G = sigmoid(S) - q'(S),    dU_a += step G U_b,    dU_b += step Gᵀ U_a
 *
 * The tile of two blocks belongs to the one, a, from which the other is at most half a turn further: b = a + distance
 * mod c, distance <= c / 2. Every block has two sums: `home`, over its own tiles, and `away`, over those of other
 * blocks that it takes part in, each by ascending distance. So, at one distance, no two tiles write to the same sum,
 * and no bit depends on the number of threads.
 *
 * Where nodes are divided among processes, each passes U and `away` of its blocks to the process before it, which
 * computes its own tiles with these visitors and passes them on. For a block a the visitors come by ascending distance,
 * and for a visitor b the blocks a do: the sums are the same for any number of processes. In the end the visitors
 * return home. */
#define _POSIX_C_SOURCE 200809L /* sched_yield */
#include "model/pairs_tiles.h"

#include <sched.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"

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

typedef struct sum_values {
    double *sum;
    const double *values;
    int64_t count;
} sum_values;

static void add_values(void *arg, int64_t first, int64_t last)
{
    const sum_values *s = arg;
    (void)first;
    (void)last;
    for (int64_t i = 0; i < s->count; i++)
        *s->sum += s->values[i];
}

double npi_pairs_sum(const npi_pairs *pairs, const double *values, int64_t count)
{
    double sum = 0;
    sum_values s = {&sum, values, count};
    npi_comm_chain(pairs->rows.comm, &sum, 1, sizeof sum, 1, add_values, &s);
    return sum;
}

/* ---- the exact sum: the ring of blocks (P5) ---- */

#define SPINS 256 /* looks at a block before each sched_yield */

/* The rows of block `block` of an array that begins with block 0. */
static npi_side side_at(real *du, const real *u, int32_t block, int32_t rows, int k)
{
    size_t offset = (size_t)block * NPI_BLOCK * (size_t)k;
    int32_t left = rows - block * NPI_BLOCK;
    return (npi_side){du ? du + offset : NULL, u + offset, left < NPI_BLOCK ? left : NPI_BLOCK};
}

npi_side npi_block_side(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block)
{
    return side_at(job->du, job->u, block, pairs->rows.to - pairs->rows.from, pairs->k);
}

/* The tiles of this process's blocks with those of one process, itself included. Blocks are counted around the ring: a
 * visitor that comes after the end of the ring has numbers from c on. */
typedef struct ring_step {
    npi_pairs *pairs;
    const npi_pairs_job *job;
    npi_block_fn *alone;
    const real *u; /* of the visitor, and what its rows receive */
    real *away;
    int32_t home, rows;  /* its first block, below c, and its rows */
    int32_t first, last; /* its blocks, counted around the ring */
    int32_t nearest;     /* distance of this step */
    int64_t runs;        /* of one distance */
} ring_step;

static void wait_for(const npi_pairs *pairs, int32_t block, int32_t distance)
{
    /* The thread that works on the block may have lost its core to another program: after some looks, offer it this
     * one. */
    for (int spins = 0; __atomic_load_n(&pairs->completed[block], __ATOMIC_ACQUIRE) < distance; spins++)
        if (spins >= SPINS)
            sched_yield();
}

/* The tile of this process's block a, counted from its first, and the block `distance` further. It waits for the tiles
 * before it that write to the same sums: that of a with the block before b, and that of the block after a with b. */
static void run_tile(const ring_step *l, int32_t a, int32_t distance)
{
    npi_pairs *pairs = l->pairs;
    int32_t c = pairs->rows.blocks, place = pairs->rows.from / NPI_BLOCK + a, b = place + distance;
    /* one process has the whole ring, in which block 0 is after the last; several have pieces of it */
    int32_t after = a + 1 < pairs->own_blocks ? a + 1 : 0;
    if (distance > l->nearest && b > l->first)
        wait_for(pairs, a, distance);
    if (distance > l->nearest && (after > 0 || pairs->own_blocks == c))
        wait_for(pairs, after, distance);
    int twice =
        2 * distance == c && place >= c / 2; /* two blocks that are half a turn apart: one of them has the tile */
    if (npi_env_stopped(&pairs->env)) {      /* the result is discarded */
    } else if (distance == 0) {
        pairs->part[a] += l->alone(pairs, l->job, a);
    } else if (!twice) {
        /* the tile stands for both orders of its pairs, hence twice the loss */
        npi_side other = side_at(l->away, l->u, b % c - l->home, l->rows, pairs->k);
        pairs->part[a] += 2 * npi_tile(npi_pairs_scratch(pairs), npi_block_side(pairs, l->job, a), other, pairs->k, 0,
                                       0, l->job->step, 1, pairs->kernels);
    }
    __atomic_store_n(&pairs->completed[a], distance + 1, __ATOMIC_RELEASE);
}

/* The runs [first, last) of all distances, counted from the first run of the nearest. */
static void run_tiles(const void *arg, int64_t first, int64_t last)
{
    const ring_step *l = arg;
    int64_t blocks = l->pairs->own_blocks;
    int32_t start = l->pairs->rows.from / NPI_BLOCK;
    for (int64_t index = first; index < last; index++) {
        int32_t distance = l->nearest + (int32_t)(index / l->runs);
        int64_t run = index % l->runs;
        for (int64_t a = run * blocks / l->runs; a < (run + 1) * blocks / l->runs; a++)
            if (start + a + distance >= l->first && start + a + distance < l->last)
                run_tile(l, (int32_t)a, distance);
    }
}

/* Each distance is divided into runs of neighbouring blocks, one run per thread. Threads take the runs by ascending
 * distance. A block stays in its run, and its partner moves by one block: both are mostly in the cache of their thread.
 *
 * Instead of a barrier after each distance, a tile waits for the two tiles before it. They are in runs that come
 * earlier, which a thread has already taken, so there is no deadlock. A block's sums pass from thread to thread with
 * its counter (acquire and release). */
static void run_step(ring_step *l)
{
    npi_pairs *pairs = l->pairs;
    int32_t start = pairs->rows.from / NPI_BLOCK, end = start + pairs->own_blocks, farthest = l->last - 1 - start;
    int threads = pairs->env.threads;
    l->nearest = l->first - (end - 1) > 0 ? l->first - (end - 1) : l->first > start;
    l->runs = pairs->own_blocks < threads ? pairs->own_blocks : threads;
    if (farthest > pairs->rows.blocks / 2)
        farthest = pairs->rows.blocks / 2;
    if (farthest < l->nearest)
        return;
    memset(pairs->completed, 0, (size_t)pairs->own_blocks * sizeof *pairs->completed);
    npi_parallel(threads, (farthest - l->nearest + 1) * l->runs, 1, run_tiles, l);
}

/* How far visitors travel: the most processes between two blocks that have a tile. */
static int count_steps(const npi_partition *rows)
{
    int ranks = npi_comm_ranks(rows->comm), steps = 0;
    for (int host = 0; host < ranks; host++)
        for (int s = 1; s <= ranks; s++) {
            int guest = (host + s) % ranks;
            int32_t first = npi_rank_start(rows, guest) / NPI_BLOCK + (host + s >= ranks ? rows->blocks : 0);
            int32_t nearest = first - ((npi_rank_start(rows, host + 1) - 1) / NPI_BLOCK);
            if (nearest <= rows->blocks / 2 && s > steps)
                steps = s;
        }
    return steps;
}

typedef struct add_loop {
    real *to;
    const real *from;
} add_loop;

static void add_range(const void *arg, int64_t first, int64_t last)
{
    const add_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->to[i] += l->from[i];
}

double npi_ring_run(npi_pairs *pairs, const npi_pairs_job *job, npi_block_fn *alone)
{
    const npi_partition *rows = &pairs->rows;
    int rank = npi_comm_rank(rows->comm), ranks = npi_comm_ranks(rows->comm), threads = pairs->env.threads;
    int32_t c = rows->blocks, own = rows->to - rows->from, start = rows->from / NPI_BLOCK;
    size_t row_bytes = (size_t)pairs->k * sizeof(real);
    ring_step step = {.pairs = pairs,
                      .job = job,
                      .alone = alone,
                      .u = job->u,
                      .away = job->du ? pairs->away : NULL,
                      .home = start,
                      .rows = own,
                      .first = start,
                      .last = start + pairs->own_blocks};
    if (job->du)
        npi_zero(pairs->away, (int64_t)own * pairs->k, threads);
    memset(pairs->part, 0, (size_t)pairs->own_blocks * sizeof *pairs->part);
    npi_blas_begin(threads);
    if (ranks == 1)
        step.last = 2 * c; /* once around the ring */
    run_step(&step);
    int steps = ranks == 1 ? 0 : count_steps(rows);
    for (int s = 1; s <= steps; s++) {
        int guest = (rank + s) % ranks;
        int32_t from = npi_rank_start(rows, guest), to = npi_rank_start(rows, guest + 1);
        real *u = pairs->visitor[s % 2], *away = pairs->visitor_away[s % 2];
        npi_comm_pass(rows->comm, u, (size_t)(to - from) * row_bytes, step.u, (size_t)step.rows * row_bytes);
        if (job->du)
            npi_comm_pass(rows->comm, away, (size_t)(to - from) * row_bytes, step.away, (size_t)step.rows * row_bytes);
        step.u = u;
        step.away = job->du ? away : NULL;
        step.home = from / NPI_BLOCK;
        step.rows = to - from;
        step.first = step.home + (rank + s >= ranks ? c : 0);
        step.last = step.first + (to - from + NPI_BLOCK - 1) / NPI_BLOCK;
        run_step(&step);
    }
    npi_blas_end(threads);
    /* home again, unless they have gone all the way round */
    if (job->du && steps > 0) {
        npi_message send = {step.away, (size_t)step.rows * row_bytes, (rank + steps) % ranks};
        npi_message receive = {pairs->away, (size_t)own * row_bytes, (rank + ranks - steps % ranks) % ranks};
        if (steps % ranks == 0)
            memcpy(pairs->away, step.away, (size_t)own * row_bytes);
        else
            npi_comm_exchange(rows->comm, &send, 1, &receive, 1);
    }
    add_loop add = {job->du, pairs->away};
    if (job->du)
        npi_parallel(threads, (int64_t)own * pairs->k, 0, add_range, &add);
    return npi_pairs_sum(pairs, pairs->part, pairs->own_blocks);
}

int npi_ring_new(npi_pairs *pairs, npgnn_error *err)
{
    const npgnn_env *env = &pairs->env;
    const npi_partition *rows = &pairs->rows;
    int32_t most = 0;
    size_t k = (size_t)pairs->k;
    pairs->completed = npi_alloc(env, (size_t)pairs->own_blocks, sizeof *pairs->completed, err);
    pairs->away = npi_alloc(env, (size_t)(rows->to - rows->from) * k, sizeof *pairs->away, err);
    int failed = !pairs->completed || !pairs->away;
    for (int r = 0; r < npi_comm_ranks(rows->comm); r++) {
        int32_t size = npi_rank_start(rows, r + 1) - npi_rank_start(rows, r);
        most = size > most ? size : most;
    }
    for (int i = 0; i < 2 && npi_comm_ranks(rows->comm) > 1; i++) {
        pairs->visitor[i] = npi_alloc(env, (size_t)most * k, sizeof(real), err);
        pairs->visitor_away[i] = npi_alloc(env, (size_t)most * k, sizeof(real), err);
        failed = failed || !pairs->visitor[i] || !pairs->visitor_away[i];
    }
    return failed ? NPGNN_E_MEMORY : 0;
}

void npi_ring_free(npi_pairs *pairs)
{
    npi_free(&pairs->env, pairs->completed);
    npi_free(&pairs->env, pairs->away);
    for (int i = 0; i < 2; i++) {
        npi_free(&pairs->env, pairs->visitor[i]);
        npi_free(&pairs->env, pairs->visitor_away[i]);
    }
}

/* ---- the schedule of a sample: the circle method, for an even number of blocks ---- */

int32_t npi_block_start(npi_blocks blocks, int32_t block)
{
    return (int32_t)((int64_t)block * blocks.n / blocks.count);
}

int32_t npi_schedule_tiles(npi_blocks blocks)
{
    return blocks.count / 2;
}

int32_t npi_schedule_rounds(npi_blocks blocks)
{
    return blocks.count - 1;
}

/* The last block stays, and the others are on a ring of as many places as there are rounds: the tile t of a round has
 * the blocks t places to the right and t places to the left of place `round`. */
void npi_schedule_blocks(int32_t pair[2], npi_blocks blocks, int32_t round, int32_t t)
{
    int32_t ring = npi_schedule_rounds(blocks);
    pair[0] = (int32_t)(((int64_t)round + t) % ring);
    pair[1] = t == 0 ? ring : (round - t + ring) % ring;
}
