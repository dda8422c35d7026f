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
    int terms;
    size_t positives, count;
    double ridge;
    double mean[TERMS], scale[TERMS]; /* of the columns: 1 / spread; 0: constant */
} problem;

/* The loss around a point: its value, minus its first derivatives, its second derivatives. */
typedef struct model {
    double loss, down[TERMS], curve[TERMS][TERMS];
} model;

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

static void add_row(model *m, const double row[TERMS], const double beta[TERMS], int terms, int label)
{
    double t = 0;
    for (int a = 0; a < terms; a++)
        t += beta[a] * row[a];
    double p = 1 / (1 + exp(-t)), weight = p * (1 - p);
    m->loss += softplus(label ? -t : t);
    for (int a = 0; a < terms; a++) {
        m->down[a] += (label - p) * row[a];
        for (int b = 0; b <= a; b++)
            m->curve[a][b] += weight * row[a] * row[b];
    }
}

static model look(const problem *p, const double beta[TERMS])
{
    model m = {0};
    double row[TERMS], share = 1 / (double)p->count;
    for (size_t i = 0; i < p->count; i++) {
        read_row(row, p, i);
        add_row(&m, row, beta, p->terms, i < p->positives);
    }
    m.loss *= share;
    for (int a = 0; a < p->terms; a++) {
        double ridge = a > 0 ? p->ridge : 0;
        m.loss += ridge / 2 * beta[a] * beta[a];
        m.down[a] = m.down[a] * share - ridge * beta[a];
        for (int b = 0; b <= a; b++)
            m.curve[b][a] = m.curve[a][b] *= share;
        m.curve[a][a] += ridge + PRECISION; /* a constant column and saturated rows leave nothing to divide by */
    }
    return m;
}

/* The step that minimises the quadratic model with all slopes at or above 0: one coordinate after another, until none moves. */
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
            double next = step[a] + pull / m->curve[a][a];
            if (a > 0 && next < -beta[a])
                next = -beta[a];
            moved = fmax(moved, fabs(next - step[a]));
            step[a] = next;
        }
    }
}

/* Goes along `step` as far as the loss falls, halving it. Returns by how much. */
static double advance(double beta[TERMS], model *m, const problem *p, const double step[TERMS])
{
    double length = 1, next[TERMS];
    for (int halving = 0; halving < HALVINGS; halving++, length /= 2) {
        for (int a = 0; a < p->terms; a++)
            next[a] = beta[a] + length * step[a];
        model there = look(p, next);
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

npi_logistic npi_logistic_fit(const float *const *x, int columns, size_t positives, size_t count, double ridge)
{
    npi_logistic result = {0};
    problem p = {.x = x, .terms = columns + 1, .positives = positives, .count = count, .ridge = ridge};
    double beta[TERMS] = {0}, step[TERMS];
    if (positives == 0 || positives == count)
        return result;
    for (int a = 1; a < p.terms; a++)
        measure(&p, a);
    beta[0] = log((double)positives / (double)(count - positives));
    model m = look(&p, beta);
    double fall = 1;
    for (int i = 0; i < STEPS && fall > PRECISION; i++) {
        solve(step, &m, beta, p.terms);
        fall = advance(beta, &m, &p, step);
    }
    result.loss = m.loss;
    result.shift = beta[0];
    for (int a = 1; a < p.terms; a++) {
        double slope = beta[a] * p.scale[a];
        result.slope[a - 1] = slope;
        result.shift -= slope * p.mean[a];
    }
    return result;
}
