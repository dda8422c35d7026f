/* BLAS behind one door: which library it is, what it takes to call it from several threads at once, and its memory.
 *
 * It is loaded when it is first needed, because OpenBLAS maps buffers as soon as it is loaded, and where a limit on memory
 * (ulimit -v) refuses them, it tries again for ever. Here memory is looked for first.
 *
 * openblas_get_parallel() tells OpenBLAS's builds apart:
 *   pthread  safe; its number of threads is the process's, held at 1 between npi_blas_begin and npi_blas_end
 *   OpenMP   safe; its number of threads is the calling thread's, set to 1 around each call
 *   serial   not safe for concurrent calls
 * Any other BLAS is taken for unsafe as well.
 *
 * OpenBLAS needs a buffer per call at once. Normally there is one for every thread of every loop, and one to spare. A loop that
 * cannot have that many (memory is limited, or its threads are many) makes all calls ask for a permit, until no loop is left.
 * There are then as many permits as buffers that no earlier loop may be using, at least the spare one. Of a BLAS that is not
 * safe there is always one permit. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "linalg/blas.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/number.h"
#include "base/parallel.h"

#define BUFFER_BYTES ((size_t)128 << 20) /* that OpenBLAS maps per call at once; less on some processors */
#define LIBRARY_BYTES ((size_t)64 << 20) /* the library itself, and those that it needs */
#define STACK_BYTES ((size_t)8 << 20)    /* of a thread that it starts */
#define SPARE_BYTES BUFFER_BYTES         /* to leave for others: only the first buffer is worth the last memory */
#define MOST_BUFFERS 128                 /* OpenBLAS has a table of fixed size: of 256 in Debian, less elsewhere */

enum { UNSAFE, PTHREAD, OPENMP };

static struct blas {
    void *library; /* NULL: not open */
    int kind;
    __typeof__(NPI_CBLAS(gemm)) *gemm;
    int (*get_num_threads)(void); /* the process's (PTHREAD) or the calling thread's (OPENMP) */
    void (*set_num_threads)(int count);
    void *(*memory_alloc)(int unused); /* OpenBLAS's own, or NULL */
    void (*memory_free)(void *buffer);
} blas;

/* Of the following variables, and of the one above until it is open. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int callers;                /* threads of all loops between begin and end */
static int loops, held_threads;    /* those loops; what the last end restores (PTHREAD) */
static void *buffer[MOST_BUFFERS]; /* that OpenBLAS is known to have */
static int buffers, refused;       /* how many; no more can be had */
static int unsafe_noted;

static atomic_int limited; /* calls need a permit; changes under the lock */
static sem_t permits;

int npi_library_find(void *function, void *library, const char *name)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* ---- memory ---- */

/* Whether the system would give so much. The flags are OpenBLAS's: the same limits apply. */
static int can_map(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return 0;
    munmap(block, bytes);
    return 1;
}

static int is_known(const void *address)
{
    for (int i = 0; i < buffers; i++)
        if (buffer[i] == address)
            return 1;
    return 0;
}

/* Makes OpenBLAS map one more buffer, so that a later call does not have to. It hands out buffers that it has before it maps
 * another one: all of them are taken, until one comes that was not seen before, and then given back. */
static int add_buffer(void)
{
    void *held[MOST_BUFFERS + 1];
    int count = 0, found = 0;
    if (buffers == MOST_BUFFERS || !can_map(BUFFER_BYTES + (buffers > 0 ? SPARE_BYTES : 0)))
        return 0;
    while (blas.memory_alloc && !found && count <= MOST_BUFFERS) {
        held[count] = blas.memory_alloc(0);
        found = !is_known(held[count++]);
    }
    buffer[buffers++] = count > 0 ? held[count - 1] : NULL;
    while (count > 0)
        blas.memory_free(held[--count]);
    return 1;
}

static void add_buffers(int wanted)
{
    while (!refused && buffers < wanted)
        refused = !add_buffer();
}

static void limit_calls(int count)
{
    sem_init(&permits, 0, (unsigned)count);
    atomic_store(&limited, 1);
}

/* ---- loading ---- */

/* A number of threads from the environment, or the number of cores. */
static int64_t threads_by(const char *variable)
{
    const char *text = getenv(variable);
    int64_t count = 0;
    return text && npi_number_parse_int(&count, text) && count > 0 && count < 1 << 16 ? count : npi_cores();
}

/* OpenBLAS's threads, for each of which it maps a buffer when it is loaded. Each build reads its own variable. */
static int threads_of_blas(void)
{
    int64_t pthread = threads_by("OPENBLAS_NUM_THREADS"), openmp = threads_by("OMP_NUM_THREADS");
    return (int)(pthread > openmp ? pthread : openmp);
}

static void find_kind(struct blas *b)
{
    int (*parallel)(void);
    int kind = npi_library_find(&parallel, b->library, "openblas_get_parallel") ? parallel() : UNSAFE;
    if (kind == PTHREAD && npi_library_find(&b->get_num_threads, b->library, "openblas_get_num_threads") &&
        npi_library_find(&b->set_num_threads, b->library, "openblas_set_num_threads"))
        b->kind = PTHREAD;
    if (kind == OPENMP && npi_library_find(&b->get_num_threads, b->library, "omp_get_max_threads") &&
        npi_library_find(&b->set_num_threads, b->library, "omp_set_num_threads"))
        b->kind = OPENMP;
    if (!npi_library_find(&b->memory_alloc, b->library, "blas_memory_alloc") ||
        !npi_library_find(&b->memory_free, b->library, "blas_memory_free"))
        b->memory_alloc = NULL;
}

static int load(npgnn_error *err)
{
    struct blas b = {0};
    size_t threads = (size_t)threads_of_blas();
    size_t bytes = LIBRARY_BYTES + threads * (BUFFER_BYTES + STACK_BYTES);
    if (!can_map(bytes))
        return npi_fail(err, NPGNN_E_MEMORY,
                        "not enough memory to load BLAS: OpenBLAS maps %zu MiB for %zu thread%s; raise the limit on "
                        "memory (ulimit -v)%s",
                        bytes >> 20, threads, threads == 1 ? "" : "s",
                        threads == 1 ? "" : " or set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1");
    b.library = dlopen(NPI_BLAS, RTLD_NOW | RTLD_LOCAL);
    if (!b.library)
        return npi_fail(err, NPGNN_E_IO, "cannot load BLAS: %s; install OpenBLAS (Debian: libopenblas0-pthread)",
                        dlerror());
    if (!npi_library_find(&b.gemm, b.library, NPI_CBLAS_NAME("gemm"))) {
        dlclose(b.library);
        return npi_fail(err, NPGNN_E_IO, "cannot use %s: it has no C interface of BLAS (%s)", NPI_BLAS,
                        NPI_CBLAS_NAME("gemm"));
    }
    find_kind(&b);
    blas = b;
    if (blas.kind == UNSAFE)
        limit_calls(1);
    return 0;
}

int npi_blas_open(const npgnn_env *env, npgnn_error *err)
{
    pthread_mutex_lock(&lock);
    int code = blas.library ? 0 : load(err);
    if (!code)
        add_buffers(1);
    if (!code && buffers == 0)
        code =
            npi_fail(err, NPGNN_E_MEMORY,
                     "not enough memory for BLAS: it needs a buffer of %zu MiB; raise the limit on memory (ulimit -v)",
                     BUFFER_BYTES >> 20);
    int note = !code && blas.kind == UNSAFE && env->threads > 1 && !unsafe_noted;
    unsafe_noted |= note;
    pthread_mutex_unlock(&lock);
    if (note)
        npi_log(
            env,
            "%s is not known to be safe for calls from several threads: matrix products run one at a time; OpenBLAS's "
            "pthread build is faster (Debian: libopenblas0-pthread)",
            NPI_BLAS);
    return code;
}

/* ---- calling ---- */

void npi_blas_begin(int threads)
{
    pthread_mutex_lock(&lock);
    if (!blas.library)
        load(NULL);
    assert(blas.library); /* whoever can report an error opens it first */
    if (!limited) {
        add_buffers(callers + threads + 1);
        if (buffers < callers + threads + 1)
            limit_calls(buffers - callers > 1 ? buffers - callers : 1);
    }
    callers += threads;
    if (loops++ == 0 && blas.kind == PTHREAD) {
        held_threads = blas.get_num_threads();
        if (held_threads != 1)
            blas.set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void npi_blas_end(int threads)
{
    pthread_mutex_lock(&lock);
    callers -= threads;
    if (--loops == 0 && blas.kind == PTHREAD && held_threads != 1)
        blas.set_num_threads(held_threads);
    if (loops == 0 && blas.kind != UNSAFE)
        limited = 0;
    pthread_mutex_unlock(&lock);
}

npi_blas_call npi_blas_enter(void)
{
    npi_blas_call call = {.permit = atomic_load_explicit(&limited, memory_order_relaxed)};
    while (call.permit && sem_wait(&permits) != 0) { /* a signal came */
    }
    if (blas.kind == OPENMP) {
        call.threads = blas.get_num_threads();
        if (call.threads != 1)
            blas.set_num_threads(1);
    }
    return call;
}

void npi_blas_leave(npi_blas_call call)
{
    if (call.threads > 1)
        blas.set_num_threads(call.threads);
    if (call.permit)
        sem_post(&permits);
}

void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta)
{
    npi_blas_call call = npi_blas_enter();
    blas.gemm(CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans, m, n, k, alpha,
              a, lda, b, ldb, beta, c, ldc);
    npi_blas_leave(call);
}
