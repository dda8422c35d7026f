/* The baseline "cosine": the score of a pair is the cosine of its feature rows, x_i · x_j / (|x_i| |x_j|). */
#include "baselines/cosine.h"

#include "evidence/cosine.h"

int npi_cosine_run(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return npi_cosine_scores(score, task->graph->x, task->pairs, task->count, task->env, err);
}
