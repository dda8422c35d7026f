/* Integers for a quick first look at all partners of a node (predict/top.c). A row a of a bank becomes
 *
 *     rounded_c = a_c / unit, rounded to the nearest of -127 ... 127,     unit = max |a_c| / 127
 *
 * and off = |a - unit rounded| is kept: the product of a with a vector x is off by at most |x| off. The vectors of the node that is asked
 * about are rounded to 16 bits with unit = |x| / 32767, so that each is off by at most 4 / 32767 of its length (64 numbers, each off by at
 * most half a unit). The length of a rounded x is at most 32767 + 4 and that of a rounded row at most 8 · 127: their product is below 2^31. */
#include <math.h>
#include <string.h>

#include "evidence/rounded.h"
#include "evidence/vectors.h"

enum { BANKS = 10, REGION16 = 5 };

/* distance[b]: what a column divides products with the rows of bank b by, for each node; NULL: by nothing. */
static void list_banks(npi_bank *banks[BANKS], const float *distance[BANKS], npi_columns *e)
{
    npi_bank *all[BANKS] = {&e->features, &e->smooth1, &e->smooth2,    &e->means,      &e->ridge,
                            &e->region16, &e->region,  &e->coordinate, &e->projection, &e->projection_means};
    e->region16.width = e->region.width < 16 ? e->region.width : 16;
    for (int b = 0; b < BANKS; b++) {
        banks[b] = all[b];
        distance[b] = b == REGION16 ? e->length16 : all[b]->distance;
    }
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

void npi_byte_round(int8_t *rounded, float *unit, float *off, const real *row, int width)
{
    double most = 0, length = sqrt(npi_dot(row, row, width)), square = 0;
    for (int c = 0; c < width; c++)
        most = fabs((double)row[c]) > most ? fabs((double)row[c]) : most;
    int sound = most > 1e-30 && length < (double)INFINITY;
    *unit = sound ? (float)(most / 127) : 0 * (float)length; /* a NaN in the row stays one in all of its products */
    for (int c = 0; c < width; c++) {
        rounded[c] = sound ? (int8_t)lrint((double)row[c] / (double)*unit) : 0;
        double apart = (double)row[c] - (double)*unit * rounded[c];
        square += apart * apart;
    }
    for (int c = width; c % NPI_SHORT_STEP != 0; c++)
        rounded[c] = 0;
    *off = (float)(1.000001 * sqrt(square));
}

int npi_columns_reserve_rounded(npi_columns *e, int32_t capacity, npgnn_error *err)
{
    npi_bank *banks[BANKS];
    const float *distance[BANKS];
    size_t blocks = ((size_t)capacity + NPI_ROUNDED_BLOCK - 1) / NPI_ROUNDED_BLOCK;
    size_t rounded_before = e->is_rounded ? ((size_t)e->capacity + NPI_ROUNDED_BLOCK - 1) / NPI_ROUNDED_BLOCK : 0;
    list_banks(banks, distance, e);
    for (int b = 0; b < BANKS; b++) {
        npi_bank *bank = banks[b];
        if ((!bank->row && b != REGION16) || bank->width > NPI_SHORT_WIDTH)
            continue;
        size_t numbers = (size_t)capacity * (size_t)npi_short_width(bank);
        int8_t *rounded = npi_resize(&e->env, bank->rounded, numbers, sizeof *rounded, err);
        bank->rounded = rounded ? rounded : bank->rounded;
        float **arrays[] = {&bank->unit, &bank->off, &bank->off_divided};
        for (int a = 0; a < (distance[b] ? 3 : 2); a++) {
            size_t numbers_of = a == 0 ? (size_t)capacity : blocks;
            float *array = rounded ? npi_resize(&e->env, *arrays[a], numbers_of, sizeof *array, err) : NULL;
            if (!array)
                return NPGNN_E_MEMORY;
            *arrays[a] = array;
            for (size_t i = rounded_before; a > 0 && i < blocks; i++)
                array[i] = 0;
        }
    }
    return 0;
}

void npi_columns_round_rows(npi_columns *e, int32_t first, int32_t last)
{
    npi_bank *banks[BANKS];
    const float *distance[BANKS];
    list_banks(banks, distance, e);
    for (int b = 0; b < BANKS; b++) {
        const npi_bank *bank = banks[b], *from = b == REGION16 ? &e->region : bank;
        for (int32_t i = first; bank->rounded && i < last; i++) {
            int32_t block = i / NPI_ROUNDED_BLOCK;
            float off;
            npi_byte_round(bank->rounded + (size_t)i * (size_t)npi_short_width(bank), &bank->unit[i], &off,
                           from->row + (size_t)i * (size_t)from->width, bank->width);
            /* that of rows that were replaced stays: it is at least as large. A NaN stays out: products with its row are NaN, too */
            bank->off[block] = off > bank->off[block] ? off : bank->off[block];
            float divided = distance[b] && distance[b][i] > 0 ? off / distance[b][i] : 0;
            if (distance[b])
                bank->off_divided[block] = divided > bank->off_divided[block] ? divided : bank->off_divided[block];
        }
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
