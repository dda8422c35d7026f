/* Ranking metrics. */
#include "eval/ranking.h"

int npgnn_auc_ap(double *auc, double *ap, const float *positive, const float *negative, size_t positives,
                 size_t negatives, const npgnn_env *env, npgnn_error *err)
{
    npi_ranking r;
    npi_group g = {0};
    npi_curve curve = {0};
    int code = npi_ranking_new(&r, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    while (npi_ranking_next(&g, &r))
        npi_curve_add(&curve, &g, (double)negatives);
    *auc = curve.wins / ((double)positives * (double)negatives);
    *ap = curve.precision / (double)positives;
    npi_ranking_free(&r);
    return 0;
}

int npgnn_mrr_hits(double *mrr, double *hits, const float *positive, const float *negative, size_t positives,
                   size_t negatives, const int *k, size_t ks, const npgnn_env *env, npgnn_error *err)
{
    npi_ranking r;
    npi_group g = {0};
    double reciprocals = 0;
    int code;
    for (size_t i = 0; i < ks; i++)
        if (k[i] < 1)
            return npi_fail(err, NPGNN_E_ARGUMENT, "hits at %d: the rank must be at least 1", k[i]);
    code = npi_ranking_new(&r, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    for (size_t i = 0; i < ks; i++)
        hits[i] = 0;
    while (npi_ranking_next(&g, &r)) {
        double rank = 1 + g.negatives_above + g.negatives / 2;
        reciprocals += g.positives / rank;
        for (size_t i = 0; i < ks; i++)
            if (rank <= k[i])
                hits[i] += g.positives;
    }
    for (size_t i = 0; i < ks; i++)
        hits[i] /= (double)positives;
    *mrr = reciprocals / (double)positives;
    npi_ranking_free(&r);
    return 0;
}
