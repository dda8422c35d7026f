/* Searches of several processes that have divided the evidence: the rows of the nodes that are searched for travel, a
 * batch at a time, and meet the nodes of each process. What a process finds is merged by the order of
 * npgnn_predictor_top, which is total: so the result is that of one process.
 *
 * Where the best of every node are asked for, each pair is scored once, for both of its ends. The nodes of a process
 * first meet each other. Then they visit half of the other processes, those that follow it in a ring:
 *
 *     process p      visits p + 1, ..., p + P / 2 (modulo P)
 *
 * For even P, two processes at the distance P / 2 would visit each other. There, all nodes of the first one meet the
 * first half of the second one's, whose second half visits the first. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "search/search.h"

enum {
    VISITORS = 1024,      /* at a time: the fewer, the more often processes wait for each other, */
    LEAST_VISITORS = 16,  /* and so many even where lists are long */
    LIST_BYTES = 8 << 20, /* that the lists of a batch may take */
    DECIDED = 1 << 16     /* pairs that are judged at a time, where each is scored once */
};

/* ---- memory ---- */

/* Rows of a batch that a process merges, at most. */
static size_t most_merged(const npi_search *s)
{
    size_t ranks = (size_t)npi_comm_ranks(s->p->comm);
    return ((size_t)s->visitors.most + ranks - 1) / ranks;
}

int npi_divided_new(npi_search *s, npgnn_error *err)
{
    npi_applied *a = &s->p->applied;
    const npgnn_env *env = &s->p->env;
    int ranks = npi_comm_ranks(s->p->comm), most = VISITORS;
    s->room = s->workspaces[0].list.capacity;
    if (!s->links && LIST_BYTES / (int)sizeof *s->lists / s->room < most)
        most = LIST_BYTES / (int)sizeof *s->lists / s->room;
    most = most < LEAST_VISITORS ? LEAST_VISITORS : most;
    most = most < s->rows ? most : s->rows;
    most = most < ranks ? ranks : most; /* at least one of each process, where all are visited at once */
    int code = npi_remote_new(&s->visitors, &a->columns, most, err);
    if (code)
        return code;
    size_t cells = s->links ? 0 : (size_t)s->room, rows = most_merged(s) * (size_t)ranks;
    s->visiting = npi_resize(env, NULL, (size_t)most, sizeof *s->visiting, err);
    /* not zeroed: where each pair is scored once, they are not used */
    s->lists = npi_resize(env, NULL, (size_t)most * cells, sizeof *s->lists, err);
    s->others = npi_resize(env, NULL, rows * cells, sizeof *s->others, err);
    return s->visiting && s->lists && s->others ? 0 : NPGNN_E_MEMORY;
}

void npi_divided_free(npi_search *s)
{
    const npgnn_env *env = &s->p->env;
    npi_remote_free(&s->visitors);
    npi_free(env, s->visiting);
    npi_free(env, s->lists);
    npi_free(env, s->others);
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
    worst_of_all w = {s->worst, s->worst};
    for (int t = 0; t < s->threads; t++) {
        const npi_shortlist *list = &s->workspaces[t].list;
        if (list->count == list->capacity)
            w.own = fmax(w.own, list->items[0].score);
    }
    npi_comm_chain(s->p->comm, &w.worst, 1, sizeof w.worst, 1, raise_worst, &w);
    s->worst = w.worst;
}

/* Gives the lists of a batch of rows to the processes that merge them: each has a share of the rows. others (processes,
 * share, room). */
static int exchange_lists(const npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->p->comm;
    const npgnn_env *env = &s->p->env;
    int rank = npi_comm_rank(comm), ranks = npi_comm_ranks(comm), messages = 0;
    int64_t rows = s->end - s->begin, first = npi_comm_share_start(comm, rows, rank);
    size_t list = (size_t)s->room, share = (size_t)(npi_comm_share_start(comm, rows, rank + 1) - first);
    npi_message *sends = npi_alloc(env, (size_t)ranks, sizeof *sends, err);
    npi_message *receives = npi_alloc(env, (size_t)ranks, sizeof *receives, err);
    int code = npi_comm_agree(comm, sends && receives ? 0 : NPGNN_E_MEMORY, err);
    for (int r = 0; !code && r < ranks; r++) {
        int64_t start = npi_comm_share_start(comm, rows, r), end = npi_comm_share_start(comm, rows, r + 1);
        npi_candidate *to = s->lists + (size_t)start * list, *from = s->others + (size_t)r * share * list;
        if (r == rank) {
            memcpy(from, to, share * list * sizeof *from);
            continue;
        }
        sends[messages] = (npi_message){to, (size_t)(end - start) * list * sizeof *to, r};
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
    npi_shortlist *merged = &s->workspaces[0].list;
    merged->count = 0;
    for (size_t r = 0; r < (size_t)npi_comm_ranks(s->p->comm); r++) {
        const npi_candidate *list = s->others + (r * share + row) * (size_t)s->room;
        for (int i = 0; i < s->room && list[i].id >= 0; i++)
            npi_shortlist_offer(merged, list[i]);
    }
    npi_shortlist_sort(merged);
    npi_shortlist out = {s->others + row * (size_t)s->room, merged->count, s->room};
    memcpy(out.items, merged->items, (size_t)merged->count * sizeof *out.items);
    return out;
}

/* Merges the lists of a batch of rows, and gives the results to all processes. */
static int merge_lists(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->p->comm;
    const npgnn_env *env = &s->p->env;
    int rank = npi_comm_rank(comm);
    int64_t rows = s->end - s->begin, first = npi_comm_share_start(comm, rows, rank);
    size_t share = (size_t)(npi_comm_share_start(comm, rows, rank + 1) - first), room = (size_t)s->room, count = 0;
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
    if (!code && s->averaged) /* the order is known; what it does not tell is computed again */
        code = npi_predictor_run_share(judged, s->p, pairs, count, err);
    count = 0;
    for (size_t row = 0; !code && row < share; row++) {
        size_t at = (size_t)s->begin + (size_t)first + row;
        s->found[at] =
            npi_search_write(s->out + at * (size_t)s->k, s, &lists[row], s->averaged ? judged + count : NULL);
        count += (size_t)lists[row].count;
    }
    if (!code) {
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
        count = s->rows - first < s->visitors.most ? s->rows - first : s->visitors.most;
        for (int32_t i = 0; i < count; i++)
            s->visiting[i] = npi_search_node(s, first + i);
        s->begin = s->before = first;
        s->end = first + count;
        code = npi_remote_fetch(&s->visitors, s->visiting, count, err);
        if (!code)
            code = npi_comm_agree(s->p->comm, npi_search_rows(s, err), err);
        if (!code && s->links)
            share_worst(s);
        else if (!code)
            code = merge_lists(s, err);
    }
    return code;
}

int npi_divided_write(npgnn_link *out, int32_t *found, const npi_search *s, npi_shortlist *list, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t count = (size_t)list->count;
    npi_shortlist_sort(list);
    if (!s->averaged) {
        *found = npi_search_write(out, s, list, NULL);
        return 0;
    }
    npgnn_pair *pairs = npi_resize(env, NULL, count, sizeof *pairs, err);
    npgnn_prediction *judged = npi_resize(env, NULL, count, sizeof *judged, err);
    int code = npi_comm_agree(s->p->comm, pairs && judged ? 0 : NPGNN_E_MEMORY, err);
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

/* ---- each pair once ---- */

/* Nodes of one process that visit another one in the same batch. */
typedef struct visit {
    int owner;           /* whose nodes they are: */
    int32_t node, count; /* node, node + 1, ... */
    int32_t end;         /* the first `end` nodes of the visited process are those that they meet */
} visit;

/* Those of process `owner` in process `host`, `per` of them per batch. */
static visit visit_of(const npi_search *s, int owner, int host, int32_t batch, int32_t per)
{
    const npi_partition *rows = &s->p->applied.columns.rows;
    int ranks = npi_comm_ranks(s->p->comm), apart = (host - owner + ranks) % ranks;
    int32_t start = npi_rank_start(rows, owner), nodes = npi_rank_start(rows, owner + 1) - start;
    visit v = {.owner = owner, .end = npi_rank_start(rows, host + 1) - npi_rank_start(rows, host)};
    int64_t first = (int64_t)batch * per, last = first + per < nodes ? first + per : nodes;
    if (2 * apart == ranks && owner < host)
        v.end /= 2;
    else if (2 * apart == ranks && first < nodes / 2)
        first = nodes / 2;
    v.node = start + (int32_t)first;
    v.count = apart > 0 && 2 * apart <= ranks && v.end > 0 && first < last ? (int32_t)(last - first) : 0;
    return v;
}

/* What the processes exchange in one batch. */
typedef struct tour {
    const npi_search *s;
    int visits;           /* at a time: half of the other processes, */
    int32_t per;          /* with so many nodes each */
    visit *here;          /* (visits) the visitors at hand, */
    visit *away;          /* (visits) and the nodes of this process that are elsewhere: owner is who they visit */
    real *least, *theirs; /* (own), (visitors.most) what a score must reach */
    int32_t *sent_count, *received_count; /* (visitors.most) contenders of each visitor */
    npi_message *sends, *receives;        /* (visits) */
    int32_t *first;                       /* (visitors.most) a block of visitors: its first one */
    int32_t *size;                        /* (visitors.most) how many they are, */
    int32_t *end;                         /* (visitors.most) and how many candidates they meet */
    int32_t blocks;
} tour;

static int tour_new(tour *t, npi_search *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t most = (size_t)s->visitors.most;
    *t = (tour){.s = s, .visits = npi_comm_ranks(s->p->comm) / 2};
    size_t visits = (size_t)t->visits;
    t->per = s->visitors.most / t->visits;
    t->here = npi_alloc(env, visits, sizeof *t->here, err);
    t->away = npi_alloc(env, visits, sizeof *t->away, err);
    t->sends = npi_alloc(env, visits, sizeof *t->sends, err);
    t->receives = npi_alloc(env, visits, sizeof *t->receives, err);
    t->least = npi_alloc(env, (size_t)s->own, sizeof *t->least, err);
    t->theirs = npi_alloc(env, most, sizeof *t->theirs, err);
    t->sent_count = npi_alloc(env, most, sizeof *t->sent_count, err);
    t->received_count = npi_alloc(env, most, sizeof *t->received_count, err);
    t->first = npi_alloc(env, most, sizeof *t->first, err);
    t->size = npi_alloc(env, most, sizeof *t->size, err);
    t->end = npi_alloc(env, most, sizeof *t->end, err);
    return t->here && t->away && t->sends && t->receives && t->least && t->theirs && t->sent_count &&
                   t->received_count && t->first && t->size && t->end
               ? 0
               : NPGNN_E_MEMORY;
}

static void tour_free(tour *t)
{
    const npgnn_env *env = &t->s->p->env;
    void *blocks[] = {t->here,       t->away,           t->sends, t->receives, t->least, t->theirs,
                      t->sent_count, t->received_count, t->first, t->size,     t->end};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(env, blocks[i]);
}

/* Fetches the visitors of a batch, and what they need to reach. Returns how many they are, or a negative code. */
static int32_t receive(tour *t, npi_search *s, int32_t batch, npgnn_error *err)
{
    int rank = npi_comm_rank(s->p->comm), ranks = npi_comm_ranks(s->p->comm);
    int32_t count = 0;
    t->blocks = 0;
    for (int i = 0; i < t->visits; i++) {
        visit v = t->here[i] = visit_of(s, (rank - i - 1 + ranks) % ranks, rank, batch, t->per);
        t->away[i] = visit_of(s, rank, (rank + i + 1) % ranks, batch, t->per);
        t->away[i].owner = (rank + i + 1) % ranks;
        for (int32_t first = 0; first < v.count; first += s->block) {
            t->first[t->blocks] = count + first;
            t->size[t->blocks] = v.count - first < s->block ? v.count - first : s->block;
            t->end[t->blocks++] = v.end;
        }
        for (int32_t j = 0; j < v.count; j++)
            s->visiting[count++] = v.node + j;
    }
    int code = npi_remote_fetch(&s->visitors, s->visiting, count, err);
    if (code)
        return code;
    for (int32_t i = 0; i < s->own; i++) { /* rounded down */
        double least = atomic_load_explicit(&s->mutual->least[i], memory_order_relaxed);
        t->least[i] = (real)nextafterf((float)least, -INFINITY);
    }
    npi_remote_fetch_numbers(t->theirs, &s->visitors, t->least);
    for (int32_t j = 0; j < count; j++) {
        s->mutual->of[s->own + j].count = s->mutual->of[s->own + j].sure.count = 0;
        atomic_store_explicit(&s->mutual->least[s->own + j], (double)t->theirs[j], memory_order_relaxed);
    }
    return count;
}

static void meet_visitors(const void *arg, int64_t first, int64_t last)
{
    const tour *t = arg;
    npi_searcher *d = &t->s->workspaces[npi_worker()];
    for (int64_t block = first; block < last; block++) {
        for (int32_t r = 0; r < t->size[block]; r++) {
            d->node[r] = t->s->visiting[t->first[block] + r];
            d->place[r] = t->s->own + t->first[block] + r;
        }
        npi_search_meet(t->s, d, t->size[block], 0, t->end[block]);
    }
}

/* One message per visit: items of `size` bytes, in the order of the visits; count (visitors) how many each node has,
 * NULL: one. */
static void exchange_visits(tour *t, void *in, const int32_t *in_count, void *out, const int32_t *out_count,
                            size_t size)
{
    char *to = out, *from = in;
    int sends = 0, receives = 0;
    for (int i = 0; i < t->visits; i++) {
        size_t sent = 0, received = 0;
        for (int32_t j = 0; j < t->here[i].count; j++)
            sent += (size_t)(out_count ? *out_count++ : 1) * size;
        for (int32_t j = 0; j < t->away[i].count; j++)
            received += (size_t)(in_count ? *in_count++ : 1) * size;
        if (sent > 0)
            t->sends[sends++] = (npi_message){to, sent, t->here[i].owner};
        if (received > 0)
            t->receives[receives++] = (npi_message){from, received, t->away[i].owner};
        to += sent;
        from += received;
    }
    npi_comm_exchange(t->s->p->comm, t->sends, sends, t->receives, receives);
}

/* Gives the contenders of the visitors to the processes that the visitors are of. */
static int return_contenders(tour *t, int32_t visitors, npgnn_error *err)
{
    const npi_search *s = t->s;
    const npgnn_env *env = &s->p->env;
    size_t leaving = 0, arriving = 0;
    int32_t away = 0;
    for (int32_t j = 0; j < visitors; j++) {
        npi_search_drop(s, s->own + j);
        t->sent_count[j] = s->mutual->of[s->own + j].count;
        leaving += (size_t)t->sent_count[j];
    }
    exchange_visits(t, t->received_count, NULL, t->sent_count, NULL, sizeof *t->sent_count);
    for (int i = 0; i < t->visits; i++)
        away += t->away[i].count;
    for (int32_t j = 0; j < away; j++)
        arriving += (size_t)t->received_count[j];
    npi_contender *sent = npi_resize(env, NULL, leaving, sizeof *sent, err);
    npi_contender *received = npi_resize(env, NULL, arriving, sizeof *received, err);
    int code = npi_comm_agree(s->p->comm, sent && received ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        size_t at = 0;
        for (int32_t j = 0; j < visitors; j++) {
            const npi_contenders *c = &s->mutual->of[s->own + j];
            for (int i = 0; i < c->count; i++)
                sent[at++] = c->items[i];
        }
        exchange_visits(t, received, t->received_count, sent, t->sent_count, sizeof *sent);
        at = 0;
        for (int32_t i = 0, node = 0; i < t->visits; i++)
            for (int32_t j = 0; j < t->away[i].count; j++, node++)
                for (int32_t c = 0; c < t->received_count[node]; c++, at++)
                    npi_search_contend(s, t->away[i].node + j - s->from, received[at].node, (double)received[at].least,
                                       (double)received[at].most);
    }
    npi_free(env, sent);
    npi_free(env, received);
    return code;
}

/* All pairs of nodes of different processes. */
static int visit_all(npi_search *s, npgnn_error *err)
{
    const npi_partition *rows = &s->p->applied.columns.rows;
    npgnn_comm *comm = s->p->comm;
    tour t;
    int code = npi_comm_agree(comm, tour_new(&t, s, err), err);
    int64_t batches = 0, done = s->own;
    for (int r = 0; r < npi_comm_ranks(comm); r++) {
        int64_t nodes = npi_rank_start(rows, r + 1) - npi_rank_start(rows, r);
        batches = nodes > batches * t.per ? (nodes - 1) / t.per + 1 : batches;
    }
    for (int32_t batch = 0; !code && batch < batches; batch++) {
        int32_t visitors = receive(&t, s, batch, err);
        if (visitors < 0) {
            code = visitors;
            break;
        }
        npi_blas_begin(s->threads);
        npi_parallel(s->threads, t.blocks, 1, meet_visitors, &t);
        npi_blas_end(s->threads);
        code = return_contenders(&t, visitors, err);
        done += 2 * (int64_t)visitors; /* of all other nodes, half come here */
        int stop = code ? code : npi_search_report(s, done, err);
        if (!stop && atomic_load(&s->mutual->failed))
            stop = npi_fail(err, NPGNN_E_MEMORY, "out of memory while searching");
        if (!code)
            code = npi_comm_agree(comm, stop, err);
    }
    tour_free(&t);
    return code;
}

/* The contenders of the nodes of this process from `first` on, as many nodes as give DECIDED pairs, and at least one
 * node. Returns the node after the last. */
static int32_t take_contenders(size_t *count, const npi_search *s, int32_t first)
{
    int32_t last = first;
    *count = 0;
    while (last < s->own) {
        npi_search_drop(s, last);
        size_t more = (size_t)s->mutual->of[last].count;
        if (last > first && *count + more > DECIDED)
            break;
        *count += more;
        last++;
    }
    return last;
}

/* Judges the contenders of the nodes first to last - 1 of this process, `count` in all, and writes their lists. */
static int decide(npi_search *s, int32_t first, int32_t last, size_t count, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    npgnn_pair *pairs = npi_resize(env, NULL, count, sizeof *pairs, err);
    npgnn_prediction *judged = npi_resize(env, NULL, count, sizeof *judged, err);
    int code = npi_comm_agree(s->p->comm, pairs && judged ? 0 : NPGNN_E_MEMORY, err);
    size_t at = 0;
    for (int32_t i = first; !code && i < last; i++)
        for (int c = 0; c < s->mutual->of[i].count; c++)
            pairs[at++] = (npgnn_pair){s->from + i, s->mutual->of[i].items[c].node};
    if (!code)
        code = npi_predictor_run_share(judged, s->p, pairs, count, err);
    at = 0;
    npi_shortlist *list = &s->workspaces[0].list;
    for (int32_t i = first; !code && i < last; i++) {
        list->count = 0;
        for (int c = 0; c < s->mutual->of[i].count; c++, at++) {
            npi_candidate candidate = npi_search_candidate(s, pairs[at], judged[at]);
            if (!isnan(candidate.score))
                npi_shortlist_offer(list, candidate);
        }
        npi_shortlist_sort(list);
        size_t row = (size_t)s->from + (size_t)i;
        s->found[row] = npi_search_write(s->out + row * (size_t)s->k, s, list, NULL);
    }
    npi_free(env, pairs);
    npi_free(env, judged);
    return code;
}

/* Gives the results of all nodes to all processes. */
static void gather(const npi_search *s)
{
    const npi_partition *rows = &s->p->applied.columns.rows;
    size_t found[NPI_MOST_RANKS + 1], out[NPI_MOST_RANKS + 1];
    for (int r = 0; r <= npi_comm_ranks(s->p->comm); r++) {
        found[r] = (size_t)npi_rank_start(rows, r) * sizeof *s->found;
        out[r] = (size_t)npi_rank_start(rows, r) * (size_t)s->k * sizeof *s->out;
    }
    npi_comm_gather(s->p->comm, s->found, found);
    npi_comm_gather(s->p->comm, s->out, out);
}

int npi_divided_mutual(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->p->comm;
    s->begin = 0;
    s->end = s->own;
    int code = npi_comm_agree(comm, npi_search_rows(s, err), err);
    if (!code)
        code = visit_all(s, err);
    size_t count;
    for (int32_t first = 0, last; !code && npi_comm_any(comm, first < s->own); first = last) {
        last = take_contenders(&count, s, first);
        code = decide(s, first, last, count, err);
    }
    if (!code)
        gather(s);
    return code;
}
