#include "process/bound.h"

#include <math.h>
#include <string.h>

#include "linalg/exact.h"
#include "linalg/symmetric.h"

enum {
    SQUARES = 6 /* R: as many units as network_columns computes at a time */
};
#define SPREAD 1.5    /* c in deviations of p: more than 1, since large p need a close bound most */
#define ROUNDING 1e-4 /* of |h1|² + 1, on top of the bound: a hundred times what floats lose */
#define LEAST_SPREAD 0.01
#define BOX_WIDTH                                                                                                      \
    1.4 /* deviations from the mean: wider boxes have looser bounds, of narrower ones more pairs are outside */
#define BOX_ROUNDING 1e-3 /* of a score, and of the inputs of units: ten times what floats lose */

/* alpha (h) = Σ relu(p) p / Σ p², the least squares line through relu(p), and c (h), over the sample. */
static void fit_units(double *alpha, double *c, const npi_head *head, const float *evidence, size_t count)
{
    int e = head->e, h = head->h;
    double positive[NPI_HEAD_MOST] = {0}, all[NPI_HEAD_MOST] = {0};
    for (size_t s = 0; s < count; s++, evidence += e) {
        double h1[NPI_HEAD_MOST];
        for (int j = 0; j < h; j++) {
            double sum = (double)head->b1[j];
            for (int i = 0; i < e; i++)
                sum += (double)evidence[i] * (double)head->w1[i * h + j];
            h1[j] = sum > 0 ? sum : 0;
        }
        for (int j = 0; j < h; j++) {
            double p = (double)head->b2[j];
            for (int i = 0; i < h; i++)
                p += h1[i] * (double)head->w2[i * h + j];
            positive[j] += p > 0 ? p * p : 0;
            all[j] += p * p;
        }
    }
    for (int j = 0; j < h; j++) {
        alpha[j] = all[j] > 0 && positive[j] <= all[j] ? positive[j] / all[j] : 0; /* a NaN gives 0 */
        c[j] = SPREAD * sqrt(all[j] / (double)(count > 0 ? count : 1));
        c[j] = c[j] > LEAST_SPREAD ? c[j] : LEAST_SPREAD;
    }
}

/* Boxes around groups of the sample. Groups are those of k-means, where a column counts as much as the head is steep in
 * it; it begins with the first pairs of the sample, which are as random as any. */
static int make_boxes(npi_head_bound *out, const npi_head *head, const float *evidence, size_t count,
                      const npgnn_env *env, npgnn_error *err)
{
    enum { ROUNDS = 10 };
    int e = head->e, groups = count < NPI_BOUND_BOXES ? (int)count : NPI_BOUND_BOXES;
    double centre[NPI_BOUND_BOXES][NPI_HEAD_MOST], sum[NPI_BOUND_BOXES][NPI_HEAD_MOST],
        square[NPI_BOUND_BOXES][NPI_HEAD_MOST];
    size_t members[NPI_BOUND_BOXES];
    out->boxes = npi_alloc(env, NPI_BOUND_BOXES, sizeof *out->boxes, err);
    if (!out->boxes)
        return NPGNN_E_MEMORY;
    for (int g = 0; g < groups; g++)
        for (int c = 0; c < e; c++)
            centre[g][c] = (double)evidence[(size_t)g * (size_t)e + (size_t)c];
    for (int round = 0; round < ROUNDS; round++) {
        memset(sum, 0, sizeof sum);
        memset(square, 0, sizeof square);
        memset(members, 0, sizeof members);
        for (size_t s = 0; s < count; s++) {
            const float *pair = evidence + s * (size_t)e;
            double nearest = (double)INFINITY;
            int own = 0;
            for (int g = 0; g < groups; g++) {
                double distance = 0;
                for (int c = 0; c < e; c++) {
                    double apart = out->slopes.column[c] * ((double)pair[c] - centre[g][c]);
                    distance += apart * apart;
                }
                if (distance < nearest) {
                    nearest = distance;
                    own = g;
                }
            }
            members[own]++;
            for (int c = 0; c < e; c++) {
                sum[own][c] += (double)pair[c];
                square[own][c] += (double)pair[c] * (double)pair[c];
            }
        }
        for (int g = 0; g < groups; g++)
            for (int c = 0; members[g] > 0 && c < e; c++)
                centre[g][c] = sum[g][c] / (double)members[g];
    }
    for (int g = 0; g < groups; g++) {
        double low[NPI_HEAD_MOST], high[NPI_HEAD_MOST];
        for (int c = 0; members[g] > 0 && c < e; c++) {
            double spread = square[g][c] / (double)members[g] - centre[g][c] * centre[g][c];
            spread = spread > 0 ? BOX_WIDTH * sqrt(spread) : 0; /* a NaN gives 0 */
            low[c] = centre[g][c] - spread;
            high[c] = centre[g][c] + spread;
        }
        if (members[g] > 0)
            npi_head_box(&out->boxes[out->box_count++], head, &out->slopes, low, high);
    }
    return 0;
}

int npi_head_bound_new(npi_head_bound *out, const npi_head *head, const float *evidence, size_t count,
                       const npgnn_env *env, npgnn_error *err)
{
    int e = head->e, h = head->h, size = h + 1;
    *out = (npi_head_bound){0};
    if (h < SQUARES)
        return 0;
    real *block = npi_alloc(env, (size_t)h * (SQUARES + 1) + 2 * SQUARES, sizeof *block, err);
    double *m = npi_alloc(env, 2 * (size_t)size * (size_t)size, sizeof *m, err);
    if (!block || !m) {
        npi_free(env, block);
        npi_free(env, m);
        return NPGNN_E_MEMORY;
    }
    double *vector = m + size * size, value[NPI_HEAD_MOST + 1], alpha[NPI_HEAD_MOST], c[NPI_HEAD_MOST];
    double line[NPI_HEAD_MOST + 1] = {0}; /* what is linear in (h1, 1) */
    double shift = (double)head->shift[0] + ROUNDING;
    fit_units(alpha, c, head, evidence, count);
    for (int j = 0; j < h; j++) {
        double weight = (double)head->w3[j], column[NPI_HEAD_MOST + 1]; /* of W2, with b2 below */
        for (int i = 0; i < h; i++)
            column[i] = (double)head->w2[i * h + j];
        column[h] = (double)head->b2[j];
        for (int i = 0; i <= h; i++)
            line[i] += weight * (weight > 0 ? 0.5 : alpha[j]) * column[i];
        for (int i = 0; weight > 0 && i <= h; i++)
            for (int k = 0; k <= h; k++)
                m[i * size + k] += weight / (4 * c[j]) * column[i] * column[k];
        shift += weight > 0 ? weight * c[j] / 4 : 0;
    }
    npi_symmetric_eigen(value, vector, m, size);
    real *w2 = block, *b2 = w2 + h * SQUARES, *w3 = b2 + SQUARES, *skip = w3 + SQUARES;
    double rest = value[SQUARES] > 0 ? value[SQUARES] : 0; /* λ_(R+1) */
    for (int r = 0; r < SQUARES; r++) {
        for (int i = 0; i < h; i++)
            w2[i * SQUARES + r] = (real)vector[i * size + r];
        b2[r] = (real)vector[h * size + r];
        w3[r] = (real)(value[r] > rest ? value[r] - rest : 0);
    }
    for (int i = 0; i < h; i++)
        skip[i] = (real)line[i];
    *out = (npi_head_bound){.block = block,
                            .net = {.inputs = e,
                                    .hidden = h,
                                    .hidden2 = SQUARES,
                                    .w1 = head->w1,
                                    .b1 = head->b1,
                                    .w2 = w2,
                                    .b2 = b2,
                                    .w3 = w3,
                                    .line = head->line,
                                    .shift = (real)(shift + line[h] + rest),
                                    .skip = skip,
                                    .tail = (real)(rest + ROUNDING)}};
    npi_head_slopes(&out->slopes, head);
    npi_free(env, m);
    int code = make_boxes(out, head, evidence, count, env, err);
    if (code)
        npi_head_bound_free(env, out);
    return code;
}

void npi_head_bound_free(const npgnn_env *env, npi_head_bound *bound)
{
    npi_free(env, bound->block);
    npi_free(env, bound->boxes);
    *bound = (npi_head_bound){0};
}

/* ---- a box ---- */

/* Lines above and below a relu whose input is from low to high: relu(y) <= above y + shift, relu(y) >= below y. */
typedef struct lines {
    double above, shift, below;
} lines;

static lines lines_of(double low, double high)
{
    if (low >= 0)
        return (lines){1, 0, 1};
    if (high <= 0)
        return (lines){0, 0, 0};
    double above = high / (high - low);
    return (lines){above, -above * low, high > -low};
}

void npi_head_box(npi_pieces *out, const npi_head *head, const npi_slopes *slopes, const double *low,
                  const double *high)
{
    int e = head->e, h = head->h;
    const npi_exact *exact = npi_exact_best();
    double centre[NPI_HEAD_MOST], radius[NPI_HEAD_MOST], row[NPI_HEAD_MOST], most[NPI_HEAD_MOST], least[NPI_HEAD_MOST],
        onward[NPI_HEAD_MOST], slope[NPI_HEAD_MOST] = {0};
    double shift = (double)head->shift[0] + BOX_ROUNDING;
    real above[NPI_HEAD_MOST * NPI_HEAD_MOST],
        below[NPI_HEAD_MOST * NPI_HEAD_MOST]; /* (h, h) of p, by the inputs of the first layer */
    lines first[NPI_HEAD_MOST] = {{0, 0, 0}}, second[NPI_HEAD_MOST];
    for (int i = 0; i < e; i++) {
        centre[i] = (low[i] + high[i]) / 2;
        radius[i] = (high[i] - low[i]) / 2;
    }
    for (int k = 0; k < h; k++) { /* the range of y = e W1 + b1, and lines of its units */
        double middle = (double)head->b1[k], apart = BOX_ROUNDING;
        for (int i = 0; i < e; i++) {
            middle += centre[i] * (double)head->w1[i * h + k];
            apart += radius[i] * fabs((double)head->w1[i * h + k]);
        }
        first[k] = lines_of(middle - apart, middle + apart);
    }
    for (int j = 0; j < h; j++)
        most[j] = least[j] = (double)head->b2[j];
    for (int k = 0; k < h; k++) /* p = relu(y) W2 + b2, below and above, as lines in y */
        for (int j = 0; j < h; j++) {
            double weight = (double)head->w2[k * h + j], up = weight > 0 ? first[k].above : first[k].below;
            double down = weight > 0 ? first[k].below : first[k].above, constant = weight * first[k].shift;
            above[k * h + j] = (real)(weight * up);
            below[k * h + j] = (real)(weight * down);
            most[j] += weight * up * (double)head->b1[k] + (weight > 0 ? constant : 0);
            least[j] += weight * down * (double)head->b1[k] + (weight > 0 ? 0 : constant);
        }
    for (int i = 0; i < e; i++) { /* the same as lines in e, and their ranges in the box */
        double up[NPI_HEAD_MOST] = {0}, down[NPI_HEAD_MOST] = {0};
        for (int k = 0; k < h; k++)
            row[k] = (double)head->w1[i * h + k];
        exact->layer(up, row, above, h, h, 0);
        exact->layer(down, row, below, h, h, 0);
        for (int j = 0; j < h; j++) {
            most[j] += centre[i] * up[j] + radius[i] * fabs(up[j]);
            least[j] += centre[i] * down[j] - radius[i] * fabs(down[j]);
        }
    }
    for (int j = 0; j < h; j++) { /* w3 · relu(p), above, as a line in p */
        double weight = (double)head->w3[j];
        second[j] = lines_of(least[j] - BOX_ROUNDING, most[j] + BOX_ROUNDING);
        onward[j] = weight * (weight > 0 ? second[j].above : second[j].below);
        shift += onward[j] * (double)head->b2[j] + (weight > 0 ? weight * second[j].shift : 0);
    }
    for (int k = 0; k < h; k++) { /* in relu(y), in y, in e */
        double weight = 0;
        for (int j = 0; j < h; j++)
            weight += (double)head->w2[k * h + j] * onward[j];
        double line = weight * (weight > 0 ? first[k].above : first[k].below);
        shift += line * (double)head->b1[k] + (weight > 0 ? weight * first[k].shift : 0);
        for (int i = 0; i < e; i++)
            slope[i] += line * (double)head->w1[i * h + k];
    }
    *out = (npi_pieces){.inputs = e, .constant = (real)shift};
    for (int i = 0; i < e; i++) {
        slope[i] += (double)head->line[i];
        out->line[i] = (real)slope[i];
        out->most[i] = (real)slopes->most[i];
        out->most_shift[i] = (real)((slope[i] - slopes->most[i]) * high[i]);
        out->least[i] = (real)slopes->least[i];
        out->least_shift[i] = (real)((slope[i] - slopes->least[i]) * low[i]);
    }
}
