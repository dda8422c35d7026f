/* Whole jobs: judge a model on pairs of the caller's. */
#include <math.h>
#include <string.h>

#include "graph/negative.h"
#include "graph/pair.h"
#include "jobs/exam.h"
#include "model/model.h"

/* ---- sets of pairs ---- */

typedef struct pair_set {
    npgnn_pair *pairs; /* (count) sorted, all different */
    size_t count;
} pair_set;

static int pair_set_new(pair_set *out, const npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err)
{
    npgnn_pair *own = npi_alloc(env, count, sizeof *own, err);
    size_t kept = 0;
    if (!own)
        return NPGNN_E_MEMORY;
    memcpy(own, pairs, count * sizeof *own);
    *out = (pair_set){own, 0};
    int code = npi_pairs_sort(own, count, env, err);
    for (size_t i = 0; !code && i < count; i++)
        if (i == 0 || npi_pair_key(own[i]) != npi_pair_key(own[kept - 1]))
            own[kept++] = own[i];
    out->count = kept;
    return code;
}

static int has_pair(const pair_set *set, npgnn_pair pair)
{
    return npi_pairs_contain(set->pairs, set->count, pair);
}

/* ---- what is tested, and what the model may know ---- */

typedef struct task {
    const npgnn_graph *graph;
    pair_set links, others; /* as labelled */
    npgnn_graph *known;     /* without any labelled pair */
    npgnn_graph *complete;  /* with the labelled links besides */
    npgnn_pair *pairs;      /* links, then non-links, those drawn included */
    size_t positives, count;
    const npgnn_env *env;
} task;

static void task_free(task *t)
{
    npi_free(t->env, t->links.pairs);
    npi_free(t->env, t->others.pairs);
    npi_free(t->env, t->pairs);
    npgnn_graph_free(t->known);
    npgnn_graph_free(t->complete);
}

static int check_pairs(const npgnn_graph *graph, const npgnn_pair *pairs, size_t positives, size_t count,
                       npgnn_error *err)
{
    if (positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no link to test");
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].u < 0 || pairs[i].u >= graph->n || pairs[i].v < 0 || pairs[i].v >= graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins %d and %d, but nodes are 0 to %d", i, pairs[i].u,
                            pairs[i].v, graph->n - 1);
        if (pairs[i].u == pairs[i].v)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins a node to itself", i);
    }
    return 0;
}

static int check_labels(const task *t, npgnn_error *err)
{
    char u[12], v[12];
    for (size_t i = 0; i < t->others.count; i++)
        if (has_pair(&t->links, t->others.pairs[i])) {
            npgnn_pair pair = t->others.pairs[i];
            return npi_fail(err, NPGNN_E_ARGUMENT, "%.100s and %.100s are labelled as linked and as not linked",
                            npgnn_graph_name(t->graph, pair.u, u), npgnn_graph_name(t->graph, pair.v, v));
        }
    return 0;
}

/* A link that is tested must not be among what is known: propagation and evidence would see it. Counts those that were. */
static int make_graphs(task *t, npgnn_test_result *result, npgnn_error *err)
{
    size_t most = (size_t)t->graph->m + t->links.count;
    npgnn_pair *edges = npi_alloc(t->env, most, sizeof *edges, err);
    int64_t kept = 0;
    if (!edges)
        return NPGNN_E_MEMORY;
    npi_graph_list_edges(edges, t->graph);
    for (int64_t i = 0; i < t->graph->m; i++) {
        int link = has_pair(&t->links, edges[i]), other = has_pair(&t->others, edges[i]);
        result->known_links += (size_t)link;
        result->known_non_links += (size_t)other;
        if (!link && !other)
            edges[kept++] = edges[i];
    }
    int code = npi_graph_with_edges(&t->known, t->graph, edges, kept, err);
    for (size_t i = 0; i < t->links.count; i++)
        edges[kept++] = t->links.pairs[i];
    if (!code)
        code = npi_graph_with_edges(&t->complete, t->graph, edges, kept, err);
    npi_free(t->env, edges);
    return code;
}

/* The pairs as they were given and, where none of them is a non-link, non-links drawn from all. */
static int gather(task *t, const npgnn_pair *pairs, size_t count, const npgnn_test_options *o, npgnn_error *err)
{
    double ratio = o->negative_ratio > 0 ? o->negative_ratio : 1;
    size_t drawn = count == t->positives ? (size_t)(ratio * (double)t->positives) : 0;
    t->count = count + drawn;
    t->pairs = npi_alloc(t->env, t->count, sizeof *t->pairs, err);
    if (!t->pairs)
        return NPGNN_E_MEMORY;
    memcpy(t->pairs, pairs, count * sizeof *t->pairs);
    npgnn_pair *behind[2] = {t->pairs + count, NULL};
    const size_t counts[2] = {drawn, 0};
    return drawn > 0 ? npi_graph_draw_non_links(behind, t->complete, counts, o->seed, t->env, err) : 0;
}

static int task_new(task *t, npgnn_test_result *result, const npgnn_pair *pairs, size_t count,
                    const npgnn_test_options *o, npgnn_error *err)
{
    int code = check_pairs(t->graph, pairs, t->positives, count, err);
    if (!code)
        code = pair_set_new(&t->links, pairs, t->positives, t->env, err);
    if (!code)
        code = pair_set_new(&t->others, pairs + t->positives, count - t->positives, t->env, err);
    if (!code)
        code = check_labels(t, err);
    if (!code)
        code = make_graphs(t, result, err);
    if (!code)
        code = gather(t, pairs, count, o, err);
    return code;
}

/* ---- answers and marks ---- */

static int mark(npgnn_eval_run *run, const npgnn_model *model, const npgnn_graph *graph, const npi_exam *exam,
                const npgnn_test_options *o, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_predict_options how = {o->samples, o->seed, exam->link_rate};
    npi_resamples resamples = {0};
    float *score = npi_alloc(env, exam->count, 2 * sizeof *score, err);
    float *probability = score ? score + exam->count : NULL;
    int code = score ? npi_exam_answer(score, probability, model, graph, exam->pairs, exam->count, &how, env, err)
                     : NPGNN_E_MEMORY;
    if (!code && o->bootstrap > 0)
        code = npi_resamples_new(&resamples, o->bootstrap, env, err);
    if (!code)
        code = npi_exam_mark(run, o->bootstrap > 0 ? &resamples : NULL, exam, score, probability, env, err);
    npi_resamples_free(env, &resamples);
    npi_free(env, score);
    return code;
}

/* ---- the job ---- */

static int run_task(npgnn_test_result *result, task *t, const npgnn_model *model, const npgnn_test_options *o,
                    npgnn_error *err)
{
    npi_exam exam = {.pairs = t->pairs,
                     .positives = t->positives,
                     .tested = t->count,
                     .count = t->count,
                     .link_rate = o->link_rate > 0 ? o->link_rate : model->info.link_rate};
    int code = 0;
    if (o->negatives == NPGNN_NEGATIVES_HARD)
        code = npi_exam_add_hard(&exam, t->complete, t->known, t->env, err);
    result->run = (npgnn_eval_run){.seed = o->seed,
                                   .iterations = model->info.iterations,
                                   .best_iteration = model->info.iterations,
                                   .val_auc = model->info.val_auc,
                                   .val_ap = model->info.val_ap,
                                   .train_seconds = (double)NAN,
                                   .calibration = {.link_rate = exam.link_rate}};
    if (!code)
        code = mark(&result->run, model, o->keep_known ? t->graph : t->known, &exam, o, t->env, err);
    npi_exam_free(t->env, &exam);
    return code;
}

int npgnn_test(npgnn_test_result *out, const npgnn_model *model, const npgnn_graph *graph, const npgnn_pair *pairs,
               size_t positives, size_t count, const npgnn_test_options *options, const npgnn_env *env,
               npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_test_options o = {.samples = -1};
    npgnn_test_result result = {0};
    task t = {.graph = graph, .positives = positives, .env = &resolved};
    if (options)
        o = *options;
    if (!(o.link_rate >= 0 && o.link_rate < 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "a link rate of %g: it is a share of the pairs, 0 < rate < 1",
                        o.link_rate);
    int code = task_new(&t, &result, pairs, count, &o, err);
    if (!code)
        code = run_task(&result, &t, model, &o, err);
    result.links = positives;
    result.non_links = t.count - positives;
    result.drawn = t.count - count;
    if (!code)
        *out = result;
    task_free(&t);
    return code;
}
