/* The sums of exact.h. NPI_EXACT is the symbol of the table. -ffp-contract=off keeps a product and a sum two
 * roundings. */
#include "linalg/exact.h"

#include <string.h>

#define LANES 4
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef real reals __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real)), may_alias));

#define UNITS (4 * LANES) /* sums at a time: in registers while all inputs are added */

static void layer(double *y, const double *x, const real *w, int inputs, int width, int positive)
{
    enum { MOST = 128 };
    int16_t taken[MOST] = {
        0}; /* inputs that count: a list, since a branch per input would be guessed wrong every other time */
    for (int first = 0; first < inputs; first += MOST) {
        int last = inputs - first < MOST ? inputs : first + MOST, count = 0, j = 0;
        for (int i = first; i < last; i++) {
            taken[count] = (int16_t)(i - first);
            count += !positive || x[i] > 0;
        }
        const double *in = x + first;
        const real *rows = w + (size_t)first * (size_t)width;
        for (; j + UNITS <= width; j += UNITS) {
            lanes *sums = (lanes *)(y + j), a = sums[0], b = sums[1], c = sums[2], d = sums[3];
            for (int t = 0; t < count; t++) {
                const reals *row = (const reals *)(rows + (size_t)taken[t] * (size_t)width + j);
                double value = in[taken[t]];
                a += value * __builtin_convertvector(row[0], lanes);
                b += value * __builtin_convertvector(row[1], lanes);
                c += value * __builtin_convertvector(row[2], lanes);
                d += value * __builtin_convertvector(row[3], lanes);
            }
            sums[0] = a;
            sums[1] = b;
            sums[2] = c;
            sums[3] = d;
        }
        for (; j < width; j++)
            for (int t = 0; t < count; t++)
                y[j] += in[taken[t]] * (double)rows[(size_t)taken[t] * (size_t)width + (size_t)j];
    }
}

extern const npi_exact NPI_EXACT;
const npi_exact NPI_EXACT = {.layer = layer};
