/* The best of all pairs, exactly.
 *
 * A block of nodes meets all nodes in one product of matrices, whose sums are in float and in BLAS's order. That is
 * fast, but not to the bit what npgnn_predictor_run says of a pair. So the product only decides which pairs are worth
 * a look: those that, by a bound of its error (docs/use/predict.md), may be among the best. They are judged one by
 * one with the arithmetic of npgnn_predictor_run, and the order is that of these judgements: by score or, with draws
 * of z, by probability and then score; then by the numbers of the nodes. It is total, so there is one result,
 * whatever the threads do.
 *
 * The evidence of a process is the same in both directions. Where the best of every node are asked for, each pair is
 * scored once, for both of its ends. */
#include <float.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "linalg/dense.h"
#include "model/score.h"
#include "search/search.h"

#define BLOCK_BYTES (8 << 20)    /* that the values of a block of nodes may take, */
#define LEAST_BLOCK 16           /* but below so many nodes a product is mostly the fetching of U */
#define PROCESS_BYTES (64 << 20) /* that the walks of a block may take, with a process, */
#define PROCESS_LEAST 4          /* but below so many nodes a product is mostly copying, */
#define PROCESS_MOST 64          /* and above so many it gains nothing */
#define HEAD_CELLS 1024          /* pairs that a head scores at a time, whose hidden layers stay in cache */
#define BAND 4                   /* blocks that each thread takes between two calls of progress */
#define FIRST_ROOM 32            /* pairs that the list of a node has memory for at first */
#define BOX_NODES 256            /* that decide which boxes of a bound are worth their cost, and which come first, */
#define FIRST_BOXES 2            /* and how many of them all nodes are compared with */
#define MUTUAL_BYTES (1L << 30)  /* that the lists of all nodes may take: otherwise each node is searched by itself */

/* Roles of a node. */
enum { FROM = 1, TO = 2 };

/* ---- making ---- */

static double length(const real *u, int k)
{
    double square = 0;
    for (int c = 0; c < k; c++)
        square += (double)u[c] * (double)u[c];
    return sqrt(square);
}

static const real *embeddings(const npi_search *s, int draw)
{
    size_t cells = (size_t)s->n * (size_t)s->p->model->params.size.k;
    return s->drawn ? s->drawn + (size_t)draw * cells : s->p->embedder.u;
}

/* The embeddings of all draws, side by side: a block of pairs needs them all at once. */
static int decode(npi_search *s, npgnn_error *err)
{
    npgnn_predictor *p = s->p;
    int k = p->model->params.size.k;
    size_t cells = (size_t)s->n * (size_t)k;
    s->averaged = p->samples > 0;
    s->draws = p->samples > 0 ? p->samples : 1;
    s->reach = npi_alloc(&p->env, (size_t)s->draws, sizeof *s->reach, err);
    if (!s->reach)
        return NPGNN_E_MEMORY;
    if (npi_model_is_process(p->model)) {
        int heads;
        const npi_head *head = npi_predictor_heads(&heads, p);
        s->slopes = npi_alloc(&p->env, (size_t)heads, sizeof *s->slopes, err);
        for (int h = 0; s->slopes && h < heads; h++) {
            if (s->bounded)
                s->slopes[h] = p->applied.bound.slopes;
            else
                npi_head_slopes(&s->slopes[h], &head[h]);
            s->reach[h] = npi_applied_error(&p->applied, &head[h], &s->slopes[h], 0);
        }
        return s->slopes ? 0 : NPGNN_E_MEMORY;
    }
    if (p->samples > 0)
        s->drawn = npi_alloc(&p->env, (size_t)s->draws, cells * sizeof *s->drawn, err);
    if (p->samples > 0 && !s->drawn)
        return NPGNN_E_MEMORY;
    for (int draw = 0; draw < s->draws; draw++) {
        if (p->samples > 0) {
            int code = npi_predictor_decode(p, draw, err);
            if (code)
                return code;
            memcpy(s->drawn + (size_t)draw * cells, p->embedder.u, cells * sizeof *s->drawn);
        }
        for (int32_t i = 0; i < s->n; i++)
            s->reach[draw] = fmax(s->reach[draw], length(embeddings(s, draw) + (size_t)i * (size_t)k, k));
    }
    return 0;
}

static int give_role(npi_search *s, unsigned char role, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    for (int32_t i = 0; !nodes && i < s->n; i++)
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
    s->role = npi_alloc(&s->p->env, (size_t)s->n, 1, err);
    if (!s->role)
        return NPGNN_E_MEMORY;
    int code = give_role(s, FROM, o->from, o->from_count, err);
    return code ? code : give_role(s, TO, o->to, o->to_count, err);
}

/* Numbers from one column of the queue to the next: the columns of one node must not fall into the same few lines of a
 * cache. */
static int queue_stride(const npi_searcher *d)
{
    return 2 * d->columns.range + 16;
}

static int process_workspace(npi_searcher *d, const npi_search *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    if (npi_columns_workspace_take(&d->columns, &s->p->applied.columns, s->block, err))
        return 1;
    size_t cells = (size_t)s->block * (size_t)d->columns.range;
    d->rows = npi_resize(env, NULL, cells * (size_t)s->p->applied.columns.plan.columns, sizeof *d->rows, err);
    d->range = npi_resize(env, NULL, s->bounded ? 2 * cells : cells, sizeof *d->range, err);
    d->most = npi_resize(env, NULL, (size_t)s->draws * (size_t)s->block, sizeof *d->most, err);
    if (!d->rows || !d->range || !d->most)
        return 1;
    if (!s->bounded)
        return npi_head_workspace_new(&d->head, &s->p->applied.head, HEAD_CELLS, env, err);
    /* heads that have a bound are small, and need no workspace */
    d->candidate = npi_resize(env, NULL, (size_t)s->n, sizeof *d->candidate, err);
    d->error = npi_resize(env, NULL, cells, sizeof *d->error, err);
    d->over = npi_resize(env, NULL, 2 * cells + NPI_KEPT_MORE, sizeof *d->over, err);
    d->queue = npi_resize(env, NULL, 2 * cells, sizeof *d->queue, err);
    d->apart = npi_resize(env, NULL, 2 * cells, sizeof *d->apart, err);
    d->evidence = npi_resize(env, NULL, (size_t)queue_stride(d) * (size_t)s->p->applied.columns.plan.columns,
                             sizeof *d->evidence, err);
    d->scored = npi_alloc(env, (size_t)s->n, sizeof *d->scored, err);
    return !d->candidate || !d->error || !d->over || !d->queue || !d->apart || !d->evidence || !d->scored;
}

/* Memory of the threads, with lists of the best `room`. */
static int allocate(npi_search *s, int room, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t n = (size_t)s->n, k = (size_t)s->p->model->params.size.k, fit = BLOCK_BYTES / sizeof(real) / (n + 1);
    int failed = 0, process = npi_model_is_process(s->p->model);
    s->block = fit < LEAST_BLOCK ? LEAST_BLOCK : fit > NPI_MOST_BLOCK ? NPI_MOST_BLOCK : (int)fit;
    s->workspaces = npi_alloc(env, (size_t)s->threads, sizeof *s->workspaces, err);
    if (!s->workspaces)
        return NPGNN_E_MEMORY;
    if (process) { /* 2 · 4 + 3 · 8 bytes of walks per node, 8 of the overlap of features, and its scores */
        fit = PROCESS_BYTES / (40 + sizeof(real)) / (n + 1);
        s->block = fit < PROCESS_LEAST ? PROCESS_LEAST : fit > PROCESS_MOST ? PROCESS_MOST : (int)fit;
    }
    if (s->block > s->rows) /* one node: it meets as many nodes at a time as a block would */
        s->block = s->rows > 0 ? s->rows : 1;
    for (int t = 0; t < s->threads; t++) {
        npi_searcher *d = &s->workspaces[t];
        size_t cells = (size_t)s->block * (size_t)s->own;
        failed |= process ? process_workspace(d, s, err) : 0;
        failed |= !(d->picked = npi_resize(env, NULL, (size_t)s->block * k, sizeof *d->picked, err));
        failed |= !(d->value = npi_resize(env, NULL, cells, sizeof *d->value, err));
        failed |= s->averaged && !process && !(d->score = npi_resize(env, NULL, cells, sizeof *d->score, err));
        failed |= !(d->list.items = npi_resize(env, NULL, (size_t)room, sizeof *d->list.items, err));
        d->list.capacity = room;
    }
    return failed ? NPGNN_E_MEMORY : 0;
}

/* Whether all processes search for the same: otherwise they would wait for each other for ever. */
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
    return npi_comm_same(s->p->comm, hash, "the search", err);
}

/* Which rows this process searches: its share, unless the candidates are divided instead. */
static void divide(npi_search *s)
{
    npgnn_comm *comm = s->divided ? NULL : s->p->comm;
    int rank = npi_comm_rank(comm);
    s->begin = (int32_t)npi_comm_share_start(comm, s->rows, rank);
    s->end = (int32_t)npi_comm_share_start(comm, s->rows, rank + 1);
    s->times = npi_comm_ranks(comm);
}

/* kind: what else is known of the search */
static int search_new(npi_search *s, npgnn_predictor *p, npi_search kind, const npgnn_top_options *options,
                      npgnn_error *err)
{
    *s = kind;
    s->p = p;
    s->n = p->graph->n;
    s->threads = p->env.threads;
    const npgnn_top_options *o = &s->options;
    int code = npi_sized_read(&s->options, sizeof s->options, options, "npgnn_top_options", err);
    if (!code && s->k < 1)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "k must be at least 1, got %d", s->k);
    if (p->comm && !(code = npi_comm_agree(p->comm, code, err)))
        code = check_same(s, err);
    if (!code && npi_model_is_process(p->model))
        code = npi_applied_complete(&p->applied, err);
    if (code)
        return code;
    s->rows = o->from ? o->from_count : s->n;
    s->worst = (double)-INFINITY;
    s->divided = npi_model_is_process(p->model) && p->applied.columns.rows.comm;
    s->from = s->divided ? p->applied.columns.rows.from : 0;
    s->own = s->divided ? p->applied.columns.rows.to - s->from : s->n;
    divide(s);
    if (!(o->min_probability >= 0 && o->min_probability <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the minimum probability must be from 0 to 1, got %g",
                        o->min_probability);
    if (s->rows < 0 || (o->to && o->to_count < 0))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the number of nodes must not be negative");
    s->bounded = s->rows == 1 && !s->links && !s->plain && p->samples == 0 && p->applied.bound.block;
    code = give_roles(s, err);
    return code ? code : decode(s, err);
}

static void mutual_free(const npi_search *s);

static void search_free(npi_search *s)
{
    const npgnn_env *env = &s->p->env;
    for (int t = 0; s->workspaces && t < s->threads; t++) {
        npi_free(env, s->workspaces[t].picked);
        npi_free(env, s->workspaces[t].value);
        npi_free(env, s->workspaces[t].score);
        npi_free(env, s->workspaces[t].candidate);
        npi_columns_workspace_give(&s->p->applied.columns, &s->workspaces[t].columns);
        npi_head_workspace_free(env, &s->workspaces[t].head);
        npi_free(env, s->workspaces[t].rows);
        npi_free(env, s->workspaces[t].range);
        npi_free(env, s->workspaces[t].error);
        npi_free(env, s->workspaces[t].over);
        npi_free(env, s->workspaces[t].queue);
        npi_free(env, s->workspaces[t].apart);
        npi_free(env, s->workspaces[t].evidence);
        npi_free(env, s->workspaces[t].scored);
        npi_free(env, s->workspaces[t].most);
        npi_free(env, s->workspaces[t].list.items);
    }
    mutual_free(s);
    npi_divided_free(s);
    npi_free(env, s->workspaces);
    npi_free(env, s->role);
    npi_free(env, s->reach);
    npi_free(env, s->slopes);
    npi_free(env, s->drawn);
}

static int32_t row_place(const npi_search *s, int32_t row)
{
    return s->divided ? s->own + row - s->begin : npi_search_node(s, row);
}

/* ---- a block of nodes with all nodes, about ---- */

static real magnitude(real x)
{
    return x < 0 ? -x : x;
}

/* The largest magnitude, in lanes of its own each, which compilers turn into vectors. */
static real largest_of(const real *x, int32_t count)
{
    enum { LANES = 16 };
    real lane[LANES] = {0}, largest = 0;
    int32_t whole = count - count % LANES;
    for (int32_t first = 0; first < whole; first += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = magnitude(x[first + l]) > lane[l] ? magnitude(x[first + l]) : lane[l];
    for (int32_t i = whole; i < count; i++)
        largest = magnitude(x[i]) > largest ? magnitude(x[i]) : largest;
    for (int l = 0; l < LANES; l++)
        largest = lane[l] > largest ? lane[l] : largest;
    return largest;
}

/* A bound of the error of a row of scores: a rounding error for every term of a product of embeddings, and a few more,
 * each of at most the float's unit of the largest number in sight; and all of it twice, since a bound may be
 * generous. */
static double slack_of(const npi_search *s, const real *score, double product)
{
    int terms = s->p->model->params.size.k + 32;
    return terms * (double)FLT_EPSILON * (product + (double)largest_of(score, s->n)) + (double)FLT_MIN;
}

static void score_rows(real *score, npi_searcher *d, const npi_search *s, int count, int draw)
{
    int k = s->p->model->params.size.k;
    const real *u = embeddings(s, draw);
    for (int r = 0; r < count; r++)
        memcpy(d->picked + r * k, u + (size_t)d->node[r] * (size_t)k, (size_t)k * sizeof *u);
    npi_gemm(score, s->n, d->picked, k, 0, u, k, 1, count, s->n, k, 1, 0);
    for (int r = 0; r < count; r++) {
        double slack = slack_of(s, score + (size_t)r * (size_t)s->n, length(d->picked + r * k, k) * s->reach[draw]);
        d->slack[r] = draw == 0 || !(slack <= d->slack[r]) ? slack : d->slack[r];
    }
}

/* The same with the heads of a process: value (count, candidates), with draws the largest of each pair, for candidates
 * begin to end - 1. SPECTRAL and PAGERANK are the columns whose rounding depends on the pair: what it may add to a
 * score is added. */
static void approximate_process(npi_searcher *d, const npi_search *s, int count, int32_t begin, int32_t end)
{
    const npi_applied *a = &s->p->applied;
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, s->p);
    npi_columns_rows_begin(&d->columns, &a->columns, d->node, d->place, count);
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < count; r++)
            d->most[h * count + r] = s->plain ? 0 : (real)npi_applied_error_along(a, &s->slopes[h], d->place[r], 0);
    for (int32_t first = begin; first < end; first += d->columns.range) {
        int32_t last = end - first < d->columns.range ? end : first + d->columns.range, range = last - first;
        int cells = count * range;
        npi_columns_rows(d->rows, &d->columns, &a->columns, first, last);
        npi_process_standardize_columns(d->rows, a->process, a->columns.has_features, (size_t)cells);
        for (int h = 0; h < heads; h++) {
            for (int cell = 0; cell < cells; cell += HEAD_CELLS)
                npi_head_scores_of_columns(d->range + cell, &d->head, &head[h], d->rows + cell, cells,
                                           cells - cell < HEAD_CELLS ? cells - cell : HEAD_CELLS);
            for (int r = 0; r < count; r++) {
                real *value = d->value + (size_t)r * (size_t)s->own + (size_t)first;
                const real *score = d->range + r * range;
                real most = d->most[h * count + r];
                for (int32_t j = 0; j < range; j++) {
                    real upper = score[j] + most * (real)npi_columns_reach(&a->columns)[first + j];
                    value[j] = h > 0 && upper < value[j] ? value[j] : upper; /* a NaN stays */
                }
            }
        }
    }
    for (int r = 0; r < count; r++) {
        d->slack[r] = 0;
        for (int h = 0; h < heads; h++)
            d->slack[r] = fmax(d->slack[r], s->reach[h]);
    }
}

static void approximate(npi_searcher *d, const npi_search *s, int count)
{
    if (npi_model_is_process(s->p->model)) {
        approximate_process(d, s, count, 0, s->own);
        return;
    }
    size_t cells = (size_t)count * (size_t)s->n;
    score_rows(d->value, d, s, count, 0);
    for (int draw = 1; draw < s->draws; draw++) {
        score_rows(d->score, d, s, count, draw);
        for (size_t i = 0; i < cells; i++)
            d->value[i] = d->score[i] > d->value[i] ? d->score[i] : d->value[i];
    }
}

/* ---- what is worth a look ---- */

/* The mean of probabilities is at most that of the largest score, and so is that of a score below the mean of all. So
 * to reach `worst`, a pair must have a score of at least this; a little less counts too, for what the probability's
 * own rounding may do. */
static double least_score(double worst, const npi_calibration *calibration)
{
    enum { STEPS = 50 };
    double low = -1e6, high = 1e6, target = worst * (1 - (double)FLT_EPSILON);
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2;
        if (npi_calibration_probability(calibration, middle) < target)
            low = middle;
        else
            high = middle;
    }
    return npi_calibration_probability(calibration, low) < target ? low : (double)-INFINITY;
}

/* What a value must be, at least, for its pair to be, perhaps, better than the worst that is kept here or elsewhere. */
static real least_value(const npi_search *s, const npi_shortlist *list, double slack)
{
    double worst = list->count < list->capacity ? (double)-INFINITY : list->items[0].score;
    worst = s->worst > worst ? s->worst : worst;
    if (!(worst > (double)-INFINITY))
        return -(real)INFINITY;
    return (real)nextafterf((float)((s->averaged ? least_score(worst, &s->p->calibration) : worst) - slack), -INFINITY);
}

/* Whether the pair is asked for; of a pair that may be turned round, only one way. */
static int eligible(const npi_search *s, int32_t u, int32_t v)
{
    if (!npi_graph_allows(s->p->graph, u, v) || !(s->role[v] & TO))
        return 0;
    if (s->links && v < u && (s->role[v] & FROM) && (s->role[u] & TO))
        return 0;
    return s->options.known || !npgnn_graph_has_edge(s->p->graph, u, v);
}

/* `place` has the places of the two nodes. */
static npgnn_prediction judge(const npi_search *s, npi_searcher *d, npgnn_pair pair, npgnn_pair place)
{
    const npgnn_predictor *p = s->p;
    float score = 0;
    npi_sums sums = {0};
    if (npi_model_is_process(p->model)) {
        float evidence[NPI_ALL_COLUMNS];
        int heads;
        const npi_head *head = npi_predictor_heads(&heads, p);
        npi_columns_pair_at(evidence, &d->columns, &p->applied.columns, pair, place);
        npi_process_standardize(evidence, p->applied.process, p->applied.columns.has_features, 1);
        for (int h = 0; h < heads; h++) {
            score = npi_head_score(&head[h], evidence);
            npi_sums_add(&sums, &p->calibration, score);
        }
        return s->averaged ? npi_prediction_mean(&sums, &p->calibration, heads)
                           : npi_prediction_of(&p->calibration, score);
    }
    for (int draw = 0; draw < s->draws; draw++) {
        score = npi_score_pair(embeddings(s, draw), p->model->params.size.k, pair);
        if (s->drawn)
            npi_sums_add(&sums, &p->calibration, score);
    }
    return s->drawn ? npi_prediction_mean(&sums, &p->calibration, s->draws) : npi_prediction_of(&p->calibration, score);
}

/* The bits of a float as an integer in the same order. */
static uint32_t order_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
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
    return (npi_candidate){(double)value, order_of(judged.score), (int64_t)pair.u * s->n + pair.v};
}

/* Returns whether the worst that a full list keeps has changed. */
static int offer(const npi_search *s, npi_searcher *d, npgnn_pair pair, npgnn_pair place)
{
    int was_full = d->list.count == d->list.capacity;
    double worst = was_full ? d->list.items[0].score : (double)-INFINITY;
    npi_candidate candidate = npi_search_candidate(s, pair, judge(s, d, pair, place));
    if (!isnan(candidate.score))
        npi_shortlist_offer(&d->list, candidate);
    return d->list.count == d->list.capacity && (!was_full || d->list.items[0].score > worst);
}

/* What a value of node u must be, at least, to be among its best: so many others are sure to have a larger score.
 * Without it, the first pairs of a row would be judged only to be replaced. `most` as in the workspace, 0 of a
 * network. */
static real least_of_row(const npi_search *s, npi_searcher *d, int32_t u, const real *value, double slack, double most)
{
    npi_shortlist *sure = &d->list; /* of the least that scores can be; empty before and after */
    for (int32_t i = 0; i < s->own; i++) {
        double reach = most > 0 ? 2 * most * (double)npi_columns_reach(&s->p->applied.columns)[i] : 0;
        double least = (double)value[i] - slack - reach;
        if ((sure->count < sure->capacity || least > sure->items[0].score) && !isnan(least) &&
            eligible(s, u, s->from + i))
            npi_shortlist_offer(sure, (npi_candidate){least, 0, i});
    }
    real least = least_value(s, sure, slack);
    sure->count = 0;
    return least;
}

/* Scores node u with the nodes of `list` (count): they become candidates, whose values their scores cannot exceed, and
 * the list of the least that the best scores can be takes them into account. `along` as in approximate_process. */
static void score_candidates(int32_t *candidates, npi_searcher *d, const npi_search *s, const int32_t *list, int count,
                             double along)
{
    const npi_applied *a = &s->p->applied;
    npi_shortlist *sure = &d->list;
    for (int first = 0; first < count; first += d->columns.range) {
        int some = count - first < d->columns.range ? count - first : d->columns.range;
        npi_columns_list(d->rows, &d->columns, &a->columns, list + first, some);
        npi_process_standardize_columns(d->rows, a->process, a->columns.has_features, (size_t)some);
        npi_head_scores_of_columns(d->range, &d->head, &a->head, d->rows, some, some);
        for (int i = 0; i < some; i++) {
            int32_t v = list[first + i];
            double apart = along * (double)npi_columns_reach(&a->columns)[v],
                   surely = (double)d->range[i] - apart - d->slack[0];
            d->candidate[*candidates] = v;
            d->value[(*candidates)++] = (real)((double)d->range[i] + apart);
            if ((sure->count < sure->capacity || surely > sure->items[0].score) && !isnan(surely))
                npi_shortlist_offer(sure, (npi_candidate){surely, 0, v});
        }
    }
}

/* Bounds of the head that are close for the evidence of a range (columns, count): of a box around nodes that walks of
 * three or four steps reach, and of one around the others. Returns how many there are. */
static int make_boxes(npi_pieces boxes[NPI_OWN_BOXES], const npi_applied *a, const real *evidence, int count)
{
    const double WIDTH =
        1.4; /* deviations from the mean: wider boxes have looser bounds, of narrower ones more nodes are outside */
    const real *lift3 = evidence + (size_t)NPI_COLUMN_LIFT3 * (size_t)count, *lift4 = lift3 + count;
    double low[2][NPI_ALL_COLUMNS], high[2][NPI_ALL_COLUMNS];
    int members[2] = {0, 0}, made = 0;
    unsigned char reached[BOX_NODES];
    real none3 = lift3[0], none4 = lift4[0]; /* the least is that of no walk */
    count = count < BOX_NODES ? count : BOX_NODES;
    for (int i = 1; i < count; i++) {
        none3 = lift3[i] < none3 ? lift3[i] : none3;
        none4 = lift4[i] < none4 ? lift4[i] : none4;
    }
    for (int i = 0; i < count; i++)
        members[reached[i] = lift3[i] > none3 || lift4[i] > none4]++;
    for (int c = 0; c < a->columns.plan.columns; c++) {
        const real *column = evidence + c * (lift4 - lift3);
        double sum[2] = {0, 0}, square[2] = {0, 0};
        for (int i = 0; i < count; i++) {
            sum[reached[i]] += (double)column[i];
            square[reached[i]] += (double)column[i] * (double)column[i];
        }
        for (int r = 0; r < 2; r++) {
            double mean = members[r] > 0 ? sum[r] / members[r] : 0;
            double spread = members[r] > 0 ? square[r] / members[r] - mean * mean : 0;
            spread = spread > 0 ? WIDTH * sqrt(spread) : 0;
            low[r][c] = mean - spread;
            high[r][c] = mean + spread;
        }
    }
    for (int r = 0; r < 2; r++)
        if (members[r] > 0)
            npi_head_box(&boxes[made++], &a->head, &a->bound.slopes, low[r], high[r]);
    return made;
}

/* Chooses boxes by how many of the first nodes of a range they leave over: first the box that leaves over the fewest,
 * then that which leaves over the fewest of these, and so on, as long as a box costs less than what it saves. Where the
 * boxes of the bound leave over nearly all, as of a node that has no links yet, boxes are made for these nodes, too. */
static void choose_boxes(npi_searcher *d, const npi_applied *a, int range, real least)
{
    enum { WORTH = 16 }; /* the smaller network, which comes after the boxes, costs so many times as much as a box */
    unsigned char over[NPI_MOST_BOXES][BOX_NODES], left[BOX_NODES];
    const npi_pieces *boxes[NPI_MOST_BOXES];
    int count = range < BOX_NODES ? range : BOX_NODES, known = a->bound.box_count, all = known, many = 0, compared = 0;
    memset(left, 1, sizeof left);
    for (int b = 0; b < all; b++) {
        boxes[b] = b < known ? &a->bound.boxes[b] : &d->made[b - known];
        npi_kernels_best()->piecewise_columns(d->range, d->rows, range, count, &boxes[b], 1);
        for (int j = 0; j < count; j++) {
            over[b][j] = !(d->range[j] + d->error[j] < least);
            left[j] &= over[b][j];
        }
        if (b == known - 1) {
            for (int j = 0; j < count; j++)
                many += left[j];
            all += many > count * 3 / 4 ? make_boxes(d->made, a, d->rows, range) : 0;
        }
    }
    memset(left, 1, sizeof left);
    many = compared = count;
    for (d->box_count = 0; d->box_count < all;) {
        int best = 0, fewest = count + 1;
        for (int b = 0; b < all; b++) {
            int both = 0;
            for (int j = 0; j < count; j++)
                both += left[j] & over[b][j];
            if (both < fewest) {
                best = b;
                fewest = both;
            }
        }
        if (d->box_count > 0 && (many - fewest) * WORTH <= compared)
            break;
        d->boxes[d->box_count++] = boxes[best];
        for (int j = 0; j < count; j++)
            left[j] &= over[best][j];
        many = fewest;
        compared = d->box_count < FIRST_BOXES ? count : d->box_count == FIRST_BOXES ? many : compared;
    }
}

/* What the best scores are at least, once there are enough of them. */
static real least_sure(const npi_shortlist *sure)
{
    return sure->count < sure->capacity ? -(real)INFINITY : (real)sure->items[0].score;
}

/* Scores the nodes of the queue, as far as closer bounds leave them over: first those of the other boxes, then that of
 * the smaller network, then the head itself. */
static void empty_queue(int32_t *candidates, npi_searcher *d, const npi_search *s, double along)
{
    const npi_applied *a = &s->p->applied;
    const npi_kernels *kernels = npi_kernels_best();
    int stride = queue_stride(d), left = d->queued;
    real least = least_sure(&d->list);
    for (int bound = d->box_count > FIRST_BOXES ? 0 : 1; bound < 3; bound++) {
        int count = left;
        if (bound == 0)
            kernels->piecewise_columns(d->range, d->evidence, stride, count, d->boxes + FIRST_BOXES,
                                       d->box_count - FIRST_BOXES);
        else if (bound == 1)
            kernels->network_columns(d->range, d->evidence, stride, count, &a->bound.net);
        else
            npi_head_scores_of_columns(d->range, &d->head, &a->head, d->evidence, stride, count);
        left = (int)kernels->keep_columns(d->over, d->evidence, stride, d->evidence, stride,
                                          bound < 2 ? a->columns.plan.columns : 0, d->range, d->apart, least, count);
        for (int i = 0; i < left; i++) {
            d->queue[i] = d->queue[d->over[i]];
            d->apart[i] = d->apart[d->over[i]];
        }
    }
    int asked_for = 0;
    for (int i = 0; i < left; i++)
        if (!d->scored[d->queue[i]] && eligible(s, d->node[0], d->queue[i]))
            d->queue[asked_for++] = d->queue[i];
    score_candidates(candidates, d, s, d->queue, asked_for, along);
    d->queued = 0;
}

/* One node with all nodes, by a process that npi_applied_prepare_bounds has prepared: candidate (*count) are the nodes that may
 * be among the best, and value (*count) what their scores cannot exceed. Nodes that two steps reach, most of the best
 * among them, are scored first. Of all others, a first look at rounded rows gives the evidence, up to an error, and
 * four bounds of the score, each closer and dearer than the one before: those of two boxes, of more boxes, of a smaller
 * network (process/bound.h), and the head itself. Only nodes for which all of them reach what the best so far are sure
 * to have are scored. Returns what a value must be, at least, to be among the best. */
static real search_bounded(int32_t *count, npi_searcher *d, const npi_search *s)
{
    enum { SEEDS = 256, MOST_CHOICES = 3 };
    const npi_applied *a = &s->p->applied;
    const npi_slopes *slopes = &a->bound.slopes;
    int32_t u = d->node[0];
    double along = npi_applied_error_along(a, slopes, u, 0), weight[NPI_ALL_COLUMNS];
    npi_shortlist *sure = &d->list; /* of the least that scores can be; empty before and after */
    d->slack[0] = s->reach[0];
    *count = 0;
    npi_columns_rows_begin(&d->columns, &a->columns, d->node, d->place, 1);
    const npi_walker *walker = &d->columns.walker;
    int seeds = 0;
    for (int32_t i = 0; i < walker->count && seeds < SEEDS && seeds < d->columns.range; i++)
        if (eligible(s, u, walker->reached[i])) {
            d->queue[seeds++] = walker->reached[i];
            d->scored[walker->reached[i]] = 1;
        }
    score_candidates(count, d, s, d->queue, seeds, along);

    for (int c = 0; c < a->columns.plan.columns; c++)
        weight[c] = slopes->column[c] / (double)a->process->deviation[c];
    npi_columns_rounded_begin(&d->columns, &a->columns, weight);
    real slack = (real)npi_applied_error(a, &a->head, slopes, 1);
    real rounded = (real)npi_applied_error_along(a, slopes, u, 1);
    int chosen = 0, stride = queue_stride(d);
    d->box_count = 0;
    for (int32_t first = 0; first < s->n; first += d->columns.range) {
        int32_t last = s->n - first < d->columns.range ? s->n : first + d->columns.range, range = last - first;
        npi_columns_rounded(d->rows, d->error, &d->columns, &a->columns, first, last);
        npi_process_standardize_columns(d->rows, a->process, a->columns.has_features, (size_t)range);
        for (int32_t j = 0; j < range; j++)
            d->error[j] += rounded * (real)npi_columns_reach(&a->columns)[first + j] + slack;
        real least = least_sure(sure);
        if (d->box_count == 0 && least > -(real)INFINITY) {
            choose_boxes(d, a, range, least);
            chosen++;
        }
        if (d->box_count > 0)
            npi_kernels_best()->piecewise_columns(d->range, d->rows, range, range, d->boxes,
                                                  d->box_count < FIRST_BOXES ? d->box_count : FIRST_BOXES);
        else
            memset(d->range, 0, (size_t)range * sizeof *d->range); /* all are left over: `least` is infinite */
        int left = (int)npi_kernels_best()->keep_columns(d->over, d->evidence + d->queued, stride, d->rows, range,
                                                         a->columns.plan.columns, d->range, d->error, least, range);
        for (int i = 0; i < left; i++) {
            d->queue[d->queued + i] = first + d->over[i];
            d->apart[d->queued + i] = d->error[d->over[i]];
        }
        d->queued += left;
        if (left > range / 2 &&
            chosen < MOST_CHOICES) /* boxes for other nodes than these: the next range chooses anew */
            d->box_count = 0;
        if (d->queued > d->columns.range || last == s->n)
            empty_queue(count, d, s, along);
    }
    real least = least_value(s, sure, d->slack[0]);
    sure->count = 0;
    return least;
}

/* Of all nodes the places are the nodes themselves. */
static void prefetch(const npi_search *s, npgnn_pair pair, int ahead)
{
    const npi_columns *columns = &s->p->applied.columns;
    npi_columns_prefetch(columns, &columns->view, pair, pair, ahead);
}

/* Judges the pairs of node r of a block with the nodes of `candidate` (count; NULL: all candidates) that, by their
 * values, may be among the best. */
static void look_through(const npi_search *s, npi_searcher *d, int r, const int32_t *candidate, const real *value,
                         int32_t count, real floor)
{
    enum { MOST_AHEAD = 32 };
    int32_t u = d->node[r];
    double slack = d->slack[r];
    real least = least_value(s, &d->list, slack);
    least = floor > least ? floor : least;
    for (int ahead = candidate ? NPI_AHEAD : 0; ahead > 0; ahead--) /* few are left: all of them at once */
        for (int32_t i = 0, asked = 0; i < count && asked < MOST_AHEAD; i++)
            if (!(value[i] < least)) {
                prefetch(s, (npgnn_pair){u, candidate[i]}, ahead);
                asked++;
            }
    for (int32_t i = 0; i < count; i++) {
        int32_t place = candidate ? candidate[i] : i, v = s->from + place;
        if (!(value[i] < least) && eligible(s, u, v) &&
            offer(s, d, (npgnn_pair){u, v}, (npgnn_pair){d->place[r], place})) {
            least = least_value(s, &d->list, slack); /* `!(<)`: a NaN is looked at */
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
    out[count] = (npgnn_link){pair, judged, npgnn_graph_has_edge(s->p->graph, pair.u, pair.v)};
    return count + 1;
}

int32_t npi_search_write(npgnn_link *out, const npi_search *s, const npi_shortlist *sorted,
                         const npgnn_prediction *judged)
{
    int32_t count = 0;
    for (int32_t i = 0; i < sorted->count && count == i; i++)
        count = append(out, count, s, npi_search_pair(s, sorted->items[i].id),
                       judged ? judged[i] : npi_prediction_of(&s->p->calibration, (float)sorted->items[i].score));
    return count;
}

/* The same for the list of a thread, where nothing is divided: predictions that are means over draws are judged
 * again. */
static int32_t write_list(npgnn_link *out, const npi_search *s, npi_searcher *d)
{
    int32_t count = 0;
    npi_shortlist_sort(&d->list);
    if (!s->averaged)
        return npi_search_write(out, s, &d->list, NULL);
    for (int32_t i = 0; i < d->list.count && count == i; i++) {
        npgnn_pair pair = npi_search_pair(s, d->list.items[i].id);
        count = append(out, count, s, pair, judge(s, d, pair, pair));
    }
    return count;
}

/* The list of a row that is done: written or, where the candidates are divided, kept until all lists are merged. */
static void keep_list(const npi_search *s, npi_searcher *d, int32_t row)
{
    if (!s->divided) {
        s->found[row] = write_list(s->out + (size_t)row * (size_t)s->k, s, d);
        return;
    }
    npi_candidate *list = s->lists + (size_t)(row - s->begin) * (size_t)s->room;
    memcpy(list, d->list.items, (size_t)d->list.count * sizeof *list);
    for (int i = d->list.count; i < s->room; i++)
        list[i].id = -1;
}

static void search_block(const npi_search *s, npi_searcher *d, int32_t first)
{
    int count = s->end - first < s->block ? s->end - first : s->block;
    for (int r = 0; r < count; r++) {
        d->node[r] = npi_search_node(s, first + r);
        d->place[r] = row_place(s, first + r);
    }
    real floor = -(real)INFINITY;
    int32_t others = s->own;
    if (s->bounded)
        floor = search_bounded(&others, d, s);
    else
        approximate(d, s, count);
    for (int r = 0; r < count; r++) {
        if (!s->links)
            d->list.count = 0;
        const real *value = d->value + (size_t)r * (size_t)s->own;
        if (!s->links && !s->averaged && !s->bounded)
            floor = least_of_row(s, d, d->node[r], value, d->slack[r], d->most ? (double)d->most[r] : 0);
        look_through(s, d, r, d->candidate, value, others, floor);
        if (!s->links)
            keep_list(s, d, first + r);
    }
}

/* ---- the search for every node, each pair once ---- */

static void mutual_free(const npi_search *s)
{
    const npgnn_env *env = &s->p->env;
    npi_mutual *m = s->mutual;
    for (int32_t i = 0; m && m->of && i < m->places; i++)
        npi_free(env, m->of[i].items);
    for (int i = 0; m && i < NPI_LIST_LOCKS; i++)
        pthread_mutex_destroy(&m->lock[i]);
    if (m) {
        npi_free(env, m->of);
        npi_free(env, m->sure);
        npi_free(env, m->least);
    }
    npi_free(env, m);
}

static int mutual_new(npi_search *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t n = (size_t)s->own + (size_t)s->visitors.most, k = (size_t)s->workspaces[0].list.capacity;
    npi_mutual *m = s->mutual = npi_alloc(env, 1, sizeof *m, err);
    if (!m)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < NPI_LIST_LOCKS; i++)
        pthread_mutex_init(&m->lock[i], NULL);
    m->places = (int32_t)n;
    m->of = npi_alloc(env, n, sizeof *m->of, err);
    m->sure = npi_alloc(env, n * k, sizeof *m->sure, err);
    m->least = npi_alloc(env, n, sizeof *m->least, err);
    if (!m->of || !m->sure || !m->least)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        m->of[i].sure = (npi_shortlist){.items = m->sure + i * k, .capacity = (int)k};
        atomic_init(&m->least[i], (double)-INFINITY);
    }
    return 0;
}

static void drop_beaten(npi_contenders *c, double least)
{
    int kept = 0;
    for (int i = 0; i < c->count; i++)
        if (!((double)c->items[i].most < least)) /* a NaN stays */
            c->items[kept++] = c->items[i];
    c->count = kept;
}

void npi_search_drop(const npi_search *s, int32_t place)
{
    drop_beaten(&s->mutual->of[place], atomic_load_explicit(&s->mutual->least[place], memory_order_relaxed));
}

/* Drops contenders that cannot win any more, or makes more memory. Returns 1 where there is none. */
static int make_room(npi_contenders *c, double least, const npgnn_env *env)
{
    drop_beaten(c, least);
    if (c->count <= c->capacity / 2 && c->capacity > 0)
        return 0;
    int capacity = c->capacity > 0 ? 2 * c->capacity : FIRST_ROOM;
    npi_contender *items = npi_resize(env, c->items, (size_t)capacity, sizeof *items, NULL);
    if (items) {
        c->items = items;
        c->capacity = capacity;
    }
    return !items;
}

void npi_search_contend(const npi_search *s, int32_t place, int32_t other, double least, double most)
{
    npi_mutual *m = s->mutual;
    npi_contenders *c = &m->of[place];
    pthread_mutex_t *lock = &m->lock[place % NPI_LIST_LOCKS];
    pthread_mutex_lock(lock);
    double wanted = atomic_load_explicit(&m->least[place], memory_order_relaxed);
    if (c->count == c->capacity && make_room(c, wanted, &s->p->env)) {
        atomic_store(&m->failed, 1);
    } else if (!(most < wanted)) {
        c->items[c->count++] =
            (npi_contender){other, (real)nextafterf((float)most, INFINITY), (real)nextafterf((float)least, -INFINITY)};
        if (!isnan(least))
            npi_shortlist_offer(&c->sure, (npi_candidate){least, 0, other});
        if (c->sure.count == c->sure.capacity)
            atomic_store_explicit(&m->least[place], fmax(wanted, c->sure.items[0].score), memory_order_relaxed);
    }
    pthread_mutex_unlock(lock);
}

void npi_search_meet(const npi_search *s, npi_searcher *d, int count, int32_t begin, int32_t end)
{
    _Atomic(double) *wanted = s->mutual->least;
    const float *reach = npi_columns_reach(&s->p->applied.columns);
    approximate_process(d, s, count, begin, end);
    for (int r = 0; r < count; r++) {
        int32_t u = d->node[r], place = d->place[r];
        const real *value = d->value + (size_t)r * (size_t)s->own;
        double along = 2 * (double)d->most[r], slack = d->slack[r];
        for (int32_t i = place < s->own ? place + 1 : begin; i < end; i++) {
            double most = (double)value[i] + slack;
            int for_u = !(most < atomic_load_explicit(&wanted[place], memory_order_relaxed));
            int for_v = !(most < atomic_load_explicit(&wanted[i], memory_order_relaxed));
            if ((for_u || for_v) && eligible(s, u, s->from + i)) {
                double least = (double)value[i] - slack - along * (double)reach[i];
                if (for_u)
                    npi_search_contend(s, place, s->from + i, least, most);
                if (for_v)
                    npi_search_contend(s, i, u, least, most);
            }
        }
    }
}

/* A block of candidates with all that come after them. */
static void meet_block(const npi_search *s, npi_searcher *d, int32_t first)
{
    int count = s->end - first < s->block ? s->end - first : s->block;
    for (int r = 0; r < count; r++) {
        d->node[r] = s->from + first + r;
        d->place[r] = first + r;
    }
    npi_search_meet(s, d, count, first, s->own);
}

typedef struct band_loop {
    const npi_search *s;
    int64_t start; /* block */
} band_loop;

static void search_blocks(const void *arg, int64_t first, int64_t last)
{
    const band_loop *l = arg;
    for (int64_t block = first; block < last; block++)
        (l->s->mutual ? meet_block : search_block)(l->s, &l->s->workspaces[npi_worker()],
                                                   (int32_t)(l->s->begin + (l->start + block) * l->s->block));
}

/* The best of the contenders of some nodes. */
static void decide(const void *arg, int64_t first, int64_t last)
{
    const npi_search *s = arg;
    npi_searcher *d = &s->workspaces[npi_worker()];
    for (int32_t u = (int32_t)first; u < last; u++) {
        const npi_contenders *c = &s->mutual->of[u];
        double least = atomic_load_explicit(&s->mutual->least[u], memory_order_relaxed);
        d->list.count = 0;
        for (int i = 0; i < c->count; i++)
            if (!((double)c->items[i].most < least))
                offer(s, d, (npgnn_pair){u, c->items[i].node}, (npgnn_pair){u, c->items[i].node});
        s->found[u] = write_list(s->out + (size_t)u * (size_t)s->k, s, d);
    }
}

int npi_search_report(const npi_search *s, int64_t done, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    done = done < s->rows ? done : s->rows;
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iteration = (int)done, .iterations = s->rows};
    progress.loss = progress.kl = progress.val_auc = progress.val_ap = (double)NAN;
    return env->progress && env->progress(env->user, &progress)
               ? npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d nodes", (int)done, s->rows)
               : 0;
}

int npi_search_rows(const npi_search *s, npgnn_error *err)
{
    int64_t blocks = s->end > s->begin ? ((int64_t)s->end - s->begin + s->block - 1) / s->block : 0;
    int64_t band = (int64_t)s->threads * BAND;
    for (int64_t start = 0; start < blocks; start += band) {
        int64_t end = start + band < blocks ? start + band : blocks;
        band_loop loop = {s, start};
        if (!s->bounded) /* otherwise nothing is multiplied by BLAS */
            npi_blas_begin(s->threads);
        npi_parallel(s->threads, end - start, 1, search_blocks, &loop);
        if (!s->bounded)
            npi_blas_end(s->threads);
        int code = npi_search_report(s, s->before + end * s->block * s->times, err);
        if (code)
            return code;
    }
    if (s->mutual && atomic_load(&s->mutual->failed))
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while searching");
    return 0;
}

/* Whether all nodes are searched for, in order, with all nodes as partners, by scores that are the same for both. */
static int meets_all(const npi_search *s)
{
    size_t room = (size_t)s->workspaces[0].list.capacity * sizeof(npi_candidate);
    size_t per_node = sizeof(npi_contenders) + FIRST_ROOM * sizeof(npi_contender) + room;
    if (!npi_model_is_process(s->p->model) || s->averaged || s->options.to || s->rows != s->n ||
        (size_t)s->n / (size_t)npi_comm_ranks(s->p->comm) > MUTUAL_BYTES / per_node)
        return 0;
    for (int32_t row = 0; row < s->rows; row++)
        if (npi_search_node(s, row) != row)
            return 0;
    return 1;
}

/* What one process, or one of several that has the embeddings of all nodes, does. */
static int search_alone(npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->p->comm;
    int code = npi_comm_agree(comm, npi_search_rows(s, err), err);
    if (!code && s->mutual)
        npi_parallel(s->threads, s->n, 16, decide, s);
    if (!code) {
        npi_comm_gather_shares(comm, s->found, s->rows, sizeof *s->found);
        npi_comm_gather_shares(comm, s->out, s->rows, (size_t)s->k * sizeof *s->out);
    }
    return code;
}

int npgnn_predictor_top(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                        const npgnn_top_options *options, npgnn_error *err)
{
    npi_search s;
    npgnn_comm *comm = predictor->comm;
    int code = search_new(&s, predictor, (npi_search){.out = out, .found = found, .k = k}, options, err);
    if (!code)
        code = allocate(&s, k < s.n ? k : s.n, err);
    if (!code && s.divided)
        code = npi_divided_new(&s, err);
    if (!code && meets_all(&s))
        code = mutual_new(&s, err);
    code = npi_comm_agree(comm, code, err);
    if (!code) {
        memset(found, 0, (size_t)s.rows * sizeof *found);
        code = !s.divided ? search_alone(&s, err) : s.mutual ? npi_divided_mutual(&s, err) : npi_divided_rows(&s, err);
    }
    search_free(&s);
    return code;
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
    npi_searcher *d = &s->workspaces[npi_worker()];
    size_t n = (size_t)s->n;
    for (int64_t block = first; block < last; block++) {
        int32_t row = (int32_t)block * s->block, count = s->rows - row < s->block ? s->rows - row : s->block;
        for (int32_t r = 0; r < count; r++)
            d->node[r] = d->place[r] = npi_search_node(s, row + r);
        approximate(d, s, count);
        for (size_t i = 0; i < (size_t)count * n; i++)
            l->score[(size_t)row * n + i] = (float)d->value[i];
    }
}

int npi_predictor_rows(float *score, npgnn_predictor *predictor, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    npi_search s;
    const npgnn_top_options options = {.size = sizeof options, .from = nodes, .from_count = count};
    if (predictor->applied.columns.rows.comm)
        return npi_fail(err, NPGNN_E_ARGUMENT, "scores with all nodes are those of one process, and there are %d",
                        npi_comm_ranks(predictor->applied.columns.rows.comm));
    int code = search_new(&s, predictor, (npi_search){.plain = 1, .k = 1}, &options, err);
    if (!code)
        code = allocate(&s, 1, err);
    if (!code) {
        rows_loop loop = {&s, score};
        npi_blas_begin(s.threads);
        npi_parallel(s.threads, (s.rows + s.block - 1) / s.block, 1, score_blocks, &loop);
        npi_blas_end(s.threads);
    }
    search_free(&s);
    return code;
}

/* ---- the best links ---- */

/* The best of the lists of all processes. */
static int share_list(npi_shortlist *list, const npi_search *s, npgnn_error *err)
{
    npgnn_comm *comm = s->p->comm;
    const npgnn_env *env = &s->p->env;
    int rank = npi_comm_rank(comm), ranks = npi_comm_ranks(comm);
    npi_candidate *all = NULL;
    size_t *start = npi_alloc(env, (size_t)ranks + 1, sizeof *start, err);
    int32_t *count = npi_alloc(env, (size_t)ranks, sizeof *count, err);
    int code = npi_comm_agree(comm, start && count ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
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
        list->count = 0;
        for (size_t i = 0; i < start[ranks] / sizeof *all; i++)
            npi_shortlist_offer(list, all[i]);
    }
    npi_free(env, all);
    npi_free(env, start);
    npi_free(env, count);
    return code;
}

int npgnn_predictor_top_links(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                              const npgnn_top_options *options, npgnn_error *err)
{
    npi_search s;
    npgnn_comm *comm = predictor->comm;
    int code = search_new(&s, predictor, (npi_search){.links = 1, .k = k}, options, err);
    if (!code)
        code = allocate(&s, (int64_t)s.n * s.n < k ? (int)((int64_t)s.n * s.n) : k, err);
    if (!code && s.divided)
        code = npi_divided_new(&s, err);
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code = s.divided ? npi_divided_rows(&s, err) : npi_comm_agree(comm, npi_search_rows(&s, err), err);
    npi_shortlist *best = code ? NULL : &s.workspaces[0].list;
    for (int t = 1; !code && t < s.threads; t++)
        for (int i = 0; i < s.workspaces[t].list.count; i++)
            npi_shortlist_offer(best, s.workspaces[t].list.items[i]);
    if (!code && comm)
        code = share_list(best, &s, err);
    if (!code && s.divided)
        code = npi_divided_write(out, found, &s, best, err);
    else if (!code)
        *found = write_list(out, &s, &s.workspaces[0]);
    search_free(&s);
    return code;
}
