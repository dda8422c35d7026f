/* Calibration: g(score), piecewise linear and rising, fitted by logistic regression on labelled pairs.
 *
 *     g(s) = offset + Σ_p slope_p climb_p(s),    slope_p >= 0
 *     climb_p(s) = how far s has come within piece p: 0 below it, its length above it
 *
 * Fitting g is a logistic regression of the labels on the columns climb_0(s), climb_1(s), ... with non-negative
 * slopes. */
#include "model/calibration.h"

#include <stdlib.h>
#include <string.h>

#include "linalg/logistic.h"

#define LEAST_RATE 1e-12
#define LARGEST 1e100      /* of offsets, slopes and knots: products of two, and of one with any float, are finite */
#define RIDGE 1.0          /* in pairs: keeps slopes finite where the scores separate links and non-links perfectly */
#define MOST_CERTAIN 0.98  /* of h e^g: beyond it, scores are too few to tell whether it is 1 */
#define LARGEST_G 50.0     /* h e^g is beyond MOST_CERTAIN then */
#define LINKS_PER_PIECE 50 /* a piece fitted on fewer would follow chance */

double npi_link_rate(int32_t n, int64_t m)
{
    return npi_link_rate_among((double)n * ((double)n - 1) / 2, m);
}

double npi_link_rate_among(double pairs, int64_t m)
{
    if (!(pairs > 0) || m < 1)
        return 0.5;
    return fmin(fmax((double)m / pairs, LEAST_RATE), 1 - LEAST_RATE);
}

npi_calibration npi_calibration_unfitted(npgnn_likelihood likelihood, double train_rate)
{
    return (npi_calibration){
        .pieces = 1, .slope = {1}, .offset = likelihood == NPGNN_PLAIN ? -npi_log_odds(train_rate) : 0};
}

/* ---- the pieces ---- */

/* climb_p(score): the part of piece p that lies below the score. */
static double climb(const npi_calibration *c, int p, double score)
{
    double from = p > 0 ? c->knot[p - 1] : 0;
    if (p > 0 && score < from)
        return 0;
    return (p + 1 < c->pieces && score > c->knot[p] ? c->knot[p] : score) - from;
}

/* g(score) */
static double evidence_of(const npi_calibration *c, double score)
{
    double sum = c->offset;
    for (int p = 0; p < c->pieces; p++)
        sum += c->slope[p] * climb(c, p, score);
    return sum;
}

double npi_calibration_log_odds(const npi_calibration *c, double score)
{
    double g = evidence_of(c, score), f = g;
    if (c->hidden > 0)
        f += log1p(-c->hidden) - log1p(-fmin(c->hidden * exp(fmin(g, LARGEST_G)), MOST_CERTAIN));
    return f + c->prior;
}

double npi_calibration_slope(const npi_calibration *c, double score)
{
    int piece = 0;
    while (piece + 1 < c->pieces && score > c->knot[piece])
        piece++;
    /* d/dg (g - log(1 - h e^g)) = 1 / (1 - h e^g), or 1 where h e^g is held at MOST_CERTAIN */
    double share = c->hidden * exp(fmin(evidence_of(c, score), LARGEST_G));
    return c->slope[piece] / (share < MOST_CERTAIN ? 1 - share : 1);
}

int npi_calibration_is_sound(const npi_calibration *c)
{
    int sound = c->pieces >= 1 && c->pieces <= NPI_CALIBRATION_MOST && fabs(c->offset) <= LARGEST &&
                c->most_hidden >= 0 && c->most_hidden <= 1;
    for (int p = 0; sound && p < c->pieces; p++) {
        sound = c->slope[p] >= 0 && c->slope[p] <= LARGEST;
        if (p + 1 < c->pieces)
            sound = sound && fabs(c->knot[p]) <= LARGEST && (p == 0 || c->knot[p] > c->knot[p - 1]);
    }
    return sound;
}

npi_calibration npi_calibration_at(npi_calibration calibration, double rate, double hidden)
{
    calibration.prior = npi_log_odds(rate);
    calibration.hidden = fmin(hidden, calibration.most_hidden);
    return calibration;
}

/* ---- fitting ---- */

static int ascending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Appends a knot, unless it equals the one before. */
static void add_knot(npi_calibration *c, double knot)
{
    if (c->pieces == 1 || knot > c->knot[c->pieces - 2])
        c->knot[c->pieces++ - 1] = knot;
}

typedef struct weighed {
    float score, weight;
} weighed;

static int by_score(const void *a, const void *b)
{
    return ascending(&((const weighed *)a)->score, &((const weighed *)b)->score);
}

/* Places knots at quantiles of the scores of links, where precision matters most, and of the others. Sorts both. */
static void place_knots(npi_calibration *c, float *link, size_t links, weighed *other, size_t others)
{
    static const double of_links[] = {0.16, 0.33, 0.5, 0.67, 0.83, 0.93, 0.97}, of_others[] = {0.5, 0.8, 0.95, 0.99};
    float knot[NPI_CALIBRATION_MOST - 1];
    size_t knots = 0;
    double all = 0, below = 0;
    c->pieces = 1;
    qsort(link, links, sizeof *link, ascending);
    if (links < 2 * LINKS_PER_PIECE)
        return;
    for (size_t i = 0, last = 0; i < sizeof of_links / sizeof *of_links; i++) {
        size_t at = (size_t)(of_links[i] * (double)links);
        if (at - last >= LINKS_PER_PIECE && links - at >= LINKS_PER_PIECE) {
            knot[knots++] = link[at];
            last = at;
        }
    }
    qsort(other, others, sizeof *other, by_score);
    for (size_t i = 0; i < others; i++)
        all += (double)other[i].weight;
    for (size_t i = 0, q = 0; i < others && q < sizeof of_others / sizeof *of_others; i++) {
        below += (double)other[i].weight;
        for (; q < sizeof of_others / sizeof *of_others && below >= of_others[q] * all; q++)
            knot[knots++] = other[i].score;
    }
    qsort(knot, knots, sizeof *knot, ascending);
    for (size_t i = 0; i < knots; i++)
        add_knot(c, (double)knot[i]);
}

/* The slopes and the offset for given knots. column has space for `count` numbers per piece, and weight (count). */
static void fit_slopes(npi_calibration *c, float *column, const float *score, const float *weight, size_t links,
                       size_t count)
{
    const float *columns[NPI_CALIBRATION_MOST];
    for (int p = 0; p < c->pieces; p++) {
        float *own = column + (size_t)p * count;
        for (size_t i = 0; i < count; i++)
            own[i] = (float)climb(c, p, (double)score[i]);
        columns[p] = own;
    }
    npi_logistic fit = npi_logistic_fit(columns, weight, c->pieces, links, count, RIDGE / (double)count);
    memcpy(c->slope, fit.slope, (size_t)c->pieces * sizeof *c->slope);
    /* the shift of the regression contains the log-odds of a link among the fitted pairs, which hold for no
     * other pairs */
    c->offset = fit.shift - (log((double)links) - log((double)(count - links)));
}

int npi_calibration_fit(npi_calibration *out, const float *link, size_t links, const float *other, const float *weight,
                        size_t others, const npgnn_env *env, npgnn_error *err)
{
    npi_calibration c = {0};
    size_t count = links + others;
    double all = 0;
    if (links == 0 || others == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there are no %s to calibrate on", links ? "non-links" : "links");
    float *block = npi_resize(env, NULL, count, (NPI_CALIBRATION_MOST + 2) * sizeof *block, err);
    weighed *sorted = npi_resize(env, NULL, others, sizeof *sorted, err);
    int code = block && sorted ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        float *score = block, *share = score + count, *column = share + count; /* (count), (count), (pieces, count) */
        for (size_t i = 0; i < others; i++)
            all += weight ? (double)weight[i] : 1;
        for (size_t i = 0; i < others; i++) { /* 1 on average */
            share[links + i] = (float)(weight ? (double)weight[i] * (double)others / all : 1);
            sorted[i] = (weighed){other[i], share[links + i]};
            score[links + i] = other[i];
        }
        for (size_t i = 0; i < links; i++)
            share[i] = 1;
        memcpy(score, link, links * sizeof *score);
        place_knots(&c, score, links, sorted, others); /* the order of the links does not matter */
        double typical = (double)score[links / 2];
        fit_slopes(&c, column, score, share, links, count);
        c.most_hidden = fmin(1, MOST_CERTAIN * exp(-evidence_of(&c, typical)));
        *out = c;
    }
    npi_free(env, block);
    npi_free(env, sorted);
    return code;
}
