/* Loops on several threads: teams of POSIX threads that outlive the loop.
 *
 * A team is one caller at a time and its workers. Everything that a worker must know to join a loop is in one atomic
 * word, the team's state:
 *
 *     bits 0 to 15    workers that are in the loop, besides the caller
 *     bits 16 to 31   threads that the loop is for, with the caller
 *     bit 32          open: workers may still join
 *     bit 33          quit: workers must end
 *     bits 34 to 63   number of the loop
 *
 * A worker joins by adding one to an open state, and leaves by subtracting it. The caller runs its own share, then what
 * nobody has taken, then closes the state and waits for the workers that joined. So it never waits for a thread that
 * has not started, and a worker that comes late finds the state closed and touches nothing. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "base/parallel.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/env.h"

#define MOST_THREADS 1024      /* per team */
#define TEAMS 16               /* loops of different callers at once; further ones run on their callers alone */
#define STACK_BYTES (2u << 20) /* of a worker: the bodies keep less than 100 kB there */
#define SPIN_SECONDS 40e-6     /* awake without work: about what putting a thread to sleep and waking it costs */
#define RETRY_SECONDS 1        /* after the system refused a thread */

#define IN_LOOP UINT64_C(0xffff)
#define THREADS_SHIFT 16
#define OPEN (UINT64_C(1) << 32)
#define QUIT (UINT64_C(1) << 33)
#define LOOP_SHIFT 34
#define NO_LOOP UINT64_MAX

typedef struct team team;

typedef struct worker {
    _Alignas(64) team *team;
    int index; /* from 1; the caller is 0 */
    pthread_t thread;
    pthread_cond_t wake;
    atomic_int asleep;
} worker;

struct team {
    _Alignas(64) atomic_uint_fast64_t state;
    _Alignas(64) atomic_int_fast64_t next; /* the first iteration that nobody has taken (chunk > 0) */
    _Alignas(64) atomic_int taken;         /* by a caller */
    /* the loop; written by the caller while the state is closed and empty */
    npi_body *body;
    const void *arg;
    int64_t count, chunk;
    int threads, spin;
    atomic_uchar claimed[MOST_THREADS]; /* ranges (chunk 0) */
    /* the threads */
    int ready;       /* lock and done are initialised */
    int workers;     /* that exist */
    double retry_at; /* no new thread is asked for earlier */
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_int caller_asleep;
    worker worker[MOST_THREADS];
};

/* The one state that the library shares between calls: threads that wait for work. */
static team teams[TEAMS];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int usable; /* teams survive fork() */
static int cores;

/* 0: outside of any loop; otherwise 1 + the index of this thread among those of the loop. */
static _Thread_local int inside;

int npi_worker(void)
{
    return inside ? inside - 1 : 0;
}

/* ---- cores ---- */

int npi_cores_quota(const char *path)
{
    char text[64];
    long long time, period;
    int file = open(path, O_RDONLY | O_CLOEXEC); /* "TIME PERIOD" or "max PERIOD" */
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    if (sscanf(text, "%lld %lld", &time, &period) != 2 || time <= 0 || period <= 0 || time / period >= MOST_THREADS)
        return 0;
    return (int)((time + period - 1) / period);
}

int npi_cores(void)
{
    cpu_set_t set;
    int limit = npi_cores_quota("/sys/fs/cgroup/cpu.max"), count = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    else /* more than 1024 cores: the mask does not hold them */
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (limit > 0 && limit < count)
        count = limit;
    return count < 1 ? 1 : count;
}

int npgnn_cores(void)
{
    return npi_cores();
}

/* ---- a thread's share of a loop ---- */

static void run_range(const team *t, int range)
{
    int64_t first = t->count * range / t->threads, last = t->count * (range + 1) / t->threads;
    t->body(t->arg, first, last);
}

static void take_part(team *t, int index)
{
    int64_t first;
    inside = 1 + index;
    if (t->chunk > 0)
        while ((first = atomic_fetch_add_explicit(&t->next, t->chunk, memory_order_relaxed)) < t->count)
            t->body(t->arg, first, t->count - first < t->chunk ? t->count : first + t->chunk);
    else /* its own range first, then those whose threads have not come yet */
        for (int i = 0; i < t->threads; i++) {
            int range = (index + i) % t->threads;
            if (!atomic_load_explicit(&t->claimed[range], memory_order_relaxed) &&
                !atomic_exchange_explicit(&t->claimed[range], 1, memory_order_relaxed))
                run_range(t, range);
        }
    inside = 0;
}

/* ---- waiting ---- */

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whether a waiting thread should look once more before it goes to sleep. */
static int keep_spinning(int looks, double *until)
{
    enum { LOOKS_PER_CLOCK = 64 };
    if (looks == 0)
        *until = npi_clock_seconds() + SPIN_SECONDS;
    pause_core();
    return looks % LOOKS_PER_CLOCK != LOOKS_PER_CLOCK - 1 || npi_clock_seconds() < *until;
}

/* Whether a state has something to do for a worker that has seen loop `seen`. */
static int wants(uint64_t state, const worker *w, uint64_t seen)
{
    if (state & QUIT)
        return 1;
    return state & OPEN && state >> LOOP_SHIFT != seen && (uint64_t)w->index < (state >> THREADS_SHIFT & 0xffff);
}

static uint64_t await_loop(worker *w, uint64_t seen, int spin)
{
    team *t = w->team;
    double until = 0;
    uint64_t state = atomic_load(&t->state);
    for (int looks = 0; !wants(state, w, seen) && spin && keep_spinning(looks, &until); looks++)
        state = atomic_load(&t->state);
    if (wants(state, w, seen))
        return state;
    pthread_mutex_lock(&t->lock);
    /* sequentially consistent, as the caller's store to the state and load of this: one of the two sees the other's */
    atomic_store(&w->asleep, 1);
    while (state = atomic_load(&t->state), !wants(state, w, seen))
        pthread_cond_wait(&w->wake, &t->lock);
    atomic_store(&w->asleep, 0);
    pthread_mutex_unlock(&t->lock);
    return state;
}

static void *work(void *arg)
{
    worker *w = arg;
    team *t = w->team;
    uint64_t seen = NO_LOOP;
    int spin = 0;
    for (;;) {
        uint64_t state = await_loop(w, seen, spin);
        if (state & QUIT)
            return NULL;
        if (!atomic_compare_exchange_strong(&t->state, &state, state + 1))
            continue;
        seen = state >> LOOP_SHIFT;
        spin = t->spin;
        take_part(t, w->index);
        atomic_fetch_sub(&t->state, 1);
        if (atomic_load(&t->caller_asleep)) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_signal(&t->done);
            pthread_mutex_unlock(&t->lock);
        }
    }
}

static void await_workers(team *t)
{
    double until = 0;
    for (int looks = 0; t->spin && atomic_load(&t->state) & IN_LOOP && keep_spinning(looks, &until); looks++) {
    }
    if (!(atomic_load(&t->state) & IN_LOOP))
        return;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->caller_asleep, 1);
    while (atomic_load(&t->state) & IN_LOOP)
        pthread_cond_wait(&t->done, &t->lock);
    atomic_store(&t->caller_asleep, 0);
    pthread_mutex_unlock(&t->lock);
}

static void wake_workers(team *t, int threads)
{
    for (int i = 1; i < threads; i++) {
        worker *w = &t->worker[i];
        if (!atomic_load(&w->asleep))
            continue;
        pthread_mutex_lock(&t->lock);
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&t->lock);
    }
}

/* ---- teams ---- */

/* In a child after fork() no worker exists any more, and whoever held a lock is gone. */
static void forget_threads(void)
{
    for (int i = 0; i < TEAMS; i++) {
        team *t = &teams[i];
        t->ready = t->workers = 0;
        t->retry_at = 0;
        atomic_store(&t->state, 0);
        atomic_store(&t->caller_asleep, 0);
        atomic_store(&t->taken, 0);
    }
}

static void prepare(void)
{
    cores = npi_cores();
    usable = pthread_atfork(NULL, NULL, forget_threads) == 0;
}

static team *take_team(void)
{
    pthread_once(&once, prepare);
    for (int i = 0; usable && i < TEAMS; i++)
        if (!atomic_load_explicit(&teams[i].taken, memory_order_relaxed) && !atomic_exchange(&teams[i].taken, 1))
            return &teams[i];
    return NULL;
}

/* One more worker. Returns 0 when the system grants none. */
static int start_worker(team *t)
{
    int index = t->workers + 1;
    worker *w = &t->worker[index];
    sigset_t all, before;
    pthread_attr_t attributes;
    *w = (worker){.team = t, .index = index};
    if (pthread_cond_init(&w->wake, NULL) != 0 || pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* signals are for the application's threads: a worker inherits a mask that blocks them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = pthread_create(&w->thread, &attributes, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    t->workers += started;
    return started;
}

/* Makes the team as large as `threads`, or as the system allows. Returns its size, with the caller. */
static int grow(team *t, int threads)
{
    if (!t->ready) {
        if (pthread_mutex_init(&t->lock, NULL) != 0 || pthread_cond_init(&t->done, NULL) != 0)
            return 1;
        t->ready = 1;
    }
    if (t->workers + 1 < threads && npi_clock_seconds() >= t->retry_at)
        while (t->workers + 1 < threads)
            if (!start_worker(t)) {
                t->retry_at = npi_clock_seconds() + RETRY_SECONDS;
                break;
            }
    return t->workers + 1 < threads ? t->workers + 1 : threads;
}

/* At exit() and dlclose(): ends the threads of every team that nobody uses. The teams stay taken. */
__attribute__((destructor)) static void end_threads(void)
{
    for (int i = 0; i < TEAMS; i++) {
        team *t = &teams[i];
        if (atomic_exchange(&t->taken, 1))
            continue;
        atomic_fetch_or(&t->state, QUIT);
        wake_workers(t, t->workers + 1);
        for (int index = 1; index <= t->workers; index++)
            pthread_join(t->worker[index].thread, NULL);
    }
}

/* ---- loops ---- */

/* On the calling thread alone: for the body it is the only thread, also where the loop is inside another one. */
static void run_alone(int64_t count, npi_body *body, const void *arg)
{
    int outer = inside;
    inside = outer ? 1 : 0;
    body(arg, 0, count);
    inside = outer;
}

static void run_team(team *t, int threads, int64_t count, int64_t chunk, npi_body *body, const void *arg)
{
    uint64_t loop = (atomic_load(&t->state) >> LOOP_SHIFT) + 1;
    t->body = body;
    t->arg = arg;
    t->count = count;
    t->chunk = chunk;
    t->threads = threads;
    t->spin = threads <= cores; /* otherwise a thread that spins takes the core from one that works */
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    for (int i = 0; chunk == 0 && i < threads; i++)
        atomic_store_explicit(&t->claimed[i], 0, memory_order_relaxed);
    atomic_store(&t->state, loop << LOOP_SHIFT | OPEN | (uint64_t)threads << THREADS_SHIFT);
    wake_workers(t, threads);
    take_part(t, 0);
    atomic_fetch_and(&t->state, ~OPEN);
    await_workers(t);
}

void npi_parallel(int threads, int64_t count, int64_t chunk, npi_body *body, const void *arg)
{
    int64_t shares = chunk > 0 ? (count + chunk - 1) / chunk : count;
    if (count <= 0)
        return;
    if (threads > shares)
        threads = (int)shares;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    team *t = threads > 1 && !inside ? take_team() : NULL;
    int granted = t ? grow(t, threads) : 1;
    if (granted > 1)
        run_team(t, granted, count, chunk, body, arg);
    else
        run_alone(count, body, arg);
    if (t)
        atomic_store(&t->taken, 0);
}
