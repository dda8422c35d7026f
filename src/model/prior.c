#include "model/prior.h"

#include <math.h>
#include <string.h>

/* Regression on the columns (1, score, cosine), each scaled to a spread of about one, with a little ridge. */
enum { COLUMNS = 3, STEPS = 25 };
#define RIDGE 1e-3

typedef struct linear_system {
    double gradient[COLUMNS], hessian[COLUMNS][COLUMNS];
} linear_system;

static double spread(const float *x, size_t count)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)x[i];
        square += (double)x[i] * (double)x[i];
    }
    double variance = square / (double)count - sum / (double)count * (sum / (double)count);
    return variance > 1e-20 ? sqrt(variance) : 0;
}

static void add_pair(linear_system *s, const double row[COLUMNS], const double beta[COLUMNS], int label)
{
    double t = 0;
    for (int a = 0; a < COLUMNS; a++)
        t += beta[a] * row[a];
    double p = 1 / (1 + exp(-t)), weight = p * (1 - p);
    for (int a = 0; a < COLUMNS; a++) {
        s->gradient[a] += (label - p) * row[a];
        for (int b = 0; b < COLUMNS; b++)
            s->hessian[a][b] += weight * row[a] * row[b];
    }
}

/* Solves hessian step = gradient by elimination; the ridge keeps it positive definite. */
static void solve(double step[COLUMNS], linear_system *s)
{
    for (int a = 0; a < COLUMNS; a++)
        for (int row = a + 1; row < COLUMNS; row++) {
            double factor = s->hessian[row][a] / s->hessian[a][a];
            for (int b = a; b < COLUMNS; b++)
                s->hessian[row][b] -= factor * s->hessian[a][b];
            s->gradient[row] -= factor * s->gradient[a];
        }
    for (int a = COLUMNS; a-- > 0;) {
        step[a] = s->gradient[a];
        for (int b = a + 1; b < COLUMNS; b++)
            step[a] -= s->hessian[a][b] * step[b];
        step[a] /= s->hessian[a][a];
    }
}

double npi_prior_fit(const float *score, const float *cosine, size_t positives, size_t count)
{
    double beta[COLUMNS] = {0}, step[COLUMNS];
    double score_spread = spread(score, count), cosine_spread = spread(cosine, count);
    if (cosine_spread == 0)
        return 0;
    if (score_spread == 0)
        return NPI_PRIOR_MOST;
    for (int iteration = 0; iteration < STEPS; iteration++) {
        linear_system s = {0};
        for (size_t i = 0; i < count; i++) {
            const double row[COLUMNS] = {1, (double)score[i] / score_spread, (double)cosine[i] / cosine_spread};
            add_pair(&s, row, beta, i < positives);
        }
        for (int a = 0; a < COLUMNS; a++) {
            s.gradient[a] -= RIDGE * (double)count * beta[a];
            s.hessian[a][a] += RIDGE * (double)count;
        }
        solve(step, &s);
        for (int a = 0; a < COLUMNS; a++)
            beta[a] += step[a];
    }
    double own = beta[1] / score_spread, prior = beta[2] / cosine_spread;
    if (!(prior > 0))
        return 0;
    return own * NPI_PRIOR_MOST > prior ? prior / own : NPI_PRIOR_MOST;
}

void npi_prior_add(float *score, const float *cosine, size_t count, double weight)
{
    for (size_t i = 0; i < count; i++)
        score[i] = (float)((double)score[i] + weight * (double)cosine[i]);
}
