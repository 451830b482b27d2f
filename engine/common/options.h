// SPDX-License-Identifier: Apache-2.0
// What an engine is created with.
#ifndef HDST_ENGINE_COMMON_OPTIONS_H
#define HDST_ENGINE_COMMON_OPTIONS_H

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

// Whether slices try other shapes of a GPU kernel, see engine/stage/launch_shape.h.
typedef enum hdst__tuning_mode {
    HDST__TUNING_AUTO,              // what needs no compiler at once; what does once the kernel has run for a while
    HDST__TUNING_OFF,               // the rules' shapes; files are neither read nor written
    HDST__TUNING_FULL,              // everything at once
} hdst__tuning_mode;

// The highest level at which reductions combine (engine/common/run_stats.h). Results are the same, to the bit.
typedef enum hdst__hpr {
    HDST__HPR_AUTO,                 // of the options only: as HDST_HPR says (none, block, device, node, cluster), else all
    HDST__HPR_NONE, HDST__HPR_BLOCK, HDST__HPR_DEVICE, HDST__HPR_NODE, HDST__HPR_CLUSTER,
} hdst__hpr;

// How the work of a run is shared among devices: by measured powers, or piece by piece as each is free (partition/).
typedef enum hdst__sharing {
    HDST__SHARING_AUTO,             // HDST_POLICY says (auto, static, dynamic), else by how steady the devices are
    HDST__SHARING_STATIC, HDST__SHARING_DYNAMIC,
} hdst__sharing;

enum { HDST__MOST_CPU_PARTS = 16 };

typedef struct hdst__engine_options {
    const hdst__allocator *allocator;
    const hdst__log *log;
    struct hdst__progress *progress;        // who is told how far a run is (base/progress.h); NULL: nobody. Must outlive the engine
    struct hdst__timeline *timeline;        // of what is done (base/timeline.h); NULL: none. Must outlive the engine
    const hdst__cancel *cancel;     // whether the call in progress is to end (HDST_E_CANCELLED); NULL: never. Must outlive the engine
    const char *device;             // "all", "cpu", "gpu", "interp", "INDEX" or "INDEX,INDEX"; NULL or "": HDST_DEVICES, else "all"
    hdst__sharing policy;           // how several devices share a run
    uint32_t cpu_parts;             // CPU devices are taken as so many sub-devices; 0: HDST_CPU_PARTS, else whole
    uint64_t memory;                // budget of host memory, bytes; 0: 3/4 of what the machine (or the cgroup) has
    uint64_t device_memory;         // budget per device, bytes; 0: 3/4 of what the device reports
    const char *cache_dir;          // kernel cache; NULL: HDST_CACHE_DIR, XDG_CACHE_HOME/hdst, HOME/.cache/hdst; none usable: memory only, with one warning
    bool skip_failed;               // records that fail a check are left out and counted, instead of ending the run
    bool fast_sums;                 // kernels may add floats plainly (hdst__kernel_options)
    hdst__tuning_mode tuning;       // AUTO: as HDST_TUNING says (auto, off, full)
    hdst__hpr hpr;
    uint32_t threads;               // of the host that work at once; 0: as HDST_THREADS says, else as many as there are processors for this process
    // For measurements, from the environment alone: what makes the library quick, switched off one by one.
    bool no_kernel_cache;           // HDST_KERNEL_CACHE=off: no compiled kernel is kept beyond the context
    bool no_mapping;                // HDST_MAPPING=off: CPU devices have memory of their own, as GPUs, and all is copied
    bool no_vectors;                // HDST_VECTORS=off: CPU kernels take records one by one, not blocks of them side by side
    bool portable_kernels;          // print kernels without compiler built-ins (Oclgrind)
    bool gpu_form_on_cpu;           // tests: print the GPU form on a CPU device
    bool foreign_nans;              // tests: kernels' operations give NaNs that no processor makes
    bool tuples_always;               // tests: tables in fixed point are made by way of tuples, whatever their size
    uint64_t overflow_cells;           // tests: of tables in fixed point (accum/tables.h); 0: as many as may be needed
    uint64_t local_bytes;           // tests: of local memory, less than the device has; 0: what it has
} hdst__engine_options;

// The options with what the environment says in place of AUTO. Strings and other objects stay the caller's.
hdst__engine_options hdst__engine_options_resolve(const hdst__engine_options *options);
const char *hdst__hpr_name(hdst__hpr hpr);

#endif
