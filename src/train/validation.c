/* One validation, for the parameters of an iteration:
 *
 *     U = decode(X, z)                           embeddings of all nodes, at the mean of z
 *     s_p = u_i · u_j                            for each validation pair p = (i, j)
 *     AUC and AP of s
 *
 * The best validation is that with the largest AUC + AP. */
#include "train/validation.h"

#include <math.h>
#include <string.h>

#include "model/score.h"

int npi_validation_new(npi_validation *out, const npgnn_split *split, const npi_partition *rows, npi_features *x,
                       const npgnn_options *options, const npi_params *params, const npgnn_env *env, npgnn_error *err)
{
    npi_validation v = {0};
    int code = 0;
    v.best_auc = v.best_ap = (double)NAN;
    if (split) {
        v.graph = npi_split_known(split);
        v.count = npgnn_split_pairs(&v.pairs, &v.positives, split, NPGNN_SET_VAL);
    }
    if (v.count == 0)
        goto out;
    v.rows = rows ? *rows : npi_partition_whole(v.graph->n);
    v.x = x ? x : v.graph->x;
    code = npi_embedder_new(&v.embedder, params->size, v.rows.to - v.rows.from, env, err);
    v.score = npi_alloc(env, v.count, sizeof *v.score, err);
    if (options->keep_best)
        v.best = npi_alloc(env, params->count, sizeof *v.best, err);
    if (!code && (!v.score || (options->keep_best && !v.best)))
        code = NPGNN_E_MEMORY;
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
    npi_free(env, v->score);
    npi_free(env, v->best);
    memset(v, 0, sizeof *v);
}

int npi_validation_run(double *auc, double *ap, npi_validation *v, const npi_params *params, const real *z,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    /* U (n, k), then s_p = u_i · u_j for all pairs */
    npi_embedder_features(&v->embedder, params, v->x, env->threads);
    npi_embedder_run(&v->embedder, params, z, options->decoder_output, env->threads);
    int code = npi_score_pairs_among(v->score, v->embedder.u, params->size.k, v->pairs, v->count, &v->rows, env, err);
    if (!code)
        code = npi_comm_agree(
            v->rows.comm,
            npgnn_auc_ap(auc, ap, v->score, v->score + v->positives, v->positives, v->count - v->positives, env, err),
            err);
    if (code)
        return code;
    v->without_better++;
    if (!isnan(v->best_auc) && !(*auc + *ap > v->best_auc + v->best_ap))
        return 0;
    v->without_better = 0;
    v->best_auc = *auc;
    v->best_ap = *ap;
    if (v->best)
        memcpy(v->best, params->block, params->count * sizeof *v->best);
    return 1;
}
