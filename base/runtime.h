// SPDX-License-Identifier: Apache-2.0
// What an engine shares with all that runs in it: memory within its budget, its threads, its log, the cancel of the call in progress, its lock.
//
// Threads: `mutex` is held while a stage runs and by all functions that say so. The budget is atomic in itself, and so is the cancel.
#ifndef HDST_BASE_RUNTIME_H
#define HDST_BASE_RUNTIME_H

#include "base/alloc.h"
#include "base/budget.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "base/timeline.h"

#include <pthread.h>
#include <stdint.h>

// Temporary files of an engine (base/temporary_file.h).
typedef struct hdst__temporary_files {
    hdst__meter bytes;                  // that were written and whose files are still there
    bool (*in_memory)(int file);        // whether a file lies in memory, as on a tmpfs
    _Atomic bool are_in_memory;         // one did: that is told once
} hdst__temporary_files;

// Cached datasets of which a part stays as long as nobody else wants its memory (engine/memory/partial_cache.c), and those of which all does until a run
// lacks it (engine/memory/whole_cache.c).
typedef struct hdst__partial_caches {
    pthread_mutex_t mutex;              // under which nobody takes memory
    struct hdst__dataset_cache *first, *whole;
    struct hdst__dataset_cache *gave_way;       // those of which all did, until a run begins that has room for them
    bool (*evict)(struct hdst__budget *budget, void *runtime);     // for budgets in which any of them has memory; NULL: there was none yet
} hdst__partial_caches;

typedef struct hdst__runtime {
    const hdst__allocator *allocator;   // what counts towards `memory`, for everything but the engine itself
    hdst__budget memory;                // of the host
    hdst__thread_pool *threads;         // for all work on the host that pays to be shared
    struct hdst__registered *registered;        // memory of the program's that devices read where it lies (engine/memory/registered.h)
    struct hdst__registered *outputs;           // memory of output records that devices copy to (the same)
    hdst__temporary_files files;
    hdst__partial_caches partial;
    hdst__log log;
    hdst__progress *progress;           // of the scan that runs; NULL: nobody asked
    hdst__timeline *timeline;           // of what is done; NULL: nobody asked for one
    const hdst__cancel *cancel;         // of the call in progress, which whoever works for long looks at; NULL: cannot be cancelled
    struct hdst__stage *stages;         // all of them, under the mutex
    pthread_mutex_t mutex;
    bool lean;                          // the run had no memory for what it cannot do without: what it could, takes little of what is left (engine.h)
    uint64_t runs;                      // that began so far
    _Atomic bool given_up;              // a device was (engine/device/give_up.h): what it may still touch is never freed
    _Atomic uint64_t caches;            // of datasets, that were made or laid out so far: the next one may lie where an earlier one did
} hdst__runtime;

#endif
