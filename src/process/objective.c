#include "process/objective.h"

#include <math.h>
#include <string.h>

#include "process/layers.h"

int npi_process_workspace_new(npi_process_workspace *out, npi_process_sizes size, int context, int targets,
                              const npgnn_env *env, npgnn_error *err)
{
    npi_process_workspace w = {0};
    size_t d = (size_t)size.d, t = (size_t)targets;
    int code = npi_process_encoder_new(&w.encoder, size, context, env, err);
    if (!code)
        code = npi_process_decoder_new(&w.decoder, size, targets, env, err);
    if (!code && !(w.mean = npi_alloc(env, 6 * d + 2 * t, sizeof *w.mean, err)))
        code = NPGNN_E_MEMORY;
    if (code) {
        npi_process_workspace_free(env, &w);
        return code;
    }
    w.precision = w.mean + d;
    w.dmean = w.precision + d;
    w.dprecision = w.dmean + d;
    w.z = w.dprecision + d;
    w.dz = w.z + d;
    w.score = w.dz + d;
    w.dscore = w.score + t;
    *out = w;
    return 0;
}

void npi_process_workspace_free(const npgnn_env *env, npi_process_workspace *w)
{
    npi_process_encoder_free(env, &w->encoder);
    npi_process_decoder_free(env, &w->decoder);
    npi_free(env, w->mean);
    memset(w, 0, sizeof *w);
}

/* The loss of one draw from the scores of links and non-links, and its derivatives. */
static double score_loss(real *dscore, const real *score, int links, int non_links, double rank_weight)
{
    const real *other = score + links;
    real *dother = dscore + links;
    double loss = 0, per_pair = links > 0 && non_links > 0 ? rank_weight / ((double)links * non_links) : 0;
    for (int i = 0; i < links; i++) { /* ½ mean softplus(-s_p) */
        loss += 0.5 / links * npi_softplus(-(double)score[i]);
        dscore[i] = (real)(-0.5 / links * npi_logistic_of(-(double)score[i]));
    }
    for (int j = 0; j < non_links; j++) { /* ½ mean softplus(s_n) */
        loss += 0.5 / non_links * npi_softplus((double)other[j]);
        dother[j] = (real)(0.5 / non_links * npi_logistic_of((double)other[j]));
    }
    for (int i = 0; i < links && per_pair > 0; i++) { /* ρ mean softplus(s_n - s_p) */
        double sum = 0;
        for (int j = 0; j < non_links; j++) {
            double difference = (double)other[j] - (double)score[i], slope = per_pair * npi_logistic_of(difference);
            loss += per_pair * npi_softplus(difference);
            dother[j] += (real)slope;
            sum += slope;
        }
        dscore[i] -= (real)sum;
    }
    return loss;
}

double npi_process_loss(npi_process_params *gradient, npi_process_workspace *w, const npi_process_params *params,
                        const npi_process_task *task, const real *epsilon, int draws, double rank_weight)
{
    int d = params->size.d, count = task->links + task->non_links, rounds = draws > 0 ? draws : 1;
    double loss = 0;
    npi_process_encode(w->mean, w->precision, &w->encoder, params, &task->context);
    memset(w->dmean, 0, (size_t)d * sizeof *w->dmean);
    memset(w->dprecision, 0, (size_t)d * sizeof *w->dprecision);
    for (int r = 0; r < rounds; r++) {
        for (int c = 0; c < d; c++) { /* z = mean + ε / √λ */
            double noise = draws > 0 ? (double)epsilon[r * d + c] / sqrt((double)w->precision[c]) : 0;
            w->z[c] = (real)((double)w->mean[c] + noise);
        }
        npi_process_decode(w->score, &w->decoder, params, task->target, w->z, count);
        loss += score_loss(w->dscore, w->score, task->links, task->non_links, rank_weight) / rounds;
        if (!gradient)
            continue;
        for (int i = 0; i < count; i++)
            w->dscore[i] /= (real)rounds;
        memset(w->dz, 0, (size_t)d * sizeof *w->dz);
        npi_process_decode_backward(gradient, w->dz, &w->decoder, params, w->z, w->dscore, count);
        for (int c = 0; c < d; c++) { /* dmean += dz,  dλ += dz ε (-½) λ^(-3/2) */
            double lambda = (double)w->precision[c];
            w->dmean[c] += w->dz[c];
            if (draws > 0)
                w->dprecision[c] -=
                    (real)(0.5 * (double)w->dz[c] * (double)epsilon[r * d + c] / (lambda * sqrt(lambda)));
        }
    }
    if (gradient)
        npi_process_encode_backward(gradient, &w->encoder, params, &task->context, w->mean, w->precision, w->dmean,
                                    w->dprecision);
    return loss;
}
