#include "train/validation.h"

#include <math.h>
#include <string.h>

#include "linalg/cosine.h"
#include "model/prior.h"
#include "model/score.h"

static int has_prior(const npgnn_options *options)
{
    return options->fit_prior || options->prior_weight > 0;
}

static int make_room(npi_validation *v, const npgnn_options *options, const npi_params *params, const npgnn_env *env,
                     npgnn_error *err)
{
    int code = npi_embedder_new(&v->embedder, options, params->size, &v->graph->a, env, err);
    if (code)
        return code;
    v->score = npi_alloc(env, v->count, sizeof *v->score, err);
    if (options->keep_best)
        v->best = npi_alloc(env, params->count, sizeof *v->best, err);
    if (has_prior(options))
        v->cosine = npi_alloc(env, v->count, sizeof *v->cosine, err);
    if (!v->score || (options->keep_best && !v->best) || (has_prior(options) && !v->cosine))
        return NPGNN_E_MEMORY;
    return v->cosine ? npi_cosine_scores(v->cosine, v->graph->x, v->pairs, v->count, env, err) : 0;
}

int npi_validation_new(npi_validation *out, const npgnn_split *split, const npgnn_options *options,
                       const npi_params *params, const npgnn_env *env, npgnn_error *err)
{
    npi_validation v = {.prior = options->prior_weight, .best_prior = options->prior_weight};
    int code = 0;
    v.best_auc = v.best_ap = (double)NAN;
    if (split) {
        v.graph = npi_split_known(split);
        v.count = npgnn_split_pairs(&v.pairs, &v.positives, split, NPGNN_SET_VAL);
    }
    if (v.count > 0)
        code = make_room(&v, options, params, env, err);
    if (code)
        npi_validation_free(env, &v);
    else
        *out = v;
    return code;
}

void npi_validation_free(const npgnn_env *env, npi_validation *v)
{
    npi_embedder_free(env, &v->embedder);
    npi_free(env, v->score);
    npi_free(env, v->cosine);
    npi_free(env, v->best);
    memset(v, 0, sizeof *v);
}

static int is_better(const npi_validation *v, double auc, double ap)
{
    return isnan(v->best_auc) || auc + ap > v->best_auc + v->best_ap;
}

int npi_validation_run(double *auc, double *ap, npi_validation *v, const npi_params *params, const real *z,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_embedder_features(&v->embedder, params, v->graph->x, env->threads);
    npi_embedder_run(&v->embedder, params, z, options, env->threads);
    npi_score_pairs(v->score, v->embedder.u, params->size.k, v->pairs, v->count, env->threads);
    if (options->fit_prior)
        v->prior = npi_prior_fit(v->score, v->cosine, v->positives, v->count);
    if (v->cosine)
        npi_prior_add(v->score, v->cosine, v->count, v->prior);
    int code =
        npgnn_auc_ap(auc, ap, v->score, v->score + v->positives, v->positives, v->count - v->positives, env, err);
    if (code)
        return code;
    v->without_better++;
    if (!is_better(v, *auc, *ap))
        return 0;
    v->without_better = 0;
    v->best_auc = *auc;
    v->best_ap = *ap;
    v->best_prior = v->prior;
    if (v->best)
        memcpy(v->best, params->block, params->count * sizeof *v->best);
    return 1;
}
