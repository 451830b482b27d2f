// SPDX-License-Identifier: Apache-2.0
// OpenCL reached through dlopen: the library has no link-time dependency on it, so hdst loads and interprets where there is none.
// The table of functions belongs to an engine; nothing here is global.
#ifndef HDST_ENGINE_DEVICE_OPENCL_H
#define HDST_ENGINE_DEVICE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/alloc.h"
#include "base/error_object.h"

#include <stddef.h>

#define HDST__CL_FUNCTIONS(X)                                                                                          \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo)                                      \
    X(clCreateSubDevices) X(clReleaseDevice)                                                                           \
    X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clGetCommandQueueInfo)   \
    X(clCreateBuffer) X(clCreateSubBuffer) X(clReleaseMemObject)                                                                            \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clGetProgramBuildInfo)               \
    X(clGetProgramInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg)                     \
    X(clEnqueueNDRangeKernel) X(clEnqueueNativeKernel) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) \
    X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject) X(clEnqueueMarkerWithWaitList)                                    \
    X(clFlush) X(clFinish) X(clSetEventCallback) X(clWaitForEvents) X(clGetEventInfo) X(clGetEventProfilingInfo)       \
    X(clReleaseEvent) X(clRetainEvent)

typedef struct hdst__opencl {
    void *library;
#define HDST__CL_MEMBER(name) __typeof__(&name) name;
    HDST__CL_FUNCTIONS(HDST__CL_MEMBER)
#undef HDST__CL_MEMBER
} hdst__opencl;

// Opens HDST_OPENCL_LIBRARY if set, else libOpenCL.so.1. HDST_OK with *cl NULL, and why in `why`, where it cannot be opened or lacks a function;
// HDST_E_MEMORY where there was no memory to look for it.
hdst_status hdst__opencl_open(const hdst__allocator *allocator, hdst__opencl **cl, char *why, size_t why_size, hdst_error *error);
void hdst__opencl_close(const hdst__allocator *allocator, hdst__opencl *cl);

const char *hdst__opencl_error_words(cl_int code);      // "the device ran out of resources"; never NULL
// Fills `error` from a failed call. Out of memory becomes HDST_E_MEMORY, all else HDST_E_DRIVER; returns which.
hdst_status hdst__opencl_fail(hdst_error *error, const char *function, cl_int code, const char *device);

// Calls an OpenCL function that returns its status; on failure leaves the caller with the decoded error.
#define HDST__CL_TRY(cl, device_name, error, function, ...)                                                            \
    do {                                                                                                               \
        cl_int code_ = (cl)->function(__VA_ARGS__);                                                                    \
        if (code_ != CL_SUCCESS) return hdst__opencl_fail((error), #function, code_, (device_name));                   \
    } while (0)

#endif
