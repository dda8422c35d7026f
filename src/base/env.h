/* The environment of a call: its memory, threads, log and stop flag. Every handle keeps a resolved copy. */
#ifndef NPI_BASE_ENV_H
#define NPI_BASE_ENV_H

#include "base/error.h"

/* E_ARGUMENT if the caller did not set the size. Every public call that takes an environment checks it first. */
int npi_env_check(const npgnn_env *env, npgnn_error *err);

/* A copy of `env`, or of the defaults where that is NULL, in which every member can be used as it is: threads >= 1
 * and an allocator. */
npgnn_env npi_env_resolve(const npgnn_env *env);

/* Whether the caller has asked the running call to stop. Once set, the flag stays set for the call. */
static inline int npi_env_stopped(const npgnn_env *env)
{
    return env->stop && __atomic_load_n(env->stop, __ATOMIC_RELAXED);
}

/* ---- memory: the library allocates through these functions only ---- */

/* count * size bytes, zeroed. NULL with err filled where the product overflows or memory is out. A count of 0 gives
 * a valid block, which must be freed too. */
void *npi_alloc(const npgnn_env *env, size_t count, size_t size, npgnn_error *err);

/* The block resized to count * size bytes; new bytes are undefined. On failure NULL, and the old block is unchanged. */
void *npi_resize(const npgnn_env *env, void *block, size_t count, size_t size, npgnn_error *err);

/* NULL is allowed. */
void npi_free(const npgnn_env *env, void *block);

char *npi_strdup(const npgnn_env *env, const char *text, npgnn_error *err);

/* Ensures that a growing array can take one more item. `*items` holds `count` items of `size` bytes and has memory for
 * `*capacity`, which doubles when it is used up. Returns 0 or E_MEMORY. */
int npi_grow(const npgnn_env *env, void *items_pointer, size_t *capacity, size_t count, size_t size, npgnn_error *err);

/* Bytes of memory that this process may use: those of the machine, or of its control group where that has fewer, as in
 * a container. SIZE_MAX where neither is known. */
size_t npi_memory(void);

/* The number in a file of a control group; SIZE_MAX for "max" and where there is no such file. */
size_t npi_memory_limit(const char *path);

/* ---- log and clock ---- */

/* Passes a formatted message, cut to 511 bytes, to the caller's log function. Does nothing where there is none. */
void npi_log(const npgnn_env *env, const char *format, ...) NPI_PRINTF(2, 3);

/* Seconds on a monotonic clock. */
double npi_clock_seconds(void);

#endif
