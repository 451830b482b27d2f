// SPDX-License-Identifier: Apache-2.0
// Runs a printed kernel once through cl_run, for tests and measurements: argument list, buffers and launch, straight from what codegen/opencl/kernel.h says.
#ifndef HDST_TESTS_KERNEL_RUN_H
#define HDST_TESTS_KERNEL_RUN_H

#include "codegen/interp/interp.h"
#include "codegen/opencl/kernel.h"
#include "tests/support/cl_run.h"

typedef struct kernel_case {
    const hdst__kernel *kernel;
    const ir_func *func;                    // the parameters (by index)
    const hdst__storage *input;
    void *const *input_buffers;
    uint64_t first, skip, count;
    const hdst__interp_table *broadcast;    // by param
    const uint64_t *rows;                   // by param: rows of accumulators
    const int32_t *scales;
    uint64_t flush;
    size_t groups;                          // strips on CPUs, work-groups on GPUs
    // In and out
    int64_t *device_table;                  // added to; may be NULL without accumulators
    void *const *finished;                  // NULL, or by accumulator: rows as C structs, by finish_name
    void *output;
    uint64_t output_bytes;
    uint64_t emitted;                       // output records, one after another in `output`, when their number depends on the data
    uint64_t error;                         // all ones: no failure
} kernel_case;

typedef struct kernel_bound {
    cl_kernel kernel[4];                    // count, scan, the kernel, merge; NULL: not there
    cl_mem buffer[32];
    size_t buffers;
    cl_mem device_table, output, places, error;
} kernel_bound;

// Builds the kernel and sets its arguments. Input buffers are wrapped, all else copied.
bool kernel_bind(cl_run *run, const kernel_case *c, kernel_bound *bound);
bool kernel_launch(cl_run *run, const kernel_case *c, const kernel_bound *bound);
bool kernel_collect(cl_run *run, kernel_case *c, const kernel_bound *bound);       // reads what came out
void kernel_unbind(kernel_bound *bound);
bool kernel_run(cl_run *run, kernel_case *c);                                       // all four

#endif
