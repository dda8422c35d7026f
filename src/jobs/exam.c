#include "jobs/exam.h"

#include <math.h>
#include <string.h>

#include "graph/negative.h"

#include "model/model.h"

enum { KS = 3 };
static const int ranks_asked[KS] = {1, 10, 100};

/* ---- questions ---- */

int npi_exam_add_hard(npi_exam *exam, const npgnn_graph *complete, const npgnn_graph *known, const npgnn_env *env,
                      npgnn_error *err)
{
    int code = npi_hard_new(&exam->hard, complete, known, exam->pairs, exam->positives, NPI_HARD_PER_END, env, err);
    if (code)
        return code;
    size_t hard = (size_t)exam->hard.start[exam->hard.ends];
    exam->own = npi_resize(env, NULL, exam->tested + hard, sizeof *exam->own, err);
    if (!exam->own)
        return NPGNN_E_MEMORY;
    memcpy(exam->own, exam->pairs, exam->tested * sizeof *exam->own);
    if (hard > 0)
        memcpy(exam->own + exam->tested, exam->hard.pairs, hard * sizeof *exam->own);
    exam->pairs = exam->own;
    exam->count += hard;
    return 0;
}

int npi_exam_new(npi_exam *out, const npgnn_split *split, npgnn_negatives negatives, const npgnn_env *env,
                 npgnn_error *err)
{
    npi_exam exam = {0};
    exam.tested = exam.count = npgnn_split_pairs(&exam.pairs, &exam.positives, split, NPGNN_SET_TEST);
    int hard = negatives == NPGNN_NEGATIVES_HARD;
    int code = hard ? npi_exam_add_hard(&exam, split->graph, npi_split_known(split), env, err) : 0;
    double positives = (double)exam.positives;
    exam.link_rate = positives / (positives + (double)npi_split_count_non_links(split, NPGNN_SET_TEST));
    if (code)
        npi_exam_free(env, &exam);
    else
        *out = exam;
    return code;
}

void npi_exam_free(const npgnn_env *env, npi_exam *exam)
{
    npi_hard_free(env, &exam->hard);
    npi_free(env, exam->own);
}

/* ---- answers ---- */

int npi_exam_answer(float *score, float *probability, const npgnn_model *model, const npgnn_graph *graph,
                    const npgnn_pair *pairs, size_t count, const npgnn_predict_options *how, const npgnn_env *env,
                    npgnn_error *err)
{
    int samples = how->samples < 0 ? model->options.predict_samples : how->samples;
    npgnn_prediction *predictions = npi_alloc(env, count, sizeof *predictions, err);
    int code = predictions ? npgnn_predict(predictions, model, graph, pairs, count, how, env, err) : NPGNN_E_MEMORY;
    /* without draws the score says more than its sigmoid, which has fewer bits near 1 */
    for (size_t i = 0; !code && i < count; i++) {
        score[i] = samples > 0 ? predictions[i].probability : predictions[i].score;
        probability[i] = predictions[i].probability;
    }
    npi_free(env, predictions);
    return code;
}

/* ---- marks ---- */

/* How many of the negatives of `end` are above a score, those with the same score counting half. */
static double above(const npi_exam *exam, const float *hard_score, int32_t end, float score)
{
    int32_t place = exam->hard.place[end];
    double sum = 0;
    for (int64_t i = exam->hard.start[place]; i < exam->hard.start[place + 1]; i++)
        sum += hard_score[i] > score ? 1 : hard_score[i] == score ? 0.5 : 0;
    return sum;
}

/* Each link among the hard negatives of its two ends. */
static void mark_hard(double *mrr, double hits[KS], const npi_exam *exam, const float *score)
{
    double positives = (double)exam->positives;
    for (size_t i = 0; i < exam->positives; i++) {
        const float *hard = score + exam->tested;
        double rank = 1 + above(exam, hard, exam->pairs[i].u, score[i]) + above(exam, hard, exam->pairs[i].v, score[i]);
        *mrr += 1 / rank / positives;
        for (int k = 0; k < KS; k++)
            hits[k] += (rank <= ranks_asked[k]) / positives;
    }
}

static int check_numbers(const float *score, size_t count, npgnn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(score[i]))
            return npi_fail(err, NPGNN_E_DIVERGED, "the score of hard negative %zu is not a number", i);
    return 0;
}

static int mark_ranks(npgnn_eval_run *run, const npi_exam *exam, const float *score, const npgnn_env *env,
                      npgnn_error *err)
{
    double hits[KS], hard_mrr = 0, hard_hits[KS] = {0};
    int code = npgnn_mrr_hits(&run->mrr, hits, score, score + exam->positives, exam->positives,
                              exam->tested - exam->positives, ranks_asked, KS, env, err);
    if (!code)
        code = check_numbers(score + exam->tested, exam->count - exam->tested, err);
    if (code)
        return code;
    if (exam->hard.ends > 0)
        mark_hard(&hard_mrr, hard_hits, exam, score);
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
static int mark_calibration(npgnn_calibration *out, const npi_exam *exam, const float *probability,
                            const npgnn_env *env, npgnn_error *err)
{
    const npgnn_bin none = {(double)NAN, (double)NAN, (double)NAN};
    if (!isnan(out->link_rate))
        return npgnn_calibration_measure(out, probability, probability + exam->positives, exam->positives,
                                         exam->tested - exam->positives, out->link_rate, env, err);
    out->ece = out->balanced_ece = out->link_ece = (double)NAN;
    out->log_loss = out->brier = out->skill = (double)NAN;
    for (int i = 0; i < NPGNN_BINS; i++)
        out->bins[i] = none;
    for (int i = 0; i < NPGNN_TOPS; i++)
        out->top[i] = none;
    return 0;
}

int npi_exam_mark(npgnn_eval_run *run, npi_resamples *resamples, const npi_exam *exam, const float *score,
                  const float *probability, const npgnn_env *env, npgnn_error *err)
{
    const float *negative = score + exam->positives;
    size_t negatives = exam->tested - exam->positives;
    int code = npgnn_auc_ap(&run->auc, &run->ap, score, negative, exam->positives, negatives, env, err);
    if (!code)
        code = mark_ranks(run, exam, score, env, err);
    if (!code)
        code = mark_calibration(&run->calibration, exam, probability, env, err);
    for (int i = 0; i < 2; i++)
        run->auc_interval[i] = run->ap_interval[i] = (double)NAN;
    if (code || !resamples)
        return code;
    code = npi_resamples_add(resamples, score, negative, exam->positives, negatives, run->seed, env, err);
    if (!code)
        npi_resamples_interval(run->auc_interval, run->ap_interval, resamples);
    return code;
}
