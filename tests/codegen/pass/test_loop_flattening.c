// SPDX-License-Identifier: Apache-2.0
// The pass that takes a loop of which all output comes out of the body, on IR alone: what leads to it, then a turn.
#include "tests/support/pass_case.h"
#include "codegen/pass/gpu_form.h"

#include <criterion/criterion.h>

static void head_of(ir_func *func)
{
    const hdst__flat_loop *flat = hdst__pass_loop_flattening(func);
    if (flat) *func = *flat->head;
}

static void turn_of(ir_func *func)
{
    const hdst__flat_loop *flat = hdst__pass_loop_flattening(func);
    if (flat) *func = *flat->turn;
}

static void counts_of(ir_func *func)
{
    const hdst__flat_loop *flat = hdst__pass_loop_flattening(func);
    if (flat) *func = *flat->count_turn;
}

TestSuite(loop_flattening, .init = pass_set_up, .fini = pass_tear_down);

static const char declarations[] = "  input p p {f32 x, i32 low, i32 high, u32 n}\n"
                                   "  accum double t {f64 value}\n"
                                   "  output result result {f32 y}\n"
                                   "  check 0 division z\n"
                                   "  var f32 a\n  var f32 b\n  var i32 i\n  var u32 e\n";
static const pass_case head = {head_of, declarations, .is_half = true}, turn = {turn_of, declarations, .is_half = true},
                       counts = {counts_of, declarations, .is_half = true};

static const char loop[] = "  a = p.x\n  accum t.value += f64(a)\n  check 0: lt(a, 9f)\n"
                           "  for i = p.low to p.high {\n    b = add(a, f32(i))\n    check 0: lt(b, 7f)\n    store result.y = b\n    emit if lt(b, 1f)\n  }\n";

Test(loop_flattening, the_head_has_the_effects_and_says_how_many_turns_there_are)
{
    PASS_GIVES(head, loop, "  a = p.x\n  accum t.value += f64(a)\n  check 0: lt(a, 9f)\n"
                           "  turns = select(lt(p.low, p.high), sub(u64(p.high), u64(p.low)), 0ul)\n");
}

Test(loop_flattening, a_turn_is_worked_out_from_its_record_alone)
{
    PASS_GIVES(turn, loop,
               "  a = p.x\n  i = i32(add(u64(p.low), turn))\n  b = add(a, f32(i))\n  check 0: lt(b, 7f)\n  store result.y = b\n  emit if lt(b, 1f)\n");
    PASS_GIVES(counts, loop, "  a = p.x\n  i = i32(add(u64(p.low), turn))\n  b = add(a, f32(i))\n  emit if lt(b, 1f)\n");
}

Test(loop_flattening, a_loop_in_a_branch_keeps_it)
{
    static const char in_a_branch[] = "  if lt(p.x, 1f) {\n    a = mul(p.x, 2f)\n    for e = 0u to p.n {\n      store result.y = a\n      emit\n    }\n  }\n";
    PASS_GIVES(head, in_a_branch,
               "  if lt(p.x, 1f) {\n    a = mul(p.x, 2f)\n    turns = select(lt(0u, p.n), sub(u64(p.n), u64(0u)), 0ul)\n  }\n");
    PASS_GIVES(turn, in_a_branch,
               "  if lt(p.x, 1f) {\n    a = mul(p.x, 2f)\n    e = u32(add(u64(0u), turn))\n    store result.y = a\n    emit\n  }\n");
}

Test(loop_flattening, loops_whose_turns_need_one_another_or_whose_output_is_not_all_stay)
{
    PASS_LEAVES(head, "  a = p.x\n  for e = 0u to p.n {\n    a = add(a, 1f)\n    store result.y = a\n    emit\n  }\n");
    PASS_LEAVES(head, "  for e = 0u to p.n {\n    accum t.value += f64(p.x)\n    store result.y = p.x\n    emit\n  }\n");
    PASS_LEAVES(head, "  store result.y = p.x\n  emit\n  for e = 0u to p.n {\n    store result.y = p.x\n    emit\n  }\n");
    PASS_LEAVES(head, "  for e = 0u to p.n {\n    store result.y = p.x\n    emit\n  }\n  accum t.value += f64(p.x)\n");
    PASS_LEAVES(head, "  if lt(p.x, 1f) {\n    for e = 0u to p.n {\n      store result.y = p.x\n      emit\n    }\n  } else {\n    a = 1f\n  }\n");
    PASS_LEAVES(head, "  for e = 0u to 4u {\n    store result.y = p.x\n    emit\n  }\n");
    PASS_LEAVES(head, "  for e = 0u to p.n step 2 {\n    store result.y = p.x\n    emit\n  }\n");
    PASS_LEAVES(head, "  store result.y = p.x\n  emit if lt(p.x, 1f)\n");
    PASS_LEAVES(head, "  for e = 0u to p.n {\n    if lt(p.x, f32(e)) {\n      break\n    }\n    store result.y = p.x\n    emit\n  }\n");
}
