#define _GNU_SOURCE /* flock */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEADER "npgnn journal 2 "
enum { HEADER_SIZE = sizeof HEADER - 1 + 16 + 1, RECORD_HEAD = 9 }; /* CRC, and a blank or FIRST */
#define FIRST '+' /* of the records that are synced together: everything before it was on disk when it was written */

struct journal {
    int fd;
    pthread_mutex_t appending; /* of `pending` and `appended` */
    pthread_mutex_t writing;   /* of the file, `synced` and `failed`; may be taken before the other, never after it */
    char *pending;             /* records that are not written yet */
    size_t pending_size, pending_capacity;
    int64_t appended, synced; /* numbers of the last record in memory, and on disk */
    int64_t bytes, replayed;
    int failed;
};

/* ---- reading ---- */

static char *read_all(int fd, size_t *size)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return NULL;
    char *text = malloc((size_t)about.st_size + 1);
    size_t used = 0;
    while (text && used < (size_t)about.st_size) {
        ssize_t got = pread(fd, text + used, (size_t)about.st_size - used, (off_t)used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(text);
            return NULL;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    *size = used;
    return text;
}

/* The length of the record at the start of the text, with its line break, or 0 where it is torn or damaged. */
static size_t record_length(const char *text, size_t size)
{
    char digits[RECORD_HEAD], *end_of_digits;
    const char *end = memchr(text, '\n', size);
    if (!end || end - text < RECORD_HEAD || (text[RECORD_HEAD - 1] != ' ' && text[RECORD_HEAD - 1] != FIRST))
        return 0;
    memcpy(digits, text, RECORD_HEAD - 1);
    digits[RECORD_HEAD - 1] = '\0';
    unsigned long crc = strtoul(digits, &end_of_digits, 16);
    size_t length = (size_t)(end - text);
    if (*end_of_digits || strspn(digits, "0123456789abcdef") != RECORD_HEAD - 1 ||
        crc != crc32(0, (const unsigned char *)text + RECORD_HEAD, (unsigned)(length - RECORD_HEAD)))
        return 0;
    return length + 1;
}

/* Whether a later record shows that the one at the start of the text, which is damaged, was on disk once. A power loss
 * may damage any part of the records that were being written, and spare those behind it: these may be dropped, for
 * nobody was told that they are safe. */
static int was_synced(const char *text, size_t size)
{
    const char *line = memchr(text, '\n', size), *end = text + size;
    for (; line && line + 1 < end; line = memchr(line + 1, '\n', (size_t)(end - line - 1)))
        if (record_length(line + 1, (size_t)(end - line - 1)) > 0 && line[RECORD_HEAD] == FIRST)
            return 1;
    return 0;
}

/* Replays the records of the text. Returns how many bytes are good, or -1 with `why`. */
static int64_t replay_all(journal *j, const char *text, size_t size, journal_fn *replay, void *user, char *why,
                          size_t why_size)
{
    size_t at = HEADER_SIZE;
    char reason[512];
    while (at < size) {
        size_t length = record_length(text + at, size - at);
        if (length == 0) {
            if (was_synced(text + at, size - at)) {
                snprintf(why, why_size,
                         "record %" PRId64
                         " is damaged, and others follow it: the file was changed or the disk has errors. "
                         "To give up that record and all later ones, cut the file after %zu bytes",
                         j->replayed + 1, at);
                return -1;
            }
            break;
        }
        if (replay(user, text + at + RECORD_HEAD, length - RECORD_HEAD - 1, reason, sizeof reason) != 0) {
            snprintf(why, why_size, "record %" PRId64 ": %s", j->replayed + 1, reason);
            return -1;
        }
        j->replayed++;
        at += length;
    }
    return (int64_t)at;
}

/* ---- writing ---- */

static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(fd, text, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        text += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

/* Makes the name of a new file last: the folder is synced, too. */
static int sync_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 1;
    if (length >= sizeof folder)
        return -1;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    int fd = open(length ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;
    if (fd >= 0)
        close(fd);
    return failed ? -1 : 0;
}

/* A file system may have the size of a file on disk before its content. */
static int is_zero(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i])
            return 0;
    return size <= HEADER_SIZE;
}

int journal_open(journal **out, int64_t *dropped, const char *path, uint64_t fingerprint, journal_fn *replay,
                 void *user, char *why, size_t why_size)
{
    char header[HEADER_SIZE + 1];
    size_t size = 0;
    int64_t good = -1;
    char *text = NULL;
    journal *j = calloc(1, sizeof *j);
    snprintf(header, sizeof header, HEADER "%016" PRIx64 "\n", fingerprint);
    snprintf(why, why_size, "out of memory");
    *dropped = 0;
    if (!j)
        return -1;
    pthread_mutex_init(&j->appending, NULL);
    pthread_mutex_init(&j->writing, NULL);
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (j->fd < 0)
        snprintf(why, why_size, "cannot open: %s", strerror(errno));
    else if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
        snprintf(why, why_size, "another server is using this file");
    else if (!(text = read_all(j->fd, &size)))
        snprintf(why, why_size, "cannot read: %s", strerror(errno));
    else if ((size < HEADER_SIZE && memcmp(text, header, size) == 0) || is_zero(text, size))
        good = 0; /* new, or torn while it was made */
    else if (size < HEADER_SIZE || memcmp(text, HEADER, sizeof HEADER - 1) != 0 || text[HEADER_SIZE - 1] != '\n')
        snprintf(why, why_size, "this is not a journal of npgnn serve");
    else if (memcmp(text, header, HEADER_SIZE) != 0)
        snprintf(why, why_size, "it belongs to another graph than DATA");
    else
        good = replay_all(j, text, size, replay, user, why, why_size);
    if (good >= 0) {
        *dropped = (int64_t)size - good;
        if ((*dropped > 0 && ftruncate(j->fd, (off_t)good) != 0) ||
            (good == 0 && write_all(j->fd, header, HEADER_SIZE) != 0) || fsync(j->fd) != 0 || sync_folder(path) != 0) {
            snprintf(why, why_size, "cannot write: %s", strerror(errno));
            good = -1;
        }
    }
    free(text);
    if (good < 0) {
        journal_close(j);
        return -1;
    }
    if (good == 0) /* of the new header, nothing was dropped */
        *dropped = 0;
    j->bytes = good == 0 ? HEADER_SIZE : good;
    *out = j;
    return 0;
}

int64_t journal_append(journal *j, const char *json, size_t size)
{
    char head[RECORD_HEAD + 1];
    int64_t number = 0;
    snprintf(head, sizeof head, "%08lx ", crc32(0, (const unsigned char *)json, (unsigned)size));
    pthread_mutex_lock(&j->appending);
    size_t needed = j->pending_size + RECORD_HEAD + size + 1;
    if (needed > j->pending_capacity) {
        char *larger = realloc(j->pending, 2 * needed);
        if (larger) {
            j->pending = larger;
            j->pending_capacity = 2 * needed;
        }
    }
    if (needed <= j->pending_capacity) {
        char *to = j->pending + j->pending_size;
        memcpy(to, head, RECORD_HEAD);
        if (j->pending_size == 0)
            to[RECORD_HEAD - 1] = FIRST;
        memcpy(to + RECORD_HEAD, json, size);
        to[RECORD_HEAD + size] = '\n';
        j->pending_size = needed;
        number = ++j->appended;
    }
    pthread_mutex_unlock(&j->appending);
    return number;
}

int journal_sync(journal *j, int64_t number)
{
    pthread_mutex_lock(&j->writing); /* whoever comes first writes for all that have appended by then */
    if (number <= 0)
        j->failed = 1; /* the graph has what no record has, and later records may depend on it */
    if (!j->failed && j->synced < number) {
        pthread_mutex_lock(&j->appending);
        char *text = j->pending;
        size_t size = j->pending_size;
        int64_t last = j->appended;
        j->pending = NULL;
        j->pending_size = j->pending_capacity = 0;
        pthread_mutex_unlock(&j->appending);
        if (write_all(j->fd, text, size) != 0 || fdatasync(j->fd) != 0) {
            j->failed = 1; /* how much is on disk is unknown: nothing may follow it */
        } else {
            j->synced = last;
            j->bytes += (int64_t)size;
        }
        free(text);
    }
    int code = number > 0 && j->synced >= number ? 0 : -1;
    pthread_mutex_unlock(&j->writing);
    return code;
}

int journal_is_writable(journal *j)
{
    pthread_mutex_lock(&j->writing);
    int failed = j->failed;
    pthread_mutex_unlock(&j->writing);
    return !failed;
}

void journal_counts(int64_t *records, int64_t *bytes, journal *j)
{
    pthread_mutex_lock(&j->writing);
    *records = j->replayed + j->synced;
    *bytes = j->bytes;
    pthread_mutex_unlock(&j->writing);
}

void journal_close(journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    free(j->pending);
    pthread_mutex_destroy(&j->appending);
    pthread_mutex_destroy(&j->writing);
    free(j);
}
