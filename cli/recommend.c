#include "recommend.h"

#include <stdlib.h>

#include "cancel.h"
#include "estimate.h"
#include "node_list.h"
#include "say.h"

/* Results held at a time: few calls, each of which prepares itself, and memory that does not grow with the graph. */
enum { ROOM = 1 << 20 };

static int on_progress(void *user, const npgnn_progress *latest)
{
    recommend_progress *progress = user;
    double share = (double)(progress->before + latest->iteration) / progress->all;
    char text[128];
    if (status_is_due(&progress->line, share)) {
        snprintf(text, sizeof text, "%d/%d nodes  %.0f s left", (int)(progress->before + latest->iteration),
                 (int)progress->all, (status_clock() - progress->started) * (1 - share) / share);
        status_show(&progress->line, share, text);
    }
    return cancel_signal() != 0;
}

npgnn_env recommend_env(recommend_progress *progress, const cli_settings *settings)
{
    npgnn_env env = {.size = sizeof env, .threads = settings->threads, .progress = on_progress, .user = progress};
    status_begin(&progress->line, settings->quiet);
    progress->started = status_clock();
    return env;
}

static int failed(const npgnn_error *err)
{
    return err->code == NPGNN_E_CANCELLED ? cancel_status() : say_error("%s", err->text);
}

static int recommend_links(const links_writer *writer, npgnn_predictor *predictor, const npgnn_top_options *options,
                           int32_t k)
{
    npgnn_error err = {0};
    int32_t found = 0;
    npgnn_link *links = malloc((size_t)k * sizeof *links);
    if (!links)
        return say_error("out of memory");
    int code = npgnn_predictor_top_links(links, &found, predictor, k, options, &err);
    for (int32_t i = 0; i < found; i++)
        links_write(writer, &links[i]);
    free(links);
    return code ? failed(&err) : 0;
}

/* The partners of options->from, which is a part of all that are asked for. */
static int recommend_part(const links_writer *writer, npgnn_predictor *predictor, const npgnn_top_options *options,
                          npgnn_link *links, int32_t *found, int32_t k)
{
    npgnn_error err = {0};
    if (npgnn_predictor_top(links, found, predictor, k, options, &err) != 0)
        return failed(&err);
    for (int32_t i = 0; i < options->from_count; i++)
        for (int32_t place = 0; place < found[i]; place++)
            links_write(writer, &links[(size_t)i * (size_t)k + (size_t)place]);
    return ferror(writer->out) ? EXIT_FAILED : 0; /* the words come when the output is closed */
}

static int recommend_partners(const links_writer *writer, npgnn_predictor *predictor, const npgnn_top_options *all,
                              recommend_progress *progress, int32_t k)
{
    int32_t most = ROOM / k > 0 ? ROOM / k : 1, status = 0;
    npgnn_link *links = malloc((size_t)most * (size_t)k * sizeof *links);
    int32_t *found = malloc((size_t)most * sizeof *found);
    if (!links || !found)
        status = say_error("out of memory");
    for (int32_t first = 0; status == 0 && first < all->from_count; first += most) {
        npgnn_top_options part = *all;
        part.from = all->from + first;
        part.from_count = all->from_count - first < most ? all->from_count - first : most;
        progress->before = first;
        status = recommend_part(writer, predictor, &part, links, found, k);
    }
    free(links);
    free(found);
    return status;
}

/* All nodes, one by one: a part of them can be asked for. */
static int list_all(node_list *list, const npgnn_graph *graph)
{
    int32_t nodes = npgnn_graph_nodes(graph);
    list->nodes = malloc(((size_t)nodes + 1) * sizeof *list->nodes);
    if (!list->nodes)
        return say_error("out of memory");
    for (list->count = 0; list->count < nodes; list->count++)
        list->nodes[list->count] = list->count;
    return 0;
}

/* At least 1, since the graph may be empty. */
static int32_t smaller(int32_t wanted, int64_t there_are)
{
    return wanted < there_are ? wanted : there_are > 0 ? (int32_t)there_are : 1;
}

/* What is asked for. */
typedef struct query {
    node_list from, to;
    npgnn_top_options options;
    int32_t k;
} query;

static void query_free(query *q)
{
    node_list_free(&q->from);
    node_list_free(&q->to);
}

/* Returns the exit status; `q` is to be freed in any case. */
static int query_read(query *q, const npgnn_graph *graph, const cli_settings *settings)
{
    int64_t nodes = npgnn_graph_nodes(graph);
    *q = (query){.k = settings->top > 0 ? smaller(settings->top, nodes) : smaller(settings->top_links, nodes * nodes)};
    int status = node_list_read(&q->from, graph, &settings->from);
    if (status == 0)
        status = node_list_read(&q->to, graph, &settings->to);
    if (status == 0 && !q->from.nodes)
        status = list_all(&q->from, graph);
    q->options = (npgnn_top_options){.size = sizeof(npgnn_top_options),
                                     q->from.nodes,
                                     q->to.nodes,
                                     q->from.count,
                                     q->to.count,
                                     settings->exclude == EXCLUDE_NONE,
                                     settings->min_probability,
                                     (npgnn_rank)settings->rank};
    return status;
}

int recommend(const links_writer *writer, npgnn_predictor *predictor, recommend_progress *progress,
              const cli_settings *settings)
{
    query q;
    int status = query_read(&q, writer->graph, settings);
    progress->all = q.from.count;
    if (status == 0 && settings->top > 0)
        status = recommend_partners(writer, predictor, &q.options, progress, q.k);
    else if (status == 0)
        status = recommend_links(writer, predictor, &q.options, q.k);
    status_end(&progress->line);
    query_free(&q);
    return status;
}

/* ---- what it takes ---- */

typedef struct plan {
    const npgnn_model *model;
    const npgnn_graph *graph;
    const npgnn_predict_options *options;
    query query;
} plan;

static int measure_cost(npgnn_cost *cost, const void *input, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err)
{
    const plan *p = input;
    return npgnn_estimate_top(cost, p->model, p->graph, p->query.k, settings->top == 0, p->options, &p->query.options,
                              env, err);
}

int recommend_estimate(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                       const cli_settings *settings)
{
    plan p = {.model = model, .graph = graph, .options = options};
    int status = query_read(&p.query, graph, settings);
    int64_t rows = settings->top > 0 ? smaller(p.query.from.count, ROOM / p.query.k) : 1;
    int64_t results = rows * p.query.k * (int64_t)sizeof(npgnn_link);
    if (status == 0)
        status = estimate(&(cli_estimate){measure_cost, "nodes", 0, results}, &p, settings);
    query_free(&p.query);
    return status;
}
