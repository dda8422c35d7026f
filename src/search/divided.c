/* Searches of several processes that have divided the evidence: the rows of the nodes that are searched for travel, a
 * batch at a time, and meet the nodes of each process. What a process finds is merged by the order of
 * npgnn_predictor_top, which is total: so the result is that of one process. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "search/search.h"

enum {
    MOST_REMOTE = 1024,  /* rows that are fetched at a time: the fewer, the more often processes wait for each other, */
    LEAST_REMOTE = 16,   /* and so many even where lists are long */
    LIST_BYTES = 8 << 20 /* that the lists of a batch may take */
};

/* ---- memory ---- */

/* Rows of a batch that a process merges, at most. */
static size_t most_merged(const npi_search *s)
{
    size_t ranks = (size_t)npi_comm_ranks(s->comm);
    return ((size_t)s->division.remote.most + ranks - 1) / ranks;
}

int npi_divided_new(npi_search *s, npgnn_error *err)
{
    npi_applied *a = &s->p->applied;
    const npgnn_env *env = &s->env;
    int ranks = npi_comm_ranks(s->comm), most = MOST_REMOTE;
    s->division.room = s->searchers[0].list.capacity;
    /* a list per row of a batch; where the best of all pairs are wanted, each thread has one list instead */
    if (!s->links && LIST_BYTES / (int)sizeof *s->division.lists / s->division.room < most)
        most = LIST_BYTES / (int)sizeof *s->division.lists / s->division.room;
    most = most < LEAST_REMOTE ? LEAST_REMOTE : most;
    most = most < s->rows ? most : s->rows;
    most = most < ranks ? ranks : most; /* at least one of each process, where all are visited at once */
    int code = npi_remote_new(&s->division.remote, &a->columns, most, err);
    if (code)
        return code;
    size_t cells = s->links ? 0 : (size_t)s->division.room, rows = most_merged(s) * (size_t)ranks;
    s->division.visiting = npi_resize(env, NULL, (size_t)most, sizeof *s->division.visiting, err);
    /* lists (most, room), others (processes, most_merged, room). Not zeroed: where each pair is scored once, they are
     * not used. */
    s->division.lists = npi_resize(env, NULL, (size_t)most * cells, sizeof *s->division.lists, err);
    s->division.others = npi_resize(env, NULL, rows * cells, sizeof *s->division.others, err);
    return s->division.visiting && s->division.lists && s->division.others ? 0 : NPGNN_E_MEMORY;
}

void npi_divided_free(npi_search *s)
{
    const npgnn_env *env = &s->env;
    npi_remote_free(&s->division.remote);
    npi_free(env, s->division.visiting);
    npi_free(env, s->division.lists);
    npi_free(env, s->division.others);
}

/* ---- each node by itself ---- */

typedef struct worst_of_all {
    double worst, own;
} worst_of_all;

static void raise_worst(void *arg, int64_t first, int64_t last)
{
    worst_of_all *w = arg;
    (void)first, (void)last;
    w->worst = fmax(w->worst, w->own);
}

/* What a list keeps in one process, others need not look below. */
static void share_worst(npi_search *s)
{
    /* The k-th best of some pairs is a lower bound of the k-th best of all: the largest over all threads and processes
     * is the closest that is known. */
    worst_of_all w = {s->worst, s->worst};
    for (int t = 0; t < s->threads; t++) {
        const npi_shortlist *list = &s->searchers[t].list;
        if (list->count == list->capacity)
            w.own = fmax(w.own, list->items[0].score);
    }
    npi_comm_chain(s->comm, &w.worst, 1, sizeof w.worst, 1, raise_worst, &w);
    s->worst = w.worst;
}

/* Gives the lists of a batch of rows to the processes that merge them: each has a share of the rows. others (processes,
 * share, room). */
static int exchange_lists(const npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    const npgnn_env *env = &s->env;
    int rank = npi_comm_rank(comm), ranks = npi_comm_ranks(comm), messages = 0;
    int64_t rows = s->end - s->begin, first = npi_comm_share_start(comm, rows, rank);
    size_t list = (size_t)s->division.room, share = (size_t)(npi_comm_share_start(comm, rows, rank + 1) - first);
    npi_message *sends = npi_alloc(env, (size_t)ranks, sizeof *sends, err);
    npi_message *receives = npi_alloc(env, (size_t)ranks, sizeof *receives, err);
    int code = npi_comm_agree(comm, sends && receives ? 0 : NPGNN_E_MEMORY, err);
    for (int r = 0; !code && r < ranks; r++) {
        int64_t start = npi_comm_share_start(comm, rows, r), end = npi_comm_share_start(comm, rows, r + 1);
        npi_candidate *to = s->division.lists + (size_t)start * list,
                      *from = s->division.others + (size_t)r * share * list;
        if (r == rank) { /* its own share stays here */
            memcpy(from, to, share * list * sizeof *from);
            continue;
        }
        sends[messages] = (npi_message){to, (size_t)(end - start) * list * sizeof *to, r};
        /* this process's lists of r's rows go to r; r's lists of this process's rows come from r */
        receives[messages++] = (npi_message){from, share * list * sizeof *from, r};
    }
    if (!code)
        npi_comm_exchange(comm, sends, messages, receives, messages);
    npi_free(env, sends);
    npi_free(env, receives);
    return code;
}

/* The best of the lists of all processes for one row of the share, best first; into the memory of the first list. */
static npi_shortlist merge_row(const npi_search *s, size_t share, size_t row)
{
    npi_shortlist *merged = &s->searchers[0].list;
    merged->count = 0;
    for (size_t r = 0; r < (size_t)npi_comm_ranks(s->comm); r++) {
        const npi_candidate *list = s->division.others + (r * share + row) * (size_t)s->division.room;
        for (int i = 0; i < s->division.room && list[i].id >= 0; i++) /* -1 ends a shorter list (keep_list) */
            npi_shortlist_offer(merged, list[i]);
    }
    npi_shortlist_sort(merged);
    /* room for it: the list of process 0 for this row has been read */
    npi_shortlist out = {s->division.others + row * (size_t)s->division.room, merged->count, s->division.room};
    memcpy(out.items, merged->items, (size_t)merged->count * sizeof *out.items);
    return out;
}

/* Merges the lists of a batch of rows, and gives the results to all processes. */
static int merge_lists(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    const npgnn_env *env = &s->env;
    int rank = npi_comm_rank(comm);
    int64_t rows = s->end - s->begin, first = npi_comm_share_start(comm, rows, rank);
    size_t share = (size_t)(npi_comm_share_start(comm, rows, rank + 1) - first), room = (size_t)s->division.room,
           count = 0;
    npi_shortlist *lists = npi_alloc(env, share, sizeof *lists, err);
    npgnn_pair *pairs = s->averaged ? npi_resize(env, NULL, share * room, sizeof *pairs, err) : NULL;
    npgnn_prediction *judged = s->averaged ? npi_resize(env, NULL, share * room, sizeof *judged, err) : NULL;
    int code = lists && (!s->averaged || (pairs && judged)) ? 0 : NPGNN_E_MEMORY;
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code = exchange_lists(s, err);
    for (size_t row = 0; !code && row < share; row++) {
        lists[row] = merge_row(s, share, row);
        for (int i = 0; s->averaged && i < lists[row].count; i++)
            pairs[count++] = npi_search_pair(s, lists[row].items[i].id);
    }
    if (!code && s->averaged) /* a list has what it is ordered by: probabilities and intervals are computed again */
        code = npi_predictor_run_share(judged, s->p, pairs, count, err);
    count = 0; /* judged: list after list */
    for (size_t row = 0; !code && row < share; row++) {
        size_t at = (size_t)s->begin + (size_t)first + row;
        s->found[at] =
            npi_search_write(s->out + at * (size_t)s->k, s, &lists[row], s->averaged ? judged + count : NULL);
        count += (size_t)lists[row].count;
    }
    if (!code) { /* shares of the batch, which begins at row s->begin */
        npi_comm_gather_shares(comm, s->found + s->begin, rows, sizeof *s->found);
        npi_comm_gather_shares(comm, s->out + (size_t)s->begin * (size_t)s->k, rows, (size_t)s->k * sizeof *s->out);
    }
    npi_free(env, lists);
    npi_free(env, pairs);
    npi_free(env, judged);
    return code;
}

int npi_divided_rows(npi_search *s, npgnn_error *err)
{
    int code = 0;
    for (int32_t first = 0, count; !code && first < s->rows; first += count) {
        count = s->rows - first < s->division.remote.most ? s->rows - first : s->division.remote.most;
        for (int32_t i = 0; i < count; i++)
            s->division.visiting[i] = npi_search_node(s, first + i);
        s->begin = s->before = first;
        s->end = first + count;
        /* every process searches all rows of the batch, among its own nodes */
        code = npi_remote_fetch(&s->division.remote, s->division.visiting, count, err);
        if (!code)
            code = npi_comm_agree(s->comm, npi_search_rows(s, err), err);
        if (!code && s->links)
            share_worst(s);
        else if (!code)
            code = merge_lists(s, err);
    }
    return code;
}

int npi_divided_write(npgnn_link *out, int32_t *found, const npi_search *s, npi_shortlist *list, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    size_t count = (size_t)list->count;
    npi_shortlist_sort(list);
    if (!s->averaged) {
        *found = npi_search_write(out, s, list, NULL);
        return 0;
    }
    npgnn_pair *pairs = npi_resize(env, NULL, count, sizeof *pairs, err);
    npgnn_prediction *judged = npi_resize(env, NULL, count, sizeof *judged, err);
    int code = npi_comm_agree(s->comm, pairs && judged ? 0 : NPGNN_E_MEMORY, err);
    for (size_t i = 0; !code && i < count; i++)
        pairs[i] = npi_search_pair(s, list->items[i].id);
    if (!code)
        code = npgnn_predictor_run(judged, s->p, pairs, count, err);
    if (!code)
        *found = npi_search_write(out, s, list, judged);
    npi_free(env, pairs);
    npi_free(env, judged);
    return code;
}
