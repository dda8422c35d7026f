/* Writes graph files (npg.h). Everything in the header is known before the first byte is written, so that a file is
 * written from its beginning to its end. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>

#include "io/atomic.h"
#include "io/npg.h"

int npi_npg_is_name(const char *path)
{
    static const char ending[] = ".npg";
    size_t length = strlen(path);
    return length >= sizeof ending && strcasecmp(path + length - (sizeof ending - 1), ending) == 0;
}

/* ---- what is written ---- */

/* The header and the array of each section; NULL where the section is absent. */
typedef struct contents {
    npi_npg_header header;
    const void *array[NPI_NPG_SECTIONS];
    npi_names_arrays nodes, columns; /* own their slots */
} contents;

/* Adds the next section of `count` elements of `size` bytes; nothing where there is no array. */
static void add(contents *c, npi_npg_section section, const void *array, size_t count, size_t size)
{
    if (!array)
        return;
    c->array[section] = array;
    c->header.section[section].offset = npi_npg_align(c->header.content);
    c->header.section[section].length = count * size;
    c->header.content = c->header.section[section].offset + count * size;
}

static void add_names(contents *c, npi_npg_section first, const npi_names_arrays *names)
{
    if (!names->slot)
        return;
    add(c, first, names->text ? names->text : "", names->text_size, 1);
    add(c, first + 1, names->start ? (const void *)names->start : "", (size_t)names->count, sizeof *names->start);
    add(c, first + 2, names->slot, npi_names_slots(names->count), sizeof *names->slot);
}

static int collect(contents *c, const npgnn_graph *graph, npgnn_error *err)
{
    const npi_features *x = graph->x;
    size_t n = (size_t)graph->n, entries = 2 * (size_t)graph->m;
    npi_npg_header *h = &c->header;
    int code = graph->names ? npi_names_export(&c->nodes, graph->names, &graph->env, err) : 0;
    if (!code && x->columns)
        code = npi_names_export(&c->columns, x->columns, &graph->env, err);
    if (code)
        return code;
    memcpy(h->magic, NPI_NPG_MAGIC, sizeof h->magic);
    h->version = NPI_NPG_VERSION;
    h->block_size = NPI_NPG_BLOCK;
    h->content = sizeof *h;
    h->nodes = graph->n;
    h->edges = graph->m;
    h->columns = x->f;
    h->classes = graph->classes;
    h->input_edges = graph->input_edges;
    h->duplicates = graph->duplicates;
    h->reverse = graph->reverse;
    h->self_loops = graph->self_loops;
    h->fingerprint = npi_graph_fingerprint(graph);
    h->node_key = c->nodes.key;
    h->column_key = c->columns.key;
    add(c, NPI_NPG_LINK_OFFSETS, graph->a.ptr, n + 1, sizeof *graph->a.ptr);
    add(c, NPI_NPG_NEIGHBORS, graph->a.col, entries, sizeof *graph->a.col);
    add(c, NPI_NPG_WEIGHTS, graph->a.val, entries, sizeof *graph->a.val);
    add(c, NPI_NPG_TIMES, graph->time, entries, sizeof *graph->time);
    add(c, NPI_NPG_LABELS, graph->label, n, sizeof *graph->label);
    add(c, NPI_NPG_SIDES, graph->side, n, 1);
    if (x->dense) {
        add(c, NPI_NPG_DENSE, x->dense, n * (size_t)x->f,
            sizeof(float)); /* put_dense writes floats, whatever a real is */
    } else {
        add(c, NPI_NPG_ROW_OFFSETS, x->x.ptr, n + 1, sizeof *x->x.ptr);
        add(c, NPI_NPG_ROW_COLUMNS, x->x.col, (size_t)x->nonzeros, sizeof *x->x.col);
        add(c, NPI_NPG_ROW_VALUES, x->x.val, (size_t)x->nonzeros, sizeof *x->x.val);
    }
    add_names(c, NPI_NPG_NODE_TEXT, &c->nodes);
    add_names(c, NPI_NPG_COLUMN_TEXT, &c->columns);
    if (x->encoding)
        add(c, NPI_NPG_ENCODING, x->encoding->text, strlen(x->encoding->text) + 1, 1);
    h->content = npi_npg_align(h->content);
    return 0;
}

/* ---- blocks ---- */

typedef struct writer {
    FILE *file;
    unsigned char *block; /* (NPI_NPG_BLOCK) the bytes that are not yet written */
    size_t used;
    uint64_t *sums; /* (blocks) */
    uint64_t done;  /* blocks written */
} writer;

/* npi_atomic_commit reports a write that failed. */
static void flush(writer *w)
{
    w->sums[w->done++] = npi_npg_checksum(w->block, w->used);
    fwrite(w->block, 1, w->used, w->file);
    w->used = 0;
}

static void put(writer *w, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t part = NPI_NPG_BLOCK - w->used;
        part = size < part ? (size_t)size : part;
        memcpy(w->block + w->used, from, part);
        w->used += part;
        from += part;
        size -= part;
        if (w->used == NPI_NPG_BLOCK)
            flush(w);
    }
}

static void put_dense(writer *w, const real *dense, uint64_t elements)
{
    for (uint64_t i = 0; i < elements; i++) {
        float value = (float)dense[i];
        put(w, &value, sizeof value);
    }
}

static void write_contents(writer *w, const contents *c)
{
    static const unsigned char zeros[NPI_NPG_ALIGN];
    uint64_t at = sizeof c->header;
    put(w, &c->header, sizeof c->header);
    for (int s = 0; s < NPI_NPG_SECTIONS; s++) {
        uint64_t offset = c->header.section[s].offset, length = c->header.section[s].length;
        if (!c->array[s])
            continue;
        put(w, zeros, offset - at);
        if (s == NPI_NPG_DENSE)
            put_dense(w, c->array[s], length / sizeof(float));
        else
            put(w, c->array[s], length);
        at = offset + length;
    }
    put(w, zeros, c->header.content - at);
    if (w->used > 0)
        flush(w);
    size_t size = (size_t)w->done * sizeof *w->sums;
    uint64_t sum = npi_npg_checksum(w->sums, size);
    fwrite(w->sums, 1, size, w->file);
    fwrite(&sum, 1, sizeof sum, w->file);
}

int npi_npg_save(const npgnn_graph *graph, const char *path, npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    contents c = {0};
    writer w = {0};
    npi_atomic out;
    int code = collect(&c, graph, err);
    if (!code) {
        w.block = npi_resize(env, NULL, NPI_NPG_BLOCK, 1, err);
        w.sums = npi_resize(env, NULL, (size_t)npi_npg_blocks(c.header.content), sizeof *w.sums, err);
        code = w.block && w.sums ? 0 : NPGNN_E_MEMORY;
    }
    if (!code && npi_atomic_open(&out, path))
        code = npi_fail_errno(err, "write", path);
    if (!code) {
        w.file = out.file;
        write_contents(&w, &c);
        if (npi_atomic_commit(&out))
            code = npi_fail_errno(err, "write", path);
    }
    npi_free(env, w.block);
    npi_free(env, w.sums);
    npi_free(env, c.nodes.slot);
    npi_free(env, c.columns.slot);
    return code;
}
