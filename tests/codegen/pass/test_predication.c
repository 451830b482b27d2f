// SPDX-License-Identifier: Apache-2.0
// The pass mask on IR alone. The interpreter runs what was and what became of it: the same bits whatever the records do.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pass_mask, .init = pass_set_up, .fini = pass_tear_down);

static void mask(ir_func *func)
{
    hdst__pass_uniformity(func);       // it goes by what varies
    hdst__pass_predication(func);
}

static const pass_case c = {mask, "  input p p {f32 x[4], u32 k, i32 n, bool a, bool b}\n"
                                  "  broadcast c c[] {f32 y}\n"
                                  "  accum double t {f64 value of float}\n"
                                  "  accum uint64_t rows[] {u64 value}\n"
                                  "  output r r {f32 y, u32 z}\n"
                                  "  var f32 d\n  var f32 e\n  var u32 i\n  var u32 j\n  var u32 n\n  var f32 list[4]\n"};

static const char *body_after(const char *before) { return pass_body(pass_after(&c, before)); }

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) found++;
    return found;
}

#define EXPECT_COUNT(text, part, n) cr_expect_eq(count((text), (part)), (n), "%d of '%s' in\n%s", count((text), (part)), (part), (text))

// --- Shapes ---

Test(pass_mask, a_loop_goes_on_while_any_record_is_in_it)
{
    PASS_GIVES(c,
               "  n = p.k\n  loop while lt(n, 100u) {\n    n = add(mul(n, 2u), 1u)\n  }\n  store r.z = n\n",
               "  n = p.k\n  live = true\n  any = false\n  reduce any |= live\n  loop while any {\n    any = false\n"
               "    live = and(live, lt(n, 100u))\n    n = select(live, add(mul(n, 2u), 1u), n)\n"
               "    live = and(live, lt(n, 100u))\n    n = select(live, add(mul(n, 2u), 1u), n)\n"
               "    live = and(live, lt(n, 100u))\n    n = select(live, add(mul(n, 2u), 1u), n)\n"
               "    live = and(live, lt(n, 100u))\n    n = select(live, add(mul(n, 2u), 1u), n)\n"
               "    reduce any |= live\n  }\n  store r.z = n\n");
}

Test(pass_mask, what_nobody_reads_afterwards_is_not_kept)
{
    const char *text = body_after("  n = 0u\n"
                                  "  d = p.x[0u]\n"
                                  "  loop while lt(d, 4f) {\n"
                                  "    e = mul(d, d)\n"
                                  "    d = add(e, 1f)\n"
                                  "    n = add(n, 1u)\n"
                                  "  }\n"
                                  "  store r.z = n\n");
    EXPECT_COUNT(text, "n = select(live", 4);
    EXPECT_COUNT(text, "    e = mul(d, d)", 4);
    EXPECT_COUNT(text, "    d = add(e, 1f)", 4);
}

Test(pass_mask, what_the_next_turn_of_a_loop_around_reads_is_kept)
{
    const char *text = body_after("  d = 0f\n"
                                  "  for j = 0u to 9u {\n"
                                  "    n = 0u\n"
                                  "    loop while lt(n, and(p.k, 3u)) {\n"
                                  "      d = add(d, p.x[0u])\n"
                                  "      n = add(n, 1u)\n"
                                  "      accum t.value += f64(d)\n"
                                  "    }\n"
                                  "  }\n");
    EXPECT_COUNT(text, "d = select(live, add(d, p.x[0u]), d)", 1);
    EXPECT_COUNT(text, "      n = add(n, 1u)", 1);              // set again in front of the loop
    EXPECT_COUNT(text, "accum t.value += select(live, f64(d), 0d)", 1);
}

Test(pass_mask, a_counted_loop_that_some_leave_stays_one)
{
    const char *text = body_after("  d = 0f\n  for i = 0u to 10u {\n    d = add(d, p.x[0u])\n    if lt(9f, d) {\n      break\n    }\n  }\n  store r.y = d\n");
    EXPECT_COUNT(text, "for i = 0u to end step 4 jammed 4 {", 1);
    EXPECT_COUNT(text, "for i = end to 10u {", 1);
    EXPECT_COUNT(text, "if not(any) {\n      break", 2);
    EXPECT_COUNT(text, "live = and(live, not(taken))", 5);
}

Test(pass_mask, what_stands_behind_a_break_is_left_out)
{
    const char *text = body_after("  d = 0f\n"
                                  "  for i = 0u to 10u {\n"
                                  "    d = add(d, p.x[0u])\n"
                                  "    if lt(9f, d) {\n"
                                  "      break\n"
                                  "      d = 7f\n"
                                  "    }\n"
                                  "  }\n"
                                  "  store r.y = d\n");
    EXPECT_COUNT(text, "7f", 0);
    EXPECT_COUNT(text, "live = and(live, not(taken))", 5);
}

Test(pass_mask, own_ends_of_a_counted_loop)
{
    const char *text = body_after("  d = 0f\n  for i = 0u to and(p.k, 3u) {\n    d = add(d, p.x[i])\n  }\n  store r.y = d\n");
    EXPECT_COUNT(text, "live = lt(i, and(p.k, 3u))", 1);
    EXPECT_COUNT(text, "d = select(live, add(d, p.x[i]), d)", 1);       // all count alike: no index of their own
    EXPECT_COUNT(text, "live = and(live, lt(add(i, 1u), and(p.k, 3u)))", 1);
    text = body_after("  d = 0f\n  for i = and(p.k, 3u) to 4u {\n    d = add(d, p.x[i])\n  }\n  store r.y = d\n");
    EXPECT_COUNT(text, "p.x[select(live, i, 0u)]", 4);
}

Test(pass_mask, branches_that_do_more_than_assign)
{
    PASS_GIVES(c, "  if p.a {\n    list[and(p.k, 3u)] = 1f\n  } else {\n    store r.y = 2f\n  }\n",
               "  cond = p.a\n  taken = cond\n  other = not(cond)\n"
               "  list[select(taken, and(p.k, 3u), 0u)] = select(taken, 1f, list[select(taken, and(p.k, 3u), 0u)])\n"
               "  store r.y = 2f where other\n");
}

Test(pass_mask, a_branch_with_a_loop_is_skipped_when_nobody_takes_it)
{
    const char *text = body_after("  if p.a {\n    for j = 0u to u32(length(c)) {\n      accum t.value += f64(c[j].y)\n    }\n  }\n");
    EXPECT_COUNT(text, "reduce any |= taken\n  if any {\n    for j = 0u to u32(length(c)) {\n      accum t.value += select(taken, f64(c[j].y), 0d)\n", 1);
}

Test(pass_mask, a_loop_of_all_in_a_loop_is_skipped_when_nobody_comes_to_it)
{
    const char *text = body_after("  n = 0u\n"
                                  "  loop while lt(n, and(p.k, 3u)) {\n"
                                  "    loop while true {\n"
                                  "      accum t.value += 1d\n"
                                  "      break\n"
                                  "    }\n"
                                  "    n = add(n, 1u)\n"
                                  "  }\n");
    EXPECT_COUNT(text, "    reduce any_2 |= live\n    if any_2 {\n      loop while true {\n", 1);       // it might have no end where some do come to it
    text = body_after("  n = 0u\n"
                      "  loop while lt(n, and(p.k, 3u)) {\n"
                      "    for j = 0u to u32(length(c)) {\n"
                      "      accum t.value += 1d\n"
                      "    }\n"
                      "    n = add(n, 1u)\n"
                      "  }\n");
    EXPECT_COUNT(text, "    if any_2 {\n      for j = 0u", 1);
    text = body_after("  n = 0u\n  loop while lt(n, and(p.k, 3u)) {\n    for j = 0u to 12u {\n      accum t.value += 1d\n    }\n    n = add(n, 1u)\n  }\n");
    EXPECT_COUNT(text, "any_2", 0);             // a few turns cost less than to ask
}

Test(pass_mask, a_loop_of_all_behind_a_break_is_skipped_when_all_have_left)
{
    static const char turns[] = "  for i = 0u to and(p.k, 7u) {\n"
                                "    if p.a {\n"
                                "      %s\n"
                                "    }\n"
                                "    loop while true {\n"
                                "      accum t.value += 1d\n"
                                "      break\n"
                                "    }\n"
                                "  }\n";
    char before[400];
    snprintf(before, sizeof before, turns, "break");
    EXPECT_COUNT(body_after(before), "reduce any_2 |= live\n    if any_2 {\n      loop while true {\n", 1);
    snprintf(before, sizeof before, turns, "list[and(i, 3u)] = 1f");
    EXPECT_COUNT(body_after(before), "any_2", 0);          // a turn begins with somebody in it
}

Test(pass_mask, a_loop_of_all_in_a_branch_that_emits_is_skipped_when_nobody_takes_it)
{
    static const pass_case emits = {mask, "  input p p {u32 k, bool a}\n  accum double t {f64 value of float}\n  output r r {u32 z}\n"};
    const char *text = pass_body(pass_after(&emits, "  if p.a {\n"
                                                    "    loop while true {\n"
                                                    "      accum t.value += 1d\n"
                                                    "      break\n"
                                                    "    }\n"
                                                    "    store r.z = p.k\n"
                                                    "    emit\n"
                                                    "  }\n"));
    EXPECT_COUNT(text, "  if any {\n    loop while true {\n", 1);
}

// 20 statements of 5 or 11 nodes each
static const char *long_branch(const char *step)
{
    static char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text, "  d = p.x[0u]\n  if lt(p.x[1u], 1f) {\n");
    for (int i = 0; i < 20; i++) length += (size_t)snprintf(text + length, sizeof text - length, "    d = %s\n", step);
    snprintf(text + length, sizeof text - length, "  }\n  store r.y = d\n");
    return text;
}

Test(pass_mask, a_long_branch_is_skipped_when_nobody_takes_it)
{
    const char *text = body_after(long_branch("add(mul(d, fma(d, 0.5f, 0.25f)), fma(d, p.x[2u], 1f))"));
    EXPECT_COUNT(text, "reduce any |= taken", 1);
    EXPECT_COUNT(text, "if any {", 1);
    text = body_after(long_branch("fma(d, 0.5f, 1f)"));
    EXPECT_COUNT(text, "any", 0);
}

Test(pass_mask, small_branches_that_assign_and_what_all_do_alike_stay)
{
    PASS_LEAVES(c, "  d = 0f\n  if p.a {\n    d = 1f\n  }\n  for j = 0u to u32(length(c)) {\n    d = add(d, c[j].y)\n  }\n  store r.y = d\n");
}

Test(pass_mask, additions_to_rows_that_differ_keep_their_loop)
{
    PASS_LEAVES(c, "  n = p.k\n"
                   "  loop while lt(n, 9u) {\n"
                   "    accum rows[select(lt(u64(n), length(rows)), u64(n), 0ul)].value += 1ul\n"
                   "    n = add(n, 1u)\n"
                   "  }\n");
}

// --- Meaning, where much comes together ---

Test(pass_mask, loops_and_branches_in_one_another)
{
    pass_after(&c, "  d = 0f\n"
                   "  n = 0u\n"
                   "  for i = 0u to 7u {\n"
                   "    loop while lt(n, add(i, and(p.k, 7u))) {\n"
                   "      n = add(n, 1u)\n"
                   "      if eq(and(n, 3u), 3u) {\n"
                   "        list[and(n, 3u)] = d\n"
                   "        if lt(20u, n) {\n"
                   "          break\n"
                   "        }\n"
                   "        d = add(d, 1f)\n"
                   "        for j = and(n, 1u) to and(p.k, 3u) {\n"
                   "          d = add(d, p.x[j])\n"
                   "          if lt(100f, d) {\n"
                   "            break\n"
                   "          }\n"
                   "        }\n"
                   "      } else {\n"
                   "        d = add(d, 0.5f)\n"
                   "      }\n"
                   "      d = add(d, list[and(i, 3u)])\n"
                   "    }\n"
                   "    if and(p.a, lt(50f, d)) {\n"
                   "      break\n"
                   "    }\n"
                   "    accum t.value += f64(d)\n"
                   "  }\n"
                   "  store r.y = d\n"
                   "  store r.z = n\n");
}
