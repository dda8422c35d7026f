/* A stream of bytes from a file, from standard input or from memory. gzip data is decompressed, once. Every reader
 * takes a stream, so that tests and fuzzers can give it bytes, and every message has the file and the line. */
#ifndef NPI_IO_STREAM_H
#define NPI_IO_STREAM_H

#include "base/env.h"

typedef struct npi_stream npi_stream;

/* Opens a file; "-" is standard input. E_IO where it cannot be opened. */
int npi_stream_open(npi_stream **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* The same for text whose lines are wanted as they come, from a pipe or a terminal: nothing is read yet, so that there is
 * nothing to peek at before the first call of npi_stream_fill. */
int npi_stream_open_live(npi_stream **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* Reads bytes in memory, which must outlive the stream. `name` is its file name in messages. */
int npi_stream_open_memory(npi_stream **out, const char *name, const void *bytes, size_t size, const npgnn_env *env,
                           npgnn_error *err);

/* Reads bytes from a function, which stores up to `size` next bytes and their number in *got, 0 at the end. They are
 * what a member of an archive was unpacked to: gzip data among them stays as it is, so that layers of compression do
 * not multiply. */
typedef int npi_source_fn(void *user, unsigned char *bytes, size_t *got, size_t size, npgnn_error *err);
int npi_stream_open_source(npi_stream **out, const char *name, npi_source_fn *read, void *user, const npgnn_env *env,
                           npgnn_error *err);

/* Reads the next line, without its end (\n, \r\n or \r) and terminated. The caller may change it; it is valid until the
 * next call. A byte order mark at the beginning of the stream is skipped. Returns 1, or 0 at the end. E_FORMAT for a
 * NUL byte, damaged gzip data or a line of more than 1 GiB; E_IO; E_MEMORY. */
int npi_stream_read_line(char **line, npi_stream *stream, npgnn_error *err);

/* The same, but returns NPI_STREAM_WAITS where the end of the line has not come yet. The next call goes on with it. */
#define NPI_STREAM_WAITS 2
int npi_stream_poll_line(char **line, npi_stream *stream, npgnn_error *err);

/* Appends the next line to the latest one, which must not have been changed, after a \n: a field in quotes may have
 * several lines. Returns 1, or 0 at the end, where the line stays as it was. The number of the line stays that of its
 * beginning. */
int npi_stream_join_line(char **line, npi_stream *stream, npgnn_error *err);

/* Logs, once, the first of the lines read so far that is not UTF-8, and how to convert the file. */
void npi_stream_log_encoding(npi_stream *stream);

/* Reads `size` bytes, fewer only at the end. */
int npi_stream_read(void *bytes, size_t *got, npi_stream *stream, size_t size, npgnn_error *err);

/* Reads all remaining bytes into one block, which the caller frees. The block grows with the bytes that are read;
 * nothing in the file determines its size. E_FORMAT where there are more than `limit`. */
int npi_stream_read_all(unsigned char **bytes, size_t *size, npi_stream *stream, size_t limit, npgnn_error *err);

/* Reads a block where nothing is left of the one before. Returns 1, 0 at the end, or, unless it may `wait`,
 * NPI_STREAM_WAITS where nothing has come yet. */
int npi_stream_fill(npi_stream *stream, int wait, npgnn_error *err);

/* The next bytes, without consuming them: 64 KiB, or all that are left. Valid until the next call. */
const unsigned char *npi_stream_look_ahead(size_t *size, npi_stream *stream);

/* The same before the first read: the first 64 KiB of the file or all of it. Valid
 * until the next call. */
const unsigned char *npi_stream_peek(size_t *size, const npi_stream *stream);

const npgnn_env *npi_stream_env(const npi_stream *stream);
const char *npi_stream_name(const npi_stream *stream);
int npi_stream_is_gzip(const npi_stream *stream);         /* whether its bytes are decompressed */
int64_t npi_stream_line_number(const npi_stream *stream); /* of the latest line, from 1 on */

/* E_FORMAT at the latest line. */
int npi_stream_fail(npi_stream *stream, npgnn_error *err, const char *format, ...) NPI_PRINTF(3, 4);
void npi_stream_close(npi_stream *stream);

#endif
