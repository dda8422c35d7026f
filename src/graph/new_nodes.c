#include "graph/new_nodes.h"

#include <math.h>
#include <stdlib.h>

#define LATEST 0.1 /* share of the links */

/* Number of pairs of so many nodes of each side; of a one-sided graph, all are of side 0. */
static double count_pairs(const npgnn_graph *graph, const double nodes[2])
{
    return graph->side ? nodes[0] * nodes[1] : nodes[0] * (nodes[0] - 1) / 2;
}

static int side_of(const npgnn_graph *graph, int32_t i)
{
    return graph->side ? graph->side[i] : 0;
}

static int is_linked(const npgnn_graph *graph, int32_t i)
{
    return graph->a.ptr[i + 1] > graph->a.ptr[i];
}

double npi_new_share(const npgnn_graph *graph)
{
    double linked[2] = {0, 0}, all = (double)npi_graph_count_pairs(graph);
    for (int32_t i = 0; i < graph->n; i++)
        linked[side_of(graph, i)] += is_linked(graph, i);
    return all > 0 ? 1 - count_pairs(graph, linked) / all : 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int npi_new_odds(double *odds, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *a = &graph->a;
    if (!graph->time || graph->m == 0)
        return 0;
    double *first = npi_alloc(env, (size_t)graph->n, sizeof *first, err); /* (n) time of the first link */
    double *time = npi_alloc(env, (size_t)graph->m, sizeof *time, err);   /* (m) */
    if (!first || !time) {
        npi_free(env, first);
        npi_free(env, time);
        return NPGNN_E_MEMORY;
    }
    int64_t m = 0;
    for (int32_t i = 0; i < graph->n; i++) {
        first[i] = (double)INFINITY;
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            first[i] = fmin(first[i], graph->time[p]);
            if (i < a->col[p])
                time[m++] = graph->time[p];
        }
    }
    qsort(time, (size_t)m, sizeof *time, ascending);
    double begin = time[(int64_t)((1 - LATEST) * (double)m)]; /* of the latest tenth */
    double known[2] = {0, 0}, linked[2] = {0, 0};             /* nodes of each side, then and now */
    for (int32_t i = 0; i < graph->n; i++) {
        known[side_of(graph, i)] += first[i] < begin;
        linked[side_of(graph, i)] += is_linked(graph, i);
    }
    double latest = 0, touching = 0;
    for (int32_t i = 0; i < graph->n; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            if (i < a->col[p] && graph->time[p] >= begin) {
                latest++;
                touching += first[i] >= begin || first[a->col[p]] >= begin;
            }
    double pairs = count_pairs(graph, linked), known_pairs = count_pairs(graph, known);
    int told = touching > 0 && known_pairs > 0 && known_pairs < pairs;
    if (told)
        *odds = (touching + 0.5) / (latest - touching + 0.5) * known_pairs / (pairs - known_pairs);
    npi_free(env, first);
    npi_free(env, time);
    return told;
}
