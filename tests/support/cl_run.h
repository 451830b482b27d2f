// SPDX-License-Identifier: Apache-2.0
// A small OpenCL driver of its own for tests and benchmarks: opens one device, builds, launches, reads. It shares no code with engine/, so that
// a fault there cannot hide one in a kernel. Every failure prints what OpenCL said to stderr.
#ifndef HDST_TESTS_CL_RUN_H
#define HDST_TESTS_CL_RUN_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cl_run {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} cl_run;

bool cl_run_open(cl_run *run, cl_device_type type);     // the first device of that type; false (with words on stderr) when there is none
bool cl_run_is_simulated(const cl_run *run);            // Oclgrind, which wants portable kernels
void cl_run_close(cl_run *run);
// NULL when it does not build; the log is printed.
cl_kernel cl_run_build(cl_run *run, const char *source, const char *options, const char *name);
void cl_run_release(cl_kernel kernel);                  // the kernel and its program
cl_mem cl_run_buffer(cl_run *run, void *host, size_t bytes);    // a copy of `host` (zeroes when NULL)
cl_mem cl_run_wrap(cl_run *run, void *host, size_t bytes);      // CL_MEM_USE_HOST_PTR
bool cl_run_read(cl_run *run, cl_mem buffer, void *host, size_t bytes);
bool cl_run_write(cl_run *run, cl_mem buffer, const void *host, size_t bytes);
bool cl_run_launch(cl_run *run, cl_kernel kernel, size_t global, size_t local);    // and waits

#endif
