/* Filling the caller's npgnn_error. */
#ifndef NPI_BASE_ERROR_H
#define NPI_BASE_ERROR_H

#include "npgnn/npgnn.h"

#if defined(__GNUC__)
#define NPI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define NPI_PRINTF(text, args)
#endif

/* Describes a failure and returns `code`, so that `return npi_fail(...)` is the whole story. err may be NULL. */
int npi_fail(npgnn_error *err, int code, const char *format, ...) NPI_PRINTF(3, 4);

/* The same with the file and line at fault, which are put in front of the text; line 0: the file as a whole. */
int npi_fail_at(npgnn_error *err, int code, const char *file, int64_t line, const char *format, ...) NPI_PRINTF(5, 6);

/* "cannot VERB FILE: strerror(errno)", E_IO. */
int npi_fail_errno(npgnn_error *err, const char *verb, const char *file);

#endif
