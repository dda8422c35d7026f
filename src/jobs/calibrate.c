/* Fitting a model's probabilities to held-out links. */
#include <string.h>

#include "graph/negative.h"
#include "graph/split.h"
#include "model/model.h"

/* Links are rare, and a pair that gets an even chance is among the most likely of thousands: few of the validation set's own
 * non-links are there, so many more are drawn. */
#define MOST_NON_LINKS ((size_t)1 << 18)

typedef struct sample {
    npgnn_pair *pairs; /* links first */
    size_t positives, count;
} sample;

static int draw_sample(sample *out, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_pair *validation;
    sample s = {0};
    size_t own = npgnn_split_pairs(&validation, &s.positives, split, NPGNN_SET_VAL);
    if (s.positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the split has no validation links to calibrate on");
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t drawn = available < MOST_NON_LINKS ? (size_t)available : MOST_NON_LINKS;
    s.pairs = npi_alloc(env, own + drawn, sizeof *s.pairs, err);
    if (!s.pairs)
        return NPGNN_E_MEMORY;
    memcpy(s.pairs, validation, own * sizeof *s.pairs);
    int code = npi_split_draw_non_links(s.pairs + own, &drawn, split, split->role != NULL, env, err);
    s.count = own + drawn;
    if (code)
        npi_free(env, s.pairs);
    else
        *out = s;
    return code;
}

/* Scores with z at its mean, which is what an average over draws is near to. */
static int score_sample(float *score, const sample *s, const npgnn_model *model, const npgnn_split *split,
                        const npgnn_env *env, npgnn_error *err)
{
    npgnn_predict_options mean = {0};
    npgnn_prediction *predictions = npi_alloc(env, s->count, sizeof *predictions, err);
    if (!predictions)
        return NPGNN_E_MEMORY;
    int code = npgnn_predict(predictions, model, npi_split_known(split), s->pairs, s->count, &mean, env, err);
    for (size_t i = 0; !code && i < s->count; i++)
        score[i] = predictions[i].score;
    npi_free(env, predictions);
    return code;
}

int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    sample s = {0};
    int code = draw_sample(&s, split, &resolved, err);
    if (code)
        return code;
    float *score = npi_alloc(&resolved, s.count, sizeof *score, err);
    code = score ? score_sample(score, &s, model, split, &resolved, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_calibration_fit(&model->calibration, score, s.positives, s.count, &resolved, err);
    if (!code)
        model->info.calibrated = 1;
    npi_free(&resolved, score);
    npi_free(&resolved, s.pairs);
    return code;
}
