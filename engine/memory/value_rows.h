// SPDX-License-Identifier: Apache-2.0
// Rows of a value in the device's memory, where kernels read them as a broadcast. Who makes and binds them has resident_value.h.
#ifndef HDST_ENGINE_MEMORY_VALUE_ROWS_H
#define HDST_ENGINE_MEMORY_VALUE_ROWS_H

#include "engine/device/device.h"
#include "engine/memory/resident_value.h"

struct hdst__value_rows {
    hdst__runtime *runtime;
    hdst__device *device;       // NULL: nothing was taken yet
    hdst__memory *memory;       // C structs; it may be larger than the rows
    uint64_t bytes;             // of the rows
    void *host;                 // a copy, when somebody asked for one
    uint64_t host_bytes;        // that `host` has room for
    bool copied, warned;        // `host` is up to date; it was told that the device has no room
};

// hdst__value_rows_read, with the engine's mutex held.
hdst_status hdst__value_rows_on_host(hdst__value_rows *rows, const void **host, hdst_error *error);

#endif
