#include "examples/tasks.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "examples/hidden.h"
#include "graph/pair_set.h"

enum {
    MAX_TARGETS = 384, /* hidden links of a task that are predicted, */
    MAX_CONTEXT = 256, /* and that are kept for the context of a test */
    MAX_LINKS = MAX_TARGETS + MAX_CONTEXT,
    LEAST_HIDDEN = 6,
    LEAST_KNOWN = 20,
    PIECES = 16,       /* of a graph with features */
    MANY_LINKS = 600,  /* from which on a graph without features is thinned too */
    LEAST_PIECE = 300, /* nodes */
    LARGEST_PIECE = 5000,
    NEIGHBORS = 10, /* of a node that a piece takes in */
};
#define HIDDEN 0.15 /* of the links */
#define NEW_NODES 0.1

/* What is done to a graph. */
typedef struct recipe {
    double keep;     /* share of the links; the others are as if they had never been */
    double shuffled; /* share of the nodes that exchange their features */
    int features;    /* 0: without */
    int cold;        /* 1: new nodes, all of whose links are hidden */
} recipe;

void npi_tasks_free(npi_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        npi_free(&tasks->env, tasks->items[i].evidence);
    npi_free(&tasks->env, tasks->items);
    tasks->items = NULL;
    tasks->count = tasks->capacity = 0;
}

/* ---- hiding links ---- */

/* The links of a graph in random order: first those that stay known, then those that are hidden. */
typedef struct cut {
    npgnn_pair *edges; /* (m) */
    int64_t known, hidden;
    unsigned char *is_new; /* (n) with cold; NULL otherwise */
} cut;

static int cut_links(cut *out, const npgnn_graph *graph, const recipe *r, npi_rng *rng, const npgnn_env *env,
                     npgnn_error *err)
{
    cut c = {.edges = npi_alloc(env, (size_t)graph->m, sizeof *c.edges, err)};
    if (r->cold)
        c.is_new = npi_alloc(env, (size_t)graph->n, 1, err);
    if (!c.edges || (r->cold && !c.is_new)) {
        npi_free(env, c.edges);
        npi_free(env, c.is_new);
        return NPGNN_E_MEMORY;
    }
    npi_graph_list_edges(c.edges, graph);
    npi_pairs_shuffle(c.edges, graph->m, rng);
    int64_t kept = graph->m;
    if (r->keep < 1)
        kept = (int64_t)(r->keep * (double)graph->m);
    if (r->cold) {
        for (int32_t i = 0; i < graph->n; i++)
            c.is_new[i] = graph->a.ptr[i + 1] > graph->a.ptr[i] && npi_rng_uniform(rng) < NEW_NODES;
        for (int64_t i = 0; i < kept; i++) { /* known links to the front; the order of the hidden ones stays random */
            npgnn_pair pair = c.edges[i];
            if (!c.is_new[pair.u] && !c.is_new[pair.v]) {
                c.edges[i] = c.edges[c.known];
                c.edges[c.known++] = pair;
            }
        }
        c.hidden = kept - c.known;
    } else {
        c.hidden = (int64_t)(HIDDEN * (double)kept);
        c.hidden = c.hidden < LEAST_HIDDEN ? LEAST_HIDDEN : c.hidden;
        c.known = kept - c.hidden;
    }
    *out = c;
    return 0;
}

/* ---- pairs without a link ---- */

/* A node: uniform or, with ends, the end of a random known link. */
static int32_t draw_node(const npgnn_graph *graph, const npi_csr *ends, npi_rng *rng)
{
    int64_t entries = ends ? ends->ptr[ends->rows] : 0;
    if (entries > 0)
        return ends->col[npi_rng_below(rng, (uint64_t)entries)];
    return (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
}

/* Draws up to `count` different pairs that the complete graph does not link. With `ends`, nodes are drawn in proportion
 * to their degrees there; with is_new, one of the two is new. Returns how many; negative: an error code. */
static int draw_non_links(npgnn_pair *out, int count, const npgnn_graph *graph, const npi_csr *ends,
                          const unsigned char *is_new, npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    npi_pair_set seen;
    int found = 0, code = npi_pair_set_new(&seen, (size_t)count, env, err);
    for (int64_t tries = 0; !code && found < count && tries < 400 * (int64_t)count; tries++) {
        npgnn_pair pair = {draw_node(graph, ends, rng), draw_node(graph, ends, rng)};
        if (is_new)
            pair.u = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
        if (pair.u == pair.v || (is_new && !is_new[pair.u]) || npgnn_graph_has_edge(graph, pair.u, pair.v))
            continue;
        if (npi_pair_set_add(&seen, pair))
            out[found++] = pair;
    }
    npi_pair_set_free(env, &seen);
    return code ? code : found;
}

/* ---- one task ---- */

/* The features with some rows exchanged: a copy for the caller to free. */
static int shuffle_reduced(npi_reduced *out, const npi_reduced *reduced, int32_t n, double share, npi_rng *rng,
                           const npgnn_env *env, npgnn_error *err)
{
    size_t width = (size_t)reduced->width;
    npi_reduced copy = {.width = reduced->width, .row = npi_alloc(env, (size_t)n * width, sizeof *copy.row, err)};
    int32_t *moved = npi_alloc(env, (size_t)n, sizeof *moved, err), count = 0;
    if (!copy.row || !moved) {
        npi_free(env, moved);
        npi_reduced_free(env, &copy);
        return NPGNN_E_MEMORY;
    }
    memcpy(copy.row, reduced->row, (size_t)n * width * sizeof *copy.row);
    for (int32_t i = 0; i < n; i++)
        if (npi_rng_uniform(rng) < share)
            moved[count++] = i;
    for (int32_t i = count - 1; i > 0; i--) { /* a random permutation of the rows that move, by exchanges */
        size_t a = (size_t)moved[i] * width, b = (size_t)moved[npi_rng_below(rng, (uint64_t)i + 1)] * width;
        for (size_t c = 0; c < width; c++) {
            real value = copy.row[a + c];
            copy.row[a + c] = copy.row[b + c];
            copy.row[b + c] = value;
        }
    }
    npi_free(env, moved);
    *out = copy;
    return 0;
}

/* Labels pairs of a cut: hidden links, as many uniform non-links, then matched ones. pairs (3 MAX_LINKS). Fewer non-links
 * than links: as many links. Returns an error code. */
static int label_pairs(npgnn_pair *pairs, npi_task_data *task, const cut *c, const npgnn_graph *graph,
                       const npi_csr *known, npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    int links = c->hidden < MAX_LINKS ? (int)c->hidden : MAX_LINKS;
    int others = draw_non_links(pairs, links, graph, NULL, c->is_new, rng, env, err);
    if (others < 0)
        return others;
    links = others < links ? others : links;
    task->links = links;
    if (links < LEAST_HIDDEN)
        return 0;
    memmove(pairs + links, pairs, (size_t)links * sizeof *pairs);
    memcpy(pairs, c->edges + c->known, (size_t)links * sizeof *pairs);
    task->matched = draw_non_links(pairs + 2 * links, links, graph, known, c->is_new, rng, env, err);
    task->context = links / 3 < MAX_CONTEXT ? links / 3 : MAX_CONTEXT;
    return task->matched < 0 ? task->matched : 0;
}

static int add_task(npi_tasks *tasks, const npgnn_graph *graph, npi_reduced *reduced, const recipe *r, int group,
                    npi_rng *rng, npgnn_error *err)
{
    const npgnn_env *env = &tasks->env;
    npgnn_graph *known = NULL;
    npi_reduced shuffled = {0};
    npgnn_pair pairs[3 * MAX_LINKS];
    npi_task_data task = {.group = group, .graph = tasks->graphs, .place = tasks->places - 1};
    cut c = {0};
    if (graph->m < LEAST_HIDDEN + LEAST_KNOWN)
        return 0;
    int code = cut_links(&c, graph, r, rng, env, err);
    if (code || c.known < LEAST_KNOWN || c.hidden < LEAST_HIDDEN)
        goto out;
    npi_pairs_shuffle(c.edges + c.known, c.hidden, rng);
    code = npi_graph_with_edges(&known, graph, c.edges, c.known, err);
    if (!code)
        code = label_pairs(pairs, &task, &c, graph, &known->a, rng, env, err);
    if (code || task.links < LEAST_HIDDEN)
        goto out;

    npi_reduced *used = r->features && reduced->width > 0 ? reduced : NULL;
    if (used && r->shuffled > 0) {
        code = shuffle_reduced(&shuffled, reduced, graph->n, r->shuffled, rng, env, err);
        used = &shuffled;
    }
    task.has_features = used != NULL;
    const npi_hidden hidden = {graph, known, pairs, (size_t)task.links, npi_task_pairs(&task)};
    const npi_hidden_features features = {.reduced = used};
    if (!code && !(task.evidence = npi_alloc(env, npi_task_pairs(&task) * NPI_COLUMNS, sizeof *task.evidence, err)))
        code = NPGNN_E_MEMORY;
    if (!code)
        code = npi_hidden_evidence(task.evidence, &hidden, &features, env, err);
    if (!code)
        code = npi_grow(env, &tasks->items, &tasks->capacity, tasks->count, sizeof *tasks->items, err);
    if (!code) {
        tasks->items[tasks->count++] = task;
        task.evidence = NULL;
    }
out:
    npi_free(env, task.evidence);
    npi_reduced_free(env, &shuffled);
    npgnn_graph_free(known);
    npi_free(env, c.edges);
    npi_free(env, c.is_new);
    return code;
}

/* ---- pieces ---- */

static double log_uniform(double low, double high, npi_rng *rng)
{
    return exp(log(low) + npi_rng_uniform(rng) * (log(high) - log(low)));
}

/* The nodes within reach of a random one, breadth first, at most NEIGHBORS of each: `size` of them, ascending. */
static int choose_ball(int32_t *nodes, int32_t size, const npgnn_graph *graph, npi_rng *rng, const npgnn_env *env,
                       npgnn_error *err)
{
    unsigned char *seen = npi_alloc(env, (size_t)graph->n, 1, err);
    int32_t count = 0, at = 0;
    if (!seen)
        return NPGNN_E_MEMORY;
    while (count < size) {
        if (at == count) { /* nothing left within reach: begin elsewhere */
            int32_t start = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
            if (seen[start])
                continue;
            seen[start] = 1;
            nodes[count++] = start;
            continue;
        }
        int32_t node = nodes[at++];
        int64_t begin = graph->a.ptr[node], degree = graph->a.ptr[node + 1] - begin;
        for (int64_t i = 0; i < degree && i < NEIGHBORS && count < size; i++) {
            int64_t pick = degree <= NEIGHBORS ? i : (int64_t)npi_rng_below(rng, (uint64_t)degree);
            int32_t next = graph->a.col[begin + pick];
            if (!seen[next]) {
                seen[next] = 1;
                nodes[count++] = next;
            }
        }
    }
    count = 0;
    for (int32_t i = 0; i < graph->n; i++)
        if (seen[i])
            nodes[count++] = i;
    npi_free(env, seen);
    return 0;
}

/* A piece of a graph: thinned to a random mean degree, with a share of the features, some of them shuffled. */
static int add_piece(npi_tasks *tasks, const npgnn_graph *graph, int group, npi_rng *rng, npgnn_error *err)
{
    static const double shares[] = {1, 1, 0.3, 0.1}, shuffles[] = {0, 0, 0, 0.3, 0.7, 1};
    const npgnn_env *env = &tasks->env;
    npgnn_graph *piece = NULL;
    npi_reduced reduced = {0};
    double largest = graph->n < LARGEST_PIECE ? graph->n : LARGEST_PIECE;
    int32_t size = (int32_t)(largest <= LEAST_PIECE ? largest : log_uniform(LEAST_PIECE, largest, rng));
    int32_t *nodes = npi_alloc(env, (size_t)graph->n, sizeof *nodes, err);
    int code = nodes ? choose_ball(nodes, size, graph, rng, env, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npgnn_graph_subgraph(&piece, graph, nodes, size, err);
    npi_free(env, nodes);
    if (code)
        return code;
    double degree = 2 * (double)piece->m / size, target = degree > 2.6 ? log_uniform(2.5, degree, rng) : degree;
    double columns = shares[npi_rng_below(rng, 4)];
    recipe r = {.keep = target < 0.8 * degree ? target / degree : 1,
                .shuffled = shuffles[npi_rng_below(rng, 6)],
                .features = npi_rng_uniform(rng) >= 0.15};
    r.cold = r.features && npi_rng_uniform(rng) < 0.2;
    unsigned char *left_out = npi_alloc(env, (size_t)piece->x->f, 1, err);
    if (!left_out)
        code = NPGNN_E_MEMORY;
    for (int32_t c = 0; left_out && c < piece->x->f; c++)
        left_out[c] = npi_rng_uniform(rng) >= columns;
    if (!code && r.features)
        code = npi_reduced_new(&reduced, piece->x, left_out, env, err);
    npi_free(env, left_out);
    if (!code)
        code = add_task(tasks, piece, &reduced, &r, group, rng, err);
    npi_reduced_free(env, &reduced);
    npgnn_graph_free(piece);
    return code;
}

/* Whether this process makes the next task. Tasks of one graph take about equally long: the processes take turns. */
static int is_mine(npi_tasks *tasks)
{
    return tasks->places++ % npi_comm_ranks(tasks->comm) == npi_comm_rank(tasks->comm);
}

int npi_tasks_add(npi_tasks *tasks, const npgnn_graph *graph, int group, uint64_t seed, npgnn_error *err)
{
    static const recipe plain[] = {{1, 0, 0, 0}, {0.5, 0, 0, 0}};
    static const recipe rich[] = {
        {1, 0, 1, 0},   {0.5, 0, 1, 0}, {0.2, 0, 1, 0}, {1, 1, 1, 0}, {1, 0, 0, 0},
        {0.2, 0, 0, 0}, {0.5, 1, 1, 0}, {1, 0, 1, 1},   {1, 0, 1, 1},
    };
    npi_reduced reduced = {0};
    int code = npi_reduced_new(&reduced, graph->x, NULL, &tasks->env, err);
    int featured = reduced.width > 0;
    const recipe *recipes = featured ? rich : plain;
    size_t count = featured ? sizeof rich / sizeof rich[0] : graph->m > MANY_LINKS ? 2 : 1;
    for (size_t i = 0; !code && i < count; i++) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_TASK, (uint32_t)i);
        if (is_mine(tasks))
            code = add_task(tasks, graph, &reduced, &recipes[i], group, &rng, err);
    }
    for (uint32_t i = 0; !code && featured && i < PIECES; i++) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_TASK, 1000 + i);
        if (is_mine(tasks))
            code = add_piece(tasks, graph, group, &rng, err);
    }
    npi_reduced_free(&tasks->env, &reduced);
    tasks->graphs++;
    return code;
}

/* ---- tasks of other processes ---- */

typedef struct shared_list {
    npi_task_data *all; /* (places) those that gave no task have 0 links */
    const npi_tasks *mine;
} shared_list;

static void enter_mine(void *arg, int64_t first, int64_t last)
{
    const shared_list *list = arg;
    (void)first;
    (void)last;
    for (size_t i = 0; i < list->mine->count; i++) {
        npi_task_data task = list->mine->items[i];
        task.evidence = NULL;
        list->all[task.place] = task;
    }
}

int npi_tasks_share(npi_tasks *tasks, int code, npgnn_error *err)
{
    const npgnn_env *env = &tasks->env;
    int ranks = npi_comm_ranks(tasks->comm), rank = npi_comm_rank(tasks->comm);
    if (ranks == 1)
        return code;
    size_t places = (size_t)tasks->places, mine = 0, count = 0;
    npi_task_data *all = code ? NULL : npi_alloc(env, places, sizeof *all, err);
    code = npi_comm_agree(tasks->comm, code ? code : all ? 0 : NPGNN_E_MEMORY, err);
    if (code) {
        npi_free(env, all);
        return code;
    }
    npi_comm_chain(tasks->comm, all, (int64_t)places, sizeof *all, (int64_t)places, enter_mine,
                   &(shared_list){all, tasks});
    /* in `all`: the evidence of this process moves there, and there is memory for that of the others */
    for (size_t i = 0; i < places; i++) {
        if (all[i].links == 0)
            continue;
        npi_task_data *task = &all[count++];
        *task = all[i];
        if (task->place % ranks == rank)
            task->evidence = tasks->items[mine++].evidence;
        else if (!(task->evidence = npi_alloc(env, npi_task_pairs(task) * NPI_COLUMNS, sizeof *task->evidence, err)))
            code = NPGNN_E_MEMORY;
    }
    npi_free(env, tasks->items);
    tasks->items = all;
    tasks->count = count;
    tasks->capacity = places;
    code = npi_comm_agree(tasks->comm, code, err);
    for (size_t i = 0; !code && i < count; i++)
        npi_comm_broadcast(tasks->comm, all[i].evidence,
                           npi_task_pairs(&all[i]) * NPI_COLUMNS * sizeof *all[i].evidence, all[i].place % ranks);
    return code;
}
