// SPDX-License-Identifier: Apache-2.0
// What OpenCL devices there are.
#ifndef HDST_ENGINE_DEVICE_OPENCL_DEVICES_H
#define HDST_ENGINE_DEVICE_OPENCL_DEVICES_H

#include "engine/device/device_list.h"
#include "engine/device/opencl.h"

typedef struct hdst__opencl_devices {
    hdst__opencl *cl;               // NULL: there is no loader
    struct { cl_platform_id platform; cl_device_id device; bool is_part; } *at;     // by hdst__device_info.place
    size_t count;
} hdst__opencl_devices;

// For the back end's table (backend.h). Opens the loader; a platform that does not answer is left out and named in list->note.
hdst_status hdst__opencl_find(hdst__device_list *list, void **own, hdst_error *error);
void hdst__opencl_forget(const hdst__allocator *allocator, void *own);

bool hdst__platform_is_pocl(const char *platform);

// Of a CPU device by its name: whether its own prefetching keeps up with a loop over structs, as that of AMD's Zen does. No macro of the driver's compiler
// tells: Debian's PoCL compiles for a Zen 4 as for a Skylake with AVX-512.
bool hdst__processor_follows_structs(const char *name);

#endif
