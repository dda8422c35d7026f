#include "process/encoder.h"

#include <string.h>

#include "linalg/dense.h"
#include "process/layers.h"

#define LEAST_PRECISION 1e-3
#define PRIOR_SHIFT 0.54 /* softplus(0.54) = 1: before training, z is about standard normal */

int npi_process_encoder_new(npi_process_encoder *out, npi_process_sizes z, int capacity, const npgnn_env *env,
                            npgnn_error *err)
{
    size_t c = (size_t)capacity, e = (size_t)z.e, h = (size_t)z.h, d = (size_t)z.d;
    npi_process_encoder n = {.size = z, .capacity = capacity};
    real *block = npi_alloc(env, c * (2 * e + 1 + 3 * h + 4 * d), sizeof *block, err);
    if (!block)
        return NPGNN_E_MEMORY;
    n.input = block;
    n.h1 = n.input + c * (2 * e + 1);
    n.h2 = n.h1 + c * h;
    n.dh = n.h2 + c * h;
    n.vote = n.dh + c * h;
    n.dvote = n.vote + c * 2 * d;
    *out = n;
    return 0;
}

void npi_process_encoder_free(const npgnn_env *env, npi_process_encoder *encoder)
{
    npi_free(env, encoder->input);
    memset(encoder, 0, sizeof *encoder);
}

void npi_process_encode(real *mean, real *precision, npi_process_encoder *n, const npi_process_params *p,
                        const npi_process_context *context)
{
    int e = p->size.e, h = p->size.h, d = p->size.d, count = context->count, wide = 2 * e + 1;

    /* votes = relu(relu([e ; y ; y e] W1 + b1) W2 + b2) W3 + b3 */
    for (int i = 0; i < count; i++) {
        real *row = n->input + i * wide, label = (real)context->label[i];
        row[e] = label;
        for (int j = 0; j < e; j++) {
            row[j] = (real)context->evidence[i * e + j];
            row[e + 1 + j] = label * row[j];
        }
    }
    npi_layer_forward(n->h1, n->input, p->vote_w1, p->vote_b1, count, wide, h);
    npi_relu(n->h1, count * h);
    npi_layer_forward(n->h2, n->h1, p->vote_w2, p->vote_b2, count, h, h);
    npi_relu(n->h2, count * h);
    npi_layer_forward(n->vote, n->h2, p->vote_w3, p->vote_b3, count, h, 2 * d);

    /* λ = λ_0 + Σ λ_p,  mean = (λ_0 m_0 + Σ λ_p m_p) / λ */
    for (int c = 0; c < d; c++) {
        double total = npi_softplus((double)p->prior[d + c] + PRIOR_SHIFT) + LEAST_PRECISION;
        double weighted = total * (double)p->prior[c];
        for (int i = 0; i < count; i++) {
            double lambda = npi_softplus((double)n->vote[i * 2 * d + d + c]);
            total += lambda;
            weighted += lambda * (double)n->vote[i * 2 * d + c];
        }
        precision[c] = (real)total;
        mean[c] = (real)(weighted / total);
    }
}

void npi_process_encode_backward(npi_process_params *g, npi_process_encoder *n, const npi_process_params *p,
                                 const npi_process_context *context, const real *mean, const real *precision,
                                 const real *dmean, const real *dprecision)
{
    int h = p->size.h, d = p->size.d, count = context->count, wide = 2 * p->size.e + 1;

    /* mean = weighted / λ:  dweighted = dmean / λ,  dλ = dprecision - dmean mean / λ;
     * λ and weighted are sums over the prior and the votes:  dλ_p = dλ + dweighted m_p,  dm_p = dweighted λ_p */
    for (int c = 0; c < d; c++) {
        double dweighted = (double)dmean[c] / (double)precision[c];
        double dlambda = (double)dprecision[c] - dweighted * (double)mean[c];
        double m0 = (double)p->prior[c], raw = (double)p->prior[d + c] + PRIOR_SHIFT;
        g->prior[c] += (real)(dweighted * (npi_softplus(raw) + LEAST_PRECISION));
        g->prior[d + c] += (real)((dlambda + dweighted * m0) * npi_logistic_of(raw));
        for (int i = 0; i < count; i++) {
            const real *vote = n->vote + i * 2 * d;
            real *dvote = n->dvote + i * 2 * d;
            dvote[c] = (real)(dweighted * npi_softplus((double)vote[d + c]));
            dvote[d + c] = (real)((dlambda + dweighted * (double)vote[c]) * npi_logistic_of((double)vote[d + c]));
        }
    }

    /* the three layers of the votes, last first */
    npi_layer_backward(n->dh, g->vote_w3, g->vote_b3, n->dvote, n->h2, p->vote_w3, count, h, 2 * d);
    npi_relu_backward(n->dh, n->h2, count * h);
    real *dh1 = n->h2; /* h2 is not needed any more */
    npi_layer_backward(dh1, g->vote_w2, g->vote_b2, n->dh, n->h1, p->vote_w2, count, h, h);
    npi_relu_backward(dh1, n->h1, count * h);
    npi_layer_backward(NULL, g->vote_w1, g->vote_b1, dh1, n->input, p->vote_w1, count, wide, h);
}
