// SPDX-License-Identifier: Apache-2.0
// The bound on additions of one record to one cell, on functions written as IR text.
#include "tests/support/pass_case.h"
#include "codegen/pass/addition_bound.h"

#include <criterion/criterion.h>

TestSuite(addition_bound, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[2]}\n"
                           "  broadcast c c[] {f32 x[2]}\n"
                           "  accum t t[] {f32 x[2], u32 n}\n"
                           "  accum s s {f64 v[100]}\n"
                           "  var u64 i\n"
                           "  var u64 j\n";
static const uint64_t rows[] = {0, 50, 50, 1};      // by parameter

static uint64_t bound_of(const char *body)
{
    const ir_func *func = pass_read(head, body);
    return hdst__tables_adds_per_record(func->arena, func, rows);
}

Test(addition_bound, an_element_for_each_turn_is_added_to_once)
{
    cr_expect_eq(bound_of("  for i = 0ul to 2ul {\n"
                          "    accum t[0ul].x[i] += p.x[i]\n"
                          "  }\n"),
                 1);
}

Test(addition_bound, one_element_for_all_turns_is_added_to_by_each)
{
    cr_expect_eq(bound_of("  for i = 0ul to 2ul {\n"
                          "    accum t[0ul].x[0ul] += p.x[i]\n"
                          "  }\n"),
                 2);
    cr_expect_eq(bound_of("  for i = 10ul to length(c) {\n"
                          "    accum s.v[0ul] += 0d\n"
                          "  }\n"),
                 40, "the length is 50");
}

Test(addition_bound, statements_of_a_cell_add_up_and_branches_exclude_one_another)
{
    cr_expect_eq(bound_of("  accum s.v[3ul] += 0d\n"
                          "  for i = 10ul to length(c) {\n"
                          "    accum s.v[0ul] += 0d\n"
                          "  }\n"),
                 41);
    cr_expect_eq(bound_of("  if lt(p.x[0ul], 0f) {\n"
                          "    accum s.v[0ul] += 1d\n"
                          "  } else {\n"
                          "    accum s.v[0ul] += 2d\n"
                          "    accum s.v[0ul] += 3d\n"
                          "  }\n"),
                 2);
}

#define PAIRS_OF_TURNS(index)                                                                                                \
    "  for i = 0ul to 7ul {\n"                                                                                               \
    "    for j = 0ul to 9ul {\n"                                                                                             \
    "      accum s.v[" index "] += 0d\n"                                                                                     \
    "    }\n"                                                                                                                \
    "  }\n"

Test(addition_bound, nested_loops_multiply_unless_each_pair_of_turns_has_its_element)
{
    cr_expect_eq(bound_of(PAIRS_OF_TURNS("0ul")), 63);
    cr_expect_eq(bound_of(PAIRS_OF_TURNS("add(mul(i, 9ul), j)")), 1, "an element for each pair of turns");
    cr_expect_eq(bound_of(PAIRS_OF_TURNS("add(mul(i, 8ul), j)")), 7, "pairs of turns may meet");
}

Test(addition_bound, a_loop_without_a_count_has_no_bound)
{
    cr_expect_eq(bound_of("  loop while false {\n"
                          "    accum s.v[0ul] += 0d\n"
                          "  }\n"),
                 UINT64_MAX);
}
