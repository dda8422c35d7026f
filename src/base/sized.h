/* Structs that can grow: their first member is their size in the program that made them, which may have been compiled
 * against an older or newer header. Only what both sides know is copied. */
#ifndef NPI_BASE_SIZED_H
#define NPI_BASE_SIZED_H

#include "base/error.h"

/* Copies the caller's struct `from` over the defaults in `to`, a struct of to_size bytes whose size becomes that. NULL
 * leaves the defaults. E_ARGUMENT, with the struct's name, if the caller did not set its size. */
int npi_sized_read(void *to, size_t to_size, const void *from, const char *name, npgnn_error *err);

/* Copies `from`, a struct of from_size bytes, into the caller's struct `to`, whose size stays what it is. */
int npi_sized_write(void *to, const void *from, size_t from_size, const char *name, npgnn_error *err);

/* E_ARGUMENT if the caller did not set the size: for outputs, before the work begins. */
int npi_sized_check(const void *caller, const char *name, npgnn_error *err);

/* The same into element `index` of a caller's array, whose elements are as large as the first one says. */
void npi_sized_store(void *first, size_t index, const void *from, size_t from_size);

#endif
