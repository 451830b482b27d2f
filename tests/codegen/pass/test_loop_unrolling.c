// SPDX-License-Identifier: Apache-2.0
// The pass unroll on IR alone.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_unroll, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_loop_unrolling, "  input p p {f32 x[4], u32 k, bool a}\n"
                                               "  broadcast c c[] {f32 y}\n"
                                               "  accum double t {f64 value}\n"
                                               "  var u32 i\n  var u32 j\n  var i32 s\n  var f32 d\n"};
static const pass_case arrays = {hdst__pass_loop_unrolling_of_arrays, "  input p p {f32 x[16], u32 k}\n"
                                                           "  accum double t {f64 value}\n"
                                                           "  var u32 i\n  var u32 j\n  var f32 e\n  var f32 d[9]\n  var f32 wide[20]\n"};

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
    // A counter of its own.
    PASS_GIVES(c,
               "  for i = 0u to 2u {\n"
               "    for j = 0u to and(p.k, 7u) {\n"
               "      if lt(2u, j) {\n"
               "        break\n"
               "      }\n"
               "      d = add(d, f32(i))\n"
               "    }\n"
               "  }\n",
               "  for j = 0u to and(p.k, 7u) {\n"
               "    if lt(2u, j) {\n"
               "      break\n"
               "    }\n"
               "    d = add(d, f32(0u))\n"
               "  }\n"
               "  for j_2 = 0u to and(p.k, 7u) {\n"
               "    if lt(2u, j_2) {\n"
               "      break\n"
               "    }\n"
               "    d = add(d, f32(1u))\n"
               "  }\n");
}

Test(pass_unroll, long_ones_those_that_are_left_and_unknown_bounds_stay)
{
    PASS_LEAVES(c, "  for i = 0u to 9u {\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 3u {\n    if p.a {\n      break\n    }\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to and(p.k, 3u) {\n    d = add(d, 1f)\n  }\n");
    PASS_LEAVES(c, "  for i = 3u to 2u {\n    d = add(d, 1f)\n  }\n");      // no turn: folding drops it
    PASS_LEAVES(c, "  loop while lt(j, 2u) {\n    j = add(j, 1u)\n  }\n");
}

Test(pass_unroll, what_a_turn_sets_for_itself_is_a_variable_of_its_own)
{
    static const pass_case own = {hdst__pass_loop_unrolling, "  input p p {f32 x[4], bool a}\n"
                                                     "  accum double t {f64 value}\n"
                                                     "  var u32 i\n  var u32 j\n  var f32 d\n  var f32 e\n"};
    PASS_GIVES(own, "  for i = 0u to 2u {\n    e = p.x[i]\n    d = add(d, e)\n  }\n", "  e = p.x[0u]\n  d = add(d, e)\n  e_2 = p.x[1u]\n  d = add(d, e_2)\n");
    PASS_GIVES(own,
               "  for i = 0u to 2u {\n"
               "    if p.a {\n"
               "      e = p.x[i]\n"
               "    } else {\n"
               "      e = 1f\n"
               "    }\n"
               "    d = add(d, e)\n"
               "  }\n",
               "  if p.a {\n"
               "    e = p.x[0u]\n"
               "  } else {\n"
               "    e = 1f\n"
               "  }\n"
               "  d = add(d, e)\n"
               "  if p.a {\n"
               "    e_2 = p.x[1u]\n"
               "  } else {\n"
               "    e_2 = 1f\n"
               "  }\n"
               "  d = add(d, e_2)\n");
    PASS_GIVES(own,
               "  for i = 0u to 2u {\n"
               "    for j = 0u to 2u {\n"
               "      e = p.x[j]\n"
               "      d = add(d, e)\n"
               "    }\n"
               "  }\n",
               "  e = p.x[0u]\n"
               "  d = add(d, e)\n"
               "  e_2 = p.x[1u]\n"
               "  d = add(d, e_2)\n"
               "  e_3 = p.x[0u]\n"
               "  d = add(d, e_3)\n"
               "  e_2_2 = p.x[1u]\n"
               "  d = add(d, e_2_2)\n");
}

Test(pass_unroll, what_is_read_later_or_may_come_from_the_turn_before_stays_one)
{
    static const pass_case kept = {hdst__pass_loop_unrolling, "  input p p {f32 x[4], bool a}\n"
                                                      "  accum double t {f64 value}\n"
                                                      "  var u32 i\n  var u32 j\n  var f32 d\n  var f32 e\n"};
    PASS_GIVES(kept, "  for i = 0u to 2u {\n    e = p.x[i]\n  }\n  d = e\n", "  e = p.x[0u]\n  e = p.x[1u]\n  d = e\n");
    PASS_GIVES(kept, "  e = 1f\n  for i = 0u to 2u {\n    if p.a {\n      e = p.x[i]\n    }\n    d = add(d, e)\n  }\n",
               "  e = 1f\n  if p.a {\n    e = p.x[0u]\n  }\n  d = add(d, e)\n  if p.a {\n    e = p.x[1u]\n  }\n  d = add(d, e)\n");
}

#define SETS(n) "  d[" #n "u] = p.x[" #n "u]\n"

Test(pass_unroll, longer_ones_go_where_that_makes_variables_of_an_array)
{
    PASS_GIVES(arrays,
               "  for i = 0u to 9u {\n"
               "    d[i] = p.x[i]\n"
               "  }\n"
               "  e = d[2u]\n",
               SETS(0) SETS(1) SETS(2) SETS(3) SETS(4) SETS(5) SETS(6) SETS(7) SETS(8) "  e = d[2u]\n");
}

Test(pass_unroll, longer_ones_stay_where_an_array_stays_an_array)
{
    PASS_LEAVES(arrays, "  for i = 0u to 9u {\n    d[i] = p.x[i]\n  }\n  e = d[rem(p.k, 9u)]\n");                            // read where the record says
    PASS_LEAVES(arrays, "  for i = 0u to 9u {\n    wide[i] = p.x[i]\n  }\n  e = wide[2u]\n");                                   // too many elements
    PASS_LEAVES(arrays, "  for i = 0u to 9u {\n    e = add(e, p.x[i])\n  }\n");                                                 // there is none
    // A loop would be left in it.
    PASS_LEAVES(arrays, "  for i = 0u to 9u {\n"
                        "    for j = 0u to and(p.k, 3u) {\n"
                        "      e = add(e, p.x[j])\n"
                        "    }\n"
                        "    d[i] = e\n"
                        "  }\n"
                        "  e = d[2u]\n");
}

static void unroll_sums(ir_func *func)
{
    hdst__pass_loop_unrolling_of_sums(func, (const bool[]){false, true, false});
}

// Longer loops than others that are unrolled, of additions to `t` alone.
Test(pass_unroll, loops_that_add_to_sums_that_are_asked_for)
{
    static const pass_case sums = {unroll_sums, "  input p p {f64 x[16]}\n  accum t t {f64 m[16]}\n  accum other other {f64 m[16]}\n  var u32 i\n"};
    PASS_GIVES(sums, "  for i = 0u to 9u {\n    accum t.m[i] += p.x[0u]\n  }\n",
               "  accum t.m[0u] += p.x[0u]\n  accum t.m[1u] += p.x[0u]\n  accum t.m[2u] += p.x[0u]\n  accum t.m[3u] += p.x[0u]\n"
               "  accum t.m[4u] += p.x[0u]\n  accum t.m[5u] += p.x[0u]\n  accum t.m[6u] += p.x[0u]\n  accum t.m[7u] += p.x[0u]\n  accum t.m[8u] += p.x[0u]\n");
    PASS_LEAVES(sums, "  for i = 0u to 2u {\n    accum other.m[i] += p.x[i]\n  }\n");
}
