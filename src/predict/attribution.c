#include "predict/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 256 }; /* hidden units of a head, at most */

/* A layer along the line: unit j has the value at[j] + t slope[j]. */
typedef struct line_layer {
    double at[WIDEST], slope[WIDEST];
    unsigned char active[WIDEST]; /* whether the unit is positive within the interval at hand */
} line_layer;

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* cut (count + 2): `first`, then in ascending order where units change their sign in between, then `last`. Returns how
 * many. */
static int cut_line(double *cut, const line_layer *layer, int count, double first, double last)
{
    int cuts = 0;
    cut[cuts++] = first;
    /* at_j + t slope_j = 0 at t = -at_j / slope_j */
    for (int j = 0; j < count; j++) {
        double t = layer->slope[j] != 0 ? -layer->at[j] / layer->slope[j] : last;
        if (t > first && t < last)
            cut[cuts++] = t;
    }
    qsort(cut + 1, (size_t)(cuts - 1), sizeof *cut, ascending);
    cut[cuts++] = last;
    return cuts;
}

static void activate(line_layer *layer, int count, double t)
{
    for (int j = 0; j < count; j++)
        layer->active[j] = layer->at[j] + t * layer->slope[j] > 0;
}

/* The mean of f' between two scores: the slope of the chord or, where they are too close for that, of f there. */
static double mean_slope(const npi_calibration *f, double s0, double s1)
{
    if (fabs(s1 - s0) > 1e-9)
        return (npi_calibration_log_odds(f, s1) - npi_calibration_log_odds(f, s0)) / (s1 - s0);
    return npi_calibration_slope(f, s0);
}

void npi_attribute(double *share, double *start, double *end, const npi_head *head, const npi_calibration *calibration,
                   const double *from, const double *to)
{
    int e = head->e, h = head->h;
    line_layer one = {.active = {0}}, two = {.active = {0}};
    double cut1[WIDEST + 2], cut2[WIDEST + 2];
    double through[WIDEST] = {0}; /* ∫ f' ∂s/∂(h1 before relu) dt */
    double straight = 0;          /* ∫ f' dt, for the linear part */
    double line = (double)head->shift[0], line_slope = 0;
    for (int k = 0; k < h; k++)
        one.at[k] = (double)head->b1[k];
    for (int i = 0; i < e; i++) { /* h1 = e W1 + b1,  line = e · w + w0 */
        double change = to[i] - from[i];
        line += from[i] * (double)head->line[i];
        line_slope += change * (double)head->line[i];
        for (int k = 0; k < h; k++) {
            one.at[k] += from[i] * (double)head->w1[i * h + k];
            one.slope[k] += change * (double)head->w1[i * h + k];
        }
    }
    int cuts1 = cut_line(cut1, &one, h, 0, 1);
    for (int a = 0; a + 1 < cuts1; a++) { /* within [cut1[a], cut1[a + 1]] no unit of the first layer changes */
        activate(&one, h, (cut1[a] + cut1[a + 1]) / 2);
        for (int j = 0; j < h; j++) {
            two.at[j] = (double)head->b2[j];
            two.slope[j] = 0;
        }
        for (int k = 0; k < h; k++) /* h2 = relu(h1) W2 + b2 */
            for (int j = 0; one.active[k] && j < h; j++) {
                two.at[j] += one.at[k] * (double)head->w2[k * h + j];
                two.slope[j] += one.slope[k] * (double)head->w2[k * h + j];
            }
        int cuts2 = cut_line(cut2, &two, h, cut1[a], cut1[a + 1]);
        for (int b = 0; b + 1 < cuts2; b++) { /* and within [cut2[b], cut2[b + 1]] none of the second */
            activate(&two, h, (cut2[b] + cut2[b + 1]) / 2);
            double score = line, slope = line_slope; /* s = score + t slope */
            for (int j = 0; j < h; j++)
                if (two.active[j]) {
                    score += two.at[j] * (double)head->w3[j];
                    slope += two.slope[j] * (double)head->w3[j];
                }
            double s0 = score + cut2[b] * slope, s1 = score + cut2[b + 1] * slope;
            double weight = (cut2[b + 1] - cut2[b]) * mean_slope(calibration, s0, s1);
            straight += weight;
            for (int k = 0; k < h; k++) { /* ∂s/∂h1_k = relu'(h1_k) Σ_j W2_kj relu'(h2_j) w3_j */
                double sum = 0;
                for (int j = 0; one.active[k] && j < h; j++)
                    sum += two.active[j] ? (double)head->w2[k * h + j] * (double)head->w3[j] : 0;
                through[k] += weight * sum;
            }
            if (a == 0 && b == 0)
                *start += npi_calibration_log_odds(calibration, s0);
            if (a + 2 == cuts1 && b + 2 == cuts2)
                *end += npi_calibration_log_odds(calibration, s1);
        }
    }
    for (int i = 0; i < e; i++) { /* ∂s/∂e_i = w_i + Σ_k W1_ik ∂s/∂h1_k */
        double gradient = straight * (double)head->line[i];
        for (int k = 0; k < h; k++)
            gradient += through[k] * (double)head->w1[i * h + k];
        share[i] += (to[i] - from[i]) * gradient;
    }
}
