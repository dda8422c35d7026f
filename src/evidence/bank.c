#include "evidence/bank.h"

#include <string.h>

#include "base/parallel.h"
#include "evidence/reduced.h"
#include "evidence/vectors.h"
#include "linalg/dense.h"

static size_t own_rows(const npi_bank_source *from)
{
    return (size_t)(from->rows->to - from->rows->from);
}

/* ---- memory ---- */

npi_bank npi_bank_empty(npi_bank_id id, int width)
{
    /* a LONG bank's bound is found once its rows exist (npi_bank_bound); all other rows have at most length 1 */
    return (npi_bank){.width = width, .stride = width, .longest = npi_bank_specs[id].flags & NPI_BANK_LONG ? 0 : 1};
}

int npi_bank_allocate(npi_bank *bank, size_t rows, const npgnn_env *env, npgnn_error *err)
{
    bank->row = npi_alloc(env, rows * (size_t)bank->width, sizeof *bank->row, err);
    return bank->row ? 0 : NPGNN_E_MEMORY;
}

static void release(npi_bank *bank, const npgnn_env *env)
{
    if (!bank->is_borrowed) {
        npi_free(env, bank->row);
        bank->row = NULL;
    }
    npi_free(env, bank->mean);
    npi_free(env, bank->along);
    npi_free(env, bank->cross);
    npi_free(env, bank->distance);
    npi_free(env, bank->rounded);
    npi_free(env, bank->unit);
    /* width and stride stay: a bank that is not kept is made again by the next call */
    bank->mean = NULL;
    bank->along = bank->cross = NULL;
    bank->distance = bank->unit = NULL;
    bank->rounded = NULL;
}

void npi_banks_release(npi_bank banks[NPI_BANKS], npi_group group, const npgnn_env *env)
{
    for (int b = 0; b < NPI_BANKS; b++)
        if (npi_bank_specs[b].group == group)
            release(&banks[b], env);
}

void npi_banks_free(npi_bank banks[NPI_BANKS], const npgnn_env *env)
{
    for (int b = 0; b < NPI_BANKS; b++)
        release(&banks[b], env);
}

int npi_array_resize(void *array_pointer, int32_t capacity, size_t size, const npgnn_env *env, npgnn_error *err)
{
    void *array;
    /* array_pointer is a float **, double ** or the like, which C does not allow to be read as a void ** */
    memcpy(&array, array_pointer, sizeof array);
    void *larger = npi_resize(env, array, (size_t)capacity, size, err);
    if (!larger)
        return NPGNN_E_MEMORY;
    memcpy(array_pointer, &larger, sizeof larger);
    return 0;
}

int npi_bank_resize(npi_bank *bank, int32_t capacity, const npgnn_env *env, npgnn_error *err)
{
    int code = 0;
    /* borrowed rows are resized by their owner */
    if (bank->row && !bank->is_borrowed)
        code = npi_array_resize(&bank->row, capacity, (size_t)bank->width * sizeof *bank->row, env, err);
    if (!code && bank->along)
        code = npi_array_resize(&bank->along, capacity, sizeof *bank->along, env, err);
    if (!code && bank->cross)
        code = npi_array_resize(&bank->cross, capacity, sizeof *bank->cross, env, err);
    if (!code && bank->distance)
        code = npi_array_resize(&bank->distance, capacity, sizeof *bank->distance, env, err);
    return code;
}

void npi_banks_view(npi_view *view, const npi_bank banks[NPI_BANKS])
{
    for (int b = 0; b < NPI_BANKS; b++) {
        const npi_bank *from = &banks[b];
        view->bank[b] = (npi_bank_view){.row = from->row,
                                        .width = from->width,
                                        .stride = from->stride,
                                        .along = from->along,
                                        .cross = from->cross,
                                        .distance = from->distance,
                                        .square = from->square,
                                        .between = from->between};
    }
}

/* ---- means and distances ---- */

typedef struct rows_sum {
    double sum[NPI_REDUCED_WIDTH + 1]; /* sum of the rows, then the number of rows that are not zero */
    const npi_bank *bank;
    size_t rows;
} rows_sum;

static void add_rows(void *arg, int64_t first, int64_t last)
{
    rows_sum *s = arg;
    /* items of the sum: columns 0 to w - 1, then the number of rows that are not zero */
    int w = s->bank->width, end = last < w ? (int)last : w;
    for (size_t i = 0; i < s->rows; i++) {
        const real *row = npi_bank_row(s->bank, (int32_t)i);
        for (int c = (int)first; c < end; c++)
            s->sum[c] += (double)row[c];
        if (last > w)
            s->sum[w] += npi_dot(row, row, w) > 0.5; /* rows have length 1 or 0 */
    }
}

/* μ = Σ row / number of rows that are not zero, over the nodes of all processes. */
static void find_mean(npi_bank *bank, const npi_partition *rows)
{
    enum { CHUNK = 16 }; /* columns that travel at a time, so that all processes work at the same time */
    rows_sum s = {.bank = bank, .rows = (size_t)(rows->to - rows->from)};
    int w = bank->width;
    npi_comm_chain(rows->comm, s.sum, w + 1, sizeof *s.sum, CHUNK, add_rows, &s);
    for (int c = 0; c < w; c++)
        bank->mean[c] = s.sum[w] > 0 ? (real)(s.sum[c] / s.sum[w]) : 0;
    bank->square = npi_dot(bank->mean, bank->mean, w);
}

/* partner: NULL, or a bank with a mean. */
static void centre(npi_bank *bank, const npi_bank *partner, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last; i++) {
        const real *row = npi_bank_row(bank, i);
        double square = npi_dot(row, row, bank->width);
        bank->along[i] = npi_dot(row, bank->mean, bank->width);
        if (partner)
            bank->cross[i] = npi_dot(row, partner->mean, bank->width);
        /* |row - μ|² = row · row - 2 row · μ + μ · μ, in double: a row may be next to μ. Distance 0 means that there is
         * no cosine: the row is zero, or so close to μ that its direction is rounding error. */
        double apart = square - 2 * bank->along[i] + bank->square;
        bank->distance[i] = square > 0.5 && apart > 1e-9 ? (float)sqrt(apart) : 0;
    }
}

void npi_banks_measure(npi_bank banks[NPI_BANKS], npi_group group, int32_t first, int32_t last)
{
    for (int b = 0; b < NPI_BANKS; b++) {
        const npi_bank_spec *spec = &npi_bank_specs[b];
        npi_bank *bank = &banks[b];
        if (spec->group != group || !bank->row)
            continue;
        if (spec->flags & NPI_BANK_CENTRED)
            centre(bank, spec->partner == NPI_BANK_NONE ? NULL : &banks[spec->partner], first, last);
        /* |row|: what a cosine divides by, and the reach of COORDINATE (npi_columns_reach) */
        for (int32_t i = first; spec->flags & NPI_BANK_MEASURED && i < last; i++)
            bank->distance[i] = (float)sqrt(npi_dot(npi_bank_row(bank, i), npi_bank_row(bank, i), bank->width));
    }
}

void npi_bank_bound(npi_bank *bank, double *least_distance, int flags, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last; i++) {
        const real *row = npi_bank_row(bank, i);
        if (flags & NPI_BANK_LONG)
            bank->longest = fmax(bank->longest, sqrt(npi_dot(row, row, bank->width)));
        /* at distance 0 the column is 0, without a division */
        if (flags & NPI_BANK_CENTRED && bank->distance[i] > 0)
            *least_distance = fmin(*least_distance, (double)bank->distance[i]);
    }
}

/* ---- making ---- */

static int allocate(npi_bank banks[NPI_BANKS], npi_group group, const npi_bank_source *from, npgnn_error *err)
{
    const npgnn_env *env = from->env;
    int code = 0;
    /* where rows are not measured, each batch of pairs measures the rows that it fetches (batch.c) */
    size_t measured = from->measured ? own_rows(from) : 0;
    for (int b = 0; !code && b < NPI_BANKS; b++) {
        const npi_bank_spec *spec = &npi_bank_specs[b];
        npi_bank *bank = &banks[b];
        if (spec->group != group || bank->width == 0) /* width 0: the graph has no such bank */
            continue;
        if (spec->make != NPI_GIVEN)
            code = npi_bank_allocate(bank, own_rows(from), env, err);
        if (code || !(spec->flags & NPI_BANK_CENTRED))
            continue;
        bank->mean = npi_alloc(env, (size_t)bank->width, sizeof *bank->mean, err);
        bank->along = npi_alloc(env, measured, sizeof *bank->along, err);
        bank->distance = npi_alloc(env, measured, sizeof *bank->distance, err);
        bank->cross = spec->partner != NPI_BANK_NONE ? npi_alloc(env, measured, sizeof *bank->cross, err) : NULL;
        if (!bank->mean || !bank->along || !bank->distance || (spec->partner != NPI_BANK_NONE && !bank->cross))
            code = NPGNN_E_MEMORY;
    }
    return code;
}

/* out (r, width) = in (r, k) factor (k, width) */
static void multiply(npi_bank *out, const npi_bank *in, const real *factor, const npi_bank_source *from)
{
    npi_gemm_rows(out->row, out->width, in->row, in->width, factor, out->width, 0, (int64_t)own_rows(from), out->width,
                  in->width, 0, from->env->threads);
}

int npi_banks_make(npi_bank banks[NPI_BANKS], npi_group group, const npi_bank_source *from, npgnn_error *err)
{
    int32_t rows = (int32_t)own_rows(from);
    int code = npi_comm_agree(from->rows->comm, allocate(banks, group, from, err), err);
    /* in the order of the table, where a source comes before what is made from it */
    for (int b = 0; !code && b < NPI_BANKS; b++) {
        const npi_bank_spec *spec = &npi_bank_specs[b];
        npi_bank *bank = &banks[b];
        if (spec->group != group || spec->make == NPI_GIVEN || bank->width == 0)
            continue;
        const npi_bank *source = &banks[spec->source];
        switch (spec->make) {
        case NPI_SMOOTH:
            npi_spread_scale(from->links, npi_scale_padded, 1); /* D̃^-½: s_i = 1 / √(d_i + 1) */
            npi_spread_mul(bank->row, from->links, source->row, bank->width);
            break;
        case NPI_AVERAGE:
            npi_spread_average(bank->row, from->links, source->row, bank->width);
            break;
        case NPI_KERNEL:
            multiply(bank, source, from->kernel, from);
            break;
        case NPI_REGIONS:
            multiply(bank, source, from->to_region, from);
            break;
        case NPI_GIVEN:
            break;
        }
    }
    /* Unit length only now, since SMOOTH2 = Â SMOOTH1 is made from rows with their own lengths; then μ, a mean of unit
     * rows; then μ · ν, which needs the μ of both banks. */
    for (int b = 0; !code && b < NPI_BANKS; b++)
        if (npi_bank_specs[b].group == group && npi_bank_specs[b].flags & NPI_BANK_UNIT)
            npi_unit_rows(banks[b].row, rows, banks[b].width);
    for (int b = 0; !code && b < NPI_BANKS; b++)
        if (npi_bank_specs[b].group == group && banks[b].mean)
            find_mean(&banks[b], from->rows);
    for (int b = 0; !code && b < NPI_BANKS; b++) {
        npi_bank_id partner = npi_bank_specs[b].partner;
        if (npi_bank_specs[b].group == group && banks[b].mean && partner != NPI_BANK_NONE)
            banks[b].between = npi_dot(banks[b].mean, banks[partner].mean, banks[b].width);
    }
    /* structure banks are measured where their rows are filled (columns.c) */
    if (!code && from->measured && group < NPI_FEATURE_GROUPS)
        npi_banks_measure(banks, group, 0, rows);
    return code;
}
