// SPDX-License-Identifier: Apache-2.0
// hdst__pass_arranged_rows on IR alone: whose rows the input's keys are, and that each record adds to, need no look at keys.
#include "codegen/pass/arranged_rows.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(arranged_rows_ir, .init = pass_set_up, .fini = pass_tear_down);

enum { TO = 1, FROM = 0, STARTS = 1, TABLE = 2 };

static uint32_t rows_from;

static void arranged_by(ir_func *func, const hdst__tables *tables, uint32_t leaf, uint32_t starts)
{
    func->params[0].arranged = leaf + 1;
    func->params[0].starts = starts;
    hdst__pass_arranged_rows(func, tables);
    rows_from = func->params[TABLE].rows_from;
}

static void by_to(ir_func *func, const hdst__tables *tables) { arranged_by(func, tables, TO, STARTS); }
static void by_from(ir_func *func, const hdst__tables *tables) { arranged_by(func, tables, FROM, STARTS); }
static void without_starts(ir_func *func, const hdst__tables *tables) { arranged_by(func, tables, TO, 0); }

#define HEAD "  input e e {u32 from, u32 to, f32 x}\n" \
             "  broadcast starts starts[] {u64 value}\n" \
             "  accum double t[] {f64 value}\n" \
             "  check 0 unsigned key to\n" \
             "  var u64 key\n"
#define CHECKED "  key = u64(e.to)\n  check 0: lt(key, length(t))\n"
#define ADDED "  accum t[select(lt(key, length(t)), key, 0ul)].value += f64(e.x)\n"

static const pass_case cases[] = {
    {.head = HEAD, .run_tables = by_to, .precision = HDST__CLASS_ONE_WORD, .changes_bits = true},
    {.head = HEAD, .run_tables = by_from, .precision = HDST__CLASS_ONE_WORD, .changes_bits = true},
    {.head = HEAD, .run_tables = without_starts, .precision = HDST__CLASS_ONE_WORD, .changes_bits = true},
};

Test(arranged_rows_ir, no_key_is_looked_at)
{
    PASS_GIVES(cases[0], CHECKED ADDED, "  accum t[u64(e.to)].value += f64(e.x)\n");
    cr_expect_eq(rows_from, STARTS);
}

Test(arranged_rows_ir, the_key_is_another_field)
{
    PASS_LEAVES(cases[1], CHECKED ADDED);
    cr_expect_eq(rows_from, 0);
}

// Two keys may become one, or one key two: where the keys begin says nothing of the rows.
Test(arranged_rows_ir, the_key_becomes_another_one)
{
    PASS_LEAVES(cases[0], "  key = u64(u8(e.to))\n  check 0: lt(key, length(t))\n" ADDED);
    PASS_LEAVES(cases[0], "  key = u64(u32(f32(e.to)))\n  check 0: lt(key, length(t))\n" ADDED);
    PASS_LEAVES(cases[0], "  key = u64(select(lt(u64(e.to), length(starts)), e.to, 0u))\n  check 0: lt(key, length(t))\n" ADDED);
    PASS_LEAVES(cases[0], "  key = u64(select(lt(e.x, 1f), e.to, 0u))\n  check 0: lt(key, length(t))\n" ADDED);
    cr_expect_eq(rows_from, 0);
    PASS_LEAVES(cases[0], "  key = u64(i32(e.to))\n  check 0: lt(key, length(t))\n" ADDED);
    cr_expect_eq(rows_from, 0);
    PASS_GIVES(cases[0], "  key = u64(i64(e.to))\n  check 0: lt(key, length(t))\n" ADDED, "  accum t[u64(e.to)].value += f64(e.x)\n");
    cr_expect_eq(rows_from, STARTS);
}

Test(arranged_rows_ir, nobody_knows_where_keys_begin)
{
    PASS_LEAVES(cases[2], CHECKED ADDED);
    cr_expect_eq(rows_from, 0);
}

Test(arranged_rows_ir, some_records_add_nothing)
{
    PASS_LEAVES(cases[0], CHECKED "  if lt(e.x, 1f) {\n    accum t[select(lt(key, length(t)), key, 0ul)].value += f64(e.x)\n  }\n");
    PASS_LEAVES(cases[0], CHECKED ADDED "  if lt(e.x, 1f) {\n    accum t[select(lt(key, length(t)), key, 0ul)].value += f64(e.x)\n  }\n");
    cr_expect_eq(rows_from, 0);
}
