// SPDX-License-Identifier: Apache-2.0
// One pool of threads for all that the library computes, reads and moves on the host: made with a runtime, its threads started when they are first needed and
// kept, so that work of a fraction of a millisecond is worth sharing.
//
// Threads: all functions but create and destroy may be called from any thread, and from work that the pool does. In a process that was forked from the
// pool's own its threads are not there: the caller does all of the work.
#ifndef HDST_BASE_THREAD_POOL_H
#define HDST_BASE_THREAD_POOL_H

#include "base/alloc.h"

#include <stdint.h>

enum { HDST__MOST_THREADS = 256 };      // of a pool

typedef struct hdst__thread_pool hdst__thread_pool;
struct hdst__timeline;

// threads: how many work at once, the caller of run included; 0: as many as this process may use processors (base/processors.h). Starts none. NULL: out of
// memory.
hdst__thread_pool *hdst__thread_pool_create(const hdst__allocator *allocator, uint32_t threads);
void hdst__thread_pool_destroy(hdst__thread_pool *pool);        // while nothing runs; NULL is fine

uint32_t hdst__thread_pool_size(const hdst__thread_pool *pool); // threads that work at once, the caller included: 1 or more, HDST__MOST_THREADS at most
// What its threads do is on the timeline from now on; before the first run. NULL: nobody asks.
void hdst__thread_pool_record(hdst__thread_pool *pool, struct hdst__timeline *timeline);
struct hdst__timeline *hdst__thread_pool_timeline(const hdst__thread_pool *pool);
// Calls work(user, i) once for each i < count, in that order but several at once, on the calling thread and those of the pool that are free; returns when all
// have ended. Whoever waits in work(i) for an earlier one waits for one that has begun, for a later one maybe for ever. Threads that cannot be started are
// done without. Several runs may be under way, one inside another too: each has its caller at least.
void hdst__thread_pool_run(hdst__thread_pool *pool, uint64_t count, void (*work)(void *user, uint64_t i), void *user);

#endif
