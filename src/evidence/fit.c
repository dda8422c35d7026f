/* How much each column of the evidence weighs, and whether it weighs anything. */
#include <math.h>

#include "evidence/evidence.h"
#include "linalg/logistic.h"

#define RIDGE 1e-3
/* By how much a column must raise the log-likelihood of the pairs: two standard errors of its weight. */
#define WORTH 2.0

/* Columns of a regression: the own score first, then some of the evidence. */
typedef struct selection {
    int count, column[NPI_EVIDENCE_COLUMNS + 1]; /* places in the evidence; -1: the own score */
    npi_logistic fitted;
} selection;

static void regress(selection *s, const float *score, const float *value, size_t positives, size_t count)
{
    const float *x[NPI_EVIDENCE_COLUMNS + 1] = {NULL};
    for (int c = 0; c < s->count; c++)
        x[c] = s->column[c] < 0 ? score : value + (size_t)s->column[c] * count;
    s->fitted = npi_logistic_fit(x, s->count, positives, count, RIDGE);
}

static selection without(const selection *s, int place)
{
    selection fewer = {.fitted = s->fitted};
    for (int c = 0; c < s->count; c++) {
        if (c == place)
            continue;
        fewer.fitted.slope[fewer.count] = s->fitted.slope[c];
        fewer.column[fewer.count++] = s->column[c];
    }
    return fewer;
}

/* The selection without the column that is missed least. */
static selection drop_one(const selection *s, const float *score, const float *value, size_t positives, size_t count)
{
    selection best = {0};
    for (int c = 1; c < s->count; c++)
        if (s->fitted.slope[c] == 0)
            return without(s, c); /* what has no weight is not missed at all */
    for (int c = 1; c < s->count; c++) {
        selection fewer = without(s, c);
        regress(&fewer, score, value, positives, count);
        if (best.count == 0 || fewer.fitted.loss < best.fitted.loss)
            best = fewer;
    }
    return best;
}

npi_weights npi_evidence_fit(const float *score, const float *value, const npi_evidence *e, size_t positives,
                             size_t count)
{
    selection s = {.count = e->count + 1};
    for (int c = 0; c < s.count; c++)
        s.column[c] = c - 1;
    regress(&s, score, value, positives, count);
    while (s.count > 1) {
        selection fewer = drop_one(&s, score, value, positives, count);
        if ((fewer.fitted.loss - s.fitted.loss) * (double)count > WORTH)
            break;
        s = fewer;
    }
    /* the regression's shift holds the odds of a link among the pairs it saw: even ones take their place */
    double odds = positives > 0 && positives < count ? log((double)positives) - log((double)(count - positives)) : 0;
    npi_weights weights = {.shift = s.fitted.shift - odds, .own = s.fitted.slope[0]};
    for (int c = 1; c < s.count; c++)
        weights.column[e->column[s.column[c]]] = s.fitted.slope[c];
    return weights;
}
