/* The evidence that a process reads, against a slow, obvious checker: dense matrices in double, powers by
 * multiplication, regressions by Gaussian elimination. And the small symmetric problems below it, the spectral
 * coordinates, the reduced features, and that evidence depends on known links only. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "evidence/columns.h"
#include "graph/graph.h"
#include "graph/split.h"
#include "linalg/blas.h"
#include "linalg/symmetric.h"
#include "meter.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Columns are floats in either build; what they are computed from has the digits of `real`. */
static const double tolerance = sizeof(real) == sizeof(double) ? 4e-6 : 4e-4;

static npgnn_env env_of(int threads)
{
    return npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = threads});
}

/* ---- dense matrices ---- */

static double *zeros(size_t count)
{
    double *block = calloc(count + 1, sizeof *block);
    assert_non_null(block);
    return block;
}

/* A (n, k) B (k, m), for the caller to free. */
static double *times(const double *a, const double *b, int n, int k, int m)
{
    double *c = zeros((size_t)(n * m));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                c[i * m + j] += a[i * k + l] * b[l * m + j];
    return c;
}

static double *transposed(const double *a, int n, int k)
{
    double *t = zeros((size_t)(n * k));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            t[j * n + i] = a[i * k + j];
    return t;
}

/* X (k, m) with A (k, k) X = B, by Gaussian elimination with pivots; for the caller to free. */
static double *solved(const double *a, const double *b, int k, int m)
{
    double *left = zeros((size_t)(k * k)), *right = zeros((size_t)(k * m));
    memcpy(left, a, (size_t)(k * k) * sizeof *left);
    memcpy(right, b, (size_t)(k * m) * sizeof *right);
    for (int p = 0; p < k; p++) {
        int best = p;
        for (int i = p; i < k; i++)
            best = fabs(left[i * k + p]) > fabs(left[best * k + p]) ? i : best;
        for (int j = 0; j < k; j++) {
            double x = left[p * k + j];
            left[p * k + j] = left[best * k + j];
            left[best * k + j] = x;
        }
        for (int j = 0; j < m; j++) {
            double x = right[p * m + j];
            right[p * m + j] = right[best * m + j];
            right[best * m + j] = x;
        }
        for (int i = 0; i < k; i++) {
            double factor = left[i * k + p] / left[p * k + p];
            for (int j = 0; i != p && j < k; j++)
                left[i * k + j] -= factor * left[p * k + j];
            for (int j = 0; i != p && j < m; j++)
                right[i * m + j] -= factor * right[p * m + j];
        }
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < m; j++)
            right[i * m + j] /= left[i * k + i];
    free(left);
    return right;
}

static double dot(const double *a, const double *b, int width)
{
    double sum = 0;
    for (int c = 0; c < width; c++)
        sum += a[c] * b[c];
    return sum;
}

static double cosine(const double *a, const double *b, int width)
{
    double lengths = sqrt(dot(a, a, width)) * sqrt(dot(b, b, width));
    return lengths > 1e-12 ? dot(a, b, width) / lengths : 0;
}

static void unit_rows(double *a, int n, int width)
{
    for (int i = 0; i < n; i++) {
        double length = sqrt(dot(a + i * width, a + i * width, width));
        for (int c = 0; c < width; c++)
            a[i * width + c] = length > 1e-12 ? a[i * width + c] / length : 0;
    }
}

/* Subtracts the mean of the rows that are not zero from these. */
static double *centred_rows(const double *a, int n, int width)
{
    double *out = zeros((size_t)(n * width)), *mean = zeros((size_t)width);
    int rows = 0;
    for (int i = 0; i < n; i++) {
        rows += dot(a + i * width, a + i * width, width) > 0.5;
        for (int c = 0; c < width; c++)
            mean[c] += a[i * width + c];
    }
    for (int i = 0; i < n; i++)
        for (int c = 0; c < width && dot(a + i * width, a + i * width, width) > 0.5; c++)
            out[i * width + c] = a[i * width + c] - mean[c] / rows;
    free(mean);
    return out;
}

static double slog(double x)
{
    return x < 0 ? -log1p(-x) : log1p(x);
}

/* ---- graphs ---- */

enum { MOST_NODES = 90, FEATURES = 7 };

/* What a test computes evidence of. */
typedef struct subject {
    npgnn_graph *graph;
    npi_reduced words; /* width 0: none */
} subject;

static double uniform(uint32_t stream, uint64_t index)
{
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, stream);
    return npi_rng_uniform_at(&rng, index);
}

/* Unit rows of random numbers; node 2 has none. */
static subject subject_of(const npgnn_pair *edges, int64_t m, int32_t n, int width)
{
    subject s = {.words = {.width = width}};
    npgnn_error err = {0};
    npgnn_env env = env_of(1);
    assert_ok(npgnn_graph_from_arrays(&s.graph, edges, NULL, n, m, 0, &env, &err), err);
    if (width > 0) {
        double *rows = zeros((size_t)(n * width));
        for (int i = 0; i < n * width; i++)
            rows[i] = i / width == 2 ? 0 : 2 * uniform(1, (uint64_t)i) - 0.7;
        unit_rows(rows, n, width);
        s.words.row = calloc((size_t)(n * width), sizeof *s.words.row);
        for (int i = 0; i < n * width; i++)
            s.words.row[i] = (real)rows[i];
        free(rows);
    }
    return s;
}

static void subject_free(subject *s)
{
    npgnn_graph_free(s->graph);
    free(s->words.row);
}

static subject make_random(int32_t n, double density, int width, uint32_t stream)
{
    static npgnn_pair edges[MOST_NODES * MOST_NODES];
    int64_t m = 0;
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = u + 1; v < n; v++)
            if (u % 10 != 5 && v % 10 != 5 &&
                uniform(stream, (uint64_t)(u * n + v)) < density) /* a tenth is isolated */
                edges[m++] = (npgnn_pair){u, v};
    return subject_of(edges, m, n, width);
}

static subject make_star(int width)
{
    npgnn_pair edges[9];
    for (int32_t i = 0; i < 9; i++)
        edges[i] = (npgnn_pair){0, i + 1};
    return subject_of(edges, 9, 11, width); /* and a node on its own */
}

/* A path and a complete graph. */
static subject make_two_components(int width)
{
    npgnn_pair edges[64];
    int64_t m = 0;
    for (int32_t i = 0; i < 7; i++)
        edges[m++] = (npgnn_pair){i, i + 1};
    for (int32_t u = 8; u < 13; u++)
        for (int32_t v = u + 1; v < 13; v++)
            edges[m++] = (npgnn_pair){u, v};
    return subject_of(edges, m, 13, width);
}

static subject make_without_links(int width)
{
    return subject_of(NULL, 0, 5, width);
}

/* One of every kind; 0 when there are no more. */
static int make_subject(subject *out, int index)
{
    int width = index % 2 ? FEATURES : 0;
    switch (index / 2) {
    case 0:
        *out = make_random(20, 0.3, width, 10);
        return 1;
    case 1:
        *out = make_random(MOST_NODES, 0.08, width, 11);
        return 1;
    case 2:
        *out = make_star(width);
        return 1;
    case 3:
        *out = make_two_components(width);
        return 1;
    case 4:
        *out = make_without_links(width);
        return 1;
    case 5:
        *out = make_random(3, 1.1, width, 12);
        return 1;
    default:
        return 0;
    }
}

/* ---- the checker ---- */

typedef struct checker {
    int n, k, d; /* nodes, features, spectral coordinates */
    double *a;   /* (n, n) */
    double *degree, ends;
    double *lift[3]; /* (n, n) */
    double *f, *smooth1, *smooth2, *centred, *centred1, *centred2, *means, *ridge, *kernel;
    double *region, *coordinate; /* (n, d) */
    double *values;
} checker;

/* S (A + I) S F for a diagonal S, or without I. */
static double *spread(const checker *c, const double *scale, const double *f, double own)
{
    double *matrix = zeros((size_t)(c->n * c->n));
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < c->n; j++)
            matrix[i * c->n + j] = scale[i] * (c->a[i * c->n + j] + own * (i == j)) * scale[j];
    double *out = times(matrix, f, c->n, c->n, c->k);
    free(matrix);
    return out;
}

/* (G + r mean(diag G) I), G = Fᵀ F over the nodes with links */
static double *penalized_gram(const checker *c, double ridge)
{
    double *gram = zeros((size_t)(c->k * c->k)), trace = 0;
    for (int i = 0; i < c->n; i++)
        for (int p = 0; p < c->k * c->k && c->degree[i] > 0; p++)
            gram[p] += c->f[i * c->k + p / c->k] * c->f[i * c->k + p % c->k];
    for (int p = 0; p < c->k; p++)
        trace += gram[p * c->k + p];
    for (int p = 0; p < c->k; p++)
        gram[p * c->k + p] += ridge * (trace / c->k + 1e-9);
    return gram;
}

static void check_features(checker *c, const npi_reduced *words)
{
    int n = c->n, k = c->k;
    double *scale = zeros((size_t)n), *known = zeros((size_t)(n * k));
    c->f = zeros((size_t)(n * k));
    for (int i = 0; i < n * k; i++)
        c->f[i] = (double)words->row[i];
    for (int i = 0; i < n; i++)
        scale[i] = 1 / sqrt(c->degree[i] + 1);
    c->smooth1 = spread(c, scale, c->f, 1);
    c->smooth2 = spread(c, scale, c->smooth1, 1);
    unit_rows(c->smooth1, n, k);
    unit_rows(c->smooth2, n, k);
    c->centred = centred_rows(c->f, n, k);
    c->centred1 = centred_rows(c->smooth1, n, k);
    c->centred2 = centred_rows(c->smooth2, n, k);
    c->means = zeros((size_t)(n * k));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < k; p++)
                c->means[i * k + p] += (c->a[i * n + j] + (i == j)) * c->f[j * k + p] / (c->degree[i] + 1);

    /* regions from features: F (G + r I)⁻¹ Fᵀ Y */
    for (int i = 0; i < n * k; i++)
        known[i] = c->degree[i / k] > 0 ? c->f[i] : 0;
    double *gram = penalized_gram(c, 0.01), *known_t = transposed(known, n, k);
    double *right = times(known_t, c->region, k, n, c->d), *weights = solved(gram, right, k, c->d);
    c->ridge = times(c->f, weights, n, k, c->d);
    unit_rows(c->ridge, n, c->d);
    free(gram);
    free(right);
    free(weights);

    /* K = n (G + r I)⁻¹ Fᵀ Ã F (G + r I)⁻¹ */
    for (int i = 0; i < n; i++)
        scale[i] = c->degree[i] > 0 ? 1 / sqrt(c->degree[i]) : 0;
    gram = penalized_gram(c, 0.1);
    double *spread_f = spread(c, scale, c->f, 0), *f_t = transposed(c->f, n, k);
    right = times(f_t, spread_f, k, n, k);
    double *half = solved(gram, right, k, k), *half_t = transposed(half, k, k);
    c->kernel = solved(gram, half_t, k, k);
    for (int i = 0; i < k * k; i++)
        c->kernel[i] *= n;
    free(gram);
    free(right);
    free(half);
    free(half_t);
    free(spread_f);
    free(f_t);
    free(known);
    free(known_t);
    free(scale);
}

static checker checker_new(const subject *s)
{
    const npi_csr *a = &s->graph->a;
    int n = a->rows;
    checker c = {.n = n, .k = s->words.width, .ends = (double)a->ptr[n]};
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    npi_spectral spectral = {0};
    c.a = zeros((size_t)(n * n));
    c.degree = zeros((size_t)n);
    for (int i = 0; i < n; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            c.a[i * n + a->col[p]] = 1;
            c.degree[i]++;
        }
    double *step = zeros((size_t)(n * n)), *power = zeros((size_t)(n * n)); /* P = D⁻¹ A and its powers */
    for (int i = 0; i < n * n; i++)
        power[i] = step[i] = c.degree[i / n] > 0 ? c.a[i] / c.degree[i / n] : 0;
    for (int t = 0; t < 3; t++) {
        double *next = times(power, step, n, n, n);
        free(power);
        power = next;
        c.lift[t] = zeros((size_t)(n * n));
        for (int i = 0; i < n * n; i++)
            c.lift[t][i] = c.degree[i % n] > 0 ? power[i] / (c.degree[i % n] / c.ends) : 0;
    }
    free(power);
    free(step);
    assert_ok(npi_spectral_new(&spectral, a, &env, &err), err); /* has a test of its own */
    c.d = spectral.width;
    c.region = zeros((size_t)(n * c.d));
    c.coordinate = zeros((size_t)(n * c.d));
    c.values = zeros((size_t)c.d);
    for (int i = 0; i < n * c.d; i++) {
        c.values[i % c.d] = spectral.values[i % c.d];
        c.region[i] = (double)spectral.vectors[i] * spectral.values[i % c.d];
        c.coordinate[i] = (double)spectral.vectors[i] * (double)spectral.scale[i / c.d];
    }
    unit_rows(c.region, n, c.d);
    npi_spectral_free(&env, &spectral);
    if (c.k > 0)
        check_features(&c, &s->words);
    return c;
}

static void checker_free(checker *c)
{
    double *blocks[] = {c->a,       c->degree,  c->lift[0], c->lift[1],    c->lift[2],  c->f,
                        c->smooth1, c->smooth2, c->centred, c->centred1,   c->centred2, c->means,
                        c->ridge,   c->kernel,  c->region,  c->coordinate, c->values};
    for (size_t i = 0; i < COUNT(blocks); i++)
        free(blocks[i]);
}

/* ---- what only a tuned process reads ---- */

enum { WORDS = 30 };

typedef struct learnt {
    npi_reduced projection; /* some rows: what they are does not matter to the columns */
    npi_features *x;        /* sparse features, NULL: dense ones, of which nothing is kept */
    double *tfidf;          /* (n, WORDS) */
} learnt;

/* For a graph that has features; with `sparse`, words of its own too, which npi_reduced_keep_tfidf keeps in s->words. */
static learnt learnt_new(subject *s, int sparse, const npgnn_env *env)
{
    learnt own = {.projection.width = s->words.width > 0 ? 5 : 0};
    npgnn_error err = {0};
    int n = s->graph->n;
    npi_rng rng = npi_rng_make(9, NPI_RNG_TEST, 0);
    own.projection.row = calloc((size_t)n * 5, sizeof *own.projection.row);
    own.projection.neighbor_row = calloc((size_t)n * 5, sizeof *own.projection.neighbor_row);
    for (int i = 0; i < n * 5; i++) {
        own.projection.row[i] = (real)(4 * npi_rng_uniform(&rng) - 2);
        own.projection.neighbor_row[i] = (real)(4 * npi_rng_uniform(&rng) - 2);
    }
    if (!sparse || s->words.width == 0)
        return own;
    npi_csr x = {0};
    int64_t count = 0;
    double *dense = own.tfidf = zeros((size_t)(n * WORDS)), with[WORDS] = {0};
    for (int i = 0; i < n * WORDS; i++)
        if (npi_rng_uniform(&rng) < 0.1 && i / WORDS != 1) { /* node 1 has none */
            dense[i] = 1 + npi_rng_uniform(&rng);
            with[i % WORDS]++;
            count++;
        }
    assert_ok(npi_csr_new(&x, n, WORDS, count, 1, env, &err), err);
    count = 0;
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < WORDS; c++)
            if (dense[i * WORDS + c] > 0) {
                x.col[count] = c;
                x.val[count] = (float)dense[i * WORDS + c];
                dense[i * WORDS + c] = (double)x.val[count++] * log(1 + n / with[c]);
            }
        x.ptr[i + 1] = count;
    }
    assert_ok(npi_features_from_csr(&own.x, &x, env, &err), err);
    assert_null(own.x->dense);
    assert_ok(npi_reduced_keep_tfidf(&s->words, own.x, env, &err), err);
    return own;
}

static void learnt_free(learnt *own, subject *s, const npgnn_env *env)
{
    npi_reduced kept = s->words; /* all but the rows, which are the subject's */
    kept.row = NULL;
    npi_reduced_free(env, &kept);
    free(own->projection.row);
    free(own->projection.neighbor_row);
    free(own->tfidf);
    npi_features_free(own->x);
}

/* The table of columns once more, one line each. */
static void check_pair(double *value, const checker *c, const learnt *own, int u, int v)
{
    const npi_reduced *projection = &own->projection;
    int n = c->n, k = c->k, d = c->d, small = d < 16 ? d : 16;
    double common = 0, either = 0, spectral = 0, pagerank = 0;
    double log_u = log1p(c->degree[u]), log_v = log1p(c->degree[v]);
    memset(value, 0, NPI_ALL_COLUMNS * sizeof *value);
    for (int x = 0; x < n; x++) {
        common += c->a[u * n + x] * c->a[v * n + x];
        either += c->a[u * n + x] + c->a[v * n + x] > 0;
    }
    for (int p = 0; p < d; p++) {
        double both = c->ends * c->coordinate[u * d + p] * c->coordinate[v * d + p];
        spectral += both * c->values[p];
        pagerank += both / (1 - 0.9 * c->values[p]);
    }
    if (k > 0) {
        double *kernel_v = times(c->kernel, c->f + v * k, k, k, 1),
               *kernel_mean = times(c->kernel, c->means + v * k, k, k, 1);
        value[NPI_COLUMN_FEATURES] = dot(c->f + u * k, c->f + v * k, k);
        value[NPI_COLUMN_SMOOTH1] = cosine(c->smooth1 + u * k, c->smooth1 + v * k, k);
        value[NPI_COLUMN_SMOOTH2] = cosine(c->smooth2 + u * k, c->smooth2 + v * k, k);
        value[NPI_COLUMN_CENTRED1] = cosine(c->centred1 + u * k, c->centred1 + v * k, k);
        value[NPI_COLUMN_CENTRED2] = cosine(c->centred2 + u * k, c->centred2 + v * k, k);
        value[NPI_COLUMN_CROSS] =
            (cosine(c->centred + u * k, c->centred1 + v * k, k) + cosine(c->centred + v * k, c->centred1 + u * k, k)) /
            2;
        value[NPI_COLUMN_RIDGE] = cosine(c->ridge + u * d, c->ridge + v * d, d);
        value[NPI_COLUMN_CROSS_RIDGE] =
            (cosine(c->ridge + u * d, c->region + v * d, d) + cosine(c->ridge + v * d, c->region + u * d, d)) / 2;
        value[NPI_COLUMN_BILINEAR] = slog(dot(c->f + u * k, kernel_v, k));
        value[NPI_COLUMN_BILINEAR_MEANS] = slog(dot(c->means + u * k, kernel_mean, k));
        value[NPI_COLUMN_MEANS] = dot(c->means + u * k, c->means + v * k, k);
        value[NPI_COLUMN_HAS_FEATURES] = 1;
        free(kernel_v);
        free(kernel_mean);
    }
    value[NPI_COLUMN_DEGREE_SUM] = log_u + log_v;
    value[NPI_COLUMN_DEGREE_DIFFERENCE] = fabs(log_u - log_v);
    value[NPI_COLUMN_DEGREE_LEAST] = fmin(log_u, log_v);
    value[NPI_COLUMN_COMMON] = sqrt(common);
    value[NPI_COLUMN_JACCARD] = either > 0 ? common / either : 0;
    value[NPI_COLUMN_LIFT2] = log1p(c->lift[0][u * n + v]);
    value[NPI_COLUMN_LIFT3] = log1p(c->lift[1][u * n + v]);
    value[NPI_COLUMN_LIFT4] = log1p(c->lift[2][u * n + v]);
    value[NPI_COLUMN_REGION16] = cosine(c->region + u * d, c->region + v * d, small);
    value[NPI_COLUMN_REGION64] = cosine(c->region + u * d, c->region + v * d, d);
    value[NPI_COLUMN_SPECTRAL] = slog(spectral);
    value[NPI_COLUMN_PAGERANK] = slog(pagerank);
    for (int c2 = 0; c2 < projection->width; c2++) { /* inner products of rows, and of the rows of Â q */
        double smooth[2] = {0, 0};
        for (int end = 0; end < 2; end++) {
            int i = end ? v : u;
            for (int x = 0; x < n; x++)
                if (x == i || c->a[i * n + x] > 0)
                    smooth[end] += (double)projection->neighbor_row[x * projection->width + c2] /
                                   sqrt((c->degree[i] + 1) * (c->degree[x] + 1));
        }
        value[NPI_COLUMN_PROJECTION] +=
            (double)projection->row[u * projection->width + c2] * (double)projection->row[v * projection->width + c2];
        value[NPI_COLUMN_PROJECTION_AROUND] += smooth[0] * smooth[1];
    }
    if (projection->width > 0)
        value[NPI_COLUMN_OVERLAP] =
            own->x ? cosine(own->tfidf + u * WORDS, own->tfidf + v * WORDS, WORDS) : value[NPI_COLUMN_FEATURES];
}

/* ---- columns ---- */

static const char *name_of(int column)
{
    return npi_column_specs[column].name;
}

/* Every column of every pair, of a node with itself too. */
static void test_columns(void **state)
{
    (void)state;
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    subject s;
    for (int index = 0; make_subject(&s, index); index++) {
        npi_columns columns = {0};
        npi_columns_workspace workspace = {0};
        checker c = checker_new(&s);
        learnt own = learnt_new(&s, index % 4 == 1, &env);
        float value[NPI_ALL_COLUMNS] = {0}, reversed[NPI_ALL_COLUMNS] = {0};
        double want[NPI_ALL_COLUMNS];
        assert_ok(npi_columns_new(&columns, &s.graph->a, &s.words, &own.projection, 1, &env, &err), err);
        assert_ok(npi_columns_workspace_new(&workspace, &columns, 0, &err), err);
        for (int u = 0; u < c.n; u++)
            for (int v = 0; v < c.n; v++) {
                npi_columns_pair(value, &workspace, &columns, (npgnn_pair){u, v});
                npi_columns_pair(reversed, &workspace, &columns, (npgnn_pair){v, u});
                assert_memory_equal(value, reversed, sizeof value);
                check_pair(want, &c, &own, u, v);
                for (int i = 0; i < columns.plan.columns; i++) {
                    int near = fabs((double)value[i] - want[i]) <= tolerance * fmax(1, fabs(want[i]));
                    if (!near)
                        fail_msg("subject %d, pair (%d, %d): %s is %.9g, not %.9g", index, u, v, name_of(i),
                                 (double)value[i], want[i]);
                }
            }
        npi_columns_workspace_free(&env, &workspace);
        npi_columns_free(&columns);
        learnt_free(&own, &s, &env);
        checker_free(&c);
        subject_free(&s);
    }
}

/* Fails unless the columns of node u with node j, `stride` numbers apart, are those of the pair: within what
 * npi_columns_rounding allows for this unit. What column `only` may be off by beyond that is `more`; the other columns
 * are then left out, -1: none is. */
static void check_row(const real *got, int stride, const npi_columns *columns, npi_columns_workspace *single, int32_t u,
                      int32_t j, double unit, int only, double more, int index)
{
    double rounding[NPI_ALL_COLUMNS];
    float value[NPI_ALL_COLUMNS];
    npi_columns_rounding(rounding, columns, unit);
    npi_columns_pair(value, single, columns, (npgnn_pair){u, j});
    for (int i = 0; i < columns->plan.columns; i++) {
        double is = (double)got[i * stride], allowed = rounding[i] + more;
        if (i == NPI_COLUMN_SPECTRAL || i == NPI_COLUMN_PAGERANK)
            allowed += npi_columns_rounding_along(columns, i, u, unit) * (double)npi_columns_reach(columns)[j];
        if ((only < 0 || i == only) && !(fabs(is - (double)value[i]) <= allowed))
            fail_msg("subject %d, pair (%d, %d): %s of a row is %.9g, of a pair %.9g, allowed %g", index, u, j,
                     name_of(i), is, (double)value[i], allowed);
    }
}

/* Rows of `block` nodes at once, against pairs. */
static void check_rows(const npi_columns *columns, int block, int index)
{
    enum { BLOCK = 3 };
    static real rows[BLOCK * MOST_NODES * NPI_ALL_COLUMNS];
    npgnn_error err = {0};
    npi_columns_workspace workspace = {0}, single = {0};
    int n = columns->n;
    assert_ok(npi_columns_workspace_new(&workspace, columns, block, &err), err);
    assert_ok(npi_columns_workspace_new(&single, columns, 0, &err), err);
    npi_blas_begin(1);
    for (int32_t first = 0; first < n; first += block) {
        int32_t nodes[BLOCK] = {first, (first + 1) % n, (first + 7) % n};
        npi_columns_rows_begin(&workspace, columns, nodes, nodes, block);
        for (int32_t begin = 0, end; begin < n; begin = end) { /* in two ranges */
            end = begin == 0 && n > 3 ? n / 3 : n;
            npi_columns_rows(rows, &workspace, columns, begin, end);
            for (int r = 0; r < block; r++)
                for (int32_t j = begin; j < end; j++)
                    check_row(rows + r * (end - begin) + j - begin, block * (end - begin), columns, &single, nodes[r],
                              j, NPI_FLOAT_UNIT, -1, 0, index);
        }
    }
    npi_blas_end(1);
    npi_columns_workspace_free(&columns->env, &single);
    npi_columns_workspace_free(&columns->env, &workspace);
}

/* One node with all, from rounded rows, and with a list of nodes. Each node has a column of its own whose error is
 * looked at. */
static void check_rounded(const npi_columns *columns, int index)
{
    static real rows[MOST_NODES * NPI_ALL_COLUMNS];
    static real error[MOST_NODES];
    static int32_t list[MOST_NODES];
    npgnn_error err = {0};
    npi_columns_workspace workspace = {0}, single = {0};
    int n = columns->n;
    assert_ok(npi_columns_workspace_new(&workspace, columns, 1, &err), err);
    assert_ok(npi_columns_workspace_new(&single, columns, 0, &err), err);
    assert_true(n <= workspace.range);
    for (int32_t u = 0; u < n; u++) {
        double weight[NPI_ALL_COLUMNS] = {0};
        int only = u % columns->plan.columns, listed = 0;
        weight[only] = 1;
        npi_columns_rows_begin(&workspace, columns, &u, &u, 1);
        npi_columns_rounded_begin(&workspace, columns, weight);
        for (int32_t begin = 0, end; begin < n; begin = end) {
            end = begin == 0 && n > NPI_SHORT_GROUP ? NPI_SHORT_GROUP : n;
            npi_columns_rounded(rows, error, &workspace, columns, begin, end);
            for (int32_t j = begin; j < end; j++)
                check_row(rows + j - begin, end - begin, columns, &single, u, j, NPI_FLOAT_UNIT + NPI_ROUNDED_UNIT,
                          only, (double)error[j - begin], index);
        }
        for (int32_t j = u % 3; j < n; j += 3)
            list[listed++] = n - 1 - j;
        npi_columns_list(rows, &workspace, columns, list, listed);
        for (int i = 0; i < listed; i++)
            check_row(rows + i, listed, columns, &single, u, list[i], NPI_FLOAT_UNIT, -1, 0, index);
    }
    npi_columns_workspace_free(&columns->env, &single);
    npi_columns_workspace_free(&columns->env, &workspace);
}

static void test_rows(void **state)
{
    (void)state;
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    subject s;
    for (int index = 0; make_subject(&s, index); index++) {
        npi_columns columns = {0};
        learnt own = learnt_new(&s, index % 4 == 1, &env);
        assert_ok(npi_columns_new(&columns, &s.graph->a, &s.words, &own.projection, 1, &env, &err), err);
        check_rows(&columns, 3, index);
        assert_ok(npi_columns_round(&columns, &err), err);
        check_rounded(&columns, index);
        npi_columns_free(&columns);
        learnt_free(&own, &s, &env);
        subject_free(&s);
    }
}

/* Banks that are made when they are needed give the same bits as banks that are kept, also once they are completed. */
static void test_not_kept(void **state)
{
    (void)state;
    npgnn_error err = {0};
    subject s;
    for (int index = 0; make_subject(&s, index); index++) {
        npgnn_env env = env_of(1 + index % 3);
        learnt own = learnt_new(&s, index % 4 == 1, &env);
        size_t n = (size_t)s.graph->n, count = n * n;
        npgnn_pair *pairs = calloc(count, sizeof *pairs);
        float *value[3];
        npi_columns columns[2];
        npi_reduced bare = s.words; /* without T, whose rows are made for each pair */
        bare.tfidf.rows = bare.tfidf.by_column = (npi_csr){0};
        for (size_t i = 0; i < count; i++)
            pairs[i] = (npgnn_pair){(int32_t)(i / n), (int32_t)(i % n)};
        for (int i = 0; i < 3; i++) {
            value[i] = calloc(count * NPI_ALL_COLUMNS, sizeof *value[i]);
            if (i < 2)
                assert_ok(npi_columns_new(&columns[i], &s.graph->a, i == 0 ? &s.words : &bare, &own.projection, i == 0,
                                          &env, &err),
                          err);
            else
                assert_ok(npi_columns_complete(&columns[1], &err), err);
            assert_ok(npi_columns_pairs(value[i], &columns[i > 0], pairs, count, env.threads, &err), err);
            assert_memory_equal(value[0], value[i], count * NPI_ALL_COLUMNS * sizeof *value[i]);
        }
        assert_true(columns[0].least_distance == columns[1].least_distance);
        for (int i = 0; i < 3; i++)
            free(value[i]);
        assert_int_equal(s.words.tfidf.rows.ptr != NULL, bare.tfidf.rows.ptr != NULL);
        npi_columns_free(&columns[0]);
        npi_columns_free(&columns[1]);
        npi_csr_free(&env, &bare.tfidf.rows);
        npi_csr_free(&env, &bare.tfidf.by_column);
        free(pairs);
        learnt_free(&own, &s, &env);
        subject_free(&s);
    }
}

/* value (n * n, NPI_COLUMNS) of all pairs of a graph, with features reduced from its own; for the caller to free. */
static float *all_pairs(const npgnn_graph *graph, int threads)
{
    npgnn_env env = env_of(threads);
    npgnn_error err = {0};
    npi_reduced words = {0};
    npi_columns columns = {0};
    size_t n = (size_t)graph->n, count = n * n;
    npgnn_pair *pairs = calloc(count, sizeof *pairs);
    float *value = calloc(count * NPI_COLUMNS, sizeof *value);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (npgnn_pair){(int32_t)(i / n), (int32_t)(i % n)};
    assert_ok(npi_reduced_new(&words, graph->x, NULL, &env, &err), err);
    assert_ok(npi_columns_new(&columns, &graph->a, &words, NULL, 1, &env, &err), err);
    assert_ok(npi_columns_pairs(value, &columns, pairs, count, threads, &err), err);
    npi_columns_free(&columns);
    npi_reduced_free(&env, &words);
    free(pairs);
    return value;
}

static void test_threads(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, "synthetic:nodes=150,words=120,seed=3", NULL, NULL, &err), err);
    float *one = all_pairs(graph, 1);
    for (int threads = 2; threads <= 3; threads++) {
        float *more = all_pairs(graph, threads);
        assert_memory_equal(one, more, 150 * 150 * NPI_COLUMNS * sizeof *one);
        free(more);
    }
    free(one);
    npgnn_graph_free(graph);
}

/* ---- reduced features ---- */

/* With no more than 64 columns nothing is lost: cosines are those of tf-idf. Left-out columns count as absent. */
static void test_words(void **state)
{
    (void)state;
    enum { N = 60, F = 12, HIDDEN = 4 };
    float x[N * F];
    unsigned char left_out[F] = {0};
    npgnn_env env = env_of(2);
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    for (int i = 0; i < N * F; i++) /* column c appears in ever more rows; row 3 is empty */
        x[i] = i / F != 3 && uniform(20, (uint64_t)i) < 0.15 + 0.05 * (i % F) ? (float)(1 + i % 3) : 0;
    assert_ok(npgnn_graph_from_arrays(&graph, NULL, x, N, 0, F, &env, &err), err);
    for (int hide = 0; hide < 2; hide++) {
        npi_reduced words = {0};
        double tfidf[N * F] = {0};
        left_out[HIDDEN] = (unsigned char)hide;
        for (int c = 0; c < F; c++) {
            int rows = 0;
            for (int i = 0; i < N; i++)
                rows += x[i * F + c] != 0;
            for (int i = 0; i < N; i++)
                tfidf[i * F + c] = hide && c == HIDDEN ? 0 : (double)x[i * F + c] * log(1 + (double)N / rows);
        }
        assert_ok(npi_reduced_new(&words, graph->x, hide ? left_out : NULL, &env, &err), err);
        assert_int_equal(words.width, F);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double got = 0;
                for (int c = 0; c < F; c++)
                    got += (double)words.row[i * F + c] * (double)words.row[j * F + c];
                assert_near(got, cosine(tfidf + i * F, tfidf + j * F, F), 0.01);
            }
        npi_reduced_free(&env, &words);
    }
    npgnn_graph_free(graph);
}

/* The numbers of a table: near ones are alike wherever they are, a missing one is like none, and neither they nor flags
 * are weighted by how many rows have them. A node of the other side, or outside of the table, has none. */
static void test_numbers(void **state)
{
    (void)state;
    enum { N = 9, F = 5, TARGET = 6, ABSENT = 8 }; /* age, whether it is missing, flag, count; age of targets */
    static const float x[N * F] = {
        -1.2f, 0, 1,    0, 0, /* 0 and 1 are near each other, 2 and 3 as near at the median, and 4 far from 0 */
        -1.1f, 0, 1,    0, 0, 0, 0, 1, 0, 0,    0.1f, 0, 1,
        0,     0, 1.4f, 0, 1, 0, 0, 0, 1, 1,    3,    0, /* 5: the number is missing */
        0,     0, 0,    0, 1, 0, 0, 0, 0, 0.5f,          /* targets */
    };
    npgnn_env env = env_of(2);
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npi_encoding *encoding = NULL;
    npi_reduced words = {0};
    static const npi_encoded kinds[] = {
        {.kind = NPI_KIND_NUMBER, .center = 40, .scale = 10, .low = 20, .high = 70, .flags_missing = 1},
        {.kind = NPI_KIND_FLAG, .center = 0.5, .scale = 1},
        {.kind = NPI_KIND_NUMBER, .center = 0, .scale = 2, .low = 0, .high = 9},
        {.kind = NPI_KIND_DATE, .center = 40, .scale = 10, .low = 20, .high = 70, .side = 1}};
    assert_ok(npi_encoding_new(&encoding, &env, &err), err);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"age", "flag", "count", "since"};
        npi_encoded *column = NULL;
        assert_ok(npi_encoding_add(&column, encoding, names[i], &err), err);
        char *name = column->name;
        *column = kinds[i];
        column->name = name;
    }
    assert_ok(npi_encoding_finish(encoding, &err), err);
    assert_int_equal(encoding->width, F);
    assert_ok(npgnn_graph_from_arrays(&graph, NULL, x, N, 0, F, &env, &err), err);
    graph->x->encoding = encoding;

    /* the definition */
    enum { WIDE = 4 + 1 + 1 + 1 + 4 };
    double wide[N][WIDE] = {{0}};
    for (int i = 0; i < ABSENT; i++) {
        int at = i < TARGET ? 0 : 7;
        double angle = (double)x[i * F + (i < TARGET ? 0 : 4)] * acos(-1) / 3;
        for (int h = 0; x[i * F + 1] == 0 && h < 2; h++) {
            wide[i][at + 2 * h] = cos((h + 1) * angle) / sqrt(2);
            wide[i][at + 2 * h + 1] = sin((h + 1) * angle) / sqrt(2);
        }
        wide[i][4] = x[i * F + 1] > 0 ? log(1 + (double)N) : 0;
        wide[i][5] = (double)x[i * F + 2];
        wide[i][6] = (double)x[i * F + 3];
    }
    assert_ok(npi_reduced_new(&words, graph->x, NULL, &env, &err), err);
    assert_int_equal(words.width, N);
    double near[2] = {0}, far = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double got = 0;
            for (int c = 0; c < words.width; c++)
                got += (double)words.row[i * words.width + c] * (double)words.row[j * words.width + c];
            assert_near(got, cosine(wide[i], wide[j], WIDE), 1e-4);
            if (i % 2 == 0 && j == i + 1 && i < 4)
                near[i / 2] = got;
            far = i == 0 && j == 4 ? got : far;
        }
    assert_near(near[0], near[1], 1e-4);
    assert_true(near[0] > 0.98 && far < 0.5);
    npi_reduced_free(&env, &words);
    /* every allocation may fail */
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env given = metered_env(&m), metered = npi_env_resolve(&given);
        assert_true(allow < 200);
        code = npi_reduced_new(&words, graph->x, NULL, &metered, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        if (code == 0)
            npi_reduced_free(&metered, &words);
        assert_int_equal(m.blocks, 0);
    }
    npgnn_graph_free(graph);
}

/* Features without any entry have width 0. */
static void test_no_words(void **state)
{
    (void)state;
    float x[12] = {0};
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    for (int f = 0; f <= 3; f += 3) {
        npgnn_graph *graph = NULL;
        npi_reduced words = {.width = 9};
        assert_ok(npgnn_graph_from_arrays(&graph, NULL, f ? x : NULL, 4, 0, f, &env, &err), err);
        assert_ok(npi_reduced_new(&words, graph->x, NULL, &env, &err), err);
        assert_int_equal(words.width, 0);
        assert_null(words.row);
        npgnn_graph_free(graph);
    }
}

/* ---- spectral coordinates ---- */

/* M = S (A + I) S */
static double *spectral_matrix(const npi_csr *a, const npi_spectral *s)
{
    int n = a->rows;
    double *m = zeros((size_t)(n * n));
    for (int i = 0; i < n; i++) {
        m[i * n + i] = (double)s->scale[i] * (double)s->scale[i];
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            m[i * n + a->col[p]] = (double)s->scale[i] * (double)s->scale[a->col[p]];
    }
    return m;
}

/* The scale, and the leading eigenvalues of the dense matrix; for each, an eigenvector. */
static void test_spectral(void **state)
{
    (void)state;
    static const struct {
        int n;
        double density;
    } cases[] = {{20, 0.3}, {MOST_NODES, 0.08}, {MOST_NODES, 0.3}};
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    for (size_t k = 0; k < COUNT(cases); k++) {
        subject s = make_random(cases[k].n, cases[k].density, 0, 30);
        const npi_csr *a = &s.graph->a;
        int n = a->rows, linked = 0;
        npi_spectral spectral = {0};
        assert_ok(npi_spectral_new(&spectral, a, &env, &err), err);
        for (int i = 0; i < n; i++)
            linked += a->ptr[i + 1] > a->ptr[i];
        assert_int_equal(spectral.width, linked / 4);
        double mean = (double)a->ptr[n] / linked, *m = spectral_matrix(a, &spectral);
        for (int i = 0; i < n; i++)
            assert_near((double)spectral.scale[i], 1 / sqrt((double)(a->ptr[i + 1] - a->ptr[i]) + mean), 1e-6);
        double *vectors = zeros((size_t)(n * n)), *values = zeros((size_t)n), *copy = zeros((size_t)(n * n));
        memcpy(copy, m, (size_t)(n * n) * sizeof *m);
        npi_symmetric_eigen(values, vectors, copy, n);
        for (int c = 0; c < spectral.width; c++) {
            double residual = 0, length = 0;
            assert_near(spectral.values[c], values[c], 2e-3);
            for (int i = 0; i < n; i++) {
                double sum = -spectral.values[c] * (double)spectral.vectors[i * spectral.width + c];
                for (int j = 0; j < n; j++)
                    sum += m[i * n + j] * (double)spectral.vectors[j * spectral.width + c];
                residual += sum * sum;
                length += pow((double)spectral.vectors[i * spectral.width + c], 2);
            }
            assert_true(sqrt(residual) < 0.05);
            assert_true(c > spectral.width / 2 || sqrt(residual) < 2e-3); /* the first ones converge sooner */
            assert_near(length, 1, 1e-3);
        }
        npi_spectral_free(&env, &spectral);
        free(m);
        free(vectors);
        free(values);
        free(copy);
        subject_free(&s);
    }
}

/* Nodes without links lie nowhere, however many there are: they do not change what the others have. */
static void test_isolated_nodes(void **state)
{
    (void)state;
    enum { LINKED = 60, ALL = 200 };
    npgnn_pair edges[2 * LINKED];
    npgnn_graph *small = NULL, *large = NULL;
    npgnn_error err = {0};
    npgnn_env env = env_of(1);
    for (int32_t i = 0; i < LINKED; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % LINKED};
        edges[2 * i + 1] = (npgnn_pair){i, (int32_t)(uniform(40, (uint64_t)i) * i)};
    }
    assert_ok(npgnn_graph_from_arrays(&small, edges, NULL, LINKED, 2 * LINKED, 0, &env, &err), err);
    assert_ok(npgnn_graph_from_arrays(&large, edges, NULL, ALL, 2 * LINKED, 0, &env, &err), err);
    float *before = all_pairs(small, 1), *after = all_pairs(large, 1);
    for (int u = 0; u < LINKED; u++)
        for (int v = 0; v < LINKED; v++)
            for (int i = 0; i < NPI_COLUMNS; i++) {
                double want = (double)before[(u * LINKED + v) * NPI_COLUMNS + i],
                       got = (double)after[(u * ALL + v) * NPI_COLUMNS + i];
                if (!(fabs(got - want) <= 0.05))
                    fail_msg("pair (%d, %d): %s is %g with isolated nodes, %g without", u, v, name_of(i), got, want);
            }
    free(before);
    free(after);
    npgnn_graph_free(small);
    npgnn_graph_free(large);
}

/* ---- small symmetric matrices ---- */

static void test_symmetric_eigen(void **state)
{
    (void)state;
    for (int k = 1; k <= 40; k += k < 5 ? 1 : 7)
        for (int kind = 0; kind < 3; kind++) { /* random; of rank 1; zero */
            double *a = zeros((size_t)(k * k)), *copy = zeros((size_t)(k * k)), *v = zeros((size_t)(k * k)),
                   *values = zeros((size_t)k);
            for (int i = 0; i < k; i++)
                for (int j = 0; j <= i; j++)
                    a[i * k + j] = a[j * k + i] = kind == 0   ? uniform(50, (uint64_t)(i * k + j)) - 0.5
                                                  : kind == 1 ? (i + 1.0) * (j + 1.0)
                                                              : 0;
            memcpy(copy, a, (size_t)(k * k) * sizeof *a);
            npi_symmetric_eigen(values, v, copy, k);
            double scale = fabs(values[0]) + 1e-300;
            for (int i = 0; i < k; i++) {
                assert_true(i == 0 || fabs(values[i]) <= fabs(values[i - 1]));
                for (int j = 0; j < k; j++) {
                    double product = 0, inner = 0;
                    for (int c = 0; c < k; c++) {
                        product += v[i * k + c] * values[c] * v[j * k + c]; /* V diag Vᵀ = A */
                        inner += v[c * k + i] * v[c * k + j];               /* Vᵀ V = I */
                    }
                    assert_true(fabs(product - a[i * k + j]) <= 1e-10 * scale);
                    assert_near(inner, i == j, 1e-10);
                }
            }
            free(a);
            free(copy);
            free(v);
            free(values);
        }
}

static void test_cholesky(void **state)
{
    (void)state;
    enum { K = 9, COLUMNS = 4 };
    double root[K * K], a[K * K] = {0}, l[K * K], b[K * COLUMNS], x[K * COLUMNS];
    for (int i = 0; i < K * K; i++)
        root[i] = uniform(60, (uint64_t)i) - 0.5;
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            for (int c = 0; c < K; c++)
                a[i * K + j] += root[i * K + c] * root[j * K + c] + (i == j) * 0.1;
    memcpy(l, a, sizeof a);
    npi_cholesky(l, K, 1e-12);
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int c = 0; c <= j; c++)
                sum += l[i * K + c] * l[j * K + c];
            assert_near(sum, a[i * K + j], 1e-13);
        }
    for (int i = 0; i < K * COLUMNS; i++)
        x[i] = b[i] = uniform(61, (uint64_t)i);
    npi_cholesky_solve(x, l, K, COLUMNS);
    double *product = times(a, x, K, K, COLUMNS);
    for (int i = 0; i < K * COLUMNS; i++)
        assert_near(product[i], b[i], 1e-11);
    free(product);

    /* rank 1: all but one dimension are lost, nothing is infinite */
    for (int i = 0; i < K * K; i++)
        l[i] = (1 + i / K) * (1 + i % K);
    npi_cholesky(l, K, 1e-6);
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++)
            assert_near(l[i * K + j], j == 0 ? 1 + i : i == j ? 1e-3 : 0, 1e-12);
}

/* ---- no leak ---- */

/* Under every protocol: held-out links are not known, and the evidence of all pairs is that of a graph which has
 * never had any other links than the known ones. */
static void test_no_leak(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = env_of(1);
    assert_ok(npgnn_load(&graph, "synthetic:nodes=120,words=100,seed=5", NULL, &env, &err), err);
    for (int protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split_options options = {.size = sizeof options};
        npgnn_split *split = NULL;
        assert_ok(npgnn_split_options_default(&options, (npgnn_protocol)protocol, &err), err);
        assert_ok(npgnn_split_new(&split, graph, &options, &env, &err), err);
        const npgnn_graph *known = npi_split_known(split);
        for (int set = NPGNN_SET_VAL; set <= NPGNN_SET_TEST; set++) {
            const npgnn_pair *pairs;
            size_t positives;
            npgnn_split_pairs(&pairs, &positives, split, (npgnn_set)set);
            for (size_t i = 0; i < positives; i++)
                assert_false(npgnn_graph_has_edge(known, pairs[i].u, pairs[i].v));
        }
        npgnn_pair *edges = calloc((size_t)known->m + 1, sizeof *edges);
        npgnn_graph *bare = NULL, *again = NULL;
        npi_graph_list_edges(edges, known);
        assert_ok(npgnn_graph_from_arrays(&bare, edges, NULL, known->n, known->m, 0, &env, &err), err);
        float *from_split = all_pairs(known, 1), *without = all_pairs(bare, 1);
        for (int i = 0; i < known->n * known->n; i++)
            assert_memory_equal(from_split + i * NPI_COLUMNS + NPI_FEATURE_COLUMNS,
                                without + i * NPI_COLUMNS + NPI_FEATURE_COLUMNS,
                                (NPI_COLUMN_HAS_FEATURES - NPI_FEATURE_COLUMNS) * sizeof(float));
        assert_ok(npi_graph_with_edges(&again, known, edges, known->m, &err), err);
        float *features_too = all_pairs(again, 1);
        assert_memory_equal(from_split, features_too, (size_t)(known->n * known->n) * NPI_COLUMNS * sizeof(float));
        free(from_split);
        free(without);
        free(features_too);
        free(edges);
        npgnn_graph_free(bare);
        npgnn_graph_free(again);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

/* How many nodes two steps reach decides from which end walks are summed up. It is counted once per node, and again
 * after links have come. */
static void test_two_steps(void **state)
{
    (void)state;
    enum { NODES = 30, LINKS = 40 };
    npgnn_pair edges[LINKS + 1], touched = {0, NODES - 1};
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    npgnn_graph *before = NULL, *after = NULL;
    npi_columns columns = {0};
    for (int i = 0; i < LINKS; i++)
        edges[i] = (npgnn_pair){i % (NODES - 1), (i * i + 7 * i + 1) % NODES};
    edges[LINKS] = touched;
    assert_ok(npgnn_graph_from_arrays(&before, edges, NULL, NODES, LINKS, 0, NULL, &err), err);
    assert_ok(npgnn_graph_from_arrays(&after, edges, NULL, NODES, LINKS + 1, 0, NULL, &err), err);
    assert_ok(npi_columns_new(&columns, &before->a, NULL, NULL, 1, &env, &err), err);
    for (int more = 0; more < 2; more++) {
        const npi_csr *a = more ? &after->a : &before->a;
        if (more)
            assert_ok(npi_columns_extend(&columns, a, NULL, NULL, &touched.u, 2, &err), err);
        npi_columns_workspace workspace = {0};
        assert_ok(npi_columns_workspace_new(&workspace, &columns, 0, &err), err);
        for (int32_t u = 0; u < NODES; u++) {
            float value[NPI_ALL_COLUMNS];
            int reached[NODES] = {0}, count = 0;
            npi_columns_pair(value, &workspace, &columns, (npgnn_pair){u, (u + 1) % NODES});
            for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
                for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++)
                    count += !reached[a->col[q]]++;
            assert_int_equal(columns.two_steps[u], count);
        }
        npi_columns_workspace_free(&env, &workspace);
    }
    npi_columns_free(&columns);
    npgnn_graph_free(before);
    npgnn_graph_free(after);
}

/* Walks from a node to a range of nodes, against those of single pairs: with few links, where the last step follows the
 * walks, and with many, where it looks back from the range. Nodes without links are among them. */
static void test_walks_part(void **state)
{
    (void)state;
    enum { NODES = 90, MOST = 900 };
    static const int links[] = {60, MOST};
    static const int32_t ranges[][2] = {{0, NODES}, {0, 1}, {7, 7}, {30, 61}, {61, NODES}};
    npgnn_env env = env_of(1);
    npgnn_error err = {0};
    for (size_t i = 0; i < COUNT(links); i++) {
        npgnn_graph *graph = NULL;
        npgnn_pair edges[MOST];
        npi_columns columns = {0};
        npi_columns_workspace workspace = {0};
        for (int j = 0; j < links[i]; j++)
            edges[j] = (npgnn_pair){j * 7 % (NODES - 5), (j * j + 11 * j + 1) % (NODES - 5)};
        assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, links[i], 0, NULL, &err), err);
        assert_ok(npi_columns_new(&columns, &graph->a, NULL, NULL, 1, &env, &err), err);
        assert_ok(npi_columns_workspace_new(&workspace, &columns, 0, &err), err);
        for (int32_t u = 0; u < NODES; u++)
            for (size_t r = 0; r < COUNT(ranges); r++) {
                float common[NODES];
                double lift[NPI_WALK_LIFTS * NODES];
                int32_t first = ranges[r][0], count = ranges[r][1] - first;
                npi_walks_part(common, lift, &workspace.walker, u, first, ranges[r][1]);
                for (int32_t j = 0; j < count; j++) {
                    npi_walks pair = npi_walks_pair(&workspace.walker, (npgnn_pair){u, first + j});
                    assert_int_equal((int)common[j], (int)pair.common);
                    for (int t = 0; t < NPI_WALK_LIFTS; t++)
                        assert_true(fabs(lift[t * count + j] - pair.lift[t]) <= 1e-12 * (1 + pair.lift[t]));
                }
            }
        npi_columns_workspace_free(&env, &workspace);
        npi_columns_free(&columns);
        npgnn_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symmetric_eigen), cmocka_unit_test(test_cholesky),       cmocka_unit_test(test_words),
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_no_words),       cmocka_unit_test(test_spectral),
        cmocka_unit_test(test_columns),         cmocka_unit_test(test_rows),           cmocka_unit_test(test_two_steps),
        cmocka_unit_test(test_not_kept),        cmocka_unit_test(test_isolated_nodes), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_leak),         cmocka_unit_test(test_walks_part),
    };
    return cmocka_run_group_tests_name("evidence columns", tests, NULL, NULL);
}
