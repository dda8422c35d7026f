#include "process/process.h"

#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/kernels.h"

int npi_process_new(npi_process *out, npi_process_sizes size, int feature_columns, const npgnn_env *env,
                    npgnn_error *err)
{
    npi_process p = {.columns = size.e, .feature_columns = feature_columns};
    size_t e = (size_t)size.e;
    int code = npi_process_params_new(&p.params, size, env, err);
    if (code)
        return code;
    p.mean = npi_alloc(env, 2 * e, sizeof *p.mean, err);
    if (!p.mean) {
        npi_process_params_free(env, &p.params);
        return NPGNN_E_MEMORY;
    }
    p.deviation = p.mean + e;
    *out = p;
    return 0;
}

void npi_process_free(const npgnn_env *env, npi_process *process)
{
    npi_process_params_free(env, &process->params);
    npi_free(env, process->mean);
    npi_free(env, process->z);
    npi_head_free(env, &process->change);
    npi_projection_free(env, &process->projection);
    memset(process, 0, sizeof *process);
}

int npi_process_copy(npi_process *out, const npi_process *process, const npgnn_env *env, npgnn_error *err)
{
    npi_process_sizes size = process->params.size;
    int code = npi_process_new(out, size, process->feature_columns, env, err);
    if (code)
        return code;
    memcpy(out->params.block, process->params.block, process->params.count * sizeof *process->params.block);
    memcpy(out->mean, process->mean, 2 * (size_t)size.e * sizeof *process->mean);
    if (!process->z)
        return 0;
    const npi_projection *p = &process->projection;
    code = npi_process_make_tuned(out, process->columns, env, err);
    if (!code && p->width > 0)
        code = npi_projection_new(&out->projection, p->f, p->width, env, err);
    if (code) {
        npi_process_free(env, out);
        return code;
    }
    memcpy(out->mean, process->mean, 2 * (size_t)process->columns * sizeof *process->mean);
    memcpy(out->z, process->z, 2 * (size_t)size.d * sizeof *process->z);
    memcpy(out->change.block, process->change.block, process->change.count * sizeof *process->change.block);
    if (p->width > 0)
        memcpy(out->projection.weight, p->weight, npi_projection_count(p) * sizeof *p->weight);
    return 0;
}

int npi_process_make_tuned(npi_process *p, int columns, const npgnn_env *env, npgnn_error *err)
{
    npi_process_sizes size = p->params.size;
    float *mean = npi_alloc(env, 2 * (size_t)columns, sizeof *mean, err), *deviation = mean ? mean + columns : NULL;
    p->z = npi_alloc(env, 2 * (size_t)size.d, sizeof *p->z, err);
    int code = mean && p->z ? npi_head_new(&p->change, columns, size.h, env, err) : NPGNN_E_MEMORY;
    if (code) {
        npi_free(env, mean);
        return code;
    }
    for (int c = 0; c < columns; c++) {
        mean[c] = c < p->columns ? p->mean[c] : 0;
        deviation[c] = c < p->columns ? p->deviation[c] : 1;
    }
    npi_free(env, p->mean);
    p->mean = mean;
    p->deviation = deviation;
    p->columns = columns;
    return 0;
}

int npi_process_infer(real *mean, real *precision, const npi_process *p, const float *link, size_t links,
                      const float *non_link, size_t non_links, const npgnn_env *env, npgnn_error *err)
{
    enum { MAX_VOTES = 256 };
    size_t e = (size_t)p->params.size.e, votes = links < MAX_VOTES ? links : MAX_VOTES;
    votes = non_links < votes ? non_links : votes;
    npi_process_encoder encoder = {0};
    float *evidence = npi_alloc(env, 2 * votes * e, sizeof *evidence, err);
    float *label = npi_alloc(env, 2 * votes, sizeof *label, err);
    int code = evidence && label ? npi_process_encoder_new(&encoder, p->params.size, (int)(2 * votes), env, err)
                                 : NPGNN_E_MEMORY;
    if (!code) {
        for (size_t i = 0; i < votes; i++) {
            memcpy(evidence + i * e, link + i * (size_t)p->columns, e * sizeof *evidence);
            memcpy(evidence + (votes + i) * e, non_link + i * (size_t)p->columns, e * sizeof *evidence);
        }
        for (size_t i = 0; i < 2 * votes; i++)
            label[i] = i < votes ? 1 : -1;
        const npi_process_context context = {evidence, label, (int)(2 * votes)};
        npi_blas_begin(1);
        npi_process_encode(mean, precision, &encoder, &p->params, &context);
        npi_blas_end(1);
    }
    npi_process_encoder_free(env, &encoder);
    npi_free(env, evidence);
    npi_free(env, label);
    return code ? code : (int)votes;
}

void npi_process_head(npi_head *head, const npi_process *p, const real *z)
{
    npi_head_specialize(head, &p->params, z);
    for (size_t i = 0; p->z && i < head->count; i++)
        head->block[i] += p->change.block[i];
}

static float standardize(float value, float mean, float deviation)
{
    float units = (value - mean) / deviation;
    return units > NPI_CLIP ? NPI_CLIP : units < -NPI_CLIP ? -NPI_CLIP : units;
}

void npi_process_standardize(float *evidence, const npi_process *p, int has_features, size_t count)
{
    int e = p->columns, first = has_features ? 0 : p->feature_columns;
    for (size_t i = 0; i < count; i++) {
        float *row = evidence + i * (size_t)e;
        for (int c = 0; c < first; c++)
            row[c] = 0;
        for (int c = first; c < e; c++)
            row[c] = standardize(row[c], p->mean[c], p->deviation[c]);
    }
}

void npi_process_standardize_columns(real *evidence, const npi_process *p, int has_features, size_t count)
{
    for (int c = 0; c < p->columns; c++, evidence += count) {
        if (!has_features && c < p->feature_columns) {
            memset(evidence, 0, count * sizeof *evidence);
            continue;
        }
        npi_kernels_best()->standardize(evidence, (real)p->mean[c], (real)p->deviation[c], NPI_CLIP, (int64_t)count);
    }
}

/* A bound of | x W + b | for | x | <= bound, W (in, cols); b may be NULL. */
static double layer_bound(const real *w, const real *b, int in, int cols, double bound)
{
    double largest = 0;
    for (int j = 0; j < cols; j++) {
        double sum = b ? fabs((double)b[j]) : 0;
        for (int i = 0; i < in; i++)
            sum += bound * fabs((double)w[i * cols + j]);
        largest = sum > largest || isnan(sum) ? sum : largest;
    }
    return largest;
}

double npi_process_bound(const npi_process *process)
{
    const npi_process_params *p = &process->params;
    const npi_head *change = process->z ? &process->change : NULL;
    const double deviations = 6; /* of a draw of z from its mean: more do not occur */
    int e = p->size.e, h = p->size.h, d = p->size.d;
    /* z is a weighted mean of votes and prior, or given; it is drawn around that. No precision of it is below 0.001 */
    double vote1 = layer_bound(p->vote_w1, p->vote_b1, 2 * e + 1, h, NPI_CLIP);
    double vote2 = layer_bound(p->vote_w2, p->vote_b2, h, h, vote1);
    double vote = layer_bound(p->vote_w3, p->vote_b3, h, 2 * d, vote2), z = 0;
    for (int c = 0; c < 2 * d; c++)
        vote = fmax(vote, fabs((double)p->prior[c]));
    z = vote + deviations / sqrt(0.001);
    for (int c = 0; change && c < d; c++)
        z = fmax(z, fabs((double)process->z[c]) + deviations / sqrt((double)process->z[d + c]));
    /* the head at z, and what tuning added to it */
    double film = 1 + layer_bound(p->film_w, p->film_b, d, 4 * h, z);
    double h1 = layer_bound(p->score_w1, p->score_b1, e, h, NPI_CLIP) * film + film;
    h1 += change ? layer_bound(change->w1, change->b1, change->e, h, NPI_CLIP) : 0;
    double h2 = layer_bound(p->score_w2, p->score_b2, h, h, h1) * film + film;
    h2 += change ? layer_bound(change->w2, change->b2, h, h, h1) : 0;
    double score = layer_bound(p->score_w3, p->score_b3, h, 1, h2);
    score += layer_bound(p->line_w, p->line_b, d, e + 1, z) * (e * NPI_CLIP + 1);
    if (change)
        score +=
            layer_bound(change->w3, change->shift, h, 1, h2) + layer_bound(change->line, NULL, change->e, 1, NPI_CLIP);
    return fmax(fmax(fmax(vote1, vote2), fmax(vote, film)), fmax(fmax(h1, h2), score)) + 0 * score; /* NaN stays NaN */
}
