// SPDX-License-Identifier: Apache-2.0
// The pass nans on IR alone: which stores see to their NaNs, and which need not.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_nans, .init = pass_set_up, .fini = pass_tear_down);

static void of_a_function(ir_func *func)
{
    func->makes = true;
    hdst__pass_canonical_nans(func);
}

#define HEAD                                                                                                \
    "  input p p {f32 x, f32 y, f64 d, i32 n, u64 w, bool b}\n"                                             \
    "  output row result {f32 x, f64 d, i32 n}\n"                                                           \
    "  var f32 v\n  var f32 w[4]\n  var f32 z[2]\n  var u32 i\n  var f32 c[2] const {1f, nanf}\n  var f32 k[2] const {1f, inff}\n"
static const pass_case made = {of_a_function, HEAD, .changes_bits = true}, passed = {hdst__pass_canonical_nans, HEAD};

Test(pass_nans, what_may_be_one)
{
    PASS_GIVES(made, "  store result.x = p.x\n", "  store result.x = canonical(p.x)\n");
    PASS_GIVES(made, "  store result.x = mul(f32(p.n), p.x)\n", "  store result.x = canonical(mul(f32(p.n), p.x))\n");
    PASS_GIVES(made, "  store result.d = div(f64(p.n), f64(p.n))\n", "  store result.d = canonical(div(f64(p.n), f64(p.n)))\n");
    PASS_GIVES(made, "  store result.d = mul(f64(p.n), mul(f64(p.n), f64(p.n)))\n", "  store result.d = canonical(mul(f64(p.n), mul(f64(p.n), f64(p.n))))\n");
    PASS_GIVES(made, "  store result.x = sub(f32(p.d), f32(p.n))\n", "  store result.x = canonical(sub(f32(p.d), f32(p.n)))\n");
    PASS_GIVES(made, "  store result.x = mul(inff, f32(p.n))\n", "  store result.x = canonical(mul(inff, f32(p.n)))\n");
    PASS_GIVES(made, "  store result.x = select(p.b, 1f, p.y)\n", "  store result.x = canonical(select(p.b, 1f, p.y))\n");
    PASS_GIVES(made, "  store result.x = min(1f, p.y)\n", "  store result.x = canonical(min(1f, p.y))\n");
    PASS_GIVES(made, "  store result.x = neg(p.x)\n", "  store result.x = canonical(neg(p.x))\n");
    PASS_GIVES(made, "  store result.x = as_f32(p.n)\n", "  store result.x = canonical(as_f32(p.n))\n");
    PASS_GIVES(made, "  store result.x = c[p.n]\n", "  store result.x = canonical(c[p.n])\n");
}

Test(pass_nans, variables)
{
    PASS_GIVES(made,
               "  v = 1f\n"
               "  if p.b {\n"
               "    v = p.x\n"
               "  }\n"
               "  store result.x = v\n",
               "  v = 1f\n"
               "  if p.b {\n"
               "    v = p.x\n"
               "  }\n"
               "  store result.x = canonical(v)\n");
    PASS_GIVES(made,
               "  w[0u] = 1f\n"
               "  w[1u] = p.x\n"
               "  v = w[1u]\n"
               "  store result.x = v\n",
               "  w[0u] = 1f\n"
               "  w[1u] = p.x\n"
               "  v = w[1u]\n"
               "  store result.x = canonical(v)\n");
    PASS_LEAVES(made, "  v = 1f\n  if p.b {\n    v = f32(p.n)\n  }\n  z[0u] = neg(v)\n  store result.x = z[0u]\n");
}

Test(pass_nans, what_is_a_number)
{
    PASS_LEAVES(made, "  store result.n = p.n\n");
    PASS_LEAVES(made, "  store result.x = 1f\n");
    PASS_LEAVES(made, "  store result.x = inff\n");
    PASS_LEAVES(made, "  store result.x = k[p.n]\n");
    PASS_LEAVES(made, "  store result.x = f32(p.w)\n");
    PASS_LEAVES(made, "  store result.x = canonical(p.x)\n");
    PASS_LEAVES(made, "  store result.d = fma(f64(p.n), 0.5d, f64(p.w))\n");
    PASS_LEAVES(made, "  store result.x = select(p.b, neg(1f), abs(f32(p.n)))\n");
}

Test(pass_nans, what_only_passes_through)
{
    PASS_LEAVES(passed, "  store result.x = p.x\n");
    PASS_LEAVES(passed, "  store result.d = p.d\n");
}
