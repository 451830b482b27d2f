// SPDX-License-Identifier: Apache-2.0
// The pass that gives sums of doubles to work-items, on IR alone. The additions are shown behind the body that they left.
#include "tests/support/pass_case.h"
#include "codegen/pass/owned_sums.h"

#include <criterion/criterion.h>

static void own(ir_func *func, const hdst__tables *tables)
{
    ir_func *sums = hdst__pass_owned_sums(func, tables);
    for (size_t i = 0; sums && i < sums->body.count; i++) hdst__ir_push(func, &func->body, sums->body.items[i]);
}

TestSuite(pass_owned_sums, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {.run_tables = own, .precision = HDST__CLASS_TWO_WORDS,
                            .head = "  input p p {f64 x[6], f64 w, u32 k}\n"
                                    "  accum t t {f64 m[17], f64 all, u32 n}\n"
                                    "  accum few few {f64 m[4]}\n"
                                    "  accum row row[] {f64 m[20]}\n"
                                    "  var u32 i\n  var u32 j\n  var f64 d\n"};

// What the record leaves, then what the work-group adds.
Test(pass_owned_sums, products_leave_their_factors_once)
{
    PASS_GIVES(c,
               "  for i = 0u to 17u {\n"
               "    accum t.m[i] += mul(p.w, p.x[rem(i, 3u)])\n"
               "  }\n"
               "  accum t.n += 1u\n",
               "  value = p.w\n"
               "  value_2 = p.x[0u]\n"
               "  value_3 = p.x[1u]\n"
               "  value_4 = p.x[2u]\n"
               "  accum t.n += 1u\n"
               "  accum t.m[0u] += mul(value, value_2)\n"
               "  accum t.m[1u] += mul(value, value_3)\n"
               "  accum t.m[2u] += mul(value, value_4)\n"
               "  accum t.m[3u] += mul(value, value_2)\n"
               "  accum t.m[4u] += mul(value, value_3)\n"
               "  accum t.m[5u] += mul(value, value_4)\n"
               "  accum t.m[6u] += mul(value, value_2)\n"
               "  accum t.m[7u] += mul(value, value_3)\n"
               "  accum t.m[8u] += mul(value, value_4)\n"
               "  accum t.m[9u] += mul(value, value_2)\n"
               "  accum t.m[10u] += mul(value, value_3)\n"
               "  accum t.m[11u] += mul(value, value_4)\n"
               "  accum t.m[12u] += mul(value, value_2)\n"
               "  accum t.m[13u] += mul(value, value_3)\n"
               "  accum t.m[14u] += mul(value, value_4)\n"
               "  accum t.m[15u] += mul(value, value_2)\n"
               "  accum t.m[16u] += mul(value, value_3)\n");
}

#define SIXTEEN(ADD)                                                                                                                                        \
    ADD("0") ADD("1") ADD("2") ADD("3") ADD("4") ADD("5") ADD("6") ADD("7") ADD("8") ADD("9") ADD("10") ADD("11") ADD("12") ADD("13") ADD("14") ADD("15")
#define ADD_D(N) "  accum t.m[" N "u] += d\n"
#define ADD_VALUE(N) "  accum t.m[" N "u] += value\n"

Test(pass_owned_sums, a_value_that_was_written_since_is_left_again)
{
    PASS_GIVES(c, "  d = p.w\n" SIXTEEN(ADD_D) "  d = add(d, 1d)\n  accum t.m[16u] += d\n  accum t.all += d\n",
               "  d = p.w\n  value = d\n  d = add(d, 1d)\n  value_2 = d\n" SIXTEEN(ADD_VALUE) "  accum t.m[16u] += value_2\n  accum t.all += value_2\n");
}

Test(pass_owned_sums, what_not_every_record_adds_stays_with_its_leaf)
{
    PASS_GIVES(c, "  d = p.w\n" SIXTEEN(ADD_D) "  accum t.m[16u] += d\n  if lt(p.k, 3u) {\n    accum t.all += d\n  }\n",
               "  d = p.w\n  value = d\n  if lt(p.k, 3u) {\n    accum t.all += d\n  }\n" SIXTEEN(ADD_VALUE) "  accum t.m[16u] += value\n");
    PASS_LEAVES(c, "  d = p.w\n" SIXTEEN(ADD_D) "  if lt(p.k, 3u) {\n    accum t.m[16u] += d\n  }\n  accum t.all += d\n");
    PASS_LEAVES(c, "  d = p.w\n" SIXTEEN(ADD_D) "  accum t.m[rem(p.k, 17u)] += d\n");
}

Test(pass_owned_sums, few_sums_and_those_of_tables_stay)
{
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    accum few.m[i] += p.x[i]\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 20u {\n    accum row[0u].m[i] += p.w\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to rem(p.k, 17u) {\n    accum t.m[i] += p.w\n  }\n");
}

Test(pass_owned_sums, sums_that_fixed_point_does_not_hold_stay)
{
    pass_case wide = c;
    wide.precision = HDST__CLASS_SUPERACCUMULATOR;
    PASS_LEAVES(wide, "  for i = 0u to 17u {\n    accum t.m[i] += p.w\n  }\n");
}
