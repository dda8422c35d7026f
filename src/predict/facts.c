/* The facts behind the columns: which neighbours and which features two nodes share, how many walks join them. */
#include <string.h>

#include "base/sort.h"
#include "predict/explain.h"

const npi_encoded *npi_explain_column(const npi_features *x, int32_t c)
{
    /* an encoded column is a run of feature columns, first to first + width - 1 */
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
    const npi_encoded *column = npi_explain_column(x, c);
    if (column)
        return column->kind == NPI_KIND_TEXT || column->kind == NPI_KIND_CATEGORY || column->kind == NPI_KIND_FLAG;
    /* such a column is a count or a flag; a measurement is seldom 0, or has both signs */
    return !negative && (int64_t)holders * 2 <= x->n;
}

int npi_explain_count_holders(npi_explainer *e, const npi_features *x, npgnn_error *err)
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

/* An empty list of at most `most` items. */
static int ranking_begin(npi_ranking *list, size_t most, const npgnn_env *env, npgnn_error *err)
{
    list->count = 0;
    if (most <= list->capacity)
        return 0;
    /* Room for 2 most items, so that growing lists are seldom moved; as many keys again are scratch of the sort. The
     * capacity comes last: where an array fails, the other may have more than it says. */
    uint64_t *keys = npi_resize(env, list->keys, 4 * most, sizeof *keys, err);
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

static void ranking_add(npi_ranking *list, int32_t item, int64_t key)
{
    /* one number that orders by key, then by item */
    list->keys[list->count++] = (uint64_t)key << 32 | (uint32_t)item;
}

/* Orders the items by key, then by number. Returns how many there are. */
static int32_t ranking_end(npi_ranking *list)
{
    if (list->count > 1)
        npi_u64_sort(list->keys, list->keys + list->capacity, list->count);
    for (size_t i = 0; i < list->count; i++)
        list->items[i] = (int32_t)(list->keys[i] & UINT32_MAX);
    return (int32_t)list->count;
}

int npi_explain_neighbors(npgnn_explanation *out, npi_explainer *x, const npi_csr *a, npgnn_pair pair, npgnn_error *err)
{
    int64_t degree_u = a->ptr[pair.u + 1] - a->ptr[pair.u], degree_v = a->ptr[pair.v + 1] - a->ptr[pair.v];
    int64_t walks = 0;
    /* no more common neighbours than the smaller degree */
    int code = ranking_begin(&x->neighbors, (size_t)(degree_u < degree_v ? degree_u : degree_v), &x->env, err);
    if (code)
        return code;
    /* marked = N(v): a neighbour x of u is common if it is marked, and | N(x) ∩ N(v) | walks u, x, y, v pass through
     * it */
    for (int64_t p = a->ptr[pair.v]; p < a->ptr[pair.v + 1]; p++)
        x->marked[a->col[p]] = 1;
    for (int64_t p = a->ptr[pair.u]; p < a->ptr[pair.u + 1]; p++) {
        int32_t middle = a->col[p];
        if (x->marked[middle])
            ranking_add(&x->neighbors, middle, a->ptr[middle + 1] - a->ptr[middle]); /* fewest links first */
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
    const npi_encoded *table = npi_explain_column(x, column);
    /* the last column of an encoded one says that the value is missing */
    return table && table->kind == NPI_KIND_FLAG && table->flags_missing &&
           feature_of(x, node, table->first + table->width - 1) != 0;
}

int npi_explain_features(npgnn_explanation *out, npi_explainer *e, const npi_features *x, npgnn_pair pair,
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
            /* the first entry of v's row that is not before column c */
            while (q < x->x.ptr[pair.v + 1] && x->x.col[q] < c)
                q++;
            both = q < x->x.ptr[pair.v + 1] && x->x.col[q] == c;
        }
        if (both && e->holders[c] >= 0 && !is_missing(x, pair.u, c) && !is_missing(x, pair.v, c))
            ranking_add(&e->features, c, e->holders[c]); /* rarest first */
    }
    out->feature_count = ranking_end(&e->features);
    out->features = e->features.items;
    return code;
}
