#include "live/extend.h"

#include <assert.h>

#include "features/match.h"

int npi_process_extend(npgnn_predictor *p, const npgnn_graph *graph, const int32_t *touched, size_t count,
                       npgnn_error *err)
{
    npi_applied *applied = &p->applied;
    const npi_process *process = applied->process;
    int32_t before = applied->columns.n, known = 0;
    assert(graph->n >= before && p->samples == 0 && !applied->columns.rows.comm);
    int32_t *nodes = npi_alloc(&p->env, count, sizeof *nodes, err);
    int32_t *rows = npi_alloc(&p->env, (size_t)(graph->n - before), sizeof *rows, err);
    npi_features *added = NULL, *matched = NULL;
    npi_reduced reduced = {0}, projection = {0};
    int code = nodes && rows ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++)
        if (touched[i] < before)
            nodes[known++] = touched[i];
    for (int32_t i = before; !code && i < graph->n; i++)
        rows[i - before] = i;
    if (!code && graph->n > before) {
        code = npi_features_select_rows(&added, graph->x, rows, graph->n - before, err);
        if (!code && process->projection.width > 0) /* as in npi_predictor_apply */
            code = npi_features_match(&matched, added, p->model->columns, p->model->encoding, process->projection.f,
                                      "the model", "the graph", &p->env, err);
        else if (!code)
            matched = npi_features_share(added);
        if (!code)
            code = npi_reduced_extend(&reduced, &applied->reduced, matched, &p->env, err);
        if (!code)
            code = npi_reduced_project(&projection, matched, &process->projection, &p->env, err);
    }
    if (!code)
        code = npi_columns_extend(&applied->columns, &graph->a, &reduced, &projection, nodes, known, err);
    if (!code) {
        p->graph = graph;
        npi_explainer_follow(p);
    }
    npi_reduced_free(&p->env, &reduced);
    npi_reduced_free(&p->env, &projection);
    npi_features_free(matched);
    npi_features_free(added);
    npi_free(&p->env, rows);
    npi_free(&p->env, nodes);
    return code;
}
