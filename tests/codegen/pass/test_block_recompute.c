// SPDX-License-Identifier: Apache-2.0
// What a rare record loop computes again instead of keeping it in arrays, on IR alone.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(block_recompute, .init = pass_set_up, .fini = pass_tear_down);

// The first statement is the vectorised loop, the second the rare one.
static void recompute(ir_func *func)
{
    hdst__block_recompute(func, &func->body.items[1]->body, &func->body.items[0]->body);
}

static const pass_case c = {recompute, "  block 64\n"
                                       "  input p p {f32 x, u32 n}\n"
                                       "  output r r {f32 x}\n"
                                       "  var f32 d varying\n"
                                       "  var f32 e varying\n"
                                       "  var f32 s varying per record\n"
                                       "  var f32 k\n"
                                       "  var f32 rows[4] varying per record\n"};

Test(block_recompute, assignments_that_lead_there_and_no_others)
{
    PASS_GIVES(c,
               "  records vectorize {\n"
               "    d = mul(p.x, k)\n"
               "    e = add(p.x, 1f)\n"
               "    d = fma(d, d, s)\n"
               "    store r.x = e\n"
               "  }\n"
               "  records {\n"
               "    store r.x = d\n"
               "  }\n",
               "  records vectorize {\n"
               "    d = mul(p.x, k)\n"
               "    e = add(p.x, 1f)\n"
               "    d = fma(d, d, s)\n"
               "    store r.x = e\n"
               "  }\n"
               "  records {\n"
               "    d_2 = mul(p.x, k)\n"
               "    d_2 = fma(d_2, d_2, s)\n"
               "    store r.x = d_2\n"
               "  }\n");
}

Test(block_recompute, what_was_overwritten_is_kept)
{
    PASS_LEAVES(c, "  records vectorize {\n    d = mul(p.x, s)\n    s = d\n  }\n  records {\n    store r.x = d\n  }\n");       // the old s is gone
    PASS_LEAVES(c, "  records vectorize {\n    rows[0u] = p.x\n    d = rows[0u]\n  }\n  records {\n    store r.x = d\n  }\n");
}

Test(block_recompute, what_the_loop_in_front_did_not_compute_is_left)
{
    PASS_LEAVES(c, "  records vectorize {\n    d = p.x\n  }\n  records {\n    store r.x = add(s, p.x)\n  }\n");
    PASS_LEAVES(c, "  records vectorize {\n    d = p.x\n  }\n  records {\n    d = 1f\n    store r.x = d\n  }\n");
}
