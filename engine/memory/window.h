// SPDX-License-Identifier: Apache-2.0
// A window: free room of an output on the host, where kernels of a device that shares the host's memory write the records themselves. Nothing is
// copied, and a slice has all the room that the output can have.
#ifndef HDST_ENGINE_MEMORY_WINDOW_H
#define HDST_ENGINE_MEMORY_WINDOW_H

#include "engine/device/device.h"
#include "engine/memory/output.h"

typedef struct hdst__window {
    hdst__device *device;
    hdst__output *output;
    uint64_t spare;             // records behind the room that kernels may write and nobody reads
    hdst__memory memory;
    uint64_t room, used;        // records
    bool is_open;
} hdst__window;

// Room behind the output's records for `wanted` of them; less where the budget or the device allow no more, but `least`. HDST_E_MEMORY.
hdst_status hdst__window_open(hdst__window *window, uint64_t wanted, uint64_t least, hdst_error *error);
// No launch may be using it. The `used` records belong to the output then. Fine on a closed one.
hdst_status hdst__window_close(hdst__window *window, hdst_error *error);
// The place of the next `count` records, for one launch; it ends with the device's unpart. `used` is a multiple of HDST__SUB_BUFFER_BYTES.
hdst_status hdst__window_place(hdst__window *window, uint64_t count, hdst__memory *place, hdst_error *error);

#endif
