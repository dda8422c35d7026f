/* The baselines "vgae" and "gae": trains the network of vgae_net.c with Adam, and scores a pair by m_i · m_j. */
#include "baselines/vgae.h"

#include "base/parallel.h"
#include "base/rng.h"
#include "baselines/learner.h"
#include "baselines/vgae_net.h"

/* As in the paper's experiments; the widths are in vgae_net.c. */
#define ITERATIONS 200
#define LEARNING_RATE 0.01

typedef struct training {
    npi_learner learner;
    npi_adj adj; /* of the training graph, whose pattern it borrows */
    npi_vgae *net;
    real *epsilon; /* (n, d), NULL without noise */
} training;

/* ---- creating and freeing ---- */

static int adj_new(npi_adj *adj, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err)
{
    adj->a = graph->a;
    adj->scale = npi_alloc(env, (size_t)graph->n, sizeof *adj->scale, err);
    if (!adj->scale)
        return NPGNN_E_MEMORY;
    npi_adj_normalize(adj, env->threads);
    return 0;
}

static int training_new(training *t, const npi_task *task, int variational, npgnn_error *err)
{
    const npgnn_graph *train = task->split->train;
    const npgnn_env *env = task->env;
    npi_sizes size = npi_vgae_sizes(train->x->f);
    int code = npi_learner_new(&t->learner, task, "the auto-encoder", size, LEARNING_RATE, err);
    if (!code)
        code = adj_new(&t->adj, train, env, err);
    if (!code)
        code = npi_vgae_new(&t->net, size, train->n, npi_pairs_sampled(task->options, train->n), env, err);
    if (!code && variational) {
        t->epsilon = npi_alloc(env, (size_t)train->n * (size_t)size.d, sizeof *t->epsilon, err);
        code = t->epsilon ? 0 : NPGNN_E_MEMORY;
    }
    return code;
}

static void training_free(training *t, const npgnn_env *env)
{
    npi_learner_free(&t->learner);
    npi_vgae_free(t->net);
    npi_free(env, t->adj.scale);
    npi_free(env, t->epsilon);
}

/* ---- one iteration ---- */

typedef struct epsilon_loop {
    real *epsilon;
    npi_rng rng;
} epsilon_loop;

static void draw_normals(const void *arg, int64_t first, int64_t last)
{
    const epsilon_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->epsilon[i] = (real)npi_rng_normal_at(&l->rng, (uint64_t)i);
}

static void step(npi_learner *learner, void *method)
{
    training *t = method;
    const npgnn_graph *train = learner->task->split->train;
    uint32_t iteration = (uint32_t)learner->progress.iteration;
    npi_input input = {.x = train->x,
                       .graph = &t->adj,
                       .epsilon = t->epsilon,
                       .loss = npi_pairs_loss_make(NPGNN_WEIGHTED, &train->a, NULL),
                       .seed = learner->task->options->seed,
                       .draw = iteration};
    epsilon_loop loop = {t->epsilon, npi_rng_make(input.seed, NPI_RNG_LATENT, iteration)};
    if (t->epsilon)
        npi_parallel(learner->task->env->threads, (int64_t)train->n * learner->params.size.d, 0, draw_normals, &loop);
    npi_objective objective = npi_vgae_run(t->net, &learner->gradient, &learner->params, &input);
    learner->progress.loss = objective.reconstruction + objective.kl;
    learner->progress.kl = objective.kl;
}

/* ---- scores ---- */

/* Scores come from mu of every node. Nodes that training did not know have their features and no edges. */
static int use(npi_heuristic *out, npgnn_eval_run *run, const npi_params *params, const npi_task *task,
               npgnn_error *err)
{
    int d = params->size.d;
    npi_adj adj = {0};
    real *mu = npi_alloc(task->env, (size_t)task->graph->n * (size_t)d, sizeof *mu, err);
    int code = mu ? adj_new(&adj, task->graph, task->env, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_vgae_embed(mu, params, task->graph->x, &adj, task->env, err);
    npi_free(task->env, adj.scale);
    if (!code)
        return npi_method_use_embeddings(out, run, mu, d, task, err);
    npi_free(task->env, mu);
    return code;
}

static int learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, int variational, npgnn_error *err)
{
    training t = {0};
    int code = training_new(&t, task, variational, err);
    if (!code)
        code = npi_learner_run(&t.learner, run, step, &t, ITERATIONS, err);
    if (!code)
        code = use(out, run, &t.learner.params, task, err);
    training_free(&t, task->env);
    return code;
}

int npi_vgae_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return learn(out, run, task, 1, err);
}

int npi_gae_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    return learn(out, run, task, 0, err);
}
