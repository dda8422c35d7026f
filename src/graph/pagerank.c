/* Personalised PageRank by forward push. Each node has a rank and a residue; a push of node v moves
 *
 *     rank_v += stop residue_v,    residue_w += (1 - stop) residue_v / d_v for each neighbour w,    residue_v = 0
 *
 * until every residue is at most tolerance times the degree of its node. */
#include "graph/pagerank.h"

int npi_pagerank_new(npi_pagerank *p, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    *p = (npi_pagerank){.rank = npi_alloc(env, (size_t)n, sizeof *p->rank, err),
                        .residue = npi_alloc(env, (size_t)n, sizeof *p->residue, err),
                        .queue = npi_alloc(env, (size_t)n, sizeof *p->queue, err),
                        .queued = npi_alloc(env, (size_t)n, 1, err),
                        .touched = npi_alloc(env, (size_t)n, sizeof *p->touched, err),
                        .reached = npi_alloc(env, (size_t)n, 1, err)};
    if (p->rank && p->residue && p->queue && p->queued && p->touched && p->reached)
        return 0;
    npi_pagerank_free(env, p);
    return NPGNN_E_MEMORY;
}

void npi_pagerank_free(const npgnn_env *env, npi_pagerank *p)
{
    npi_free(env, p->rank);
    npi_free(env, p->residue);
    npi_free(env, p->queue);
    npi_free(env, p->queued);
    npi_free(env, p->touched);
    npi_free(env, p->reached);
    *p = (npi_pagerank){0};
}

static void reach(npi_pagerank *p, int32_t node)
{
    if (p->reached[node])
        return;
    p->reached[node] = 1;
    p->touched[p->touched_count++] = node;
}

void npi_pagerank_from(npi_pagerank *p, const npi_csr *a, int32_t source, double stop, double tolerance)
{
    int64_t first = 0, waiting = 1; /* of the ring */
    reach(p, source);
    p->residue[source] = 1;
    p->queue[0] = source;
    p->queued[source] = 1;
    for (; waiting > 0; waiting--, first = (first + 1) % a->rows) {
        int32_t node = p->queue[first];
        int64_t degree = a->ptr[node + 1] - a->ptr[node];
        double share = degree > 0 ? (1 - stop) * p->residue[node] / (double)degree : 0;
        /* who has no neighbour to go to stays */
        p->rank[node] += degree > 0 ? stop * p->residue[node] : p->residue[node];
        p->residue[node] = 0;
        p->queued[node] = 0;
        for (int64_t i = a->ptr[node]; i < a->ptr[node + 1]; i++) {
            int32_t next = a->col[i];
            reach(p, next);
            p->residue[next] += share;
            if (p->queued[next] || p->residue[next] <= tolerance * (double)(a->ptr[next + 1] - a->ptr[next]))
                continue;
            p->queued[next] = 1;
            /* the node in hand is still counted, so the ring has a place for each of the others behind it */
            p->queue[(first + waiting++) % a->rows] = next;
        }
    }
}

void npi_pagerank_clear(npi_pagerank *p)
{
    for (int32_t i = 0; i < p->touched_count; i++) {
        int32_t node = p->touched[i];
        p->rank[node] = p->residue[node] = 0;
        p->reached[node] = 0;
    }
    p->touched_count = 0;
}
