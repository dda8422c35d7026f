#include "evidence/reduced.h"

#include <math.h>
#include <string.h>

#include "evidence/vectors.h"
#include "linalg/basis.h"
#include "linalg/dense.h"
#include "linalg/symmetric.h"

enum {
    SPARE = 16, /* dimensions beyond those that are kept */
    ROUNDS = 6,
    STREAM = 3,
    HARMONICS = 2, /* of the angle that a number becomes */
};

#define ANGLE 1.0471975511965976 /* π / 3: numbers from -1.5 to 1.5 fill half of a circle */

void npi_reduced_free(const npgnn_env *env, npi_reduced *reduced)
{
    npi_free(env, reduced->row);
    npi_free(env, reduced->around);
    npi_csr_free(env, &reduced->exact);
    npi_csr_free(env, &reduced->exact_t);
    npi_free(env, reduced->map);
    npi_free(env, reduced->exact_weight);
    memset(reduced, 0, sizeof *reduced);
}

/* Calls visit for every entry of X that is not zero, row by row. */
#define EACH_ENTRY(x, i, column, value, body)                                                                          \
    for (int32_t i = 0; i < (x)->n; i++) {                                                                             \
        if ((x)->dense) {                                                                                              \
            for (int32_t column = 0; column < (x)->f; column++) {                                                      \
                double value = (double)(x)->dense[(size_t)i * (size_t)(x)->f + (size_t)column];                        \
                if (value != 0) {                                                                                      \
                    body                                                                                               \
                }                                                                                                      \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int64_t entry = (x)->x.ptr[i]; entry < (x)->x.ptr[i + 1]; entry++) {                                  \
                int32_t column = (x)->x.col[entry];                                                                    \
                double value = (x)->x.val ? (double)(x)->x.val[entry] : 1;                                             \
                body                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Scales row i of a (rows, width) matrix by factor[i]. */
static void scale_rows(real *y, const real *x, const double *factor, int64_t rows, int width)
{
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < width; c++)
            y[i * width + c] = (real)((double)x[i * width + c] * factor[i]);
}

/* ---- the columns of tables ---- */

/* What becomes of a column of X that was made from a table. */
typedef struct table_column {
    int32_t first;    /* of its columns */
    int32_t missing;  /* angle: the column of X that says that the value is missing, -1: none is */
    int side;         /* of a two-sided graph: nodes of the other side do not have it */
    int angle, plain; /* 1: it is an angle; it has the weight 1 */
} table_column;

/* columns (f + 1): the last has the number of columns of the result. */
static void plan_columns(table_column *columns, const npi_encoding *encoding, int32_t f)
{
    for (int32_t i = 0; i < encoding->count; i++) {
        const npi_encoded *from = &encoding->columns[i];
        int number = from->kind == NPI_KIND_NUMBER || from->kind == NPI_KIND_DATE;
        int32_t flags = from->flags_missing, last = from->first + from->width - 1;
        for (int32_t c = from->first; c <= last; c++) {
            columns[c] = (table_column){.missing = -1, .side = from->side};
            if (flags && c == last)
                continue; /* that a value is missing is a word like others */
            columns[c].plain = number || from->kind == NPI_KIND_FLAG;
            /* counts, of which half are 0, are not centered: 0 is "none", and stays 0 */
            columns[c].angle = number && !(from->center == 0 && from->low == 0);
            columns[c].missing = flags ? last : -1;
        }
    }
    for (int32_t c = 0; c < f; c++)
        columns[c + 1].first = columns[c].first + (columns[c].angle ? 2 * HARMONICS : 1);
}

/* The row of the result that `row` (f) becomes, from *p on. Zeros may be among its entries. */
static void unfold_row(npi_csr *out, int64_t *p, const real *row, const table_column *columns, int32_t f)
{
    /* without any entry of its side a node is not in the table, rather than at the median of everything */
    int known[2] = {0, 0};
    for (int32_t c = 0; c < f; c++)
        known[columns[c].side] |= row[c] != 0;
    for (int32_t c = 0; c < f; c++) {
        const table_column *column = &columns[c];
        if (!column->angle && row[c] != 0) {
            out->col[*p] = column->first;
            out->val[(*p)++] = (float)row[c];
        }
        if (!column->angle || !known[column->side] || (column->missing >= 0 && row[column->missing] != 0))
            continue;
        for (int h = 0; h < HARMONICS; h++) {
            double angle = (h + 1) * (double)row[c] * ANGLE;
            out->col[*p] = column->first + 2 * h;
            out->val[(*p)++] = (float)(cos(angle) / sqrt(HARMONICS));
            out->col[*p] = column->first + 2 * h + 1;
            out->val[(*p)++] = (float)(sin(angle) / sqrt(HARMONICS));
        }
    }
}

/* The rows of this process of an encoded table, with numbers as angles. weight (columns of *out): 1, 0 where a column is
 * left out, or -1 where it depends on how many rows have the column. */
static int unfold(npi_features **out, double **weight, const npi_features *x, const npi_encoding *encoding,
                  const npi_partition *rows, const unsigned char *left_out, const npgnn_env *env, npgnn_error *err)
{
    int32_t f = x->f;
    npi_csr wide = {0};
    int64_t angles = 0, p = 0;
    table_column *columns = npi_alloc(env, (size_t)f + 1, sizeof *columns, err);
    real *row = npi_alloc(env, (size_t)f, sizeof *row, err);
    int code = columns && row ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        plan_columns(columns, encoding, f);
        for (int32_t c = 0; c < f; c++)
            angles += columns[c].angle;
        *weight = npi_alloc(env, (size_t)columns[f].first, sizeof **weight, err);
        code = *weight ? npi_csr_new(&wide, x->n, columns[f].first, x->nonzeros + 2 * HARMONICS * angles * x->n, 1, env,
                                     err)
                       : NPGNN_E_MEMORY;
    }
    for (int32_t i = 0; !code && i < x->n; i++) {
        const real *dense = x->dense ? x->dense + (size_t)i * (size_t)f : row;
        for (int64_t q = x->dense ? 0 : x->x.ptr[i]; !x->dense && q < x->x.ptr[i + 1]; q++)
            row[x->x.col[q]] = x->x.val ? (real)x->x.val[q] : 1;
        unfold_row(&wide, &p, dense, columns, f);
        wide.ptr[i + 1] = p;
        for (int64_t q = x->dense ? 0 : x->x.ptr[i]; !x->dense && q < x->x.ptr[i + 1]; q++)
            row[x->x.col[q]] = 0;
    }
    for (int32_t c = 0; !code && c < f; c++)
        for (int32_t to = columns[c].first; to < columns[c + 1].first; to++)
            (*weight)[to] = left_out && left_out[c] ? 0 : columns[c].plain ? 1 : -1;
    code = npi_comm_agree(rows->comm, code, err);
    if (!code)
        code = npi_comm_agree(rows->comm, npi_features_from_rows(out, &wide, rows, env, err), err); /* takes `wide` */
    else
        npi_csr_free(env, &wide);
    npi_free(env, columns);
    npi_free(env, row);
    return code;
}

/* ---- the reduced features ---- */

/* sum (f) += own (f), in the order of the processes. */
typedef struct counts {
    double *sum, *own;
} counts;

static void add_counts(void *arg, int64_t first, int64_t last)
{
    const counts *c = arg;
    for (int64_t i = first; i < last; i++)
        c->sum[i] += c->own[i];
}

/* idf (f) = log(1 + n / n_c), n_c rows of all processes have column c; weight_c where that is not negative, and 0 for a
 * column that is left out. inverse (r) = 1 / length of row i of X idf. count (f): n_c of own rows. All zeros before. */
static void weigh(double *idf, double *inverse, double *count, const npi_features *x, const npi_partition *rows,
                  const double *weight, const unsigned char *left_out)
{
    EACH_ENTRY(x, i, column, value, (void)value; count[column]++;)
    npi_comm_chain(rows->comm, idf, x->f, sizeof *idf, x->f, add_counts, &(counts){idf, count});
    for (int32_t c = 0; c < x->f; c++) {
        if (left_out && left_out[c])
            idf[c] = 0;
        else if (weight && weight[c] >= 0)
            idf[c] = weight[c];
        else
            idf[c] = log1p((double)rows->n / (idf[c] > 0 ? idf[c] : 1));
    }
    EACH_ENTRY(x, i, column, value, inverse[i] += value * idf[column] * value * idf[column];)
    for (int32_t i = 0; i < x->n; i++)
        inverse[i] = inverse[i] > 0 ? 1 / sqrt(inverse[i]) : 0;
}

/* From x, the rows of this process. weight (f), or NULL: see above. */
static int reduce(npi_reduced *out, npi_features *x, const npi_partition *rows, const double *weight,
                  const unsigned char *left_out, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = rows->n, own = x->n, f = x->f, smaller = n < f ? n : f;
    int width = smaller < NPI_REDUCED_WIDTH + SPARE ? smaller : NPI_REDUCED_WIDTH + SPARE;
    npi_reduced w = {.width = width < NPI_REDUCED_WIDTH ? width : NPI_REDUCED_WIDTH};
    npi_basis space = {0};  /* (f, width) right singular vectors */
    npgnn_env alone = *env; /* each process has all of them */
    alone.comm = NULL;
    *out = (npi_reduced){0};
    if (width == 0 || !npi_comm_any(rows->comm, x->nonzeros > 0))
        return 0;
    int code = npi_blas_open(env, err);
    if (!code)
        code = npi_features_transpose(x, err);
    double *idf = npi_alloc(env, (size_t)f, sizeof *idf, err);           /* log(1 + n / n_c) */
    double *count = npi_alloc(env, (size_t)f, sizeof *count, err);       /* n_c of own rows */
    double *inverse = npi_alloc(env, (size_t)own, sizeof *inverse, err); /* 1 / length of a row */
    double *values = npi_alloc(env, (size_t)width, sizeof *values, err);
    real *image = npi_alloc(env, (size_t)own * (size_t)width, sizeof *image, err); /* T V */
    size_t product = npi_features_mul_t_scratch(x, width, rows), square = npi_gemm_parts_scratch(rows, width, width);
    real *scratch = npi_resize(env, NULL, product > square ? product : square, sizeof *scratch, err);
    w.map = npi_alloc(env, (size_t)f * (size_t)w.width, sizeof *w.map, err);
    if (!code && (!idf || !count || !inverse || !values || !image || !scratch || !w.map))
        code = NPGNN_E_MEMORY;
    if (!code)
        code = npi_basis_new(&space, f, width, STREAM, &alone, err);
    code = npi_comm_agree(rows->comm, code, err);
    if (!code) {
        weigh(idf, inverse, count, x, rows, weight, left_out);
        npi_basis_orthonormalize(&space, env->threads);
    }
    /* V <- orthonormal basis of Tᵀ T V, several times;  T V = R X (idf V),  Tᵀ W = idf Xᵀ (R W) */
    for (int round = 0; !code && round <= ROUNDS; round++) {
        scale_rows(space.next, space.at, idf, f, width);
        npi_features_mul(image, x, space.next, width, width, env->threads);
        scale_rows(image, image, inverse, own, width);
        if (round == ROUNDS)
            break; /* image = T V, and V is as good as it gets */
        scale_rows(image, image, inverse, own, width);
        memset(space.at, 0, (size_t)f * (size_t)width * sizeof *space.at);
        npi_features_mul_t_parts(space.at, x, image, width, rows, scratch, env->threads);
        scale_rows(space.at, space.at, idf, f, width);
        npi_basis_orthonormalize(&space, env->threads);
        if (npi_comm_any(rows->comm, npi_env_stopped(env)))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while the features were analysed");
    }
    if (!code) {
        /* F = T V R, R the eigenvectors of (T V)ᵀ (T V): the directions in which rows differ most come first */
        double *gram = space.square, *vectors = space.square + width * width;
        memset(space.small, 0, (size_t)(width * width) * sizeof *space.small);
        npi_gemm_parts(space.small, image, width, image, width, rows, width, width, scratch, env->threads);
        for (int i = 0; i < width * width; i++)
            gram[i] = (double)space.small[i];
        npi_symmetric_eigen(values, vectors, gram, width);
        for (int i = 0; i < width; i++)
            for (int j = 0; j < w.width; j++)
                space.small[i * w.width + j] = (real)vectors[i * width + j];
        /* idf V R, from idf V of the last round */
        npi_gemm_rows(w.map, w.width, space.next, width, space.small, w.width, 0, f, w.width, width, 0, env->threads);
        w.row = npi_alloc(env, (size_t)own * (size_t)w.width, sizeof *w.row, err);
        code = npi_comm_agree(rows->comm, w.row ? 0 : NPGNN_E_MEMORY, err);
    }
    if (!code) {
        npi_gemm_rows(w.row, w.width, image, width, space.small, w.width, 0, own, w.width, width, 0, env->threads);
        npi_unit_rows(w.row, own, w.width);
    }
    npi_free(env, idf);
    npi_free(env, count);
    npi_free(env, inverse);
    npi_free(env, values);
    npi_free(env, image);
    npi_free(env, scratch);
    npi_basis_free(env, &space);
    if (code)
        npi_reduced_free(env, &w);
    else
        *out = w;
    return code;
}

/* The rows of this process: x itself, without others. */
static int own_rows(npi_features **out, npi_features *x, const npi_partition *rows, npgnn_error *err)
{
    if (rows->comm)
        return npi_comm_agree(rows->comm, npi_features_view(out, x, rows->from, rows->to, err), err);
    *out = npi_features_share(x);
    return 0;
}

/* Entry q of row i of x, stored either way. */
static double entry(int32_t *column, const npi_features *x, int32_t i, int64_t q)
{
    *column = x->dense ? (int32_t)q : x->x.col[q];
    return x->dense ? (double)x->dense[(int64_t)i * x->f + q] : x->x.val ? (double)x->x.val[q] : 1;
}

/* Σ (x_ic w_c)² of row i */
static double square_of(const npi_features *x, const double *weight, int32_t i)
{
    int64_t begin = x->dense ? 0 : x->x.ptr[i], end = x->dense ? x->f : x->x.ptr[i + 1];
    int32_t c;
    double square = 0;
    for (int64_t q = begin; q < end; q++) {
        double value = entry(&c, x, i, q) * weight[c];
        square += value * value;
    }
    return square;
}

/* T_ic from x_ic w_c and the square of its row */
static float exact_value(double value, double square)
{
    return square > 0 ? (float)(value / sqrt(square)) : 0;
}

/* Rows of T from row `first` on, of the nodes from to to - 1 of features x, with the weights idf of the columns. */
static void fill_exact(npi_csr *t, int32_t first, const npi_features *x, int32_t from, int32_t to, const double *idf)
{
    int64_t p = t->ptr[first];
    for (int32_t i = from; i < to; i++) {
        int64_t begin = x->dense ? 0 : x->x.ptr[i], end = x->dense ? x->f : x->x.ptr[i + 1];
        int32_t c;
        double square = square_of(x, idf, i);
        for (int64_t q = begin; q < end; q++) {
            double value = entry(&c, x, i, q) * idf[c];
            if (x->dense && value == 0)
                continue;
            t->col[p] = c;
            t->val[p++] = exact_value(value, square);
        }
        t->ptr[first + i - from + 1] = p;
    }
}

int npi_reduced_weigh_exact(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err)
{
    if (reduced->width == 0 || x->dense || x->encoding)
        return 0; /* few columns, or numbers: the reduced features say the same */
    double *idf = npi_alloc(env, (size_t)x->f, sizeof *idf, err);
    if (!idf)
        return NPGNN_E_MEMORY;
    for (int64_t p = 0; p < x->nonzeros; p++)
        idf[x->x.col[p]]++;
    for (int32_t c = 0; c < x->f; c++)
        idf[c] = log1p((double)x->n / (idf[c] > 0 ? idf[c] : 1));
    reduced->exact_weight = idf;
    reduced->exact_x = x;
    return 0;
}

double npi_reduced_overlap(const npi_features *x, const double *weight, int32_t u, int32_t v)
{
    double square_u = square_of(x, weight, u), square_v = square_of(x, weight, v), sum = 0;
    int64_t p = x->x.ptr[u], q = x->x.ptr[v];
    int32_t a, b;
    while (p < x->x.ptr[u + 1] && q < x->x.ptr[v + 1]) { /* both rows are in ascending order of their columns */
        double value_u = entry(&a, x, u, p), value_v = entry(&b, x, v, q);
        if (a == b)
            sum +=
                (double)exact_value(value_u * weight[a], square_u) * (double)exact_value(value_v * weight[b], square_v);
        p += a <= b;
        q += b <= a;
    }
    return sum;
}

int npi_reduced_keep_exact(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err)
{
    int code = reduced->exact_x ? 0 : npi_reduced_weigh_exact(reduced, x, env, err);
    if (code || !reduced->exact_x)
        return code;
    npi_csr t = {0}, transposed = {0};
    code = npi_csr_new(&t, x->n, x->f, x->nonzeros, 1, env, err);
    if (!code) {
        fill_exact(&t, 0, x, 0, x->n, reduced->exact_weight);
        code = npi_csr_transpose(&transposed, &t, env, err);
    }
    if (code) {
        npi_csr_free(env, &t);
        return code;
    }
    reduced->exact = t;
    reduced->exact_t = transposed;
    return 0;
}

int npi_reduced_index_exact(npi_reduced *reduced, const npi_partition *rows, const npgnn_env *env, npgnn_error *err)
{
    const npi_features *x = reduced->exact_x;
    if (!x || reduced->exact_t.ptr)
        return 0;
    npi_csr t = {0};
    int64_t entries = x->x.ptr[rows->to] - x->x.ptr[rows->from];
    int code = npi_csr_new(&t, rows->to - rows->from, x->f, entries, 1, env, err);
    if (!code) {
        fill_exact(&t, 0, x, rows->from, rows->to, reduced->exact_weight);
        code = npi_csr_transpose(&reduced->exact_t, &t, env, err);
    }
    npi_csr_free(env, &t);
    return code;
}

void npi_reduced_overlap_row(double *out, const npi_csr *by_column, const npi_features *x, const double *weight,
                             int32_t u)
{
    double square = square_of(x, weight, u);
    memset(out, 0, (size_t)by_column->cols * sizeof *out);
    for (int64_t p = x->x.ptr[u]; p < x->x.ptr[u + 1]; p++) {
        int32_t c;
        double value = entry(&c, x, u, p), exact = (double)exact_value(value * weight[c], square);
        for (int64_t q = by_column->ptr[c]; q < by_column->ptr[c + 1]; q++)
            out[by_column->col[q]] += exact * (double)by_column->val[q];
    }
}

int npi_reduced_project(npi_reduced *out, npi_features *x, const npi_projection *projection, const npgnn_env *env,
                        npgnn_error *err)
{
    npi_reduced w = {.width = projection->width};
    npi_partition rows = npi_partition_tall(x->n, env->comm);
    npi_features *own = NULL;
    *out = (npi_reduced){0};
    if (w.width == 0)
        return 0;
    int code = own_rows(&own, x, &rows, err);
    if (code)
        return code;
    w.row = npi_alloc(env, (size_t)own->n * (size_t)w.width, sizeof *w.row, err);
    w.around = npi_alloc(env, (size_t)own->n * (size_t)w.width, sizeof *w.around, err);
    real *inverse = npi_alloc(env, (size_t)own->n, sizeof *inverse, err);
    code = npi_comm_agree(env->comm, w.row && w.around && inverse ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        npi_features_inverse_lengths(inverse, own);
        npi_projection_rows(w.row, projection->weight, w.width, own, inverse, env->threads);
        npi_projection_rows(w.around, projection->around, w.width, own, inverse, env->threads);
        *out = w;
    } else {
        npi_reduced_free(env, &w);
    }
    npi_free(env, inverse);
    npi_features_free(own);
    return code;
}

int npi_reduced_new(npi_reduced *out, npi_features *x, const unsigned char *left_out, const npgnn_env *env,
                    npgnn_error *err)
{
    npi_partition rows = npi_partition_tall(x->n, env->comm);
    npi_features *own = NULL, *wide = NULL;
    double *weight = NULL;
    int code = own_rows(&own, x, &rows, err);
    if (!code && x->encoding)
        code = unfold(&wide, &weight, own, x->encoding, &rows, left_out, env, err);
    if (!code)
        code = reduce(out, wide ? wide : own, &rows, weight, wide ? NULL : left_out, env, err);
    npi_features_free(own);
    npi_features_free(wide);
    npi_free(env, weight);
    return code;
}

int npi_reduced_extend(npi_reduced *out, const npi_reduced *reduced, npi_features *x, const npgnn_env *env,
                       npgnn_error *err)
{
    npi_reduced more = {.width = reduced->width};
    npi_features *wide = NULL;
    double *weight = NULL;
    *out = (npi_reduced){0};
    if (reduced->width == 0)
        return 0;
    npi_partition all = npi_partition_whole(x->n);
    int code = x->encoding ? unfold(&wide, &weight, x, x->encoding, &all, NULL, env, err) : 0;
    more.row = npi_alloc(env, (size_t)x->n * (size_t)more.width, sizeof *more.row, err);
    if (!code && !more.row)
        code = NPGNN_E_MEMORY;
    if (!code) {
        npi_features_mul(more.row, wide ? wide : x, reduced->map, more.width, more.width, 1);
        npi_unit_rows(more.row, x->n, more.width);
    }
    const npi_csr *known = &reduced->exact;
    if (!code && known->ptr) {
        int64_t entries = known->ptr[known->rows];
        code = npi_csr_new(&more.exact, known->rows + x->n, known->cols, entries + x->nonzeros, 1, env, err);
        if (!code) {
            memcpy(more.exact.ptr, known->ptr, ((size_t)known->rows + 1) * sizeof *known->ptr);
            memcpy(more.exact.col, known->col, (size_t)entries * sizeof *known->col);
            memcpy(more.exact.val, known->val, (size_t)entries * sizeof *known->val);
            fill_exact(&more.exact, known->rows, x, 0, x->n, reduced->exact_weight);
            code = npi_csr_transpose(&more.exact_t, &more.exact, env, err);
        }
    }
    npi_features_free(wide);
    npi_free(env, weight);
    if (code)
        npi_reduced_free(env, &more);
    else
        *out = more;
    return code;
}
