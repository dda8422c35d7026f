/* Finding the files of a graph. DATA can be
 *
 *   PREFIX            of Planetoid files: PREFIX.allx and so on; DIR/NAME also stands for DIR/ind.NAME
 *   FOLDER            with edges.*, features.* ..., with OGB files, or with one set of Planetoid, LINQS or MUSAE files
 *   FILE or "-"       an edge list or another file with edges; "-" is standard input
 *   STEM              of LINQS (STEM.cites, STEM.content) or MUSAE files (STEM_edges.csv, STEM_features.json ...)
 *   NAME              one of the above in a data folder: --data-dir, $NPGNN_DATA, or the cache of `npgnn fetch`
 *
 * in this order. Files may be gzipped (.gz). */
#define _POSIX_C_SOURCE 200809L
#include "io/locate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/npg.h"
#include "io/planetoid.h"

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* out = a b c; 0 where that is too long. */
static int join(char out[NPI_PATH_SIZE], const char *a, const char *b, const char *c)
{
    return npi_path_join(out, a, b, c, NULL) == 0;
}

/* ---- Planetoid ---- */

/* 1 where PREFIX.allx exists. */
static int try_prefix(npi_location *out, const char *prefix)
{
    char path[NPI_PATH_SIZE];
    if (!join(path, prefix, ".", npi_planetoid_suffix(NPI_PLANETOID_ALLX)) || !is_file(path))
        return 0;
    out->kind = NPI_PLANETOID;
    return join(out->prefix, prefix, "", "");
}

/* DIR/NAME, or DIR/ind.NAME. */
static int try_planetoid(npi_location *out, const char *path)
{
    char prefix[NPI_PATH_SIZE], folder[NPI_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || strlen(path) >= NPI_PATH_SIZE)
        return 0;
    if (try_prefix(out, path))
        return 1;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    return join(prefix, folder, "ind.", name) && try_prefix(out, prefix);
}

/* ---- folders ---- */

/* The first existing file FOLDER/NAME.EXTENSION or FOLDER/NAME.EXTENSION.gz; an empty NAME means FOLDER.EXTENSION.
 * 0, and an empty path, where there is none. */
static int find_file(char out[NPI_PATH_SIZE], const char *folder, const char *name, const char *const extensions[])
{
    for (int i = 0; extensions[i]; i++) {
        char stem[NPI_PATH_SIZE], path[NPI_PATH_SIZE];
        if (!join(stem, folder, *name ? "/" : "", name) || !join(path, stem, extensions[i], ""))
            return 0;
        if (is_file(path))
            return join(out, path, "", "");
        if (join(out, path, ".gz", "") && is_file(out))
            return 1;
    }
    out[0] = '\0';
    return 0;
}

/* Looks for files whose names end with `end`. Returns 1 and the path without that end where there is exactly one, 0
 * where there is none, -1 where there are several. */
static int find_only(char stem[NPI_PATH_SIZE], const char *folder, const char *end)
{
    DIR *dir = opendir(folder);
    int found = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name), ending = strlen(end);
        if (length <= ending || strcmp(entry->d_name + length - ending, end) != 0)
            continue;
        entry->d_name[length - ending] = '\0';
        found += join(stem, folder, "/", entry->d_name);
    }
    closedir(dir);
    return found > 1 ? -1 : found;
}

static const char *const tables[] = {".tsv", ".csv", ".txt", NULL};

/* Our own names: edges, features, labels, and names of nodes and columns. */
static int try_own(npi_location *out, const char *folder)
{
    static const char *const edges[] = {".tsv", ".csv", ".txt", ".mtx", ".npz", ".graphml", ".jsonl", NULL};
    static const char *const features[] = {".mtx", ".npy", ".npz", ".csv", ".tsv", ".svm", ".svmlight", ".json", NULL};
    static const char *const names[] = {".txt", NULL}, *const json[] = {".json", NULL};
    if (!find_file(out->edges, folder, "edges", edges))
        return 0;
    find_file(out->features, folder, "features", features);
    find_file(out->labels, folder, "labels", tables);
    find_file(out->nodes, folder, "nodes", names);
    find_file(out->columns, folder, "columns", names);
    find_file(out->encoding, folder, "encoding", json);
    find_file(out->sides, folder, "sides", names);
    return 1;
}

/* OGB: in FOLDER/raw or in FOLDER. */
static int try_ogb(npi_location *out, const char *folder)
{
    static const char *const places[] = {"/raw", ""}, *const csv[] = {".csv", NULL};
    for (int i = 0; i < 2; i++) {
        char raw[NPI_PATH_SIZE];
        if (!join(raw, folder, places[i], "") || !find_file(out->edges, raw, "edge", csv) ||
            !find_file(out->count, raw, "num-node-list", csv))
            continue;
        find_file(out->features, raw, "node-feat", csv);
        find_file(out->labels, raw, "node-label", csv);
        out->kind = NPI_OGB;
        return 1;
    }
    return 0;
}

/* LINQS: STEM.cites and STEM.content. */
static int try_linqs(npi_location *out, const char *stem)
{
    if (join(out->edges, stem, ".cites", "") && is_file(out->edges) && join(out->features, stem, ".content", "") &&
        is_file(out->features))
        return 1;
    out->edges[0] = out->features[0] = '\0';
    return 0;
}

/* MUSAE and other sets of Rozemberczki et al.: STEM_edges.csv, STEM_features.json, STEM_target.csv. */
static int try_musae(npi_location *out, const char *stem)
{
    static const char *const edges[] = {"_edges.csv", NULL}, *const targets[] = {"_target.csv", NULL};
    static const char *const features[] = {"_features.json", "_features.csv", NULL};
    if (!find_file(out->edges, stem, "", edges))
        return 0;
    find_file(out->features, stem, "", features);
    find_file(out->labels, stem, "", targets);
    return 1;
}

/* A set whose files share a stem, such as FOLDER/cora.content. Returns 1, 0 or -1 as find_only does. */
static int find_set(npi_location *out, const char *folder)
{
    static const struct {
        const char *end;
        int (*try)(npi_location *out, const char *stem);
    } kinds[] = {{".allx", try_prefix}, {".content", try_linqs}, {"_edges.csv", try_musae}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char stem[NPI_PATH_SIZE];
        int found = find_only(stem, folder, kinds[i].end);
        if (found < 0 || (found > 0 && kinds[i].try(out, stem)))
            return found;
    }
    return 0;
}

static int locate_folder(npi_location *out, const char *folder, npgnn_error *err)
{
    if (try_own(out, folder) || try_ogb(out, folder))
        return 0;
    int sets = find_set(out, folder);
    if (sets < 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, folder, 0,
                           "this folder has several graphs: give the path of one of them, such as %s/ind.cora", folder);
    if (sets > 0)
        return 0;
    return npi_fail_at(err, NPGNN_E_FORMAT, folder, 0,
                       "no graph in this folder: expected edges.tsv, .csv, .txt, .mtx, .npz, .graphml or .jsonl, or "
                       "the files of Planetoid (ind.NAME.allx), LINQS (NAME.content), OGB (raw/edge.csv.gz) or MUSAE "
                       "(NAME_edges.csv)");
}

/* ---- paths and names ---- */

/* 1 where `path` is a graph in one of the forms above, 0 where nothing has that path, or an error. */
static int locate_path(npi_location *out, const char *path, npgnn_error *err)
{
    int code;
    if (try_planetoid(out, path))
        return 1;
    if (is_folder(path))
        code = locate_folder(out, path, err);
    else if (is_file(path) || strcmp(path, "-") == 0)
        code = npi_path_join(out->edges, path, "", "", err);
    else
        return try_linqs(out, path) || try_musae(out, path);
    return code ? code : 1;
}

/* The same in a data folder, or in its subfolder planetoid. */
static int locate_in(npi_location *out, const char *folder, const char *name, npgnn_error *err)
{
    static const char *const places[] = {"/", "/planetoid/"};
    for (int i = 0; i < 2; i++) {
        char path[NPI_PATH_SIZE];
        int found = join(path, folder, places[i], name) ? locate_path(out, path, err) : 0;
        if (found)
            return found;
    }
    return 0;
}

int npgnn_data_folder(char *path, size_t size, int index)
{
    const char *set = getenv("NPGNN_DATA"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (set && *set && index-- == 0)
        length = snprintf(path, size, "%s", set);
    else if (cache && *cache && index-- == 0)
        length = snprintf(path, size, "%s/npgnn", cache);
    else if (!(cache && *cache) && home && *home && index == 0)
        length = snprintf(path, size, "%s/.cache/npgnn", home);
    return length >= 0 && (size_t)length < size;
}

/* The folders in which names are looked up. Returns their number, at most 2. */
static int data_folders(char folders[2][NPI_PATH_SIZE], const char *data_dir)
{
    int count = 0;
    if (data_dir)
        return join(folders[0], data_dir, "", "");
    while (count < 2 && npgnn_data_folder(folders[count], NPI_PATH_SIZE, count))
        count++;
    return count;
}

static int locate_data(npi_location *out, const char *data, const char *data_dir, npgnn_error *err)
{
    char folders[2][NPI_PATH_SIZE];
    int found = locate_path(out, data, err);
    int count = found == 0 && !strchr(data, '/') ? data_folders(folders, data_dir) : 0;
    for (int i = 0; found == 0 && i < count; i++)
        found = locate_in(out, folders[i], data, err);
    if (found)
        return found < 0 ? found : 0;
    if (count == 0)
        return npi_fail_at(err, NPGNN_E_IO, data, 0, "no such file, folder or prefix of Planetoid files");
    return npi_fail_at(err, NPGNN_E_IO, data, 0, "no such file or folder, and no such name in %.150s%s%.150s",
                       folders[0], count > 1 ? " or " : "", count > 1 ? folders[1] : "");
}

int npi_location_find(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err)
{
    int code = 0;
    memset(out, 0, sizeof *out);
    if (!data && !options->edges)
        return npi_fail(err, NPGNN_E_ARGUMENT, "no data given: name a graph or an edge file");
    if (data)
        code = locate_data(out, data, options->data_dir, err);
    if (code == 0 && out->kind == NPI_PLANETOID && (options->edges || options->features))
        return npi_fail(err, NPGNN_E_ARGUMENT, "%s has its own edges and features: do not give files for them", data);
    if (code == 0 && data && options->edges && npi_npg_detect(data))
        return npi_fail_at(err, NPGNN_E_ARGUMENT, data, 0, "a graph file has its own edges: leave out --edges");
    /* what a folder has besides edges is still used; a file has nothing besides */
    int others = *out->features || *out->labels || *out->nodes || *out->sides || *out->count;
    if (code == 0 && data && options->edges && (options->features || !others))
        return npi_fail_at(
            err, NPGNN_E_ARGUMENT, data, 0, "nothing of this %s would be used beside --edges %.200s%s: leave it out%s",
            is_folder(data) ? "folder" : "file", options->edges, options->features ? " and --features" : "",
            options->features ? "" : "; node features are given as --features FILE");
    if (code == 0 && options->edges)
        code = npi_path_join(out->edges, options->edges, "", "", err);
    if (code == 0 && options->target_features)
        code = npi_path_join(out->target_features, options->target_features, "", "", err);
    if (code == 0 && options->features) {
        out->encoding[0] = '\0'; /* belongs to the features that these replace */
        code = npi_path_join(out->features, options->features, "", "", err);
    }
    return code;
}
