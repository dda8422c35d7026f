/* Katz's index, truncated: Σ_l β^l (A^l)_uv over walk lengths l = 1 .. LENGTH.
 *
 * A row is pushed: r_0 = e_u, and r_l+1 = β A r_l, where a node w of r_l is left out if r_l(w) <= tolerance d_w. With
 * w_j(v) the number of walks of j links from v, what is left out of the score of v is at most
 *
 *     Σ_l Σ_j Σ_w tolerance d_w β^j (A^j)_wv = tolerance Σ_j (LENGTH - j) β^j w_j+1(v)          j = 1 .. LENGTH - 1
 *
 * and a push of r_l costs at most |r_l| / tolerance, whatever the size of the graph. Small graphs have tolerance 0. */
#include "baselines/neighbors.h"

#define BETA 0.005
#define LENGTH 8
#define EXACT_LINKS 1000000 /* graphs with at most this many links get exact scores */
#define TOLERANCE 1e-9      /* per link: smaller values are not pushed, in larger graphs */
#define PULLED_PART 8       /* a step pulls once more than 1 / PULLED_PART of the nodes have a value */

/* to += A from, without what the tolerance leaves out. Where most nodes have a value, it is faster to pull the values of
 * neighbours than to push. */
static void multiply(npi_accumulator *to, npi_accumulator *from, const npi_csr *a, double tolerance)
{
    int is_pushed = from->count < a->rows / PULLED_PART;
    for (int32_t i = 0; i < from->count; i++) {
        int32_t w = from->node[i];
        if (from->value[w] <= tolerance * (double)(a->ptr[w + 1] - a->ptr[w]))
            from->value[w] = 0;
        else if (is_pushed)
            npi_accumulator_add_neighbors(to, a, w, from->value[w]);
    }
    for (int32_t v = 0; !is_pushed && v < a->rows; v++) {
        double sum = 0;
        for (int64_t p = a->ptr[v]; p < a->ptr[v + 1]; p++)
            sum += from->value[a->col[p]];
        to->value[v] = sum;
        if (sum > 0)
            to->node[to->count++] = v;
    }
}

static void score_row(npi_scratch *scratch, const npi_heuristic *h, int32_t u)
{
    npi_accumulator *from = &scratch->walk[0], *to = &scratch->walk[1];
    npi_row *row = &scratch->row;
    from->value[u] = 1;
    from->node[from->count++] = u;
    for (int length = 1; length <= LENGTH; length++) {
        multiply(to, from, &h->graph->a, *(const double *)h->learnt);
        npi_accumulator_clear(from);
        for (int32_t i = 0; i < to->count; i++) {
            int32_t v = to->node[i];
            to->value[v] *= BETA;
            if (row->score[v] == 0)
                row->node[row->count++] = v;
            row->score[v] += (float)to->value[v];
        }
        npi_accumulator *other = from;
        from = to;
        to = other;
    }
    npi_accumulator_clear(from);
}

int npi_katz_learn_to(npi_heuristic *out, double tolerance, const npi_task *task, npgnn_error *err)
{
    double *learnt = npi_alloc(task->env, 1, sizeof *learnt, err);
    *out = (npi_heuristic){
        .graph = task->graph, .row = score_row, .learnt = learnt, .free = npi_free, .walks = 2, .is_local = 1};
    if (learnt)
        *learnt = tolerance;
    return learnt ? 0 : NPGNN_E_MEMORY;
}

int npi_katz_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    (void)run;
    return npi_katz_learn_to(out, task->graph->m > EXACT_LINKS ? TOLERANCE : 0, task, err);
}
