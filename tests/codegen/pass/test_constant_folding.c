// SPDX-License-Identifier: Apache-2.0
// The pass fold on IR alone. The constants expected here were worked out by hand from the numeric rules.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_fold, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_constant_folding, "  input p p {f32 x, f64 d, i32 n, u32 k, bool a, bool b}\n"
                                             "  broadcast c c[] {f32 y}\n"
                                             "  accum double t {f64 value}\n"
                                             "  var f32 f\n  var f64 d\n  var i32 i\n  var u32 u\n  var i64 l\n  var bool q\n  var i8 s\n  var u8 w\n"
                                             "  var f32 K[3] const {1.5f, 2.5f, 3.5f}\n"
                                             "  check 0 index a\n"};

Test(pass_fold, integer_constants_wrap_and_are_guarded)
{
    PASS_GIVES(c, "  i = add(2147483647, 1)\n", "  i = -2147483648\n");
    PASS_GIVES(c, "  s = mul(100i8, 2i8)\n", "  s = -56i8\n");
    PASS_GIVES(c, "  i = div(7, 0)\n", "  i = 0\n");
    PASS_GIVES(c, "  i = div(-2147483648, -1)\n", "  i = -2147483648\n");
    PASS_GIVES(c, "  i = rem(-7, 3)\n", "  i = -1\n");
    PASS_GIVES(c, "  u = shl(1u, 33u)\n", "  u = 2u\n");
    PASS_GIVES(c, "  i = shr(-8, 1u)\n", "  i = -4\n");
    PASS_GIVES(c, "  q = lt(-1, 1)\n", "  q = true\n");
    PASS_GIVES(c, "  q = lt(4294967295u, 1u)\n", "  q = false\n");
}

Test(pass_fold, float_constants_round_once)
{
    PASS_GIVES(c, "  f = add(0.1f, 0.2f)\n", "  f = 0.300000012f\n");
    PASS_GIVES(c, "  f = fma(16777217f, 1f, 1f)\n", "  f = 16777216f\n");       // 2^24 + 1 is read as 2^24; 2^24 + 1 is a tie, to even
    PASS_GIVES(c, "  d = sqrt(2d)\n", "  d = 1.4142135623730951d\n");
    PASS_GIVES(c, "  f = min(-0f, 0f)\n", "  f = -0f\n");
    PASS_GIVES(c, "  q = isnan(nanf)\n", "  q = true\n");
}

Test(pass_fold, conversions_saturate)
{
    PASS_GIVES(c, "  i = i32(3e9f)\n", "  i = 2147483647\n");
    PASS_GIVES(c, "  w = u8(-1f)\n", "  w = 0u8\n");
    PASS_GIVES(c, "  i = i32(nanf)\n", "  i = 0\n");
    PASS_GIVES(c, "  w = u8(300)\n", "  w = 44u8\n");
    PASS_GIVES(c, "  u = as_u32(1f)\n", "  u = 1065353216u\n");
}

Test(pass_fold, algebra_that_is_exact_for_every_operand)
{
    PASS_GIVES(c, "  i = add(mul(p.n, 1), 0)\n", "  i = p.n\n");
    PASS_GIVES(c, "  u = mul(p.k, 0u)\n", "  u = 0u\n");
    PASS_GIVES(c, "  u = or(0u, shl(p.k, 0u))\n", "  u = p.k\n");
    PASS_GIVES(c, "  f = mul(1f, add(p.x, -0f))\n", "  f = p.x\n");
    PASS_GIVES(c, "  f = sub(div(p.x, 1f), 0f)\n", "  f = p.x\n");
    PASS_GIVES(c, "  i = neg(neg(p.n))\n", "  i = p.n\n");
    PASS_GIVES(c, "  q = lt(p.k, 0u)\n", "  q = false\n");
    PASS_GIVES(c, "  f = K[1u]\n", "  f = 2.5f\n");
    PASS_GIVES(c, "  f = min(inff, p.x)\n", "  f = p.x\n");
    PASS_GIVES(c, "  f = max(p.x, -inff)\n", "  f = p.x\n");
}

Test(pass_fold, floats_that_could_change_a_bit_are_left)
{
    PASS_LEAVES(c, "  f = add(p.x, 0f)\n");             // -0 + 0 is 0
    PASS_LEAVES(c, "  f = mul(p.x, 0f)\n");             // of NaN, infinities, -1
    PASS_LEAVES(c, "  f = sub(p.x, p.x)\n");
    PASS_LEAVES(c, "  f = add(add(p.x, 1f), 2f)\n");
    PASS_LEAVES(c, "  f = div(p.x, 4f)\n");
    PASS_LEAVES(c, "  q = not(lt(p.x, 1f))\n");         // NaN is in no order
    PASS_LEAVES(c, "  q = eq(p.x, p.x)\n");
    PASS_LEAVES(c, "  f = max(p.x, inff)\n");          // of NaN
    PASS_LEAVES(c, "  f = min(p.x, -inff)\n");
}

Test(pass_fold, conditions)
{
    PASS_GIVES(c, "  q = not(lt(p.n, 3))\n", "  q = ge(p.n, 3)\n");
    PASS_GIVES(c, "  q = not(eq(p.x, 1f))\n", "  q = ne(p.x, 1f)\n");
    PASS_GIVES(c, "  q = not(not(p.a))\n", "  q = p.a\n");
    PASS_GIVES(c, "  q = and(p.a, true)\n", "  q = p.a\n");
    PASS_GIVES(c, "  q = or(p.a, true)\n", "  q = true\n");
    PASS_GIVES(c, "  q = and(p.a, p.a)\n", "  q = p.a\n");
    PASS_GIVES(c, "  q = select(p.a, false, true)\n", "  q = not(p.a)\n");
    PASS_GIVES(c, "  f = select(p.a, p.x, p.x)\n", "  f = p.x\n");
    PASS_GIVES(c, "  f = select(false, p.x, 1f)\n", "  f = 1f\n");
    PASS_LEAVES(c, "  q = and(p.a, p.b)\n");
}

Test(pass_fold, conversions_that_lose_nothing_on_the_way)
{
    PASS_GIVES(c, "  l = i64(i32(p.n))\n", "  l = i64(p.n)\n");
    PASS_GIVES(c, "  u = u32(u64(p.k))\n", "  u = p.k\n");
    PASS_GIVES(c, "  f = f32(f64(p.x))\n", "  f = p.x\n");
    PASS_LEAVES(c, "  i = i32(i8(p.n))\n");             // cut on the way
    PASS_LEAVES(c, "  l = i64(u32(p.n))\n");            // the sign is lost
    PASS_LEAVES(c, "  d = f64(f32(p.d))\n");            // rounded on the way
}

Test(pass_fold, statements_that_do_nothing_go)
{
    PASS_GIVES(c, "  if true {\n    f = 1f\n  } else {\n    f = 2f\n  }\n", "  f = 1f\n");
    PASS_GIVES(c, "  if lt(2, 1) {\n    f = 1f\n  }\n", "");
    PASS_GIVES(c, "  if p.a {\n    for i = 3 to 2 {\n      f = 1f\n    }\n  }\n", "");
    PASS_GIVES(c, "  loop while false {\n    f = 1f\n  }\n  check 0: lt(1ul, 4ul)\n  f = f\n", "");
    PASS_GIVES(c, "  check 0: lt(4ul, 4ul)\n", "  check 0: false of 4ul, 4ul\n");       // it will fail: that is for the record to say
    PASS_LEAVES(c, "  if p.a {\n  } else {\n    accum t.value += 1d\n  }\n");
    PASS_LEAVES(c, "  for i = 0 to 3 {\n    accum t.value += 1d\n  }\n");
}

Test(pass_fold, what_stands_behind_a_jump_goes)
{
    PASS_GIVES(c, "  for i = 0 to 3 {\n    accum t.value += 1d\n    if true {\n      break\n    }\n    f = 2f\n    accum t.value += f64(f)\n  }\n",
               "  for i = 0 to 3 {\n    accum t.value += 1d\n    break\n  }\n");
    PASS_GIVES(c, "  if p.a {\n    return\n    f = 3f\n  }\n  accum t.value += 2d\n", "  if p.a {\n    return\n  }\n  accum t.value += 2d\n");
}
