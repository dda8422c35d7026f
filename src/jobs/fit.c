#include "jobs/fit.h"

int npi_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
            const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    int code = npgnn_trainer_new(&trainer, graph, split, options, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    if (!code && last)
        code = npgnn_trainer_progress(last, trainer, err);
    if (!code)
        code = npgnn_trainer_model(out, trainer, err);
    npgnn_trainer_free(trainer);
    return code;
}

int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
              npgnn_error *err)
{
    return npi_fit(out, NULL, graph, NULL, options, env, err);
}
