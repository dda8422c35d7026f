/* Edge weights: a.val (u, v) = a.val (v, u) = weight of the edge. */
#include "graph/weights.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

/* a.val (u, v) = Σ of the weights given for u -> v or, with `both`, also of those for v -> u. Weights that are given for
 * the same entry are added from the smallest up: the sum does not depend on the order of the edges. */
static int add_weights(npi_csr *a, const npgnn_pair *edges, const float *weights, int64_t count, int both,
                       const npgnn_env *env, npgnn_error *err)
{
    size_t used = 0;
    uint64_t *records = npi_resize(env, NULL, 4 * (size_t)count, sizeof *records, err); /* (count) and scratch */
    if (!records)
        return NPGNN_E_MEMORY;
    for (int64_t e = 0; e < count; e++) {
        int32_t u = edges[e].u, v = edges[e].v;
        uint32_t bits; /* those of positive floats have the same order as their values */
        if (u == v)
            continue;
        memcpy(&bits, &weights[e], sizeof bits);
        records[2 * used] = bits;
        records[2 * used++ + 1] = (uint64_t)(both && u > v ? npi_csr_find(a, v, u) : npi_csr_find(a, u, v));
    }
    npi_records_sort(records, records + 2 * used, used, 2);
    for (size_t i = 0; i < used; i++) {
        float weight;
        uint32_t bits = (uint32_t)records[2 * i];
        memcpy(&weight, &bits, sizeof weight);
        a->val[records[2 * i + 1]] += weight;
    }
    npi_free(env, records);
    return 0;
}

int npi_graph_sum_weights(npgnn_graph *graph, const npgnn_pair *edges, const float *weights, int64_t count,
                          npgnn_error *err)
{
    npi_csr *a = &graph->a;
    int64_t entries = a->ptr[a->rows];
    int symmetric = 1;
    a->val = npi_alloc(&graph->env, (size_t)entries, sizeof *a->val, err);
    if (!a->val)
        return NPGNN_E_MEMORY;
    int code = add_weights(a, edges, weights, count, 0, &graph->env, err);
    for (int32_t u = 0; symmetric && u < a->rows; u++)
        for (int64_t p = a->ptr[u]; symmetric && p < a->ptr[u + 1]; p++)
            symmetric = a->val[p] == a->val[npi_csr_find(a, a->col[p], u)];
    /* equal sums in both directions of every edge: the input listed each edge twice. Otherwise add the directions. */
    if (code == 0 && !symmetric) {
        for (int64_t p = 0; p < entries; p++)
            a->val[p] = 0;
        code = add_weights(a, edges, weights, count, 1, &graph->env, err);
    }
    for (int32_t u = 0; code == 0 && !symmetric && u < a->rows; u++)
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            if (u > a->col[p])
                a->val[p] = a->val[npi_csr_find(a, a->col[p], u)];
    if (code)
        return code;
    for (int64_t p = 0; p < entries; p++)
        if (!isfinite(a->val[p]))
            return npi_fail(err, NPGNN_E_FORMAT, "the sum of the weights of a link is too large for a float");
    return 0;
}

int npi_graph_copy_weights(float **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                           const int32_t *nodes, npgnn_error *err)
{
    const npi_csr *a = &graph->a;
    if (!a->val)
        return 0;
    float *weights = npi_resize(&graph->env, NULL, (size_t)count, sizeof *weights, err);
    if (!weights)
        return NPGNN_E_MEMORY;
    for (int64_t e = 0; e < count; e++) {
        int32_t u = nodes ? nodes[edges[e].u] : edges[e].u, v = nodes ? nodes[edges[e].v] : edges[e].v;
        int64_t entry = npi_csr_find(a, u, v);
        weights[e] = entry < 0 ? 1 : a->val[entry];
    }
    *out = weights;
    return 0;
}

float npgnn_graph_weight(const npgnn_graph *graph, int32_t u, int32_t v)
{
    int64_t entry = npi_csr_find(&graph->a, u, v);
    if (entry < 0)
        return 0;
    return graph->a.val ? graph->a.val[entry] : 1;
}
