#include "baselines/neighbors.h"

#include <math.h>

typedef double weight_fn(int64_t degree);

/* Σ over shared neighbours w of weight(degree of w): one walk along both rows, since columns ascend. */
static double shared_weight(const npi_csr *a, npgnn_pair pair, weight_fn *weight)
{
    int64_t p = a->ptr[pair.u], q = a->ptr[pair.v];
    double sum = 0;
    while (p < a->ptr[pair.u + 1] && q < a->ptr[pair.v + 1]) {
        int32_t x = a->col[p], y = a->col[q];
        if (x == y)
            sum += weight(a->ptr[x + 1] - a->ptr[x]);
        p += x <= y;
        q += y <= x;
    }
    return sum;
}

static int score_shared(float *score, npgnn_eval_run *run, const npi_task *task, weight_fn *weight)
{
    double start = npi_seconds();
#pragma omp parallel for num_threads(task->env->threads) schedule(dynamic, 64)
    for (size_t i = 0; i < task->count; i++)
        score[i] = (float)shared_weight(&task->graph->a, task->pairs[i], weight);
    run->train_seconds = npi_seconds() - start;
    return 0;
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
    return 1 / (double)degree;
}

int npi_common_neighbors_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)err;
    return score_shared(score, run, task, one);
}

int npi_adamic_adar_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)err;
    return score_shared(score, run, task, inverse_log);
}

int npi_resource_allocation_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)err;
    return score_shared(score, run, task, inverse);
}
