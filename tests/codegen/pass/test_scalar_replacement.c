// SPDX-License-Identifier: Apache-2.0
// The pass arrays on IR alone.
#include "codegen/pass/passes.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_arrays, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_scalar_replacement, "  input p p {f32 x[4], u32 k, bool a}\n"
                                               "  output r r {f32 y}\n"
                                               "  var u32 i\n"
                                               "  var f32 e\n"
                                               "  var f32 d[2]\n"
                                               "  var f32 f[3]\n"
                                               "  var f32 wide[65]\n"
                                               "  var f32 table[2] const {1f, 2f}\n"};

Test(pass_arrays, elements_become_variables)
{
    PASS_GIVES(c, "  d[0u] = sub(p.x[0u], 1f)\n  d[1u] = mul(d[0u], d[0u])\n  store r.y = d[1u]\n",
               "  d_0 = sub(p.x[0u], 1f)\n  d_1 = mul(d_0, d_0)\n  store r.y = d_1\n");
    PASS_GIVES(c,
               "  if p.a {\n"
               "    d[1u] = 1f\n"
               "  } else {\n"
               "    d[1u] = p.x[2u]\n"
               "  }\n"
               "  for i = 0u to and(p.k, 3u) {\n"
               "    d[1u] = add(d[1u], p.x[i])\n"
               "  }\n"
               "  store r.y = d[1u]\n",
               "  if p.a {\n"
               "    d_1 = 1f\n"
               "  } else {\n"
               "    d_1 = p.x[2u]\n"
               "  }\n"
               "  for i = 0u to and(p.k, 3u) {\n"
               "    d_1 = add(d_1, p.x[i])\n"
               "  }\n"
               "  store r.y = d_1\n");
}

Test(pass_arrays, each_array_by_itself)
{
    PASS_GIVES(c, "  f[and(p.k, 1u)] = 2f\n  d[0u] = f[0u]\n  store r.y = d[0u]\n", "  f[and(p.k, 1u)] = 2f\n  d_0 = f[0u]\n  store r.y = d_0\n");
}

Test(pass_arrays, what_something_else_indexes_what_is_large_and_what_is_constant_stays)
{
    PASS_LEAVES(c, "  d[0u] = 1f\n  d[1u] = 2f\n  store r.y = d[and(p.k, 1u)]\n");
    PASS_LEAVES(c, "  for i = 0u to 2u {\n    d[i] = p.x[i]\n  }\n  store r.y = d[1u]\n");
    PASS_LEAVES(c, "  wide[3u] = p.x[0u]\n  store r.y = wide[3u]\n");
    PASS_LEAVES(c, "  store r.y = table[1u]\n");
}
