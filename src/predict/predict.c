/* Using a model: embeddings, and the probability of pairs. */
#include "predict/predictor.h"

#include <float.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/sized.h"
#include "features/match.h"
#include "linalg/blas.h"
#include "model/options.h"
#include "model/score.h"

#define BATCH 65536 /* pairs scored at a time: bounds the memory of one call */
#define PROCESS_BATCH ((size_t)8192)
#define LARGE_BATCH ((size_t)1 << 20) /* where every batch passes over all nodes */

/* z (d) = draw `index` of q(z), or its mean for -1:  z_c = μ_c + σ_c ε_c. Returns z; NULL without latent. */
static const real *draw_latent(real *z, const npgnn_predictor *p, int index)
{
    int d = p->model->params.size.d;
    if (d == 0)
        return NULL;
    npi_rng rng = npi_rng_make(p->seed, NPI_RNG_PREDICT, (uint32_t)index);
    for (int c = 0; c < d; c++) {
        double sigma = index < 0 ? 0 : exp((double)p->model->q[d + c]) * npi_rng_normal_at(&rng, (uint64_t)c);
        z[c] = (real)((double)p->model->q[c] + sigma);
    }
    return z;
}

/* |u_i . u_j| <= k max |u|^2: below FLT_MAX, so that no score, and no partial sum of one, overflows. A NaN fails too. */
static int scores_are_finite(const npi_embedder *e, int k)
{
    int sound = 1;
    const real most = (real)(sqrt((double)FLT_MAX / k) / 2);
    for (int64_t i = 0; i < (int64_t)e->n * k; i++)
        sound &= fabs((double)e->u[i]) <= (double)most;
    return sound;
}

int npi_predictor_decode(npi_embedder *out, const npgnn_predictor *p, int draw, npgnn_error *err)
{
    real z[NPI_MAX_WIDTH];
    npi_embedder_run(out, &p->model->params, draw_latent(z, p, draw), p->model->options.decoder_output, p->threads);
    return scores_are_finite(out, p->model->params.size.k)
               ? 0
               : npi_fail(err, NPGNN_E_DIVERGED,
                          "the scores of this graph are not finite: the weights of the model or the "
                          "features of the graph are too large");
}

/* The options of a caller, over the defaults. */
static int read_options(npgnn_predict_options *out, const npgnn_predict_options *given, npgnn_error *err)
{
    *out = (npgnn_predict_options){.samples = -1};
    int code = npi_sized_read(out, sizeof *out, given, "npgnn_predict_options", err);
    if (!code && out->samples > NPI_MOST_DRAWS)
        code =
            npi_fail(err, NPGNN_E_ARGUMENT, "%d samples are too many: the limit is %d", out->samples, NPI_MOST_DRAWS);
    if (!code && !(out->link_rate >= 0 && out->link_rate < 1))
        code = npi_fail(err, NPGNN_E_ARGUMENT, "link rate %g is out of range: it must be at least 0 and below 1",
                        out->link_rate);
    return code;
}

/* A predictor of a network. */
static int predictor_of_network(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                                const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    npi_sizes s = model->params.size;
    npgnn_predict_options o;
    int code = read_options(&o, options, err);
    if (code)
        return code;
    npi_features *x = NULL;
    code = npi_features_match(&x, graph->x, model->columns, model->encoding, s.f, "the model", "the graph", &resolved,
                              err);
    if (code)
        return code;
    npgnn_predictor *p = npi_alloc(&resolved, 1, sizeof *p, err);
    if (!p) {
        npi_features_free(x);
        return NPGNN_E_MEMORY;
    }
    p->env = resolved;
    p->threads = resolved.threads;
    p->model = model;
    p->x = x;
    p->graph = graph;
    p->samples = o.samples >= 0 ? o.samples : model->options.predict_samples;
    p->seed = o.seed;
    p->calibration = npi_calibration_at(model->scorer.calibration,
                                        o.link_rate > 0 ? o.link_rate : model->info.link_rate, o.link_rate);
    if (s.d == 0 || !model->options.sample_latent)
        p->samples = 0; /* there is nothing to draw */
    p->batch = BATCH;
    code = npi_embedder_new(&p->embedder, s, graph->n, &resolved, err);
    if (!code)
        npi_embedder_features(&p->embedder, &model->params, x, resolved.threads);
    if (!code && p->samples == 0)
        code = npi_predictor_decode(&p->embedder, p, -1, err);
    else if (!code)
        npi_embedder_shrink(&resolved, &p->embedder); /* each call decodes draws in memory of its own */
    if (code) {
        npgnn_predictor_free(p);
        return code;
    }
    *out = p;
    return 0;
}

static int predictor_of_process(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                                const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_predict_options o;
    int code = read_options(&o, options, err);
    if (code)
        return code;
    npgnn_comm *comm = resolved.comm;
    resolved.comm = NULL;
    npgnn_predictor *p = npi_alloc(&resolved, 1, sizeof *p, err);
    code = npi_comm_agree(comm, p ? 0 : NPGNN_E_MEMORY, err);
    if (code) {
        npi_free(&resolved, p);
        return code;
    }
    p->env = resolved;
    p->threads = resolved.threads;
    p->model = model;
    p->graph = graph;
    p->samples = o.samples >= 0 ? o.samples : model->options.predict_samples;
    p->seed = o.seed;
    size_t heads = p->samples > 0 ? (size_t)p->samples : 1;
    p->heads = npi_alloc(&resolved, heads, sizeof *p->heads, err);
    code = p->heads ? 0 : NPGNN_E_MEMORY;
    if (!code && model->process.projection.width > 0)
        code = npi_features_match(&p->x, graph->x, model->columns, model->encoding, model->process.projection.f,
                                  "the model", "the graph", &resolved, err);
    else if (!code)
        p->x = npi_features_share(graph->x);
    code = npi_comm_agree(comm, code, err);
    npgnn_env shared = resolved;
    shared.comm = comm;
    if (!code)
        code = npi_applied_new(&p->applied, &model->process, graph, p->x, o.seed, o.memory, &shared, err);
    p->batch = p->applied.columns.kept ? PROCESS_BATCH : LARGE_BATCH / (size_t)npi_comm_ranks(comm);
    for (int draw = 0; !code && draw < p->samples; draw++)
        code = npi_applied_draw(&p->heads[draw], &p->applied, p->seed, draw, err);
    if (code) {
        npgnn_predictor_free(p);
        return code;
    }
    double rate = o.link_rate > 0 ? o.link_rate : npi_link_rate_among((double)npi_graph_count_pairs(graph), graph->m);
    p->calibration =
        npi_calibration_at(model->process.z ? model->scorer.calibration : p->applied.calibration, rate, o.link_rate);
    *out = p;
    return 0;
}

/* Whether all processes have been given the same. */
static int check_same(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *o,
                      const npgnn_env *env, npgnn_error *err)
{
    uint64_t hash = npi_hash_bytes(NPI_HASH_START, &o->samples, sizeof o->samples);
    hash = npi_hash_bytes(hash, &o->seed, sizeof o->seed);
    hash = npi_hash_bytes(hash, &o->link_rate, sizeof o->link_rate);
    int code = npi_blas_open_among(env, err);
    if (!code)
        code = npi_comm_same(env->comm, npi_graph_fingerprint(graph), "the graph", err);
    if (!code)
        code = npi_comm_same(env->comm, npi_model_hash(model), "the model", err);
    return code ? code : npi_comm_same(env->comm, hash, "the list of options", err);
}

int npgnn_predictor_new(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                        const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env alone = npi_env_resolve(env);
    npgnn_comm *comm = npi_comm_ranks(alone.comm) > 1 ? alone.comm : NULL;
    npgnn_predictor *p = NULL;
    npgnn_predict_options o;
    int code = read_options(&o, options, err);
    if (!code && comm)
        code = check_same(model, graph, &o, &alone, err);
    if (code)
        return code;
    o.size = sizeof o;
    if (o.memory == 0) /* for all processes on this machine */
        o.memory = npi_memory() / 2 / (size_t)npi_comm_local(comm);
    npgnn_env shared = alone;
    shared.comm = comm;
    alone.comm = NULL;
    if (npi_model_is_process(model))
        code = predictor_of_process(&p, model, graph, &o, &shared, err);
    else
        code = predictor_of_network(&p, model, graph, &o, &alone, err);
    code = npi_comm_agree(comm, code, err);
    if (code) {
        npgnn_predictor_free(p);
        return code;
    }
    p->comm = comm;
    *out = p;
    return 0;
}

void npgnn_predictor_free(npgnn_predictor *p)
{
    if (!p)
        return;
    npgnn_env env = p->env;
    npi_embedder_free(&env, &p->embedder);
    npi_features_free(p->x);
    for (int i = 0; p->heads && i < p->samples; i++)
        npi_head_free(&env, &p->heads[i]);
    npi_free(&env, p->heads);
    npi_explainer_free(p->explainer);
    npi_applied_free(&p->applied);
    npi_free(&env, p);
}

/* ---- scores ---- */

/* What a call needs for a batch. */
typedef struct batch_memory {
    float *score;          /* (heads, batch); heads 1: of a network */
    npi_sums *sums;        /* (batch) over the draws of z; NULL without draws */
    npi_embedder embedder; /* of a network with draws: the draw at hand */
} batch_memory;

static void batch_free(const npgnn_env *env, batch_memory *w)
{
    npi_free(env, w->score);
    npi_free(env, w->sums);
    npi_embedder_free(env, &w->embedder);
}

static int batch_new(batch_memory *out, const npgnn_predictor *p, size_t batch, npgnn_error *err)
{
    int process = npi_model_is_process(p->model), heads = 1, code = 0;
    if (process)
        npi_predictor_heads(&heads, p);
    *out = (batch_memory){.score = npi_resize(&p->env, NULL, (size_t)heads * batch, sizeof *out->score, err)};
    if (p->samples > 0)
        out->sums = npi_resize(&p->env, NULL, batch, sizeof *out->sums, err);
    if (p->samples > 0 && !process)
        code = npi_embedder_share(&out->embedder, p->model->params.size, &p->embedder, &p->env, err);
    return code ? code : out->score && (out->sums || p->samples == 0) ? 0 : NPGNN_E_MEMORY;
}

/* A network: the inner product of the embeddings at the mean of z, or at each draw. */
static int score_by_embeddings(batch_memory *w, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                               npgnn_error *err)
{
    int k = p->model->params.size.k;
    if (p->samples == 0)
        npi_score_pairs(w->score, p->embedder.u, k, pairs, count, p->threads);
    for (int draw = 0; draw < p->samples; draw++) {
        int code = npi_predictor_decode(&w->embedder, p, draw, err);
        if (code)
            return code;
        npi_score_pairs(w->score, w->embedder.u, k, pairs, count, p->threads);
        for (size_t i = 0; i < count; i++)
            npi_sums_add(&w->sums[i], &p->calibration, w->score[i]);
    }
    return 0;
}

/* A process: the evidence of each pair, and the head of the mean of z, or of each draw. */
static int score_by_heads(batch_memory *w, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                          npgnn_error *err)
{
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    int code = npi_applied_scores(w->score, &p->applied, head, heads, pairs, count, p->threads, err);
    for (int h = 0; !code && p->samples > 0 && h < heads; h++)
        for (size_t i = 0; i < count; i++)
            npi_sums_add(&w->sums[i], &p->calibration, w->score[(size_t)h * count + i]);
    return code;
}

int npi_predictor_run_share(npgnn_prediction *out, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                            npgnn_error *err)
{
    int process = npi_model_is_process(p->model);
    npgnn_comm *comm = p->applied.columns.rows.comm; /* NULL unless the evidence is divided */
    size_t most = count < p->batch ? count : p->batch;
    batch_memory w;
    int code = npi_comm_agree(comm, batch_new(&w, p, most, err), err);
    for (size_t first = 0, size; !code && npi_comm_any(comm, first < count); first += size) {
        size = count - first < most ? count - first : most;
        if (p->samples > 0)
            memset(w.sums, 0, size * sizeof *w.sums);
        code = (process ? score_by_heads : score_by_embeddings)(&w, p, pairs + first, size, err);
        for (size_t i = 0; !code && i < size; i++)
            out[first + i] = p->samples > 0 ? npi_prediction_mean(&w.sums[i], &p->calibration, p->samples)
                                            : npi_prediction_of(&p->calibration, w.score[i]);
    }
    batch_free(&p->env, &w);
    return code;
}

int npi_predictor_check_pairs(const npgnn_predictor *p, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    int32_t n = p->graph->n;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].u < 0 || pairs[i].u >= n || pairs[i].v < 0 || pairs[i].v >= n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "pair %zu joins %d and %d, but nodes are 0 to %d", i, pairs[i].u,
                            pairs[i].v, n - 1);
    return 0;
}

int npgnn_predictor_run(npgnn_prediction *out, npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                        npgnn_error *err)
{
    if (count == 0 && !p->comm)
        return 0; /* pairs may be NULL then */
    int code = npi_predictor_check_pairs(p, pairs, count, err);
    if (!code && p->comm)
        code = npi_comm_same(p->comm, npi_hash_bytes(NPI_HASH_START, pairs, count * sizeof *pairs), "the list of pairs",
                             err);
    if (code)
        return code;
    /* of several processes, each one scores its share */
    int rank = npi_comm_rank(p->comm);
    size_t begin = (size_t)npi_comm_share_start(p->comm, (int64_t)count, rank);
    size_t end = (size_t)npi_comm_share_start(p->comm, (int64_t)count, rank + 1);
    code = npi_comm_agree(p->comm, npi_predictor_run_share(out + begin, p, pairs + begin, end - begin, err), err);
    if (!code)
        npi_comm_gather_shares(p->comm, out, (int64_t)count, sizeof *out);
    return code;
}

int npgnn_predict(npgnn_prediction *out, const npgnn_model *model, const npgnn_graph *graph, const npgnn_pair *pairs,
                  size_t count, const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_predictor *predictor = NULL;
    npgnn_predict_options o;
    int code = read_options(&o, options, err);
    if (code)
        return code;
    if (o.memory == 0 && npi_comm_ranks(npi_env_resolve(env).comm) > 1)
        o.memory = 1; /* these are all pairs: keeping the evidence would only take memory */
    code = npgnn_predictor_new(&predictor, model, graph, &o, env, err);
    if (!code)
        code = npgnn_predictor_run(out, predictor, pairs, count, err);
    npgnn_predictor_free(predictor);
    return code;
}

int npgnn_model_embed(float *embedding, const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env,
                      npgnn_error *err)
{
    npgnn_predict_options mean = {.size = sizeof mean};
    npgnn_predictor *predictor = NULL;
    if (npi_model_need_network(model, "has no embeddings of nodes", err) || npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    int code = predictor_of_network(&predictor, model, graph, &mean, env, err);
    if (code)
        return code;
    for (size_t i = 0; i < (size_t)graph->n * (size_t)model->params.size.k; i++)
        embedding[i] = (float)predictor->embedder.u[i];
    npgnn_predictor_free(predictor);
    return 0;
}
