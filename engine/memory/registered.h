// SPDX-License-Identifier: Apache-2.0
// Memory that was registered: devices read it where it lies, or copy from it and to it at the speed of the link, without a copy on the host between. There
// is that of the program's, and that of output records.
//
// A range is noted when it is registered, and pinned by each device that reads from it (33 ms a GiB on GPUs). Threads: all functions may be called from any
// thread, but that a range is removed only while nothing runs that reads it.
#ifndef HDST_ENGINE_MEMORY_REGISTERED_H
#define HDST_ENGINE_MEMORY_REGISTERED_H

#include "engine/device/device.h"

typedef struct hdst__registered hdst__registered;      // all ranges of an engine

// what: "registered memory", for the log. NULL: out of memory.
hdst__registered *hdst__registered_create(const hdst__allocator *allocator, const char *what);
void hdst__registered_destroy(hdst__registered *all);           // before the devices end; NULL is fine

// HDST_E_USAGE: the range is empty, ends beyond the address space, or meets one that is registered; HDST_E_MEMORY.
hdst_status hdst__registered_add(hdst__registered *all, const void *memory, uint64_t bytes, hdst_error *error);
// HDST_E_USAGE: no range that is registered begins there.
hdst_status hdst__registered_remove(hdst__registered *all, const void *memory, hdst_error *error);
uint64_t hdst__registered_bytes(hdst__registered *all);         // of all ranges
bool hdst__registered_has(hdst__registered *all, const void *memory, uint64_t bytes);      // whether all of them lie in one range
// Whether all of the bytes lie in one range, which is then pinned for the device. Not where the device refuses to pin it: that is logged, once for a device.
bool hdst__registered_holds(hdst__registered *all, hdst__device *device, const void *memory, uint64_t bytes);

#endif
