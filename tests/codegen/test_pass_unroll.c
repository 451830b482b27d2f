// SPDX-License-Identifier: Apache-2.0
// The pass unroll on IR alone.
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_unroll, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_unroll, "  input p p {f32 x[4], u32 k, bool a}\n"
                                               "  broadcast c c[] {f32 y}\n"
                                               "  accum double t {f64 value}\n"
                                               "  var u32 i\n  var u32 j\n  var i32 s\n  var f32 d\n"};

Test(pass_unroll, a_copy_for_each_turn)
{
    PASS_GIVES(c, "  for i = 0u to 2u {\n    d = add(d, p.x[i])\n  }\n", "  d = add(d, p.x[0u])\n  d = add(d, p.x[1u])\n");
    PASS_GIVES(c, "  for i = 1u to 8u step 3 {\n    d = add(d, f32(i))\n  }\n", "  d = add(d, f32(1u))\n  d = add(d, f32(4u))\n  d = add(d, f32(7u))\n");
    PASS_GIVES(c, "  for s = -1 to 1 {\n    d = add(d, f32(s))\n  }\n", "  d = add(d, f32(-1))\n  d = add(d, f32(0))\n");
}

Test(pass_unroll, inner_loops_first)
{
    PASS_GIVES(c, "  for i = 0u to 2u {\n    for j = 0u to 2u {\n      d = add(d, f32(add(i, j)))\n    }\n  }\n",
               "  d = add(d, f32(add(0u, 0u)))\n  d = add(d, f32(add(0u, 1u)))\n  d = add(d, f32(add(1u, 0u)))\n  d = add(d, f32(add(1u, 1u)))\n");
    PASS_GIVES(c, "  for i = 0u to u32(length(c)) {\n    for j = 0u to 2u {\n      d = add(d, p.x[j])\n    }\n  }\n",
               "  for i = 0u to u32(length(c)) {\n    d = add(d, p.x[0u])\n    d = add(d, p.x[1u])\n  }\n");
}

Test(pass_unroll, statements_inside_are_copied_whole)
{
    PASS_GIVES(c, "  for i = 0u to 2u {\n    if lt(p.k, i) {\n      accum t.value += f64(p.x[i])\n    }\n  }\n",
               "  if lt(p.k, 0u) {\n    accum t.value += f64(p.x[0u])\n  }\n  if lt(p.k, 1u) {\n    accum t.value += f64(p.x[1u])\n  }\n");
}

Test(pass_unroll, a_break_of_an_inner_loop_is_no_obstacle)
{
    PASS_GIVES(c, "  for i = 0u to 2u {\n    for j = 0u to and(p.k, 7u) {\n      if lt(2u, j) {\n        break\n      }\n      d = add(d, f32(i))\n    }\n  }\n",
               "  for j = 0u to and(p.k, 7u) {\n    if lt(2u, j) {\n      break\n    }\n    d = add(d, f32(0u))\n  }\n"
               "  for j_2 = 0u to and(p.k, 7u) {\n    if lt(2u, j_2) {\n      break\n    }\n    d = add(d, f32(1u))\n  }\n");    // a counter of its own
}

Test(pass_unroll, long_ones_those_that_are_left_and_unknown_bounds_stay)
{
    PASS_LEAVES(c, "  for i = 0u to 9u {\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 3u {\n    if p.a {\n      break\n    }\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to and(p.k, 3u) {\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 3u to 2u {\n    d = add(d, 1f)\n  }\n");      // no turn: folding drops it
    PASS_LEAVES(c, "  loop while lt(j, 2u) {\n    j = add(j, 1u)\n  }\n");
}
