// SPDX-License-Identifier: Apache-2.0
// What an engine consists of. For engine.c, lean_run.c and tests; all others have engine.h, or the parts that they are handed.
#ifndef HDST_ENGINE_ENGINE_STATE_H
#define HDST_ENGINE_ENGINE_STATE_H

#include "base/runtime.h"
#include "engine/device/device.h"
#include "engine/device/device_list.h"
#include "engine/engine.h"
#include "engine/common/limits.h"
#include "engine/common/options.h"
#include "engine/worker.h"

struct hdst__engine {
    hdst__runtime runtime;
    hdst__allocator counting, own_allocator;    // the runtime's allocator; what its blocks come from
    hdst__engine_options options;       // resolved; device and cache_dir are copies
    hdst__limits limits;
    _Atomic(hdst__device *) opened[HDST__MOST_WORKERS];        // the workers' devices for whoever holds no mutex; they stay until the engine ends

    // All below is guarded by the runtime's mutex.
    hdst__device_list list;             // empty until discovery
    hdst__device_list interp;           // the interpreter alone, when it was named
    hdst__device_worker worker[HDST__MOST_WORKERS];    // the devices that were asked for, the fastest first
    uint32_t workers;                   // 0 until asked for
    bool alone;                         // the first one has to do
};

#endif
