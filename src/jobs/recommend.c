/* Methods that need no model, applied to all links of a graph: scores of given pairs, and the search for the best, to which a
 * method gives the scores of a few nodes with all nodes at a time. */
#include <string.h>

#include "base/sized.h"
#include "jobs/methods.h"
#include "model/options.h"
#include "search/search.h"

/* ---- a method and what it works on ---- */

typedef struct method_job {
    npgnn_env env; /* resolved */
    npi_method_fn *method;
    npgnn_options model; /* defaults, with the seed */
    npgnn_split *split;  /* everything is known, nothing is held out */
    npgnn_env quiet;     /* without progress */
} method_job;

static void job_free(method_job *job)
{
    npgnn_split_free(job->split);
}

static int job_new(method_job *out, const npgnn_graph *graph, const npgnn_method_options *options, const npgnn_env *env,
                   npgnn_error *err)
{
    static const char *const models[] = {"npgnn", "cnp", "universal"};
    npgnn_method_options o = {.seed = 1};
    int code = npi_env_check(env, err);
    if (!code)
        code = npi_sized_read(&o, sizeof o, options, "npgnn_method_options", err);
    if (code)
        return code;
    if (!o.method)
        return npi_fail(err, NPGNN_E_ARGUMENT, "no method given");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(o.method, models[i]) == 0)
            return npi_fail(err, NPGNN_E_ARGUMENT, "%s is a model: make a predictor of it, or use it as MODEL",
                            o.method);
    method_job job = {.env = npi_env_resolve(env), .method = npi_method_find(o.method, err)};
    if (!job.method)
        return NPGNN_E_ARGUMENT;
    job.quiet = job.env;
    job.quiet.progress = NULL;
    code = npi_options_read(&job.model, NULL, err);
    job.model.seed = o.seed;
    npgnn_pair *edges = npi_alloc(&job.env, (size_t)graph->m, sizeof *edges, err);
    if (!code && !edges)
        code = NPGNN_E_MEMORY;
    if (!code) {
        npgnn_pair *pairs[2] = {NULL, NULL};
        const size_t none[2] = {0, 0};
        npi_graph_list_edges(edges, graph);
        code = npi_split_assemble(&job.split, graph, NPGNN_TRANSDUCTIVE, edges, graph->m, NULL, pairs, none, none,
                                  &job.env, err);
    }
    npi_free(&job.env, edges);
    if (!code)
        *out = job;
    return code;
}

static npi_task task_of(const method_job *job)
{
    return (npi_task){
        .graph = job->split->train, .split = job->split, .link_rate = 0.5, .options = &job->model, .env = &job->quiet};
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
    int code = job_new(&job, graph, options, env, err);
    if (code)
        return code;
    npi_task task = task_of(&job);
    npgnn_eval_run run = {.size = sizeof run};
    float *computed = npi_alloc(&job.env, count, sizeof *computed, err);
    task.pairs = pairs;
    task.count = count;
    code = computed ? job.method(computed, &run, &task, err) : NPGNN_E_MEMORY;
    if (!code && count > 0)
        memcpy(score, computed, count * sizeof *score);
    npi_free(&job.env, computed);
    job_free(&job);
    return code;
}

/* ---- the search ---- */

enum { MOST_PAIRS = 1 << 20, LEAST_ROWS = 8 }; /* scored together: as many rows as have so many pairs, but not fewer */

typedef struct method_search {
    const method_job *job;
    npi_search search;
    npi_row_source source;
    npi_score_fn *fn; /* of the method, */
    const void *learnt;
    npgnn_pair *pairs; /* (source.most, n) */
} method_search;

/* score (count, n): searched nodes with all nodes. */
static int score_rows(float *score, void *user, int32_t first, int count, npgnn_error *err)
{
    method_search *m = user;
    int32_t n = m->search.n;
    for (int r = 0; r < count; r++)
        for (int32_t v = 0; v < n; v++)
            m->pairs[(size_t)r * (size_t)n + (size_t)v] = (npgnn_pair){npi_search_node(&m->search, first + r), v};
    if (npi_env_stopped(&m->job->env))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled while searching");
    return m->fn(score, NULL, m->learnt, m->pairs, (size_t)count * (size_t)n, count, err);
}

/* What a method does instead of scoring the pairs of a task. */
static int search_with(void *user, npi_score_fn *fn, const void *learnt, npgnn_error *err)
{
    method_search *m = user;
    m->fn = fn;
    m->learnt = learnt;
    int code = npi_search_run(&m->search, err);
    if (m->source.code && err)
        *err = m->source.why;
    return m->source.code ? m->source.code : code;
}

int npgnn_method_top(npgnn_link *out, int32_t *found, const npgnn_graph *graph, int32_t k, int links,
                     const npgnn_method_options *options, const npgnn_top_options *top, const npgnn_env *env,
                     npgnn_error *err)
{
    method_job job = {0};
    npgnn_top_options o = {0};
    int code = npi_sized_read(&o, sizeof o, top, "npgnn_top_options", err);
    if (!code && (o.min_probability != 0 || o.rank != NPGNN_BY_PROBABILITY))
        code = npi_fail(err, NPGNN_E_ARGUMENT,
                        "a method gives scores, not probabilities: leave min_probability and rank at 0");
    if (!code)
        code = job_new(&job, graph, options, env, err);
    if (code)
        return code;
    int32_t n = graph->n;
    int fit = n > 0 ? MOST_PAIRS / n : NPI_TASK_ROWS;
    method_search m = {.job = &job};
    m.source = (npi_row_source){.rows = score_rows, .user = &m};
    m.source.most = fit < LEAST_ROWS ? LEAST_ROWS : fit > NPI_TASK_ROWS ? NPI_TASK_ROWS : fit;
    const npi_search kind = {.out = out, .found = found, .k = k, .links = links};
    code = npi_search_new_heuristic(&m.search, &m.source, graph, kind, top, &job.env, err);
    if (!code) {
        m.source.count = m.search.rows;
        m.pairs = npi_resize(&job.env, NULL, (size_t)m.source.most * (size_t)n, sizeof *m.pairs, err);
        npi_task task = task_of(&job);
        npgnn_eval_run run = {.size = sizeof run};
        float nothing[1];
        task.search = search_with;
        task.search_user = &m;
        code = m.pairs ? job.method(nothing, &run, &task, err) : NPGNN_E_MEMORY;
    }
    npi_search_free(&m.search);
    npi_free(&job.env, m.pairs);
    job_free(&job);
    return code;
}
