#include "evidence/vicinity.h"

#include <string.h>

#include "evidence/walks.h"
#include "linalg/select.h"

enum {
    MOST_MIDDLES = NPI_VICINITY_LINKS / 8, /* neighbours of u that the second step passes */
    MOST_LEAVING = NPI_VICINITY_LINKS / 8, /* nodes that the third step leaves from */
    MOST_GATHERED = 2048                   /* neighbours of v that a fourth step comes from */
};

int npi_vicinity_new(npi_vicinity *out, const npi_csr *a, const double *inverse, int32_t capacity, const npgnn_env *env,
                     npgnn_error *err)
{
    npi_vicinity v = {.a = a, .inverse = inverse, .node = -1};
    size_t n = (size_t)capacity;
    v.of = npi_alloc(env, n, sizeof *v.of, err);
    v.second = npi_alloc(env, n + 1, sizeof *v.second, err); /* one more: the next is written before it is counted */
    v.third = npi_alloc(env, n + 1, sizeof *v.third, err);
    v.likeliest = npi_alloc(env, n, sizeof *v.likeliest, err);
    *out = v;
    if (v.of && v.second && v.third && v.likeliest)
        return 0;
    npi_vicinity_free(env, out);
    return NPGNN_E_MEMORY;
}

void npi_vicinity_free(const npgnn_env *env, npi_vicinity *v)
{
    npi_free(env, v->of);
    npi_free(env, v->second);
    npi_free(env, v->third);
    npi_free(env, v->likeliest);
    memset(v, 0, sizeof *v);
}

static int64_t degree_of(const npi_csr *a, int32_t node)
{
    return a->ptr[node + 1] - a->ptr[node];
}

/* Some of the links of a node: every `step`-th, beginning in the middle of the first step. */
typedef struct sample {
    int64_t begin, end, step;
    double weight; /* links that one of them stands for */
} sample;

static sample sample_links(const npi_csr *a, int32_t node, int64_t most)
{
    int64_t degree = degree_of(a, node), step = degree > most ? (degree + most - 1) / most : 1;
    int64_t first = step / 2 < degree ? step / 2 : 0, taken = degree > 0 ? (degree - first + step - 1) / step : 0;
    return (sample){a->ptr[node] + first, a->ptr[node + 1], step, taken > 0 ? (double)degree / (double)taken : 0};
}

/* The largest power of two such that min(d, most) of the nodes in `list` is at most `links` in sum. */
static int64_t most_per_node(const npi_csr *a, const int32_t *list, int64_t count, int64_t step, int64_t links)
{
    int64_t size[64] = {0}, sum[64] = {0}, above = 0, all = 0; /* by the bits of a degree */
    for (int64_t i = 0; i < count; i += step) {
        int64_t degree = degree_of(a, list[i]);
        int bits = degree > 0 ? 64 - __builtin_clzll((unsigned long long)degree) : 0;
        size[bits]++;
        sum[bits] += degree;
        all += degree;
    }
    if (all <= links)
        return INT64_MAX;
    /* nodes whose degree has more than `bits` bits give 2^bits, at most what they have */
    for (int bits = 62; bits > 0; bits--) {
        above += size[bits + 1];
        all -= sum[bits + 1];
        if (all + (above << bits) <= links)
            return INT64_C(1) << bits;
    }
    return 1;
}

static void forget(npi_vicinity *v)
{
    const npi_csr *a = v->a;
    for (int64_t p = v->node >= 0 ? a->ptr[v->node] : 0, end = v->node >= 0 ? a->ptr[v->node + 1] : 0; p < end; p++)
        v->of[a->col[p]].is_neighbor = 0;
    for (int32_t i = 0; i < v->second_count; i++)
        v->of[v->second[i]] = (npi_near_node){0};
    for (int32_t i = 0; i < v->third_count; i++)
        v->of[v->third[i]].three = 0;
    v->second_count = v->third_count = 0;
    v->is_sampled = v->is_estimated = 0;
}

/* two_x = Σ_y P_uy P_yx */
static void step_two(npi_vicinity *v)
{
    const npi_csr *a = v->a;
    const sample middles = sample_links(a, v->node, MOST_MIDDLES);
    const int32_t *neighbors = a->col + middles.begin;
    int64_t count = middles.end - middles.begin;
    int64_t most = most_per_node(a, neighbors, count, middles.step, NPI_VICINITY_LINKS);
    v->is_sampled = middles.step > 1 || most < INT64_MAX;
    for (int64_t i = 0; i < count; i += middles.step) {
        const sample links = sample_links(a, neighbors[i], most);
        double weight = middles.weight * links.weight;
        float share = (float)(weight * v->inverse[v->node] * v->inverse[neighbors[i]]); /* P_uy P_yx = 1 / (d_u d_y) */
        for (int64_t q = links.begin; q < links.end; q += links.step) {
            int32_t x = a->col[q];
            v->second[v->second_count] = x; /* stays if it is new */
            v->second_count += v->of[x].two == 0;
            v->of[x].two += share;
            v->of[x].shared += 1;
        }
    }
}

/* Where the third step leaves from: the likeliest nodes. Returns their share of all walks. */
static float choose_leaving(int32_t *count, npi_vicinity *v)
{
    float kept = 0, all = 0;
    *count = v->second_count;
    if (v->second_count <= MOST_LEAVING) {
        memcpy(v->likeliest, v->second, (size_t)v->second_count * sizeof *v->likeliest);
        return 1;
    }
    npi_selection best;
    npi_selection_begin(&best, MOST_LEAVING);
    for (int32_t i = 0; i < v->second_count; i++)
        npi_selection_count(&best, v->of[v->second[i]].two);
    npi_selection_decide(&best);
    *count = 0;
    for (int32_t i = 0; i < v->second_count; i++) {
        float two = v->of[v->second[i]].two;
        all += two;
        if (npi_selection_takes(&best, two)) {
            v->likeliest[(*count)++] = v->second[i];
            kept += two;
        }
    }
    return kept / all;
}

/* three_z = Σ_x two_x / d_x over the neighbours x of z, / d_z */
static void step_three(npi_vicinity *v)
{
    const npi_csr *a = v->a;
    int32_t count;
    float kept = choose_leaving(&count, v);
    int64_t most = most_per_node(a, v->likeliest, count, 1, NPI_VICINITY_LINKS);
    v->is_estimated = v->is_sampled || count < v->second_count || most < INT64_MAX;
    for (int32_t i = 0; i < count; i++) {
        int32_t x = v->likeliest[i];
        const sample links = sample_links(a, x, most);
        float share = (float)(links.weight * v->inverse[x]) * v->of[x].two / kept;
        for (int64_t p = links.begin; p < links.end; p += links.step) {
            int32_t z = a->col[p];
            v->third[v->third_count] = z;
            v->third_count += v->of[z].three == 0;
            v->of[z].three += share;
        }
    }
    for (int32_t i = 0; i < v->third_count; i++)
        v->of[v->third[i]].three *= (float)v->inverse[v->third[i]];
}

void npi_vicinity_move(npi_vicinity *v, int32_t node)
{
    const npi_csr *a = v->a;
    forget(v);
    v->node = node;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        v->of[a->col[p]].is_neighbor = 1;
    if (degree_of(a, node) > 0) {
        step_two(v);
        step_three(v);
    }
}

/* Whether two nodes have a link. */
static int has_link(const npi_csr *a, int32_t from, int32_t to)
{
    int64_t low = a->ptr[from], high = a->ptr[from + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a->col[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->ptr[from + 1] && a->col[low] == to;
}

/* |N(u) ∩ N(v)| and Σ 1 / d_x over it: from the end with fewer links. */
static int32_t meet(double *sum, const npi_vicinity *v, int32_t other)
{
    const npi_csr *a = v->a;
    int32_t shared = 0;
    int from_u = degree_of(a, v->node) < degree_of(a, other);
    int32_t node = from_u ? v->node : other;
    *sum = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        if (from_u ? has_link(a, other, a->col[p]) : v->of[a->col[p]].is_neighbor) {
            shared++;
            *sum += v->inverse[a->col[p]];
        }
    return shared;
}

void npi_vicinity_walks(float *common, double *lift, const npi_vicinity *vicinity, int32_t v)
{
    const npi_csr *a = vicinity->a;
    const npi_near_node *near = &vicinity->of[v];
    double links = (double)a->ptr[a->rows], inverse = vicinity->inverse[v]; /* 2m, 1 / d_v */
    int32_t shared = near->shared;
    double k2 = (double)near->two * inverse, k4 = 0;
    if (vicinity->is_sampled) { /* few nodes are beside u: these are counted */
        shared = meet(&k2, vicinity, v);
        k2 *= vicinity->inverse[vicinity->node] * inverse;
    }
    /* K_4(u, v) = Σ_y K_3(u, y) / d_v over the neighbours y of v */
    const sample from = sample_links(a, v, MOST_GATHERED);
    for (int64_t p = from.begin; p < from.end; p += from.step)
        k4 += (double)vicinity->of[a->col[p]].three;
    *common = (float)shared;
    lift[0] = links * k2;
    lift[1] = links * (double)near->three;
    lift[2] = links * k4 * from.weight * inverse;
}
