#include "evidence/remote.h"

#include <string.h>

int npi_remote_new(npi_remote *out, npi_columns *e, int32_t most, npgnn_error *err)
{
    npi_remote v = {.columns = e, .most = most};
    int code = npi_columns_reserve_rows(e, e->rows.to - e->rows.from + most, err);
    if (!code)
        code = npi_fetch_new(&v.fetch, &e->rows, most, 0, npi_columns_widest(e), &e->env, err);
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
    int32_t own = e->rows.to - e->rows.from;
    int code = npi_fetch_plan(&v->fetch, nodes, count, err);
    for (int b = 0; !code && b < NPI_BANKS; b++) {
        const npi_bank *bank = &e->bank[b];
        if ((e->plan.is_left[b] || e->plan.is_right[b]) &&
            bank->stride == bank->width) /* otherwise part of another bank */
            npi_fetch_rows(&v->fetch, npi_bank_row(bank, own), bank->row, bank->width, bank->width, e->env.threads);
    }
    if (!code) /* from the rows rather than sent: the arithmetic of their owner gives the same bits */
        npi_columns_measure(e, own, own + count);
    return code;
}

void npi_remote_fetch_numbers(real *to, npi_remote *v, const real *own)
{
    npi_fetch_rows(&v->fetch, to, own, 1, 1, v->columns->env.threads);
}
