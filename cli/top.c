/* The search for the most probable links. */
#include "top.h"

#include <stdlib.h>

#include "cancel.h"
#include "comm.h"
#include "estimate.h"
#include "message.h"
#include "node_list.h"

/* Results that one call of the library may return.
 *
 * One call for all nodes lets the library score each pair once, for both of its ends: half the work of a search node by
 * node. So all nodes are searched in one call while their results take less than 1 GB; per node that is about what the
 * evidence takes. Beyond that, memory should not grow with the graph, and a call returns fewer; but many, since every
 * call prepares for the search anew. */
enum { MOST_AT_ONCE = 1 << 24, BATCH_RESULTS = 1 << 20 };

static int on_progress(void *user, const npgnn_progress *latest)
{
    top_progress *progress = user;
    int32_t done = progress->before + latest->iteration;
    double share = (double)done / progress->all;
    char text[128];
    if (progress_line_is_due(&progress->line, share)) {
        snprintf(text, sizeof text, "%d/%d nodes  %.0f s left", (int)done, (int)progress->all,
                 (progress_clock() - progress->started) * (1 - share) / share);
        progress_line_show(&progress->line, share, text);
    }
    return cancel_signal() != 0;
}

npgnn_env top_env(top_progress *progress, const common_settings *common)
{
    npgnn_env env = common_env(common);
    env.progress = on_progress;
    env.user = progress;
    progress_line_begin(&progress->line, common->quiet);
    progress->started = progress_clock();
    progress->quiet = common->quiet;
    return env;
}

/* ---- the query ---- */

typedef struct query {
    node_list from, to; /* from.nodes NULL: all nodes, in one call; from.count is their number */
    int32_t per_call;   /* nodes that a call searches for, with --top */
    npgnn_top_options options;
    int32_t k;
} query;

static void query_free(query *q)
{
    node_list_free(&q->from);
    node_list_free(&q->to);
}

/* `wanted`, but at most `available`; at least 1, since the graph may be empty. */
static int32_t at_most(int32_t wanted, int64_t available)
{
    return wanted < available ? wanted : available > 0 ? (int32_t)available : 1;
}

/* Number of nodes among `count` that one call searches for, with k results for each. At least 1. */
static int32_t nodes_per_call(int32_t count, int32_t k)
{
    int32_t most = (int64_t)count * k <= MOST_AT_ONCE ? count : BATCH_RESULTS / k;
    return most > 1 ? most : 1;
}

/* Returns the exit status. `q` has to be freed in any case. */
static int query_read(query *q, const npgnn_graph *graph, const top_settings *settings)
{
    int64_t nodes = npgnn_graph_nodes(graph);
    int32_t k = settings->per_node > 0 ? at_most(settings->per_node, nodes) : at_most(settings->links, nodes * nodes);
    *q = (query){.k = k};
    int status = node_list_read(&q->from, graph, &settings->from);
    if (status == 0)
        status = node_list_read(&q->to, graph, &settings->to);
    if (!q->from.nodes)
        q->from.count = (int32_t)nodes;
    q->per_call = nodes_per_call(q->from.count, k);
    if (status == 0 && !q->from.nodes && settings->per_node > 0 && q->per_call < q->from.count)
        status = node_list_all(&q->from, graph);
    q->options = (npgnn_top_options){.size = sizeof q->options,
                                     .from = q->from.nodes,
                                     .to = q->to.nodes,
                                     .from_count = q->from.count,
                                     .to_count = q->to.count,
                                     .known = settings->exclude == EXCLUDE_NONE,
                                     .min_probability = settings->min_probability,
                                     .rank = (npgnn_rank)settings->rank,
                                     .search = (npgnn_search)settings->search,
                                     .candidates = settings->candidates};
    if (settings->candidates > 0 && q->options.search == NPGNN_SEARCH_AUTO)
        q->options.search = NPGNN_SEARCH_CANDIDATES;
    /* what the whole search would do, not a call of it */
    if (q->options.search == NPGNN_SEARCH_AUTO && (int64_t)q->from.count * nodes <= NPGNN_EXACT_PAIRS)
        q->options.search = NPGNN_SEARCH_EXACT;
    return status;
}

/* One process would retrieve candidates: what several find is at least as good, but it may be other pairs. */
static void note_processes(const query *q, const link_source *source, const top_progress *progress)
{
    if (source->comm && source->retrieves && q->options.search == NPGNN_SEARCH_AUTO && !progress->quiet)
        print_note("several processes score all pairs, where one would retrieve candidates: with --search exact, both "
                   "give the same results");
}

/* Says how good the candidates are, where there are any. */
static void note_recall(const npgnn_search_info *info, const top_progress *progress)
{
    if (info->checked > 0 && !progress->quiet)
        print_note("candidates: %d per node; they contain %.1f %% (%.1f to %.1f) of the %d best, by exact search of %d "
                   "nodes",
                   (int)info->candidates, 100 * info->recall, 100 * info->low, 100 * info->high, (int)info->best,
                   (int)info->checked);
}

/* ---- the search ---- */

static int search_failed(const npgnn_error *err)
{
    return err->code == NPGNN_E_CANCELLED && cancel_signal() ? cancel_status() : print_error("%s", err->text);
}

/* The k best links of the whole graph. */
static int find_links(const links_writer *writer, const link_source *source, const query *q,
                      const top_progress *progress)
{
    npgnn_error err = {0};
    npgnn_search_info info = {.size = sizeof info};
    npgnn_top_options options = q->options;
    int32_t found = 0;
    options.info = &info;
    npgnn_link *links = malloc((size_t)q->k * sizeof *links);
    int status = comm_settle(source->comm, links ? 0 : print_error("out of memory"));
    if (status == 0 && source_top_links(links, &found, source, q->k, &options, &err) != 0)
        status = search_failed(&err);
    if (status == 0)
        note_recall(&info, progress);
    if (status == 0)
        status = links_write_all(writer, links, (size_t)found);
    free(links);
    return status;
}

/* Decides for all calls of a search whether it has candidates, and measures how good they are: of nodes of all calls, which
 * are searched for that. */
static int check_candidates(npgnn_top_options *options, const link_source *source, const query *q,
                            const top_progress *progress)
{
    enum { SOME = NPGNN_CHECKED_NODES };
    npgnn_error err = {0};
    npgnn_search_info info = {.size = sizeof info};
    int32_t some[SOME], found[SOME], k = q->k < NPGNN_CHECKED_BEST ? q->k : NPGNN_CHECKED_BEST;
    npgnn_link links[SOME * NPGNN_CHECKED_BEST];
    npgnn_top_options check = *options;
    for (int i = 0; i < SOME; i++)
        some[i] = q->from.nodes[(int64_t)i * q->from.count / SOME];
    check.from = some;
    check.from_count = SOME;
    check.info = &info;
    if (check.search == NPGNN_SEARCH_AUTO)
        check.search = source_retrieves(source) ? NPGNN_SEARCH_CANDIDATES : NPGNN_SEARCH_EXACT;
    options->search = check.search;
    options->unchecked = 1;
    if (check.search == NPGNN_SEARCH_EXACT)
        return 0;
    if (source_top(links, found, source, k, &check, &err) != 0)
        return search_failed(&err);
    note_recall(&info, progress);
    return 0;
}

/* The k best partners of each node, for per_call nodes at a time. */
static int find_partners(const links_writer *writer, const link_source *source, const query *q, top_progress *progress)
{
    size_t k = (size_t)q->k;
    int32_t batch = q->per_call, all = q->from.count;
    npgnn_link *links = malloc((size_t)batch * k * sizeof *links); /* (batch, k) */
    int32_t *found = malloc((size_t)batch * sizeof *found);        /* (batch) */
    npgnn_search_info info = {.size = sizeof info};
    npgnn_top_options options = q->options;
    int status = comm_settle(source->comm, links && found ? 0 : print_error("out of memory"));
    options.info = &info;
    if (status == 0 && batch < all && all > NPGNN_CHECKED_NODES)
        status = comm_settle(source->comm, check_candidates(&options, source, q, progress));
    for (int32_t first = 0; status == 0 && first < all; first += batch) {
        npgnn_error err = {0};
        int32_t rows = all - first < batch ? all - first : batch;
        if (options.from) {
            options.from = q->options.from + first;
            options.from_count = rows;
        }
        progress->before = first;
        if (source_top(links, found, source, q->k, &options, &err) != 0) {
            status = search_failed(&err);
            break;
        }
        note_recall(&info, progress);
        size_t count = 0; /* without the gaps where a node has fewer than k */
        for (int32_t i = 0; i < rows; i++)
            for (int32_t rank = 0; rank < found[i]; rank++)
                links[count++] = links[(size_t)i * k + (size_t)rank];
        status = links_write_all(writer, links, count);
        if (ferror(writer->out))
            status = EXIT_FAILED; /* closing the output reports why */
        status = comm_settle(source->comm, status);
    }
    free(links);
    free(found);
    return status;
}

int top_run(const links_writer *writer, const link_source *source, top_progress *progress, const top_settings *settings)
{
    query q;
    int status = comm_settle(source->comm, query_read(&q, writer->graph, settings));
    progress->all = q.from.count;
    if (status == 0)
        note_processes(&q, source, progress);
    if (status == 0)
        status = settings->per_node > 0 ? find_partners(writer, source, &q, progress)
                                        : find_links(writer, source, &q, progress);
    query_free(&q);
    return status;
}

int top_estimate(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                 const top_settings *settings, const common_settings *common)
{
    query q;
    npgnn_env env = common_env(common);
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    int status = query_read(&q, graph, settings);
    if (status == 0 &&
        npgnn_estimate_top(&cost, model, graph, q.k, settings->per_node == 0, options, &q.options, &env, &err) != 0)
        status = print_error("%s", err.text);
    if (status == 0) {
        int64_t rows = settings->per_node > 0 ? q.per_call : 1;
        estimate_text text = {"nodes", 0, rows * q.k * (int64_t)sizeof(npgnn_link)};
        status = estimate_report(cost, &text, common);
    }
    query_free(&q);
    return status;
}
