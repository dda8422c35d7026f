/* The all-pairs loss: exact against a double loop, sampled against exact. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "linalg/kernels.h"
#include "meter.h"
#include "model/pairs.h"

#ifdef NPI_DOUBLE
#define TOLERANCE 1e-12
#else
#define TOLERANCE 2e-6
#endif

static npgnn_env env_of(int threads)
{
    npgnn_env env = {.size = sizeof env};
    env.threads = threads;
    return npi_env_resolve(&env);
}

static void *get(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

/* ---- inputs ---- */

typedef struct problem {
    int32_t n;
    int k;
    npi_csr edges;
    real *u;
    npi_pairs_loss loss;
    unsigned char *side; /* (n) of a two-sided graph, or NULL */
} problem;

/* Whether i and j are linked: a function of the pair and of nothing else. Nodes of the same class (index modulo
 * `classes`) are linked with probability `within`, others with probability `across`. */
static int linked(int32_t i, int32_t j, int classes, double within, double across)
{
    int32_t low = i < j ? i : j, high = i < j ? j : i;
    npi_rng rng = npi_rng_make(5, NPI_RNG_TEST, (uint32_t)low);
    return low != high && npi_rng_uniform_at(&rng, (uint64_t)high) < (i % classes == j % classes ? within : across);
}

static npi_csr planted(int32_t n, int classes, double within, double across)
{
    npi_csr a = {n, n, get((size_t)n + 1, sizeof *a.ptr), NULL, NULL};
    size_t room = 0;
    for (int32_t i = 0; i < n; i++) {
        a.ptr[i + 1] = a.ptr[i];
        for (int32_t j = 0; j < n; j++)
            if (linked(i, j, classes, within, across)) {
                if ((size_t)a.ptr[i + 1] == room) {
                    room = 2 * room + 64;
                    a.col = realloc(a.col, room * sizeof *a.col);
                    assert_non_null(a.col);
                }
                a.col[a.ptr[i + 1]++] = j;
            }
    }
    return a;
}

/* Embeddings with independent normal entries; takes over the edges. */
static problem problem_on(npi_csr edges, int k, double mean, double spread)
{
    size_t cells = (size_t)edges.rows * (size_t)k;
    npi_rng rng = npi_rng_make(6, NPI_RNG_TEST, (uint32_t)k);
    problem p = {0};
    p.n = edges.rows;
    p.k = k;
    p.edges = edges;
    p.loss = npi_pairs_loss_make(NPGNN_WEIGHTED, &edges, NULL);
    p.u = get(cells, sizeof *p.u);
    for (size_t i = 0; i < cells; i++)
        p.u[i] = (real)(mean + spread * npi_rng_normal_at(&rng, i));
    return p;
}

static problem problem_make(int32_t n, int k, double size)
{
    return problem_on(planted(n, 3, 0.2, 0.01), k, 0.3 * size, size);
}

static void problem_free(problem *p)
{
    free(p->edges.ptr);
    free(p->edges.col);
    free(p->edges.val);
    free(p->side);
    free(p->u);
}

static double run(problem *p, real *du, double factor, int pairs_per_node, int threads, uint32_t draw)
{
    npgnn_env env = env_of(threads);
    npgnn_error err = {0};
    npi_pairs *pairs = NULL;
    const npi_partition rows = npi_partition_whole(p->n);
    const npi_adj edges = {.a = p->edges};
    assert_ok(npi_pairs_new(&pairs, &rows, p->k, pairs_per_node, p->side, &env, &err), err);
    double loss = npi_pairs_run(pairs, du, p->u, &edges, &p->loss, factor, 11, draw);
    npi_pairs_free(pairs);
    return loss;
}

/* Makes the problem two-sided: some nodes, here and there, are targets, and edges are across only. */
static void divide(problem *p)
{
    int64_t kept = 0, begin = 0;
    p->side = get((size_t)p->n, 1);
    for (int32_t i = 0; i < p->n; i++)
        p->side[i] = i % 7 < 2 || i > 2 * p->n / 3;
    for (int32_t i = 0; i < p->n; i++) {
        int64_t end = p->edges.ptr[i + 1];
        for (int64_t e = begin; e < end; e++)
            if (p->side[i] != p->side[p->edges.col[e]])
                p->edges.col[kept++] = p->edges.col[e];
        begin = end;
        p->edges.ptr[i + 1] = kept;
    }
    p->loss = npi_pairs_loss_make(NPGNN_WEIGHTED, &p->edges, p->side);
}

/* ---- the slow and obvious loss ---- */

static double dot(const problem *p, int32_t i, int32_t j)
{
    double s = 0;
    for (int c = 0; c < p->k; c++)
        s += (double)p->u[(size_t)i * (size_t)p->k + (size_t)c] * (double)p->u[(size_t)j * (size_t)p->k + (size_t)c];
    return s;
}

/* Gives the edges weights, larger ones where the embeddings agree. */
static void weigh(problem *p)
{
    p->edges.val = get((size_t)p->edges.ptr[p->n], sizeof *p->edges.val);
    for (int32_t i = 0; i < p->n; i++)
        for (int64_t e = p->edges.ptr[i]; e < p->edges.ptr[i + 1]; e++)
            p->edges.val[e] = dot(p, i, p->edges.col[e]) > 0 ? 5.5f : 0.1f;
    p->loss = npi_pairs_loss_make(NPGNN_WEIGHTED, &p->edges, NULL);
}

static double softplus(double s)
{
    return (s > 0 ? s : 0) + log1p(exp(-fabs(s)));
}

/* du_i += step u_j */
static void push(double *du, const problem *p, int32_t i, int32_t j, double step)
{
    for (int c = 0; c < p->k; c++)
        du[(size_t)i * (size_t)p->k + (size_t)c] += step * (double)p->u[(size_t)j * (size_t)p->k + (size_t)c];
}

/* Binary cross-entropy of each ordered pair, positives weighted. `size` is the loss were every pair on the wrong
 * side: what rounding is relative to, as the loss of a well fitted edge is the difference of large numbers. */
static double naive(double *du, double *size, const problem *p, double factor)
{
    double loss = 0, wrong = 0;
    for (int32_t i = 0; i < p->n; i++) {
        int64_t next = p->edges.ptr[i];
        for (int32_t j = 0; j < p->n; j++) {
            int edge = next < p->edges.ptr[i + 1] && p->edges.col[next] == j;
            int positive = edge || (i == j && p->loss.diagonal);
            double s = dot(p, i, j), y = 1 / (1 + exp(-s));
            double w = p->loss.positive_weight;
            if (edge && p->edges.val)
                w *= (double)p->edges.val[next] / p->loss.mean_weight;
            next += edge;
            if (p->side && p->side[i] == p->side[j])
                continue; /* cannot be an edge: no evidence */
            loss += positive ? w * softplus(-s) : softplus(s);
            wrong += (positive ? w : 1) * softplus(fabs(s));
            double slope = p->loss.scale * factor * (positive ? w * (y - 1) : y);
            push(du, p, i, j, slope);
            push(du, p, j, i, slope);
        }
    }
    *size = p->loss.scale * wrong;
    return p->loss.scale * loss;
}

/* ---- exact ---- */

static double largest(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* Loss and gradient of the exact mode are the double loop's, and the gradient is added to what is there. */
static void compare(problem *p)
{
    size_t count = (size_t)p->n * (size_t)p->k;
    real *du = get(count, sizeof *du);
    double *ref = get(count, sizeof *ref), factor = 0.7;
    double loss_size, expected = naive(ref, &loss_size, p, factor), size = largest(ref, count);
    real before = (real)(3 * size);
    for (size_t i = 0; i < count; i++)
        du[i] = before;
    double loss = run(p, du, factor, 0, 2, 0);
    assert_near(loss / loss_size, expected / loss_size, TOLERANCE);
    for (size_t i = 0; i < count; i++)
        assert_near((double)(du[i] - before) / size, ref[i] / size, 10 * TOLERANCE);
    assert_true(run(p, NULL, factor, 0, 1, 0) == loss);
    free(du);
    free(ref);
}

static void exact(void **state)
{
    (void)state;
    const struct {
        int32_t n;
        int k;
    } sizes[] = {{1, 1}, {2, 3}, {17, 5}, {63, 1}, {64, 32}, {65, 33}, {129, 256}, {200, 16}, {319, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        problem p = problem_make(sizes[i].n, sizes[i].k, 1 / sqrt(sizes[i].k));
        compare(&p);
        p.loss = (npi_pairs_loss){0.3, 4, 0, 1};
        compare(&p);
        p.loss = (npi_pairs_loss){1, 1, 1, 1};
        compare(&p);
        p.loss = npi_pairs_loss_make(NPGNN_PLAIN, &p.edges, NULL);
        compare(&p);
        problem_free(&p);
    }
}

/* Pairs within a side do not count, whatever the order of the nodes. */
static void exact_two_sides(void **state)
{
    (void)state;
    const int32_t sizes[] = {5, 17, 65, 319};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        problem p = problem_make(sizes[i], 7, 0.4);
        divide(&p);
        double targets = 0, links = (double)p.edges.ptr[p.n];
        for (int32_t node = 0; node < p.n; node++)
            targets += p.side[node];
        double negatives = 2 * targets * (p.n - targets) - links;
        assert_near(p.loss.scale * 2 * negatives, 1, 1e-12);
        assert_near(p.loss.positive_weight, links > 0 ? negatives / links : 1, 1e-9);
        assert_int_equal(p.loss.diagonal, 0);
        compare(&p);
        p.loss = npi_pairs_loss_make(NPGNN_PLAIN, &p.edges, p.side);
        compare(&p);
        problem_free(&p);
    }
    /* one side is empty: there are no pairs */
    problem p = problem_make(65, 7, 0.4);
    divide(&p);
    memset(p.side, 1, (size_t)p.n);
    memset(p.edges.ptr, 0, ((size_t)p.n + 1) * sizeof *p.edges.ptr);
    p.loss = npi_pairs_loss_make(NPGNN_PLAIN, &p.edges, p.side);
    assert_near(run(&p, NULL, 1, 0, 2, 0), 0, 1e-2);
    problem_free(&p);
    /* every allocation may fail */
    p = problem_make(331, 4, 0.4);
    divide(&p);
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env given = metered_env(&m), env = npi_env_resolve(&given);
        npi_pairs *pairs = NULL;
        assert_true(allow < 200);
        npi_partition rows = npi_partition_whole(p.n);
        code = npi_pairs_new(&pairs, &rows, p.k, 20, p.side, &env, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npi_pairs_free(pairs);
        assert_int_equal(m.blocks, 0);
    }
    problem_free(&p);
}

static void exact_with_weights(void **state)
{
    (void)state;
    problem p = problem_make(319, 7, 0.4);
    weigh(&p);
    compare(&p);
    p.loss = npi_pairs_loss_make(NPGNN_PLAIN, &p.edges, NULL);
    compare(&p);
    problem_free(&p);
}

/* The edges are exact in a sample too: what weights change in the loss is the same, but for rounding. */
static void sampled_with_weights(void **state)
{
    (void)state;
    problem p = problem_make(1503, 9, 0.4);
    double exact = run(&p, NULL, 1, 0, 2, 0), sampled = run(&p, NULL, 1, 32, 2, 0);
    weigh(&p);
    assert_true(fabs(run(&p, NULL, 1, 0, 2, 0) - exact) > 1e-3);
    assert_near(run(&p, NULL, 1, 32, 2, 0) - sampled, run(&p, NULL, 1, 0, 2, 0) - exact, 1e-6);
    problem_free(&p);
}

/* Above 4096 nodes the tiles are larger. */
static void exact_large_tiles(void **state)
{
    (void)state;
    problem p = problem_make(4200, 3, 0.7);
    compare(&p);
    problem_free(&p);
}

static void weights(void **state)
{
    (void)state;
    int64_t ptr[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int32_t col[10] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8};
    float val[10] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
    npi_csr edges = {.rows = 10, .cols = 10, .ptr = ptr, .col = col};
    npi_pairs_loss plain = npi_pairs_loss_make(NPGNN_PLAIN, &edges, NULL),
                   weighted = npi_pairs_loss_make(NPGNN_WEIGHTED, &edges, NULL);
    assert_true(plain.scale == 1 && plain.positive_weight == 1 && plain.diagonal == 0);
    assert_near(weighted.positive_weight, 9, 1e-15);
    assert_near(weighted.scale, 1.0 / 180, 1e-15);
    assert_int_equal(weighted.diagonal, 1);
    assert_near(weighted.mean_weight, 1, 0);
    edges.val = val; /* how many links there are does not change with their weights */
    weighted = npi_pairs_loss_make(NPGNN_WEIGHTED, &edges, NULL);
    assert_near(weighted.positive_weight, 9, 1e-15);
    assert_near(weighted.mean_weight, 3, 1e-15);
}

#ifdef NPI_DOUBLE
/* The gradient is the derivative: central differences. */
static void finite_differences(void **state)
{
    (void)state;
    problem p = problem_make(133, 5, 0.6);
    size_t count = (size_t)p.n * (size_t)p.k;
    real *du = get(count, sizeof *du);
    double h = 1e-4;
    run(&p, du, 1, 0, 1, 0);
    for (size_t i = 0; i < count; i += 13) {
        real u = p.u[i];
        p.u[i] = u + h;
        double up = run(&p, NULL, 1, 0, 1, 0);
        p.u[i] = u - h;
        double down = run(&p, NULL, 1, 0, 1, 0);
        p.u[i] = u;
        assert_true(fabs((up - down) / (2 * h) - du[i]) <= 1e-6 * fabs(du[i]) + 1e-11);
    }
    free(du);
    problem_free(&p);
}
#endif

/* ---- the same bits ---- */

static void same_bits(int pairs_per_node, int32_t n, int sides)
{
    problem p = problem_make(n, 19, 0.4);
    if (sides)
        divide(&p);
    size_t count = (size_t)p.n * (size_t)p.k;
    real *du[4];
    double loss[4];
    for (int threads = 1; threads <= 3; threads++) {
        du[threads] = get(count, sizeof *du[0]);
        loss[threads] = run(&p, du[threads], 1, pairs_per_node, threads, 4);
        assert_memory_equal(&loss[threads], &loss[1], sizeof loss[1]);
        assert_memory_equal(du[threads], du[1], count * sizeof *du[1]);
    }
    /* another draw is another estimate; the exact loss knows no draws */
    assert_int_equal(run(&p, NULL, 1, pairs_per_node, 2, 5) == loss[1], pairs_per_node == 0);
    for (int threads = 1; threads <= 3; threads++)
        free(du[threads]);
    problem_free(&p);
}

static void threads_exact(void **state)
{
    (void)state;
    same_bits(0, 701, 0);
    same_bits(0, 701, 1);
}

static void threads_sampled(void **state)
{
    (void)state;
    same_bits(128, 1503, 0);
    same_bits(20, 701, 0);
    same_bits(20, 701, 1);
}

/* More pairs than there are: the exact loss. */
static void sample_of_everything(void **state)
{
    (void)state;
    problem p = problem_make(150, 8, 0.5);
    assert_true(run(&p, NULL, 1, 128, 1, 0) == run(&p, NULL, 1, 0, 1, 0));
    problem_free(&p);
}

static void not_finite(void **state)
{
    (void)state;
    problem p = problem_make(900, 8, 0.5);
    p.u[777] = (real)NAN;
    assert_true(isnan(run(&p, NULL, 1, 0, 2, 0)));
    assert_true(isnan(run(&p, NULL, 1, 64, 2, 0)));
    problem_free(&p);
}

/* ---- the sample's mean ---- */

#ifndef NPI_DOUBLE

/* Sums of x and x² over draws, of the loss (last) and of each entry of the gradient. */
typedef struct tally {
    double *sum, *square;
    size_t count;
} tally;

static void tally_draws(tally *t, problem *p, int pairs_per_node, uint32_t draws)
{
    size_t cells = t->count - 1;
    real *du = get(cells, sizeof *du);
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    npi_pairs *pairs = NULL;
    const npi_partition rows = npi_partition_whole(p->n);
    const npi_adj edges = {.a = p->edges};
    assert_ok(npi_pairs_new(&pairs, &rows, p->k, pairs_per_node, p->side, &env, &err), err);
    for (uint32_t draw = 0; draw < draws; draw++) {
        memset(du, 0, cells * sizeof *du);
        double loss = npi_pairs_run(pairs, du, p->u, &edges, &p->loss, 1, 3, draw);
        for (size_t i = 0; i < t->count; i++) {
            double x = i < cells ? (double)du[i] : loss;
            t->sum[i] += x;
            t->square[i] += x * x;
        }
    }
    npi_pairs_free(pairs);
    free(du);
}

/* How far the mean over the draws is from `expected`, in standard errors. */
static double z_of(const tally *t, size_t i, double expected, uint32_t draws)
{
    double mean = t->sum[i] / draws, variance = (t->square[i] / draws - mean * mean) * draws / (draws - 1);
    return (mean - expected) / sqrt(variance / draws);
}

/* A number of nodes that no number of blocks divides, and large scores, so that there is much to sample. Without
 * bias the squares of the z are 1 in the mean; a weight that is wrong by half a percent shows. */
enum { MANY_DRAWS = CHECK_SANITIZED ? 300 : 5000 }; /* what the sanitizers look for shows in the first */

static void unbiased_with(int pairs_per_node, int sides)
{
    problem p = problem_make(331, 4, 1.2);
    if (sides)
        divide(&p);
    size_t cells = (size_t)p.n * (size_t)p.k;
    real *exact_du = get(cells, sizeof *exact_du);
    tally t = {get(cells + 1, sizeof(double)), get(cells + 1, sizeof(double)), cells + 1};
    double loss = run(&p, exact_du, 1, 0, 1, 0), mean_square = 0;
    tally_draws(&t, &p, pairs_per_node, MANY_DRAWS);
    double z = z_of(&t, cells, loss, MANY_DRAWS);
    assert_true(fabs(z) < 4);
    for (size_t i = 0; i < cells; i++) {
        z = z_of(&t, i, (double)exact_du[i], MANY_DRAWS);
        assert_true(fabs(z) < 5.5);
        mean_square += z * z / (double)cells;
    }
    fprintf(stderr, "mean square of z: %.3f\n", mean_square);
    assert_true(mean_square < 1.3);
    free(t.sum);
    free(t.square);
    free(exact_du);
    problem_free(&p);
}

static void unbiased(void **state)
{
    (void)state;
    unbiased_with(1, 0);   /* one round of small tiles */
    unbiased_with(150, 0); /* two rounds */
    unbiased_with(32, 1);
}

/* ---- the sample's variance ---- */
/* Embeddings of a planted graph after `steps` of Adam on the exact loss. */
static problem trained(int32_t n, int k, int steps)
{
    problem p = problem_on(planted(n, 20, 0.04, 0.0005), k, 0, 0.1);
    size_t cells = (size_t)n * (size_t)k;
    real *du = get(cells, sizeof *du), *m = get(cells, sizeof *m), *v = get(cells, sizeof *v);
    double first = run(&p, NULL, 1, 0, 2, 0);
    for (int step = 0; step < steps; step++) {
        memset(du, 0, cells * sizeof *du);
        run(&p, du, 1, 0, 2, 0);
        npi_kernels_best()->adam(p.u, m, v, du, (int64_t)cells, (real)0.03, (real)0.9, (real)0.99, (real)1e-8);
    }
    double last = run(&p, NULL, 1, 0, 2, 0);
    fprintf(stderr, "loss %.4f before, %.4f after training\n", first, last);
    assert_true(last < 0.9 * first);
    free(du);
    free(m);
    free(v);
    return p;
}

static double distance2(const real *a, const real *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* Plain uniform sampling: n * half pairs i != j, both ends learn from each, everything known exactly left out.
 * Returns the squared error of its gradient of Σ_(i != j) softplus(s_ij), whose exact value is `dense`. */
static double uniform_error(const problem *p, const double *dense, int half, uint32_t draw)
{
    size_t cells = (size_t)p->n * (size_t)p->k;
    double *du = get(cells, sizeof *du), error = 0;
    double count = (double)p->n * half, all = (double)p->n * (p->n - 1) / 2;
    npi_rng rng = npi_rng_make(9, NPI_RNG_TEST, draw);
    for (double drawn = 0; drawn < count; drawn++) {
        int32_t i = (int32_t)npi_rng_below(&rng, (uint64_t)p->n), j = (int32_t)npi_rng_below(&rng, (uint64_t)p->n - 1);
        j += j >= i;
        double step = 2 * p->loss.scale / (1 + exp(-dot(p, i, j))) * all / count;
        push(du, p, i, j, step);
        push(du, p, j, i, step);
    }
    for (size_t i = 0; i < cells; i++)
        error += (du[i] - dense[i]) * (du[i] - dense[i]);
    free(du);
    return error;
}

/* The gradient of scale * Σ_(i != j) softplus(s_ij) */
static double *dense_gradient(const problem *p)
{
    double *dense = get((size_t)p->n * (size_t)p->k, sizeof *dense);
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = 0; j < p->n; j++)
            if (i != j)
                push(dense, p, i, j, 2 * p->loss.scale / (1 + exp(-dot(p, i, j))));
    return dense;
}

/* On trained embeddings the sampled gradient has at least 50 times less variance than that of as many uniform pairs. */
static void variance(void **state)
{
    (void)state;
    enum { DRAWS = 10, PAIRS = 128 };
    problem p = trained(2000, 32, 80);
    size_t cells = (size_t)p.n * (size_t)p.k;
    real *exact_du = get(cells, sizeof *exact_du), *du = get(cells, sizeof *du);
    double *dense = dense_gradient(&p), ours = 0, uniform = 0, size = 0;
    run(&p, exact_du, 1, 0, 2, 0);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        memset(du, 0, cells * sizeof *du);
        run(&p, du, 1, PAIRS, 2, draw);
        ours += distance2(du, exact_du, cells) / DRAWS;
        uniform += uniform_error(&p, dense, PAIRS / 2, draw) / DRAWS;
    }
    for (size_t i = 0; i < cells; i++)
        size += dense[i] * dense[i];
    fprintf(stderr, "relative error of the gradient of all pairs: %.4f, uniform %.4f; ratio of variances %.1f\n",
            sqrt(ours / size), sqrt(uniform / size), uniform / ours);
    assert_true(uniform >= 50 * ours);
    free(exact_du);
    free(du);
    free(dense);
    problem_free(&p);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(exact_large_tiles),
        cmocka_unit_test(exact_with_weights),
        cmocka_unit_test(exact_two_sides),
        cmocka_unit_test(sampled_with_weights),
        cmocka_unit_test(weights),
        cmocka_unit_test(threads_exact),
        cmocka_unit_test(threads_sampled),
        cmocka_unit_test(sample_of_everything),
        cmocka_unit_test(not_finite),
#ifdef NPI_DOUBLE
        cmocka_unit_test(finite_differences),
#else
        cmocka_unit_test(unbiased),
        cmocka_unit_test(variance),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
