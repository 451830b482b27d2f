// SPDX-License-Identifier: Apache-2.0
// What devices there are, in an order that is stable on a machine, and which of them the user asked for.
#ifndef HDST_ENGINE_DEVICE_DEVICE_LIST_H
#define HDST_ENGINE_DEVICE_DEVICE_LIST_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "engine/device/device_info.h"
#include "engine/device/opencl.h"

typedef struct hdst__device_list {
    hdst__device_info *info;        // `count` of them, the interpreter last
    cl_platform_id *platform;       // of the OpenCL ones
    cl_device_id *device;
    size_t count;
    char note[512];                 // why there is no OpenCL device; "" when there is one
} hdst__device_list;

// `cl` may be NULL (no loader: `note` must have been set by the caller). HDST_E_MEMORY only: a platform that does not answer is left out and named in `note`.
hdst_status hdst__device_list_fill(hdst__device_list *list, const hdst__allocator *allocator, const hdst__opencl *cl, hdst_error *error);
// What there is to say where hdst__driver_is_lost. HDST_E_DEVICE.
hdst_status hdst__device_lost(hdst_error *error);
void hdst__device_list_clear(hdst__device_list *list, const hdst__allocator *allocator);

// The interpreter's entry, at place `index`.
void hdst__device_list_interp(hdst__device_info *info, uint32_t index);

// Whether `wanted` can name a device, without asking which there are; NULL and "" mean all. HDST_E_USAGE with the near name.
hdst_status hdst__device_list_check(const char *wanted, hdst_error *error);
// Resolves `wanted` ("all", "cpu", "gpu", "interp", "INDEX[,INDEX]") to the fastest device that it names; *others tells how many more it named.
hdst_status hdst__device_list_choose(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error);

bool hdst__platform_is_pocl(const char *platform);
const char *hdst__device_class_name(hdst__device_class class_);     // "cpu", "gpu", "interp"

#endif
