/* SipHash-1-3, a hash with a secret key (Aumasson, Bernstein, INDOCRYPT 2012): nobody who does not know the key can
 * choose names that fall into one slot of a hash table. For tables in memory; nothing that is written or printed may
 * depend on it. */
#ifndef NPI_BASE_SIPHASH_H
#define NPI_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct npi_hash_key {
    uint64_t k0, k1;
} npi_hash_key;

/* A key that nobody knows, from the operating system. */
npi_hash_key npi_hash_key_draw(void);

uint64_t npi_siphash(npi_hash_key key, const void *bytes, size_t size);

#endif
