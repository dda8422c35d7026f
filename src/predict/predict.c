/* Using a model: the calls, for models of every kind (network.c, process.c). */
#include "predict/predictor.h"

#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "linalg/blas.h"
#include "model/options.h"

int npi_predict_options_read(npgnn_predict_options *out, const npgnn_predict_options *given, npgnn_error *err)
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

/* E_MISMATCH unless all processes have the same model, graph and options. */
static int check_same(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *o,
                      const npgnn_env *env, npgnn_error *err)
{
    /* not memory: each machine may have its own, and whether evidence is kept is agreed on later */
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
    int code = npi_predict_options_read(&o, options, err);
    if (!code && comm)
        code = check_same(model, graph, &o, &alone, err);
    if (code)
        return code;
    o.size = sizeof o; /* complete from here on: the kind reads it as a caller's */
    if (o.memory == 0) /* for all processes on this machine */
        o.memory = npi_memory() / 2 / (size_t)npi_comm_local(comm);
    npgnn_env shared = alone;
    shared.comm = comm; /* a comm of one process counts as none */
    code = npi_comm_agree(comm, model->kind->apply(&p, model, graph, &o, &shared, err), err);
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
    p->model->kind->free_predictor(p);
    npi_features_free(p->x);
    npi_free(&env, p);
}

/* ---- scores ---- */

int npi_predict_batch_new(npi_predict_batch *out, const npgnn_predictor *p, int heads, size_t count, npgnn_error *err)
{
    *out = (npi_predict_batch){.score = npi_resize(&p->env, NULL, (size_t)heads * count, sizeof *out->score, err)};
    if (p->samples > 0)
        out->sums = npi_resize(&p->env, NULL, count, sizeof *out->sums, err);
    return out->score && (out->sums || p->samples == 0) ? 0 : NPGNN_E_MEMORY;
}

static void batch_free(const npgnn_env *env, npi_predict_batch *w)
{
    npi_free(env, w->score);
    npi_free(env, w->sums);
    npi_embedder_free(env, &w->embedder);
}

int npi_predictor_run_share(npgnn_prediction *out, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                            npgnn_error *err)
{
    const npi_model_kind *kind = p->model->kind;
    npgnn_comm *comm = p->applied.columns.rows.comm; /* NULL unless the evidence is divided */
    size_t most = count < p->batch ? count : p->batch;
    /* w.score (heads, most), w.sums (most) */
    npi_predict_batch w = {0};
    int code = npi_comm_agree(comm, kind->batch_new(&w, p, most, err), err);
    /* scoring is collective where the evidence is divided: a process without pairs left goes on with none */
    for (size_t first = 0, size; !code && npi_comm_any(comm, first < count); first += size) {
        size = count - first < most ? count - first : most;
        if (p->samples > 0)
            memset(w.sums, 0, size * sizeof *w.sums);
        code = kind->score(&w, p, pairs + first, size, err);
        for (size_t i = 0; !code && i < size; i++)
            out[first + i] = p->samples > 0 ? npi_prediction_mean(&w.sums[i], p->samples)
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
    /* each process scores its share, and gets those of the others */
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
    int code = npi_predict_options_read(&o, options, err);
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
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    const npgnn_predict_options mean = {.size = sizeof mean}; /* no draws: at the mean of z */
    npgnn_env alone = npi_env_resolve(env);
    alone.comm = NULL; /* every process makes all rows */
    npgnn_predictor *predictor = NULL;
    int code = model->kind->apply(&predictor, model, graph, &mean, &alone, err);
    if (code)
        return code;
    code = model->kind->embed(embedding, predictor, err);
    npgnn_predictor_free(predictor);
    return code;
}

int npgnn_predictor_explain(npgnn_explanation *out, npgnn_predictor *p, npgnn_pair pair, npgnn_error *err)
{
    return npi_sized_check(out, "npgnn_explanation", err) ? NPGNN_E_ARGUMENT
                                                          : p->model->kind->explain(out, p, pair, err);
}

int npgnn_predictor_gather(npgnn_predictor *p, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    return p->model->kind->gather(p, pairs, count, err);
}
