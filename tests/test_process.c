/* The process: every derivative of its loss against central differences, in double; an independent implementation
 * (tools/golden_process.py); what aggregation promises; heads and their stacked fit. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "evidence/columns.h"
#include "linalg/dense.h"
#include "model/model.h"
#include "process/bound.h"
#include "process/head.h"
#include "process/objective.h"
#include "process/stack.h"

/* Float keeps five digits; double must agree but for rounding. */
static const double tolerance = sizeof(real) == sizeof(double) ? 1e-10 : 1e-5;

enum { E = 5, H = 6, D = 4, CONTEXT = 7, LINKS = 4, OTHERS = 6, DRAWS = 3 };

static const npi_process_sizes sizes = {E, H, D};

typedef struct problem {
    npgnn_env env;
    npi_process_params params, gradient;
    npi_process_workspace workspace;
    float evidence[CONTEXT * E], label[CONTEXT], target[(LINKS + OTHERS) * E];
    real epsilon[DRAWS * D];
    npi_process_task task;
} problem;

static float normal(npi_rng *rng)
{
    return (float)npi_rng_normal_at(rng, rng->next++);
}

static void make(problem *p)
{
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(7, NPI_RNG_TEST, 3);
    memset(p, 0, sizeof *p);
    p->env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 1});
    assert_ok(npi_process_params_new(&p->params, sizes, &p->env, &err), err);
    assert_ok(npi_process_params_new(&p->gradient, sizes, &p->env, &err), err);
    assert_ok(npi_process_workspace_new(&p->workspace, sizes, CONTEXT, LINKS + OTHERS, &p->env, &err), err);
    assert_ok(npi_blas_open(&p->env, &err), err);
    npi_process_params_init(&p->params, 11);
    for (int i = 0; i < CONTEXT * E; i++)
        p->evidence[i] = normal(&rng);
    for (int i = 0; i < CONTEXT; i++)
        p->label[i] = i % 2 ? 1 : -1;
    for (int i = 0; i < (LINKS + OTHERS) * E; i++)
        p->target[i] = normal(&rng);
    for (int i = 0; i < DRAWS * D; i++)
        p->epsilon[i] = (real)normal(&rng);
    p->task = (npi_process_task){{p->evidence, p->label, CONTEXT}, p->target, LINKS, OTHERS};
}

static void release(problem *p)
{
    npi_process_workspace_free(&p->env, &p->workspace);
    npi_process_params_free(&p->env, &p->params);
    npi_process_params_free(&p->env, &p->gradient);
}

static double loss_of(problem *p, int draws)
{
    return npi_process_loss(NULL, &p->workspace, &p->params, &p->task, p->epsilon, draws, 0.7);
}

/* Every parameter, with and without a context, with draws of z and at its mean. Float has too few digits for
 * differences. */
static void test_gradients(void **state)
{
    (void)state;
    problem p;
    if (sizeof(real) < sizeof(double))
        skip();
    make(&p);
    npi_blas_begin(1);
    for (int context = 0; context <= CONTEXT; context += CONTEXT)
        for (int draws = 0; draws <= DRAWS; draws += DRAWS) {
            p.task.context.count = context;
            memset(p.gradient.block, 0, p.gradient.count * sizeof(real));
            npi_process_loss(&p.gradient, &p.workspace, &p.params, &p.task, p.epsilon, draws, 0.7);
            for (size_t i = 0; i < p.params.count; i++) {
                const real step = (real)1e-5, at = p.params.block[i];
                p.params.block[i] = at + step;
                double above = loss_of(&p, draws);
                p.params.block[i] = at - step;
                double below = loss_of(&p, draws);
                p.params.block[i] = at;
                assert_near((double)p.gradient.block[i], (above - below) / (2 * (double)step), 1e-7);
            }
        }
    npi_blas_end(1);
    release(&p);
}

/* Without votes z is its prior; every vote narrows it; the order of the votes does not matter. */
static void test_aggregation(void **state)
{
    (void)state;
    problem p;
    real mean[D], precision[D], before[D], reversed[D];
    float evidence[CONTEXT * E], label[CONTEXT];
    make(&p);
    npi_blas_begin(1);
    for (int count = 0; count <= CONTEXT; count++) {
        npi_process_context context = p.task.context;
        context.count = count;
        npi_process_encode(mean, precision, &p.workspace.encoder, &p.params, &context);
        for (int c = 0; c < D; c++) {
            assert_true(precision[c] > 0 && isfinite(mean[c]));
            assert_true(count == 0 || precision[c] > before[c]);
            before[c] = precision[c];
        }
    }
    for (int i = 0; i < CONTEXT; i++) {
        memcpy(evidence + i * E, p.evidence + (CONTEXT - 1 - i) * E, E * sizeof *evidence);
        label[i] = p.label[CONTEXT - 1 - i];
    }
    npi_process_context backwards = {evidence, label, CONTEXT};
    npi_process_encode(reversed, before, &p.workspace.encoder, &p.params, &backwards);
    for (int c = 0; c < D; c++)
        assert_near((double)reversed[c], (double)mean[c], 1e-6);
    npi_blas_end(1);
    release(&p);
}

/* A loss that ranks falls when links score higher, and is symmetric: exchanging the classes and the sign changes
 * nothing. */
static void test_small_steps_downhill(void **state)
{
    (void)state;
    problem p;
    make(&p);
    npi_blas_begin(1);
    double first = npi_process_loss(&p.gradient, &p.workspace, &p.params, &p.task, p.epsilon, DRAWS, 0.7);
    for (size_t i = 0; i < p.params.count; i++)
        p.params.block[i] -= (real)0.01 * p.gradient.block[i];
    assert_true(loss_of(&p, DRAWS) < first);
    npi_blas_end(1);
    release(&p);
}

/* ---- an independent implementation ---- */

enum { MAX_ARRAYS = 64 };

typedef struct array {
    char name[32];
    int rows, cols;
    double *at;
} array;

typedef struct golden {
    array arrays[MAX_ARRAYS];
    int count;
} golden;

static golden read_golden(void)
{
    golden g = {0};
    char path[4096];
    array a;
    snprintf(path, sizeof path, "%s/tests/golden/process.txt", NPGNN_SOURCE_ROOT);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    while (fscanf(file, "%31s %d %d", a.name, &a.rows, &a.cols) == 3) {
        assert_true(g.count < MAX_ARRAYS);
        a.at = calloc((size_t)(a.rows * a.cols), sizeof *a.at);
        for (int i = 0; i < a.rows * a.cols; i++)
            assert_int_equal(fscanf(file, "%lf", &a.at[i]), 1);
        g.arrays[g.count++] = a;
    }
    fclose(file);
    return g;
}

static void free_golden(golden *g)
{
    for (int i = 0; i < g->count; i++)
        free(g->arrays[i].at);
}

static const array *find(const golden *g, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    int i = 0;
    while (i < g->count && strcmp(g->arrays[i].name, full) != 0)
        i++;
    if (i == g->count)
        fail_msg("no array %s", full);
    return &g->arrays[i];
}

/* For the caller to free. */
static float *floats(const array *a)
{
    float *values = calloc((size_t)(a->rows * a->cols), sizeof *values);
    for (int i = 0; i < a->rows * a->cols; i++)
        values[i] = (float)a->at[i];
    return values;
}

/* By the scale of the whole array. */
static void compare(const array *want, int first, const real *got, int count)
{
    double scale = 0;
    assert_true(first + count <= want->rows * want->cols);
    for (int i = 0; i < want->rows * want->cols; i++)
        scale = fmax(scale, fabs(want->at[i]));
    for (int i = 0; i < count; i++) {
        int near = fabs((double)got[i] - want->at[first + i]) <= tolerance * scale;
        if (!near)
            fail_msg("%s[%d] is %.12g, the twin has %.12g", want->name, first + i, (double)got[i], want->at[first + i]);
    }
}

/* Mean and precision of z with and without a context, the scores of every draw and of the mean, the loss, and its
 * gradient by every parameter. */
static void test_golden(void **state)
{
    (void)state;
    golden g = read_golden();
    npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 1});
    npgnn_error err = {0};
    const array *context = find(&g, "", "context"), *target = find(&g, "", "target");
    const array *epsilon = find(&g, "", "epsilon"), *scores = find(&g, "", "scores");
    const npi_process_sizes size = {context->cols, find(&g, "", "score_b1")->cols, epsilon->cols};
    int pairs = target->rows, links = 4, d = size.d;
    float *evidence = floats(context), *label = floats(find(&g, "", "label")), *targets = floats(target);
    real *noise = calloc((size_t)(epsilon->rows * d), sizeof *noise), *z = calloc((size_t)d, sizeof *z);
    real *score = calloc((size_t)pairs, sizeof *score);
    npi_process_params params = {0}, gradient = {0};
    npi_process_workspace w = {0};
    assert_ok(npi_process_params_new(&params, size, &env, &err), err);
    assert_ok(npi_process_params_new(&gradient, size, &env, &err), err);
    assert_ok(npi_process_workspace_new(&w, size, context->rows, pairs, &env, &err), err);
    assert_ok(npi_blas_open(&env, &err), err);
    for (int t = 0; t < NPI_PROCESS_TENSOR_COUNT; t++) {
        npi_process_tensor tensor = npi_process_params_tensor(&params, t);
        const array *from = find(&g, "", tensor.name);
        assert_int_equal(tensor.rows, from->rows);
        assert_int_equal(tensor.cols, from->cols);
        for (int i = 0; i < tensor.rows * tensor.cols; i++)
            tensor.values[i] = (real)from->at[i];
    }
    for (int i = 0; i < epsilon->rows * d; i++)
        noise[i] = (real)epsilon->at[i];

    npi_blas_begin(1);
    const npi_process_task task = {{evidence, label, context->rows}, targets, links, pairs - links};
    const npi_process_context nothing = {evidence, label, 0};
    npi_process_encode(w.mean, w.precision, &w.encoder, &params, &nothing);
    compare(find(&g, "", "prior_mean"), 0, w.mean, d);
    compare(find(&g, "", "prior_precision"), 0, w.precision, d);
    double loss = npi_process_loss(&gradient, &w, &params, &task, noise, epsilon->rows, 0.7);
    assert_near(loss, find(&g, "", "loss")->at[0], tolerance);
    compare(find(&g, "", "mean"), 0, w.mean, d);
    compare(find(&g, "", "precision"), 0, w.precision, d);
    for (int r = 0; r < epsilon->rows; r++) {
        for (int c = 0; c < d; c++)
            z[c] = (real)((double)w.mean[c] + (double)noise[r * d + c] / sqrt((double)w.precision[c]));
        npi_process_decode(score, &w.decoder, &params, targets, z, pairs);
        compare(scores, r * pairs, score, pairs);
    }
    npi_process_decode(score, &w.decoder, &params, targets, w.mean, pairs);
    compare(find(&g, "", "scores_mean"), 0, score, pairs);
    for (int t = 0; t < NPI_PROCESS_TENSOR_COUNT; t++) {
        npi_process_tensor tensor = npi_process_params_tensor(&gradient, t);
        compare(find(&g, "d_", tensor.name), 0, tensor.values, tensor.rows * tensor.cols);
    }
    npi_blas_end(1);

    npi_process_workspace_free(&env, &w);
    npi_process_params_free(&env, &params);
    npi_process_params_free(&env, &gradient);
    free(evidence);
    free(label);
    free(targets);
    free(noise);
    free(z);
    free(score);
    free_golden(&g);
}

/* ---- heads ---- */

/* A head with z in its weights scores as the decoder does; one pair at a time or many; no steeper than its slopes. */
static void test_heads(void **state)
{
    (void)state;
    problem p;
    npgnn_error err = {0};
    npi_head head = {0};
    npi_head_workspace workspace = {0};
    real mean[D], precision[D], decoded[LINKS + OTHERS], many[LINKS + OTHERS];
    npi_slopes slopes;
    double rounding = 64 * (sizeof(real) == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON);
    make(&p);
    for (size_t i = 0; i < p.params.count; i++) /* z has a large influence */
        p.params.block[i] *= 2;
    assert_ok(npi_head_new(&head, E, H, &p.env, &err), err);
    assert_ok(npi_head_workspace_new(&workspace, &head, LINKS + OTHERS, &p.env, &err), err);
    npi_blas_begin(1);
    npi_process_encode(mean, precision, &p.workspace.encoder, &p.params, &p.task.context);
    npi_process_decode(decoded, &p.workspace.decoder, &p.params, p.target, mean, LINKS + OTHERS);
    npi_head_specialize(&head, &p.params, mean);
    npi_head_scores(many, &workspace, &head, p.target, LINKS + OTHERS);
    npi_head_slopes(&slopes, &head);
    for (int i = 0; i < LINKS + OTHERS; i++) {
        float *evidence = p.target + i * E;
        float score = npi_head_score(&head, evidence);
        assert_near((double)score, (double)decoded[i], 64 * (double)FLT_EPSILON); /* a float in either build */
        assert_near((double)many[i], (double)decoded[i], rounding);
        for (int c = 0; c < E; c++) {
            float before = evidence[c];
            evidence[c] = before + 0.5F;
            double change = fabs((double)npi_head_score(&head, evidence) - (double)score);
            assert_true(change <= slopes.column[c] * ((double)evidence[c] - (double)before) + 1e-5);
            evidence[c] = before;
        }
    }
    npi_blas_end(1);
    npi_head_workspace_free(&p.env, &workspace);
    npi_head_free(&p.env, &head);
    release(&p);
}

/* Σ_i weight_i score_i */
/* Near the sample, far from it, and where evidence is cut off, a bound is never below its head; near the sample it is
 * close. */
static void test_bound(void **state)
{
    (void)state;
    enum { COLUMNS = NPI_COLUMNS, SAMPLE = 256, TRIES = 4096 };
    static float evidence[TRIES * COLUMNS];
    static real columns[COLUMNS * TRIES], upper[TRIES];
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_head head = {0};
    npi_head_bound bound = {0};
    npi_rng rng = npi_rng_make(5, NPI_RNG_TUNE, 7);
    real z[64] = {0};
    double apart = 0, sum = 0, squares = 0; /* of the sample: how far the bound is above the scores, and these */
    assert_ok(npgnn_model_universal(&model, NULL, &err), err);
    assert_ok(npi_head_new(&head, model->process.columns, model->process.params.size.h, &env, &err), err);
    npi_process_head(&head, &model->process, z);
    for (int i = 0; i < TRIES; i++) {
        double spread = i < SAMPLE ? 1 : 1 << i % 5; /* the sample first */
        for (int c = 0; c < COLUMNS; c++) {
            double value = spread * (2 * npi_rng_uniform(&rng) - 1);
            evidence[i * COLUMNS + c] = (float)fmax(-NPI_CLIP, fmin(NPI_CLIP, value));
            columns[c * TRIES + i] = (real)evidence[i * COLUMNS + c];
        }
    }
    assert_ok(npi_head_bound_new(&bound, &head, evidence, SAMPLE, &env, &err), err);
    assert_non_null(bound.block);
    npi_kernels_best()->network_columns(upper, columns, TRIES, TRIES, &bound.net);
    for (int i = 0; i < TRIES; i++) {
        double score = (double)npi_head_score(&head, evidence + i * COLUMNS);
        assert_true((double)upper[i] >= score);
        if (i < SAMPLE) {
            apart += ((double)upper[i] - score) / SAMPLE;
            sum += score / SAMPLE;
            squares += score * score / SAMPLE;
        }
    }
    assert_true(apart < 1.2 * sqrt(squares - sum * sum));

    npi_head_bound_free(&env, &bound);

    /* so are the bounds of boxes around groups of a sample, here close ones, and one of them is close to the head at
     * each of the sample */
    static float grouped[SAMPLE * COLUMNS];
    static real closest[TRIES];
    for (int i = 0; i < SAMPLE; i++)
        for (int c = 0; c < COLUMNS; c++) {
            double noise = 0.05 * (2 * npi_rng_uniform(&rng) - 1);
            grouped[i * COLUMNS + c] = evidence[i % NPI_BOUND_BOXES * COLUMNS + c] + (float)noise;
        }
    assert_ok(npi_head_bound_new(&bound, &head, grouped, SAMPLE, &env, &err), err);
    assert_int_equal(bound.box_count, NPI_BOUND_BOXES);
    for (int b = 0; b < bound.box_count; b++) {
        const npi_pieces *pieces = &bound.boxes[b];
        npi_kernels_best()->piecewise_columns(upper, columns, TRIES, TRIES, &pieces, 1);
        for (int i = 0; i < TRIES; i++) {
            assert_true((double)upper[i] >= (double)npi_head_score(&head, evidence + i * COLUMNS));
            closest[i] = b > 0 && closest[i] < upper[i] ? closest[i] : upper[i];
        }
    }
    for (int i = 0; i < NPI_BOUND_BOXES; i++)
        assert_true((double)closest[i] - (double)npi_head_score(&head, evidence + i * COLUMNS) < 0.3);

    /* the bound of a box: around the same evidence, around a part of it and of one point; close in the box, and nowhere
     * too low */
    for (int size = 0; size < 4; size++) {
        double low[COLUMNS], high[COLUMNS], inside = 0, gap = 0;
        npi_pieces box;
        for (int c = 0; c < COLUMNS; c++) {
            double middle = (double)evidence[(size * COLUMNS + c) % (SAMPLE * COLUMNS)], radius[] = {0, 0.1, 0.3, 1};
            low[c] = middle - radius[size];
            high[c] = middle + radius[size];
        }
        npi_head_box(&box, &head, &bound.slopes, low, high);
        for (int i = 0; i < TRIES; i++) /* a third of them in the box */
            for (int c = 0; i % 3 == 0 && c < COLUMNS; c++) {
                evidence[i * COLUMNS + c] = (float)(low[c] + npi_rng_uniform(&rng) * (high[c] - low[c]));
                columns[c * TRIES + i] = (real)evidence[i * COLUMNS + c];
            }
        const npi_pieces *pieces = &box;
        npi_kernels_best()->piecewise_columns(upper, columns, TRIES, TRIES, &pieces, 1);
        for (int i = 0; i < TRIES; i++) {
            double above = (double)upper[i] - (double)npi_head_score(&head, evidence + i * COLUMNS);
            assert_true(above >= 0);
            inside += i % 3 == 0;
            gap += i % 3 == 0 ? above : 0;
        }
        static const double close[] = {0.01, 0.5, 6, 30};
        assert_true(gap / inside < close[size]);
    }
    npi_head_bound_free(&env, &bound);
    npi_head_free(&env, &head);
    npgnn_model_free(model);
}

static double weighted_scores(npi_head_workspace *workspace, const npi_head *head, const problem *p, const real *weight)
{
    real score[LINKS + OTHERS];
    double sum = 0;
    npi_head_scores(score, workspace, head, p->target, LINKS + OTHERS);
    for (int i = 0; i < LINKS + OTHERS; i++)
        sum += (double)weight[i] * (double)score[i];
    return sum;
}

static void test_head_gradients(void **state)
{
    (void)state;
    problem p;
    npgnn_error err = {0};
    npi_head head = {0}, gradient = {0};
    npi_head_workspace workspace = {0};
    real z[D] = {(real)0.3, (real)-1, (real)0.7, (real)0.1}, weight[LINKS + OTHERS];
    if (sizeof(real) < sizeof(double))
        skip();
    make(&p);
    assert_ok(npi_head_new(&head, E, H, &p.env, &err), err);
    assert_ok(npi_head_new(&gradient, E, H, &p.env, &err), err);
    assert_ok(npi_head_workspace_new(&workspace, &head, LINKS + OTHERS, &p.env, &err), err);
    npi_head_specialize(&head, &p.params, z);
    for (int i = 0; i < LINKS + OTHERS; i++)
        weight[i] = (real)(i - 4) / 3;
    npi_blas_begin(1);
    weighted_scores(&workspace, &head, &p, weight);
    npi_head_scores_backward(&gradient, &workspace, &head, weight, LINKS + OTHERS);
    for (size_t i = 0; i < head.count; i++) {
        const real step = (real)1e-5, at = head.block[i];
        head.block[i] = at + step;
        double above = weighted_scores(&workspace, &head, &p, weight);
        head.block[i] = at - step;
        double below = weighted_scores(&workspace, &head, &p, weight);
        head.block[i] = at;
        assert_near((double)gradient.block[i], (above - below) / (2 * (double)step), 1e-7);
    }
    npi_blas_end(1);
    npi_head_workspace_free(&p.env, &workspace);
    npi_head_free(&p.env, &head);
    npi_head_free(&p.env, &gradient);
    release(&p);
}

/* ---- the stacked fit ---- */

enum { MOST = 400 };

/* Links lie `gap` further along the first column than non-links; the other columns are noise. */
static void make_pairs(float *evidence, int positives, int count, double gap)
{
    npi_rng rng = npi_rng_make(9, NPI_RNG_TEST, 1);
    for (int i = 0; i < count * E; i++)
        evidence[i] = normal(&rng) + (i % E == 0 ? (float)(i / E < positives ? gap : -gap) : 0);
}

/* The largest derivative of the objective of stack.h, by its formula. */
static double steepest(const npi_head *head, const double *weight, const float *evidence, int positives, int count)
{
    const double tau = 10, beta = 0.0005;
    double most = 0, gradient[E + 2];
    for (int c = 0; c < E + 2; c++)
        gradient[c] = c == E + 1 ? beta * weight[c] : tau * (weight[c] - (c == 0));
    for (int i = 0; i < count; i++) {
        const float *e = evidence + i * E;
        double score = (double)npi_head_score(head, e), margin = weight[0] * score + weight[E + 1];
        for (int c = 0; c < E; c++)
            margin += weight[c + 1] * (double)e[c];
        double residual = 1 / (1 + exp(-margin)) - (i < positives);
        gradient[0] += residual * score;
        gradient[E + 1] += residual;
        for (int c = 0; c < E; c++)
            gradient[c + 1] += residual * (double)e[c];
    }
    for (int c = 0; c < E + 2; c++)
        most = fmax(most, fabs(gradient[c]));
    return most;
}

/* A minimum of the objective, whatever the data; the head with these weights scores what the regression says. */
static void test_stack(void **state)
{
    (void)state;
    static const struct {
        int positives, count;
        double gap;
    } cases[] = {{200, 400, 0.5}, {200, 400, 50}, {200, 400, 0}, {300, 400, 1}, {3, 6, 0.5}, {1, 2, 3}, {1, 400, 0.2}};
    problem p;
    npgnn_error err = {0};
    npi_head head = {0};
    float evidence[MOST * E];
    double weight[E + 2];
    const real z[D] = {0};
    make(&p);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int positives = cases[c].positives, count = cases[c].count;
        assert_ok(npi_head_new(&head, E, H, &p.env, &err), err);
        npi_head_specialize(&head, &p.params, z);
        make_pairs(evidence, positives, count, cases[c].gap);
        assert_ok(npi_head_stack(weight, &head, evidence, (size_t)positives, (size_t)count, &p.env, &err), err);
        for (int i = 0; i < E + 2; i++)
            assert_true(isfinite(weight[i]) && fabs(weight[i]) < 100);
        double most = steepest(&head, weight, evidence, positives, count);
        if (!(most < 0.02))
            fail_msg("case %zu: a derivative is %g where the objective should be at its minimum", c, most);
        if (count <= 6) /* nearly nothing to learn from: the head as it is */
            for (int i = 0; i < E + 1; i++)
                assert_near(weight[i], i == 0, 0.25);
        if (count == MOST && cases[c].gap == 0.5)
            assert_true(weight[1] > 0.5); /* the column that tells */
        float before = npi_head_score(&head, evidence);
        double want = weight[0] * (double)before + weight[E + 1];
        for (int i = 0; i < E; i++)
            want += weight[i + 1] * (double)evidence[i];
        npi_head_apply(&head, weight);
        assert_near((double)npi_head_score(&head, evidence), want, 1e-5);
        npi_head_free(&p.env, &head);
    }
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_aggregation),
        cmocka_unit_test(test_small_steps_downhill),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_head_gradients),
        cmocka_unit_test(test_stack),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
