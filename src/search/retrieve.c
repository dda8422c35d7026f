#include "search/retrieve.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/structure.h"
#include "linalg/select.h"

enum {
    STEP_TWO = 1,          /* nodes per candidate that each ranking of the second step gives, */
    STEP_THREE = 2,        /* of the third, */
    NEAREST = 1,           /* and those with the nearest vectors, */
    LOOKED_AT = 8,         /* so many of which are looked at */
    LEAST_LOOKED = 2048,   /* at least */
    MORE_JUDGED = 8,       /* pairs that are judged besides those that are wanted, */
    JUDGED = 2,            /* and pairs per wanted one where walks are estimates */
    SHARING = 2,           /* candidates per node that is chosen for the features that it shares, */
    MOST_SHARED = 1 << 16, /* found along so many entries of features */
    PER_RESULT = 3         /* candidates per wanted partner, at least */
};

/* How far the score of a candidate may be from its judgement, where some walks were not followed. The best of all pairs are
 * sought with it; for the best of a node, a number of candidates is judged in any case. */
#define SCORE_SLACK 0.5

/* A candidate with its score from rows and what it is ordered by: that or, with draws, the mean probability or its lower end,
 * and `value` is the largest score of a draw. */
typedef struct scored {
    real value, order;
    int32_t node;
} scored;

typedef struct workspace {
    npi_process_workspace process; /* first, since npi_process_judge takes it for the whole */
    npi_vicinity near;
    npi_probe probe;
    real query[NPI_VECTOR_WIDTH];
    float *key;               /* (n) what nodes of a source are chosen by */
    real *fit;                /* (3, most_picked) what the picked nodes are chosen by */
    unsigned char *is_picked; /* (n) 1 for nodes in: */
    int32_t *picked;          /* (picked_count) */
    int32_t picked_count, most_picked;
    scored *scored; /* (picked_count) */
    /* used only where features are compared to the letter (evidence/tfidf.h): */
    float *overlap;   /* (n) T_u · T_v of the nodes in `sharing`, 0 of the others */
    int32_t *sharing; /* (sharing_count) */
    int32_t sharing_count;
} workspace;

/* ---- memory ---- */

static void workspace_free(void *given, const npi_scorer *s)
{
    const npgnn_env *env = &s->p->env;
    workspace *w = given;
    if (!w)
        return;
    npi_process_workspace_clear(&w->process, s);
    npi_vicinity_free(env, &w->near);
    npi_probe_free(env, &w->probe);
    npi_free(env, w->key);
    npi_free(env, w->fit);
    npi_free(env, w->is_picked);
    npi_free(env, w->picked);
    npi_free(env, w->scored);
    npi_free(env, w->overlap);
    npi_free(env, w->sharing);
    npi_free(env, w);
}

/* Whether the evidence compares features to the letter. */
static int has_overlap(const npi_columns *e)
{
    return e->plan.columns > NPI_COLUMNS && e->plan.operation[NPI_COLUMN_OVERLAP] == NPI_OVERLAP &&
           e->reduced->tfidf.by_column.ptr;
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    const npi_columns *e = &s->p->applied.columns;
    int32_t wanted = s->wanted, looked = LOOKED_AT * wanted > LEAST_LOOKED ? LOOKED_AT * wanted : LEAST_LOOKED;
    size_t n = (size_t)e->n;
    workspace *w = *out = npi_alloc(env, 1, sizeof *w, err);
    int code = w ? npi_process_workspace_fill(&w->process, s, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_vicinity_new(&w->near, e->a, e->inverse, e->n, env, err);
    if (!code)
        code = npi_probe_new(&w->probe, s->clusters, looked < e->n ? looked : e->n, env, err);
    if (code)
        return code;
    w->most_picked = (2 * STEP_TWO + 2 * STEP_THREE + NEAREST) * wanted + wanted / SHARING + NPI_HUBS + NPI_LATEST;
    if (has_overlap(e)) {
        w->overlap = npi_alloc(env, n, sizeof *w->overlap, err);
        w->sharing = npi_resize(env, NULL, n + 1, sizeof *w->sharing, err);
        if (!w->overlap || !w->sharing)
            return NPGNN_E_MEMORY;
    }
    w->key = npi_resize(env, NULL, n, sizeof *w->key, err);
    w->fit = npi_resize(env, NULL, 3 * (size_t)w->most_picked, sizeof *w->fit, err);
    w->is_picked = npi_alloc(env, n, 1, err);
    w->picked = npi_resize(env, NULL, (size_t)w->most_picked, sizeof *w->picked, err);
    w->scored = npi_resize(env, NULL, (size_t)w->most_picked, sizeof *w->scored, err);
    return w->key && w->fit && w->is_picked && w->picked && w->scored ? 0 : NPGNN_E_MEMORY;
}

/* ---- sources ---- */

static int is_candidate(const npi_search *s, const workspace *w, int32_t v)
{
    npgnn_pair pair = npi_search_direct(s, w->near.node, v);
    return npi_search_asks(s, pair.u, pair.v) && (s->options.known || !w->near.of[v].is_neighbor);
}

static void pick(workspace *w, int32_t node)
{
    assert(w->is_picked[node] || w->picked_count < w->most_picked);
    if (!w->is_picked[node]) {
        w->is_picked[node] = 1;
        w->picked[w->picked_count++] = node;
    }
}

/* Picks the nodes of a list (count) with the largest keys; those with -∞ are no candidates. */
static void pick_best(workspace *w, const int32_t *list, int32_t count, int32_t most)
{
    npi_selection best;
    npi_selection_begin(&best, most);
    for (int32_t i = 0; i < count; i++)
        npi_selection_count(&best, w->key[i]);
    npi_selection_decide(&best);
    for (int32_t i = 0; i < count; i++)
        if (w->key[i] > -INFINITY && npi_selection_takes(&best, w->key[i]))
            pick(w, list[i]);
}

/* Picks nodes that two or three steps reach: by P^t_uv, and by P^t_uv / d_v. */
static void pick_walks(workspace *w, const npi_search *s, int steps, int32_t most)
{
    const npi_vicinity *near = &w->near;
    const int32_t *list = steps == 2 ? near->second : near->third;
    int32_t count = steps == 2 ? near->second_count : near->third_count;
    for (int lift = 0; lift < 2; lift++) {
        for (int32_t i = 0; i < count; i++) {
            int32_t v = list[i];
            float inverse = (float)near->inverse[v];
            /* `two` is P²_uv, `three` P³_uv / d_v */
            float walks =
                steps == 2 ? near->of[v].two * (lift ? inverse : 1) : near->of[v].three / (lift ? 1 : inverse);
            w->key[i] = is_candidate(s, w, v) ? walks : -INFINITY;
        }
        pick_best(w, list, count, most);
    }
}

static void pick_nearest(workspace *w, const npi_search *s, int32_t most)
{
    int32_t count = npi_clusters_probe(&w->probe, s->scorer.clusters, w->query);
    for (int32_t i = 0; i < count; i++)
        w->key[i] = is_candidate(s, w, w->probe.node[i]) ? (float)w->probe.product[i] : -INFINITY;
    pick_best(w, w->probe.node, count, most);
}

static void pick_others(workspace *w, const npi_search *s)
{
    const npi_retriever *r = s->p->retriever;
    int32_t latest = s->n - NPI_LATEST > r->vectors.n ? s->n - NPI_LATEST : r->vectors.n;
    for (int i = 0; i < r->hubs; i++)
        if (is_candidate(s, w, r->hub[i]))
            pick(w, r->hub[i]);
    for (int32_t v = latest; v < s->n; v++)
        if (is_candidate(s, w, v))
            pick(w, v);
}

/* Nodes of the longest lists of features that are followed: a power of two, such that the lists are MOST_SHARED in sum. */
static int64_t longest_list(const npi_csr *rows, const npi_csr *lists, int32_t node)
{
    int64_t longest = 1;
    for (int64_t next = 2; next <= MOST_SHARED; next *= 2) {
        int64_t sum = 0;
        for (int64_t p = rows->ptr[node]; p < rows->ptr[node + 1]; p++) {
            int64_t size = lists->ptr[rows->col[p] + 1] - lists->ptr[rows->col[p]];
            sum += size <= next ? size : 0;
        }
        if (sum > MOST_SHARED)
            break;
        longest = next;
    }
    return longest;
}

/* Picks the nodes that share the most features, T_u · T_v, rare ones above all: common features have long lists. */
static void pick_sharing(workspace *w, const npi_search *s, int32_t most)
{
    if (!w->overlap)
        return;
    const npi_tfidf *t = &s->p->applied.columns.reduced->tfidf;
    const npi_csr *rows = &t->rows, *lists = &t->by_column;
    int32_t u = w->near.node;
    int64_t longest = longest_list(rows, lists, u);
    for (int64_t p = rows->ptr[u]; p < rows->ptr[u + 1]; p++) {
        int64_t first = lists->ptr[rows->col[p]], last = lists->ptr[rows->col[p] + 1];
        for (int64_t q = first; q < last && last - first <= longest; q++) {
            int32_t v = lists->col[q];
            w->sharing[w->sharing_count] = v; /* stays if it is new */
            w->sharing_count += w->overlap[v] == 0;
            w->overlap[v] += rows->val[p] * lists->val[q];
        }
    }
    for (int32_t i = 0; i < w->sharing_count; i++) {
        int32_t v = w->sharing[i];
        w->key[i] = is_candidate(s, w, v) ? w->overlap[v] : -INFINITY;
        w->overlap[v] = 0;
    }
    pick_best(w, w->sharing, w->sharing_count, most);
    w->sharing_count = 0;
}

/* ---- from many to few ---- */

/* Keeps the best of the picked nodes by the linear fit, w · walks(u, v) + q · x_v. Nodes without a vector stay. */
static void keep_best(workspace *w, const npi_search *s, int32_t most)
{
    const npi_vectors *x = &s->p->retriever->vectors;
    const npi_columns *e = &s->p->applied.columns;
    int32_t count = w->picked_count, kept = 0;
    real *fit = w->fit, *lift2 = fit + count, *lift3 = lift2 + count; /* (count) each */
    double links = (double)e->a->ptr[e->n];
    if (count <= most)
        return;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = w->picked[i];
        lift2[i] = (real)(links * (double)w->near.of[v].two * e->inverse[v]);
        lift3[i] = (real)(links * (double)w->near.of[v].three);
    }
    npi_kernels_best()->slog(lift2, 2 * (int64_t)count);
    npi_vectors_products(fit, x, w->query, w->picked, count);
    npi_selection best;
    npi_selection_begin(&best, most);
    for (int32_t i = 0; i < count; i++) {
        float common = (float)w->near.of[w->picked[i]].shared, jaccard = 0;
        if (common > 0)
            npi_structure_finish(&common, &jaccard, e, w->near.node, w->picked[i]);
        fit[i] +=
            x->walks[0] * (real)common + x->walks[1] * (real)jaccard + x->walks[2] * lift2[i] + x->walks[3] * lift3[i];
        npi_selection_count(&best, (float)fit[i]);
    }
    npi_selection_decide(&best);
    for (int32_t i = 0; i < count; i++) {
        int32_t v = w->picked[i];
        if (npi_selection_takes(&best, (float)fit[i]) || v >= x->n)
            w->picked[kept++] = v;
        else
            w->is_picked[v] = 0;
    }
    w->picked_count = kept;
}

/* Scores the picked nodes from rows. */
static void score_picked(workspace *w, const npi_search *s)
{
    const npi_applied *a = &s->p->applied;
    npi_columns_workspace *columns = &w->process.columns;
    int heads, range = columns->range;
    const npi_head *head = npi_predictor_heads(&heads, s->p);
    for (int32_t first = 0; first < w->picked_count; first += range) {
        int some = w->picked_count - first < range ? w->picked_count - first : range;
        npi_sums sums[NPI_ONE_RANGE] = {0};
        npi_columns_near(w->process.evidence, columns, &a->columns, &w->near, w->picked + first, some);
        npi_process_standardize_columns(w->process.evidence, a->process, a->columns.has_features, (size_t)some);
        for (int h = 0; h < heads; h++) {
            npi_head_scores_of_columns(w->process.score, &head[h], w->process.evidence, some, some);
            for (int i = 0; i < some; i++) {
                real score = w->process.score[i];
                scored *to = &w->scored[first + i];
                *to = (scored){h > 0 && score < to->value ? to->value : score, score, w->picked[first + i]};
                if (s->averaged)
                    npi_sums_add(&sums[i], npi_predictor_calibration(s->p, h), (float)score);
            }
        }
        for (int i = 0; s->averaged && i < some; i++) {
            npgnn_prediction mean = npi_prediction_mean(&sums[i], heads);
            w->scored[first + i].order = (real)(s->options.rank == NPGNN_BY_LOW ? mean.low : mean.probability);
        }
    }
}

/* The best first, a NaN before all, then by node. */
static int by_order(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->order < y->order || (isnan(y->order) && !isnan(x->order)))
        return 1;
    if (x->order > y->order || (isnan(x->order) && !isnan(y->order)))
        return -1;
    return (x->node > y->node) - (x->node < y->node);
}

static real narrow(int32_t *count, npi_searcher *d, const npi_search *s)
{
    workspace *w = d->workspace;
    int32_t wanted = s->scorer.wanted;
    for (int32_t i = 0; i < w->picked_count; i++) /* of the node before */
        w->is_picked[w->picked[i]] = 0;
    w->picked_count = 0;
    npi_vicinity_move(&w->near, d->block.node[0]);
    npi_vectors_query(w->query, &s->p->retriever->vectors, &s->p->applied.columns, d->block.node[0]);
    pick_walks(w, s, 2, STEP_TWO * wanted);
    pick_walks(w, s, 3, STEP_THREE * wanted);
    pick_nearest(w, s, NEAREST * wanted);
    pick_others(w, s);
    keep_best(w, s, wanted);
    pick_sharing(w, s, wanted / SHARING);
    score_picked(w, s);
    qsort(w->scored, (size_t)w->picked_count, sizeof *w->scored, by_order);
    int64_t judged = w->near.is_estimated ? (int64_t)JUDGED * s->k + MORE_JUDGED : (int64_t)s->k + MORE_JUDGED / 4;
    *count = !s->links && judged < w->picked_count ? (int32_t)judged : w->picked_count;
    for (int32_t i = 0; i < *count; i++) {
        d->candidate[i] = w->scored[i].node;
        d->block.value[i] = w->scored[i].value;
    }
    /* the best of a node: all of these are judged; of all pairs, those that may reach the worst that is kept */
    d->block.slack[0] = s->links ? SCORE_SLACK : (double)INFINITY;
    d->block.along[0] = 0;
    return -(real)INFINITY;
}

/* ---- the scorer ---- */

static void scorer_free(npi_scorer *s)
{
    npi_clusters_free(&s->p->env, &s->own_clusters);
}

int npi_scorer_retrieved(npi_scorer *out, npgnn_predictor *p, const npi_scorer_use *use, npgnn_error *err)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .judge = npi_process_judge,
                                         .narrow = narrow,
                                         .free = scorer_free};
    enum { BAND = 64 };
    *out = (npi_scorer){.kind = &kind, .p = p, .candidates = p->graph->n, .block = 1, .band = BAND};
    int32_t least = use->k < p->graph->n / PER_RESULT ? PER_RESULT * use->k : p->graph->n;
    out->wanted = use->candidates > least ? use->candidates : least;
    out->wanted = out->wanted < p->graph->n ? out->wanted : p->graph->n;
    int code = npi_retriever_prepare(p, err);
    if (code)
        return code;
    const npi_vectors *x = &p->retriever->vectors;
    out->clusters = &p->retriever->clusters;
    if (use->to) { /* clusters of these alone: those of all nodes would have few of them */
        code = npi_clusters_new(&out->own_clusters, x->row, x->width, use->to, use->to_count, p->seed, &p->env, err);
        out->clusters = &out->own_clusters;
    }
    return code;
}

/* ---- the retriever ---- */

static void retriever_free(const npgnn_env *env, npi_retriever *r)
{
    if (r) {
        npi_vectors_free(env, &r->vectors);
        npi_clusters_free(env, &r->clusters);
    }
    npi_free(env, r);
}

static void find_hubs(npi_retriever *r, const npi_csr *a)
{
    npi_candidate items[NPI_HUBS];
    npi_shortlist best = {items, 0, NPI_HUBS};
    for (int32_t i = 0; i < a->rows; i++)
        npi_shortlist_offer(&best, (npi_candidate){(double)(a->ptr[i + 1] - a->ptr[i]), 0, i});
    npi_shortlist_sort(&best);
    for (int i = 0; i < best.count; i++)
        r->hub[r->hubs++] = (int32_t)best.items[i].id;
}

int npi_retriever_prepare(npgnn_predictor *p, npgnn_error *err)
{
    if (p->retriever)
        return 0;
    npi_retriever *r = npi_alloc(&p->env, 1, sizeof *r, err);
    int code = r ? npi_vectors_new(&r->vectors, p, NPI_VECTORS_SEARCH, err) : NPGNN_E_MEMORY;
    if (!code)
        code =
            npi_clusters_new(&r->clusters, r->vectors.row, r->vectors.width, NULL, p->graph->n, p->seed, &p->env, err);
    if (code) {
        retriever_free(&p->env, r);
        return code;
    }
    find_hubs(r, &p->graph->a);
    p->retriever = r;
    p->retriever_free = retriever_free;
    return 0;
}
