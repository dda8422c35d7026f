#include "predict/fit.h"

#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "model/carry.h"
#include "process/stack.h"

/* ---- samples ---- */

static int reserve(npi_picked *s, size_t links, size_t others, size_t randoms, const npgnn_env *env, npgnn_error *err)
{
    *s = (npi_picked){.links = links, .others = others, .randoms = randoms};
    s->link = npi_alloc(env, links + others + randoms, sizeof *s->link, err);
    if (!s->link)
        return NPGNN_E_MEMORY;
    s->other = s->link + links;
    s->random = s->other + others;
    return 0;
}

int npi_picked_all(npi_picked *out, const npi_examples *x, const npgnn_env *env, npgnn_error *err)
{
    size_t randoms = 0;
    for (size_t i = 0; i < x->others; i++)
        randoms += x->other_kind[i] != NPI_EXAMPLE_NEAR;
    int code = reserve(out, x->links, x->others, randoms, env, err);
    for (size_t i = 0; !code && i < x->links; i++)
        out->link[i] = i;
    for (size_t i = 0, random = 0; !code && i < x->others; i++) {
        out->other[i] = i;
        if (x->other_kind[i] != NPI_EXAMPLE_NEAR)
            out->random[random++] = i;
    }
    return code;
}

static void draw_with_replacement(size_t *out, size_t count, const size_t *from, size_t from_count, npi_rng *rng)
{
    /* about a third of the examples is left out, others count twice or more */
    for (size_t i = 0; i < count; i++)
        out[i] = from[npi_rng_below(rng, from_count)];
}

int npi_picked_draw(npi_picked *out, const npi_picked *all, size_t most, uint64_t seed, int draw, const npgnn_env *env,
                    npgnn_error *err)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_RESAMPLE, (uint32_t)draw);
    int code = reserve(out, all->links, all->others < most ? all->others : most, all->randoms, env, err);
    if (!code) {
        /* links and random non-links tell the head; all non-links, with their weights, the calibration */
        draw_with_replacement(out->link, out->links, all->link, all->links, &rng);
        draw_with_replacement(out->random, out->randoms, all->random, all->randoms, &rng);
        draw_with_replacement(out->other, out->others, all->other, all->others, &rng);
    }
    return code;
}

void npi_picked_free(const npgnn_env *env, npi_picked *sample)
{
    npi_free(env, sample->link);
    *sample = (npi_picked){0};
}

/* ---- the head ---- */

int npi_fit_head(npi_head *head, const npi_examples *x, const npi_picked *s, const npgnn_env *env, npgnn_error *err)
{
    /* as many non-links as links: scores are log-odds at even odds, whatever the calibration makes of them */
    size_t e = (size_t)head->e, others = s->randoms < s->links ? s->randoms : s->links;
    float *evidence = npi_alloc(env, s->links + others, e * sizeof *evidence, err); /* (links + others, e) */
    double *weights = npi_alloc(env, e + 2, sizeof *weights, err);
    int code = evidence && weights ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < s->links; i++)
        memcpy(evidence + i * e, x->link + s->link[i] * e, e * sizeof *evidence);
    for (size_t i = 0; !code && i < others; i++)
        memcpy(evidence + (s->links + i) * e, x->other + s->random[i] * e, e * sizeof *evidence);
    /* head' = w_s head + e · w_e + b */
    if (!code)
        code = npi_head_stack(weights, head, evidence, s->links, s->links + others, env, err);
    if (!code)
        npi_head_apply(head, weights);
    npi_free(env, evidence);
    npi_free(env, weights);
    return code;
}

/* ---- the calibration ---- */

typedef struct score_loop {
    float *score;
    const npi_head *head;
    const float *evidence; /* (.., e) */
    const size_t *list;    /* (count) rows of it */
} score_loop;

static void score_listed(const void *arg, int64_t first, int64_t last)
{
    const score_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->score[i] = npi_head_score(l->head, l->evidence + l->list[i] * (size_t)l->head->e);
}

/* score (count) of some rows of evidence */
static void score_rows(float *score, const npi_head *head, const float *evidence, const size_t *list, size_t count,
                       int threads)
{
    const score_loop loop = {score, head, evidence,
                             list}; /* each score depends on its row alone: any number of threads */
    npi_parallel(threads, (int64_t)count, 256, score_listed, &loop);
}

int npi_fit_calibration(npi_calibration *out, const npi_head *head, const npi_examples *x, const npi_picked *s,
                        const float *again, const npgnn_env *env, npgnn_error *err)
{
    float *link = npi_resize(env, NULL, s->links + 3 * s->others, sizeof *link, err);
    if (!link)
        return NPGNN_E_MEMORY;
    float *thin = link + s->links, *full = thin + s->others, *weight = full + s->others; /* (others) each */
    npi_carry carry;
    /* the same non-links twice: from the links that were left, as the hidden links are scored, and from all links */
    score_rows(link, head, x->link, s->link, s->links, env->threads);
    score_rows(thin, head, x->other, s->other, s->others, env->threads);
    score_rows(full, head, again, s->other, s->others, env->threads);
    for (size_t i = 0; i < s->others; i++)
        weight[i] = x->other_weight[s->other[i]];
    /* new nodes have no links in either graph: their scores are what they will be */
    int code = npi_carry_make(&carry, thin, full, weight, s->others, env, err);
    for (size_t i = 0; !code && i < s->links; i++)
        if (x->link_kind[s->link[i]] != NPI_EXAMPLE_NEW)
            link[i] = (float)npi_carry_score(&carry, (double)link[i]);
    /* links as they would score, against non-links as they do score */
    if (!code)
        code = npi_calibration_fit(out, link, s->links, full, weight, s->others, env, err);
    npi_free(env, link);
    return code;
}
