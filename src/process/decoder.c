#include "process/decoder.h"

#include <string.h>

#include "linalg/dense.h"
#include "process/layers.h"

int npi_process_decoder_new(npi_process_decoder *out, npi_process_sizes z, int capacity, const npgnn_env *env,
                            npgnn_error *err)
{
    size_t c = (size_t)capacity, e = (size_t)z.e, h = (size_t)z.h;
    npi_process_decoder n = {.size = z, .capacity = capacity};
    n.film = npi_alloc(env, 2 * (4 * h + e + 1) + c * (e + 6 * h), sizeof *n.film, err);
    if (!n.film)
        return NPGNN_E_MEMORY;
    n.line = n.film + 4 * h;
    n.dfilm = n.line + e + 1;
    n.dline = n.dfilm + 4 * h;
    n.input = n.dline + e + 1;
    n.x1 = n.input + c * e;
    n.x2 = n.x1 + c * h;
    n.h1 = n.x2 + c * h;
    n.h2 = n.h1 + c * h;
    n.dx = n.h2 + c * h;
    n.dh = n.dx + c * h;
    *out = n;
    return 0;
}

void npi_process_decoder_free(const npgnn_env *env, npi_process_decoder *decoder)
{
    npi_free(env, decoder->film);
    memset(decoder, 0, sizeof *decoder);
}

/* h = relu(x (1 + scale) + shift), row by row. */
static void modulate(real *hidden, const real *x, const real *scale, const real *shift, int rows, int h)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < h; j++) {
            real u = x[i * h + j] * (1 + scale[j]) + shift[j];
            hidden[i * h + j] = u > 0 ? u : 0;
        }
}

/* du = dh relu'(u);  dx = du (1 + scale),  dscale += Σ du x,  dshift += Σ du. dx may be dh. */
static void modulate_backward(real *dx, real *dscale, real *dshift, const real *dh, const real *hidden, const real *x,
                              const real *scale, int rows, int h)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < h; j++) {
            real du = hidden[i * h + j] > 0 ? dh[i * h + j] : 0;
            dscale[j] += du * x[i * h + j];
            dshift[j] += du;
            dx[i * h + j] = du * (1 + scale[j]);
        }
}

void npi_process_decode(real *score, npi_process_decoder *n, const npi_process_params *p, const float *evidence,
                        const real *z, int count)
{
    int e = p->size.e, h = p->size.h, d = p->size.d;
    npi_layer_forward(n->film, z, p->film_w, p->film_b, 1, d, 4 * h); /* [a1 a2 a3 a4] = z film_w + film_b */
    npi_layer_forward(n->line, z, p->line_w, p->line_b, 1, d, e + 1); /* [w ; w0] = z line_w + line_b */
    const real *a = n->film;
    for (int i = 0; i < count * e; i++)
        n->input[i] = (real)evidence[i];
    npi_layer_forward(n->x1, n->input, p->score_w1, p->score_b1, count, e, h); /* x1 = e W1 + b1 */
    modulate(n->h1, n->x1, a, a + h, count, h);                                /* h1 = relu(x1 (1 + a1) + a2) */
    npi_layer_forward(n->x2, n->h1, p->score_w2, p->score_b2, count, h, h);    /* x2 = h1 W2 + b2 */
    modulate(n->h2, n->x2, a + 2 * h, a + 3 * h, count, h);                    /* h2 = relu(x2 (1 + a3) + a4) */
    for (int i = 0; i < count; i++) {                                          /* score = h2 · w3 + b3 + e · w + w0 */
        double sum = (double)p->score_b3[0] + (double)n->line[e];
        for (int j = 0; j < h; j++)
            sum += (double)n->h2[i * h + j] * (double)p->score_w3[j];
        for (int j = 0; j < e; j++)
            sum += (double)n->input[i * e + j] * (double)n->line[j];
        score[i] = (real)sum;
    }
}

void npi_process_decode_backward(npi_process_params *g, real *dz, npi_process_decoder *n, const npi_process_params *p,
                                 const real *z, const real *dscore, int count)
{
    int e = p->size.e, h = p->size.h, d = p->size.d;
    const real *a = n->film;
    real *dfilm = n->dfilm, *dline = n->dline;

    /* score = h2 · w3 + b3 + e · w + w0:  dh2 = dscore w3,  dw3 += h2ᵀ dscore,  dw = eᵀ dscore,  dw0 = db3 = Σ
     * dscore */
    memset(dline, 0, (size_t)(e + 1) * sizeof *dline);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < h; j++) {
            n->dh[i * h + j] = dscore[i] * p->score_w3[j];
            g->score_w3[j] += dscore[i] * n->h2[i * h + j];
        }
        for (int j = 0; j < e; j++)
            dline[j] += dscore[i] * n->input[i * e + j];
        dline[e] += dscore[i];
    }
    g->score_b3[0] += dline[e];

    /* second hidden layer, then the first */
    memset(dfilm, 0, (size_t)(4 * h) * sizeof *dfilm);
    modulate_backward(n->dx, dfilm + 2 * h, dfilm + 3 * h, n->dh, n->h2, n->x2, a + 2 * h, count, h);
    npi_layer_backward(n->dh, g->score_w2, g->score_b2, n->dx, n->h1, p->score_w2, count, h, h);
    modulate_backward(n->dx, dfilm, dfilm + h, n->dh, n->h1, n->x1, a, count, h);
    npi_layer_backward(NULL, g->score_w1, g->score_b1, n->dx, n->input, p->score_w1, count, e, h);

    /* z film_w + film_b and z line_w + line_b:  dz += W d·,  dW += z ⊗ d·,  db += d· */
    for (int i = 0; i < d; i++) {
        double sum = 0;
        for (int j = 0; j < 4 * h; j++) {
            sum += (double)p->film_w[i * 4 * h + j] * (double)dfilm[j];
            g->film_w[i * 4 * h + j] += z[i] * dfilm[j];
        }
        for (int j = 0; j <= e; j++) {
            sum += (double)p->line_w[i * (e + 1) + j] * (double)dline[j];
            g->line_w[i * (e + 1) + j] += z[i] * dline[j];
        }
        dz[i] += (real)sum;
    }
    for (int j = 0; j < 4 * h; j++)
        g->film_b[j] += dfilm[j];
    for (int j = 0; j <= e; j++)
        g->line_b[j] += dline[j];
}
