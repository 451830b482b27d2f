// SPDX-License-Identifier: Apache-2.0
// What the interpreter says, when it is strict, to indices that nothing keeps in range: a kernel would be outside its memory there.
#include "codegen/interp/interp.h"
#include "tests/support/ir_text.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(interp_strict, .init = set_up, .fini = tear_down);

enum { RECORDS = 6, ROWS = 4 };

typedef struct item { float x[3]; uint32_t n; } item;
typedef struct row { float y[2]; } row;

static const char head[] = "func f\n"
                           "  input item p {f32 x[3], u32 n}\n"
                           "  broadcast row c[] {f32 y[2]}\n"
                           "  accum total t[] {f64 v[2]}\n"
                           "  output out result {f32 z[2]}\n"
                           "  var u32 i\n"
                           "  var f32 u\n"
                           "  var f32 e[3]\n"
                           "  check 0 index x\n";

// Runs the statements over records whose n are 0 ... 5, with tables of so many rows; what the interpreter finds wrong, "" if nothing.
static const char *run(const char *body, uint64_t rows, bool strict)
{
    const char *wrong = NULL;
    ir_func *func = ir_text_read(&arena, hdst__arena_printf(&arena, "%s{\n%s}\n", head, body), &wrong);
    cr_assert(func, "%s", wrong);
    wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s", wrong);
    item items[RECORDS];
    row table[ROWS] = {{{0, 1}}, {{2, 3}}, {{4, 5}}, {{6, 7}}};
    for (uint32_t n = 0; n < RECORDS; n++) items[n] = (item){{1, 2, 3}, n};
    const void *buffers[] = {items};
    float output[RECORDS][2];
    const uint64_t rows_of[] = {1, rows, rows, 1};
    const hdst__interp_table tables[] = {{NULL, 0}, {table, rows}, {NULL, 0}, {NULL, 0}};
    const hdst__tables *accums = hdst__ir_accum_tables(&arena, func, NULL);
    hdst__interp_run interpreter = {
        .func = func, .input = {hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS)},
        .input_buffers = {buffers}, .count = RECORDS, .broadcast = tables, .accum_rows = rows_of, .tables = accums,
        .device_table = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(accums, rows_of)),
        .output = output, .strict = strict};
    hdst_error error = HDST_ERROR_INIT;
    const hdst_status status = hdst__interpret(&interpreter, &error);
    cr_assert_eq(status, error.message[0] ? HDST_E_INTERNAL : HDST_OK);
    return hdst__arena_strdup(&arena, error.message);
}

// One record of six is out of range in each.
Test(interp_strict, unguarded_indices_are_errors)
{
    static const struct { const char *body, *says; } cases[] = {
        {"  u = p.x[select(lt(p.n, 5u), 0u, p.n)]\n", "`f`: an unguarded index of a field"},
        {"  u = p.x[and(p.n, 3u)]\n", "an unguarded index of a field"},
        {"  u = c[p.n].y[0u]\n", "an unguarded row of a broadcast"},
        {"  u = c[0u].y[p.n]\n", "an unguarded index of a broadcast's field"},
        {"  e[p.n] = 1f\n", "an unguarded index of an array that is written"},
        {"  u = e[p.n]\n", "an unguarded index of an array"},
        {"  u = e[3u]\n", "an unguarded index of an array"},
        {"  accum t[p.n].v[0u] += f64(p.x[0u])\n", "an unguarded row of an accumulator"},
        {"  accum t[0u].v[p.n] += f64(p.x[0u])\n", "an unguarded index of an accumulator's field"},
        {"  store result.z[p.n] = 1f\n", "an unguarded index of the output"},
        {"  i = 0u\n  loop while and(lt(i, 6u), lt(e[i], 1f)) {\n    i = add(i, 1u)\n  }\n", "an unguarded index of an array"},
        {"  if lt(p.x[p.n], 2f) {\n    u = 1f\n  }\n", "an unguarded index of a field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = run(cases[i].body, ROWS, true);
        cr_expect(strstr(said, cases[i].says), "'%s' lacks '%s':\n%s", said, cases[i].says, cases[i].body);
        cr_expect_str_empty(run(cases[i].body, ROWS, false), "%s", cases[i].body);
    }
}

Test(interp_strict, guarded_indices_are_fine)
{
    static const char *const cases[] = {
        "  u = p.x[select(lt(p.n, 3u), p.n, 0u)]\n",
        "  check 0: lt(p.n, 3u) of u64(p.n), 3ul\n  u = p.x[select(lt(p.n, 3u), p.n, 0u)]\n",          // of a record that failed too
        "  if lt(p.n, 3u) {\n    u = p.x[p.n]\n    e[p.n] = 1f\n  }\n",               // records that are elsewhere do not count
        "  for i = 0u to min(p.n, 3u) {\n    u = p.x[i]\n  }\n",
        "  if lt(p.n, 2u) {\n    accum t[p.n].v[p.n] += f64(c[p.n].y[p.n])\n    store result.z[p.n] = 1f\n  }\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) cr_expect_str_empty(run(cases[i], ROWS, true), "%s", cases[i]);
}

// There is storage for one row even then (codegen/ir/ir.h).
Test(interp_strict, row_0_of_an_empty_table_is_fine)
{
    cr_expect_str_empty(run("  accum t[0u].v[1u] += f64(c[0u].y[1u])\n", 0, true));
    cr_expect(strstr(run("  u = c[1u].y[1u]\n", 0, true), "an unguarded row of a broadcast"));
}
