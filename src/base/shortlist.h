/* Keeps the best `capacity` of many candidates in a binary heap. */
#ifndef NPI_BASE_SHORTLIST_H
#define NPI_BASE_SHORTLIST_H

#include <stdint.h>

typedef struct npi_candidate {
    double score;
    uint32_t tie; /* orders equal scores, larger first; equal ties are ordered by id, smaller first */
    int64_t id;   /* a node or a pair */
} npi_candidate;

/* A heap whose root is the worst kept candidate, until npi_shortlist_sort. */
typedef struct npi_shortlist {
    npi_candidate *items; /* (capacity) */
    int count, capacity;  /* capacity > 0 */
} npi_shortlist;

/* Keeps the candidate if it is among the best `capacity` so far: O(log capacity); otherwise O(1). */
void npi_shortlist_offer(npi_shortlist *list, npi_candidate candidate);

/* Orders the items, best first. No candidate may be offered afterwards. */
void npi_shortlist_sort(npi_shortlist *list);

#endif
