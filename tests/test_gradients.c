/* The gradient of every parameter against central differences of the loss, under every combination of the options that
 * change an equation. Double precision. */
#include "base/rng.h"
#include "features/dropout.h"
#include "fixture.h"
#include "model/net.h"

enum { N = 10, M = 14, F = 8, CONTEXT_EDGES = 4, CONTEXT_NODES = 5, SAMPLES = 3 };
enum { HIDDEN = 3, LATENT = 2, DECODER = 3, OUTPUT = 2 };

#define STEP 1e-4      /* of the differences */
#define TOLERANCE 1e-6 /* of the largest derivative of the tensor */
#define KINK 4e-3      /* how near to 0 the input of a relu may be: more than two STEPs can move it */

typedef struct problem {
    fixture_graph whole, context[2]; /* by npgnn_context */
    int32_t nodes[CONTEXT_NODES];    /* of the node context */
    npi_dropout dropout;             /* with some features hidden */
    real epsilon[SAMPLES * LATENT];
} problem;

/* ---- the problem ------------------------------------------------------------------------------------------- */

/* A ring, so that no node is alone, with random chords: distinct edges u < v. */
static void make_edges(npgnn_pair edges[M], npi_rng *rng)
{
    int count = 0;
    char used[N][N] = {{0}};
    while (count < M) {
        int u = count < N ? count : (int)npi_rng_below(rng, N);
        int v = count < N ? (count + 1) % N : (int)npi_rng_below(rng, N);
        if (u == v || used[u][v])
            continue;
        used[u][v] = used[v][u] = 1;
        edges[count++] = (npgnn_pair){u, v};
    }
}

static void make_features(float x[N * F], double density, npi_rng *rng)
{
    for (int i = 0; i < N * F; i++) {
        double value = 0.25 + npi_rng_uniform(rng);
        x[i] = npi_rng_uniform(rng) < density ? (float)value : 0;
    }
}

/* Nodes from the middle, with the edges among them: the ring gives it some. */
static fixture_graph make_node_context(int32_t nodes[CONTEXT_NODES], const npgnn_pair edges[M])
{
    const int32_t first = 3;
    npgnn_pair inside[M];
    int count = 0;
    for (int i = 0; i < CONTEXT_NODES; i++)
        nodes[i] = first + i;
    for (int e = 0; e < M; e++) {
        int32_t u = edges[e].u - first, v = edges[e].v - first;
        if (u >= 0 && u < CONTEXT_NODES && v >= 0 && v < CONTEXT_NODES)
            inside[count++] = (npgnn_pair){u, v};
    }
    return fixture_graph_new(inside, count, NULL, CONTEXT_NODES, 0);
}

static problem make_problem(int dense)
{
    problem p = {0};
    npi_rng rng = npi_rng_make(11, NPI_RNG_TEST, (uint32_t)dense);
    npgnn_pair edges[M];
    float x[N * F];
    make_edges(edges, &rng);
    make_features(x, dense ? 0.6 : 0.2, &rng);
    p.whole = fixture_graph_new(edges, M, x, N, F);
    assert_int_equal(p.whole.graph->x->dense != NULL, dense);
    p.context[NPGNN_CONTEXT_EDGES] = fixture_graph_new(edges + M - CONTEXT_EDGES, CONTEXT_EDGES, NULL, N, 0);
    p.context[NPGNN_CONTEXT_NODES] = make_node_context(p.nodes, edges);
    assert_int_equal(npi_features_transpose(p.whole.graph->x, NULL), 0);
    assert_int_equal(npi_dropout_new(&p.dropout, p.whole.graph->x, 1, fixture_env(), NULL), 0);
    npi_dropout_draw(&p.dropout, 0.3, 5, 1, 1);
    for (int i = 0; i < SAMPLES * LATENT; i++)
        p.epsilon[i] = (real)npi_rng_normal_at(&rng, (uint64_t)(1000 + i));
    return p;
}

/* Gives the links weights, the same in both directions. */
static void weigh(fixture_graph *g)
{
    npi_csr *a = &g->graph->a;
    a->val = npi_alloc(fixture_env(), (size_t)a->ptr[a->rows], sizeof *a->val, NULL);
    assert_non_null(a->val);
    for (int32_t u = 0; u < a->rows; u++)
        for (int64_t e = a->ptr[u]; e < a->ptr[u + 1]; e++)
            a->val[e] = 0.25f + 0.5f * (float)((u + a->col[e]) % 5);
    g->adj.a = *a;
    npi_adj_normalize(&g->adj, 1);
}

static void weigh_problem(problem *p)
{
    weigh(&p->whole);
    weigh(&p->context[NPGNN_CONTEXT_EDGES]);
    weigh(&p->context[NPGNN_CONTEXT_NODES]);
}

static void free_problem(problem *p)
{
    npi_dropout_free(fixture_env(), &p->dropout);
    fixture_graph_free(&p->whole);
    fixture_graph_free(&p->context[NPGNN_CONTEXT_EDGES]);
    fixture_graph_free(&p->context[NPGNN_CONTEXT_NODES]);
}

static void make_params(npi_params *params, const npgnn_options *options)
{
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(12, NPI_RNG_TEST, 0);
    assert_ok(npi_params_new(params, npi_sizes_of(options, F), fixture_env(), &err), err);
    for (size_t i = 0; i < params->count; i++)
        params->block[i] = (real)npi_rng_normal_at(&rng, i);
}

static npi_input make_input(const problem *p, const npgnn_options *options)
{
    int by_nodes = options->context == NPGNN_CONTEXT_NODES;
    return (npi_input){.x = options->input_dropout > 0 ? &p->dropout.view : p->whole.graph->x,
                       .graph = &p->whole.adj,
                       .context = &p->context[options->context].adj,
                       .context_nodes = by_nodes ? p->nodes : NULL,
                       .epsilon = p->epsilon,
                       .loss = npi_pairs_loss_make(options->likelihood, &p->whole.graph->a, NULL)};
}

static npgnn_options base_options(void)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&options, NULL, &err), err);
    options.hidden = HIDDEN;
    options.latent_size = LATENT;
    options.decoder_hidden = DECODER;
    options.output_size = OUTPUT;
    options.loss = NPGNN_LOSS_EXACT;
    options.kl_weight = 0.75;
    options.context = NPGNN_CONTEXT_EDGES;
    return options;
}

/* ---- relus: a difference across a kink is not a derivative ------------------------------------------------------ */

static double weight_at(const npi_adj *adj, int64_t entry)
{
    return adj->a.val ? (double)adj->a.val[entry] : 1;
}

/* 1 + the sum of a row's weights. */
static double degree(const npi_adj *adj, int i)
{
    double sum = 1;
    for (int64_t e = adj->a.ptr[i]; e < adj->a.ptr[i + 1]; e++)
        sum += weight_at(adj, e);
    return sum;
}

/* out (rows, width) = Â in, from the definition. */
static void propagate(double *out, const npi_adj *adj, const double *in, int width)
{
    int rows = adj->a.rows;
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < width; c++) {
            double own = degree(adj, i);
            double sum = in[i * width + c] / own;
            for (int64_t e = adj->a.ptr[i]; e < adj->a.ptr[i + 1]; e++) {
                int j = adj->a.col[e];
                sum += weight_at(adj, e) * in[j * width + c] / sqrt(own * degree(adj, j));
            }
            out[i * width + c] = sum;
        }
}

/* The smallest magnitude but 0: an exact 0 comes from inputs that are all 0, and stays whatever the weights. */
static double nearest(double near, const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != 0 && !(fabs(values[i]) >= near))
            near = fabs(values[i]);
    return near;
}

static double feature(const npi_features *x, int row, int col)
{
    if (x->dense)
        return (double)x->dense[row * x->f + col];
    for (int64_t e = x->x.ptr[row]; e < x->x.ptr[row + 1]; e++)
        if (x->x.col[e] == col)
            return x->x.val ? (double)x->x.val[e] : 1;
    return 0;
}

/* out (rows, cols) = in (rows, inner) w, from the definition. */
static void multiply(double *out, const double *in, const real *w, int ldw, int rows, int inner, int cols)
{
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < cols; c++) {
            out[i * cols + c] = 0;
            for (int j = 0; j < inner; j++)
                out[i * cols + c] += in[i * inner + j] * (double)w[j * ldw + c];
        }
}

/* The nearest to 0 that an input of a relu of the encoder comes on this graph; `both`: the second layer has one too. */
static double kink_distance(const npi_params *p, const npi_adj *adj, const int32_t *nodes, const npi_features *x,
                            int both)
{
    double in[N * F], product[N * F], before[N * F]; /* F is the widest layer */
    int rows = adj->a.rows;
    for (int i = 0; i < rows * F; i++)
        in[i] = feature(x, nodes ? nodes[i / F] : i / F, i % F);
    multiply(product, in, p->wx, HIDDEN + DECODER, rows, F, HIDDEN);
    propagate(before, adj, product, HIDDEN);
    double near = nearest((double)INFINITY, before, rows * HIDDEN);
    if (!both)
        return near;
    for (int i = 0; i < rows * HIDDEN; i++)
        in[i] = fmax(before[i], 0);
    multiply(product, in, p->wr, 2 * LATENT, rows, HIDDEN, 2 * LATENT);
    propagate(before, adj, product, 2 * LATENT);
    return nearest(near, before, rows * 2 * LATENT);
}

static void check_kinks(const npi_params *params, const npi_input *input, const npgnn_options *options)
{
    int both = options->encoder_output == NPGNN_RELU;
    assert_true(kink_distance(params, input->graph, NULL, input->x, both) > KINK);
    assert_true(kink_distance(params, input->context, input->context_nodes, input->x, both) > KINK);
}

/* ---- the comparison
 * ------------------------------------------------------------------------------------------------ */

static double loss_at(npi_net *net, const npi_params *params, const npi_input *input, const npgnn_options *options)
{
    npi_objective objective = npi_net_run(net, NULL, params, input);
    return objective.reconstruction + options->kl_weight * objective.kl;
}

/* The loss with one parameter moved. */
static double loss_moved(npi_net *net, npi_params *params, size_t index, double by, const npi_input *input,
                         const npgnn_options *options)
{
    real kept = params->block[index];
    params->block[index] = kept + (real)by;
    double loss = loss_at(net, params, input, options);
    params->block[index] = kept;
    return loss;
}

/* numeric = the gradient by central differences of fourth order: the step can be long enough for rounding not to
 * matter. */
static void differentiate(npi_params *numeric, npi_net *net, npi_params *params, const npi_input *input,
                          const npgnn_options *options)
{
    for (size_t i = 0; i < params->count; i++) {
        double one =
            loss_moved(net, params, i, STEP, input, options) - loss_moved(net, params, i, -STEP, input, options);
        double two = loss_moved(net, params, i, 2 * STEP, input, options) -
                     loss_moved(net, params, i, -2 * STEP, input, options);
        numeric->block[i] = (real)((8 * one - two) / (12 * STEP));
    }
}

static double largest(const npi_params *p, int tensor)
{
    npi_tensor shape = npi_params_tensor(p, tensor);
    double most = 0;
    for (int r = 0; r < shape.rows; r++)
        for (int c = 0; c < shape.cols; c++)
            most = fmax(most, fabs((double)*fixture_element(p, tensor, r, c)));
    return most;
}

/* Whether every element of every tensor agrees, to TOLERANCE of the tensor's scale; a tensor whose gradient is next to
 * nothing is held to a thousandth of the largest one's scale. */
static int gradients_agree(const npi_params *analytic, const npi_params *numeric, int quiet)
{
    double whole = 0;
    int ok = 1;
    for (int t = 0; t < NPI_TENSORS; t++)
        whole = fmax(whole, largest(numeric, t));
    for (int t = 0; t < NPI_TENSORS; t++) {
        npi_tensor shape = npi_params_tensor(numeric, t);
        double scale = fmax(largest(numeric, t), 1e-3 * whole);
        for (int r = 0; r < shape.rows; r++)
            for (int c = 0; c < shape.cols; c++) {
                double a = (double)*fixture_element(analytic, t, r, c), b = (double)*fixture_element(numeric, t, r, c);
                int near = fabs(a - b) <= TOLERANCE * scale;
                if (!near && !quiet)
                    print_error("%s[%d][%d]: gradient %.10g, difference %.10g\n", shape.name, r, c, a, b);
                ok = ok && near;
            }
    }
    return ok && whole > 0;
}

typedef struct gradients {
    npi_params params, analytic, numeric;
} gradients;

static gradients compute(const problem *p, const npgnn_options *options)
{
    gradients g = {0};
    npgnn_error err = {0};
    npi_net *net = NULL;
    const npi_partition rows = npi_partition_whole(N);
    make_params(&g.params, options);
    assert_ok(npi_params_new(&g.analytic, g.params.size, fixture_env(), &err), err);
    assert_ok(npi_params_new(&g.numeric, g.params.size, fixture_env(), &err), err);
    assert_ok(npi_net_new(&net, options, &rows, p->whole.graph->x, NULL, fixture_env(), &err), err);
    npi_input input = make_input(p, options);
    if (options->latent)
        check_kinks(&g.params, &input, options);
    npi_net_run(net, &g.analytic, &g.params, &input);
    differentiate(&g.numeric, net, &g.params, &input, options);
    npi_net_free(net);
    return g;
}

static void free_gradients(gradients *g)
{
    npi_params_free(fixture_env(), &g->params);
    npi_params_free(fixture_env(), &g->analytic);
    npi_params_free(fixture_env(), &g->numeric);
}

static void check_options(const problem *p, const npgnn_options *options)
{
    gradients g = compute(p, options);
    int ok = gradients_agree(&g.analytic, &g.numeric, 0);
    free_gradients(&g);
    if (!ok)
        fail_msg("encoder-output %d, aggregate %d, sigma-mean %d, decoder-output %d, monte-carlo %d, likelihood %d, "
                 "context %d, samples %d, latent %d",
                 options->encoder_output, options->aggregate, options->sigma_mean, options->decoder_output,
                 options->monte_carlo, options->likelihood, options->context, options->samples, options->latent);
}

/* ---- the tests
 * ----------------------------------------------------------------------------------------------------- */

/* The combination of two-way options whose bits are those of `number`. */
static npgnn_options combination(unsigned number)
{
    npgnn_options options = base_options();
    options.encoder_output = number & 1 ? NPGNN_RELU : NPGNN_LINEAR;
    options.aggregate = number & 2 ? NPGNN_SCALAR : NPGNN_VECTOR;
    options.sigma_mean = number & 4 ? NPGNN_LOG_MEAN : NPGNN_MEAN_LOG;
    options.decoder_output = number & 8 ? NPGNN_SIGMOID : NPGNN_LINEAR;
    options.monte_carlo = number & 16 ? NPGNN_MC_EMBEDDING : NPGNN_MC_LIKELIHOOD;
    options.likelihood = number & 32 ? NPGNN_PLAIN : NPGNN_WEIGHTED;
    options.context = number & 64 ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
    options.samples = number & 128 ? SAMPLES : 1;
    options.sigma_start = number & 64 ? 0.4 : 1;
    return options;
}

static void check_all(int dense)
{
    problem p = make_problem(dense);
    for (unsigned number = 0; number < 256; number++) {
        npgnn_options options = combination(number);
        check_options(&p, &options);
    }
    free_problem(&p);
}

static void test_sparse_features(void **state)
{
    (void)state;
    check_all(0);
}

static void test_dense_features(void **state)
{
    (void)state;
    check_all(1);
}

/* Features that are dropped, with all other options. */
static void test_dropout(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        problem p = make_problem(dense);
        for (unsigned number = 0; number < 256; number += 8) {
            npgnn_options options = combination(number);
            options.input_dropout = 0.3;
            check_options(&p, &options);
        }
        free_problem(&p);
    }
}

/* A decoder that ends in a relu, which no preset has. */
static void test_relu_output(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        problem p = make_problem(dense);
        for (unsigned number = 0; number < 256; number += 16) {
            npgnn_options options = combination(number);
            options.decoder_output = NPGNN_RELU;
            check_options(&p, &options);
        }
        free_problem(&p);
    }
}

static void test_without_latent(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        problem p = make_problem(dense);
        for (unsigned number = 0; number < 64; number += 8) {
            npgnn_options options = combination(number);
            options.latent = 0;
            check_options(&p, &options);
        }
        free_problem(&p);
    }
}

/* A conditional neural process: z is the context's mean. Without the KL term little of the gradient reaches the
 * encoder: too little for differences where the plain likelihood is a large sum, or the scalar z large. */
static void test_conditional(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        problem p = make_problem(dense);
        for (unsigned number = 0; number < 256; number += 3) {
            npgnn_options options = combination(number);
            options.sample_latent = 0;
            options.likelihood = NPGNN_WEIGHTED;
            options.aggregate = NPGNN_VECTOR;
            check_options(&p, &options);
        }
        free_problem(&p);
    }
}

/* Links with weights, in the normalisation and in the loss. */
static void test_weights(void **state)
{
    (void)state;
    problem p = make_problem(0);
    weigh_problem(&p);
    for (unsigned number = 0; number < 256; number += 5) {
        npgnn_options options = combination(number);
        check_options(&p, &options);
    }
    free_problem(&p);
}

/* The comparison above must notice one derivative that is wrong by a ten-thousandth of its tensor's scale. */
static void test_a_wrong_gradient_is_noticed(void **state)
{
    (void)state;
    problem p = make_problem(0);
    npgnn_options options = base_options();
    gradients g = compute(&p, &options);
    for (int t = 0; t < NPI_TENSORS; t++) {
        real *element = fixture_element(&g.analytic, t, 0, 0), kept = *element;
        assert_true(gradients_agree(&g.analytic, &g.numeric, 0));
        *element += (real)(1e-4 * largest(&g.analytic, t));
        assert_false(gradients_agree(&g.analytic, &g.numeric, 1));
        *element = (real)NAN;
        assert_false(gradients_agree(&g.analytic, &g.numeric, 1));
        *element = kept;
    }
    free_gradients(&g);
    free_problem(&p);
}

/* A run adds to the gradient that is there, and asking for it does not change the objective. */
static void test_gradients_add_up(void **state)
{
    (void)state;
    npgnn_error err = {0};
    problem p = make_problem(0);
    npgnn_options options = combination(128);
    gradients g = compute(&p, &options);
    npi_input input = make_input(&p, &options);
    npi_net *net = NULL;
    const npi_partition rows = npi_partition_whole(N);
    assert_ok(npi_net_new(&net, &options, &rows, p.whole.graph->x, NULL, fixture_env(), &err), err);
    npi_objective without = npi_net_run(net, NULL, &g.params, &input);
    memset(g.numeric.block, 0, g.numeric.count * sizeof *g.numeric.block);
    for (int times = 0; times < 2; times++) {
        npi_objective with = npi_net_run(net, &g.numeric, &g.params, &input);
        assert_true(with.reconstruction == without.reconstruction && with.kl == without.kl);
    }
    for (size_t i = 0; i < g.numeric.count; i++)
        assert_near((double)g.numeric.block[i], 2 * (double)g.analytic.block[i], 1e-12);
    npi_net_free(net);
    free_gradients(&g);
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_features),  cmocka_unit_test(test_dense_features),
        cmocka_unit_test(test_without_latent),   cmocka_unit_test(test_a_wrong_gradient_is_noticed),
        cmocka_unit_test(test_gradients_add_up), cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_relu_output),      cmocka_unit_test(test_conditional),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
