// SPDX-License-Identifier: Apache-2.0
// Cached records that lie in a device's own memory in columns or blocks, as C structs in other memory of it: copied there (structs_copy.cl).
#ifndef HDST_ENGINE_MEMORY_STRUCTS_COPY_H
#define HDST_ENGINE_MEMORY_STRUCTS_COPY_H

#include "engine/device/device.h"
#include "engine/memory/cached_dataset.h"

// Whether that is done there: records of few numbers, each at a multiple of its size.
bool hdst__structs_copy_suits(const hdst__device *device, const hdst__record *record);

// Its kernels, which stay for further copies. With the runtime's mutex held, within hdst__driver_run_begin.
typedef struct hdst__structs_copy hdst__structs_copy;
hdst__structs_copy *hdst__structs_copy_create(hdst__device *device);     // nothing is compiled yet; NULL: out of memory
void hdst__structs_copy_destroy(hdst__structs_copy *copy);              // NULL is fine
// All records of a cache that is loaded, one behind the other; what they have between their fields is zero. In the order of launches: nobody waits for the end.
hdst_status hdst__structs_copy_run(hdst__structs_copy *copy, const hdst__dataset_cache *cache, hdst__memory *to, hdst_error *error);

#endif
