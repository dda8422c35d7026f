/* The searches that callers ask for: the best of each node, and of all pairs; and scores of nodes with all nodes. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "linalg/blas.h"
#include "search/search.h"

/* ---- the best of each node ---- */

/* The search of one process, or of several that all have the embeddings of all nodes. */
static int search_alone(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    int code = npi_comm_agree(comm, npi_search_rows(s, err), err);
    if (!code && s->mutual)
        npi_mutual_decide(s);
    if (!code) { /* each process has searched its share of the rows */
        npi_comm_gather_shares(comm, s->found, s->rows, sizeof *s->found);
        npi_comm_gather_shares(comm, s->out, s->rows, (size_t)s->k * sizeof *s->out);
    }
    return code;
}

/* Each list goes to its row of out. */
static int search_nodes(npi_search *s, npgnn_error *err)
{
    memset(s->found, 0, (size_t)s->rows * sizeof *s->found);
    return !s->is_divided ? search_alone(s, err) : s->mutual ? npi_divided_mutual(s, err) : npi_divided_rows(s, err);
}

/* ---- scores of nodes with all nodes ---- */

typedef struct rows_loop {
    const npi_search *s;
    float *score; /* (rows, n) */
} rows_loop;

static void score_blocks(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    const npi_search *s = l->s;
    npi_searcher *d = &s->searchers[npi_worker()];
    size_t n = (size_t)s->n;
    for (int64_t block = first; block < last; block++) {
        int32_t size = s->scorer.block, row = (int32_t)block * size,
                count = s->rows - row < size ? s->rows - row : size;
        d->block.count = count;
        for (int32_t r = 0; r < count; r++)
            d->block.node[r] = d->block.place[r] = npi_search_node(s, row + r);
        /* values are scores (is_exact_value), not bounds of them */
        s->scorer.kind->approximate(&d->block, d->workspace, &s->scorer, 0, s->n);
        for (size_t i = 0; i < (size_t)count * n; i++)
            l->score[(size_t)row * n + i] = (float)d->block.value[i];
    }
}

int npi_predictor_rows(float *score, npgnn_predictor *predictor, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    npi_search s;
    const npgnn_top_options options = {.size = sizeof options, .from = nodes, .from_count = count};
    if (predictor->applied.columns.rows.comm)
        return npi_fail(err, NPGNN_E_ARGUMENT, "scores with all nodes are those of one process, and there are %d",
                        npi_comm_ranks(predictor->applied.columns.rows.comm));
    int code = npi_search_new(&s, predictor, (npi_search){.k = 1}, 1, &options, err);
    if (!code)
        code = npi_search_allocate(&s, 1, err);
    if (!code) {
        rows_loop loop = {&s, score};
        npi_blas_begin(s.threads);
        npi_parallel(s.threads, (s.rows + s.scorer.block - 1) / s.scorer.block, 1, score_blocks, &loop);
        npi_blas_end(s.threads);
    }
    npi_search_free(&s);
    return code;
}

/* ---- the best links ---- */

/* The best of the lists of all processes. */
static int share_list(npi_shortlist *list, const npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    const npgnn_env *env = &s->env;
    int rank = npi_comm_rank(comm), ranks = npi_comm_ranks(comm);
    npi_candidate *all = NULL;
    size_t *start = npi_alloc(env, (size_t)ranks + 1, sizeof *start, err);
    int32_t *count = npi_alloc(env, (size_t)ranks, sizeof *count, err);
    int code = npi_comm_agree(comm, start && count ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        /* start (ranks + 1): first byte of the list of each process, which have different lengths */
        count[rank] = list->count;
        npi_comm_gather_shares(comm, count, ranks, sizeof *count);
        for (int r = 0; r < ranks; r++)
            start[r + 1] = start[r] + (size_t)count[r] * sizeof *all;
        all = npi_resize(env, NULL, start[ranks], 1, err);
        code = npi_comm_agree(comm, all ? 0 : NPGNN_E_MEMORY, err);
    }
    if (!code) {
        memcpy((char *)all + start[rank], list->items, (size_t)list->count * sizeof *all);
        npi_comm_gather(comm, all, start);
        list->count = 0; /* its items are in `all`, too */
        for (size_t i = 0; i < start[ranks] / sizeof *all; i++)
            npi_shortlist_offer(list, all[i]);
    }
    npi_free(env, all);
    npi_free(env, start);
    npi_free(env, count);
    return code;
}

/* The best of the lists of all threads and processes. */
static int search_links(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    int code = s->is_divided ? npi_divided_rows(s, err) : npi_comm_agree(comm, npi_search_rows(s, err), err);
    /* The order is total: the best k of the lists are the same, however pairs were divided among threads. */
    npi_shortlist *best = code ? NULL : &s->searchers[0].list;
    for (int t = 1; !code && t < s->threads; t++)
        for (int i = 0; i < s->searchers[t].list.count; i++)
            npi_shortlist_offer(best, s->searchers[t].list.items[i]);
    if (!code && comm)
        code = share_list(best, s, err);
    if (!code && s->is_divided)
        code = npi_divided_write(s->out, s->found, s, best, err);
    else if (!code)
        *s->found = npi_search_write_list(s->out, s, &s->searchers[0]);
    return code;
}

/* ---- the calls ---- */

int npi_search_run(npi_search *s, npgnn_error *err)
{
    int64_t most = s->links ? (int64_t)s->n * s->n : s->n; /* results of a list, at most */
    int64_t room = most < s->k ? most : s->k;
    /* of the best links, each pair may be found twice: from both ends */
    room = s->links && s->by_candidates ? 2 * room : room;
    int code = npi_search_allocate(s, room < INT_MAX ? (int)room : INT_MAX, err);
    if (!code && s->is_divided)
        code = npi_divided_new(s, err);
    if (!code && !s->links && npi_mutual_applies(s)) /* the lists that it asks about are allocated by now */
        code = npi_mutual_new(s, err);
    code = npi_comm_agree(s->comm, code, err);
    return code ? code : s->links ? search_links(s, err) : search_nodes(s, err);
}

static int search(npgnn_predictor *predictor, npi_search kind, const npgnn_top_options *options, npgnn_error *err)
{
    npi_search s;
    npgnn_search_info info = {.size = sizeof info, .recall = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    int code = npi_comm_agree(predictor->comm, npi_search_new(&s, predictor, kind, 0, options, err), err);
    if (!code && s.by_candidates) {
        info.candidates = s.scorer.wanted;
        if (!s.options.unchecked && s.rows >= NPGNN_CHECKED_NODES)
            code = npi_search_check(&info, predictor, kind.k, &s.options, err);
    }
    if (!code)
        code = npi_search_run(&s, err);
    if (!code && s.options.info)
        code = npi_sized_write(s.options.info, &info, sizeof info, "npgnn_search_info", err);
    npi_search_free(&s);
    return code;
}

int npgnn_predictor_top(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                        const npgnn_top_options *options, npgnn_error *err)
{
    return search(predictor, (npi_search){.out = out, .found = found, .k = k}, options, err);
}

int npgnn_predictor_top_links(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                              const npgnn_top_options *options, npgnn_error *err)
{
    return search(predictor, (npi_search){.out = out, .found = found, .k = k, .links = 1}, options, err);
}
