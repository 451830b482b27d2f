// SPDX-License-Identifier: Apache-2.0
// The pass predicate on IR alone: conditional additions become additions of what the accumulator does not notice, conditional emits say their condition.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_predicate, .init = pass_set_up, .fini = pass_tear_down);

static void predicate(ir_func *func)
{
    hdst__pass_uniformity(func);
    hdst__pass_if_conversion_of_effects(func);
}

static const pass_case c = {predicate, "  input p p {f32 x, i32 n, bool a}\n"
                                       "  broadcast float w {f32 value}\n"
                                       "  accum s s {f64 x, u64 n, i32 low min, f32 high max, u8 all and, bool any or, bool every and, u32 odd xor}\n"
                                       "  var f32 e\n"};
static const pass_case emits = {predicate, "  input p p {f32 x, i32 n, bool a}\n"
                                           "  output r r {f32 y}\n"
                                           "  var f32 e\n"};

Test(pass_predicate, the_identity_of_every_law)
{
    PASS_GIVES(c, "  if p.a {\n    accum s.x += f64(p.x)\n  }\n", "  accum s.x += select(p.a, f64(p.x), 0d)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.n += 1ul\n  }\n", "  accum s.n += select(p.a, 1ul, 0ul)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.low min= p.n\n  }\n", "  accum s.low min= select(p.a, p.n, 2147483647)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.high max= p.x\n  }\n", "  accum s.high max= select(p.a, p.x, -inff)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.all &= u8(p.n)\n  }\n", "  accum s.all &= select(p.a, u8(p.n), 255u8)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.any |= lt(p.x, 0f)\n  }\n", "  accum s.any |= select(p.a, lt(p.x, 0f), false)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.every &= lt(p.x, 0f)\n  }\n", "  accum s.every &= select(p.a, lt(p.x, 0f), true)\n");
    PASS_GIVES(c, "  if p.a {\n    accum s.odd ^= u32(p.n)\n  }\n", "  accum s.odd ^= select(p.a, u32(p.n), 0u)\n");
}

Test(pass_predicate, both_branches)
{
    PASS_GIVES(c, "  if lt(p.x, 0f) {\n    accum s.n += 1ul\n  } else {\n    accum s.x += f64(p.x)\n  }\n",
               "  taken = lt(p.x, 0f)\n  accum s.n += select(taken, 1ul, 0ul)\n  accum s.x += select(taken, 0d, f64(p.x))\n");
}

Test(pass_predicate, what_all_records_take_alike_stays)
{
    PASS_LEAVES(c, "  if lt(w.value, 0f) {\n    accum s.n += 1ul\n  }\n");
}

Test(pass_predicate, an_emit_says_its_condition)
{
    PASS_GIVES(emits, "  if p.a {\n    store r.y = p.x\n    emit\n  }\n", "  taken = p.a\n  store r.y = p.x\n  emit if taken\n");
    PASS_GIVES(emits, "  if p.a {\n    store r.y = p.x\n    emit if lt(p.x, 1f)\n  } else {\n    store r.y = 2f\n    emit\n  }\n",
               "  taken = p.a\n  store r.y = p.x\n  emit if and(taken, lt(p.x, 1f))\n  store r.y = 2f\n  emit if not(taken)\n");
}
