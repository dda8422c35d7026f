/* FNV-1a, 64 bits: hash = (hash ^ byte) * prime for every byte in order, integers as little-endian bytes. Used for
 * fingerprints and checksums; it is not secure against an attacker. Tables of what files say use base/siphash.h. */
#ifndef NPI_BASE_HASH_H
#define NPI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NPI_HASH_START 0xCBF29CE484222325u

static inline uint64_t npi_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 0x100000001B3u;
    return hash;
}

static inline uint64_t npi_hash_u64(uint64_t hash, uint64_t value)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (value >> shift & 0xFF)) * 0x100000001B3u;
    return hash;
}

static inline uint64_t npi_hash_float(uint64_t hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return npi_hash_u64(hash, bits);
}

/* Mixes the bits of one integer so that each bit of the result depends on all of x (the finaliser of splitmix64). */
static inline uint64_t npi_hash_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

#endif
