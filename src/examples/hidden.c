#include "examples/hidden.h"

#include <assert.h>

#include "base/comm.h"
#include "examples/project.h"

int npi_evidence_shared(float *evidence, const npi_columns *columns, const npgnn_pair *pairs, size_t count,
                        npgnn_error *err)
{
    npgnn_comm *comm = columns->rows.comm;
    size_t width = (size_t)columns->plan.columns;
    size_t begin = (size_t)npi_comm_share_start(comm, (int64_t)count, npi_comm_rank(comm));
    size_t end = (size_t)npi_comm_share_start(comm, (int64_t)count, npi_comm_rank(comm) + 1);
    int code =
        npi_columns_pairs(evidence + begin * width, columns, pairs + begin, end - begin, columns->env.threads, err);
    if (!code)
        npi_comm_gather_shares(comm, evidence, (int64_t)count, width * sizeof *evidence);
    return code;
}

/* No leak: no hidden link is among those that its evidence is computed from, and no link counts as a non-link. */
static void check_labels(const npi_hidden *h)
{
    assert(h->links <= h->count && h->known->n == h->graph->n);
    for (size_t i = 0; i < h->count; i++) {
        npgnn_pair pair = h->pairs[i];
        assert(!npgnn_graph_has_edge(h->known, pair.u, pair.v));
        assert(npgnn_graph_has_edge(h->graph, pair.u, pair.v) == (i < h->links));
    }
}

int npi_hidden_evidence(float *evidence, const npi_hidden *h, const npi_hidden_features *features, const npgnn_env *env,
                        npgnn_error *err)
{
    npgnn_env alone = *env;
    alone.comm = NULL;
    npi_projection learnt = {0};
    const npi_projection *projection = features->project ? &learnt : features->projection;
    npi_reduced projected = {0};
    npi_columns columns = {0};
    int code = 0;
    check_labels(h);
    if (features->project)
        code = npi_project(&learnt, h->known, features->project_seed, &alone, err);
    if (!code && projection)
        code = npi_reduced_project(&projected, h->known->x, projection, &alone, err);
    code = npi_comm_agree(env->comm, code, err);
    if (!code)
        code = npi_columns_new(&columns, &h->known->a, features->reduced, &projected, 0, env, err);
    if (!code)
        code = npi_evidence_shared(evidence, &columns, h->pairs, h->count, err);
    npi_columns_free(&columns);
    npi_reduced_free(&alone, &projected);
    npi_projection_free(&alone, &learnt);
    return code;
}
