/* Radix sort by 64-bit keys, byte by byte from the lowest. Bytes that are equal in all keys are skipped. */
#include "base/sort.h"

#include <string.h>

#define BYTES 8
#define VALUES 256

static unsigned byte_of(uint64_t key, int byte)
{
    return (unsigned)(key >> (8 * byte)) & 0xFF;
}

/* Copies the records from `from` to `to`, ordered by one byte; records with equal bytes keep their order. */
static inline void scatter(uint64_t *to, const uint64_t *from, size_t count, size_t words, int byte,
                           size_t histogram[VALUES])
{
    /* counts become the first place of each value */
    size_t place = 0;
    for (int value = 0; value < VALUES; value++) {
        size_t here = histogram[value];
        histogram[value] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++) {
        place = histogram[byte_of(from[i * words], byte)]++;
        for (size_t w = 0; w < words; w++)
            to[place * words + w] = from[i * words + w];
    }
}

static inline void sort(uint64_t *records, uint64_t *scratch, size_t count, size_t words)
{
    size_t histogram[BYTES][VALUES] = {{0}};
    uint64_t *from = records, *to = scratch;
    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        for (int byte = 0; byte < BYTES; byte++)
            histogram[byte][byte_of(records[i * words], byte)]++;
    for (int byte = 0; byte < BYTES; byte++) {
        if (histogram[byte][byte_of(records[0], byte)] == count)
            continue; /* equal in all keys */
        scatter(to, from, count, words, byte, histogram[byte]);
        uint64_t *swapped = from;
        from = to;
        to = swapped;
    }
    /* after an odd number of passes the result is in scratch */
    if (from != records)
        memcpy(records, from, count * words * sizeof *records);
}

void npi_u64_sort(uint64_t *keys, uint64_t *scratch, size_t count)
{
    sort(keys, scratch, count, 1);
}

void npi_records_sort(uint64_t *records, uint64_t *scratch, size_t count, size_t words)
{
    if (words == 1)
        sort(records, scratch, count, 1);
    else
        sort(records, scratch, count, words);
}
