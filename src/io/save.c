/* Saves a graph: as one file where its name ends with .npg (npg_save.c), otherwise as a folder of plain files, which
 * npgnn_load reads back as the same graph:
 *
 *   edges.tsv        source, target and, where edges have these, weight and time
 *   nodes.txt        names of the nodes, where they have some or nothing else tells their number
 *   columns.txt      names of the feature columns, where they have some
 *   features.mtx     sparse features, Matrix Market
 *   features.npy     dense features
 *   labels.tsv       node and class
 *   encoding.json    how the features were made from a table, where they were
 *   sides.txt        "source" or "target" for each node of a two-sided graph
 *
 * The folder is filled under another name and then renamed, so that it exists completely or not at all. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/graph.h"
#include "io/atomic.h"
#include "io/locate.h"
#include "io/npg.h"
#include "io/text.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian machines are supported"
#endif

typedef int write_fn(FILE *file, const npgnn_graph *graph, npgnn_error *err);

/* ---- names ---- */

static int write_node(FILE *file, const npgnn_graph *graph, int32_t node, npgnn_error *err)
{
    char buffer[12];
    return npi_text_write_field(file, npgnn_graph_name(graph, node, buffer), err);
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
        code = npi_text_write_field(file, npgnn_graph_column_name(graph, i), err);
        putc('\n', file);
    }
    return code;
}

static int write_sides(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    (void)err;
    for (int32_t i = 0; i < graph->n; i++)
        fputs(graph->side[i] ? "target\n" : "source\n", file);
    return 0;
}

static int write_encoding(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    (void)err;
    fprintf(file, "%s\n", graph->x->encoding->text);
    return 0;
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
    if (graph->time)
        fprintf(file, "\t%.17g", graph->time[entry]);
    putc('\n', file);
    return code;
}

/* The header is always written: without it, a first edge between nodes named like header words would be read as one. */
static int write_edges(FILE *file, const npgnn_graph *graph, npgnn_error *err)
{
    int code = 0;
    fprintf(file, "source\ttarget%s%s\n", graph->a.val ? "\tweight" : "", graph->time ? "\ttime" : "");
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; code == 0 && p < graph->a.ptr[u + 1]; p++)
            if (graph->a.col[p] > u)
                code = write_edge(file, graph, u, p, err);
    return code;
}

/* Without a header, because its first field could be the name of a node. */
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
                fprintf(file, " %.9g", (double)x->val[p]); /* 9 digits identify every float */
            putc('\n', file);
        }
    return 0;
}

/* A .npy file of version 1. */
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

static int write_file(const char *folder, const char *name, write_fn *write, const npgnn_graph *graph, npgnn_error *err)
{
    char path[NPI_PATH_SIZE];
    npi_atomic out;
    int code = npi_path_join(path, folder, "/", name, err);
    if (code)
        return code;
    if (npi_atomic_open(&out, path))
        return npi_fail_errno(err, "write", path);
    code = write(out.file, graph, err);
    if (code)
        npi_atomic_abort(&out);
    else if (npi_atomic_commit(&out))
        code = npi_fail_errno(err, "write", path);
    return code;
}

static const struct output {
    const char *name;
    write_fn *write;
} outputs[] = {{"edges.tsv", write_edges},        {"nodes.txt", write_nodes},    {"columns.txt", write_columns},
               {"features.mtx", write_sparse},    {"features.npy", write_dense}, {"labels.tsv", write_labels},
               {"encoding.json", write_encoding}, {"sides.txt", write_sides}};

/* Whether a graph needs a file. */
static int is_needed(const struct output *output, const npgnn_graph *graph)
{
    const npi_features *x = graph->x;
    if (output->write == write_nodes)
        return graph->names || x->f == 0 || graph->side;
    if (output->write == write_columns)
        return x->columns != NULL;
    if (output->write == write_sides)
        return graph->side != NULL;
    if (output->write == write_encoding)
        return x->encoding != NULL;
    if (output->write == write_sparse)
        return x->f > 0 && !x->dense;
    if (output->write == write_dense)
        return x->f > 0 && x->dense;
    return output->write != write_labels || graph->label;
}

static void remove_folder(const char *folder)
{
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        char path[NPI_PATH_SIZE];
        if (npi_path_join(path, folder, "/", outputs[i].name, NULL) == 0)
            unlink(path);
    }
    rmdir(folder);
}

/* E_ARGUMENT for the name of a file of another format, of which a folder would be made. */
static int refuse_name(const char *folder, npgnn_error *err)
{
    static const char *const endings[] = {".npz",  ".npy",   ".csv",     ".tsv",  ".txt", ".json",     ".jsonl",
                                          ".mtx",  ".svm",   ".graphml", ".gz",   ".zip", ".svmlight", ".safetensors",
                                          ".xlsx", ".edges", ".pkl",     ".html", ".dot", ".gml",      ".parquet"};
    size_t length = strlen(folder);
    if (strcmp(folder, "-") == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "a graph cannot be written to standard output: give the name of a folder, or of a file that "
                        "ends with .npg");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcasecmp(folder + length - ending, endings[i]) == 0)
            return npi_fail_at(err, NPGNN_E_ARGUMENT, folder, 0,
                               "a graph is written as a folder or, if the name ends with .npg, as a file, but not as "
                               "%s: leave out %s for a folder",
                               endings[i], endings[i]);
    }
    return 0;
}

static int save_folder(const npgnn_graph *graph, const char *folder, npgnn_error *err)
{
    char temporary[NPI_PATH_SIZE], process[24];
    struct stat info;
    snprintf(process, sizeof process, "%ld", (long)getpid());
    int code = refuse_name(folder, err);
    if (code == 0)
        code = npi_path_join(temporary, folder, ".", process, err);
    if (code)
        return code;
    if (stat(folder, &info) == 0)
        return npi_fail_at(err, NPGNN_E_IO, folder, 0, "exists already: choose another folder or remove it");
    if (mkdir(temporary, 0777) != 0)
        return npi_fail_errno(err, "write", folder);
    for (size_t i = 0; code == 0 && i < sizeof outputs / sizeof outputs[0]; i++)
        if (is_needed(&outputs[i], graph))
            code = write_file(temporary, outputs[i].name, outputs[i].write, graph, err);
    if (code == 0 && rename(temporary, folder) != 0)
        code = npi_fail_errno(err, "write", folder);
    if (code)
        remove_folder(temporary);
    return code;
}

int npgnn_graph_save(const npgnn_graph *graph, const char *path, npgnn_error *err)
{
    return npi_npg_is_name(path) ? npi_npg_save(graph, path, err) : save_folder(graph, path, err);
}
