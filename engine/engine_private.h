// SPDX-License-Identifier: Apache-2.0
// The engine object as its own files see it.
#ifndef HDST_ENGINE_ENGINE_PRIVATE_H
#define HDST_ENGINE_ENGINE_PRIVATE_H

#include "base/cancel.h"
#include "base/budget.h"
#include "engine/device/device_list.h"
#include "engine/device/device.h"
#include "engine/engine.h"
#include "engine/device/opencl.h"
#include "engine/device/program_cache.h"
#include "engine/memory/segment.h"
#include "engine/stage/shape_search.h"

#include <pthread.h>
#include <stdatomic.h>

struct hdst__engine {
    const hdst__allocator *allocator;   // what counts towards `memory`, for everything but the engine itself
    hdst__allocator counting, own_allocator;    // it; what the blocks come from
    hdst__log log;
    char *wanted;                       // the `device` option
    char *cache_dir;                    // the option, or NULL
    uint64_t device_memory;
    bool portable_kernels, gpu_form_on_cpu, foreign_nans, skip_failed, fast_sums;
    bool part_always;           // see hdst__plan_may_part
    uint64_t spare_cells;       // 0: chosen by rule
    uint64_t local_bytes;       // at most; 0: the device's

    hdst__hpr hpr;                      // never AUTO
    hdst__tuning_mode tuning;
    uint64_t pick_least;                // records of which a kernel picks candidates for the largest values; fewer pass by on the host. Tests set it lower
    uint64_t sort_least;                // records that a device sorts; fewer are sorted on the host, without a compiler. Tests set it lower
    uint64_t tuning_least;              // records of a slice whose time is compared, fewer when they are large; tests set it lower
    hdst__tuning_clock tuning_clock;    // NULL, or for tests: in place of the device's
    void *tuning_clock_user;

    uint32_t binary_after;              // processes of a program until its binary is asked for; 0: as the driver is; tests set it to 1
    double grace_seconds;               // a device that goes on for so long after a cancel is given up; tests set it lower
    double sample_seconds;              // what a look at the data may take, about; tests that need all of the sample set it higher
    uint64_t by_key_device_least;       // records that a device reduces by key; tests set it lower
    uint32_t by_key_table_bits, by_key_part_bits;       // tests: sizes of tables and number of parts of reductions by key; 0: chosen
    uint64_t by_key_look_after, by_key_full;            // tests: hdst__aggregation_layout's of reductions by key in host memory, 0: as they are
    uint64_t by_key_moved[3];           // of the last one, for tests: rows with such words that left threads' tables, piles, and parts' tables or runs
    uint64_t by_key_longest;            // of the last reduction by key in host memory: places between a key's home in a table and its place, at most; for tests
    uint64_t by_key_least_cells;        // tests: from how many cells on hdst__aggregate_suits_rows, on any device; 0: chosen

    pthread_mutex_t mutex;              // guards all below; held during a run
    hdst__opencl *opencl;               // NULL until discovery, and when there is no loader
    hdst__device_list list;             // empty until discovery
    hdst__device_info interp;           // when the interpreter was named and nothing was discovered
    const hdst__device_info *chosen;    // NULL until asked for
    hdst__device *open;                 // the chosen one, once a stage needed it
    hdst__program_cache cache;
    bool has_cache;                     // it was set up
    bool given_up;                      // the open device was, see give_up.h: nothing here is freed
    hdst__ring ring;
    hdst__budget memory;                // of the host; atomic in itself

    const hdst__cancel *cancel;         // of the call in progress, which whoever works for long looks at; NULL: cannot be cancelled
};

// Opens the chosen device at first use. With the mutex held.
hdst_status hdst__engine_open(hdst__engine *engine, hdst__device **device, hdst_error *error);

#endif
