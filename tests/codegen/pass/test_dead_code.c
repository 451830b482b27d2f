// SPDX-License-Identifier: Apache-2.0
// The pass unread on IR alone: what goes, what stays, and which leaves are marked as read.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_unread, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x, f32 y, f32 z[3], i32 n}\n"
                           "  broadcast c c[] {f32 u, f32 v}\n"
                           "  accum double t {f64 value}\n"
                           "  var f32 a\n  var f32 b\n  var i32 i\n  var f32 e[4]\n";
static const pass_case c = {hdst__pass_dead_code, head};

static void expect_head(const char *body, const char *expected)
{
    const char *found = pass_head(pass_after(&c, body));
    cr_expect_str_eq(found, expected, "%s", found);
}

Test(pass_unread, what_nothing_reads_goes_with_what_was_only_read_for_it)
{
    PASS_GIVES(c, "  a = p.x\n  b = add(a, 1f)\n  accum t.value += f64(p.y)\n", "  accum t.value += f64(p.y)\n");
    PASS_GIVES(c, "  a = p.x\n  a = add(a, 1f)\n", "");         // only its own assignments read it
    PASS_GIVES(c, "  e[1u] = p.x\n  e[2u] = e[1u]\n", "");
}

Test(pass_unread, branches_and_counted_loops_that_became_empty_go)
{
    PASS_GIVES(c, "  if lt(p.n, 3) {\n    a = p.x\n  } else {\n    for i = 0 to and(p.n, 7) {\n      b = p.y\n    }\n  }\n", "");
    PASS_GIVES(c,
               "  if lt(p.n, 3) {\n"
               "    a = p.x\n"
               "  } else {\n"
               "    accum t.value += 1d\n"
               "  }\n",
               "  if lt(p.n, 3) {\n"
               "  } else {\n"
               "    accum t.value += 1d\n"
               "  }\n");
}

Test(pass_unread, leaves_that_are_read_are_marked_and_unused_variables_forgotten)
{
    expect_head("  a = p.x\n  accum t.value += f64(add(p.z[1u], c[0u].v))\n",
                "  input p p {f32 x, f32 y, f32 z[3], i32 n} reads z\n  broadcast c c[] {f32 u, f32 v} reads v\n  accum double t {f64 value}\n");
    expect_head("  b = p.y\n  accum t.value += f64(b)\n", "  input p p {f32 x, f32 y, f32 z[3], i32 n} reads y\n  broadcast c c[] {f32 u, f32 v} reads\n"
                                                             "  accum double t {f64 value}\n  var f32 b\n");
}

Test(pass_unread, what_is_read_anywhere_stays)
{
    PASS_LEAVES(c, "  a = p.x\n  if lt(p.n, 3) {\n    a = p.y\n  }\n  accum t.value += f64(a)\n");
    PASS_LEAVES(c, "  for i = 0 to and(p.n, 7) {\n    b = a\n    a = p.x\n    accum t.value += f64(b)\n  }\n");      // read in the next turn
    PASS_LEAVES(c, "  e[and(u32(p.n), 1u)] = p.x\n  accum t.value += f64(e[0u])\n");
    PASS_LEAVES(c, "  i = 0\n  loop while lt(i, 3) {\n    i = add(i, 1)\n  }\n");     // without it the loop would not end
}
