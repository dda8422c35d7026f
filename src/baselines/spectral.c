/* Spectral embedding: the eigenvectors of the normalised Laplacian I - D^-½ A D^-½ with the smallest eigenvalues, as
 * the columns of E (n, k), k at most DIMENSIONS. The score of a pair is e_i · e_j, plus what the eigenvectors of its
 * component add, which are known without a solver (see finish). */
#include "baselines/spectral.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/eigen.h"
#include "model/score.h"

#define DIMENSIONS 128
#define NODES_PER_DIMENSION 16 /* at least: nearly all eigenvectors of a small graph would tell nothing, E Eᵀ = I */

/* The normalised Laplacian is I - S with S = D^-½ A D^-½, so the small eigenvalues of one are the large ones of the
 * other. S has the eigenvalue 1 once per component c, with the eigenvector √(d_i / mass_c) on its nodes: known without
 * a solver, which would have to tell many equal eigenvalues apart. The solver sees S less these. */
typedef struct spectrum {
    const npi_csr *a;
    double *root;       /* (n) √degree */
    int32_t *component; /* (n) */
    int32_t components;
    double *mass;   /* (components) Σ degrees */
    double *share;  /* (components) scratch */
    double *scaled; /* (n) scratch */
    int threads;
} spectrum;

/* ---- creating and freeing ---- */

static void spectrum_free(const npgnn_env *env, spectrum *s)
{
    npi_free(env, s->root);
    npi_free(env, s->component);
    npi_free(env, s->mass);
    npi_free(env, s->share);
    npi_free(env, s->scaled);
}

/* Gives `root` and all nodes that it reaches the next component. `queue` has n elements. */
static void flood(spectrum *s, int32_t root, int32_t *queue)
{
    const npi_csr *a = s->a;
    int32_t tail = 0;
    s->component[root] = s->components;
    queue[tail++] = root;
    for (int32_t head = 0; head < tail; head++)
        for (int64_t p = a->ptr[queue[head]]; p < a->ptr[queue[head] + 1]; p++)
            if (s->component[a->col[p]] < 0) {
                s->component[a->col[p]] = s->components;
                queue[tail++] = a->col[p];
            }
    s->components++;
}

static int spectrum_new(spectrum *s, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)a->rows;
    s->a = a;
    s->threads = env->threads;
    s->root = npi_alloc(env, n, sizeof *s->root, err);
    s->component = npi_alloc(env, n, sizeof *s->component, err);
    s->mass = npi_alloc(env, n, sizeof *s->mass, err);
    s->share = npi_alloc(env, n, sizeof *s->share, err);
    s->scaled = npi_alloc(env, n, sizeof *s->scaled, err);
    int32_t *queue = npi_alloc(env, n, sizeof *queue, err);
    int code = s->root && s->component && s->mass && s->share && s->scaled && queue ? 0 : NPGNN_E_MEMORY;
    if (code) {
        npi_free(env, queue);
        return code;
    }
    /* the components, √degree, and the sum of the degrees of each component */
    memset(s->component, -1, n * sizeof *s->component);
    for (int32_t i = 0; i < a->rows; i++)
        if (s->component[i] < 0)
            flood(s, i, queue);
    for (int32_t i = 0; i < a->rows; i++) {
        double degree = (double)(a->ptr[i + 1] - a->ptr[i]);
        s->root[i] = sqrt(degree);
        s->mass[s->component[i]] += degree;
    }
    npi_free(env, queue);
    return 0;
}

/* ---- the eigenvectors ---- */

typedef struct rows_loop {
    double *y;
    const spectrum *s;
} rows_loop;

static void multiply_rows(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    const spectrum *s = l->s;
    const npi_csr *a = s->a;
    for (int64_t i = first; i < last; i++) {
        double sum = 0; /* (A D^-½ x)_i */
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            sum += s->scaled[a->col[p]];
        l->y[i] = s->root[i] > 0 ? sum / s->root[i] - s->root[i] * s->share[s->component[i]] : 0;
    }
}

/* y = (S - Σ_c t_c t_cᵀ) x, where t_c is the eigenvector of component c. A row is summed by one thread, in
 * its order. */
static void multiply(double *y, const double *x, const void *user)
{
    const spectrum *s = user;
    const npi_csr *a = s->a;
    /* scaled = D^-½ x; share_c = Σ_i √d_i x_i / mass_c, so that (t_c t_cᵀ x)_i = √d_i share_c */
    memset(s->share, 0, (size_t)s->components * sizeof *s->share);
    for (int32_t i = 0; i < a->rows; i++) {
        s->scaled[i] = s->root[i] > 0 ? x[i] / s->root[i] : 0;
        if (s->root[i] > 0)
            s->share[s->component[i]] += s->root[i] * x[i] / s->mass[s->component[i]];
    }
    rows_loop loop = {y, s};
    npi_parallel(s->threads, a->rows, 0, multiply_rows, &loop);
}

/* embedding (n, k): the eigenvectors as columns. */
static int embed(real *embedding, const spectrum *s, int k, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)s->a->rows;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_SPECTRAL, 0);
    double *values = npi_alloc(env, (size_t)k, sizeof *values, err);
    double *vectors = npi_alloc(env, n * (size_t)k, sizeof *vectors, err);
    double *start = npi_alloc(env, n, sizeof *start, err);
    int code = values && vectors && start ? 0 : NPGNN_E_MEMORY;
    /* a random start, within the space of the nodes that have links */
    for (size_t i = 0; !code && i < n; i++)
        start[i] = s->root[i] > 0 ? npi_rng_normal_at(&rng, i) : 0;
    if (!code)
        code = npi_eigen_largest(values, vectors, start, s->a->rows, k, multiply, s, env, err);
    for (size_t i = 0; !code && i < n; i++)
        for (size_t j = 0; j < (size_t)k; j++)
            embedding[i * (size_t)k + j] = s->root[i] > 0 ? (real)vectors[j * n + i] : 0;
    npi_free(env, values);
    npi_free(env, vectors);
    npi_free(env, start);
    return code;
}

/* ---- scores ---- */

/* Adds the eigenvectors with the eigenvalue 1 to the product of the others: Σ_c t_c t_cᵀ - t tᵀ, t being that of the
 * whole graph. No other eigenvector reaches over two components, or several cancel: what the solver has there is
 * rounding, which would decide between thousands of pairs. */
static double finish(const spectrum *s, npgnn_pair pair, double product)
{
    int32_t c = s->component[pair.u];
    double both = s->root[pair.u] * s->root[pair.v], total = (double)s->a->ptr[s->a->rows];
    if (both == 0)
        return 0;
    if (c != s->component[pair.v])
        return -both / total;
    return product + both / s->mass[c] - both / total;
}

typedef struct learnt_spectrum {
    spectrum s;
    real *embedding; /* (n, k) */
    int k;
} learnt_spectrum;

static void learnt_free(const npgnn_env *env, void *learnt)
{
    learnt_spectrum *l = learnt;
    spectrum_free(env, &l->s);
    npi_free(env, l->embedding);
    npi_free(env, l);
}

static float score_pair(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const learnt_spectrum *l = h->learnt;
    (void)scratch;
    return (float)finish(&l->s, pair, (double)npi_score_pair(l->embedding, l->k, pair));
}

int npi_spectral_learn_some(npi_heuristic *out, int k, const npi_task *task, npgnn_error *err)
{
    const npgnn_graph *graph = task->graph;
    learnt_spectrum *l = npi_alloc(task->env, 1, sizeof *l, err);
    if (!l)
        return NPGNN_E_MEMORY;
    *out = (npi_heuristic){.graph = graph, .pair = score_pair, .learnt = l, .free = learnt_free};
    l->k = k;
    l->embedding = npi_alloc(task->env, (size_t)graph->n * (size_t)k, sizeof *l->embedding, err);
    int code = l->embedding ? spectrum_new(&l->s, &graph->a, task->env, err) : NPGNN_E_MEMORY;
    return code ? code : embed(l->embedding, &l->s, k, task->options->seed, task->env, err);
}

static int dimensions(const npgnn_graph *graph)
{
    int32_t linked = 0;
    for (int32_t i = 0; i < graph->n; i++)
        linked += graph->a.ptr[i + 1] > graph->a.ptr[i];
    int32_t most = linked / NODES_PER_DIMENSION;
    return most > DIMENSIONS ? DIMENSIONS : most < 1 ? 1 : most;
}

int npi_spectral_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return npi_spectral_learn_some(out, dimensions(task->graph), task, err);
}
