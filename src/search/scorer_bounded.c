/* One node with all nodes, by a process that npi_applied_prepare_bounds has prepared. Nodes that two steps reach, most
 * of the best among them, are scored first. For all others, a first look at rounded rows gives the evidence, up to an
 * error, and four bounds of the score, each closer and dearer than the one before: those of two boxes, of more boxes,
 * of a smaller network (process/bound.h), and the head itself. A node is scored if all of them reach what the best so
 * far are sure to have. */
#include <string.h>

#include "search/search.h"

enum {
    BOX_NODES = 256, /* decide which boxes of a bound are worth their cost, and which come first, */
    FIRST_BOXES = 2, /* and how many of them all nodes are compared with */
    OWN_BOXES = 2,   /* that a search may make for its own nodes */
    MOST_BOXES = NPI_BOUND_BOXES + OWN_BOXES
};

typedef struct workspace {
    npi_process_workspace process; /* first, since npi_process_judge takes it for the whole */
    real *error;                   /* (columns.range) what rounding may add to the scores of a range */
    npi_pieces made[OWN_BOXES];    /* bounds of boxes around nodes of this search, where the head's are not close */
    const npi_pieces *boxes[MOST_BOXES]; /* (box_count) the bounds to use: first what leaves over the fewest nodes */
    int box_count;                       /* 0: not chosen yet */
    int32_t *over;         /* (2 columns.range) nodes of a range, or of the queue, that a bound leaves over */
    int32_t *queue;        /* (2 columns.range) nodes that the bound of a box leaves over, */
    int queued;            /* so many, */
    real *apart;           /* (2 columns.range) what rounding may add to their scores, */
    real *evidence;        /* (columns, queue_stride) and their evidence */
    unsigned char *scored; /* (n) 1 for nodes that were scored before all others */
} workspace;

/* Numbers from one column of the queue to the next: the columns of one node must not fall into the same few lines of a
 * cache. */
static int queue_stride(const workspace *w)
{
    return 2 * w->process.columns.range + 16;
}

static void workspace_free(void *given, const npi_scorer *s)
{
    const npgnn_env *env = &s->p->env;
    workspace *w = given;
    if (!w)
        return;
    npi_process_workspace_clear(&w->process, s);
    npi_free(env, w->error);
    npi_free(env, w->over);
    npi_free(env, w->queue);
    npi_free(env, w->apart);
    npi_free(env, w->evidence);
    npi_free(env, w->scored);
    npi_free(env, w);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    const npgnn_env *env = &s->p->env;
    size_t columns = (size_t)s->p->applied.columns.plan.columns;
    workspace *w = *out = npi_alloc(env, 1, sizeof *w, err);
    int code = w ? npi_process_workspace_fill(&w->process, s, err) : NPGNN_E_MEMORY;
    if (code)
        return code;
    /* the queue holds up to a range when the nodes of another one are added */
    size_t range = (size_t)w->process.columns.range;
    w->error = npi_resize(env, NULL, range, sizeof *w->error, err);
    w->over = npi_resize(env, NULL, 2 * range + NPI_KEPT_MORE, sizeof *w->over, err);
    w->queue = npi_resize(env, NULL, 2 * range, sizeof *w->queue, err);
    w->apart = npi_resize(env, NULL, 2 * range, sizeof *w->apart, err);
    w->evidence = npi_resize(env, NULL, (size_t)queue_stride(w) * columns, sizeof *w->evidence, err);
    w->scored = npi_alloc(env, (size_t)s->candidates, sizeof *w->scored, err);
    return w->error && w->over && w->queue && w->apart && w->evidence && w->scored ? 0 : NPGNN_E_MEMORY;
}

/* ---- candidates ---- */

/* Lower bound of the k-th best score; -∞ until k pairs have been scored. */
static real least_sure(const npi_shortlist *sure)
{
    return sure->count < sure->capacity ? -(real)INFINITY : (real)sure->items[0].score;
}

/* Scores the searched node with the nodes of `list` (count). They become candidates, with upper bounds of their scores
 * as values; their lower bounds are offered to the searcher's list. along: what rounding may add, per unit of reach. */
static void score_candidates(int32_t *candidates, npi_searcher *d, const npi_search *s, const int32_t *list, int count,
                             double along)
{
    npi_process_workspace *w = d->workspace;
    const npi_applied *a = &s->p->applied;
    npi_shortlist *sure = &d->list;
    for (int first = 0; first < count; first += w->columns.range) {
        int some = count - first < w->columns.range ? count - first : w->columns.range;
        /* from the rows themselves: rounded rows have only told which nodes are worth it */
        npi_columns_list(w->evidence, &w->columns, &a->columns, list + first, some);
        npi_process_standardize_columns(w->evidence, a->process, a->columns.has_features, (size_t)some);
        npi_head_scores_of_columns(w->score, &a->head, w->evidence, some, some);
        for (int i = 0; i < some; i++) {
            int32_t v = list[first + i];
            /* score - apart - slack <= s(u, v) <= score + apart + slack */
            double apart = along * npi_scorer_reach(&s->scorer, v);
            double surely = (double)w->score[i] - apart - d->block.slack[0];
            d->candidate[*candidates] = v;
            d->block.value[(*candidates)++] = (real)((double)w->score[i] + apart);
            if ((sure->count < sure->capacity || surely > sure->items[0].score) && !isnan(surely))
                npi_shortlist_offer(sure, (npi_candidate){surely, 0, v});
        }
    }
}

/* ---- boxes ---- */

/* Bounds of the head that are close for the evidence of a range (columns, count): of a box around nodes that walks of
 * three or four steps reach, and of one around the others. Returns how many there are. */
static int make_boxes(npi_pieces boxes[OWN_BOXES], const npi_applied *a, const real *evidence, int count)
{
    /* deviations from the mean: wider boxes have looser bounds, of narrower ones more nodes are outside */
    const double WIDTH = 1.4;
    const ptrdiff_t stride = count; /* from one column to the next; of the nodes, BOX_NODES at most are looked at */
    const real *lift3 = evidence + (size_t)NPI_COLUMN_LIFT3 * (size_t)count, *lift4 = lift3 + count;
    double low[2][NPI_ALL_COLUMNS], high[2][NPI_ALL_COLUMNS]; /* (boxes, columns): 0 not reached, 1 reached */
    int members[2] = {0, 0}, made = 0;
    unsigned char reached[BOX_NODES];
    real none3 = lift3[0], none4 = lift4[0]; /* the least is that of no walk */
    count = count < BOX_NODES ? count : BOX_NODES;
    for (int i = 1; i < count; i++) {
        none3 = lift3[i] < none3 ? lift3[i] : none3;
        none4 = lift4[i] < none4 ? lift4[i] : none4;
    }
    for (int i = 0; i < count; i++)
        members[reached[i] = lift3[i] > none3 || lift4[i] > none4]++; /* reached: 0 or 1, which box the node is in */
    for (int c = 0; c < a->columns.plan.columns; c++) {
        const real *column = evidence + c * stride;
        double sum[2] = {0, 0}, square[2] = {0, 0};
        for (int i = 0; i < count; i++) {
            sum[reached[i]] += (double)column[i];
            square[reached[i]] += (double)column[i] * (double)column[i];
        }
        for (int r = 0; r < 2; r++) {
            /* the box: mean ± WIDTH deviations in each column */
            double mean = members[r] > 0 ? sum[r] / members[r] : 0;
            /* variance = mean of the squares - square of the mean; rounding may leave less than 0 */
            double spread = members[r] > 0 ? square[r] / members[r] - mean * mean : 0;
            spread = spread > 0 ? WIDTH * sqrt(spread) : 0;
            low[r][c] = mean - spread;
            high[r][c] = mean + spread;
        }
    }
    for (int r = 0; r < 2; r++)
        if (members[r] > 0)
            npi_head_box(&boxes[made++], &a->head, &a->bound.slopes, low[r], high[r]);
    return made;
}

/* Chooses boxes by how many of the first nodes of a range they leave over: first the box that leaves over the fewest,
 * then that which leaves over the fewest of these, and so on, as long as a box costs less than what it saves. Where the
 * boxes of the bound leave over nearly all, as of a node that has no links yet, boxes are made for these nodes, too. */
static void choose_boxes(workspace *w, const npi_applied *a, int range, real least)
{
    enum { WORTH = 16 }; /* the smaller network, which comes after the boxes, costs so many times as much as a box */
    unsigned char over[MOST_BOXES][BOX_NODES]; /* 1: the bound of a box does not rule the node out */
    unsigned char left[BOX_NODES];             /* 1: none of the boxes so far does */
    const npi_pieces *boxes[MOST_BOXES];
    int count = range < BOX_NODES ? range : BOX_NODES, known = a->bound.box_count, all = known, many = 0, compared = 0;
    memset(left, 1, sizeof left);
    for (int b = 0; b < all; b++) {
        boxes[b] = b < known ? &a->bound.boxes[b] : &w->made[b - known];
        npi_kernels_best()->piecewise_columns(w->process.score, w->process.evidence, range, count, &boxes[b], 1);
        for (int j = 0; j < count; j++) {
            over[b][j] = !(w->process.score[j] + w->error[j] < least); /* `!(<)`: a NaN is left over */
            left[j] &= over[b][j];
        }
        if (b == known - 1) { /* the boxes of the bound are done: whether this search needs its own */
            for (int j = 0; j < count; j++)
                many += left[j];
            all += many > count * 3 / 4 ? make_boxes(w->made, a, w->process.evidence, range) : 0;
        }
    }
    /* greedily: the box that leaves over the fewest of what is left */
    memset(left, 1, sizeof left);
    many = compared = count;
    for (w->box_count = 0; w->box_count < all;) {
        int best = 0, fewest = count + 1;
        for (int b = 0; b < all; b++) {
            int both = 0;
            for (int j = 0; j < count; j++)
                both += left[j] & over[b][j];
            if (both < fewest) {
                best = b;
                fewest = both;
            }
        }
        /* a box costs 1 per node that it is compared with, and saves WORTH per node that it rules out */
        if (w->box_count > 0 && (many - fewest) * WORTH <= compared)
            break;
        w->boxes[w->box_count++] = boxes[best];
        for (int j = 0; j < count; j++)
            left[j] &= over[best][j];
        many = fewest;
        /* the first boxes are compared with all nodes, the others with the queue, which is what the first ones leave */
        compared = w->box_count < FIRST_BOXES ? count : w->box_count == FIRST_BOXES ? many : compared;
    }
}

/* ---- the search ---- */

/* Scores the nodes of the queue, as far as closer bounds leave them over: first those of the other boxes, then that of
 * the smaller network, then the head itself. */
static void empty_queue(int32_t *candidates, npi_searcher *d, const npi_search *s, double along)
{
    workspace *w = d->workspace;
    real *score = w->process.score;
    const npi_applied *a = &s->p->applied;
    const npi_kernels *kernels = npi_kernels_best();
    int stride = queue_stride(w), left = w->queued;
    real least = least_sure(&d->list);
    /* bound 0, 1, 2: the other boxes, if there are any, the smaller network, the head */
    for (int bound = w->box_count > FIRST_BOXES ? 0 : 1; bound < 3; bound++) {
        int count = left;
        if (bound == 0) /* score = an upper bound, closer from step to step */
            kernels->piecewise_columns(score, w->evidence, stride, count, w->boxes + FIRST_BOXES,
                                       w->box_count - FIRST_BOXES);
        else if (bound == 1)
            kernels->network_columns(score, w->evidence, stride, count, &a->bound.net);
        else
            npi_head_scores_of_columns(score, &a->head, w->evidence, stride, count);
        /* in place; after the last bound nobody reads the evidence again, and no column is moved */
        left = (int)kernels->keep_columns(w->over, w->evidence, stride, w->evidence, stride,
                                          bound < 2 ? a->columns.plan.columns : 0, score, w->apart, least, count);
        for (int i = 0; i < left; i++) { /* over ascends: nothing is overwritten before it is read */
            w->queue[i] = w->queue[w->over[i]];
            w->apart[i] = w->apart[w->over[i]];
        }
    }
    /* whether a pair is asked for takes a search among links: not before so few are left */
    int asked_for = 0;
    for (int i = 0; i < left; i++)
        if (!w->scored[w->queue[i]] && npi_search_eligible(s, d->block.node[0], w->queue[i]))
            w->queue[asked_for++] = w->queue[i];
    score_candidates(candidates, d, s, w->queue, asked_for, along);
    w->queued = 0;
}

static real narrow(int32_t *count, npi_searcher *d, const npi_search *s)
{
    enum { SEEDS = 256, MOST_CHOICES = 3 };
    const npi_applied *a = &s->p->applied;
    const npi_slopes *slopes = s->scorer.slopes;
    workspace *w = d->workspace;
    npi_columns_workspace *columns = &w->process.columns;
    real *evidence = w->process.evidence, *score = w->process.score;
    const float *reach = npi_columns_reach(&a->columns);
    int32_t u = d->block.node[0];
    double along = npi_applied_error_along(a, slopes, u, 0), weight[NPI_ALL_COLUMNS];
    npi_shortlist *sure = &d->list; /* lower bounds of scores; empty before and after */
    d->block.slack[0] = s->scorer.score_error[0];
    *count = 0;
    npi_columns_rows_begin(columns, &a->columns, d->block.node, d->block.place, 1);
    const npi_walker *walker = &columns->walker;
    /* Seeds, of what two steps reach: the bounds rule out most once k good scores are known. The marks stay, since a
     * bounded search has one node. */
    int seeds = 0;
    for (int32_t i = 0; i < walker->count && seeds < SEEDS && seeds < columns->range; i++)
        if (npi_search_eligible(s, u, walker->reached[i])) {
            w->queue[seeds++] = walker->reached[i];
            w->scored[walker->reached[i]] = 1;
        }
    score_candidates(count, d, s, w->queue, seeds, along);

    /* |∂score / ∂column| <= slope / deviation: the head sees standardised columns */
    for (int c = 0; c < a->columns.plan.columns; c++)
        weight[c] = slopes->column[c] / (double)a->process->deviation[c];
    npi_columns_rounded_begin(columns, &a->columns, weight);
    /* error_j: what rounded rows add (npi_columns_rounded) + rounded · reach_j (weighted products) + slack (the
     * rest) */
    real slack = (real)npi_applied_error(a, &a->head, slopes, 1);
    real rounded = (real)npi_applied_error_along(a, slopes, u, 1);
    int chosen = 0, stride = queue_stride(w);
    w->box_count = 0;
    for (int32_t first = 0; first < s->n; first += columns->range) {
        int32_t last = s->n - first < columns->range ? s->n : first + columns->range, range = last - first;
        npi_columns_rounded(evidence, w->error, columns, &a->columns, first, last);
        npi_process_standardize_columns(evidence, a->process, a->columns.has_features, (size_t)range);
        for (int32_t j = 0; j < range; j++)
            w->error[j] += rounded * (real)reach[first + j] + slack;
        real least = least_sure(sure);
        if (w->box_count == 0 && least > -(real)INFINITY) { /* there is something to rule nodes out with */
            choose_boxes(w, a, range, least);
            chosen++;
        }
        if (w->box_count > 0)
            npi_kernels_best()->piecewise_columns(score, evidence, range, range, w->boxes,
                                                  w->box_count < FIRST_BOXES ? w->box_count : FIRST_BOXES);
        else
            memset(score, 0, (size_t)range * sizeof *score); /* all are left over: `least` is infinite */
        int left = (int)npi_kernels_best()->keep_columns(w->over, w->evidence + w->queued, stride, evidence, range,
                                                         a->columns.plan.columns, score, w->error, least, range);
        for (int i = 0; i < left; i++) {
            w->queue[w->queued + i] = first + w->over[i];
            w->apart[w->queued + i] = w->error[w->over[i]];
        }
        w->queued += left;
        /* the boxes are not close for nodes like these: the next range chooses anew */
        if (left > range / 2 && chosen < MOST_CHOICES)
            w->box_count = 0;
        /* not for every range: the bounds of the queue cost less per node where many are compared at once */
        if (w->queued > columns->range || last == s->n)
            empty_queue(count, d, s, along);
    }
    real least = npi_search_least_value(s, sure, d->block.slack[0]);
    sure->count = 0; /* bounds: the list is for judged pairs from here on */
    return least;
}

int npi_scorer_bounded(npi_scorer *out, npgnn_predictor *p, npgnn_error *err)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .judge = npi_process_judge,
                                         .narrow = narrow,
                                         .free = npi_process_scorer_free};
    *out = (npi_scorer){.kind = &kind, .p = p, .candidates = p->graph->n, .block = 1, .band = NPI_MODEL_BAND};
    out->slopes = npi_alloc(&p->env, 1, sizeof *out->slopes, err);
    out->score_error = npi_alloc(&p->env, 1, sizeof *out->score_error, err);
    if (!out->slopes || !out->score_error)
        return NPGNN_E_MEMORY;
    out->slopes[0] = p->applied.bound.slopes;
    out->score_error[0] = npi_applied_error(&p->applied, &p->applied.head, &out->slopes[0], 0);
    return 0;
}
