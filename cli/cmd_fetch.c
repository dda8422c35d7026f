/* npgnn fetch: downloads public data sets into the folder where data sets are looked up by name. */
#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "message.h"
#include "output.h"
#include "progress_line.h"
#include "public_datasets.h"
#include "settings.h"
#ifdef CLI_FETCH
#include <curl/curl.h>
#endif

typedef struct fetch_settings {
    const char *names; /* the operand NAME[,NAME...] */
    const char *data_dir, *mirror;
    int list, fresh, quiet, timeout;
} fetch_settings;

const public_dataset *public_dataset_find(const char *name, size_t length)
{
    for (int i = 0; i < public_dataset_count; i++)
        if (strlen(public_datasets[i].name) == length && strncmp(public_datasets[i].name, name, length) == 0)
            return &public_datasets[i];
    return NULL;
}

#ifdef CLI_FETCH

enum { PATH_SIZE = 4096 };

/* The data set that the first name of a comma-separated list means; NULL after printing that there is none. Moves
 * *names to the next name. */
static const public_dataset *next_dataset(const char **names)
{
    size_t length = strcspn(*names, ",");
    const public_dataset *dataset = public_dataset_find(*names, length);
    if (!dataset)
        print_usage_error("fetch", "unknown data set '%.*s'; to list the known ones, run: npgnn fetch --list",
                          length < 100 ? (int)length : 100, *names);
    *names += length + ((*names)[length] == ',');
    return dataset;
}

/* The folder in which the files of a data set are stored. */
static int find_folder(char path[PATH_SIZE], const public_dataset *dataset, const fetch_settings *settings)
{
    char base[PATH_SIZE];
    if (settings->data_dir)
        snprintf(base, sizeof base, "%s", settings->data_dir);
    else if (!npgnn_data_folder(base, sizeof base, 0))
        return print_error("no data folder: give one with --data-dir DIR, or set NPGNN_DATA or HOME");
    int length = snprintf(path, PATH_SIZE, "%s/%s", base, dataset->folder);
    if (length < 0 || length >= PATH_SIZE)
        return print_error("path is too long: %.100s...", base);
    return 0;
}

static int64_t size_of(const public_dataset *dataset)
{
    int64_t sum = 0;
    for (int i = 0; i < dataset->count; i++)
        sum += dataset->files[i].size;
    return sum;
}

/* ---- downloading a data set ---- */

typedef struct dataset_progress {
    progress_line line;
    int64_t before, total; /* bytes of the files before the current one, and of all files */
} dataset_progress;

static void show(void *user, const download_job *job, int64_t bytes)
{
    dataset_progress *p = user;
    double share = (double)(p->before + bytes) / (double)p->total;
    char text[128];
    if (!progress_line_is_due(&p->line, share))
        return;
    snprintf(text, sizeof text, "%s  %lld of %lld kB", job->file->name, (long long)(bytes / 1000),
             (long long)(job->file->size / 1000));
    progress_line_show(&p->line, share, text);
}

/* Downloads the files that are missing or damaged; with --fresh, all. */
static int fetch(const public_dataset *dataset, const fetch_settings *settings)
{
    char folder[PATH_SIZE];
    dataset_progress progress = {.total = size_of(dataset)};
    int downloaded = 0;
    int status = find_folder(folder, dataset, settings);
    if (status == 0)
        status = output_make_folders(folder);
    progress_line_begin(&progress.line, settings->quiet);
    for (int i = 0; status == 0 && i < dataset->count; i++) {
        download_job job = {.file = &dataset->files[i],
                            .source = settings->mirror ? settings->mirror : dataset->url,
                            .folder = folder,
                            .fresh = settings->fresh,
                            .timeout = settings->timeout,
                            .show = show,
                            .user = &progress};
        if (settings->fresh || !download_is_complete(job.file, folder)) {
            status = download_run(&job);
            downloaded++;
        }
        progress.before += job.file->size;
    }
    progress_line_erase();
    if (status > EXIT_USAGE)
        print_error("stopped by a signal; repeat the command to continue");
    else if (status == 0 && !settings->quiet && downloaded == 0)
        print_note("%s is already in %s", dataset->name, folder);
    else if (status == 0 && !settings->quiet)
        print_note("downloaded %d file%s of %s to %s", downloaded, downloaded == 1 ? "" : "s", dataset->name, folder);
    return status;
}

/* ---- the command ---- */

static int list_datasets(const fetch_settings *settings)
{
    for (int i = 0; i < public_dataset_count; i++) {
        const public_dataset *dataset = &public_datasets[i];
        char folder[PATH_SIZE];
        int complete = 1;
        if (find_folder(folder, dataset, settings) != 0)
            return EXIT_FAILED;
        for (int f = 0; f < dataset->count; f++)
            complete = complete && download_is_complete(&dataset->files[f], folder);
        printf("%-10s  %6.1f MB  %-11s  %s\n", dataset->name, (double)size_of(dataset) / 1e6,
               complete ? "downloaded" : "missing", dataset->about);
    }
    return EXIT_DONE;
}

static int run(void *given)
{
    const fetch_settings *settings = given;
    const char *mirror = settings->mirror, *names = settings->names;
    if (settings->list)
        return list_datasets(settings);
    do { /* a misspelt name is reported before anything is downloaded */
        if (!next_dataset(&names))
            return EXIT_USAGE;
    } while (*names);
    if (mirror && strstr(mirror, "://") && !download_is_url(mirror))
        return print_usage_error("fetch", "--mirror must be a folder or a URL with https:// or http://, got '%s'",
                                 mirror);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return print_error("cannot initialize libcurl");
    cancel_listen(CANCEL_WHEN_SAVED);
    int status = 0;
    for (names = settings->names; status == 0 && *names;)
        status = fetch(next_dataset(&names), settings);
    curl_global_cleanup();
    return status;
}

#else

static int run(void *given)
{
    (void)given;
    return print_error(
        "this npgnn was built without libcurl, which fetch needs, as that of the Python package is: build "
        "the program from its sources (./run build)");
}

#endif

#define AT(member) offsetof(fetch_settings, member)
static const arg_option options[] = {
    OPTION("list", 0, ARG_FLAG, AT(list), NULL, "List the known data sets and whether they are downloaded."),
    OPTION("mirror", 0, ARG_TEXT, AT(mirror), "URL|DIR",
           "Get the files from this URL or folder. Their checksums are verified as usual."),
    OPTION("data-dir", 0, ARG_TEXT, AT(data_dir), "DIR",
           "Folder to store the files in (default: $NPGNN_DATA, then the user's cache folder)."),
    OPTION("fresh", 0, ARG_FLAG, AT(fresh), NULL, "Download again even if the files exist."),
    OPTION("timeout", 0, ARG_INT, AT(timeout), "S",
           "Give up after S seconds with less than 1000 bytes per second (default 30).", 1, 3600),
    OPTION_QUIET(AT(quiet)),
    OPTIONS_END,
};

const cli_command cmd_fetch = {
    .args =
        {
            .name = "fetch",
            .usage = "NAME[,NAME...] [OPTION...]",
            .summary = "Download public data sets.",
            .description =
                "Downloads public data sets into the folder where data sets are looked up by name. The SHA-256 of "
                "every file is verified before the file is put in place. Files that are already complete are kept, and "
                "an interrupted download is continued. Proxies are taken from the environment.",
            .examples = "  npgnn fetch --list\n"
                        "  npgnn fetch cora,citeseer,pubmed\n"
                        "  npgnn fetch cora --mirror /media/usb/planetoid\n",
            .operands = {{"NAME", AT(names), "list"}},
            .groups = {{"Options", options, 0}},
        },
    .defaults = &(const fetch_settings){.timeout = 30},
    .size = sizeof(fetch_settings),
    .run = run,
};
