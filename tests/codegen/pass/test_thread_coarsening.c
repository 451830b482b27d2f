// SPDX-License-Identifier: Apache-2.0
// The pass that lets a lane take two records, on IR alone.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

static void together(ir_func *func) { hdst__pass_thread_coarsening(func, 2); }

TestSuite(pass_together, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {together, "  input p p {f32 x, u32 k, f32 y[100]}\n"
                                      "  broadcast c c[] {f32 y}\n"
                                      "  accum double t {f64 value}\n"
                                      "  var u32 i\n  var f32 d\n"};

Test(pass_together, uniform_loops_are_kept_once_and_serve_both_records)
{
    PASS_GIVES(c, "  d = 0f\n  for i = 0u to u32(length(c)) {\n    d = add(d, mul(p.x, c[i].y))\n  }\n  accum t.value += f64(d)\n",
               "  p_x = p.x@0\n  p_x_2 = p.x@1\n  d = 0f\n  d_2 = 0f\n"
               "  for i = 0u to u32(length(c)) {\n    d = add(d, mul(p_x, c[i].y))\n    d_2 = add(d_2, mul(p_x_2, c[i].y))\n  }\n"
               "  accum t.value += f64(d)\n  accum t.value += f64(d_2)\n");
}

Test(pass_together, records_that_go_separate_ways_have_a_copy_each)
{
    PASS_GIVES(c, "  d = 0f\n  if lt(p.k, 3u) {\n    d = 1f\n  }\n  accum t.value += f64(d)\n",
               "  p_k = p.k@0\n  p_k_2 = p.k@1\n  d = 0f\n  d_2 = 0f\n  if lt(p_k, 3u) {\n    d = 1f\n  }\n  if lt(p_k_2, 3u) {\n    d_2 = 1f\n  }\n"
               "  accum t.value += f64(d)\n  accum t.value += f64(d_2)\n");
}

Test(pass_together, elements_that_a_loop_chooses_are_read_where_they_are_used)
{
    PASS_GIVES(c, "  d = 0f\n  for i = 0u to 100u {\n    d = add(d, p.y[i])\n  }\n  accum t.value += f64(d)\n",
               "  d = 0f\n  d_2 = 0f\n  for i = 0u to 100u {\n    d = add(d, p.y[i]@0)\n    d_2 = add(d_2, p.y[i]@1)\n  }\n"
               "  accum t.value += f64(d)\n  accum t.value += f64(d_2)\n");
}
