/* npgnn_model_embed_test: how well inner products of embeddings rank, beside the scores. */
#include "base/sized.h"
#include "model/model.h"
#include "predict/predictor.h"

/* What is computed for the pairs of the test set. */
typedef struct ranking {
    const npgnn_pair *pairs; /* (count) links, then non-links */
    size_t count, positives;
    npgnn_prediction *prediction; /* (count) */
    float *score, *inner;         /* (count) */
    float *embedding;             /* (n, width) */
    int width;
} ranking;

static int ranking_new(ranking *r, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    r->prediction = npi_alloc(env, r->count, sizeof *r->prediction, err);
    r->score = npi_alloc(env, r->count, sizeof *r->score, err);
    r->inner = npi_alloc(env, r->count, sizeof *r->inner, err);
    r->embedding = npi_alloc(env, (size_t)n * (size_t)r->width, sizeof *r->embedding, err);
    return r->prediction && r->score && r->inner && r->embedding ? 0 : NPGNN_E_MEMORY;
}

static void ranking_free(ranking *r, const npgnn_env *env)
{
    npi_free(env, r->prediction);
    npi_free(env, r->score);
    npi_free(env, r->inner);
    npi_free(env, r->embedding);
}

static int rank(npgnn_embed_accuracy *out, ranking *r, npgnn_predictor *p, const npgnn_env *env, npgnn_error *err)
{
    const size_t others = r->count - r->positives, width = (size_t)r->width;
    double ap;
    int code = npgnn_predictor_run(r->prediction, p, r->pairs, r->count, err);
    if (!code)
        code = p->model->kind->embed(r->embedding, p, err);
    for (size_t i = 0; !code && i < r->count; i++) {
        const float *u = r->embedding + (size_t)r->pairs[i].u * width,
                    *v = r->embedding + (size_t)r->pairs[i].v * width;
        double sum = 0;
        for (size_t c = 0; c < width; c++)
            sum += (double)u[c] * (double)v[c];
        r->score[i] = r->prediction[i].score;
        r->inner[i] = (float)sum;
    }
    if (!code)
        code = npgnn_auc_ap(&out->inner_auc, &ap, r->inner, r->inner + r->positives, r->positives, others, env, err);
    if (!code)
        code = npgnn_auc_ap(&out->score_auc, &ap, r->score, r->score + r->positives, r->positives, others, env, err);
    return code;
}

int npgnn_model_embed_test(npgnn_embed_accuracy *out, const npgnn_model *model, const npgnn_graph *graph, uint64_t seed,
                           const npgnn_env *env, npgnn_error *err)
{
    if (npi_sized_check(out, "npgnn_embed_accuracy", err) || npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env alone = npi_env_resolve(env);
    alone.comm = NULL;
    alone.log = NULL; /* what it says of probabilities does not concern a ranking */
    npgnn_split_options how = {.size = sizeof how};
    const npgnn_predict_options mean = {.size = sizeof mean}; /* no draws */
    npgnn_options options = {.size = sizeof options};
    npgnn_embed_accuracy accuracy = {.size = sizeof accuracy};
    npgnn_split *split = NULL;
    npgnn_predictor *p = NULL;
    ranking r = {0};
    int code = npgnn_split_options_default(&how, NPGNN_TRANSDUCTIVE, err);
    how.test = 0.1;
    how.val = 0;
    how.seed = seed;
    if (!code)
        code = npgnn_model_options(&options, model, err);
    if (!code)
        code = npgnn_split_new(&split, graph, &how, &alone, err);
    if (!code) {
        r.count = npgnn_split_pairs(&r.pairs, &r.positives, split, NPGNN_SET_TEST);
        r.width = options.output_size;
        code = ranking_new(&r, graph->n, &alone, err);
    }
    if (!code)
        code = npgnn_predictor_new(&p, model, npgnn_split_train(NULL, split), &mean, &alone, err);
    if (!code)
        code = rank(&accuracy, &r, p, &alone, err);
    if (!code) {
        accuracy.links = r.positives;
        code = npi_sized_write(out, &accuracy, sizeof accuracy, "npgnn_embed_accuracy", err);
    }
    npgnn_predictor_free(p);
    ranking_free(&r, &alone);
    npgnn_split_free(split);
    return code;
}
