/* Downloads one file, with libcurl or from a folder, and verifies its checksum. */
#define _POSIX_C_SOURCE 200809L
#include "download.h"

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
#include "message.h"
#include "partial_file.h"
#include "sha256.h"

enum {
    MAX_ATTEMPTS = 5, /* per file; another one is made only where the one before brought some bytes */
    MAX_REDIRECTS = 5,
    CONNECT_SECONDS = 30,
    LEAST_SPEED = 1000, /* bytes per second: a server that sends fewer counts as one that sends none */
};

/* One HTTP transfer. */
typedef struct attempt {
    const download_job *job;
    partial_file *part;
    int too_long;  /* the server sends more bytes than the file has */
    int error;     /* errno of a write that failed, or 0 */
    long response; /* HTTP status code */
    char why[CURL_ERROR_SIZE];
} attempt;

int download_is_url(const char *source)
{
    return strncasecmp(source, "https://", 8) == 0 || strncasecmp(source, "http://", 7) == 0;
}

/* ---- checking a file ---- */

static int has_checksum(int fd, int64_t size, const known_file *file)
{
    char digest[65];
    return size == file->size && sha256_of(digest, fd, size) && strcmp(digest, file->sha256) == 0;
}

int download_is_complete(const known_file *file, const char *folder)
{
    char path[4096];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", folder, file->name);
    int fd = length > 0 && (size_t)length < sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return 0;
    int complete = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && has_checksum(fd, status.st_size, file);
    close(fd);
    return complete;
}

/* ---- from a folder ---- */

static int copy_from_folder(partial_file *part, const download_job *job)
{
    char path[4096], bytes[1 << 16];
    ssize_t got;
    snprintf(path, sizeof path, "%s/%s", job->source, job->file->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return print_error("cannot read %s: %s", path, strerror(errno));
    int status = partial_restart(part);
    /* a file that is too long is read past its expected size, so that the check of the size fails */
    while (status == 0 && part->have <= job->file->size && (got = read(fd, bytes, sizeof bytes)) != 0) {
        if (cancel_signal())
            status = cancel_status();
        else if (got < 0 && errno == EINTR)
            continue;
        else if (got < 0)
            status = print_error("cannot read %s: %s", path, strerror(errno));
        else if (partial_append(part, bytes, (size_t)got) != 0)
            status = print_error("cannot write %s: %s", part->path, strerror(errno));
        else
            job->show(job->user, job, part->have);
    }
    close(fd);
    return status;
}

/* ---- from a URL ---- */

static size_t store_bytes(char *bytes, size_t size, size_t count, void *user)
{
    attempt *a = user;
    size_t total = size * count;
    if (a->part->have + (int64_t)total > a->job->file->size)
        a->too_long = 1;
    else if (partial_append(a->part, bytes, total) != 0)
        a->error = errno;
    else
        return total;
    return total > 0 ? 0 : 1; /* anything but `total` makes curl stop */
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

/* One transfer, from the end of the partial file on. */
static CURLcode transfer(attempt *a)
{
    const download_job *job = a->job;
    int allow_http = strncasecmp(job->source, "http://", 7) == 0;
    size_t length = strlen(job->source);
    char url[4096];
    CURL *curl = curl_easy_init();
    if (!curl)
        return CURLE_OUT_OF_MEMORY;
    while (job->source[length - 1] == '/')
        length--;
    snprintf(url, sizeof url, "%.*s/%s", (int)(length < 3900 ? length : 3900), job->source, job->file->name);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "npgnn/" NPGNN_VERSION);
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)a->part->have);

    /* HTTPS only, unless the user gave an http:// URL: a redirect cannot fall back from HTTPS to HTTP */
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, allow_http ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, allow_http ? "http,https" : "https");
#else
    long protocols = allow_http ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, protocols);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, protocols);
#endif
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);

    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)MAX_REDIRECTS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                     (long)(job->timeout < CONNECT_SECONDS ? job->timeout : CONNECT_SECONDS));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LEAST_SPEED);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)job->timeout);

    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, store_bytes);
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

static int transfer_failed(const attempt *a, CURLcode code)
{
    const download_job *job = a->job;
    if (a->error)
        return print_error("cannot write %s: %s", a->part->path, strerror(a->error));
    if (a->too_long)
        return print_error("%s/%s is larger than the expected %lld bytes; try another --mirror", job->source,
                           job->file->name, (long long)job->file->size);
    const char *why = code == CURLE_OK ? "the transfer ended early" : a->why[0] ? a->why : curl_easy_strerror(code);
    if (a->part->have == 0)
        return print_error("cannot download %s/%s: %s", job->source, job->file->name, why);
    return print_error("cannot download %s/%s: %s; %lld of %lld bytes are stored, repeat the command to continue",
                       job->source, job->file->name, why, (long long)a->part->have, (long long)job->file->size);
}

/* Transfers until the file has its size. A broken connection is tried again as long as each attempt brings bytes. */
static int download_from_url(partial_file *part, const download_job *job)
{
    enum { RANGE_NOT_SATISFIABLE = 416 };
    attempt a = {.job = job, .part = part};
    int restarted = 0;
    for (int count = 1; part->have < job->file->size; count++) {
        int64_t before = part->have;
        CURLcode code = transfer(&a);
        int broken = code == CURLE_OK || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR;
        int cannot_resume = code == CURLE_RANGE_ERROR || a.response == RANGE_NOT_SATISFIABLE;
        if (cancel_signal())
            return cancel_status();
        if (before > 0 && !restarted && cannot_resume) {
            restarted = 1;
            if (partial_restart(part) != 0)
                return EXIT_FAILED;
        } else if (!broken || part->have == before || count >= MAX_ATTEMPTS) {
            return transfer_failed(&a, code);
        }
    }
    return 0;
}

/* ---- one file ---- */

static int get(partial_file *part, const download_job *job)
{
    return download_is_url(job->source) ? download_from_url(part, job) : copy_from_folder(part, job);
}

static int fill(partial_file *part, const download_job *job)
{
    int continued = part->have > 0;
    int status = get(part, job);
    if (status == 0 && continued && !has_checksum(part->fd, part->have, job->file)) {
        /* the first bytes may be those of another version of the file */
        status = partial_restart(part);
        if (status == 0)
            status = get(part, job);
    }
    if (status == 0 && !has_checksum(part->fd, part->have, job->file)) {
        partial_discard(part);
        status = print_error("%s/%s has the wrong checksum and was discarded; try another --mirror", job->source,
                             job->file->name);
    }
    return status;
}

int download_run(const download_job *job)
{
    partial_file part;
    int status = partial_open(&part, job->folder, job->file->name);
    if (status)
        return status;
    if (job->fresh || part.have > job->file->size)
        status = partial_restart(&part);
    if (status == 0)
        status = fill(&part, job);
    if (status == 0)
        status = partial_commit(&part);
    if (status && part.have == 0)
        partial_discard(&part);
    partial_close(&part);
    return status;
}
