/* Philox4x32-10 and the distributions made from it; rng.h says why it is counter-based. */
#include "base/rng.h"

#include <math.h>

npi_rng npi_rng_make(uint64_t seed, npi_purpose purpose, uint32_t stream)
{
    npi_rng rng = {{(uint32_t)seed, (uint32_t)(seed >> 32)}, {(uint32_t)purpose, stream}, 0};
    return rng;
}

/* Ten rounds over the counter (c0 .. c3) = (index, purpose, stream) under the key (k0, k1) = seed. A round
 * multiplies two of the four words to 64 bits, and mixes the halves with the other two words and the key. The key
 * advances by a constant per round. */
void npi_rng_block(uint32_t out[4], const npi_rng *rng, uint64_t index)
{
    uint32_t k0 = rng->key[0], k1 = rng->key[1];
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = rng->prefix[0], c3 = rng->prefix[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static uint64_t bits64(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The top 53 bits as a number in [0, 1). */
static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

double npi_rng_uniform_at(const npi_rng *rng, uint64_t index)
{
    uint32_t r[4];
    npi_rng_block(r, rng, index);
    return unit(bits64(r[0], r[1]));
}

double npi_rng_normal_at(const npi_rng *rng, uint64_t index)
{
    uint32_t r[4];
    npi_rng_block(r, rng, index);
    /* Box-Muller: 1 - u is in (0, 1], so that the logarithm is finite */
    double radius = sqrt(-2.0 * log(1.0 - unit(bits64(r[0], r[1]))));
    return radius * cos(6.283185307179586477 * unit(bits64(r[2], r[3])));
}

double npi_rng_uniform(npi_rng *rng)
{
    return npi_rng_uniform_at(rng, rng->next++);
}

uint64_t npi_rng_below(npi_rng *rng, uint64_t bound)
{
    uint32_t r[4];
    npi_rng_block(r, rng, rng->next++);
    /* the high 64 bits of the 128-bit product bits * bound, from products of 32-bit halves */
    uint64_t high = (uint64_t)r[0] * (bound & 0xFFFFFFFFu);
    uint64_t bits = bits64(r[0], r[1]);
    uint64_t lo_lo = (bits & 0xFFFFFFFFu) * (bound & 0xFFFFFFFFu);
    uint64_t hi_hi = (bits >> 32) * (bound >> 32);
    uint64_t lo_hi = (bits & 0xFFFFFFFFu) * (bound >> 32);
    uint64_t middle = (lo_lo >> 32) + (high & 0xFFFFFFFFu) + (lo_hi & 0xFFFFFFFFu);
    return hi_hi + (high >> 32) + (lo_hi >> 32) + (middle >> 32);
}

void npi_rng_permutation(int64_t *order, int64_t n, npi_rng *rng)
{
    /* inside-out Fisher-Yates: item i goes to a random place j <= i, and the item there to place i */
    for (int64_t i = 0; i < n; i++) {
        int64_t j = (int64_t)npi_rng_below(rng, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
