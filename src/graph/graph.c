/* Building a graph from a list of edges, deriving graphs from it, and reading it.
 *
 * The adjacency matrix A is built in three passes: each edge is scattered into the rows of both ends, the rows are
 * sorted, and repeated entries are removed. O(m log(largest degree)) time. */
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/sized.h"
#include "graph/weights.h"

/* ---- building ---- */

/* Writes each edge into the rows of both its ends, unsorted and with duplicates. Self loops are counted and left
 * out. */
static int scatter(npgnn_graph *graph, const npgnn_pair *edges, int64_t count, npgnn_error *err)
{
    int64_t *ptr = npi_alloc(&graph->env, (size_t)graph->n + 2, sizeof *ptr, err);
    graph->a.ptr = ptr;
    if (!ptr)
        return NPGNN_E_MEMORY;
    /* ptr[i + 2] counts the entries of row i; after the sums, ptr[i + 1] is where row i begins */
    for (int64_t e = 0; e < count; e++) {
        if (edges[e].u == edges[e].v) {
            graph->self_loops++;
            continue;
        }
        ptr[edges[e].u + 2]++;
        ptr[edges[e].v + 2]++;
    }
    for (int32_t i = 0; i < graph->n; i++)
        ptr[i + 2] += ptr[i + 1];
    graph->a.col = npi_alloc(&graph->env, (size_t)ptr[graph->n + 1], sizeof *graph->a.col, err);
    if (!graph->a.col)
        return NPGNN_E_MEMORY;
    /* ptr[i + 1] advances with every entry of row i, and ends where row i + 1 begins: ptr is then the usual row
     * offsets */
    for (int64_t e = 0; e < count; e++)
        if (edges[e].u != edges[e].v) {
            graph->a.col[ptr[edges[e].u + 1]++] = edges[e].v;
            graph->a.col[ptr[edges[e].v + 1]++] = edges[e].u;
        }
    return 0;
}

/* Restores the heap (largest value at the root) below `root`. */
static void sift(int32_t *row, int64_t root, int64_t count)
{
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && row[child] < row[child + 1];
        if (row[root] >= row[child])
            return;
        int32_t swap = row[root];
        row[root] = row[child];
        row[child] = swap;
    }
}

/* Insertion sort for short rows, which most nodes have, and heap sort for long ones: both in place, and O(count log
 * count) in the worst case. */
static void sort_row(int32_t *row, int64_t count)
{
    if (count <= 32) {
        for (int64_t i = 1; i < count; i++) {
            int32_t value = row[i];
            int64_t j = i;
            for (; j > 0 && row[j - 1] > value; j--)
                row[j] = row[j - 1];
            row[j] = value;
        }
        return;
    }
    /* build the heap, then move its largest value to the end again and again */
    for (int64_t i = count / 2; i-- > 0;)
        sift(row, i, count);
    for (int64_t i = count; i-- > 1;) {
        int32_t swap = row[0];
        row[0] = row[i];
        row[i] = swap;
        sift(row, 0, i);
    }
}

/* Sorts every row and removes repeated entries. Returns how many edges were repeated, in either direction. */
static int64_t merge_rows(npgnn_graph *graph)
{
    npi_csr *a = &graph->a;
    int64_t kept = 0, begin = 0, total = a->ptr[a->rows];
    for (int32_t i = 0; i < a->rows; i++) {
        int64_t end = a->ptr[i + 1], first = kept;
        sort_row(a->col + begin, end - begin);
        for (int64_t p = begin; p < end; p++)
            if (kept == first || a->col[kept - 1] != a->col[p])
                a->col[kept++] = a->col[p];
        begin = end;
        a->ptr[i + 1] = kept;
    }
    return (total - kept) / 2;
}

/* Divides the repeated edges into those given again in the same direction (duplicates) and in the opposite one
 * (reverse). */
static int count_directions(npgnn_graph *graph, const npgnn_pair *edges, int64_t count, int64_t repeats,
                            npgnn_error *err)
{
    if (repeats == 0)
        return 0;
    /* an entry of A is one direction of an edge: seen[entry] is set when that direction was given */
    unsigned char *seen = npi_alloc(&graph->env, (size_t)graph->a.ptr[graph->n], 1, err);
    if (!seen)
        return NPGNN_E_MEMORY;
    int64_t duplicates = 0;
    for (int64_t e = 0; e < count; e++) {
        if (edges[e].u == edges[e].v)
            continue;
        int64_t entry = npi_csr_find(&graph->a, edges[e].u, edges[e].v);
        duplicates += seen[entry];
        seen[entry] = 1;
    }
    npi_free(&graph->env, seen);
    graph->duplicates = duplicates;
    graph->reverse = repeats - duplicates;
    return 0;
}

static int build_edges(npgnn_graph *graph, const npgnn_pair *edges, const float *weights, int64_t count,
                       npgnn_error *err)
{
    graph->a.rows = graph->a.cols = graph->n;
    graph->input_edges = count;
    int code = scatter(graph, edges, count, err);
    if (code)
        return code;
    int64_t repeats = merge_rows(graph);
    graph->m = graph->a.ptr[graph->n] / 2;
    if (repeats > 0) { /* give back the memory of the removed entries; failing to do so does no harm */
        void *shrunk = npi_resize(&graph->env, graph->a.col, (size_t)(2 * graph->m), sizeof *graph->a.col, NULL);
        if (shrunk)
            graph->a.col = shrunk;
    }
    code = count_directions(graph, edges, count, repeats, err);
    return code || !weights ? code : npi_graph_sum_weights(graph, edges, weights, count, err);
}

/* time (u, v) = time (v, u) = the earliest time that is given for the edge. */
static int build_times(npgnn_graph *graph, const npgnn_pair *edges, const double *times, int64_t count,
                       npgnn_error *err)
{
    size_t entries = (size_t)graph->a.ptr[graph->n];
    graph->time = npi_resize(&graph->env, NULL, entries, sizeof *graph->time, err);
    if (!graph->time)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < entries; i++)
        graph->time[i] = (double)INFINITY;
    for (int64_t e = 0; e < count; e++)
        for (int way = 0; way < 2 && edges[e].u != edges[e].v; way++) {
            int64_t entry =
                way ? npi_csr_find(&graph->a, edges[e].v, edges[e].u) : npi_csr_find(&graph->a, edges[e].u, edges[e].v);
            graph->time[entry] = fmin(graph->time[entry], times[e]);
        }
    return 0;
}

uint64_t npi_graph_count_pairs(const npgnn_graph *graph)
{
    uint64_t n = (uint64_t)graph->n, targets = 0;
    if (!graph->side)
        return n > 0 ? n * (n - 1) / 2 : 0;
    for (int32_t i = 0; i < graph->n; i++)
        targets += graph->side[i];
    return targets * (n - targets);
}

int npi_graph_build(npgnn_graph **out, npi_graph_content *content, const npgnn_env *env, npgnn_error *err)
{
    npgnn_graph *graph = npi_alloc(env, 1, sizeof *graph, err);
    if (!graph) {
        npi_features_free(content->x);
        npi_names_free(content->names);
        npi_free(env, content->label);
        npi_free(env, content->side);
        return NPGNN_E_MEMORY;
    }
    graph->env = *env;
    graph->n = content->n;
    graph->side = content->side;
    graph->names = content->names;
    graph->label = content->label;
    graph->classes = content->classes;
    graph->x = content->x;
    int code = 0;
    if (content->n > NPI_MAX_NODES)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "too many nodes: the limit is %d", NPI_MAX_NODES);
    else if (!graph->x)
        code = npi_features_from_dense(&graph->x, NULL, graph->n, 0, env, err);
    else if (graph->x->n != graph->n)
        code = npi_fail(err, NPGNN_E_MISMATCH, "the features have %d rows, but the graph has %d nodes", graph->x->n,
                        graph->n);
    if (!code)
        code = build_edges(graph, content->edges, content->weights, content->edge_count, err);
    if (!code && content->times)
        code = build_times(graph, content->edges, content->times, content->edge_count, err);
    if (code) {
        npgnn_graph_free(graph);
        return code;
    }
    *out = graph;
    return 0;
}

void npgnn_graph_free(npgnn_graph *graph)
{
    if (!graph)
        return;
    npgnn_env env = graph->env;
    npi_features_free(graph->x);
    npi_names_free(graph->names);
    if (!graph->mapping) {
        npi_free(&env, graph->label);
        npi_free(&env, graph->side);
        npi_csr_free(&env, &graph->a);
        npi_free(&env, graph->time);
    }
    npi_mapping_free(graph->mapping);
    npi_free(&env, graph);
}

/* ---- from the caller's arrays ---- */

static int check_sizes(int32_t nodes, int64_t edges, int32_t columns, npgnn_error *err)
{
    if (nodes < 0 || edges < 0 || columns < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "sizes must not be negative, got %d nodes, %lld edges, %d columns",
                        nodes, (long long)edges, columns);
    return 0;
}

/* Builds the graph after checking its edges. Takes ownership of x. */
static int build_checked(npgnn_graph **out, const npgnn_pair *edges, npi_features *x, int32_t nodes, int64_t edge_count,
                         const npgnn_env *env, npgnn_error *err)
{
    npi_graph_content content = {.n = nodes, .edges = edges, .edge_count = edge_count, .x = x};
    for (int64_t e = 0; e < edge_count; e++)
        if (edges[e].u < 0 || edges[e].u >= nodes || edges[e].v < 0 || edges[e].v >= nodes) {
            npi_features_free(x);
            return npi_fail(err, NPGNN_E_ARGUMENT, "edge %lld joins nodes %d and %d, but nodes are numbered 0 to %d",
                            (long long)e, edges[e].u, edges[e].v, nodes - 1);
        }
    return npi_graph_build(out, &content, env, err);
}

int npgnn_graph_from_arrays(npgnn_graph **out, const npgnn_pair *edges, const float *features, int32_t nodes,
                            int64_t edge_count, int32_t columns, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npi_features *x = NULL;
    int code = check_sizes(nodes, edge_count, columns, err);
    for (size_t i = 0; !code && features && i < (size_t)nodes * (size_t)columns; i++)
        if (!isfinite(features[i]))
            code = npi_fail(err, NPGNN_E_ARGUMENT, "the feature of node %lld in column %lld is not finite",
                            (long long)(i / (size_t)columns), (long long)(i % (size_t)columns));
    if (!code && features)
        code = npi_features_from_dense(&x, features, nodes, columns, &resolved, err);
    return code ? code : build_checked(out, edges, x, nodes, edge_count, &resolved, err);
}

/* E_ARGUMENT unless the three arrays are a CSR matrix (rows, cols) with finite values. */
static int check_csr(const int64_t *ptr, const int32_t *col, const float *val, int32_t rows, int32_t cols,
                     npgnn_error *err)
{
    if (ptr[0] != 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "row offsets must begin with 0, got %lld", (long long)ptr[0]);
    for (int32_t i = 0; i < rows; i++) {
        if (ptr[i + 1] < ptr[i])
            return npi_fail(err, NPGNN_E_ARGUMENT, "row offsets must not decrease, but they do after row %d", i);
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            if (col[p] < 0 || col[p] >= cols || (p > ptr[i] && col[p] <= col[p - 1]))
                return npi_fail(err, NPGNN_E_ARGUMENT, "columns of row %d must be strictly ascending and below %d", i,
                                cols);
            if (val && !isfinite(val[p]))
                return npi_fail(err, NPGNN_E_ARGUMENT, "the feature of node %d in column %d is not finite", i, col[p]);
        }
    }
    return 0;
}

static int copy_csr(npi_csr *out, const int64_t *ptr, const int32_t *col, const float *val, int32_t rows, int32_t cols,
                    const npgnn_env *env, npgnn_error *err)
{
    size_t nonzeros = (size_t)ptr[rows];
    npi_csr a = {rows, cols, npi_resize(env, NULL, (size_t)rows + 1, sizeof *ptr, err),
                 npi_resize(env, NULL, nonzeros, sizeof *col, err),
                 val ? npi_resize(env, NULL, nonzeros, sizeof *val, err) : NULL};
    if (!a.ptr || !a.col || (val && !a.val)) {
        npi_csr_free(env, &a);
        return NPGNN_E_MEMORY;
    }
    memcpy(a.ptr, ptr, ((size_t)rows + 1) * sizeof *ptr);
    if (nonzeros > 0)
        memcpy(a.col, col, nonzeros * sizeof *col);
    if (val && nonzeros > 0)
        memcpy(a.val, val, nonzeros * sizeof *val);
    *out = a;
    return 0;
}

int npgnn_graph_from_csr(npgnn_graph **out, const npgnn_pair *edges, const int64_t *ptr, const int32_t *col,
                         const float *val, int32_t nodes, int64_t edge_count, int32_t columns, const npgnn_env *env,
                         npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npi_features *x = NULL;
    npi_csr csr = {0};
    int code = check_sizes(nodes, edge_count, columns, err);
    if (!code)
        code = check_csr(ptr, col, val, nodes, columns, err);
    if (!code)
        code = copy_csr(&csr, ptr, col, val, nodes, columns, &resolved, err);
    if (!code)
        code = npi_features_from_csr(&x, &csr, &resolved, err);
    return code ? code : build_checked(out, edges, x, nodes, edge_count, &resolved, err);
}

/* ---- derived graphs: other edges, more nodes, a subgraph ---- */

void npi_graph_list_edges(npgnn_pair *edges, const npgnn_graph *graph)
{
    int64_t count = 0;
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
            if (graph->a.col[p] > u) {
                edges[count].u = u;
                edges[count++].v = graph->a.col[p];
            }
}

/* *out (count) = the labels of `nodes`, or of all nodes where that is NULL. *out is unchanged where there are no
 * labels. */
static int copy_labels(int32_t **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    if (!graph->label)
        return 0;
    int32_t *label = npi_resize(&graph->env, NULL, (size_t)count, sizeof *label, err);
    if (!label)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < count; i++)
        label[i] = graph->label[nodes ? nodes[i] : i];
    *out = label;
    return 0;
}

/* *out (count) = the sides of `nodes`, or of all nodes where that is NULL. *out is unchanged where the graph is
 * one-sided. */
static int copy_sides(unsigned char **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                      npgnn_error *err)
{
    if (!graph->side)
        return 0;
    unsigned char *side = npi_resize(&graph->env, NULL, (size_t)count, 1, err);
    if (!side)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < count; i++)
        side[i] = graph->side[nodes ? nodes[i] : i];
    *out = side;
    return 0;
}

/* Builds a graph whose features are prepared in the same way as those of `from`. */
static int build_derived(npgnn_graph **out, npi_graph_content *content, const npgnn_graph *from, npgnn_error *err)
{
    int code = npi_graph_build(out, content, &from->env, err);
    if (!code) {
        (*out)->normalized = from->normalized;
        (*out)->binarized = from->binarized;
    }
    return code;
}

int npi_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                         npgnn_error *err)
{
    npi_graph_content content = {.n = graph->n, .edges = edges, .edge_count = count, .classes = graph->classes};
    float *weights = NULL;
    int code = npi_graph_copy_weights(&weights, graph, edges, count, NULL, err);
    if (!code)
        code = copy_labels(&content.label, graph, NULL, graph->n, err);
    if (!code && (code = copy_sides(&content.side, graph, NULL, graph->n, err)) != 0)
        npi_free(&graph->env, content.label);
    if (!code) {
        content.weights = weights;
        content.x = npi_features_share(graph->x);
        content.names = npi_names_share(graph->names);
        code = build_derived(out, &content, graph, err);
    }
    npi_free(&graph->env, weights);
    return code;
}

int npi_graph_copy_times(npgnn_graph *graph, const npgnn_graph *source, npgnn_error *err)
{
    const npi_csr *a = &graph->a;
    if (!source->time)
        return 0;
    graph->time = npi_resize(&graph->env, NULL, (size_t)a->ptr[a->rows], sizeof *graph->time, err);
    if (!graph->time)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            graph->time[p] = source->time[npi_csr_find(&source->a, i, a->col[p])];
    return 0;
}

int npi_graph_with_nodes(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names, int side,
                         npgnn_error *err)
{
    npi_graph_content content = {.n = x->n, .edge_count = graph->m, .classes = graph->classes};
    npgnn_pair *edges = npi_resize(&graph->env, NULL, (size_t)graph->m, sizeof *edges, err);
    if (graph->label)
        content.label = npi_resize(&graph->env, NULL, (size_t)x->n, sizeof *content.label, err);
    if (graph->side)
        content.side = npi_resize(&graph->env, NULL, (size_t)x->n, 1, err);
    if (!edges || (graph->label && !content.label) || (graph->side && !content.side)) {
        npi_free(&graph->env, edges);
        npi_free(&graph->env, content.label);
        npi_free(&graph->env, content.side);
        return NPGNN_E_MEMORY;
    }
    /* new nodes have no label */
    for (int32_t i = 0; graph->label && i < x->n; i++)
        content.label[i] = i < graph->n ? graph->label[i] : -1;
    for (int32_t i = 0; graph->side && i < x->n; i++)
        content.side[i] = i < graph->n ? graph->side[i] : (unsigned char)side;
    float *weights = NULL;
    npi_graph_list_edges(edges, graph);
    int code = npi_graph_copy_weights(&weights, graph, edges, graph->m, NULL, err);
    if (code) {
        npi_free(&graph->env, content.label);
        npi_free(&graph->env, content.side);
    } else {
        content.edges = edges;
        content.weights = weights;
        content.x = npi_features_share(x);
        content.names = npi_names_share(names);
        code = build_derived(out, &content, graph, err);
    }
    npi_free(&graph->env, edges);
    npi_free(&graph->env, weights);
    return code;
}

int npi_graph_induce(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    npi_graph_content content = {.n = count, .classes = graph->classes};
    float *weights = NULL;
    npgnn_pair *edges = npi_resize(env, NULL, (size_t)graph->m, sizeof *edges, err);
    int32_t *position = npi_resize(env, NULL, (size_t)graph->n, sizeof *position, err);
    int code = edges && position ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        /* position[v]: number of node v in the subgraph, -1 where it is not in it */
        memset(position, -1, (size_t)graph->n * sizeof *position);
        for (int32_t i = 0; i < count; i++)
            position[nodes[i]] = i;
        for (int32_t i = 0; i < count; i++)
            for (int64_t p = graph->a.ptr[nodes[i]]; p < graph->a.ptr[nodes[i] + 1]; p++)
                if (position[graph->a.col[p]] > i)
                    edges[content.edge_count++] = (npgnn_pair){i, position[graph->a.col[p]]};
        code = npi_graph_copy_weights(&weights, graph, edges, content.edge_count, nodes, err);
    }
    npi_free(env, position);
    if (!code)
        code = npi_features_select_rows(&content.x, graph->x, nodes, count, err);
    if (!code)
        code = copy_labels(&content.label, graph, nodes, count, err);
    if (!code)
        code = copy_sides(&content.side, graph, nodes, count, err);
    if (!code && graph->names)
        code = npi_names_new(&content.names, env, err);
    for (int32_t i = 0; !code && graph->names && i < count; i++) {
        const char *name = npi_names_get(graph->names, nodes[i]);
        int32_t index;
        code = npi_names_add(&index, content.names, name, strlen(name), err);
    }
    content.edges = edges;
    content.weights = weights;
    if (!code) {
        code = build_derived(out, &content, graph, err);
    } else {
        npi_features_free(content.x);
        npi_names_free(content.names);
        npi_free(env, content.label);
        npi_free(env, content.side);
    }
    npi_free(env, edges);
    npi_free(env, weights);
    return code;
}

int npgnn_graph_subgraph(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                         npgnn_error *err)
{
    for (int32_t i = 0; i < count; i++)
        if (nodes[i] <= (i > 0 ? nodes[i - 1] : -1) || nodes[i] >= graph->n)
            return npi_fail(
                err, NPGNN_E_ARGUMENT,
                "the nodes of a subgraph must be strictly ascending and below %d; node %d at position %d is not",
                graph->n, nodes[i], i);
    return npi_graph_induce(out, graph, nodes, count, err);
}

int npgnn_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t edge_count,
                           npgnn_error *err)
{
    for (int64_t e = 0; e < edge_count; e++)
        if (edges[e].u < 0 || edges[e].u >= graph->n || edges[e].v < 0 || edges[e].v >= graph->n ||
            (graph->side && !npi_graph_allows(graph, edges[e].u, edges[e].v)))
            return npi_fail(err, NPGNN_E_ARGUMENT, "edge %lld joins nodes %d and %d, %s", (long long)e, edges[e].u,
                            edges[e].v,
                            graph->side ? "but links join the two sides of this graph" : "which are not in this graph");
    return npi_graph_with_edges(out, graph, edges, edge_count, err);
}

/* ---- reading ---- */

int32_t npgnn_graph_nodes(const npgnn_graph *graph)
{
    return graph->n;
}

int64_t npgnn_graph_edges(const npgnn_graph *graph)
{
    return graph->m;
}

int64_t npgnn_graph_neighbors(const int32_t **neighbors, const npgnn_graph *graph, int32_t node)
{
    *neighbors = graph->a.col + graph->a.ptr[node];
    return graph->a.ptr[node + 1] - graph->a.ptr[node];
}

void npgnn_graph_list(npgnn_pair *edges, float *weights, double *times, const npgnn_graph *graph)
{
    npi_graph_list_edges(edges, graph);
    for (int64_t e = 0; (weights || times) && e < graph->m; e++) {
        int64_t entry = npi_csr_find(&graph->a, edges[e].u, edges[e].v);
        if (weights)
            weights[e] = graph->a.val ? graph->a.val[entry] : 1;
        if (times)
            times[e] = graph->time ? graph->time[entry] : (double)NAN;
    }
}

int npgnn_graph_has_edge(const npgnn_graph *graph, int32_t u, int32_t v)
{
    return npi_csr_find(&graph->a, u, v) >= 0;
}

const char *npgnn_graph_name(const npgnn_graph *graph, int32_t node, char buffer[12])
{
    if (graph->names)
        return npi_names_get(graph->names, node);
    snprintf(buffer, 12, "%d", node);
    return buffer;
}

/* The index that a decimal text without sign and leading zeros stands for; -1 where it is not one below n. */
static int32_t parse_index(const char *text, int32_t n)
{
    int64_t value = 0;
    if (!*text || (text[0] == '0' && text[1]))
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        value = value * 10 + (*text - '0');
        if (value >= n)
            return -1;
    }
    return (int32_t)value;
}

int32_t npgnn_graph_find(const npgnn_graph *graph, const char *name)
{
    return graph->names ? npi_names_find(graph->names, name, strlen(name)) : parse_index(name, graph->n);
}

int32_t npgnn_graph_features(int32_t *columns, float *values, const npgnn_graph *graph, int32_t node)
{
    const npi_features *x = graph->x;
    int32_t count = 0;
    /* entries of a sparse row, or all columns of a dense one */
    int64_t first = x->dense ? 0 : x->x.ptr[node], last = x->dense ? x->f : x->x.ptr[node + 1];
    for (int64_t p = first; p < last; p++) {
        float value = x->dense ? (float)x->dense[(size_t)node * (size_t)x->f + (size_t)p] : x->x.val ? x->x.val[p] : 1;
        if (value == 0)
            continue;
        if (columns)
            columns[count] = x->dense ? (int32_t)p : x->x.col[p];
        if (values)
            values[count] = value;
        count++;
    }
    return count;
}

const char *npgnn_graph_column_name(const npgnn_graph *graph, int32_t column)
{
    return graph->x->columns ? npi_names_get(graph->x->columns, column) : NULL;
}

int npgnn_graph_table(npgnn_table_column *out, const npgnn_graph *graph, int32_t index)
{
    return npi_encoding_describe(out, graph->x->encoding, index);
}

const char *npgnn_graph_encoding(const npgnn_graph *graph)
{
    return graph->x->encoding ? graph->x->encoding->text : NULL;
}

int npgnn_graph_side(const npgnn_graph *graph, int32_t node)
{
    return graph->side ? graph->side[node] : -1;
}

int32_t npgnn_graph_label(const npgnn_graph *graph, int32_t node)
{
    return graph->label ? graph->label[node] : -1;
}

/* Counts the rows of X that are all zero. */
static int32_t count_featureless(const npi_features *x)
{
    int32_t count = 0;
    for (int32_t i = 0; i < x->n; i++) {
        int empty = 1;
        if (!x->dense)
            empty = x->x.ptr[i] == x->x.ptr[i + 1];
        else
            for (int32_t c = 0; empty && c < x->f; c++)
                empty = x->dense[(size_t)i * (size_t)x->f + (size_t)c] == 0;
        count += empty;
    }
    return count;
}

int npgnn_graph_describe(npgnn_graph_info *info, const npgnn_graph *graph, npgnn_error *err)
{
    npgnn_graph_info seen = {.size = sizeof seen,
                             .nodes = graph->n,
                             .edges = graph->m,
                             .columns = graph->x->f,
                             .nonzeros = graph->x->nonzeros,
                             .features_dense = graph->x->dense != NULL,
                             .featureless = count_featureless(graph->x),
                             .classes = graph->classes,
                             .weighted = graph->a.val != NULL,
                             .input_edges = graph->input_edges,
                             .merged_duplicates = graph->duplicates,
                             .merged_reverse = graph->reverse,
                             .dropped_self_loops = graph->self_loops,
                             .fingerprint = npi_graph_fingerprint(graph)};
    seen.dated = graph->time != NULL;
    for (int32_t i = 0; i < graph->n; i++) {
        seen.sources += graph->side && !graph->side[i];
        int64_t degree = graph->a.ptr[i + 1] - graph->a.ptr[i];
        seen.isolated += degree == 0;
        if (degree > seen.max_degree)
            seen.max_degree = (int32_t)degree;
    }
    return npi_sized_write(info, &seen, sizeof seen, "npgnn_graph_info", err);
}

static uint64_t hash_entry(uint64_t hash, int32_t column, float value)
{
    return npi_hash_float(npi_hash_u64(hash, (uint64_t)column), value);
}

/* Hashes the non-zeros row by row, so that the storage does not matter. After each row the number of non-zeros so far
 * separates it from the next. */
static uint64_t hash_features(uint64_t hash, const npi_features *x)
{
    uint64_t seen = 0;
    hash = npi_hash_u64(hash, (uint64_t)x->f);
    for (int32_t i = 0; i < x->n; i++) {
        if (x->dense) {
            const real *row = x->dense + (size_t)i * (size_t)x->f;
            for (int32_t c = 0; c < x->f; c++)
                if (row[c] != 0) {
                    hash = hash_entry(hash, c, (float)row[c]);
                    seen++;
                }
        } else {
            for (int64_t p = x->x.ptr[i]; p < x->x.ptr[i + 1]; p++, seen++)
                hash = hash_entry(hash, x->x.col[p], x->x.val ? x->x.val[p] : 1);
        }
        hash = npi_hash_u64(hash, seen);
    }
    return hash;
}

uint64_t npi_graph_fingerprint(const npgnn_graph *graph)
{
    if (graph->fingerprinted)
        return graph->fingerprint;
    uint64_t hash = npi_hash_u64(NPI_HASH_START, (uint64_t)graph->n);
    for (int32_t i = 0; i < graph->n; i++)
        for (int64_t p = graph->a.ptr[i]; p < graph->a.ptr[i + 1]; p++)
            if (graph->a.col[p] > i) {
                hash = npi_hash_u64(npi_hash_u64(hash, (uint64_t)i), (uint64_t)graph->a.col[p]);
                if (graph->a.val)
                    hash = npi_hash_float(hash, graph->a.val[p]);
            }
    return hash_features(hash, graph->x);
}
