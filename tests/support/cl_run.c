// SPDX-License-Identifier: Apache-2.0
// A small OpenCL driver of its own for tests and benchmarks (tests/support/cl_run.h).
#include "tests/support/cl_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ok(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) fprintf(stderr, "cl_run: %s failed: %d\n", what, status);
    return status == CL_SUCCESS;
}

bool cl_run_open(cl_run *run, cl_device_type type)
{
    *run = (cl_run){0};
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (!ok(clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs")) return false;
    for (cl_uint i = 0; i < count && i < 8 && !run->device; i++)
        if (clGetDeviceIDs(platforms[i], type, 1, &run->device, NULL) != CL_SUCCESS) run->device = NULL;
    if (!run->device) {
        fprintf(stderr, "cl_run: no device of that type\n");
        return false;
    }
    cl_int status;
    run->context = clCreateContext(NULL, 1, &run->device, NULL, NULL, &status);
    if (!ok(status, "clCreateContext")) return false;
    run->queue = clCreateCommandQueue(run->context, run->device, 0, &status);
    return ok(status, "clCreateCommandQueue");
}

bool cl_run_is_simulated(const cl_run *run)
{
    char name[64] = "";
    clGetDeviceInfo(run->device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    return strstr(name, "Oclgrind") != NULL;
}

void cl_run_close(cl_run *run)
{
    if (run->queue) clReleaseCommandQueue(run->queue);
    if (run->context) clReleaseContext(run->context);
    *run = (cl_run){0};
}

static void print_log(cl_run *run, cl_program program)
{
    size_t length = 0;
    clGetProgramBuildInfo(program, run->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
    char *log = calloc(length + 1, 1);
    if (log && clGetProgramBuildInfo(program, run->device, CL_PROGRAM_BUILD_LOG, length, log, NULL) == CL_SUCCESS) fprintf(stderr, "%s\n", log);
    free(log);
}

cl_kernel cl_run_build(cl_run *run, const char *source, const char *options, const char *name)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(run->context, 1, &source, NULL, &status);
    if (!ok(status, "clCreateProgramWithSource")) return NULL;
    cl_kernel kernel = NULL;
    if (ok(clBuildProgram(program, 1, &run->device, options, NULL, NULL), "clBuildProgram")) {
        kernel = clCreateKernel(program, name, &status);
        ok(status, "clCreateKernel");
    } else {
        print_log(run, program);
    }
    clReleaseProgram(program);      // the kernel keeps it
    return kernel;
}

void cl_run_release(cl_kernel kernel)
{
    if (kernel) clReleaseKernel(kernel);
}

cl_mem cl_run_buffer(cl_run *run, void *host, size_t bytes)
{
    cl_int status;
    void *zero = host ? NULL : calloc(bytes ? bytes : 1, 1);
    cl_mem buffer = clCreateBuffer(run->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes ? bytes : 1, host ? host : zero, &status);
    free(zero);
    return ok(status, "clCreateBuffer") ? buffer : NULL;
}

cl_mem cl_run_wrap(cl_run *run, void *host, size_t bytes)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(run->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &status);
    return ok(status, "clCreateBuffer") ? buffer : NULL;
}

bool cl_run_read(cl_run *run, cl_mem buffer, void *host, size_t bytes)
{
    return bytes == 0 || ok(clEnqueueReadBuffer(run->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueReadBuffer");
}

bool cl_run_write(cl_run *run, cl_mem buffer, const void *host, size_t bytes)
{
    return bytes == 0 || ok(clEnqueueWriteBuffer(run->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

bool cl_run_launch(cl_run *run, cl_kernel kernel, size_t global, size_t local)
{
    return ok(clEnqueueNDRangeKernel(run->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel") &&
           ok(clFinish(run->queue), "clFinish");
}
