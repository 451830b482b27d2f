// SPDX-License-Identifier: Apache-2.0
// What the programs share that use OpenCL by hand: they end with a message when something fails.
#ifndef HDST_BENCH_BARE_H
#define HDST_BENCH_BARE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

static inline void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)status);
    exit(1);
}

// The first device of a class, on whichever platform.
static inline cl_device_id find_device(cl_device_type wanted)
{
    cl_platform_id platform[8];
    cl_uint platforms = 0;
    must(clGetPlatformIDs(8, platform, &platforms), "clGetPlatformIDs");
    for (cl_uint p = 0; p < platforms && p < 8; p++) {
        cl_device_id device;
        if (clGetDeviceIDs(platform[p], wanted, 1, &device, NULL) == CL_SUCCESS) return device;
    }
    fprintf(stderr, "no such device\n");
    exit(4);
}

// Milliseconds from the start of one command to the end of another, by the device's clock.
static inline double span(cl_event first, cl_event last)
{
    cl_ulong start, end;
    must(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "clGetEventProfilingInfo");
    must(clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "clGetEventProfilingInfo");
    return (double)(end - start) * 1e-6;
}

#endif
