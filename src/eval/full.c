#include "eval/full.h"

#include <math.h>

#include "base/rng.h"
#include "graph/pair.h"

int npi_full_new(npi_full *out, const npi_population *among, const npgnn_pair *links, size_t count, uint64_t seed,
                 const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *complete = among->graph;
    size_t n = (size_t)complete->n, ends = 2 * count;
    int64_t most = NPI_FULL_PAIRS / (complete->n > 0 ? complete->n : 1);
    most = most < NPI_FULL_ENDS ? NPI_FULL_ENDS : most;
    npi_full full = {.among = *among, .available = (int64_t)ends};
    int64_t *order = npi_alloc(env, ends, sizeof *order, err);
    int64_t *place = npi_alloc(env, n + 1, sizeof *place, err);
    full.node = npi_alloc(env, n, sizeof *full.node, err);
    full.start = npi_alloc(env, n + 1, sizeof *full.start, err);
    full.partner = npi_alloc(env, ends, sizeof *full.partner, err);
    full.rank = npi_alloc(env, ends, sizeof *full.rank, err);
    full.taken = npi_alloc(env, n, 1, err);
    int code =
        order && place && full.node && full.start && full.partner && full.rank && full.taken ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        /* end 2 i is u of link i, with partner v; end 2 i + 1 is v, with partner u; the first of a random order
         * count */
        npi_rng rng = npi_rng_make(seed, NPI_RNG_ENDS, 0);
        npi_rng_permutation(order, (int64_t)ends, &rng);
        full.count = (int64_t)ends < most ? (int64_t)ends : most;
        /* partners by end, by a counting sort: place[u + 1] is first how many u has, then where the next one goes */
        for (int64_t i = 0; i < full.count; i++)
            place[(order[i] % 2 ? links[order[i] / 2].v : links[order[i] / 2].u) + 1]++;
        for (int32_t u = 0; u < complete->n; u++) {
            if (place[u + 1] > 0) {
                full.node[full.nodes] = u;
                full.start[full.nodes++] = place[u];
            }
            place[u + 1] += place[u];
        }
        full.start[full.nodes] = full.count;
        for (int64_t i = 0; i < full.count; i++) {
            npgnn_pair link = links[order[i] / 2];
            int32_t end = order[i] % 2 ? link.v : link.u;
            full.partner[place[end]++] = order[i] % 2 ? link.u : link.v;
        }
    }
    npi_free(env, order);
    npi_free(env, place);
    if (code)
        npi_full_free(env, &full);
    else
        *out = full;
    return code;
}

void npi_full_free(const npgnn_env *env, npi_full *full)
{
    npi_free(env, full->node);
    npi_free(env, full->start);
    npi_free(env, full->partner);
    npi_free(env, full->rank);
    npi_free(env, full->taken);
    *full = (npi_full){0};
}

/* Marks the end, all its partners, known and held out, and the nodes that it cannot be linked to; or clears the
 * marks. */
static void mark(npi_full *full, int32_t end, unsigned char taken)
{
    const npgnn_graph *complete = full->among.graph;
    const npi_csr *a = &complete->a;
    int any = !complete->side && !full->among.standing;
    full->taken[end] = taken;
    for (int32_t i = 0; !any && i < complete->n; i++)
        if (!npi_graph_allows(complete, end, i) || npi_population_class(&full->among, (npgnn_pair){end, i}) < 0)
            full->taken[i] = taken;
    for (int64_t p = a->ptr[end]; p < a->ptr[end + 1]; p++)
        full->taken[a->col[p]] = taken;
}

int npi_full_rank(npi_full *full, int32_t index, const float *score)
{
    int32_t end = full->node[index];
    int finite = 1;
    mark(full, end, 1);
    for (int64_t i = full->start[index]; i < full->start[index + 1]; i++) {
        float own = score[full->partner[i]];
        int64_t above = 0, equal = 0;
        for (int32_t w = 0; w < full->among.graph->n; w++) {
            if (full->taken[w])
                continue;
            above += score[w] > own;
            equal += score[w] == own;
            finite = finite && !isnan(score[w]);
        }
        finite = finite && !isnan(own);
        full->rank[i] = 1 + (double)above + (double)equal / 2;
    }
    mark(full, end, 0);
    return finite;
}

/* The standard error of a mean over `count` of `available` numbers that were drawn without replacement. */
static double error_of(double mean, double squares, double count, double available)
{
    if (count < 2 || count >= available)
        return count >= available ? 0 : (double)NAN;
    double variance = fmax(squares / count - mean * mean, 0) * count / (count - 1);
    return sqrt(variance / count * (1 - count / available));
}

npi_full_metrics npi_full_measure(const npi_full *full)
{
    double count = (double)full->count, available = (double)full->available, mrr = 0, squares = 0, hits = 0;
    for (int64_t i = 0; i < full->count; i++) {
        mrr += 1 / full->rank[i] / count;
        squares += 1 / (full->rank[i] * full->rank[i]);
        hits += full->rank[i] <= 10;
    }
    return (npi_full_metrics){mrr, hits / count, error_of(mrr, squares, count, available),
                              error_of(hits / count, hits, count, available)};
}
