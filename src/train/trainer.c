/* The one training path: rehearse, train, calibrate (docs/understand/math.md).
 *
 *   rehearse   Where the options need held-out links (for keep-best or calibration) and the caller holds out none, some
 *              of the known links are held out and the training runs once on the others. It finds the number of iterations and
 *              the calibration (train/rehearsal.h).
 *   train      On all known links. In each iteration: draw the context, compute the loss and its gradient (model/net.h), step
 *              (train/adam.h), and validate where links are held out (train/validation.h).
 *   calibrate  On the held-out links (train/calibrate.h), or with what the rehearsal found.
 *
 * npgnn_fit, the evaluation and the program all train networks through this file; train/tune.h is for the process. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/sized.h"
#include "graph/split.h"
#include "linalg/blas.h"
#include "linalg/elementwise.h"
#include "model/model.h"
#include "model/options.h"
#include "train/calibrate.h"
#include "train/rehearsal.h"

/* ---- creating and freeing ---- */

static npgnn_context context_kind(const npgnn_options *options, const npgnn_split *split)
{
    if (options->context != NPGNN_CONTEXT_AUTO)
        return options->context;
    return split && split->role ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
}

#define MOST_SCALE 1e15  /* with larger weights, squares of gradients leave the range of a float */
#define INPUT_LENGTH 4.0 /* root mean square length of the rows of features with input_scale 0: (17) */

static int check_trainable(const npgnn_graph *known, npgnn_error *err)
{
    if (known->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to train on");
    if (known->x->f == 0 || known->x->nonzeros == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the nodes have no features, and this model tells nodes apart by their features alone");
    return 0;
}

/* Frees everything but the trainer itself, which may then be prepared again. */
static void release(npgnn_trainer *t)
{
    npi_context_free(t->context);
    npi_net_free(t->net);
    t->context = NULL;
    t->net = NULL;
    npi_params_free(&t->env, &t->params);
    npi_params_free(&t->env, &t->gradient);
    npi_adam_free(&t->env, &t->adam);
    if (!t->adj.halo)
        t->adj.a = (npi_csr){0}; /* borrowed */
    npi_adj_free(&t->env, &t->adj);
    npi_features_free(t->x);
    npi_free(&t->env, t->epsilon);
    npi_free(&t->env, t->q);
    t->x = NULL;
    t->epsilon = t->q = NULL;
    npi_validation_free(&t->env, &t->val);
    npi_dropout_free(&t->env, &t->dropout);
    npgnn_split_free(t->rehearsal);
    t->rehearsal = NULL;
}

/* What is not divided among processes yet. */
static int check_divisible(const npgnn_trainer *t, const npgnn_split *split, npgnn_error *err)
{
    const char *what = NULL;
    if (t->known->side)
        what = "a two-sided graph";
    else if (split && split->role)
        what = "a split that holds out nodes";
    else if (t->options.latent && context_kind(&t->options, split) == NPGNN_CONTEXT_NODES)
        what = "a context of nodes (option context)";
    return what ? npi_fail(err, NPGNN_E_ARGUMENT,
                           "%s cannot be trained in several processes: start one, without mpirun", what)
                : 0;
}

/* Divides the nodes among the processes: the features of this process's nodes, and its rows of the adjacency. */
static int divide(npgnn_trainer *t, const npgnn_split *split, npgnn_error *err)
{
    const npgnn_graph *known = t->known;
    npi_sizes size = npi_sizes_of(&t->options, known->x->f);
    if (!t->env.comm) {
        t->rows = npi_partition_whole(known->n);
        t->x = npi_features_share(known->x);
        t->adj.a = known->a;
        t->adj.scale = npi_alloc(&t->env, (size_t)known->n, sizeof *t->adj.scale, err);
        t->loss = npi_pairs_loss_make(t->options.likelihood, &known->a, known->side);
        return t->adj.scale ? 0 : NPGNN_E_MEMORY;
    }
    int code = check_divisible(t, split, err), width = npi_net_halo_width(&t->options, size);
    if (!code)
        code = npi_partition_among(&t->rows, known->n, t->env.comm, err);
    if (code) /* the same in all processes */
        return code;
    code = npi_comm_agree(t->env.comm, npi_features_view(&t->x, known->x, t->rows.from, t->rows.to, err), err);
    if (!code)
        code = npi_adj_divide(&t->adj, &known->a, &t->rows, width, &t->env, err);
    if (!code)
        t->loss = npi_pairs_loss_among(t->options.likelihood, &t->adj.a, known->a.ptr[known->n], &t->rows);
    return code;
}

/* Allocates everything that a training on the graph known to `split` needs (all of the graph if it is NULL), and
 * initialises the parameters. */
static int prepare(npgnn_trainer *t, const npgnn_split *split, const npgnn_options *options, npgnn_error *err)
{
    t->options = *options;
    t->known = split ? split->train : t->graph;
    int code = check_trainable(t->known, err);
    if (!code)
        code = divide(t, split, err);
    if (code)
        return code;
    if (options->input_scale == 0) {
        double length = npi_features_rms_length(t->x, &t->rows);
        t->options.input_scale = INPUT_LENGTH / length;
        if (!(t->options.input_scale <= MOST_SCALE))
            return npi_fail(
                err, NPGNN_E_ARGUMENT,
                "the features are too small to train on: their root mean square length per node is %g; multiply "
                "all of them by a constant",
                length);
    }

    /* parameters, gradient, optimiser and network */
    const npgnn_graph *known = t->known;
    npi_sizes size = npi_sizes_of(&t->options, known->x->f);
    size_t d = (size_t)size.d;
    code = npi_params_new(&t->params, size, &t->env, err);
    if (!code)
        code = npi_params_new(&t->gradient, size, &t->env, err);
    if (!code)
        code = npi_adam_new(&t->adam, t->params.count, &t->options, &t->env, err);
    if (!code)
        code = npi_net_new(&t->net, &t->options, &t->rows, t->x, known->side, &t->env, err);
    if (!code && t->env.comm)
        code = npi_net_take_halo(t->net, t->adj.halo->count, err);

    /* the inputs of an iteration: Xᵀ for the backward pass, Â, dropped features, context, noise */
    if (!code)
        code = npi_features_transpose(t->x, err);
    if (!code && t->options.input_dropout > 0)
        code = npi_dropout_new(&t->dropout, t->x, 0, &t->env, err);
    if (!code && d > 0) {
        t->epsilon = npi_alloc(&t->env, (size_t)t->options.samples * d, sizeof *t->epsilon, err);
        t->q = npi_alloc(&t->env, 2 * d, sizeof *t->q, err);
        code = t->epsilon && t->q ? 0 : NPGNN_E_MEMORY;
    }
    if (!code && d > 0 && !t->env.comm)
        code = npi_context_new(&t->context, known, context_kind(&t->options, split), t->options.context_fraction,
                               &t->env, err);
    if (!code && d > 0 && t->env.comm)
        code = npi_context_new_among(&t->context, known, &t->adj, &t->rows, t->options.context_fraction, &t->env, err);
    if (!code)
        code = npi_validation_new(&t->val, split, t->env.comm ? &t->rows : NULL, t->env.comm ? t->x : NULL, &t->options,
                                  &t->params, &t->env, err);
    code = npi_comm_agree(t->env.comm, code, err);
    if (code)
        return code;

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
        code = npi_comm_agree(t->env.comm, code, err);
        if (t->rehearsal)
            options = npi_rehearsal_options(&t->asked);
    }
    if (!code)
        code = prepare(t, t->rehearsal ? t->rehearsal : t->split, &options, err);
    if (code)
        release(t);
    return code;
}

/* Whether all processes have been given the same. */
static int check_same(npgnn_trainer *t, npgnn_error *err)
{
    t->fingerprint = npi_graph_fingerprint(t->graph);
    int code = npi_blas_open_among(&t->env, err);
    if (!code)
        code = npi_comm_same(t->env.comm, t->fingerprint, "the graph", err);
    if (!code)
        code = npi_comm_same(t->env.comm, t->split ? npgnn_split_hash(t->split) : 0, "the split", err);
    if (!code)
        code = npi_comm_same(t->env.comm, npi_options_hash(&t->asked), "the list of options", err);
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
    if (!code && chosen.process)
        code = npi_fail(err, NPGNN_E_ARGUMENT,
                        "the options ask for a tuned process, which has no iterations to stop at: use npgnn_fit");
    if (code)
        return code;
    npgnn_trainer *t = npi_alloc(&resolved, 1, sizeof *t, err);
    code = npi_comm_agree(resolved.comm, t ? 0 : NPGNN_E_MEMORY, err);
    if (code) {
        npi_free(&resolved, t);
        return code;
    }
    t->env = resolved;
    t->env.comm = npi_comm_ranks(resolved.comm) > 1 ? resolved.comm : NULL;
    t->asked = chosen;
    t->graph = split ? split->graph : graph;
    t->split = split;
    if (t->env.comm)
        code = check_same(t, err);
    if (!code)
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

/* ---- iterating ---- */

static int is_over(const npgnn_trainer *t)
{
    int out_of_patience = t->options.patience > 0 && t->val.without_better >= t->options.patience;
    return t->progress.iteration >= t->options.iterations || out_of_patience;
}

/* One iteration: draws the context, the noise of z and the dropped features, each a function of the
 * seed and of the iteration; then loss and gradient, a step of Adam, and a validation where one is due. */
static int iterate(npgnn_trainer *t, npgnn_error *err)
{
    const npgnn_options *o = &t->options;
    npgnn_progress *p = &t->progress;
    npi_profile profile = {.seconds = p->step_seconds};
    npi_profile_start(&profile);
    double start = profile.lap;
    uint32_t iteration = (uint32_t)p->iteration;
    int d = t->params.size.d, threads = t->env.threads;
    npi_input input = {.x = t->x,
                       .graph = &t->adj,
                       .epsilon = t->epsilon,
                       .loss = t->loss,
                       .seed = o->seed,
                       .draw = iteration,
                       .profile = &profile};
    /* x_ij <- x_ij b_ij / (1 - p): (16) */
    if (o->input_dropout > 0) {
        npi_dropout_draw(&t->dropout, o->input_dropout, o->seed, iteration, threads);
        input.x = &t->dropout.view;
        input.dropout = &t->dropout;
    }
    /* the context C, and epsilon (samples, d): (5) */
    if (t->context) {
        npi_rng rng = npi_rng_make(o->seed, NPI_RNG_LATENT, iteration);
        npi_context_draw(t->context, o->seed, iteration);
        input.context = npi_context_get(&input.context_nodes, t->context);
        for (int i = 0; i < o->samples * d; i++)
            t->epsilon[i] = (real)npi_rng_normal_at(&rng, (uint64_t)i);
    }
    npi_profile_end(&profile, NPGNN_STEP_CONTEXT);

    /* loss = R + kl_weight KL (11), its gradient, and w <- w - rate m̂ / (√v̂ + epsilon) (A3) */
    npi_zero(t->gradient.block, (int64_t)t->gradient.count, threads);
    npi_objective objective = npi_net_run(t->net, &t->gradient, &t->params, &input);
    if (npi_comm_any(t->env.comm, npi_env_stopped(&t->env)))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled in iteration %d", p->iteration + 1);
    double loss = objective.reconstruction + o->kl_weight * objective.kl;
    if (!isfinite(loss) || !npi_adam_step(&t->adam, &t->params, &t->gradient, threads))
        return npi_fail(
            err, NPGNN_E_DIVERGED,
            "training diverged at iteration %d (reconstruction %g, KL %g): try a smaller learning-rate than %g, or "
            "normalised features",
            p->iteration + 1, objective.reconstruction, objective.kl, o->learning_rate);
    npi_profile_end(&profile, NPGNN_STEP_ADAM);

    p->iteration++;
    p->loss = loss;
    p->kl = objective.kl;
    p->validated = 0;
    int better = 0;
    if (t->val.count > 0 && (p->iteration % o->validate_every == 0 || p->iteration == o->iterations)) {
        /* z at its mean, encoded from the graph that training knows */
        if (d > 0)
            npi_net_encode(t->net, t->q, t->q + d, &t->params, t->x, &t->adj);
        better = npi_validation_run(&p->val_auc, &p->val_ap, &t->val, &t->params, d > 0 ? t->q : NULL, o, &t->env, err);
        p->validated = better >= 0;
        if (better == 1)
            p->best_iteration = p->iteration;
    }
    npi_profile_end(&profile, NPGNN_STEP_VALIDATION);
    p->seconds += profile.lap - start;
    return better < 0 ? better : 0;
}

/* Where the rehearsal is complete: keeps what it found and begins the training proper. */
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

/* E_MEMORY where the transition from rehearsal to training proper failed before. */
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

/* Runs the current phase, the rehearsal or the training proper, to its end. */
static int run_to_end(npgnn_trainer *t, npgnn_error *err)
{
    int code = 0;
    while (!code && !is_over(t)) {
        code = iterate(t, err);
        int cancel = !code && t->env.progress && t->env.progress(t->env.user, &t->progress);
        if (!code && npi_comm_any(t->env.comm, cancel))
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
    code = npi_comm_agree(t->env.comm, code, err);
    if (code) {
        npgnn_model_free(model);
        return code;
    }
    /* parameters: those of the best validation with keep_best, otherwise those of the last iteration; q(z | graph) */
    const npi_validation *v = &t->val;
    int best = v->best && !isnan(v->best_auc);
    memcpy(model->params.block, best ? v->best : t->params.block, t->params.count * sizeof *t->params.block);
    if (model->q)
        npi_net_encode(t->net, model->q, model->q + t->params.size.d, &model->params, t->x, &t->adj);
    /* what the model was trained on */
    model->columns = npi_names_share(t->known->x->columns);
    model->encoding = npi_encoding_share(t->known->x->encoding);
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
    if (t->known->side) /* links are predicted across the sides only */
        info->link_rate = npi_link_rate_among((double)npi_graph_count_pairs(t->known), t->known->m);

    /* Calibrated on what this training holds out. After a rehearsal nothing is held out, and the rehearsal's
     * calibration serves: the scores of the two trainings are nearly the same. */
    if (t->asked.calibrate && v->count > 0) {
        npgnn_env env = t->env;
        npgnn_error why = {0};
        env.stop = NULL; /* a training that was cancelled has a model, too */
        code = npi_calibrate(model, t->rehearsal ? t->rehearsal : t->split, v->embedder, v->x, &v->rows, &env, &why);
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
