/* A set of names, numbered from 0 in order of first appearance until they are sorted. Reference-counted. Its arrays are
 * its own, or lie in a mapped file. */
#ifndef NPI_BASE_NAMES_H
#define NPI_BASE_NAMES_H

#include "base/mapping.h"

typedef struct npi_names npi_names;

/* An empty set with one reference. */
int npi_names_new(npi_names **out, const npgnn_env *env, npgnn_error *err);

/* *index becomes the number of the name, which is added where it is new. E_FORMAT when there would be more than
 * INT32_MAX. */
int npi_names_add(int32_t *index, npi_names *names, const char *name, size_t length, npgnn_error *err);

/* The number of a name, -1 where it is absent. O(1) expected. */
int32_t npi_names_find(const npi_names *names, const char *name, size_t length);

/* The name with a number; valid until the next name is added. */
const char *npi_names_get(const npi_names *names, int32_t index);
int32_t npi_names_count(const npi_names *names);

/* The canonical order of names: plain integers (digits alone, without leading zeros) by value, then all others by their
 * bytes. Negative, 0, or positive as of strcmp. */
int npi_names_compare(const char *a, const char *b);

/* Numbers the names from `first` on anew, in canonical order, so that numbers do not depend on the order in which names
 * were added. *place (count) becomes the new number of each name, for the caller to free; NULL if none has changed. All
 * who share the set see the new numbers. O(count) for names that differ early, O(count log count) at worst. */
int npi_names_sort(int32_t **place, npi_names *names, int32_t first, npgnn_error *err);

/* The same names, for the caller to free and to add to, in memory of their own. Faster than adding them one by one,
 * except where they are mapped. */
int npi_names_copy(npi_names **out, const npi_names *names, npgnn_error *err);

/* ---- names in a mapped file ---- */

/* A slot of the hash table. `tag` is the upper half of the SipHash-1-3 of the name, with the key (key, 0). Its first
 * slot is tag * slots / 2^32; it is in that or in one of the next, at most NPI_NAMES_PROBES, all of which are taken. */
typedef struct npi_names_slot {
    int32_t index; /* number of a name, or -1 */
    uint32_t tag;
} npi_names_slot;

#define NPI_NAMES_PROBES 256

typedef struct npi_names_arrays {
    int32_t count;
    char *text; /* (text_size) the names in order, each terminated */
    size_t text_size;
    uint64_t *start;      /* (count) where each begins */
    npi_names_slot *slot; /* (npi_names_slots) */
    uint64_t key;
} npi_names_arrays;

/* Two per name, and two more: some are always empty, and few names are far from their first slot. */
static inline size_t npi_names_slots(int32_t count)
{
    return 2 * (size_t)count + 2;
}

/* The arrays to write to a file. text and start are those of `names`; slot is new, and the caller frees it. The key is
 * the first of 0, 1, 2... that puts every name within NPI_NAMES_PROBES slots: the same names always give the same
 * arrays. */
int npi_names_export(npi_names_arrays *out, const npi_names *names, const npgnn_env *env, npgnn_error *err);

/* A set of names over arrays that lie in the file `mapping`. Checks them entirely: names are distinct and each of them
 * is found. E_FORMAT where one is not, with a text that does not name the file. No name can be added to it. */
int npi_names_map(npi_names **out, const npi_names_arrays *arrays, npi_mapping *mapping, const npgnn_env *env,
                  npgnn_error *err);

/* Adds a reference and returns `names`; NULL gives NULL. */
npi_names *npi_names_share(npi_names *names);

/* Drops a reference; the last one frees. NULL is allowed. */
void npi_names_free(npi_names *names);

#endif
