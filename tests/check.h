/* What every test file includes: cmocka, comparators that fail on NaN, and where the real data is. */
#ifndef NPI_TESTS_CHECK_H
#define NPI_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "npgnn/npgnn.h"

/* Which sanitizers the build has: meson.build defines CHECK_SANITIZE as Meson names them. */
#define CHECK_SANITIZED (sizeof CHECK_SANITIZE != sizeof "none")
/* ThreadSanitizer ends a child of fork() that starts a thread. */
#define CHECK_TSAN (strcmp(CHECK_SANITIZE, "thread") == 0)

/* |a - b| <= tolerance * max(1, |b|); false when either is NaN. */
static inline int check_near(double a, double b, double tolerance)
{
    double scale = fabs(b) > 1 ? fabs(b) : 1;
    int ok = fabs(a - b) <= tolerance * scale;
    if (!ok)
        fprintf(stderr, "%.17g is not within %g of %.17g\n", a, tolerance, b);
    return ok;
}
#define assert_near(a, b, tolerance) assert_true(check_near(a, b, tolerance))

/* Asserts that a call succeeded, showing its error otherwise. */
#define assert_ok(call, err)                                                                                           \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != 0)                                                                                                \
            fail_msg("%s: %d: %s", #call, code_, (err).text);                                                          \
    } while (0)

/* The path of a file of the real data, or NULL when it is absent: $NPGNN_DATA first, then shared/data beside the
 * checkout. `file` is like "planetoid/ind.cora.x". */
static inline const char *check_data(char path[4096], const char *file)
{
    const char *folder = getenv("NPGNN_DATA");
    if (folder) {
        snprintf(path, 4096, "%s/%s", folder, file);
        if (access(path, R_OK) == 0)
            return path;
    }
    snprintf(path, 4096, "%s/../shared/data/%s", NPGNN_SOURCE_ROOT, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

#endif
