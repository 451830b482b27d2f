// SPDX-License-Identifier: Apache-2.0
// Which variables are NaN or have no sign, whatever is read.
#include "codegen/ir/sign.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(ir_sign, .init = pass_set_up, .fini = pass_tear_down);

// Of v and w.
static void expect(bool v, bool w, const char *body)
{
    const ir_func *func = pass_read("  input p p {f32 x, f64 z, u32 k, i32 n, bool a}\n  var f32 v\n  var f32 w\n  var f64 d\n  var u32 i\n", body);
    const bool *plus = hdst__ir_plus_vars(func);
    cr_expect_eq(plus[0], v, "v of\n%s", body);
    cr_expect_eq(plus[1], w, "w of\n%s", body);
    cr_expect(!plus[3], "an integer in\n%s", body);
}

Test(ir_sign, of_operations)
{
    expect(true, true, "  v = mul(p.x, p.x)\n  w = abs(p.x)\n");
    expect(true, false, "  v = fma(p.x, p.x, 0f)\n  w = fma(p.x, p.x, p.x)\n");
    expect(false, false, "  v = p.x\n  w = mul(p.x, abs(p.x))\n");
    expect(false, false, "  v = neg(abs(p.x))\n  w = sub(abs(p.x), 1f)\n");
    expect(true, false, "  v = select(p.a, 1f, sqrt(abs(p.x)))\n  w = select(p.a, 1f, p.x)\n");
    expect(true, false, "  v = div(1f, abs(p.x))\n  w = div(1f, p.x)\n");
    expect(true, false, "  v = f32(abs(p.z))\n  w = f32(p.n)\n");
    expect(false, true, "  v = -0f\n  w = 0f\n");
}

Test(ir_sign, of_all_that_a_variable_is_set_to)
{
    expect(true, true, "  v = abs(p.x)\n  w = add(v, v)\n  v = mul(w, w)\n  i = 0u\n");
    expect(false, false, "  v = abs(p.x)\n  w = add(v, v)\n  v = p.x\n");
    expect(false, false, "  v = abs(p.x)\n  if p.a {\n    v = p.x\n  }\n  w = v\n");
    expect(false, true, "  w = 1f\n");          // never set
}

// What follows of itself holds; what does not is found however far it goes.
Test(ir_sign, in_loops)
{
    expect(true, true, "  v = 0f\n  w = 0f\n  for i = 0u to and(p.k, 3u) {\n    v = add(w, 1f)\n    w = mul(v, 2f)\n  }\n");
    expect(false, false, "  v = 0f\n  w = 0f\n  for i = 0u to and(p.k, 3u) {\n    v = add(w, 1f)\n    w = mul(v, p.x)\n  }\n");
}
