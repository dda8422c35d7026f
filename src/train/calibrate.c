/* Calibration: fits what a score means as a probability, on held-out links (model/calibration.h has the formula).
 *
 * Links are rare, and a pair that gets an even chance is among the most likely of thousands. Few of the validation set's
 * own non-links are that likely, so many more are drawn, of the same kind. */
#include <string.h>

#include "graph/negative.h"
#include "graph/split.h"
#include "model/model.h"

#define MAX_NON_LINKS ((size_t)1 << 18)

int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    const npgnn_pair *validation;
    size_t positives, own = npgnn_split_pairs(&validation, &positives, split, NPGNN_SET_VAL);
    if (positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the split has no validation links to calibrate on");
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t more = available < MAX_NON_LINKS ? (size_t)available : MAX_NON_LINKS;

    npgnn_pair *pairs = npi_alloc(&resolved, own + more, sizeof *pairs, err); /* links first */
    npgnn_prediction *predictions = npi_alloc(&resolved, own + more, sizeof *predictions, err);
    float *score = npi_alloc(&resolved, own + more, sizeof *score, err);
    int code = pairs && predictions && score ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        memcpy(pairs, validation, own * sizeof *pairs);
        code = npi_split_draw_non_links(pairs + own, &more, split, &resolved, err);
    }
    size_t count = own + more;
    /* z at its mean: an average over draws of z is close to it */
    const npgnn_predict_options mean = {.size = sizeof mean, .samples = 0};
    if (!code)
        code = npgnn_predict(predictions, model, npi_split_known(split), pairs, count, &mean, &resolved, err);
    for (size_t i = 0; !code && i < count; i++)
        score[i] = predictions[i].score;
    if (!code)
        code = npi_calibration_fit(&model->scorer.calibration, score, positives, count, &resolved, err);
    if (!code)
        model->scorer.calibrated = 1;
    npi_free(&resolved, score);
    npi_free(&resolved, predictions);
    npi_free(&resolved, pairs);
    return code;
}
