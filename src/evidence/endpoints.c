#include "evidence/endpoints.h"

#include <string.h>

int npi_endpoints_new(npi_endpoints *out, const npi_partition *rows, int width, const npgnn_env *env, npgnn_error *err)
{
    size_t words = (size_t)rows->n / 64 + 1; /* 64 nodes per word */
    /* a batch has at most two different ends per pair */
    npi_endpoints e = {.env = *env, .most = rows->n < 2 * NPI_ENDPOINTS_BATCH ? rows->n : 2 * NPI_ENDPOINTS_BATCH};
    e.node = npi_alloc(env, (size_t)e.most, sizeof *e.node, err);
    e.bits = npi_alloc(env, words, sizeof *e.bits, err);
    e.below = npi_alloc(env, words, sizeof *e.below, err);
    e.places = npi_alloc(env, NPI_ENDPOINTS_BATCH, sizeof *e.places, err);
    int code = e.node && e.bits && e.below && e.places ? npi_fetch_new(&e.fetch, rows, e.most, 0, width, env, err)
                                                       : NPGNN_E_MEMORY;
    *out = e;
    if (code)
        npi_endpoints_free(out);
    return code;
}

void npi_endpoints_free(npi_endpoints *e)
{
    npi_fetch_free(&e->fetch);
    npi_free(&e->env, e->node);
    npi_free(&e->env, e->bits);
    npi_free(&e->env, e->below);
    npi_free(&e->env, e->places);
    memset(e, 0, sizeof *e);
}

static int32_t place_of(const npi_endpoints *e, int32_t node)
{
    uint64_t lower = (UINT64_C(1) << node % 64) - 1;
    /* rank of the node among those of the batch: the bits in earlier words, and the lower bits of its own */
    return e->below[node / 64] + __builtin_popcountll(e->bits[node / 64] & lower);
}

int npi_endpoints_plan(npi_endpoints *e, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    size_t words = (size_t)e->fetch.rows.n / 64 + 1;
    /* bits instead of a sort: ascending and without duplicates in O(n / 64 + pairs) */
    memset(e->bits, 0, words * sizeof *e->bits);
    for (size_t i = 0; i < count; i++) {
        e->bits[pairs[i].u / 64] |= UINT64_C(1) << pairs[i].u % 64;
        e->bits[pairs[i].v / 64] |= UINT64_C(1) << pairs[i].v % 64;
    }
    e->count = 0;
    for (size_t word = 0; word < words; word++) {
        e->below[word] = e->count;
        /* `left & left - 1` clears the lowest bit, which ctz has just counted */
        for (uint64_t left = e->bits[word]; left; left &= left - 1)
            e->node[e->count++] = (int32_t)(64 * word) + __builtin_ctzll(left);
    }
    for (size_t i = 0; i < count; i++)
        e->places[i] = (npgnn_pair){place_of(e, pairs[i].u), place_of(e, pairs[i].v)};
    return npi_fetch_plan(&e->fetch, e->node, e->count, err);
}

void npi_endpoints_fetch(real *to, npi_endpoints *e, const real *row, int width)
{
    npi_fetch_rows(&e->fetch, to, row, width, width, e->env.threads);
}
