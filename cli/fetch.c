#define _POSIX_C_SOURCE 200809L
#include "fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancel.h"
#include "part_file.h"
#include "say.h"
#include "sha256.h"

enum {
    MOST_TRIES = 5, /* of a file whose connection breaks off, as long as each of them brings something */
    MOST_REDIRECTS = 5,
    CONNECT_SECONDS = 30,
};

/* One attempt under way. */
typedef struct attempt {
    const fetch_job *job;
    part_file *part;
    int too_long;  /* the server sends more than there should be */
    int error;     /* errno of a write that failed, or 0 */
    long response; /* of the server */
    char why[CURL_ERROR_SIZE];
} attempt;

int fetch_is_address(const char *source)
{
    return strncasecmp(source, "https://", 8) == 0 || strncasecmp(source, "http://", 7) == 0;
}

/* ---- what is there ---- */

static int is_right(int fd, int64_t size, const fetch_file *file)
{
    char digest[65];
    return size == file->size && sha256_of(digest, fd, size) && strcmp(digest, file->sha256) == 0;
}

int fetch_is_there(const fetch_file *file, const char *folder)
{
    char path[4096];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", folder, file->name);
    int fd = length > 0 && (size_t)length < sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return 0;
    int right = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && is_right(fd, status.st_size, file);
    close(fd);
    return right;
}

/* ---- from a folder ---- */

/* Reads one byte more than there should be, to know of it. */
static int copy_bytes(part_file *part, int fd, const fetch_job *job)
{
    char bytes[1 << 16];
    ssize_t got;
    while (part->have <= job->file->size && (got = read(fd, bytes, sizeof bytes)) != 0) {
        if (cancel_signal())
            return cancel_status();
        if (got < 0)
            return say_error("cannot read %s/%s: %s", job->source, job->file->name, strerror(errno));
        if (part_append(part, bytes, (size_t)got) != 0)
            return say_error("cannot write %s: %s", part->path, strerror(errno));
        job->show(job->user, job, part->have);
    }
    return 0;
}

static int copy(part_file *part, const fetch_job *job)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", job->source, job->file->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return say_error("cannot read %s: %s", path, strerror(errno));
    int status = part_restart(part);
    if (status == 0)
        status = copy_bytes(part, fd, job);
    close(fd);
    return status;
}

/* ---- from the net ---- */

static size_t take_bytes(char *bytes, size_t size, size_t count, void *user)
{
    attempt *a = user;
    size_t total = size * count;
    if (a->part->have + (int64_t)total > a->job->file->size)
        a->too_long = 1;
    else if (part_append(a->part, bytes, total) != 0)
        a->error = errno;
    else
        return total;
    return total > 0 ? 0 : 1; /* anything but `total` ends the transfer */
}

static int show_bytes(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    const attempt *a = user;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    a->job->show(a->job->user, a->job, a->part->have);
    return cancel_signal() != 0;
}

/* Encrypted where the user did not ask for less, and after a redirect no less than before it. */
static void set_protocols(CURL *curl, int plain)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, plain ? "http,https" : "https");
#else
    long protocols = plain ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, protocols);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, protocols);
#endif
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
}

static void set_limits(CURL *curl, const fetch_job *job)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                     (long)(job->patience < CONNECT_SECONDS ? job->patience : CONNECT_SECONDS));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)job->patience);
}

/* One transfer, from where the part ends. */
static CURLcode transfer(attempt *a)
{
    const char *source = a->job->source;
    char address[4096];
    CURL *curl = curl_easy_init();
    if (!curl)
        return CURLE_OUT_OF_MEMORY;
    size_t length = strlen(source);
    while (source[length - 1] == '/')
        length--;
    snprintf(address, sizeof address, "%.*s/%s", (int)(length < 3900 ? length : 3900), source, a->job->file->name);
    set_protocols(curl, strncasecmp(source, "http://", 7) == 0);
    set_limits(curl, a->job);
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "npgnn/" NPGNN_VERSION);
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)a->part->have);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, show_bytes);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, a);
    a->why[0] = '\0';
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, a->why);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->response);
    curl_easy_cleanup(curl);
    return code;
}

static int say_failed(const attempt *a, CURLcode code)
{
    const fetch_job *job = a->job;
    if (a->error)
        return say_error("cannot write %s: %s", a->part->path, strerror(a->error));
    if (a->too_long)
        return say_error("%s from %s is longer than its %lld bytes: not what it should be", job->file->name,
                         job->source, (long long)job->file->size);
    const char *why = code == CURLE_OK ? "the transfer ended early" : a->why[0] ? a->why : curl_easy_strerror(code);
    if (a->part->have == 0)
        return say_error("cannot fetch %s from %s: %s", job->file->name, job->source, why);
    return say_error(
        "cannot fetch %s from %s: %s; %lld of %lld bytes are there, and the same command goes on from them",
        job->file->name, job->source, why, (long long)a->part->have, (long long)job->file->size);
}

/* The connection broke off, or the server was done too early. */
static int is_cut(CURLcode code)
{
    return code == CURLE_OK || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR;
}

/* The server cannot go on in the middle of this file. */
static int is_refused_range(const attempt *a, CURLcode code)
{
    enum { RANGE_NOT_SATISFIABLE = 416 };
    return code == CURLE_RANGE_ERROR || a->response == RANGE_NOT_SATISFIABLE;
}

static int download(part_file *part, const fetch_job *job)
{
    attempt a = {.job = job, .part = part};
    int restarted = 0;
    for (int try = 1; part->have < job->file->size; try++) {
        int64_t before = part->have;
        CURLcode code = transfer(&a);
        if (cancel_signal())
            return cancel_status();
        if (before > 0 && !restarted && is_refused_range(&a, code)) {
            restarted = 1;
            if (part_restart(part) != 0)
                return EXIT_FAILED;
        } else if (!is_cut(code) || part->have == before || try >= MOST_TRIES) {
            return say_failed(&a, code);
        }
    }
    return 0;
}

/* ---- all of it ---- */

static int get(part_file *part, const fetch_job *job)
{
    return fetch_is_address(job->source) ? download(part, job) : copy(part, job);
}

static int fill(part_file *part, const fetch_job *job)
{
    int kept = part->have > 0; /* from an earlier attempt: perhaps of another file */
    int status = get(part, job);
    if (status == 0 && kept && !is_right(part->fd, part->have, job->file)) {
        status = part_restart(part);
        if (status == 0)
            status = get(part, job);
    }
    if (status == 0 && !is_right(part->fd, part->have, job->file)) {
        part_discard(part);
        status = say_error("%s from %s is not what it should be: its checksum is wrong", job->file->name, job->source);
    }
    return status;
}

int fetch_run(const fetch_job *job)
{
    part_file part;
    int status = part_open(&part, job->folder, job->file->name);
    if (status)
        return status;
    if (job->fresh || part.have > job->file->size)
        status = part_restart(&part);
    if (status == 0)
        status = fill(&part, job);
    if (status == 0)
        status = part_commit(&part);
    if (status && part.have == 0)
        part_discard(&part);
    part_close(&part);
    return status;
}

const fetch_set *fetch_find(const char *name, size_t length)
{
    for (int i = 0; i < fetch_set_count; i++)
        if (strlen(fetch_sets[i].name) == length && strncmp(fetch_sets[i].name, name, length) == 0)
            return &fetch_sets[i];
    return NULL;
}
