/* Methods that need no model, applied to all links of a graph: scores of given pairs, and the search for the best. */
#include <string.h>

#include "base/sized.h"
#include "jobs/methods.h"
#include "model/options.h"
#include "search/search.h"

/* ---- a method and what it works on ---- */

typedef struct method_job {
    npgnn_env env;       /* resolved */
    npgnn_options model; /* defaults, with the seed */
    npgnn_split *split;  /* everything is known, nothing is held out */
    npgnn_env quiet;     /* without progress */
    npi_heuristic heuristic;
} method_job;

static void job_free(method_job *job)
{
    npi_heuristic_free(&job->env, &job->heuristic);
    npgnn_split_free(job->split);
}

static npi_task task_of(const method_job *job)
{
    return (npi_task){
        .graph = job->split->train, .split = job->split, .link_rate = 0.5, .options = &job->model, .env = &job->quiet};
}

/* To be freed on failure, too. */
static int job_new(method_job *job, const npgnn_graph *graph, const npgnn_method_options *options, const npgnn_env *env,
                   npgnn_error *err)
{
    npgnn_method_options o = {.seed = 1};
    int code = npi_env_check(env, err);
    if (!code)
        code = npi_sized_read(&o, sizeof o, options, "npgnn_method_options", err);
    if (code)
        return code;
    if (!o.method)
        return npi_fail(err, NPGNN_E_ARGUMENT, "no method given");
    const npi_method *method = npi_method_find(o.method, err);
    if (!method)
        return NPGNN_E_ARGUMENT;
    if (!method->learn)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%s is a model: make a predictor of it, or use it as MODEL", o.method);
    job->env = job->quiet = npi_env_resolve(env);
    job->quiet.progress = NULL;
    code = npi_options_read(&job->model, NULL, err);
    job->model.seed = o.seed;
    npgnn_pair *edges = npi_alloc(&job->env, (size_t)graph->m, sizeof *edges, err);
    if (!code && !edges)
        code = NPGNN_E_MEMORY;
    if (!code) {
        npgnn_pair *pairs[2] = {NULL, NULL};
        const size_t none[2] = {0, 0};
        npi_graph_list_edges(edges, graph);
        code = npi_split_assemble(&job->split, graph, NPGNN_TRANSDUCTIVE, edges, graph->m, NULL, pairs, none, none,
                                  &job->env, err);
    }
    npi_free(&job->env, edges);
    if (!code) {
        const npi_task task = task_of(job);
        npgnn_eval_run run = {.size = sizeof run};
        code = method->learn(&job->heuristic, &run, &task, err);
    }
    return code;
}

/* ---- given pairs ---- */

int npgnn_method_score(float *score, const npgnn_graph *graph, const npgnn_pair *pairs, size_t count,
                       const npgnn_method_options *options, const npgnn_env *env, npgnn_error *err)
{
    method_job job = {0};
    for (size_t i = 0; i < count; i++)
        if (pairs[i].u < 0 || pairs[i].u >= graph->n || pairs[i].v < 0 || pairs[i].v >= graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins %d and %d, but nodes are 0 to %d", i, pairs[i].u,
                            pairs[i].v, graph->n - 1);
    float *computed = NULL;
    int code = job_new(&job, graph, options, env, err);
    if (!code) {
        npi_task task = task_of(&job);
        task.pairs = pairs;
        task.count = count;
        computed = npi_alloc(&job.env, count, sizeof *computed, err);
        code = computed ? npi_task_score(computed, &task, &job.heuristic, err) : NPGNN_E_MEMORY;
    }
    if (!code && count > 0)
        memcpy(score, computed, count * sizeof *score);
    npi_free(&job.env, computed);
    job_free(&job);
    return code;
}

/* ---- the search ---- */

int npgnn_method_top(npgnn_link *out, int32_t *found, const npgnn_graph *graph, int32_t k, int links,
                     const npgnn_method_options *options, const npgnn_top_options *top, const npgnn_env *env,
                     npgnn_error *err)
{
    method_job job = {0};
    npi_search search = {0};
    npgnn_top_options o = {0};
    int code = npi_sized_read(&o, sizeof o, top, "npgnn_top_options", err);
    if (!code && (o.min_probability != 0 || o.rank != NPGNN_BY_PROBABILITY))
        code = npi_fail(err, NPGNN_E_ARGUMENT,
                        "a method gives scores, not probabilities: leave min_probability and rank at 0");
    if (!code)
        code = job_new(&job, graph, options, env, err);
    if (!code) {
        const npi_search kind = {.out = out, .found = found, .k = k, .links = links};
        code = npi_search_new_heuristic(&search, &job.heuristic, kind, top, &job.env, err);
    }
    if (!code)
        code = npi_search_run(&search, err);
    npi_search_free(&search);
    job_free(&job);
    return code;
}
