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

typedef struct bare {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;         // commands are timed
} bare;

static inline bare bare_open(cl_device_id device)
{
    bare b = {.device = device};
    cl_int status;
    b.context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    b.queue = clCreateCommandQueue(b.context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    must(status, "clCreateCommandQueue");
    return b;
}

static inline cl_program bare_program(const bare *b, const char *source, const char *options)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(b->context, 1, &source, NULL, &status);
    must(status, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &b->device, options, NULL, NULL), "clBuildProgram");
    return program;
}

static inline cl_kernel bare_kernel(cl_program program, const char *name)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    must(status, "clCreateKernel");
    return kernel;
}

// A copy of what is at `from`, or memory that nobody has written (NULL).
static inline cl_mem bare_buffer(const bare *b, size_t bytes, void *from)
{
    cl_int status;
    cl_mem memory = clCreateBuffer(b->context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, from, &status);
    must(status, "clCreateBuffer");
    return memory;
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
