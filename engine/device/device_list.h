// SPDX-License-Identifier: Apache-2.0
// What devices there are, in an order that is stable on a machine, and which of them the user asked for. Knows nothing of how they are found
// (backend.h).
#ifndef HDST_ENGINE_DEVICE_DEVICE_LIST_H
#define HDST_ENGINE_DEVICE_DEVICE_LIST_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "engine/device/device_info.h"

#include <stddef.h>

enum { HDST__MOST_BACKENDS = 8, HDST__MOST_WORKERS = 16 };       // workers: devices that one run may use

typedef struct hdst__found_by {
    const hdst__device_backend *backend;
    void *own;                      // what it keeps to open its devices
} hdst__found_by;

typedef struct hdst__device_list {
    const hdst__allocator *allocator;
    hdst__device_info *info;        // `count` of them, the interpreter last
    size_t count;
    hdst__found_by found_by[HDST__MOST_BACKENDS];
    size_t backends;
    char note[512];                 // why there is no device of a driver; "" when there is one
    uint32_t cpu_parts;             // set before the search: each CPU device is listed as so many sub-devices of equal size; 0 and 1: as it is
    bool undivided;                 // a CPU device has fewer compute units than it was to have parts
} hdst__device_list;

// For back ends: room for a device, whose index and back end are filled in. It moves with the next one that is added. NULL: out of memory.
hdst__device_info *hdst__device_list_add(hdst__device_list *list);
void hdst__device_list_clear(hdst__device_list *list);      // forgets what back ends keep, too
void *hdst__device_list_own(const hdst__device_list *list, const hdst__device_info *info);      // what the back end of this device keeps

// Whether `wanted` can name a device, without asking which there are; NULL and "" mean all. HDST_E_USAGE with the near name.
hdst_status hdst__device_list_check(const char *wanted, hdst_error *error);
// The devices that `wanted` ("all", "cpu", "gpu", "interp", "INDEX[,INDEX]") names, by their places in the list, the fastest first. "all" leaves out the
// interpreter where there is anything else. HDST_E_DEVICE: one is not there or not usable; HDST_E_USAGE: it is named twice, or there are too many.
typedef struct hdst__device_choice {
    size_t at[HDST__MOST_WORKERS];
    size_t count;
    size_t left_out;                // usable devices of the class beyond that number
} hdst__device_choice;

hdst_status hdst__device_list_choose(const hdst__device_list *list, const char *wanted, hdst__device_choice *choice, hdst_error *error);

const char *hdst__device_class_name(hdst__device_class class_);     // "cpu", "gpu", "interp"

#endif
