/* Scores u_i · u_j of embeddings: a block of nodes meets all nodes in one product of matrices, whose sums are in
 * float and in BLAS's order. With draws of z there is one product per draw, and the largest score of a pair stands
 * for all. */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "linalg/dense.h"
#include "model/score.h"
#include "search/scorer.h"

#define BLOCK_BYTES (8 << 20) /* that the values of a block may take, */
#define LEAST_BLOCK 16        /* but below so many nodes a product is mostly the fetching of U */

typedef struct workspace {
    real *picked; /* (block, k) the embeddings of the block */
    real *score;  /* (block, n) of one draw; NULL without draws */
} workspace;

static double length(const real *u, int k)
{
    double square = 0;
    for (int c = 0; c < k; c++)
        square += (double)u[c] * (double)u[c];
    return sqrt(square);
}

static int draws_of(const npi_scorer *s)
{
    return s->p->samples > 0 ? s->p->samples : 1;
}

static const real *embeddings(const npi_scorer *s, int draw)
{
    size_t cells = (size_t)s->candidates * (size_t)s->p->model->params.size.k;
    return s->drawn ? s->drawn + (size_t)draw * cells : s->p->embedder.u;
}

static void workspace_free(void *given, const npi_scorer *s)
{
    workspace *w = given;
    if (w) {
        npi_free(&s->p->env, w->picked);
        npi_free(&s->p->env, w->score);
    }
    npi_free(&s->p->env, w);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t block = (size_t)s->block, k = (size_t)s->p->model->params.size.k;
    workspace *w = *out = npi_alloc(env, 1, sizeof *w, err);
    if (!w)
        return NPGNN_E_MEMORY;
    w->picked = npi_resize(env, NULL, block * k, sizeof *w->picked, err);
    if (s->p->samples > 0)
        w->score = npi_resize(env, NULL, block * (size_t)s->candidates, sizeof *w->score, err);
    return w->picked && (w->score || s->p->samples == 0) ? 0 : NPGNN_E_MEMORY;
}

static real magnitude(real x)
{
    return x < 0 ? -x : x;
}

/* The largest magnitude, in lanes of its own each, which compilers turn into vectors. */
static real largest_of(const real *x, int32_t count)
{
    enum { LANES = 16 };
    real lane[LANES] = {0}, largest = 0;
    int32_t whole = count - count % LANES;
    for (int32_t first = 0; first < whole; first += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = magnitude(x[first + l]) > lane[l] ? magnitude(x[first + l]) : lane[l];
    for (int32_t i = whole; i < count; i++)
        largest = magnitude(x[i]) > largest ? magnitude(x[i]) : largest;
    for (int l = 0; l < LANES; l++)
        largest = lane[l] > largest ? lane[l] : largest;
    return largest;
}

/* A bound of the error of a row of scores: a rounding error for every term of a product of embeddings, and a few more,
 * each of at most the float's unit of the largest number in sight; and all of it twice, since a bound may be
 * generous. `product`: the product of the lengths of the two longest embeddings. */
static double slack_of(const npi_scorer *s, const real *score, double product)
{
    int terms = s->p->model->params.size.k + 32; /* FLT_EPSILON = 2 ε: δ in docs/use/predict.md */
    return terms * (double)FLT_EPSILON * (product + (double)largest_of(score, s->candidates)) + (double)FLT_MIN;
}

/* score (block, n) = U_block Uᵀ of one draw */
static void score_draw(real *score, npi_block *block, workspace *w, const npi_scorer *s, int draw)
{
    int k = s->p->model->params.size.k;
    int32_t n = s->candidates;
    const real *u = embeddings(s, draw);
    /* picked (count, k): the rows of the searched nodes */
    for (int r = 0; r < block->count; r++)
        memcpy(w->picked + r * k, u + (size_t)block->node[r] * (size_t)k, (size_t)k * sizeof *u);
    npi_gemm(score, n, w->picked, k, 0, u, k, 1, block->count, n, k, 1, 0);
    for (int r = 0; r < block->count; r++) {
        /* bounds |u_r · u_j| for all j */
        double product = length(w->picked + r * k, k) * s->longest[draw];
        double slack = slack_of(s, score + (size_t)r * (size_t)n, product);
        /* the largest over the draws; a NaN stays */
        block->slack[r] = draw == 0 || !(slack <= block->slack[r]) ? slack : block->slack[r];
    }
}

static void approximate(npi_block *block, void *workspace_of_thread, const npi_scorer *s, int32_t begin, int32_t end)
{
    workspace *w = workspace_of_thread;
    size_t cells = (size_t)block->count * (size_t)s->candidates;
    (void)begin, (void)end;                       /* all of them */
    memset(block->along, 0, sizeof block->along); /* the bound is the same for all candidates */
    score_draw(block->value, block, w, s, 0);
    for (int draw = 1; draw < draws_of(s); draw++) {
        score_draw(w->score, block, w, s, draw);
        for (size_t i = 0; i < cells; i++) /* value = max over the draws */
            block->value[i] = w->score[i] > block->value[i] ? w->score[i] : block->value[i];
    }
}

static npgnn_prediction judge(void *workspace_of_thread, const npi_scorer *s, npgnn_pair pair, npgnn_pair place)
{
    const npgnn_predictor *p = s->p;
    float score = 0;
    npi_sums sums = {0};
    (void)workspace_of_thread, (void)place;
    /* in the order of the draws, as npi_network_score adds them: the same bits */
    for (int draw = 0; draw < draws_of(s); draw++) {
        score = npi_score_pair(embeddings(s, draw), p->model->params.size.k, pair);
        if (s->drawn)
            npi_sums_add(&sums, &p->calibration, score);
    }
    return s->drawn ? npi_prediction_mean(&sums, draws_of(s)) : npi_prediction_of(&p->calibration, score);
}

static void scorer_free(npi_scorer *s)
{
    npi_free(&s->p->env, s->drawn);
    npi_free(&s->p->env, s->longest);
}

/* The embeddings of all draws, side by side: a block of pairs needs them all at once. */
static int decode(npi_scorer *s, npgnn_error *err)
{
    npgnn_predictor *p = s->p;
    npi_embedder embedder = {0};
    int k = p->model->params.size.k;
    size_t cells = (size_t)s->candidates * (size_t)k;
    s->longest = npi_alloc(&p->env, (size_t)draws_of(s), sizeof *s->longest, err);
    if (p->samples > 0)
        s->drawn = npi_alloc(&p->env, (size_t)draws_of(s), cells * sizeof *s->drawn, err);
    if (!s->longest || (p->samples > 0 && !s->drawn))
        return NPGNN_E_MEMORY;
    if (p->samples > 0 && npi_embedder_share(&embedder, p->model->params.size, &p->embedder, &p->env, err))
        return NPGNN_E_MEMORY;
    for (int draw = 0; draw < draws_of(s); draw++) {
        if (p->samples > 0) {
            int code = npi_predictor_decode(&embedder, p, draw, err);
            if (code) {
                npi_embedder_free(&p->env, &embedder);
                return code;
            }
            memcpy(s->drawn + (size_t)draw * cells, embedder.u, cells * sizeof *s->drawn);
        }
        for (int32_t i = 0; i < s->candidates; i++)
            s->longest[draw] = fmax(s->longest[draw], length(embeddings(s, draw) + (size_t)i * (size_t)k, k));
    }
    npi_embedder_free(&p->env, &embedder);
    return 0;
}

int npi_network_scorer(npi_scorer *out, npgnn_predictor *p, const npi_scorer_use *use, npgnn_error *err)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .approximate = approximate,
                                         .judge = judge,
                                         .free = scorer_free,
                                         .uses_blas = 1};
    int32_t n = p->graph->n;
    size_t fit = BLOCK_BYTES / sizeof(real) / ((size_t)n + 1); /* rows of n scores; n may be 0 */
    *out = (npi_scorer){.kind = &kind, .p = p, .candidates = n, .band = NPI_MODEL_BAND, .is_exact_value = 1};
    out->block = fit < LEAST_BLOCK ? LEAST_BLOCK : fit > NPI_MOST_BLOCK ? NPI_MOST_BLOCK : (int)fit;
    out->block = out->block > use->nodes ? use->nodes : out->block;
    assert(use->nodes > 0);
    return decode(out, err);
}
