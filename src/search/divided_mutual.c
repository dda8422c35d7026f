/* The best of every node where several processes have divided the evidence, and each pair is scored once, for both of
 * its ends. The nodes of a process first meet each other. Then they visit half of the other processes, those that
 * follow it in a ring:
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

enum { DECIDED = 1 << 16 }; /* pairs that are judged at a time */

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
    int ranks = npi_comm_ranks(s->comm), apart = (host - owner + ranks) % ranks;
    int32_t start = npi_rank_start(rows, owner), nodes = npi_rank_start(rows, owner + 1) - start;
    visit v = {.owner = owner, .end = npi_rank_start(rows, host + 1) - npi_rank_start(rows, host)};
    int64_t first = (int64_t)batch * per, last = first + per < nodes ? first + per : nodes;
    if (2 * apart == ranks && owner < host) /* all of owner with the first half of host; */
        v.end /= 2;
    else if (2 * apart == ranks && first < nodes / 2)
        first = nodes / 2; /* the second half of owner with all of host, where host < owner */
    v.node = start + (int32_t)first;
    /* a process further on than half of the ring visits the owner instead */
    v.count = apart > 0 && 2 * apart <= ranks && v.end > 0 && first < last ? (int32_t)(last - first) : 0;
    return v;
}

/* What the processes exchange in one batch. */
typedef struct tour {
    const npi_search *s;
    int visits;           /* at a time: half of the other processes, */
    int32_t per;          /* with so many nodes each */
    visit *here;          /* (visits) the remote nodes that are here, */
    visit *away;          /* (visits) and the nodes of this process that are elsewhere: owner is who they visit */
    real *least, *theirs; /* (own), (remote.most) what a score must reach */
    int32_t *sent_count, *received_count; /* (remote.most) contenders of each remote node */
    npi_message *sends, *receives;        /* (visits) */
    int32_t *first;                       /* (remote.most) the first remote node of a block */
    int32_t *size;                        /* (remote.most) how many it has, */
    int32_t *end;                         /* (remote.most) and how many candidates these meet */
    int32_t blocks;
} tour;

static int tour_new(tour *t, npi_search *s, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    size_t most = (size_t)s->division.remote.most;
    *t = (tour){.s = s, .visits = npi_comm_ranks(s->comm) / 2};
    size_t visits = (size_t)t->visits;
    t->per = s->division.remote.most / t->visits;
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
    const npgnn_env *env = &t->s->env;
    void *blocks[] = {t->here,       t->away,           t->sends, t->receives, t->least, t->theirs,
                      t->sent_count, t->received_count, t->first, t->size,     t->end};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(env, blocks[i]);
}

/* Fetches the remote nodes of a batch, and what their scores must reach. Returns how many these are, or an error. */
static int32_t receive(tour *t, npi_search *s, int32_t batch, npgnn_error *err)
{
    int rank = npi_comm_rank(s->comm), ranks = npi_comm_ranks(s->comm);
    int32_t count = 0;
    t->blocks = 0;
    for (int i = 0; i < t->visits; i++) {
        visit v = t->here[i] = visit_of(s, (rank - i - 1 + ranks) % ranks, rank, batch, t->per);
        t->away[i] = visit_of(s, rank, (rank + i + 1) % ranks, batch, t->per);
        t->away[i].owner = (rank + i + 1) % ranks; /* see tour: whom they visit */
        /* a block has nodes of one visit, which all meet the same `end` */
        for (int32_t first = 0; first < v.count; first += s->scorer.block) {
            t->first[t->blocks] = count + first;
            t->size[t->blocks] = v.count - first < s->scorer.block ? v.count - first : s->scorer.block;
            t->end[t->blocks++] = v.end;
        }
        for (int32_t j = 0; j < v.count; j++)
            s->division.visiting[count++] = v.node + j;
    }
    int code = npi_remote_fetch(&s->division.remote, s->division.visiting, count, err);
    if (code)
        return code;
    /* A node travels with what its score must reach, given what it has met so far: few contenders come back then. As a
     * float it is rounded down, since a lower bound must stay one. */
    for (int32_t i = 0; i < s->own; i++) {
        double least = atomic_load_explicit(&s->mutual->least[i], memory_order_relaxed);
        t->least[i] = (real)nextafterf((float)least, -INFINITY);
    }
    npi_remote_fetch_numbers(t->theirs, &s->division.remote, t->least);
    /* remote nodes are at the places after those of this process; the last batch's contenders have been returned */
    for (int32_t j = 0; j < count; j++) {
        s->mutual->of[s->own + j].count = s->mutual->of[s->own + j].sure.count = 0;
        atomic_store_explicit(&s->mutual->least[s->own + j], (double)t->theirs[j], memory_order_relaxed);
    }
    return count;
}

static void meet_remote(const void *arg, int64_t first, int64_t last)
{
    const tour *t = arg;
    npi_searcher *d = &t->s->searchers[npi_worker()];
    for (int64_t block = first; block < last; block++) {
        d->block.count = t->size[block];
        for (int32_t r = 0; r < t->size[block]; r++) {
            d->block.node[r] = t->s->division.visiting[t->first[block] + r];
            d->block.place[r] = t->s->own + t->first[block] + r;
        }
        npi_mutual_meet(t->s, d, 0, t->end[block]); /* with places 0 to end - 1: nodes of this process */
    }
}

/* One message per visit: items of `size` bytes, in the order of the visits; count (remote nodes): how many items each
 * node has, NULL: one. */
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
        /* both ends know both counts: a message that would be empty is neither sent nor waited for */
        if (sent > 0)
            t->sends[sends++] = (npi_message){to, sent, t->here[i].owner};
        if (received > 0)
            t->receives[receives++] = (npi_message){from, received, t->away[i].owner};
        to += sent;
        from += received;
    }
    npi_comm_exchange(t->s->comm, t->sends, sends, t->receives, receives);
}

/* Gives the contenders of the remote nodes to the processes that own these nodes. */
static int return_contenders(tour *t, int32_t remote, npgnn_error *err)
{
    const npi_search *s = t->s;
    const npgnn_env *env = &s->env;
    size_t leaving = 0, arriving = 0;
    int32_t away = 0;
    for (int32_t j = 0; j < remote; j++) {
        npi_mutual_drop(s, s->own + j);
        t->sent_count[j] = s->mutual->of[s->own + j].count;
        leaving += (size_t)t->sent_count[j];
    }
    /* first how many contenders each node has, which tells the sizes of the second exchange */
    exchange_visits(t, t->received_count, NULL, t->sent_count, NULL, sizeof *t->sent_count);
    for (int i = 0; i < t->visits; i++)
        away += t->away[i].count;
    for (int32_t j = 0; j < away; j++)
        arriving += (size_t)t->received_count[j];
    npi_contender *sent = npi_resize(env, NULL, leaving, sizeof *sent, err);
    npi_contender *received = npi_resize(env, NULL, arriving, sizeof *received, err);
    int code = npi_comm_agree(s->comm, sent && received ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        size_t at = 0;
        for (int32_t j = 0; j < remote; j++) { /* sent: the contenders of one remote node after those of another */
            const npi_contenders *c = &s->mutual->of[s->own + j];
            for (int i = 0; i < c->count; i++)
                sent[at++] = c->items[i];
        }
        exchange_visits(t, received, t->received_count, sent, t->sent_count, sizeof *sent);
        /* received: in the order of this process's nodes on their visits. What their scores must reach may have risen
         * since. */
        at = 0;
        for (int32_t i = 0, node = 0; i < t->visits; i++)
            for (int32_t j = 0; j < t->away[i].count; j++, node++)
                for (int32_t c = 0; c < t->received_count[node]; c++, at++)
                    npi_mutual_contend(s, t->away[i].node + j - s->from, received[at].node, (double)received[at].least,
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
    npgnn_comm *comm = s->comm;
    tour t;
    int code = npi_comm_agree(comm, tour_new(&t, s, err), err);
    int64_t batches = 0, done = s->own;
    /* batches = max over the processes of ⌈nodes / per⌉: all take part in all, some with no nodes of their own */
    for (int r = 0; r < npi_comm_ranks(comm); r++) {
        int64_t nodes = npi_rank_start(rows, r + 1) - npi_rank_start(rows, r);
        batches = nodes > batches * t.per ? (nodes - 1) / t.per + 1 : batches;
    }
    for (int32_t batch = 0; !code && batch < batches; batch++) {
        int32_t remote = receive(&t, s, batch, err);
        if (remote < 0) {
            code = remote;
            break;
        }
        npi_blas_begin(s->threads);
        npi_parallel(s->threads, t.blocks, 1, meet_remote, &t);
        npi_blas_end(s->threads);
        code = return_contenders(&t, remote, err);
        done += 2 * (int64_t)remote; /* half of all other nodes come here */
        /* a cancelled search, or one without memory, ends in all processes at the same batch */
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
        npi_mutual_drop(s, last);
        size_t more = (size_t)s->mutual->of[last].count;
        if (last > first && *count + more > DECIDED) /* one node may have more by itself */
            break;
        *count += more;
        last++;
    }
    return last;
}

/* Judges the contenders of the nodes first to last - 1 of this process, `count` in all, and writes their lists. */
static int decide(npi_search *s, int32_t first, int32_t last, size_t count, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    npgnn_pair *pairs = npi_resize(env, NULL, count, sizeof *pairs, err);
    npgnn_prediction *judged = npi_resize(env, NULL, count, sizeof *judged, err);
    int code = npi_comm_agree(s->comm, pairs && judged ? 0 : NPGNN_E_MEMORY, err);
    size_t at = 0;
    for (int32_t i = first; !code && i < last; i++)
        for (int c = 0; c < s->mutual->of[i].count; c++)
            pairs[at++] = (npgnn_pair){s->from + i, s->mutual->of[i].items[c].node};
    if (!code)
        code = npi_predictor_run_share(judged, s->p, pairs, count, err);
    at = 0; /* judged: in the order of pairs, node after node */
    npi_shortlist *list = &s->searchers[0].list;
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
    size_t found[NPI_MOST_RANKS + 1], out[NPI_MOST_RANKS + 1]; /* (ranks + 1) first byte of each process */
    for (int r = 0; r <= npi_comm_ranks(s->comm); r++) {
        found[r] = (size_t)npi_rank_start(rows, r) * sizeof *s->found;
        out[r] = (size_t)npi_rank_start(rows, r) * (size_t)s->k * sizeof *s->out;
    }
    npi_comm_gather(s->comm, s->found, found);
    npi_comm_gather(s->comm, s->out, out);
}

int npi_divided_mutual(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->comm;
    /* pairs within each process, then those of two processes; the contenders of a node are with its owner afterwards */
    s->begin = 0;
    s->end = s->own;
    int code = npi_comm_agree(comm, npi_search_rows(s, err), err);
    if (!code)
        code = visit_all(s, err);
    size_t count;
    /* judging fetches rows of other processes: one whose nodes are decided takes part, with no pairs */
    for (int32_t first = 0, last; !code && npi_comm_any(comm, first < s->own); first = last) {
        last = take_contenders(&count, s, first);
        code = decide(s, first, last, count, err);
    }
    if (!code)
        gather(s);
    return code;
}
