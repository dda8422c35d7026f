/* Building graphs from edges, and taking parts of them. */
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "graph/weights.h"

/* ---- building ---- */

/* Scatters each edge into both of its rows: a.ptr becomes the row starts. Self loops are left out and counted. */
static int scatter(npgnn_graph *graph, const npgnn_pair *edges, int64_t count, npgnn_error *err)
{
    int64_t *ptr = npi_alloc(&graph->env, (size_t)graph->n + 2, sizeof *ptr, err);
    graph->a.ptr = ptr;
    if (!ptr)
        return NPGNN_E_MEMORY;
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
    /* ptr[i + 1] is where row i's next entry goes; when all are placed it is where row i + 1 begins */
    for (int64_t e = 0; e < count; e++)
        if (edges[e].u != edges[e].v) {
            graph->a.col[ptr[edges[e].u + 1]++] = edges[e].v;
            graph->a.col[ptr[edges[e].v + 1]++] = edges[e].u;
        }
    return 0;
}

/* Insertion sort for the short rows that most nodes have, heap sort for the rest: no memory, no bad case. */
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
    for (int64_t i = count / 2; i-- > 0;)
        sift(row, i, count);
    for (int64_t i = count; i-- > 1;) {
        int32_t swap = row[0];
        row[0] = row[i];
        row[i] = swap;
        sift(row, 0, i);
    }
}

/* Sorts the rows, drops repeated entries, closes the gaps. Repeats = links seen again in either direction. */
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

/* Tells repeated edges in the same direction from those in the other one: per edge, the directions that were seen. */
static int count_directions(npgnn_graph *graph, const npgnn_pair *edges, int64_t count, int64_t repeats,
                            npgnn_error *err)
{
    if (repeats == 0)
        return 0;
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
    if (repeats > 0) {
        void *shrunk = npi_resize(&graph->env, graph->a.col, (size_t)(2 * graph->m), sizeof *graph->a.col, NULL);
        if (shrunk)
            graph->a.col = shrunk;
    }
    code = count_directions(graph, edges, count, repeats, err);
    return code || !weights ? code : npi_graph_sum_weights(graph, edges, weights, count, err);
}

static int build_features(npgnn_graph *graph, npgnn_error *err)
{
    if (!graph->x)
        return npi_features_from_dense(&graph->x, NULL, graph->n, 0, &graph->env, err);
    if (graph->x->n != graph->n)
        return npi_fail(err, NPGNN_E_MISMATCH, "%d feature rows for %d nodes", graph->x->n, graph->n);
    return 0;
}

/* Row i is looked up with i + 1 and counted with i + 2 (see scatter): these must fit as node numbers do. */
#define MOST_NODES (INT32_MAX - 1)

int npi_graph_build(npgnn_graph **out, npi_graph_content *parts, const npgnn_env *env, npgnn_error *err)
{
    int code;
    npgnn_graph *graph = npi_alloc(env, 1, sizeof *graph, err);
    if (!graph) {
        npi_features_free(parts->x);
        npi_names_free(parts->names);
        npi_free(env, parts->label);
        return NPGNN_E_MEMORY;
    }
    graph->env = *env;
    graph->n = parts->n;
    graph->names = parts->names;
    graph->label = parts->label;
    graph->classes = parts->classes;
    graph->x = parts->x;
    code = parts->n > MOST_NODES ? npi_fail(err, NPGNN_E_ARGUMENT, "more than %d nodes", MOST_NODES) : 0;
    if (!code)
        code = build_features(graph, err);
    if (!code)
        code = build_edges(graph, parts->edges, parts->weights, parts->edge_count, err);
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
    npi_csr_free(&env, &graph->a);
    npi_features_free(graph->x);
    npi_names_free(graph->names);
    npi_free(&env, graph->label);
    npi_free(&env, graph);
}

/* ---- from the caller's arrays ---- */

static int check_edges(const npgnn_pair *edges, int64_t count, int32_t nodes, npgnn_error *err)
{
    for (int64_t e = 0; e < count; e++)
        if (edges[e].u < 0 || edges[e].u >= nodes || edges[e].v < 0 || edges[e].v >= nodes)
            return npi_fail(err, NPGNN_E_ARGUMENT, "edge %lld joins %d and %d, but nodes are 0 to %d", (long long)e,
                            edges[e].u, edges[e].v, nodes - 1);
    return 0;
}

static int check_sizes(int32_t nodes, int64_t edges, int32_t columns, npgnn_error *err)
{
    if (nodes < 0 || edges < 0 || columns < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "negative size: %d nodes, %lld edges, %d columns", nodes,
                        (long long)edges, columns);
    return 0;
}

static int build_checked(npgnn_graph **out, const npgnn_pair *edges, npi_features *x, int32_t nodes, int64_t edge_count,
                         const npgnn_env *env, npgnn_error *err)
{
    npi_graph_content parts = {.n = nodes, .edges = edges, .edge_count = edge_count, .x = x};
    int code = check_edges(edges, edge_count, nodes, err);
    if (code) {
        npi_features_free(x);
        return code;
    }
    return npi_graph_build(out, &parts, env, err);
}

int npgnn_graph_from_arrays(npgnn_graph **out, const npgnn_pair *edges, const float *features, int32_t nodes,
                            int64_t edge_count, int32_t columns, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env_resolve(env);
    npi_features *x = NULL;
    int code = check_sizes(nodes, edge_count, columns, err);
    for (size_t i = 0; !code && features && i < (size_t)nodes * (size_t)columns; i++)
        if (!isfinite(features[i]))
            code = npi_fail(err, NPGNN_E_ARGUMENT, "the feature of node %lld, column %lld, is not finite",
                            (long long)(i / (size_t)columns), (long long)(i % (size_t)columns));
    if (!code && features)
        code = npi_features_from_dense(&x, features, nodes, columns, &resolved, err);
    return code ? code : build_checked(out, edges, x, nodes, edge_count, &resolved, err);
}

static int check_csr(const int64_t *ptr, const int32_t *col, const float *val, int32_t rows, int32_t cols,
                     npgnn_error *err)
{
    if (ptr[0] != 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "row offsets must begin with 0");
    for (int32_t i = 0; i < rows; i++) {
        if (ptr[i + 1] < ptr[i])
            return npi_fail(err, NPGNN_E_ARGUMENT, "row offsets go down at row %d", i);
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            if (col[p] < 0 || col[p] >= cols || (p > ptr[i] && col[p] <= col[p - 1]))
                return npi_fail(err, NPGNN_E_ARGUMENT, "columns of row %d must ascend within 0 to %d", i, cols - 1);
            if (val && !isfinite(val[p]))
                return npi_fail(err, NPGNN_E_ARGUMENT, "the feature of node %d, column %d, is not finite", i, col[p]);
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
    memcpy(a.col, col, nonzeros * sizeof *col);
    if (val)
        memcpy(a.val, val, nonzeros * sizeof *val);
    *out = a;
    return 0;
}

int npgnn_graph_from_csr(npgnn_graph **out, const npgnn_pair *edges, const int64_t *ptr, const int32_t *col,
                         const float *val, int32_t nodes, int64_t edge_count, int32_t columns, const npgnn_env *env,
                         npgnn_error *err)
{
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

/* ---- parts ---- */

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

static int build_part(npgnn_graph **out, npi_graph_content *parts, const npgnn_graph *whole, npgnn_error *err)
{
    int code = npi_graph_build(out, parts, &whole->env, err);
    if (!code) {
        (*out)->normalized = whole->normalized;
        (*out)->binarized = whole->binarized;
    }
    return code;
}

int npi_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                         npgnn_error *err)
{
    npi_graph_content parts = {.n = graph->n, .edges = edges, .edge_count = count, .classes = graph->classes};
    float *weights = NULL;
    int code = npi_graph_copy_weights(&weights, graph, edges, count, NULL, err);
    if (!code)
        code = copy_labels(&parts.label, graph, NULL, graph->n, err);
    if (!code) {
        parts.weights = weights;
        parts.x = npi_features_share(graph->x);
        parts.names = npi_names_share(graph->names);
        code = build_part(out, &parts, graph, err);
    }
    npi_free(&graph->env, weights);
    return code;
}

int npi_graph_with_nodes(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names,
                         npgnn_error *err)
{
    npi_graph_content parts = {.n = x->n, .edge_count = graph->m, .classes = graph->classes};
    npgnn_pair *edges = npi_resize(&graph->env, NULL, (size_t)graph->m, sizeof *edges, err);
    if (graph->label)
        parts.label = npi_resize(&graph->env, NULL, (size_t)x->n, sizeof *parts.label, err);
    if (!edges || (graph->label && !parts.label)) {
        npi_free(&graph->env, edges);
        npi_free(&graph->env, parts.label);
        return NPGNN_E_MEMORY;
    }
    for (int32_t i = 0; graph->label && i < x->n; i++)
        parts.label[i] = i < graph->n ? graph->label[i] : -1;
    float *weights = NULL;
    npi_graph_list_edges(edges, graph);
    int code = npi_graph_copy_weights(&weights, graph, edges, graph->m, NULL, err);
    if (code) {
        npi_free(&graph->env, parts.label);
    } else {
        parts.edges = edges;
        parts.weights = weights;
        parts.x = npi_features_share(x);
        parts.names = npi_names_share(names);
        code = build_part(out, &parts, graph, err);
    }
    npi_free(&graph->env, edges);
    npi_free(&graph->env, weights);
    return code;
}

/* The edges among `nodes`, in the numbers of the part; position[v] is v's number there, or -1. */
static int induced_edges(npgnn_pair **out, int64_t *edge_count, const npgnn_graph *graph, const int32_t *nodes,
                         int32_t count, npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    npgnn_pair *edges = npi_resize(env, NULL, (size_t)graph->m, sizeof *edges, err);
    int32_t *position = npi_resize(env, NULL, (size_t)graph->n, sizeof *position, err);
    int64_t kept = 0;
    if (!edges || !position) {
        npi_free(env, edges);
        npi_free(env, position);
        return NPGNN_E_MEMORY;
    }
    memset(position, -1, (size_t)graph->n * sizeof *position);
    for (int32_t i = 0; i < count; i++)
        position[nodes[i]] = i;
    for (int32_t i = 0; i < count; i++)
        for (int64_t p = graph->a.ptr[nodes[i]]; p < graph->a.ptr[nodes[i] + 1]; p++)
            if (position[graph->a.col[p]] > i) {
                edges[kept].u = i;
                edges[kept++].v = position[graph->a.col[p]];
            }
    npi_free(env, position);
    *out = edges;
    *edge_count = kept;
    return 0;
}

static int induced_names(npi_names **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                         npgnn_error *err)
{
    int32_t index;
    if (!graph->names)
        return 0;
    int code = npi_names_new(out, &graph->env, err);
    for (int32_t i = 0; !code && i < count; i++) {
        const char *name = npi_names_get(graph->names, nodes[i]);
        code = npi_names_add(&index, *out, name, strlen(name), err);
    }
    return code;
}

int npi_graph_induce(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    npi_graph_content parts = {.n = count, .classes = graph->classes};
    npgnn_pair *edges = NULL;
    float *weights = NULL;
    int code = induced_edges(&edges, &parts.edge_count, graph, nodes, count, err);
    if (!code)
        code = npi_graph_copy_weights(&weights, graph, edges, parts.edge_count, nodes, err);
    if (!code)
        code = npi_features_select_rows(&parts.x, graph->x, nodes, count, err);
    if (!code)
        code = copy_labels(&parts.label, graph, nodes, count, err);
    if (!code)
        code = induced_names(&parts.names, graph, nodes, count, err);
    parts.edges = edges;
    parts.weights = weights;
    if (!code)
        code = build_part(out, &parts, graph, err);
    else {
        npi_features_free(parts.x);
        npi_names_free(parts.names);
        npi_free(&graph->env, parts.label);
    }
    npi_free(&graph->env, edges);
    npi_free(&graph->env, weights);
    return code;
}

int npgnn_graph_part(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count, npgnn_error *err)
{
    for (int32_t i = 0; i < count; i++)
        if (nodes[i] <= (i > 0 ? nodes[i - 1] : -1) || nodes[i] >= graph->n)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node %d of a part must come after the one before it and before %d",
                            nodes[i], graph->n);
    return npi_graph_induce(out, graph, nodes, count, err);
}

/* ---- looking ---- */

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

/* A plain decimal below n, or -1: what an index is when nodes have no names. */
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

const char *npgnn_graph_column_name(const npgnn_graph *graph, int32_t column)
{
    return graph->x->columns ? npi_names_get(graph->x->columns, column) : NULL;
}

int32_t npgnn_graph_label(const npgnn_graph *graph, int32_t node)
{
    return graph->label ? graph->label[node] : -1;
}

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

void npgnn_graph_describe(npgnn_graph_info *info, const npgnn_graph *graph)
{
    npgnn_graph_info seen = {.nodes = graph->n,
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
    for (int32_t i = 0; i < graph->n; i++) {
        int64_t degree = graph->a.ptr[i + 1] - graph->a.ptr[i];
        seen.isolated += degree == 0;
        if (degree > seen.max_degree)
            seen.max_degree = (int32_t)degree;
    }
    *info = seen;
}

static uint64_t hash_entry(uint64_t hash, int32_t column, float value)
{
    return npi_hash_float(npi_hash_u64(hash, (uint64_t)column), value);
}

/* Of the non-zeros, row by row: the same however they are stored. */
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
