/* Streams: bytes from a file, from memory or from a function pass through one buffer, and through zlib where they
 * begin as gzip data does. Readers take them as lines, as blocks, or all at once. */
#define _POSIX_C_SOURCE 200809L
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/utf8.h"

#define BLOCK 65536                /* bytes read at once */
#define MAX_LINE ((size_t)1 << 30) /* bytes */

struct npi_stream {
    npgnn_env env;
    char *name;
    int fd;                /* the file, -1: there is none */
    int live;              /* 1: bytes are taken as they come (npi_stream_open_live) */
    int begun;             /* 1: the first block was read */
    npi_source_fn *source; /* used where there is no file */
    void *source_user;
    const unsigned char *memory; /* used where there is neither: what is left of it */
    size_t memory_left;
    unsigned char *raw; /* (BLOCK) compressed bytes */
    z_stream zip;
    int gzip, zip_member;  /* the data is gzip; a gzip member has begun and not ended */
    unsigned char *buffer; /* (BLOCK) bytes for the readers; begin .. end is unread */
    size_t begin, end;
    int ended;
    char *line; /* the latest line; grows to the longest one */
    size_t line_capacity, line_length;
    int unfinished;    /* 1: the end of the latest line has not come yet (npi_stream_poll_line) */
    int after_cr;      /* the latest line ended with \r: a \n that follows belongs to it */
    int64_t lineno;    /* where the latest line begins */
    int64_t joined;    /* how many further lines npi_stream_join_line has appended to it */
    int64_t odd_line;  /* the first line that is not UTF-8, 0: there was none */
    int odd_is_logged; /* 1: npi_stream_log_encoding has told */
};

const npgnn_env *npi_stream_env(const npi_stream *stream)
{
    return &stream->env;
}

const char *npi_stream_name(const npi_stream *stream)
{
    return stream->name;
}

int npi_stream_is_gzip(const npi_stream *stream)
{
    return stream->gzip;
}

int64_t npi_stream_line_number(const npi_stream *stream)
{
    return stream->lineno;
}

int npi_stream_fail(npi_stream *stream, npgnn_error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return npi_fail_at(err, NPGNN_E_FORMAT, stream->name, stream->lineno, "%s", text);
}

/* ---- filling the buffer ---- */

/* Reads up to `size` bytes from the file, the function or the memory; 0 at the end. */
static int read_raw(unsigned char *bytes, size_t *got, npi_stream *stream, size_t size, npgnn_error *err)
{
    if (stream->fd >= 0) {
        ssize_t count;
        do { /* a signal that does not ask to stop may interrupt the wait for a pipe or a terminal */
            count = read(stream->fd, bytes, size);
        } while (count < 0 && errno == EINTR && !npi_env_stopped(&stream->env));
        *got = count < 0 ? 0 : (size_t)count;
        return count < 0 ? npi_fail_errno(err, "read", stream->name) : 0;
    }
    if (stream->source)
        return stream->source(stream->source_user, bytes, got, size, err);
    *got = size < stream->memory_left ? size : stream->memory_left;
    if (*got > 0) {
        memcpy(bytes, stream->memory, *got);
        stream->memory += *got;
        stream->memory_left -= *got;
    }
    return 0;
}

static int broken_gzip(npi_stream *stream, npgnn_error *err, const char *what)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, stream->name, stream->lineno, "gzip data %s", what);
}

/* Decompresses up to `size` bytes, at least one unless the data ends. A file may consist of several gzip members. */
static int read_gzip(unsigned char *bytes, size_t *got, npi_stream *stream, size_t size, npgnn_error *err)
{
    z_stream *zip = &stream->zip;
    zip->next_out = bytes;
    zip->avail_out = (uInt)size;
    while (zip->avail_out == size) {
        if (zip->avail_in == 0) { /* all input is used: read the next block */
            size_t packed;
            int code = read_raw(stream->raw, &packed, stream, BLOCK, err);
            if (code)
                return code;
            zip->next_in = stream->raw;
            zip->avail_in = (uInt)packed;
            if (packed == 0 && stream->zip_member)
                return broken_gzip(stream, err, "ends early: the file is truncated");
            if (packed == 0)
                break; /* the file ends where a member does */
        }
        stream->zip_member = 1;
        int status = inflate(zip, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR)
            return npi_fail(err, NPGNN_E_MEMORY, "out of memory while unpacking %s", stream->name);
        if (status != Z_OK && status != Z_STREAM_END)
            return broken_gzip(stream, err, "is damaged");
        if (status == Z_STREAM_END) { /* another member may follow */
            stream->zip_member = 0;
            inflateReset(zip);
        }
    }
    *got = size - zip->avail_out;
    return 0;
}

/* Adds what comes next to the buffer; stream->ended tells whether it was nothing. */
static int add_to_buffer(npi_stream *stream, npgnn_error *err)
{
    unsigned char *to = stream->buffer + stream->end;
    size_t got = 0, room = BLOCK - stream->end;
    int code = stream->gzip ? read_gzip(to, &got, stream, room, err) : read_raw(to, &got, stream, room, err);
    stream->end += code ? 0 : got;
    stream->ended = code == 0 && got == 0;
    return code;
}

static int begin(npi_stream *stream, npgnn_error *err);

/* Refills the buffer, which is empty; it stays empty at the end of the data. */
static int refill(npi_stream *stream, npgnn_error *err)
{
    if (!stream->begun)
        return begin(stream, err);
    stream->begin = stream->end = 0;
    return stream->ended ? 0 : add_to_buffer(stream, err);
}

/* Windows programs begin UTF-8 files with this mark, which is not part of the text. */
static void skip_byte_order_mark(npi_stream *stream)
{
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
    if (stream->end - stream->begin >= sizeof mark && memcmp(stream->buffer + stream->begin, mark, sizeof mark) == 0)
        stream->begin += sizeof mark;
}

/* ---- opening ---- */

static voidpf zip_alloc(voidpf env, uInt count, uInt size)
{
    return npi_alloc(env, count, size, NULL);
}

static void zip_free(voidpf env, voidpf block)
{
    npi_free(env, block);
}

/* Where the first block, which is in the buffer, begins as gzip data does, it becomes the first block to decompress. */
static int detect_gzip(npi_stream *stream, npgnn_error *err)
{
    if (stream->end < 2 || stream->buffer[0] != 0x1F || stream->buffer[1] != 0x8B)
        return 0;
    stream->raw = npi_alloc(&stream->env, BLOCK, 1, err);
    if (!stream->raw)
        return NPGNN_E_MEMORY;
    memcpy(stream->raw, stream->buffer, stream->end);
    stream->zip.next_in = stream->raw;
    stream->zip.avail_in = (uInt)stream->end;
    stream->zip.zalloc = zip_alloc;
    stream->zip.zfree = zip_free;
    stream->zip.opaque = &stream->env;
    if (inflateInit2(&stream->zip, 16 + MAX_WBITS) != Z_OK)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while unpacking %s", stream->name);
    stream->gzip = 1;
    stream->ended = 0; /* of the compressed bytes */
    return refill(stream, err);
}

/* Reads the first block, which shows what the file is. A pipe gives it in pieces, of which a live stream takes one. */
static int begin(npi_stream *stream, npgnn_error *err)
{
    int code;
    stream->begun = 1;
    do
        code = add_to_buffer(stream, err);
    while (code == 0 && !stream->ended && stream->end < BLOCK && !stream->live);
    if (code == 0 && !stream->source) /* a function unpacks already */
        code = detect_gzip(stream, err);
    if (stream->live)
        skip_byte_order_mark(stream);
    return code;
}

/* Opens a stream whose bytes come from where `from` says. Takes ownership of its file, also on failure. */
static int start(npi_stream **out, const npi_stream *from, const char *name, const npgnn_env *env, npgnn_error *err)
{
    npi_stream *stream = npi_alloc(env, 1, sizeof *stream, err);
    int code = NPGNN_E_MEMORY;
    if (!stream) {
        if (from->fd > STDIN_FILENO)
            close(from->fd);
        return code;
    }
    *stream = *from;
    stream->env = *env;
    stream->name = npi_strdup(env, name, err);
    stream->buffer = npi_alloc(env, BLOCK, 1, err);
    if (stream->name && stream->buffer)
        code = stream->live ? 0 : begin(stream, err);
    if (code)
        npi_stream_close(stream);
    else
        *out = stream;
    return code;
}

static int open_file(npi_stream **out, const char *path, int live, const npgnn_env *env, npgnn_error *err)
{
    int standard = strcmp(path, "-") == 0;
    npi_stream from = {.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), .live = live};
    if (from.fd < 0)
        return npi_fail_errno(err, "open", path);
    return start(out, &from, standard ? "standard input" : path, env, err);
}

int npi_stream_open(npi_stream **out, const char *path, const npgnn_env *env, npgnn_error *err)
{
    return open_file(out, path, 0, env, err);
}

int npi_stream_open_live(npi_stream **out, const char *path, const npgnn_env *env, npgnn_error *err)
{
    return open_file(out, path, 1, env, err);
}

int npi_stream_open_memory(npi_stream **out, const char *name, const void *bytes, size_t size, const npgnn_env *env,
                           npgnn_error *err)
{
    npi_stream from = {.fd = -1, .memory = bytes, .memory_left = size};
    return start(out, &from, name, env, err);
}

int npi_stream_open_source(npi_stream **out, const char *name, npi_source_fn *read, void *user, const npgnn_env *env,
                           npgnn_error *err)
{
    npi_stream from = {.fd = -1, .source = read, .source_user = user};
    return start(out, &from, name, env, err);
}

void npi_stream_close(npi_stream *stream)
{
    if (!stream)
        return;
    npgnn_env env = stream->env;
    if (stream->gzip)
        inflateEnd(&stream->zip);
    if (stream->fd > STDIN_FILENO)
        close(stream->fd);
    npi_free(&env, stream->name);
    npi_free(&env, stream->raw);
    npi_free(&env, stream->buffer);
    npi_free(&env, stream->line);
    npi_free(&env, stream);
}

/* ---- reading ---- */

/* Whether bytes can be had without waiting: always from memory and functions. */
static int is_ready(const npi_stream *stream)
{
    struct pollfd file = {.fd = stream->fd, .events = POLLIN};
    return stream->fd < 0 || stream->ended || stream->zip.avail_in > 0 || poll(&file, 1, 0) > 0;
}

int npi_stream_fill(npi_stream *stream, int wait, npgnn_error *err)
{
    if (stream->begin < stream->end)
        return 1;
    if (!wait && !is_ready(stream))
        return NPI_STREAM_WAITS;
    int code = refill(stream, err);
    return code ? code : stream->begin < stream->end;
}

int npi_stream_read(void *bytes, size_t *got, npi_stream *stream, size_t size, npgnn_error *err)
{
    *got = 0;
    while (*got < size) {
        int code = npi_stream_fill(stream, 1, err);
        if (code <= 0)
            return code;
        size_t part = stream->end - stream->begin < size - *got ? stream->end - stream->begin : size - *got;
        memcpy((unsigned char *)bytes + *got, stream->buffer + stream->begin, part);
        stream->begin += part;
        *got += part;
    }
    return 0;
}

int npi_stream_read_all(unsigned char **bytes, size_t *size, npi_stream *stream, size_t limit, npgnn_error *err)
{
    unsigned char *block = NULL;
    size_t capacity = 0, used = 0, got;
    do {
        /* the block is full, or there is none: double it and read as much as it takes */
        size_t wanted = capacity ? capacity * 2 : BLOCK;
        unsigned char *grown = npi_resize(&stream->env, block, wanted, 1, err);
        int code = grown ? 0 : NPGNN_E_MEMORY;
        if (grown) {
            block = grown;
            capacity = wanted;
            code = npi_stream_read(block + used, &got, stream, capacity - used, err);
        }
        if (code == 0) {
            used += got;
            if (used > limit)
                code = npi_fail_at(err, NPGNN_E_FORMAT, stream->name, 0,
                                   "the file has more than %zu bytes, which is the limit", limit);
        }
        if (code) {
            npi_free(&stream->env, block);
            return code;
        }
    } while (used == capacity);
    *bytes = block;
    *size = used;
    return 0;
}

const unsigned char *npi_stream_look_ahead(size_t *size, npi_stream *stream)
{
    if (stream->begin > 0)
        memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
    stream->end -= stream->begin;
    stream->begin = 0;
    while (stream->end < BLOCK && !stream->ended && add_to_buffer(stream, NULL) == 0)
        ; /* a failure comes again when the reader is there */
    return npi_stream_peek(size, stream);
}

const unsigned char *npi_stream_peek(size_t *size, const npi_stream *stream)
{
    *size = stream->end - stream->begin;
    return stream->buffer + stream->begin;
}

/* Appends what the buffer has of the current line. *complete is set where it has the end of the line. */
static int append_to_line(int *complete, npi_stream *stream, npgnn_error *err)
{
    unsigned char *from = stream->buffer + stream->begin;
    size_t left = stream->end - stream->begin;
    unsigned char *newline = memchr(from, '\n', left);
    size_t part = newline ? (size_t)(newline - from) : left;
    /* \r ends a line too. Whether a \n belongs to it is seen when the next line is read. */
    unsigned char *carriage = memchr(from, '\r', part);
    if (carriage)
        part = (size_t)(carriage - from);
    size_t needed = stream->line_length + part + 1;
    *complete = newline || carriage;
    stream->after_cr = carriage != NULL;
    if (needed > MAX_LINE)
        return npi_stream_fail(stream, err, "the line is longer than %zu bytes", MAX_LINE);
    if (memchr(from, '\0', part))
        return npi_stream_fail(stream, err, "NUL byte in a text file: this seems to be a binary file");
    if (needed > stream->line_capacity) {
        size_t wanted = needed < 256 ? 256 : needed * 2;
        char *grown = npi_resize(&stream->env, stream->line, wanted, 1, err);
        if (!grown)
            return NPGNN_E_MEMORY;
        stream->line = grown;
        stream->line_capacity = wanted;
    }
    memcpy(stream->line + stream->line_length, from, part);
    stream->line_length += part;
    stream->begin += part + (size_t)*complete;
    return 0;
}

/* Appends a line, without its end, to what `line` has. The number of the line grows by `step` when its first byte is
 * there. Returns 1, 0 at the end, or NPI_STREAM_WAITS where it would have to wait and must not; the next call goes on
 * with the line then. */
static int append_line(npi_stream *stream, int64_t step, int wait, npgnn_error *err)
{
    int complete = 0, started = stream->unfinished, code;
    size_t begin = started ? 0 : stream->line_length;
    stream->unfinished = 0;
    while (!complete) {
        if ((code = npi_stream_fill(stream, wait, err)) == NPI_STREAM_WAITS)
            stream->unfinished = started;
        if (code < 0 || code == NPI_STREAM_WAITS)
            return code;
        if (code == 0)
            break;
        if (stream->after_cr) {
            stream->after_cr = 0;
            stream->begin += stream->buffer[stream->begin] == '\n';
            continue;
        }
        stream->lineno += started ? 0 : step; /* before append_to_line, which reports the line number */
        started = 1;
        code = append_to_line(&complete, stream, err);
        if (code)
            return code;
    }
    if (!started)
        return 0;
    stream->line[stream->line_length] = '\0';
    unsigned char seen = 0; /* nearly all lines are ASCII */
    for (size_t i = begin; i < stream->line_length; i++)
        seen |= (unsigned char)stream->line[i];
    if (seen >= 0x80 && stream->odd_line == 0 && !npi_utf8_is_valid(stream->line + begin, stream->line_length - begin))
        stream->odd_line = stream->lineno;
    return 1;
}

static int next_line(char **line, npi_stream *stream, int wait, npgnn_error *err)
{
    if (stream->lineno == 0)
        skip_byte_order_mark(stream);
    if (!stream->unfinished)
        stream->line_length = 0;
    int code = append_line(stream, 1 + stream->joined, wait, err);
    if (code != NPI_STREAM_WAITS)
        stream->joined = 0;
    *line = stream->line;
    return code;
}

int npi_stream_read_line(char **line, npi_stream *stream, npgnn_error *err)
{
    return next_line(line, stream, 1, err);
}

int npi_stream_poll_line(char **line, npi_stream *stream, npgnn_error *err)
{
    return next_line(line, stream, 0, err);
}

int npi_stream_join_line(char **line, npi_stream *stream, npgnn_error *err)
{
    size_t before = stream->line_length;
    stream->line[stream->line_length++] = '\n'; /* takes the place of the terminator */
    int code = append_line(stream, 0, 1, err);
    if (code > 0)
        stream->joined++;
    else
        stream->line[stream->line_length = before] = '\0';
    *line = stream->line;
    return code;
}

void npi_stream_log_encoding(npi_stream *stream)
{
    if (stream->odd_line == 0 || stream->odd_is_logged)
        return;
    stream->odd_is_logged = 1;
    npi_log(&stream->env,
            "%s:%lld: this line is not UTF-8, so letters such as \xC3\xA9 may be misread; if the file is in Latin-1 or "
            "Windows-1252, convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE >FILE.utf8 (Excel: save as CSV UTF-8)",
            stream->name, (long long)stream->odd_line);
}
