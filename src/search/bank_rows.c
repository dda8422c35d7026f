#include "search/bank_rows.h"

#include <math.h>

#include "base/parallel.h"
#include "linalg/blas.h"

enum { ROWS = 256 }; /* nodes whose vectors are computed together */

static int find_block(npi_bank_layout *l, npi_bank_id bank, int is_centred)
{
    for (int b = 0; b < l->block_count; b++)
        if (l->blocks[b].bank == bank && l->blocks[b].is_centred == is_centred)
            return b;
    l->blocks[l->block_count] = (npi_bank_block){bank, is_centred, 0};
    return l->block_count++;
}

static void add_length(npi_bank_layout *l, npi_bank_id bank)
{
    for (int i = 0; i < l->length_count; i++)
        if (l->length[i] == bank)
            return;
    if (l->length_count < NPI_MOST_NUMBERS - 1)
        l->length[l->length_count++] = bank;
}

void npi_bank_layout_make(npi_bank_layout *l, const npi_columns *e)
{
    *l = (npi_bank_layout){0};
    for (int c = 0; c < e->plan.columns; c++) {
        const npi_column_spec *spec = &npi_column_specs[c];
        npi_operation operation = e->plan.operation[c];
        if (e->plan.term[c][0] < 0)
            continue;
        int is_centred = operation == NPI_CENTRED;
        l->terms[l->term_count++] = (npi_bank_term){find_block(l, spec->left, is_centred),
                                                    find_block(l, spec->right, is_centred), spec->weighting};
        if (operation == NPI_SLOG) { /* not a cosine: the lengths count */
            add_length(l, spec->left);
            add_length(l, spec->right);
        }
    }
    for (int b = 0; b < l->block_count; b++) {
        l->blocks[b].first = l->width;
        l->width += e->bank[l->blocks[b].bank].width;
    }
    l->numbers = l->width;
    l->width += 1 + l->length_count + 1;
}

static double length_of(const real *row, int width)
{
    double sum = 0;
    for (int c = 0; c < width; c++)
        sum += (double)row[c] * (double)row[c];
    return sqrt(sum);
}

void npi_bank_rows_fill(real *p, const npi_columns *e, const npi_bank_layout *l, const npi_vector_map *map,
                        int32_t node)
{
    for (int b = 0; b < l->block_count; b++) {
        const npi_bank *bank = &e->bank[l->blocks[b].bank];
        const real *row = npi_bank_row(bank, node);
        real *out = p + l->blocks[b].first;
        double square = 0;
        for (int c = 0; c < bank->width; c++) {
            out[c] = row[c];
            square += (double)row[c] * (double)row[c];
        }
        if (l->blocks[b].is_centred && square > 0)
            for (int c = 0; c < bank->width; c++)
                out[c] -= bank->mean[c];
        double length = l->blocks[b].is_centred ? length_of(out, bank->width) : sqrt(square);
        for (int c = 0; c < bank->width; c++)
            out[c] = square > 0 && length > 0 ? (real)((double)out[c] / length) : 0;
    }
    real *number = p + l->numbers;
    number[0] = e->log_degree[node];
    for (int i = 0; i < l->length_count; i++) {
        const npi_bank *bank = &e->bank[l->length[i]];
        number[1 + i] = (real)log(1e-3 + length_of(npi_bank_row(bank, node), bank->width));
    }
    for (int i = 0; map && i < 1 + l->length_count; i++)
        number[i] = (real)(((double)number[i] - map->offset[i]) * map->scale[i]);
    number[1 + l->length_count] = 1;
}

typedef struct rows_loop {
    real *row;           /* (count, width) */
    const int32_t *node; /* (count); NULL: 0, 1, ... */
    int64_t count;
    const npi_columns *e;
    const npi_vector_map *map;
    int width;
    real *scratch; /* (threads, ROWS, D) */
} rows_loop;

static void project_rows(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    size_t width = (size_t)l->map->layout.width;
    real *p = l->scratch + (size_t)npi_worker() * ROWS * width;
    for (int64_t part = first; part < last; part++) {
        int64_t from = part * ROWS, to = from + ROWS < l->count ? from + ROWS : l->count;
        for (int64_t i = from; i < to; i++)
            npi_bank_rows_fill(p + (size_t)(i - from) * width, l->e, &l->map->layout, l->map,
                               l->node ? l->node[i] : (int32_t)i);
        npi_gemm(l->row + from * l->width, l->width, p, (int)width, 0, l->map->weight, (int)width, 1, (int)(to - from),
                 l->width, (int)width, 1, 0);
    }
}

int npi_bank_rows_project(real *row, int width, const int32_t *node, int64_t count, const npi_vector_map *map,
                          const npgnn_predictor *p, npgnn_error *err)
{
    size_t all = (size_t)map->layout.width;
    real *scratch = npi_resize(&p->env, NULL, (size_t)p->threads * ROWS * all, sizeof *scratch, err);
    if (!scratch)
        return NPGNN_E_MEMORY;
    const rows_loop loop = {row, node, count, &p->applied.columns, map, width, scratch};
    npi_blas_begin(p->threads);
    npi_parallel(p->threads, (count + ROWS - 1) / ROWS, 1, project_rows, &loop);
    npi_blas_end(p->threads);
    npi_free(&p->env, scratch);
    return 0;
}
