#include "search/clusters.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/kernels.h"

enum {
    PER_CELL = 256, /* nodes of a cell, about, where there are few; larger graphs have √n cells for each MORE */
    MOST_CELLS = 4096,
    LEARNT_FROM = 48, /* vectors per centre that the centres are learnt from */
    ROUNDS = 8,
    ROWS = 256 /* vectors that are compared with all centres together */
};

static int clusters_for(int32_t count)
{
    double cells = sqrt((double)count) * 2;
    double least = (double)count / PER_CELL;
    cells = cells < least ? cells : least;
    return cells < 1 ? 1 : cells > MOST_CELLS ? MOST_CELLS : (int)cells;
}

/* ---- k-means ---- */

typedef struct assign_loop {
    int32_t *cell;       /* (count) */
    const real *row;     /* by node */
    const int32_t *node; /* (count); NULL: 0, 1, ... */
    int64_t *order;      /* (count) places in `node`, in random order; NULL: 0, 1, ... */
    int64_t count;
    const npi_clusters *cells;
    const real *half; /* (cells) |centre|² / 2 */
    real *scratch;    /* (threads, ROWS, width + cells) */
} assign_loop;

static int32_t node_at(const assign_loop *l, int64_t i)
{
    int64_t place = l->order ? l->order[i] : i;
    return l->node ? l->node[place] : (int32_t)place;
}

/* The cell with the smallest |x - c|² = |x|² - 2 (x · c - |c|² / 2); the first of equal ones. */
static void assign(const void *arg, int64_t first, int64_t last)
{
    const assign_loop *l = arg;
    int width = l->cells->width, cells = l->cells->count;
    real *picked = l->scratch + (size_t)npi_worker() * ROWS * (size_t)(width + cells);
    real *product = picked + (size_t)ROWS * (size_t)width;
    for (int64_t part = first; part < last; part++) {
        int64_t from = part * ROWS, to = from + ROWS < l->count ? from + ROWS : l->count;
        int rows = (int)(to - from);
        for (int r = 0; r < rows; r++)
            memcpy(picked + r * width, l->row + (size_t)node_at(l, from + r) * (size_t)width,
                   (size_t)width * sizeof *picked);
        npi_gemm(product, cells, picked, width, 0, l->cells->centre, width, 1, rows, cells, width, 1, 0);
        for (int r = 0; r < rows; r++) {
            const real *at = product + (size_t)r * (size_t)cells;
            int best = 0;
            for (int c = 1; c < cells; c++)
                best = at[c] - l->half[c] > at[best] - l->half[best] ? c : best;
            l->cell[from + r] = best;
        }
    }
}

static void run_assign(assign_loop *l, int threads)
{
    npi_blas_begin(threads);
    npi_parallel(threads, (l->count + ROWS - 1) / ROWS, 1, assign, l);
    npi_blas_end(threads);
}

static void halve_squares(real *half, const npi_clusters *cells)
{
    for (int c = 0; c < cells->count; c++) {
        double sum = 0;
        for (int j = 0; j < cells->width; j++)
            sum += (double)cells->centre[c * cells->width + j] * (double)cells->centre[c * cells->width + j];
        half[c] = (real)(sum / 2);
    }
}

/* Centres become means of the vectors that are assigned to them; one without any stays. sum (cells, width + 1) */
static void move_centres(npi_clusters *cells, const assign_loop *l, double *sum)
{
    size_t width = (size_t)cells->width, stride = width + 1;
    memset(sum, 0, (size_t)cells->count * stride * sizeof *sum);
    for (int64_t i = 0; i < l->count; i++) {
        const real *row = l->row + (size_t)node_at(l, i) * width;
        double *to = sum + (size_t)l->cell[i] * stride;
        for (size_t j = 0; j < width; j++)
            to[j] += (double)row[j];
        to[width]++;
    }
    for (size_t c = 0; c < (size_t)cells->count; c++)
        for (size_t j = 0; sum[c * stride + width] > 0 && j < width; j++)
            cells->centre[c * width + j] = (real)(sum[c * stride + j] / sum[c * stride + width]);
}

/* ---- cells ---- */

typedef struct member {
    float length;
    int32_t node;
} member;

static int by_length(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return x->length != y->length ? (x->length < y->length ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

/* ptr, node and row from the cell of each node. */
static void collect(npi_clusters *cells, const assign_loop *l, member *members)
{
    size_t width = (size_t)cells->width;
    for (int64_t i = 0; i < l->count; i++)
        cells->ptr[l->cell[i] + 1]++;
    for (int c = 0; c < cells->count; c++)
        cells->ptr[c + 1] += cells->ptr[c];
    for (int64_t i = l->count - 1; i >= 0; i--) { /* ptr[c + 1] moves down to the beginning of cell c, and back up */
        const real *row = l->row + (size_t)node_at(l, i) * width;
        double square = 0;
        for (size_t j = 0; j < width; j++)
            square += (double)row[j] * (double)row[j];
        members[--cells->ptr[l->cell[i] + 1]] = (member){(float)square, node_at(l, i)};
    }
    memmove(cells->ptr, cells->ptr + 1, (size_t)cells->count * sizeof *cells->ptr);
    cells->ptr[cells->count] = (int32_t)l->count;
    for (int c = 0; c < cells->count; c++)
        qsort(members + cells->ptr[c], (size_t)(cells->ptr[c + 1] - cells->ptr[c]), sizeof *members, by_length);
    for (int64_t i = 0; i < l->count; i++) {
        cells->node[i] = members[i].node;
        memcpy(cells->row + (size_t)i * width, l->row + (size_t)members[i].node * width, width * sizeof *cells->row);
    }
}

int npi_clusters_new(npi_clusters *out, const real *row, int width, const int32_t *nodes, int32_t count, uint64_t seed,
                     const npgnn_env *env, npgnn_error *err)
{
    npi_clusters cells = {.width = width, .count = clusters_for(count)};
    size_t k = (size_t)cells.count, w = (size_t)width, n = (size_t)count;
    int64_t learnt = count < (int64_t)LEARNT_FROM * cells.count ? count : (int64_t)LEARNT_FROM * cells.count;
    cells.centre = npi_alloc(env, k * w, sizeof *cells.centre, err);
    cells.ptr = npi_alloc(env, k + 1, sizeof *cells.ptr, err);
    cells.node = npi_resize(env, NULL, n, sizeof *cells.node, err);
    cells.row = npi_resize(env, NULL, n * w, sizeof *cells.row, err);
    real *half = npi_alloc(env, k, sizeof *half, err);
    double *sum = npi_alloc(env, k * (w + 1), sizeof *sum, err);
    assign_loop l = {.row = row, .node = nodes, .count = learnt};
    l.cell = npi_resize(env, NULL, n, sizeof *l.cell, err);
    l.scratch = npi_resize(env, NULL, (size_t)env->threads * ROWS * (w + k), sizeof *l.scratch, err);
    member *members = npi_resize(env, NULL, n, sizeof *members, err);
    l.order = npi_resize(env, NULL, n, sizeof *l.order, err);
    l.cells = &cells;
    l.half = half;
    int code =
        cells.centre && cells.ptr && cells.node && cells.row && half && sum && l.cell && l.order && l.scratch && members
            ? 0
            : NPGNN_E_MEMORY;
    if (!code) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_RETRIEVE, 2);
        npi_rng_permutation(l.order, count, &rng);
        for (size_t c = 0; c < k && learnt > 0; c++)
            memcpy(cells.centre + c * w, row + (size_t)node_at(&l, (int64_t)c) * w, w * sizeof *row);
        for (int round = 0; round < ROUNDS && cells.count > 1; round++) {
            halve_squares(half, &cells);
            run_assign(&l, env->threads);
            move_centres(&cells, &l, sum);
        }
        npi_free(env, l.order);
        l.order = NULL;
        l.count = count;
        halve_squares(half, &cells);
        run_assign(&l, env->threads);
        collect(&cells, &l, members);
        *out = cells;
    }
    npi_free(env, half);
    npi_free(env, sum);
    npi_free(env, l.cell);
    npi_free(env, l.order);
    npi_free(env, l.scratch);
    npi_free(env, members);
    if (code)
        npi_clusters_free(env, &cells);
    return code;
}

void npi_clusters_free(const npgnn_env *env, npi_clusters *c)
{
    npi_free(env, c->centre);
    npi_free(env, c->ptr);
    npi_free(env, c->node);
    npi_free(env, c->row);
    memset(c, 0, sizeof *c);
}

/* ---- looking through them ---- */

int npi_probe_new(npi_probe *out, const npi_clusters *cells, int32_t most, const npgnn_env *env, npgnn_error *err)
{
    size_t k = (size_t)cells->count;
    *out = (npi_probe){.most = most};
    out->promise = npi_resize(env, NULL, k, sizeof *out->promise, err);
    out->order = npi_resize(env, NULL, k, sizeof *out->order, err);
    out->node = npi_resize(env, NULL, (size_t)most, sizeof *out->node, err);
    out->product = npi_resize(env, NULL, (size_t)most, sizeof *out->product, err);
    return out->promise && out->order && out->node && out->product ? 0 : NPGNN_E_MEMORY;
}

void npi_probe_free(const npgnn_env *env, npi_probe *p)
{
    npi_free(env, p->promise);
    npi_free(env, p->order);
    npi_free(env, p->node);
    npi_free(env, p->product);
    memset(p, 0, sizeof *p);
}

int32_t npi_clusters_probe(npi_probe *p, const npi_clusters *cells, const real *query)
{
    const npi_kernels *kernels = npi_kernels_best();
    int width = cells->width;
    int32_t found = 0;
    kernels->row_products(&p->promise, query, 1, cells->centre, NULL, cells->count, width, width);
    for (int left = cells->count; left > 0 && found < p->most; left--) {
        int best = 0;
        for (int c = 1; c < cells->count; c++)
            best = p->promise[c] > p->promise[best] ? c : best;
        p->promise[best] = -(real)INFINITY;
        int32_t from = cells->ptr[best], size = cells->ptr[best + 1] - from;
        size = size < p->most - found ? size : p->most - found;
        real *product = p->product + found;
        memcpy(p->node + found, cells->node + from, (size_t)size * sizeof *p->node);
        kernels->row_products(&product, query, 1, cells->row + (size_t)from * (size_t)width, NULL, size, width, width);
        found += size;
    }
    return found;
}
