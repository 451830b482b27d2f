// SPDX-License-Identifier: Apache-2.0
// The pass exits on IR alone: `return` and `continue` become structure; the interpreter runs what was and what became of it.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_exits, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_structured_exits, "  input p p {f32 x, f32 y, i32 n, bool a, bool b}\n"
                                              "  accum double t {f64 value}\n"
                                              "  output r r {f32 x}\n"
                                              "  var i32 i\n  var i32 j\n  var i32 n\n"};

Test(pass_exits, a_return_at_the_end_goes)
{
    PASS_GIVES(c, "  store r.x = p.x\n  return\n", "  store r.x = p.x\n");
    PASS_GIVES(c, "  if p.a {\n    store r.x = p.x\n    return\n  }\n", "  if p.a {\n    store r.x = p.x\n  }\n");
}

Test(pass_exits, what_follows_a_branch_that_returns_is_the_other_branch)
{
    PASS_GIVES(c,
               "  if p.a {\n"
               "    store r.x = 1f\n"
               "    return\n"
               "  }\n"
               "  store r.x = p.y\n",
               "  if p.a {\n"
               "    store r.x = 1f\n"
               "  } else {\n"
               "    store r.x = p.y\n"
               "  }\n");
    PASS_GIVES(c,
               "  if p.a {\n    store r.x = 1f\n  } else {\n    store r.x = 2f\n    return\n  }\n  store r.x = p.y\n",
               "  if p.a {\n    store r.x = 1f\n    store r.x = p.y\n  } else {\n    store r.x = 2f\n  }\n");
    PASS_GIVES(c, "  if p.a {\n    store r.x = 1f\n    return\n  } else {\n    store r.x = 2f\n    return\n  }\n",
               "  if p.a {\n    store r.x = 1f\n  } else {\n    store r.x = 2f\n  }\n");
}

Test(pass_exits, one_way_out_among_several_sets_a_flag)
{
    PASS_GIVES(c,
               "  if p.a {\n    if p.b {\n      return\n    }\n    store r.x = 1f\n  }\n  accum t.value += 1d\n",
               "  done = false\n  if p.a {\n    if p.b {\n      done = true\n    } else {\n      store r.x = 1f\n    }\n  }\n"
               "  if not(done) {\n    accum t.value += 1d\n  }\n");
}

Test(pass_exits, a_return_in_a_loop_leaves_it_and_skips_what_follows)
{
    PASS_GIVES(c,
               "  for i = 0 to 4 {\n    if lt(p.n, i) {\n      return\n    }\n    accum t.value += f64(p.x)\n  }\n  accum t.value += 100d\n",
               "  done = false\n  for i = 0 to 4 {\n    if lt(p.n, i) {\n      done = true\n      break\n    }\n    accum t.value += f64(p.x)\n  }\n"
               "  if not(done) {\n    accum t.value += 100d\n  }\n");
}

Test(pass_exits, a_return_in_two_loops_leaves_both)
{
    PASS_GIVES(c,
               "  for i = 0 to 3 {\n    for j = 0 to 3 {\n      if eq(p.n, j) {\n        return\n      }\n    }\n    accum t.value += 1d\n  }\n",
               "  done = false\n  for i = 0 to 3 {\n    for j = 0 to 3 {\n      if eq(p.n, j) {\n        done = true\n        break\n      }\n    }\n"
               "    if done {\n      break\n    }\n    accum t.value += 1d\n  }\n");
}

Test(pass_exits, continue_guards_the_rest_of_the_turn)
{
    PASS_GIVES(c, "  for i = 0 to 4 {\n    if lt(i, p.n) {\n      continue\n    }\n    accum t.value += 1d\n  }\n",
               "  for i = 0 to 4 {\n    if lt(i, p.n) {\n    } else {\n      accum t.value += 1d\n    }\n  }\n");
    PASS_GIVES(c,
               "  n = 0\n  loop while lt(n, 4) {\n    if p.a {\n      continue\n    }\n    accum t.value += 1d\n  } step {\n    n = add(n, 1)\n  }\n",
               "  n = 0\n  loop while lt(n, 4) {\n    if p.a {\n    } else {\n      accum t.value += 1d\n    }\n  } step {\n    n = add(n, 1)\n  }\n");
}

Test(pass_exits, a_continue_is_of_the_innermost_loop)
{
    PASS_GIVES(c,
               "  for i = 0 to 3 {\n"
               "    for j = 0 to 3 {\n"
               "      if p.a {\n"
               "        continue\n"
               "      }\n"
               "      accum t.value += 1d\n"
               "    }\n"
               "    accum t.value += 10d\n"
               "  }\n",
               "  for i = 0 to 3 {\n"
               "    for j = 0 to 3 {\n"
               "      if p.a {\n"
               "      } else {\n"
               "        accum t.value += 1d\n"
               "      }\n"
               "    }\n"
               "    accum t.value += 10d\n"
               "  }\n");
}

Test(pass_exits, breaks_and_what_never_leaves_stay)
{
    PASS_LEAVES(c, "  for i = 0 to 4 {\n    if lt(p.n, i) {\n      break\n    }\n    accum t.value += 1d\n  }\n  store r.x = p.x\n");
    PASS_LEAVES(c, "  if p.a {\n    store r.x = 1f\n  }\n  accum t.value += 1d\n");
}

// --- Loops that never come to a second turn, as the lowering makes of a switch ---

Test(pass_exits, a_loop_that_always_breaks_is_no_loop)
{
    PASS_GIVES(c,
               "  loop while true {\n"
               "    if p.a {\n"
               "      store r.x = 1f\n"
               "      break\n"
               "    }\n"
               "    accum t.value += 1d\n"
               "    if p.b {\n"
               "      break\n"
               "    }\n"
               "    store r.x = p.y\n"
               "    break\n"
               "  }\n",
               "  if p.a {\n"
               "    store r.x = 1f\n"
               "  } else {\n"
               "    accum t.value += 1d\n"
               "    if p.b {\n"
               "    } else {\n"
               "      store r.x = p.y\n"
               "    }\n"
               "  }\n");
    PASS_GIVES(c,
               "  loop while true {\n"
               "    for i = 0 to 3 {\n"
               "      if lt(p.n, i) {\n"
               "        break\n"
               "      }\n"
               "      accum t.value += 1d\n"
               "    }\n"
               "    break\n"
               "  }\n",
               "  for i = 0 to 3 {\n"
               "    if lt(p.n, i) {\n"
               "      break\n"
               "    }\n"
               "    accum t.value += 1d\n"
               "  }\n");
}

Test(pass_exits, a_loop_with_a_way_to_a_second_turn_stays)
{
    PASS_LEAVES(c, "  n = 0\n  loop while true {\n    n = add(n, 1)\n    if lt(p.n, n) {\n      break\n    }\n    if lt(9, n) {\n      break\n    }\n  }\n");
    PASS_LEAVES(c, "  loop while p.a {\n    accum t.value += 1d\n    break\n  }\n");
}

static size_t depth_of(const ir_block *block)
{
    size_t most = 0;
    for (size_t i = 0; i < block->count; i++) {
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(block->items[i], nested); n < count; n++) {
            const size_t depth = 1 + depth_of(nested[n]);
            if (depth > most) most = depth;
        }
    }
    return most;
}

static const char *returns(hdst__buffer *text, int n, const char *indent)
{
    for (int i = 0; i < n; i++)
        hdst__buffer_printf(text,
                            "%sif eq(p.n, %d) {\n"
                            "%s  accum t.value += %dd\n"
                            "%s  return\n"
                            "%s}\n"
                            "%saccum t.value += f64(p.x)\n",
                            indent, i - 8, indent, i, indent, indent, indent);
    return hdst__buffer_text(text);
}

// 3,000 would nest as deep, for all that comes after.
Test(pass_exits, many_returns_nest_no_deeper_than_some)
{
    hdst__buffer some, more, inside;
    hdst__buffer_init(&some, NULL);
    hdst__buffer_init(&more, NULL);
    hdst__buffer_init(&inside, NULL);
    const size_t few = depth_of(&pass_after(&c, returns(&some, 60, "  "))->body);
    const size_t many = depth_of(&pass_after(&c, returns(&more, 300, "  "))->body);
    cr_expect_geq(few, 60);
    cr_expect_leq(many, 70, "%zu deep", many);
    hdst__buffer_puts(&inside, "  if p.a {\n");
    returns(&inside, 200, "    ");
    hdst__buffer_puts(&inside, "  }\n  accum t.value += 1000d\n");
    cr_expect_leq(depth_of(&pass_after(&c, hdst__buffer_text(&inside))->body), 70);
    hdst__buffer_destroy(&some);
    hdst__buffer_destroy(&more);
    hdst__buffer_destroy(&inside);
}
