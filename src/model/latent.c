/* The latent variable z, forward and backward (docs/understand/math.md, (4), (5), (10), (B4), (B5), (B10)). A
 * distribution is q (2, d): its mean mu, then lambda = log sigma.
 *
 *     mu_c = mean over nodes of r_ic                                       vector
 *     lambda_c = start + mean over nodes of r_i,d+c                        mean-log
 *              = start + log(mean over nodes of exp(r_i,d+c))              log-mean
 *
 *     z = mu + exp(lambda) ⊙ epsilon
 *     KL[q || p] = Σ_c lambda_p - lambda_q + (exp(2 (lambda_q - lambda_p)) + (mu_q - mu_p)² exp(-2 lambda_p) - 1) / 2
 *
 * r (n, 2 d) is the output of the encoder. With the option scalar, the means are over nodes and dimensions, and all d
 * entries are equal. */
#include "model/latent.h"

#include <math.h>

#include "model/options.h"

/* Sums over nodes go part by part, and the parts in order, as in every sum over nodes (base/partition.h). */
typedef struct means_sum {
    const real *r; /* (rows of this process, 2 d) */
    int d, first, members, exponent;
    const npi_partition *rows;
    double *top, *sum; /* (groups) */
} means_sum;

/* top[g] = the largest value of group g */
static void find_tops(void *arg, int64_t begin, int64_t end)
{
    const means_sum *m = arg;
    for (int64_t group = begin; group < end; group++)
        for (int64_t i = 0; i < m->rows->to - m->rows->from; i++)
            for (int c = 0; c < m->members; c++)
                m->top[group] = fmax(m->top[group], (double)m->r[i * 2 * m->d + m->first + group * m->members + c]);
}

/* sum[g] += Σ r, or Σ exp(r - top[g]) */
static void add_sums(void *arg, int64_t begin, int64_t end)
{
    const means_sum *m = arg;
    const npi_partition *rows = m->rows;
    for (int64_t group = begin; group < end; group++)
        for (int32_t part = rows->part; part < rows->part_end; part++) {
            double sum = 0;
            for (int64_t i = npi_part_start(rows, part) - rows->from; i < npi_part_start(rows, part + 1) - rows->from;
                 i++)
                for (int c = 0; c < m->members; c++) {
                    double value = (double)m->r[i * 2 * m->d + m->first + group * m->members + c];
                    sum += m->exponent ? exp(value - m->top[group]) : value;
                }
            m->sum[group] += sum;
        }
}

/* out (d) = the means of the d columns of r (n, 2 d) from `first` on; with `scalar` the mean over all of them, d times.
 * With `exponent`, log(mean(exp(r))), computed relative to the largest value so that nothing overflows. */
static void column_means(real *out, const real *r, const npi_partition *rows, int d, int first, int scalar,
                         int exponent)
{
    double top[NPI_MAX_WIDTH], sum[NPI_MAX_WIDTH] = {0};
    int groups = scalar ? 1 : d, members = scalar ? d : 1;
    means_sum m = {r, d, first, members, exponent, rows, top, sum};
    for (int group = 0; group < groups; group++)
        top[group] = -HUGE_VAL;
    if (exponent)
        npi_comm_chain(rows->comm, top, groups, sizeof *top, groups, find_tops, &m);
    npi_comm_chain(rows->comm, sum, groups, sizeof *sum, groups, add_sums, &m);
    for (int group = 0; group < groups; group++) {
        double mean = sum[group] / ((double)rows->n * members); /* of r, or of exp(r - top) */
        for (int c = 0; c < members; c++)
            out[group * members + c] = (real)(exponent ? top[group] + log(mean) : mean);
    }
}

static void shift(real *values, int count, double by)
{
    for (int c = 0; c < count; c++)
        values[c] = (real)((double)values[c] + by);
}

void npi_latent_aggregate_forward(real *q, const real *r, const npi_partition *rows, int d, npgnn_aggregate how,
                                  npgnn_sigma_mean sigma, double start)
{
    column_means(q, r, rows, d, 0, how == NPGNN_SCALAR, 0);
    column_means(q + d, r, rows, d, d, how == NPGNN_SCALAR, sigma == NPGNN_LOG_MEAN);
    shift(q + d, d, start);
}

static double total(const real *values, int count)
{
    double sum = 0;
    for (int c = 0; c < count; c++)
        sum += (double)values[c];
    return sum;
}

void npi_latent_aggregate_backward(real *dr, const real *dq, const real *q, const real *r, const npi_partition *rows,
                                   int d, npgnn_aggregate how, npgnn_sigma_mean sigma, double start)
{
    int scalar = how == NPGNN_SCALAR;
    double members = (double)rows->n * (scalar ? d : 1);
    double sums[2] = {total(dq, d), total(dq + d, d)};
    for (int64_t i = 0; i < rows->to - rows->from; i++)
        for (int c = 0; c < 2 * d; c++) {
            /* with `scalar` every member contributes to all d entries of q */
            double up = scalar ? sums[c >= d] : (double)dq[c];
            /* d log(mean exp r) / d r = exp(r - log mean) / members */
            double share = c >= d && sigma == NPGNN_LOG_MEAN ? exp((double)r[i * 2 * d + c] + start - (double)q[c]) : 1;
            dr[i * 2 * d + c] = (real)(up * share / members);
        }
}

/* q = mean (2 d), or with NPGNN_SCALAR the mean over the dimensions, d times. This map is symmetric: it is also its own
 * backward pass. */
static void average_dimensions(real *q, const real *mean, int d, npgnn_aggregate how)
{
    double means[2] = {total(mean, d) / d, total(mean + d, d) / d};
    for (int c = 0; c < 2 * d; c++)
        q[c] = how == NPGNN_SCALAR ? (real)means[c >= d] : mean[c];
}

void npi_latent_mean_forward(real *q, const real *mean, int d, npgnn_aggregate how, double start)
{
    average_dimensions(q, mean, d, how);
    shift(q + d, d, start);
}

void npi_latent_mean_backward(real *dmean, const real *dq, int d, npgnn_aggregate how)
{
    average_dimensions(dmean, dq, d, how);
}

void npi_latent_sample_forward(real *z, const real *q, const real *epsilon, int d)
{
    for (int c = 0; c < d; c++)
        z[c] = epsilon ? (real)((double)q[c] + exp((double)q[d + c]) * (double)epsilon[c]) : q[c];
}

void npi_latent_sample_backward(real *dq, const real *dz, const real *q, const real *epsilon, int d)
{
    for (int c = 0; c < d; c++) {
        /* dmu += dz, dlambda += dz ⊙ sigma ⊙ epsilon */
        dq[c] += dz[c];
        if (epsilon)
            dq[d + c] += (real)((double)dz[c] * exp((double)q[d + c]) * (double)epsilon[c]);
    }
}

double npi_latent_kl(real *dq, real *dp, const real *q, const real *p, int d, double weight)
{
    double kl = 0;
    for (int c = 0; c < d; c++) {
        double apart = (double)q[c] - (double)p[c];                    /* mu_q - mu_p */
        double precision = exp(-2 * (double)p[d + c]);                 /* 1 / sigma_p² */
        double ratio = exp(2 * ((double)q[d + c] - (double)p[d + c])); /* sigma_q² / sigma_p² */
        kl += (double)p[d + c] - (double)q[d + c] + (ratio + apart * apart * precision - 1) / 2;
        if (!dq)
            continue;
        /* its derivatives by mu_q, mu_p, lambda_q, lambda_p: (B10) */
        dq[c] += (real)(weight * apart * precision);
        dp[c] -= (real)(weight * apart * precision);
        dq[d + c] += (real)(weight * (ratio - 1));
        dp[d + c] += (real)(weight * (1 - ratio - apart * apart * precision));
    }
    return kl;
}
