/* Sorting of integer keys, in linear time and in memory that the caller gives. */
#ifndef NPI_BASE_SORT_H
#define NPI_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts keys (count) ascending. `scratch` has room for as many. Radix sort by bytes: those that all keys share cost
 * nothing. */
void npi_u64_sort(uint64_t *keys, uint64_t *scratch, size_t count);

#endif
