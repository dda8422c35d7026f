/* GraphSAGE: its loss against the definition, and every derivative against differences of the loss. Double
 * precision. */
#include "base/rng.h"
#include "baselines/sage_net.h"
#include "fixture.h"

enum { N = 9, M = 11, F = 6, H = 4, D = 2, W = 2 * D, PARTNERS = 3, LONE = N - 1 };

#define STEP 1e-5
#define TOLERANCE 1e-7 /* of the largest derivative */

typedef struct problem {
    fixture_graph g;
    float x[N * F];
    int32_t partner[N * PARTNERS];
    npi_params params, gradient;
    npi_sage *net;
} problem;

/* A ring with chords, and a node without an edge, which has no partners but is one. */
static problem make_problem(void)
{
    npgnn_error err = {0};
    npgnn_pair edges[M] = {{0, 4}, {2, 7}, {1, 5}};
    problem p = {0};
    npi_rng rng = npi_rng_make(7, NPI_RNG_TEST, 0);
    for (int i = 0; i < LONE; i++)
        edges[3 + i] = (npgnn_pair){i, (i + 1) % LONE};
    for (int i = 0; i < N * F; i++)
        p.x[i] = npi_rng_uniform(&rng) < 0.33 ? 0 : (float)npi_rng_uniform(&rng);
    for (int i = 0; i < N * PARTNERS; i++)
        p.partner[i] = (int32_t)npi_rng_below(&rng, N);
    p.partner[1] = LONE;
    p.partner[LONE * PARTNERS] = -1;
    p.g = fixture_graph_new(edges, M, p.x, N, F);
    npi_sizes size = {.f = F, .h = H, .d = D};
    assert_ok(npi_params_new(&p.params, size, fixture_env(), &err), err);
    assert_ok(npi_params_new(&p.gradient, size, fixture_env(), &err), err);
    for (size_t i = 0; i < p.params.count; i++)
        p.params.block[i] = (real)npi_rng_normal_at(&rng, 1000 + i);
    assert_ok(npi_sage_new(&p.net, size, N, PARTNERS, fixture_env(), &err), err);
    return p;
}

static void free_problem(problem *p)
{
    npi_sage_free(p->net);
    npi_params_free(fixture_env(), &p->params);
    npi_params_free(fixture_env(), &p->gradient);
    fixture_graph_free(&p->g);
}

static double run(problem *p, npi_params *gradient)
{
    return npi_sage_run(p->net, gradient, &p->params, p->g.graph->x, &p->g.graph->a, p->partner);
}

/* ---- the loss, from its definition ---- */

/* out (N, width): the left half of in w, and the mean over the neighbours of its right half. in (N, inner). */
static void layer(double *out, const npgnn_graph *graph, const double *in, const real *w, int inner, int width)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < width; c++) {
            double sum = 0, count = 0;
            for (int j = 0; j < N; j++) {
                if (c < width / 2 ? i != j : !npgnn_graph_has_edge(graph, i, j))
                    continue;
                count++;
                for (int q = 0; q < inner; q++)
                    sum += in[j * inner + q] * (double)w[q * width + c];
            }
            out[i * width + c] = count > 0 ? sum / count : 0;
        }
}

static double cosine(const double *a, const double *b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int c = 0; c < W; c++) {
        ab += a[c] * b[c];
        aa += a[c] * a[c];
        bb += b[c] * b[c];
    }
    return ab / sqrt(aa * bb);
}

static double defined_loss(const problem *p)
{
    double x[N * F], hidden[N * H], y[N * W], loss = 0;
    for (int i = 0; i < N * F; i++)
        x[i] = (double)p->x[i];
    layer(hidden, p->g.graph, x, p->params.wx, F, H);
    for (int i = 0; i < N * H; i++)
        hidden[i] = fmax(hidden[i], 0);
    layer(y, p->g.graph, hidden, p->params.wr, H, W);
    for (int i = 0; i < LONE; i++)
        for (int q = 0; q < PARTNERS; q++) {
            double s = cosine(y + i * W, y + p->partner[i * PARTNERS + q] * W);
            loss -= log(1 / (1 + exp(q == 0 ? -s : s))) / N;
        }
    return loss;
}

static void test_loss(void **state)
{
    (void)state;
    problem p = make_problem();
    assert_near(run(&p, NULL), defined_loss(&p), 1e-12);
    free_problem(&p);
}

/* ---- the gradient ---- */

static double loss_moved(problem *p, size_t index, double by)
{
    real kept = p->params.block[index];
    p->params.block[index] = kept + (real)by;
    double loss = run(p, NULL);
    p->params.block[index] = kept;
    return loss;
}

static void test_gradient(void **state)
{
    (void)state;
    problem p = make_problem();
    double scale = 0;
    run(&p, &p.gradient);
    for (size_t i = 0; i < p.params.count; i++)
        scale = fmax(scale, fabs((double)p.gradient.block[i]));
    assert_true(scale > 1e-3);
    for (size_t i = 0; i < p.params.count; i++) {
        double numeric = (loss_moved(&p, i, STEP) - loss_moved(&p, i, -STEP)) / (2 * STEP);
        assert_near((double)p.gradient.block[i] / scale, numeric / scale, TOLERANCE);
    }
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
