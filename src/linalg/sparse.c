/* Sparse matrices in compressed rows: allocating, freeing, finding an entry, transposing. */
#include "linalg/sparse.h"

#include <string.h>

void npi_csr_free(const npgnn_env *env, npi_csr *a)
{
    npi_free(env, a->ptr);
    npi_free(env, a->col);
    npi_free(env, a->val);
    memset(a, 0, sizeof *a);
}

int64_t npi_csr_find(const npi_csr *a, int32_t row, int32_t col)
{
    int64_t low = a->ptr[row], high = a->ptr[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a->col[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->ptr[row + 1] && a->col[low] == col ? low : -1;
}

int npi_csr_new(npi_csr *out, int32_t rows, int32_t cols, int64_t nonzeros, int with_values, const npgnn_env *env,
                npgnn_error *err)
{
    npi_csr a = {rows, cols, NULL, NULL, NULL};
    a.ptr = npi_alloc(env, (size_t)rows + 1, sizeof *a.ptr, err);
    a.col = npi_alloc(env, (size_t)nonzeros, sizeof *a.col, err);
    if (with_values)
        a.val = npi_alloc(env, (size_t)nonzeros, sizeof *a.val, err);
    if (!a.ptr || !a.col || (with_values && !a.val)) {
        npi_csr_free(env, &a);
        return NPGNN_E_MEMORY;
    }
    *out = a;
    return 0;
}

int npi_csr_transpose(npi_csr *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    npi_csr t;
    int64_t nonzeros = a->ptr[a->rows];
    int code = npi_csr_new(&t, a->cols, a->rows, nonzeros, a->val != NULL, env, err);
    if (code)
        return code;
    /* ptr[c + 1] first counts column c, then holds where its next entry goes; it ends where row c + 1 begins */
    for (int64_t p = 0; p < nonzeros; p++)
        if (a->col[p] + 1 < t.rows)
            t.ptr[a->col[p] + 2]++;
    for (int32_t c = 1; c < t.rows; c++)
        t.ptr[c + 1] += t.ptr[c];
    for (int32_t row = 0; row < a->rows; row++)
        for (int64_t p = a->ptr[row]; p < a->ptr[row + 1]; p++) {
            int64_t slot = t.ptr[a->col[p] + 1]++;
            t.col[slot] = row;
            if (t.val)
                t.val[slot] = a->val[p];
        }
    *out = t;
    return 0;
}
