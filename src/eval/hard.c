/* Hard negatives: for each end i of a test link, the nodes j that it is not linked to and that look most like its
 * neighbours. Three heuristics rank the nodes:
 *
 *     resource allocation       Σ_k A_ik A_kj / d_k
 *     personalised PageRank     the probability that a random walk from i stops at j
 *     cosine of the features    x_i · x_j / (|x_i| |x_j|)
 *
 * The lists are merged by taking the first of each, then the second of each, and so on. */
#include "eval/hard.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/shortlist.h"
#include "graph/pagerank.h"
#include "heuristics/cosine.h"
#include "heuristics/paths.h"

#define STOP 0.15      /* of the walks of PageRank */
#define TOLERANCE 1e-5 /* of their ranks, times the degree: nodes further away than that are no candidates by rank */

/* The heuristics; at equal places the earlier one comes first. OTHERS lists the nodes that none of the three ranks, in
 * an arbitrary order. */
enum { BY_NEIGHBORS, BY_RANK, BY_FEATURES, OTHERS, LISTS };

/* What is the same for all ends. */
typedef struct job {
    const npi_population *among;
    const npgnn_graph *known;
    double *norm;  /* (n) of the feature rows */
    double *share; /* (n) 1 / degree in the known graph */
    int per_end;
} job;

/* The workspace of a thread, for one end after another. */
typedef struct workspace {
    npi_pagerank pagerank;
    npi_accumulator sum; /* empty between two ends */
    double *score;       /* (n) zero between two ends */
    unsigned char
        *excluded; /* (n) the end, what it is linked to or could not be held out with, and what is taken already */
    npi_candidate *items; /* (LISTS, per_end) */
    npi_shortlist list[LISTS];
} workspace;

static void workspace_free(const npgnn_env *env, workspace *w)
{
    npi_pagerank_free(env, &w->pagerank);
    npi_accumulator_free(env, &w->sum);
    npi_free(env, w->score);
    npi_free(env, w->excluded);
    npi_free(env, w->items);
}

static int workspace_new(workspace *w, const job *j, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)j->among->graph->n;
    w->score = npi_alloc(env, n, sizeof *w->score, err);
    w->excluded = npi_alloc(env, n, 1, err);
    w->items = npi_alloc(env, (size_t)j->per_end, LISTS * sizeof *w->items, err);
    if (npi_accumulator_new(&w->sum, (int32_t)n, env, err) || !w->score || !w->excluded || !w->items)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < LISTS; i++)
        w->list[i] = (npi_shortlist){.items = w->items + i * j->per_end, .capacity = j->per_end};
    return npi_pagerank_new(&w->pagerank, j->among->graph->n, env, err);
}

/* ---- the heuristics ---- */

/* Offers a node to a list. Equal scores are common, and the order of nodes in a file is not random: a hash decides. */
static void offer(workspace *w, int list, int32_t end, int32_t node, double score)
{
    if (w->excluded[node])
        return;
    uint64_t hash = npi_hash_mix((uint64_t)(uint32_t)end << 32 | (uint32_t)node);
    npi_shortlist_offer(&w->list[list], (npi_candidate){score, (uint32_t)hash, node});
}

/* Resource allocation: Σ of 1 / degree over the neighbours that two nodes share. */
static void by_neighbors(workspace *w, const job *j, int32_t end)
{
    npi_accumulator *sum = &w->sum;
    npi_paths_two_row(sum, &j->known->a, j->share, end);
    for (int32_t i = 0; i < sum->count; i++)
        offer(w, BY_NEIGHBORS, end, sum->node[i], sum->value[sum->node[i]]);
    npi_accumulator_clear(sum);
}

/* Personalised PageRank: the probability that a walk from the end, which stops with probability STOP at each step, ends
 * at a node. */
static void by_rank(workspace *w, const job *j, int32_t end)
{
    npi_pagerank *p = &w->pagerank;
    npi_pagerank_from(p, &j->known->a, end, STOP, TOLERANCE);
    for (int32_t i = 0; i < p->touched_count; i++)
        if (p->rank[p->touched[i]] > 0)
            offer(w, BY_RANK, end, p->touched[i], p->rank[p->touched[i]]);
    npi_pagerank_clear(p);
}

/* The cosine of the features. */
static void by_features(workspace *w, const job *j, int32_t end)
{
    const npi_features *x = j->known->x;
    npi_cosine_row(w->score, x, j->norm, end);
    for (int32_t i = 0; i < x->n; i++) {
        if (w->score[i] > 0)
            offer(w, BY_FEATURES, end, i, w->score[i]);
        w->score[i] = 0;
    }
}

/* ---- one end ---- */

/* Whether a node could be held out with an end, if it is not linked to it. */
static int is_possible(const npi_population *among, int32_t end, int32_t node)
{
    return npi_graph_allows(among->graph, end, node) && npi_population_class(among, (npgnn_pair){end, node}) >= 0;
}

/* Excludes the nodes that an end could not be held out with, or ends that. */
static void exclude_others(workspace *w, const npi_population *among, int32_t end, unsigned char excluded)
{
    int any = !among->graph->side && !among->standing;
    w->excluded[end] = excluded;
    for (int32_t i = 0; !any && i < among->graph->n; i++)
        if (!is_possible(among, end, i))
            w->excluded[i] = excluded;
}

/* The hard negatives of one end: `wanted` pairs, the hardest first. */
static void find_hard(npgnn_pair *out, workspace *w, const job *j, int32_t end, int64_t wanted)
{
    const npi_csr *links = &j->among->graph->a;
    int64_t taken = 0;

    /* every heuristic ranks the nodes that the end is not linked to and could be held out with */
    exclude_others(w, j->among, end, 1);
    for (int64_t p = links->ptr[end]; p < links->ptr[end + 1]; p++)
        w->excluded[links->col[p]] = 1;
    for (int i = 0; i < LISTS; i++)
        w->list[i].count = 0;
    by_neighbors(w, j, end);
    by_rank(w, j, end);
    by_features(w, j, end);

    /* the first of each list, then the second of each, ...; a node that several lists have is taken once */
    for (int i = 0; i <= BY_FEATURES; i++)
        npi_shortlist_sort(&w->list[i]);
    for (int place = 0; taken < wanted && place < j->per_end; place++)
        for (int i = 0; taken < wanted && i <= BY_FEATURES; i++) {
            const npi_shortlist *list = &w->list[i];
            int32_t node = place < list->count ? (int32_t)list->items[place].id : end;
            if (!w->excluded[node]) {
                w->excluded[node] = 1;
                out[taken++] = (npgnn_pair){end, node};
            }
        }
    int64_t ranked = taken;

    /* where the heuristics rank too few: nodes that none of them ranks, so that every end has as many negatives as
     * wanted */
    if (taken < wanted) {
        npi_shortlist *others = &w->list[OTHERS];
        for (int32_t i = 0; i < j->among->graph->n; i++)
            offer(w, OTHERS, end, i, 0);
        npi_shortlist_sort(others);
        for (int i = 0; taken < wanted; i++)
            out[taken++] = (npgnn_pair){end, (int32_t)others->items[i].id};
    }

    /* nothing is excluded for the next end */
    exclude_others(w, j->among, end, 0);
    for (int64_t p = links->ptr[end]; p < links->ptr[end + 1]; p++)
        w->excluded[links->col[p]] = 0;
    for (int64_t i = 0; i < ranked; i++)
        w->excluded[out[i].v] = 0;
}

/* ---- all ends ---- */

/* The nodes of a graph by standing and side: how many, and one of them. */
typedef struct tally {
    int64_t count[NPI_NODE_UNTESTED + 1][2];
    int32_t one[NPI_NODE_UNTESTED + 1][2];
} tally;

static void count_nodes(tally *t, const npi_population *among)
{
    *t = (tally){0};
    for (int32_t i = 0; i < among->graph->n; i++) {
        int standing = among->standing ? among->standing[i] : 0, side = among->graph->side ? among->graph->side[i] : 0;
        t->count[standing][side]++;
        t->one[standing][side] = i;
    }
}

/* How many nodes an end is not linked to and could be held out with. */
static int64_t count_free(const tally *t, const npi_population *among, int32_t end)
{
    const npgnn_graph *graph = among->graph;
    int64_t count = 0;
    for (int standing = 0; standing <= NPI_NODE_UNTESTED; standing++)
        for (int side = 0; side < 2; side++) {
            npgnn_pair pair = {end, t->one[standing][side]};
            int across = !graph->side || graph->side[end] != side;
            if (t->count[standing][side] > 0 && across && npi_population_class(among, pair) >= 0)
                count += t->count[standing][side];
        }
    if (!graph->side && npi_population_class(among, (npgnn_pair){end, end}) >= 0)
        count--;
    for (int64_t p = graph->a.ptr[end]; p < graph->a.ptr[end + 1]; p++)
        count -= is_possible(among, end, graph->a.col[p]);
    return count;
}

/* Numbers the ends in the order they occur, and finds where their lists start. */
static int number_ends(npi_hard *out, const npi_population *among, const npgnn_pair *positives, size_t count,
                       int per_end, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = among->graph->n;
    tally nodes;
    count_nodes(&nodes, among);
    out->place = npi_alloc(env, (size_t)n, sizeof *out->place, err);
    out->start = npi_alloc(env, (size_t)n + 1, sizeof *out->start, err);
    if (!out->place || !out->start)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < n; i++)
        out->place[i] = -1;
    for (size_t i = 0; i < 2 * count; i++) {
        int32_t end = i % 2 ? positives[i / 2].v : positives[i / 2].u;
        if (out->place[end] >= 0)
            continue;
        int64_t free_nodes = count_free(&nodes, among, end);
        out->place[end] = out->ends++;
        out->start[out->ends] = out->start[out->ends - 1] + (free_nodes < per_end ? free_nodes : per_end);
    }
    out->pairs = npi_alloc(env, (size_t)out->start[out->ends], sizeof *out->pairs, err);
    return out->pairs ? 0 : NPGNN_E_MEMORY;
}

typedef struct nodes_loop {
    const npi_hard *out;
    const job *j;
    workspace *workspaces; /* (threads) */
} nodes_loop;

static void find_nodes(const void *arg, int64_t first, int64_t last)
{
    const nodes_loop *l = arg;
    const int64_t *start = l->out->start;
    for (int32_t node = (int32_t)first; node < last; node++) {
        int32_t place = l->out->place[node];
        if (place >= 0)
            find_hard(l->out->pairs + start[place], &l->workspaces[npi_worker()], l->j, node,
                      start[place + 1] - start[place]);
    }
}

int npi_hard_new(npi_hard *out, const npi_population *among, const npgnn_graph *known, const npgnn_pair *positives,
                 size_t count, int per_end, const npgnn_env *env, npgnn_error *err)
{
    job work = {.among = among, .known = known, .per_end = per_end};
    const npi_csr *a = &known->a;
    npi_hard hard = {0};
    workspace *workspaces = NULL;
    int code = number_ends(&hard, among, positives, count, per_end, env, err);
    if (code)
        goto out;

    /* what the heuristics need of every node: |x_i|, 1 / d_i, and the features by column */
    work.norm = npi_alloc(env, (size_t)known->x->n, sizeof *work.norm, err);
    work.share = npi_alloc(env, (size_t)a->rows, sizeof *work.share, err);
    workspaces = npi_alloc(env, (size_t)env->threads, sizeof *workspaces, err);
    if (!work.norm || !work.share || !workspaces) {
        code = NPGNN_E_MEMORY;
        goto out;
    }
    npi_cosine_norms(work.norm, known->x, env->threads);
    for (int32_t i = 0; i < a->rows; i++)
        if (a->ptr[i + 1] > a->ptr[i])
            work.share[i] = 1 / (double)(a->ptr[i + 1] - a->ptr[i]);
    code = known->x->dense ? 0 : npi_features_transpose(known->x, err);

    /* the list of every end, in parallel */
    for (int t = 0; !code && t < env->threads; t++)
        code = workspace_new(&workspaces[t], &work, env, err);
    nodes_loop loop = {&hard, &work, workspaces};
    if (!code)
        npi_parallel(env->threads, among->graph->n, 16, find_nodes, &loop);
out:
    for (int t = 0; workspaces && t < env->threads; t++)
        workspace_free(env, &workspaces[t]);
    npi_free(env, workspaces);
    npi_free(env, work.norm);
    npi_free(env, work.share);
    if (code)
        npi_hard_free(env, &hard);
    else
        *out = hard;
    return code;
}

void npi_hard_free(const npgnn_env *env, npi_hard *hard)
{
    npi_free(env, hard->place);
    npi_free(env, hard->start);
    npi_free(env, hard->pairs);
    *hard = (npi_hard){0};
}
