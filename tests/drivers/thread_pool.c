// SPDX-License-Identifier: Apache-2.0
// The pool of threads, as a plain program, because Criterion does not start under the thread sanitizer: every number is worked on once, runs are inside runs
// and beside runs, threads that cannot be started are done without, a child of fork works alone. Exits with 1 and says why when something is wrong.
#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 20000, SHORT_RUNS = 2000, CALLERS = 3, INNER = 50 };

static bool failed;

static void check(bool right, const char *what)
{
    if (right) return;
    fprintf(stderr, "thread_pool: %s\n", what);
    failed = true;
}

static hdst__thread_pool *make(uint32_t threads)
{
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
    if (!pool) exit(2);
    return pool;
}

// --- Each number once; the results are the caller's ---

static void square(void *user, uint64_t i) { ((uint64_t *)user)[i] += i * i; }        // no atomics: nobody else has this number

static void every_number_once(uint32_t threads)
{
    hdst__thread_pool *pool = make(threads);
    uint64_t *squares = calloc(NUMBERS, sizeof *squares);
    hdst__thread_pool_run(pool, 0, square, squares);
    hdst__thread_pool_run(pool, 1, square, squares);
    hdst__thread_pool_run(pool, NUMBERS, square, squares);
    bool right = true;
    for (uint64_t i = 0; i < NUMBERS; i++) right = right && squares[i] == i * i;
    check(right, "a number was left out or came twice");
    for (uint64_t n = 0; n < SHORT_RUNS; n++) {
        memset(squares, 0, 8 * sizeof *squares);
        hdst__thread_pool_run(pool, n % 8, square, squares);
        for (uint64_t i = 0; i < 8; i++) right = right && squares[i] == (i < n % 8 ? i * i : 0);
    }
    check(right, "a short run was not done when it returned");
    free(squares);
    hdst__thread_pool_destroy(pool);
}

// --- At the same time, and no more than the size ---

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t came;
    uint32_t here, wanted, most;
} meeting;

static void meet(void *user, uint64_t i)
{
    (void)i;
    meeting *m = user;
    pthread_mutex_lock(&m->lock);
    if (++m->here > m->most) m->most = m->here;
    pthread_cond_broadcast(&m->came);
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 10;
    while (m->most < m->wanted && pthread_cond_timedwait(&m->came, &m->lock, &late) == 0) {}
    m->here--;
    pthread_mutex_unlock(&m->lock);
}

static void all_threads_at_once(void)
{
    hdst__thread_pool *pool = make(4);
    check(hdst__thread_pool_size(pool) == 4, "the pool has not the size that was asked for");
    meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .wanted = 4};
    for (int turn = 0; turn < 3; turn++) {              // at first threads are started, then those that are idle are woken
        m.most = 0;
        hdst__thread_pool_run(pool, 4, meet, &m);
        check(m.most == 4, "not all threads worked at once");
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    }
    m.wanted = 0;
    m.most = 0;
    hdst__thread_pool_run(pool, NUMBERS, meet, &m);
    check(m.most <= 4, "more threads worked at once than the pool has");
    hdst__thread_pool_destroy(pool);
}

// --- The last one to end ---

static void sleep_and_square(void *user, uint64_t i)
{
    if (i) nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    atomic_fetch_add((_Atomic uint64_t *)user, i * i);
}

static void returns_when_all_have_ended(void)
{
    hdst__thread_pool *pool = make(4);
    _Atomic uint64_t sum = 0;
    hdst__thread_pool_run(pool, 4, sleep_and_square, &sum);
    check(sum == 14, "a run returned while a thread was at it");
    hdst__thread_pool_destroy(pool);
}

// --- Runs inside runs, from several threads ---

typedef struct sums {
    hdst__thread_pool *pool;
    _Atomic uint64_t sum;
} sums;

static void add(void *user, uint64_t i) { atomic_fetch_add(&((sums *)user)->sum, i); }

static void add_inside(void *user, uint64_t i)
{
    sums *s = user, inner = {s->pool, 0};
    hdst__thread_pool_run(s->pool, INNER + i % 2, add, &inner);
    atomic_fetch_add(&s->sum, inner.sum);
}

static void *call(void *user)
{
    sums s = {user, 0};
    hdst__thread_pool_run(s.pool, NUMBERS / INNER, add_inside, &s);
    const uint64_t even = INNER * (INNER - 1) / 2, odd = even + INNER;
    return s.sum == NUMBERS / INNER / 2 * (even + odd) ? s.pool : NULL;
}

static void runs_inside_and_beside_runs(uint32_t threads)
{
    hdst__thread_pool *pool = make(threads);
    pthread_t caller[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&caller[i], NULL, call, pool)) exit(2);
    for (int i = 0; i < CALLERS; i++) {
        void *right;
        pthread_join(caller[i], &right);
        check(right != NULL, "runs inside and beside each other mixed their numbers");
    }
    hdst__thread_pool_destroy(pool);
}

// --- Where threads are not to be had ---

static void note_thread(void *user, uint64_t i)
{
    ((pthread_t *)user)[i] = pthread_self();
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000}, NULL);     // others would have the time to come
}

static bool caller_does_all(hdst__thread_pool *pool)
{
    pthread_t by[64];
    hdst__thread_pool_run(pool, 64, note_thread, by);
    for (int i = 0; i < 64; i++)
        if (!pthread_equal(by[i], pthread_self())) return false;
    return true;
}

static int wait_for(pid_t child)
{
    int status = -1;
    for (int i = 0; i < 1000; i++) {
        if (waitpid(child, &status, WNOHANG) != 0) return status;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void a_child_works_alone(void)
{
    hdst__thread_pool *pool = make(3);
    uint64_t squares[64] = {0};
    hdst__thread_pool_run(pool, 64, square, squares);           // its threads are started, and soon idle
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    const pid_t child = fork();
    if (child == 0) {
        const bool alone = caller_does_all(pool);
        hdst__thread_pool_destroy(pool);
        _exit(alone ? 0 : 1);
    }
    check(wait_for(child) == 0, "a child of fork did not do the work alone");
    hdst__thread_pool_destroy(pool);
}

// Address space for no stack of a thread: none can be started, as long as there never was one, whose stack the library keeps for the next. (Not under
// sanitizers, which need terabytes of address space.)
static void without_threads(void)
{
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    const pid_t child = fork();
    if (child == 0) {
        hdst__thread_pool *pool = make(3);
        const struct rlimit none = {1 << 20, 1 << 20};
        if (setrlimit(RLIMIT_AS, &none)) _exit(2);
        _exit(caller_does_all(pool) ? 0 : 1);
    }
    check(wait_for(child) == 0, "without threads the caller did not do the work");
#endif
}

int main(void)
{
    without_threads();
    for (uint32_t threads = 1; threads <= 8; threads++) every_number_once(threads);
    all_threads_at_once();
    returns_when_all_have_ended();
    for (uint32_t threads = 1; threads <= 4; threads++) runs_inside_and_beside_runs(threads);
    a_child_works_alone();
    hdst__thread_pool *pool = make(0), *many = make(1u << 30);
    check(hdst__thread_pool_size(pool) >= 1, "a pool without threads");
    check(hdst__thread_pool_size(many) == HDST__MOST_THREADS, "more threads than a pool has at most");
    hdst__thread_pool_destroy(pool);
    hdst__thread_pool_destroy(many);
    hdst__thread_pool_destroy(NULL);
    return failed;
}
