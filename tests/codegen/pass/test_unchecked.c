// SPDX-License-Identifier: Apache-2.0
// The pass unchecked on IR alone: checks go, clamps stay.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_unchecked, .init = pass_set_up, .fini = pass_tear_down);

// What records with errors do is another thing afterwards, so the bits are not compared.
static const pass_case c = {hdst__pass_unchecked, "  input p p {f32 x[4], u32 k}\n"
                                                  "  accum uint64_t t[] {u64 value}\n"
                                                  "  output r r {f32 y}\n"
                                                  "  check 0 table index t\n  check 1 index x\n"
                                                  "  var u32 i\n",
                            .changes_bits = true};

Test(pass_unchecked, checks_go_and_clamps_stay)
{
    PASS_GIVES(c, "  check 0: lt(u64(p.k), length(t))\n  accum t[select(lt(u64(p.k), length(t)), p.k, 0u)].value += 1ul\n",
               "  accum t[select(lt(u64(p.k), length(t)), p.k, 0u)].value += 1ul\n");
}

Test(pass_unchecked, in_loops_and_branches_too)
{
    PASS_GIVES(c,
               "  for i = 0u to p.k {\n"
               "    check 1: lt(u64(i), 4ul)\n"
               "    if lt(p.x[0u], 1f) {\n"
               "      check 0: lt(u64(i), length(t))\n"
               "      accum t[select(lt(u64(i), length(t)), i, 0u)].value += 1ul\n"
               "    }\n"
               "  }\n",
               "  for i = 0u to p.k {\n"
               "    if lt(p.x[0u], 1f) {\n"
               "      accum t[select(lt(u64(i), length(t)), i, 0u)].value += 1ul\n"
               "    }\n"
               "  }\n");
    PASS_LEAVES(c, "  store r.y = p.x[select(lt(u64(p.k), 4ul), p.k, 0u)]\n");
}
