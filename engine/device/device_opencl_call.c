// SPDX-License-Identifier: Apache-2.0
// A C function of the program as a command among the kernels of a CPU device ("native kernel", OpenCL 1.2 specification, section 5.8). It gets the addresses
// of the host, which on a unified device are the buffers': PoCL 3.1 mixes up the addresses of several buffers that it is asked to put in.
#include "engine/device/callback.h"
#include "engine/device/device_opencl.h"

typedef struct call_arguments {         // copied by the driver
    hdst__callback *callback;
    hdst__callback_slice slice;
} call_arguments;

static void CL_CALLBACK run_call(void *data)
{
    const call_arguments *arguments = data;
    hdst__callback_run(arguments->callback, &arguments->slice);
}

hdst_status hdst__opencl_call(hdst__opencl_device *self, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    call_arguments arguments = {program->code.callback, hdst__callback_slice_of(program->code.func, at)};
    cl_event event;
    const bool waits = self->last_in && !self->in_awaited;
    HDST__CL_TRY(self->cl, self->base.info->name, error, clEnqueueNativeKernel, self->compute, run_call, &arguments, sizeof arguments, 0, NULL, NULL,
                 waits ? 1 : 0,
                 waits ? &self->last_in : NULL, &event);
    hdst__opencl_record(self, HDST__TRACK_COMPUTE, event, program->code.func->name, at->count, 0);
    return hdst__opencl_launched(self, event, error);
}
