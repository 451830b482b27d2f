// SPDX-License-Identifier: Apache-2.0
// The pass that gives additions to wide accumulators loops of their own, on IR alone.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

static void distribute(ir_func *func)
{
    bool wide[8] = {false};
    for (size_t i = 0; i < func->param_count; i++) wide[i] = func->params[i].kind == IR_ACCUM_TABLE && func->params[i].record->leaf_count > 1;
    hdst__pass_loop_distribution(func, wide);
}

TestSuite(pass_loop_distribution, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {distribute, "  input p p {f32 x[40], u32 k}\n"
                                        "  broadcast n n {f32 b[6]}\n"
                                        "  accum g g {f32 w[240], f32 b[6], f32 v[24]}\n"
                                        "  accum double all {f64 value}\n"
                                        "  var u32 h\n  var u32 i\n  var u32 e\n  var f32 d\n  var f32 back[4]\n  var f32 s\n"};

Test(pass_loop_distribution, a_factor_of_each_turn_is_kept_and_the_loop_over_elements_made_behind)
{
    PASS_GIVES(c,
               "  for h = 0u to 6u {\n"
               "    d = mul(n.b[h], f32(p.k))\n"
               "    accum all.value += f64(d)\n"
               "    for i = 0u to 40u {\n"
               "      accum g.w[add(mul(h, 40u), i)] += mul(d, p.x[i])\n"
               "    }\n"
               "  }\n",
               "  for h = 0u to 6u {\n"
               "    d = mul(n.b[h], f32(p.k))\n"
               "    accum all.value += f64(d)\n"
               "    kept[h] = d\n"
               "  }\n"
               "  for h_2 = 0u to 6u {\n"
               "    for i_2 = 0u to 40u {\n"
               "      accum g.w[add(mul(h_2, 40u), i_2)] += mul(kept[h_2], p.x[i_2])\n"
               "    }\n"
               "  }\n");
}

Test(pass_loop_distribution, what_is_kept_once_serves_all_additions_of_the_turn)
{
    PASS_GIVES(c,
               "  for e = 0u to 4u {\n    back[e] = p.x[e]\n  }\n"
               "  s = 0f\n"
               "  for h = 0u to 6u {\n"
               "    d = mul(n.b[h], f32(p.k))\n"
               "    accum g.b[h] += d\n"
               "    for i = 0u to 4u {\n"
               "      accum g.v[add(mul(h, 4u), i)] += mul(back[i], d)\n"
               "      s = fma(d, back[i], s)\n"
               "    }\n"
               "  }\n  accum all.value += f64(s)\n",
               "  for e = 0u to 4u {\n    back[e] = p.x[e]\n  }\n"
               "  s = 0f\n"
               "  for h = 0u to 6u {\n"
               "    d = mul(n.b[h], f32(p.k))\n"
               "    kept[h] = d\n"
               "    for i = 0u to 4u {\n"
               "      s = fma(d, back[i], s)\n"
               "    }\n"
               "  }\n"
               "  for h_2 = 0u to 6u {\n    accum g.b[h_2] += kept[h_2]\n  }\n"
               "  for h_3 = 0u to 6u {\n"
               "    for i_2 = 0u to 4u {\n"
               "      accum g.v[add(mul(h_3, 4u), i_2)] += mul(back[i_2], kept[h_3])\n"
               "    }\n"
               "  }\n  accum all.value += f64(s)\n");
}

Test(pass_loop_distribution, a_variable_that_a_turn_sets_twice_is_kept_twice)
{
    const char *after = pass_body(pass_after(&c, "  for h = 0u to 6u {\n"
                                                 "    d = n.b[h]\n"
                                                 "    accum g.b[h] += d\n"
                                                 "    d = mul(d, 2f)\n"
                                                 "    for i = 0u to 40u {\n"
                                                 "      accum g.w[add(mul(h, 40u), i)] += mul(d, p.x[i])\n"
                                                 "    }\n"
                                                 "  }\n"));
    cr_expect_not_null(strstr(after, "kept_2[h] = d"), "%s", after);
}

#define NEST(addend) "  for h = 0u to 6u {\n    d = n.b[h]\n    for i = 0u to 40u {\n" addend "    }\n  }\n"

Test(pass_loop_distribution, what_is_no_longer_so_behind_the_loops_stays)
{
    PASS_LEAVES(c, NEST("      back[rem(i, 4u)] = d\n      accum g.w[add(mul(h, 40u), i)] += mul(d, back[rem(i, 4u)])\n"));   // the row changes
    PASS_LEAVES(c, NEST("      d = add(d, 1f)\n      accum g.w[add(mul(h, 40u), i)] += mul(d, p.x[i])\n"));                     // so does the factor
    PASS_LEAVES(c, NEST("      accum g.w[add(rem(p.k, 200u), i)] += mul(d, p.x[i])\n"));      // the cell is the record's choice
    PASS_LEAVES(c, NEST("      accum g.w[add(mul(h, 40u), i)] += fma(d, p.x[i], 1f)\n"));     // 240 addends would be kept
    PASS_LEAVES(c, NEST("      e = add(mul(h, 40u), i)\n      accum g.w[e] += mul(d, p.x[i])\n"));
}

Test(pass_loop_distribution, what_not_every_turn_comes_to_stays)
{
    PASS_LEAVES(c, "  for h = 0u to 6u {\n    if gt(n.b[h], 0f) {\n      accum g.b[h] += n.b[h]\n    }\n  }\n");
    PASS_LEAVES(c, "  for h = 0u to 6u {\n    if gt(n.b[h], 0f) {\n      break\n    }\n    accum g.b[h] += n.b[h]\n  }\n");
    PASS_LEAVES(c, "  for h = 0u to rem(p.k, 6u) {\n    accum g.b[h] += n.b[h]\n  }\n");
}
