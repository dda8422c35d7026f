#include "evidence/tfidf.h"

#include <math.h>
#include <string.h>

/* Entry q of row i of x, stored either way. */
static double value_at(int32_t *column, const npi_features *x, int32_t i, int64_t q)
{
    *column = x->dense ? (int32_t)q : x->x.col[q];
    return x->dense ? (double)x->dense[(int64_t)i * x->f + q] : x->x.val ? (double)x->x.val[q] : 1;
}

static int64_t row_begin(const npi_features *x, int32_t i)
{
    return x->dense ? 0 : x->x.ptr[i];
}

static int64_t row_end(const npi_features *x, int32_t i)
{
    return x->dense ? x->f : x->x.ptr[i + 1];
}

/* Σ (x_ic w_c)² of row i */
static double square_of(const npi_features *x, const double *weight, int32_t i)
{
    int32_t c;
    double square = 0;
    for (int64_t q = row_begin(x, i); q < row_end(x, i); q++) {
        double value = value_at(&c, x, i, q) * weight[c];
        square += value * value;
    }
    return square;
}

/* T_ic from x_ic w_c and the square of its row */
static float scaled(double value, double square)
{
    return square > 0 ? (float)(value / sqrt(square)) : 0;
}

/* The same of entry q of row i of sparse features. */
static float entry(const npi_tfidf *t, int32_t i, int64_t q, double square)
{
    int32_t c;
    double value = value_at(&c, t->x, i, q);
    return scaled(value * t->weight[c], square);
}

/* Rows of T from row `first` on: those of the nodes from to to - 1 of x. */
static void fill(npi_csr *t, int32_t first, const npi_features *x, int32_t from, int32_t to, const double *weight)
{
    int64_t p = t->ptr[first];
    for (int32_t i = from; i < to; i++) {
        int32_t c;
        double square = square_of(x, weight, i);
        for (int64_t q = row_begin(x, i); q < row_end(x, i); q++) {
            double value = value_at(&c, x, i, q) * weight[c];
            if (x->dense && value == 0)
                continue;
            t->col[p] = c;
            t->val[p++] = scaled(value, square);
        }
        t->ptr[first + i - from + 1] = p;
    }
}

int npi_tfidf_new(npi_tfidf *out, const npi_features *x, const npgnn_env *env, npgnn_error *err)
{
    *out = (npi_tfidf){0};
    if (x->dense || x->encoding)
        return 0;
    double *idf = npi_alloc(env, (size_t)x->f, sizeof *idf, err);
    if (!idf)
        return NPGNN_E_MEMORY;
    for (int64_t p = 0; p < x->nonzeros; p++)
        idf[x->x.col[p]]++; /* n_c, until the next loop */
    for (int32_t c = 0; c < x->f; c++)
        idf[c] = log1p((double)x->n / (idf[c] > 0 ? idf[c] : 1));
    *out = (npi_tfidf){.x = x, .weight = idf};
    return 0;
}

void npi_tfidf_free(const npgnn_env *env, npi_tfidf *t)
{
    npi_free(env, t->weight);
    npi_csr_free(env, &t->rows);
    npi_csr_free(env, &t->by_column);
    *t = (npi_tfidf){0};
}

int npi_tfidf_keep(npi_tfidf *t, const npgnn_env *env, npgnn_error *err)
{
    const npi_features *x = t->x;
    npi_csr rows = {0};
    if (!x || t->rows.ptr)
        return 0;
    int code = npi_csr_new(&rows, x->n, x->f, x->nonzeros, 1, env, err);
    if (!code) {
        fill(&rows, 0, x, 0, x->n, t->weight);
        code = npi_csr_transpose(&t->by_column, &rows, env, err);
    }
    if (code)
        npi_csr_free(env, &rows);
    else
        t->rows = rows;
    return code;
}

int npi_tfidf_index(npi_tfidf *t, const npi_partition *rows, const npgnn_env *env, npgnn_error *err)
{
    const npi_features *x = t->x;
    npi_csr own = {0};
    if (!x || t->by_column.ptr)
        return 0;
    int64_t entries = x->x.ptr[rows->to] - x->x.ptr[rows->from];
    int code = npi_csr_new(&own, rows->to - rows->from, x->f, entries, 1, env, err);
    if (!code) {
        fill(&own, 0, x, rows->from, rows->to, t->weight);
        code = npi_csr_transpose(&t->by_column, &own, env, err);
    }
    npi_csr_free(env, &own); /* the rows themselves are read from X: see npi_tfidf_row */
    return code;
}

/* Copies the rows of one matrix to the beginning of another. */
static void copy_rows(npi_csr *to, const npi_csr *from)
{
    size_t entries = (size_t)from->ptr[from->rows];
    memcpy(to->ptr, from->ptr, ((size_t)from->rows + 1) * sizeof *from->ptr);
    memcpy(to->col, from->col, entries * sizeof *from->col);
    memcpy(to->val, from->val, entries * sizeof *from->val);
}

int npi_tfidf_extend(npi_tfidf *out, const npi_tfidf *known, const npi_features *x, const npgnn_env *env,
                     npgnn_error *err)
{
    const npi_csr *rows = &known->rows;
    npi_csr all = {0}, by_column = {0};
    int64_t entries = rows->ptr[rows->rows] + x->nonzeros;
    int code = npi_csr_new(&all, rows->rows + x->n, rows->cols, entries, 1, env, err);
    if (!code) {
        copy_rows(&all, rows);
        /* with the weights of the known nodes: new ones do not change n or n_c, and so no row that is there */
        fill(&all, rows->rows, x, 0, x->n, known->weight);
        code = npi_csr_transpose(&by_column, &all, env, err);
    }
    if (code)
        npi_csr_free(env, &all);
    else
        *out = (npi_tfidf){.rows = all, .by_column = by_column};
    return code;
}

void npi_tfidf_move(npi_tfidf *t, npi_tfidf *from, const npgnn_env *env)
{
    npi_csr_free(env, &t->rows);
    npi_csr_free(env, &t->by_column);
    t->rows = from->rows;
    t->by_column = from->by_column;
    from->rows = from->by_column = (npi_csr){0};
}

/* T_u · T_v where T is kept: both rows are in ascending order of their columns. */
static double pair_of_rows(const npi_csr *t, int32_t u, int32_t v)
{
    int64_t p = t->ptr[u], q = t->ptr[v];
    double sum = 0;
    while (p < t->ptr[u + 1] && q < t->ptr[v + 1]) {
        int32_t a = t->col[p], b = t->col[q];
        if (a == b) /* T_uc T_vc */
            sum += (double)t->val[p] * (double)t->val[q];
        p += a <= b;
        q += b <= a;
    }
    return sum;
}

double npi_tfidf_pair(const npi_tfidf *t, int32_t u, int32_t v)
{
    if (t->rows.ptr)
        return pair_of_rows(&t->rows, u, v);
    /* From X. Each entry is rounded to a float, as it is in rows that are kept, so that the sum has the same bits. */
    const npi_csr *x = &t->x->x;
    double square_u = square_of(t->x, t->weight, u), square_v = square_of(t->x, t->weight, v), sum = 0;
    int64_t p = x->ptr[u], q = x->ptr[v];
    while (p < x->ptr[u + 1] && q < x->ptr[v + 1]) {
        int32_t a = x->col[p], b = x->col[q];
        if (a == b)
            sum += (double)entry(t, u, p, square_u) * (double)entry(t, v, q, square_v);
        p += a <= b;
        q += b <= a;
    }
    return sum;
}

void npi_tfidf_row(double *out, const npi_tfidf *t, int32_t u)
{
    const npi_csr *by_column = &t->by_column, *from = t->rows.ptr ? &t->rows : &t->x->x;
    double square = t->rows.ptr ? 0 : square_of(t->x, t->weight, u);
    /* out_v = Σ_c T_uc T_vc, feature by feature, so that only nodes with something in common are visited. Each sum is
     * in the order of the features, as in npi_tfidf_pair. */
    memset(out, 0, (size_t)by_column->cols * sizeof *out);
    for (int64_t p = from->ptr[u]; p < from->ptr[u + 1]; p++) {
        int32_t c = from->col[p];
        double value = (double)(t->rows.ptr ? from->val[p] : entry(t, u, p, square));
        for (int64_t q = by_column->ptr[c]; q < by_column->ptr[c + 1]; q++)
            out[by_column->col[q]] += value * (double)by_column->val[q];
    }
}
