/* The environment of a call, resolved: memory, threads, callbacks. Handles keep a copy. */
#ifndef NPI_BASE_ENV_H
#define NPI_BASE_ENV_H

#include "base/error.h"

/* A copy of `env` (or of the defaults, when NULL) with every field usable: threads >= 1, an allocator, no NULL. */
npgnn_env npi_env_resolve(const npgnn_env *env);

/* Whether somebody wants the call that is running to end. Once it is so it stays so. */
static inline int npi_env_stopped(const npgnn_env *env)
{
    return env->stop && __atomic_load_n(env->stop, __ATOMIC_RELAXED);
}

/* ---- memory: all of it goes through these ---- */

/* count * size bytes, zeroed. NULL with err filled when the product overflows or memory is out; a count of 0 gives a valid
 * block. */
void *npi_alloc(const npgnn_env *env, size_t count, size_t size, npgnn_error *err);

/* The block resized to count * size bytes, new bytes undefined; on failure NULL, the old block untouched. */
void *npi_resize(const npgnn_env *env, void *block, size_t count, size_t size, npgnn_error *err);
void npi_free(const npgnn_env *env, void *block);

char *npi_strdup(const npgnn_env *env, const char *text, npgnn_error *err);

/* Makes room for one more item in a growing array: `*items` has room for `*capacity` items of `size` bytes, `count` are
 * used. Doubles when full. Returns 0 or E_MEMORY. */
int npi_grow(const npgnn_env *env, void *items_pointer, size_t *capacity, size_t count, size_t size, npgnn_error *err);

/* ---- words ---- */
void npi_log(const npgnn_env *env, const char *format, ...) NPI_PRINTF(2, 3);

/* Seconds on a clock that never goes back. */
double npi_clock_seconds(void);

#endif
