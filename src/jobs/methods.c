/* The methods that can be evaluated: a table of names, and those that no other folder has. A method learns from the
 * known links of a split and scores the pairs of a task (baselines/method.h). */
#include "jobs/methods.h"

#include <stdio.h>
#include <string.h>

#include "baselines/cosine.h"
#include "baselines/deepwalk.h"
#include "baselines/neighbors.h"
#include "baselines/sage.h"
#include "baselines/spectral.h"
#include "baselines/vgae.h"
#include "evidence/columns.h"
#include "evidence/vectors.h"
#include "jobs/fit.h"
#include "jobs/test_set.h"
#include "model/model.h"
#include "predict/predictor.h"
#include "search/search.h"

/* ---- scores of a predictor ---- */

/* Without draws the score says more than its sigmoid, which has fewer bits near 1. */
static int score_pairs(float *score, float *probability, npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                       npgnn_error *err)
{
    npgnn_prediction *predictions = npi_alloc(&p->env, count, sizeof *predictions, err);
    int code = predictions ? npgnn_predictor_run(predictions, p, pairs, count, err) : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++) {
        score[i] = p->samples > 0 ? predictions[i].probability : predictions[i].score;
        if (probability)
            probability[i] = predictions[i].probability;
    }
    npi_free(&p->env, predictions);
    return code;
}

static int score_rows(float *score, const void *user, const int32_t *nodes, int count, npgnn_error *err)
{
    npgnn_predictor *p = *(npgnn_predictor *const *)user;
    int32_t n = p->graph->n;
    if (p->samples == 0)
        return npi_predictor_rows(score, p, nodes, count, err);
    npgnn_pair *pairs = npi_alloc(&p->env, (size_t)n, sizeof *pairs, err);
    int code = pairs ? 0 : NPGNN_E_MEMORY;
    for (int r = 0; !code && r < count; r++) {
        for (int32_t v = 0; v < n; v++)
            pairs[v] = (npgnn_pair){nodes[r], v};
        code = score_pairs(score + (size_t)r * (size_t)n, NULL, p, pairs, (size_t)n, err);
    }
    npi_free(&p->env, pairs);
    return code;
}

/* Applies a model to the known links of a task, as `predict` does, and scores its pairs. */
static int run_model(float *score, npgnn_eval_run *run, const npi_task *task, const npgnn_model *model,
                     npgnn_error *err)
{
    const npgnn_predict_options how = {
        .size = sizeof how, .samples = -1, .link_rate = task->link_rate, .seed = task->options->seed};
    npgnn_predictor *predictor = NULL;
    double start = npi_clock_seconds();
    int code = npgnn_predictor_new(&predictor, model, task->graph, &how, task->env, err);
    run->train_seconds += npi_clock_seconds() - start;
    if (!code)
        code = score_pairs(score, task->probability, predictor, task->pairs, task->count, err);
    if (!code)
        code = npi_task_rank(task, score_rows, &predictor, err);
    if (!code && (model->scorer.calibrated || predictor->applied.calibrated))
        run->calibration.link_rate = task->link_rate;
    npgnn_predictor_free(predictor);
    return code;
}

/* ---- the model itself ---- */

/* What universal would have reached on the test pairs, with which `task->pairs` begin. A model that is not tuned is
 * universal, and `score` has its scores. */
static int measure_untuned(npgnn_eval_run *run, const float *score, const npi_task *task, const npgnn_model *model,
                           npgnn_error *err)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, task->split, NPGNN_SET_TEST);
    npgnn_model *universal = NULL;
    float *own = npi_alloc(task->env, count, sizeof *own, err);
    npi_task again = {.graph = task->graph,
                      .split = task->split,
                      .pairs = pairs,
                      .count = count,
                      .link_rate = task->link_rate,
                      .options = task->options,
                      .env = task->env};
    npgnn_eval_run ignored = {.size = sizeof ignored};
    int code = own ? 0 : NPGNN_E_MEMORY;
    if (!code && model->info.tuned)
        code = npgnn_model_universal(&universal, task->env, err);
    if (!code && universal)
        code = run_model(own, &ignored, &again, universal, err);
    const float *link = universal ? own : score;
    if (!code)
        code = npgnn_auc_ap(&run->untuned_auc, &run->untuned_ap, link, link + positives, positives, count - positives,
                            task->env, err);
    npgnn_model_free(universal);
    npi_free(task->env, own);
    return code;
}

static int run_npgnn(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    npgnn_model *model = NULL;
    npgnn_progress last = {.size = sizeof last};
    double start = npi_clock_seconds();
    int code = npi_fit(&model, &last, task->split->graph, task->split, task->options, task->env, err);
    run->train_seconds = npi_clock_seconds() - start;
    if (!code) {
        run->iterations = last.iteration;
        run->best_iteration = model->info.iterations;
        run->val_auc = model->info.val_auc;
        run->val_ap = model->info.val_ap;
        code = run_model(score, run, task, model, err);
    }
    if (!code && model->info.across_graphs)
        code = measure_untuned(run, score, task, model, err);
    npgnn_model_free(model);
    return code;
}

/* The model with z at the context's mean, whatever the options say. */
static int run_conditional(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    npgnn_options options = *task->options;
    npi_task conditional = *task;
    options.latent = 1;
    options.sample_latent = 0;
    conditional.options = &options;
    return run_npgnn(score, run, &conditional, err);
}

static int run_universal(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    npgnn_model *model = NULL;
    int code = npgnn_model_universal(&model, task->env, err);
    if (!code)
        code = run_model(score, run, task, model, err);
    npgnn_model_free(model);
    return code;
}

/* ---- heuristics that need the library's own evidence ---- */

typedef struct smoothed {
    npi_reduced reduced;
    npi_columns columns;
} smoothed;

static void smoothed_free(const npgnn_env *env, void *learnt)
{
    smoothed *l = learnt;
    npi_columns_free(&l->columns);
    npi_reduced_free(env, &l->reduced);
    npi_free(env, l);
}

/* 0 without features. */
static float score_smoothed(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const npi_columns *columns = &((const smoothed *)h->learnt)->columns;
    const npi_bank *bank = &columns->bank[NPI_BANK_SMOOTH1];
    size_t width = (size_t)bank->width;
    (void)scratch;
    return columns->has_features
               ? (float)npi_dot(bank->row + (size_t)pair.u * width, bank->row + (size_t)pair.v * width, bank->width)
               : 0;
}

/* The cosine of features averaged over neighbours, (Â F)_i · (Â F)_j with rows of length 1: untrained. */
static int learn_smoothed_cosine(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    smoothed *l = npi_alloc(task->env, 1, sizeof *l, err);
    (void)run;
    if (!l)
        return NPGNN_E_MEMORY;
    *out = (npi_heuristic){.graph = task->graph, .pair = score_smoothed, .learnt = l, .free = smoothed_free};
    int code = npi_reduced_new(&l->reduced, task->graph->x, NULL, task->env, err);
    return code ? code : npi_columns_new(&l->columns, &task->graph->a, &l->reduced, NULL, 1, task->env, err);
}

/* ---- the table ---- */

enum { OPTIONS = NPGNN_USES_OPTIONS, WEIGHTS = NPGNN_USES_WEIGHTS, ITERATIONS = NPGNN_USES_ITERATIONS };
static const npi_method methods[] = {
    {"npgnn", "the model", NULL, run_npgnn, OPTIONS | WEIGHTS | ITERATIONS},
    {"cnp", "the model as a conditional neural process: no draws of z, no KL term", NULL, run_conditional,
     OPTIONS | WEIGHTS | ITERATIONS},
    {"cosine", "cosine similarity of the features, without training", npi_cosine_learn, NULL, 0},
    {"smoothed-cosine", "cosine of features averaged over neighbours, without training", learn_smoothed_cosine, NULL,
     0},
    {"vgae", "variational graph auto-encoder (Kipf and Welling 2016)", npi_vgae_learn, NULL, WEIGHTS | ITERATIONS},
    {"gae", "graph auto-encoder: the same without noise", npi_gae_learn, NULL, WEIGHTS | ITERATIONS},
    {"sage", "GraphSAGE, unsupervised (Hamilton et al. 2017)", npi_sage_learn, NULL, ITERATIONS},
    {"sc", "spectral embedding of the training graph", npi_spectral_learn, NULL, 0},
    {"deepwalk", "embeddings from random walks (Perozzi et al. 2014)", npi_deepwalk_learn, NULL, ITERATIONS},
    {"common-neighbors", "number of common neighbours", npi_common_neighbors_learn, NULL, 0},
    {"adamic-adar", "common neighbours, each weighted by 1 / log(degree)", npi_adamic_adar_learn, NULL, 0},
    {"resource-allocation", "common neighbours, each weighted by 1 / degree", npi_resource_allocation_learn, NULL, 0},
    {"pagerank", "personalised PageRank between two nodes, both ways", npi_pagerank_learn, NULL, 0},
    {"katz", "number of walks between two nodes, longer walks weighted less", npi_katz_learn, NULL, 0},
    {"three-steps", "random walks of three steps between two nodes", npi_three_steps_learn, NULL, 0},
    {"item-cosine", "nodes with the same neighbours as the neighbours of a node", npi_item_cosine_learn, NULL, 0},
    {"universal", "neural process learnt across graphs, without training on this one", NULL, run_universal, 0},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

int npgnn_method_info(const char **name, const char **help, int index)
{
    if (index < 0 || index >= METHODS)
        return 0;
    *name = methods[index].name;
    *help = methods[index].help;
    return 1;
}

int npgnn_method_uses(const char *method)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, method) == 0)
            return methods[i].uses;
    return 0;
}

int npi_method_is_model(const char *name)
{
    const npi_method *method = npi_method_find(name, NULL);
    return method && (method->run == run_npgnn || method->run == run_conditional);
}

const npi_method *npi_method_find(const char *name, npgnn_error *err)
{
    char known[320] = "";
    for (int i = 0; i < METHODS; i++) {
        size_t used = strlen(known);
        if (strcmp(methods[i].name, name ? name : "npgnn") == 0)
            return &methods[i];
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", methods[i].name);
    }
    npi_fail(err, NPGNN_E_ARGUMENT, "there is no method \"%s\": choose one of %s", name, known);
    return NULL;
}

int npi_method_run(float *score, npgnn_eval_run *run, const npi_task *task, const npi_method *method, npgnn_error *err)
{
    if (method->run)
        return method->run(score, run, task, err);
    npi_heuristic heuristic = {0};
    double start = npi_clock_seconds();
    run->train_seconds = 0;
    int code = method->learn(&heuristic, run, task, err);
    if (!code)
        code = npi_task_score(score, task, &heuristic, err);
    if (run->train_seconds == 0) /* of a method that does not train: all of its time */
        run->train_seconds = npi_clock_seconds() - start;
    npi_heuristic_free(task->env, &heuristic);
    return code;
}
