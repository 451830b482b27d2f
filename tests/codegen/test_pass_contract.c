// SPDX-License-Identifier: Apache-2.0
// The pass contract on IR alone.
#include "codegen/kernel.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_contract, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[4], f32 y}\n"
                           "  output r r {f32 y}\n"
                           "  var u32 i\n  var u32 k\n  var f32 d\n  var f32 s\n  var f32 e[4]\n";
static const pass_case c = {hdst__pass_contract, head};

#define FILL "  for i = 0u to 4u {\n    d = mul(p.x[i], p.y)\n    e[i] = sub(d, 1f)\n  }\n"

Test(pass_contract, reads_become_the_elements_expression)
{
    PASS_GIVES(c, FILL "  for k = 0u to 4u {\n    s = fma(e[k], e[k], s)\n  }\n  store r.y = s\n",
               "  for i = 0u to 4u {\n    d = mul(p.x[i], p.y)\n  }\n"
               "  for k = 0u to 4u {\n    e_2 = sub(mul(p.x[k], p.y), 1f)\n    s = fma(e_2, e_2, s)\n  }\n  store r.y = s\n");
}

Test(pass_contract, what_was_in_the_array_before_goes)
{
    PASS_GIVES(c, "  for k = 0u to 4u {\n    e[k] = 0f\n  }\n  for i = 0u to 4u {\n    e[i] = p.x[i]\n  }\n  store r.y = e[2u]\n", "  e_2 = p.x[2u]\n  store r.y = e_2\n");
}

Test(pass_contract, arrays_that_must_stay)
{
    PASS_LEAVES(c, FILL "  e[2u] = 1f\n  store r.y = e[1u]\n");                                             // written again
    PASS_LEAVES(c, "  s = 2f\n  for i = 0u to 4u {\n    e[i] = mul(p.x[i], s)\n  }\n  s = 3f\n  store r.y = e[1u]\n");   // what it reads changes
    PASS_LEAVES(c, "  for i = 0u to 3u {\n    e[i] = p.x[i]\n  }\n  store r.y = e[1u]\n");                  // filled in part
    PASS_LEAVES(c, FILL "  if lt(e[1u], 0f) {\n    s = 1f\n  }\n  store r.y = s\n");                        // read where no statement can stand in front
    PASS_LEAVES(c, FILL "  store r.y = add(e[1u], d)\n");                                                   // what the loop leaves is read
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    e[i] = div(p.x[i], p.y)\n  }\n  store r.y = e[1u]\n");        // dear
}
