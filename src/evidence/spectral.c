#include "evidence/spectral.h"

#include <math.h>
#include <string.h>

#include "evidence/spread.h"
#include "linalg/basis.h"

enum {
    NODES_PER_DIMENSION = 4, /* at least: a small graph has little large structure */
    SPARE = 16,              /* dimensions beyond those that are kept, for faster convergence */
    ROUNDS = 12,             /* products with the matrix, with an orthonormal basis after each */
    PRODUCTS = 2,            /* per round */
    STREAM = 2,
};

void npi_spectral_free(const npgnn_env *env, npi_spectral *s)
{
    npi_free(env, s->values);
    npi_free(env, s->vectors);
    npi_free(env, s->scale);
    memset(s, 0, sizeof *s);
}

int npi_spectral_new(npi_spectral *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = a->rows, linked = 0;
    for (int32_t i = 0; i < n; i++)
        linked += a->ptr[i + 1] > a->ptr[i];
    int wanted = linked / NODES_PER_DIMENSION;
    npi_spectral s = {.width = wanted < 1 ? 1 : wanted > NPI_SPECTRAL_WIDTH ? NPI_SPECTRAL_WIDTH : wanted};
    int width = s.width + SPARE < n ? s.width + SPARE : n;
    size_t k = (size_t)s.width;
    npi_basis basis = {0};
    npi_spread m = {0};
    int code = npi_spread_new(&m, a, env, err);
    if (code)
        return code;
    size_t own = (size_t)(m.rows.to - m.rows.from);
    s.scale = npi_alloc(env, own, sizeof *s.scale, err);
    s.values = npi_alloc(env, k + SPARE, sizeof *s.values, err); /* `width` of them; k, too, without nodes */
    code = s.scale && s.values ? npi_basis_new(&basis, n, width, STREAM, env, err) : NPGNN_E_MEMORY;
    code = npi_comm_agree(env->comm, code, err);
    if (!code && linked > 0) {
        npi_spread_scale(&m, npi_scale_padded, (double)a->ptr[n] / linked);
        memcpy(s.scale, m.adj.scale, own * sizeof *s.scale);
        npi_basis_orthonormalize(&basis, env->threads);
        for (int round = 0; !code && round < ROUNDS; round++) {
            /* Q <- orthonormal basis of M² Q, which turns towards the eigenvectors with the largest |λ| */
            for (int i = 0; !code && i < PRODUCTS; i++) {
                npi_spread_mul(basis.next, &m, basis.at, width);
                npi_basis_swap(&basis);
                if (npi_comm_any(env->comm, npi_env_stopped(env)))
                    code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while the structure of the graph was analysed");
            }
            npi_basis_orthonormalize(&basis, env->threads);
        }
    }
    if (!code && linked > 0) {
        /* Rayleigh-Ritz: Qᵀ (M Q) = E Λ Eᵀ, the vectors are Q E */
        npi_spread_mul(basis.next, &m, basis.at, width);
        npi_basis_rotate(s.values, &basis, env->threads);
    }
    npi_spread_free(&m);
    npi_free(env, basis.next); /* its memory is that of the vectors */
    basis.next = NULL;
    s.vectors = code ? NULL : npi_alloc(env, own * k, sizeof *s.vectors, err);
    code = npi_comm_agree(env->comm, code ? code : s.vectors ? 0 : NPGNN_E_MEMORY, err);
    /* The first k columns. A node without links has 1 / d̄ on the diagonal of M, but lies nowhere: its row stays
     * zeros. */
    for (size_t i = 0; !code && linked > 0 && i < own; i++)
        if (a->ptr[(size_t)basis.rows.from + i + 1] > a->ptr[(size_t)basis.rows.from + i])
            memcpy(s.vectors + i * k, basis.at + i * (size_t)width, k * sizeof *s.vectors);
    npi_basis_free(env, &basis);
    if (code)
        npi_spectral_free(env, &s);
    else
        *out = s;
    return code;
}
