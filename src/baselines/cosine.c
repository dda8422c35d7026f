/* The baseline "cosine": the score of a pair is the cosine of its feature rows, x_i · x_j / (|x_i| |x_j|). */
#include "baselines/cosine.h"

#include "heuristics/cosine.h"

static float score_pair(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    (void)scratch;
    return (float)npi_cosine_pair(h->graph->x, h->learnt, pair);
}

int npi_cosine_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    double *norm = npi_alloc(task->env, (size_t)task->graph->n, sizeof *norm, err);
    (void)run;
    *out = (npi_heuristic){.graph = task->graph, .pair = score_pair, .learnt = norm, .free = npi_free};
    if (!norm)
        return NPGNN_E_MEMORY;
    npi_cosine_norms(norm, task->graph->x, task->env->threads);
    return 0;
}
