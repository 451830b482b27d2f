// SPDX-License-Identifier: Apache-2.0
// One pool of threads (base/thread_pool.h).
//
// A run is an object on its caller's stack, in a list while its call lasts. The caller and the threads of the pool take numbers from it until
// there are none; then the caller waits for those who are still inside. It never waits for anybody to come, which is why runs inside runs cannot block.
#define _GNU_SOURCE     // pthread_attr_setaffinity_np
#include "base/thread_pool.h"

#include "base/processors.h"
#include "base/thread_signals.h"
#include "base/timeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { WOKEN_BY_EACH = 2 };     // who has work to share wakes so many, and they others: all are awake after a few steps

typedef struct run {
    void (*work)(void *user, uint64_t i);
    void *user;
    uint64_t count;
    _Atomic uint64_t taken;     // may pass the count
    uint32_t inside;            // threads of the pool that are at it; guarded by the lock
    struct run *next;
} run;

struct hdst__thread_pool {
    const hdst__allocator *allocator;
    long process;               // whose threads these are
    uint32_t size;
    hdst__processors processors;
    hdst__timeline *timeline;
    pthread_mutex_t lock;       // of all below
    pthread_cond_t work, ended; // there is a run, or the pool ends; the last thread has left a run
    run *runs;
    uint32_t started, idle;     // threads beside the callers
    bool ending;
    pthread_t thread[];
};

hdst__thread_pool *hdst__thread_pool_create(const hdst__allocator *allocator, uint32_t threads)
{
    hdst__processors processors;
    hdst__processors_find(&processors);
    if (threads == 0) threads = processors.count;
    if (threads > HDST__MOST_THREADS) threads = HDST__MOST_THREADS;
    hdst__thread_pool *pool = hdst__alloc_zero(allocator, sizeof *pool + threads * sizeof *pool->thread);
    if (!pool) return NULL;
    pool->allocator = allocator;
    pool->process = (long)getpid();
    pool->size = threads;
    pool->processors = processors;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->ended, NULL);
    return pool;
}

static bool is_forked(const hdst__thread_pool *pool) { return pool->process != (long)getpid(); }

void hdst__thread_pool_destroy(hdst__thread_pool *pool)
{
    if (!pool) return;
    if (!is_forked(pool)) {             // else there is nobody to end, and who waited when the process was forked is waited for for ever
        pthread_mutex_lock(&pool->lock);
        pool->ending = true;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->thread[i], NULL);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->ended);
        pthread_mutex_destroy(&pool->lock);
    }
    hdst__free(pool->allocator, pool);
}

uint32_t hdst__thread_pool_size(const hdst__thread_pool *pool) { return pool->size; }
void hdst__thread_pool_record(hdst__thread_pool *pool, hdst__timeline *timeline) { pool->timeline = timeline; }
hdst__timeline *hdst__thread_pool_timeline(const hdst__thread_pool *pool) { return pool->timeline; }

// --- A thread. With the lock held, but in do_work ---

static bool has_work(run *r) { return atomic_load_explicit(&r->taken, memory_order_relaxed) < r->count; }

static run *find_run(const hdst__thread_pool *pool)
{
    run *r = pool->runs;
    while (r && !has_work(r)) r = r->next;
    return r;
}

static void wake(hdst__thread_pool *pool)
{
    for (uint32_t i = 0; i < WOKEN_BY_EACH && i < pool->idle; i++) pthread_cond_signal(&pool->work);
}

static void do_work(run *r)
{
    for (uint64_t i; (i = atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed)) < r->count;) r->work(r->user, i);
}

static void join_run(hdst__thread_pool *pool, run *r)
{
    r->inside++;
    wake(pool);
    pthread_mutex_unlock(&pool->lock);
    const double begin = hdst__timeline_begin(pool->timeline);
    do_work(r);
    hdst__timeline_end(pool->timeline, begin, "work for the caller", NULL, 0);
    pthread_mutex_lock(&pool->lock);
    if (--r->inside == 0) pthread_cond_broadcast(&pool->ended);
}

static void *thread_main(void *user)
{
    hdst__thread_pool *pool = user;
    hdst__timeline_name_thread(pool->timeline, "thread of the pool");
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        run *r = find_run(pool);
        if (r) {
            join_run(pool, r);
            continue;
        }
        pool->idle++;
        pthread_cond_wait(&pool->work, &pool->lock);
        pool->idle--;
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// --- The caller ---

// Threads that stay near the memory of a node, where there are several: what a thread touches first is then near it for good.
static bool start_thread(hdst__thread_pool *pool)
{
    const cpu_set_t *node = hdst__processors_of_thread(&pool->processors, pool->started + 1, pool->size);
    pthread_t *thread = &pool->thread[pool->started];
    pthread_attr_t attributes;
    bool started = false;
    if (node && pthread_attr_init(&attributes) == 0) {
        started = pthread_attr_setaffinity_np(&attributes, sizeof *node, node) == 0 && pthread_create(thread, &attributes, thread_main, pool) == 0;
        pthread_attr_destroy(&attributes);
    }
    return started || pthread_create(thread, NULL, thread_main, pool) == 0;
}

// As many as the run can use.
static void start_threads(hdst__thread_pool *pool, uint64_t count)
{
    if (pool->started + 1 >= pool->size || pool->started + 1 >= count) return;
    sigset_t before;
    hdst__thread_signals_block(&before);
    while (pool->started + 1 < pool->size && pool->started + 1 < count && start_thread(pool)) pool->started++;
    hdst__thread_signals_restore(&before);
}

static void remove_run(hdst__thread_pool *pool, const run *r)
{
    run **at = &pool->runs;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
}

void hdst__thread_pool_run(hdst__thread_pool *pool, uint64_t count, void (*work)(void *user, uint64_t i), void *user)
{
    run r = {.work = work, .user = user, .count = count};
    if (count < 2 || pool->size < 2 || is_forked(pool)) {
        do_work(&r);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    start_threads(pool, count);
    r.next = pool->runs;
    pool->runs = &r;
    wake(pool);
    pthread_mutex_unlock(&pool->lock);
    do_work(&r);
    pthread_mutex_lock(&pool->lock);
    remove_run(pool, &r);
    while (r.inside) pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
