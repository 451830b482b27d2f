// SPDX-License-Identifier: Apache-2.0
// Kernels of the library's own: hand-written OpenCL C, a little of it printed for the records at hand, which no function of the user's is compiled into.
#ifndef HDST_ENGINE_DEVICE_LIBRARY_KERNEL_H
#define HDST_ENGINE_DEVICE_LIBRARY_KERNEL_H

#include "base/writer.h"
#include "engine/device/device.h"

typedef void (*hdst__library_kernel_writer)(hdst__writer *out, const void *user);      // leaves by the arena's jump when memory is out

// What `write` writes for `user`, in the arena, which must last as long as kernels that are loaded from it. HDST_E_MEMORY says that there was no memory for
// `what`: "kernels of a sort"; *text is as it was then.
hdst_status hdst__library_kernel_text(hdst__arena *arena, hdst__library_kernel_writer write, const void *user, const char *what, const char **text,
                                      hdst_error *error);

// Compiles the kernel `name` of such a text for work-groups of `lanes`, unless *program is there. *kernel is filled in and must last as long as the program,
// which the caller unloads.
hdst_status hdst__library_kernel_load(hdst__device *device, const char *text, const char *name, uint32_t lanes, hdst__kernel *kernel,
                                      hdst__program **program, hdst_error *error);

#endif
