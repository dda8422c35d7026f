/* BLAS: loads it, tells its builds apart, and makes calls from several threads at once safe within the memory there is.
 *
 * Loading. OpenBLAS maps buffers as soon as it is loaded, and where a limit on memory (ulimit -v) refuses them, it
 * tries again for ever. So it is loaded when it is first needed, after a look whether the memory is there.
 *
 * Builds. openblas_get_parallel() tells them apart:
 *   pthread  safe; its number of threads is the process's, held at 1 between npi_blas_begin and npi_blas_end
 *   OpenMP   safe; its number of threads is the calling thread's, set to 1 around each call
 *   serial   not safe for concurrent calls
 * Any other BLAS is taken for unsafe as well.
 *
 * Buffers. OpenBLAS needs one buffer per concurrent call. There are two modes:
 *   free     the usual one: before a loop starts, a buffer for each thread of each loop is reserved, and one to spare.
 *            Calls need not ask.
 *   limited  where a loop cannot have that many buffers, because memory is limited or its threads are many, every call
 *            waits for a permit, until no loop is left. There are as many permits as buffers that no earlier loop may
 *            be using, at least the spare one. A BLAS that is not safe is always limited, to one permit.
 *
 * Fork. In a child, whoever was between begin and end in another thread of the parent is gone, with its locks, permits
 * and buffers: the child starts to count anew. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "linalg/blas.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/parallel.h"
#include "linalg/kernels.h"

#define BUFFER_BYTES ((size_t)128 << 20) /* that OpenBLAS maps per call at once; less on some processors */
#define LIBRARY_BYTES ((size_t)64 << 20) /* the library itself, and those that it needs */
#define STACK_BYTES ((size_t)8 << 20)    /* of a thread that it starts */
#define SPARE_BYTES BUFFER_BYTES         /* to leave for others: only the first buffer is worth the last memory */
#define MOST_BUFFERS 128                 /* OpenBLAS has a table of fixed size: of 256 in Debian, less elsewhere */

enum { UNSAFE, PTHREAD, OPENMP };

/* The library. Written once, under the lock, before anyone calls it. */
static struct blas {
    void *library; /* NULL: not loaded yet */
    int kind;
    __typeof__(NPI_CBLAS(gemm)) *gemm;
    int (*get_num_threads)(void); /* the process's (PTHREAD) or the calling thread's (OPENMP) */
    void (*set_num_threads)(int count);
    void *(*memory_alloc)(int unused); /* OpenBLAS's own, or NULL */
    void (*memory_free)(void *buffer);
} blas;

/* The loops that are between begin and end, and the buffers they share. Read and written under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int loops, callers;         /* how many loops, and threads of all of them together */
    int threads_before;         /* PTHREAD: OpenBLAS's number of threads before the first begin, for the last end */
    int inherited;              /* the same, of a loop of the parent that the child has interrupted; 0: none */
    void *buffer[MOST_BUFFERS]; /* addresses that OpenBLAS has handed out */
    int buffers;                /* how many */
    int refused;                /* 1: no more can be had */
    int noted;                  /* 1: the log says that BLAS is unsafe */
} use;

/* The limited mode. `limited` is written under the lock and read without it by every call. It changes only while no
 * call is under way that the change would concern: it is set before a loop starts, and cleared after the last one. */
static atomic_int limited;
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

/* Makes OpenBLAS map one more buffer, so that a later call does not have to. It hands out buffers that it has before it
 * maps another one: all of them are taken, until one comes that was not seen before, and then given back. Returns 0
 * where memory or OpenBLAS's table does not allow one more. */
static int add_buffer(void)
{
    void *held[MOST_BUFFERS + 1];
    int count = 0, found = 0;
    if (use.buffers == MOST_BUFFERS || !can_map(BUFFER_BYTES + (use.buffers > 0 ? SPARE_BYTES : 0)))
        return 0;
    while (blas.memory_alloc && !found && count <= MOST_BUFFERS) {
        held[count] = blas.memory_alloc(0);
        found = 1;
        for (int i = 0; i < use.buffers; i++)
            found = found && use.buffer[i] != held[count];
        count++;
    }
    use.buffer[use.buffers++] = count > 0 ? held[count - 1] : NULL;
    while (count > 0)
        blas.memory_free(held[--count]);
    return 1;
}

/* Reserves buffers until there are `wanted`, or until one is refused. */
static void add_buffers(int wanted)
{
    while (!use.refused && use.buffers < wanted)
        use.refused = !add_buffer();
}

static void limit_calls(int count)
{
    sem_init(&permits, 0, (unsigned)count);
    atomic_store(&limited, 1);
}

/* ---- fork ---- */

/* The lock is held during fork(): no other thread is then changing OpenBLAS's number of threads. OpenBLAS's own handler
 * ends its threads; it is registered earlier than these, so that it runs while the lock is held. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void forget_loops(void)
{
    pthread_mutex_init(&lock, NULL);
    use.inherited = use.loops > 0 && blas.kind == PTHREAD ? use.threads_before : use.inherited;
    use.loops = use.callers = 0;
    use.buffers = use.refused = 0; /* some may be in use by threads that are gone: those left are counted again */
    atomic_store(&limited, 0);
    if (blas.library && blas.kind == UNSAFE)
        limit_calls(1);
}

/* ---- loading ---- */

/* OpenBLAS's threads, for each of which it maps a buffer when it is loaded: a variable of the environment or, where it
 * has no number, the cores. Each build reads its own variable, and which build it is shows only after loading: the
 * larger number. */
static int threads_of_blas(void)
{
    static const char *const variable[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};
    int64_t most = 0;
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(variable[i]);
        int64_t count = 0;
        if (!text || !npi_number_parse_int(&count, text) || count < 1 || count >= 1 << 16)
            count = npi_cores();
        most = count > most ? count : most;
    }
    return (int)most;
}

/* Finds out which build it is, and the functions that the build needs; one without them stays UNSAFE. */
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

/* Loads BLAS if there is memory for what it maps at once. Under the lock. */
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
    if (pthread_atfork(before_fork, after_fork, forget_loops) != 0) {
        dlclose(b.library);
        return npi_fail(err, NPGNN_E_MEMORY, "not enough memory to load BLAS");
    }
    blas = b;
    if (blas.kind == UNSAFE)
        limit_calls(1);
    return 0;
}

int npi_blas_open(const npgnn_env *env, npgnn_error *err)
{
    int code = npi_kernels_check(err);
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    code = blas.library ? 0 : load(err);
    if (!code)
        add_buffers(1);
    if (!code && use.buffers == 0)
        code =
            npi_fail(err, NPGNN_E_MEMORY,
                     "not enough memory for BLAS: it needs a buffer of %zu MiB; raise the limit on memory (ulimit -v)",
                     BUFFER_BYTES >> 20);
    int note = !code && blas.kind == UNSAFE && env->threads > 1 && !use.noted;
    use.noted |= note;
    pthread_mutex_unlock(&lock);
    if (note)
        npi_log(
            env,
            "%s is not known to be safe for calls from several threads: matrix products run one at a time; OpenBLAS's "
            "pthread build is faster (Debian: libopenblas0-pthread)",
            NPI_BLAS);
    return code;
}

void npi_blas_numerics(char text[NPI_NUMERICS_SIZE])
{
    char *(*config)(void) = NULL, *(*core)(void) = NULL;
    const char *kernels = npi_kernels_best()->name;
    pthread_mutex_lock(&lock);
    if (blas.library && npi_library_find(&config, blas.library, "openblas_get_config") &&
        npi_library_find(&core, blas.library, "openblas_get_corename")) {
        /* "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": of its words, only name and version matter to the bits */
        const char *words = config();
        size_t name = strcspn(words, " "), version = words[name] ? strcspn(words + name + 1, " ") + 1 : 0;
        snprintf(text, NPI_NUMERICS_SIZE, "%s, %.*s %s", kernels, (int)(name + version), words, core());
    } else {
        snprintf(text, NPI_NUMERICS_SIZE, "%s, %s", kernels, blas.library ? "another BLAS" : "no BLAS");
    }
    pthread_mutex_unlock(&lock);
}

int npi_blas_open_among(const npgnn_env *env, npgnn_error *err)
{
    char kernels[NPI_NUMERICS_SIZE];
    int code = npi_comm_agree(env->comm, npi_blas_open(env, err), err);
    if (code || !env->comm)
        return code;
    npi_blas_numerics(kernels);
    return npi_comm_same(env->comm, npi_hash_bytes(NPI_HASH_START, kernels, strlen(kernels)),
                         "the set of kernels for the processor (NPGNN_KERNELS, OPENBLAS_CORETYPE)", err);
}

/* ---- calling ---- */

void npi_blas_begin(int threads)
{
    pthread_mutex_lock(&lock);
    if (!blas.library)
        load(NULL);
    assert(blas.library); /* whoever can report an error opens it first */
    /* one buffer for each thread of this loop and of those that run already, and one to spare; or permits for what is
     * left */
    int wanted = use.callers + threads + 1;
    if (!limited) {
        add_buffers(wanted);
        if (use.buffers < wanted)
            limit_calls(use.buffers - use.callers > 1 ? use.buffers - use.callers : 1);
    }
    use.callers += threads;
    if (use.loops++ == 0 && blas.kind == PTHREAD) {
        use.threads_before = use.inherited ? use.inherited : blas.get_num_threads();
        use.inherited = 0;
        if (use.threads_before != 1)
            blas.set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void npi_blas_end(int threads)
{
    pthread_mutex_lock(&lock);
    use.callers -= threads;
    if (--use.loops == 0) {
        if (blas.kind == PTHREAD && use.threads_before != 1)
            blas.set_num_threads(use.threads_before);
        if (blas.kind != UNSAFE)
            limited = 0;
    }
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
