/* The parameters of the network: one block, with a pointer to each tensor. Gradients and Adam's state have the same
 * shape. */
#ifndef NPI_MODEL_PARAMS_H
#define NPI_MODEL_PARAMS_H

#include "linalg/sparse.h"

/* One letter per size, the same everywhere: f features, h encoder hidden, d latent, g decoder hidden, k output. Without
 * the latent h = d = 0. */
typedef struct npi_sizes {
    int32_t f;
    int h, d, g, k;
} npi_sizes;

npi_sizes npi_sizes_of(const npgnn_options *options, int32_t f);

typedef struct npi_params {
    npi_sizes size;
    size_t count;
    real *block; /* (count), owned */
    real *wx;    /* (f, h + g): columns W1 | W2x, side by side so that one pass over X serves encoder and decoder */
    real *wr;    /* (h, 2 d): columns Wμ | Wσ */
    real *wz;    /* (d, g): the rows of W2 that z meets */
    real *b1;    /* (g) */
    real *w3;    /* (g, k) */
    real *b2;    /* (k) */
} npi_params;

int npi_params_new(npi_params *out, npi_sizes size, const npgnn_env *env, npgnn_error *err);
void npi_params_free(const npgnn_env *env, npi_params *params);

/* Glorot-uniform weights, zero biases. W2 = [W2x; Wz] counts as one (f + d, g) matrix. Weights that meet the features
 * are in their units: input_scale times as large. */
void npi_params_init(npi_params *params, uint64_t seed, double input_scale);

/* The tensors by name, as the model file and the twin know them: W1 (f, h), W_mu (h, d), W_sigma (h, d), W2 (f + d, g),
 * b1 (g), W3 (g, k), b2 (k). Copies between the block and a contiguous row-major matrix. Index 0 .. NPI_TENSORS - 1. */
#define NPI_TENSORS 7
typedef struct npi_tensor {
    const char *name;
    int32_t rows, cols; /* rows 1: a vector; 0 when the network has no latent and the tensor does not exist */
} npi_tensor;
npi_tensor npi_params_tensor(const npi_params *params, int index);
void npi_params_read(float *out, const npi_params *params, int index);
void npi_params_write(npi_params *params, int index, const float *in);

#endif
