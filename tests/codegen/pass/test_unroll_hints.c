// SPDX-License-Identifier: Apache-2.0
// Turns that the driver's compiler is asked to unroll, on IR as text: both sides of each limit.
#include "tests/support/pass_case.h"

#include "codegen/pass/gpu_form.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(unroll_hints, .init = pass_set_up, .fini = pass_tear_down);

static uint32_t asked;
static void run(ir_func *func) { hdst__pass_unroll_hints(func, asked); }

static const pass_case c = {run, "  input p p {f32 x}\n  accum t t {f32 x}\n  var u32 i\n  var u32 j\n  var f32 d\n"};

// A loop whose body has 2 * adds + 1 nodes, with `hint` in its head. It stays until the next but one is made:
// a comparison needs two at a time.
static const char *loop(size_t adds, const char *hint)
{
    static char texts[2][1 << 14];
    static size_t made;
    char *text = texts[made++ % 2];
    sprintf(text, "  d = 0f\n  for i = 0u to 3u%s {\n    d = ", hint);
    for (size_t i = 0; i < adds; i++) strcat(text, "add(p.x, ");
    strcat(text, "d");
    for (size_t i = 0; i < adds; i++) strcat(text, ")");
    return strcat(text, "\n  }\n  accum t.x += d\n");
}

Test(unroll_hints, shorter_bodies_more_turns)
{
    static const struct { size_t adds; const char *hint; } cases[] = {{1, " unroll 16"}, {63, " unroll 16"}, {64, " unroll 8"}, {79, " unroll 8"},
                                                                      {80, " unroll 4"}, {99, " unroll 4"}, {100, ""}};
    asked = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) PASS_GIVES(c, loop(cases[i].adds, ""), loop(cases[i].adds, cases[i].hint));
}

Test(unroll_hints, what_is_asked_for_is_taken_of_short_loops)
{
    asked = 3;
    PASS_GIVES(c, loop(63, ""), loop(63, " unroll 3"));
    PASS_GIVES(c, loop(99, ""), loop(99, " unroll 3"));
    PASS_LEAVES(c, loop(100, ""));
}

Test(unroll_hints, of_loops_in_loops_the_innermost)
{
    asked = 0;
    PASS_GIVES(c, "  d = 0f\n  for i = 0u to 3u {\n    for j = 0u to i {\n      d = add(d, p.x)\n    }\n  }\n  accum t.x += d\n",
               "  d = 0f\n  for i = 0u to 3u {\n    for j = 0u to i unroll 16 {\n      d = add(d, p.x)\n    }\n  }\n  accum t.x += d\n");
}
