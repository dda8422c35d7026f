/* Exact top-k search over all pairs.
 *
 * Approximate scores, a block of nodes at a time, are not to the bit what npgnn_predictor_run says of a pair. So they
 * only decide which pairs are worth a look: those that, by a bound of their error (docs/use/predict.md), may be among
 * the best. They are judged one by one with the arithmetic of npgnn_predictor_run, and the order is that of these
 * judgements: by score or, with draws of z, by probability and then score; then by the numbers of the nodes. It is
 * total, so there is one result, whatever the threads do. */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "linalg/blas.h"
#include "search/search.h"

enum { FROM = 1, TO = 2 }; /* roles of a node */

/* ---- making ---- */

static int give_role(npi_search *s, unsigned char role, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    for (int32_t i = 0; !nodes && i < s->n; i++) /* NULL: all nodes have the role */
        s->role[i] |= role;
    for (int32_t i = 0; nodes && i < count; i++) {
        if (nodes[i] < 0 || nodes[i] >= s->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "there is no node %d: nodes are numbered 0 to %d", nodes[i],
                            s->n - 1);
        if (s->role[nodes[i]] & role)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node %d is given twice", nodes[i]);
        s->role[nodes[i]] |= role;
    }
    return 0;
}

static int give_roles(npi_search *s, npgnn_error *err)
{
    const npgnn_top_options *o = &s->options;
    s->role = npi_alloc(&s->env, (size_t)s->n, 1, err);
    if (!s->role)
        return NPGNN_E_MEMORY;
    int code = give_role(s, FROM, o->from, o->from_count, err);
    return code ? code : give_role(s, TO, o->to, o->to_count, err);
}

int npi_search_allocate(npi_search *s, int room, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    size_t cells = (size_t)s->scorer.block * (size_t)s->own;
    assert(room > 0 || s->n == 0);
    assert(s->scorer.block > 0 && s->scorer.block <= NPI_MOST_BLOCK && s->threads > 0);
    int code = 0;
    s->searchers = npi_alloc(env, (size_t)s->threads, sizeof *s->searchers, err);
    if (!s->searchers)
        return NPGNN_E_MEMORY;
    for (int t = 0; !code && t < s->threads; t++) {
        npi_searcher *d = &s->searchers[t];
        code = s->scorer.kind->workspace_new(&d->workspace, &s->scorer, err);
        d->block.value = npi_resize(env, NULL, cells, sizeof *d->block.value, err);
        if (s->scorer.kind->narrow)
            d->candidate = npi_resize(env, NULL, (size_t)s->n, sizeof *d->candidate, err);
        d->list.items = npi_resize(env, NULL, (size_t)room, sizeof *d->list.items, err);
        d->list.capacity = room;
        if (!d->block.value || !d->list.items || (s->scorer.kind->narrow && !d->candidate))
            code = NPGNN_E_MEMORY;
    }
    return code;
}

/* E_MISMATCH unless all processes search for the same: otherwise they would wait for each other forever. */
static int check_same(const npi_search *s, npgnn_error *err)
{
    const npgnn_top_options *o = &s->options;
    const int32_t numbers[] = {s->k,     s->links,        o->from ? o->from_count : -1, o->to ? o->to_count : -1,
                               o->known, (int32_t)o->rank};
    uint64_t hash = npi_hash_bytes(NPI_HASH_START, numbers, sizeof numbers);
    hash = npi_hash_bytes(hash, &o->min_probability, sizeof o->min_probability);
    if (o->from && o->from_count > 0)
        hash = npi_hash_bytes(hash, o->from, (size_t)o->from_count * sizeof *o->from);
    if (o->to && o->to_count > 0)
        hash = npi_hash_bytes(hash, o->to, (size_t)o->to_count * sizeof *o->to);
    return npi_comm_same(s->comm, hash, "the search", err);
}

/* Which rows this process searches: its share, unless the candidates are divided instead. */
static void divide(npi_search *s)
{
    npgnn_comm *comm = s->is_divided ? NULL : s->comm;
    int rank = npi_comm_rank(comm);
    s->begin = (int32_t)npi_comm_share_start(comm, s->rows, rank); /* comm NULL: all rows */
    s->end = (int32_t)npi_comm_share_start(comm, s->rows, rank + 1);
    s->times = npi_comm_ranks(comm);
}

/* Reads the options, before there is a scorer. */
static int begin(npi_search *s, npi_search kind, const npgnn_top_options *options, npgnn_error *err)
{
    *s = kind;
    s->worst = (double)-INFINITY;
    int code = npi_sized_read(&s->options, sizeof s->options, options, "npgnn_top_options", err);
    if (!code && s->options.info)
        code = npi_sized_check(s->options.info, "npgnn_search_info", err);
    if (!code && s->k < 1)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "k must be at least 1, got %d", s->k);
    return code;
}

static int check(npi_search *s, npgnn_error *err)
{
    const npgnn_top_options *o = &s->options;
    s->rows = o->from ? o->from_count : s->n;
    if (!(o->min_probability >= 0 && o->min_probability <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the minimum probability must be from 0 to 1, got %g",
                        o->min_probability);
    if (s->rows < 0 || (o->to && o->to_count < 0))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the number of nodes must not be negative");
    divide(s);
    return give_roles(s, err);
}

int npi_search_new(npi_search *s, npgnn_predictor *p, npi_search kind, int plain, const npgnn_top_options *options,
                   npgnn_error *err)
{
    kind.p = p;
    kind.env = p->env;
    kind.comm = p->comm;
    kind.calibration = p->calibration;
    kind.graph = p->graph;
    kind.n = p->graph->n;
    kind.threads = p->threads;
    kind.averaged = p->samples > 0;
    const npi_partition *rows = &p->applied.columns.rows; /* comm is NULL for a network, which has no columns */
    kind.is_divided = rows->comm != NULL;
    kind.from = kind.is_divided ? rows->from : 0;
    kind.own = kind.is_divided ? rows->to - rows->from : kind.n;
    int code = begin(s, kind, options, err);
    /* before any collective call that depends on the options */
    if (p->comm && !(code = npi_comm_agree(p->comm, code, err)))
        code = check_same(s, err);
    if (!code)
        code = p->model->kind->complete(p, err);
    if (!code)
        code = check(s, err);
    npi_scorer_use use = {.nodes = s->rows > 0 ? s->rows : 1,
                          .is_each_node = !s->links && !plain,
                          .is_exact_value = plain,
                          .k = s->links ? NPGNN_CHECKED_BEST : s->k,
                          .to = s->options.to,
                          .to_count = s->options.to_count};
    if (!code && !plain)
        code = npi_search_candidates(&use.candidates, p, s->rows, &s->options, err);
    s->by_candidates = use.candidates > 0;
    return code ? code : p->model->kind->scorer(&s->scorer, p, &use, err);
}

int npi_search_new_heuristic(npi_search *s, const npi_heuristic *heuristic, npi_search kind,
                             const npgnn_top_options *options, const npgnn_env *env, npgnn_error *err)
{
    kind.env = *env;
    kind.env.comm = NULL;
    kind.graph = heuristic->graph;
    kind.n = kind.own = heuristic->graph->n;
    kind.threads = env->threads;
    int code = begin(s, kind, options, err);
    if (!code)
        code = check(s, err);
    if (!code)
        npi_heuristic_scorer(&s->scorer, heuristic, &s->env);
    return code;
}

void npi_search_free(npi_search *s)
{
    const npgnn_env *env = &s->env;
    for (int t = 0; s->searchers && t < s->threads; t++) {
        s->scorer.kind->workspace_free(s->searchers[t].workspace, &s->scorer);
        npi_free(env, s->searchers[t].block.value);
        npi_free(env, s->searchers[t].candidate);
        npi_free(env, s->searchers[t].list.items);
    }
    npi_mutual_free(s);
    npi_divided_free(s);
    npi_scorer_free(&s->scorer);
    npi_free(env, s->searchers);
    npi_free(env, s->role);
}

static int32_t row_place(const npi_search *s, int32_t row)
{
    return s->is_divided ? s->own + row - s->begin : npi_search_node(s, row);
}

/* ---- what is worth a look ---- */

/* The largest probability that a draw gives to a score. */
static double most_probable(const npgnn_predictor *p, double score)
{
    int calibrations = p->applied.draws > 0 ? p->applied.draws : 1; /* those of a network have one in common */
    double most = 0;
    for (int draw = 0; draw < calibrations; draw++)
        most = fmax(most, npi_calibration_probability(npi_predictor_calibration(p, draw), score));
    return most;
}

/* The mean of probabilities is at most that of the largest score, and so is that of a score below the mean of all. So
 * to reach `worst`, a pair must have a score of at least this; a little less counts too, for what the probability's
 * own rounding may do. */
static double least_score(double worst, const npgnn_predictor *p)
{
    enum { STEPS = 50 };
    /* Bisection: 2e6 / 2^50 is about 2e-9. `low` stays where the probability is too small, so that no pair is excluded
     * wrongly; where even -1e6 is not too small, none can be excluded. */
    double low = -1e6, high = 1e6, target = worst * (1 - (double)FLT_EPSILON);
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2;
        if (most_probable(p, middle) < target)
            low = middle;
        else
            high = middle;
    }
    return most_probable(p, low) < target ? low : (double)-INFINITY;
}

real npi_search_least_value(const npi_search *s, const npi_shortlist *list, double slack)
{
    /* score <= value + slack: below worst - slack, a value cannot belong to a better pair */
    double worst = list->count < list->capacity ? (double)-INFINITY : list->items[0].score;
    worst = s->worst > worst ? s->worst : worst;
    if (!(worst > (double)-INFINITY)) /* the list has room */
        return -(real)INFINITY;
    /* down by one float, against the rounding to a float */
    return (real)nextafterf((float)((s->averaged ? least_score(worst, s->p) : worst) - slack), -INFINITY);
}

/* Whether the pair of u and v is asked for in both directions, of which the best links have the one with u < v. */
static int is_reversed(const npi_search *s, int32_t u, int32_t v)
{
    return s->links && v < u && (s->role[v] & FROM) && (s->role[u] & TO);
}

npgnn_pair npi_search_direct(const npi_search *s, int32_t u, int32_t v)
{
    return s->by_candidates && is_reversed(s, u, v) ? (npgnn_pair){v, u} : (npgnn_pair){u, v};
}

int npi_search_asks(const npi_search *s, int32_t u, int32_t v)
{
    return npi_graph_allows(s->graph, u, v) && s->role[v] & TO && !is_reversed(s, u, v);
}

int npi_search_eligible(const npi_search *s, int32_t u, int32_t v)
{
    return npi_search_asks(s, u, v) && (s->options.known || !npgnn_graph_has_edge(s->graph, u, v));
}

/* The bits of a float as an integer in the same order. */
static uint32_t order_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    /* IEEE 754: sign and magnitude. Negative numbers are turned round and put below all others. */
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* What pairs are ordered by, where that is not the score. */
static float rank_of(const npi_search *s, const npgnn_prediction *judged)
{
    return s->options.rank == NPGNN_BY_LOW ? judged->low : judged->probability;
}

npi_candidate npi_search_candidate(const npi_search *s, npgnn_pair pair, npgnn_prediction judged)
{
    float value = s->averaged ? rank_of(s, &judged) : judged.score;
    /* ids ascend as pairs do, which decides ties */
    return (npi_candidate){(double)value, order_of(judged.score), (int64_t)pair.u * s->n + pair.v};
}

int npi_search_offer(const npi_search *s, npi_searcher *d, npgnn_pair pair, npgnn_pair place)
{
    int was_full = d->list.count == d->list.capacity;
    double worst = was_full ? d->list.items[0].score : (double)-INFINITY;
    npgnn_prediction judged = s->scorer.kind->judge(d->workspace, &s->scorer, pair, place);
    npi_candidate candidate = npi_search_candidate(s, pair, judged);
    if (!isnan(candidate.score))
        npi_shortlist_offer(&d->list, candidate);
    return d->list.count == d->list.capacity && (!was_full || d->list.items[0].score > worst);
}

/* What a value of node r of the block must be, at least, to be among its best: so many others are sure to have a larger
 * score. Without it, the first pairs of a row would be judged only to be replaced. */
static real least_of_row(const npi_search *s, npi_searcher *d, int r, const real *value)
{
    npi_shortlist *sure = &d->list; /* lower bounds of scores; empty before and after */
    double slack = d->block.slack[r], along = d->block.along[r];
    for (int32_t i = 0; i < s->own; i++) {
        /* s_i >= value_i - slack - along reach_i */
        double least = (double)value[i] - slack - (along > 0 ? along * npi_scorer_reach(&s->scorer, i) : 0);
        if ((sure->count < sure->capacity || least > sure->items[0].score) && !isnan(least) &&
            npi_search_eligible(s, d->block.node[r], s->from + i))
            npi_shortlist_offer(sure, (npi_candidate){least, 0, i});
    }
    real least = npi_search_least_value(s, sure, slack);
    sure->count = 0; /* these were bounds, not judgements */
    return least;
}

/* Where the rows of all nodes are here, the place of a row is its node. */
static void prefetch(const npi_search *s, npgnn_pair pair, int ahead)
{
    const npi_columns *columns = &s->p->applied.columns;
    npi_columns_prefetch(columns, &columns->view, pair, pair, ahead);
}

/* Whether a pair has the score of the worst in a full list, and comes after it. Rows of a heuristic have many ties. */
static int loses_tie(const npi_search *s, const npi_searcher *d, npgnn_pair pair, real value)
{
    const npi_candidate *worst = d->list.items;
    return s->scorer.heuristic && d->list.count == d->list.capacity && (double)value <= worst->score &&
           (int64_t)pair.u * s->n + pair.v > worst->id;
}

/* Judges the pairs of node r of a block with the nodes of `candidate` (count; NULL: all candidates) that, by their
 * values, may be among the best. */
static void look_through(const npi_search *s, npi_searcher *d, int r, const int32_t *candidate, const real *value,
                         int32_t count, real floor)
{
    enum { MOST_AHEAD = 32 };
    int32_t u = d->block.node[r];
    double slack = d->block.slack[r];
    real least = npi_search_least_value(s, &d->list, slack);
    least = floor > least ? floor : least;
    /* A list of candidates is short: the rows and links of the first ones to be judged are asked for before any is. */
    for (int ahead = candidate && s->p ? NPI_AHEAD : 0; ahead > 0; ahead--)
        for (int32_t i = 0, asked = 0; i < count && asked < MOST_AHEAD; i++)
            if (!(value[i] < least)) {
                prefetch(s, (npgnn_pair){u, candidate[i]}, ahead);
                asked++;
            }
    for (int32_t i = 0; i < count; i++) {
        int32_t place = candidate ? candidate[i] : i;
        npgnn_pair pair = npi_search_direct(s, u, s->from + place), places = {d->block.place[r], place};
        if (pair.u != u)
            places = pair; /* nothing is divided: the place of a node is the node */
        /* `!(<)`: a NaN is looked at. The cheapest question comes first, and the judgement, the dearest, last. */
        if (!(value[i] < least) && !loses_tie(s, d, pair, value[i]) && npi_search_eligible(s, pair.u, pair.v) &&
            npi_search_offer(s, d, pair, places)) {
            least = npi_search_least_value(s, &d->list, slack); /* the list has a better worst than before */
            least = floor > least ? floor : least;
        }
    }
}

/* ---- the search ---- */

/* Appends a link to `count` others, if it is probable enough: otherwise no later one is. Returns how many there are. */
static int32_t append(npgnn_link *out, int32_t count, const npi_search *s, npgnn_pair pair, npgnn_prediction judged)
{
    if ((double)rank_of(s, &judged) < s->options.min_probability)
        return count;
    out[count] = (npgnn_link){pair, judged, npgnn_graph_has_edge(s->graph, pair.u, pair.v)};
    return count + 1;
}

/* The prediction of a score that is not averaged over draws. */
static npgnn_prediction prediction_of(const npi_search *s, float score)
{
    return s->p ? npi_prediction_of(&s->calibration, score) : npi_heuristic_prediction(score);
}

int32_t npi_search_write(npgnn_link *out, const npi_search *s, const npi_shortlist *sorted,
                         const npgnn_prediction *judged)
{
    int32_t count = 0;
    /* count == i: until one is too improbable */
    for (int32_t i = 0; i < sorted->count && count == i; i++)
        count = append(out, count, s, npi_search_pair(s, sorted->items[i].id),
                       judged ? judged[i] : prediction_of(s, (float)sorted->items[i].score));
    return count;
}

/* Pairs that both of their ends have found, one after the other in a sorted list, are listed once. */
static void list_once(npi_shortlist *sorted, int32_t most)
{
    int kept = 0;
    for (int i = 0; i < sorted->count && kept < most; i++)
        if (kept == 0 || sorted->items[i].id != sorted->items[kept - 1].id)
            sorted->items[kept++] = sorted->items[i];
    sorted->count = kept;
}

/* Predictions that are means over draws are judged again. */
int32_t npi_search_write_list(npgnn_link *out, const npi_search *s, npi_searcher *d)
{
    int32_t count = 0;
    npi_shortlist_sort(&d->list);
    if (s->links && s->by_candidates)
        list_once(&d->list, s->k);
    if (!s->averaged)
        return npi_search_write(out, s, &d->list, NULL);
    for (int32_t i = 0; i < d->list.count && count == i; i++) {
        npgnn_pair pair = npi_search_pair(s, d->list.items[i].id);
        count = append(out, count, s, pair, s->scorer.kind->judge(d->workspace, &s->scorer, pair, pair));
    }
    return count;
}

/* The list of a row that is done: written or, where the candidates are divided, kept until all lists are merged. */
static void keep_list(const npi_search *s, npi_searcher *d, int32_t row)
{
    if (!s->is_divided) {
        s->found[row] = npi_search_write_list(s->out + (size_t)row * (size_t)s->k, s, d);
        return;
    }
    npi_candidate *list = s->division.lists + (size_t)(row - s->begin) * (size_t)s->division.room;
    memcpy(list, d->list.items, (size_t)d->list.count * sizeof *list);
    for (int i = d->list.count; i < s->division.room; i++)
        list[i].id = -1;
}

void npi_search_block(const npi_search *s, npi_searcher *d, int32_t first)
{
    npi_block *block = &d->block;
    block->count = s->end - first < s->scorer.block ? s->end - first : s->scorer.block;
    for (int r = 0; r < block->count; r++) {
        block->node[r] = npi_search_node(s, first + r);
        block->place[r] = row_place(s, first + r);
    }
    real floor = -(real)INFINITY;
    int32_t others = s->own; /* candidates that have values */
    if (s->scorer.kind->narrow)
        floor = s->scorer.kind->narrow(&others, d, s);
    else
        s->scorer.kind->approximate(block, d->workspace, &s->scorer, 0, s->own);
    for (int r = 0; r < block->count; r++) {
        const real *value = block->value + (size_t)r * (size_t)s->own;
        if (!s->links) /* with links, a thread has one list for all rows */
            d->list.count = 0;
        if (!s->links && !s->averaged && !s->scorer.kind->narrow) /* a list of this row alone, by score */
            floor = least_of_row(s, d, r, value);
        look_through(s, d, r, d->candidate, value, others, floor);
        if (!s->links)
            keep_list(s, d, first + r);
    }
}
