/* The columns from degrees and walks: see NPI_STRUCTURE in table.h. */
#ifndef NPI_EVIDENCE_STRUCTURE_H
#define NPI_EVIDENCE_STRUCTURE_H

#include <math.h>

#include "evidence/columns.h"

/* What they need of the nodes that a node meets: those of a range, or of a list. */
typedef struct npi_met {
    int count;
    const float *log_degree; /* (count) */
    /* from the first node of a block; those from the next node are `stride` numbers on, its lifts 3 strides */
    size_t stride;
    const float *common, *jaccard;      /* (count) */
    const double *lift[NPI_WALK_LIFTS]; /* (count) */
} npi_met;

/* Fills these columns of one pair. */
void npi_structure_pair(float *value, npi_walker *walker, const npi_columns *columns, npgnn_pair pair);

/* common, jaccard and lift of the workspace, from node number `row` of its block. */
void npi_structure_walk(npi_columns_workspace *workspace, const npi_columns *columns, int row);

/* From the number of common neighbours of u and v to the two columns of it: √ of it, and its share of the union. */
static inline void npi_structure_finish(float *common, float *jaccard, const npi_columns *e, int32_t u, int32_t v)
{
    const int64_t *ptr = e->a->ptr;
    float degrees = (float)(ptr[u + 1] - ptr[u] + ptr[v + 1] - ptr[v]); /* d_u + d_v = |∩| + |∪| */
    *jaccard = degrees > *common ? *common / (degrees - *common) : 0;
    *common = sqrtf(*common);
}

/* Fills these columns of all nodes of a block: plane[c] (nodes, met->count) is that of column c. */
void npi_structure_rows(real *const *plane, const npi_columns_workspace *workspace, const npi_columns *columns,
                        const npi_met *met);

#endif
