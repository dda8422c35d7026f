/* The program says on standard error what is wrong: for a fuzzer, into nothing. */
#ifndef NPI_FUZZ_QUIET_H
#define NPI_FUZZ_QUIET_H

#include <stdio.h>

static FILE *quiet_before;

static inline void quiet_begin(void)
{
    static FILE *nothing;
    if (!nothing)
        nothing = fopen("/dev/null", "w");
    quiet_before = stderr;
    stderr = nothing; /* glibc's is a variable; the fuzzer's own words must not be lost, so the descriptor stays */
}

static inline void quiet_end(void)
{
    stderr = quiet_before;
}

#endif
