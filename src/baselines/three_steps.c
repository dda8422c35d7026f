/* Scores from paths of three links, which also join the two sides of a two-sided graph, where nodes of different sides
 * never share a neighbour:
 *
 *   three-steps(u, v)    = (Â^3)_uv,  Â = D^-1/2 A D^-1/2: random walks of three steps, both ways
 *   item-cosine(u, v)    = Σ over the neighbours j of u of cos(j, v),  cos(j, v) = |N(j) ∩ N(v)| / sqrt(d_j d_v)
 *
 * item-cosine is what shops do: v is recommended because it is bought by the same people as what u has bought. In a
 * two-sided graph u is the source and v the target; in a one-sided graph both ways are added. */
#include <math.h>

#include "base/parallel.h"
#include "baselines/neighbors.h"
#include "heuristics/paths.h"

typedef struct steps {
    const npgnn_graph *graph;
    const double *weight; /* (n) of an inner node: 1 / degree, or 1 */
    double *walk;         /* (threads, n) zeros; NULL: item-cosine */
} steps;

static double degree_of(const npi_csr *a, int32_t node)
{
    return (double)(a->ptr[node + 1] - a->ptr[node]);
}

/* Σ over the neighbours j of `from` of cos(j, to). */
static double cosine_sum(const npi_csr *a, const double *one, int32_t from, int32_t to)
{
    double sum = 0;
    for (int64_t p = a->ptr[from]; p < a->ptr[from + 1]; p++)
        if (a->col[p] != to)
            sum += npi_paths_two(a, one, (npgnn_pair){a->col[p], to}) / sqrt(degree_of(a, a->col[p]));
    return sum / sqrt(fmax(1, degree_of(a, to)));
}

static double score_pair(const void *learnt, npgnn_pair pair)
{
    const steps *l = learnt;
    const npi_csr *a = &l->graph->a;
    const unsigned char *side = l->graph->side;
    if (l->walk) {
        double degrees = degree_of(a, pair.u) * degree_of(a, pair.v);
        double *walk = l->walk + (size_t)npi_worker() * (size_t)a->rows;
        return degrees > 0 ? npi_paths_three(walk, a, l->weight, pair) / sqrt(degrees) : 0;
    }
    double score = 0;
    if (!side || side[pair.v])
        score += cosine_sum(a, l->weight, pair.u, pair.v);
    if (!side || side[pair.u])
        score += cosine_sum(a, l->weight, pair.v, pair.u);
    return score;
}

static int score_steps(float *score, npgnn_eval_run *run, const npi_task *task, int walks, npgnn_error *err)
{
    const npi_csr *a = &task->graph->a;
    size_t n = (size_t)a->rows, threads = (size_t)task->env->threads;
    double start = npi_clock_seconds(), *weight = npi_alloc(task->env, n, sizeof *weight, err);
    double *walk = walks ? npi_alloc(task->env, threads * n, sizeof *walk, err) : NULL;
    int code = weight && (!walks || walk) ? 0 : NPGNN_E_MEMORY;
    for (int32_t i = 0; !code && i < a->rows; i++)
        weight[i] = walks ? 1 / fmax(1, degree_of(a, i)) : 1;
    if (!code)
        code = npi_task_score_each(score, task, score_pair, &(steps){task->graph, weight, walk}, err);
    run->train_seconds = npi_clock_seconds() - start;
    npi_free(task->env, weight);
    npi_free(task->env, walk);
    return code;
}

int npi_three_steps_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return score_steps(score, run, task, 1, err);
}

int npi_item_cosine_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return score_steps(score, run, task, 0, err);
}
