/* The all-pairs loss estimated at linear cost (docs/understand/pairs.md, P6-P10): softplus = q + (softplus - q) with a
 * quadratic q, whose sum over all pairs is exact through the Gram matrix; of the small rest, random pairs. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/dense.h"
#include "model/pairs_tiles.h"

#define PILOT 1024 /* pairs that q is fitted on */

/* How many ordered pairs of slots the rounds look at. */
static double pairs_seen(const npi_pairs *pairs)
{
    npi_blocks blocks = pairs->blocks;
    double seen = 0;
    for (int32_t round = 0; round < pairs->rounds; round++)
        for (int32_t t = 0; t < npi_schedule_tiles(blocks); t++) {
            int32_t pair[2], rows[2];
            npi_schedule_blocks(pair, blocks, round, t);
            for (int side = 0; side < 2; side++)
                rows[side] = npi_block_start(blocks, pair[side] + 1) - npi_block_start(blocks, pair[side]);
            seen += 2 * (double)rows[0] * rows[1];
        }
    return seen;
}

#define BATCHES 8 /* of a round: so that the rows of other processes take a fraction of the memory of all rows */

/* Rows of other processes, for the fit and for the tiles. */
struct npi_sample_fetch {
    npi_fetch pilot, tiles;
    real *pilot_rows;   /* (2 PILOT, k) */
    int32_t *node;      /* (slots of a batch) */
    int64_t *at;        /* (tiles of a batch, 2) where the rows of each side begin */
    real *rows, *drows; /* (slots of a batch, k) rows of U, and their gradient */
};

/* Tiles of batch `batch`, of those of this process. */
static int32_t batch_start(const npi_pairs *pairs, int batch)
{
    return pairs->tile + (int32_t)((int64_t)(pairs->tile_end - pairs->tile) * batch / BATCHES);
}

static int fetch_new(npi_pairs *pairs, npgnn_error *err)
{
    const npgnn_env *env = &pairs->env;
    size_t k = (size_t)pairs->k;
    int32_t own = pairs->rows.to - pairs->rows.from, most = 0;
    struct npi_sample_fetch *f = pairs->fetch = npi_alloc(env, 1, sizeof *f, err);
    if (!f)
        return NPGNN_E_MEMORY;
    for (int batch = 0; batch < BATCHES; batch++) {
        int32_t tiles = batch_start(pairs, batch + 1) - batch_start(pairs, batch);
        most = tiles > most ? tiles : most;
    }
    size_t slots = (size_t)most * 2 * (size_t)pairs->size;
    f->pilot_rows = npi_alloc(env, 2 * PILOT * k, sizeof *f->pilot_rows, err);
    f->node = npi_alloc(env, slots, sizeof *f->node, err);
    f->at = npi_alloc(env, 2 * (size_t)most, sizeof *f->at, err);
    f->rows = npi_alloc(env, slots * k, sizeof *f->rows, err);
    f->drows = npi_alloc(env, slots * k, sizeof *f->drows, err);
    if (!f->pilot_rows || !f->node || !f->at || !f->rows || !f->drows)
        return NPGNN_E_MEMORY;
    /* a node may be in the pilot several times, and is in one slot of a round */
    int code = npi_fetch_new(&f->pilot, &pairs->rows, 2 * PILOT, 2 * PILOT, pairs->k, env, err);
    return code ? code : npi_fetch_new(&f->tiles, &pairs->rows, (int64_t)slots, own, pairs->k, env, err);
}

int npi_sample_new(npi_pairs *pairs, int tile, npgnn_error *err)
{
    const npgnn_env *env = &pairs->env;
    const npi_partition *rows = &pairs->rows;
    double nodes = rows->n;
    int rank = npi_comm_rank(rows->comm), ranks = npi_comm_ranks(rows->comm);
    pairs->blocks =
        (npi_blocks){rows->n, 2 * ((rows->n / tile + 1) / 2)}; /* even: every block is in a tile of every round */
    pairs->size = (rows->n + pairs->blocks.count - 1) / pairs->blocks.count;
    int64_t tiles = npi_schedule_tiles(pairs->blocks);
    pairs->tile = (int32_t)(tiles * rank / ranks);
    pairs->tile_end = (int32_t)(tiles * (rank + 1) / ranks);
    pairs->weight = nodes * (nodes - 1) / pairs_seen(pairs);

    size_t n = (size_t)rows->n, k = (size_t)pairs->k, own = (size_t)(pairs->tile_end - pairs->tile);
    pairs->tile_loss = npi_alloc(env, own * (size_t)pairs->rounds, sizeof *pairs->tile_loss, err);
    pairs->node = npi_alloc(env, n, sizeof *pairs->node, err);
    pairs->pick = npi_alloc(env, n, sizeof *pairs->pick, err);
    pairs->gram = npi_alloc(env, (k + 1) * k, sizeof *pairs->gram, err);
    pairs->gram_scratch = npi_alloc(env, npi_gram_parts_scratch(rows, pairs->k), sizeof *pairs->gram_scratch, err);
    if (!pairs->tile_loss || !pairs->node || !pairs->pick || !pairs->gram || !pairs->gram_scratch)
        return NPGNN_E_MEMORY;
    return ranks > 1 ? fetch_new(pairs, err) : 0;
}

void npi_sample_free(npi_pairs *pairs)
{
    npi_free(&pairs->env, pairs->tile_loss);
    npi_free(&pairs->env, pairs->node);
    npi_free(&pairs->env, pairs->pick);
    npi_free(&pairs->env, pairs->gram);
    npi_free(&pairs->env, pairs->gram_scratch);
    struct npi_sample_fetch *f = pairs->fetch;
    if (!f)
        return;
    npi_fetch_free(&f->pilot);
    npi_fetch_free(&f->tiles);
    npi_free(&pairs->env, f->pilot_rows);
    npi_free(&pairs->env, f->node);
    npi_free(&pairs->env, f->at);
    npi_free(&pairs->env, f->rows);
    npi_free(&pairs->env, f->drows);
    npi_free(&pairs->env, f);
}

/* ---- the fit of q ---- */

/* Weighted moments of (s, sigmoid(s)) over the pilot. */
typedef struct moments {
    double w, s, ss, y, sy;
} moments;

static void add_pair(moments *m, const real *a, const real *b, int k)
{
    double s = 0, w = 0;
    for (int c = 0; c < k; c++) {
        s += (double)a[c] * (double)b[c];
        w += (double)a[c] * (double)a[c] + (double)b[c] * (double)b[c];
    }
    double y = 1 / (1 + exp(-s));
    m->w += w;
    m->s += w * s;
    m->ss += w * s * s;
    m->y += w * y;
    m->sy += w * s * y;
}

/* An index in [0, bound) from the draw at `index`. */
static int32_t choose(const npi_rng *rng, uint64_t index, int32_t bound)
{
    return (int32_t)(npi_rng_uniform_at(rng, index) * bound);
}

/* Fits c1 + c2 s to sigmoid(s) by weighted least squares, on random pairs that are independent of the shuffle: so the
 * estimate, given q, is unbiased. The weight |u_i|² + |u_j|² is the effect of an error in the slope on the gradient
 * (P9). */
void npi_sample_fit(npi_pairs *pairs, npi_pairs_job *job, uint64_t seed, uint32_t draw)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PAIRS, draw);
    const npi_partition *rows = &pairs->rows;
    struct npi_sample_fetch *f = pairs->fetch;
    int32_t n = rows->n, node[2 * PILOT];
    int first = npi_comm_rank(rows->comm) == 0;
    size_t k = (size_t)pairs->k;
    moments m = {0};
    for (uint64_t p = 0; p < PILOT; p++) {
        /* the shuffle uses the draws below n */
        int32_t i = choose(&rng, (uint64_t)n + 2 * p, n), j = choose(&rng, (uint64_t)n + 2 * p + 1, n - 1);
        node[2 * p] = i;
        node[2 * p + 1] = j + (j >= i);
    }
    if (f) { /* the first process fits, and tells the others */
        npi_fetch_plan(&f->pilot, node, first ? 2 * PILOT : 0, NULL);
        npi_fetch_rows(&f->pilot, f->pilot_rows, job->u, pairs->k, pairs->k, 1);
    }
    for (size_t p = 0; first && p < PILOT; p++)
        add_pair(&m, f ? f->pilot_rows + 2 * p * k : job->u + (size_t)node[2 * p] * k,
                 f ? f->pilot_rows + (2 * p + 1) * k : job->u + (size_t)node[2 * p + 1] * k, pairs->k);
    npi_comm_broadcast(rows->comm, &m, sizeof m, 0);
    double spread = m.w * m.ss - m.s * m.s;
    job->c2 = spread > 1e-12 * m.w * m.ss ? (m.w * m.sy - m.s * m.y) / spread : 0;
    job->c1 = m.w > 0 ? (m.y - job->c2 * m.s) / m.w : 0.5;
}

/* ---- Σ q, exact ---- */

/* Σ_ij q(s_ij) = c1 |Σ u|² + c2 / 2 |UᵀU|² (P8). */
double npi_sample_quadratic(npi_pairs *pairs, const npi_pairs_job *job)
{
    int k = pairs->k;
    double linear = 0, square = 0;
    npi_gram_parts(pairs->gram, job->u, &pairs->rows, k, pairs->gram_scratch, pairs->env.threads);
    const real *sum = pairs->gram + (size_t)k * (size_t)k;
    for (int c = 0; c < k; c++)
        linear += (double)sum[c] * (double)sum[c];
    for (int c = 0; c < k * k; c++)
        square += (double)pairs->gram[c] * (double)pairs->gram[c];
    return job->c1 * linear + 0.5 * job->c2 * square;
}

/* Its gradient: 2 c1 Σ u + 2 c2 (UᵀU) u_i (P8). */
void npi_sample_gradient(const npi_pairs *pairs, const npi_pairs_job *job, npi_side rows)
{
    int k = pairs->k;
    real shift = (real)(job->step * job->c1);
    const real *sum = pairs->gram + (size_t)k * (size_t)k;
    /* dU_rows (rows, k) += step c2 U_rows (rows, k) UᵀU (k, k) */
    npi_gemm(rows.du, k, rows.u, k, 0, pairs->gram, k, 0, rows.rows, k, k, (real)(job->step * job->c2), 1);
    /* du_i += step c1 Σ_j u_j */
    for (int i = 0; i < rows.rows; i++)
        for (int c = 0; c < k; c++)
            rows.du[(size_t)i * (size_t)k + (size_t)c] += shift * sum[c];
}

/* ---- the rest, sampled ---- */

typedef struct pick_loop {
    int32_t *pick;
    npi_rng rng;
} pick_loop;

static void draw_picks(const void *arg, int64_t first, int64_t last)
{
    const pick_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++)
        l->pick[i] = choose(&l->rng, (uint64_t)i, i + 1);
}

/* A uniformly random order of the nodes (Fisher-Yates). The choices are made in parallel, the swaps are not. */
static void shuffle(npi_pairs *pairs, uint64_t seed, uint32_t draw)
{
    int32_t n = pairs->rows.n, *node = pairs->node, *pick = pairs->pick;
    pick_loop loop = {pick, npi_rng_make(seed, NPI_RNG_PAIRS, draw)};
    npi_parallel(pairs->env.threads, n, 0, draw_picks, &loop);
    for (int32_t i = 0; i < n; i++) {
        node[i] = node[pick[i]];
        node[pick[i]] = i;
    }
}

/* The embeddings of the nodes in a block of slots, copied to `rows`, followed by space for their gradient. */
static npi_side gather_side(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block, real *rows)
{
    int32_t start = npi_block_start(pairs->blocks, block);
    size_t k = (size_t)pairs->k, cells = (size_t)pairs->size * k;
    npi_side side = {job->du ? rows + cells : NULL, rows, npi_block_start(pairs->blocks, block + 1) - start};
    for (int i = 0; i < side.rows; i++)
        memcpy(rows + (size_t)i * k, job->u + (size_t)pairs->node[start + i] * k, k * sizeof *rows);
    return side;
}

static void scatter_side(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block, npi_side side)
{
    int32_t start = npi_block_start(pairs->blocks, block);
    size_t k = (size_t)pairs->k;
    for (int i = 0; i < side.rows; i++) {
        real *du = job->du + (size_t)pairs->node[start + i] * k;
        for (size_t c = 0; c < k; c++)
            du[c] += side.du[(size_t)i * k + c];
    }
}

typedef struct tiles_loop {
    npi_pairs *pairs;
    const npi_pairs_job *job;
    int32_t round, first; /* tile that the iterations count from */
} tiles_loop;

/* The tiles of a round. Its nodes are anywhere in U: the tile is computed on copies of their rows. Where there are
 * other processes, the copies of a batch were fetched, in the order of its tiles. */
static void run_tiles(const void *arg, int64_t begin, int64_t end)
{
    const tiles_loop *l = arg;
    npi_pairs *pairs = l->pairs;
    const npi_pairs_job *job = l->job;
    struct npi_sample_fetch *f = pairs->fetch;
    size_t k = (size_t)pairs->k, cells = (size_t)pairs->size * k;
    real *scratch = npi_pairs_scratch(pairs), *copies = scratch + pairs->tile_reals;
    for (int64_t i = begin; i < end && !npi_env_stopped(&pairs->env); i++) {
        int32_t t = l->first + (int32_t)i, block[2];
        npi_side side[2];
        npi_schedule_blocks(block, pairs->blocks, l->round, t);
        for (int which = 0; which < 2; which++) {
            size_t at = f ? (size_t)f->at[2 * i + which] * k : 0;
            int rows = npi_block_start(pairs->blocks, block[which] + 1) - npi_block_start(pairs->blocks, block[which]);
            side[which] = f ? (npi_side){job->du ? f->drows + at : NULL, f->rows + at, rows}
                            : gather_side(pairs, job, block[which], copies + 2 * (size_t)which * cells);
        }
        pairs->tile_loss[(t - pairs->tile) * pairs->rounds + l->round] = npi_tile(
            scratch, side[0], side[1], pairs->k, job->c1, job->c2, pairs->weight * job->step, 0, pairs->kernels);
        for (int which = 0; !f && job->du && which < 2; which++)
            scatter_side(pairs, job, block[which], side[which]);
    }
}

/* Fetches the rows of the tiles [first, last) of a round. */
static void fetch_tiles(npi_pairs *pairs, const npi_pairs_job *job, int32_t round, int32_t first, int32_t last)
{
    struct npi_sample_fetch *f = pairs->fetch;
    int64_t count = 0;
    for (int32_t t = first; t < last; t++) {
        int32_t block[2];
        npi_schedule_blocks(block, pairs->blocks, round, t);
        for (int which = 0; which < 2; which++) {
            int32_t start = npi_block_start(pairs->blocks, block[which]);
            f->at[2 * (t - first) + which] = count;
            for (int32_t slot = start; slot < npi_block_start(pairs->blocks, block[which] + 1); slot++)
                f->node[count++] = pairs->node[slot];
        }
    }
    npi_fetch_plan(&f->tiles, f->node, count, NULL);
    npi_fetch_rows(&f->tiles, f->rows, job->u, pairs->k, pairs->k, pairs->env.threads);
}

/* Every ordered pair of different nodes is seen with the same probability, pairs_seen / (n (n - 1)), whose inverse
 * is its weight (P7). Every node is in one tile of a round, so that the threads write to different rows of dU. */
double npi_sample_rest(npi_pairs *pairs, const npi_pairs_job *job, uint64_t seed, uint32_t draw)
{
    int threads = pairs->env.threads, batches = pairs->fetch ? BATCHES : 1;
    shuffle(pairs, seed, draw);
    npi_blas_begin(threads);
    for (int32_t round = 0; round < pairs->rounds; round++)
        for (int batch = 0; batch < batches; batch++) {
            int32_t first = batches == 1 ? pairs->tile : batch_start(pairs, batch);
            int32_t last = batches == 1 ? pairs->tile_end : batch_start(pairs, batch + 1);
            tiles_loop loop = {pairs, job, round, first};
            if (pairs->fetch)
                fetch_tiles(pairs, job, round, first, last);
            npi_parallel(threads, last - first, 1, run_tiles, &loop);
            if (pairs->fetch && job->du)
                npi_fetch_return(&pairs->fetch->tiles, job->du, pairs->k, pairs->fetch->drows, pairs->k, threads);
        }
    npi_blas_end(threads);
    int64_t count = (int64_t)(pairs->tile_end - pairs->tile) * pairs->rounds;
    return 2 * pairs->weight * npi_pairs_sum(pairs, pairs->tile_loss, count);
}
