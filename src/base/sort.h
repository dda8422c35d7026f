/* Sorts integer keys in linear time, in memory of the caller. */
#ifndef NPI_BASE_SORT_H
#define NPI_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts keys (count) in ascending order; scratch (count). */
void npi_u64_sort(uint64_t *keys, uint64_t *scratch, size_t count);

/* Sorts records (count, words) by their first word; equal ones keep their order. scratch (count, words). */
void npi_records_sort(uint64_t *records, uint64_t *scratch, size_t count, size_t words);

#endif
