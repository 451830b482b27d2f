// SPDX-License-Identifier: Apache-2.0
// The pass checks on IR alone: which comparisons of an index it proves, and which it must not. What is proved becomes `true`; folding drops it.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_checks, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_bounds_checks, "  input p p {f32 x[4], u32 k, i32 n, u8 small, i64 big}\n"
                                               "  broadcast c c[] {f32 y}\n"
                                               "  broadcast e e[] {f32 y}\n"
                                               "  accum double t {f64 value}\n"
                                               "  var u32 i\n  var i32 s\n  var u32 j\n  var u64 l\n"
                                               "  check 0 index x\n  check 1 table index c\n"};

// A check of one condition, alone.
static void expect_proved(const char *cond, bool proved)
{
    hdst__arena text_arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&text_arena, NULL, &out_of_memory);
    const char *before = hdst__arena_printf(&text_arena, "  check 0: %s\n", cond), *found = pass_body(pass_after(&c, before));
    cr_expect_eq(!strncmp(found, "  check 0: true", 15), proved, "%s: %s", cond, found);
    hdst__arena_destroy(&text_arena);
}

Test(pass_checks, masks_remainders_shifts_and_narrow_types_bound_an_index)
{
    expect_proved("lt(u64(and(p.k, 3u)), 4ul)", true);
    expect_proved("lt(u64(rem(p.k, 4u)), 4ul)", true);
    expect_proved("lt(u64(shr(p.k, 30u)), 4ul)", true);
    expect_proved("lt(u64(p.small), 256ul)", true);
    expect_proved("lt(u64(div(p.small, 64u8)), 4ul)", true);
    expect_proved("lt(u64(sub(3u, and(p.k, 1u))), 4ul)", true);
    expect_proved("lt(u64(add(and(p.k, 1u), mul(and(p.k, 1u), 2u))), 4ul)", true);
    expect_proved("lt(u64(min(p.k, 3u)), 4ul)", true);
    expect_proved("lt(u64(select(lt(p.n, 0), 1u, 3u)), 4ul)", true);
    expect_proved("lt(u64(and(p.n, 3)), 4ul)", true);           // a mask that is not negative takes the sign away
}

Test(pass_checks, what_could_be_too_large_or_negative_is_not_proved)
{
    expect_proved("lt(u64(and(p.k, 7u)), 4ul)", false);
    expect_proved("lt(u64(rem(p.n, 4)), 4ul)", false);          // -3 is a remainder
    expect_proved("lt(u64(rem(p.k, 5u)), 4ul)", false);
    expect_proved("lt(u64(shr(p.k, 29u)), 4ul)", false);
    expect_proved("lt(u64(shr(p.k, 62u)), 4ul)", true);         // counts are masked: 62 is 30
    expect_proved("lt(u64(p.small), 255ul)", false);
    expect_proved("lt(u64(sub(and(p.k, 1u), 1u)), 4ul)", false);        // wraps
    expect_proved("lt(u64(add(p.k, 1u)), 4294967296ul)", true);         // of the type's values none is above
    expect_proved("lt(u64(add(p.k, 4294967295u)), 4294967295ul)", false);
    expect_proved("lt(u64(p.big), 9223372036854775807ul)", false);
    expect_proved("lt(u64(u8(p.k)), 200ul)", false);
    expect_proved("lt(u64(min(p.n, 3)), 4ul)", false);
}

Test(pass_checks, counters_of_loops_stay_below_their_ends)
{
    PASS_GIVES(c, "  for i = 0u to 4u {\n    check 0: lt(u64(i), 4ul)\n  }\n", "  for i = 0u to 4u {\n    check 0: true of u64(i), 4ul\n  }\n");
    PASS_GIVES(c, "  for s = 1 to 4 {\n    check 0: lt(u64(sub(s, 1)), 3ul)\n  }\n", "  for s = 1 to 4 {\n    check 0: true of u64(sub(s, 1)), 3ul\n  }\n");
    PASS_GIVES(c, "  for i = 0u to u32(length(c)) {\n    accum t.value += f64(c[select(lt(u64(i), length(c)), i, 0u)].y)\n  }\n",
               "  for i = 0u to u32(length(c)) {\n    accum t.value += f64(c[select(true, i, 0u)].y)\n  }\n");
    PASS_GIVES(c, "  for i = 0u to u32(min(length(c), 4294967295ul)) {\n    check 1: lt(u64(i), length(c))\n  }\n",
               "  for i = 0u to u32(min(length(c), 4294967295ul)) {\n    check 1: true of u64(i), length(c)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 5u {\n    check 0: lt(u64(i), 4ul)\n  }\n");
    PASS_LEAVES(c, "  for s = -1 to 4 {\n    check 0: lt(u64(s), 4ul)\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to u32(length(c)) {\n    check 1: lt(u64(i), length(e))\n  }\n");       // the rows of another table
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    j = 1u\n  }\n  check 0: lt(u64(i), 4ul)\n");               // behind the loop
    PASS_LEAVES(c, "  for i = 0u to u32(add(length(c), 1ul)) {\n    check 1: lt(u64(i), length(c))\n  }\n");
}

// What a loop counts from and to is worked out once, in front of it.
// The verifier sees to it that no turn writes what they read.
Test(pass_checks, bounds_are_those_that_the_loop_began_with)
{
    PASS_LEAVES(c, "  j = and(p.k, 7u)\n  for i = j to 10u {\n    check 0: lt(u64(sub(i, 5u)), 5ul)\n  }\n");
    PASS_LEAVES(c, "  j = and(p.k, 7u)\n  for i = 0u to j {\n    check 0: lt(u64(i), 4ul)\n  }\n  j = 4u\n");
    PASS_GIVES(c, "  j = and(p.k, 7u)\n  if gt(j, 4u) {\n    for i = j to 10u {\n      check 0: lt(u64(sub(i, 5u)), 5ul)\n    }\n  }\n",
               "  j = and(p.k, 7u)\n  if gt(j, 4u) {\n    for i = j to 10u {\n      check 0: true of u64(sub(i, 5u)), 5ul\n    }\n  }\n");
}

// A length whose bits were cut off may be negative; made wider again without a sign it is beyond all rows.
Test(pass_checks, lengths_that_became_negative_are_no_lengths)
{
    PASS_LEAVES(c, "  for l = 0ul to u64(i8(length(c))) {\n    check 1: lt(l, length(c))\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to u32(i8(length(c))) {\n    check 1: lt(u64(i), length(c))\n  }\n");
    PASS_LEAVES(c, "  for s = 0 to i32(i8(min(i64(length(c)), -129l))) {\n    check 1: lt(u64(s), length(c))\n  }\n");
    PASS_GIVES(c,
               "  for s = 0 to i32(i8(length(c))) {\n"
               "    check 1: lt(u64(s), length(c))\n"
               "  }\n",
               "  for s = 0 to i32(i8(length(c))) {\n"
               "    check 1: true of u64(s), length(c)\n"
               "  }\n");
    PASS_GIVES(c,
               "  for l = 0ul to u64(u8(length(c))) {\n"
               "    check 1: lt(l, length(c))\n"
               "  }\n",
               "  for l = 0ul to u64(u8(length(c))) {\n"
               "    check 1: true of l, length(c)\n"
               "  }\n");
}

Test(pass_checks, a_variable_is_what_it_was_set_to_last)
{
    PASS_GIVES(c, "  j = and(p.k, 3u)\n  check 0: lt(u64(j), 4ul)\n", "  j = and(p.k, 3u)\n  check 0: true of u64(j), 4ul\n");
    PASS_LEAVES(c, "  j = and(p.k, 3u)\n  j = p.k\n  check 0: lt(u64(j), 4ul)\n");
    PASS_GIVES(c, "  if lt(p.n, 0) {\n    j = 9u\n  }\n  j = and(p.k, 3u)\n  check 0: lt(u64(j), 4ul)\n",
               "  if lt(p.n, 0) {\n    j = 9u\n  }\n  j = and(p.k, 3u)\n  check 0: true of u64(j), 4ul\n");
    PASS_LEAVES(c, "  j = and(p.k, 3u)\n  if lt(p.n, 0) {\n    j = 9u\n  }\n  check 0: lt(u64(j), 4ul)\n");
    PASS_LEAVES(c, "  j = and(add(j, p.k), 3u)\n  j = add(j, 1u)\n  check 0: lt(u64(j), 4ul)\n");
}

Test(pass_checks, conditions_on_the_way_bound_an_index)
{
    PASS_GIVES(c, "  if lt(p.k, 4u) {\n    check 0: lt(u64(p.k), 4ul)\n  }\n", "  if lt(p.k, 4u) {\n    check 0: true of u64(p.k), 4ul\n  }\n");
    PASS_LEAVES(c, "  if lt(p.k, 4u) {\n  } else {\n    check 0: lt(u64(p.k), 4ul)\n  }\n");
    PASS_LEAVES(c, "  if lt(p.k, 5u) {\n    check 0: lt(u64(p.k), 4ul)\n  }\n");
    PASS_LEAVES(c, "  if lt(p.n, 4) {\n    check 0: lt(u64(p.n), 4ul)\n  }\n");       // may be negative
}

Test(pass_checks, what_was_checked_is_not_checked_again)
{
    PASS_GIVES(c, "  check 0: lt(u64(p.k), 4ul)\n  j = 1u\n  check 0: lt(u64(p.k), 4ul)\n",
               "  check 0: lt(u64(p.k), 4ul)\n  j = 1u\n  check 0: true of u64(p.k), 4ul\n");
    PASS_LEAVES(c, "  j = p.k\n  check 0: lt(u64(j), 4ul)\n  j = add(j, 1u)\n  check 0: lt(u64(j), 4ul)\n");
    PASS_LEAVES(c, "  j = p.k\n  check 0: lt(u64(j), 4ul)\n  if lt(p.n, 0) {\n    j = add(j, 1u)\n  }\n  check 0: lt(u64(j), 4ul)\n");
    PASS_LEAVES(c, "  if lt(p.n, 0) {\n    check 0: lt(u64(p.k), 4ul)\n  }\n  check 0: lt(u64(p.k), 4ul)\n");     // made for some records only
    PASS_LEAVES(c, "  check 0: lt(u64(p.k), 4ul)\n  check 0: lt(u64(p.k), 3ul)\n");
}
