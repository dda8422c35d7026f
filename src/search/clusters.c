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
    PER_CLUSTER =
        256, /* nodes of a cluster, about, where there are few; larger graphs have √n clusters for each MORE */
    MOST_CLUSTERS = 4096,
    LEARNT_FROM = 48, /* vectors per centre that the centres are learnt from */
    ROUNDS = 8,
    ROWS = 256 /* vectors that are compared with all centres together */
};

static int clusters_for(int32_t count)
{
    double clusters = sqrt((double)count) * 2;
    double least = (double)count / PER_CLUSTER;
    clusters = clusters < least ? clusters : least;
    return clusters < 1 ? 1 : clusters > MOST_CLUSTERS ? MOST_CLUSTERS : (int)clusters;
}

/* ---- k-means ---- */

typedef struct assign_loop {
    int32_t *cluster;    /* (count) */
    const real *row;     /* by node */
    const int32_t *node; /* (count); NULL: 0, 1, ... */
    int64_t *order;      /* (count) places in `node`, in random order; NULL: 0, 1, ... */
    int64_t count;
    const npi_clusters *clusters;
    const real *half; /* (clusters) |centre|² / 2 */
    real *scratch;    /* (threads, ROWS, width + clusters) */
} assign_loop;

static int32_t node_at(const assign_loop *l, int64_t i)
{
    int64_t place = l->order ? l->order[i] : i;
    return l->node ? l->node[place] : (int32_t)place;
}

/* The cluster with the smallest |x - c|² = |x|² - 2 (x · c - |c|² / 2); the first of equal ones. */
static void assign(const void *arg, int64_t first, int64_t last)
{
    const assign_loop *l = arg;
    int width = l->clusters->width, clusters = l->clusters->count;
    real *picked = l->scratch + (size_t)npi_worker() * ROWS * (size_t)(width + clusters);
    real *product = picked + (size_t)ROWS * (size_t)width;
    for (int64_t part = first; part < last; part++) {
        int64_t from = part * ROWS, to = from + ROWS < l->count ? from + ROWS : l->count;
        int rows = (int)(to - from);
        for (int r = 0; r < rows; r++)
            memcpy(picked + r * width, l->row + (size_t)node_at(l, from + r) * (size_t)width,
                   (size_t)width * sizeof *picked);
        npi_gemm(product, clusters, picked, width, 0, l->clusters->centre, width, 1, rows, clusters, width, 1, 0);
        for (int r = 0; r < rows; r++) {
            const real *at = product + (size_t)r * (size_t)clusters;
            int best = 0;
            for (int c = 1; c < clusters; c++)
                best = at[c] - l->half[c] > at[best] - l->half[best] ? c : best;
            l->cluster[from + r] = best;
        }
    }
}

static void run_assign(assign_loop *l, int threads)
{
    npi_blas_begin(threads);
    npi_parallel(threads, (l->count + ROWS - 1) / ROWS, 1, assign, l);
    npi_blas_end(threads);
}

static void halve_squares(real *half, const npi_clusters *clusters)
{
    for (int c = 0; c < clusters->count; c++) {
        double sum = 0;
        for (int j = 0; j < clusters->width; j++)
            sum +=
                (double)clusters->centre[c * clusters->width + j] * (double)clusters->centre[c * clusters->width + j];
        half[c] = (real)(sum / 2);
    }
}

/* Centres become means of the vectors that are assigned to them; one without any stays. sum (clusters, width + 1) */
static void move_centres(npi_clusters *clusters, const assign_loop *l, double *sum)
{
    size_t width = (size_t)clusters->width, stride = width + 1;
    memset(sum, 0, (size_t)clusters->count * stride * sizeof *sum);
    for (int64_t i = 0; i < l->count; i++) {
        const real *row = l->row + (size_t)node_at(l, i) * width;
        double *to = sum + (size_t)l->cluster[i] * stride;
        for (size_t j = 0; j < width; j++)
            to[j] += (double)row[j];
        to[width]++;
    }
    for (size_t c = 0; c < (size_t)clusters->count; c++)
        for (size_t j = 0; sum[c * stride + width] > 0 && j < width; j++)
            clusters->centre[c * width + j] = (real)(sum[c * stride + j] / sum[c * stride + width]);
}

/* ---- clusters ---- */

typedef struct member {
    float length;
    int32_t node;
} member;

static int by_length(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return x->length != y->length ? (x->length < y->length ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

/* ptr, node and row from the cluster of each node. */
static void collect(npi_clusters *clusters, const assign_loop *l, member *members)
{
    size_t width = (size_t)clusters->width;
    for (int64_t i = 0; i < l->count; i++)
        clusters->ptr[l->cluster[i] + 1]++;
    for (int c = 0; c < clusters->count; c++)
        clusters->ptr[c + 1] += clusters->ptr[c];
    for (int64_t i = l->count - 1; i >= 0; i--) { /* ptr[c + 1] moves down to the beginning of cluster c, and back up */
        const real *row = l->row + (size_t)node_at(l, i) * width;
        double square = 0;
        for (size_t j = 0; j < width; j++)
            square += (double)row[j] * (double)row[j];
        members[--clusters->ptr[l->cluster[i] + 1]] = (member){(float)square, node_at(l, i)};
    }
    memmove(clusters->ptr, clusters->ptr + 1, (size_t)clusters->count * sizeof *clusters->ptr);
    clusters->ptr[clusters->count] = (int32_t)l->count;
    for (int c = 0; c < clusters->count; c++)
        qsort(members + clusters->ptr[c], (size_t)(clusters->ptr[c + 1] - clusters->ptr[c]), sizeof *members,
              by_length);
    for (int64_t i = 0; i < l->count; i++) {
        clusters->node[i] = members[i].node;
        memcpy(clusters->row + (size_t)i * width, l->row + (size_t)members[i].node * width,
               width * sizeof *clusters->row);
    }
}

int npi_clusters_new(npi_clusters *out, const real *row, int width, const int32_t *nodes, int32_t count, uint64_t seed,
                     const npgnn_env *env, npgnn_error *err)
{
    npi_clusters clusters = {.width = width, .count = clusters_for(count)};
    size_t k = (size_t)clusters.count, w = (size_t)width, n = (size_t)count;
    int64_t learnt = count < (int64_t)LEARNT_FROM * clusters.count ? count : (int64_t)LEARNT_FROM * clusters.count;
    clusters.centre = npi_alloc(env, k * w, sizeof *clusters.centre, err);
    clusters.ptr = npi_alloc(env, k + 1, sizeof *clusters.ptr, err);
    clusters.node = npi_resize(env, NULL, n, sizeof *clusters.node, err);
    clusters.row = npi_resize(env, NULL, n * w, sizeof *clusters.row, err);
    real *half = npi_alloc(env, k, sizeof *half, err);
    double *sum = npi_alloc(env, k * (w + 1), sizeof *sum, err);
    assign_loop l = {.row = row, .node = nodes, .count = learnt};
    l.cluster = npi_resize(env, NULL, n, sizeof *l.cluster, err);
    l.scratch = npi_resize(env, NULL, (size_t)env->threads * ROWS * (w + k), sizeof *l.scratch, err);
    member *members = npi_resize(env, NULL, n, sizeof *members, err);
    l.order = npi_resize(env, NULL, n, sizeof *l.order, err);
    l.clusters = &clusters;
    l.half = half;
    int code = clusters.centre && clusters.ptr && clusters.node && clusters.row && half && sum && l.cluster &&
                       l.order && l.scratch && members
                   ? 0
                   : NPGNN_E_MEMORY;
    if (!code) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_RETRIEVE, 2);
        npi_rng_permutation(l.order, count, &rng);
        for (size_t c = 0; c < k && learnt > 0; c++)
            memcpy(clusters.centre + c * w, row + (size_t)node_at(&l, (int64_t)c) * w, w * sizeof *row);
        for (int round = 0; round < ROUNDS && clusters.count > 1; round++) {
            halve_squares(half, &clusters);
            run_assign(&l, env->threads);
            move_centres(&clusters, &l, sum);
        }
        npi_free(env, l.order);
        l.order = NULL;
        l.count = count;
        halve_squares(half, &clusters);
        run_assign(&l, env->threads);
        collect(&clusters, &l, members);
        *out = clusters;
    }
    npi_free(env, half);
    npi_free(env, sum);
    npi_free(env, l.cluster);
    npi_free(env, l.order);
    npi_free(env, l.scratch);
    npi_free(env, members);
    if (code)
        npi_clusters_free(env, &clusters);
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

int npi_probe_new(npi_probe *out, const npi_clusters *clusters, int32_t most, const npgnn_env *env, npgnn_error *err)
{
    size_t k = (size_t)clusters->count;
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

int32_t npi_clusters_probe(npi_probe *p, const npi_clusters *clusters, const real *query)
{
    const npi_kernels *kernels = npi_kernels_best();
    int width = clusters->width;
    int32_t found = 0;
    kernels->row_products(&p->promise, query, 1, clusters->centre, NULL, clusters->count, width, width);
    for (int left = clusters->count; left > 0 && found < p->most; left--) {
        int best = 0;
        for (int c = 1; c < clusters->count; c++)
            best = p->promise[c] > p->promise[best] ? c : best;
        p->promise[best] = -(real)INFINITY;
        int32_t from = clusters->ptr[best], size = clusters->ptr[best + 1] - from;
        size = size < p->most - found ? size : p->most - found;
        real *product = p->product + found;
        memcpy(p->node + found, clusters->node + from, (size_t)size * sizeof *p->node);
        kernels->row_products(&product, query, 1, clusters->row + (size_t)from * (size_t)width, NULL, size, width,
                              width);
        found += size;
    }
    return found;
}
