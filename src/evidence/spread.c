#include "evidence/spread.h"

#include <math.h>
#include <string.h>

/* Columns that are fetched at a time. Where nodes are numbered at random, nearly all of them are neighbours, whose rows
 * would take more memory than those of a process itself; and a product reads the links once per slice. */
enum { SLICE = 40 };

int npi_spread_new(npi_spread *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    npi_spread s = {.env = *env, .a = a, .rows = npi_partition_tall(a->rows, env->comm)};
    npi_csr pattern = *a;
    pattern.val = NULL; /* every link counts the same */
    int code = 0;
    if (env->comm) {
        code = npi_adj_divide(&s.adj, &pattern, &s.rows, SLICE, env, err);
        if (code)
            return code;
        s.halo = npi_resize(env, NULL, (size_t)s.adj.halo->count * SLICE, sizeof *s.halo, err);
        s.adj.halo->rows = s.halo;
        code = npi_comm_agree(env->comm, s.halo ? 0 : NPGNN_E_MEMORY, err);
    } else {
        s.adj.a = pattern;
        s.adj.scale = npi_alloc(env, (size_t)a->rows, sizeof *s.adj.scale, err);
        code = s.adj.scale ? 0 : NPGNN_E_MEMORY;
    }
    if (code)
        npi_spread_free(&s);
    else
        *out = s;
    return code;
}

void npi_spread_free(npi_spread *s)
{
    if (!s->a)
        return;
    if (s->adj.halo)
        npi_adj_free(&s->env, &s->adj);
    else
        npi_free(&s->env, s->adj.scale);
    npi_free(&s->env, s->halo);
    memset(s, 0, sizeof *s);
}

static int64_t degree(const npi_csr *a, int32_t i)
{
    return a->ptr[i + 1] - a->ptr[i];
}

void npi_spread_scale(npi_spread *s, npi_scale_fn *scale, double given)
{
    for (int32_t i = s->rows.from; i < s->rows.to; i++)
        s->adj.scale[i - s->rows.from] = scale(degree(s->a, i), given);
    for (int32_t i = 0; s->adj.halo && i < s->adj.halo->count; i++)
        s->adj.halo_scale[i] = scale(degree(s->a, s->adj.halo->node[i]), given);
}

real npi_scale_padded(int64_t links, double given)
{
    return (real)(1 / sqrt((double)links + given));
}

void npi_spread_mul(real *y, const npi_spread *s, const real *x, int width)
{
    int slice = s->adj.halo ? SLICE : width; /* the halo has room for SLICE columns */
    for (int c = 0; c < width; c += slice)
        npi_adj_mul(y + c, width, &s->adj, x + c, width, width - c < slice ? width - c : slice, s->env.threads);
}

static real one(int64_t links, double given)
{
    (void)links;
    (void)given;
    return 1;
}

void npi_spread_average(real *y, npi_spread *s, const real *x, int width)
{
    npi_spread_scale(s, one, 0); /* s_i = 1: y_i = x_i + Σ_j x_j, then divided by how many these are */
    npi_spread_mul(y, s, x, width);
    for (int32_t i = s->rows.from; i < s->rows.to; i++) {
        real *mean = y + (size_t)(i - s->rows.from) * (size_t)width;
        double share = 1 / (double)(degree(s->a, i) + 1);
        for (int c = 0; c < width; c++)
            mean[c] = (real)((double)mean[c] * share);
    }
}
