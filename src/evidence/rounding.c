/* Integers for a quick first look at all partners of a node (search/search.c). A row a of a bank becomes
 *
 *     rounded_c = a_c / unit, rounded to the nearest of -127 ... 127,     unit = max |a_c| / 127
 *
 * so that the product of a with a vector x is off by at most |x| unit off, with off = |a / unit - rounded|, about 2.3
 * for 64 numbers, of which the largest of all rows is kept. The vectors of the node that is asked about are rounded to
 * 16 bits with unit = |x| / 32767, so that each is off by at most 4 / 32767 of its length (64 numbers, each off by at
 * most half a unit). The length of a rounded x is at most 32767 + 4 and that of a rounded row at most 8 · 127: their
 * product is below 2^31. */
#include <math.h>
#include <string.h>

#include "evidence/rounding.h"
#include "evidence/vectors.h"

enum { BANKS = 10, REGION16 = 5 };

static void list_banks(npi_bank *banks[BANKS], npi_columns *e)
{
    npi_bank *all[BANKS] = {&e->features, &e->smooth1, &e->smooth2,    &e->means,      &e->ridge,
                            &e->region16, &e->region,  &e->coordinate, &e->projection, &e->projection_around};
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

void npi_byte_round(int8_t *rounded, float *unit, float *off, const real *row, int width)
{
    double most = 0, length = sqrt(npi_dot(row, row, width)), square = 0;
    for (int c = 0; c < width; c++)
        most = fabs((double)row[c]) > most ? fabs((double)row[c]) : most;
    int sound = most > 1e-30 && length < (double)INFINITY;   /* less than that is nothing */
    *unit = sound ? (float)(most / 127) : 0 * (float)length; /* a NaN in the row stays one in all of its products */
    for (int c = 0; c < width; c++) {
        double exact = sound ? (double)row[c] / (double)*unit : 0;
        rounded[c] = (int8_t)lrint(exact);
        square += (exact - rounded[c]) * (exact - rounded[c]);
    }
    for (int c = width; c % NPI_SHORT_STEP != 0; c++)
        rounded[c] = 0;
    *off = (float)(1.000001 * sqrt(square));
}

/* Where number c of row `place` is in its group. */
static int in_group(int place, int c)
{
    return NPI_SHORT_GROUP * (c - c % 2) + 2 * place + c % 2;
}

int npi_columns_reserve_rounded(npi_columns *e, int32_t capacity, npgnn_error *err)
{
    npi_bank *banks[BANKS];
    list_banks(banks, e);
    for (int b = 0; b < BANKS; b++) {
        npi_bank *bank = banks[b];
        if ((!bank->row && b != REGION16) || bank->width > NPI_SHORT_WIDTH)
            continue;
        int width = npi_short_width(bank), rest = e->n % NPI_SHORT_GROUP; /* rows in the last group of all nodes */
        size_t whole = ((size_t)capacity + NPI_SHORT_GROUP - 1) / NPI_SHORT_GROUP * NPI_SHORT_GROUP;
        size_t numbers = whole * (size_t)width, used = (size_t)(e->n - rest) * (size_t)width;
        int8_t *rounded = npi_resize(&e->env, bank->rounded, numbers, sizeof *rounded, err);
        bank->rounded = rounded ? rounded : bank->rounded;
        float *unit = rounded ? npi_resize(&e->env, bank->unit, (size_t)capacity, sizeof *unit, err) : NULL;
        bank->unit = unit ? unit : bank->unit;
        if (!unit)
            return NPGNN_E_MEMORY;
        /* whole groups are multiplied: rows that nobody has written yet are zeros */
        for (int place = rest; rest > 0 && place < NPI_SHORT_GROUP; place++)
            for (int c = 0; c < width; c++)
                rounded[used + (size_t)in_group(place, c)] = 0;
        used += rest > 0 ? (size_t)NPI_SHORT_GROUP * (size_t)width : 0;
        memset(rounded + used, 0, numbers - used);
    }
    return 0;
}

void npi_columns_round_rows(npi_columns *e, int32_t first, int32_t last)
{
    npi_bank *banks[BANKS];
    list_banks(banks, e);
    for (int b = 0; b < BANKS; b++) {
        npi_bank *bank = banks[b];
        const npi_bank *from = b == REGION16 ? &e->region : bank;
        for (int32_t i = first; bank->rounded && i < last; i++) {
            int8_t row[NPI_SHORT_WIDTH], *group;
            int width = npi_short_width(bank), place = i % NPI_SHORT_GROUP;
            float off;
            npi_byte_round(row, &bank->unit[i], &off, from->row + (size_t)i * (size_t)from->width, bank->width);
            group = bank->rounded + (size_t)(i - place) * (size_t)width;
            for (int c = 0; c < width; c++)
                group[in_group(place, c)] = row[c];
            bank->off = off > bank->off ? off : bank->off; /* a NaN stays out: all products with its row are NaN */
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
