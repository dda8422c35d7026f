/* Predictors of a process: it is applied to the graph (applied.c), and the head of the mean of z, or of each draw,
 * turns the evidence of a pair into its score. */
#include "base/comm.h"
#include "features/match.h"
#include "predict/predictor.h"

#define BATCH ((size_t)8192)          /* pairs scored at a time */
#define LARGE_BATCH ((size_t)1 << 20) /* where every batch passes over all nodes */

double npi_process_link_rate(const npgnn_model *model, const npgnn_graph *graph)
{
    (void)model;
    return npi_link_rate_among((double)npi_graph_count_pairs(graph), graph->m); /* the rate of this graph */
}

int npi_process_apply(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                      const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_predict_options o;
    int code = npi_predict_options_read(&o, options, err);
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
    /* a projection has a weight per feature column of its graph; without one, any features will do */
    if (model->process.projection.width > 0)
        code = npi_features_match(&p->x, graph->x, model->columns, model->encoding, model->process.projection.f,
                                  "the model", "the graph", &resolved, err);
    else
        p->x = npi_features_share(graph->x);
    code = npi_comm_agree(comm, code, err);
    npgnn_env shared = resolved;
    shared.comm = comm;
    const npi_applied_options how = {o.seed, o.memory, p->samples, &model->scorer};
    if (!code)
        code = npi_applied_new(&p->applied, &model->process, graph, p->x, &how, &shared, err);
    if (code) {
        npgnn_predictor_free(p);
        return code;
    }
    /* banks that are not kept are made anew for every batch */
    p->batch = p->applied.columns.kept ? BATCH : LARGE_BATCH / (size_t)npi_comm_ranks(comm);
    /* calibrations are fitted without a rate; R, the graph's or the caller's, goes into all of them */
    double own = npi_process_link_rate(model, graph), rate = o.link_rate > 0 ? o.link_rate : own;
    double hidden = npi_hidden_share(o.link_rate, own);
    p->calibration = npi_calibration_at(p->applied.calibration, rate, hidden);
    for (int draw = 0; draw < p->samples; draw++)
        p->applied.draw_calibration[draw] = npi_calibration_at(p->applied.draw_calibration[draw], rate, hidden);
    *out = p;
    return 0;
}

int npi_process_batch_new(npi_predict_batch *out, const npgnn_predictor *p, size_t count, npgnn_error *err)
{
    int heads;
    npi_predictor_heads(&heads, p);
    return npi_predict_batch_new(out, p, heads, count, err);
}

/* A process: the evidence of each pair, and the head of the mean of z, or of each draw. */
int npi_process_score(npi_predict_batch *w, const npgnn_predictor *p, const npgnn_pair *pairs, size_t count,
                      npgnn_error *err)
{
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    int code = npi_applied_scores(w->score, &p->applied, head, heads, pairs, count, p->threads, err);
    /* score (heads, count); draws are added in their order, as wherever a pair is judged */
    for (int h = 0; !code && p->samples > 0 && h < heads; h++)
        for (size_t i = 0; i < count; i++)
            npi_sums_add(&w->sums[i], npi_predictor_calibration(p, h), w->score[(size_t)h * count + i]);
    return code;
}

int npi_process_complete(npgnn_predictor *p, npgnn_error *err)
{
    return npi_applied_complete(&p->applied, err);
}

int npi_process_quicken(npgnn_predictor *p, uint64_t seed, npgnn_error *err)
{
    return npi_applied_prepare_bounds(&p->applied, seed, err);
}

void npi_process_free_predictor(npgnn_predictor *p)
{
    npi_explainer_free(p->explainer);
    if (p->retriever)
        p->retriever_free(&p->env, p->retriever);
    npi_applied_free(&p->applied);
}
