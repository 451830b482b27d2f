// SPDX-License-Identifier: Apache-2.0
// The pass forward on IR alone.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_forward, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_constant_propagation, "  input p p {f32 x[4], u32 k, bool a}\n"
                                                "  accum double t {f64 value}\n"
                                                "  var u32 i\n  var f32 d\n  var f32 e\n  var f32 y\n  var f32 rows[4]\n"};

Test(pass_forward, up_to_the_next_assignment_which_takes_its_place)
{
    PASS_GIVES(c, "  d = 0f\n  d = fma(e, e, d)\n  y = d\n", "  d = fma(e, e, 0f)\n  y = d\n");
    PASS_GIVES(c, "  d = 2f\n  y = d\n  if p.a {\n    y = add(d, 1f)\n  }\n  d = p.x[0u]\n  e = d\n",
               "  y = 2f\n  if p.a {\n    y = add(2f, 1f)\n  }\n  d = p.x[0u]\n  e = d\n");
    PASS_GIVES(c, "  d = 1f\n  d = 2f\n  y = d\n  d = y\n", "  y = 2f\n  d = 2f\n");
}

Test(pass_forward, an_assignment_that_nothing_replaces_stays)
{
    PASS_GIVES(c, "  d = 2f\n  y = d\n", "  d = 2f\n  y = 2f\n");
    PASS_GIVES(c,
               "  for i = 0u to and(p.k, 7u) {\n"
               "    y = d\n"
               "    d = 2f\n"
               "    e = d\n"
               "  }\n",
               "  for i = 0u to and(p.k, 7u) {\n"
               "    y = d\n"
               "    d = 2f\n"
               "    e = 2f\n"
               "  }\n");
}

Test(pass_forward, a_branch_or_a_loop_that_sets_it_ends_it)
{
    PASS_LEAVES(c, "  d = 2f\n  if p.a {\n    d = add(d, 1f)\n  }\n  y = d\n");
    PASS_LEAVES(c, "  d = 0f\n  for i = 0u to and(p.k, 7u) {\n    d = add(d, 1f)\n  }\n  d = y\n");
}

Test(pass_forward, what_a_loop_may_leave_with_stays)
{
    PASS_GIVES(c, "  for i = 0u to and(p.k, 7u) {\n    d = 2f\n    y = d\n    if p.a {\n      break\n    }\n    d = 3f\n    y = d\n    d = e\n  }\n  e = d\n",
               "  for i = 0u to and(p.k, 7u) {\n    d = 2f\n    y = 2f\n    if p.a {\n      break\n    }\n    y = 3f\n    d = e\n  }\n  e = d\n");
}

Test(pass_forward, only_constants_and_only_scalars)
{
    PASS_LEAVES(c, "  d = e\n  y = d\n  d = y\n");
    PASS_LEAVES(c, "  rows[0u] = 1f\n  y = rows[0u]\n  rows[0u] = 2f\n");
}

Test(pass_forward, a_copy_of_the_counter_of_a_loop_around_is_as_good)
{
    static const pass_case copies = {hdst__pass_constant_propagation, "  input p p {f32 x[4], u32 k}\n"
                                                         "  accum double t {f64 value}\n"
                                                         "  var u32 i\n  var u32 row\n  var f32 d\n"};
    PASS_GIVES(copies,
               "  for i = 0u to and(p.k, 3u) {\n"
               "    row = i\n"
               "    d = add(d, p.x[row])\n"
               "  }\n",
               "  for i = 0u to and(p.k, 3u) {\n"
               "    row = i\n"
               "    d = add(d, p.x[i])\n"
               "  }\n");
    PASS_LEAVES(copies, "  for i = 0u to and(p.k, 3u) {\n    d = add(d, 1f)\n  }\n  row = i\n  d = add(d, f32(row))\n");      // it counts no more
    PASS_LEAVES(copies, "  i = and(p.k, 3u)\n  row = i\n  i = 0u\n  d = add(d, p.x[row])\n");
}
