/* Rows of banks as 16-bit integers, for a quick first look at all partners of a node (predict/top.c). A row a of length |a| becomes
 *
 *     rounded_c = a_c / unit, rounded to the nearest integer,     unit = |a| / 32767
 *
 * so that the length of a rounded row is at most 32767 + 4 (64 numbers, each off by at most ½), and the sum of the products of two
 * rows is below 2^31. */
#include <math.h>
#include <string.h>

#include "evidence/rounded.h"
#include "evidence/vectors.h"

enum { BANKS = 10, REGION16 = 5 };

static void list_banks(npi_bank *banks[BANKS], npi_columns *e)
{
    npi_bank *all[BANKS] = {&e->features, &e->smooth1, &e->smooth2,    &e->means,      &e->ridge,
                            &e->region16, &e->region,  &e->coordinate, &e->projection, &e->projection_means};
    e->region16.width = e->region.width < 16 ? e->region.width : 16;
    memcpy(banks, all, sizeof all);
}

void npi_short_round(int16_t *rounded, float *unit, const real *row, int width)
{
    double length = sqrt(npi_dot(row, row, width));
    for (int c = width; c % NPI_SHORT_STEP != 0; c++)
        rounded[c] = 0;
    int sound = length > (double)FLT_MIN && length < (double)INFINITY;
    for (int c = 0; c < width; c++)
        rounded[c] = sound ? (int16_t)lrint((double)row[c] * (32767 / length)) : 0;
    *unit = (float)(length / 32767); /* a NaN in the row stays one in all of its products */
}

int npi_columns_reserve_rounded(npi_columns *e, int32_t capacity, npgnn_error *err)
{
    npi_bank *banks[BANKS];
    list_banks(banks, e);
    for (int b = 0; b < BANKS; b++) {
        npi_bank *bank = banks[b];
        if ((!bank->row && b != REGION16) || bank->width > NPI_SHORT_WIDTH)
            continue;
        size_t numbers = (size_t)capacity * (size_t)npi_short_width(bank);
        int16_t *rounded = npi_resize(&e->env, bank->rounded, numbers, sizeof *rounded, err);
        bank->rounded = rounded ? rounded : bank->rounded;
        float *unit = rounded ? npi_resize(&e->env, bank->unit, (size_t)capacity, sizeof *unit, err) : NULL;
        bank->unit = unit ? unit : bank->unit;
        if (!unit)
            return NPGNN_E_MEMORY;
    }
    return 0;
}

void npi_columns_round_rows(npi_columns *e, int32_t first, int32_t last)
{
    npi_bank *banks[BANKS];
    list_banks(banks, e);
    for (int b = 0; b < BANKS; b++) {
        const npi_bank *bank = banks[b], *from = b == REGION16 ? &e->region : bank;
        for (int32_t i = first; bank->rounded && i < last; i++)
            npi_short_round(bank->rounded + (size_t)i * (size_t)npi_short_width(bank), &bank->unit[i],
                            from->row + (size_t)i * (size_t)from->width, bank->width);
    }
}

int npi_columns_round(npi_columns *e, npgnn_error *err)
{
    int code = npi_columns_reserve_rounded(e, e->capacity, err);
    if (!code)
        code = npi_spare_new(&e->spare, &e->env, err);
    e->is_rounded = !code;
    if (!code)
        npi_columns_round_rows(e, 0, e->n);
    return code;
}
