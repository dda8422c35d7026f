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
    HARMONICS = 2, /* harmonics of the angle that a number becomes */
};

#define ANGLE 1.0471975511965976 /* π / 3: numbers from -1.5 to 1.5 fill half of a circle */

void npi_reduced_free(const npgnn_env *env, npi_reduced *reduced)
{
    npi_free(env, reduced->row);
    npi_free(env, reduced->neighbor_row);
    npi_tfidf_free(env, &reduced->tfidf);
    npi_free(env, reduced->map);
    memset(reduced, 0, sizeof *reduced);
}

int npi_reduced_keep_tfidf(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err)
{
    int code = reduced->width > 0 ? npi_tfidf_new(&reduced->tfidf, x, env, err) : 0;
    return code ? code : npi_tfidf_keep(&reduced->tfidf, env, err);
}

int npi_reduced_reserve(npi_reduced *reduced, int32_t capacity, const npgnn_env *env, npgnn_error *err)
{
    size_t row = (size_t)reduced->width * sizeof(real);
    real **const blocks[] = {&reduced->row, &reduced->neighbor_row};
    for (int i = 0; i < 2; i++) {
        real *larger = *blocks[i] ? npi_resize(env, *blocks[i], (size_t)capacity, row, err) : NULL;
        if (*blocks[i] && !larger)
            return NPGNN_E_MEMORY;
        *blocks[i] = larger;
    }
    return 0;
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
    int32_t first;    /* first column of X that it became */
    int32_t missing;  /* angle: the column of X that says that the value is missing, -1: none is */
    int side;         /* side of a two-sided graph whose nodes have it; nodes of the other side do not */
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
            /* (cos (h + 1) θ, sin (h + 1) θ) / √2: the four numbers together have length 1 */
            double angle = (h + 1) * (double)row[c] * ANGLE;
            out->col[*p] = column->first + 2 * h;
            out->val[(*p)++] = (float)(cos(angle) / sqrt(HARMONICS));
            out->col[*p] = column->first + 2 * h + 1;
            out->val[(*p)++] = (float)(sin(angle) / sqrt(HARMONICS));
        }
    }
}

/* The rows of this process of an encoded table, with numbers as angles. weight (columns of *out): 1, 0 where a column
 * is left out, or -1 where it depends on how many rows have the column. */
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
        /* entries at most: those of X, and 2 HARMONICS per node and angle, since 0, the median, has an angle, too */
        code = *weight ? npi_csr_new(&wide, x->n, columns[f].first, x->nonzeros + 2 * HARMONICS * angles * x->n, 1, env,
                                     err)
                       : NPGNN_E_MEMORY;
    }
    /* row (f) is zeros between two nodes: a sparse row is spread into it, and its places are cleared again */
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
    /* n_c over all processes, in the memory of idf_c */
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
    /* |row i of X idf|², then 1 / its root */
    EACH_ENTRY(x, i, column, value, inverse[i] += value * idf[column] * value * idf[column];)
    for (int32_t i = 0; i < x->n; i++)
        inverse[i] = inverse[i] > 0 ? 1 / sqrt(inverse[i]) : 0;
}

/* From x, the rows of this process. weight (f), or NULL: see above. */
static int reduce(npi_reduced *out, npi_features *x, const npi_partition *rows, const double *weight,
                  const unsigned char *left_out, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = rows->n, own = x->n, f = x->f, smaller = n < f ? n : f; /* T has at most that rank */
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
    /* V <- orthonormal basis of Tᵀ T V, several times. T = L X diag(idf) with L = diag(inverse) is never formed:
     * T V = L (X (idf V)),  Tᵀ W = idf (Xᵀ (L W)). */
    for (int round = 0; !code && round <= ROUNDS; round++) {
        scale_rows(space.next, space.at, idf, f, width); /* idf V */
        npi_features_mul(image, x, space.next, width, width, env->threads);
        scale_rows(image, image, inverse, own, width); /* W = T V */
        if (round == ROUNDS)
            break;                                     /* image = T V, and V is as good as it gets */
        scale_rows(image, image, inverse, own, width); /* L W */
        memset(space.at, 0, (size_t)f * (size_t)width * sizeof *space.at);
        npi_features_mul_t_parts(space.at, x, image, width, rows, scratch, env->threads);
        scale_rows(space.at, space.at, idf, f, width); /* Tᵀ W */
        npi_basis_orthonormalize(&space, env->threads);
        if (npi_comm_any(rows->comm, npi_env_stopped(env)))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while the features were analysed");
    }
    if (!code) {
        /* F = T V E, E the eigenvectors of (T V)ᵀ (T V): the directions in which rows differ most come first, and the
         * SPARE ones are dropped */
        double *gram = space.square, *vectors = space.square + width * width;
        memset(space.small, 0, (size_t)(width * width) * sizeof *space.small);
        npi_gemm_parts(space.small, image, width, image, width, rows, width, width, scratch, env->threads);
        for (int i = 0; i < width * width; i++)
            gram[i] = (double)space.small[i];
        npi_symmetric_eigen(values, vectors, gram, width);
        for (int i = 0; i < width; i++)
            for (int j = 0; j < w.width; j++)
                space.small[i * w.width + j] = (real)vectors[i * width + j];
        /* map = idf V E, from idf V of the last round; without L, which only scales rows that are made unit anyway */
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
    w.neighbor_row = npi_alloc(env, (size_t)own->n * (size_t)w.width, sizeof *w.neighbor_row, err);
    real *inverse = npi_alloc(env, (size_t)own->n, sizeof *inverse, err);
    code = npi_comm_agree(env->comm, w.row && w.neighbor_row && inverse ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        /* u_i = Wᵀ x_i / |x_i|,  q_i = Qᵀ x_i / |x_i| */
        npi_features_inverse_lengths(inverse, own);
        npi_projection_rows(w.row, projection->weight, w.width, own, inverse, env->threads);
        npi_projection_rows(w.neighbor_row, projection->around, w.width, own, inverse, env->threads);
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
    if (!code) /* the weights of a table are 0 already for what is left out */
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
    if (!code && reduced->tfidf.rows.ptr)
        code = npi_tfidf_extend(&more.tfidf, &reduced->tfidf, x, env, err);
    npi_features_free(wide);
    npi_free(env, weight);
    if (code)
        npi_reduced_free(env, &more);
    else
        *out = more;
    return code;
}
