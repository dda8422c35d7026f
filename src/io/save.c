/* A graph as a folder of plain files, which npgnn_load reads back as the same graph. The folder appears whole or not at all: it is
 * filled under another name beside its place, and renamed. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/graph.h"
#include "io/atomic.h"
#include "io/locate.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the .npy files are little-endian, and so must the machine be"
#endif

typedef int write_fn(FILE *file, const npgnn_graph *graph, npgnn_error *err);

/* ---- names ---- */

/* In quotes where the readers would see something else in it. A line break has no way to be written. */
static int write_name(FILE *file, const char *name, npgnn_error *err)
{
    size_t length = strlen(name);
    int plain = length > 0 && !strpbrk(name, "\t\"\r") && !strchr("#% ", name[0]) && name[length - 1] != ' ';
    if (strchr(name, '\n'))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the name '%.60s' has a line break: a table cannot hold it", name);
    if (plain) {
        fputs(name, file);
        return 0;
    }
    putc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', file);
        putc(*name, file);
    }
    putc('"', file);
    return 0;
}

static int write_node(FILE *file, const npgnn_graph *graph, int32_t node, npgnn_error *err)
{
    char buffer[12];
    return write_name(file, npgnn_graph_name(graph, node, buffer), err);
}

static int write_nodes(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    for (int32_t i = 0; code == 0 && i < graph->n; i++) {
        code = write_node(file, graph, i, err);
        putc('\n', file);
    }
    return code;
}

static int write_columns(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    for (int32_t i = 0; code == 0 && i < graph->x->f; i++) {
        code = write_name(file, npgnn_graph_column_name(graph, i), err);
        putc('\n', file);
    }
    return code;
}

/* ---- edges and labels ---- */

static int write_edge(FILE *file, const npgnn_graph *graph, int32_t u, int64_t entry, npgnn_error *err)
{
    int code = write_node(file, graph, u, err);
    putc('\t', file);
    if (code == 0)
        code = write_node(file, graph, graph->a.col[entry], err);
    if (graph->a.val)
        fprintf(file, "\t%.9g", (double)graph->a.val[entry]);
    putc('\n', file);
    return code;
}

/* The header keeps a first link between nodes of such names from being taken for one. */
static int write_edges(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    fputs(graph->a.val ? "source\ttarget\tweight\n" : "source\ttarget\n", file);
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; code == 0 && p < graph->a.ptr[u + 1]; p++)
            if (graph->a.col[p] > u)
                code = write_edge(file, graph, u, p, err);
    return code;
}

/* Without a header: its first field could be the name of a node. */
static int write_labels(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    for (int32_t i = 0; code == 0 && i < graph->n; i++) {
        if (graph->label[i] < 0)
            continue;
        code = write_node(file, graph, i, err);
        fprintf(file, "\t%d\n", graph->label[i]);
    }
    return code;
}

/* ---- features ---- */

static int write_sparse(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    const npi_csr *x = &graph->x->x;
    (void)err;
    fprintf(file, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %lld\n", x->val ? "real" : "pattern", x->rows,
            x->cols, (long long)x->ptr[x->rows]);
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++) {
            fprintf(file, "%d %d", i + 1, x->col[p] + 1);
            if (x->val)
                fprintf(file, " %.9g", (double)x->val[p]); /* enough for every float */
            putc('\n', file);
        }
    return 0;
}

/* An .npy file of version 1. */
static int write_dense(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    const npi_features *x = graph->x;
    char header[128];
    (void)err;
    int length =
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n", x->n, x->f);
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    putc(length & 255, file);
    putc(length >> 8, file);
    fputs(header, file);
    for (size_t i = 0; i < (size_t)x->n * (size_t)x->f; i++) {
        float value = (float)x->dense[i];
        fwrite(&value, sizeof value, 1, file);
    }
    return 0;
}

/* ---- the folder ---- */

/* 0 where it is too long. */
static int part_path(char path[NPI_PATH_SIZE], const char *folder, const char *name)
{
    int length = snprintf(path, NPI_PATH_SIZE, "%s/%s", folder, name);
    return length >= 0 && length < NPI_PATH_SIZE;
}

static int write_file(const char *folder, const char *name, write_fn *write, const npgnn_graph *graph, npgnn_error *err)
{
    char path[NPI_PATH_SIZE];
    npi_atomic out;
    if (!part_path(path, folder, name))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the path is too long: %.100s...", folder);
    int code = npi_atomic_open(&out, path, err);
    if (code)
        return code;
    code = write(out.file, graph, err);
    if (code)
        npi_atomic_abort(&out);
    else
        code = npi_atomic_commit(&out, err);
    return code;
}

/* Names of nodes go into a file of their own where there are some, or nothing else tells how many nodes there are. */
static const struct part {
    const char *name;
    write_fn *write;
} parts[] = {{"edges.tsv", write_edges},     {"nodes.txt", write_nodes},    {"columns.txt", write_columns},
             {"features.mtx", write_sparse}, {"features.npy", write_dense}, {"labels.tsv", write_labels}};

static int is_wanted(const struct part *part, const npgnn_graph *graph)
{
    const npi_features *x = graph->x;
    if (part->write == write_nodes)
        return graph->names || x->f == 0;
    if (part->write == write_columns)
        return x->columns != NULL;
    if (part->write == write_sparse)
        return x->f > 0 && !x->dense;
    if (part->write == write_dense)
        return x->f > 0 && x->dense;
    return part->write != write_labels || graph->label;
}

static int fill_folder(const char *folder, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof parts / sizeof parts[0]; i++)
        if (is_wanted(&parts[i], graph))
            code = write_file(folder, parts[i].name, parts[i].write, graph, err);
    return code;
}

static void remove_folder(const char *folder)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char path[NPI_PATH_SIZE];
        if (part_path(path, folder, parts[i].name))
            unlink(path);
    }
    rmdir(folder);
}

int npgnn_graph_save(const npgnn_graph *graph, const char *folder, npgnn_error *err)
{
    char temporary[NPI_PATH_SIZE];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld", folder, (long)getpid());
    struct stat info;
    if (length < 0 || length >= NPI_PATH_SIZE)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the path is too long: %.100s...", folder);
    if (stat(folder, &info) == 0)
        return npi_fail_at(err, NPGNN_E_IO, folder, 0, "is there already: a graph is not written over anything");
    if (mkdir(temporary, 0777) != 0)
        return npi_fail_errno(err, "write", folder);
    int code = fill_folder(temporary, graph, err);
    if (code == 0 && rename(temporary, folder) != 0)
        code = npi_fail_errno(err, "write", folder);
    if (code)
        remove_folder(temporary);
    return code;
}
