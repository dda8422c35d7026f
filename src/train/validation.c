/* One validation, for the parameters of an iteration:
 *
 *     U = decode(X, z)                           embeddings of all nodes, at the mean of z
 *     s_p = u_i · u_j                            for each validation pair p = (i, j)
 *     (b, w) = logistic regression of the labels on s and the evidence columns           (15e)
 *     s_p <- b + w_u s_p + Σ_c w_c column_c(p)                                             (15)
 *     AUC and AP of s
 *
 * The best validation is that with the largest AUC + AP. */
#include "train/validation.h"

#include <math.h>
#include <string.h>

#include "graph/negative.h"
#include "model/score.h"

/* With one non-link per link, a fit learns which pairs could be links at all. What matters is the order of the most likely
 * pairs, so more non-links are drawn for the fit. */
#define NON_LINKS_PER_LINK ((size_t)4)
#define MOST_NON_LINKS ((size_t)1 << 15)

/* The validation pairs of the split, followed, if weights are fitted, by additional non-links. */
static int take_pairs(npi_validation *v, const npgnn_split *split, int fits, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_pair *own;
    v->count = npgnn_split_pairs(&own, &v->positives, split, NPGNN_SET_VAL);
    size_t more = fits ? NON_LINKS_PER_LINK * v->positives : 0;
    more = more < MOST_NON_LINKS ? more : MOST_NON_LINKS;
    v->pairs = npi_alloc(env, v->count + more, sizeof *v->pairs, err);
    if (!v->pairs)
        return NPGNN_E_MEMORY;
    memcpy(v->pairs, own, v->count * sizeof *v->pairs);
    int code = more > 0 ? npi_split_draw_non_links(v->pairs + v->count, &more, split, env, err) : 0;
    v->all = v->count + more;
    return code;
}

int npi_validation_new(npi_validation *out, const npgnn_split *split, const npgnn_options *options,
                       const npi_params *params, const npgnn_env *env, npgnn_error *err)
{
    npi_validation v = {.weights = NPI_WEIGHTS_PLAIN};
    int code = 0;
    v.best_auc = v.best_ap = (double)NAN;
    if (split) {
        v.graph = npi_split_known(split);
        code = take_pairs(&v, split, options->evidence != NPGNN_EVIDENCE_NONE, env, err);
    }
    if (code || v.count == 0)
        goto out;
    code = npi_embedder_new(&v.embedder, options, params->size, &v.graph->a, env, err);
    if (!code)
        code = npi_evidence_new(&v.evidence, npi_evidence_asked(options->evidence), &v.graph->a, v.graph->x, env, err);
    if (code)
        goto out;
    v.score = npi_alloc(env, v.all, sizeof *v.score, err);
    v.value = npi_alloc(env, (size_t)v.evidence.count * v.all, sizeof *v.value, err);
    if (options->keep_best)
        v.best = npi_alloc(env, params->count, sizeof *v.best, err);
    if (!v.score || !v.value || (options->keep_best && !v.best)) {
        code = NPGNN_E_MEMORY;
        goto out;
    }
    /* the evidence does not change while training: its values are computed once */
    npi_evidence_pairs(v.value, &v.evidence, v.pairs, v.all);
out:
    if (code)
        npi_validation_free(env, &v);
    else
        *out = v;
    return code;
}

void npi_validation_free(const npgnn_env *env, npi_validation *v)
{
    npi_embedder_free(env, &v->embedder);
    npi_evidence_free(&v->evidence);
    npi_free(env, v->pairs);
    npi_free(env, v->score);
    npi_free(env, v->value);
    npi_free(env, v->best);
    memset(v, 0, sizeof *v);
}

int npi_validation_run(double *auc, double *ap, npi_validation *v, const npi_params *params, const real *z,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    /* U (n, k), then s_p = u_i · u_j for all pairs */
    npi_embedder_features(&v->embedder, params, v->graph->x, env->threads);
    npi_embedder_run(&v->embedder, params, z, options, env->threads);
    npi_score_pairs(v->score, v->embedder.u, params->size.k, v->pairs, v->all, env->threads);
    /* the weights of this iteration, and the scores with the evidence added */
    if (v->evidence.count > 0)
        v->weights = npi_evidence_fit(v->score, v->value, &v->evidence, v->positives, v->all);
    npi_evidence_add(v->score, v->value, &v->evidence, &v->weights, v->all);
    /* the additional non-links served the fit only */
    int code =
        npgnn_auc_ap(auc, ap, v->score, v->score + v->positives, v->positives, v->count - v->positives, env, err);
    if (code)
        return code;
    v->without_better++;
    if (!isnan(v->best_auc) && !(*auc + *ap > v->best_auc + v->best_ap))
        return 0;
    v->without_better = 0;
    v->best_auc = *auc;
    v->best_ap = *ap;
    v->best_weights = v->weights;
    if (v->best)
        memcpy(v->best, params->block, params->count * sizeof *v->best);
    return 1;
}
