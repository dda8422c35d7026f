#include "model/pairs_tiles.h"

#include <omp.h>

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
    return pairs->scratch + (size_t)omp_get_thread_num() * pairs->thread_reals;
}
