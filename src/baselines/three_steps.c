/* Scores from paths of three links, which also join the two sides of a two-sided graph, where nodes of different sides
 * never share a neighbour:
 *
 *   three-steps(u, v)    = (Â^3)_uv,  Â = D^-1/2 A D^-1/2: random walks of three steps, both ways
 *   item-cosine(u, v)    = Σ over the neighbours j of u of cos(j, v),  cos(j, v) = |N(j) ∩ N(v)| / sqrt(d_j d_v)
 *
 * item-cosine is what shops do: v is recommended because it is bought by the same people as what u has bought. In a
 * two-sided graph u is the source and v the target; in a one-sided graph both ways are added.
 *
 * A row adds the terms of each pair in an order of its own, so that its sums may differ from those of pairs in the last
 * bits. All terms are positive: a sum of t of them has a relative error below t 2^-53. Where all numbers within the
 * bound round to the same float, that is the score; otherwise, about once in a million pairs, the pair is asked. */
#include <math.h>

#include "baselines/neighbors.h"

#define SURPLUS 8 /* roundings of a score per end, besides those of its sums */

static double degree_of(const npi_csr *a, int32_t node)
{
    return (double)(a->ptr[node + 1] - a->ptr[node]);
}

typedef struct steps {
    double *inverse; /* (n) 1 / degree; 1 without neighbours */
    double *root;    /* (n) its square root */
    double *error;   /* (n) of a score, relative, the part that depends on one end: its error is the sum of both */
} steps;

/* Sets a score of a row, which is `value` up to its error, relative to `size`. */
static void settle(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair, double value, double size)
{
    const steps *l = h->learnt;
    double error = size * (l->error[pair.u] + l->error[pair.v]);
    float least = (float)(value - error), most = (float)(value + error);
    scratch->is_own |= least != most;
    npi_row_set(&scratch->row, pair.v, least == most ? least : h->pair(scratch, h, pair));
}

static void steps_free(const npgnn_env *env, void *learnt)
{
    steps *l = learnt;
    if (l) {
        npi_free(env, l->inverse);
        npi_free(env, l->root);
        npi_free(env, l->error);
    }
    npi_free(env, l);
}

static int learn_steps(npi_heuristic *out, const npi_heuristic *kind, const npi_task *task, npgnn_error *err)
{
    const npi_csr *a = &task->graph->a;
    steps *l = npi_alloc(task->env, 1, sizeof *l, err);
    *out = *kind;
    out->graph = task->graph;
    out->learnt = l;
    out->free = steps_free;
    if (!l)
        return NPGNN_E_MEMORY;
    l->inverse = npi_alloc(task->env, (size_t)a->rows, sizeof *l->inverse, err);
    l->root = npi_alloc(task->env, (size_t)a->rows, sizeof *l->root, err);
    l->error = npi_alloc(task->env, (size_t)a->rows, sizeof *l->error, err);
    if (!l->inverse || !l->root || !l->error)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < a->rows; i++) {
        l->inverse[i] = 1 / fmax(1, degree_of(a, i));
        l->root[i] = 1 / sqrt(fmax(1, degree_of(a, i)));
        l->error[i] = ldexp(degree_of(a, i) + SURPLUS, -51); /* twice the roundings of a row and of a pair */
    }
    return 0;
}

/* ---- three steps ---- */

static float pair_of_steps(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const npi_csr *a = &h->graph->a;
    const steps *l = h->learnt;
    double degrees = degree_of(a, pair.u) * degree_of(a, pair.v);
    return degrees > 0 ? (float)(npi_paths_three(&scratch->walk[0], a, l->inverse, pair) / sqrt(degrees)) : 0;
}

static void row_of_steps(npi_scratch *scratch, const npi_heuristic *h, int32_t u)
{
    const npi_csr *a = &h->graph->a;
    const steps *l = h->learnt;
    npi_accumulator *two = &scratch->walk[0], *three = &scratch->walk[1];
    npi_paths_two_row(two, a, l->inverse, u);
    npi_paths_third(three, two, a, l->inverse);
    npi_accumulator_clear(two);
    npi_accumulator_order(three, a->rows);
    for (int32_t i = 0; i < three->count; i++) {
        int32_t v = three->node[i];
        double value = three->value[v] * l->root[u] * l->root[v];
        settle(scratch, h, (npgnn_pair){u, v}, value, value);
    }
    npi_accumulator_clear(three);
}

int npi_three_steps_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    static const npi_heuristic kind = {.pair = pair_of_steps, .row = row_of_steps, .walks = 2, .is_local = 1};
    (void)run;
    return learn_steps(out, &kind, task, err);
}

/* ---- item cosine ---- */

/* Σ over the neighbours j of `from` of cos(j, to). The common neighbours are counted, so that both ways to do so give
 * the same bits: pair by pair, or by the walks of two links from `to`. */
static double cosine_sum(npi_accumulator *two, const npi_csr *a, int32_t from, int32_t to)
{
    double sum = 0;
    double by_pairs = (double)npi_paths_reach(a, from) + degree_of(a, from) * degree_of(a, to);
    int is_walked = (double)npi_paths_reach(a, to) < by_pairs;
    if (is_walked)
        npi_paths_two_row(two, a, NULL, to);
    for (int64_t p = a->ptr[from]; p < a->ptr[from + 1]; p++) {
        int32_t j = a->col[p];
        if (j != to)
            sum += (is_walked ? two->value[j] : npi_paths_two(a, NULL, (npgnn_pair){j, to})) / sqrt(degree_of(a, j));
    }
    npi_accumulator_clear(two);
    return sum / sqrt(fmax(1, degree_of(a, to)));
}

static float pair_of_items(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const npi_csr *a = &h->graph->a;
    const unsigned char *side = h->graph->side;
    double score = 0;
    if (!side || side[pair.v])
        score += cosine_sum(&scratch->walk[0], a, pair.u, pair.v);
    if (!side || side[pair.u])
        score += cosine_sum(&scratch->walk[0], a, pair.v, pair.u);
    return (float)score;
}

/* forward_v = Σ over walks u, j, k, v of 1 / sqrt(d_j): where u and v are linked, one more than wanted, as j may be v
 * backward_v = Σ over walks u, k, j, v of 1 / sqrt(d_j), j other than u: the same from v to u
 *
 *     score = forward_v / sqrt(d_v) - A_uv + backward_v / sqrt(d_u)
 *
 * Both sums in one pass over the last links, which are most of the work. `two` has the sums of the first two links, of
 * 1 / sqrt(d_j) and of 1. */
static void add_items(npi_accumulator *forward, double *backward, const npi_accumulator two[2], const npi_csr *a,
                      const double *root)
{
    double *sum = forward->value;
    int32_t count = 0;
    for (int32_t i = 0; i < two[0].count; i++) {
        int32_t inner = two[0].node[i];
        double ahead = two[0].value[inner], back = two[1].value[inner] * root[inner];
        for (int64_t p = a->ptr[inner]; p < a->ptr[inner + 1]; p++) {
            int32_t v = a->col[p];
            if (sum[v] == 0)
                forward->node[count++] = v;
            sum[v] += ahead;
            backward[v] += back;
        }
    }
    forward->count = count;
}

static void row_of_items(npi_scratch *scratch, const npi_heuristic *h, int32_t u)
{
    const npi_csr *a = &h->graph->a;
    const unsigned char *side = h->graph->side;
    const steps *l = h->learnt;
    npi_accumulator *two = &scratch->walk[0], *forward = &scratch->walk[2], *backward = &scratch->walk[3];
    int is_source = !side || !side[u], is_target = !side || side[u];
    if (is_source)
        npi_paths_two_row(&two[0], a, l->root, u);
    if (is_target)
        npi_paths_two_row(&two[1], a, NULL, u);
    two[1].value[u] = 0;
    if (!is_target)
        npi_paths_third(forward, &two[0], a, NULL);
    else if (!is_source)
        npi_paths_third(backward, &two[1], a, l->root);
    else
        add_items(forward, backward->value, two, a, l->root);
    npi_accumulator_clear(&two[0]);
    npi_accumulator_clear(&two[1]);
    npi_accumulator_order(is_source ? forward : backward, a->rows); /* backward walks reach no other nodes */
    for (int64_t p = a->ptr[u]; is_source && p < a->ptr[u + 1]; p++) {
        int32_t v = a->col[p];
        double size = forward->value[v] * l->root[v] + backward->value[v] * l->root[u];
        settle(scratch, h, (npgnn_pair){u, v}, size - 1, size);
        forward->value[v] = 0; /* done */
    }
    const npi_accumulator *reached = is_source ? forward : backward;
    for (int32_t i = 0; i < reached->count; i++) {
        int32_t v = reached->node[i];
        double value = forward->value[v] * l->root[v] + backward->value[v] * l->root[u];
        if (reached->value[v] > 0)
            settle(scratch, h, (npgnn_pair){u, v}, value, value);
    }
    for (int32_t i = 0; is_source && i < forward->count; i++)
        backward->value[forward->node[i]] = 0;
    npi_accumulator_clear(forward);
    npi_accumulator_clear(backward);
}

int npi_item_cosine_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    static const npi_heuristic kind = {.pair = pair_of_items, .row = row_of_items, .walks = 4, .is_local = 1};
    (void)run;
    return learn_steps(out, &kind, task, err);
}
