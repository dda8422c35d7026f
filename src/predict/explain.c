/* Explains predictions of a process: what each column of evidence contributes to the log-odds of a pair
 * (predict/attribution.h), the facts behind the columns (which neighbours and which features two nodes share, how many
 * walks join them), and both in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "base/sort.h"
#include "graph/negative.h"
#include "predict/attribution.h"
#include "predict/predictor.h"

enum {
    MAX_NON_LINKS = 1024, /* whose mean evidence is the baseline */
    SHOWN = 3,            /* names per reason */
    MAX_NAME = 40         /* bytes of a name in a reason */
};
#define WORTH_SAYING 0.1 /* of the largest contribution: smaller ones are not put into words, */
#define LEAST_SAID 0.05  /* nor are those that contribute less than this */

const char *npgnn_reason_name(npgnn_reason reason)
{
    static const char *const names[NPGNN_REASONS] = {
#define NPGNN_X(name, text) text,
        NPGNN_REASON_LIST(NPGNN_X)
#undef NPGNN_X
    };
    return (unsigned)reason < NPGNN_REASONS ? names[reason] : "unknown reason";
}

/* ---- what is prepared once ---- */

/* Nodes or feature columns in the order of a key. */
typedef struct ranking {
    uint64_t *keys; /* (2, capacity) key and item; scratch */
    int32_t *items; /* (capacity) */
    size_t count, capacity;
} ranking;

typedef struct npi_explainer {
    npgnn_env env;
    npi_columns_workspace workspace;
    double average[NPI_ALL_COLUMNS]; /* standardised evidence of an average non-link */
    int32_t *holders;      /* (f) how many nodes have a feature column; -1: not one that a node has or has not */
    unsigned char *marked; /* (n) scratch, 0 between calls */
    npgnn_contribution columns[NPI_ALL_COLUMNS];
    ranking neighbors, features; /* of the last explanation */
    char text[1024];
    /* where several processes have divided the evidence, what npgnn_predictor_gather has gathered: */
    uint64_t *pairs; /* (gathered) in ascending order: smaller node, larger node */
    float *evidence; /* (gathered, columns) */
    size_t gathered;
} npi_explainer;

void npi_explainer_free(npi_explainer *x)
{
    if (!x)
        return;
    npgnn_env env = x->env;
    npi_columns_workspace_free(&env, &x->workspace);
    npi_free(&env, x->holders);
    npi_free(&env, x->marked);
    npi_free(&env, x->neighbors.keys);
    npi_free(&env, x->neighbors.items);
    npi_free(&env, x->features.keys);
    npi_free(&env, x->features.items);
    npi_free(&env, x->pairs);
    npi_free(&env, x->evidence);
    npi_free(&env, x);
}

/* evidence (count, columns) of these pairs. Where it is divided, processes compute it together, and all get it: all
 * return the same code. */
static int find_evidence(float *evidence, const npi_columns *columns, const npgnn_pair *pairs, size_t count,
                         npgnn_error *err)
{
    npgnn_comm *comm = columns->rows.comm;
    int rank = npi_comm_rank(comm);
    size_t begin = (size_t)npi_comm_share_start(comm, (int64_t)count, rank), width = (size_t)columns->plan.columns;
    size_t end = (size_t)npi_comm_share_start(comm, (int64_t)count, rank + 1);
    int code = npi_columns_pairs(evidence + begin * width, columns, pairs + begin, end - begin, err);
    if (!code)
        npi_comm_gather_shares(comm, evidence, (int64_t)count, width * sizeof *evidence);
    return code;
}

/* average = mean standardised evidence over random non-links. A complete graph has none: there it is that of an average
 * pair of the corpus, which is 0. */
static int average_non_link(npi_explainer *x, const npgnn_predictor *p, npgnn_error *err)
{
    uint64_t without = npi_graph_count_pairs(p->graph) - (uint64_t)p->graph->m;
    size_t count = (without + 1) / 2 < MAX_NON_LINKS ? (size_t)((without + 1) / 2) : MAX_NON_LINKS;
    if (count == 0)
        return 0;
    size_t columns = (size_t)p->applied.columns.plan.columns;
    npgnn_pair *pairs = npi_alloc(&x->env, count, sizeof *pairs, err);
    float *evidence = npi_alloc(&x->env, count * columns, sizeof *evidence, err);
    npgnn_pair *out[2] = {pairs, NULL};
    const size_t counts[2] = {count, 0};
    int code =
        pairs && evidence ? npi_graph_draw_non_links(out, p->graph, counts, p->seed, &x->env, err) : NPGNN_E_MEMORY;
    code = npi_comm_agree(p->applied.columns.rows.comm, code, err);
    if (!code)
        code = find_evidence(evidence, &p->applied.columns, pairs, count, err);
    if (!code) {
        npi_process_standardize(evidence, p->applied.process, p->applied.columns.has_features, count);
        for (size_t i = 0; i < count * columns; i++)
            x->average[i % columns] += (double)evidence[i] / (double)count;
    }
    npi_free(&x->env, pairs);
    npi_free(&x->env, evidence);
    return code;
}

/* The column of the table that became feature column c, NULL where the features are no table. */
static const npi_encoded *encoded_column(const npi_features *x, int32_t c)
{
    for (int32_t i = 0; x->encoding && i < x->encoding->count; i++) {
        const npi_encoded *column = &x->encoding->columns[i];
        if (c >= column->first && c < column->first + column->width)
            return column;
    }
    return NULL;
}

/* Whether two nodes can have a feature column in common: a word, a category or a flag; without an encoding, a column
 * that is never negative (`negative` 0) and 0 for at least half of the n nodes. */
static int is_shareable(const npi_features *x, int32_t c, int32_t holders, int negative)
{
    const npi_encoded *column = encoded_column(x, c);
    if (column)
        return column->kind == NPI_KIND_TEXT || column->kind == NPI_KIND_CATEGORY || column->kind == NPI_KIND_FLAG;
    return !negative && (int64_t)holders * 2 <= x->n;
}

static int count_holders(npi_explainer *e, const npi_features *x, npgnn_error *err)
{
    unsigned char *negative = npi_alloc(&e->env, (size_t)x->f, 1, err);
    e->holders = npi_alloc(&e->env, (size_t)x->f, sizeof *e->holders, err);
    if (!negative || !e->holders) {
        npi_free(&e->env, negative);
        return NPGNN_E_MEMORY;
    }
    for (int32_t i = 0; i < x->n; i++) {
        int64_t first = x->dense ? 0 : x->x.ptr[i], last = x->dense ? x->f : x->x.ptr[i + 1];
        for (int64_t p = first; p < last; p++) {
            int32_t c = x->dense ? (int32_t)p : x->x.col[p];
            real value = x->dense ? x->dense[(int64_t)i * x->f + p] : x->x.val ? x->x.val[p] : 1;
            e->holders[c] += value != 0;
            negative[c] |= value < 0;
        }
    }
    for (int32_t c = 0; c < x->f; c++)
        if (!is_shareable(x, c, e->holders[c], negative[c]))
            e->holders[c] = -1;
    npi_free(&e->env, negative);
    return 0;
}

/* Where the evidence is divided: collective, and all return the same code. */
static int explainer_new(npi_explainer **out, npgnn_predictor *p, npgnn_error *err)
{
    npgnn_comm *comm = p->applied.columns.rows.comm;
    int code = comm ? 0 : npi_applied_complete(&p->applied, err);
    if (code)
        return code;
    npi_explainer *x = npi_alloc(&p->env, 1, sizeof *x, err);
    if (x) {
        x->env = p->env;
        x->marked = npi_alloc(&p->env, (size_t)p->graph->n, 1, err);
    }
    code = x && x->marked ? 0 : NPGNN_E_MEMORY;
    if (!code && !comm) /* otherwise gathered evidence takes its place */
        code = npi_columns_workspace_new(&x->workspace, &p->applied.columns, 0, err);
    if (!code)
        code = count_holders(x, p->graph->x, err);
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code = average_non_link(x, p, err);
    if (code)
        npi_explainer_free(x);
    else
        *out = x;
    return code;
}

void npi_explainer_follow(npgnn_predictor *p)
{
    npi_explainer *x = p->explainer;
    if (!x)
        return;
    npi_columns_workspace_free(&x->env, &x->workspace);
    npi_free(&x->env, x->marked);
    x->marked = npi_alloc(&x->env, (size_t)p->graph->n, 1, NULL);
    if (!x->marked || npi_columns_workspace_new(&x->workspace, &p->applied.columns, 0, NULL)) {
        npi_explainer_free(x);
        p->explainer = NULL;
    }
}

/* ---- facts ---- */

/* An empty list of at most `most` items. */
static int ranking_begin(ranking *list, size_t most, const npgnn_env *env, npgnn_error *err)
{
    list->count = 0;
    if (most <= list->capacity)
        return 0;
    uint64_t *keys = npi_resize(env, list->keys, 4 * most, sizeof *keys, err); /* twice as many as now are needed */
    if (!keys)
        return NPGNN_E_MEMORY;
    list->keys = keys;
    int32_t *items = npi_resize(env, list->items, 2 * most, sizeof *items, err);
    if (!items)
        return NPGNN_E_MEMORY;
    list->items = items;
    list->capacity = 2 * most;
    return 0;
}

static void ranking_add(ranking *list, int32_t item, int64_t key)
{
    list->keys[list->count++] = (uint64_t)key << 32 | (uint32_t)item;
}

/* Orders the items by key, then by number. Returns how many there are. */
static int32_t ranking_end(ranking *list)
{
    if (list->count > 1)
        npi_u64_sort(list->keys, list->keys + list->capacity, list->count);
    for (size_t i = 0; i < list->count; i++)
        list->items[i] = (int32_t)(list->keys[i] & UINT32_MAX);
    return (int32_t)list->count;
}

/* The neighbours that two nodes share, those with the fewest links first; and the number of walks of three steps
 * between them, Σ over neighbours x of u of | N(x) ∩ N(v) |. */
static int find_neighbors(npgnn_explanation *out, npi_explainer *x, const npi_csr *a, npgnn_pair pair, npgnn_error *err)
{
    int64_t degree_u = a->ptr[pair.u + 1] - a->ptr[pair.u], degree_v = a->ptr[pair.v + 1] - a->ptr[pair.v];
    int64_t walks = 0;
    int code = ranking_begin(&x->neighbors, (size_t)(degree_u < degree_v ? degree_u : degree_v), &x->env, err);
    if (code)
        return code;
    for (int64_t p = a->ptr[pair.v]; p < a->ptr[pair.v + 1]; p++)
        x->marked[a->col[p]] = 1;
    for (int64_t p = a->ptr[pair.u]; p < a->ptr[pair.u + 1]; p++) {
        int32_t middle = a->col[p];
        if (x->marked[middle])
            ranking_add(&x->neighbors, middle, a->ptr[middle + 1] - a->ptr[middle]);
        for (int64_t q = a->ptr[middle]; q < a->ptr[middle + 1]; q++)
            walks += x->marked[a->col[q]];
    }
    for (int64_t p = a->ptr[pair.v]; p < a->ptr[pair.v + 1]; p++)
        x->marked[a->col[p]] = 0;
    out->neighbor_count = ranking_end(&x->neighbors);
    out->neighbors = x->neighbors.items;
    out->walks = (double)walks;
    return 0;
}

/* The value of a feature of a node. O(entries of the row). */
static real feature_of(const npi_features *x, int32_t node, int32_t column)
{
    if (x->dense)
        return x->dense[(int64_t)node * x->f + column];
    for (int64_t p = x->x.ptr[node]; p < x->x.ptr[node + 1]; p++)
        if (x->x.col[p] == column)
            return x->x.val ? x->x.val[p] : 1;
    return 0;
}

/* A missing flag has a value between 0 and 1: then nobody knows whether the node has it. */
static int is_missing(const npi_features *x, int32_t node, int32_t column)
{
    const npi_encoded *table = encoded_column(x, column);
    return table && table->kind == NPI_KIND_FLAG && table->flags_missing &&
           feature_of(x, node, table->first + table->width - 1) != 0;
}

/* The feature columns that two nodes share, rarest first. */
static int find_features(npgnn_explanation *out, npi_explainer *e, const npi_features *x, npgnn_pair pair,
                         npgnn_error *err)
{
    int64_t first = x->dense ? 0 : x->x.ptr[pair.u], last = x->dense ? x->f : x->x.ptr[pair.u + 1];
    int code = ranking_begin(&e->features, (size_t)(last - first), &e->env, err);
    int64_t q = x->dense ? 0 : x->x.ptr[pair.v]; /* columns ascend in both rows */
    for (int64_t p = first; !code && p < last; p++) {
        int32_t c = x->dense ? (int32_t)p : x->x.col[p];
        int both;
        if (x->dense) {
            both = x->dense[(int64_t)pair.u * x->f + c] != 0 && x->dense[(int64_t)pair.v * x->f + c] != 0;
        } else {
            while (q < x->x.ptr[pair.v + 1] && x->x.col[q] < c)
                q++;
            both = q < x->x.ptr[pair.v + 1] && x->x.col[q] == c;
        }
        if (both && e->holders[c] >= 0 && !is_missing(x, pair.u, c) && !is_missing(x, pair.v, c))
            ranking_add(&e->features, c, e->holders[c]);
    }
    out->feature_count = ranking_end(&e->features);
    out->features = e->features.items;
    return code;
}

/* ---- words ---- */

typedef struct words_writer {
    char *text;
    size_t size, used;
} words_writer;

static void say(words_writer *w, const char *format, ...) NPI_PRINTF(2, 3);
static void say(words_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(w->text + w->used, w->size - w->used, format, args);
    va_end(args);
    if (length > 0)
        w->used += (size_t)length < w->size - w->used ? (size_t)length : w->size - w->used - 1;
}

/* A name, cut between two UTF-8 characters where it is long. */
static void say_name(words_writer *w, const char *name)
{
    size_t length = strlen(name);
    if (length > MAX_NAME)
        for (length = MAX_NAME; length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80;)
            length--;
    say(w, "%.*s%s", (int)length, name, name[length] ? "..." : "");
}

/* What the column of a kind that contributes most says. */
static const char *main_column(const npgnn_explanation *why, npgnn_reason reason)
{
    const npgnn_contribution *best = NULL;
    for (int32_t c = 0; c < why->column_count; c++)
        if (why->columns[c].reason == reason && (!best || why->columns[c].log_odds > best->log_odds))
            best = &why->columns[c];
    return best ? best->text : "";
}

/* Features in common: "words in common: sparse, matrix", "same city=Berlin", or how many where they have no names.
 * Where there are none, features may still speak for a link: in what way. */
static void say_features(words_writer *w, const npgnn_explanation *why, const npi_explainer *e, const npi_features *x)
{
    int32_t count = why->feature_count;
    int some = 0; /* whether nodes can have features in common at all */
    for (int32_t c = 0; c < x->f && !some; c++)
        some = e->holders[c] >= 0;
    if (!some) {
        say(w, "feature similarity %.2f", why->columns[NPI_COLUMN_FEATURES].value);
        return;
    }
    if (count == 0 || !x->columns) {
        if (count == 0)
            say(w, "%s",
                why->reasons[NPGNN_REASON_FEATURES] > 0 ? main_column(why, NPGNN_REASON_FEATURES)
                                                        : "no features in common");
        else
            say(w, "%d feature%s in common", (int)count, count == 1 ? "" : "s");
        return;
    }
    int shown = 0, open = 0; /* open: within a list of words */
    for (int32_t i = 0; i < count && shown < SHOWN; i++, shown++) {
        const npi_encoded *column = encoded_column(x, why->features[i]);
        const char *name = npi_names_get(x->columns, why->features[i]);
        if (column && column->kind != NPI_KIND_TEXT) {
            say(w, "%s%s ", shown ? ", " : "", column->kind == NPI_KIND_FLAG ? "both" : "same");
            open = 0;
        } else {
            if (column && column->name && strncmp(name, column->name, strlen(column->name)) == 0 &&
                name[strlen(column->name)] == ':')
                name += strlen(column->name) + 1; /* NAME:WORD */
            say(w, "%s%s", shown ? ", " : "", open ? "" : column ? "words in common: " : "features in common: ");
            open = 1;
        }
        say_name(w, name);
    }
    if (count > shown)
        say(w, " and %d more", (int)(count - shown));
}

static void say_reason(words_writer *w, npgnn_reason reason, const npgnn_explanation *why, const npi_explainer *e,
                       const npgnn_graph *graph, npgnn_pair pair)
{
    char buffer[12];
    const int64_t *ptr = graph->a.ptr;
    int region;
    switch (reason) {
    case NPGNN_REASON_FEATURES:
        say_features(w, why, e, graph->x);
        break;
    case NPGNN_REASON_NEIGHBOR_FEATURES:
        say(w, "neighbourhood similarity %.2f", why->columns[NPI_COLUMN_SMOOTH1].value);
        break;
    case NPGNN_REASON_NEIGHBORS:
        if (why->neighbor_count == 0) {
            say(w, "no neighbours in common");
            break;
        }
        say(w, "%d neighbour%s in common (", (int)why->neighbor_count, why->neighbor_count == 1 ? "" : "s");
        for (int32_t i = 0; i < why->neighbor_count && i < SHOWN; i++) {
            say(w, i ? ", " : "");
            say_name(w, npgnn_graph_name(graph, why->neighbors[i], buffer));
        }
        say(w, why->neighbor_count > SHOWN ? ", ...)" : ")");
        break;
    case NPGNN_REASON_WALKS:
        if (why->walks > 0)
            say(w, "linked by %.0f three-step walk%s, %.*f times the expected", why->walks, why->walks > 1 ? "s" : "",
                why->walk_lift < 9.95 ? 1 : 0, why->walk_lift);
        else
            say(w, "no walk of three steps between them");
        break;
    case NPGNN_REASON_REGION:
        region = why->columns[NPI_COLUMN_REGION16].log_odds > why->columns[NPI_COLUMN_REGION64].log_odds
                     ? NPI_COLUMN_REGION16
                     : NPI_COLUMN_REGION64;
        say(w, "region similarity %.2f", why->columns[region].value);
        break;
    case NPGNN_REASON_LINKS:
        say(w, "%lld and %lld links", (long long)(ptr[pair.u + 1] - ptr[pair.u]),
            (long long)(ptr[pair.v + 1] - ptr[pair.v]));
        break;
    case NPGNN_REASONS:
        break;
    }
    say(w, " %+.1f", why->reasons[reason]);
}

/* The reasons that matter, the one that contributes most first. */
static void say_all(const npgnn_explanation *why, npi_explainer *e, const npgnn_graph *graph, npgnn_pair pair)
{
    words_writer w = {e->text, sizeof e->text, 0};
    double largest = 0;
    int said[NPGNN_REASONS] = {0};
    e->text[0] = '\0';
    for (int r = 0; r < NPGNN_REASONS; r++)
        largest = fmax(largest, fabs(why->reasons[r]));
    double least = fmax(LEAST_SAID, WORTH_SAYING * largest);
    for (;;) {
        int next = -1;
        for (int r = 0; r < NPGNN_REASONS; r++)
            if (!said[r] && fabs(why->reasons[r]) >= least &&
                (next < 0 || fabs(why->reasons[r]) > fabs(why->reasons[next])))
                next = r;
        if (next < 0)
            break;
        if (w.used > 0)
            say(&w, "; ");
        say_reason(&w, (npgnn_reason)next, why, e, graph, pair);
        said[next] = 1;
    }
    if (w.used == 0)
        say(&w, "nothing distinguishes it from an average pair without a link");
}

/* ---- evidence that is divided among processes ---- */

static uint64_t key_of(npgnn_pair pair)
{
    uint32_t small = (uint32_t)(pair.u < pair.v ? pair.u : pair.v),
             large = (uint32_t)(pair.u < pair.v ? pair.v : pair.u);
    return (uint64_t)small << 32 | large;
}

/* The evidence of a pair among that which was gathered; NULL: it was not. */
static const float *gathered_evidence(const npi_explainer *x, npgnn_pair pair, int columns)
{
    size_t low = 0, high = x ? x->gathered : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->pairs[middle] < key_of(pair))
            low = middle + 1;
        else
            high = middle;
    }
    return x && low < x->gathered && x->pairs[low] == key_of(pair) ? x->evidence + low * (size_t)columns : NULL;
}

/* Whether the pair can be explained. */
static int check_pair(const npgnn_predictor *p, npgnn_pair pair, npgnn_error *err)
{
    if (!npi_model_is_process(p->model))
        return npi_fail(
            err, NPGNN_E_ARGUMENT,
            "a network cannot explain its predictions: they are inner products of embeddings, whose numbers mean "
            "nothing to people; use universal, or a model of the preset best");
    if (pair.u < 0 || pair.u >= p->graph->n || pair.v < 0 || pair.v >= p->graph->n)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the pair joins %d and %d, but nodes are 0 to %d", pair.u, pair.v,
                        p->graph->n - 1);
    return 0;
}

/* Memory for `count` pairs, and the pairs in ascending order. */
static int begin_gathering(npgnn_pair *sorted, npi_explainer *x, const npgnn_pair *pairs, size_t count, int columns,
                           npgnn_error *err)
{
    x->gathered = 0;
    uint64_t *keys = npi_resize(&x->env, x->pairs, 2 * count, sizeof *keys, err); /* the second half is scratch */
    x->pairs = keys ? keys : x->pairs;
    float *evidence = npi_resize(&x->env, x->evidence, count * (size_t)columns, sizeof *evidence, err);
    x->evidence = evidence ? evidence : x->evidence;
    if (!sorted || !keys || !evidence)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(pairs[i]);
    if (count > 1)
        npi_u64_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (npgnn_pair){(int32_t)(keys[i] >> 32), (int32_t)(keys[i] & UINT32_MAX)};
    return 0;
}

int npgnn_predictor_gather(npgnn_predictor *p, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < count; i++)
        code = check_pair(p, pairs[i], err);
    npgnn_comm *comm = npi_model_is_process(p->model) ? p->applied.columns.rows.comm : NULL;
    if (!comm)
        return code;
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code =
            npi_comm_same(comm, npi_hash_bytes(NPI_HASH_START, pairs, count * sizeof *pairs), "the list of pairs", err);
    if (!code && !p->explainer)
        code = explainer_new(&p->explainer, p, err);
    if (code)
        return code;
    npi_explainer *x = p->explainer;
    const npi_columns *columns = &p->applied.columns;
    npgnn_pair *sorted = npi_resize(&x->env, NULL, count, sizeof *sorted, err);
    code = npi_comm_agree(comm, begin_gathering(sorted, x, pairs, count, columns->plan.columns, err), err);
    if (!code)
        code = find_evidence(x->evidence, columns, sorted, count, err);
    if (!code)
        x->gathered = count;
    npi_free(&x->env, sorted);
    return code;
}

/* ---- the call ---- */

int npgnn_predictor_explain(npgnn_explanation *given, npgnn_predictor *p, npgnn_pair pair, npgnn_error *err)
{
    npgnn_explanation out = {
        .size = sizeof out, .reason_count = NPGNN_REASONS, .column_count = p->applied.columns.plan.columns};
    int code = npi_sized_check(given, "npgnn_explanation", err);
    if (!code)
        code = check_pair(p, pair, err);
    if (code)
        return code;
    npgnn_comm *comm = p->applied.columns.rows.comm;
    const float *gathered = comm ? gathered_evidence(p->explainer, pair, p->applied.columns.plan.columns) : NULL;
    if (comm && !gathered)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the %d processes have divided the evidence of nodes, and that of %d and %d has not been "
                        "gathered: let all of them call npgnn_predictor_gather first",
                        npi_comm_ranks(comm), pair.u, pair.v);
    if (!p->explainer)
        code = explainer_new(&p->explainer, p, err);
    npi_explainer *x = p->explainer;
    if (!code)
        code = find_neighbors(&out, x, &p->graph->a, pair, err);
    if (!code)
        code = find_features(&out, x, p->graph->x, pair, err);
    if (code)
        return code;

    const npi_process *process = p->applied.process;
    int columns = p->applied.columns.plan.columns;
    float value[NPI_ALL_COLUMNS], standard[NPI_ALL_COLUMNS];
    double to[NPI_ALL_COLUMNS], share[NPI_ALL_COLUMNS] = {0};
    if (gathered)
        memcpy(value, gathered, (size_t)columns * sizeof *value);
    else
        npi_columns_pair(value, &x->workspace, &p->applied.columns, pair);
    memcpy(standard, value, (size_t)columns * sizeof *value);
    npi_process_standardize(standard, process, p->applied.columns.has_features, 1);
    for (int c = 0; c < columns; c++)
        to[c] = (double)standard[c];
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    for (int h = 0; h < heads; h++) /* sums over the draws of z */
        npi_attribute(share, &out.baseline, &out.log_odds, &head[h], &p->calibration, x->average, to);
    out.baseline /= heads;
    out.log_odds /= heads;
    for (int c = 0; c < columns; c++) {
        int absent = c < process->feature_columns && !p->applied.columns.has_features; /* 0, not standardised */
        double average = absent ? 0 : (double)process->mean[c] + x->average[c] * (double)process->deviation[c];
        const npi_column_spec *spec = &npi_column_specs[c];
        x->columns[c] =
            (npgnn_contribution){spec->name, spec->text, spec->reason, (double)value[c], average, share[c] / heads};
        out.reasons[spec->reason] += share[c] / heads;
    }
    out.columns = x->columns;
    out.walk_lift = expm1((double)value[NPI_COLUMN_LIFT3]);
    say_all(&out, x, p->graph, pair);
    out.text = x->text;
    return npi_sized_write(given, &out, sizeof out, "npgnn_explanation", err);
}
