/* The feature matrix X (n, f): how it is stored, and the matrices that are made from it.
 *
 * X is stored dense where at least a quarter of its elements are not zero, and as compressed sparse rows otherwise. A
 * sparse X whose values are all 1 stores no values. */
#include "features/features.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* From this share of non-zeros on, a dense matrix takes less memory and its product is faster. */
#define DENSE_FROM 0.25

static int is_dense(int64_t nonzeros, int32_t n, int32_t f)
{
    return f > 0 && n > 0 && (double)nonzeros >= DENSE_FROM * (double)n * (double)f;
}

/* X (n, f) without elements and with one reference. */
static npi_features *features_alloc(int32_t n, int32_t f, const npgnn_env *env, npgnn_error *err)
{
    npi_features *x = npi_alloc(env, 1, sizeof *x, err);
    if (x) {
        x->env = *env;
        x->references = 1;
        x->n = n;
        x->f = f;
    }
    return x;
}

/* ---- from a sparse or a dense matrix ---- */

/* Removes stored zeros in place. Returns whether all remaining values are 1. */
static int drop_zeros(npi_csr *a)
{
    int64_t kept = 0, begin = 0;
    int ones = 1;
    for (int32_t row = 0; row < a->rows; row++) {
        int64_t end = a->ptr[row + 1];
        for (int64_t p = begin; p < end; p++) {
            float value = a->val[p];
            if (value == 0)
                continue;
            ones = ones && value == 1;
            a->col[kept] = a->col[p];
            a->val[kept++] = value;
        }
        begin = end;
        a->ptr[row + 1] = kept;
    }
    return ones;
}

/* Adds the entries of this process. */
typedef struct entries_sum {
    int64_t sum, own;
} entries_sum;

static void add_entries(void *arg, int64_t first, int64_t last)
{
    entries_sum *entries = arg;
    (void)first;
    (void)last;
    entries->sum += entries->own;
}

int npi_features_from_rows(npi_features **out, npi_csr *csr, const npi_partition *rows, const npgnn_env *env,
                           npgnn_error *err)
{
    npi_features *x = features_alloc(csr->rows, csr->cols, env, err);
    int code = npi_comm_agree(rows->comm, x ? 0 : NPGNN_E_MEMORY, err);
    if (code) {
        npi_csr_free(env, csr);
        npi_features_free(x);
        return code;
    }
    if (csr->val && drop_zeros(csr)) {
        npi_free(env, csr->val);
        csr->val = NULL;
    }
    x->nonzeros = csr->ptr[csr->rows];
    entries_sum entries = {.own = x->nonzeros};
    npi_comm_chain(rows->comm, &entries.sum, 1, sizeof entries.sum, 1, add_entries, &entries);
    if (!is_dense(entries.sum, rows->n, x->f)) {
        x->x = *csr;
        memset(csr, 0, sizeof *csr);
        *out = x;
        return 0;
    }
    x->dense = npi_alloc(env, (size_t)x->n * (size_t)x->f, sizeof *x->dense, err);
    for (int32_t row = 0; x->dense && row < x->n; row++)
        for (int64_t p = csr->ptr[row]; p < csr->ptr[row + 1]; p++)
            x->dense[(size_t)row * (size_t)x->f + (size_t)csr->col[p]] = csr->val ? csr->val[p] : 1;
    npi_csr_free(env, csr);
    if (!x->dense) {
        npi_features_free(x);
        return NPGNN_E_MEMORY;
    }
    *out = x;
    return 0;
}

int npi_features_from_csr(npi_features **out, npi_csr *csr, const npgnn_env *env, npgnn_error *err)
{
    npi_partition all = npi_partition_whole(csr->rows);
    return npi_features_from_rows(out, csr, &all, env, err);
}

int npi_features_from_dense(npi_features **out, const float *dense, int32_t n, int32_t f, const npgnn_env *env,
                            npgnn_error *err)
{
    size_t elements = (size_t)n * (size_t)f;
    int64_t nonzeros = 0;
    for (size_t i = 0; i < elements; i++)
        nonzeros += dense[i] != 0;

    if (is_dense(nonzeros, n, f)) {
        npi_features *x = features_alloc(n, f, env, err);
        if (x)
            x->dense = npi_resize(env, NULL, elements, sizeof *x->dense, err);
        if (!x || !x->dense) {
            npi_features_free(x);
            return NPGNN_E_MEMORY;
        }
        for (size_t i = 0; i < elements; i++)
            x->dense[i] = dense[i];
        x->nonzeros = nonzeros;
        *out = x;
        return 0;
    }

    npi_csr csr;
    int code = npi_csr_new(&csr, n, f, nonzeros, 1, env, err);
    if (code)
        return code;
    int64_t p = 0;
    for (int32_t row = 0; row < n; row++) {
        for (int32_t c = 0; c < f; c++) {
            float value = dense[(size_t)row * (size_t)f + (size_t)c];
            if (value != 0) {
                csr.col[p] = c;
                csr.val[p++] = value;
            }
        }
        csr.ptr[row + 1] = p;
    }
    return npi_features_from_csr(out, &csr, env, err);
}

/* ---- in a mapped file ---- */

int npi_features_map(npi_features **out, const npi_csr *csr, float *dense, int64_t nonzeros, npi_mapping *mapping,
                     const npgnn_env *env, npgnn_error *err)
{
    npi_features *x = features_alloc(csr->rows, csr->cols, env, err);
    if (!x)
        return NPGNN_E_MEMORY;
    x->nonzeros = nonzeros;
    if (dense && sizeof *x->dense != sizeof *dense) { /* the double build */
        size_t elements = (size_t)x->n * (size_t)x->f;
        x->dense = npi_resize(env, NULL, elements, sizeof *x->dense, err);
        if (!x->dense) {
            npi_features_free(x);
            return NPGNN_E_MEMORY;
        }
        for (size_t i = 0; i < elements; i++)
            x->dense[i] = dense[i];
    } else {
        void *same = dense;
        x->dense = same;
        if (!dense)
            x->x = *csr;
        x->mapping = npi_mapping_share(mapping);
    }
    *out = x;
    return 0;
}

int npi_features_own(npi_features *x, npgnn_error *err)
{
    if (!x->mapping)
        return 0;
    npi_features copy = *x;
    if (x->dense) {
        copy.dense = npi_resize(&x->env, NULL, (size_t)x->n * (size_t)x->f, sizeof *copy.dense, err);
        if (!copy.dense)
            return NPGNN_E_MEMORY;
        memcpy(copy.dense, x->dense, (size_t)x->n * (size_t)x->f * sizeof *copy.dense);
    } else {
        size_t nonzeros = (size_t)x->nonzeros;
        if (npi_csr_new(&copy.x, x->n, x->f, x->nonzeros, x->x.val != NULL, &x->env, err))
            return NPGNN_E_MEMORY;
        memcpy(copy.x.ptr, x->x.ptr, ((size_t)x->n + 1) * sizeof *copy.x.ptr);
        memcpy(copy.x.col, x->x.col, nonzeros * sizeof *copy.x.col);
        if (copy.x.val)
            memcpy(copy.x.val, x->x.val, nonzeros * sizeof *copy.x.val);
    }
    npi_mapping_free(x->mapping);
    *x = copy;
    x->mapping = NULL;
    return 0;
}

/* ---- rows and columns of X as a new matrix ---- */

static int select_dense_rows(npi_features *out, const npi_features *x, const int32_t *rows, npgnn_error *err)
{
    size_t width = (size_t)x->f;
    out->dense = npi_resize(&x->env, NULL, (size_t)out->n * width, sizeof *out->dense, err);
    if (!out->dense)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < out->n; i++)
        memcpy(out->dense + (size_t)i * width, x->dense + (size_t)rows[i] * width, width * sizeof *out->dense);
    for (size_t i = 0; i < (size_t)out->n * width; i++)
        out->nonzeros += out->dense[i] != 0;
    return 0;
}

static int select_sparse_rows(npi_features *out, const npi_features *x, const int32_t *rows, npgnn_error *err)
{
    const npi_csr *a = &x->x;
    int64_t nonzeros = 0;
    for (int32_t i = 0; i < out->n; i++)
        nonzeros += a->ptr[rows[i] + 1] - a->ptr[rows[i]];
    int code = npi_csr_new(&out->x, out->n, x->f, nonzeros, a->val != NULL, &x->env, err);
    if (code)
        return code;
    out->nonzeros = nonzeros;
    for (int32_t i = 0; i < out->n; i++) {
        int64_t begin = a->ptr[rows[i]], length = a->ptr[rows[i] + 1] - begin, to = out->x.ptr[i];
        memcpy(out->x.col + to, a->col + begin, (size_t)length * sizeof *a->col);
        if (out->x.val)
            memcpy(out->x.val + to, a->val + begin, (size_t)length * sizeof *a->val);
        out->x.ptr[i + 1] = to + length;
    }
    return 0;
}

int npi_features_select_rows(npi_features **out, const npi_features *x, const int32_t *rows, int32_t count,
                             npgnn_error *err)
{
    npi_features *selected = features_alloc(count, x->f, &x->env, err);
    if (!selected)
        return NPGNN_E_MEMORY;
    selected->columns = npi_names_share(x->columns);
    selected->encoding = npi_encoding_share(x->encoding);
    int code = x->dense ? select_dense_rows(selected, x, rows, err) : select_sparse_rows(selected, x, rows, err);
    if (code) {
        npi_features_free(selected);
        return code;
    }
    *out = selected;
    return 0;
}

/* Copies the non-zeros of x, stored either way, to the rows of `csr` from row `first` on. */
static void append_rows(npi_csr *csr, int32_t first, const npi_features *x)
{
    int64_t p = csr->ptr[first];
    for (int32_t row = 0; row < x->n; row++) {
        if (x->dense) {
            const real *values = x->dense + (size_t)row * (size_t)x->f;
            for (int32_t c = 0; c < x->f; c++)
                if (values[c] != 0) {
                    csr->col[p] = c;
                    csr->val[p++] = (float)values[c];
                }
        } else {
            for (int64_t q = x->x.ptr[row]; q < x->x.ptr[row + 1]; q++) {
                csr->col[p] = x->x.col[q];
                csr->val[p++] = x->x.val ? x->x.val[q] : 1;
            }
        }
        csr->ptr[first + row + 1] = p;
    }
}

int npi_features_stack(npi_features **out, const npi_features *above, const npi_features *below, npgnn_error *err)
{
    npi_csr csr;
    npi_features *x = NULL;
    if (below->n > INT32_MAX - above->n)
        return npi_fail(err, NPGNN_E_ARGUMENT, "too many nodes: the limit is %d", INT32_MAX);
    int code = npi_csr_new(&csr, above->n + below->n, above->f, above->nonzeros + below->nonzeros, 1, &above->env, err);
    if (code)
        return code;
    append_rows(&csr, 0, above);
    append_rows(&csr, above->n, below);
    code = npi_features_from_csr(&x, &csr, &above->env, err);
    if (code)
        return code;
    x->columns = npi_names_share(above->columns);
    x->encoding = npi_encoding_share(above->encoding);
    *out = x;
    return 0;
}

/* Column c of x becomes column to[c]. Renaming the columns of a sparse matrix leaves its rows out of order; a
 * transposition writes rows in ascending order, so that two of them sort every row. */
static int permute_sparse(npi_features *out, const npi_features *x, const int32_t *to, npgnn_error *err)
{
    npi_csr renamed = x->x, transposed = {0};
    renamed.col = npi_resize(&out->env, NULL, (size_t)x->nonzeros, sizeof *renamed.col, err);
    if (!renamed.col)
        return NPGNN_E_MEMORY;
    for (int64_t p = 0; p < x->nonzeros; p++)
        renamed.col[p] = to[x->x.col[p]];
    int code = npi_csr_transpose(&transposed, &renamed, &out->env, err);
    npi_free(&out->env, renamed.col);
    if (!code)
        code = npi_csr_transpose(&out->x, &transposed, &out->env, err);
    npi_csr_free(&out->env, &transposed);
    return code;
}

int npi_features_permute_columns(npi_features **out, const npi_features *x, const int32_t *to, const npgnn_env *env,
                                 npgnn_error *err)
{
    size_t n = (size_t)x->n, width = (size_t)x->f;
    npi_features *permuted = features_alloc(x->n, x->f, env, err);
    if (!permuted)
        return NPGNN_E_MEMORY;
    permuted->nonzeros = x->nonzeros;
    int code = 0;
    if (x->dense) {
        permuted->dense = npi_resize(env, NULL, n * width, sizeof *permuted->dense, err);
        for (size_t i = 0; permuted->dense && i < n; i++)
            for (size_t c = 0; c < width; c++)
                permuted->dense[i * width + (size_t)to[c]] = x->dense[i * width + c];
        code = permuted->dense ? 0 : NPGNN_E_MEMORY;
    } else {
        code = permute_sparse(permuted, x, to, err);
    }
    if (code) {
        npi_features_free(permuted);
        return code;
    }
    *out = permuted;
    return 0;
}

int npi_features_transpose(npi_features *x, npgnn_error *err)
{
    npi_csr *none = NULL, *xt;
    if (x->dense || __atomic_load_n(&x->xt, __ATOMIC_ACQUIRE))
        return 0;
    xt = npi_alloc(&x->env, 1, sizeof *xt, err);
    if (!xt || npi_csr_transpose(xt, &x->x, &x->env, err)) {
        npi_free(&x->env, xt);
        return NPGNN_E_MEMORY;
    }
    /* two threads may get here at once: the first one publishes its transpose, the second one frees its equal copy */
    if (!__atomic_compare_exchange_n(&x->xt, &none, xt, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        npi_csr_free(&x->env, xt);
        npi_free(&x->env, xt);
    }
    return 0;
}

/* ---- values ---- */

void npi_features_binarize(npi_features *x)
{
    assert(!x->mapping);
    if (x->dense)
        for (size_t i = 0; i < (size_t)x->n * (size_t)x->f; i++)
            x->dense[i] = x->dense[i] != 0;
    npi_free(&x->env, x->x.val);
    x->x.val = NULL;
}

/* A row is divided by Σ |x|. A row of zeros stays as it is, and what is not zero does, too: it becomes the smallest
 * float rather than 0. */
static double share_of(double x, double sum)
{
    double share = x / (sum > 0 ? sum : 1);
    return (float)share == 0 && x != 0 ? copysign((double)FLT_TRUE_MIN, x) : share;
}

static void normalize_dense(real *row, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += fabs((double)row[i]);
    for (int32_t i = 0; i < count; i++)
        row[i] = (real)share_of((double)row[i], sum);
}

static void normalize_sparse(float *row, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs((double)row[i]);
    for (int64_t i = 0; i < count; i++)
        row[i] = (float)share_of((double)row[i], sum);
}

int npi_features_normalize(npi_features *x, npgnn_error *err)
{
    assert(!x->mapping);
    if (x->dense) {
        for (int32_t i = 0; i < x->n; i++)
            normalize_dense(x->dense + (size_t)i * (size_t)x->f, x->f);
        return 0;
    }
    if (!x->x.val) { /* values that were all 1 now need to be stored */
        x->x.val = npi_resize(&x->env, NULL, (size_t)x->nonzeros, sizeof *x->x.val, err);
        if (!x->x.val)
            return NPGNN_E_MEMORY;
        for (int64_t p = 0; p < x->nonzeros; p++)
            x->x.val[p] = 1;
    }
    for (int32_t i = 0; i < x->n; i++)
        normalize_sparse(x->x.val + x->x.ptr[i], x->x.ptr[i + 1] - x->x.ptr[i]);
    return 0;
}

typedef struct squares {
    const npi_features *x;
    double *sum;
} squares;

static void add_squares(void *arg, int64_t first, int64_t last)
{
    const squares *s = arg;
    const npi_features *x = s->x;
    size_t count = x->dense ? (size_t)x->n * (size_t)x->f : (size_t)x->nonzeros;
    (void)first;
    (void)last;
    for (size_t i = 0; i < count; i++) {
        double value = x->dense ? (double)x->dense[i] : x->x.val ? (double)x->x.val[i] : 1;
        *s->sum += value * value;
    }
}

double npi_features_rms_length(const npi_features *x, const npi_partition *rows)
{
    double sum = 0;
    squares s = {x, &sum};
    npi_comm_chain(rows->comm, &sum, 1, sizeof sum, 1, add_squares, &s);
    return sqrt(sum / (rows->n > 0 ? rows->n : 1));
}

/* ---- views ---- */

int npi_features_view(npi_features **out, npi_features *x, int32_t from, int32_t to, npgnn_error *err)
{
    npi_features *view = npi_alloc(&x->env, 1, sizeof *view, err);
    if (!view)
        return NPGNN_E_MEMORY;
    *view = (npi_features){
        .env = x->env, .references = 1, .n = to - from, .f = x->f, .viewed = npi_features_share(x), .first = from};
    if (x->dense) {
        view->dense = x->dense + (size_t)from * (size_t)x->f;
        for (size_t i = 0; i < (size_t)view->n * (size_t)x->f; i++)
            view->nonzeros += view->dense[i] != 0;
        *out = view;
        return 0;
    }
    int64_t start = x->x.ptr[from];
    view->nonzeros = x->x.ptr[to] - start;
    view->x =
        (npi_csr){.rows = view->n, .cols = x->f, .col = x->x.col + start, .val = x->x.val ? x->x.val + start : NULL};
    view->x.ptr = npi_alloc(&x->env, (size_t)view->n + 1, sizeof *view->x.ptr, err);
    if (!view->x.ptr) {
        npi_features_free(view);
        return NPGNN_E_MEMORY;
    }
    for (int32_t i = 0; i <= view->n; i++)
        view->x.ptr[i] = x->x.ptr[from + i] - start;
    *out = view;
    return 0;
}

/* ---- references ---- */

npi_features *npi_features_share(npi_features *x)
{
    __atomic_add_fetch(&x->references, 1, __ATOMIC_RELAXED);
    return x;
}

void npi_features_free(npi_features *x)
{
    if (!x || __atomic_sub_fetch(&x->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    npgnn_env env = x->env;
    if (x->viewed) {
        npi_free(&env, x->x.ptr); /* the values are those of another matrix */
    } else if (!x->mapping) {
        npi_csr_free(&env, &x->x);
        npi_free(&env, x->dense);
    }
    npi_features_free(x->viewed);
    npi_mapping_free(x->mapping);
    if (x->xt)
        npi_csr_free(&env, x->xt);
    npi_free(&env, x->xt);
    npi_names_free(x->columns);
    npi_encoding_free(x->encoding);
    npi_free(&env, x);
}
