#include "evidence/remote.h"

#include <string.h>

int npi_remote_new(npi_remote *out, npi_columns *e, npi_reduced *reduced, npi_reduced *projection, int32_t most,
                   npgnn_error *err)
{
    npi_remote v = {.columns = e, .most = most};
    int widest = e->features.width > e->region.width ? e->features.width : e->region.width;
    widest = e->projection.width > widest ? e->projection.width : widest;
    int code = npi_columns_reserve_rows(e, reduced, projection, e->rows.to - e->rows.from + most, err);
    if (!code)
        code = npi_fetch_new(&v.fetch, &e->rows, most, 0, widest > 0 ? widest : 1, &e->env, err);
    *out = v;
    return code;
}

void npi_remote_free(npi_remote *v)
{
    npi_fetch_free(&v->fetch);
    memset(v, 0, sizeof *v);
}

int npi_remote_fetch(npi_remote *v, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    npi_columns *e = v->columns;
    npi_bank *banks[] = {&e->features,         &e->smooth1, &e->smooth2, &e->means,      &e->bilinear,
                         &e->bilinear_means,   &e->ridge,   &e->region,  &e->coordinate, &e->projection,
                         &e->projection_around};
    int32_t own = e->rows.to - e->rows.from;
    int code = npi_fetch_plan(&v->fetch, nodes, count, err);
    for (size_t b = 0; !code && b < sizeof banks / sizeof banks[0]; b++) {
        int width = banks[b]->width;
        if (width > 0)
            npi_fetch_rows(&v->fetch, banks[b]->row + (size_t)own * (size_t)width, banks[b]->row, width, width,
                           e->env.threads);
    }
    if (!code)
        npi_columns_measure(e, own, own + count);
    return code;
}

void npi_remote_fetch_numbers(real *to, npi_remote *v, const real *own)
{
    npi_fetch_rows(&v->fetch, to, own, 1, 1, v->columns->env.threads);
}
