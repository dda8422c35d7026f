#include "examples/near.h"

#include <math.h>

enum { TRIES = 10 }; /* walks per wanted pair */

static int64_t degree_of(const npgnn_graph *graph, int32_t node)
{
    return graph->a.ptr[node + 1] - graph->a.ptr[node];
}

static int32_t walk(const npgnn_graph *graph, int32_t node, int steps, npi_rng *rng)
{
    for (int step = 0; step < steps; step++)
        node = graph->a.col[graph->a.ptr[node] + (int64_t)npi_rng_below(rng, (uint64_t)degree_of(graph, node))];
    return node;
}

static int can_be_drawn(const npi_candidate_pairs *c, int32_t u, int32_t v)
{
    return c->role[u] == c->own && c->role[v] == c->own && npi_graph_allows(c->graph, u, v) &&
           !npgnn_graph_has_edge(c->graph, u, v);
}

int npi_near_draw(npgnn_pair *out, npi_near *near, int count, npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *known = near->known;
    int32_t *start = npi_alloc(env, (size_t)known->n, sizeof *start, err), starts = 0;
    int drawn = 0;
    if (!start)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < known->n; i++)
        if (near->pairs->role[i] == near->pairs->own && degree_of(known, i) > 0)
            start[starts++] = i;
    near->starts = starts;
    for (int kind = 0; kind < NPI_NEAR_STEPS; kind++) {
        int wanted = (count - drawn) / (NPI_NEAR_STEPS - kind), found = 0, tries = 0;
        for (; starts > 0 && found < wanted && tries < TRIES * wanted; tries++) {
            int32_t u = start[npi_rng_below(rng, (uint64_t)starts)], v = walk(known, u, 2 + kind, rng);
            if (can_be_drawn(near->pairs, u, v)) {
                out[drawn++] = (npgnn_pair){u, v};
                found++;
            }
        }
        near->walks[kind] = tries;
    }
    npi_free(env, start);
    return drawn;
}

double npi_near_weight(const npi_near *near, npgnn_pair pair, const float *evidence)
{
    static const int column[NPI_NEAR_STEPS] = {NPI_COLUMN_LIFT2, NPI_COLUMN_LIFT3};
    double ends = (double)(degree_of(near->known, pair.u) + degree_of(near->known, pair.v)), rate = near->uniform;
    for (int kind = 0; kind < NPI_NEAR_STEPS && near->starts > 0; kind++) {
        double lift = expm1((double)evidence[column[kind]]);
        rate += near->walks[kind] * lift * ends / (2 * (double)near->known->m * near->starts);
    }
    return 1 / rate;
}
