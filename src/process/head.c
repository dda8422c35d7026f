#include "process/head.h"

#include <assert.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/exact.h"
#include "process/layers.h"

int npi_head_new(npi_head *out, int e, int h, const npgnn_env *env, npgnn_error *err)
{
    assert(e >= 1 && e <= NPI_HEAD_MOST && h >= 1 && h <= NPI_HEAD_MOST);
    size_t columns = (size_t)e, hidden = (size_t)h;
    npi_head head = {.e = e, .h = h, .count = columns * hidden + hidden * hidden + 3 * hidden + columns + 1};
    head.block = npi_alloc(env, head.count, sizeof *head.block, err);
    if (!head.block)
        return NPGNN_E_MEMORY;
    head.w1 = head.block;
    head.b1 = head.w1 + columns * hidden;
    head.w2 = head.b1 + hidden;
    head.b2 = head.w2 + hidden * hidden;
    head.w3 = head.b2 + hidden;
    head.line = head.w3 + hidden;
    head.shift = head.line + columns;
    *out = head;
    return 0;
}

void npi_head_free(const npgnn_env *env, npi_head *head)
{
    npi_free(env, head->block);
    memset(head, 0, sizeof *head);
}

/* (row of W (d, cols)) · z + bias, for one column */
static double affine(const real *w, const real *bias, const real *z, int d, int cols, int column)
{
    double sum = (double)bias[column];
    for (int c = 0; c < d; c++)
        sum += (double)z[c] * (double)w[c * cols + column];
    return sum;
}

void npi_head_specialize(npi_head *head, const npi_process_params *p, const real *z)
{
    int e = p->size.e, h = head->h, d = p->size.d;
    memset(head->block, 0, head->count * sizeof *head->block);
    for (int j = 0; j < h; j++) {
        double scale1 = 1 + affine(p->film_w, p->film_b, z, d, 4 * h, j);
        double shift1 = affine(p->film_w, p->film_b, z, d, 4 * h, h + j);
        double scale2 = 1 + affine(p->film_w, p->film_b, z, d, 4 * h, 2 * h + j);
        double shift2 = affine(p->film_w, p->film_b, z, d, 4 * h, 3 * h + j);
        for (int i = 0; i < e; i++)
            head->w1[i * h + j] = (real)((double)p->score_w1[i * h + j] * scale1);
        for (int i = 0; i < h; i++)
            head->w2[i * h + j] = (real)((double)p->score_w2[i * h + j] * scale2);
        head->b1[j] = (real)((double)p->score_b1[j] * scale1 + shift1);
        head->b2[j] = (real)((double)p->score_b2[j] * scale2 + shift2);
        head->w3[j] = p->score_w3[j];
    }
    for (int i = 0; i < e; i++)
        head->line[i] = (real)affine(p->line_w, p->line_b, z, d, e + 1, i);
    head->shift[0] = (real)((double)p->score_b3[0] + affine(p->line_w, p->line_b, z, d, e + 1, e));
}

float npi_head_score(const npi_head *head, const float *evidence)
{
    int e = head->e, h = head->h;
    double input[NPI_HEAD_MOST], h1[NPI_HEAD_MOST], h2[NPI_HEAD_MOST], score = (double)head->shift[0];
    const npi_exact *exact = npi_exact_best();
    for (int i = 0; i < e; i++) { /* score += e · w */
        input[i] = (double)evidence[i];
        score += input[i] * (double)head->line[i];
    }
    for (int j = 0; j < h; j++) {
        h1[j] = (double)head->b1[j];
        h2[j] = (double)head->b2[j];
    }
    exact->layer(h1, input, head->w1, e, h, 0); /* h1 = e W1 + b1 */
    exact->layer(h2, h1, head->w2, h, h, 1);    /* h2 = relu(h1) W2 + b2 */
    for (int j = 0; j < h; j++)                 /* score += relu(h2) · w3 */
        score += h2[j] > 0 ? h2[j] * (double)head->w3[j] : 0;
    return (float)score;
}

int npi_head_workspace_new(npi_head_workspace *out, const npi_head *head, int capacity, const npgnn_env *env,
                           npgnn_error *err)
{
    size_t c = (size_t)capacity, h = (size_t)head->h;
    npi_head_workspace w = {.capacity = capacity};
    w.input = npi_alloc(env, c * ((size_t)head->e + 4 * h), sizeof *w.input, err);
    if (!w.input)
        return NPGNN_E_MEMORY;
    w.h1 = w.input + c * (size_t)head->e;
    w.h2 = w.h1 + c * h;
    w.dh = w.h2 + c * h;
    w.dx = w.dh + c * h;
    *out = w;
    return 0;
}

void npi_head_workspace_free(const npgnn_env *env, npi_head_workspace *w)
{
    npi_free(env, w->input);
    memset(w, 0, sizeof *w);
}

void npi_head_scores(real *score, npi_head_workspace *w, const npi_head *head, const float *evidence, int count)
{
    int e = head->e, h = head->h;
    for (int i = 0; i < count * e; i++)
        w->input[i] = (real)evidence[i];
    npi_layer_forward(w->h1, w->input, head->w1, head->b1, count, e, h); /* h1 = relu(e W1 + b1) */
    npi_relu(w->h1, count * h);
    npi_layer_forward(w->h2, w->h1, head->w2, head->b2, count, h, h); /* h2 = relu(h1 W2 + b2) */
    npi_relu(w->h2, count * h);
    for (int i = 0; i < count; i++) { /* score = h2 · w3 + e · w + w0 */
        real sum = head->shift[0];
        for (int j = 0; j < h; j++)
            sum += w->h2[i * h + j] * head->w3[j];
        for (int j = 0; j < e; j++)
            sum += w->input[i * e + j] * head->line[j];
        score[i] = sum;
    }
}

void npi_head_scores_of_columns(real *score, const npi_head *head, const real *evidence, int stride, int count)
{
    const npi_small_network net = {.inputs = head->e,
                                   .hidden = head->h,
                                   .hidden2 = head->h,
                                   .w1 = head->w1,
                                   .b1 = head->b1,
                                   .w2 = head->w2,
                                   .b2 = head->b2,
                                   .w3 = head->w3,
                                   .line = head->line,
                                   .shift = head->shift[0]};
    npi_kernels_best()->network_columns(score, evidence, stride, count, &net);
}

void npi_head_scores_backward(npi_head *g, npi_head_workspace *w, const npi_head *head, const real *dscore, int count)
{
    int e = head->e, h = head->h;
    /* dh2 = dscore w3 relu'(h2),  dw3 += h2ᵀ dscore,  dw += eᵀ dscore,  dw0 += Σ dscore */
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < h; j++) {
            real active = w->h2[i * h + j];
            w->dh[i * h + j] = active > 0 ? dscore[i] * head->w3[j] : 0;
            g->w3[j] += dscore[i] * active;
        }
        for (int j = 0; j < e; j++)
            g->line[j] += dscore[i] * w->input[i * e + j];
        g->shift[0] += dscore[i];
    }
    npi_layer_backward(w->dx, g->w2, g->b2, w->dh, w->h1, head->w2, count, h, h);
    npi_relu_backward(w->dx, w->h1, count * h);
    npi_layer_backward(NULL, g->w1, g->b1, w->dx, w->input, head->w1, count, e, h);
}

/* With relu' = (1 + σ) / 2, σ from -1 to 1 for each unit of each layer, and T = W1 W2,
 *
 *     4 ∂ score / ∂ e_i = 4 w_i + Σ_kj W1_ik (1 + σ_k) W2_kj (1 + σ_j) w3_j
 *     4 | ... | <= | 4 w_i + Σ_j T_ij w3_j | + Σ_k | W1_ik (W2 w3)_k | + Σ_j | T_ij w3_j | + Σ_kj | W1_ik W2_kj w3_j |
 *
 * about half of what the magnitudes of all weights would allow. */
void npi_head_slopes(npi_slopes *out, const npi_head *head)
{
    int e = head->e, h = head->h;
    double onward[NPI_HEAD_MOST]; /* W2 w3 */
    for (int k = 0; k < h; k++) {
        onward[k] = 0;
        for (int j = 0; j < h; j++)
            onward[k] += (double)head->w2[k * h + j] * (double)head->w3[j];
    }
    out->terms = 0;
    for (int i = 0; i < e; i++) {
        double product[NPI_HEAD_MOST] = {0}, magnitude[NPI_HEAD_MOST] = {0}; /* T_i and the same of magnitudes */
        double middle = 4 * (double)head->line[i], first = 0, second = 0, both = 0;
        for (int k = 0; k < h; k++) {
            double weight = (double)head->w1[i * h + k];
            first += fabs(weight * onward[k]);
            for (int j = 0; j < h; j++) {
                product[j] += weight * (double)head->w2[k * h + j];
                magnitude[j] += fabs(weight * (double)head->w2[k * h + j]);
            }
        }
        for (int j = 0; j < h; j++) {
            middle += product[j] * (double)head->w3[j];
            second += fabs(product[j] * (double)head->w3[j]);
            both += magnitude[j] * fabs((double)head->w3[j]);
        }
        out->column[i] = (fabs(middle) + first + second + both) / 4;
        out->least[i] = (middle - first - second - both) / 4;
        out->most[i] = (middle + first + second + both) / 4;
        out->terms += fabs((double)head->line[i]) + both;
    }
}
