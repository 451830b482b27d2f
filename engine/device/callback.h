// SPDX-License-Identifier: Apache-2.0
// A map or a filter whose code is a C function of the program's: it is called on parts of a slice, from several threads at once.
#ifndef HDST_ENGINE_DEVICE_CALLBACK_H
#define HDST_ENGINE_DEVICE_CALLBACK_H

#include "engine/device/device.h"
#include "engine/device/separate.h"
#include "base/thread_pool.h"

#include <pthread.h>

typedef struct hdst__callback {         // of a stage; outlives the programs that call it
    hdst__slice_function call;
    void *user;
    bool filters;                       // it says which records stay: they go to the output, and their number to the first of the places
    hdst__thread_pool *pool;
    uint32_t threads;                   // at most so many calls at once
    pthread_mutex_t lock;
    uint64_t failed;                    // guarded by the lock: first record of the part that failed, UINT64_MAX: none
    char message[512];
} hdst__callback;

typedef struct hdst__callback_slice {   // as hdst__slice, with pointers into the segment
    const ir_func *func;                // a signature
    uint64_t first, skip, count;
    const char *input;
    char *output;
    uint64_t *places;                   // of a filter
    const void *const *values;          // by param: rows of broadcasts
    const uint64_t *rows;               // by param
} hdst__callback_slice;

hdst__callback_slice hdst__callback_slice_of(const ir_func *func, const hdst__launch *launch);

void hdst__callback_init(hdst__callback *callback, hdst__thread_pool *pool);
void hdst__callback_destroy(hdst__callback *callback);
// Calls the function on all of the slice and returns when all calls have. What a call complains about is kept.
void hdst__callback_run(hdst__callback *callback, const hdst__callback_slice *slice);
// The complaint of a run, if any, and a clean slate.
hdst_status hdst__callback_status(hdst__callback *callback, const char *function, hdst_error *error);

#endif
