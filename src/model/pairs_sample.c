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

int npi_sample_new(npi_pairs *pairs, npgnn_error *err)
{
    const npgnn_env *env = &pairs->env;
    double nodes = pairs->blocks.n;
    size_t n = (size_t)pairs->blocks.n, k = (size_t)pairs->k;
    size_t scratch = npi_gram_tall_scratch(pairs->blocks.n, pairs->k);
    pairs->weight = nodes * (nodes - 1) / pairs_seen(pairs);
    pairs->node = npi_alloc(env, n, sizeof *pairs->node, err);
    pairs->pick = npi_alloc(env, n, sizeof *pairs->pick, err);
    pairs->gram = npi_alloc(env, k * k, sizeof *pairs->gram, err);
    pairs->sum = npi_alloc(env, k, sizeof *pairs->sum, err);
    pairs->gram_scratch = npi_alloc(env, scratch, sizeof *pairs->gram_scratch, err);
    if (!pairs->node || !pairs->pick || !pairs->gram || !pairs->sum || !pairs->gram_scratch)
        return NPGNN_E_MEMORY;
    return 0;
}

void npi_sample_free(npi_pairs *pairs)
{
    npi_free(&pairs->env, pairs->node);
    npi_free(&pairs->env, pairs->pick);
    npi_free(&pairs->env, pairs->gram);
    npi_free(&pairs->env, pairs->sum);
    npi_free(&pairs->env, pairs->gram_scratch);
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
void npi_sample_fit(const npi_pairs *pairs, npi_pairs_job *job, uint64_t seed, uint32_t draw)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PAIRS, draw);
    int32_t n = pairs->blocks.n;
    size_t k = (size_t)pairs->k;
    moments m = {0};
    for (uint64_t p = 0; p < PILOT; p++) {
        /* the shuffle uses the draws below n */
        int32_t i = choose(&rng, (uint64_t)n + 2 * p, n), j = choose(&rng, (uint64_t)n + 2 * p + 1, n - 1);
        j += j >= i;
        add_pair(&m, job->u + (size_t)i * k, job->u + (size_t)j * k, pairs->k);
    }
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
    npi_gram_tall(pairs->gram, pairs->sum, job->u, pairs->blocks.n, k, pairs->gram_scratch, pairs->env.threads);
    for (int c = 0; c < k; c++)
        linear += (double)pairs->sum[c] * (double)pairs->sum[c];
    for (int c = 0; c < k * k; c++)
        square += (double)pairs->gram[c] * (double)pairs->gram[c];
    return job->c1 * linear + 0.5 * job->c2 * square;
}

/* Its gradient: 2 c1 Σ u + 2 c2 (UᵀU) u_i (P8). */
void npi_sample_gradient(const npi_pairs *pairs, const npi_pairs_job *job, int32_t row, int32_t row_end)
{
    int k = pairs->k, rows = row_end - row;
    real shift = (real)(job->step * job->c1);
    real *du = job->du + (size_t)row * (size_t)k;
    /* dU_rows (rows, k) += step c2 U_rows (rows, k) UᵀU (k, k) */
    npi_gemm(du, k, job->u + (size_t)row * (size_t)k, k, 0, pairs->gram, k, 0, rows, k, k, (real)(job->step * job->c2),
             1);
    /* du_i += step c1 Σ_j u_j */
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < k; c++)
            du[(size_t)i * (size_t)k + (size_t)c] += shift * pairs->sum[c];
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
    int32_t n = pairs->blocks.n, *node = pairs->node, *pick = pairs->pick;
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

/* The tile of two blocks of slots, on copies of the rows: the nodes of a slot are anywhere in U. */
static double sampled_tile(npi_pairs *pairs, const npi_pairs_job *job, const npi_tile_blocks *tile)
{
    real *scratch = npi_pairs_scratch(pairs), *rows = scratch + pairs->tile_reals;
    npi_side a = gather_side(pairs, job, tile->block[0], rows);
    npi_side b = gather_side(pairs, job, tile->block[1], rows + 2 * (size_t)pairs->size * (size_t)pairs->k);
    double loss = npi_tile(scratch, a, b, pairs->k, job->c1, job->c2, pairs->weight * job->step, 0, pairs->kernels);
    if (job->du) {
        scatter_side(pairs, job, tile->block[0], a);
        scatter_side(pairs, job, tile->block[1], b);
    }
    return loss;
}

/* Every ordered pair of different nodes is seen with the same probability, pairs_seen / (n (n - 1)), whose inverse
 * is its weight (P7). The number of blocks is even, so every block is in a tile of every round. */
double npi_sample_rest(npi_pairs *pairs, const npi_pairs_job *job, uint64_t seed, uint32_t draw)
{
    shuffle(pairs, seed, draw);
    return 2 * pairs->weight * npi_pairs_run_rounds(pairs, job, pairs->rounds, sampled_tile);
}
