/* A predictor of a graph that grows.
 *
 * Graphs stay immutable: an addition makes a new graph, which shares or copies what the old one has (graph/grow.c). The
 * evidence of the predictor is extended in place (live/extend.c). A refresh builds a second predictor on the graph
 * of the moment, extends it by what was added meanwhile, and puts it in place of the first.
 *
 * Locks, always taken in this order:
 *   refreshing   one refresh at a time
 *   writing      one addition at a time; a refresh has it at its beginning and its end only
 *   using        readers predict; a writer has it only to put the new graph, or predictor, in place */
#define _GNU_SOURCE /* pthread_rwlockattr_setkind_np */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "io/text.h"
#include "live/cells.h"
#include "predict/predictor.h"

struct npgnn_live {
    npgnn_env env;
    const npgnn_model *model;
    npgnn_predict_options options;
    pthread_mutex_t refreshing, writing;
    pthread_rwlock_t using;
    npgnn_graph *graph;
    npgnn_predictor *predictor; /* of that graph, on one thread */
    /* what the next refresh, or the one that is running, does not know */
    npgnn_graph *snapshot; /* that a running refresh reads; NULL: none */
    int32_t *touched;      /* nodes with new links since that snapshot, with repetitions */
    size_t touched_count, touched_capacity;
    int64_t new_nodes, new_links, refreshes;
};

/* ---- beginning and end ---- */

static int locks_new(npgnn_live *live, npgnn_error *err)
{
    pthread_rwlockattr_t attributes;
    if (pthread_rwlockattr_init(&attributes) != 0)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory for a lock");
    /* readers never end: without preference, an addition might wait for ever */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    int failed = pthread_rwlock_init(&live->using, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    if (failed)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory for a lock");
    pthread_mutex_init(&live->refreshing, NULL); /* cannot fail on Linux */
    pthread_mutex_init(&live->writing, NULL);
    return 0;
}

/* The names of all nodes, then `more` ones. */
static int copy_names(npi_names **out, const npgnn_graph *graph, const npgnn_new_node *more, size_t count,
                      npgnn_error *err)
{
    npi_names *names = NULL;
    char number[12];
    int32_t index;
    int code = graph->names ? npi_names_copy(&names, graph->names, err) : npi_names_new(&names, &graph->env, err);
    for (int32_t i = 0; !code && !graph->names && i < graph->n; i++) {
        const char *name = npgnn_graph_name(graph, i, number);
        code = npi_names_add(&index, names, name, strlen(name), err);
    }
    for (size_t i = 0; !code && i < count; i++) {
        code = npi_names_add(&index, names, more[i].name, strlen(more[i].name), err);
        if (!code && (size_t)index < (size_t)graph->n + i)
            code = npi_fail(err, NPGNN_E_ARGUMENT, "the graph already has a node '%.100s'", more[i].name);
    }
    if (code)
        npi_names_free(names);
    else
        *out = names;
    return code;
}

/* Of more nodes than this, a search meets candidates: all nodes would take more than some ten milliseconds. */
enum { MOST_EXACT = 1 << 16 };

/* Tells env.log what share of the best the candidates contain. */
static int report_candidates(const npgnn_live *live, npgnn_error *err)
{
    enum { NODES = NPGNN_CHECKED_NODES, BEST = NPGNN_CHECKED_BEST };
    int32_t n = live->graph->n, from[NODES], found[NODES];
    npgnn_link links[NODES * BEST];
    for (int i = 0; i < NODES; i++)
        from[i] = (int32_t)((int64_t)i * n / NODES);
    const npgnn_top_options options = {
        .size = sizeof options, .from = from, .from_count = NODES, .search = NPGNN_SEARCH_CANDIDATES};
    return npgnn_predictor_top(links, found, live->predictor, BEST, &options, err);
}

/* A predictor that answers each call on the calling thread. */
static int build(npgnn_predictor **out, const npgnn_live *live, const npgnn_graph *graph, npgnn_error *err)
{
    int code = npgnn_predictor_new(out, live->model, graph, &live->options, &live->env, err);
    if (!code) {
        code = live->model->kind->quicken(*out, live->options.seed, err);
        if (!code && live->model->kind->retrieve && graph->n > MOST_EXACT)
            code = live->model->kind->retrieve(*out, err);
        if (code) {
            npgnn_predictor_free(*out);
            *out = NULL;
        }
    }
    if (!code)
        (*out)->threads = 1;
    return code;
}

int npgnn_live_new(npgnn_live **out, const npgnn_model *model, const npgnn_graph *graph,
                   const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_predict_options o = {.size = sizeof o};
    if (npi_env_check(env, err) || npi_sized_read(&o, sizeof o, options, "npgnn_predict_options", err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_live *live = npi_alloc(&resolved, 1, sizeof *live, err);
    if (!live)
        return NPGNN_E_MEMORY;
    o.samples = 0;
    live->env = resolved;
    live->env.comm = NULL; /* each process answers by itself, from the evidence of all nodes */
    live->model = model;
    live->options = o;
    npi_names *names = NULL;
    int code = locks_new(live, err);
    if (code) {
        npi_free(&resolved, live);
        return code;
    }
    code = copy_names(&names, graph, NULL, 0,
                      err); /* a graph without names gets the decimal numbers: new nodes may be named freely */
    if (!code)
        code = npi_graph_grow(&live->graph, graph, graph->x, names, NULL, NULL, 0, err);
    npi_names_free(names);
    if (!code)
        code = build(&live->predictor, live, live->graph, err);
    if (!code && live->predictor->retriever)
        code = report_candidates(live, err);
    if (code)
        npgnn_live_free(live);
    else
        *out = live;
    return code;
}

void npgnn_live_free(npgnn_live *live)
{
    if (!live)
        return;
    npgnn_env env = live->env;
    npgnn_predictor_free(live->predictor);
    npgnn_graph_free(live->graph);
    npi_free(&env, live->touched);
    pthread_rwlock_destroy(&live->using);
    pthread_mutex_destroy(&live->writing);
    pthread_mutex_destroy(&live->refreshing);
    npi_free(&env, live);
}

/* ---- additions ---- */

/* Puts a larger graph in the place of live->graph. touched (count): its known nodes that have new links. Takes
 * ownership of `graph`, also on failure. */
static int install(npgnn_live *live, npgnn_graph *graph, const int32_t *touched, size_t count, npgnn_error *err)
{
    const npi_model_kind *kind = live->model->kind;
    int code = 0;
    npgnn_predictor *replaced = NULL, *rebuilt = NULL;
    npgnn_graph *before = live->graph;
    for (size_t i = 0; !code && i < count; i++) {
        code = npi_grow(&live->env, &live->touched, &live->touched_capacity, live->touched_count + i,
                        sizeof *live->touched, err);
        if (!code)
            live->touched[live->touched_count + i] = touched[i];
    }
    if (!code && !kind->extend)
        code = build(&rebuilt, live, graph, err);
    if (!code) {
        pthread_rwlock_wrlock(&live->using);
        if (kind->extend) {
            code = kind->extend(live->predictor, graph, touched, count, err);
        } else {
            replaced = live->predictor;
            live->predictor = rebuilt;
        }
        if (!code)
            live->graph = graph;
        pthread_rwlock_unlock(&live->using);
    }
    npgnn_predictor_free(replaced);
    if (code) {
        npgnn_graph_free(graph);
        return code;
    }
    live->touched_count += count;
    live->new_nodes += graph->n - before->n;
    live->new_links += graph->m - before->m;
    if (before != live->snapshot) /* otherwise the refresh frees it */
        npgnn_graph_free(before);
    return 0;
}

/* Refuses what is no name. */
static int check_nodes(const npgnn_graph *graph, const npgnn_new_node *nodes, size_t count, npgnn_error *err)
{
    if (count > (size_t)(INT32_MAX - graph->n))
        return npi_fail(err, NPGNN_E_ARGUMENT, "too many nodes: the limit is %d", INT32_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!nodes[i].name || !nodes[i].name[0] || !npi_text_is_utf8(nodes[i].name))
            return npi_fail(err, NPGNN_E_ARGUMENT, "new node %zu: a name must be UTF-8 and not empty", i);
        if (npgnn_graph_find(graph, nodes[i].name) >= 0)
            return npi_fail(err, NPGNN_E_ARGUMENT, "the graph already has a node '%.100s'", nodes[i].name);
        if (graph->side && nodes[i].side != 0 && nodes[i].side != 1)
            return npi_fail(err, NPGNN_E_ARGUMENT, "new node '%.100s': a side is 0 or 1, not %d", nodes[i].name,
                            nodes[i].side);
    }
    return 0;
}

int npgnn_live_add_nodes(npgnn_live *live, const npgnn_new_node *given, size_t count, npgnn_error *err)
{
    npi_features *added = NULL, *x = NULL;
    npi_names *names = NULL;
    npgnn_graph *graph = NULL;
    if (count == 0)
        return 0;
    npgnn_new_node *nodes = npi_alloc(&live->env, count, sizeof *nodes, err);
    int code = nodes ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++) /* in the caller's version of the struct */
        code = npi_sized_read(&nodes[i], sizeof nodes[i], (const char *)given + i * given->size, "npgnn_new_node", err);
    pthread_mutex_lock(&live->writing);
    if (!code)
        code = check_nodes(live->graph, nodes, count, err);
    unsigned char *side = code || !live->graph->side ? NULL : npi_alloc(&live->env, count, 1, err);
    if (!code && live->graph->side && !side)
        code = NPGNN_E_MEMORY;
    for (size_t i = 0; side && i < count; i++)
        side[i] = (unsigned char)nodes[i].side;
    if (!code)
        code = npi_cells_encode(&added, live->graph, nodes, count, err);
    if (!code)
        code = npi_features_stack(&x, live->graph->x, added, err);
    if (!code)
        code = copy_names(&names, live->graph, nodes, count, err);
    if (!code)
        code = npi_graph_grow(&graph, live->graph, x, names, side, NULL, 0, err);
    if (!code)
        code = install(live, graph, NULL, 0, err);
    pthread_mutex_unlock(&live->writing);
    npi_free(&live->env, nodes);
    npi_free(&live->env, side);
    npi_names_free(names);
    npi_features_free(x);
    npi_features_free(added);
    return code;
}

static int by_ends(const void *a, const void *b)
{
    const npgnn_pair *left = a, *right = b;
    if (left->u != right->u)
        return left->u < right->u ? -1 : 1;
    return (left->v > right->v) - (left->v < right->v);
}

/* edges (*kept) = the links that the graph does not have, u < v, ordered, each once. */
static int choose_links(npgnn_pair *edges, size_t *kept, const npgnn_graph *graph, const npgnn_pair *links,
                        size_t count, npgnn_error *err)
{
    char buffer[2][12];
    *kept = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t u = links[i].u, v = links[i].v;
        if (u < 0 || u >= graph->n || v < 0 || v >= graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "link %zu joins %d and %d, but nodes are 0 to %d", i, u, v,
                            graph->n - 1);
        if (u == v)
            return npi_fail(err, NPGNN_E_ARGUMENT, "link %zu joins '%.100s' with itself", i,
                            npgnn_graph_name(graph, u, buffer[0]));
        if (!npi_graph_allows(graph, u, v))
            return npi_fail(err, NPGNN_E_ARGUMENT,
                            "link %zu joins '%.100s' and '%.100s', which are on the same side of a two-sided graph", i,
                            npgnn_graph_name(graph, u, buffer[0]), npgnn_graph_name(graph, v, buffer[1]));
        if (!npgnn_graph_has_edge(graph, u, v))
            edges[(*kept)++] = u < v ? (npgnn_pair){u, v} : (npgnn_pair){v, u};
    }
    size_t distinct = 0;
    if (*kept > 0)
        qsort(edges, *kept, sizeof *edges, by_ends);
    for (size_t i = 0; i < *kept; i++)
        if (i == 0 || by_ends(&edges[i], &edges[i - 1]) != 0)
            edges[distinct++] = edges[i];
    *kept = distinct;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

int npgnn_live_add_links(int64_t *added, npgnn_live *live, const npgnn_pair *links, size_t count, npgnn_error *err)
{
    size_t kept = 0, ends = 0;
    npgnn_graph *graph = NULL;
    npgnn_pair *edges = npi_alloc(&live->env, count, sizeof *edges, err);
    int32_t *touched = npi_alloc(&live->env, 2 * count, sizeof *touched, err);
    int code = edges && touched ? 0 : NPGNN_E_MEMORY;
    pthread_mutex_lock(&live->writing);
    if (!code)
        code = choose_links(edges, &kept, live->graph, links, count, err);
    if (!code && kept > 0) {
        for (size_t i = 0; i < kept; i++) {
            touched[2 * i] = edges[i].u;
            touched[2 * i + 1] = edges[i].v;
        }
        qsort(touched, 2 * kept, sizeof *touched, by_number);
        for (size_t i = 0; i < 2 * kept; i++) /* each node once */
            if (i == 0 || touched[i] != touched[i - 1])
                touched[ends++] = touched[i];
        code = npi_graph_grow(&graph, live->graph, live->graph->x, live->graph->names, NULL, edges, (int64_t)kept, err);
        if (!code)
            code = install(live, graph, touched, ends, err);
    }
    pthread_mutex_unlock(&live->writing);
    npi_free(&live->env, edges);
    npi_free(&live->env, touched);
    if (!code && added)
        *added = (int64_t)kept;
    return code;
}

/* ---- refresh ---- */

/* Nothing is left that a refresh would have to learn. */
static void count_refresh(npgnn_live *live)
{
    live->new_nodes = live->new_links = 0;
    live->touched_count = 0;
    live->refreshes++;
}

int npgnn_live_refresh(npgnn_live *live, npgnn_error *err)
{
    npgnn_predictor *fresh = NULL, *old = NULL;
    pthread_mutex_lock(&live->refreshing);
    pthread_mutex_lock(&live->writing);
    int64_t nodes = live->new_nodes, links = live->new_links; /* that this refresh will know */
    npgnn_graph *snapshot = live->graph;
    live->snapshot = snapshot;
    size_t known = live->touched_count;
    if (!live->model->kind->extend) { /* its predictor knows all that was added */
        live->snapshot = NULL;
        count_refresh(live);
        pthread_mutex_unlock(&live->writing);
        pthread_mutex_unlock(&live->refreshing);
        return 0;
    }
    pthread_mutex_unlock(&live->writing);

    int code = build(&fresh, live, snapshot, err);

    pthread_mutex_lock(&live->writing);
    live->snapshot = NULL;
    if (!code && live->graph != snapshot) /* what was added meanwhile */
        code = live->model->kind->extend(fresh, live->graph, live->touched + known, live->touched_count - known, err);
    if (!code) {
        pthread_rwlock_wrlock(&live->using);
        old = live->predictor;
        live->predictor = fresh;
        pthread_rwlock_unlock(&live->using);
        if (live->touched_count > known)
            memmove(live->touched, live->touched + known, (live->touched_count - known) * sizeof *live->touched);
        live->touched_count -= known;
        live->new_nodes -= nodes;
        live->new_links -= links;
        live->refreshes++;
    }
    npgnn_graph *unused = live->graph != snapshot ? snapshot : NULL;
    pthread_mutex_unlock(&live->writing);
    npgnn_predictor_free(code ? fresh : old);
    npgnn_graph_free(unused);
    pthread_mutex_unlock(&live->refreshing);
    return code;
}

int npgnn_live_describe(npgnn_live_info *info, npgnn_live *live, npgnn_error *err)
{
    pthread_mutex_lock(&live->writing);
    npgnn_live_info out = {
        .size = sizeof out, .new_nodes = live->new_nodes, .new_links = live->new_links, .refreshes = live->refreshes};
    pthread_mutex_unlock(&live->writing);
    return npi_sized_write(info, &out, sizeof out, "npgnn_live_info", err);
}

/* ---- predictions ---- */

const npgnn_graph *npgnn_live_begin(npgnn_live *live)
{
    pthread_rwlock_rdlock(&live->using);
    return live->graph;
}

void npgnn_live_end(npgnn_live *live)
{
    pthread_rwlock_unlock(&live->using);
}

int npgnn_live_top(npgnn_link *out, int32_t *found, npgnn_live *live, int32_t node, int32_t k, npgnn_error *err)
{
    const npgnn_top_options options = {.size = sizeof options,
                                       .from = &node,
                                       .from_count = 1,
                                       .search =
                                           live->predictor->retriever ? NPGNN_SEARCH_CANDIDATES : NPGNN_SEARCH_EXACT,
                                       .unchecked = 1};
    return npgnn_predictor_top(out, found, live->predictor, k, &options, err);
}

int npgnn_live_score(npgnn_prediction *out, npgnn_live *live, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    int code = npi_predictor_check_pairs(live->predictor, pairs, count, err);
    return code ? code : npi_predictor_run_share(out, live->predictor, pairs, count, err);
}

int npgnn_live_explain(npgnn_explanation *out, npgnn_live *live, npgnn_pair pair, npgnn_error *err)
{
    return npgnn_predictor_explain(out, live->predictor, pair, err);
}
