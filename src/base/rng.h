/* Counter-based random numbers (Philox4x32-10, Salmon et al., SC 2011, doi:10.1145/2063384.2063405).
 *
 * A value is a function of (seed, purpose, stream, index) and of nothing else: any thread may compute any value, in any
 * order, and a resumed run draws what an uninterrupted one would have drawn. */
#ifndef NPI_BASE_RNG_H
#define NPI_BASE_RNG_H

#include <stdint.h>

/* What the numbers are for. Two purposes never share a value. Appending is safe; reordering changes results. */
typedef enum {
    NPI_RNG_INIT,      /* Glorot weights */
    NPI_RNG_LATENT,    /* epsilon of z; stream = iteration */
    NPI_RNG_CONTEXT,   /* context draw; stream = iteration */
    NPI_RNG_SPLIT,     /* order of edges or nodes */
    NPI_RNG_NEGATIVE,  /* non-edges */
    NPI_RNG_SYNTHETIC, /* the generator; stream = its step */
    NPI_RNG_PAIRS,     /* permutation of the sampled loss; stream = iteration */
    NPI_RNG_PREDICT,   /* z at prediction */
    NPI_RNG_TEST,      /* the test suite */
    NPI_RNG_COLD,      /* nodes that act as new; stream = iteration */
    NPI_RNG_DROPOUT,   /* features that an iteration does not see; stream = iteration */
    NPI_RNG_SPECTRAL,  /* where the eigensolver starts; stream 1: where the regions do */
    NPI_RNG_WALK,      /* random walks; stream = steps, windows or order */
    NPI_RNG_SKIPGRAM,  /* skip-gram: first vectors; negatives, stream = 1 + pool of walks */
    NPI_RNG_BOOTSTRAP, /* test pairs of a resample; stream = resample */
    NPI_RNG_REVEAL,    /* links of held-out nodes that are known when predicting */
    NPI_RNG_SAGE       /* GraphSAGE: whom each node is compared with; stream = iteration */
} npi_purpose;

typedef struct npi_rng {
    uint32_t key[2];    /* seed */
    uint32_t prefix[2]; /* purpose and stream */
    uint64_t next;      /* index of the next sequential draw */
} npi_rng;

npi_rng npi_rng_make(uint64_t seed, npi_purpose purpose, uint32_t stream);

/* The 128 random bits at `index`. */
void npi_rng_block(uint32_t out[4], const npi_rng *rng, uint64_t index);

/* By index: uniform in [0, 1) with 53 bits; standard normal (Box-Muller). They leave `next` alone. */
double npi_rng_uniform_at(const npi_rng *rng, uint64_t index);
double npi_rng_normal_at(const npi_rng *rng, uint64_t index);

/* In sequence: advance `next` by one. Below: uniform in [0, bound), bound > 0; bias below bound / 2^64. */
double npi_rng_uniform(npi_rng *rng);
uint64_t npi_rng_below(npi_rng *rng, uint64_t bound);

/* Puts 0 .. n - 1 into a uniformly random order (Fisher-Yates). */
void npi_rng_permutation(int64_t *order, int64_t n, npi_rng *rng);

#endif
