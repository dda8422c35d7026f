#include "evidence/walks.h"

#include <string.h>

int npi_walker_new(npi_walker *out, const npi_csr *a, double *inverse, int32_t capacity, const npgnn_env *env,
                   npgnn_error *err)
{
    npi_walker w = {.a = a, .inverse = inverse, .source = {-1, -1}};
    size_t n = (size_t)capacity;
    for (int end = 0; end < 2; end++) {
        w.two[end] = npi_alloc(env, n, sizeof *w.two[end], err);
        w.reached[end] = npi_alloc(env, n, sizeof *w.reached[end], err);
    }
    if (!w.two[0] || !w.two[1] || !w.reached[0] || !w.reached[1]) {
        npi_walker_free(env, &w);
        return NPGNN_E_MEMORY;
    }
    *out = w;
    return 0;
}

void npi_walker_free(const npgnn_env *env, npi_walker *w)
{
    for (int end = 0; end < 2; end++) {
        npi_free(env, w->two[end]);
        npi_free(env, w->reached[end]);
    }
    memset(w, 0, sizeof *w);
}

/* two[end] = P² from `node`: P²_ix = Σ_y P_iy P_yx */
static void walk_two(npi_walker *w, int end, int32_t node)
{
    const npi_csr *a = w->a;
    double *two = w->two[end];
    if (w->source[end] == node)
        return;
    for (int32_t r = 0; r < w->count[end]; r++)
        two[w->reached[end][r]] = 0;
    w->count[end] = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++) {
        int32_t middle = a->col[p];
        double share = w->inverse[node] * w->inverse[middle];
        for (int64_t q = a->ptr[middle]; q < a->ptr[middle + 1]; q++) {
            int32_t x = a->col[q];
            if (two[x] == 0)
                w->reached[end][w->count[end]++] = x;
            two[x] += share;
        }
    }
    w->source[end] = node;
}

npi_walks npi_walks_pair(npi_walker *w, npgnn_pair pair)
{
    const npi_csr *a = w->a;
    npi_walks out = {0};
    double links = (double)a->ptr[a->rows]; /* 2m */
    walk_two(w, 0, pair.u);
    walk_two(w, 1, pair.v);

    /* K_2 and the common neighbours: both rows ascend */
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

    /* K_3 from the end with fewer nodes in reach and K_4 over the fewer; ties by number, so that both directions give
     * the same bits */
    int swap = w->count[1] < w->count[0] || (w->count[1] == w->count[0] && pair.v < pair.u);
    int few = swap ? 1 : 0, many = swap ? 0 : 1;
    int32_t to = swap ? pair.u : pair.v;
    for (int64_t p = a->ptr[to]; p < a->ptr[to + 1]; p++)
        out.lift[1] += w->two[few][a->col[p]] * w->inverse[a->col[p]];
    out.lift[1] *= w->inverse[to];
    for (int32_t r = 0; r < w->count[few]; r++) {
        int32_t x = w->reached[few][r];
        out.lift[2] += w->two[few][x] * w->two[many][x] * w->inverse[x];
    }
    for (int t = 0; t < NPI_WALK_LIFTS; t++)
        out.lift[t] *= links;
    return out;
}

void npi_walks_row(float *common, double *lift, npi_walker *w, int32_t node)
{
    const npi_csr *a = w->a;
    size_t n = (size_t)a->rows;
    double links = (double)a->ptr[a->rows];
    memset(common, 0, n * sizeof *common);
    memset(lift, 0, NPI_WALK_LIFTS * n * sizeof *lift);
    walk_two(w, 0, node);
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
            common[a->col[q]]++;
    /* P^t from node, t = 2, 3, 4: each spreads along the links to the next. Two steps reach few nodes, which are listed. */
    double *two = lift, *three = lift + n, *four = lift + 2 * n;
    for (int32_t r = 0; r < w->count[0]; r++) {
        int32_t x = w->reached[0][r];
        double share = w->two[0][x] * w->inverse[x];
        two[x] = links * share; /* P² over d_x / 2m: done */
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
            three[a->col[p]] += share;
    }
    for (size_t x = 0; x < n; x++) {
        if (three[x] == 0)
            continue;
        three[x] *= w->inverse[x];
        for (int64_t p = a->ptr[x]; p < a->ptr[x + 1]; p++)
            four[a->col[p]] += three[x];
        three[x] *= links;
    }
    for (size_t x = 0; x < n; x++)
        four[x] *= links * w->inverse[x];
}
