/* Scores of a process: the evidence of a block of nodes with a range of nodes, column by column, and its heads. */
#include <assert.h>
#include <string.h>

#include "search/scorer.h"

#define BLOCK_BYTES (64 << 20) /* that the walks of a block may take, */
#define LEAST_BLOCK 4          /* but below so many nodes a product is mostly copying, */
#define MOST_BLOCK 64          /* and above so many it gains nothing */

int npi_process_workspace_fill(npi_process_workspace *w, const npi_scorer *s, npgnn_error *err)
{
    const npi_columns *columns = &s->p->applied.columns;
    const npgnn_env *env = &s->p->env;
    int heads, is_bounded = s->kind->narrow != NULL;
    npi_predictor_heads(&heads, s->p);
    if (npi_columns_workspace_take(&w->columns, columns, s->block, err))
        return NPGNN_E_MEMORY;
    size_t cells = (size_t)s->block * (size_t)w->columns.range;
    w->evidence = npi_resize(env, NULL, cells * (size_t)columns->plan.columns, sizeof *w->evidence, err);
    /* a bounded search also scores its queue, of up to two ranges */
    w->score = npi_resize(env, NULL, is_bounded ? 2 * cells : cells, sizeof *w->score, err);
    w->along = npi_resize(env, NULL, (size_t)heads * (size_t)s->block, sizeof *w->along, err);
    return w->evidence && w->score && w->along ? 0 : NPGNN_E_MEMORY;
}

void npi_process_workspace_clear(npi_process_workspace *w, const npi_scorer *s)
{
    const npgnn_env *env = &s->p->env;
    npi_columns_workspace_give(&s->p->applied.columns, &w->columns);
    npi_free(env, w->evidence);
    npi_free(env, w->score);
    npi_free(env, w->along);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    *out = npi_alloc(&s->p->env, 1, sizeof(npi_process_workspace), err);
    return *out ? npi_process_workspace_fill(*out, s, err) : NPGNN_E_MEMORY;
}

static void workspace_free(void *workspace, const npi_scorer *s)
{
    if (workspace)
        npi_process_workspace_clear(workspace, s);
    npi_free(&s->p->env, workspace);
}

/* value (block, candidates): with draws, the largest of each pair. Weighted products are the columns whose rounding
 * depends on the pair: what it may add to a score is added, unless values are to be scores. */
static void approximate(npi_block *block, void *workspace, const npi_scorer *s, int32_t begin, int32_t end)
{
    npi_process_workspace *w = workspace;
    const npi_applied *a = &s->p->applied;
    int heads, count = block->count;
    const npi_head *head = npi_predictor_heads(&heads, s->p);
    const float *reach = npi_columns_reach(&a->columns);
    npi_columns_rows_begin(&w->columns, &a->columns, block->node, block->place, count);
    /* along (heads, count): per unit of a candidate's reach */
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < count; r++)
            w->along[h * count + r] =
                s->is_exact_value ? 0 : (real)npi_applied_error_along(a, &s->slopes[h], block->place[r], 0);
    for (int32_t first = begin; first < end; first += w->columns.range) {
        int32_t last = end - first < w->columns.range ? end : first + w->columns.range, range = last - first;
        int cells = count * range;
        /* evidence (columns, count, range), the same for all heads */
        npi_columns_rows(w->evidence, &w->columns, &a->columns, first, last);
        npi_process_standardize_columns(w->evidence, a->process, a->columns.has_features, (size_t)cells);
        for (int h = 0; h < heads; h++) {
            npi_head_scores_of_columns(w->score, &head[h], w->evidence, cells, cells);
            for (int r = 0; r < count; r++) {
                real *value = block->value + (size_t)r * (size_t)s->candidates + (size_t)first;
                const real *score = w->score + r * range;
                real along = w->along[h * count + r];
                for (int32_t j = 0; j < range; j++) {
                    /* no score of the pair exceeds score + along reach + slack */
                    real upper = score[j] + along * (real)reach[first + j];
                    value[j] = h > 0 && upper < value[j] ? value[j] : upper; /* a NaN stays */
                }
            }
        }
    }
    for (int r = 0; r < count; r++) {
        block->along[r] = 2 * (double)w->along[r]; /* once up, once down: a value has it already */
        block->slack[r] = 0;
        for (int h = 0; h < heads; h++)
            block->slack[r] = fmax(block->slack[r], s->score_error[h]);
    }
}

npgnn_prediction npi_process_judge(void *workspace, const npi_scorer *s, npgnn_pair pair, npgnn_pair place)
{
    npi_process_workspace *w = workspace;
    const npgnn_predictor *p = s->p;
    float evidence[NPI_ALL_COLUMNS], score = 0;
    npi_sums sums = {0};
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    npi_columns_pair_at(evidence, &w->columns, &p->applied.columns, pair, place);
    npi_process_standardize(evidence, p->applied.process, p->applied.columns.has_features, 1);
    for (int h = 0; h < heads; h++) {
        score = npi_head_score(&head[h], evidence);
        npi_sums_add(&sums, npi_predictor_calibration(p, h), score);
    }
    return p->samples > 0 ? npi_prediction_mean(&sums, heads) : npi_prediction_of(&p->calibration, score);
}

void npi_process_scorer_free(npi_scorer *s)
{
    npi_free(&s->p->env, s->slopes);
    npi_free(&s->p->env, s->score_error);
}

int npi_process_scorer(npi_scorer *out, npgnn_predictor *p, const npi_scorer_use *use, npgnn_error *err)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .approximate = approximate,
                                         .judge = npi_process_judge,
                                         .free = npi_process_scorer_free,
                                         .uses_blas = 1};
    const npi_columns *columns = &p->applied.columns;
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    assert(use->nodes > 0);
    if (use->candidates > 0)
        return npi_scorer_retrieved(out, p, use, err);
    if (use->nodes == 1 && use->is_each_node && p->samples == 0 && p->applied.bound.block)
        return npi_scorer_bounded(out, p, err);
    /* 2 · 4 + 3 · 8 bytes of walks per node, 8 of the overlap of features, and its scores */
    size_t fit = BLOCK_BYTES / (40 + sizeof(real)) / ((size_t)p->graph->n + 1);
    *out = (npi_scorer){.kind = &kind,
                        .p = p,
                        .candidates = columns->rows.comm ? columns->rows.to - columns->rows.from : p->graph->n,
                        .band = NPI_MODEL_BAND,
                        .is_symmetric = 1,
                        .is_exact_value = use->is_exact_value};
    out->block = fit < LEAST_BLOCK ? LEAST_BLOCK : fit > MOST_BLOCK ? MOST_BLOCK : (int)fit;
    out->block =
        out->block > use->nodes ? use->nodes : out->block; /* few nodes meet as many at a time as a block would */
    out->slopes = npi_alloc(&p->env, (size_t)heads, sizeof *out->slopes, err);
    out->score_error = npi_alloc(&p->env, (size_t)heads, sizeof *out->score_error, err);
    if (!out->slopes || !out->score_error)
        return NPGNN_E_MEMORY;
    for (int h = 0; h < heads; h++) {
        npi_head_slopes(&out->slopes[h], &head[h]);
        out->score_error[h] = npi_applied_error(&p->applied, &head[h], &out->slopes[h], 0);
    }
    return 0;
}
