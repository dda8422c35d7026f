/* Calibration: f(score), piecewise linear and rising, fitted by logistic regression on labelled pairs.
 *
 *     f(s) = offset + Σ_p slope_p climb_p(s),    slope_p >= 0
 *     climb_p(s) = how far s has come within piece p: 0 below it, its length above it
 *
 * Fitting f is a logistic regression of the labels on the columns climb_0(s), climb_1(s), ... with non-negative
 * slopes. */
#include "model/calibration.h"

#include <stdlib.h>
#include <string.h>

#include "linalg/logistic.h"

#define LEAST_RATE 1e-12
#define LARGEST 1e100      /* of offsets, slopes and knots: products of two, and of one with any float, are finite */
#define RIDGE 1.0          /* in pairs: keeps slopes finite where the scores separate links and non-links perfectly */
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

double npi_calibration_log_odds(const npi_calibration *c, double score)
{
    double sum = c->offset;
    for (int p = 0; p < c->pieces; p++)
        sum += c->slope[p] * climb(c, p, score);
    return sum;
}

int npi_calibration_is_sound(const npi_calibration *c)
{
    int sound = c->pieces >= 1 && c->pieces <= NPI_CALIBRATION_MOST && fabs(c->offset) <= LARGEST;
    for (int p = 0; sound && p < c->pieces; p++) {
        sound = c->slope[p] >= 0 && c->slope[p] <= LARGEST;
        if (p + 1 < c->pieces)
            sound = sound && fabs(c->knot[p]) <= LARGEST && (p == 0 || c->knot[p] > c->knot[p - 1]);
    }
    return sound;
}

npi_calibration npi_calibration_at(npi_calibration calibration, double rate)
{
    calibration.offset += npi_log_odds(rate);
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

/* Places knots at quantiles of the scores of links, where precision matters most, and one below them at the median
 * score of the non-links. Sorts both arrays. */
static void place_knots(npi_calibration *c, float *link, float *other, size_t links, size_t others)
{
    size_t pieces =
        links / LINKS_PER_PIECE < NPI_CALIBRATION_MOST - 1 ? links / LINKS_PER_PIECE : NPI_CALIBRATION_MOST - 1;
    c->pieces = 1;
    if (pieces < 2)
        return;
    qsort(link, links, sizeof *link, ascending);
    qsort(other, others, sizeof *other, ascending);
    add_knot(c, (double)other[others / 2]);
    for (size_t i = 1; i < pieces; i++)
        add_knot(c, (double)link[i * links / pieces]);
}

/* The slopes and the offset for given knots. column has space for `count` numbers per piece. */
static void fit_slopes(npi_calibration *c, float *column, const float *score, size_t positives, size_t count)
{
    const float *columns[NPI_CALIBRATION_MOST];
    for (int p = 0; p < c->pieces; p++) {
        float *own = column + (size_t)p * count;
        for (size_t i = 0; i < count; i++)
            own[i] = (float)climb(c, p, (double)score[i]);
        columns[p] = own;
    }
    npi_logistic fit = npi_logistic_fit(columns, c->pieces, positives, count, RIDGE / (double)count);
    memcpy(c->slope, fit.slope, (size_t)c->pieces * sizeof *c->slope);
    /* the shift of the regression contains the log-odds of a link among the fitted pairs, which hold for no
     * other pairs */
    c->offset = fit.shift - (log((double)positives) - log((double)(count - positives)));
}

int npi_calibration_fit(npi_calibration *out, const float *score, size_t positives, size_t count, const npgnn_env *env,
                        npgnn_error *err)
{
    npi_calibration c = {0};
    if (positives == 0 || positives >= count)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there are no %s to calibrate on", positives ? "non-links" : "links");
    float *column = npi_resize(env, NULL, count, NPI_CALIBRATION_MOST * sizeof *column, err);
    if (!column)
        return NPGNN_E_MEMORY;
    memcpy(column, score, count * sizeof *column);
    place_knots(&c, column, column + positives, positives, count - positives);
    fit_slopes(&c, column, score, positives, count);
    npi_free(env, column);
    *out = c;
    return 0;
}
