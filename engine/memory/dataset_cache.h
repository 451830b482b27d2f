// SPDX-License-Identifier: Apache-2.0
// A dataset that stays where the device reads it, segment by segment. What does not fit the budgets is streamed instead.
#ifndef HDST_ENGINE_MEMORY_DATASET_CACHE_H
#define HDST_ENGINE_MEMORY_DATASET_CACHE_H

#include "base/arena.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/segment.h"

struct hdst__dataset_cache {
    hdst__runtime *runtime;
    hdst__reader reader;
    hdst__device *device;       // NULL until prepared
    hdst__arena arena;          // of the storages
    hdst__segment *segment;
    uint64_t count, loaded;     // segments, and how many of them (from the first) hold their records
    bool streamed;
    char why[160];              // why it is streamed
};

// Plans the segments and takes their memory at the first call. HDST_OK also when it has to be streamed.
hdst_status hdst__dataset_cache_prepare(hdst__dataset_cache *cache, hdst__device *device, hdst_error *error);

// Plans them, and loads all that is not loaded yet; nothing where it has to be streamed. `what` is for messages, *moved counts the bytes that crossed into
// another memory.
hdst_status hdst__dataset_cache_load(hdst__dataset_cache *cache, hdst__device *device, const char *what, uint64_t *moved, hdst_error *error);

// For reading on the host: loads what is not loaded yet, and makes the segments' memory the host's until the second call gives it back. *there is
// false, and nothing is to be given back, where the host cannot reach them, or there are none.
hdst_status hdst__dataset_cache_to_host(hdst__dataset_cache *cache, hdst__device *device, bool *there, hdst_error *error);
hdst_status hdst__dataset_cache_to_device(hdst__dataset_cache *cache, hdst_error *error);

#endif
