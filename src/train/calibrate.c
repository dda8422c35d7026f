/* Calibration: fits what a score means as a probability, on held-out links (model/calibration.h has the formula).
 *
 * Links are rare, and a pair that gets an even chance is among the most likely of thousands. Few of the validation
 * set's own non-links are that likely, so many more are drawn, of the same kind. */
#include "train/calibrate.h"

#include <math.h>
#include <string.h>

#include "features/match.h"
#include "graph/negative.h"
#include "model/score.h"

#define MAX_NON_LINKS ((size_t)1 << 18)
#define BATCH ((size_t)1 << 14) /* pairs whose evidence is in memory at a time */

/* score (count): as a predictor gives with z at its mean, which an average over draws of z is close to. */
static int score_pairs(float *score, const npgnn_pair *pairs, size_t count, const npgnn_model *model, npi_embedder *e,
                       npi_evidence *evidence, const npgnn_env *env, npgnn_error *err)
{
    const npi_weights *weights = &model->scorer.weights;
    float *value = npi_alloc(env, (size_t)evidence->count * BATCH, sizeof *value, err); /* (columns, batch) */
    if (!value)
        return NPGNN_E_MEMORY;
    npi_embedder_features(e, &model->params, evidence->x, env->threads);
    npi_embedder_run(e, &model->params, model->q, &model->options, env->threads);
    for (size_t first = 0; first < count; first += BATCH) {
        size_t batch = count - first < BATCH ? count - first : BATCH;
        npi_score_pairs(score + first, e->u, model->params.size.k, pairs + first, batch, env->threads);
        npi_evidence_pairs(value, evidence, pairs + first, batch);
        npi_evidence_add(score + first, value, evidence, weights, batch);
    }
    npi_free(env, value);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(score[i]))
            return npi_fail(err, NPGNN_E_DIVERGED, "the score of nodes %d and %d is not finite", pairs[i].u,
                            pairs[i].v);
    return 0;
}

int npi_calibrate(npgnn_model *model, const npgnn_split *split, npi_embedder embedder, npi_evidence evidence,
                  const npgnn_env *env, npgnn_error *err)
{
    const npgnn_pair *validation;
    size_t positives, own = npgnn_split_pairs(&validation, &positives, split, NPGNN_SET_VAL);
    if (positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the split has no validation links to calibrate on");
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t more = available < MAX_NON_LINKS ? (size_t)available : MAX_NON_LINKS;

    /* a column without a weight adds 0 to every score: leave it out */
    int columns = evidence.count;
    evidence.count = 0;
    for (int c = 0; c < columns; c++)
        if (npi_evidence_weighed(&model->scorer.weights) >> evidence.column[c] & 1)
            evidence.column[evidence.count++] = evidence.column[c];

    npgnn_pair *pairs = npi_alloc(env, own + more, sizeof *pairs, err); /* links first */
    float *score = npi_alloc(env, own + more, sizeof *score, err);
    int code = pairs && score ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        memcpy(pairs, validation, own * sizeof *pairs);
        code = npi_split_draw_non_links(pairs + own, &more, split, env, err);
    }
    if (!code)
        code = score_pairs(score, pairs, own + more, model, &embedder, &evidence, env, err);
    npi_free(env, pairs);
    if (!code)
        code = npi_calibration_fit(&model->scorer.calibration, score, positives, own + more, env, err);
    if (!code)
        model->scorer.calibrated = 1;
    npi_free(env, score);
    return code;
}

int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    if (npi_model_need_network(model, "calibrates itself on every graph it predicts on", err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    const npgnn_graph *known = npi_split_known(split);
    npi_sizes size = model->params.size;
    npi_features *x = NULL;
    npi_embedder embedder = {0};
    npi_evidence evidence = {0};
    int code = npi_features_match(&x, known->x, model->columns, size.f, "the model", "the graph", &resolved, err);
    if (code)
        return code;
    code = npi_embedder_new(&embedder, &model->options, size, &known->a, &resolved, err);
    if (!code)
        code = npi_evidence_new(&evidence, npi_evidence_weighed(&model->scorer.weights), &known->a, x, &resolved, err);
    if (!code)
        code = npi_calibrate(model, split, embedder, evidence, &resolved, err);
    npi_evidence_free(&evidence);
    npi_embedder_free(&resolved, &embedder);
    npi_features_free(x);
    return code;
}
