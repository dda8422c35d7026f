#include "jobs/fit.h"

#include "base/comm.h"
#include "model/model.h"
#include "model/options.h"
#include "train/tune.h"

/* The shipped process, tuned on a graph. */
int npi_process_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *all, const npgnn_split *split,
                    const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = split ? split->train : all;
    npgnn_model *model = NULL;
    npgnn_env shared = *env, alone = *env;
    npi_tuning tuning;
    shared.comm = npi_comm_ranks(env->comm) > 1 ? env->comm : NULL;
    alone.comm = NULL;
    if (graph->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to train on");
    int code = npi_comm_agree(shared.comm, npgnn_model_universal(&model, &alone, err), err);
    if (!code && shared.comm)
        code = npi_comm_same(shared.comm, npi_graph_fingerprint(graph), "the graph", err);
    if (!code && shared.comm)
        code = npi_comm_same(shared.comm, npi_options_hash(options), "the list of options", err);
    if (!code)
        code = npi_tune(&model->process, &tuning, graph, options, &shared, err);
    if (code) {
        npgnn_model_free(model);
        return code;
    }
    model->info.tuned = tuning.kept;
    for (int i = 0; i < 2; i++) {
        model->info.hidden_links_auc[i] = tuning.links.auc[i];
        model->info.hidden_nodes_auc[i] = tuning.nodes.auc[i];
    }
    if (tuning.kept && options->calibrate)
        model->scorer = tuning.scorer;
    model->options = *options;
    npgnn_model_info *info = &model->info;
    const npi_projection *projection = &model->process.projection;
    info->parameters += (int64_t)(model->process.change.count + npi_projection_count(projection));
    if (projection->width > 0) { /* it reads these columns and no others */
        model->columns = npi_names_share(graph->x->columns);
        model->encoding = npi_encoding_share(graph->x->encoding);
        info->columns = graph->x->f;
    }
    info->iterations = options->iterations;
    info->fingerprint = info->context_fingerprint = npi_graph_fingerprint(graph);
    info->train_nodes = graph->n;
    info->train_edges = graph->m;
    info->normalize = graph->normalized;
    info->binarize = graph->binarized;
    info->weighted = 0; /* a process counts every link once: graphs to predict need no weights */
    info->link_rate = npi_link_rate_among((double)npi_graph_count_pairs(graph), graph->m);
    if (last)
        last->iteration = options->iterations;
    *out = model;
    return 0;
}

int npi_network_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
                    const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    int code = npgnn_trainer_new(&trainer, graph, split, options, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    if (!code && last)
        code = npgnn_trainer_progress(last, trainer, err);
    if (!code)
        code = npgnn_trainer_model(out, trainer, err);
    npgnn_trainer_free(trainer);
    return code;
}

int npi_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
            const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options complete;
    int code = npi_env_check(env, err);
    if (!code)
        code = npi_options_read(&complete, options, err);
    if (code)
        return code;
    npgnn_env resolved = npi_env_resolve(env);
    return npi_model_kind_of(&complete)->fit(out, last, graph, split, &complete, &resolved, err);
}

int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
              npgnn_error *err)
{
    return npi_fit(out, NULL, graph, NULL, options, env, err);
}
