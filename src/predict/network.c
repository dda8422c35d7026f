/* Predictors of a network: embeddings of all nodes at the mean of z or, for each draw, anew; a score is their inner
 * product.
 *
 *     U(z) = act(sigmoid(X W2x + z Wz + b1) W3 + b2),    z_c = μ_c + σ_c ε_c        (docs/understand/math.md, (6))
 *     score(i, j) = u_i · u_j
 */
#include <float.h>

#include "base/rng.h"
#include "features/match.h"
#include "model/options.h"
#include "model/score.h"
#include "predict/predictor.h"

enum { BATCH = 65536 }; /* pairs scored at a time: bounds the memory of one call */

double npi_network_link_rate(const npgnn_model *model, const npgnn_graph *graph)
{
    (void)graph;
    return model->info.link_rate; /* the rate of its training graph */
}

/* z (d) = draw `index` of q(z), or its mean for -1:  z_c = μ_c + σ_c ε_c. Returns z; NULL without latent. */
static const real *draw_latent(real *z, const npgnn_predictor *p, int index)
{
    int d = p->model->params.size.d;
    if (d == 0)
        return NULL;
    /* a stream per draw: draw i is the same whatever the number of draws and in whichever call */
    npi_rng rng = npi_rng_make(p->seed, NPI_RNG_PREDICT, (uint32_t)index);
    for (int c = 0; c < d; c++) {
        double change = index < 0 ? 0 : exp((double)p->model->q[d + c]) * npi_rng_normal_at(&rng, (uint64_t)c);
        z[c] = (real)((double)p->model->q[c] + change); /* μ_c + σ_c ε_c, σ_c = exp(q_(d + c)) */
    }
    return z;
}

/* |u_i . u_j| <= k max |u|^2: below FLT_MAX, so that no score, and no partial sum of one, overflows. A NaN fails
 * too. */
static int scores_are_finite(const npi_embedder *e, int k)
{
    int sound = 1;
    const real most = (real)(sqrt((double)FLT_MAX / k) / 2); /* k most² = FLT_MAX / 4: room for rounding */
    for (int64_t i = 0; i < (int64_t)e->n * k; i++)
        sound &= fabs((double)e->u[i]) <= (double)most;
    return sound;
}

int npi_predictor_decode(npi_embedder *out, const npgnn_predictor *p, int draw, npgnn_error *err)
{
    real z[NPI_MAX_WIDTH];
    npi_embedder_run(out, &p->model->params, draw_latent(z, p, draw), p->model->options.decoder_output, p->threads);
    return scores_are_finite(out, p->model->params.size.k)
               ? 0
               : npi_fail(err, NPGNN_E_DIVERGED,
                          "the scores of this graph are not finite: the weights of the model or the "
                          "features of the graph are too large");
}

int npi_network_apply(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                      const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    resolved.comm = NULL; /* every process has the embeddings of all nodes */
    npi_sizes s = model->params.size;
    npgnn_predict_options o;
    int code = npi_predict_options_read(&o, options, err);
    if (code)
        return code;
    npi_features *x = NULL;
    code = npi_features_match(&x, graph->x, model->columns, model->encoding, s.f, "the model", "the graph", &resolved,
                              err);
    if (code)
        return code;
    npgnn_predictor *p = npi_alloc(&resolved, 1, sizeof *p, err);
    if (!p) {
        npi_features_free(x);
        return NPGNN_E_MEMORY;
    }
    p->env = resolved;
    p->threads = resolved.threads;
    p->model = model;
    p->x = x;
    p->graph = graph;
    p->samples = o.samples >= 0 ? o.samples : model->options.predict_samples;
    p->seed = o.seed;
    double own = npi_network_link_rate(model, graph), rate = o.link_rate > 0 ? o.link_rate : own;
    double hidden = npi_hidden_share(o.link_rate, own);
    p->calibration = npi_calibration_at(model->scorer.calibration, rate, hidden);
    if (s.d == 0 || !model->options.sample_latent)
        p->samples = 0; /* there is nothing to draw */
    p->batch = BATCH;
    code = npi_embedder_new(&p->embedder, s, graph->n, &resolved, err);
    if (!code) /* X W2x, which all draws have in common */
        npi_embedder_features(&p->embedder, &model->params, x, resolved.threads);
    if (!code && p->samples == 0)
        code = npi_predictor_decode(&p->embedder, p, -1, err);
    else if (!code)
        npi_embedder_shrink(&resolved, &p->embedder); /* each call decodes draws in memory of its own */
    if (code) {
        npgnn_predictor_free(p);
        return code;
    }
    *out = p;
    return 0;
}

int npi_network_batch_new(npi_predict_batch *out, const npgnn_predictor *p, size_t count, npgnn_error *err)
{
    int code = npi_predict_batch_new(out, p, 1, count, err);
    if (!code && p->samples > 0)
        code = npi_embedder_share(&out->embedder, p->model->params.size, &p->embedder, &p->env, err);
    return code;
}

/* A network: the inner product of the embeddings at the mean of z, or at each draw. */
int npi_network_score(npi_predict_batch *w, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                      npgnn_error *err)
{
    int k = p->model->params.size.k;
    if (p->samples == 0) /* u_i · u_j at the mean of z */
        npi_score_pairs(w->score, p->embedder.u, k, pairs, count, p->threads);
    for (int draw = 0; draw < p->samples; draw++) {
        int code = npi_predictor_decode(&w->embedder, p, draw, err);
        if (code)
            return code;
        npi_score_pairs(w->score, w->embedder.u, k, pairs, count, p->threads);
        for (size_t i = 0; i < count; i++)
            npi_sums_add(&w->sums[i], &p->calibration, w->score[i]);
    }
    return 0;
}

int npi_network_embed(float *embedding, npgnn_predictor *p, npgnn_error *err)
{
    (void)err;
    for (size_t i = 0; i < (size_t)p->graph->n * (size_t)p->model->params.size.k; i++)
        embedding[i] = (float)p->embedder.u[i];
    return 0;
}

int npi_network_explain(npgnn_explanation *out, npgnn_predictor *predictor, npgnn_pair pair, npgnn_error *err)
{
    (void)out, (void)predictor, (void)pair;
    return npi_fail(
        err, NPGNN_E_ARGUMENT,
        "a network cannot explain its predictions: they are inner products of embeddings, whose numbers mean "
        "nothing to people; use universal, or a model of the preset best");
}

int npi_network_gather(npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    return count > 0 ? npi_network_explain(NULL, predictor, pairs[0], err) : 0;
}

int npi_network_complete(npgnn_predictor *predictor, npgnn_error *err)
{
    (void)predictor, (void)err;
    return 0; /* the embeddings are all that there is */
}

int npi_network_quicken(npgnn_predictor *predictor, uint64_t seed, npgnn_error *err)
{
    (void)predictor, (void)seed, (void)err;
    return 0;
}

void npi_network_free_predictor(npgnn_predictor *p)
{
    npi_embedder_free(&p->env, &p->embedder);
}
