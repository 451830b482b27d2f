// SPDX-License-Identifier: Apache-2.0
// The pass that takes loops over the elements of wide accumulators out of the body, on IR alone. The loops are shown behind the body that they left.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

static void spread(ir_func *func)
{
    bool wide[8] = {false};
    for (size_t i = 0; i < func->param_count; i++) wide[i] = func->params[i].kind == IR_ACCUM_TABLE && func->params[i].record->leaf_count > 1;
    ir_func *loops = hdst__pass_cooperative_loops(func, wide);
    for (size_t i = 0; loops && i < loops->body.count; i++) hdst__ir_push(func, &func->body, loops->body.items[i]);
}

TestSuite(pass_spread, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {spread, "  input p p {f32 x[40], u32 k, f32 y[60]}\n"
                                    "  accum t t[] {f32 x[40], f32 g[2400], u32 n}\n"
                                    "  accum double all {f64 value}\n"
                                    "  var u32 i\n  var u32 h\n  var u32 at\n  var u32 best\n  var f32 d\n"};

Test(pass_spread, a_loop_over_the_elements_of_a_row_leaves_the_body)
{
    PASS_GIVES(c, "  best = rem(p.k, 3u)\n  for i = 0u to 40u {\n    accum t[best].x[i] += p.x[i]\n  }\n  accum t[best].n += 1u\n",
               "  best = rem(p.k, 3u)\n  accum t[best].n += 1u\n  for i = 0u to 40u {\n    accum t[best].x[i] += p.x[i]\n  }\n");
}

Test(pass_spread, the_longest_loop_of_a_nest_goes_outside_and_variables_that_hold_indices_go)
{
    PASS_GIVES(c,
               "  best = rem(p.k, 3u)\n"
               "  for i = 0u to 40u {\n"
               "    d = p.x[i]\n"
               "    for h = 0u to 60u {\n"
               "      at = add(mul(i, 60u), h)\n"
               "      accum t[best].g[at] += mul(d, p.y[h])\n"
               "    }\n"
               "  }\n"
               "  accum t[best].n += 1u\n",
               "  best = rem(p.k, 3u)\n"
               "  accum t[best].n += 1u\n"
               "  for h = 0u to 60u {\n"
               "    for i = 0u to 40u {\n"
               "      d = p.x[i]\n"
               "      accum t[best].g[add(mul(i, 60u), h)] += mul(d, p.y[h])\n"
               "    }\n"
               "  }\n");
}

Test(pass_spread, what_two_turns_may_meet_in_stays)
{
    PASS_LEAVES(c, "  for i = 0u to 40u {\n    accum t[0u].x[div(i, 2u)] += p.x[i]\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 40u {\n    for h = 0u to 60u {\n      accum t[0u].g[add(mul(i, 40u), h)] += p.x[i]\n    }\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 39u {\n    accum t[0u].x[i] += p.x[i]\n    accum t[0u].x[add(i, 1u)] += p.x[i]\n  }\n");
    PASS_LEAVES(c, "  for i = 0u to 40u {\n    accum t[0u].n += 1u\n  }\n");
}

Test(pass_spread, what_leaves_a_value_behind_or_waits_for_one_stays)
{
    PASS_LEAVES(c, "  d = 0f\n  for i = 0u to 40u {\n    d = add(d, p.x[i])\n    accum t[0u].x[i] += p.x[i]\n  }\n  accum all.value += f64(d)\n");
    PASS_LEAVES(c, "  best = rem(p.k, 3u)\n  for i = 0u to 40u {\n    accum t[best].x[i] += p.x[i]\n  }\n  best = 0u\n  accum t[best].n += 1u\n");
    PASS_LEAVES(c, "  for i = 0u to 20u {\n    accum t[0u].x[i] += p.x[i]\n  }\n");
}
