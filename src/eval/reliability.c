/* Calibration of predicted probabilities p against labels y: with pairs in bins b of similar p,
 *
 *     expected calibration error = Σ_b |Σ p - Σ y| / Σ_b pairs,    log loss = mean of -log p(y),    Brier = mean of (p - y)²
 *
 * and the expected and observed number of links among the most probable 10, 100 and 1000 pairs. */
#include <math.h>
#include <string.h>

#include "eval/ranking.h"

#define SMALLEST 1e-12 /* a pair that was called impossible costs the logarithm of this, not infinity */

static const double tops[NPGNN_TOPS] = {10, 100, 1000};

/* A set of pairs: its size, the sum of the predicted probabilities and the number of links. */
typedef struct pair_set {
    double pairs, predicted, links;
} pair_set;

/* All results are sums over the groups of equal probability, from the highest down. */
typedef struct tally {
    double links, weight;  /* of all; of one non-link, a link weighing 1 */
    double prior, balance; /* the factor of odds between the rate and 1/2; weight of a non-link there */
    pair_set width[NPGNN_BINS], balanced[NPGNN_BINS], quantile[NPGNN_BINS];
    pair_set top[NPGNN_TOPS];
    double log_loss, brier;
    pair_set seen;
} tally;

static void set_add(pair_set *h, double links, double others, double probability)
{
    h->pairs += links + others;
    h->predicted += (links + others) * probability;
    h->links += links;
}

static int bin_of(double probability)
{
    int bin = (int)(probability * NPGNN_BINS);
    return bin < NPGNN_BINS ? bin : NPGNN_BINS - 1;
}

/* Which tenth of the links comes next. */
static int quantile_of(const tally *t)
{
    int bin = (int)(t->seen.links / t->links * NPGNN_BINS + 1e-9);
    return bin < NPGNN_BINS ? bin : NPGNN_BINS - 1;
}

/* The part of a group that still belongs to the first K. */
static void fill_top(pair_set *top, double most, double links, double others, double probability)
{
    double left = most - top->pairs, share = left / (links + others);
    if (left > 0)
        set_add(top, links * fmin(share, 1), others * fmin(share, 1), probability);
}

static void tally_add(tally *t, const npi_group *g)
{
    double p = (double)g->score, links = g->positives, others = t->weight * g->negatives;
    double odds = t->prior * p, even = p < 1 ? odds / (odds + 1 - p) : 1;
    set_add(&t->width[bin_of(p)], links, others, p);
    set_add(&t->balanced[bin_of(even)], links, t->balance * g->negatives, even);
    set_add(&t->quantile[quantile_of(t)], links, others, p);
    for (int i = 0; i < NPGNN_TOPS; i++)
        fill_top(&t->top[i], tops[i], links, others, p);
    t->log_loss -= links * log(fmax(p, SMALLEST)) + others * log(fmax(1 - p, SMALLEST));
    t->brier += links * (1 - p) * (1 - p) + others * p * p;
    set_add(&t->seen, links, others, p);
}

/* The mean over the pairs of |mean probability - fraction of links| of their bin. */
static double expected_error(const pair_set bins[NPGNN_BINS])
{
    double error = 0, pairs = 0;
    for (int i = 0; i < NPGNN_BINS; i++) {
        error += fabs(bins[i].predicted - bins[i].links);
        pairs += bins[i].pairs;
    }
    return error / pairs;
}

/* The same, with each bin weighted by its number of links. */
static double expected_link_error(const pair_set bins[NPGNN_BINS])
{
    double error = 0, links = 0;
    for (int i = 0; i < NPGNN_BINS; i++) {
        if (bins[i].pairs > 0)
            error += bins[i].links * fabs(bins[i].predicted - bins[i].links) / bins[i].pairs;
        links += bins[i].links;
    }
    return error / links;
}

static npgnn_bin mean_of(const pair_set *h)
{
    return (npgnn_bin){h->pairs, h->predicted / h->pairs, h->links / h->pairs};
}

/* The first `most` pairs. Where one tested non-link stands for many (its weight), the number of links among few pairs
 * cannot be measured: NaN. */
static npgnn_bin top_of(const pair_set *h, double most, double weight)
{
    double rounding = 1 + 1e-9;
    int measured = h->pairs * rounding >= most && most * rounding >= 10 * weight;
    return measured ? mean_of(h) : (npgnn_bin){most, h->pairs > 0 ? h->predicted / h->pairs : (double)NAN, (double)NAN};
}

static int check_probabilities(const float *p, size_t count, const char *of, npgnn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(p[i] >= 0 && p[i] <= 1))
            return npi_fail(err, NPGNN_E_ARGUMENT, "the probability of %s %zu is %g", of, i, (double)p[i]);
    return 0;
}

int npgnn_calibration_measure(npgnn_calibration *out, const float *positive, const float *negative, size_t positives,
                              size_t negatives, double link_rate, const npgnn_env *env, npgnn_error *err)
{
    npi_ranking ranking;
    npi_group group = {0};
    if (!(link_rate > 0 && link_rate < 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "a link rate of %g: it is a share of the pairs, 0 < rate < 1",
                        link_rate);
    int code = check_probabilities(positive, positives, "link", err);
    if (!code)
        code = check_probabilities(negative, negatives, "non-link", err);
    if (!code)
        code = npi_ranking_new(&ranking, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    double balance = (double)positives / (double)negatives, prior = (1 - link_rate) / link_rate;
    tally t = {.links = (double)positives, .weight = prior * balance, .prior = prior, .balance = balance};
    while (npi_ranking_next(&group, &ranking))
        tally_add(&t, &group);
    npi_ranking_free(&ranking);

    *out = (npgnn_calibration){.link_rate = link_rate,
                               .ece = expected_error(t.width),
                               .balanced_ece = expected_error(t.balanced),
                               .link_ece = expected_link_error(t.quantile),
                               .log_loss = t.log_loss / t.seen.pairs,
                               .brier = t.brier / t.seen.pairs};
    /* relative to the log loss of predicting the link rate for every pair */
    out->skill = 1 - out->log_loss / -(link_rate * log(link_rate) + (1 - link_rate) * log1p(-link_rate));
    for (int i = 0; i < NPGNN_BINS; i++)
        out->bins[i] = mean_of(&t.quantile[i]);
    for (int i = 0; i < NPGNN_TOPS; i++)
        out->top[i] = top_of(&t.top[i], tops[i], t.weight);
    return 0;
}
