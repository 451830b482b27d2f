// SPDX-License-Identifier: Apache-2.0
// Who takes how much memory: of the host, of each device that is open, and in temporary files. From any thread, beside a run too.
#ifndef HDST_ENGINE_MEMORY_USAGE_H
#define HDST_ENGINE_MEMORY_USAGE_H

#include "base/buffer.h"
#include "engine/device/device_list.h"
#include "engine/engine.h"

typedef struct hdst__memory_place {
    const hdst__device_info *info;      // NULL: the host
    bool in_host_memory;                // it counts as the host's, too
    uint64_t limit;                     // UINT64_MAX: none of its own
    uint64_t allowance;                 // for small blocks, beside the limit
    uint64_t used, peak;                // used: the sum of `owned`
    uint64_t owned[HDST__OWNERS], owned_peak[HDST__OWNERS];
} hdst__memory_place;

typedef struct hdst__memory_usage {
    hdst__memory_place host;
    hdst__memory_place device[HDST__MOST_WORKERS];
    uint32_t device_count;
    uint64_t files, files_peak;         // bytes of temporary files, which count towards no budget
    bool files_in_memory;               // some lay in memory, as on a tmpfs
    uint64_t registered;                // bytes of the program's that are registered
} hdst__memory_usage;

typedef enum hdst__peaks { HDST__PEAKS_EVER /* or since the reset */, HDST__PEAKS_OF_RUN /* since the mark */ } hdst__peaks;

void hdst__engine_memory_usage(const hdst__engine *engine, hdst__peaks which, hdst__memory_usage *usage);
void hdst__engine_mark_memory(hdst__engine *engine);            // a run begins
void hdst__engine_reset_memory_peaks(hdst__engine *engine);
uint64_t hdst__memory_device_peak(const hdst__memory_usage *usage);     // of the device that had the most
// A line for each place: the most, the limit, what is in use, the three owners that had the most.
void hdst__memory_usage_explain(const hdst__memory_usage *usage, hdst__buffer *out);

#endif
