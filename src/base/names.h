/* Names in the order of their first appearance: one block of text and a hash index. Shared by counting references. */
#ifndef NPI_BASE_NAMES_H
#define NPI_BASE_NAMES_H

#include "base/env.h"

typedef struct npi_names npi_names;

int npi_names_new(npi_names **out, const npgnn_env *env, npgnn_error *err);

/* Adds a name or finds it: *index is its place. */
int npi_names_add(int32_t *index, npi_names *names, const char *name, size_t length, npgnn_error *err);
int32_t npi_names_find(const npi_names *names, const char *name, size_t length); /* -1: absent */
const char *npi_names_get(const npi_names *names, int32_t index);
int32_t npi_names_count(const npi_names *names);
npi_names *npi_names_share(npi_names *names); /* NULL stays NULL */
void npi_names_free(npi_names *names);

#endif
