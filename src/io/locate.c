#define _POSIX_C_SOURCE 200809L
#include "io/locate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* a + b + c + d into out; 0 where that is too long. */
static int join(char out[NPI_PATH_SIZE], const char *a, const char *b, const char *c, const char *d)
{
    int length = snprintf(out, NPI_PATH_SIZE, "%s%s%s%s", a, b, c, d);
    return length >= 0 && length < NPI_PATH_SIZE;
}

static int set_path(char out[NPI_PATH_SIZE], const char *path, npgnn_error *err)
{
    if (join(out, path, "", "", ""))
        return 0;
    return npi_fail(err, NPGNN_E_ARGUMENT, "the path is too long: %.100s...", path);
}

/* ---- Planetoid ---- */

/* 1 when PREFIX.allx is there; then it is the prefix. */
static int try_prefix(npi_location *out, const char *prefix)
{
    char path[NPI_PATH_SIZE];
    if (!join(path, prefix, ".", npi_planetoid_suffix(NPI_PLANETOID_ALLX), "") || !is_file(path))
        return 0;
    out->kind = NPI_PLANETOID;
    return join(out->prefix, prefix, "", "", "");
}

/* "dir/cora" also stands for "dir/ind.cora". */
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
    return join(prefix, folder, "ind.", name, "") && try_prefix(out, prefix);
}

/* ---- folders ---- */

/* The first FOLDER/NAME.EXTENSION (without NAME, FOLDER.EXTENSION) or the same with .gz; 0 where there is none. */
static int find_file(char out[NPI_PATH_SIZE], const char *folder, const char *name, const char *const extensions[])
{
    for (int i = 0; extensions[i]; i++) {
        char path[NPI_PATH_SIZE];
        if (!join(path, folder, *name ? "/" : "", name, extensions[i]))
            return 0;
        if (is_file(path))
            return join(out, path, "", "", "");
        if (join(out, path, ".gz", "", "") && is_file(out))
            return 1;
    }
    out[0] = '\0';
    return 0;
}

/* The one file in a folder whose name ends so: 1, with its path but for that end; 0 for none; -1 for several. */
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
        found += join(stem, folder, "/", entry->d_name, "");
    }
    closedir(dir);
    return found > 1 ? -1 : found;
}

static const char *const tables[] = {".tsv", ".csv", ".txt", NULL};

/* Our own names: edges, features, labels, and the names of nodes and columns where the features have none. */
static int try_own(npi_location *out, const char *folder)
{
    static const char *const edges[] = {".tsv", ".csv", ".txt", ".mtx", ".npz", ".graphml", ".jsonl", NULL};
    static const char *const features[] = {".mtx", ".npy", ".npz", ".csv", ".tsv", ".svm", ".svmlight", ".json", NULL};
    static const char *const names[] = {".txt", NULL};
    if (!find_file(out->edges, folder, "edges", edges))
        return 0;
    find_file(out->features, folder, "features", features);
    find_file(out->labels, folder, "labels", tables);
    find_file(out->nodes, folder, "nodes", names);
    find_file(out->columns, folder, "columns", names);
    return 1;
}

/* OGB's: in the folder or in its subfolder raw. */
static int try_ogb(npi_location *out, const char *folder)
{
    static const char *const places[] = {"/raw", ""}, *const csv[] = {".csv", NULL};
    for (int i = 0; i < 2; i++) {
        char raw[NPI_PATH_SIZE];
        if (!join(raw, folder, places[i], "", "") || !find_file(out->edges, raw, "edge", csv) ||
            !find_file(out->count, raw, "num-node-list", csv))
            continue;
        find_file(out->features, raw, "node-feat", csv);
        find_file(out->labels, raw, "node-label", csv);
        out->kind = NPI_OGB;
        return 1;
    }
    return 0;
}

/* LINQS': STEM.cites and STEM.content. */
static int try_linqs(npi_location *out, const char *stem)
{
    if (join(out->edges, stem, ".cites", "", "") && is_file(out->edges) &&
        join(out->features, stem, ".content", "", "") && is_file(out->features))
        return 1;
    out->edges[0] = out->features[0] = '\0';
    return 0;
}

/* The sets of Rozemberczki et al. (MUSAE and others): STEM_edges.csv, STEM_features.json, STEM_target.csv. */
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

/* Sets whose files share a stem, as in folder/cora.content. Returns as find_only does. */
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
                           "several graphs are in this folder: name one of them, as in folder/ind.cora");
    if (sets > 0)
        return 0;
    return npi_fail_at(err, NPGNN_E_FORMAT, folder, 0,
                       "no edges.tsv, .csv, .txt, .mtx, .npz, .graphml or .jsonl in this folder, and no set of "
                       "Planetoid (ind.NAME.allx), LINQS (NAME.content), OGB (raw/edge.csv.gz) or MUSAE "
                       "(NAME_edges.csv)");
}

/* ---- names ---- */

/* 1 when `path` is a graph in one of its forms, 0 when there is nothing there, or an error. */
static int locate_path(npi_location *out, const char *path, npgnn_error *err)
{
    int code;
    if (try_planetoid(out, path))
        return 1;
    if (is_folder(path))
        code = locate_folder(out, path, err);
    else if (is_file(path) || strcmp(path, "-") == 0)
        code = set_path(out->edges, path, err);
    else
        return try_linqs(out, path) || try_musae(out, path);
    return code ? code : 1;
}

static int locate_in(npi_location *out, const char *folder, const char *name, npgnn_error *err)
{
    static const char *const places[] = {"/", "/planetoid/"};
    for (int i = 0; i < 2; i++) {
        char path[NPI_PATH_SIZE];
        int found = join(path, folder, places[i], name, "") ? locate_path(out, path, err) : 0;
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

/* The folders in which names are looked up: at most two. Returns their number. */
static int data_folders(char folders[2][NPI_PATH_SIZE], const char *data_dir)
{
    int count = 0;
    if (data_dir)
        return join(folders[0], data_dir, "", "", "");
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
        return npi_fail_at(err, NPGNN_E_IO, data, 0, "there is no such file, folder or set of Planetoid files");
    return npi_fail_at(err, NPGNN_E_IO, data, 0, "there is no such file or folder, and no such name in %.150s%s%.150s",
                       folders[0], count > 1 ? " or " : "", count > 1 ? folders[1] : "");
}

int npi_location_find(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err)
{
    int code = 0;
    memset(out, 0, sizeof *out);
    if (!data && !options->edges)
        return npi_fail(err, NPGNN_E_ARGUMENT, "neither data nor an edge file is given");
    if (data)
        code = locate_data(out, data, options->data_dir, err);
    if (code == 0 && out->kind == NPI_PLANETOID && (options->edges || options->features))
        return npi_fail(err, NPGNN_E_ARGUMENT, "%s has its own edges and features: no other files go with it", data);
    if (code == 0 && options->edges)
        code = set_path(out->edges, options->edges, err);
    if (code == 0 && options->features)
        code = set_path(out->features, options->features, err);
    return code;
}
