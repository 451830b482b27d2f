// SPDX-License-Identifier: Apache-2.0
// The pass loop-checks on IR alone.
#include "codegen/pass/passes.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_loop_checks, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[4], u32 k}\n"
                           "  accum t t[] {f32 x[4]}\n"
                           "  var u32 i\n  var u32 row\n"
                           "  check 0 table index t\n  check 1 index x\n";
static const pass_case c = {hdst__pass_loop_checks, head};

Test(pass_loop_checks, checks_that_stay_the_same_come_first)
{
    PASS_GIVES(c, "  for i = 0u to 4u {\n    check 0: lt(u64(p.k), 3ul)\n    accum t[0u].x[i] += p.x[i]\n  }\n",
               "  check 0: lt(u64(p.k), 3ul)\n  for i = 0u to 4u {\n    accum t[0u].x[i] += p.x[i]\n  }\n");
    PASS_GIVES(c, "  for i = 0u to 4u {\n    row = and(p.k, 3u)\n    check 0: lt(u64(row), 3ul)\n    accum t[0u].x[row] += p.x[i]\n  }\n",
               "  row = and(p.k, 3u)\n  check 0: lt(u64(row), 3ul)\n  for i = 0u to 4u {\n    accum t[0u].x[row] += p.x[i]\n  }\n");
}

Test(pass_loop_checks, a_loop_without_turns_checks_nothing)
{
    PASS_GIVES(c,
               "  for i = 0u to and(p.k, 7u) {\n"
               "    check 0: lt(u64(p.k), 3ul)\n"
               "  }\n",
               "  check 0: or(ge(0u, and(p.k, 7u)), lt(u64(p.k), 3ul)) of u64(p.k), 3ul\n"
               "  for i = 0u to and(p.k, 7u) {\n"
               "  }\n");
}

Test(pass_loop_checks, checks_keep_their_order)
{
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    check 1: lt(u64(add(p.k, i)), 4ul)\n    check 0: lt(u64(p.k), 3ul)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    if lt(p.k, i) {\n      break\n    }\n    check 0: lt(u64(p.k), 3ul)\n  }\n");
}
