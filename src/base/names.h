/* A set of names, numbered from 0 in order of first appearance. Reference-counted. */
#ifndef NPI_BASE_NAMES_H
#define NPI_BASE_NAMES_H

#include "base/env.h"

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

/* The same names, for the caller to free and to add to. Faster than adding them one by one. */
int npi_names_copy(npi_names **out, const npi_names *names, npgnn_error *err);

/* Adds a reference and returns `names`; NULL gives NULL. */
npi_names *npi_names_share(npi_names *names);

/* Drops a reference; the last one frees. NULL is allowed. */
void npi_names_free(npi_names *names);

#endif
