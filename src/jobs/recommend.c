/* Methods that need no model, applied to all links of a graph: scores of given pairs, and the search for the best. The
 * search asks a method for the scores of one node with all nodes at a time and keeps a shortlist. */
#include <math.h>
#include <string.h>

#include "base/shortlist.h"
#include "base/sized.h"
#include "jobs/methods.h"
#include "model/options.h"

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

enum { FROM = 1, TO = 2 }; /* roles of a node */

typedef struct method_search {
    const method_job *job;
    const npgnn_graph *graph;
    npgnn_top_options options;
    const int32_t *nodes; /* (rows) the first ends */
    int32_t rows, k;
    unsigned char *role; /* (n) */
    int links;
    npi_shortlist list;
    npgnn_link *out; /* (rows, k), or (k) with links */
    int32_t *found;  /* (rows), or (1) */
} method_search;

static int give_role(method_search *s, unsigned char role, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    for (int32_t i = 0; i < (nodes ? count : s->graph->n); i++) {
        int32_t node = nodes ? nodes[i] : i;
        if (node < 0 || node >= s->graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "there is no node %d: nodes are numbered 0 to %d", node,
                            s->graph->n - 1);
        if (s->role[node] & role)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node %d is given twice", node);
        s->role[node] |= role;
    }
    return 0;
}

static void write_list(npgnn_link *out, int32_t *found, method_search *s)
{
    npi_shortlist_sort(&s->list);
    for (int i = 0; i < s->list.count; i++) {
        int64_t id = s->list.items[i].id;
        npgnn_pair pair = {(int32_t)(id / s->graph->n), (int32_t)(id % s->graph->n)};
        npgnn_prediction prediction = {NAN, NAN, NAN, NAN, (float)s->list.items[i].score};
        out[i] = (npgnn_link){pair, prediction, npgnn_graph_has_edge(s->graph, pair.u, pair.v)};
    }
    *found = s->list.count;
    s->list.count = 0;
}

/* Receives the scores of nodes[index] with all nodes. */
static int see_row(void *user, int32_t index, const float *score, npgnn_error *err)
{
    method_search *s = user;
    const npgnn_graph *graph = s->graph;
    int32_t u = s->nodes[index];
    for (int32_t v = 0; v < graph->n; v++) {
        if (!(score[v] < 0 || score[v] > 0) || !(s->role[v] & TO) || !npi_graph_allows(graph, u, v))
            continue; /* 0 or not a number, or not asked for */
        if (s->links && v < u && (s->role[v] & FROM) && (s->role[u] & TO))
            continue; /* the same pair the other way round */
        if (s->options.known || !npgnn_graph_has_edge(graph, u, v))
            npi_shortlist_offer(&s->list, (npi_candidate){(double)score[v], 0, (int64_t)u * graph->n + v});
    }
    if (!s->links)
        write_list(s->out + (size_t)index * (size_t)s->k, &s->found[index], s);
    const npgnn_env *env = &s->job->env;
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iteration = index + 1, .iterations = s->rows};
    if (env->progress && env->progress(env->user, &progress))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d nodes", index + 1, s->rows);
    return 0;
}

static int search_check(method_search *s, npgnn_error *err)
{
    const npgnn_top_options *o = &s->options;
    if (s->k < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "k must be at least 1, got %d", s->k);
    if (o->min_probability != 0 || o->rank != NPGNN_BY_PROBABILITY)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "a method gives scores, not probabilities: leave min_probability and rank at 0");
    if (s->rows < 0 || (o->to && o->to_count < 0))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the number of nodes must not be negative");
    return 0;
}

int npgnn_method_top(npgnn_link *out, int32_t *found, const npgnn_graph *graph, int32_t k, int links,
                     const npgnn_method_options *options, const npgnn_top_options *top, const npgnn_env *env,
                     npgnn_error *err)
{
    method_job job = {0};
    method_search s = {.job = &job, .graph = graph, .k = k, .links = links, .out = out, .found = found};
    int32_t *all = NULL;
    int code = npi_sized_read(&s.options, sizeof s.options, top, "npgnn_top_options", err);
    if (code)
        return code;
    s.rows = s.options.from ? s.options.from_count : graph->n;
    code = search_check(&s, err);
    if (!code)
        code = job_new(&job, graph, options, env, err);
    if (code)
        return code;
    npi_task task = task_of(&job);
    npgnn_eval_run run = {.size = sizeof run};
    float nothing[1];
    s.role = npi_alloc(&job.env, (size_t)graph->n, 1, err);
    all = npi_alloc(&job.env, (size_t)graph->n, sizeof *all, err);
    s.list.items = npi_alloc(&job.env, (size_t)k, sizeof *s.list.items, err);
    s.list.capacity = k;
    if (!s.role || !all || !s.list.items)
        code = NPGNN_E_MEMORY;
    if (!code)
        code = give_role(&s, FROM, s.options.from, s.options.from_count, err);
    if (!code)
        code = give_role(&s, TO, s.options.to, s.options.to_count, err);
    if (!code) {
        for (int32_t i = 0; i < graph->n; i++)
            all[i] = i;
        s.nodes = s.options.from ? s.options.from : all;
        memset(found, 0, (links ? 1 : (size_t)s.rows) * sizeof *found);
        task.nodes = s.nodes;
        task.node_count = s.rows;
        task.row = see_row;
        task.row_user = &s;
        code = job.method(nothing, &run, &task, err);
        if (!code && links)
            write_list(out, found, &s);
    }
    npi_free(&job.env, s.role);
    npi_free(&job.env, all);
    npi_free(&job.env, s.list.items);
    job_free(&job);
    return code;
}
