/* Logistic regression with non-negative slopes, by Newton's method:
 *
 *     minimise L(b) = 1/W Σ_p w_p log(1 + exp(∓ b · x_p)) + ridge / 2 Σ_c b_c²       - for label 1, + for label 0
 *
 * with W = Σ_p w_p, over the terms b = (shift, slopes) and rows x_p = (1, the columns with mean 0 and standard deviation 1). Each step
 * minimises the quadratic model of L under the bounds, by coordinate descent, and is halved until L falls: without
 * that, Newton's method diverges on data that can be separated. */
#include "linalg/logistic.h"

#include <math.h>

enum {
    TERMS = NPI_LOGISTIC_MOST + 1, /* the columns, and before them a constant 1 */
    STEPS = 50,
    HALVINGS = 20,
    SWEEPS = 1000,
};
#define SMALLEST_SPREAD 1e-7 /* of a column that is not constant */
#define PRECISION 1e-12      /* of the loss, and of a step */

typedef struct problem {
    const float *const *x;
    const float *weight; /* (count) NULL: all 1 */
    int terms;
    size_t positives, count;
    double ridge, all;                /* all: the sum of the weights */
    double mean[TERMS], scale[TERMS]; /* of the columns: the mean, and 1 / standard deviation or, if constant, 0 */
} problem;

/* The loss around a point: its value, minus its gradient, its Hessian. */
typedef struct model {
    double loss, down[TERMS], curve[TERMS][TERMS];
} model;

static double weight_of(const problem *p, size_t i)
{
    return p->weight ? (double)p->weight[i] : 1;
}

/* Mean and standard deviation of a column. */
static void measure(problem *p, int term)
{
    const float *x = p->x[term - 1];
    double sum = 0, square = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += (double)x[i];
    p->mean[term] = sum / (double)p->count;
    for (size_t i = 0; i < p->count; i++)
        square += ((double)x[i] - p->mean[term]) * ((double)x[i] - p->mean[term]);
    double spread = sqrt(square / (double)p->count);
    p->scale[term] = spread > SMALLEST_SPREAD ? 1 / spread : 0;
}

/* Row i: 1, and the columns with mean 0 and spread 1. */
static void read_row(double row[TERMS], const problem *p, size_t i)
{
    row[0] = 1;
    for (int a = 1; a < p->terms; a++)
        row[a] = p->scale[a] > 0 ? ((double)p->x[a - 1][i] - p->mean[a]) * p->scale[a] : 0;
}

/* log(1 + e^t) without overflow */
static double softplus(double t)
{
    return t > 0 ? t + log1p(exp(-t)) : log1p(exp(t));
}

/* The quadratic model of the loss around beta, from one pass over the rows. */
static model expand(const problem *p, const double beta[TERMS])
{
    model m = {0};
    double row[TERMS], share = 1 / p->all;
    for (size_t i = 0; i < p->count; i++) {
        int label = i < p->positives;
        double t = 0, w = weight_of(p, i);
        read_row(row, p, i);
        for (int a = 0; a < p->terms; a++)
            t += beta[a] * row[a];
        double probability = 1 / (1 + exp(-t)), weight = w * probability * (1 - probability);
        /* loss += -w log p(label), -gradient += w (label - p) row, Hessian += w p (1 - p) row rowᵀ */
        m.loss += w * softplus(label ? -t : t);
        for (int a = 0; a < p->terms; a++) {
            m.down[a] += w * (label - probability) * row[a];
            for (int b = 0; b <= a; b++)
                m.curve[a][b] += weight * row[a] * row[b];
        }
    }
    /* the mean over the rows, plus the ridge; the Hessian was summed below its diagonal only */
    m.loss *= share;
    for (int a = 0; a < p->terms; a++) {
        double ridge = a > 0 ? p->ridge : 0;
        m.loss += ridge / 2 * beta[a] * beta[a];
        m.down[a] = m.down[a] * share - ridge * beta[a];
        for (int b = 0; b <= a; b++)
            m.curve[b][a] = m.curve[a][b] *= share;
        m.curve[a][a] += ridge + PRECISION; /* 0 without it for a constant column or where all rows are saturated */
    }
    return m;
}

/* The step that minimises the quadratic model while all slopes beta + step stay at or above 0: coordinate descent,
 * until no coordinate moves. */
static void solve(double step[TERMS], const model *m, const double beta[TERMS], int terms)
{
    for (int a = 0; a < terms; a++)
        step[a] = 0;
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS && moved > PRECISION; sweep++) {
        moved = 0;
        for (int a = 0; a < terms; a++) {
            double pull = m->down[a];
            for (int b = 0; b < terms; b++)
                pull -= m->curve[a][b] * step[b];
            double next = step[a] + pull / m->curve[a][a]; /* the minimum along this coordinate, before the bound */
            if (a > 0 && next < -beta[a])
                next = -beta[a];
            moved = fmax(moved, fabs(next - step[a]));
            step[a] = next;
        }
    }
}

/* Moves beta by the first of step, step / 2, step / 4, ... that lowers the loss. Returns by how much it fell, or 0. */
static double advance(double beta[TERMS], model *m, const problem *p, const double step[TERMS])
{
    double length = 1, next[TERMS];
    for (int halving = 0; halving < HALVINGS; halving++, length /= 2) {
        for (int a = 0; a < p->terms; a++)
            next[a] = beta[a] + length * step[a];
        model there = expand(p, next);
        double fall = m->loss - there.loss;
        if (!(fall > 0))
            continue;
        for (int a = 0; a < p->terms; a++)
            beta[a] = next[a];
        *m = there;
        return fall;
    }
    return 0;
}

npi_logistic npi_logistic_fit(const float *const *x, const float *weight, int columns, size_t positives, size_t count,
                              double ridge)
{
    npi_logistic result = {0};
    problem p = {
        .x = x, .weight = weight, .terms = columns + 1, .positives = positives, .count = count, .ridge = ridge};
    double beta[TERMS] = {0}, step[TERMS];
    if (positives == 0 || positives == count)
        return result;
    double ones = 0;
    for (size_t i = 0; i < count; i++) {
        p.all += weight_of(&p, i);
        ones += i < positives ? weight_of(&p, i) : 0;
    }
    for (int a = 1; a < p.terms; a++)
        measure(&p, a);
    /* start at the log-odds of a 1, with all slopes 0 */
    beta[0] = log(ones / (p.all - ones));
    model m = expand(&p, beta);
    double fall = 1;
    for (int i = 0; i < STEPS && fall > PRECISION; i++) {
        solve(step, &m, beta, p.terms);
        fall = advance(beta, &m, &p, step);
    }
    result.loss = m.loss;
    result.shift = beta[0];
    /* back to the columns as they were given: slope = beta / spread, shift -= slope mean */
    for (int a = 1; a < p.terms; a++) {
        double slope = beta[a] * p.scale[a];
        result.slope[a - 1] = slope;
        result.shift -= slope * p.mean[a];
    }
    return result;
}
