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

int npi_calibrate(npgnn_model *model, const npgnn_split *split, npi_embedder embedder, npi_features *x,
                  const npi_partition *rows, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_pair *validation;
    size_t positives, own = npgnn_split_pairs(&validation, &positives, split, NPGNN_SET_VAL);
    if (positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the split has no validation links to calibrate on");
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t more = available < MAX_NON_LINKS ? (size_t)available : MAX_NON_LINKS;

    npgnn_pair *pairs = npi_alloc(env, own + more, sizeof *pairs, err); /* links first */
    float *score = npi_alloc(env, own + more, sizeof *score, err);
    int code = pairs && score ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        memcpy(pairs, validation, own * sizeof *pairs);
        code = npi_split_draw_non_links(pairs + own, &more, split, env, err);
    }
    code = npi_comm_agree(rows->comm, code, err);
    if (!code) { /* as a predictor gives with z at its mean, which an average over draws of z is close to */
        npi_embedder_features(&embedder, &model->params, x, env->threads);
        npi_embedder_run(&embedder, &model->params, model->q, model->options.decoder_output, env->threads);
        code = npi_score_pairs_among(score, embedder.u, model->params.size.k, pairs, own + more, rows, env, err);
    }
    for (size_t i = 0; !code && i < own + more; i++)
        if (!isfinite(score[i]))
            code =
                npi_fail(err, NPGNN_E_DIVERGED, "the score of nodes %d and %d is not finite", pairs[i].u, pairs[i].v);
    npi_free(env, pairs);
    if (!code)
        code = npi_calibration_fit(&model->scorer.calibration, score, positives, score + positives, NULL,
                                   own + more - positives, env, err);
    if (!code)
        model->scorer.calibrated = 1;
    npi_free(env, score);
    return code;
}

int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    return model->kind->calibrate(model, split, &resolved, err);
}

int npi_process_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    (void)model, (void)split, (void)env;
    return npi_process_refuse("is calibrated when it is tuned, or else on every graph it predicts on", err);
}

int npi_network_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *known = npi_split_known(split);
    npi_sizes size = model->params.size;
    npi_features *x = NULL;
    npi_embedder embedder = {0};
    npi_partition rows = npi_partition_whole(known->n);
    int code =
        npi_features_match(&x, known->x, model->columns, model->encoding, size.f, "the model", "the graph", env, err);
    if (code)
        return code;
    code = npi_embedder_new(&embedder, size, known->n, env, err);
    if (!code)
        code = npi_calibrate(model, split, embedder, x, &rows, env, err);
    npi_embedder_free(env, &embedder);
    npi_features_free(x);
    return code;
}
