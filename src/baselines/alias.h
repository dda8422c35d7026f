/* Drawing an index with given probabilities, in constant time: the alias method (Vose 1991, doi:10.1109/32.92917). */
#ifndef NPI_BASELINES_ALIAS_H
#define NPI_BASELINES_ALIAS_H

#include <stdint.h>

/* A cell keeps its own index while the fraction is below `keep`, and gives way to `other` above. */
typedef struct npi_alias {
    float keep;
    int32_t other;
} npi_alias;

/* Fills cells (count) for weights (count), which are >= 0, not all 0, and are overwritten. `stack` (count)
 * is scratch. */
void npi_alias_make(npi_alias *cells, double *weights, int32_t *stack, int32_t count);

/* An index from 32 random bits: their product with count is the cell, and how far into the cell. */
static inline int32_t npi_alias_draw(const npi_alias *cells, int32_t count, uint32_t bits)
{
    uint64_t product = (uint64_t)bits * (uint32_t)count;
    int32_t cell = (int32_t)(product >> 32);
    float fraction = (float)(uint32_t)product * 0x1p-32f;
    return fraction < cells[cell].keep ? cell : cells[cell].other;
}

#endif
