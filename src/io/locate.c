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
static int join(char out[NPI_PATH], const char *a, const char *b, const char *c, const char *d)
{
    int length = snprintf(out, NPI_PATH, "%s%s%s%s", a, b, c, d);
    return length >= 0 && length < NPI_PATH;
}

static int set_path(char out[NPI_PATH], const char *path, npgnn_error *err)
{
    if (join(out, path, "", "", ""))
        return 0;
    return npi_fail(err, NPGNN_E_ARGUMENT, "the path is too long: %.100s...", path);
}

/* ---- Planetoid ---- */

/* 1 when PREFIX.allx is there; then it is the prefix. */
static int try_prefix(npi_location *out, const char *prefix)
{
    char path[NPI_PATH];
    if (!join(path, prefix, ".", npi_planetoid_suffix(NPI_PLANETOID_ALLX), "") || !is_file(path))
        return 0;
    out->planetoid = 1;
    return join(out->prefix, prefix, "", "", "");
}

/* "dir/cora" also stands for "dir/ind.cora". */
static int try_planetoid(npi_location *out, const char *path)
{
    char prefix[NPI_PATH], folder[NPI_PATH];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || strlen(path) >= NPI_PATH)
        return 0;
    if (try_prefix(out, path))
        return 1;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    return join(prefix, folder, "ind.", name, "") && try_prefix(out, prefix);
}

/* The one set of Planetoid files in a folder: 1; 0 where there is none; -1 where there are several. */
static int find_planetoid(npi_location *out, const char *folder)
{
    DIR *dir = opendir(folder);
    int found = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char prefix[NPI_PATH];
        size_t length = strlen(entry->d_name);
        if (length <= 5 || strcmp(entry->d_name + length - 5, ".allx") != 0)
            continue;
        entry->d_name[length - 5] = '\0';
        found = join(prefix, folder, "/", entry->d_name, "") && try_prefix(out, prefix) ? found + 1 : found;
    }
    closedir(dir);
    return found > 1 ? -1 : found;
}

/* ---- folders ---- */

/* The first FOLDER/STEM.EXTENSION or the same with .gz; 0 where there is none. */
static int find_file(char out[NPI_PATH], const char *folder, const char *stem, const char *const extensions[])
{
    for (int i = 0; extensions[i]; i++) {
        char path[NPI_PATH];
        if (!join(path, folder, "/", stem, extensions[i]))
            return 0;
        if (is_file(path))
            return join(out, path, "", "", "");
        if (join(out, path, ".gz", "", "") && is_file(out))
            return 1;
    }
    out[0] = '\0';
    return 0;
}

static int locate_folder(npi_location *out, const char *folder, npgnn_error *err)
{
    static const char *const edges[] = {".tsv", ".csv", ".txt", ".mtx", NULL};
    static const char *const features[] = {".mtx", ".npy", ".csv", ".tsv", ".svm", ".svmlight", NULL};
    static const char *const labels[] = {".tsv", ".csv", ".txt", NULL};
    if (find_file(out->edges, folder, "edges", edges)) {
        find_file(out->features, folder, "features", features);
        find_file(out->labels, folder, "labels", labels);
        return 0;
    }
    int sets = find_planetoid(out, folder);
    if (sets == 1)
        return 0;
    if (sets < 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, folder, 0,
                           "several graphs are in this folder: name one of them, as in folder/ind.cora");
    return npi_fail_at(err, NPGNN_E_FORMAT, folder, 0,
                       "no edges.tsv, .csv, .txt or .mtx and no Planetoid files (ind.NAME.allx) in this folder");
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
        return 0;
    return code ? code : 1;
}

static int locate_in(npi_location *out, const char *folder, const char *name, npgnn_error *err)
{
    static const char *const places[] = {"/", "/planetoid/"};
    for (int i = 0; i < 2; i++) {
        char path[NPI_PATH];
        int found = join(path, folder, places[i], name, "") ? locate_path(out, path, err) : 0;
        if (found)
            return found;
    }
    return 0;
}

/* The folders in which names are looked up: at most two. Returns their number. */
static int data_folders(char folders[2][NPI_PATH], const char *data_dir)
{
    const char *set = getenv("NPGNN_DATA"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int count = 0;
    if (data_dir)
        return join(folders[0], data_dir, "", "", "");
    if (set && *set)
        count += join(folders[count], set, "", "", "");
    if (cache && *cache)
        count += join(folders[count], cache, "/npgnn", "", "");
    else if (home && *home)
        count += join(folders[count], home, "/.cache/npgnn", "", "");
    return count;
}

static int locate_data(npi_location *out, const char *data, const char *data_dir, npgnn_error *err)
{
    char folders[2][NPI_PATH];
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

int npi_locate(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err)
{
    int code = 0;
    memset(out, 0, sizeof *out);
    if (!data && !options->edges)
        return npi_fail(err, NPGNN_E_ARGUMENT, "neither data nor an edge file is given");
    if (data)
        code = locate_data(out, data, options->data_dir, err);
    if (code == 0 && out->planetoid && (options->edges || options->features))
        return npi_fail(err, NPGNN_E_ARGUMENT, "%s has its own edges and features: no other files go with it", data);
    if (code == 0 && options->edges)
        code = set_path(out->edges, options->edges, err);
    if (code == 0 && options->features)
        code = set_path(out->features, options->features, err);
    return code;
}
