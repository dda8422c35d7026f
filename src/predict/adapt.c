/* Adapts a model to a graph that it was not trained on, without training: q(z | G) is encoded from the new graph
 * (docs/understand/math.md, (1)-(4)) and the link rate is that of the new graph; the parameters and the calibration
 * stay. */
#include <math.h>

#include "features/match.h"
#include "graph/graph.h"
#include "model/model.h"
#include "model/net.h"
#include "predict/predictor.h"

int npgnn_model_latent(float *mean, float *sigma, const npgnn_model *model)
{
    int d = model->params.size.d;
    /* q = (μ, log σ) */
    for (int c = 0; c < d; c++) {
        if (mean)
            mean[c] = (float)model->q[c];
        if (sigma)
            sigma[c] = (float)exp((double)model->q[d + c]);
    }
    return d;
}

/* model->q (2, d) = q(z | context) with the parameters of the model; x (n, f) are the features of the context. */
static int encode(npgnn_model *model, const npgnn_graph *context, const npi_features *x, const npgnn_env *env,
                  npgnn_error *err)
{
    int d = model->params.size.d;
    npi_net *net = NULL;
    npi_adj adj = {.a = context->a, .scale = npi_alloc(env, (size_t)context->n, sizeof *adj.scale, err)};
    int code = adj.scale ? npi_net_new_encoder(&net, &model->options, context->n, x->f, env, err) : NPGNN_E_MEMORY;
    if (!code) {
        npi_adj_normalize(&adj, env->threads); /* Â, (1); then (2) to (4) */
        npi_net_encode(net, model->q, model->q + d, &model->params, x, &adj);
        model->info.context_fingerprint = npi_graph_fingerprint(context);
    }
    /* from here on z is in every score of this model: better an error now than NaN in all of them */
    for (int c = 0; !code && c < 2 * d; c++)
        if (!isfinite(model->q[c]))
            code = npi_fail(err, NPGNN_E_DIVERGED, "the features of the context are too large: its z is not finite");
    npi_net_free(net);
    npi_free(env, adj.scale);
    return code;
}

int npgnn_model_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                      npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    return model->kind->adapt(out, model, context, &resolved, err);
}

int npi_process_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                      npgnn_error *err)
{
    (void)out, (void)model, (void)context, (void)env;
    return npi_process_refuse("does not encode its latent from another graph", err);
}

int npi_network_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                      npgnn_error *err)
{
    npgnn_model *copy = NULL;
    npi_features *x = NULL;
    if (context->n == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the context has no nodes");
    int code = npi_features_match(&x, context->x, model->columns, model->encoding, model->params.size.f, "the model",
                                  "the graph", env, err);
    if (!code)
        code = npi_model_copy(&copy, model, env, err);
    if (!code && copy->q) /* NULL: a network without z, of which only the link rate changes */
        code = encode(copy, context, x, env, err);
    if (!code && context->m > 0) /* no links say nothing about their rate: that of the training graph stays */
        copy->info.link_rate = npi_link_rate_among((double)npi_graph_count_pairs(context), context->m);
    npi_features_free(x);
    if (code) {
        npgnn_model_free(copy);
        return code;
    }
    *out = copy;
    return 0;
}
