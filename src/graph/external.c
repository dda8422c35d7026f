/* An external merge sort: the adjacency matrix A of more edges than memory should hold.
 *
 *   runs     every edge u -> v becomes two records, that of A (u, v), given forward, and that of A (v, u), given backward. As many
 *            as fit into memory are sorted by (row, column) and appended to a temporary file: a run.
 *   merge    all runs are read at once, the least record first. Records of the same row and column are one entry of A.
 *
 *   record = key [weight] [time]         64-bit words
 *   key    = row << 32 | column << 1 | backward
 *
 * Equal keys keep the order of the input, in which weights are added: floats depend on it.
 * Every file is read and written from its beginning to its end, and pages that were passed are given back. */
#include "graph/external.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

enum { PASSED = 1 << 20 }; /* records after which pages are given back */

/* ---- runs ---- */

typedef struct sorter {
    npgnn_graph *graph;
    const npi_graph_content *content;
    size_t words;             /* of a record */
    size_t capacity;          /* records of a run; only the last one has fewer */
    uint64_t *buffer, *spare; /* (capacity, words) */
    npi_mapping *runs;
} sorter;

/* Appends the records of the buffer as a run. */
static int write_run(sorter *s, size_t count, npgnn_error *err)
{
    size_t before = s->runs->size, size = count * s->words * sizeof *s->buffer;
    int code = npi_mapping_resize(s->runs, before + size, err);
    if (code || count == 0)
        return code;
    npi_records_sort(s->buffer, s->spare, count, s->words);
    memcpy(s->runs->bytes + before, s->buffer, size);
    npi_mapping_release(s->runs);
    for (int i = 0; i < 3; i++)
        npi_mapping_release(s->content->files[i]);
    return 0;
}

static int make_runs(sorter *s, npgnn_error *err)
{
    const npi_graph_content *c = s->content;
    size_t used = 0; /* records in the buffer */
    int code = 0;
    for (int64_t e = 0; !code && e < c->edge_count; e++) {
        uint64_t u = (uint32_t)c->edges[e].u, v = (uint32_t)c->edges[e].v;
        if (u == v) {
            s->graph->self_loops++;
            continue;
        }
        for (uint64_t backward = 0; backward < 2; backward++) {
            uint64_t *record = s->buffer + used++ * s->words;
            *record++ = backward ? v << 32 | u << 1 | 1 : u << 32 | v << 1;
            if (c->weights) {
                uint32_t bits;
                memcpy(&bits, &c->weights[e], sizeof bits);
                *record++ = bits;
            }
            if (c->times)
                memcpy(record, &c->times[e], sizeof *record);
        }
        if (used == s->capacity) { /* which is even */
            code = write_run(s, used, err);
            used = 0;
        }
    }
    return code ? code : write_run(s, used, err);
}

/* ---- merge ---- */

typedef struct run {
    const uint64_t *next, *end;
} run;

/* Runs are in the order of the input, and so are their addresses. */
static int precedes(const run *a, const run *b)
{
    return a->next[0] != b->next[0] ? a->next[0] < b->next[0] : a->next < b->next;
}

/* Restores the heap (least record at the root) below `root`. */
static void sift(run *heap, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && precedes(&heap[child + 1], &heap[child]);
        if (precedes(&heap[root], &heap[child]))
            return;
        run swap = heap[root];
        heap[root] = heap[child];
        heap[child] = swap;
    }
}

/* Makes A of the runs: a.ptr, a.col and time; a.val [i] is the sum of the weights given forward, and back [i] that of
 * those given backward. */
static void merge(sorter *s, run *heap, size_t count, float *back, const npi_mapping *back_file)
{
    npgnn_graph *graph = s->graph;
    npi_csr *a = &graph->a;
    uint64_t cell = UINT64_MAX; /* row << 31 | column of the latest entry */
    int64_t last = -1, row = 0; /* the latest entry; rows before `row` are complete */
    int given = 0;              /* the latest entry was given forward */
    float *sums[2] = {a->val, back};
    for (size_t i = count; i-- > 0;)
        sift(heap, i, count);
    for (int64_t passed = 1; count > 0; passed++) {
        const uint64_t *record = heap[0].next, *word = record + 1;
        int backward = (int)(*record & 1);
        if (*record >> 1 != cell) {
            cell = *record >> 1;
            given = 0;
            last++;
            for (; row < (int64_t)(cell >> 31); row++)
                a->ptr[row + 1] = last;
            a->col[last] = (int32_t)(cell & INT32_MAX);
            if (a->val)
                a->val[last] = back[last] = 0;
            if (graph->time)
                graph->time[last] = (double)INFINITY;
        }
        /* every further edge in the same direction is a duplicate; it is counted in the row of its source */
        graph->duplicates += !backward && given;
        given |= !backward;
        if (a->val) {
            uint32_t bits = (uint32_t)*word++;
            float weight;
            memcpy(&weight, &bits, sizeof weight);
            sums[backward][last] += weight;
        }
        if (graph->time) {
            double time;
            memcpy(&time, word, sizeof time);
            graph->time[last] = fmin(graph->time[last], time);
        }
        heap[0].next += s->words;
        if (heap[0].next == heap[0].end)
            heap[0] = heap[--count];
        sift(heap, 0, count);
        if (passed % PASSED == 0) {
            npi_mapping_release(s->runs);
            npi_mapping_release(graph->links);
            npi_mapping_release(back_file);
        }
    }
    for (; row < graph->n; row++)
        a->ptr[row + 1] = last + 1;
}

/* Weights of both directions: npi_graph_sum_weights has the rule. */
static int sum_weights(npgnn_graph *graph, const float *back, const npi_mapping *back_file, npgnn_error *err)
{
    float *val = graph->a.val;
    int64_t entries = graph->a.ptr[graph->n];
    int symmetric = 1, finite = 1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t p = 0; p < entries; p++) {
            if (p % PASSED == 0) {
                npi_mapping_release(graph->links);
                npi_mapping_release(back_file);
            }
            if (pass == 0) {
                symmetric &= val[p] == back[p];
                continue;
            }
            val[p] = symmetric ? val[p] : val[p] + back[p];
            finite &= isfinite(val[p]) != 0;
        }
    return finite ? 0 : npi_fail(err, NPGNN_E_FORMAT, "the sum of the weights of a link is too large for a float");
}

/* The arrays of A, one after the other in graph->links, for `entries` entries; `ptr` first, because its elements are
 * the largest. */
static int make_arrays(npgnn_graph *graph, const npi_graph_content *content, size_t entries, npgnn_error *err)
{
    size_t ptr = ((size_t)graph->n + 1) * sizeof *graph->a.ptr;
    size_t time = content->times ? entries * sizeof *graph->time : 0;
    size_t col = entries * sizeof *graph->a.col, val = content->weights ? entries * sizeof *graph->a.val : 0;
    int code = npi_mapping_new(&graph->links, content->spill.folder, &graph->env, err);
    if (!code)
        code = npi_mapping_resize(graph->links, ptr + time + col + val, err);
    if (code)
        return code;
    unsigned char *bytes = graph->links->bytes;
    graph->a = (npi_csr){.rows = graph->n, .cols = graph->n, .ptr = (void *)bytes, .col = (void *)(bytes + ptr + time)};
    graph->time = content->times ? (void *)(bytes + ptr) : NULL;
    graph->a.val = content->weights ? (void *)(bytes + ptr + time + col) : NULL;
    return 0;
}

int npi_graph_sort_links(npgnn_graph *graph, const npi_graph_content *content, npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    sorter s = {.graph = graph, .content = content, .words = 1 + (content->weights != NULL) + (content->times != NULL)};
    size_t record = s.words * sizeof *s.buffer;
    s.capacity = content->spill.limit / (2 * record) / 2 * 2; /* even: an edge has two */
    s.capacity = s.capacity < 2 ? 2 : s.capacity;
    s.buffer = npi_resize(env, NULL, s.capacity, record, err);
    s.spare = npi_resize(env, NULL, s.capacity, record, err);
    int code = s.buffer && s.spare ? npi_mapping_new(&s.runs, content->spill.folder, env, err) : NPGNN_E_MEMORY;
    graph->input_edges = content->edge_count;
    if (!code)
        code = make_runs(&s, err);
    npi_free(env, s.buffer);
    npi_free(env, s.spare);

    size_t entries = code ? 0 : s.runs->size / record, count = (entries + s.capacity - 1) / s.capacity;
    npi_mapping *back = NULL; /* Σ of the weights given backward */
    run *heap = NULL;
    if (!code)
        code = make_arrays(graph, content, entries, err);
    if (!code && content->weights)
        code = npi_mapping_new(&back, content->spill.folder, env, err);
    if (!code && back)
        code = npi_mapping_resize(back, entries * sizeof(float), err);
    if (!code && !(heap = npi_alloc(env, count, sizeof *heap, err)))
        code = NPGNN_E_MEMORY;
    if (!code) {
        const uint64_t *records = (const void *)s.runs->bytes;
        for (size_t i = 0; i < count; i++) {
            size_t end = (i + 1) * s.capacity < entries ? (i + 1) * s.capacity : entries;
            heap[i] = (run){records + i * s.capacity * s.words, records + end * s.words};
        }
        merge(&s, heap, count, back ? (float *)(void *)back->bytes : NULL, back);
        graph->m = graph->a.ptr[graph->n] / 2;
        graph->reverse = (int64_t)entries / 2 - graph->m - graph->duplicates;
        if (back)
            code = sum_weights(graph, (const float *)(const void *)back->bytes, back, err);
    }
    if (!code) { /* a pass over everything, once */
        graph->fingerprint = npi_graph_fingerprint(graph);
        graph->fingerprinted = 1;
    }
    npi_free(env, heap);
    npi_mapping_free(back);
    npi_mapping_free(s.runs);
    return code;
}
