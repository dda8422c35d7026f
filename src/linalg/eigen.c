/* The k largest eigenvalues of a symmetric operator S x and their eigenvectors, by the implicitly restarted Lanczos
 * method of ARPACK. ARPACK needs only products y = S x, for which it returns to the caller ("reverse
 * communication"). */
#include "linalg/eigen.h"

#include <arpack/arpack.h>
#include <dlfcn.h>
#include <pthread.h>

#include "linalg/dense.h"

#define TOLERANCE 1e-9 /* of an eigenvalue, relative */
#define RESTARTS 1000

/* ARPACK's work space, by the names of its manual. */
typedef struct work {
    int32_t n;
    int k, ncv; /* ncv: vectors of the Krylov space between two restarts */
    double *v;  /* (ncv, n) */
    double *workd, *workl;
    a_int lworkl, *select;
    a_int iparam[11], ipntr[11];
} work;

static int work_new(work *w, int32_t n, int k, const npgnn_env *env, npgnn_error *err)
{
    int ncv = 2 * k + 20; /* twice as many as are wanted, as its manual advises, and some for small k */
    w->n = n;
    w->k = k;
    w->ncv = ncv < n ? ncv : n;
    w->lworkl = w->ncv * (w->ncv + 8);
    w->v = npi_alloc(env, (size_t)w->ncv * (size_t)n, sizeof *w->v, err);
    w->workd = npi_alloc(env, 3 * (size_t)n, sizeof *w->workd, err);
    w->workl = npi_alloc(env, (size_t)w->lworkl, sizeof *w->workl, err);
    w->select = npi_alloc(env, (size_t)w->ncv, sizeof *w->select, err);
    w->iparam[0] = 1; /* shifts are its own */
    w->iparam[2] = RESTARTS;
    w->iparam[3] = 1; /* blocks of one vector */
    w->iparam[6] = 1; /* the plain problem S x = λ x */
    return w->v && w->workd && w->workl && w->select ? 0 : NPGNN_E_MEMORY;
}

static void work_free(const npgnn_env *env, work *w)
{
    npi_free(env, w->v);
    npi_free(env, w->workd);
    npi_free(env, w->workl);
    npi_free(env, w->select);
}

/* ARPACK is loaded when it is first needed, because it loads BLAS (linalg/blas.c says why that matters). It keeps
 * static variables between its calls, so one computation runs at a time, under this lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* dseupd_c, the C interface, copies `select` to an array that it allocates without a check. The Fortran routine itself
 * takes the array of the caller: every argument by address, and at the end the lengths of the texts. */
typedef void dseupd_fn(const a_int *rvec, const char *howmny, a_int *select, double *d, double *z, const a_int *ldz,
                       const double *sigma, const char *bmat, const a_int *n, const char *which, const a_int *nev,
                       const double *tol, double *resid, const a_int *ncv, double *v, const a_int *ldv, a_int *iparam,
                       a_int *ipntr, double *workd, double *workl, const a_int *lworkl, a_int *info,
                       size_t howmny_length, size_t bmat_length, size_t which_length);

static struct arpack {
    void *library; /* NULL: not open */
    __typeof__(dsaupd_c) *dsaupd;
    dseupd_fn *dseupd;
} arpack;

/* In a child after fork(): whoever computed in another thread of the parent is gone. The next computation sets ARPACK's
 * variables anew. */
static void forget_computation(void)
{
    pthread_mutex_init(&lock, NULL);
}

static int load(npgnn_error *err)
{
    static int registered;
    if (!registered && pthread_atfork(NULL, NULL, forget_computation) != 0)
        return npi_fail(err, NPGNN_E_MEMORY, "not enough memory to load ARPACK");
    registered = 1;
    struct arpack a = {.library = dlopen(NPI_ARPACK, RTLD_NOW | RTLD_LOCAL)};
    if (!a.library)
        return npi_fail(err, NPGNN_E_IO, "cannot load ARPACK: %s; install it (Debian: libarpack2)", dlerror());
    if (!npi_library_find(&a.dsaupd, a.library, "dsaupd_c") || !npi_library_find(&a.dseupd, a.library, "dseupd_")) {
        dlclose(a.library);
        return npi_fail(err, NPGNN_E_IO, "cannot use %s: it lacks dsaupd_c or dseupd_", NPI_ARPACK);
    }
    arpack = a;
    return 0;
}

/* Returns ARPACK's info, 0 for success. */
static a_int iterate(double *values, double *vectors, double *start, work *w, npi_operator_fn *multiply,
                     const void *user)
{
    enum { PRODUCT = 1, AGAIN = -1, START_GIVEN = 1 };
    a_int ido = 0, info = START_GIVEN;
    do {
        arpack.dsaupd(&ido, "I", w->n, "LA", w->k, TOLERANCE, start, w->ncv, w->v, w->n, w->iparam, w->ipntr, w->workd,
                      w->workl, w->lworkl, &info);
        /* y = S x, at the offsets within workd that ARPACK names, counted from 1 */
        if (ido == PRODUCT || ido == AGAIN)
            multiply(w->workd + w->ipntr[1] - 1, w->workd + w->ipntr[0] - 1, user);
    } while (ido == PRODUCT || ido == AGAIN);
    if (info == 0) {
        const a_int yes = 1, n = w->n, k = w->k, ncv = w->ncv;
        const double sigma = 0, tolerance = TOLERANCE;
        arpack.dseupd(&yes, "A", w->select, values, vectors, &n, &sigma, "I", &n, "LA", &k, &tolerance, start, &ncv,
                      w->v, &n, w->iparam, w->ipntr, w->workd, w->workl, &w->lworkl, &info, 1, 1, 2);
    }
    return info;
}

int npi_eigen_largest(double *values, double *vectors, double *start, int32_t n, int k, npi_operator_fn *multiply,
                      const void *user, const npgnn_env *env, npgnn_error *err)
{
    work w = {0};
    a_int info = 0;
    int code = npi_blas_open(env, err);
    if (!code)
        code = work_new(&w, n, k, env, err);
    pthread_mutex_lock(&lock);
    if (!code && !arpack.library)
        code = load(err);
    if (!code) {
        npi_blas_begin(1); /* ARPACK's own BLAS calls: their bits would depend on the number of threads */
        npi_blas_call call = npi_blas_enter();
        info = iterate(values, vectors, start, &w, multiply, user);
        npi_blas_leave(call);
        npi_blas_end(1);
    }
    pthread_mutex_unlock(&lock);
    work_free(env, &w);
    if (info != 0)
        return npi_fail(err, NPGNN_E_DIVERGED, "ARPACK did not find %d eigenvectors of a matrix of %d rows (info %d)",
                        k, (int)n, (int)info);
    return code;
}
