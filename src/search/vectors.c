#include "search/vectors.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/shortlist.h"
#include "linalg/dense.h"
#include "linalg/symmetric.h"

enum {
    SAMPLE_NODES = 8192,              /* for the second moment, and for pairs that the first fit takes for links */
    SAMPLE_PAIRS = 8192,              /* of each kind */
    SEARCHED = 512,                   /* nodes of the sample whose nearest are learnt from */
    SUBSPACE = NPI_VECTOR_WIDTH + 16, /* dimensions that are iterated for the vectors */
    MOST_TERMS = NPI_ALL_COLUMNS + NPI_MOST_NUMBERS + NPI_WALK_COLUMNS + 1
};

/* ---- the fit ---- */

typedef struct fit {
    const npgnn_predictor *p;
    const npi_columns *e;
    npi_vector_map *map;
    npgnn_pair *pairs; /* (count) */
    int count;
    float *evidence; /* (count, columns) */
    float *score;    /* (count) */
    int32_t *node;   /* (sample) random nodes */
    real *row;       /* (sample, D) p */
    int sample;
    npi_vectors_use use;
    double solution[MOST_TERMS];
    double *form; /* (D, D) M */
} fit;

static int32_t random_node(const npgnn_graph *g, npi_rng *rng)
{
    return (int32_t)npi_rng_below(rng, (uint64_t)g->n);
}

static int is_open(const npgnn_graph *g, int32_t u, int32_t v)
{
    return u != v && npi_graph_allows(g, u, v) && !npgnn_graph_has_edge(g, u, v);
}

/* Random pairs, and the ends of random walks of two and three steps. */
static void draw_pairs(fit *f, npi_rng *rng)
{
    enum { TRIES = 8 };
    const npgnn_graph *g = f->p->graph;
    for (int i = 0; i < TRIES * SAMPLE_PAIRS && f->count < SAMPLE_PAIRS; i++) {
        npgnn_pair pair = {random_node(g, rng), random_node(g, rng)};
        if (is_open(g, pair.u, pair.v))
            f->pairs[f->count++] = pair;
    }
    for (int i = 0; i < TRIES * SAMPLE_PAIRS && f->count < 2 * SAMPLE_PAIRS; i++) {
        npgnn_pair pair = {random_node(g, rng), 0};
        pair.v = pair.u;
        for (int step = 0; step < 2 + i % 2 && g->a.ptr[pair.v] < g->a.ptr[pair.v + 1]; step++)
            pair.v = g->a.col[g->a.ptr[pair.v] +
                              (int64_t)npi_rng_below(rng, (uint64_t)(g->a.ptr[pair.v + 1] - g->a.ptr[pair.v]))];
        if (is_open(g, pair.u, pair.v))
            f->pairs[f->count++] = pair;
    }
}

/* Evidence and scores of the pairs from number `first` on. */
static int score_pairs(fit *f, int first, npgnn_error *err)
{
    const npi_applied *a = &f->p->applied;
    size_t columns = (size_t)f->e->plan.columns, at = (size_t)first * columns, count = (size_t)(f->count - first);
    float *evidence = f->evidence + at;
    int code = npi_columns_pairs(evidence, f->e, f->pairs + first, count, f->p->threads, err);
    if (code)
        return code;
    npi_process_standardize(evidence, a->process, a->columns.has_features, count);
    for (size_t i = 0; i < count; i++)
        f->score[(size_t)first + i] = npi_head_score(&a->head, evidence + i * columns);
    return 0;
}

/* The cosine of a term for u and v: the mean of both directions. */
static double term_value(const fit *f, const npi_bank_term *t, const real *pu, const real *pv)
{
    const npi_bank_layout *l = &f->map->layout;
    const npi_bank_block *left = &l->blocks[t->left], *right = &l->blocks[t->right];
    int width = f->e->bank[left->bank].width;
    const float *weight = t->weighting == NPI_PLAIN ? NULL : f->e->weight[t->weighting];
    double sum = 0;
    for (int c = 0; c < width; c++) {
        double both = (double)pu[left->first + c] * (double)pv[right->first + c];
        if (t->left != t->right)
            both = (both + (double)pv[left->first + c] * (double)pu[right->first + c]) / 2;
        sum += weight ? both * (double)(weight[c] / weight[0]) : both;
    }
    return sum;
}

static int solve(fit *f, npgnn_error *err)
{
    const npi_bank_layout *l = &f->map->layout;
    const npgnn_env *env = &f->p->env;
    int numbers = 1 + l->length_count, walks = f->use == NPI_VECTORS_SEARCH ? NPI_WALK_COLUMNS : 0;
    int size = l->term_count + numbers + walks + 1;
    double gram[MOST_TERMS * MOST_TERMS] = {0}, x[MOST_TERMS];
    real *p = npi_resize(env, NULL, 2 * (size_t)l->width, sizeof *p, err);
    if (!p)
        return NPGNN_E_MEMORY;
    memset(f->solution, 0, sizeof f->solution);
    for (int i = 0; i < f->count; i++) {
        const float *evidence = f->evidence + (size_t)i * (size_t)f->e->plan.columns;
        const real *pu = p, *pv = p + l->width;
        int k = 0;
        npi_bank_rows_fill(p, f->e, l, f->map, f->pairs[i].u);
        npi_bank_rows_fill(p + l->width, f->e, l, f->map, f->pairs[i].v);
        for (int t = 0; t < l->term_count; t++)
            x[k++] = term_value(f, &l->terms[t], pu, pv);
        for (int j = 0; j < numbers; j++)
            x[k++] = (double)pu[l->numbers + j] + (double)pv[l->numbers + j];
        for (int j = 0; j < walks; j++)
            x[k++] = (double)evidence[NPI_COLUMN_COMMON + j];
        x[k++] = 1;
        for (int r = 0; r < size; r++) {
            for (int c = 0; c < size; c++)
                gram[r * size + c] += x[r] * x[c];
            f->solution[r] += x[r] * (double)f->score[i];
        }
    }
    npi_free(env, p);
    for (int r = 0; r < size; r++)
        gram[r * size + r] += 1e-3 * f->count;
    npi_cholesky(gram, size, 1e-9);
    npi_cholesky_solve(f->solution, gram, size, 1);
    return 0;
}

/* M from the solution.
 *
 * A number t with weight b contributes b (t_u + t_v). That alone has one positive and one negative eigenvalue. A constant C in
 * the score changes no ranking, and C + b (t_u + t_v) = (C + b t_u) (C + b t_v) / C - b² t_u t_v / C: the larger C, the smaller
 * the negative part, which embeddings leave out. */
static void fill_form(fit *f)
{
    enum {
        CONSTANT = 4
    }; /* in units of |b|; AUC of links hidden in musae-ptbr: 90.0 with 0, 93.8 with 4, 94.3 with 16 */
    double square = 0;
    const npi_bank_layout *l = &f->map->layout;
    size_t width = (size_t)l->width;
    int one = l->width - 1;
    memset(f->form, 0, width * width * sizeof *f->form);
    for (int t = 0; t < l->term_count; t++) {
        const npi_bank_block *left = &l->blocks[l->terms[t].left], *right = &l->blocks[l->terms[t].right];
        npi_weighting weighting = l->terms[t].weighting;
        const float *weight = weighting == NPI_PLAIN ? NULL : f->e->weight[weighting];
        for (int c = 0; c < f->e->bank[left->bank].width; c++) {
            size_t i = (size_t)left->first + (size_t)c, j = (size_t)right->first + (size_t)c;
            double half = f->solution[t] / 2 * (weight ? (double)(weight[c] / weight[0]) : 1);
            f->form[i * width + j] += half;
            f->form[j * width + i] += half;
        }
    }
    for (int j = 0; j < 1 + l->length_count; j++) {
        size_t at = (size_t)l->numbers + (size_t)j;
        f->form[at * width + (size_t)one] += f->solution[l->term_count + j];
        f->form[(size_t)one * width + at] += f->solution[l->term_count + j];
        square += f->solution[l->term_count + j] * f->solution[l->term_count + j];
    }
    if (f->use == NPI_VECTORS_EMBED)
        f->form[(size_t)one * width + (size_t)one] = CONSTANT * sqrt(square);
}

/* ---- the closest form of low rank ---- */

/* form = Lᵀ M L, by way of `scratch` (D, D). L is lower triangular. */
static void whiten(double *form, double *scratch, const double *l, int width)
{
    size_t w = (size_t)width;
    for (size_t i = 0; i < w; i++) /* M L */
        for (size_t j = 0; j < w; j++)
            scratch[i * w + j] = 0;
    for (size_t i = 0; i < w; i++)
        for (size_t k = 0; k < w; k++) {
            double value = form[i * w + k];
            for (size_t j = 0; value != 0 && j <= k; j++)
                scratch[i * w + j] += value * l[k * w + j];
        }
    memset(form, 0, w * w * sizeof *form);
    for (size_t k = 0; k < w; k++)
        for (size_t i = 0; i <= k; i++) {
            double value = l[k * w + i];
            for (size_t j = 0; j < w; j++)
                form[i * w + j] += value * scratch[k * w + j];
        }
}

/* L (D, D), lower triangular, of Σ = pᵀ p / nodes. */
static void factor_moment(double *l, real *gram, const fit *f)
{
    enum { PART = 512 };
    const int width = f->map->layout.width;
    size_t w = (size_t)width;
    npi_blas_begin(1);
    for (int first = 0; first < f->sample; first += PART) {
        int count = f->sample - first < PART ? f->sample - first : PART;
        const real *rows = f->row + (size_t)first * w;
        npi_gemm(gram, width, rows, width, 1, rows, width, 0, width, width, count, (real)1 / (real)f->sample,
                 first > 0);
    }
    npi_blas_end(1);
    for (size_t i = 0; i < w; i++)
        for (size_t j = 0; j < w; j++)
            l[i * w + j] = ((double)gram[i * w + j] + (double)gram[j * w + i]) / 2 + (i == j ? 1e-5 : 0);
    npi_cholesky(l, width, 1e-6);
    for (size_t i = 0; i < w; i++) /* what is above the diagonal is not L */
        for (size_t j = i + 1; j < w; j++)
            l[i * w + j] = 0;
}

/* Chooses at most `most` eigenvalues, which are sorted by magnitude: for embeddings only positive ones. Returns how many. */
static int choose_values(int *chosen, const double *values, int count, int most, npi_vectors_use use)
{
    int kept = 0;
    for (int c = 0; c < count && kept < most; c++)
        if (use == NPI_VECTORS_SEARCH || values[c] > 0)
            chosen[kept++] = c;
    return kept;
}

static int decompose(npi_vectors *out, fit *f, npgnn_error *err)
{
    const npgnn_env *env = &f->p->env;
    const int width = f->map->layout.width, columns = width < SUBSPACE ? width : SUBSPACE;
    size_t w = (size_t)width;
    double values[SUBSPACE];
    int chosen[NPI_VECTOR_WIDTH];
    double *moment = npi_alloc(env, w * w, sizeof *moment, err);
    double *scratch = npi_alloc(env, w * w + npi_symmetric_leading_scratch(width, columns), sizeof *scratch, err);
    double *q = npi_alloc(env, w * SUBSPACE, sizeof *q, err);
    real *gram = npi_alloc(env, w * w, sizeof *gram, err);
    int code = moment && scratch && q && gram ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        npi_rng rng = npi_rng_make(f->p->seed, NPI_RNG_RETRIEVE, 1);
        factor_moment(moment, gram, f);
        whiten(f->form, scratch, moment, width);
        npi_symmetric_leading(values, q, f->form, width, columns, scratch, &rng);
    }
    int kept = code ? 0 : choose_values(chosen, values, columns, out->width, f->use);
    for (int r = 0; r < kept; r++) { /* weight = |Λ|^½ L⁻ᵀ g */
        const int at = chosen[r];
        out->sign[r] = values[at] < 0 ? -1 : 1;
        for (int i = width - 1; i >= 0; i--) {
            double rest = q[i * columns + at];
            for (int j = i + 1; j < width; j++)
                rest -= moment[(size_t)j * w + (size_t)i] * q[j * columns + at];
            q[i * columns + at] = rest / moment[(size_t)i * w + (size_t)i];
        }
        for (int i = 0; i < width; i++)
            f->map->weight[(size_t)r * w + (size_t)i] = (real)(sqrt(fabs(values[at])) * q[i * columns + at]);
    }
    npi_free(env, moment);
    npi_free(env, scratch);
    npi_free(env, q);
    npi_free(env, gram);
    return code;
}

/* ---- vectors ---- */

void npi_vectors_query(real *query, const npi_vectors *v, const npi_columns *e, int32_t node)
{
    const npi_bank_layout *l = &v->map->layout;
    if (node < v->n) {
        memcpy(query, v->row + (size_t)node * (size_t)v->width, (size_t)v->width * sizeof *query);
    } else {
        real p[NPI_MOST_BANK_WIDTH];
        npi_bank_rows_fill(p, e, l, v->map, node);
        npi_kernels_best()->row_products(&query, p, 1, v->map->weight, NULL, v->width, l->width, l->width);
    }
    for (int c = 0; c < v->width; c++)
        query[c] *= v->sign[c];
}

void npi_vectors_products(real *product, const npi_vectors *v, const real *query, const int32_t *list, int32_t count)
{
    const npi_kernels *kernels = npi_kernels_best();
    for (int32_t first = 0, last; first < count; first = last) { /* runs of nodes that have vectors */
        for (last = first; last < count && list[last] < v->n; last++)
            ;
        real *to = product + first;
        if (last > first)
            kernels->row_products(&to, query, 1, v->row, list + first, last - first, v->width, v->width);
        for (; last < count && list[last] >= v->n; last++)
            product[last] = 0;
    }
}

/* Adds pairs of the sample that the fit takes for links: what it has wrong there matters most. */
static int draw_hard(fit *f, const npi_vectors *v, npgnn_error *err)
{
    enum { EACH = SAMPLE_PAIRS / SEARCHED };
    const npgnn_env *env = &f->p->env;
    const npgnn_graph *g = f->p->graph;
    int searched = f->sample < SEARCHED ? f->sample : SEARCHED, width = v->width;
    real *row = npi_resize(env, NULL, (size_t)f->sample * (size_t)width, sizeof *row, err);
    int code = row ? npi_bank_rows_project(row, width, f->node, f->sample, v->map, f->p, err) : NPGNN_E_MEMORY;
    for (int i = 0; !code && i < searched; i++) {
        npi_candidate items[EACH];
        npi_shortlist best = {items, 0, EACH};
        for (int j = 0; j < f->sample; j++) {
            double sum = 0;
            for (int c = 0; c < width; c++)
                sum += (double)(v->sign[c] * row[i * width + c]) * (double)row[j * width + c];
            if ((best.count < EACH || sum > best.items[0].score) && is_open(g, f->node[i], f->node[j]))
                npi_shortlist_offer(&best, (npi_candidate){sum, 0, f->node[j]});
        }
        npi_shortlist_sort(&best);
        for (int j = 0; j < best.count; j++)
            f->pairs[f->count++] = (npgnn_pair){f->node[i], (int32_t)best.items[j].id};
    }
    npi_free(env, row);
    return code;
}

/* Numbers with mean 0 and deviation 1. */
static void standardize_numbers(fit *f)
{
    const npi_bank_layout *l = &f->map->layout;
    for (int j = 0; j < 1 + l->length_count; j++) {
        double sum = 0, square = 0;
        for (int i = 0; i < f->sample; i++) {
            double value = (double)f->row[(size_t)i * (size_t)l->width + (size_t)l->numbers + (size_t)j];
            sum += value;
            square += value * value;
        }
        double mean = sum / f->sample, variance = square / f->sample - mean * mean;
        f->map->offset[j] = mean;
        f->map->scale[j] = variance > 1e-12 ? 1 / sqrt(variance) : 0;
        for (int i = 0; i < f->sample; i++) {
            real *value = f->row + (size_t)i * (size_t)l->width + (size_t)(l->numbers + j);
            *value = (real)(((double)*value - mean) * f->map->scale[j]);
        }
    }
}

static int fit_new(fit *f, const npgnn_predictor *p, npi_vectors_use use, npi_vector_map *map, npgnn_error *err)
{
    const npgnn_env *env = &p->env;
    size_t columns = (size_t)p->applied.columns.plan.columns, width = (size_t)map->layout.width;
    enum { MOST = 3 * SAMPLE_PAIRS };
    *f = (fit){.p = p, .e = &p->applied.columns, .map = map, .use = use};
    f->sample = p->graph->n < SAMPLE_NODES ? p->graph->n : SAMPLE_NODES;
    f->pairs = npi_resize(env, NULL, MOST, sizeof *f->pairs, err);
    f->evidence = npi_resize(env, NULL, MOST * columns, sizeof *f->evidence, err);
    f->score = npi_resize(env, NULL, MOST, sizeof *f->score, err);
    f->node = npi_resize(env, NULL, (size_t)f->sample, sizeof *f->node, err);
    f->row = npi_resize(env, NULL, (size_t)f->sample * width, sizeof *f->row, err);
    f->form = npi_resize(env, NULL, width * width, sizeof *f->form, err);
    return f->pairs && f->evidence && f->score && f->node && f->row && f->form ? 0 : NPGNN_E_MEMORY;
}

static void fit_free(fit *f)
{
    const npgnn_env *env = &f->p->env;
    npi_free(env, f->pairs);
    npi_free(env, f->evidence);
    npi_free(env, f->score);
    npi_free(env, f->node);
    npi_free(env, f->row);
    npi_free(env, f->form);
}

/* Different random nodes. */
static int draw_nodes(fit *f, npi_rng *rng, npgnn_error *err)
{
    int32_t n = f->p->graph->n;
    int64_t *order = npi_resize(&f->p->env, NULL, (size_t)n, sizeof *order, err);
    if (!order)
        return NPGNN_E_MEMORY;
    npi_rng_permutation(order, n, rng);
    for (int i = 0; i < f->sample; i++) {
        f->node[i] = (int32_t)order[i];
        npi_bank_rows_fill(f->row + (size_t)i * (size_t)f->map->layout.width, f->e, &f->map->layout, NULL, f->node[i]);
    }
    npi_free(&f->p->env, order);
    return 0;
}

int npi_vectors_new(npi_vectors *out, const npgnn_predictor *p, npi_vectors_use use, npgnn_error *err)
{
    const npgnn_env *env = &p->env;
    npi_rng rng = npi_rng_make(p->seed, NPI_RNG_RETRIEVE, 0);
    *out = (npi_vectors){.n = p->graph->n};
    fit f = {.p = p};
    npi_vector_map *map = out->map = npi_alloc(env, 1, sizeof *map, err);
    int code = map ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        npi_bank_layout_make(&map->layout, &p->applied.columns);
        out->width = map->layout.width - 1 < NPI_VECTOR_WIDTH ? map->layout.width - 1 : NPI_VECTOR_WIDTH;
        map->weight = npi_alloc(env, (size_t)out->width * (size_t)map->layout.width, sizeof *map->weight, err);
        out->row = npi_resize(env, NULL, (size_t)out->n * (size_t)out->width, sizeof *out->row, err);
        code = map->weight && out->row ? fit_new(&f, p, use, map, err) : NPGNN_E_MEMORY;
    }
    if (!code)
        code = draw_nodes(&f, &rng, err);
    if (!code) {
        standardize_numbers(&f);
        draw_pairs(&f, &rng);
    }
    const int rounds = use == NPI_VECTORS_SEARCH ? 2 : 1; /* for embeddings, hard pairs do not change the AUC */
    for (int round = 0; !code && round < rounds; round++) {
        int first = round == 0 ? 0 : f.count;
        if (round > 0)
            code = draw_hard(&f, out, err);
        if (!code)
            code = score_pairs(&f, first, err);
        if (!code)
            code = solve(&f, err);
        if (code)
            break;
        fill_form(&f);
        code = decompose(out, &f, err);
    }
    if (!code)
        code = npi_bank_rows_project(out->row, out->width, NULL, out->n, map, p, err);
    for (int j = 0; !code && use == NPI_VECTORS_SEARCH && j < NPI_WALK_COLUMNS; j++)
        out->walks[j] = (real)(f.solution[map->layout.term_count + 1 + map->layout.length_count + j] /
                               (double)p->applied.process->deviation[NPI_COLUMN_COMMON + j]);
    fit_free(&f);
    if (code)
        npi_vectors_free(env, out);
    return code;
}

void npi_vectors_free(const npgnn_env *env, npi_vectors *v)
{
    if (v->map)
        npi_free(env, v->map->weight);
    npi_free(env, v->map);
    npi_free(env, v->row);
    memset(v, 0, sizeof *v);
}
