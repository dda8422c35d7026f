/* Curves of an evaluation, thinned to about 100 points each. */
#include "curves.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 100 }; /* a curve has at most one point more */

/* ---- one curve ---- */

/* Five digits are enough for a chart. */
static json_t *rounded(double value)
{
    return isfinite(value) ? json_real(round(value * 1e5) / 1e5) : json_null();
}

static void curve_begin(thin_curve *curve)
{
    curve->x = json_array();
    curve->y = json_array();
    curve->step = -1;
}

/* `way` is the position along the curve, 0 to 1. The first point of each step is kept. */
static void curve_add(thin_curve *curve, double way, double x, double y)
{
    int step = (int)(way * STEPS);
    if (step == curve->step)
        return;
    curve->step = step;
    json_array_append_new(curve->x, rounded(x));
    json_array_append_new(curve->y, rounded(y));
}

static void curve_end(thin_curve *curve)
{
    json_decref(curve->x);
    json_decref(curve->y);
    curve->x = curve->y = NULL;
}

/* Moves the curve into `object`; one without points is left out. */
static void curve_move(json_t *object, const char *key, thin_curve *curve)
{
    if (json_array_size(curve->x) > 0)
        json_object_set_new(object, key, json_pack("{s:O, s:O}", "x", curve->x, "y", curve->y));
    curve_end(curve);
}

/* ---- curves of the scores ---- */

typedef struct scored_pair {
    float score;
    int positive;
} scored_pair;

static int by_score_descending(const void *a, const void *b)
{
    const scored_pair *left = a, *right = b;
    return (left->score < right->score) - (left->score > right->score);
}

/* Lowers the threshold from the highest score to the lowest; pairs with equal scores pass it together. */
static void trace(thin_curve *roc, thin_curve *pr, const scored_pair *pairs, size_t positives, size_t count)
{
    double true_positives = 0, false_positives = 0, links = (double)positives, others = (double)(count - positives);
    curve_add(roc, 0, 0, 0);
    for (size_t i = 0; i < count;) {
        float score = pairs[i].score;
        double before = true_positives;
        for (; i < count && !(pairs[i].score < score); i++) {
            true_positives += pairs[i].positive;
            false_positives += !pairs[i].positive;
        }
        curve_add(roc, (true_positives + false_positives) / (double)count, false_positives / others,
                  true_positives / links);
        if (true_positives > before)
            curve_add(pr, true_positives / links, true_positives / links,
                      true_positives / (true_positives + false_positives));
    }
}

static void add_rankings(json_t *run, const float *scores, size_t positives, size_t count)
{
    thin_curve roc, pr;
    scored_pair *pairs = calloc(count, sizeof *pairs);
    if (!pairs)
        return; /* out of memory: the report goes without these curves */
    for (size_t i = 0; i < count; i++)
        pairs[i] = (scored_pair){scores[i], i < positives};
    qsort(pairs, count, sizeof *pairs, by_score_descending);
    curve_begin(&roc);
    curve_begin(&pr);
    trace(&roc, &pr, pairs, positives, count);
    curve_move(run, "roc", &roc);
    curve_move(run, "pr", &pr);
    free(pairs);
}

/* ---- an evaluation ---- */

static void history_begin(cli_curves *curves)
{
    curve_begin(&curves->loss);
    curve_begin(&curves->val_auc);
    curve_begin(&curves->val_ap);
}

void curves_begin(cli_curves *curves)
{
    curves->runs = json_array();
    history_begin(curves);
}

void curves_progress(cli_curves *curves, const npgnn_progress *p)
{
    double way = p->iterations > 0 ? (double)p->iteration / p->iterations : 0;
    curve_add(&curves->loss, way, p->iteration, p->loss);
    if (!p->validated)
        return;
    curve_add(&curves->val_auc, way, p->iteration, p->val_auc);
    curve_add(&curves->val_ap, way, p->iteration, p->val_ap);
}

void curves_scores(void *user, const npgnn_eval_run *run, const float *scores, size_t positives, size_t count)
{
    cli_curves *curves = user;
    json_t *object = json_object();
    (void)run; /* runs arrive in order */
    add_rankings(object, scores, positives, count);
    curve_move(object, "loss", &curves->loss);
    curve_move(object, "val_auc", &curves->val_auc);
    curve_move(object, "val_ap", &curves->val_ap);
    json_array_append_new(curves->runs, object);
    history_begin(curves);
}

void curves_merge(json_t *seeds, const cli_curves *curves)
{
    size_t index;
    json_t *seed;
    json_array_foreach(seeds, index, seed) json_object_set(seed, "curves", json_array_get(curves->runs, index));
}

void curves_end(cli_curves *curves)
{
    curve_end(&curves->loss);
    curve_end(&curves->val_auc);
    curve_end(&curves->val_ap);
    json_decref(curves->runs);
}
