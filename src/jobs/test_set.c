/* Scores the pairs of a test set and computes its metrics: AUC, AP, MRR and hits, against degree-matched and hard
 * negatives, calibration. */
#include "jobs/test_set.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "graph/negative.h"

#include "model/model.h"

enum { KS = 3 };
static const int ranks_asked[KS] = {1, 10, 100};

/* Appends pairs (added) to those of a set. */
static int append(npi_test_set *set, const npgnn_pair *pairs, size_t added, const npgnn_env *env, npgnn_error *err)
{
    npgnn_pair *all = npi_resize(env, NULL, set->count + added, sizeof *all, err);
    if (!all)
        return NPGNN_E_MEMORY;
    memcpy(all, set->pairs, set->count * sizeof *all);
    if (added > 0)
        memcpy(all + set->count, pairs, added * sizeof *all);
    npi_free(env, set->own);
    set->pairs = set->own = all;
    set->count += added;
    return 0;
}

int npi_test_set_add_hard(npi_test_set *set, const npi_population *among, const npgnn_graph *known,
                          const npgnn_env *env, npgnn_error *err)
{
    int code = npi_hard_new(&set->hard, among, known, set->pairs, set->positives, NPI_HARD_PER_END, env, err);
    return code ? code : append(set, set->hard.pairs, (size_t)set->hard.start[set->hard.ends], env, err);
}

/* Adds as many degree-matched non-links as the set has links. */
static int add_matched(npi_test_set *set, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    npgnn_pair *pairs = npi_alloc(env, set->positives, sizeof *pairs, err);
    if (!pairs)
        return NPGNN_E_MEMORY;
    set->matched = npi_split_draw_matched(pairs, set->positives, split);
    int code = append(set, pairs, set->matched, env, err);
    npi_free(env, pairs);
    return code;
}

int npi_test_set_new(npi_test_set *out, const npgnn_split *split, npgnn_negatives negatives, const npgnn_env *env,
                     npgnn_error *err)
{
    npi_test_set set = {0};
    set.tested = set.count = npgnn_split_pairs(&set.pairs, &set.positives, split, NPGNN_SET_TEST);
    int code = add_matched(&set, split, env, err);
    npi_population among = npi_split_population(split, NPGNN_SET_TEST);
    if (!code && negatives == NPGNN_NEGATIVES_HARD)
        code = npi_test_set_add_hard(&set, &among, npi_split_known(split), env, err);
    set.link_rate = npi_split_link_rate(split, NPGNN_SET_TEST);
    if (code)
        npi_test_set_free(env, &set);
    else
        *out = set;
    return code;
}

void npi_test_set_free(const npgnn_env *env, npi_test_set *set)
{
    npi_hard_free(env, &set->hard);
    npi_free(env, set->own);
}

int npi_test_set_predict(float *score, float *probability, const npgnn_model *model, const npgnn_graph *graph,
                         const npgnn_pair *pairs, size_t count, const npgnn_predict_options *how, const npgnn_env *env,
                         npgnn_error *err)
{
    int samples = how->samples < 0 ? model->options.predict_samples : how->samples;
    npgnn_prediction *predictions = npi_alloc(env, count, sizeof *predictions, err);
    int code = npi_comm_agree(env->comm, predictions ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npgnn_predict(predictions, model, graph, pairs, count, how, env, err);
    /* without draws the score says more than its sigmoid, which has fewer bits near 1 */
    for (size_t i = 0; !code && i < count; i++) {
        score[i] = samples > 0 ? predictions[i].probability : predictions[i].score;
        probability[i] = predictions[i].probability;
    }
    npi_free(env, predictions);
    return code;
}

/* ---- metrics ---- */

/* How many of the negatives of `end` are above a score, those with the same score counting half. */
static double above(const npi_test_set *set, const float *hard_score, int32_t end, float score)
{
    int32_t place = set->hard.place[end];
    double sum = 0;
    for (int64_t i = set->hard.start[place]; i < set->hard.start[place + 1]; i++)
        sum += hard_score[i] > score ? 1 : hard_score[i] == score ? 0.5 : 0;
    return sum;
}

/* Each link among the hard negatives of its two ends. */
static void measure_hard(double *mrr, double hits[KS], const npi_test_set *set, const float *score)
{
    double positives = (double)set->positives;
    for (size_t i = 0; i < set->positives; i++) {
        const float *hard = score + set->tested + set->matched;
        double rank = 1 + above(set, hard, set->pairs[i].u, score[i]) + above(set, hard, set->pairs[i].v, score[i]);
        *mrr += 1 / rank / positives;
        for (int k = 0; k < KS; k++)
            hits[k] += (rank <= ranks_asked[k]) / positives;
    }
}

static int check_numbers(const float *score, size_t count, npgnn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(score[i]))
            return npi_fail(err, NPGNN_E_DIVERGED, "the score of additional non-link %zu is not a number", i);
    return 0;
}

static int measure_ranks(npgnn_eval_run *run, const npi_test_set *set, const float *score, const npgnn_env *env,
                         npgnn_error *err)
{
    double hits[KS], hard_mrr = 0, hard_hits[KS] = {0};
    int code = npgnn_mrr_hits(&run->mrr, hits, score, score + set->positives, set->positives,
                              set->tested - set->positives, ranks_asked, KS, env, err);
    if (!code)
        code = check_numbers(score + set->tested, set->count - set->tested, err);
    if (code)
        return code;
    if (set->hard.ends > 0)
        measure_hard(&hard_mrr, hard_hits, set, score);
    else
        hard_mrr = hard_hits[0] = hard_hits[1] = hard_hits[2] = (double)NAN;
    run->hits1 = hits[0];
    run->hits10 = hits[1];
    run->hits100 = hits[2];
    run->hard_mrr = hard_mrr;
    run->hard_hits1 = hard_hits[0];
    run->hard_hits10 = hard_hits[1];
    run->hard_hits100 = hard_hits[2];
    return 0;
}

/* Without probabilities, everything is NaN. */
static int measure_calibration(npgnn_calibration *out, const npi_test_set *set, const float *probability,
                               const npgnn_env *env, npgnn_error *err)
{
    const npgnn_bin none = {(double)NAN, (double)NAN, (double)NAN};
    if (!isnan(out->link_rate))
        return npgnn_calibration_measure(out, probability, probability + set->positives, set->positives,
                                         set->tested - set->positives, out->link_rate, env, err);
    out->ece = out->balanced_ece = out->link_ece = (double)NAN;
    out->log_loss = out->brier = out->skill = (double)NAN;
    for (int i = 0; i < NPGNN_BINS; i++)
        out->bins[i] = none;
    for (int i = 0; i < NPGNN_TOPS; i++)
        out->top[i] = none;
    return 0;
}

int npi_test_set_measure(npgnn_eval_run *run, npi_resamples *resamples, const npi_test_set *set, const float *score,
                         const float *probability, const npgnn_env *env, npgnn_error *err)
{
    const float *negative = score + set->positives;
    size_t negatives = set->tested - set->positives;
    double ap; /* depends on the number of non-links, so that of degree-matched ones says nothing new */
    int code = npgnn_auc_ap(&run->auc, &run->ap, score, negative, set->positives, negatives, env, err);
    run->degree_auc = run->full_mrr = run->full_hits10 = (double)NAN;
    run->full_mrr_se = run->full_hits10_se = run->full_ends = (double)NAN;
    run->test_links = (double)set->positives;
    run->emptied_links = run->emptied_non_links = run->emptied_auc = (double)NAN;
    if (!code && set->matched > 0)
        code = npgnn_auc_ap(&run->degree_auc, &ap, score, score + set->tested, set->positives, set->matched, env, err);
    if (!code)
        code = measure_ranks(run, set, score, env, err);
    if (!code)
        code = measure_calibration(&run->calibration, set, probability, env, err);
    for (int i = 0; i < 2; i++)
        run->auc_interval[i] = run->ap_interval[i] = (double)NAN;
    if (code || !resamples)
        return code;
    code = npi_resamples_add(resamples, score, negative, set->positives, negatives, run->seed, env, err);
    if (!code)
        npi_resamples_interval(run->auc_interval, run->ap_interval, resamples);
    return code;
}
