#include <stdatomic.h>
#include <string.h>

#include "evidence/columns.h"

enum {
    CELLS = 4096,        /* pairs whose columns stay in a processor's cache */
    MOST_SAME_RIGHT = 4, /* products with the same right bank that are computed together */
    SLOTS = 16           /* workspaces that are kept */
};

/* Memory for rows. */
static int new_rows(npi_columns_workspace *w, const npi_columns *e, npgnn_error *err)
{
    const npgnn_env *env = &e->env;
    size_t block = (size_t)w->block, range = (size_t)w->range, products = (size_t)e->plan.products;
    /* walks and overlaps have a number per node of this process, or per node that the graph may grow to */
    size_t n = e->rows.comm ? (size_t)(e->rows.to - e->rows.from) : (size_t)w->capacity;
    int has_overlap = e->plan.columns > NPI_COLUMNS && e->plan.operation[NPI_COLUMN_OVERLAP] == NPI_OVERLAP;
    w->picked = npi_alloc(env, (block + MOST_SAME_RIGHT) * (size_t)npi_columns_widest(e), sizeof *w->picked, err);
    w->scratch = npi_alloc(env, NPI_SCRATCH_PLANES * block * range, sizeof *w->scratch, err);
    w->left = npi_alloc(env, products, NPI_SHORT_WIDTH * sizeof *w->left, err);
    w->unit = npi_alloc(env, products, sizeof *w->unit, err);
    w->error = npi_alloc(env, 2 * products, sizeof *w->error, err);
    w->doubles = npi_alloc(env, ((size_t)e->plan.doubles + NPI_WALK_LIFTS + 1) * range, sizeof *w->doubles, err);
    w->floats = npi_alloc(env, ((size_t)e->plan.floats + 3) * range, sizeof *w->floats, err);
    w->common = npi_alloc(env, block * n, sizeof *w->common, err);
    w->jaccard = npi_alloc(env, block * n, sizeof *w->jaccard, err);
    w->lift = npi_alloc(env, block * n * NPI_WALK_LIFTS, sizeof *w->lift, err);
    w->overlap = has_overlap ? npi_alloc(env, block * n, sizeof *w->overlap, err) : NULL;
    return w->picked && w->scratch && w->left && w->unit && w->error && w->doubles && w->floats && w->common &&
                   w->jaccard && w->lift && (w->overlap || !has_overlap)
               ? 0
               : NPGNN_E_MEMORY;
}

int npi_columns_workspace_new(npi_columns_workspace *out, const npi_columns *e, int block, npgnn_error *err)
{
    npi_columns_workspace w = {.block = block, .capacity = e->spare ? e->capacity : e->n};
    w.range = block == 1 ? NPI_ONE_RANGE : block > 1 ? (CELLS + block - 1) / block : 0;
    int code = npi_walker_new(&w.walker, e->a, e->inverse, e->two_steps, w.capacity, &e->env, err);
    if (!code && block > 0)
        code = new_rows(&w, e, err);
    if (code)
        npi_columns_workspace_free(&e->env, &w);
    else
        *out = w;
    return code;
}

void npi_columns_workspace_free(const npgnn_env *env, npi_columns_workspace *w)
{
    npi_walker_free(env, &w->walker);
    void *blocks[] = {w->picked, w->scratch, w->left,    w->unit, w->error,  w->doubles,
                      w->floats, w->common,  w->jaccard, w->lift, w->overlap};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(env, blocks[i]);
    memset(w, 0, sizeof *w);
}

/* ---- workspaces that are kept ---- */

/* Each slot is taken and filled by one atomic operation. */
struct npi_spare {
    _Atomic(npi_columns_workspace *) slot[SLOTS];
};

int npi_spare_new(struct npi_spare **out, const npgnn_env *env, npgnn_error *err)
{
    *out = npi_alloc(env, 1, sizeof **out, err);
    return *out ? 0 : NPGNN_E_MEMORY;
}

void npi_spare_free(const npgnn_env *env, struct npi_spare *spare)
{
    for (int i = 0; spare && i < SLOTS; i++) {
        npi_columns_workspace *w = atomic_load(&spare->slot[i]);
        if (w)
            npi_columns_workspace_free(env, w);
        npi_free(env, w);
    }
    npi_free(env, spare);
}

int npi_columns_workspace_take(npi_columns_workspace *out, const npi_columns *e, int block, npgnn_error *err)
{
    npi_columns_workspace *w = NULL;
    if (!e->spare || block > 1)
        return npi_columns_workspace_new(out, e, block, err);
    for (int i = 0; !w && i < SLOTS; i++)
        w = atomic_exchange(&e->spare->slot[i], NULL); /* whoever gets it has it alone */
    if (!w)
        return npi_columns_workspace_new(out, e, 1, err); /* for one node, which serves pairs, too */
    *out = *w;
    npi_free(&e->env, w);
    if (out->capacity < e->n) { /* the graph has outgrown it */
        npi_columns_workspace_free(&e->env, out);
        return npi_columns_workspace_new(out, e, 1, err);
    }
    /* links and degrees may have changed since */
    out->walker.a = e->a;
    out->walker.inverse = e->inverse;
    out->walker.two_steps = e->two_steps;
    out->walker.source = -1;
    return 0;
}

void npi_columns_workspace_give(const npi_columns *e, npi_columns_workspace *w)
{
    npi_columns_workspace *kept = NULL;
    if (e->spare && w->block == 1 && (kept = npi_alloc(&e->env, 1, sizeof *kept, NULL))) {
        *kept = *w;
        for (int i = 0; kept && i < SLOTS; i++) {
            npi_columns_workspace *none = NULL;
            if (atomic_compare_exchange_strong(&e->spare->slot[i], &none, kept))
                return;
        }
        npi_free(&e->env, kept); /* all slots are full */
    }
    npi_columns_workspace_free(&e->env, w);
}
