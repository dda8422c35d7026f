/* The network against tools/twin.py, an independent implementation: latent, embedding, loss and gradients under every
 * option, and two short trainings. tools/golden.py describes the files. */
#include "fixture.h"
#include "model/embedder.h"
#include "model/net.h"
#include "train/adam.h"

enum { MAX_ARRAYS = 32, MAX_EPSILON = 64, CASES = 82, ARRAYS = 740, CURVES = 2 };

/* Float keeps five digits of a tensor's scale through all steps; double must agree but for rounding. */
static const double tolerance = sizeof(real) == sizeof(double) ? 1e-10 : 1e-5;

/* ---- reading the files
 * --------------------------------------------------------------------------------------------- */

typedef struct array {
    char name[32];
    int rows, cols;
    double *at;
    double scale; /* largest magnitude */
} array;

static FILE *open_golden(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/golden/%s", NPGNN_SOURCE_ROOT, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

/* The next line that is not empty; 0 at the end. */
static int next_line(char line[1024], FILE *file)
{
    while (fgets(line, 1024, file))
        if (line[0] != '\n')
            return 1;
    return 0;
}

static array read_array(FILE *file, const char *line)
{
    array a = {0};
    assert_int_equal(sscanf(line, "%31s %d %d", a.name, &a.rows, &a.cols), 3);
    a.at = calloc((size_t)a.rows * (size_t)a.cols, sizeof *a.at);
    assert_non_null(a.at);
    for (int i = 0; i < a.rows * a.cols; i++) {
        assert_int_equal(fscanf(file, "%lf", &a.at[i]), 1);
        a.scale = fmax(a.scale, fabs(a.at[i]));
    }
    return a;
}

/* "case key=value key=value ..." */
static npgnn_options read_options(char *line)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&options, NULL, &err), err);
    options.loss = NPGNN_LOSS_EXACT;
    options.input_scale = 1; /* only a trainer knows what 0 comes to */
    assert_string_equal(strtok(line, " \n"), "case");
    for (char *word; (word = strtok(NULL, " \n"));) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        assert_ok(npgnn_options_set(&options, word, equals + 1, &err), err);
    }
    return options;
}

/* ---- the inputs
 * ---------------------------------------------------------------------------------------------------- */

typedef struct inputs {
    array arrays[MAX_ARRAYS];
    int count;
    fixture_graph whole, context[2]; /* by npgnn_context */
    int32_t *context_nodes;
} inputs;

static const array *find(const inputs *in, const char *name)
{
    int i = 0;
    while (i < in->count && strcmp(in->arrays[i].name, name) != 0)
        i++;
    if (i == in->count)
        fail_msg("no array %s", name);
    return &in->arrays[i];
}

/* The graph of `rows` edges of an array, from row `first` on. */
static fixture_graph make_graph(const array *edges, int first, int rows, int32_t n, const array *features)
{
    npgnn_pair *pairs = calloc((size_t)rows, sizeof *pairs);
    size_t cells = features ? (size_t)features->rows * (size_t)features->cols : 0;
    float *x = features ? calloc(cells, sizeof *x) : NULL;
    for (int e = 0; e < rows; e++)
        pairs[e] = (npgnn_pair){(int32_t)edges->at[2 * (first + e)], (int32_t)edges->at[2 * (first + e) + 1]};
    for (size_t i = 0; i < cells; i++)
        x[i] = (float)features->at[i];
    fixture_graph graph = fixture_graph_new(pairs, rows, x, n, features ? features->cols : 0);
    free(pairs);
    free(x);
    return graph;
}

static fixture_graph make_whole_graph(const array *edges, int32_t n, const array *features)
{
    return make_graph(edges, 0, edges->rows, n, features);
}

static inputs read_inputs(void)
{
    inputs in = {0};
    char line[1024];
    FILE *file = open_golden("inputs.txt");
    while (next_line(line, file)) {
        assert_true(in.count < MAX_ARRAYS);
        in.arrays[in.count++] = read_array(file, line);
    }
    fclose(file);
    const array *x = find(&in, "features"), *nodes = find(&in, "context_nodes");
    in.whole = make_whole_graph(find(&in, "edges"), x->rows, x);
    in.context[NPGNN_CONTEXT_EDGES] = make_whole_graph(find(&in, "context_edges"), x->rows, NULL);
    in.context[NPGNN_CONTEXT_NODES] = make_whole_graph(find(&in, "context_nodes_edges"), nodes->cols, NULL);
    in.context_nodes = calloc((size_t)nodes->cols, sizeof *in.context_nodes);
    for (int i = 0; i < nodes->cols; i++)
        in.context_nodes[i] = (int32_t)nodes->at[i];
    return in;
}

static void free_inputs(inputs *in)
{
    for (int i = 0; i < in->count; i++)
        free(in->arrays[i].at);
    fixture_graph_free(&in->whole);
    fixture_graph_free(&in->context[NPGNN_CONTEXT_EDGES]);
    fixture_graph_free(&in->context[NPGNN_CONTEXT_NODES]);
    free(in->context_nodes);
}

/* The parameters of the file; without a latent W2 has fewer rows than there. They are floats exactly. */
static npi_params make_params(const inputs *in, const npgnn_options *options)
{
    npi_params params = {0};
    npgnn_error err = {0};
    npi_sizes sizes = npi_sizes_of(options, in->whole.graph->x->f);
    assert_ok(npi_params_new(&params, sizes, fixture_env(), &err), err);
    for (int t = 0; t < NPI_TENSORS; t++) {
        npi_tensor shape = npi_params_tensor(&params, t);
        const array *from = find(in, shape.name);
        size_t cells = (size_t)shape.rows * (size_t)shape.cols;
        float *values = calloc(cells + 1, sizeof *values);
        assert_true(cells <= (size_t)from->rows * (size_t)from->cols);
        for (size_t i = 0; i < cells; i++)
            values[i] = (float)from->at[i];
        npi_params_write(&params, t, values);
        free(values);
    }
    return params;
}

/* `rows` rows of an array of epsilons, as the network takes them. */
static void copy_epsilon(real out[MAX_EPSILON], const array *from, int first, int rows)
{
    assert_true(rows * from->cols <= MAX_EPSILON && first + rows <= from->rows);
    for (int i = 0; i < rows * from->cols; i++)
        out[i] = (real)from->at[first * from->cols + i];
}

static npi_input make_input(const inputs *in, const npgnn_options *options, const real *epsilon)
{
    const npgnn_graph *graph = in->whole.graph;
    return (npi_input){.x = graph->x,
                       .graph = &in->whole.adj,
                       .context = &in->context[options->context].adj,
                       .context_nodes = options->context == NPGNN_CONTEXT_NODES ? in->context_nodes : NULL,
                       .epsilon = epsilon,
                       .loss = npi_pairs_loss_make(options->likelihood, &graph->a, NULL)};
}

/* ---- comparing
 * ------------------------------------------------------------------------------------------------------ */

static char case_line[1024]; /* what the file calls the case at hand, for the messages */

/* Fails the test where `value` is not near the array's element, by the scale of the whole array. */
static void compare(const array *expected, int row, int col, double value)
{
    double wanted = expected->at[row * expected->cols + col];
    int near = fabs(value - wanted) <= tolerance * expected->scale;
    if (!near)
        fail_msg("%s[%d][%d] is %.12g, the twin has %.12g, in %s", expected->name, row, col, value, wanted, case_line);
}

static void compare_matrix(const array *expected, const real *values)
{
    for (int i = 0; i < expected->rows * expected->cols; i++)
        compare(expected, i / expected->cols, i % expected->cols, (double)values[i]);
}

static void compare_tensor(const array *expected, const npi_params *params)
{
    int tensor = fixture_tensor(params, expected->name);
    assert_true(tensor >= 0);
    npi_tensor shape = npi_params_tensor(params, tensor);
    assert_int_equal(shape.rows, expected->rows);
    assert_int_equal(shape.cols, expected->cols);
    for (int r = 0; r < shape.rows; r++)
        for (int c = 0; c < shape.cols; c++)
            compare(expected, r, c, (double)*fixture_element(params, tensor, r, c));
}

/* ---- cases
 * -------------------------------------------------------------------------------------------------------- */

/* All that one case of the file is compared with. */
typedef struct outcome {
    npi_params gradient;
    npi_objective objective;
    real *latent;    /* (2, d) */
    real *embedding; /* (n, k) at the mean of z */
} outcome;

static outcome run_case(const inputs *in, const npgnn_options *options)
{
    outcome o = {0};
    npgnn_error err = {0};
    npi_net *net = NULL;
    const npi_features *x = in->whole.graph->x;
    npi_params params = make_params(in, options);
    npi_sizes s = params.size;
    real epsilon[MAX_EPSILON];
    copy_epsilon(epsilon, find(in, "epsilon"), 0, options->samples);
    npi_input input = make_input(in, options, epsilon);
    o.latent = calloc(2 * (size_t)s.d + 1, sizeof *o.latent);
    o.embedding = calloc((size_t)x->n * (size_t)s.k, sizeof *o.embedding);
    npi_embedder embedder;
    assert_ok(npi_embedder_new(&embedder, s, x->n, fixture_env(), &err), err);
    assert_ok(npi_params_new(&o.gradient, s, fixture_env(), &err), err);
    const npi_partition rows = npi_partition_whole(x->n);
    assert_ok(npi_net_new(&net, options, &rows, x, NULL, fixture_env(), &err), err);
    o.objective = npi_net_run(net, &o.gradient, &params, &input);
    if (options->latent)
        npi_net_encode(net, o.latent, o.latent + s.d, &params, x, input.graph);
    npi_embedder_features(&embedder, &params, x, 1);
    npi_embedder_run(&embedder, &params, options->latent ? o.latent : NULL, options->decoder_output, 1);
    memcpy(o.embedding, embedder.u, (size_t)x->n * (size_t)s.k * sizeof *o.embedding);
    npi_embedder_free(fixture_env(), &embedder);
    npi_net_free(net);
    npi_params_free(fixture_env(), &params);
    return o;
}

static void free_outcome(outcome *o)
{
    npi_params_free(fixture_env(), &o->gradient);
    free(o->latent);
    free(o->embedding);
}

static void compare_outcome(const array *expected, const outcome *o)
{
    if (strcmp(expected->name, "objective") == 0) {
        compare(expected, 0, 0, o->objective.reconstruction);
        compare(expected, 0, 1, o->objective.kl);
    } else if (strcmp(expected->name, "latent") == 0) {
        compare_matrix(expected, o->latent);
    } else if (strcmp(expected->name, "embedding") == 0) {
        compare_matrix(expected, o->embedding);
    } else {
        compare_tensor(expected, &o->gradient);
    }
}

static void test_cases(void **state)
{
    (void)state;
    inputs in = read_inputs();
    outcome current = {0};
    char line[1024];
    int cases = 0, arrays = 0;
    FILE *file = open_golden("cases.txt");
    while (next_line(line, file)) {
        if (strncmp(line, "case ", 5) == 0) {
            memcpy(case_line, line, sizeof case_line);
            npgnn_options options = read_options(line);
            free_outcome(&current);
            current = run_case(&in, &options);
            cases++;
            continue;
        }
        array expected = read_array(file, line);
        compare_outcome(&expected, &current);
        free(expected.at);
        arrays++;
    }
    assert_int_equal(cases, CASES);
    assert_int_equal(arrays, ARRAYS);
    free_outcome(&current);
    free_inputs(&in);
    fclose(file);
}

/* ---- curves
 * ------------------------------------------------------------------------------------------------------- */

/* Trains through the file's contexts and epsilons, comparing the objective before each step. */
static void check_curve(const inputs *in, const npgnn_options *options, npi_params *params, const array *curve)
{
    npgnn_error err = {0};
    npi_net *net = NULL;
    npi_adam adam = {0};
    npi_params gradient = {0};
    const npgnn_graph *graph = in->whole.graph;
    const array *contexts = find(in, "curve_contexts");
    int edges = contexts->rows / curve->rows;
    real epsilon[MAX_EPSILON];
    const npi_partition rows = npi_partition_whole(graph->n);
    assert_ok(npi_net_new(&net, options, &rows, graph->x, NULL, fixture_env(), &err), err);
    assert_ok(npi_params_new(&gradient, params->size, fixture_env(), &err), err);
    assert_ok(npi_adam_new(&adam, params->count, options, fixture_env(), &err), err);
    for (int t = 0; t < curve->rows; t++) {
        fixture_graph context = make_graph(contexts, t * edges, edges, graph->n, NULL);
        copy_epsilon(epsilon, find(in, "curve_epsilon"), t * options->samples, options->samples);
        npi_input input = make_input(in, options, epsilon);
        input.context = &context.adj;
        memset(gradient.block, 0, gradient.count * sizeof *gradient.block);
        npi_objective objective = npi_net_run(net, &gradient, params, &input);
        npi_adam_step(&adam, params, &gradient, 1);
        compare(curve, t, 0, objective.reconstruction);
        compare(curve, t, 1, objective.kl);
        fixture_graph_free(&context);
    }
    npi_adam_free(fixture_env(), &adam);
    npi_params_free(fixture_env(), &gradient);
    npi_net_free(net);
}

static void test_curves(void **state)
{
    (void)state;
    inputs in = read_inputs();
    npi_params params = {0};
    npgnn_options options = {.size = sizeof options};
    char line[1024];
    int curves = 0;
    FILE *file = open_golden("curves.txt");
    while (next_line(line, file)) {
        if (strncmp(line, "case ", 5) == 0) {
            memcpy(case_line, line, sizeof case_line);
            options = read_options(line);
            npi_params_free(fixture_env(), &params);
            params = make_params(&in, &options);
            continue;
        }
        array expected = read_array(file, line);
        if (strcmp(expected.name, "curve") == 0) {
            check_curve(&in, &options, &params, &expected);
            curves++;
        } else {
            compare_tensor(&expected, &params); /* after the last step */
        }
        free(expected.at);
    }
    assert_int_equal(curves, CURVES);
    npi_params_free(fixture_env(), &params);
    free_inputs(&in);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
