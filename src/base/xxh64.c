/* XXH64, from its specification:
 *
 *   four lanes start at P1 + P2, P2, 0, -P1; a lane takes every fourth word of 8 bytes: lane = rotl(lane + word * P2, 31) * P1
 *   h = Σ rotl(lane_i, 1 | 7 | 12 | 18), then each lane is merged: h = (h ^ rotl(lane * P2, 31) * P1) * P1 + P4
 *   (fewer than 32 bytes: h = P5 instead); h += size
 *   the bytes that are left, by words of 8, 4 and 1 bytes, each with its own rotation and primes
 *   three shifts and two multiplications mix the bits */
#include "base/xxh64.h"

#include <string.h>

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t word(const unsigned char *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value); /* little-endian, as everything here (io/save.c) */
    return value;
}

static uint64_t advance(uint64_t lane, uint64_t value)
{
    return rotate(lane + value * P2, 31) * P1;
}

uint64_t npi_xxh64(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t h = P5;
    size_t left = size;
    if (size >= 32) {
        uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
        for (; left >= 32; p += 32, left -= 32) {
            a = advance(a, word(p));
            b = advance(b, word(p + 8));
            c = advance(c, word(p + 16));
            d = advance(d, word(p + 24));
        }
        h = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        h = (h ^ advance(0, a)) * P1 + P4;
        h = (h ^ advance(0, b)) * P1 + P4;
        h = (h ^ advance(0, c)) * P1 + P4;
        h = (h ^ advance(0, d)) * P1 + P4;
    }
    h += size;
    for (; left >= 8; p += 8, left -= 8)
        h = rotate(h ^ advance(0, word(p)), 27) * P1 + P4;
    if (left >= 4) {
        uint32_t half;
        memcpy(&half, p, sizeof half);
        h = rotate(h ^ half * P1, 23) * P2 + P3;
        p += 4;
        left -= 4;
    }
    for (; left > 0; p++, left--)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}
