// SPDX-License-Identifier: Apache-2.0
// The pass if-convert on IR alone: which branches become selects.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_if_convert, .init = pass_set_up, .fini = pass_tear_down);

static void mark_and_convert(ir_func *func)     // it goes by what the pass before it marks
{
    hdst__pass_uniformity(func);
    hdst__pass_if_conversion(func);
}

static const pass_case c = {mark_and_convert, "  input p p {f32 x, f32 y, bool a}\n"
                                              "  broadcast float w {f32 value}\n"
                                              "  accum double t {f64 value}\n"
                                              "  var f32 u\n  var f32 v\n  var u32 i\n"};

Test(pass_if_convert, assignments_under_a_varying_condition_become_selects)
{
    PASS_GIVES(c, "  if p.a {\n    u = p.x\n  }\n  accum t.value += f64(u)\n", "  u = select(p.a, p.x, u)\n  accum t.value += f64(u)\n");
    PASS_GIVES(c, "  if lt(p.x, p.y) {\n    u = p.x\n    v = 1f\n  }\n  accum t.value += f64(add(u, v))\n",
               "  taken = lt(p.x, p.y)\n  u = select(taken, p.x, u)\n  v = select(taken, 1f, v)\n  accum t.value += f64(add(u, v))\n");
}

Test(pass_if_convert, a_condition_that_the_branch_changes_is_kept_first)
{
    PASS_GIVES(c, "  u = p.x\n  if lt(u, 0f) {\n    u = 1f\n    v = 2f\n  }\n  accum t.value += f64(add(u, v))\n",
               "  u = p.x\n  taken = lt(u, 0f)\n  u = select(taken, 1f, u)\n  v = select(taken, 2f, v)\n  accum t.value += f64(add(u, v))\n");
}

Test(pass_if_convert, what_all_records_take_alike_and_what_adds_or_loops_stays)
{
    PASS_LEAVES(c, "  if lt(w.value, 0f) {\n    u = 1f\n  }\n  accum t.value += f64(u)\n");
    PASS_LEAVES(c, "  if p.a {\n    accum t.value += 1d\n  }\n");
    PASS_LEAVES(c, "  if p.a {\n    for i = 0u to 20u {\n      u = add(u, p.x)\n    }\n  }\n  accum t.value += f64(u)\n");
}

Test(pass_if_convert, what_both_branches_set_needs_one_choice)
{
    PASS_GIVES(c, "  if p.a {\n    u = p.x\n    v = u\n  } else {\n    u = p.y\n  }\n  accum t.value += f64(add(u, v))\n",
               "  taken = p.a\n  u = p.x\n  v = select(taken, u, v)\n  u = select(taken, u, p.y)\n  accum t.value += f64(add(u, v))\n");
    PASS_GIVES(c,
               "  if p.a {\n"
               "    u = p.x\n"
               "  } else {\n"
               "    v = u\n"
               "    u = p.y\n"
               "  }\n"
               "  accum t.value += f64(add(u, v))\n", // the second one asks what it was before
               "  taken = p.a\n"
               "  u = select(taken, p.x, u)\n"
               "  v = select(taken, v, u)\n"
               "  u = select(taken, u, p.y)\n"
               "  accum t.value += f64(add(u, v))\n");
}
