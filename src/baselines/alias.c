/* Builds the table of the alias method: cell i gives i with probability keep_i and otherwise other_i. All cells are
 * drawn equally often, and index i is drawn with probability weight_i / Σ weight. */
#include "baselines/alias.h"

/* Cells below the average are filled up from one above, until all are level. The stack holds those below from its
 * bottom and those above from its top; together they are never more than count. */
void npi_alias_make(npi_alias *cells, double *weights, int32_t *stack, int32_t count)
{
    int32_t below = 0, above = count;
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += weights[i];
    for (int32_t i = 0; i < count; i++) {
        weights[i] *= count / sum;
        cells[i] = (npi_alias){1, i};
        if (weights[i] < 1)
            stack[below++] = i;
        else
            stack[--above] = i;
    }
    while (below > 0 && above < count) {
        int32_t small = stack[--below], large = stack[above];
        cells[small] = (npi_alias){(float)weights[small], large};
        weights[large] -= 1 - weights[small];
        if (weights[large] < 1) {
            above++;
            stack[below++] = large;
        }
    }
    /* what is left is level but for rounding */
}
