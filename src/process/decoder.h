/* From evidence and z to a score: a small network whose hidden layers z scales and shifts, and a linear part whose
 * weights z chooses.
 *
 *     [a1 a2 a3 a4] = z film_w + film_b,    [w ; w0] = z line_w + line_b
 *     h1 = relu((e W1 + b1) (1 + a1) + a2)
 *     h2 = relu((h1 W2 + b2) (1 + a3) + a4)
 *     score = h2 · w3 + b3 + e · w + w0 */
#ifndef NPI_PROCESS_DECODER_H
#define NPI_PROCESS_DECODER_H

#include "process/params.h"

/* Activations of one pass, kept for the way back. */
typedef struct npi_process_decoder {
    npi_process_sizes size;
    int capacity;  /* pairs */
    real *film;    /* (4 h): a1 | a2 | a3 | a4 */
    real *line;    /* (e + 1): w ; w0 */
    real *dfilm;   /* (4 h) */
    real *dline;   /* (e + 1) */
    real *input;   /* (capacity, e) */
    real *x1, *x2; /* (capacity, h) e W1 + b1 and h1 W2 + b2 */
    real *h1, *h2; /* (capacity, h) */
    real *dx;      /* (capacity, h) */
    real *dh;      /* (capacity, h) */
} npi_process_decoder;

int npi_process_decoder_new(npi_process_decoder *out, npi_process_sizes size, int capacity, const npgnn_env *env,
                            npgnn_error *err);
void npi_process_decoder_free(const npgnn_env *env, npi_process_decoder *decoder);

/* score (count) of pairs with this evidence (count, e), count <= capacity. */
void npi_process_decode(real *score, npi_process_decoder *decoder, const npi_process_params *params,
                        const float *evidence, const real *z, int count);

/* Adds to `gradient` and to dz (d), given dscore (count); after npi_process_decode with the same z. */
void npi_process_decode_backward(npi_process_params *gradient, real *dz, npi_process_decoder *decoder,
                                 const npi_process_params *params, const real *z, const real *dscore, int count);

#endif
