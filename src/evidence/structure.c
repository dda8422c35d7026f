#include "evidence/structure.h"

#include <string.h>

void npi_structure_pair(float *value, npi_walker *walker, const npi_columns *e, npgnn_pair pair)
{
    int32_t u = pair.u, v = pair.v;
    npi_walks walks = npi_walks_pair(walker, pair);
    float du = e->log_degree[u], dv = e->log_degree[v];
    /* log(1 + d_u) + log(1 + d_v), the magnitude of their difference, the smaller of the two */
    value[NPI_COLUMN_DEGREE_SUM] = du + dv;
    value[NPI_COLUMN_DEGREE_DIFFERENCE] = fabsf(du - dv);
    value[NPI_COLUMN_DEGREE_LEAST] = du < dv ? du : dv;
    /* | N(u) ∩ N(v) | / | N(u) ∪ N(v) |,  | N(u) ∪ N(v) | = d_u + d_v - | N(u) ∩ N(v) | */
    int64_t degrees = e->a->ptr[u + 1] - e->a->ptr[u] + e->a->ptr[v + 1] - e->a->ptr[v]; /* d_u + d_v */
    value[NPI_COLUMN_COMMON] = (float)sqrt((double)walks.common);
    value[NPI_COLUMN_JACCARD] =
        degrees > walks.common ? (float)((double)walks.common / (double)(degrees - walks.common)) : 0;
    for (int t = 0; t < NPI_WALK_LIFTS; t++)
        value[NPI_COLUMN_LIFT2 + t] = (float)log1p(walks.lift[t]);
}

void npi_structure_walk(npi_columns_workspace *w, const npi_columns *e, int row)
{
    int32_t from = e->rows.from, to = e->rows.to, node = w->nodes[row];
    size_t n = (size_t)(to - from), on = (size_t)row * n;
    float *common = w->common + on, *jaccard = w->jaccard + on;
    double *lift = w->lift + NPI_WALK_LIFTS * on;
    if (e->rows.comm)
        npi_walks_part(common, lift, &w->walker, node, from, to);
    else
        npi_walks_row(common, lift, &w->walker, node);
    memset(jaccard, 0, n * sizeof *jaccard);
    for (int32_t i = 0; i < w->walker.count; i++) { /* the others have no neighbours in common */
        int32_t reached = w->walker.reached[i], j = reached - from;
        if (reached < from || reached >= to)
            continue;
        /* |∩| / (d_u + d_v - |∩|), then √ |∩| */
        npi_structure_finish(&common[j], &jaccard[j], e, node, reached);
    }
}

void npi_structure_rows(real *const *plane, const npi_columns_workspace *w, const npi_columns *e, const npi_met *met)
{
    size_t range = (size_t)met->count, cells = (size_t)w->count * range;
    for (int r = 0; r < w->count; r++) {
        size_t at = (size_t)r * range, on = (size_t)r * met->stride;
        npi_kernels_best()->degrees(plane[NPI_COLUMN_DEGREE_SUM] + at, plane[NPI_COLUMN_DEGREE_DIFFERENCE] + at,
                                    plane[NPI_COLUMN_DEGREE_LEAST] + at, met->log_degree, e->log_degree[w->nodes[r]],
                                    (int64_t)range);
        for (size_t j = 0; j < range; j++) { /* as npi_structure_walk left them */
            plane[NPI_COLUMN_COMMON][at + j] = (real)met->common[on + j];
            plane[NPI_COLUMN_JACCARD][at + j] = (real)met->jaccard[on + j];
        }
        for (int t = 0; t < NPI_WALK_LIFTS; t++)
            for (size_t j = 0; j < range; j++)
                plane[NPI_COLUMN_LIFT2 + t][at + j] = (real)met->lift[t][NPI_WALK_LIFTS * on + j];
    }
    for (int t = 0; t < NPI_WALK_LIFTS; t++) /* log(1 + lift) */
        npi_kernels_best()->slog(plane[NPI_COLUMN_LIFT2 + t], (int64_t)cells);
}
