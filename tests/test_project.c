/* The projection of the features (examples/project.h): its gradient, and that features of linked nodes come close. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "examples/project.h"
#include "graph/graph.h"

/* What a projection of width WIDTH is checked on: a ring of links, two offsets of which one is half of all nodes. */
enum { RING = 10, WIDTH = 3, UNIFORM = 8 };

/* `known`: of the projection for neighbourhoods; NULL: of the other one. */
static double project_loss(real *du, double *shift, const real *u, double b, const npi_adj *known,
                           const npi_project_pairs *pairs)
{
    double loss[RING], total = 0, shifts = 0, part[RING];
    real smooth[RING * WIDTH];
    if (known)
        npi_project_loss_around(du, part, loss, smooth, u, WIDTH, b, known, pairs, 2);
    else
        npi_project_loss(du, part, loss, u, WIDTH, b, pairs, 2);
    for (int i = 0; i < RING; i++) {
        total += loss[i];
        shifts += part[i];
    }
    *shift = shifts;
    return total;
}

/* Â q, term by term. */
static void slow_smooth(real *out, const real *q, const npi_csr *a)
{
    for (int i = 0; i < RING; i++)
        for (int c = 0; c < WIDTH; c++) {
            double own = (double)(a->ptr[i + 1] - a->ptr[i]) + 1, sum = (double)q[i * WIDTH + c] / own;
            for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
                int j = a->col[p];
                sum += (double)q[j * WIDTH + c] / sqrt(own * ((double)(a->ptr[j + 1] - a->ptr[j]) + 1));
            }
            out[i * WIDTH + c] = (real)sum;
        }
}

/* The same as project_loss, pair by pair, as project.h says. */
static double slow_loss(const real *given, double b, const npi_adj *known, const npi_project_pairs *pairs)
{
    double links = 0, others = 0;
    real smooth[RING * WIDTH];
    const real *u = known ? smooth : given;
    if (known)
        slow_smooth(smooth, given, &known->a);
    for (int i = 0; i < RING; i++) {
        double s = b;
        for (int c = 0; c < WIDTH; c++)
            s += (double)u[i * WIDTH + c] * (double)u[(i + 1) % RING * WIDTH + c];
        links += log1p(exp(-s)) / RING;
    }
    for (int i = 0; i < UNIFORM; i++)
        for (int k = 0; k < pairs->offsets; k++) {
            int j = (i + pairs->offset[k]) % UNIFORM;
            double s = b;
            for (int c = 0; c < WIDTH; c++)
                s += (double)u[i * WIDTH + c] * (double)u[j * WIDTH + c];
            if (!pairs->side || pairs->side[i] != pairs->side[j])
                others += log1p(exp(s)) / (UNIFORM * pairs->offsets);
        }
    return links + others;
}

static void test_gradient(void **state)
{
    (void)state;
    const int32_t offsets[2] = {3, UNIFORM / 2};
    const unsigned char sides[RING] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    npgnn_pair ring[RING];
    const npgnn_pair known_links[] = {{0, 2}, {0, 3}, {0, 5}, {1, 7}, {2, 7}, {4, 8}};
    npgnn_graph *graph = NULL, *known_graph = NULL;
    npgnn_error err = {0};
    for (int i = 0; i < RING; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % RING};
    assert_ok(npgnn_graph_from_arrays(&graph, ring, NULL, RING, RING, 0, NULL, &err), err);
    assert_ok(npgnn_graph_from_arrays(&known_graph, known_links, NULL, RING, 6, 0, NULL, &err), err);
    real scale[RING];
    npi_adj adj = {.a = known_graph->a, .scale = scale};
    npi_adj_normalize(&adj, 1);
    for (int i = 0; i < 4; i++) {
        const npi_project_pairs pairs = {&graph->a, i % 2 ? sides : NULL, UNIFORM, offsets, 2};
        const npi_adj *known = i < 2 ? NULL : &adj;
        real u[RING * WIDTH], du[RING * WIDTH], unused[RING * WIDTH];
        npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
        for (int k = 0; k < RING * WIDTH; k++)
            u[k] = (real)(2 * npi_rng_uniform(&rng) - 1);
        const double b = -0.4, step = 1e-5, near = 1e-8;
        double shift, ignored;
        assert_true(fabs(project_loss(du, &shift, u, b, known, &pairs) - slow_loss(u, b, known, &pairs)) < near);
        for (int k = 0; k < RING * WIDTH; k++) {
            real was = u[k];
            u[k] = was + (real)step;
            double up = project_loss(unused, &ignored, u, b, known, &pairs);
            u[k] = was - (real)step;
            double down = project_loss(unused, &ignored, u, b, known, &pairs);
            u[k] = was;
            assert_true(fabs((up - down) / (2 * step) - (double)du[k]) < near);
        }
        double up = project_loss(unused, &ignored, u, b + step, known, &pairs);
        double down = project_loss(unused, &ignored, u, b - step, known, &pairs);
        assert_true(fabs((up - down) / (2 * step) - shift) < near);
    }
    npgnn_graph_free(graph);
    npgnn_graph_free(known_graph);
}

static int has_entry(const npi_csr *a, int32_t i, int32_t j)
{
    int found = 0;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        found += a->col[p] == j;
    return found;
}

/* A link that is hidden is not among those that Â is made of; every link is hidden once, in both directions. */
static void test_hidden_links(void **state)
{
    (void)state;
    enum { PARTS = 3 };
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_csr hidden, known;
    const npi_rng rng = npi_rng_make(6, NPI_RNG_TEST, 0);
    int64_t total = 0;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=200,words=100", NULL, NULL, &err), err);
    const npi_csr *all = &graph->a;
    int64_t entries = all->ptr[all->rows];
    assert_ok(npi_csr_new(&hidden, all->rows, all->rows, entries, 0, &env, &err), err);
    assert_ok(npi_csr_new(&known, all->rows, all->rows, entries, 0, &env, &err), err);
    for (int part = 0; part < PARTS; part++) {
        npi_project_hide(&hidden, &known, all, part, PARTS, &rng);
        for (int32_t i = 0; i < all->rows; i++)
            for (int64_t p = all->ptr[i]; p < all->ptr[i + 1]; p++) {
                int32_t j = all->col[p];
                assert_int_equal(has_entry(&hidden, i, j) + has_entry(&known, i, j), 1);
                assert_int_equal(has_entry(&hidden, i, j), has_entry(&hidden, j, i));
            }
        assert_int_equal(hidden.ptr[all->rows] + known.ptr[all->rows], entries);
        assert_true(hidden.ptr[all->rows] > entries / 4 && hidden.ptr[all->rows] < entries / 2);
        total += hidden.ptr[all->rows];
    }
    assert_int_equal(total, entries);
    npi_csr_free(&env, &hidden);
    npi_csr_free(&env, &known);
    npgnn_graph_free(graph);
}

/* Nodes of two kinds, linked within each, have one of three words of their kind: the projections of two words of a kind
 * point the same way though no node has both. Also on a graph of which a sample is taken. */
static void test_features_that_go_together(void **state)
{
    enum { COLUMNS = 6 };
    (void)state;
    for (int large = 0; large < 2; large++) {
        int32_t n = large ? 70000 : 300;
        int64_t m = 3 * (int64_t)n;
        float *features = calloc((size_t)n * COLUMNS, sizeof *features);
        npgnn_pair *edges = calloc((size_t)m, sizeof *edges);
        npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
        npgnn_env env = npi_env_resolve(NULL);
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        npi_projection p = {0}, same = {0};
        for (int32_t i = 0; i < n; i++)
            features[i * COLUMNS + (i & 1) * (COLUMNS / 2) + (int)npi_rng_below(&rng, COLUMNS / 2)] = 1;
        for (int64_t i = 0; i < m; i++) {
            int32_t kind = (int32_t)(i & 1);
            edges[i] = (npgnn_pair){2 * (int32_t)npi_rng_below(&rng, (uint64_t)n / 2) + kind,
                                    2 * (int32_t)npi_rng_below(&rng, (uint64_t)n / 2) + kind};
        }
        assert_ok(npgnn_graph_from_arrays(&graph, edges, features, n, m, COLUMNS, NULL, &err), err);
        assert_ok(npi_project(&p, graph, 1, &env, &err), err);
        env.threads = 3;
        assert_ok(npi_project(&same, graph, 1, &env, &err), err);
        assert_int_equal(p.f, COLUMNS);
        assert_int_equal(p.width, COLUMNS); /* no more than there are columns */
        assert_memory_equal(p.weight, same.weight, npi_projection_count(&p) * sizeof *p.weight);
        assert_int_equal(memcmp(p.weight, p.around, COLUMNS * COLUMNS * sizeof *p.weight) == 0, large);
        const real *matrices[] = {p.weight, p.around};
        for (int k = 0; k < 2 * COLUMNS * COLUMNS; k++) {
            const real *w = matrices[k / (COLUMNS * COLUMNS)];
            int i = k / COLUMNS % COLUMNS, j = k % COLUMNS;
            double product = 0;
            for (int c = 0; c < COLUMNS; c++)
                product += (double)w[i * COLUMNS + c] * (double)w[j * COLUMNS + c];
            if (i != j)
                assert_true(i / (COLUMNS / 2) == j / (COLUMNS / 2) ? product > 0.5 : product < 0);
        }
        npi_projection_free(&env, &p);
        npi_projection_free(&env, &same);
        npgnn_graph_free(graph);
        free(features);
        free(edges);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_hidden_links),
        cmocka_unit_test(test_features_that_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
