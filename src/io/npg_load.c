/* Maps graph files (npg.h) and verifies them.
 *
 * First the checksums, which find damage. Then the arrays, because a file may have been made to do harm and has right
 * checksums then: what the rest of the library relies on holds for every graph that is returned. Both are loops over
 * all of the file, on several threads; together they take about as long as reading it once. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/siphash.h"
#include "io/npg.h"
#include "io/readers.h"

int npi_npg_detect(const char *path)
{
    unsigned char start[8];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* reading a pipe would take from it */
        return 0;
    if (npi_npg_is_name(path))
        return 1;
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    return count == sizeof start && memcmp(start, NPI_NPG_MAGIC, sizeof start) == 0;
}

/* ---- header and checksums ---- */

static int damaged(const char *name, npgnn_error *err, const char *what)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, name, 0, "this graph file is damaged: %s; make it again with npgnn convert",
                       what);
}

typedef struct block_check {
    const unsigned char *bytes, *sums;
    uint64_t content;
    int64_t *first; /* the first block that is damaged */
} block_check;

static void check_blocks(const void *arg, int64_t first, int64_t last)
{
    const block_check *c = arg;
    for (int64_t b = first; b < last; b++) {
        uint64_t begin = (uint64_t)b * NPI_NPG_BLOCK, left = c->content - begin, sum;
        memcpy(&sum, c->sums + (uint64_t)b * sizeof sum, sizeof sum);
        if (npi_npg_checksum(c->bytes + begin, left < NPI_NPG_BLOCK ? (size_t)left : NPI_NPG_BLOCK) == sum)
            continue;
        int64_t known = __atomic_load_n(c->first, __ATOMIC_RELAXED);
        while (b < known && !__atomic_compare_exchange_n(c->first, &known, b, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
    }
}

/* Whether the file is whole, and every checksum right. */
static int check_file(npi_npg_header *header, const npi_mapping *file, const char *name, npgnn_error *err)
{
    if (file->size < sizeof *header || memcmp(file->bytes, NPI_NPG_MAGIC, sizeof header->magic) != 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, name, 0,
                           "not a graph file, or the beginning of it is missing or damaged");
    memcpy(header, file->bytes, sizeof *header);
    if (header->version != NPI_NPG_VERSION)
        return npi_fail_at(err, NPGNN_E_FORMAT, name, 0,
                           "this graph file has version %u, and this library reads version %d: update npgnn, or make "
                           "the file again with npgnn convert",
                           (unsigned)header->version, NPI_NPG_VERSION);
    uint64_t content = header->content, blocks = npi_npg_blocks(content < file->size ? content : file->size), sum;
    if (content < sizeof *header || content % NPI_NPG_ALIGN != 0 || content >= file->size ||
        file->size - content != (blocks + 1) * sizeof sum)
        return damaged(name, err, "it is longer or shorter than it should be");
    const unsigned char *sums = file->bytes + content;
    memcpy(&sum, sums + blocks * sizeof sum, sizeof sum);
    if (npi_npg_checksum(sums, (size_t)blocks * sizeof sum) != sum)
        return damaged(name, err, "the checksum of its checksums does not match");
    int64_t first = INT64_MAX;
    npi_parallel(file->env.threads, (int64_t)blocks, 1, check_blocks,
                 &(block_check){file->bytes, sums, content, &first});
    if (first < INT64_MAX) {
        char what[80];
        snprintf(what, sizeof what, "the checksum of block %lld of %lld does not match", (long long)first + 1,
                 (long long)blocks);
        return damaged(name, err, what);
    }
    return 0;
}

/* ---- where the sections are ---- */

/* A file whose sections are being looked at. */
typedef struct sections {
    npi_npg_header h;
    npi_mapping *file;
    int bad; /* some section is not where, or as long as, it must be */
} sections;

/* The elements of a section; NULL where it is absent, *count unchanged then. */
static void *find(sections *s, npi_npg_section section, uint64_t *count, size_t size)
{
    uint64_t offset = s->h.section[section].offset, length = s->h.section[section].length;
    if (offset == 0)
        return NULL;
    s->bad |= length % size != 0;
    *count = length / size;
    return s->file->bytes + offset;
}

/* The same of a section that has `count` elements. */
static void *take(sections *s, npi_npg_section section, uint64_t count, size_t size)
{
    uint64_t found = count;
    void *at = find(s, section, &found, size);
    s->bad |= found != count;
    return at;
}

static npi_names_arrays take_names(sections *s, npi_npg_section first, int64_t count, uint64_t key)
{
    npi_names_arrays a = {.count = (int32_t)count, .key = key};
    uint64_t text_size = 0;
    a.text = find(s, first, &text_size, 1);
    a.text_size = (size_t)text_size;
    a.start = take(s, first + 1, (uint64_t)count, sizeof *a.start);
    a.slot = take(s, first + 2, npi_names_slots(a.count), sizeof *a.slot);
    s->bad |= !a.text != !a.start || !a.text != !a.slot;
    return a;
}

/* Sections follow each other, as far apart as their alignment needs, and fill the file; counts are in range. */
static int check_layout(const npi_npg_header *h)
{
    const int64_t counts[] = {h->input_edges, h->duplicates, h->reverse, h->self_loops};
    uint64_t at = sizeof *h;
    for (int i = 0; i < NPI_NPG_SECTIONS; i++) {
        uint64_t offset = h->section[i].offset, length = h->section[i].length;
        if (offset == 0 && length == 0)
            continue;
        if (offset != npi_npg_align(at) || offset > h->content || length > h->content - offset)
            return 0;
        at = offset + length;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] < 0)
            return 0;
    return h->content == npi_npg_align(at) && h->nodes >= 0 && h->nodes <= NPI_MAX_NODES && h->edges >= 0 &&
           h->edges <= INT64_MAX / 32 && h->columns >= 0 && h->columns <= INT32_MAX && h->classes >= 0 &&
           h->classes <= INT32_MAX && h->block_size == NPI_NPG_BLOCK;
}

/* Whether all bytes between sections, and after the last one, are zero. The layout has been checked. */
static int check_padding(const npi_npg_header *h, const unsigned char *bytes)
{
    uint64_t at = sizeof *h;
    int padding = 0;
    for (int i = 0; i <= NPI_NPG_SECTIONS; i++) {
        uint64_t offset = i < NPI_NPG_SECTIONS ? h->section[i].offset : h->content;
        for (; at < offset; at++)
            padding |= bytes[at];
        if (offset > 0 && i < NPI_NPG_SECTIONS)
            at = offset + h->section[i].length;
    }
    return padding == 0;
}

/* ---- the arrays ---- */

/* A sparse matrix whose rows are being checked: the adjacency matrix A, or the features X. */
typedef struct matrix_check {
    const npi_csr *a;
    int64_t entries;
    int adjacency;
    const double *time;
    const unsigned char *side;
    npi_hash_key key;
    uint64_t *balance;
    int *failed;
} matrix_check;

/* Adds what the entries of row i contribute to the balance, which is Σ hash(u, v) of the entries u < v minus that of
 * the entries u > v as (v, u). It is 0 where A is symmetric; otherwise it is 0 once in 2^64, because nobody knows the
 * key. Weights and times belong to the entry. Returns whether the row is sound. */
static int check_links(uint64_t *balance, const matrix_check *c, int64_t i)
{
    const npi_csr *a = c->a;
    uint64_t sum = 0;
    int64_t before = -1;
    int sound = 1;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
        int64_t j = a->col[p];
        if (j <= before || j >= a->cols || j == i || (c->side && c->side[i] == c->side[j]))
            return 0;
        before = j;
        /* without branches: which of i and j is smaller cannot be predicted */
        int64_t low = i < j ? i : j, high = i < j ? j : i;
        uint64_t back = 0 - (uint64_t)(j < i), hash = npi_hash_mix(c->key.k0 ^ (uint64_t)(low << 32 | high));
        if (a->val) {
            uint32_t bits;
            memcpy(&bits, &a->val[p], sizeof bits);
            hash = npi_hash_mix(hash + c->key.k1 + bits);
            sound &= a->val[p] > 0 && isfinite(a->val[p]);
        }
        if (c->time) {
            uint64_t bits;
            memcpy(&bits, &c->time[p], sizeof bits);
            hash = npi_hash_mix((hash ^ c->key.k1) + bits);
            sound &= isfinite(c->time[p]) != 0;
        }
        sum += (hash ^ back) - back; /* back is 0 or -1: hash or -hash */
    }
    *balance += sum;
    return sound;
}

static int check_elements(const npi_csr *a, int64_t row)
{
    int64_t before = -1;
    for (int64_t p = a->ptr[row]; p < a->ptr[row + 1]; p++) {
        if (a->col[p] <= before || a->col[p] >= a->cols || (a->val && (!isfinite(a->val[p]) || a->val[p] == 0)))
            return 0;
        before = a->col[p];
    }
    return 1;
}

static void check_rows(const void *arg, int64_t first, int64_t last)
{
    const matrix_check *c = arg;
    const int64_t *ptr = c->a->ptr;
    uint64_t balance = 0;
    int sound = 1;
    for (int64_t i = first; sound && i < last; i++) {
        sound = 0 <= ptr[i] && ptr[i] <= ptr[i + 1] && ptr[i + 1] <= c->entries;
        if (sound)
            sound = c->adjacency ? check_links(&balance, c, i) : check_elements(c->a, i);
    }
    if (!sound)
        __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(c->balance, balance, __ATOMIC_RELAXED);
}

/* Whether the matrix has `entries` entries and is sound; as an adjacency matrix, together with times and sides, which
 * may be NULL. */
static int check_matrix(const npi_csr *a, int64_t entries, int adjacency, const double *time, const unsigned char *side,
                        int threads)
{
    enum { CHUNK = 1 << 12 };
    uint64_t balance = 0;
    int failed = a->ptr[0] != 0 || a->ptr[a->rows] != entries;
    const matrix_check check = {a, entries, adjacency, time, side, npi_hash_key_draw(), &balance, &failed};
    if (!failed)
        npi_parallel(threads, a->rows, CHUNK, check_rows, &check);
    return !failed && balance == 0;
}

/* Counts the non-zeros of a dense matrix, and finds what is not finite. */
typedef struct dense_check {
    const float *dense;
    int64_t *nonzeros;
    int *failed;
} dense_check;

static void check_dense(const void *arg, int64_t first, int64_t last)
{
    const dense_check *c = arg;
    int64_t nonzeros = 0;
    int finite = 1;
    for (int64_t i = first; i < last; i++) {
        nonzeros += c->dense[i] != 0;
        finite &= isfinite(c->dense[i]) != 0;
    }
    __atomic_add_fetch(c->nonzeros, nonzeros, __ATOMIC_RELAXED);
    if (!finite)
        __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
}

/* ---- the graph ---- */

static int read_features(npi_features **out, sections *s, const char *name, npgnn_error *err)
{
    enum { CHUNK = 1 << 18 };
    const npi_npg_header *h = &s->h;
    const npgnn_env *env = &s->file->env;
    uint64_t n = (uint64_t)h->nodes, columns = (uint64_t)h->columns, count = 0;
    npi_csr x = {.rows = (int32_t)h->nodes, .cols = (int32_t)h->columns};
    float *dense = take(s, NPI_NPG_DENSE, n * columns, sizeof *dense);
    x.ptr = take(s, NPI_NPG_ROW_OFFSETS, n + 1, sizeof *x.ptr);
    x.col = find(s, NPI_NPG_ROW_COLUMNS, &count, sizeof *x.col);
    x.val = take(s, NPI_NPG_ROW_VALUES, count, sizeof *x.val);
    if (s->bad || !x.ptr != !x.col || !dense == !x.ptr || (x.val && !x.ptr) || (dense && (n == 0 || columns == 0)))
        return damaged(name, err, "a section of its features has the wrong length");
    int64_t nonzeros = 0;
    int failed = 0;
    if (dense)
        npi_parallel(env->threads, (int64_t)(n * columns), CHUNK, check_dense,
                     &(dense_check){dense, &nonzeros, &failed});
    else {
        nonzeros = (int64_t)count;
        failed = !check_matrix(&x, nonzeros, 0, NULL, NULL, env->threads);
    }
    if (failed)
        return damaged(name, err, "its features are not a matrix of finite numbers");
    return npi_features_map(out, &x, dense, nonzeros, s->file, env, err);
}

/* Names of the nodes or of the columns; *out stays NULL where there are none. */
static int read_names(npi_names **out, sections *s, npi_npg_section first, int64_t count, uint64_t key,
                      const char *name, npgnn_error *err)
{
    npi_names_arrays arrays = take_names(s, first, count, key);
    npgnn_error why = {0};
    if (s->bad)
        return damaged(name, err, "a section of its names has the wrong length");
    if (!arrays.text)
        return 0;
    int code = npi_names_map(out, &arrays, s->file, &s->file->env, &why);
    if (code == NPGNN_E_FORMAT)
        return damaged(name, err, why.text);
    if (code && err)
        *err = why;
    return code;
}

static int read_encoding(npi_encoding **out, sections *s, const char *name, npgnn_error *err)
{
    uint64_t size = 0;
    const char *text = find(s, NPI_NPG_ENCODING, &size, 1);
    if (!text)
        return 0;
    if (size == 0 || memchr(text, '\0', (size_t)size) != text + size - 1)
        return damaged(name, err, "its encoding is not a text");
    return npi_encoding_parse(out, text, name, &s->file->env, err);
}

/* Points the arrays of A, labels, sides and times into the file, and checks them. */
static int read_links(npgnn_graph *graph, sections *s, const char *name, npgnn_error *err)
{
    const npi_npg_header *h = &s->h;
    uint64_t n = (uint64_t)h->nodes, entries = 2 * (uint64_t)h->edges;
    npi_csr *a = &graph->a;
    a->rows = a->cols = graph->n = (int32_t)h->nodes;
    graph->m = h->edges;
    a->ptr = take(s, NPI_NPG_LINK_OFFSETS, n + 1, sizeof *a->ptr);
    a->col = take(s, NPI_NPG_NEIGHBORS, entries, sizeof *a->col);
    a->val = take(s, NPI_NPG_WEIGHTS, entries, sizeof *a->val);
    graph->time = take(s, NPI_NPG_TIMES, entries, sizeof *graph->time);
    graph->label = take(s, NPI_NPG_LABELS, n, sizeof *graph->label);
    graph->side = take(s, NPI_NPG_SIDES, n, 1);
    if (s->bad || !a->ptr || !a->col)
        return damaged(name, err, "a section of its links has the wrong length");
    int sound = 1;
    for (int32_t i = 0; i < graph->n; i++)
        sound &= (!graph->label || (graph->label[i] >= -1 && graph->label[i] < graph->classes)) &&
                 (!graph->side || graph->side[i] <= 1);
    if (!sound || !check_matrix(a, (int64_t)entries, 1, graph->time, graph->side, s->file->env.threads))
        return damaged(name, err, "its links, labels or sides are not those of a graph");
    return 0;
}

int npi_npg_read(npgnn_graph **out, npi_mapping *file, const char *name, const npgnn_env *env, npgnn_error *err)
{
    sections s = {.file = file};
    npi_names *columns = NULL;
    npi_encoding *encoding = NULL;
    int code = check_file(&s.h, file, name, err);
    if (!code && !check_layout(&s.h))
        code = damaged(name, err, "its header contradicts itself");
    if (!code && !check_padding(&s.h, file->bytes))
        code = damaged(name, err, "there is something between its sections");
    if (code)
        return code;
    npgnn_graph *graph = npi_alloc(env, 1, sizeof *graph, err);
    if (!graph)
        return NPGNN_E_MEMORY;
    graph->env = *env;
    graph->mapping = npi_mapping_share(file);
    graph->classes = (int32_t)s.h.classes;
    graph->input_edges = s.h.input_edges;
    graph->duplicates = s.h.duplicates;
    graph->reverse = s.h.reverse;
    graph->self_loops = s.h.self_loops;
    graph->fingerprinted = 1;
    graph->fingerprint = s.h.fingerprint;
    code = read_links(graph, &s, name, err);
    if (!code)
        code = read_features(&graph->x, &s, name, err);
    if (!code)
        code = read_names(&graph->names, &s, NPI_NPG_NODE_TEXT, s.h.nodes, s.h.node_key, name, err);
    if (!code)
        code = read_names(&columns, &s, NPI_NPG_COLUMN_TEXT, s.h.columns, s.h.column_key, name, err);
    if (!code)
        code = read_encoding(&encoding, &s, name, err);
    if (!code) {
        graph->x->columns = columns;
        graph->x->encoding = encoding;
        if (encoding && encoding->width != graph->x->f)
            code = damaged(name, err, "its encoding is of another number of columns");
    } else {
        npi_names_free(columns);
    }
    if (code)
        npgnn_graph_free(graph);
    else
        *out = graph;
    return code;
}

int npi_npg_load(npgnn_graph **out, const npi_location *where, const npgnn_load_options *how, const npgnn_env *env,
                 npgnn_error *err)
{
    const char *path = where->edges;
    npi_mapping *file = NULL;
    npgnn_graph *graph = NULL;
    if (*where->features || *where->target_features || *where->labels || *where->nodes || *where->columns ||
        *where->sides || *where->encoding || *where->count)
        return npi_fail_at(err, NPGNN_E_ARGUMENT, path, 0,
                           "a graph file has its own features, names and labels: do not give files for them");
    const char *chosen = how->source              ? "source"
                         : how->target            ? "target"
                         : how->weight            ? "weight"
                         : how->id                ? "id"
                         : how->kind_count > 0    ? "column"
                         : how->ignored_count > 0 ? "ignore"
                                                  : NULL;
    if (chosen)
        return npi_fail_at(
            err, NPGNN_E_ARGUMENT, path, 0,
            "a graph file has no columns to choose from: give --%s when the file is made (npgnn convert)", chosen);
    int code = npi_mapping_open(&file, path, env, err);
    if (!code)
        code = npi_npg_read(&graph, file, path, env, err);
    npi_mapping_free(file);
    if (code)
        return code;
    if (graph->x->encoding)
        code = npi_encoding_accept(graph->x->encoding, graph->x->f, how->encoding, path, err);
    if (!code && how->bipartite && !graph->side)
        code = npi_fail_at(err, NPGNN_E_ARGUMENT, path, 0,
                           "this graph has one side: give --bipartite when the file is made (npgnn convert)");
    if (!code && how->time && !graph->time)
        code = npi_fail_at(err, NPGNN_E_ARGUMENT, path, 0,
                           "the links of this graph have no times: give --time when the file is made (npgnn convert)");
    if (code) {
        npgnn_graph_free(graph);
        return code;
    }
    if (graph->a.val && !how->weighted && !how->weight) {
        npi_log(env, "%s: ignoring the weights of the edges (--weighted uses them)", path);
        graph->a.val = NULL;
        graph->fingerprinted = 0;
    }
    *out = graph;
    return 0;
}
