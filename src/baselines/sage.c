/* Unsupervised GraphSAGE as a baseline: in each iteration every node is compared with one node that a random walk from
 * it visits and with NEGATIVES nodes drawn in proportion to degree^0.75; sage_net.c has loss and gradient. */
#include "baselines/sage.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "baselines/alias.h"
#include "baselines/learner.h"
#include "baselines/sage_net.h"

#define ITERATIONS 100
#define LEARNING_RATE 0.001
/* As in the paper: */
#define WALK_STEPS 5
#define NEGATIVES 20
#define PARTNERS (1 + NEGATIVES)
/* Random words of a node in an iteration: the steps of its walk, where it ends, its negatives. They come in fours. */
#define BLOCKS ((WALK_STEPS + 1 + NEGATIVES + 3) / 4)

typedef struct training {
    npi_learner learner;
    const npgnn_graph *known;
    npi_sage *net;
    npi_alias *negative; /* (n) nodes in proportion to degree^0.75 */
    int32_t *partner;    /* (n, PARTNERS) */
} training;

/* ---- creating and freeing ---- */

static int64_t degree(const npgnn_graph *graph, int32_t node)
{
    return graph->a.ptr[node + 1] - graph->a.ptr[node];
}

/* The distribution of negatives, in proportion to degree^0.75. */
static int make_negatives(training *t, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = t->known->n;
    double *weights = npi_alloc(env, (size_t)n, sizeof *weights, err);
    int32_t *stack = npi_alloc(env, (size_t)n, sizeof *stack, err);
    int code = weights && stack ? 0 : NPGNN_E_MEMORY;
    for (int32_t i = 0; !code && i < n; i++)
        weights[i] = pow((double)degree(t->known, i), 0.75);
    if (!code)
        npi_alias_make(t->negative, weights, stack, n);
    npi_free(env, weights);
    npi_free(env, stack);
    return code;
}

static int training_new(training *t, const npi_task *task, npgnn_error *err)
{
    const npgnn_env *env = task->env;
    size_t n = (size_t)t->known->n;
    npi_sizes size = npi_sage_sizes(t->known->x->f);
    int code = npi_learner_new(&t->learner, task, "GraphSAGE", size, LEARNING_RATE, err);
    if (!code)
        code = npi_sage_new(&t->net, size, t->known->n, PARTNERS, env, err);
    if (code)
        return code;
    t->negative = npi_alloc(env, n, sizeof *t->negative, err);
    t->partner = npi_alloc(env, n * PARTNERS, sizeof *t->partner, err);
    return t->negative && t->partner ? make_negatives(t, env, err) : NPGNN_E_MEMORY;
}

static void training_free(training *t, const npgnn_env *env)
{
    npi_learner_free(&t->learner);
    npi_sage_free(t->net);
    npi_free(env, t->negative);
    npi_free(env, t->partner);
}

/* ---- the nodes that a node is compared with ---- */

/* A number below `bound` from 32 random bits. */
static uint32_t below(uint32_t bits, uint64_t bound)
{
    return (uint32_t)(bits * bound >> 32);
}

/* The node that a walk of 1 to WALK_STEPS steps ends at. */
static int32_t walk(const npgnn_graph *graph, int32_t node, const uint32_t bits[WALK_STEPS + 1])
{
    uint32_t steps = 1 + below(bits[WALK_STEPS], WALK_STEPS);
    for (uint32_t step = 0; step < steps; step++)
        node = graph->a.col[graph->a.ptr[node] + below(bits[step], (uint64_t)degree(graph, node))];
    return node;
}

/* The positive and the negatives of a node. A partner that is the node itself has no effect: its score is always 1. */
static void draw_partners(int32_t partner[PARTNERS], const training *t, const npi_rng *rng, int32_t node)
{
    uint32_t bits[4 * BLOCKS];
    partner[0] = -1;
    if (degree(t->known, node) == 0)
        return;
    for (int block = 0; block < BLOCKS; block++)
        npi_rng_block(bits + 4 * block, rng, (uint64_t)node * BLOCKS + (uint64_t)block);
    partner[0] = walk(t->known, node, bits);
    for (int q = 0; q < NEGATIVES; q++)
        partner[1 + q] = npi_alias_draw(t->negative, t->known->n, bits[WALK_STEPS + 1 + q]);
}

typedef struct partners_loop {
    const training *t;
    npi_rng rng;
} partners_loop;

static void draw_all_partners(const void *arg, int64_t first, int64_t last)
{
    const partners_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++)
        draw_partners(l->t->partner + (size_t)i * PARTNERS, l->t, &l->rng, i);
}

static void step(npi_learner *learner, void *method)
{
    training *t = method;
    partners_loop loop = {
        t, npi_rng_make(learner->task->options->seed, NPI_RNG_SAGE, (uint32_t)learner->progress.iteration)};
    /* partner (n, PARTNERS): a new draw per iteration; then the loss (S3) and its gradient */
    npi_parallel(learner->task->env->threads, t->known->n, 0, draw_all_partners, &loop);
    learner->progress.loss =
        npi_sage_run(t->net, &learner->gradient, &learner->params, t->known->x, &t->known->a, t->partner);
}

/* ---- scores ---- */

/* Scores from z of all nodes with the training links. Nodes that training did not know have their features and no
 * links. */
static int use(npi_heuristic *out, npgnn_eval_run *run, const npi_params *params, const npi_task *task,
               npgnn_error *err)
{
    npi_sage *net = NULL;
    int d = 2 * params->size.d;
    size_t count = (size_t)task->graph->n * (size_t)d;
    real *u = npi_alloc(task->env, count, sizeof *u, err);
    int code = u ? npi_sage_new(&net, params->size, task->graph->n, 1, task->env, err) : NPGNN_E_MEMORY;
    if (!code)
        memcpy(u, npi_sage_embed(net, params, task->graph->x, &task->graph->a), count * sizeof *u);
    npi_sage_free(net);
    if (!code)
        return npi_method_use_embeddings(out, run, u, d, task, err);
    npi_free(task->env, u);
    return code;
}

int npi_sage_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    training t = {.known = task->split->train};
    int code = training_new(&t, task, err);
    if (!code)
        code = npi_learner_run(&t.learner, run, step, &t, ITERATIONS, err);
    if (!code)
        code = use(out, run, &t.learner.params, task, err);
    training_free(&t, task->env);
    return code;
}
