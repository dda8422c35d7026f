/* Counter-based random numbers (Philox4x32-10, Salmon et al., SC 2011, doi:10.1145/2063384.2063405).
 *
 * A value is a function of (seed, purpose, stream, index) alone. Any thread may compute any value in any order, and a
 * resumed run draws the values that an uninterrupted run would have drawn. */
#ifndef NPI_BASE_RNG_H
#define NPI_BASE_RNG_H

#include <stdint.h>

/* What the numbers are used for. Two purposes never share a value. Append new ones: another order changes all results. 9 is free. */
typedef enum {
    NPI_RNG_INIT,         /* Glorot weights */
    NPI_RNG_LATENT,       /* epsilon of z; stream = iteration */
    NPI_RNG_CONTEXT,      /* edges or nodes of a context; stream = iteration */
    NPI_RNG_SPLIT,        /* which edges or nodes are held out */
    NPI_RNG_NEGATIVE,     /* non-links */
    NPI_RNG_SYNTHETIC,    /* synthetic graphs; stream = step of the generator */
    NPI_RNG_PAIRS,        /* permutation of the sampled loss; stream = iteration */
    NPI_RNG_PREDICT,      /* z at prediction */
    NPI_RNG_TEST,         /* the test suite */
    NPI_RNG_DROPOUT = 10, /* features dropped from an iteration; stream = iteration */
    NPI_RNG_SPECTRAL,     /* initial vector of the eigensolver; stream 1: initial regions */
    NPI_RNG_WALK,         /* random walks; stream = steps, windows or order */
    NPI_RNG_SKIPGRAM,     /* skip-gram: initial vectors; negatives, stream = 1 + pool of walks */
    NPI_RNG_BOOTSTRAP,    /* test pairs in a resample; stream = resample */
    NPI_RNG_REVEAL,       /* links of held-out nodes that are known when predicting */
    NPI_RNG_SAGE,         /* GraphSAGE: negatives of each node; stream = iteration */
    NPI_RNG_TASK,         /* tasks made of a graph; stream = which */
    NPI_RNG_PRETRAIN,     /* tasks, contexts, targets and draws of z of a step; stream = step */
    NPI_RNG_TUNE,         /* rehearsals of a graph: folds, non-links, order and dropout; stream = which */
    NPI_RNG_MATCHED,      /* degree-matched non-links */
    NPI_RNG_ENDS,         /* ends of test links that are ranked among all nodes */
    NPI_RNG_PROJECT,  /* projections of features; 0: sample; of W, 1: initial weights, 2: parts of the links, 3 + step:
                          offsets; then the same of Q */
    NPI_RNG_RESAMPLE, /* examples that a draw has learnt from; stream = draw */
    NPI_RNG_RETRIEVE /* retrieval; 0: pairs of the fit, 1: start of its eigenvectors, 2: centres of clusters, 3: searched nodes that are checked */
} npi_purpose;

typedef struct npi_rng {
    uint32_t key[2];    /* seed */
    uint32_t prefix[2]; /* purpose and stream */
    uint64_t next;      /* index of the next sequential draw */
} npi_rng;

npi_rng npi_rng_make(uint64_t seed, npi_purpose purpose, uint32_t stream);

/* The 128 random bits at `index`. */
void npi_rng_block(uint32_t out[4], const npi_rng *rng, uint64_t index);

/* By index, without changing `next`: uniform in [0, 1) with 53 bits, and standard normal (Box-Muller). */
double npi_rng_uniform_at(const npi_rng *rng, uint64_t index);
double npi_rng_normal_at(const npi_rng *rng, uint64_t index);

/* In sequence; each call advances `next` by one. npi_rng_below is uniform in [0, bound), bound > 0, with a bias of
 * less than bound / 2^64. */
double npi_rng_uniform(npi_rng *rng);
uint64_t npi_rng_below(npi_rng *rng, uint64_t bound);

/* order (n) = 0 .. n - 1 in a uniformly random order (Fisher-Yates). */
void npi_rng_permutation(int64_t *order, int64_t n, npi_rng *rng);

#endif
