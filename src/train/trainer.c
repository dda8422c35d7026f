/* A training: iterations of context, network and Adam, with validation beside them. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/sized.h"
#include "graph/split.h"
#include "linalg/elementwise.h"
#include "model/model.h"
#include "model/options.h"
#include "train/calibrate.h"
#include "train/rehearsal.h"

/* ---- making ---- */

static npgnn_context context_kind(const npgnn_options *options, const npgnn_split *split)
{
    if (options->context != NPGNN_CONTEXT_AUTO)
        return options->context;
    return split && split->protocol != NPGNN_TRANSDUCTIVE ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
}

#define INPUT_LENGTH 4.0 /* of the rows of features, with input_scale 0: that of a page of about 16 words */

static int check_trainable(const npgnn_graph *known, npgnn_error *err)
{
    if (known->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to train on");
    if (known->x->f == 0 || known->x->nonzeros == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the nodes have no features, and this model tells nodes apart by their features alone");
    return 0;
}

static int latent_room(npgnn_trainer *t, const npgnn_split *split, npgnn_error *err)
{
    size_t d = (size_t)t->params.size.d;
    if (d == 0)
        return 0;
    t->epsilon = npi_alloc(&t->env, (size_t)t->options.samples * d, sizeof *t->epsilon, err);
    t->q = npi_alloc(&t->env, 2 * d, sizeof *t->q, err);
    if (!t->epsilon || !t->q)
        return NPGNN_E_MEMORY;
    return npi_context_new(&t->context, t->known, context_kind(&t->options, split), t->options.context_fraction,
                           &t->env, err);
}

static int trainer_room(npgnn_trainer *t, const npgnn_split *split, npgnn_error *err)
{
    npi_sizes size = npi_sizes_of(&t->options, t->known->x->f);
    int code = npi_params_new(&t->params, size, &t->env, err);
    if (!code)
        code = npi_params_new(&t->gradient, size, &t->env, err);
    if (!code)
        code = npi_adam_new(&t->adam, t->params.count, &t->options, &t->env, err);
    if (!code)
        code = npi_net_new(&t->net, &t->options, t->known->n, size.f, &t->env, err);
    if (!code)
        code = npi_features_transpose(t->known->x, err);
    if (!code && !(t->adj.scale = npi_alloc(&t->env, (size_t)t->known->n, sizeof *t->adj.scale, err)))
        code = NPGNN_E_MEMORY;
    if (!code && t->options.input_dropout > 0)
        code = npi_dropout_new(&t->dropout, t->known->x, &t->env, err);
    if (!code && t->options.propagate > 0)
        code = npi_neighbours_new(&t->neighbours, &t->known->a, &t->env, err);
    if (!code)
        code = latent_room(t, split, err);
    if (!code)
        code = npi_validation_new(&t->val, split, &t->options, &t->params, &t->env, err);
    return code;
}

static void release(npgnn_trainer *t)
{
    npi_context_free(t->context);
    npi_net_free(t->net);
    t->context = NULL;
    t->net = NULL;
    npi_params_free(&t->env, &t->params);
    npi_params_free(&t->env, &t->gradient);
    npi_adam_free(&t->env, &t->adam);
    npi_free(&t->env, t->adj.scale);
    npi_free(&t->env, t->epsilon);
    npi_free(&t->env, t->q);
    t->adj.scale = t->epsilon = t->q = NULL;
    npi_validation_free(&t->env, &t->val);
    npi_dropout_free(&t->env, &t->dropout);
    npi_neighbours_free(&t->env, &t->neighbours);
    npgnn_split_free(t->rehearsal);
    t->rehearsal = NULL;
}

/* Training on what `split` knows, or on all of the graph. */
static int prepare(npgnn_trainer *t, const npgnn_split *split, const npgnn_options *options, npgnn_error *err)
{
    t->options = *options;
    t->known = split ? split->train : t->graph;
    int code = check_trainable(t->known, err);
    if (code)
        return code;
    if (options->input_scale == 0)
        t->options.input_scale = INPUT_LENGTH / npi_features_rms_length(t->known->x);
    code = trainer_room(t, split, err);
    if (code)
        return code;
    t->adj.a = t->known->a;
    npi_adj_normalize(&t->adj, t->env.threads);
    npi_params_init(&t->params, options->seed, t->options.input_scale);
    t->progress = (npgnn_progress){.size = sizeof(npgnn_progress),
                                   .runs = 1,
                                   .rehearsal = t->rehearsal != NULL,
                                   .iterations = options->iterations,
                                   .loss = (double)NAN,
                                   .kl = (double)NAN,
                                   .val_auc = (double)NAN,
                                   .val_ap = (double)NAN};
    return 0;
}

int npi_trainer_begin(npgnn_trainer *t, const npi_findings *found, npgnn_error *err)
{
    npgnn_options options = t->asked;
    npgnn_error why = {0};
    release(t);
    t->has_found = found != NULL;
    int code = check_trainable(t->split ? t->split->train : t->graph, err);
    if (code)
        return code;
    if (found) {
        t->found = *found;
        options = npi_rehearsal_proper(&t->asked, found);
    } else if (npi_rehearsal_wanted(&t->asked, t->split)) {
        code = npi_rehearsal_split(&t->rehearsal, t->graph, t->split, &t->asked, &t->env, &why);
        if (code == NPGNN_E_ARGUMENT && npi_rehearsal_dispensable(&t->asked)) {
            npi_log(&t->env, "the graph has too few links to hold some out: probabilities will not be calibrated");
            code = 0;
        } else if (code && err) {
            *err = why;
        }
        if (t->rehearsal)
            options = npi_rehearsal_options(&t->asked);
    }
    if (!code)
        code = prepare(t, t->rehearsal ? t->rehearsal : t->split, &options, err);
    if (code)
        release(t);
    return code;
}

int npgnn_trainer_new(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split,
                      const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_options chosen;
    int code = npi_options_read(&chosen, options, err);
    if (code)
        return code;
    npgnn_trainer *t = npi_alloc(&resolved, 1, sizeof *t, err);
    if (!t)
        return NPGNN_E_MEMORY;
    t->env = resolved;
    t->asked = chosen;
    t->graph = split ? split->graph : graph;
    t->split = split;
    code = npi_trainer_begin(t, NULL, err);
    if (code)
        npgnn_trainer_free(t);
    else
        *out = t;
    return code;
}

void npgnn_trainer_free(npgnn_trainer *t)
{
    if (!t)
        return;
    npgnn_env env = t->env;
    release(t);
    npi_free(&env, t);
}

/* ---- validation ---- */

/* z at its mean, encoded from what training knows; NULL without latent. */
static const real *encode(npgnn_trainer *t, const npi_params *params)
{
    int d = params->size.d;
    if (d == 0)
        return NULL;
    npi_net_encode(t->net, t->q, t->q + d, params, t->known->x, &t->adj);
    return t->q;
}

static int validate(npgnn_trainer *t, npgnn_error *err)
{
    npgnn_progress *p = &t->progress;
    int code = npi_validation_run(&p->val_auc, &p->val_ap, &t->val, &t->params, encode(t, &t->params), &t->options,
                                  &t->env, err);
    p->validated = code >= 0;
    if (code == 1)
        p->best_iteration = p->iteration;
    return code < 0 ? code : 0;
}

static int is_due(const npgnn_trainer *t)
{
    int done = t->progress.iteration;
    return t->val.count > 0 && (done % t->options.validate_every == 0 || done == t->options.iterations);
}

/* ---- iterating ---- */

static void draw_epsilon(npgnn_trainer *t, uint32_t iteration)
{
    npi_rng rng = npi_rng_make(t->options.seed, NPI_RNG_LATENT, iteration);
    for (int i = 0; i < t->options.samples * t->params.size.d; i++)
        t->epsilon[i] = (real)npi_rng_normal_at(&rng, (uint64_t)i);
}

static int diverged(const npgnn_trainer *t, npi_objective objective, npgnn_error *err)
{
    return npi_fail(
        err, NPGNN_E_DIVERGED,
        "training diverged at iteration %d (reconstruction %g, KL %g): try a smaller learning-rate than %g, or "
        "normalised features",
        t->progress.iteration + 1, objective.reconstruction, objective.kl, t->options.learning_rate);
}

static int is_over(const npgnn_trainer *t)
{
    int out_of_patience = t->options.patience > 0 && t->val.without_better >= t->options.patience;
    return t->progress.iteration >= t->options.iterations || out_of_patience;
}

static int iterate(npgnn_trainer *t, npgnn_error *err)
{
    npgnn_progress *p = &t->progress;
    npi_profile profile = {.seconds = p->step_seconds};
    npi_profile_start(&profile);
    double start = profile.lap;
    uint32_t iteration = (uint32_t)p->iteration;
    npi_input input = {.x = t->known->x,
                       .graph = &t->adj,
                       .epsilon = t->epsilon,
                       .loss = npi_pairs_loss_make(t->options.likelihood, &t->known->a),
                       .seed = t->options.seed,
                       .draw = iteration,
                       .profile = &profile};
    if (t->options.input_dropout > 0) {
        npi_dropout_draw(&t->dropout, t->options.input_dropout, t->options.seed, iteration, t->env.threads);
        input.x = &t->dropout.view;
    }
    if (t->options.propagate > 0) {
        npi_neighbours_draw(&t->neighbours, t->options.cold_nodes, t->options.seed, iteration, t->env.threads);
        input.neighbours = &t->neighbours;
    }
    if (t->context) {
        npi_context_draw(t->context, t->options.seed, iteration);
        input.context = npi_context_get(&input.context_nodes, t->context);
        draw_epsilon(t, iteration);
    }
    npi_profile_end(&profile, NPGNN_STEP_CONTEXT);
    npi_zero(t->gradient.block, (int64_t)t->gradient.count, t->env.threads);
    npi_objective objective = npi_net_run(t->net, &t->gradient, &t->params, &input);
    if (npi_env_stopped(&t->env))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled in iteration %d", p->iteration + 1);
    double loss = objective.reconstruction + t->options.kl_weight * objective.kl;
    if (!isfinite(loss) || !npi_adam_step(&t->adam, &t->params, &t->gradient, t->env.threads))
        return diverged(t, objective, err);
    npi_profile_end(&profile, NPGNN_STEP_ADAM);

    p->iteration++;
    p->loss = loss;
    p->kl = objective.kl;
    p->validated = 0;
    int code = is_due(t) ? validate(t, err) : 0;
    npi_profile_end(&profile, NPGNN_STEP_VALIDATION);
    p->seconds += profile.lap - start;
    return code;
}

/* From the end of the rehearsal to the beginning of the training proper. */
static int end_rehearsal(npgnn_trainer *t, npgnn_error *err)
{
    npgnn_model *model = NULL;
    if (!t->rehearsal || !is_over(t))
        return 0;
    int code = npgnn_trainer_model(&model, t, err);
    if (code)
        return code;
    const npi_findings found = {model->info.iterations, model->scorer};
    npgnn_model_free(model);
    return npi_trainer_begin(t, &found, err);
}

/* A rehearsal whose training proper found no memory to begin with. */
static int check_alive(const npgnn_trainer *t, npgnn_error *err)
{
    return t->net ? 0 : npi_fail(err, NPGNN_E_MEMORY, "out of memory: this training ended earlier");
}

int npgnn_trainer_step(npgnn_progress *progress, npgnn_trainer *t, npgnn_error *err)
{
    int code = progress ? npi_sized_check(progress, "npgnn_progress", err) : 0;
    if (!code)
        code = check_alive(t, err);
    if (!code)
        code = end_rehearsal(t, err);
    if (!code)
        code = iterate(t, err);
    return code || !progress ? code : npgnn_trainer_progress(progress, t, err);
}

/* What is under way, the rehearsal or the training proper, to its end. */
static int run_to_end(npgnn_trainer *t, npgnn_error *err)
{
    int code = 0;
    while (!code && !is_over(t)) {
        code = iterate(t, err);
        if (!code && t->env.progress && t->env.progress(t->env.user, &t->progress))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d", t->progress.iteration);
    }
    return code;
}

int npgnn_trainer_run(npgnn_trainer *t, npgnn_error *err)
{
    int code = check_alive(t, err);
    if (!code && t->rehearsal)
        code = run_to_end(t, err);
    if (!code)
        code = end_rehearsal(t, err);
    return code ? code : run_to_end(t, err);
}

/* ---- the result ---- */

int npgnn_trainer_progress(npgnn_progress *progress, const npgnn_trainer *t, npgnn_error *err)
{
    return npi_sized_write(progress, &t->progress, sizeof t->progress, "npgnn_progress", err);
}

int npgnn_trainer_model(npgnn_model **out, const npgnn_trainer *t, npgnn_error *err)
{
    npgnn_model *model = NULL;
    int code = check_alive(t, err);
    if (!code)
        code = npi_model_new(&model, &t->asked, t->params.size.f, &t->env, err);
    if (code)
        return code;
    const npi_validation *v = &t->val;
    int best = v->best && !isnan(v->best_auc);
    memcpy(model->params.block, best ? v->best : t->params.block, t->params.count * sizeof *t->params.block);
    if (model->q)
        npi_net_encode(t->net, model->q, model->q + t->params.size.d, &model->params, t->known->x, &t->adj);
    if (v->count > 0)
        model->scorer.weights = best ? v->best_weights : v->weights;
    else if (t->has_found)
        model->scorer.weights = t->found.scorer.weights;
    model->columns = npi_names_share(t->known->x->columns);
    npgnn_model_info *info = &model->info;
    info->iterations = best ? t->progress.best_iteration : t->progress.iteration;
    info->fingerprint = info->context_fingerprint = npi_graph_fingerprint(t->known);
    info->train_nodes = t->known->n;
    info->train_edges = t->known->m;
    info->normalize = t->known->normalized;
    info->binarize = t->known->binarized;
    info->weighted = t->known->a.val != NULL;
    info->val_auc = best ? v->best_auc : t->progress.val_auc;
    info->val_ap = best ? v->best_ap : t->progress.val_ap;
    npi_model_uncalibrate(model);

    /* Calibrated on what this training holds out. After a rehearsal nothing is held out, and the rehearsal's
     * calibration serves: the scores of the two trainings are nearly the same. */
    if (t->asked.calibrate && v->count > 0) {
        npgnn_env env = t->env;
        npgnn_error why = {0};
        env.stop = NULL; /* a training that was cancelled has a model, too */
        code = npi_calibrate(model, t->rehearsal ? t->rehearsal : t->split, v->embedder, v->evidence, &env, &why);
        if (code == NPGNN_E_ARGUMENT || code == NPGNN_E_DIVERGED) {
            npi_log(&t->env, "probabilities are not calibrated: %s", why.text);
            code = 0;
        } else if (code && err) {
            *err = why;
        }
    } else if (t->has_found) {
        model->scorer.calibrated = t->found.scorer.calibrated;
        if (model->scorer.calibrated)
            model->scorer.calibration = t->found.scorer.calibration;
    }
    if (code)
        npgnn_model_free(model);
    else
        *out = model;
    return code;
}
