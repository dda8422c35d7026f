#include "process/stack.h"

#include <math.h>
#include <string.h>

#include "linalg/symmetric.h"
#include "process/layers.h"

#define TAU 10.0    /* chosen on held-out families of the corpus */
#define BETA 0.0005 /* of the shift: it is free, but for separable data */
enum { STEPS = 30, HALVINGS = 30 };

typedef struct regression {
    const float *evidence;
    const float *score; /* (count) of the head */
    size_t positives, count;
    int e, k; /* columns; k = e + 2 */
} regression;

static double penalty_of(const regression *r, int c)
{
    return c == r->k - 1 ? BETA : TAU;
}

static double center_of(int c)
{
    return c == 0; /* the score of the head counts as it is, evidence not at all */
}

/* x_p · w */
static double margin(const regression *r, const double *w, size_t p)
{
    const float *e = r->evidence + p * (size_t)r->e;
    double sum = w[0] * (double)r->score[p] + w[r->k - 1];
    for (int c = 0; c < r->e; c++)
        sum += w[c + 1] * (double)e[c];
    return sum;
}

static double objective(const regression *r, const double *w)
{
    double sum = 0;
    for (size_t p = 0; p < r->count; p++) {
        double x = margin(r, w, p);
        sum += npi_softplus(p < r->positives ? -x : x);
    }
    for (int c = 0; c < r->k; c++)
        sum += 0.5 * penalty_of(r, c) * (w[c] - center_of(c)) * (w[c] - center_of(c));
    return sum;
}

/* gradient (k) and the Hessian (k, k), lower triangle */
static void derivatives(double *gradient, double *hessian, const regression *r, const double *w)
{
    int k = r->k;
    memset(gradient, 0, (size_t)k * sizeof *gradient);
    memset(hessian, 0, (size_t)k * (size_t)k * sizeof *hessian);
    for (size_t p = 0; p < r->count; p++) {
        const float *e = r->evidence + p * (size_t)r->e;
        double probability = npi_logistic_of(margin(r, w, p)), weight = probability * (1 - probability);
        double residual = probability - (p < r->positives);
        for (int i = 0; i < k; i++) {
            double xi = i == 0 ? (double)r->score[p] : i == k - 1 ? 1 : (double)e[i - 1];
            gradient[i] += residual * xi;
            for (int j = 0; j <= i; j++) {
                double xj = j == 0 ? (double)r->score[p] : j == k - 1 ? 1 : (double)e[j - 1];
                hessian[i * k + j] += weight * xi * xj;
            }
        }
    }
    for (int i = 0; i < k; i++) {
        gradient[i] += penalty_of(r, i) * (w[i] - center_of(i));
        hessian[i * k + i] += penalty_of(r, i);
    }
}

void npi_head_apply(npi_head *head, const double *w)
{
    /* w_s (h2 · w3 + e · w + w0) + e · w_e + b */
    for (int j = 0; j < head->h; j++)
        head->w3[j] = (real)(w[0] * (double)head->w3[j]);
    for (int c = 0; c < head->e; c++)
        head->line[c] = (real)(w[0] * (double)head->line[c] + w[c + 1]);
    head->shift[0] = (real)(w[0] * (double)head->shift[0] + w[head->e + 1]);
}

int npi_head_stack(double *w, const npi_head *head, const float *evidence, size_t positives, size_t count,
                   const npgnn_env *env, npgnn_error *err)
{
    regression r = {.evidence = evidence, .positives = positives, .count = count, .e = head->e, .k = head->e + 2};
    size_t k = (size_t)r.k;
    float *score = npi_alloc(env, count, sizeof *score, err);
    double *block = npi_alloc(env, k * k + 3 * k, sizeof *block, err);
    if (!score || !block) {
        npi_free(env, score);
        npi_free(env, block);
        return NPGNN_E_MEMORY;
    }
    double *tried = block + k * k, *gradient = tried + k, *step = gradient + k;
    for (size_t p = 0; p < count; p++)
        score[p] = npi_head_score(head, evidence + p * (size_t)r.e);
    r.score = score;
    for (size_t c = 0; c < k; c++)
        w[c] = center_of((int)c);
    double value = objective(&r, w);
    for (int round = 0; round < STEPS; round++) { /* Newton's method, halving steps that do not go down enough */
        derivatives(gradient, block, &r, w);
        npi_cholesky(block, r.k, 1e-12);
        memcpy(step, gradient, k * sizeof *step);
        npi_cholesky_solve(step, block, r.k, 1);
        double slope = 0, length = 1, next = value;
        for (size_t c = 0; c < k; c++)
            slope += gradient[c] * step[c];
        int halvings = 0;
        for (; halvings < HALVINGS; halvings++, length /= 2) {
            for (size_t c = 0; c < k; c++)
                tried[c] = w[c] - length * step[c];
            next = objective(&r, tried);
            if (next <= value - 1e-4 * length * slope)
                break;
        }
        if (halvings == HALVINGS || !isfinite(next))
            break;
        memcpy(w, tried, k * sizeof *w);
        double fall = value - next;
        value = next;
        if (fall < 1e-7 * fabs(value))
            break;
    }
    npi_free(env, score);
    npi_free(env, block);
    return 0;
}
