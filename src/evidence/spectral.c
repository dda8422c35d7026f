#include "evidence/spectral.h"

#include <math.h>
#include <string.h>

#include "linalg/adj.h"
#include "linalg/basis.h"

enum {
    NODES_PER_DIMENSION = 4, /* at least: a small graph has little large structure */
    SPARE = 16,              /* dimensions beyond those that are kept, for faster convergence */
    ROUNDS = 12,             /* of products, with an orthonormal basis after each */
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

/* next = M at, the rows of this process. */
static void multiply(npi_basis *basis, const npi_adj *adj, int threads)
{
    npi_basis_gather(basis);
    npi_adj_mul_rows(basis->next, basis->width, adj, basis->at, basis->width, basis->width, basis->from, basis->to,
                     threads);
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
    npi_adj adj = {.a = *a};
    adj.a.val = NULL;
    s.scale = npi_alloc(env, (size_t)n, sizeof *s.scale, err);
    s.values = npi_alloc(env, k + SPARE, sizeof *s.values, err); /* `width` of them; k, too, without nodes */
    s.vectors = npi_alloc(env, (size_t)n * k, sizeof *s.vectors, err);
    int code = s.scale && s.values && s.vectors ? npi_basis_new(&basis, n, width, STREAM, env, err) : NPGNN_E_MEMORY;
    code = npi_comm_agree(env->comm, code, err);
    if (!code && linked > 0) {
        double mean = (double)a->ptr[n] / linked;
        for (int32_t i = 0; i < n; i++)
            s.scale[i] = (real)(1 / sqrt((double)(a->ptr[i + 1] - a->ptr[i]) + mean));
        adj.scale = s.scale;
        npi_basis_orthonormalize(&basis, env->threads);
        for (int round = 0; !code && round < ROUNDS; round++) {
            for (int i = 0; !code && i < PRODUCTS; i++) { /* Q <- M Q */
                multiply(&basis, &adj, env->threads);
                npi_basis_swap(&basis);
                if (npi_comm_any(env->comm, npi_env_stopped(env)))
                    code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while the structure of the graph was analysed");
            }
            npi_basis_orthonormalize(&basis, env->threads);
        }
    }
    if (!code && linked > 0) {
        multiply(&basis, &adj, env->threads);
        npi_basis_rotate(s.values, &basis, env->threads);
        npi_basis_gather(&basis);
        npi_free(env, basis.next); /* its memory is that of the vectors */
        basis.next = NULL;
        for (int32_t i = 0; i < n; i++)
            if (a->ptr[i + 1] > a->ptr[i])
                memcpy(s.vectors + (size_t)i * k, basis.at + (size_t)i * (size_t)width, k * sizeof *s.vectors);
    }
    npi_basis_free(env, &basis);
    if (code)
        npi_spectral_free(env, &s);
    else
        *out = s;
    return code;
}
