/* The processes that mpirun has started: who they are, and one answer from all of them. */
#define _POSIX_C_SOURCE 200809L
#include "comm.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

enum {
    LARGE = 4 << 20, /* bytes of an array that the system gives, and gets back when it is freed */
    PATIENCE = 3,    /* seconds in which mpirun ends the processes after process 0 has failed */
};

/* ---- what the environment says ---- */

/* Open MPI's variables, and those of MPICH and its relatives. */
static const struct {
    const char *rank, *ranks;
} variables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};

static const char *started_by = ""; /* the variable that has the number of processes */
static int own_rank, all_ranks = 1;

/* A number from 0, or -1. */
static int read_variable(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    return !text || end == text || *end || value < 0 || value > 1 << 20 ? -1 : (int)value;
}

int comm_rank(void)
{
    return own_rank;
}

int comm_ranks(void)
{
    return all_ranks;
}

void comm_begin(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && all_ranks == 1; i++) {
        int rank = read_variable(variables[i].rank), ranks = read_variable(variables[i].ranks);
        if (rank < 0 || rank >= ranks || ranks == 1)
            continue;
        own_rank = rank;
        all_ranks = ranks;
        started_by = variables[i].ranks;
        message_name_process(rank, ranks);
    }
    if (own_rank > 0)
        message_mute();
}

/* Why this process failed. */
static void find_reason(char *text, size_t size, int status)
{
    if (status > 128)
        snprintf(text, size, "stopped by signal %d", status - 128);
    else
        snprintf(text, size, "%s", message_last()[0] ? message_last() : "failed");
}

int comm_end(int status)
{
    char reason[sizeof(npgnn_error)];
    if (status == 0 || own_rank == 0)
        return status;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sleep(PATIENCE);
    find_reason(reason, sizeof reason, status);
    message_unmute();
    print_error("%s", reason);
    return status;
}

int comm_refuse(const char *what)
{
    return print_error("%s does not work in several processes, and %s says that mpirun has started %d: start it "
                       "without mpirun, or unset that variable",
                       what, started_by, all_ranks);
}

/* ---- what all processes must have in common ---- */

#define HASH_START UINT64_C(0xcbf29ce484222325) /* FNV-1a */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

/* The value of an option. Of what is read from files, only whether it is given: the library compares the content. */
static uint64_t hash_option(uint64_t hash, const arg_option *option, const void *member)
{
    const char *const *text = member;
    const arg_pairs *pairs = member;
    const char *kind = option->value ? option->value : "";
    int is_file = strstr(kind, "FILE") || strstr(kind, "DATA");
    switch (option->kind) {
    case ARG_FLAG:
    case ARG_INT:
    case ARG_CHOICE:
        return hash_bytes(hash, member, sizeof(int));
    case ARG_U64:
        return hash_bytes(hash, member, sizeof(uint64_t));
    case ARG_REAL:
        return hash_bytes(hash, member, sizeof(double));
    case ARG_TEXT:
        return *text ? hash_text(hash, is_file ? "a file" : *text) : hash;
    case ARG_PAIR:
        for (int i = 0; i < pairs->count; i++)
            if (!option->key || strcmp(pairs->item[i].key, option->key) == 0)
                hash = hash_text(hash, is_file ? "a file" : pairs->item[i].value);
        return hash;
    }
    return hash;
}

/* Options that may differ: they are about the process itself, or about what process 0 prints and writes. */
static int may_differ(const char *name)
{
    static const char *const own[] = {"threads", "quiet", "output", "json", "log", "profile", "data-dir"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], name) == 0)
            return 1;
    return 0;
}

/* E_MISMATCH unless all processes have the same options. One number is compared first, and only where that differs one
 * per option, to name it. */
static int compare_options(npgnn_comm *comm, const cli_command *command, const char *settings, npgnn_error *err)
{
    uint64_t all = HASH_START;
    int code = 0;
    for (int each = 0; each < 2; each++) {
        for (const arg_group *group = command->args.groups; group < command->args.groups + ARG_MAX_GROUPS; group++)
            for (const arg_option *option = group->options; option && option->name; option++) {
                const char *member = settings + group->offset + option->offset;
                char name[64];
                if (may_differ(option->name))
                    continue;
                all = hash_option(hash_text(all, option->name), option, member);
                snprintf(name, sizeof name, "--%s", option->name);
                if (each && npgnn_comm_same(comm, hash_option(HASH_START, option, member), name, err) != 0)
                    return NPGNN_E_MISMATCH;
            }
        if (!each && (code = npgnn_comm_same(comm, all, "the list of options", err)) == 0)
            return 0;
    }
    return code;
}

/* Processes of other commands, or with other options, would wait for each other for ever. */
static int compare(npgnn_comm *comm, const cli_command *command, const void *settings, npgnn_error *err)
{
    uint64_t version = hash_text(hash_text(HASH_START, NPGNN_VERSION), npgnn_version());
    int code = npgnn_comm_same(comm, version, "the version of npgnn", err);
    if (code == 0)
        code = npgnn_comm_same(comm, hash_text(HASH_START, command->args.name), "the command", err);
    return code ? code : compare_options(comm, command, settings, err);
}

/* ---- together ---- */

int comm_open(npgnn_comm **comm, common_settings *common, const cli_command *command, const void *settings)
{
    npgnn_error err = {0};
    npgnn_env env = common_env(common);
    npgnn_comm_info info = {.size = sizeof info};
    if (all_ranks == 1)
        return 0;
    /* The vectors of a process, tens of megabytes each, come and go. By itself malloc would take them from one heap
     * after a while, whose gaps nobody can use. */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    if (npgnn_comm_open(comm, &env, &err) != 0)
        return print_error("%s", err.text);
    npgnn_comm_describe(&info, *comm, NULL);
    /* each process would do the whole job, and all would write the same file */
    if (info.ranks != all_ranks || info.rank != own_rank)
        return print_error("%s says that there are %d processes, and MPI finds %d: start npgnn with the mpirun of the "
                           "MPI that it was built with, or unset that variable to work in one process",
                           started_by, all_ranks, info.ranks);
    if (own_rank == 0)
        message_name_process(0, 0); /* it speaks for all from now on */
    else if (!freopen("/dev/null", "w", stdout))
        return print_error("cannot open /dev/null: %s", strerror(errno));
    if (compare(*comm, command, settings, &err) != 0)
        return print_error("%s", err.text);
    common->quiet |= info.rank > 0;
    if (common->threads == 0) {
        int share = common_threads(common) / info.local;
        common->threads = share < 1 ? 1 : share;
    }
    return 0;
}

int comm_settle(npgnn_comm *comm, int status)
{
    npgnn_error err = {0};
    if (!comm)
        return status;
    if (status != 0)
        find_reason(err.text, sizeof err.text, status);
    if (npgnn_comm_agree(comm, status ? NPGNN_E_IO : 0, &err) == 0)
        return 0;
    return status ? status : print_error("%s", err.text);
}

int comm_close(npgnn_comm *comm, int status)
{
    if (status == 0)
        npgnn_comm_free(comm);
    return status;
}

void comm_report(json_t *report, const npgnn_comm *comm)
{
    npgnn_comm_info info = {.size = sizeof info};
    if (!comm)
        return;
    npgnn_comm_describe(&info, comm, NULL);
    json_object_set_new(report, "processes", json_integer(info.ranks));
    json_object_set_new(report, "bytes_sent", json_integer((json_int_t)info.sent));
    json_object_set_new(report, "bytes_received", json_integer((json_int_t)info.received));
}
