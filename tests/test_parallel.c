/* Loops on several threads: every iteration runs exactly once, whatever the threads that the system grants, from nested
 * and concurrent callers, and in a child after fork(). */
#define _DEFAULT_SOURCE /* fork, waitpid, alarm */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/parallel.h"

enum { MOST = 5000, THREADS = 5 };

/* ---- threads that the system refuses: the linker sends the pool's calls here (tests/meson.build) ---- */

static atomic_int grants = THREADS * 100; /* threads that may still be created */
static atomic_int created;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
    if (atomic_fetch_sub(&grants, 1) <= 0)
        return EAGAIN;
    atomic_fetch_add(&created, 1);
    return __real_pthread_create(thread, attributes, start, arg);
}

/* Gives other threads the time to come. */
static void doze(void)
{
    nanosleep(&(struct timespec){0, 50000}, NULL);
}

/* ---- a loop that counts ---- */

typedef struct counting {
    atomic_int *runs;      /* (count) how often each iteration ran */
    atomic_int *at_worker; /* (THREADS) threads that are in the body with this index: never two */
    atomic_int *wrong;
    int threads;
    int64_t count;
} counting;

static void count_range(const void *arg, int64_t first, int64_t last)
{
    const counting *c = arg;
    int worker = npi_worker();
    if (worker < 0 || worker >= c->threads || first < 0 || first >= last || last > c->count)
        atomic_fetch_add(c->wrong, 1);
    else {
        if (atomic_fetch_add(&c->at_worker[worker], 1) != 0)
            atomic_fetch_add(c->wrong, 1);
        if (first == 0)
            doze();
        for (int64_t i = first; i < last; i++)
            atomic_fetch_add(&c->runs[i], 1);
        atomic_fetch_sub(&c->at_worker[worker], 1);
    }
}

/* Runs one loop; returns how many of its iterations, indices or ranges were wrong. */
static int wrong_in_loop(int threads, int64_t count, int64_t chunk)
{
    atomic_int runs[MOST] = {0}, at_worker[THREADS] = {0}, wrong = 0;
    counting c = {runs, at_worker, &wrong, threads, count};
    npi_parallel(threads, count, chunk, count_range, &c);
    for (int64_t i = 0; i < MOST; i++)
        if (runs[i] != (i < count))
            wrong++;
    return wrong;
}

static void test_every_iteration_once(void **state)
{
    (void)state;
    const int64_t counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 999, MOST};
    const int64_t chunks[] = {0, 1, 2, 7, 256, MOST + 1};
    for (int threads = 1; threads <= THREADS; threads++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            for (size_t j = 0; j < sizeof chunks / sizeof chunks[0]; j++)
                assert_int_equal(wrong_in_loop(threads, counts[i], chunks[j]), 0);
    assert_int_equal(npi_worker(), 0);
}

/* Many short loops in a row, with and without time for the threads to fall asleep in between. */
static void test_loop_after_loop(void **state)
{
    (void)state;
    const struct timespec nap = {0, 200000};
    for (int i = 0; i < 5000; i++)
        assert_int_equal(wrong_in_loop(2 + i % 3, 8 + i % 5, i % 2), 0);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(wrong_in_loop(THREADS, 64, i % 2), 0);
        nanosleep(&nap, NULL);
    }
}

/* ---- threads take part ---- */

typedef struct meeting {
    atomic_int *present;
    int wanted;
} meeting;

/* Returns once all are there; gives up after ten seconds. */
static void meet(const void *arg, int64_t first, int64_t last)
{
    const meeting *m = arg;
    double until = npi_clock_seconds() + 10;
    (void)first, (void)last;
    atomic_fetch_add(m->present, 1);
    while (atomic_load(m->present) < m->wanted && npi_clock_seconds() < until)
        doze();
}

/* An iteration that waits for the others: nobody but as many threads can run it. */
static int threads_meet(int threads, int64_t chunk)
{
    atomic_int present = 0;
    meeting m = {&present, threads};
    double start = npi_clock_seconds();
    npi_parallel(threads, threads, chunk, meet, &m);
    return present == threads && npi_clock_seconds() - start < 10;
}

static void test_as_many_threads_as_asked_for(void **state)
{
    (void)state;
    assert_true(threads_meet(THREADS, 0));
    assert_true(threads_meet(THREADS, 1));
    assert_true(threads_meet(2, 0));
}

/* ---- nested ---- */

typedef struct inner {
    pthread_t self;
    atomic_int *wrong, *runs;
} inner;

static void inner_range(const void *arg, int64_t first, int64_t last)
{
    const inner *in = arg;
    if (!pthread_equal(in->self, pthread_self()) || npi_worker() != 0)
        atomic_fetch_add(in->wrong, 1);
    doze();
    atomic_fetch_add(in->runs, (int)(last - first));
}

static void outer_range(const void *arg, int64_t first, int64_t last)
{
    const inner *outer = arg;
    for (int64_t i = first; i < last; i++) {
        int worker = npi_worker();
        atomic_int runs = 0;
        inner in = {pthread_self(), outer->wrong, &runs};
        npi_parallel(THREADS, 100, i % 2, inner_range, &in);
        if (runs != 100 || npi_worker() != worker)
            atomic_fetch_add(outer->wrong, 1);
    }
}

static void test_inner_loop_stays_on_its_thread(void **state)
{
    (void)state;
    atomic_int wrong = 0;
    inner outer = {.wrong = &wrong};
    npi_parallel(THREADS, 100, 1, outer_range, &outer);
    assert_int_equal(wrong, 0);
}

/* ---- callers at once ---- */

static void *run_loops(void *arg)
{
    int *wrong = arg;
    for (int i = 0; i < 500; i++)
        *wrong += wrong_in_loop(2 + i % 3, 100 + i, i % 4);
    return NULL;
}

/* More callers than there are teams (16): the last ones run alone, none waits for another. */
static void test_callers_at_once(void **state)
{
    (void)state;
    enum { CALLERS = 20 };
    pthread_t caller[CALLERS];
    int wrong[CALLERS] = {0};
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(__real_pthread_create(&caller[i], NULL, run_loops, &wrong[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(caller[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static void *hold_team(void *arg)
{
    npi_parallel(2, 2, 1, meet, arg);
    return NULL;
}

/* A second caller gets threads of its own while the first one's are busy. */
static void test_second_caller_has_threads(void **state)
{
    (void)state;
    atomic_int present = 0;
    meeting m = {&present, 3}; /* two of the first caller's loop, and this thread below */
    pthread_t first;
    assert_int_equal(__real_pthread_create(&first, NULL, hold_team, &m), 0);
    while (atomic_load(&present) < 2)
        doze();
    assert_true(threads_meet(2, 1));
    atomic_fetch_add(&present, 1);
    pthread_join(first, NULL);
}

/* ---- fewer threads than asked for; runs first, before there are any ---- */

static void test_refused_threads(void **state)
{
    (void)state;
    atomic_store(&grants, 0);
    assert_int_equal(wrong_in_loop(THREADS, 1000, 0), 0);
    assert_int_equal(wrong_in_loop(THREADS, 1000, 7), 0);
    assert_int_equal(created, 0);
    nanosleep(&(struct timespec){1, 100000000}, NULL); /* they are asked for again after a second */
    atomic_store(&grants, 2);
    assert_int_equal(wrong_in_loop(THREADS, 1000, 0), 0);
    assert_int_equal(wrong_in_loop(THREADS, 1000, 7), 0);
    assert_int_equal(created, 2);
    assert_true(threads_meet(3, 1));
    nanosleep(&(struct timespec){1, 100000000}, NULL);
    atomic_store(&grants, THREADS * 100);
    assert_true(threads_meet(THREADS, 0));
    assert_int_equal(created, THREADS - 1);
}

/* ---- fork ---- */

/* The child's verdict is its exit status. A child that hangs is ended by the alarm. */
static void check_child(void)
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        alarm(20);
        _exit(wrong_in_loop(THREADS, 1000, 0) || wrong_in_loop(THREADS, 1000, 3) || !threads_meet(2, 1));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_child_after_fork(void **state)
{
    (void)state;
    if (CHECK_TSAN)
        skip();
    assert_int_equal(wrong_in_loop(THREADS, 1000, 0), 0);
    check_child();
    assert_int_equal(wrong_in_loop(THREADS, 1000, 0), 0);
}

/* A fork while another thread's loop runs: its team is of no use in the child. */
static void test_child_while_a_loop_runs(void **state)
{
    (void)state;
    atomic_int present = 0;
    meeting m = {&present, 3};
    pthread_t other;
    if (CHECK_TSAN)
        skip();
    assert_int_equal(__real_pthread_create(&other, NULL, hold_team, &m), 0);
    while (atomic_load(&present) < 2)
        doze();
    check_child();
    atomic_fetch_add(&present, 1);
    pthread_join(other, NULL);
}

static void test_cores(void **state)
{
    (void)state;
    assert_in_range(npi_cores(), 1, 1 << 20);
    assert_int_equal(npgnn_cores(), npi_cores());
}

static void test_quota(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int cores;
    } cases[] = {{"200000 100000\n", 2}, {"150000 100000\n", 2}, {"1000 100000\n", 1}, {"max 100000\n", 0}, {"", 0},
                 {"-1 100000\n", 0},     {"5 0\n", 0},           {"9999999999 1\n", 0}};
    char path[] = "/tmp/npgnn_quota_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, cases[i].text, length, 0), length);
        assert_int_equal(npi_cores_quota(path), cases[i].cores);
    }
    close(file);
    unlink(path);
    assert_int_equal(npi_cores_quota(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_threads),
        cmocka_unit_test(test_every_iteration_once),
        cmocka_unit_test(test_loop_after_loop),
        cmocka_unit_test(test_as_many_threads_as_asked_for),
        cmocka_unit_test(test_inner_loop_stays_on_its_thread),
        cmocka_unit_test(test_callers_at_once),
        cmocka_unit_test(test_second_caller_has_threads),
        cmocka_unit_test(test_child_after_fork),
        cmocka_unit_test(test_child_while_a_loop_runs),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
