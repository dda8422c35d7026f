#include "baselines/vgae.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "baselines/vgae_net.h"
#include "train/adam.h"

/* As in the paper's experiments; the widths are in vgae_net.c. */
#define ITERATIONS 200
#define LEARNING_RATE 0.01

typedef struct training {
    const npi_task *task;
    npi_adj adj; /* of the training graph, whose pattern it borrows */
    npi_vgae *net;
    npi_params params, gradient;
    npi_adam adam;
    real *epsilon; /* (n, d), NULL without noise */
    npgnn_progress progress;
} training;

/* ---- making ---- */

static int adj_new(npi_adj *adj, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err)
{
    adj->a = graph->a;
    adj->scale = npi_alloc(env, (size_t)graph->n, sizeof *adj->scale, err);
    if (!adj->scale)
        return NPGNN_E_MEMORY;
    npi_adj_normalize(adj, env->threads);
    return 0;
}

static int training_new(training *t, int variational, npgnn_error *err)
{
    const npgnn_graph *train = t->task->split->train;
    const npgnn_env *env = t->task->env;
    npi_sizes size = npi_vgae_sizes(train->x->f);
    npgnn_options options;
    npgnn_options_preset(&options, NULL, NULL); /* for Adam's constants */
    options.learning_rate = LEARNING_RATE;
    options.input_scale = 1;
    int code = npi_method_check_features(train, "graph auto-encoders", err);
    if (!code)
        code = npi_features_transpose(train->x, err);
    if (!code)
        code = adj_new(&t->adj, train, env, err);
    if (!code)
        code = npi_params_new(&t->params, size, env, err);
    if (!code)
        code = npi_params_new(&t->gradient, size, env, err);
    if (!code)
        code = npi_adam_new(&t->adam, t->params.count, &options, env, err);
    if (!code)
        code = npi_vgae_new(&t->net, size, train->n, npi_pairs_sampled(t->task->options, train->n), env, err);
    if (!code && variational) {
        t->epsilon = npi_alloc(env, (size_t)train->n * (size_t)size.d, sizeof *t->epsilon, err);
        code = t->epsilon ? 0 : NPGNN_E_MEMORY;
    }
    return code;
}

static void training_free(training *t)
{
    const npgnn_env *env = t->task->env;
    npi_vgae_free(t->net);
    npi_params_free(env, &t->params);
    npi_params_free(env, &t->gradient);
    npi_adam_free(env, &t->adam);
    npi_free(env, t->adj.scale);
    npi_free(env, t->epsilon);
}

/* ---- iterating ---- */

static void draw_epsilon(training *t, uint32_t iteration)
{
    npi_rng rng = npi_rng_make(t->task->options->seed, NPI_RNG_LATENT, iteration);
    int64_t count = (int64_t)t->adj.a.rows * t->params.size.d;
#pragma omp parallel for num_threads(t->task->env->threads) schedule(static)
    for (int64_t i = 0; i < count; i++)
        t->epsilon[i] = (real)npi_rng_normal_at(&rng, (uint64_t)i);
}

static int step(training *t, npgnn_error *err)
{
    const npgnn_graph *train = t->task->split->train;
    uint32_t iteration = (uint32_t)t->progress.iteration;
    npi_input input = {.x = train->x,
                       .graph = &t->adj,
                       .epsilon = t->epsilon,
                       .loss = npi_pairs_loss_make(NPGNN_WEIGHTED, train->n, train->m),
                       .seed = t->task->options->seed,
                       .draw = iteration};
    if (t->epsilon)
        draw_epsilon(t, iteration);
    memset(t->gradient.block, 0, t->gradient.count * sizeof *t->gradient.block);
    npi_objective objective = npi_vgae_run(t->net, &t->gradient, &t->params, &input);
    t->progress.loss = objective.reconstruction + objective.kl;
    t->progress.kl = objective.kl;
    if (!isfinite(t->progress.loss))
        return npi_fail(err, NPGNN_E_DIVERGED,
                        "the auto-encoder diverged at iteration %d: its features may need to be normalised",
                        (int)iteration + 1);
    npi_adam_step(&t->adam, &t->params, &t->gradient, t->task->env->threads);
    return 0;
}

static int train(training *t, npgnn_error *err)
{
    double start = npi_seconds();
    int code = 0;
    t->progress = npi_method_begin(ITERATIONS);
    npi_params_init(&t->params, t->task->options->seed, 1);
    while (!code && t->progress.iteration < ITERATIONS) {
        code = step(t, err);
        if (!code)
            code = npi_method_advance(&t->progress, start, t->task->env, err);
    }
    return code;
}

/* ---- judging ---- */

/* mu of every node: those that training did not know have their features and no edge. */
static int embed(real *mu, const training *t, npgnn_error *err)
{
    const npi_task *task = t->task;
    npi_adj adj = {0};
    int code = adj_new(&adj, task->graph, task->env, err);
    if (!code)
        code = npi_vgae_embed(mu, &t->params, task->graph->x, &adj, task->env, err);
    npi_free(task->env, adj.scale);
    return code;
}

static int judge(float *score, npgnn_eval_run *run, const training *t, npgnn_error *err)
{
    const npi_task *task = t->task;
    int d = t->params.size.d;
    real *mu = npi_alloc(task->env, (size_t)task->graph->n * (size_t)d, sizeof *mu, err);
    int code = mu ? embed(mu, t, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_method_judge(score, run, mu, d, task, err);
    npi_free(task->env, mu);
    return code;
}

static int run_autoencoder(float *score, npgnn_eval_run *run, const npi_task *task, int variational, npgnn_error *err)
{
    training t = {.task = task};
    int code = training_new(&t, variational, err);
    if (!code)
        code = train(&t, err);
    if (!code) {
        run->iterations = run->best_iteration = t.progress.iteration;
        run->train_seconds = t.progress.seconds;
        code = judge(score, run, &t, err);
    }
    training_free(&t);
    return code;
}

int npi_vgae_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return run_autoencoder(score, run, task, 1, err);
}

int npi_gae_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return run_autoencoder(score, run, task, 0, err);
}
