/* Whether a search scores all pairs or retrieves candidates, and how good the candidates are. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "search/retrieve.h"

int npgnn_predictor_retrieves(const npgnn_predictor *p)
{
    return p->model->kind->retrieve != NULL && !p->applied.columns.rows.comm;
}

int npi_search_candidates(int32_t *out, const npgnn_predictor *p, int32_t rows, const npgnn_top_options *o,
                          npgnn_error *err)
{
    int wanted = o->search == NPGNN_SEARCH_CANDIDATES, is_divided = p->applied.columns.rows.comm != NULL;
    *out = 0;
    if (o->candidates < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the number of candidates must not be negative, got %d", o->candidates);
    if ((int)o->search < NPGNN_SEARCH_AUTO || (int)o->search > NPGNN_SEARCH_CANDIDATES)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no kind of search %d", (int)o->search);
    if (wanted && !p->model->kind->retrieve)
        return npi_fail(err, NPGNN_E_ARGUMENT, "a network has no candidates to search among: its searches are exact");
    if (wanted && is_divided)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "several processes cannot search among candidates: search in one process");
    if (!p->model->kind->retrieve || is_divided || o->search == NPGNN_SEARCH_EXACT)
        return 0;
    if (wanted || (int64_t)rows * p->graph->n > NPGNN_EXACT_PAIRS)
        *out = o->candidates > 0 ? o->candidates : NPI_CANDIDATES;
    return 0;
}

/* ---- recall ---- */

typedef struct check {
    int32_t *node; /* (count) searched nodes */
    int32_t count;
    int32_t k;
    npgnn_link *exact, *candidates; /* (count, k) */
    int32_t *exact_found, *found;   /* (count) */
} check;

static void check_free(const npgnn_env *env, check *c)
{
    npi_free(env, c->node);
    npi_free(env, c->exact);
    npi_free(env, c->candidates);
    npi_free(env, c->exact_found);
    npi_free(env, c->found);
}

/* Searched nodes, evenly spread over all from a random one on. */
static int check_new(check *c, const npgnn_predictor *p, int32_t k, const npgnn_top_options *o, npgnn_error *err)
{
    const npgnn_env *env = &p->env;
    int32_t rows = o->from ? o->from_count : p->graph->n;
    *c = (check){.count = rows < NPGNN_CHECKED_NODES ? rows : NPGNN_CHECKED_NODES,
                 .k = k < NPGNN_CHECKED_BEST ? k : NPGNN_CHECKED_BEST};
    size_t count = (size_t)c->count, all = count * (size_t)c->k;
    c->node = npi_alloc(env, count, sizeof *c->node, err);
    c->exact = npi_alloc(env, all, sizeof *c->exact, err);
    c->candidates = npi_alloc(env, all, sizeof *c->candidates, err);
    c->exact_found = npi_alloc(env, count, sizeof *c->exact_found, err);
    c->found = npi_alloc(env, count, sizeof *c->found, err);
    if (!c->node || !c->exact || !c->candidates || !c->exact_found || !c->found)
        return NPGNN_E_MEMORY;
    npi_rng rng = npi_rng_make(p->seed, NPI_RNG_RETRIEVE, 3);
    int64_t start = rows > 0 ? (int64_t)npi_rng_below(&rng, (uint64_t)rows) : 0;
    for (int32_t i = 0; i < c->count; i++) {
        int64_t row = (start + (int64_t)i * rows / c->count) % rows;
        c->node[i] = o->from ? o->from[row] : (int32_t)row;
    }
    return 0;
}

static int search_sample(npgnn_link *out, int32_t *found, const check *c, npgnn_predictor *p, npgnn_top_options o,
                         npgnn_error *err)
{
    npi_search s;
    int32_t rows = o.from ? o.from_count : p->graph->n;
    o.from = c->node;
    o.from_count = c->count;
    int code = npi_search_new(&s, p, (npi_search){.out = out, .found = found, .k = c->k}, 0, &o, err);
    s.checking = rows;
    if (!code)
        code = npi_search_run(&s, err);
    npi_search_free(&s);
    return code;
}

/* What links are ordered by. */
static float value_of(const npgnn_link *link, const npgnn_predictor *p, npgnn_rank rank)
{
    return p->samples == 0        ? link->prediction.score
           : rank == NPGNN_BY_LOW ? link->prediction.low
                                  : link->prediction.probability;
}

/* How many of the best of a node are among the candidates; others that are as good count. */
static int32_t count_hits(const check *c, int32_t i, const npgnn_predictor *p, npgnn_rank rank)
{
    const npgnn_link *exact = c->exact + (size_t)i * (size_t)c->k, *mine = c->candidates + (size_t)i * (size_t)c->k;
    int32_t hits = 0, all = c->exact_found[i];
    float last = all > 0 ? value_of(&exact[all - 1], p, rank) : 0;
    for (int32_t j = 0; j < c->found[i]; j++)
        hits += value_of(&mine[j], p, rank) >= last;
    return hits < all ? hits : all;
}

/* The share of hits with Wilson's interval. Those of a node come or fail together: they count as fewer, by the ratio of the
 * variance of the share between nodes to that of independent hits, and as half as many at least. */
static void measure(npgnn_search_info *out, const check *c, const npgnn_predictor *p, npgnn_rank rank)
{
    const double Z = 1.96;
    double hits = 0, all = 0, square = 0;
    for (int32_t i = 0; i < c->count; i++) {
        hits += count_hits(c, i, p, rank);
        all += c->exact_found[i];
    }
    if (all <= 0)
        return;
    double share = hits / all;
    for (int32_t i = 0; i < c->count; i++) {
        double rest = count_hits(c, i, p, rank) - share * c->exact_found[i];
        square += rest * rest;
    }
    double independent = share * (1 - share) * all, design = independent > 0 ? square / independent : 2;
    double n = all / (design > 2 ? design : 2);
    double middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
    double apart = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
    out->recall = share;
    out->low = middle - apart < share ? middle - apart : share;
    out->high = middle + apart > share ? fmin(middle + apart, 1) : share;
    out->checked = c->count;
    out->best = c->k;
}

int npi_search_check(npgnn_search_info *out, npgnn_predictor *p, int32_t k, const npgnn_top_options *options,
                     npgnn_error *err)
{
    check c;
    npgnn_top_options o = *options;
    o.unchecked = 1;
    o.info = NULL;
    o.min_probability = 0; /* recall is of the best, however improbable */
    int code = check_new(&c, p, k, &o, err);
    o.search = NPGNN_SEARCH_EXACT;
    if (!code)
        code = search_sample(c.exact, c.exact_found, &c, p, o, err);
    o.search = NPGNN_SEARCH_CANDIDATES;
    if (!code)
        code = search_sample(c.candidates, c.found, &c, p, o, err);
    if (!code)
        measure(out, &c, p, o.rank);
    if (!code && out->checked > 0 && !options->info) /* who asks for it says it in other words */
        npi_log(
            &p->env,
            "candidates: %d per node; they contain %.1f %% (%.1f to %.1f) of the %d best, by exact search of %d nodes",
            out->candidates, 100 * out->recall, 100 * out->low, 100 * out->high, out->best, out->checked);
    check_free(&p->env, &c);
    return code;
}
