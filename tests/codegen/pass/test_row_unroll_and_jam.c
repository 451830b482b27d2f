// SPDX-License-Identifier: Apache-2.0
// The jam of the row form on IR alone.
#include "codegen/pass/row_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_row_jam, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[40]}\n"
                           "  broadcast c c[] {f32 y[40]}\n"
                           "  output r r {f32 y}\n"
                           "  var u32 j\n  var u32 i\n  var f32 e\n  var f32 best\n  var f32 far[40]\n";
static const pass_case c = {hdst__pass_row_unroll_and_jam, head};

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) found++;
    return found;
}

Test(pass_row_jam, four_turns_then_two_then_one)
{
    const char *after = pass_body(pass_after(&c, "  for j = 0u to u32(length(c)) {\n"
                                                 "    for i = 0u to 40u {\n"
                                                 "      e = sub(p.x[i], c[j].y[i])\n"
                                                 "      far[i] = mul(e, e)\n"
                                                 "    }\n"
                                                 "    best = add(best, far[7u])\n"
                                                 "  }\n"
                                                 "  store r.y = best\n"));
    cr_expect_eq(count(after, " jammed 4 {"), 1, "%s", after);
    cr_expect_eq(count(after, " jammed 2 {"), 1, "%s", after);
    cr_expect_eq(count(after, "for j = "), 3, "%s", after);
    cr_expect_eq(count(after, "for i = "), 3, "the loops over elements are one in each: %s", after);
    cr_expect_eq(count(after, "c[add(j, 3u)].y[i]"), 1, "%s", after);
    cr_expect_eq(count(after, "best = add(best, far"), 7, "%s", after);
}

Test(pass_row_jam, loops_that_need_the_turn_before_stay)
{
    PASS_LEAVES(c, "  for j = 0u to u32(length(c)) {\n    for i = 0u to 40u {\n      best = add(best, c[j].y[i])\n    }\n  }\n  store r.y = best\n");
    PASS_LEAVES(c, "  for j = 0u to u32(length(c)) {\n"
                   "    for i = 0u to 40u {\n"
                   "      far[i] = add(best, c[j].y[i])\n"
                   "    }\n"
                   "    best = far[3u]\n"
                   "  }\n"
                   "  store r.y = best\n");
    PASS_LEAVES(c, "  for j = 0u to u32(length(c)) {\n    for i = 0u to 40u {\n      far[i] = add(far[i], c[j].y[i])\n    }\n  }\n  store r.y = far[3u]\n");
    PASS_LEAVES(c, "  for j = 0u to u32(length(c)) {\n    best = add(best, c[j].y[0u])\n  }\n  store r.y = best\n");         // no loop inside
}

Test(pass_row_jam, loops_whose_bounds_differ_from_turn_to_turn_stay)
{
    PASS_LEAVES(c, "  for j = 0u to 40u {\n"
                   "    e = 0f\n"
                   "    for i = 0u to j {\n"
                   "      e = add(e, p.x[i])\n"
                   "    }\n"
                   "    best = add(best, e)\n"
                   "  }\n"
                   "  store r.y = best\n");
    PASS_LEAVES(c, "  for j = 0u to 40u {\n"
                   "    e = 0f\n"
                   "    for i = j to 40u {\n"
                   "      e = add(e, p.x[i])\n"
                   "    }\n"
                   "    best = add(best, e)\n"
                   "  }\n"
                   "  store r.y = best\n");
    PASS_LEAVES(c, "  for j = 0u to 40u {\n"
                   "    e = p.x[j]\n"
                   "    for i = 0u to and(u32(e), 31u) {\n"
                   "      far[i] = p.x[i]\n"
                   "    }\n"
                   "    best = add(best, e)\n"
                   "  }\n"
                   "  store r.y = best\n");
}
