// SPDX-License-Identifier: Apache-2.0
// The pass uniform on IR alone: which variables are marked as varying.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_uniform, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_uniformity, "  input p p {f32 x, u32 n, bool a}\n"
                                                "  broadcast c c[] {f32 y, u32 m}\n"
                                                "  accum double t {f64 value}\n"
                                                "  var f32 u\n  var f32 v\n  var u32 i\n  var u32 j\n  var f32 e[3]\n"};

// The names of the varying ones, one after another.
static void expect_varying(const char *body, const char *expected)
{
    const ir_func *func = pass_after(&c, body);
    char names[64] = "";
    for (size_t i = 0; i < func->var_count; i++)
        if (func->vars[i].varying) strcat(names, func->vars[i].name);
    cr_expect_str_eq(names, expected, "'%s' vary, not '%s':\n%s", names, expected, body);
    cr_expect_str_eq(pass_body(func), body);        // it marks, nothing else
}

Test(pass_uniform, what_comes_from_the_record_varies)
{
    expect_varying("  u = p.x\n", "u");
    expect_varying("  u = c[0u].y\n  v = add(u, 1f)\n", "");
    expect_varying("  u = c[and(p.n, 1u)].y\n", "u");
    expect_varying("  u = f32(record_index())\n", "u");
    expect_varying("  u = p.x\n  v = add(u, 1f)\n", "uv");
    expect_varying("  e[and(p.n, 1u)] = 1f\n", "e");
    expect_varying("  e[0u] = p.x\n  u = e[1u]\n", "ue");
    expect_varying("  i = u32(length(c))\n", "");
}

Test(pass_uniform, what_is_set_where_only_some_records_come_varies)
{
    expect_varying("  if p.a {\n    u = 1f\n  }\n", "u");
    expect_varying("  if p.a {\n  } else {\n    if lt(c[0u].y, 0f) {\n      u = 1f\n    }\n  }\n", "u");
    expect_varying("  if lt(c[0u].y, 0f) {\n    u = 1f\n  }\n", "");
}

Test(pass_uniform, counters_vary_with_their_bounds)
{
    expect_varying("  for i = 0u to u32(length(c)) {\n    u = add(u, c[i].y)\n  }\n", "");
    expect_varying("  for i = 0u to and(p.n, 7u) {\n    u = 1f\n  }\n", "ui");
    expect_varying("  for i = and(p.n, 7u) to 4u {\n    u = 1f\n  }\n", "ui");
    expect_varying("  j = 0u\n  loop while lt(j, and(p.n, 7u)) {\n    j = add(j, 1u)\n  }\n", "j");
    expect_varying("  j = 0u\n  loop while lt(j, 4u) {\n    j = add(j, 1u)\n  }\n", "");
}

Test(pass_uniform, a_loop_that_records_leave_apart_makes_what_it_sets_vary)
{
    expect_varying("  for i = 0u to 4u {\n    if p.a {\n      break\n    }\n    u = 1f\n  }\n", "ui");
    expect_varying("  for i = 0u to 4u {\n    if lt(c[i].y, 0f) {\n      break\n    }\n    u = 1f\n  }\n", "");
    // Only the inner one.
    expect_varying("  for i = 0u to 4u {\n"
                   "    for j = 0u to 4u {\n"
                   "      if p.a {\n"
                   "        break\n"
                   "      }\n"
                   "    }\n"
                   "    u = 1f\n"
                   "  }\n",
                   "j");
}

Test(pass_uniform, it_goes_round_until_nothing_changes)
{
    expect_varying("  for i = 0u to 4u {\n    if lt(v, 0f) {\n      e[0u] = 1f\n    }\n    v = u\n    u = p.x\n  }\n", "uve");
}

// Each record makes a loop that is marked for itself (element_loops.c), whatever it works on.
Test(pass_uniform, what_a_marked_loop_sets_varies)
{
    static const pass_case rows = {hdst__pass_uniformity, "  rows\n"
                                                           "  input p p {f32 x}\n"
                                                           "  broadcast c c[] {f64 y}\n"
                                                           "  accum t t {f64 s[4]}\n"
                                                           "  var u32 i\n"
                                                           "  var f64 u\n"};
    const char *body = "  for i = 0u to 4u vectorize {\n    u = c[0u].y\n    accum t.s[i] += u\n  }\n";
    const ir_func *func = pass_after(&rows, body);
    cr_expect(func->vars[1].varying);
    cr_expect_not(func->vars[0].varying, "it counts alike for all");
    cr_expect_str_eq(pass_body(func), body);
}
