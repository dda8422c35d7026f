/* npgnn fetch: public data sets, into the folder where names are looked up. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "fetch.h"
#include "output.h"
#include "say.h"
#include "settings.h"
#include "status_line.h"

enum { PATH = 4096 };

/* ---- which sets ---- */

/* Takes the next name off a list with commas: its set, or NULL after having said that there is none. */
static const fetch_set *next_set(const char **list)
{
    size_t length = strcspn(*list, ",");
    const fetch_set *set = fetch_find(*list, length);
    if (!set)
        say_usage("fetch", "there is no data set '%.*s'; npgnn fetch --list tells what there is",
                  length < 100 ? (int)length : 100, *list);
    *list += length + ((*list)[length] == ',');
    return set;
}

static int check_names(const char *list)
{
    do {
        if (!next_set(&list))
            return EXIT_USAGE;
    } while (*list);
    return 0;
}

/* ---- where to, where from ---- */

static int find_folder(char path[PATH], const fetch_set *set, const cli_settings *settings)
{
    char base[PATH];
    if (settings->load.data_dir)
        snprintf(base, sizeof base, "%s", settings->load.data_dir);
    else if (!npgnn_data_folder(base, sizeof base, 0))
        return say_error("there is no data folder: name one with --data-dir");
    int length = snprintf(path, PATH, "%s/%s", base, set->folder);
    if (length < 0 || length >= PATH)
        return say_error("the path is too long: %.100s...", base);
    return 0;
}

static int check_mirror(const char *mirror)
{
    if (mirror && strstr(mirror, "://") && !fetch_is_address(mirror))
        return say_usage("fetch", "a mirror is a folder, or an address with https:// or http://, not %s", mirror);
    return 0;
}

/* ---- one set ---- */

typedef struct set_progress {
    status_line line;
    int64_t before, total; /* bytes of the files before the one under way, and of all */
} set_progress;

static void show(void *user, const fetch_job *job, int64_t bytes)
{
    set_progress *p = user;
    double share = (double)(p->before + bytes) / (double)p->total;
    char text[128];
    if (!status_is_due(&p->line, share))
        return;
    snprintf(text, sizeof text, "%s  %lld of %lld kB", job->file->name, (long long)(bytes / 1000),
             (long long)(job->file->size / 1000));
    status_show(&p->line, share, text);
}

static int64_t size_of(const fetch_set *set)
{
    int64_t sum = 0;
    for (int i = 0; i < set->count; i++)
        sum += set->files[i].size;
    return sum;
}

/* Fetches the files that are not there; *fetched counts them. */
static int fetch_files(int *fetched, const fetch_set *set, const char *folder, const cli_settings *settings)
{
    set_progress progress = {.total = size_of(set)};
    int status = 0;
    status_begin(&progress.line, settings->quiet);
    for (int i = 0; status == 0 && i < set->count; i++) {
        fetch_job job = {.file = &set->files[i],
                         .source = settings->mirror ? settings->mirror : set->home,
                         .folder = folder,
                         .fresh = settings->fresh,
                         .patience = settings->patience,
                         .show = show,
                         .user = &progress};
        if (settings->fresh || !fetch_is_there(job.file, folder)) {
            status = fetch_run(&job);
            ++*fetched;
        }
        progress.before += job.file->size;
    }
    status_end(&progress.line);
    return status;
}

static int fetch(const fetch_set *set, const cli_settings *settings)
{
    char folder[PATH];
    int fetched = 0;
    int status = find_folder(folder, set, settings);
    if (status == 0)
        status = output_make_folders(folder);
    if (status == 0)
        status = fetch_files(&fetched, set, folder, settings);
    if (status > EXIT_USAGE)
        say_error("stopped by a signal; the same command goes on from here");
    if (status == 0 && !settings->quiet && fetched == 0)
        fprintf(stderr, "npgnn: %s is in %s already\n", set->name, folder);
    else if (status == 0 && !settings->quiet)
        fprintf(stderr, "npgnn: %s is in %s: %d file%s fetched\n", set->name, folder, fetched, fetched == 1 ? "" : "s");
    return status;
}

/* ---- the command ---- */

static int is_complete(const fetch_set *set, const char *folder)
{
    for (int i = 0; i < set->count; i++)
        if (!fetch_is_there(&set->files[i], folder))
            return 0;
    return 1;
}

static int list_sets(const cli_settings *settings)
{
    for (int i = 0; i < fetch_set_count; i++) {
        const fetch_set *set = &fetch_sets[i];
        char folder[PATH];
        if (find_folder(folder, set, settings) != 0)
            return EXIT_FAILED;
        printf("%-10s  %6.1f MB  %-6s  %s\n", set->name, (double)size_of(set) / 1e6,
               is_complete(set, folder) ? "here" : "absent", set->about);
    }
    return EXIT_DONE;
}

static int run(const cli_settings *settings)
{
    const char *list = settings->operands[0];
    if (settings->list)
        return list_sets(settings);
    if (check_names(list) != 0 || check_mirror(settings->mirror) != 0)
        return EXIT_USAGE;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return say_error("libcurl does not start");
    cancel_listen(CANCEL_WHEN_SAVED);
    int status = 0;
    while (status == 0 && *list)
        status = fetch(next_set(&list), settings);
    curl_global_cleanup();
    return status;
}

static const arg_option options[] = {
    SETTING("list", 0, ARG_FLAG, list, NULL, "Print what can be fetched, and what is here."),
    SETTING("mirror", 0, ARG_TEXT, mirror, "URL|DIR", "Take the files from there; they are checked all the same."),
    SETTING("data-dir", 0, ARG_TEXT, load.data_dir, "DIR",
            "Where to keep them (default: $NPGNN_DATA, or else the user's cache folder)."),
    SETTING("fresh", 0, ARG_FLAG, fresh, NULL, "Fetch also what is here already."),
    SETTING("timeout", 0, ARG_INT, patience, "S", "Give up after so many seconds without data (default 30).", 1, 3600),
    SETTING("quiet", 'q', ARG_FLAG, quiet, NULL, "Print no progress and no notices."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_fetch = {
    .args =
        {
            .name = "fetch",
            .usage = "NAME[,NAME...] [OPTION...]",
            .summary = "Fetch public data sets.",
            .description =
                "Fetches the files of a public data set into the folder where names of data sets are looked up. "
                "Every file is checked against its SHA-256 before it takes its place; what is here "
                "and right is left alone, and what was cut off is continued. Proxies are taken from the environment.",
            .examples = "  npgnn fetch --list\n"
                        "  npgnn fetch cora,citeseer,pubmed\n"
                        "  npgnn fetch cora --mirror /media/usb/planetoid\n",
            .operands = {"NAME"},
            .groups = {own_group},
        },
    .defaults = {.patience = 30},
    .run = run,
};
