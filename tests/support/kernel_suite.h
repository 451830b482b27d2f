// SPDX-License-Identifier: Apache-2.0
// What tests of printed kernels hold while one runs: memory, messages, an OpenCL device. Included once by a test
// file, which names set_up and tear_down in its suite.
#ifndef HDST_TESTS_KERNEL_SUITE_H
#define HDST_TESTS_KERNEL_SUITE_H

#include "tests/support/kernel_run.h"

#include <criterion/criterion.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static cl_run run;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "these tests need PoCL");
}

static void tear_down(void)
{
    cl_run_close(&run);
    hdst__arena_destroy(&arena);
}

#endif
