// SPDX-License-Identifier: Apache-2.0
// The pass accumulate on IR alone, behind the pass block: additions become words of the strip table. The interpreter runs both: every cell has the same value.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"
#include "accum/tables.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_accumulate, .init = pass_set_up, .fini = pass_tear_down);

static void accumulate(ir_func *func, const hdst__tables *tables)
{
    hdst__pass_uniformity(func);
    hdst__pass_block_form(func, 64);
    hdst__pass_block_accumulation(func, tables);
}

static const char head[] = "  input p p {f32 x, f64 z, i32 n, bool a}\n"
                           "  accum s s {f32 x, u64 n, i32 low min, u32 bits or}\n"
                           "  accum t t[] {f32 x[2], u32 n}\n"
                           "  accum w w[] {f64 z}\n"
                           "  accum double d {f64 value}\n"
                           "  var f32 e\n  var f32 g\n  var u32 row\n";
static const pass_case one = {.head = head, .run_tables = accumulate, .precision = HDST__CLASS_ONE_WORD},
                       two = {.head = head, .run_tables = accumulate, .precision = HDST__CLASS_TWO_WORDS},
                       wide = {.head = head, .run_tables = accumulate, .precision = HDST__CLASS_SUPERACCUMULATOR};

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) found++;
    return found;
}

#define EXPECT_COUNT(text, part, n) cr_expect_eq(count((text), (part)), (n), "%d of '%s' in\n%s", count((text), (part)), (part), (text))

// What all records add to is their total over the block.
Test(pass_accumulate, totals_of_integers_are_reduced_over_the_block)
{
    PASS_GIVES(one, "  accum s.n += 1ul\n", "  total = 0l\n  records vectorize {\n    reduce total += i64(1ul)\n  }\n  words s.n word 0 takes total\n");
    PASS_GIVES(one, "  accum s.bits |= u32(p.n)\n",
               "  total = 0ul\n"
               "  records vectorize {\n"
               "    reduce total |= u64(u32(p.n))\n"
               "  }\n"
               "  words s.bits word 0 takes total\n");
    PASS_GIVES(one, "  accum s.low min= p.n\n",
               "  total = 0ul\n"
               "  records vectorize {\n"
               "    reduce total max= key_min(p.n)\n"
               "  }\n"
               "  words s.low word 0 takes total\n");
}

// A float sum of the whole dataset: its addends are added as a block; products of what lies side by side need no place of their own.
Test(pass_accumulate, sums_of_the_dataset_are_added_block_by_block)
{
    PASS_GIVES(one, "  accum s.x += p.x\n", "  block s.x += p.x\n");
    PASS_GIVES(one, "  accum s.x += mul(p.x, p.x)\n", "  block s.x += mul(p.x, p.x)\n");
    PASS_GIVES(one, "  accum d.value += p.z\n", "  block d.value += p.z\n");
    PASS_GIVES(wide, "  accum d.value += p.z\n", "  block d.value += p.z\n");
    PASS_GIVES(one, "  accum d.value += f64(p.x)\n", "  block d.value += p.x\n");
    PASS_GIVES(one, "  accum s.x += sub(p.x, 1f)\n", "  records vectorize {\n    addend = sub(p.x, 1f)\n  }\n  block s.x += addend\n");
}

// Three sums and more whose addends are made alike, of what lies side by side but for one array: a loop of their own
// makes the addends. Two are not worth it, and nor are more arrays, or what vectors do not have.
Test(pass_accumulate, addends_made_alike_are_added_as_they_are)
{
    PASS_GIVES(one, "  accum s.x += sub(p.x, 1f)\n  accum d.value += f64(sub(p.x, 1f))\n  accum s.x += sub(p.x, 1f)\n",
               "  block s.x += sub(p.x, 1f)\n  block d.value += sub(p.x, 1f)\n  block s.x += sub(p.x, 1f)\n");
    PASS_GIVES(one, "  accum s.x += sub(p.x, 1f)\n  accum s.x += sub(p.x, 2f)\n  accum d.value += f64(sub(p.x, 1f))\n",
               "  records vectorize {\n    addend = sub(p.x, 1f)\n    addend_2 = sub(p.x, 2f)\n  }\n"
               "  block s.x += addend\n  block s.x += addend_2\n  block d.value += addend\n");
    PASS_GIVES(one, "  accum s.x += sqrt(p.x)\n  accum s.x += sqrt(p.x)\n  accum s.x += sqrt(p.x)\n",
               "  records vectorize {\n    addend = sqrt(p.x)\n  }\n  block s.x += addend\n  block s.x += addend\n  block s.x += addend\n");
    static const char sets[] = "  e = add(p.x, 1f)\n  g = sub(p.x, 1f)\n";
    const ir_func *func = pass_after(&one, hdst__arena_printf(pass_read(head, "")->arena, "%s%s", sets,
        "  accum s.x += add(e, g)\n  accum s.x += add(e, g)\n  accum s.x += add(e, g)\n"));
    cr_expect_not_null(strstr(pass_body(func), "    addend = add(e, g)\n"), "%s", pass_body(func));
}

Test(pass_accumulate, what_a_block_takes_is_kept_over_the_block)
{
    ir_func *func = pass_after(&one, "  e = add(p.x, 1f)\n  accum s.x += mul(e, e)\n");
    cr_expect_str_eq(pass_body(func), "  records vectorize {\n    e = add(p.x, 1f)\n  }\n  block s.x += mul(e, e)\n", "%s", pass_body(func));
    for (size_t v = 0; v < func->var_count; v++) cr_expect_eq(func->vars[v].per_record, !strcmp(func->vars[v].name, "e"));
}

// A float sum of a row: fixed point with a test; what does not fit goes to the exact cell, record by record.
Test(pass_accumulate, sums_of_rows_are_converted_with_a_test_and_a_rare_loop)
{
    PASS_GIVES(one, "  accum t[0u].x[0u] += p.x\n",
               "  total = 0l\n"
               "  exceptions = false\n"
               "  records vectorize {\n"
               "    reduce total += fixed(t.x, p.x)\n"
               "    exception = not(fits(t.x, p.x))\n"
               "    reduce exceptions |= exception\n"
               "  }\n"
               "  if exceptions {\n"
               "    records (rare: addends that do not fit) {\n"
               "      if exception {\n"
               "        if not(fits(t.x, p.x)) {\n"
               "          superaccumulator t[0u].x[0u] += p.x\n"
               "        }\n"
               "      }\n"
               "    }\n"
               "  }\n"
               "  words t[0u].x[0u] word 0 takes total\n");
}

Test(pass_accumulate, two_words_and_none)
{
    const char *text = pass_body(pass_after(&two, "  accum w[0u].z += p.z\n"));
    EXPECT_COUNT(text, "fixed(w.z, p.z)", 1);
    EXPECT_COUNT(text, "fixed1(w.z, p.z)", 1);
    EXPECT_COUNT(text, "words w[0u].z word 0 takes ", 1);
    EXPECT_COUNT(text, "words w[0u].z word 1 takes ", 1);
    text = pass_body(pass_after(&wide, "  accum w[0u].z += p.z\n"));
    EXPECT_COUNT(text, "fixed", 0);
    EXPECT_COUNT(text, "fits", 0);
    EXPECT_COUNT(text, "superaccumulator w[0u].z += p.z", 1);
}

// Rows that differ: the conversions are made over the block, the words are added record by record, those of a row side by side in rising order.
Test(pass_accumulate, additions_to_rows_that_differ_are_scattered_by_rising_place)
{
    const char *text = pass_body(pass_after(&one, "  row = and(u32(p.n), 3u)\n"
                                                  "  accum t[row].n += 1u\n"
                                                  "  accum t[row].x[1u] += p.x\n"
                                                  "  accum t[row].x[0u] += p.x\n"));
    const char *scatter = strstr(text, "  records (additions to a table, row by row) {\n");
    cr_assert_not_null(scatter, "%s", text);
    const char *first = strstr(scatter, "words t[row].x[0u] word 0 takes q"),
               *second = strstr(scatter, "words t[row].x[1u] word 0 takes q"),
               *last = strstr(scatter, "words t[row].n word 0 takes ");
    cr_assert(first && second && last, "%s", text);
    cr_expect(first < second && second < last, "%s", text);
    EXPECT_COUNT(text, "reduce exceptions |= ", 1);        // one test for both
    EXPECT_COUNT(text, "records vectorize {\n", 1);
}

Test(pass_accumulate, addends_that_are_worked_out_are_worked_out_once)
{
    const char *text = pass_body(pass_after(&one, "  e = add(p.x, 1f)\n  accum t[0u].x[0u] += mul(e, e)\n"));
    EXPECT_COUNT(text, "mul(e, e)", 1);
    EXPECT_COUNT(text, "fixed(t.x, addend)", 1);
}

Test(pass_accumulate, a_double_that_was_a_float_is_converted_as_a_float)
{
    const char *text = pass_body(pass_after(&one, "  e = add(p.x, 1f)\n  accum w[0u].z += f64(mul(e, 3f))\n"));
    EXPECT_COUNT(text, "addend = mul(e, 3f)", 1);
    EXPECT_COUNT(text, "fixed(w.z, f64(addend))", 1);
}

// Where control varies, they are tested one by one where they stand.
Test(pass_accumulate, additions_under_control_that_varies)
{
    const char *text = pass_body(pass_after(&one, "  row = and(u32(p.n), 3u)\n"
                                                  "  loop while lt(row, 4u) {\n"
                                                  "    accum t[row].x[0u] += p.x\n"
                                                  "    accum t[row].n += 2u\n"
                                                  "    row = add(row, 1u)\n"
                                                  "  }\n"));
    EXPECT_COUNT(text,
                 "      if fits(t.x, p.x) {\n"
                 "        words t[row].x[0u] word 0 takes fixed(t.x, p.x)\n"
                 "      } else {\n"
                 "        superaccumulator t[row].x[0u] += p.x\n"
                 "      }\n",
                 1);
    EXPECT_COUNT(text, "      words t[row].n word 0 takes i64(2u)\n", 1);
    EXPECT_COUNT(text, "reduce", 0);
}

Test(pass_accumulate, there_is_nothing_to_do_without_accumulators)
{
    ir_func *func = pass_after(&one, "  e = add(p.x, 1f)\n");
    cr_expect_str_eq(pass_body(func), "  records vectorize {\n    e = add(p.x, 1f)\n  }\n", "%s", pass_body(func));
}
