// SPDX-License-Identifier: Apache-2.0
// A device back end: what finds devices of a kind, and opens them. It is one file, with a line in the table of backends.c. An open device is a struct
// of functions in turn (device.h). device_interp.c is the one to read first.
#ifndef HDST_ENGINE_DEVICE_BACKEND_H
#define HDST_ENGINE_DEVICE_BACKEND_H

#include "engine/device/device.h"
#include "engine/device/device_list.h"

struct hdst__device_backend {
    const char *name;
    // A driver of the machine stands behind its devices: it does not live on in a forked process (driver_gate.h), and what it compiles is worth a file.
    bool has_driver;
    // Adds its devices to the list (hdst__device_list_add), `place` saying which of its own each is. What it needs to open them later goes to *own,
    // also when it fails. HDST_OK where there are none: then list->note may say why. Fails for want of memory, or where its driver was lost.
    hdst_status (*find)(hdst__device_list *list, void **own, hdst_error *error);
    void (*forget)(const hdst__allocator *allocator, void *own);        // once no device of it is open; NULL: there is nothing to forget
    // The device of setup->info.
    hdst_status (*open)(const hdst__device_setup *setup, hdst__device **device, hdst_error *error);
};

extern const hdst__device_backend hdst__device_opencl, hdst__device_interp;

// All devices of all back ends, the interpreter last. The list is empty, and stays so on failure.
hdst_status hdst__backends_find(hdst__device_list *list, const hdst__allocator *allocator, hdst_error *error);
// Only those of one of them.
hdst_status hdst__backend_find(const hdst__device_backend *backend, hdst__device_list *list, const hdst__allocator *allocator, hdst_error *error);

#endif
