/* Which of many numbers are among the largest: two passes over them, without sorting. Numbers are counted by their leading
 * bits; where the limit falls between numbers with the same ones, those that come first are taken. */
#ifndef NPI_LINALG_SELECT_H
#define NPI_LINALG_SELECT_H

#include <stdint.h>
#include <string.h>

enum { NPI_SELECTION_BITS = 13 };

typedef struct npi_selection {
    int32_t count[1 << NPI_SELECTION_BITS];
    int32_t most;      /* numbers wanted */
    uint32_t limit;    /* leading bits of which some numbers are taken; all larger ones are, no smaller one is */
    int32_t remaining; /* of those */
} npi_selection;

/* The leading bits of a number, in the order of numbers; a NaN is below all. */
static inline uint32_t npi_selection_bin(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    return value == value ? bits >> (32 - NPI_SELECTION_BITS) : 0;
}

static inline void npi_selection_begin(npi_selection *s, int32_t most)
{
    memset(s->count, 0, sizeof s->count);
    s->most = most;
}

/* First pass. */
static inline void npi_selection_count(npi_selection *s, float value)
{
    s->count[npi_selection_bin(value)]++;
}

/* Between the passes. */
static inline void npi_selection_decide(npi_selection *s)
{
    int32_t taken = 0, bin = (1 << NPI_SELECTION_BITS) - 1;
    while (bin > 0 && taken + s->count[bin] <= s->most)
        taken += s->count[bin--];
    s->limit = (uint32_t)bin;
    s->remaining = s->most - taken;
}

/* Second pass, over the same numbers in a fixed order: 1 if the number is taken. */
static inline int npi_selection_takes(npi_selection *s, float value)
{
    uint32_t bin = npi_selection_bin(value);
    return bin > s->limit || (bin == s->limit && s->remaining-- > 0);
}

#endif
