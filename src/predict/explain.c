/* Explains predictions of a process: what each column of evidence contributes to the log-odds of a pair
 * (predict/attribution.h), the facts behind the columns, and both in words. */
#include "predict/explain.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "base/sort.h"
#include "graph/negative.h"
#include "predict/attribution.h"

enum { MAX_NON_LINKS = 1024 }; /* whose mean evidence is the baseline */

const char *npgnn_reason_name(npgnn_reason reason)
{
    static const char *const names[NPGNN_REASONS] = {
#define NPGNN_X(name, text) text,
        NPGNN_REASON_LIST(NPGNN_X)
#undef NPGNN_X
    };
    return (unsigned)reason < NPGNN_REASONS ? names[reason] : "unknown reason";
}

/* ---- what is prepared once ---- */

void npi_explainer_free(npi_explainer *x)
{
    if (!x)
        return;
    npgnn_env env = x->env;
    npi_columns_workspace_free(&env, &x->workspace);
    npi_free(&env, x->holders);
    npi_free(&env, x->marked);
    npi_free(&env, x->neighbors.keys);
    npi_free(&env, x->neighbors.items);
    npi_free(&env, x->features.keys);
    npi_free(&env, x->features.items);
    npi_free(&env, x->pairs);
    npi_free(&env, x->evidence);
    npi_free(&env, x);
}

/* evidence (count, columns) of these pairs. Where it is divided, processes compute it together, and all get it: all
 * return the same code. */
static int find_evidence(float *evidence, const npi_columns *columns, const npgnn_pair *pairs, size_t count,
                         int threads, npgnn_error *err)
{
    npgnn_comm *comm = columns->rows.comm;
    int rank = npi_comm_rank(comm);
    /* each process computes its share of the pairs */
    size_t begin = (size_t)npi_comm_share_start(comm, (int64_t)count, rank), width = (size_t)columns->plan.columns;
    size_t end = (size_t)npi_comm_share_start(comm, (int64_t)count, rank + 1);
    int code = npi_columns_pairs(evidence + begin * width, columns, pairs + begin, end - begin, threads, err);
    if (!code)
        npi_comm_gather_shares(comm, evidence, (int64_t)count, width * sizeof *evidence);
    return code;
}

/* average = mean standardised evidence over random non-links. A complete graph has none: there it is that of an average
 * pair of the corpus, which is 0. */
static int average_non_link(npi_explainer *x, const npgnn_predictor *p, npgnn_error *err)
{
    uint64_t without = npi_graph_count_pairs(p->graph) - (uint64_t)p->graph->m;
    /* at most half of the non-links: different ones are drawn by rejection, which is slow for the last of them */
    size_t count = (without + 1) / 2 < MAX_NON_LINKS ? (size_t)((without + 1) / 2) : MAX_NON_LINKS;
    if (count == 0)
        return 0;
    size_t columns = (size_t)p->applied.columns.plan.columns;
    npgnn_pair *pairs = npi_alloc(&x->env, count, sizeof *pairs, err);
    float *evidence = npi_alloc(&x->env, count * columns, sizeof *evidence, err);
    npgnn_pair *out[2] = {pairs, NULL};
    const size_t counts[2] = {count, 0};
    int code =
        pairs && evidence ? npi_graph_draw_non_links(out, p->graph, counts, p->seed, &x->env, err) : NPGNN_E_MEMORY;
    code = npi_comm_agree(p->applied.columns.rows.comm, code, err);
    if (!code)
        code = find_evidence(evidence, &p->applied.columns, pairs, count, p->threads, err);
    if (!code) {
        npi_process_standardize(evidence, p->applied.process, p->applied.columns.has_features, count);
        for (size_t i = 0; i < count * columns; i++) /* evidence (count, columns) */
            x->average[i % columns] += (double)evidence[i] / (double)count;
    }
    npi_free(&x->env, pairs);
    npi_free(&x->env, evidence);
    return code;
}

/* Where the evidence is divided: collective, and all return the same code. */
static int explainer_new(npi_explainer **out, npgnn_predictor *p, npgnn_error *err)
{
    npgnn_comm *comm = p->applied.columns.rows.comm;
    /* single pairs need all banks; of several processes, each has too little of them, and gathers evidence instead */
    int code = comm ? 0 : npi_applied_complete(&p->applied, err);
    if (code)
        return code;
    npi_explainer *x = npi_alloc(&p->env, 1, sizeof *x, err);
    if (x) {
        x->env = p->env;
        x->marked = npi_alloc(&p->env, (size_t)p->graph->n, 1, err);
    }
    code = x && x->marked ? 0 : NPGNN_E_MEMORY;
    if (!code && !comm) /* otherwise gathered evidence takes its place */
        code = npi_columns_workspace_new(&x->workspace, &p->applied.columns, 0, err);
    if (!code)
        code = npi_explain_count_holders(x, p->graph->x, err);
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code = average_non_link(x, p, err);
    if (code)
        npi_explainer_free(x);
    else
        *out = x;
    return code;
}

void npi_explainer_follow(npgnn_predictor *p)
{
    npi_explainer *x = p->explainer;
    if (!x)
        return;
    /* these have a size per node; the average non-link and the holders stay those of the earlier graph */
    npi_columns_workspace_free(&x->env, &x->workspace);
    npi_free(&x->env, x->marked);
    x->marked = npi_alloc(&x->env, (size_t)p->graph->n, 1, NULL);
    if (!x->marked || npi_columns_workspace_new(&x->workspace, &p->applied.columns, 0, NULL)) {
        npi_explainer_free(x);
        p->explainer = NULL;
    }
}

/* ---- evidence that is divided among processes ---- */

static uint64_t key_of(npgnn_pair pair)
{
    /* the same key for (u, v) and (v, u), whose evidence is the same */
    uint32_t small = (uint32_t)(pair.u < pair.v ? pair.u : pair.v),
             large = (uint32_t)(pair.u < pair.v ? pair.v : pair.u);
    return (uint64_t)small << 32 | large;
}

/* The evidence of a pair among that which was gathered; NULL: it was not. */
static const float *gathered_evidence(const npi_explainer *x, npgnn_pair pair, int columns)
{
    size_t low = 0, high = x ? x->gathered : 0; /* pairs before `low` have smaller keys, those from `high` on do not */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->pairs[middle] < key_of(pair))
            low = middle + 1;
        else
            high = middle;
    }
    return x && low < x->gathered && x->pairs[low] == key_of(pair) ? x->evidence + low * (size_t)columns : NULL;
}

/* Whether the pair can be explained. */
static int check_pair(const npgnn_predictor *p, npgnn_pair pair, npgnn_error *err)
{
    if (pair.u < 0 || pair.u >= p->graph->n || pair.v < 0 || pair.v >= p->graph->n)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the pair joins %d and %d, but nodes are 0 to %d", pair.u, pair.v,
                        p->graph->n - 1);
    return 0;
}

/* Memory for `count` pairs, and the pairs in ascending order. */
static int begin_gathering(npgnn_pair *sorted, npi_explainer *x, const npgnn_pair *pairs, size_t count, int columns,
                           npgnn_error *err)
{
    x->gathered = 0; /* until the evidence is there: a call that fails leaves nothing half gathered */
    uint64_t *keys = npi_resize(&x->env, x->pairs, 2 * count, sizeof *keys, err); /* the second half is scratch */
    x->pairs = keys ? keys : x->pairs;
    float *evidence = npi_resize(&x->env, x->evidence, count * (size_t)columns, sizeof *evidence, err);
    x->evidence = evidence ? evidence : x->evidence;
    if (!sorted || !keys || !evidence)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(pairs[i]);
    if (count > 1)
        npi_u64_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++) /* smaller node, larger node */
        sorted[i] = (npgnn_pair){(int32_t)(keys[i] >> 32), (int32_t)(keys[i] & UINT32_MAX)};
    return 0;
}

int npi_process_gather(npgnn_predictor *p, const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < count; i++)
        code = check_pair(p, pairs[i], err);
    npgnn_comm *comm = p->applied.columns.rows.comm;
    if (!comm) /* one process has all evidence, and computes that of a pair when it is explained */
        return code;
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code =
            npi_comm_same(comm, npi_hash_bytes(NPI_HASH_START, pairs, count * sizeof *pairs), "the list of pairs", err);
    if (!code && !p->explainer)
        code = explainer_new(&p->explainer, p, err);
    if (code)
        return code;
    npi_explainer *x = p->explainer;
    const npi_columns *columns = &p->applied.columns;
    npgnn_pair *sorted = npi_resize(&x->env, NULL, count, sizeof *sorted, err);
    code = npi_comm_agree(comm, begin_gathering(sorted, x, pairs, count, columns->plan.columns, err), err);
    if (!code)
        code = find_evidence(x->evidence, columns, sorted, count, p->threads, err);
    if (!code)
        x->gathered = count;
    npi_free(&x->env, sorted);
    return code;
}

/* ---- the call ---- */

int npi_process_explain(npgnn_explanation *given, npgnn_predictor *p, npgnn_pair pair, npgnn_error *err)
{
    npgnn_explanation out = {
        .size = sizeof out, .reason_count = NPGNN_REASONS, .column_count = p->applied.columns.plan.columns};
    int code = check_pair(p, pair, err);
    if (code)
        return code;
    npgnn_comm *comm = p->applied.columns.rows.comm;
    const float *gathered = comm ? gathered_evidence(p->explainer, pair, p->applied.columns.plan.columns) : NULL;
    if (comm && !gathered)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the %d processes have divided the evidence of nodes, and that of %d and %d has not been "
                        "gathered: let all of them call npgnn_predictor_gather first",
                        npi_comm_ranks(comm), pair.u, pair.v);
    if (!p->explainer)
        code = explainer_new(&p->explainer, p, err);
    npi_explainer *x = p->explainer;
    if (!code)
        code = npi_explain_neighbors(&out, x, &p->graph->a, pair, err);
    if (!code)
        code = npi_explain_features(&out, x, p->graph->x, pair, err);
    if (code)
        return code;

    const npi_process *process = p->applied.process;
    int columns = p->applied.columns.plan.columns;
    float value[NPI_ALL_COLUMNS], standard[NPI_ALL_COLUMNS];
    double to[NPI_ALL_COLUMNS], share[NPI_ALL_COLUMNS] = {0}; /* (columns) end of the line, contributions */
    if (gathered)
        memcpy(value, gathered, (size_t)columns * sizeof *value);
    else
        npi_columns_pair(value, &x->workspace, &p->applied.columns, pair);
    memcpy(standard, value, (size_t)columns * sizeof *value);
    npi_process_standardize(standard, process, p->applied.columns.has_features, 1);
    for (int c = 0; c < columns; c++)
        to[c] = (double)standard[c];
    int heads;
    const npi_head *head = npi_predictor_heads(&heads, p);
    /* Σ_c share_c = log-odds of the pair - log-odds of the average non-link; all three are sums over the draws of z */
    for (int h = 0; h < heads; h++)
        npi_attribute(share, &out.baseline, &out.log_odds, &head[h], npi_predictor_calibration(p, h), x->average, to);
    out.baseline /= heads; /* means over the draws */
    out.log_odds /= heads;
    for (int c = 0; c < columns; c++) {
        int absent = c < process->feature_columns && !p->applied.columns.has_features; /* 0, not standardised */
        /* back from standard deviations: mean + average · deviation */
        double average = absent ? 0 : (double)process->mean[c] + x->average[c] * (double)process->deviation[c];
        const npi_column_spec *spec = &npi_column_specs[c];
        x->columns[c] =
            (npgnn_contribution){spec->name, spec->text, spec->reason, (double)value[c], average, share[c] / heads};
        out.reasons[spec->reason] += share[c] / heads; /* a reason is the sum of its columns */
    }
    out.columns = x->columns;
    out.walk_lift = expm1((double)value[NPI_COLUMN_LIFT3]); /* the column is log(1 + lift) */
    npi_explain_say(&out, x, p->graph, pair);
    out.text = x->text;
    return npi_sized_write(given, &out, sizeof out, "npgnn_explanation", err);
}
