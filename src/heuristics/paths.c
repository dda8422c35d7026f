#include "heuristics/paths.h"

/* One walk along both rows, since columns ascend. */
double npi_paths_two(const npi_csr *a, const double *weight, npgnn_pair pair)
{
    int64_t p = a->ptr[pair.u], q = a->ptr[pair.v];
    double sum = 0;
    while (p < a->ptr[pair.u + 1] && q < a->ptr[pair.v + 1]) {
        int32_t x = a->col[p], y = a->col[q];
        if (x == y)
            sum += weight[x];
        p += x <= y;
        q += y <= x;
    }
    return sum;
}

void npi_paths_two_row(double *sum, const npi_csr *a, const double *weight, int32_t node)
{
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++) {
        int32_t inner = a->col[p];
        for (int64_t q = a->ptr[inner]; q < a->ptr[inner + 1]; q++)
            sum[a->col[q]] += weight[inner];
    }
}

/* Zeroes what npi_paths_two_row may have touched. */
static void clear_row(double *walk, const npi_csr *a, int32_t node)
{
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
            walk[a->col[q]] = 0;
}

/* How many walks of two links begin at a node. */
static int64_t reach(const npi_csr *a, int32_t node)
{
    int64_t sum = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        sum += a->ptr[a->col[p] + 1] - a->ptr[a->col[p]];
    return sum;
}

double npi_paths_three(double *walk, const npi_csr *a, const double *weight, npgnn_pair pair)
{
    int64_t reach_u = reach(a, pair.u), reach_v = reach(a, pair.v);
    int swap = reach_v < reach_u || (reach_v == reach_u && pair.v < pair.u); /* both directions give the same bits */
    int32_t from = swap ? pair.v : pair.u, to = swap ? pair.u : pair.v;
    double sum = 0;
    npi_paths_two_row(walk, a, weight, from);
    for (int64_t p = a->ptr[to]; p < a->ptr[to + 1]; p++)
        sum += walk[a->col[p]] * weight[a->col[p]];
    clear_row(walk, a, from);
    return sum;
}

void npi_paths_three_row(double *sum, double *walk, const npi_csr *a, const double *weight, int32_t node)
{
    npi_paths_two_row(walk, a, weight, node);
    for (int32_t inner = 0; inner < a->rows; inner++) {
        if (walk[inner] == 0)
            continue;
        for (int64_t p = a->ptr[inner]; p < a->ptr[inner + 1]; p++)
            sum[a->col[p]] += walk[inner] * weight[inner];
        walk[inner] = 0;
    }
}
