/* The graph auto-encoders: their loss against its definition, term by term over all pairs, and every derivative against
 * differences of the loss. Double precision. */
#include "base/rng.h"
#include "baselines/vgae_net.h"
#include "fixture.h"

enum { N = 9, M = 12, F = 6, H = 4, D = 3 };

#define STEP 1e-5
#define TOLERANCE 1e-7 /* of the largest derivative */

typedef struct problem {
    fixture_graph g;
    float x[N * F];
    real epsilon[N * D];
    npi_params params, gradient;
    npi_vgae *net;
} problem;

static npi_params make_params(npi_sizes size)
{
    npgnn_error err = {0};
    npi_params params;
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 1);
    assert_ok(npi_params_new(&params, size, fixture_env(), &err), err);
    for (size_t i = 0; i < params.count; i++)
        params.block[i] = (real)(0.7 * npi_rng_normal_at(&rng, i));
    return params;
}

/* A ring with chords, and features of which a third are zero. */
static problem make_problem(void)
{
    npgnn_error err = {0};
    npgnn_pair edges[M] = {{0, 4}, {2, 7}, {1, 5}};
    problem p = {0};
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    for (int i = 0; i < N; i++)
        edges[3 + i] = (npgnn_pair){i, (i + 1) % N};
    for (int i = 0; i < N * F; i++)
        p.x[i] = npi_rng_uniform(&rng) < 0.33 ? 0 : (float)npi_rng_uniform(&rng);
    for (int i = 0; i < N * D; i++)
        p.epsilon[i] = (real)npi_rng_normal_at(&rng, (uint64_t)(1000 + i));
    p.g = fixture_graph_new(edges, M, p.x, N, F);
    npi_sizes size = {.f = F, .h = H, .d = D};
    p.params = make_params(size);
    assert_ok(npi_params_new(&p.gradient, size, fixture_env(), &err), err);
    assert_ok(npi_vgae_new(&p.net, size, N, 0, fixture_env(), &err), err);
    return p;
}

static void free_problem(problem *p)
{
    npi_vgae_free(p->net);
    npi_params_free(fixture_env(), &p->params);
    npi_params_free(fixture_env(), &p->gradient);
    fixture_graph_free(&p->g);
}

static npi_input input_of(const problem *p, int variational)
{
    return (npi_input){.x = p->g.graph->x,
                       .graph = &p->g.adj,
                       .epsilon = variational ? p->epsilon : NULL,
                       .loss = npi_pairs_loss_make(NPGNN_WEIGHTED, &p->g.graph->a, NULL)};
}

/* ---- the loss, from its definition ---- */

/* out (N, width) = Â in w, in (N, inner) and w (inner, width) */
static void convolve(double *out, const npgnn_graph *graph, const double *in, const real *w, int inner, int width)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < width; c++) {
            double sum = 0;
            for (int j = 0; j < N; j++) {
                const int32_t *unused;
                double di = 1 + (double)npgnn_graph_neighbors(&unused, graph, i);
                double dj = 1 + (double)npgnn_graph_neighbors(&unused, graph, j);
                if (i != j && !npgnn_graph_has_edge(graph, i, j))
                    continue;
                for (int q = 0; q < inner; q++)
                    sum += in[j * inner + q] * (double)w[q * width + c] / sqrt(di * dj);
            }
            out[i * width + c] = sum;
        }
}

/* norm * mean over all pairs of the cross entropy whose positives, the edges and the diagonal, weigh w. */
static double reconstruction(const double *z, const npgnn_graph *graph)
{
    double positives = 2.0 * M, all = (double)N * N, weight = (all - positives) / positives, sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int c = 0; c < D; c++)
                s += z[i * D + c] * z[j * D + c];
            double p = 1 / (1 + exp(-s));
            sum -= i == j || npgnn_graph_has_edge(graph, i, j) ? weight * log(p) : log(1 - p);
        }
    return all / (2 * (all - positives)) * sum / all;
}

static npi_objective defined(const problem *p, int variational)
{
    double x[N * F], hidden[N * H], heads[N * 2 * D], z[N * D], kl = 0;
    for (int i = 0; i < N * F; i++)
        x[i] = (double)p->x[i];
    convolve(hidden, p->g.graph, x, p->params.wx, F, H);
    for (int i = 0; i < N * H; i++)
        hidden[i] = fmax(hidden[i], 0);
    convolve(heads, p->g.graph, hidden, p->params.wr, H, 2 * D);
    for (int i = 0; i < N * D; i++) {
        double mu = heads[i / D * 2 * D + i % D], lambda = heads[i / D * 2 * D + D + i % D];
        z[i] = mu + (variational ? exp(lambda) * (double)p->epsilon[i] : 0);
        kl -= 0.5 / N * (1 + 2 * lambda - mu * mu - exp(lambda) * exp(lambda)) / N;
    }
    return (npi_objective){reconstruction(z, p->g.graph), variational ? kl : 0};
}

static void test_loss(void **state)
{
    (void)state;
    problem p = make_problem();
    for (int variational = 0; variational < 2; variational++) {
        npi_input input = input_of(&p, variational);
        npi_objective got = npi_vgae_run(p.net, NULL, &p.params, &input), wanted = defined(&p, variational);
        assert_near(got.reconstruction, wanted.reconstruction, 1e-12);
        assert_near(got.kl, wanted.kl, 1e-12);
        assert_true(!variational || got.kl > 0.01);
    }
    free_problem(&p);
}

/* ---- the gradient ---- */

static double loss_moved(problem *p, size_t index, double by, const npi_input *input)
{
    real kept = p->params.block[index];
    p->params.block[index] = kept + (real)by;
    npi_objective o = npi_vgae_run(p->net, NULL, &p->params, input);
    p->params.block[index] = kept;
    return o.reconstruction + o.kl;
}

static double largest(const npi_params *params)
{
    double most = 0;
    for (size_t i = 0; i < params->count; i++)
        most = fmax(most, fabs((double)params->block[i]));
    return most;
}

static void check_gradient(int variational)
{
    problem p = make_problem();
    npi_input input = input_of(&p, variational);
    npi_vgae_run(p.net, &p.gradient, &p.params, &input);
    double scale = largest(&p.gradient);
    assert_true(scale > 1e-3);
    for (size_t i = 0; i < p.params.count; i++) {
        double numeric = (loss_moved(&p, i, STEP, &input) - loss_moved(&p, i, -STEP, &input)) / (2 * STEP);
        assert_near((double)p.gradient.block[i] / scale, numeric / scale, TOLERANCE);
    }
    free_problem(&p);
}

static void test_gradient_variational(void **state)
{
    (void)state;
    check_gradient(1);
}

static void test_gradient_plain(void **state)
{
    (void)state;
    check_gradient(0);
}

/* ---- embedding ---- */

/* Without noise z is mu, and so the loss of the embedding is that of the network. */
static void test_embedding(void **state)
{
    (void)state;
    problem p = make_problem();
    npgnn_error err = {0};
    real mu[N * D];
    npi_input input = input_of(&p, 0);
    assert_ok(npi_vgae_embed(mu, &p.params, p.g.graph->x, &p.g.adj, fixture_env(), &err), err);
    assert_near(reconstruction(mu, p.g.graph), npi_vgae_run(p.net, NULL, &p.params, &input).reconstruction, 1e-12);
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_gradient_variational),
        cmocka_unit_test(test_gradient_plain),
        cmocka_unit_test(test_embedding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
