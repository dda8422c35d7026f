#include "train/tune.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "eval/delong.h"
#include "examples/hidden.h"
#include "examples/project.h"
#include "linalg/blas.h"
#include "model/carry.h"
#include "process/stack.h"
#include "train/tuner.h"

enum {
    ENOUGH_TO_JUDGE = 256, /* hidden links: chosen in docs/results/best.md */
    ENOUGH_TO_STACK = 2048 /* links, as in predict/applied.c */
};

/* ---- the rehearsal: what tuning is worth on hidden links and hidden nodes, and the calibration ---- */

/* The parts that are left out in turn, and the scores of their pairs by heads that did not learn from them. */
typedef struct rehearsal {
    npgnn_env env; /* of this process alone */
    npgnn_comm *comm;
    const npi_folds *folds;
    int parts;
    npi_head untuned_head;
    float *tuned, *untuned; /* (folds.count), of the pairs of these parts; one block, with */
    float *score;           /* (2, folds.count) room for scores of listed pairs */
    size_t *list;           /* (folds.count) */
} rehearsal;

/* Parts 0, 1, ... are left out until their links are enough to judge by. */
static int parts_to_leave_out(const npi_folds *folds)
{
    int parts = (int)((ENOUGH_TO_JUDGE + folds->first_links - 1) / folds->first_links);
    return parts < NPI_FOLDS_PARTS ? parts : NPI_FOLDS_PARTS;
}

/* Which pairs to list: those of some parts. */
typedef struct selection {
    const npi_folds *folds;
    unsigned char part[NPI_FOLDS_PARTS]; /* 1: its pairs are wanted */
} selection;

static selection select_parts(const npi_folds *folds, int from, int to)
{
    selection s = {.folds = folds};
    memset(s.part + from, 1, (size_t)(to - from));
    return s;
}

/* Writes up to `most` pairs that are links or are not, of known nodes or of new ones, to list (NULL: counts them).
 * Near ones are none of them. Returns how many. */
static size_t list_pairs(size_t *list, const selection *s, int links, int new_nodes, size_t most)
{
    const npi_folds *folds = s->folds;
    size_t last = new_nodes ? folds->count : folds->new_from, found = 0;
    for (size_t i = new_nodes ? folds->new_from : 0; i < last && found < most; i++)
        if (folds->is_link[i] == links && folds->extra[i] != NPI_EXTRA_NEAR && s->part[folds->part[i]]) {
            if (list)
                list[found] = i;
            found++;
        }
    return found;
}

/* The same of new and of known nodes, in the proportion in which the graph has pairs of them or, for links, will have
 * them. */
static size_t list_mixed(size_t *list, const selection *s, int links, size_t most)
{
    size_t known = list_pairs(NULL, s, links, 0, s->folds->count);
    size_t fresh = list_pairs(NULL, s, links, 1, s->folds->count);
    double new_share = s->folds->new_share, odds = links ? s->folds->new_odds : 1;
    double share = fresh > 0 ? odds * new_share / (1 - new_share + odds * new_share) : 0;
    double all = (double)known / (1 - share);
    if (share * all > (double)fresh)
        all = (double)fresh / share;
    all = all < (double)most ? all : (double)most;
    size_t found = list_pairs(list, s, links, 0, (size_t)((1 - share) * all + 0.5));
    return found + list_pairs(list + found, s, links, 1, (size_t)(share * all + 0.5));
}

/* score (count) of listed pairs, from those of all pairs. */
static void take_scores(float *score, const float *of_all, const size_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        score[i] = of_all[list[i]];
}

/* The head of the process as it is, with the stacked fit that it gets on a graph (process/stack.h), from pairs of all
 * parts but one. */
static int fit_untuned(npi_head *head, const rehearsal *r, const npi_process *p, int left_out, npgnn_error *err)
{
    const npgnn_env *env = &r->env;
    size_t e = (size_t)p->columns, known = (size_t)p->params.size.e;
    selection others = select_parts(r->folds, 0, NPI_FOLDS_PARTS);
    others.part[left_out] = 0;
    size_t links = list_mixed(r->list, &others, 1, ENOUGH_TO_STACK);
    size_t count = links + list_mixed(r->list + links, &others, 0, links);
    float *evidence = npi_alloc(env, count, e * sizeof *evidence, err); /* (count, e): 0 where the process is blind */
    double *weights = npi_alloc(env, e + 2, sizeof *weights, err);
    int code = evidence && weights ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++)
        memcpy(evidence + i * e, r->folds->evidence + r->list[i] * e, known * sizeof *evidence);
    npi_head_specialize(head, &p->params, p->z);
    if (!code)
        code = npi_head_stack(weights, head, evidence, links, count, env, err);
    if (!code)
        npi_head_apply(head, weights);
    npi_free(env, evidence);
    npi_free(env, weights);
    return code;
}

/* Scores the pairs of a part. */
static void score_part(float *score, const npi_folds *folds, int part, const npi_head *head)
{
    for (size_t i = 0; i < folds->count; i++)
        if (folds->part[i] == part)
            score[i] = npi_head_score(head, folds->evidence + i * (size_t)head->e);
}

static void rehearsal_free(rehearsal *r)
{
    npi_head_free(&r->env, &r->untuned_head);
    npi_free(&r->env, r->tuned);
    npi_free(&r->env, r->list);
}

static int rehearsal_new(rehearsal *r, const npi_folds *folds, const npi_process *p, const npgnn_env *env,
                         npgnn_error *err)
{
    *r = (rehearsal){.env = *env, .comm = env->comm, .folds = folds, .parts = parts_to_leave_out(folds)};
    r->env.comm = NULL;
    r->tuned = npi_alloc(env, folds->count, 4 * sizeof *r->tuned, err);
    r->list = npi_alloc(env, folds->count, sizeof *r->list, err);
    if (!r->tuned || !r->list)
        return NPGNN_E_MEMORY;
    r->untuned = r->tuned + folds->count;
    r->score = r->untuned + folds->count;
    return npi_head_new(&r->untuned_head, p->columns, p->params.size.h, env, err);
}

/* Tunes without each of the parts, and scores their pairs. */
static int rehearse(rehearsal *r, npi_tuner *t, const npi_process *p, const npgnn_options *o, npgnn_progress *progress,
                    npgnn_error *err)
{
    int code = 0;
    progress->rehearsal = 1;
    for (int part = 0; !code && part < r->parts; part++) {
        npi_head_specialize(&t->head, &p->params, p->z);
        code = npi_tuner_run(t, part, o, progress, err);
        if (!code) {
            score_part(r->tuned, r->folds, part, &t->head);
            code = npi_comm_agree(r->comm, fit_untuned(&r->untuned_head, r, p, part, err), err);
        }
        if (!code)
            score_part(r->untuned, r->folds, part, &r->untuned_head);
    }
    progress->rehearsal = 0;
    return code;
}

/* evidence (count, p->columns), standardized, of pairs, from all known links. */
static int evidence_in_full(float *evidence, const npgnn_pair *pairs, size_t count, const npi_process *p,
                            const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err)
{
    npi_reduced reduced = {0};
    const npi_hidden none = {graph, graph, pairs, 0, count};
    const npi_hidden_features features = {.reduced = &reduced, .projection = &p->projection};
    int code = npi_reduced_new(&reduced, graph->x, NULL, env, err);
    if (!code)
        code = npi_reduced_keep_tfidf(&reduced, graph->x, env, err);
    if (!code)
        code = npi_hidden_evidence(evidence, &none, &features, env, err);
    if (!code)
        npi_process_standardize(evidence, p, graph->x->nonzeros > 0, count);
    npi_reduced_free(env, &reduced);
    return code;
}

/* score (folds->count) of the non-links of known nodes to calibrate on, by the tuned head and from all known links;
 * those of new nodes keep the score of the rehearsal: they have no known links in either case. */
static int score_in_full(float *score, const rehearsal *r, const npi_process *p, const npi_head *head,
                         const npgnn_graph *graph, npgnn_error *err)
{
    const npi_folds *folds = r->folds;
    size_t e = (size_t)p->columns, count = 0;
    npgnn_pair *pair = npi_alloc(&r->env, folds->count, sizeof *pair, err);
    float *evidence = npi_alloc(&r->env, folds->count, e * sizeof *evidence, err);
    int code = pair && evidence ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < folds->new_from; i++)
        if (folds->extra[i])
            pair[count++] = folds->pair[i];
    if (!code)
        code = evidence_in_full(evidence, pair, count, p, graph, &r->env, err);
    memcpy(score, r->tuned, folds->count * sizeof *score);
    for (size_t i = 0, at = 0; !code && i < folds->new_from; i++)
        if (folds->extra[i])
            score[i] = npi_head_score(head, evidence + at++ * e);
    npi_free(&r->env, pair);
    npi_free(&r->env, evidence);
    return code;
}

/* What the tuned head is calibrated on. */
typedef struct calibration_data {
    size_t links, others;
    float *link;          /* (links) scores of the rehearsal */
    unsigned char *fresh; /* (links) 1: an end is a new node */
    float *thin, *full;   /* (others) scores from fewer links, and from all known links */
    float *weight;        /* (others) */
} calibration_data;

/* Fits a calibration to the data or, with an rng, to a sample of them with replacement, in `room` (folds->count of each
 * array). The rehearsal has scored links from fewer links than there are, and by heads that have learnt from fewer: these
 * scores are carried (model/carry.h). */
static int fit_calibration(npi_calibration *out, const calibration_data *room, const calibration_data *data,
                           npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    npi_carry carry;
    for (size_t i = 0; i < data->others; i++) {
        size_t from = rng ? (size_t)npi_rng_below(rng, data->others) : i;
        room->thin[i] = data->thin[from];
        room->full[i] = data->full[from];
        room->weight[i] = data->weight[from];
    }
    int code = npi_carry_make(&carry, room->thin, room->full, room->weight, data->others, env, err);
    for (size_t i = 0; !code && i < data->links; i++) {
        size_t from = rng ? (size_t)npi_rng_below(rng, data->links) : i;
        double score = (double)data->link[from];
        room->link[i] = (float)(data->fresh[from] ? score : npi_carry_score(&carry, score));
    }
    if (!code)
        code = npi_calibration_fit(out, room->link, data->links, room->full, room->weight, data->others, env, err);
    return code;
}

/* The non-links of known and of new nodes, in the proportion in which the graph has pairs of them. */
static void collect_others(calibration_data *data, const npi_folds *folds, const float *thin, const float *full)
{
    double sum[2] = {0, 0}; /* of the weights, of known and of new nodes */
    for (size_t i = 0; i < folds->count; i++)
        sum[i >= folds->new_from] += folds->extra[i] ? (double)folds->weight[i] : 0;
    for (size_t i = 0; i < folds->count; i++) {
        int is_new = i >= folds->new_from;
        double share = sum[1] > 0 ? (is_new ? folds->new_share : 1 - folds->new_share) : 1;
        if (!folds->extra[i])
            continue;
        data->thin[data->others] = thin[i];
        data->full[data->others] = full[i];
        data->weight[data->others++] = (float)(share * (double)folds->weight[i] / sum[is_new]);
    }
}

/* The calibration of the tuned head, and what it would have been from other examples. */
static int calibrate(npi_model_scorer *out, rehearsal *r, const npi_process *p, const npi_head *head,
                     const npgnn_graph *graph, uint64_t seed, npgnn_error *err)
{
    enum { ARRAYS = 9 };
    const npi_folds *folds = r->folds;
    size_t n = folds->count;
    float *block = npi_alloc(&r->env, n, ARRAYS * sizeof *block, err), *at[ARRAYS];
    unsigned char *fresh = npi_alloc(&r->env, n, 1, err);
    int code = block && fresh ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < ARRAYS; i++)
        at[i] = block + i * n;
    if (!code && npi_comm_rank(r->comm) == 0)
        code = score_in_full(block, r, p, head, graph, err);
    code = npi_comm_agree(r->comm, code, err);
    if (!code) {
        selection held = select_parts(folds, 0, r->parts);
        calibration_data data = {.link = at[1], .fresh = fresh, .thin = at[2], .full = at[3], .weight = at[4]};
        const calibration_data room = {.link = at[5], .thin = at[6], .full = at[7], .weight = at[8]};
        npi_rng rng = npi_rng_make(seed, NPI_RNG_RESAMPLE, 0);
        npi_comm_broadcast(r->comm, block, n * sizeof *block, 0);
        data.links = list_mixed(r->list, &held, 1, n);
        take_scores(data.link, r->tuned, r->list, data.links);
        for (size_t i = 0; i < data.links; i++)
            fresh[i] = r->list[i] >= folds->new_from;
        collect_others(&data, folds, r->tuned, block);
        code = fit_calibration(&out->calibration, &room, &data, NULL, &r->env, err);
        for (int i = 0; !code && i < NPI_RESAMPLED; i++)
            code = fit_calibration(&out->sample[i], &room, &data, &rng, &r->env, err);
        out->calibrated = !code;
        out->resampled = code ? 0 : NPI_RESAMPLED;
    }
    npi_free(&r->env, block);
    npi_free(&r->env, fresh);
    return code;
}

/* What tuning is worth for pairs of known nodes, or of new ones: the mean over the parts, whose heads differ, by the
 * number of their links. NaN where there are no such pairs. */
static int judge(npi_auc_pair *out, const rehearsal *r, int new_nodes, npgnn_error *err)
{
    size_t all = r->folds->count, judged = 0;
    double auc[2] = {0, 0}, variance = 0;
    int code = 0;
    for (int part = 0; !code && part < r->parts; part++) {
        selection held = select_parts(r->folds, part, part + 1);
        size_t links = list_pairs(r->list, &held, 1, new_nodes, all);
        size_t count = links + list_pairs(r->list + links, &held, 0, new_nodes, all);
        const float *const scores[2] = {r->score, r->score + all};
        npi_auc_pair compared;
        if (links == 0 || links == count)
            continue;
        take_scores(r->score, r->untuned, r->list, count);
        take_scores(r->score + all, r->tuned, r->list, count);
        code = npi_auc_compare(&compared, scores, links, count, &r->env, err);
        for (int i = 0; !code && i < 2; i++)
            auc[i] += (double)links * compared.auc[i];
        if (!code)
            variance += pow((double)links * compared.error, 2);
        judged += links;
    }
    for (int i = 0; i < 2; i++)
        out->auc[i] = auc[i] / (double)judged;
    out->error = sqrt(variance) / (double)judged;
    return code;
}

/* Whether tuning helps on hidden links and hidden nodes together by more than chance explains, and harms neither. The
 * rule was chosen in docs/results/best.md. */
static int is_worth_keeping(const npi_tuning *t)
{
    const npi_auc_pair *kinds[2] = {&t->links, &t->nodes};
    double sum = 0, variance = 0;
    for (int k = 0; k < 2; k++) {
        double gain = kinds[k]->auc[1] - kinds[k]->auc[0];
        if (isnan(gain)) /* there are no such pairs */
            continue;
        if (gain < -kinds[k]->error)
            return 0;
        sum += gain;
        variance += kinds[k]->error * kinds[k]->error;
    }
    return sum > 2 * sqrt(variance);
}

/* The evidence of the folds in the units of the process. Those of the columns that are not in the corpus are the mean
 * and the deviation over the first fold, with as many non-links as links. */
static void standardize(npi_folds *folds, npi_process *p)
{
    size_t links = folds->first_links, pairs = 2 * links < folds->first_count ? 2 * links : folds->first_count;
    for (int c = p->params.size.e; c < p->columns; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < pairs; i++) {
            double value = (double)folds->evidence[i * (size_t)p->columns + (size_t)c];
            sum += value;
            squares += value * value;
        }
        double mean = sum / (double)pairs, variance = squares / (double)pairs - mean * mean;
        p->mean[c] = (float)mean;
        p->deviation[c] = (float)sqrt(variance > 1e-6 ? variance : 1e-6);
    }
    npi_process_standardize(folds->evidence, p, folds->has_features, folds->count);
}

/* z, from the first tenth of the links. */
static int infer(npi_process *p, const npi_folds *folds, const npgnn_env *env, npgnn_error *err)
{
    const float *others = folds->evidence + folds->first_links * (size_t)folds->columns;
    int votes = npi_process_infer(p->z, p->z + p->params.size.d, p, folds->evidence, folds->first_links, others,
                                  folds->first_count - folds->first_links, env, err);
    return votes < 0 ? votes : 0;
}

static int tune(npi_process *process, npi_tuning *out, npi_folds *folds, const npgnn_graph *graph,
                const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_tuner t = {0};
    rehearsal r = {0};
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iterations = options->iterations};
    progress.loss = progress.kl = progress.val_auc = progress.val_ap = (double)NAN;
    int code = npi_process_make_tuned(process, folds->columns, env, err);
    if (!code) {
        standardize(folds, process);
        code = npi_project(&process->projection, graph, options->seed, env, err);
    }
    if (!code)
        code = npi_tuner_new(&t, folds, process, env, err);
    if (!code)
        code = rehearsal_new(&r, folds, process, env, err);
    if (!code)
        code = infer(process, folds, env, err);
    code = npi_comm_agree(env->comm, code, err);
    if (!code)
        code = rehearse(&r, &t, process, options, &progress, err);
    if (!code)
        code = judge(&out->links, &r, 0, err);
    if (!code)
        code = judge(&out->nodes, &r, 1, err);
    code = npi_comm_agree(env->comm, code, err);
    out->kept = !code && is_worth_keeping(out);
    if (out->kept) {
        npi_head_specialize(&t.head, &process->params, process->z);
        code = npi_tuner_run(&t, NPI_FOLDS_PARTS, options, &progress, err);
        npi_head_specialize(&process->change, &process->params, process->z);
        for (size_t i = 0; i < t.head.count; i++)
            process->change.block[i] = t.head.block[i] - process->change.block[i];
    }
    if (!code && out->kept && options->calibrate)
        code = npi_comm_agree(env->comm, calibrate(&out->scorer, &r, process, &t.head, graph, options->seed, err), err);
    rehearsal_free(&r);
    npi_tuner_free(&t);
    return code;
}

int npi_tune(npi_process *process, npi_tuning *out, const npgnn_graph *graph, const npgnn_options *options,
             const npgnn_env *env, npgnn_error *err)
{
    npi_folds folds = {0};
    npi_process plain = {0};
    *out = (npi_tuning){.links = {{(double)NAN, (double)NAN}, 0}, .nodes = {{(double)NAN, (double)NAN}, 0}};
    if (!npi_folds_possible(graph)) {
        npi_log(env, "the graph has too few links, or pairs without one, to hide some: the process is used as it is, "
                     "neither tuned nor calibrated");
        return 0;
    }
    int code = npi_blas_open_among(env, err);
    if (!code)
        code = npi_comm_agree(env->comm, npi_process_copy(&plain, process, env, err), err);
    if (!code)
        code = npi_folds_new(&folds, graph, options->seed, env, err);
    if (!code && folds.dated)
        npi_log(env,
                "the latest links tell how likely new nodes are to be linked next: their pairs get %.3g times the odds "
                "of others",
                folds.new_odds);
    if (!code)
        code = tune(process, out, &folds, graph, options, env, err);
    npi_folds_free(env, &folds);
    if (!code && !out->kept) {
        npi_process swap = *process;
        *process = plain;
        plain = swap;
        npi_log(env,
                "tuning did not help on links and nodes of this graph that were hidden: the model is used untuned, as "
                "'universal' is");
    }
    npi_process_free(env, &plain);
    return code;
}
