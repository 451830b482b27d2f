// SPDX-License-Identifier: Apache-2.0
// The pass elements on IR alone: which loops over a record's elements SIMD can take, and exact sums in them.
#include "codegen/pass/row_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_elements, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[40], u32 k}\n"
                           "  broadcast c c[] {f32 y[40]}\n"
                           "  accum t t[] {f32 s[40], u64 n[40]}\n"
                           "  output r r {f32 y[40]}\n"
                           "  var u32 i\n  var u32 row\n  var f32 e\n  var f32 d\n  var u32 n\n  var f32 far[40]\n";
static const pass_case one = {.run_tables = hdst__pass_element_loops, .head = head, .precision = HDST__CLASS_ONE_WORD};
static const pass_case wide = {.run_tables = hdst__pass_element_loops, .head = head, .precision = HDST__CLASS_SUPERACCUMULATOR};
static const pass_case whole = {.run_tables = hdst__pass_element_loops_of_rows, .head = head, .precision = HDST__CLASS_ONE_WORD};

Test(pass_elements, turns_that_do_not_need_one_another_are_marked)
{
    PASS_GIVES(one,
               "  for i = 0u to 40u {\n"
               "    store r.y[i] = mul(p.x[i], 2f)\n"
               "  }\n",
               "  for i = 0u to 40u vectorize {\n"
               "    store r.y[i] = mul(p.x[i], 2f)\n"
               "  }\n");
    PASS_GIVES(one, "  for i = 0u to 40u {\n    e = sub(p.x[i], c[0u].y[i])\n    far[i] = mul(e, e)\n  }\n  store r.y[0u] = far[7u]\n",
               "  for i = 0u to 40u vectorize {\n    e = sub(p.x[i], c[0u].y[i])\n    far[i] = mul(e, e)\n  }\n  store r.y[0u] = far[7u]\n");
    PASS_GIVES(one, "  for i = 0u to 40u {\n    n = add(n, u32(p.x[i]))\n  }\n  store r.y[0u] = f32(n)\n",             // integers may be added in any order
               "  for i = 0u to 40u vectorize {\n    n = add(n, u32(p.x[i]))\n  }\n  store r.y[0u] = f32(n)\n");
}

Test(pass_elements, others_stay)
{
    // Each addition waits for the one before.
    PASS_LEAVES(one, "  for i = 0u to 40u {\n"
                     "    d = add(d, p.x[i])\n"
                     "  }\n"
                     "  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 39u {\n    far[add(i, 1u)] = far[i]\n  }\n  store r.y[0u] = far[7u]\n");              // the next turn reads it
    PASS_LEAVES(one, "  for i = 0u to 20u {\n    store r.y[mul(i, 2u)] = p.x[i]\n  }\n");                                   // not side by side
    PASS_LEAVES(one, "  for i = 0u to 4u {\n    store r.y[i] = p.x[i]\n  }\n");                                             // too short
    PASS_LEAVES(one, "  for i = 0u to 40u step 2 {\n    store r.y[i] = p.x[i]\n  }\n");
    PASS_LEAVES(one, "  for i = 0u to 40u {\n    if lt(p.x[i], 0f) {\n      store r.y[i] = p.x[i]\n    }\n  }\n");
    // Rows that change from turn to turn.
    PASS_LEAVES(one, "  for i = 0u to 40u {\n"
                     "    accum t[and(i, 3u)].n[i] += 1ul\n"
                     "  }\n");
}

Test(pass_elements, float_sums_have_a_test_and_a_rare_second_loop)
{
    PASS_GIVES(one, "  row = and(p.k, 3u)\n  for i = 0u to 40u {\n    accum t[row].s[i] += p.x[i]\n  }\n",
               "  row = and(p.k, 3u)\n  exceptions = false\n"
               "  for i = 0u to 40u vectorize {\n    words t[row].s[i] word 0 takes fixed(t.s, p.x[i])\n"
               "    exceptions = or(exceptions, not(fits(t.s, p.x[i])))\n  }\n"
               "  if exceptions {\n    for i = 0u to 40u {\n      if not(fits(t.s, p.x[i])) {\n"
               "        superaccumulator t[row].s[i] += p.x[i]\n      }\n    }\n  }\n");
    // What the addend needs is worked out in the second loop too, in variables of its own.
    const char *after = pass_body(pass_after(&one, "  for i = 0u to 40u {\n    e = sub(p.x[i], 1f)\n    accum t[0u].s[i] += mul(e, e)\n  }\n"));
    cr_expect_not_null(strstr(after, "      e_2 = sub(p.x[i], 1f)\n"), "%s", after);
    // Set twice, the second time from itself: one variable in the second loop as well.
    after = pass_body(pass_after(&one, "  for i = 0u to 40u {\n"
                                       "    e = div(p.x[i], 0f)\n"
                                       "    e = select(lt(e, 1f), e, add(e, 1f))\n"
                                       "    accum t[0u].s[i] += e\n"
                                       "  }\n"));
    cr_expect_not_null(strstr(after, "      e_2 = div(p.x[i], 0f)\n      e_2 = select(lt(e_2, 1f), e_2, add(e_2, 1f))\n"), "%s", after);
}

Test(pass_elements, sums_of_integers_need_no_test)
{
    PASS_GIVES(one,
               "  for i = 0u to 40u {\n"
               "    accum t[0u].n[i] += u64(p.k)\n"
               "  }\n",
               "  for i = 0u to 40u vectorize {\n"
               "    accum t[0u].n[i] += u64(p.k)\n"
               "  }\n");
}

// An addend that cannot be had twice, or that goes to the exact cell at once, has no vector loop.
Test(pass_elements, sums_without_fixed_point_stay)
{
    PASS_LEAVES(wide, "  for i = 0u to 40u {\n    accum t[0u].s[i] += p.x[i]\n  }\n");
    PASS_LEAVES(one, "  for i = 0u to 40u {\n    n = add(n, 1u)\n    accum t[0u].s[i] += f32(n)\n  }\n  store r.y[0u] = f32(n)\n");
}

Test(pass_elements, block_form_over_rows_marks_those_that_add_or_store)
{
    PASS_GIVES(whole,
               "  for i = 0u to 40u {\n"
               "    store r.y[i] = mul(p.x[i], 2f)\n"
               "  }\n",
               "  for i = 0u to 40u vectorize {\n"
               "    store r.y[i] = mul(p.x[i], 2f)\n"
               "  }\n");
    PASS_LEAVES(whole, "  for i = 0u to 40u {\n    far[i] = p.x[i]\n  }\n  store r.y[0u] = far[3u]\n");
    PASS_LEAVES(whole, "  for i = 0u to 20u {\n    store r.y[i] = p.x[i]\n  }\n");                                            // few elements
}

// --- A sum in order at a loop's end ---

// Heavy enough to be worth a loop of its own.
#define HEAVY(e) "div(sqrt(add(mul(" e ", " e "), 1f)), add(mul(mul(" e ", " e "), mul(" e ", " e ")), div(2f, add(mul(" e ", 3f), 5f))))"

Test(pass_elements, a_sum_in_order_gets_a_loop_of_its_own)
{
    PASS_GIVES(one,
               "  for i = 0u to 10u {\n"
               "    far[i] = " HEAVY("far[i]") "\n"
               "    d = add(d, mul(far[i], p.x[3u]))\n"
               "  }\n"
               "  store r.y[0u] = d\n",
               "  for i = 0u to 10u vectorize {\n"
               "    far[i] = " HEAVY("far[i]") "\n"
               "  }\n"
               "  for i = 0u to 10u {\n"
               "    d = add(d, mul(far[i], p.x[3u]))\n"
               "  }\n"
               "  store r.y[0u] = d\n");
}

Test(pass_elements, a_sum_in_order_stays_where_it_needs_its_turn)
{
    // A variable of the turn, another turn's element, one that is set elsewhere, too.
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    e = " HEAVY("far[i]") "\n    far[i] = e\n    d = add(d, e)\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[i] = " HEAVY("far[i]") "\n    d = add(d, far[add(i, 1u)])\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[i] = " HEAVY("far[i]") "\n    far[add(i, 1u)] = 0f\n    d = add(d, far[i])\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[add(i, 1u)] = " HEAVY("far[add(i, 1u)]") "\n    d = add(d, far[i])\n  }\n  store r.y[0u] = d\n");
    // What is left reads the sum; little is left; what is left is not for SIMD; many elements.
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[i] = " HEAVY("add(d, far[i])") "\n    d = add(d, far[i])\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[i] = mul(p.x[i], 2f)\n    d = add(d, far[i])\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 10u {\n    far[3u] = " HEAVY("far[3u]") "\n    d = add(d, p.x[i])\n  }\n  store r.y[0u] = d\n");
    PASS_LEAVES(one, "  for i = 0u to 40u {\n    far[i] = " HEAVY("far[i]") "\n    d = add(d, far[i])\n  }\n  store r.y[0u] = d\n");
}
