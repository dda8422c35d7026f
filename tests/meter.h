/* An allocator that counts what is out, refuses large blocks, and can run out of memory at any point. */
#ifndef NPI_TESTS_METER_H
#define NPI_TESTS_METER_H

#include <stdlib.h>

#include "npgnn/npgnn.h"

#define METER_LARGEST ((size_t)64 << 20)

typedef struct meter {
    int refused; /* a block larger than METER_LARGEST was asked for */
    long blocks; /* given out and not freed */
    long allow;  /* allocations left before the next is refused; negative: no limit */
} meter;

static inline void *metered(void *user, void *block, size_t size)
{
    meter *m = user;
    if (size == 0) {
        m->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    m->refused |= size > METER_LARGEST;
    if (size > METER_LARGEST || m->allow == 0)
        return NULL;
    m->allow -= m->allow > 0;
    void *resized = realloc(block, size);
    m->blocks += resized && !block;
    return resized;
}

static inline npgnn_env metered_env(meter *m)
{
    npgnn_env env = {.size = sizeof env, .threads = 1, .allocator = {metered, m}};
    return env;
}

#endif
