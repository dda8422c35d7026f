#include "evidence/walks.h"

#include <assert.h>
#include <string.h>

/* Number of 64-bit words that hold so many bits. */
static size_t words_for(size_t bits)
{
    return (bits + 63) / 64;
}

static int has(const uint64_t *bits, int32_t x)
{
    return (int)(bits[x >> 6] >> (x & 63) & 1);
}

int npi_walker_new(npi_walker *out, const npi_csr *a, double *inverse, int32_t *two_steps, int32_t capacity,
                   const npgnn_env *env, npgnn_error *err)
{
    npi_walker w = {.a = a, .inverse = inverse, .two_steps = two_steps, .source = -1};
    size_t n = (size_t)capacity;
    w.two = npi_alloc(env, n, sizeof *w.two, err);
    w.reached = npi_alloc(env, n + 1, sizeof *w.reached, err); /* one more: see walk_two */
    w.is_reached = npi_alloc(env, words_for(n), sizeof *w.is_reached, err);
    w.meeting = npi_alloc(env, n, sizeof *w.meeting, err);
    w.seen = npi_alloc(env, words_for(n), sizeof *w.seen, err);
    w.listed = npi_alloc(env, n + 1, sizeof *w.listed, err);
    if (!w.listed || !w.two || !w.reached || !w.is_reached || !w.meeting || !w.seen) {
        npi_walker_free(env, &w);
        return NPGNN_E_MEMORY;
    }
    *out = w;
    return 0;
}

void npi_walker_free(const npgnn_env *env, npi_walker *w)
{
    npi_free(env, w->two);
    npi_free(env, w->reached);
    npi_free(env, w->is_reached);
    npi_free(env, w->meeting);
    npi_free(env, w->seen);
    npi_free(env, w->listed);
    memset(w, 0, sizeof *w);
}

/* two = P² from `node`: P²_ix = Σ_y P_iy P_yx */
static void walk_two(npi_walker *w, int32_t node)
{
    const npi_csr *a = w->a;
    assert(node >= 0 && node < a->rows);
    if (w->source == node)
        return;
    /* back to zeros, in the few places that the last source reached */
    for (int32_t r = 0; r < w->count; r++) {
        w->two[w->reached[r]] = 0;
        w->is_reached[w->reached[r] >> 6] = 0;
    }
    w->count = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++) {
        int32_t middle = a->col[p];
        double share = w->inverse[node] * w->inverse[middle]; /* P_iy P_yx = 1 / (d_i d_y) */
        for (int64_t q = a->ptr[middle]; q < a->ptr[middle + 1]; q++) {
            int32_t x = a->col[q];
            w->reached[w->count] = x; /* stays if it is new */
            w->count += !has(w->is_reached, x);
            w->is_reached[x >> 6] |= UINT64_C(1) << (x & 63);
            w->two[x] += share;
        }
    }
    w->source = node;
}

/* How many nodes two steps reach. It is counted once per node: other threads that count the same write the same. */
static int32_t count_two_steps(npi_walker *w, int32_t node)
{
    const npi_csr *a = w->a;
    int32_t count = __atomic_load_n(&w->two_steps[node], __ATOMIC_RELAXED);
    if (count >= 0)
        return count;
    count = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++) {
            int32_t x = a->col[q];
            count += !has(w->seen, x);
            w->seen[x >> 6] |= UINT64_C(1) << (x & 63);
        }
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
            w->seen[a->col[q] >> 6] = 0;
    __atomic_store_n(&w->two_steps[node], count, __ATOMIC_RELAXED);
    return count;
}

/* Links of the nodes of a list, until there are more than `most`. */
static int64_t count_links(const npi_csr *a, const int32_t *list, int64_t count, int64_t most)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count && sum <= most; i++)
        sum += a->ptr[list[i] + 1] - a->ptr[list[i]];
    return sum;
}

/* meeting_x = P²_jx of the nodes x with P²_ix > 0, i the source: along all walks of two steps from j, most of which end at a
 * bit that is 0. Returns whether there are any. */
static int meet_forward(npi_walker *w, int32_t j)
{
    const npi_csr *a = w->a;
    int any = 0;
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
        int32_t middle = a->col[p];
        double share = w->inverse[j] * w->inverse[middle];
        for (int64_t q = a->ptr[middle]; q < a->ptr[middle + 1]; q++)
            if (has(w->is_reached, a->col[q])) {
                w->meeting[a->col[q]] += share;
                any = 1;
            }
    }
    return any;
}

/* The same from the other side: along the links of the nodes x, of which those to neighbours of j count. The terms of a
 * meeting_x are added in the order of the middles, in both functions: the bits are the same. */
static int meet_backward(npi_walker *w, int32_t j)
{
    const npi_csr *a = w->a;
    int any = 0;
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++)
        w->seen[a->col[p] >> 6] |= UINT64_C(1) << (a->col[p] & 63);
    for (int32_t r = 0; r < w->count; r++) {
        int32_t x = w->reached[r];
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
            if (has(w->seen, a->col[p])) {
                w->meeting[x] += w->inverse[j] * w->inverse[a->col[p]];
                any = 1;
            }
    }
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++)
        w->seen[a->col[p] >> 6] = 0;
    return any;
}

/* K_4(i, j) = Σ_x P²_ix P²_jx / d_x, i the source: the cheaper way round. */
static double meet(npi_walker *w, int32_t j)
{
    const npi_csr *a = w->a;
    int64_t forward = count_links(a, a->col + a->ptr[j], a->ptr[j + 1] - a->ptr[j], INT64_MAX);
    int64_t backward = count_links(a, w->reached, w->count, forward);
    double sum = 0;
    int any = forward <= backward ? meet_forward(w, j) : meet_backward(w, j);
    for (int32_t r = 0; any && r < w->count; r++) {
        int32_t x = w->reached[r];
        sum += w->two[x] * w->meeting[x] * w->inverse[x];
        w->meeting[x] = 0;
    }
    return sum;
}

npi_walks npi_walks_pair(npi_walker *w, npgnn_pair pair)
{
    const npi_csr *a = w->a;
    npi_walks out = {0};
    double links = (double)a->ptr[a->rows]; /* 2m */

    /* K_2(i, j) = Σ_x (1 / d_x) / (d_i d_j) over the common neighbours x: both rows ascend */
    for (int64_t p = a->ptr[pair.u], q = a->ptr[pair.v]; p < a->ptr[pair.u + 1] && q < a->ptr[pair.v + 1];) {
        int32_t x = a->col[p], y = a->col[q];
        if (x == y) {
            out.common++;
            out.lift[0] += w->inverse[x];
        }
        p += x <= y;
        q += y <= x;
    }
    out.lift[0] *= w->inverse[pair.u] * w->inverse[pair.v];

    /* K_3(i, j) = Σ_x P²_ix (1 / d_x) / d_j over the neighbours x of j: from the end with fewer nodes in reach. Ties
     * are decided by number, so that both directions give the same bits. */
    int32_t from_u = count_two_steps(w, pair.u), from_v = count_two_steps(w, pair.v);
    int swap = from_v < from_u || (from_v == from_u && pair.v < pair.u);
    int32_t from = swap ? pair.v : pair.u, to = swap ? pair.u : pair.v;
    walk_two(w, from);
    for (int64_t p = a->ptr[to]; p < a->ptr[to + 1]; p++)
        if (has(w->is_reached, a->col[p]))
            out.lift[1] += w->two[a->col[p]] * w->inverse[a->col[p]];
    out.lift[1] *= w->inverse[to];

    out.lift[2] = meet(w, to);
    for (int t = 0; t < NPI_WALK_LIFTS; t++) /* lift_t = 2m K_t */
        out.lift[t] *= links;
    return out;
}

void npi_walks_row(float *common, double *lift, npi_walker *w, int32_t node)
{
    enum { AHEAD = 8 };
    const npi_csr *a = w->a;
    size_t n = (size_t)a->rows;
    double links = (double)a->ptr[a->rows];
    memset(common, 0, n * sizeof *common);
    memset(lift, 0, NPI_WALK_LIFTS * n * sizeof *lift);
    walk_two(w, node);
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
            common[a->col[q]]++;
    /* P^t_ix from node i, t = 2, 3, 4: P^(t+1)_ix = Σ_y (P^t_iy / d_y) over the neighbours y of x. Two steps reach few
     * nodes, which are listed. */
    double *two = lift, *three = lift + n, *four = lift + 2 * n;
    for (int32_t r = 0; r < w->count; r++) {
        int32_t x = w->reached[r];
        double share = w->two[x] * w->inverse[x];
        two[x] = links * share; /* lift_2 = 2m P²_ix / d_x: done */
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
            three[a->col[p]] += share;
    }
    /* the nodes that three steps reach lie anywhere: their links are asked for before they are needed */
    int32_t *list = w->listed, count = 0;
    for (size_t x = 0; x < n; x++) {
        list[count] = (int32_t)x;
        count += three[x] != 0;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t x = list[i];
        if (i + 2 * AHEAD < count)
            __builtin_prefetch(a->ptr + list[i + 2 * AHEAD]);
        if (i + AHEAD < count)
            __builtin_prefetch(a->col + a->ptr[list[i + AHEAD]]);
        three[x] *= w->inverse[x]; /* K_3 = P³_ix / d_x, which spreads to the neighbours */
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
            four[a->col[p]] += three[x];
        three[x] *= links; /* lift_3 */
    }
    for (size_t x = 0; x < n; x++) /* lift_4 = 2m P⁴_ix / d_x */
        four[x] *= links * w->inverse[x];
}

/* three = Σ_x two_x / d_x over the neighbours x of each node: lists the nodes where it is not 0. Returns how many. */
static int32_t walk_three(double *three, npi_walker *w)
{
    const npi_csr *a = w->a;
    int32_t count = 0;
    for (int32_t r = 0; r < w->count; r++) {
        int32_t x = w->reached[r];
        double share = w->two[x] * w->inverse[x];
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++) {
            int32_t y = a->col[p];
            w->listed[count] = y; /* stays if it is new */
            count += three[y] == 0;
            three[y] += share;
        }
    }
    return count;
}

/* four_x = Σ_y three_y over the neighbours y of the nodes first to last - 1, along fewer links: those of the listed
 * nodes y, or those of the nodes x. */
static void walk_four(double *four, const double *three, const npi_walker *w, int32_t listed, int32_t first,
                      int32_t last)
{
    const npi_csr *a = w->a;
    int64_t steps = 0;
    for (int32_t i = 0; i < listed; i++)
        steps += a->ptr[w->listed[i] + 1] - a->ptr[w->listed[i]];
    if (steps > a->ptr[last] - a->ptr[first]) { /* gather: each node x sums over its neighbours */
        for (int32_t x = first; x < last; x++)
            for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
                four[x - first] += three[a->col[p]];
        return;
    }
    /* scatter: each listed y adds to its neighbours in the range */
    for (int32_t i = 0; i < listed; i++) {
        int32_t y = w->listed[i];
        for (int64_t p = a->ptr[y]; p < a->ptr[y + 1]; p++)
            if (a->col[p] >= first && a->col[p] < last)
                four[a->col[p] - first] += three[y];
    }
}

void npi_walks_part(float *common, double *lift, npi_walker *w, int32_t node, int32_t first, int32_t last)
{
    const npi_csr *a = w->a;
    size_t count = (size_t)(last - first);
    double links = (double)a->ptr[a->rows], *three = w->meeting; /* zeros before and after */
    memset(common, 0, count * sizeof *common);
    memset(lift, 0, NPI_WALK_LIFTS * count * sizeof *lift);
    assert(first >= 0 && first <= last && last <= a->rows);
    walk_two(w, node);
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
            if (a->col[q] >= first && a->col[q] < last)
                common[a->col[q] - first]++;
    for (int32_t r = 0; r < w->count; r++) {
        int32_t x = w->reached[r];
        if (x >= first && x < last)
            lift[x - first] = links * w->two[x] * w->inverse[x];
    }
    int32_t listed = walk_three(three, w);
    for (int32_t i = 0; i < listed; i++) {
        int32_t x = w->listed[i];
        three[x] *= w->inverse[x];
        if (x >= first && x < last)
            lift[count + (size_t)(x - first)] = links * three[x];
    }
    double *four = lift + 2 * count;
    walk_four(four, three, w, listed, first, last);
    for (int32_t x = first; x < last; x++)
        four[x - first] *= links * w->inverse[x];
    for (int32_t i = 0; i < listed; i++) /* meeting is zeros again */
        three[w->listed[i]] = 0;
}
