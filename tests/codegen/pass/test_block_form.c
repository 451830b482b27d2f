// SPDX-License-Identifier: Apache-2.0
// The pass block on IR alone: what goes into record loops, what stays outside, and in what order.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_block, .init = pass_set_up, .fini = pass_tear_down);

static void block(ir_func *func)
{
    hdst__pass_uniformity(func);       // it goes by what varies
    hdst__pass_block_form(func, 64);
}

#define HEAD "  input p p {f32 x, f32 z[4], u32 n, bool a}\n" \
             "  broadcast c c[] {f32 y}\n" \
             "  accum double t {f64 value of float}\n" \
             "  accum uint64_t rows[] {u64 value}\n" \
             "  output r r {f32 y}\n" \
             "  var f32 d\n  var f32 e\n  var f32 k\n  var u32 j\n  var u32 n\n"
static const pass_case c = {block, HEAD};
static const pass_case adds = {block, HEAD, .is_half = true};      // pass_accumulate follows

static const pass_case gathers = {block, HEAD "  var bool any\n", .is_half = true};     // as pass_mask leaves it

// Interchange: "for each record, for each row" becomes "for each row, for each record".
Test(pass_block, a_uniform_loop_stands_around_a_record_loop)
{
    PASS_GIVES(c, "  d = 0f\n  for j = 0u to u32(length(c)) {\n    e = sub(p.x, c[j].y)\n    d = fma(e, e, d)\n  }\n  store r.y = d\n",
               "  records vectorize {\n    d = 0f\n  }\n"
               "  for j = 0u to u32(length(c)) {\n    records vectorize {\n      e = sub(p.x, c[j].y)\n      d = fma(e, e, d)\n    }\n  }\n"
               "  records vectorize {\n    store r.y = d\n  }\n");
}

Test(pass_block, uniform_work_that_nobody_waits_for_runs_ahead)
{
    PASS_GIVES(c, "  d = p.x\n  k = c[0u].y\n  store r.y = add(d, k)\n", "  k = c[0u].y\n  records vectorize {\n    d = p.x\n    store r.y = add(d, k)\n  }\n");
    // What the records read before it changes is read first.
    PASS_GIVES(c, "  k = 1f\n  d = mul(p.x, k)\n  k = c[0u].y\n  store r.y = add(d, k)\n",
               "  k = 1f\n  records vectorize {\n    d = mul(p.x, k)\n  }\n  k = c[0u].y\n  records vectorize {\n    store r.y = add(d, k)\n  }\n");
}

// Also where nothing in it differs by record: whether any record takes a branch is known behind the record loop that asks.
Test(pass_block, uniform_work_waits_for_what_records_gather)
{
    PASS_GIVES(gathers,
               "  any = false\n"
               "  reduce any |= p.a\n"
               "  if any {\n"
               "    k = c[0u].y\n"
               "  }\n"
               "  store r.y = k\n",
               "  any = false\n"
               "  records vectorize {\n"
               "    reduce any |= p.a\n"
               "  }\n"
               "  if any {\n"
               "    k = c[0u].y\n"
               "  }\n"
               "  records vectorize {\n"
               "    store r.y = k\n"
               "  }\n");
}

Test(pass_block, a_uniform_branch_stands_around_record_loops)
{
    PASS_GIVES(c, "  d = p.x\n  if lt(c[0u].y, 1f) {\n    d = mul(d, 2f)\n  } else {\n    d = mul(d, 3f)\n  }\n  store r.y = d\n",
               "  records vectorize {\n    d = p.x\n  }\n  if lt(c[0u].y, 1f) {\n    records vectorize {\n      d = mul(d, 2f)\n    }\n  } else {\n"
               "    records vectorize {\n      d = mul(d, 3f)\n    }\n  }\n  records vectorize {\n    store r.y = d\n  }\n");
}

Test(pass_block, control_that_varies_stays_inside_and_says_why)
{
    const char *text =
        pass_body(pass_after(&adds, "  n = and(p.n, 7u)\n"
                                    "  loop while lt(n, 9u) {\n"
                                    "    n = add(n, 1u)\n"
                                    "    accum rows[select(lt(u64(n), length(rows)), u64(n), 0ul)].value += 1ul\n"
                                    "  }\n"));
    cr_expect_not_null(strstr(text, "records (records leave a loop at different turns) {\n"), "%s", text);
    text = pass_body(pass_after(&c, "  if p.a {\n    store r.y = p.x\n  } else {\n    store r.y = 2f\n  }\n"));
    cr_expect_not_null(strstr(text, "records (a branch does more than assign) {\n"), "%s", text);
}

Test(pass_block, additions_stand_apart_from_what_computes_the_addends)
{
    PASS_GIVES(adds, "  d = mul(p.x, 2f)\n  accum t.value += f64(d)\n  e = add(d, 1f)\n  store r.y = e\n",
               "  records vectorize {\n    d = mul(p.x, 2f)\n    e = add(d, 1f)\n    store r.y = e\n  }\n"
               "  records (additions to a table, row by row) {\n    accum t.value += f64(d)\n  }\n");
    // Unless what they read is set again.
    PASS_GIVES(adds, "  d = mul(p.x, 2f)\n  accum t.value += f64(d)\n  d = add(d, 1f)\n  store r.y = d\n",
               "  records vectorize {\n    d = mul(p.x, 2f)\n  }\n  records (additions to a table, row by row) {\n    accum t.value += f64(d)\n  }\n"
               "  records vectorize {\n    d = add(d, 1f)\n    store r.y = d\n  }\n");
}

Test(pass_block, what_lives_across_record_loops_is_an_array_over_the_block)
{
    ir_func *func = pass_after(&c, "  d = 0f\n  for j = 0u to u32(length(c)) {\n    e = sub(p.x, c[j].y)\n    d = fma(e, e, d)\n  }\n  store r.y = d\n");
    const char *head = pass_head(func);
    cr_expect_not_null(strstr(head, "  var f32 d varying per record\n"), "%s", head);
    cr_expect_not_null(strstr(head, "  var f32 e varying\n"), "%s", head);
    cr_expect_not_null(strstr(head, "  var u32 j\n"), "%s", head);
    cr_expect_not_null(strstr(head, "  block 64\n"), "%s", head);
}

// A variable is zero until it is set; an array over the block would hold anything.
Test(pass_block, what_is_read_before_it_is_set_starts_at_zero)
{
    static const char loop[] = "  for j = 0u to u32(length(c)) {\n    e = select(p.a, c[j].y, e)\n  }\n  store r.y = e\n";
    PASS_GIVES(c, loop,
               "  records vectorize {\n"
               "    e = 0f\n"
               "  }\n"
               "  for j = 0u to u32(length(c)) {\n"
               "    records vectorize {\n"
               "      e = select(p.a, c[j].y, e)\n"
               "    }\n"
               "  }\n"
               "  records vectorize {\n"
               "    store r.y = e\n"
               "  }\n");
    static const char set[] = "  e = 1f\n  for j = 0u to u32(length(c)) {\n    e = select(p.a, c[j].y, e)\n  }\n  store r.y = e\n";
    const char *text = pass_body(pass_after(&c, set));
    cr_expect_null(strstr(text, "e = 0f"), "%s", text);
}
