// SPDX-License-Identifier: Apache-2.0
// Programs and memory of a reduction by key on a GPU, and where records lie. The engine's mutex is held.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_MEMORY_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_MEMORY_H

#include "shuffle/aggregate/aggregate_device_state.h"

// What is there and large enough serves again; put and clear provide it too.
hdst_status hdst__aggregate_device_provide(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t bytes, hdst_error *error);
hdst_status hdst__aggregate_device_put(hdst__aggregate_device *d, hdst__aggregate_device_memory which, const void *bytes, uint64_t count, hdst_error *error);
hdst_status hdst__aggregate_device_clear(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t bytes, hdst_error *error);    // zero
hdst_status hdst__aggregate_device_read(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t offset, void *bytes, uint64_t count,
                                        hdst_error *error);
void hdst__aggregate_device_release(hdst__aggregate_device *d);        // memory and programs
hdst_status hdst__aggregate_device_load_cache(hdst__aggregate_device *d, hdst__dataset_cache *cache, hdst__run_stats *stats, hdst_error *error);
// For the precision classes as they are. in_rows: of the kernels of aggregate_device_rows.c.
hdst_status hdst__aggregate_device_prepare_text(hdst__aggregate_device *d, const hdst__storage *storage, bool in_rows, hdst_error *error);
// Compiles at first use.
hdst_status hdst__aggregate_device_work(hdst__aggregate_device *d, hdst__aggregate_device_kernel which, const hdst__work_arg *args, size_t count,
                                        uint64_t groups, hdst_error *error);
// Counters become what is before each of them.
hdst_status hdst__aggregate_device_scan(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t count, hdst_error *error);
// An argument of a kernel; work-groups for so many tuples or keys of which a group takes `each` at the least.
static inline hdst__work_arg hdst__arg_of(const hdst__aggregate_device *d, hdst__aggregate_device_memory which)
{
    return (hdst__work_arg){.memory = d->memory[which]};
}
static inline uint64_t hdst__aggregate_groups(const hdst__aggregate_device *d, uint64_t items, uint64_t each)
{
    return hdst__device_groups(d->device, items / each + 1, HDST__GPU_HASH_GROUPS_PER_UNIT);
}
// Arguments that say where a segment's records lie.
size_t hdst__aggregate_device_sources(const hdst__aggregate_device *d, const hdst__segment *segment, hdst__work_arg *args);

#endif
