/* The percentile bootstrap of AUC and AP: draws as many positives and as many negatives as there are, with replacement,
 * `count` times; the interval is the central 95 % of the values. Scores enter only through their order, so a resample
 * counts how often each group of equal scores was drawn. */
#include "eval/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "eval/ranking.h"

#define OUTSIDE 0.025 /* on either side of an interval */

int npi_resamples_new(npi_resamples *r, int count, const npgnn_env *env, npgnn_error *err)
{
    r->count = count;
    r->runs = 0;
    r->auc = npi_alloc(env, (size_t)count, sizeof *r->auc, err);
    r->ap = npi_alloc(env, (size_t)count, sizeof *r->ap, err);
    r->scratch = npi_alloc(env, (size_t)count, sizeof *r->scratch, err);
    return r->auc && r->ap && r->scratch ? 0 : NPGNN_E_MEMORY;
}

void npi_resamples_free(const npgnn_env *env, npi_resamples *r)
{
    npi_free(env, r->auc);
    npi_free(env, r->ap);
    npi_free(env, r->scratch);
}

void npi_resamples_reset(npi_resamples *r)
{
    r->runs = 0;
    memset(r->auc, 0, (size_t)r->count * sizeof *r->auc);
    memset(r->ap, 0, (size_t)r->count * sizeof *r->ap);
}

/* ---- one run: which group of equal scores, the highest being 0, each positive and each negative is in ---- */

typedef struct groups {
    uint32_t *positive, *negative; /* (positives), (negatives) ascending */
    size_t positives, negatives, count;
} groups;

static int groups_new(groups *out, npi_ranking *ranking, const npgnn_env *env, npgnn_error *err)
{
    npi_group g = {0};
    size_t p = 0, n = 0;
    if (ranking->left > UINT32_MAX)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%zu test pairs are too many to resample", ranking->left);
    out->positive = npi_alloc(env, ranking->positives, sizeof *out->positive, err);
    out->negative = npi_alloc(env, ranking->negatives, sizeof *out->negative, err);
    if (!out->positive || !out->negative)
        return NPGNN_E_MEMORY;
    out->positives = ranking->positives;
    out->negatives = ranking->negatives;
    for (; npi_ranking_next(&g, ranking); out->count++) {
        for (size_t i = 0; i < (size_t)g.positives; i++)
            out->positive[p++] = (uint32_t)out->count;
        for (size_t i = 0; i < (size_t)g.negatives; i++)
            out->negative[n++] = (uint32_t)out->count;
    }
    return 0;
}

/* Draws `count` members with replacement, and counts the hits of each group. */
static void draw(uint32_t *hits, const uint32_t *group, size_t count, npi_rng *rng)
{
    for (size_t i = 0; i < count; i++)
        hits[group[npi_rng_below(rng, count)]]++;
}

/* AUC and AP, as sums, of one resample. hits (2, groups) is scratch of this thread. */
static npi_curve resample(uint32_t *hits, const groups *g, uint64_t seed, int index)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_BOOTSTRAP, (uint32_t)index);
    npi_curve curve = {0};
    npi_group now = {0};
    memset(hits, 0, 2 * g->count * sizeof *hits);
    draw(hits, g->positive, g->positives, &rng);
    draw(hits + g->count, g->negative, g->negatives, &rng);
    for (size_t i = 0; i < g->count; i++) {
        now.positives = hits[i];
        now.negatives = hits[g->count + i];
        npi_curve_add(&curve, &now, (double)g->negatives);
        now.positives_above += now.positives;
        now.negatives_above += now.negatives;
    }
    return curve;
}

typedef struct resample_loop {
    const npi_resamples *r;
    const groups *g;
    uint64_t seed;
    uint32_t *hits; /* (threads, 2, groups) */
} resample_loop;

static void add_resamples(const void *arg, int64_t first, int64_t last)
{
    const resample_loop *l = arg;
    const groups *g = l->g;
    double positives = (double)g->positives, couples = positives * (double)g->negatives;
    for (int i = (int)first; i < last; i++) {
        npi_curve curve = resample(l->hits + (size_t)npi_worker() * 2 * g->count, g, l->seed, i);
        l->r->auc[i] += curve.wins / couples;
        l->r->ap[i] += curve.precision / positives;
    }
}

int npi_resamples_add(npi_resamples *r, const float *positive, const float *negative, size_t positives,
                      size_t negatives, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    npi_ranking ranking;
    groups g = {0};
    uint32_t *hits = NULL;
    int code = npi_ranking_new(&ranking, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    /* sort once; then each resample is linear in the number of scores */
    code = groups_new(&g, &ranking, env, err);
    npi_ranking_free(&ranking);
    if (!code && !(hits = npi_alloc(env, (size_t)env->threads * 2 * g.count, sizeof *hits, err)))
        code = NPGNN_E_MEMORY;
    if (!code) {
        resample_loop loop = {r, &g, seed, hits};
        npi_parallel(env->threads, r->count, 0, add_resamples, &loop);
        r->runs++;
    }
    npi_free(env, hits);
    npi_free(env, g.positive);
    npi_free(env, g.negative);
    return code;
}

/* ---- the interval ---- */

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Between the two nearest values, in proportion. */
static double quantile(const double *sorted, int count, double share)
{
    double at = share * (count - 1), below = floor(at);
    int i = (int)below, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - below) * (sorted[next] - sorted[i]);
}

static void interval(double out[2], const double *sums, npi_resamples *r)
{
    for (int i = 0; i < r->count; i++)
        r->scratch[i] = sums[i] / r->runs;
    qsort(r->scratch, (size_t)r->count, sizeof *r->scratch, ascending);
    out[0] = quantile(r->scratch, r->count, OUTSIDE);
    out[1] = quantile(r->scratch, r->count, 1 - OUTSIDE);
}

void npi_resamples_interval(double auc[2], double ap[2], npi_resamples *r)
{
    interval(auc, r->auc, r);
    interval(ap, r->ap, r);
}
