#include "baselines/method.h"

#include <math.h>

npgnn_progress npi_method_begin(int iterations)
{
    double unknown = (double)NAN;
    return (npgnn_progress){
        .runs = 1, .iterations = iterations, .loss = unknown, .kl = unknown, .val_auc = unknown, .val_ap = unknown};
}

int npi_method_advance(npgnn_progress *progress, double start, const npgnn_env *env, npgnn_error *err)
{
    progress->iteration++;
    progress->seconds = npi_seconds() - start;
    if (env->progress && env->progress(env->user, progress))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d of %d", progress->iteration,
                        progress->iterations);
    return 0;
}
