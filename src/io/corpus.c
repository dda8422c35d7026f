/* Corpora: many graphs behind one path.
 *
 *   folder   every file and folder in it that npgnn_load takes, in the order of their names
 *   bundle   an .npz file whose arrays are all graphs: (links + 1, 2) integers, the first row (nodes, 0), the others
 *            links
 *
 * Anything else is a single graph. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/npz.h"
#include "io/path.h"

typedef struct visitor {
    npgnn_graph_fn *see;
    void *user;
    int skip_broken;
    const npgnn_env *env;
    const npgnn_env *silent; /* the same for reading a graph: what each of hundreds merges is of no interest */
} visitor;

/* Hands a graph, or the error instead of one, to the caller. */
static int visit(const visitor *v, int code, npgnn_graph *graph, const char *name, npgnn_error *why, npgnn_error *err)
{
    if (code == 0)
        return v->see(v->user, name, graph) ? npi_fail(err, NPGNN_E_CANCELLED, "cancelled at graph %s", name) : 0;
    if (v->skip_broken && code != NPGNN_E_MEMORY && code != NPGNN_E_CANCELLED) {
        npi_log(v->env, "skipped %s: %s", name, why->text);
        return 0;
    }
    if (err)
        *err = *why;
    return code;
}

/* ---- bundles ---- */

/* Whether every array of the archive could be a graph, by its name: none is called what the arrays of a single graph
 * are. */
static int is_bundle(const npi_zip *zip)
{
    static const char *const single[] = {"adj_data", "adj_indices",     "data", "indices", "edge_index", "edges",
                                         "row",      "adj_matrix.data", NULL};
    return npi_zip_count(zip) > 0 && !npi_npz_first(zip, single);
}

static int bundle_graph(npgnn_graph **out, npi_zip *zip, const char *key, const npgnn_env *env, npgnn_error *err)
{
    npi_npy_header header = {0};
    int64_t *numbers = NULL;
    int code = npi_npz_read_ints(&numbers, &header, zip, "", key, err);
    if (!code && (header.dims != 2 || header.cols != 2 || header.rows < 1 || numbers[0] < 1 || numbers[0] >= INT32_MAX))
        code = npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0,
                           "array %s is not a graph: expected rows of two integers, the first (nodes, 0)", key);
    if (!code)
        code = npi_table_check_size(npi_zip_stream(zip), numbers[0], 0, header.rows, err);
    int64_t links = code ? 0 : header.rows - 1;
    npgnn_pair *edges = code ? NULL : npi_alloc(env, (size_t)links, sizeof *edges, err);
    if (!code && !edges)
        code = NPGNN_E_MEMORY;
    for (int64_t i = 0; !code && i < links; i++) {
        int64_t u = numbers[2 * i + 2], v = numbers[2 * i + 3];
        if (u < 0 || v < 0 || u >= numbers[0] || v >= numbers[0])
            code = npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0,
                               "link %lld of array %s joins %lld and %lld, but nodes are 0 to %lld", (long long)i + 1,
                               key, (long long)u, (long long)v, (long long)numbers[0] - 1);
        else
            edges[i] = (npgnn_pair){(int32_t)u, (int32_t)v};
    }
    if (!code)
        code = npgnn_graph_from_arrays(out, edges, NULL, (int32_t)numbers[0], links, 0, env, err);
    npi_free(env, edges);
    npi_free(env, numbers);
    return code;
}

/* Visits the graphs of a bundle. *found stays 0 for a file that is none. */
static int visit_bundle(int *found, const visitor *v, const char *path, npgnn_error *err)
{
    npi_stream *stream = NULL;
    npi_zip *zip = NULL;
    int code = npi_stream_open(&stream, path, v->env, err);
    if (!code && npi_zip_detect(stream))
        code = npi_zip_open(&zip, stream, err);
    *found = !code && zip && is_bundle(zip);
    for (int64_t i = 0; !code && *found && i < npi_zip_count(zip); i++) {
        char key[64];
        npgnn_graph *graph = NULL;
        npgnn_error why = {0};
        const char *member = npi_zip_member_name(zip, i);
        size_t length = member ? strlen(member) : 0;
        if (length < 5 || length - 4 >= sizeof key || strcmp(member + length - 4, ".npy") != 0)
            code = npi_fail_at(&why, NPGNN_E_FORMAT, path, 0, "member %.60s is not an array", member ? member : "");
        snprintf(key, sizeof key, "%.*s", length > 4 ? (int)(length - 4) : 0, member ? member : "");
        if (!code)
            code = bundle_graph(&graph, zip, key, v->silent, &why);
        code = visit(v, code, graph, key, &why, err);
    }
    npi_zip_close(zip);
    npi_stream_close(stream);
    return code;
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int visit_path(const visitor *v, const char *path, const char *name, npgnn_error *err);

/* 0 for what lies beside graphs: hidden files, checksums, and texts about them. A .txt file may be a list of edges. */
static int is_graph(const char *name)
{
    static const char *const texts[] = {"README", "LICENSE", "COPYING", "SHA256SUMS", NULL};
    const char *ending = strrchr(name, '.');
    size_t stem = strcspn(name, ".");
    if (name[0] == '.' || (ending && strcmp(ending, ".md") == 0))
        return 0;
    for (int i = 0; texts[i]; i++)
        if (strlen(texts[i]) == stem && memcmp(texts[i], name, stem) == 0)
            return 0;
    return 1;
}

static int visit_folder(const visitor *v, const char *path, npgnn_error *err)
{
    char **names = NULL, inner[NPI_PATH_SIZE];
    size_t count = 0, capacity = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return npi_fail_errno(err, "open", path);
    int code = 0;
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        if (!is_graph(entry->d_name))
            continue;
        code = npi_grow(v->env, &names, &capacity, count, sizeof *names, err);
        if (!code && !(names[count++] = npi_strdup(v->env, entry->d_name, err)))
            code = NPGNN_E_MEMORY;
    }
    closedir(folder);
    if (!code && count > 1)
        qsort(names, count, sizeof *names, by_name);
    if (!code && count == 0)
        code = npi_fail_at(err, NPGNN_E_IO, path, 0, "the folder has no graph");
    for (size_t i = 0; !code && i < count; i++) {
        code = npi_path_join(inner, path, "/", names[i], err);
        if (!code)
            code = visit_path(v, inner, names[i], err);
    }
    for (size_t i = 0; i < count; i++)
        npi_free(v->env, names[i]);
    npi_free(v->env, names);
    return code;
}

/* One graph, or the graphs of a bundle. */
static int visit_path(const visitor *v, const char *path, const char *name, npgnn_error *err)
{
    npgnn_graph *graph = NULL;
    npgnn_error why = {0};
    struct stat about;
    int bundle = 0, code = 0;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
        code = visit_bundle(&bundle, v, path, &why);
    if (bundle) {
        if (code && err)
            *err = why;
        return code;
    }
    if (!code)
        code = npgnn_load(&graph, path, NULL, v->silent, &why);
    return visit(v, code, graph, name, &why, err);
}

int npgnn_load_each(const char *path, npgnn_graph_fn *see, void *user, int skip_broken, const npgnn_env *env,
                    npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_env silent = resolved;
    silent.log = NULL;
    const visitor v = {see, user, skip_broken, &resolved, &silent};
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        npgnn_graph *graph = NULL;
        if (npgnn_load(&graph, path, NULL, &silent, NULL) == 0) /* a folder that is one graph */
            return visit(&v, 0, graph, path, NULL, err);
        return visit_folder(&v, path, err);
    }
    return visit_path(&v, path, path, err);
}
