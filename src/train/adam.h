/* Adam (Kingma & Ba, 2015, arXiv:1412.6980; docs/understand/math.md, eq. (A1)-(A3)). */
#ifndef NPI_TRAIN_ADAM_H
#define NPI_TRAIN_ADAM_H

#include "model/params.h"

typedef struct npi_adam {
    real *m, *v; /* (count) running means of the gradient and of its square */
    size_t count;
    int64_t step;
    double rate, beta1, beta2, epsilon;
    npgnn_lr_schedule schedule; /* of the rate */
    int horizon;                /* steps after which it reaches 0 */
    double input_scale;         /* factor of the rate for weights that are multiplied with features */
} npi_adam;

int npi_adam_new(npi_adam *out, size_t count, const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* Returns 1; or 0, and changes nothing, where the gradient is not finite. */
int npi_adam_step(npi_adam *adam, npi_params *params, const npi_params *gradient, int threads);
void npi_adam_free(const npgnn_env *env, npi_adam *adam);

#endif
