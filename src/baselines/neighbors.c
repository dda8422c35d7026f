/* Scores from common neighbours, Σ_k A_ik A_kj w(d_k): w = 1 (common neighbours), 1 / log d (Adamic-Adar) or 1 / d
 * (resource allocation). */
#include "baselines/neighbors.h"

#include <math.h>

#include "heuristics/paths.h"

typedef double weight_fn(int64_t degree);

typedef struct shared_paths {
    const npi_csr *a;
    const double *weight; /* (n) */
} shared_paths;

static double score_pair(const void *learnt, npgnn_pair pair)
{
    const shared_paths *l = learnt;
    return npi_paths_two(l->a, l->weight, pair);
}

static int score_shared(float *score, npgnn_eval_run *run, const npi_task *task, weight_fn *weight_of, npgnn_error *err)
{
    const npi_csr *a = &task->graph->a;
    double start = npi_clock_seconds(), *weight = npi_alloc(task->env, (size_t)a->rows, sizeof *weight, err);
    if (!weight)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < a->rows; i++)
        weight[i] = weight_of(a->ptr[i + 1] - a->ptr[i]);
    int code = npi_task_score_each(score, task, score_pair, &(shared_paths){a, weight}, err);
    run->train_seconds = npi_clock_seconds() - start;
    npi_free(task->env, weight);
    return code;
}

static double one(int64_t degree)
{
    (void)degree;
    return 1;
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

int npi_common_neighbors_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return score_shared(score, run, task, one, err);
}

int npi_adamic_adar_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return score_shared(score, run, task, inverse_log, err);
}

int npi_resource_allocation_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return score_shared(score, run, task, inverse, err);
}
