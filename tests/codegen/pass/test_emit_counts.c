// SPDX-License-Identifier: Apache-2.0
// The passes of emit_counts.c on IR alone, and the bound on what a record emits.
#include "tests/support/pass_case.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_emits, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x, f32 z[3], i32 n}\n"
                           "  accum double t {f64 value}\n"
                           "  output result result {f32 y, f32 w[3]}\n"
                           "  check 0 index z\n"
                           "  var f32 a\n  var f32 b\n  var i32 i\n  var bool q\n  var u32 e\n";

Test(pass_emits, an_emit_that_every_record_meets_once_goes)
{
    static const pass_case c = {hdst__pass_emit_counts_dense, head};
    PASS_GIVES(c, "  store result.y = p.x\n  emit\n  accum t.value += f64(p.x)\n", "  store result.y = p.x\n  accum t.value += f64(p.x)\n");
    PASS_GIVES(c, "  store result.y = p.x\n  emit if true\n", "  store result.y = p.x\n");
    PASS_LEAVES(c, "  store result.y = p.x\n  emit if lt(p.n, 3)\n");
    PASS_LEAVES(c, "  store result.y = p.x\n  emit\n  store result.y = p.z[0u]\n  emit\n");
    PASS_LEAVES(c, "  if lt(p.n, 3) {\n    store result.y = p.x\n    emit\n  }\n");
    PASS_LEAVES(c, "  if lt(p.n, 3) {\n    store result.y = p.z[1u]\n    emit\n  }\n  store result.y = p.x\n  emit\n");
    PASS_LEAVES(c, "  for i = 0 to 2 {\n    store result.y = p.x\n    emit\n  }\n");
}

static void count_most(ir_func *func)
{
    bool of_numbers;
    func->counts = true;
    hdst__pass_emit_counts_most(func, &of_numbers);
}

Test(pass_emits, a_loop_that_knows_its_most_turns_is_counted_by_them)
{
    static const pass_case c = {count_most, head, .is_half = true};
    PASS_GIVES(c, "  loop while lt(i, p.n) most 9ul {\n    i = add(i, 1)\n    emit\n    emit if lt(p.x, 1f)\n  }\n", "  emit mul(9ul, 2ul)\n");
    PASS_GIVES(c, "  if lt(p.x, 1f) {\n    loop while true most u64(p.n) {\n      emit\n      break\n    }\n  }\n  emit\n",
               "  if lt(p.x, 1f) {\n    emit mul(u64(p.n), 1ul)\n  }\n  emit\n");
    PASS_GIVES(c, "  loop while lt(i, p.n) most 9ul {\n    i = add(i, 1)\n    loop while q most 3ul {\n      emit\n      break\n    }\n  }\n",
               "  loop while lt(i, p.n) most 9ul {\n    i = add(i, 1)\n    emit mul(3ul, 1ul)\n  }\n");
    PASS_LEAVES(c, "  loop while lt(i, p.n) {\n    i = add(i, 1)\n    emit\n  }\n");
    PASS_LEAVES(c, "  loop while lt(i, p.n) most 9ul {\n    i = add(i, 1)\n  }\n  emit\n");
}

Test(pass_emits, a_loop_over_numbers_is_counted_by_its_turns)
{
    static const pass_case c = {count_most, head, .is_half = true};
    PASS_GIVES(c, "  if lt(p.x, 1f) {\n    for i = 3 to p.n {\n      emit if lt(p.x, f32(i))\n      emit if q\n    }\n  }\n",
               "  if lt(p.x, 1f) {\n    emit mul(select(lt(3, p.n), sub(u64(p.n), u64(3)), 0ul), 2ul)\n  }\n");
    PASS_LEAVES(c, "  for i = 3 to p.n {\n    emit if lt(p.x, f32(i))\n    emit\n  }\n");
    PASS_LEAVES(c, "  for i = 3 to p.n {\n    emit if lt(p.x, f32(i))\n  }\n  emit if q\n");
    PASS_LEAVES(c, "  for i = 3 to p.n {\n    for e = 0u to e {\n      emit if lt(p.x, f32(i))\n    }\n  }\n");
    PASS_LEAVES(c, "  if q {\n    for i = 3 to p.n {\n      emit if lt(p.x, f32(i))\n    }\n  } else {\n    emit\n  }\n");
    PASS_LEAVES(c, "  for i = 3 to 9 {\n    emit if lt(p.x, f32(i))\n  }\n");
    PASS_LEAVES(c, "  for i = 3 to p.n {\n    emit if lt(p.x, f32(i))\n    if q {\n      break\n    }\n  }\n");
    PASS_LEAVES(c, "  for i = 3 to p.n step 2 {\n    emit if lt(p.x, f32(i))\n  }\n");
}

Test(pass_emits, only_what_comes_out_is_stored)
{
    static const pass_case c = {hdst__pass_emit_counts_place, head};
    PASS_GIVES(c, "  a = p.x\n  store result.y = a\n  for e = 0u to 3u {\n    store result.w[e] = p.z[e]\n  }\n  emit if lt(a, 1f)\n",
               "  a = p.x\n  if lt(a, 1f) {\n    store result.y = a\n    for e = 0u to 3u {\n      store result.w[e] = p.z[e]\n    }\n    emit\n  }\n");
    PASS_GIVES(c, "  store result.y = p.x\n  a = p.x\n  store result.y = a\n  emit if lt(a, 1f)\n",
               "  given = p.x\n  a = p.x\n  if lt(a, 1f) {\n    store result.y = given\n    store result.y = a\n    emit\n  }\n");
    PASS_GIVES(c,
               "  q = lt(p.x, 1f)\n"
               "  store result.y = p.x\n"
               "  a = mul(p.x, 2f)\n"
               "  for e = 0u to 3u {\n"
               "    store result.w[e] = a\n"
               "  }\n"
               "  emit if q\n",
               "  q = lt(p.x, 1f)\n"
               "  if q {\n"
               "    store result.y = p.x\n"
               "  }\n"
               "  a = mul(p.x, 2f)\n"
               "  if q {\n"
               "    for e = 0u to 3u {\n"
               "      store result.w[e] = a\n"
               "    }\n"
               "    emit\n"
               "  }\n");
    PASS_GIVES(c,
               "  store result.y = 1f\n"
               "  emit\n"
               "  q = lt(p.x, 1f)\n"
               "  if lt(p.n, 3) {\n"
               "    store result.y = p.x\n"
               "    a = 1f\n"
               "  } else {\n"
               "    store result.y = 2f\n"
               "  }\n"
               "  b = a\n"
               "  emit if q\n",
               "  store result.y = 1f\n"
               "  emit\n"
               "  q = lt(p.x, 1f)\n"
               "  if lt(p.n, 3) {\n"
               "    if q {\n"
               "      store result.y = p.x\n"
               "    }\n"
               "    a = 1f\n"
               "  } else {\n"
               "    if q {\n"
               "      store result.y = 2f\n"
               "    }\n"
               "  }\n"
               "  b = a\n"
               "  if q {\n"
               "    emit\n"
               "  }\n");
    PASS_LEAVES(c, "  store result.y = p.x\n  emit\n");
    PASS_LEAVES(c, "  if lt(p.n, 3) {\n    store result.y = p.x\n    emit\n  }\n");
}

Test(pass_emits, what_is_emitted_is_worked_out_first)
{
    static const pass_case c = {hdst__pass_emit_counts_settle, head};
    PASS_GIVES(c, "  a = p.x\n  store result.y = mul(a, 2f)\n  emit if lt(a, 1f)\n",
               "  a = p.x\n  given = mul(a, 2f)\n  comes = lt(a, 1f)\n  store result.y = given\n  emit if comes\n");
    // A variable that is set again is kept as it was.
    PASS_GIVES(c,
               "  a = p.x\n"
               "  store result.y = a\n"
               "  emit\n"
               "  a = mul(a, 2f)\n"
               "  store result.y = a\n"
               "  emit if lt(a, 1f)\n",
               "  a = p.x\n"
               "  given = a\n"
               "  a = mul(a, 2f)\n"
               "  given_2 = a\n"
               "  comes = lt(a, 1f)\n"
               "  store result.y = given\n"
               "  emit\n"
               "  store result.y = given_2\n"
               "  emit if comes\n");
    // In front of control that emits, and no further.
    PASS_GIVES(c,
               "  a = p.x\n"
               "  store result.y = mul(a, 2f)\n"
               "  emit\n"
               "  for i = 0 to and(p.n, 3) {\n"
               "    store result.y = a\n"
               "    emit\n"
               "  }\n"
               "  b = mul(p.x, 3f)\n"
               "  store result.y = mul(b, 3f)\n"
               "  emit\n",
               "  a = p.x\n"
               "  given = mul(a, 2f)\n"
               "  store result.y = given\n"
               "  emit\n"
               "  for i = 0 to and(p.n, 3) {\n"
               "    store result.y = a\n"
               "    emit\n"
               "  }\n"
               "  b = mul(p.x, 3f)\n"
               "  store result.y = mul(b, 3f)\n"
               "  emit\n");
    PASS_LEAVES(c, "  a = p.x\n  store result.y = a\n  emit\n");
    PASS_LEAVES(c, "  store result.y = mul(p.x, 2f)\n");        // where no record is dropped, each has its place
}

static void counts(const char *body, const char *expected)
{
    ir_func *func = pass_read(head, body);
    const char *wrong = hdst__passes_count(func);
    cr_assert_null(wrong, "%s", wrong);
    const char *found = pass_body(func);
    cr_expect_str_eq(found, expected, "%s", found);
}

Test(pass_emits, counting_needs_conditions_only)
{
    counts("  a = mul(p.x, 2f)\n"
           "  b = mul(a, p.z[1u])\n"
           "  store result.y = b\n"
           "  accum t.value += f64(b)\n"
           "  emit if lt(a, 1f)\n",
           "  a = mul(p.x, 2f)\n"
           "  emit if lt(a, 1f)\n");
    counts("  check 0: lt(u64(p.n), 3ul)\n  if lt(p.x, 1f) {\n    store result.y = p.x\n    emit\n  }\n", "  emit if lt(p.x, 1f)\n");
    counts("  for i = 0 to p.n {\n    a = mul(p.x, f32(i))\n    store result.y = a\n    emit\n  }\n", "  for i = 0 to p.n {\n    emit\n  }\n");
    counts("  for i = 0 to p.n {\n    accum t.value += 1d\n  }\n  emit\n", "  emit\n");
}

static uint64_t bound(const char *body) { return hdst__ir_emit_bound(pass_read(head, body)); }

Test(pass_emits, the_most_that_one_record_can_emit)
{
    cr_expect_eq(bound("  a = p.x\n"), 0);
    cr_expect_eq(bound("  emit if lt(p.x, 1f)\n"), 1);
    cr_expect_eq(bound("  if lt(p.x, 1f) {\n    emit\n    emit\n  } else {\n    emit\n  }\n  emit\n"), 3);
    cr_expect_eq(bound("  for i = -3 to 4 step 2 {\n    emit\n    for e = 0u to 5u {\n      emit\n    }\n  }\n"), 24);
    cr_expect_eq(bound("  for i = 4 to 4 {\n    emit\n  }\n"), 0);
    cr_expect_eq(bound("  for i = 0 to p.n {\n    emit\n  }\n"), UINT64_MAX);
    cr_expect_eq(bound("  for i = 0 to p.n {\n    a = p.x\n  }\n  emit\n"), 1);
    cr_expect_eq(bound("  i = 0\n  loop while lt(i, 3) {\n    emit\n    i = add(i, 1)\n  }\n"), UINT64_MAX);
}

Test(pass_emits, output_records_are_put_one_after_another_in_one_record_loop)
{
    ir_func *func = pass_read(head, "  a = mul(p.x, 2f)\n  if lt(a, 1f) {\n    store result.y = a\n    emit\n  }\n  store result.y = p.x\n  emit\n");
    hdst__pass_uniformity(func);
    const char *wrong = hdst__passes_block(func, hdst__ir_accum_tables(func->arena, func, NULL));
    cr_assert_null(wrong, "%s", wrong);
    unsigned with_emits = 0, vectorised = 0;
    for (size_t i = 0; i < func->body.count; i++) {
        const ir_stmt *s = func->body.items[i];
        cr_assert_eq(s->kind, IR_RECORDS);
        with_emits += hdst__ir_emits(s);
        vectorised += s->vectorize;
        cr_expect(!(s->vectorize && hdst__ir_emits(s)), "%s", pass_body(func));
    }
    cr_expect(with_emits == 1 && vectorised == 1, "%s", pass_body(func));
}
