/* What baselines share: progress, validation, and scores u_i · u_j from embeddings. */
#include "baselines/method.h"

#include <math.h>

#include "model/score.h"

npgnn_progress npi_method_begin(int iterations)
{
    double unknown = (double)NAN;
    return (npgnn_progress){.size = sizeof(npgnn_progress),
                            .runs = 1,
                            .iterations = iterations,
                            .loss = unknown,
                            .kl = unknown,
                            .val_auc = unknown,
                            .val_ap = unknown};
}

int npi_method_advance(npgnn_progress *progress, double start, const npgnn_env *env, npgnn_error *err)
{
    progress->iteration++;
    progress->seconds = npi_clock_seconds() - start;
    if (npi_env_stopped(env) || (env->progress && env->progress(env->user, progress)))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d of %d", progress->iteration,
                        progress->iterations);
    return 0;
}

static int validate(npgnn_eval_run *run, const real *u, int k, const npi_task *task, npgnn_error *err)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, task->split, NPGNN_SET_VAL);
    if (count == 0)
        return 0;
    float *score = npi_alloc(task->env, count, sizeof *score, err);
    if (!score)
        return NPGNN_E_MEMORY;
    npi_score_pairs(score, u, k, pairs, count, task->env->threads);
    int code = npgnn_auc_ap(&run->val_auc, &run->val_ap, score, score + positives, positives, count - positives,
                            task->env, err);
    npi_free(task->env, score);
    return code;
}

int npi_method_judge(float *score, npgnn_eval_run *run, const real *u, int k, const npi_task *task, npgnn_error *err)
{
    npi_score_pairs(score, u, k, task->pairs, task->count, task->env->threads);
    return validate(run, u, k, task, err);
}

int npi_method_check_features(const npgnn_graph *train, const char *who, npgnn_error *err)
{
    if (train->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to learn from");
    if (train->x->f == 0 || train->x->nonzeros == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the nodes have no features, and %s starts from them", who);
    return 0;
}
