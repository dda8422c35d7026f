/* A stream of bytes from a file, from standard input or from memory, gunzipped on the way where it is gzip data. Every
 * reader takes one, so that tests and fuzzers can feed it bytes, and so that every error names file and line. */
#ifndef NPI_IO_STREAM_H
#define NPI_IO_STREAM_H

#include "base/env.h"

typedef struct npi_stream npi_stream;

/* "-" is standard input. E_IO where the file cannot be opened. */
int npi_stream_open(npi_stream **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* Bytes of the caller's, which must outlive the stream; `name` stands for the file in errors. */
int npi_stream_open_memory(npi_stream **out, const char *name, const void *bytes, size_t size, const npgnn_env *env,
                           npgnn_error *err);

/* Bytes from elsewhere: `read` gives up to `size` next ones, and none at the end. */
typedef int npi_source_fn(void *user, unsigned char *bytes, size_t *got, size_t size, npgnn_error *err);
int npi_stream_open_source(npi_stream **out, const char *name, npi_source_fn *read, void *user, const npgnn_env *env,
                           npgnn_error *err);

/* The next line without its end (\n or \r\n), terminated, the caller's to change until the next call. Returns 1; 0 at the
 * end; E_FORMAT for a NUL byte, broken gzip data or a line of more than 1 GiB; E_IO; E_MEMORY. */
int npi_stream_read_line(char **line, npi_stream *stream, npgnn_error *err);

/* Up to `size` next bytes; *got < size only at the end. */
int npi_stream_read(void *bytes, size_t *got, npi_stream *stream, size_t size, npgnn_error *err);

/* All that is left as one block, which the caller frees; E_FORMAT where it is more than `limit`. The block grows as bytes
 * arrive: nothing in the file decides its size. */
int npi_stream_read_all(unsigned char **bytes, size_t *size, npi_stream *stream, size_t limit, npgnn_error *err);

/* The bytes that come next, without moving on: before anything was read, the first block (64 KiB) of the file or all of
 * it. Valid until the next call. */
const unsigned char *npi_stream_peek(size_t *size, const npi_stream *stream);

const npgnn_env *npi_stream_env(const npi_stream *stream);
const char *npi_stream_name(const npi_stream *stream);
int64_t npi_stream_line_number(const npi_stream *stream); /* of the line just read, from 1 on */

/* E_FORMAT at the line just read. */
int npi_stream_fail(npi_stream *stream, npgnn_error *err, const char *format, ...) NPI_PRINTF(3, 4);
void npi_stream_close(npi_stream *stream);

#endif
