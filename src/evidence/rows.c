#include "evidence/rows.h"

#include <assert.h>
#include <string.h>

#include "evidence/structure.h"
#include "linalg/dense.h"

/* ---- products ---- */

void npi_rows_place(real *plane[NPI_PLANES], real *value, const npi_columns_workspace *w, size_t cells)
{
    for (int c = 0; c < NPI_PLANES; c++)
        plane[c] = c < NPI_ALL_COLUMNS ? value + (size_t)c * cells : w->scratch + (size_t)(c - NPI_ALL_COLUMNS) * cells;
}

int npi_rows_together(const npi_plan *plan, int first)
{
    int count = 1;
    while (first + count < plan->products && plan->product[first + count].right == plan->product[first].right)
        count++;
    return count;
}

void npi_rows_left(real *vector, const npi_columns *e, const npi_product *p, int32_t place)
{
    const real *row = npi_view_row(&e->view, p->left, place);
    int width = e->view.bank[p->right].width;
    const float *weight = e->weight[p->weighting];
    for (int c = 0; c < width; c++)
        vector[c] = p->weighting == NPI_PLAIN ? row[c] : row[c] * (real)weight[c];
}

/* out[i] = the planes of products (count) from p on */
static void planes_of(real *out[], real *const *plane, const npi_product *products, int count)
{
    for (int p = 0; p < count; p++)
        out[p] = plane[products[p].plane];
}

/* The left vectors of a single node for several products, one after another. */
static void pick(npi_columns_workspace *w, const npi_columns *e, const npi_product *products, int count)
{
    int width = e->view.bank[products->right].width;
    for (int p = 0; p < count; p++)
        npi_rows_left(w->picked + p * width, e, &products[p], w->places[0]);
}

void npi_rows_multiply(real *const *plane, npi_columns_workspace *w, const npi_columns *e, const npi_product *products,
                       int count, int32_t first, int32_t last)
{
    const npi_bank_view *right = &e->view.bank[products->right];
    const real *rows = npi_view_row(&e->view, products->right, first);
    real *out[NPI_MOST_PRODUCTS];
    planes_of(out, plane, products, count);
    if (w->count == 1) { /* plane_p = R_range l_p, without BLAS, which would copy the range first */
        pick(w, e, products, count);
        npi_kernels_best()->row_products(out, w->picked, count, rows, NULL, last - first, right->width, right->stride);
        return;
    }
    for (int p = 0; p < count; p++) { /* plane = L_nodes R_rangeᵀ */
        for (int r = 0; r < w->count; r++)
            npi_rows_left(w->picked + r * right->width, e, &products[p], w->places[r]);
        npi_gemm(out[p], last - first, w->picked, right->width, 0, rows, right->stride, 1, w->count, last - first,
                 right->width, 1, 0);
    }
}

/* ---- what goes with the nodes that a node meets ---- */

typedef struct partners {
    npi_met met;
    const double *along[NPI_BANKS], *cross[NPI_BANKS]; /* (count) as of npi_bank; NULL where no column reads them */
    const float *distance[NPI_BANKS];
    const double *overlap; /* (count), as met.common */
} partners;

/* The partners in rows first to last - 1 of this process. */
static partners partners_of_range(const npi_columns_workspace *w, const npi_columns *e, int32_t first, int32_t last)
{
    size_t n = (size_t)(e->rows.to - e->rows.from);
    assert(first >= 0 && first <= last && (size_t)last <= n);
    /* pointers to node `first` in the rows of the first node of the block; those of node r are r · stride further on */
    partners p = {.met = {.count = last - first,
                          .log_degree = e->log_degree + e->rows.from + first,
                          .stride = n,
                          .common = w->common + first,
                          .jaccard = w->jaccard + first},
                  .overlap = w->overlap ? w->overlap + first : NULL};
    for (size_t t = 0; t < NPI_WALK_LIFTS; t++)
        p.met.lift[t] = w->lift + t * n + (size_t)first;
    for (int b = 0; b < NPI_BANKS; b++) {
        p.along[b] = e->plan.along[b] ? e->view.bank[b].along + first : NULL;
        p.cross[b] = e->plan.cross[b] ? e->view.bank[b].cross + first : NULL;
        p.distance[b] = e->plan.distance[b] ? e->view.bank[b].distance + first : NULL;
    }
    return p;
}

static const double *gather_doubles(double **to, const double *from, const int32_t *list, int count)
{
    double *out = *to;
    for (int i = 0; i < count; i++)
        out[i] = from[list[i]];
    *to += count;
    return out;
}

static const float *gather_floats(float **to, const float *from, const int32_t *list, int count)
{
    float *out = *to;
    for (int i = 0; i < count; i++)
        out[i] = from[list[i]];
    *to += count;
    return out;
}

/* The partners of a list, of a single node: there is one row, and the stride does not count. Numbers of nodes are gathered into
 * doubles and floats, one array after another. */
static partners partners_of_list(const npi_columns *e, const int32_t *list, int count, double *doubles, float *floats)
{
    partners p = {.met = {.count = count, .log_degree = gather_floats(&floats, e->log_degree, list, count)}};
    for (int b = 0; b < NPI_BANKS; b++) {
        const npi_bank_view *bank = &e->view.bank[b];
        p.along[b] = e->plan.along[b] ? gather_doubles(&doubles, bank->along, list, count) : NULL;
        p.cross[b] = e->plan.cross[b] ? gather_doubles(&doubles, bank->cross, list, count) : NULL;
        p.distance[b] = e->plan.distance[b] ? gather_floats(&floats, bank->distance, list, count) : NULL;
    }
    return p;
}

/* ---- from products to columns ---- */

/* x (nodes of the block, range) becomes cosines of rows minus their means, as in pair.c. */
static void centre_plane(real *x, const npi_product *p, const npi_columns_workspace *w, const npi_columns *e,
                         const partners *others)
{
    const npi_bank_view *left = &e->view.bank[p->left];
    int same = p->left == p->right, range = others->met.count;
    for (int r = 0; r < w->count; r++) {
        int32_t u = w->places[r];
        double a_nu = same ? left->along[u] : left->cross[u], mu_nu = same ? left->square : left->between;
        /* (x_j - μ·b_j + (μ·ν - a·ν)) / |a - μ| |b_j - ν| */
        npi_kernels_best()->centre(x + (size_t)r * (size_t)range,
                                   same ? others->along[p->right] : others->cross[p->right], others->distance[p->right],
                                   (real)(mu_nu - a_nu), (real)left->distance[u], range);
    }
}

static void finish_plane(real *x, const npi_product *p, npi_operation operation, const npi_columns_workspace *w,
                         const npi_columns *e, const partners *others)
{
    int range = others->met.count;
    if (operation == NPI_CENTRED)
        centre_plane(x, p, w, e, others);
    else if (operation == NPI_SLOG)
        npi_kernels_best()->slog(x, (int64_t)w->count * range);
    for (int r = 0; operation == NPI_COSINE && r < w->count; r++)
        npi_kernels_best()->divide(x + (size_t)r * (size_t)range, others->distance[p->right],
                                   e->view.bank[p->left].distance[w->places[r]], 1e-12f, range);
}

/* The column of tf-idf rows. */
static void fill_overlap(real *x, const npi_columns_workspace *w, const partners *others)
{
    int range = others->met.count;
    for (int r = 0; r < w->count; r++)
        for (int j = 0; j < range; j++)
            x[r * range + j] = (real)others->overlap[(size_t)r * others->met.stride + (size_t)j];
}

/* All columns from the products in their planes. */
static void finish(real *const *plane, const npi_columns_workspace *w, const npi_columns *e, const partners *others)
{
    const npi_plan *plan = &e->plan;
    size_t cells = (size_t)w->count * (size_t)others->met.count;
    for (int c = 0; c < plan->columns; c++) { /* products of several columns, before the first of these changes them */
        const int product = plan->term[c][0];
        if (product >= 0 && plan->product[product].plane != c)
            memcpy(plane[c], plane[plan->product[product].plane], cells * sizeof(real));
    }
    for (int c = 0; c < plan->columns; c++) {
        npi_operation operation = plan->operation[c];
        int first = plan->term[c][0], second = plan->term[c][1];
        if (first >= 0)
            finish_plane(plane[c], &plan->product[first], operation, w, e, others);
        else if (operation == NPI_PRESENCE)
            for (size_t i = 0; i < cells; i++)
                plane[c][i] = (real)e->has_features;
        else if (operation == NPI_OVERLAP)
            fill_overlap(plane[c], w, others);
        else if (operation != NPI_STRUCTURE) /* a graph without features */
            memset(plane[c], 0, cells * sizeof(real));
        if (second >= 0) { /* the mean of both directions: a(u) with b(v), and a(v) with b(u) from scratch */
            real *back = plane[plan->product[second].plane];
            finish_plane(back, &plan->product[second], operation, w, e, others);
            for (size_t i = 0; i < cells; i++)
                plane[c][i] = (plane[c][i] + back[i]) / 2;
        }
    }
    npi_structure_rows(plane, w, e, &others->met);
}

void npi_rows_finish(real *const *plane, const npi_columns_workspace *w, const npi_columns *e, int32_t first,
                     int32_t last)
{
    const partners others = partners_of_range(w, e, first, last); /* pointers into the rows: nothing is copied */
    finish(plane, w, e, &others);
}

/* ---- the three ways to meet many nodes; for rounded rows see rounding.c ---- */

void npi_columns_rows_begin(npi_columns_workspace *w, const npi_columns *e, const int32_t *nodes, const int32_t *places,
                            int count)
{
    assert(count <= w->block && e->kept);
    w->nodes = nodes;
    w->places = places;
    w->count = count;
    /* A walk, or a feature that two nodes share, leads to nodes in any range: both are followed once, now, to all
     * nodes, and the result is read range by range. */
    for (int r = 0; r < count; r++) {
        npi_structure_walk(w, e, r);
        if (w->overlap)
            npi_tfidf_row(w->overlap + (size_t)r * (size_t)(e->rows.to - e->rows.from), &e->reduced->tfidf, nodes[r]);
    }
}

void npi_columns_rows(real *value, npi_columns_workspace *w, const npi_columns *e, int32_t first, int32_t last)
{
    real *plane[NPI_PLANES];
    npi_rows_place(plane, value, w, (size_t)w->count * (size_t)(last - first));
    for (int p = 0, count; p < e->plan.products; p += count) {
        count = npi_rows_together(&e->plan, p);
        npi_rows_multiply(plane, w, e, &e->plan.product[p], count, first, last);
    }
    npi_rows_finish(plane, w, e, first, last);
}

/* All columns of a single node with a list. */
static void meet_list(real *value, npi_columns_workspace *w, const npi_columns *e, const int32_t *list,
                      const partners *others)
{
    real *plane[NPI_PLANES], *out[NPI_MOST_PRODUCTS];
    int count = others->met.count;
    assert(w->count == 1 && count <= w->range);
    npi_rows_place(plane, value, w, (size_t)count);
    for (int p = 0, together; p < e->plan.products; p += together) {
        const npi_product *products = &e->plan.product[p];
        const npi_bank_view *right = &e->view.bank[products->right];
        together = npi_rows_together(&e->plan, p); /* each row of the list is read once for all of these */
        planes_of(out, plane, products, together);
        pick(w, e, products, together);
        npi_kernels_best()->row_products(out, w->picked, together, right->row, list, count, right->width,
                                         right->stride);
    }
    finish(plane, w, e, others);
}

void npi_columns_list(real *value, npi_columns_workspace *w, const npi_columns *e, const int32_t *list, int count)
{
    double *doubles = w->doubles;
    float *floats = w->floats;
    const float *common = gather_floats(&floats, w->common, list, count);
    const float *jaccard = gather_floats(&floats, w->jaccard, list, count);
    const double *overlap = w->overlap ? gather_doubles(&doubles, w->overlap, list, count) : NULL;
    const double *lift[NPI_WALK_LIFTS];
    for (size_t t = 0; t < NPI_WALK_LIFTS; t++)
        lift[t] = gather_doubles(&doubles, w->lift + t * (size_t)e->n, list, count);
    partners others = partners_of_list(e, list, count, doubles, floats);
    others.met.common = common;
    others.met.jaccard = jaccard;
    others.overlap = overlap;
    memcpy(others.met.lift, lift, sizeof lift);
    meet_list(value, w, e, list, &others);
}

void npi_columns_near(real *value, npi_columns_workspace *w, const npi_columns *e, const npi_vicinity *near,
                      const int32_t *list, int count)
{
    double *doubles = w->doubles, *lift = doubles; /* (NPI_WALK_LIFTS, count) */
    float *floats = w->floats, *common = floats, *jaccard = floats + count;
    double *overlap = w->overlap ? doubles + NPI_WALK_LIFTS * count : NULL;
    w->nodes = w->places = &near->node;
    w->count = 1;
    for (int i = 0; i < count; i++) {
        double walks[NPI_WALK_LIFTS];
        npi_vicinity_walks(&common[i], walks, near, list[i]);
        for (int t = 0; t < NPI_WALK_LIFTS; t++)
            lift[t * count + i] = walks[t];
        npi_structure_finish(&common[i], &jaccard[i], e, near->node, list[i]);
        if (overlap)
            overlap[i] = npi_tfidf_pair(&e->reduced->tfidf, near->node, list[i]);
    }
    partners others =
        partners_of_list(e, list, count, doubles + (NPI_WALK_LIFTS + (overlap ? 1 : 0)) * count, floats + 2 * count);
    others.met.common = common;
    others.met.jaccard = jaccard;
    others.overlap = overlap;
    for (int t = 0; t < NPI_WALK_LIFTS; t++)
        others.met.lift[t] = lift + t * count;
    meet_list(value, w, e, list, &others);
}
