/* Scores from common neighbours, Σ_k A_ik A_kj w(d_k): w = 1 (common neighbours), 1 / log d (Adamic-Adar) or 1 / d
 * (resource allocation). A row has the bits of its pairs: both add the shared neighbours in ascending order. */
#include "baselines/neighbors.h"

#include <math.h>

typedef double weight_fn(int64_t degree);

/* What is learnt is the weight of each node; NULL: 1. */
static float score_pair(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    (void)scratch;
    return (float)npi_paths_two(&h->graph->a, h->learnt, pair);
}

static void score_row(npi_scratch *scratch, const npi_heuristic *h, int32_t node)
{
    npi_accumulator *sum = &scratch->walk[0];
    npi_paths_two_row(sum, &h->graph->a, h->learnt, node);
    for (int32_t i = 0; i < sum->count; i++)
        npi_row_set(&scratch->row, sum->node[i], (float)sum->value[sum->node[i]]);
    npi_accumulator_clear(sum);
}

/* weight_of NULL: 1 */
static int learn_shared(npi_heuristic *out, const npi_task *task, weight_fn *weight_of, npgnn_error *err)
{
    const npi_csr *a = &task->graph->a;
    double *weight = weight_of ? npi_alloc(task->env, (size_t)a->rows, sizeof *weight, err) : NULL;
    for (int32_t i = 0; weight && i < a->rows; i++)
        weight[i] = weight_of(a->ptr[i + 1] - a->ptr[i]);
    *out = (npi_heuristic){.graph = task->graph,
                           .pair = score_pair,
                           .row = score_row,
                           .learnt = weight,
                           .free = npi_free,
                           .walks = 1,
                           .is_local = 1};
    return weight_of && !weight ? NPGNN_E_MEMORY : 0;
}

/* A shared neighbour has two neighbours at least, unless a node is paired with itself. */
static double inverse_log(int64_t degree)
{
    return 1 / log(degree > 2 ? (double)degree : 2);
}

static double inverse(int64_t degree)
{
    return degree > 0 ? 1 / (double)degree : 0;
}

int npi_common_neighbors_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return learn_shared(out, task, NULL, err);
}

int npi_adamic_adar_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return learn_shared(out, task, inverse_log, err);
}

int npi_resource_allocation_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return learn_shared(out, task, inverse, err);
}
