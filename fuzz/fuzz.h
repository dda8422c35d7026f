/* What the targets share: an environment that watches memory, streams over the bytes of a case, and checks that end the
 * program. A target is a file that defines LLVMFuzzerTestOneInput; libFuzzer drives it, or replay.c with files. */
#ifndef NPI_FUZZ_H
#define NPI_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"
#include "io/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program when the library broke a promise. */
#define fuzz_check(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))
void fuzz_broken(const char *promise, const char *file, int line);

typedef struct fuzz_case {
    npgnn_env env;
    npgnn_error err;
    size_t held, most; /* bytes out, and how many may be */
    long blocks;
    int refuse;            /* more than `most` is refused; otherwise it is a finding */
    double start, seconds; /* of processor time, at the start and how many it may take */
} fuzz_case;

/* Starts a case of `size` bytes: the memory that the library holds for it, and the processor time up to fuzz_end, must stay in
 * proportion to that. */
void fuzz_begin(fuzz_case *c, const uint8_t *data, size_t size);

/* A call ended with this code: a failure must come with its description, and not be for lack of memory. Returns code. */
int fuzz_code(const fuzz_case *c, int code);

/* Everything must have been freed, in time. */
void fuzz_end(const fuzz_case *c);

/* A stream over bytes that need not be terminated; NULL where they are broken from the start (gzip). */
npi_stream *fuzz_stream(fuzz_case *c, const char *name, const void *bytes, size_t size);

/* A case for a reader of several files: they stand one behind the other, with FUZZ_MARK between them. */
#define FUZZ_MARK "\n=====\n"
typedef struct fuzz_part {
    const uint8_t *data;
    size_t size;
} fuzz_part;
void fuzz_parts(fuzz_part *parts, int count, const uint8_t *data, size_t size);

/* What holds for every graph; and its structure, written as a Matrix Market file, reads the same. */
void fuzz_graph(fuzz_case *c, const npgnn_graph *graph);

/* A folder of this process's own for files, removed at its end. */
const char *fuzz_path(char path[4096], const char *name);

#endif
