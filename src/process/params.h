/* The parameters of the process: one block with a pointer to each tensor. Gradients and Adam's state have the same
 * shape. */
#ifndef NPI_PROCESS_PARAMS_H
#define NPI_PROCESS_PARAMS_H

#include "base/env.h"
#include "linalg/real.h"

/* One letter per size, the same everywhere in this folder: e columns of evidence, h hidden, d latent. */
typedef struct npi_process_sizes {
    int e, h, d;
} npi_process_sizes;

/* X(name, rows, cols): weights are (inputs, outputs), biases have one row. p->size is the npi_process_sizes. */
#define NPI_PROCESS_TENSORS(X)                                                                                         \
    X(vote_w1, 2 * z.e + 1, z.h) /* encoder of a labelled pair: [e ; y ; y e] to a vote for z */                       \
    X(vote_b1, 1, z.h)                                                                                                 \
    X(vote_w2, z.h, z.h)                                                                                               \
    X(vote_b2, 1, z.h)                                                                                                 \
    X(vote_w3, z.h, 2 * z.d) /* its mean | its precision, before softplus */                                           \
    X(vote_b3, 1, 2 * z.d)                                                                                             \
    X(prior, 1, 2 * z.d)  /* z without a context: its mean | its precision, before softplus */                         \
    X(score_w1, z.e, z.h) /* decoder: evidence to a score */                                                           \
    X(score_b1, 1, z.h)                                                                                                \
    X(score_w2, z.h, z.h)                                                                                              \
    X(score_b2, 1, z.h)                                                                                                \
    X(score_w3, z.h, 1)                                                                                                \
    X(score_b3, 1, 1)                                                                                                  \
    X(film_w, z.d, 4 * z.h) /* z to the scale | shift of both hidden layers */                                         \
    X(film_b, 1, 4 * z.h)                                                                                              \
    X(line_w, z.d, z.e + 1) /* z to the linear part of the score: weights | shift */                                   \
    X(line_b, 1, z.e + 1)

enum {
#define NPI_X(name, rows, cols) NPI_PROCESS_##name,
    NPI_PROCESS_TENSORS(NPI_X)
#undef NPI_X
        NPI_PROCESS_TENSOR_COUNT
};

typedef struct npi_process_params {
    npi_process_sizes size;
    size_t count;
    real *block; /* (count), owned */
#define NPI_X(name, rows, cols) real *name;
    NPI_PROCESS_TENSORS(NPI_X)
#undef NPI_X
} npi_process_params;

int npi_process_params_new(npi_process_params *out, npi_process_sizes size, const npgnn_env *env, npgnn_error *err);
void npi_process_params_free(const npgnn_env *env, npi_process_params *params);

/* Tensor `index` by name, with where it begins in the block. */
typedef struct npi_process_tensor {
    const char *name;
    int rows, cols;
    real *values;
} npi_process_tensor;
npi_process_tensor npi_process_params_tensor(const npi_process_params *params, int index);

/* Weights uniform in ±1/√inputs. Votes begin with a small precision and z with a small influence, so that training
 * starts from a predictor that is the same for all graphs. */
void npi_process_params_init(npi_process_params *params, uint64_t seed);

#endif
