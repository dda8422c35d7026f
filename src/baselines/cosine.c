/* The baseline "cosine": the score of a pair is the cosine of its feature rows, x_i · x_j / (|x_i| |x_j|). */
#include "baselines/cosine.h"

#include "heuristics/cosine.h"

static int score_pairs(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                       int rows, npgnn_error *err)
{
    const npi_task *task = learnt;
    (void)probability;
    (void)rows;
    return npi_cosine_scores(score, task->graph->x, pairs, count, task->env, err);
}

int npi_cosine_run(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return npi_task_score(score, task, score_pairs, task, err);
}
