// SPDX-License-Identifier: Apache-2.0
// Rows of a value in the device's memory, where kernels read them as a broadcast. The public part is in engine/engine.h.
#ifndef HDST_ENGINE_MEMORY_VALUE_ROWS_H
#define HDST_ENGINE_MEMORY_VALUE_ROWS_H

#include "engine/device/device.h"

struct hdst__value_rows {
    hdst__engine *engine;
    hdst__device *device;       // NULL: nothing was taken yet
    hdst__memory *memory;       // C structs; it may be larger than the rows
    uint64_t bytes;             // of the rows
    void *host;                 // a copy, when somebody asked for one
    uint64_t host_bytes;        // that `host` has room for
    bool copied, warned;        // `host` is up to date; it was told that the device has no room
};

// The host's rows of parameter `param`: those given, or a copy from the device, which is valid until the value changes. With the engine's mutex held.
hdst_status hdst__stage_value_on_host(const hdst__stage_values *values, size_t param, const void **rows, hdst_error *error);

#endif
