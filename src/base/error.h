/* Functions that fill the caller's npgnn_error. */
#ifndef NPI_BASE_ERROR_H
#define NPI_BASE_ERROR_H

#include "npgnn/npgnn.h"

#if defined(__GNUC__)
#define NPI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define NPI_PRINTF(text, args)
#endif

/* Describes a failure in err, which may be NULL, and returns `code`: a caller writes `return npi_fail(...)`. */
int npi_fail(npgnn_error *err, int code, const char *format, ...) NPI_PRINTF(3, 4);

/* The same for a fault in a file. The text becomes "FILE:LINE: ..."; with line 0 it becomes "FILE: ...". */
int npi_fail_at(npgnn_error *err, int code, const char *file, int64_t line, const char *format, ...) NPI_PRINTF(5, 6);

/* The text of an error without the file and line that npi_fail_at wrote before it. */
const char *npi_error_reason(const npgnn_error *err);

/* E_IO with the text "FILE: cannot VERB: strerror(errno)". */
int npi_fail_errno(npgnn_error *err, const char *verb, const char *file);

#endif
