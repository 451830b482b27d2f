// SPDX-License-Identifier: Apache-2.0
// A worker: a device in use, with what it needs to run slices beside other devices: its segments, its compiled programs, a thread of its own. The first
// worker of an engine is the fastest device; it works on the thread that called, so that with one device nothing changes hands.
#ifndef HDST_ENGINE_WORKER_H
#define HDST_ENGINE_WORKER_H

#include "engine/device/device.h"
#include "engine/device/program_cache.h"
#include "engine/memory/segment.h"

#include <pthread.h>

typedef struct hdst__device_worker {
    const hdst__device_info *info;
    hdst__device *device;           // NULL: not opened yet
    hdst__ring ring;                // the segments through which its inputs stream, one run after another
    hdst__program_cache cache;
    bool has_cache;                 // it was set up, for a device with a driver
    char why_not[160];              // why it takes no part; "": it may

    // Its thread. All below is guarded by the mutex.
    pthread_t thread;
    bool has_thread, ends;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*work)(void *user);       // NULL: nothing to do
    void *user;
} hdst__device_worker;

// Zeroed memory.
void hdst__worker_init(hdst__device_worker *worker, const hdst__device_info *info);
// Closes its device and ends its thread. Nothing may be in progress.
void hdst__worker_destroy(hdst__device_worker *worker);

// Calls work(user) on the worker's thread, which is made at the first call and stays. False: there is no thread to be had, and nothing was called.
bool hdst__worker_start(hdst__device_worker *worker, void (*work)(void *user), void *user);
// Until that call has returned; whoever asked for progress is told meanwhile. The worker's device is open.
void hdst__worker_wait(hdst__device_worker *worker);

#endif
