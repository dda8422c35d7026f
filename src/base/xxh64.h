/* XXH64 with seed 0, a checksum that runs at the speed of memory (Collet, github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
 *
 * Every step is a bijection of the state for given input, and of the input for a given state: a change within one word of 8 bytes
 * always changes the result. Other damage goes unnoticed once in 2^64. It is not secure against an attacker. */
#ifndef NPI_BASE_XXH64_H
#define NPI_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t npi_xxh64(const void *bytes, size_t size);

#endif
