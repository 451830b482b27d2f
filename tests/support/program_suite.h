// SPDX-License-Identifier: Apache-2.0
// What tests over the programs of tests/codegen/pass/programs.hk hold while one runs: memory, messages, the module.
// Included once by a test file, which names set_up and tear_down in its suite.
#ifndef HDST_TESTS_PROGRAM_SUITE_H
#define HDST_TESTS_PROGRAM_SUITE_H

#include "tests/support/program_run.h"

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static ast_module *module;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    module = program_load(&diags);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

#endif
