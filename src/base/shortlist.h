/* The best few of many candidates. */
#ifndef NPI_BASE_SHORTLIST_H
#define NPI_BASE_SHORTLIST_H

#include <stdint.h>

typedef struct npi_candidate {
    double score;
    uint32_t tie; /* decides between equal scores, the larger first; then the smaller id does */
    int64_t id;   /* of a node, or of a pair */
} npi_candidate;

/* A heap with the worst of the kept ones on top, until it is sorted. */
typedef struct npi_shortlist {
    npi_candidate *items; /* (capacity) */
    int count, capacity;  /* capacity > 0 */
} npi_shortlist;

/* Keeps the candidate where it is among the best `capacity` so far. O(log capacity), and O(1) where it is not. */
void npi_shortlist_offer(npi_shortlist *list, npi_candidate candidate);

/* The best first. It takes no offers after that. */
void npi_shortlist_sort(npi_shortlist *list);

#endif
