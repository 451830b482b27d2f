// SPDX-License-Identifier: Apache-2.0
// What statements do first with a variable.
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(ir_meet, .init = pass_set_up, .fini = pass_tear_down);

static void expect(ir_meeting wanted, const char *body)     // of v
{
    const ir_func *func = pass_read("  input p p {f32 x, u32 k, bool a}\n  var f32 v\n  var f32 w\n  var u32 i\n", body);
    cr_expect_eq(hdst__ir_first_meeting(&func->body, 0), wanted, "%s", body);
    const uint8_t *all = hdst__ir_first_meetings(func->arena, &func->body, func->var_count);
    for (uint32_t v = 0; v < func->var_count; v++) cr_expect_eq(all[v], hdst__ir_first_meeting(&func->body, v), "%s of\n%s", func->vars[v].name, body);
}

Test(ir_meet, statements_in_order)
{
    expect(IR_MEETS_NOT, "  w = p.x\n");
    expect(IR_SETS, "  w = p.x\n  v = w\n  w = v\n");
    expect(IR_MAY_READ, "  w = v\n  v = 1f\n");
    expect(IR_MAY_READ, "  v = add(v, 1f)\n");
}

Test(ir_meet, branches)
{
    expect(IR_SETS, "  if p.a {\n    v = 1f\n  } else {\n    v = 2f\n  }\n  w = v\n");
    expect(IR_MEETS_NOT, "  if p.a {\n    v = 1f\n    w = v\n  }\n");
    expect(IR_MAY_READ, "  if p.a {\n    v = 1f\n  }\n  w = v\n");
    expect(IR_MAY_READ, "  if p.a {\n    v = 1f\n  } else {\n    w = v\n  }\n");
    expect(IR_MAY_READ, "  if lt(v, 1f) {\n    v = 1f\n  } else {\n    v = 2f\n  }\n");
}

Test(ir_meet, loops_may_make_no_turn)
{
    expect(IR_MEETS_NOT, "  for i = 0u to and(p.k, 3u) {\n    v = 1f\n    w = v\n  }\n");
    expect(IR_MAY_READ, "  for i = 0u to and(p.k, 3u) {\n    v = 1f\n  }\n  w = v\n");
    expect(IR_MAY_READ, "  for i = 0u to and(p.k, 3u) {\n    w = v\n    v = 1f\n  }\n");
    expect(IR_MAY_READ, "  for i = 0u to u32(v) {\n    w = 1f\n  }\n  v = 1f\n");
    expect(IR_MAY_READ, "  loop while lt(v, 2f) {\n    v = 3f\n  }\n");
    expect(IR_MEETS_NOT, "  for i = 0u to and(p.k, 3u) {\n    for i = 0u to 2u {\n      v = 1f\n      w = v\n    }\n  }\n");
}
