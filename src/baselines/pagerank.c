/* Personalised PageRank, both ways: p_u(v) + p_v(u), with p_u(v) the probability that a random walk from u, which stops
 * at every step with probability STOP, ends in v. Walks on an undirected graph are reversible, d_u p_u(v) = d_v p_v(u),
 * so that one end is enough:
 *
 *     score = p_u(v) (1 + d_u / d_v) */
#include "baselines/neighbors.h"

#define STOP 0.15
#define TOLERANCE 1e-6 /* of a rank, times the degree */

static void score_row(npi_scratch *scratch, const npi_heuristic *h, int32_t u)
{
    const npi_csr *a = &h->graph->a;
    npi_pagerank *p = &scratch->push;
    double degree = (double)(a->ptr[u + 1] - a->ptr[u]);
    npi_pagerank_from(p, a, u, STOP, TOLERANCE);
    for (int32_t i = 0; degree > 0 && i < p->touched_count; i++) {
        int32_t v = p->touched[i]; /* reached by a link, so its degree is not 0 */
        double other = (double)(a->ptr[v + 1] - a->ptr[v]);
        npi_row_set(&scratch->row, v, (float)(p->rank[v] * (1 + degree / other)));
    }
    npi_pagerank_clear(p);
}

int npi_pagerank_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    (void)err;
    *out = (npi_heuristic){.graph = task->graph, .row = score_row, .is_pushed = 1};
    return 0;
}
