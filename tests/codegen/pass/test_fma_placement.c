// SPDX-License-Identifier: Apache-2.0
// The pass fma on IR alone: where a product becomes part of a fused multiply-add, and where it must not. test_scalar_passes.c says it in the kernel language.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_fma, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_fma_placement,
                            "  input p p {f32 x, f32 y, f32 z, f32 w, f64 d, i32 n}\n"
                            "  accum double t {f64 value}\n"
                            "  accum int32_t k {i32 value}\n"
                            "  var f32 v\n  var f64 e\n  var bool b\n",
                            .changes_bits = true};

Test(pass_fma, the_left_product_is_taken_first)
{
    PASS_GIVES(c, "  v = add(mul(p.x, p.y), p.z)\n", "  v = fma(p.x, p.y, p.z)\n");
    PASS_GIVES(c, "  v = add(p.z, mul(p.x, p.y))\n", "  v = fma(p.x, p.y, p.z)\n");
    PASS_GIVES(c, "  v = add(mul(p.x, p.y), mul(p.z, p.w))\n", "  v = fma(p.x, p.y, mul(p.z, p.w))\n");
    PASS_GIVES(c, "  e = add(mul(p.d, 2d), p.d)\n", "  e = fma(p.d, 2d, p.d)\n");
}

Test(pass_fma, differences_negate_an_operand)
{
    PASS_GIVES(c, "  v = sub(mul(p.x, p.y), p.z)\n", "  v = fma(p.x, p.y, neg(p.z))\n");
    PASS_GIVES(c, "  v = sub(p.z, mul(p.x, p.y))\n", "  v = fma(neg(p.x), p.y, p.z)\n");
    PASS_GIVES(c, "  v = sub(mul(p.x, p.y), mul(p.z, p.w))\n", "  v = fma(p.x, p.y, neg(mul(p.z, p.w)))\n");
}

Test(pass_fma, every_sum_by_itself_inner_ones_first)
{
    PASS_GIVES(c, "  v = add(add(mul(p.x, p.y), mul(p.z, p.w)), p.x)\n", "  v = add(fma(p.x, p.y, mul(p.z, p.w)), p.x)\n");
    PASS_GIVES(c, "  v = add(add(p.x, mul(p.y, p.z)), mul(p.w, p.x))\n", "  v = fma(p.w, p.x, fma(p.y, p.z, p.x))\n");
    PASS_GIVES(c, "  v = add(mul(mul(p.x, p.y), p.w), p.z)\n", "  v = fma(mul(p.x, p.y), p.w, p.z)\n");
}

Test(pass_fma, wherever_an_expression_stands)
{
    PASS_GIVES(c,
               "  if lt(add(mul(p.x, p.y), p.z), 0f) {\n    loop while gt(add(mul(p.x, p.y), v), 1f) {\n      v = add(v, 1f)\n    }\n  }\n"
               "  accum t.value += add(mul(p.d, p.d), 1d)\n",
               "  if lt(fma(p.x, p.y, p.z), 0f) {\n    loop while gt(fma(p.x, p.y, v), 1f) {\n      v = add(v, 1f)\n    }\n  }\n"
               "  accum t.value += fma(p.d, p.d, 1d)\n");
}

Test(pass_fma, what_is_between_product_and_sum_keeps_them_apart)
{
    PASS_LEAVES(c, "  v = add(neg(mul(p.x, p.y)), p.z)\n");
    PASS_LEAVES(c, "  e = add(f64(mul(p.x, p.y)), p.d)\n");
    PASS_LEAVES(c, "  v = add(select(b, mul(p.x, p.y), p.w), p.z)\n");
    PASS_LEAVES(c, "  v = mul(p.x, p.y)\n  v = add(v, p.z)\n");
    PASS_LEAVES(c, "  v = add(div(p.x, p.y), p.z)\n");
}

Test(pass_fma, integers_and_the_sum_of_an_accumulator_are_left)
{
    PASS_LEAVES(c, "  accum k.value += add(mul(p.n, p.n), 1)\n");
    PASS_LEAVES(c, "  accum t.value += mul(p.d, p.d)\n");
}
