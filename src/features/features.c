#include "features/features.h"

#include <math.h>
#include <string.h>

#define DENSE_FROM 0.25

static int is_dense(int64_t nonzeros, int32_t n, int32_t f)
{
    return f > 0 && n > 0 && (double)nonzeros >= DENSE_FROM * (double)n * (double)f;
}

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

/* Drops stored zeros in place; returns whether every value that is left is 1. */
static int csr_squeeze(npi_csr *a)
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

static int densify(npi_features *x, const npi_csr *a, npgnn_error *err)
{
    x->dense = npi_alloc(&x->env, (size_t)x->n * (size_t)x->f, sizeof *x->dense, err);
    if (!x->dense)
        return NPGNN_E_MEMORY;
    for (int32_t row = 0; row < x->n; row++)
        for (int64_t p = a->ptr[row]; p < a->ptr[row + 1]; p++)
            x->dense[(size_t)row * (size_t)x->f + (size_t)a->col[p]] = a->val ? a->val[p] : 1;
    return 0;
}

int npi_features_from_csr(npi_features **out, npi_csr *csr, const npgnn_env *env, npgnn_error *err)
{
    int code = 0;
    npi_features *x = features_alloc(csr->rows, csr->cols, env, err);
    if (!x) {
        npi_csr_free(env, csr);
        return NPGNN_E_MEMORY;
    }
    if (csr->val && csr_squeeze(csr)) {
        npi_free(env, csr->val);
        csr->val = NULL;
    }
    x->nonzeros = csr->ptr[csr->rows];
    if (is_dense(x->nonzeros, x->n, x->f)) {
        code = densify(x, csr, err);
        npi_csr_free(env, csr);
    } else {
        x->x = *csr;
        memset(csr, 0, sizeof *csr);
    }
    if (code) {
        npi_features_free(x);
        return code;
    }
    *out = x;
    return 0;
}

int npi_features_from_dense(npi_features **out, const float *dense, int32_t n, int32_t f, const npgnn_env *env,
                            npgnn_error *err)
{
    size_t cells = (size_t)n * (size_t)f;
    int64_t nonzeros = 0;
    npi_csr csr;
    for (size_t i = 0; i < cells; i++)
        nonzeros += dense[i] != 0;
    if (is_dense(nonzeros, n, f)) {
        npi_features *x = features_alloc(n, f, env, err);
        if (x)
            x->dense = npi_resize(env, NULL, cells, sizeof *x->dense, err);
        if (!x || !x->dense) {
            npi_features_free(x);
            return NPGNN_E_MEMORY;
        }
        for (size_t i = 0; i < cells; i++)
            x->dense[i] = dense[i];
        x->nonzeros = nonzeros;
        *out = x;
        return 0;
    }
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

static int dense_rows(npi_features *out, const npi_features *x, const int32_t *rows, npgnn_error *err)
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

static int sparse_rows(npi_features *out, const npi_features *x, const int32_t *rows, npgnn_error *err)
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
    npi_features *part = features_alloc(count, x->f, &x->env, err);
    if (!part)
        return NPGNN_E_MEMORY;
    part->columns = npi_names_share(x->columns);
    int code = x->dense ? dense_rows(part, x, rows, err) : sparse_rows(part, x, rows, err);
    if (code) {
        npi_features_free(part);
        return code;
    }
    *out = part;
    return 0;
}

/* Appends the rows of x to `csr`, from row `first` on. */
static void append_rows(npi_csr *csr, int32_t first, const npi_features *x)
{
    int64_t p = csr->ptr[first];
    for (int32_t row = 0; row < x->n; row++) {
        for (int32_t c = 0; x->dense && c < x->f; c++)
            if (x->dense[(size_t)row * (size_t)x->f + (size_t)c] != 0) {
                csr->col[p] = c;
                csr->val[p++] = (float)x->dense[(size_t)row * (size_t)x->f + (size_t)c];
            }
        for (int64_t q = x->dense ? 0 : x->x.ptr[row]; !x->dense && q < x->x.ptr[row + 1]; q++) {
            csr->col[p] = x->x.col[q];
            csr->val[p++] = x->x.val ? x->x.val[q] : 1;
        }
        csr->ptr[first + row + 1] = p;
    }
}

int npi_features_stack(npi_features **out, const npi_features *above, const npi_features *below, npgnn_error *err)
{
    npi_csr csr;
    npi_features *x = NULL;
    if (below->n > INT32_MAX - above->n)
        return npi_fail(err, NPGNN_E_ARGUMENT, "more than %d nodes", INT32_MAX);
    int code = npi_csr_new(&csr, above->n + below->n, above->f, above->nonzeros + below->nonzeros, 1, &above->env, err);
    if (code)
        return code;
    append_rows(&csr, 0, above);
    append_rows(&csr, above->n, below);
    code = npi_features_from_csr(&x, &csr, &above->env, err);
    if (code)
        return code;
    x->columns = npi_names_share(above->columns);
    *out = x;
    return 0;
}

static int dense_permuted(npi_features *out, const npi_features *x, const int32_t *to, npgnn_error *err)
{
    size_t width = (size_t)x->f;
    out->dense = npi_resize(&out->env, NULL, (size_t)out->n * width, sizeof *out->dense, err);
    if (!out->dense)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < (size_t)out->n; i++)
        for (size_t c = 0; c < width; c++)
            out->dense[i * width + (size_t)to[c]] = x->dense[i * width + c];
    return 0;
}

/* Rows out of order come out of two transpositions in order. */
static int sparse_permuted(npi_features *out, const npi_features *x, const int32_t *to, npgnn_error *err)
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
    npi_features *permuted = features_alloc(x->n, x->f, env, err);
    if (!permuted)
        return NPGNN_E_MEMORY;
    permuted->nonzeros = x->nonzeros;
    int code = x->dense ? dense_permuted(permuted, x, to, err) : sparse_permuted(permuted, x, to, err);
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
    /* whoever is first publishes; a thread that comes second drops its equal copy */
    if (!__atomic_compare_exchange_n(&x->xt, &none, xt, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        npi_csr_free(&x->env, xt);
        npi_free(&x->env, xt);
    }
    return 0;
}

void npi_features_binarize(npi_features *x)
{
    if (x->dense)
        for (size_t i = 0; i < (size_t)x->n * (size_t)x->f; i++)
            x->dense[i] = x->dense[i] != 0;
    npi_free(&x->env, x->x.val);
    x->x.val = NULL;
}

/* What a row is divided by: its sum of magnitudes; a row of zeros stays. */
#define ROW_NORM(sum) ((sum) > 0 ? (sum) : 1)

static void normalize_dense(real *row, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += fabs((double)row[i]);
    for (int32_t i = 0; i < count; i++)
        row[i] = (real)((double)row[i] / ROW_NORM(sum));
}

static void normalize_sparse(float *row, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs((double)row[i]);
    for (int64_t i = 0; i < count; i++)
        row[i] = (float)((double)row[i] / ROW_NORM(sum));
}

int npi_features_normalize(npi_features *x, npgnn_error *err)
{
    if (x->dense) {
        for (int32_t i = 0; i < x->n; i++)
            normalize_dense(x->dense + (size_t)i * (size_t)x->f, x->f);
        return 0;
    }
    if (!x->x.val) {
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

double npi_features_rms_length(const npi_features *x)
{
    double sum = 0;
    size_t count = x->dense ? (size_t)x->n * (size_t)x->f : (size_t)x->nonzeros;
    for (size_t i = 0; i < count; i++) {
        double value = x->dense ? (double)x->dense[i] : x->x.val ? (double)x->x.val[i] : 1;
        sum += value * value;
    }
    return sqrt(sum / (x->n > 0 ? x->n : 1));
}

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
    npi_csr_free(&env, &x->x);
    if (x->xt)
        npi_csr_free(&env, x->xt);
    npi_free(&env, x->xt);
    npi_free(&env, x->dense);
    npi_names_free(x->columns);
    npi_free(&env, x);
}
