/* System calls that fail on demand: what tests/inject.c, the parent, does for a test that it runs. The test asks by a
 * call of prctl that Linux does not know, which the parent answers. */
#ifndef NPI_TESTS_INJECT_H
#define NPI_TESTS_INJECT_H

#include <errno.h>

#define INJECT_PRCTL 0x4E50474E

/* X(name, kind of system call, what happens) */
#define INJECT_FAULTS(X)                                                                                               \
    X("read fails", READS, EIO)                                                                                        \
    X("read is interrupted", READS, EINTR)                                                                             \
    X("read is short", READS, 0)                                                                                       \
    X("write fails", WRITES, ENOSPC)                                                                                   \
    X("write is interrupted", WRITES, EINTR)                                                                           \
    X("write is short", WRITES, 0)                                                                                     \
    X("open fails", OPENS, EMFILE)                                                                                     \
    X("fsync fails", SYNCS, EIO)                                                                                       \
    X("rename fails", RENAMES, EIO)                                                                                    \
    X("link fails", LINKS, EIO)                                                                                        \
    X("no random numbers", RANDOMS, ENOSYS)

enum {
#define INJECT_X(name, kind, error) INJECT_ID_##kind##_##error,
    INJECT_FAULTS(INJECT_X)
#undef INJECT_X
        INJECT_KINDS
};

/* The second argument of prctl. */
enum {
    INJECT_ARE_YOU_THERE, /* answered with 1 */
    INJECT_ARM,           /* third argument: which fault; fourth: the number of the call, from 1 on */
    INJECT_DISARM,        /* answered with 1 where the fault has struck */
    INJECT_COUNT, /* third argument: a fault; answered with how many calls it could have struck since the last ARM */
};

#endif
