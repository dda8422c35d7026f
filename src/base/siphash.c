/* SipHash-c-d with c = 1 round per word and d = 3 at the end:
 *
 *   v0 .. v3 = key ^ constants
 *   v3 ^= m_i;  c rounds;  v0 ^= m_i          for each word m_i of 8 bytes, little-endian; the last one has the bytes that
 *                                             are left and, in its highest byte, the size mod 256
 *   v2 ^= 0xFF;  d rounds;  v0 ^ v1 ^ v2 ^ v3 */
#define _DEFAULT_SOURCE /* getentropy */
#include "base/siphash.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "base/hash.h"

npi_hash_key npi_hash_key_draw(void)
{
    npi_hash_key key;
    if (getentropy(&key, sizeof key) == 0)
        return key;
    /* a system without it: what a file cannot know is where things lie in memory, and the time to the nanosecond */
    struct timespec now = {0};
    timespec_get(&now, TIME_UTC);
    key.k0 = npi_hash_mix((uint64_t)(uintptr_t)&key ^ (uint64_t)now.tv_nsec << 32);
    key.k1 = npi_hash_mix(key.k0 ^ (uint64_t)now.tv_sec);
    return key;
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* `count` bytes, at most 8, as a little-endian word. */
static uint64_t word_at(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t npi_siphash(npi_hash_key key, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {key.k0 ^ 0x736F6D6570736575u, key.k1 ^ 0x646F72616E646F6Du, key.k0 ^ 0x6C7967656E657261u,
                     key.k1 ^ 0x7465646279746573u};
    for (size_t left = size;; left -= 8, at += 8) {
        uint64_t word = left >= 8 ? word_at(at, 8) : word_at(at, left) | (uint64_t)(size & 0xFF) << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
