#include "heuristics/paths.h"

int npi_accumulator_new(npi_accumulator *sum, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    sum->value = npi_alloc(env, (size_t)n, sizeof *sum->value, err);
    sum->node = npi_alloc(env, (size_t)n, sizeof *sum->node, err);
    return sum->value && sum->node ? 0 : NPGNN_E_MEMORY;
}

void npi_accumulator_free(const npgnn_env *env, npi_accumulator *sum)
{
    npi_free(env, sum->value);
    npi_free(env, sum->node);
    *sum = (npi_accumulator){0};
}

void npi_accumulator_clear(npi_accumulator *sum)
{
    for (int32_t i = 0; i < sum->count; i++)
        sum->value[sum->node[i]] = 0;
    sum->count = 0;
}

void npi_accumulator_order(npi_accumulator *sum, int32_t n)
{
    enum { LARGE_PART = 4 };
    if (sum->count < n / LARGE_PART)
        return;
    sum->count = 0;
    for (int32_t i = 0; i < n; i++) {
        sum->node[sum->count] = i; /* stays if it counts; the last one is within the array, since i >= count */
        sum->count += sum->value[i] > 0;
    }
}

static double weight_of(const double *weight, int32_t node)
{
    return weight ? weight[node] : 1;
}

/* One walk along both rows, since columns ascend. */
double npi_paths_two(const npi_csr *a, const double *weight, npgnn_pair pair)
{
    int64_t p = a->ptr[pair.u], q = a->ptr[pair.v];
    double sum = 0;
    while (p < a->ptr[pair.u + 1] && q < a->ptr[pair.v + 1]) {
        int32_t x = a->col[p], y = a->col[q];
        if (x == y)
            sum += weight_of(weight, x);
        p += x <= y;
        q += y <= x;
    }
    return sum;
}

/* Inner nodes ascend here, too, so that each sum has the order that it has in npi_paths_two. */
void npi_paths_two_row(npi_accumulator *sum, const npi_csr *a, const double *weight, int32_t node)
{
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        npi_accumulator_add_neighbors(sum, a, a->col[p], weight_of(weight, a->col[p]));
}

int64_t npi_paths_reach(const npi_csr *a, int32_t node)
{
    int64_t sum = 0;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++)
        sum += a->ptr[a->col[p] + 1] - a->ptr[a->col[p]];
    return sum;
}

double npi_paths_three(npi_accumulator *walk, const npi_csr *a, const double *weight, npgnn_pair pair)
{
    int64_t reach_u = npi_paths_reach(a, pair.u), reach_v = npi_paths_reach(a, pair.v);
    int swap = reach_v < reach_u || (reach_v == reach_u && pair.v < pair.u); /* both directions give the same bits */
    int32_t from = swap ? pair.v : pair.u, to = swap ? pair.u : pair.v;
    double sum = 0;
    npi_paths_two_row(walk, a, weight, from);
    for (int64_t p = a->ptr[to]; p < a->ptr[to + 1]; p++)
        sum += walk->value[a->col[p]] * weight_of(weight, a->col[p]);
    npi_accumulator_clear(walk);
    return sum;
}

void npi_paths_third(npi_accumulator *sum, const npi_accumulator *walk, const npi_csr *a, const double *weight)
{
    for (int32_t i = 0; i < walk->count; i++) {
        int32_t inner = walk->node[i];
        if (walk->value[inner] > 0) /* a caller may leave out nodes by zeroing their values */
            npi_accumulator_add_neighbors(sum, a, inner, walk->value[inner] * weight_of(weight, inner));
    }
}
