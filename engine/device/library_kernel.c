// SPDX-License-Identifier: Apache-2.0
// Kernels of the library's own (engine/device/library_kernel.h).
#include "engine/device/library_kernel.h"

hdst_status hdst__library_kernel_text(hdst__arena *arena, hdst__library_kernel_writer write, const void *user, const char *what, const char **text,
                                      hdst_error *error)
{
    jmp_buf out_of_memory;
    arena->out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) {
        arena->out_of_memory = NULL;
        return hdst__error_memory(error, what);
    }
    hdst__writer out = {.arena = arena};
    write(&out, user);
    *text = hdst__writer_text(&out);
    arena->out_of_memory = NULL;
    return HDST_OK;
}

hdst_status hdst__library_kernel_load(hdst__device *device, const char *text, const char *name, uint32_t lanes, hdst__kernel *kernel,
                                      hdst__program **program, hdst_error *error)
{
    if (*program) return HDST_OK;
    *kernel = (hdst__kernel){.name = name, .source = text, .build_options = "-cl-std=CL1.2 -w", .local_size = lanes};
    return device->ops->load(device, &(hdst__code){.kernel = kernel}, program, error);
}
