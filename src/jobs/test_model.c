/* npgnn_test: measures a model on the caller's labelled pairs.
 *
 * The steps: check the pairs and their labels; remove every labelled pair from the graph that the model may see; where
 * no non-link is labelled, draw some; score the pairs, and compute the metrics. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/sized.h"
#include "graph/negative.h"
#include "graph/pair.h"
#include "jobs/test_set.h"
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
    npgnn_comm *comm; /* the processes that divide the pairs; NULL: one */
} task;

static void task_free(task *t)
{
    npi_free(t->env, t->links.pairs);
    npi_free(t->env, t->others.pairs);
    npi_free(t->env, t->pairs);
    npgnn_graph_free(t->known);
    npgnn_graph_free(t->complete);
}

/* A link that is tested must not be among what is known: propagation and evidence would see it. Counts those that
 * were. */
static int make_graphs(task *t, npgnn_test_counts *counts, npgnn_error *err)
{
    size_t most = (size_t)t->graph->m + t->links.count;
    npgnn_pair *edges = npi_alloc(t->env, most, sizeof *edges, err);
    int64_t kept = 0;
    if (!edges)
        return NPGNN_E_MEMORY;
    npi_graph_list_edges(edges, t->graph);
    for (int64_t i = 0; i < t->graph->m; i++) {
        int link = has_pair(&t->links, edges[i]), other = has_pair(&t->others, edges[i]);
        counts->known_links += (size_t)link;
        counts->known_non_links += (size_t)other;
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

/* Checks the pairs and their labels, and fills the task. */
static int task_new(task *t, npgnn_test_counts *counts, const npgnn_pair *pairs, size_t count,
                    const npgnn_test_options *o, npgnn_error *err)
{
    const npgnn_graph *graph = t->graph;
    if (t->positives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no link to test");
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].u < 0 || pairs[i].u >= graph->n || pairs[i].v < 0 || pairs[i].v >= graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins %d and %d, but nodes are 0 to %d", i, pairs[i].u,
                            pairs[i].v, graph->n - 1);
        if (pairs[i].u == pairs[i].v)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins a node to itself", i);
    }

    int code = pair_set_new(&t->links, pairs, t->positives, t->env, err);
    if (!code)
        code = pair_set_new(&t->others, pairs + t->positives, count - t->positives, t->env, err);
    for (size_t i = 0; !code && i < t->others.count; i++) {
        npgnn_pair pair = t->others.pairs[i];
        char u[12], v[12];
        if (has_pair(&t->links, pair))
            code = npi_fail(err, NPGNN_E_ARGUMENT, "%.100s and %.100s are labelled as linked and as not linked",
                            npgnn_graph_name(graph, pair.u, u), npgnn_graph_name(graph, pair.v, v));
    }
    if (!code)
        code = make_graphs(t, counts, err);
    if (!code)
        code = gather(t, pairs, count, o, err);
    return code;
}

/* ---- scores and metrics ---- */

static int run_task(npgnn_eval_run *run, task *t, const npgnn_model *model, const npgnn_test_options *o,
                    npgnn_error *err)
{
    double rate = model->kind->link_rate(model, t->known);
    npi_test_set set = {.pairs = t->pairs,
                        .positives = t->positives,
                        .tested = t->count,
                        .count = t->count,
                        .link_rate = o->link_rate > 0 ? o->link_rate : rate};
    const npgnn_predict_options how = {.size = sizeof how, o->samples, o->seed, o->link_rate};
    npi_resamples resamples = {0};
    *run = (npgnn_eval_run){.size = sizeof *run,
                            .seed = o->seed,
                            .iterations = model->info.iterations,
                            .best_iteration = model->info.iterations,
                            .val_auc = model->info.val_auc,
                            .val_ap = model->info.val_ap,
                            .untuned_auc = (double)NAN,
                            .untuned_ap = (double)NAN,
                            .train_seconds = (double)NAN,
                            .calibration = {.link_rate = set.link_rate}};
    int code = 0;
    const npi_population among = {.graph = t->complete};
    if (o->negatives == NPGNN_NEGATIVES_HARD)
        code = npi_test_set_add_hard(&set, &among, t->known, t->env, err);

    /* the model sees the graph without the labelled pairs, unless the caller wants it to see them */
    float *score = code ? NULL : npi_alloc(t->env, set.count, 2 * sizeof *score, err);
    float *probability = score ? score + set.count : NULL;
    if (!code && !score)
        code = NPGNN_E_MEMORY;
    npgnn_env shared = *t->env;
    shared.comm = t->comm;
    code = npi_comm_agree(t->comm, code, err);
    if (!code)
        code = npi_test_set_predict(score, probability, model, o->keep_known ? t->graph : t->known, set.pairs,
                                    set.count, &how, &shared, err);
    if (!code && o->bootstrap > 0)
        code = npi_resamples_new(&resamples, o->bootstrap, t->env, err);
    if (!code)
        code = npi_test_set_measure(run, o->bootstrap > 0 ? &resamples : NULL, &set, score, probability, t->env, err);
    npi_resamples_free(t->env, &resamples);
    npi_free(t->env, score);
    npi_test_set_free(t->env, &set);
    return code;
}

int npgnn_test(npgnn_eval_run *run, npgnn_test_counts *counts, const npgnn_model *model, const npgnn_graph *graph,
               const npgnn_pair *pairs, size_t positives, size_t count, const npgnn_test_options *options,
               const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_test_options o = {.samples = -1};
    npgnn_eval_run result;
    npgnn_test_counts counted = {.size = sizeof counted};
    task t = {.graph = graph, .positives = positives, .env = &resolved};
    t.comm = npi_comm_ranks(resolved.comm) > 1 ? resolved.comm : NULL;
    resolved.comm = NULL;
    int code = npi_sized_read(&o, sizeof o, options, "npgnn_test_options", err);
    if (!code)
        code = npi_sized_check(run, "npgnn_eval_run", err);
    if (!code && counts)
        code = npi_sized_check(counts, "npgnn_test_counts", err);
    if (!code && o.negatives != NPGNN_NEGATIVES_UNIFORM && o.negatives != NPGNN_NEGATIVES_HARD)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "a test ranks against uniform or hard negatives only");
    if (!code && !(o.link_rate >= 0 && o.link_rate < 1))
        code = npi_fail(err, NPGNN_E_ARGUMENT, "link rate %g is out of range: it must be at least 0 and below 1",
                        o.link_rate);
    if (!code)
        code = npi_comm_agree(t.comm, task_new(&t, &counted, pairs, count, &o, err), err);
    if (!code)
        code = run_task(&result, &t, model, &o, err);
    counted.links = positives;
    counted.non_links = t.count - positives;
    counted.drawn = t.count - count;
    if (!code)
        code = npi_sized_write(run, &result, sizeof result, "npgnn_eval_run", err);
    if (!code && counts)
        code = npi_sized_write(counts, &counted, sizeof counted, "npgnn_test_counts", err);
    task_free(&t);
    return code;
}
