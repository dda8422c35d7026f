/* From labelled pairs to z (Bayesian aggregation, Volpp et al., ICLR 2021).
 *
 * Each pair of the context votes for z with a mean and a precision. Precisions add up, so the more votes there are, the
 * narrower z is; without any, z is its prior:
 *
 *     vote        (m_p, λ_p) = MLP([e_p ; y_p ; y_p e_p]),        λ_p = softplus(·) > 0
 *     prior       m_0 = prior[mean],    λ_0 = softplus(prior[precision] + 0.54) + 0.001, about 1 before training
 *     posterior   λ = λ_0 + Σ_p λ_p,    mean = (λ_0 m_0 + Σ_p λ_p m_p) / λ */
#ifndef NPI_PROCESS_ENCODER_H
#define NPI_PROCESS_ENCODER_H

#include "process/params.h"

/* What z is inferred from. */
typedef struct npi_process_context {
    const float *evidence; /* (count, e), standardised */
    const float *label;    /* (count): 1 link, -1 non-link, 0 unknown */
    int count;
} npi_process_context;

/* Activations of one pass, kept for the way back. */
typedef struct npi_process_encoder {
    npi_process_sizes size;
    int capacity;  /* pairs */
    real *input;   /* (capacity, 2 e + 1) */
    real *h1, *h2; /* (capacity, h) after relu */
    real *vote;    /* (capacity, 2 d): mean | precision before softplus */
    real *dvote;   /* (capacity, 2 d) */
    real *dh;      /* (capacity, h) */
} npi_process_encoder;

int npi_process_encoder_new(npi_process_encoder *out, npi_process_sizes size, int capacity, const npgnn_env *env,
                            npgnn_error *err);
void npi_process_encoder_free(const npgnn_env *env, npi_process_encoder *encoder);

/* mean (d) and precision (d) of z. On the calling thread, inside npi_blas_begin; as is everything in this folder. */
void npi_process_encode(real *mean, real *precision, npi_process_encoder *encoder, const npi_process_params *params,
                        const npi_process_context *context);

/* Adds to `gradient`, given the derivatives of the loss by mean and precision; after npi_process_encode with the same
 * context. */
void npi_process_encode_backward(npi_process_params *gradient, npi_process_encoder *encoder,
                                 const npi_process_params *params, const npi_process_context *context, const real *mean,
                                 const real *precision, const real *dmean, const real *dprecision);

#endif
