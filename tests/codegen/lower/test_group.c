// SPDX-License-Identifier: Apache-2.0
// Groups and reduces by key in IR, over runs of records with equal keys, in the strict interpreter: against C, and nothing is read outside of the table.
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static ast_module *module;

typedef struct row { uint8_t code[4]; int32_t a; float x[2]; } row;
typedef struct span { int32_t first, last; uint8_t code[2]; } span;
typedef struct run { uint64_t first, count; } run;

enum { ROWS = 9, RUNS = 4 };

static const row rows[ROWS] = {
    {{1, 2, 3, 4}, 5, {1, -1}}, {{1, 2, 3, 5}, -7, {2, 8}}, {{1, 2, 3, 6}, 9, {3, 0}}, {{4, 4, 4, 4}, 1, {0, 0}}, {{6, 2, 0, 1}, 3, {9, 1}},
    {{6, 2, 0, 2}, 4, {1, 9}}, {{6, 2, 0, 3}, 2, {5, 5}}, {{6, 2, 0, 4}, 8, {2, 2}}, {{7, 7, 7, 7}, 6, {4, 4}}};
static const run runs[RUNS] = {{4, 4}, {0, 3}, {8, 1}, {3, 1}};         // in any order

static const char text[] =
    "struct row { uint8_t code[4]; int32_t a; float x[2]; };\n"
    "struct key { uint8_t c[2]; };\n"
    "struct value { int32_t a; float x[2]; };\n"
    "group ends(key key k, stream row s) -> (int32_t first, int32_t last, uint8_t code[2])\n"
    "{\n"
    "    int32_t first = 0;\n"
    "    bool any = false;\n"
    "    for (row r : s) {\n"
    "        if (!any) first = r.a;\n"
    "        any = true;\n"
    "    }\n"
    "    for (row r : s) {\n"
    "        r.a *= 10;\n"
    "        if (r.a > 75) return (first, r.a, k.c);\n"
    "    }\n"
    "    return (first, -1, k.c);\n"
    "}\n"
    "group plain(key int32_t a, stream row s) -> int32_t { return a; }\n"
    "reduce mix(value a, value b) { value v = a; v.a = a.a * 2 + b.a; v.x[b.a > 3 ? 1 : 0] = b.x[0]; return v; }\n";

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    module = hdst__module_compile(&diags, "test.hk", text, strlen(text), &(hdst__front_options){0});
    cr_assert_eq(diags.errors, 0);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(group_ir, .init = set_up, .fini = tear_down);

static ast_function *function(const char *name) { return hdst__module_function(module, name); }

// Strictly, as lowered and after the passes.
static void interpret(ir_func *func, void *output)
{
    const void *buffers[] = {runs};
    hdst__interp_table tables[8] = {{0}};
    tables[1] = (hdst__interp_table){rows, ROWS};
    hdst__interp_run interpreter = {.func = func, .input = {hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RUNS)}, .input_buffers = {buffers},
                                    .count = RUNS, .broadcast = tables, .output = output, .strict = true};
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__interpret(&interpreter, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(interpreter.failed_record, UINT64_MAX);
}

static ir_func *passed(ir_func *func)
{
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static span span_of(const run *r)
{
    span s = {.first = rows[r->first].a, .last = -1, .code = {rows[r->first].code[1], rows[r->first].code[2]}};
    for (uint64_t i = 0; i < r->count && s.last < 0; i++)
        if (rows[r->first + i].a * 10 > 75) s.last = rows[r->first + i].a * 10;
    return s;
}

Test(group_ir, a_group_is_a_map_over_runs_whose_key_may_be_a_part_of_an_array)
{
    const hdst__key_leaf key = {.leaf = 0, .element = 1};
    ir_func *func = hdst__lower_group(&arena, module, function("ends"), &key);
    cr_assert_not_null(func);
    for (int after = 0; after < 2; after++) {
        span got[RUNS];
        memset(got, 0, sizeof got);
        interpret(after ? passed(func) : func, got);
        for (int i = 0; i < RUNS; i++) {
            const span expected = span_of(&runs[i]);
            cr_expect(got[i].first == expected.first && got[i].last == expected.last, "run %d: %d %d", i, got[i].first, got[i].last);
            cr_expect_arr_eq(got[i].code, expected.code, 2);
        }
    }
}

Test(group_ir, without_a_place_the_key_is_the_field_of_its_name)
{
    int32_t got[RUNS];
    interpret(passed(hdst__lower(&arena, module, function("plain"))), got);
    for (int i = 0; i < RUNS; i++) cr_expect_eq(got[i], rows[runs[i].first].a);
    cr_expect_null(hdst__lower(&arena, module, function("ends")), "no field is called k");
    cr_expect_eq(diags.errors, 0);
}

Test(group_ir, a_reduce_goes_over_a_run_from_left_to_right_and_keeps_the_key)
{
    const uint32_t value[] = {1, 2};
    const hdst__record *keyed = hdst__module_record(module, "row");
    ir_func *func = hdst__operator_group_reduce(&arena, hdst__lower(&arena, module, function("mix")), keyed, value);
    for (int after = 0; after < 2; after++) {
        row got[RUNS];
        interpret(after ? passed(func) : func, got);
        for (int i = 0; i < RUNS; i++) {
            row expected = rows[runs[i].first];
            for (uint64_t r = 1; r < runs[i].count; r++) {
                const row *b = &rows[runs[i].first + r];
                expected.a = expected.a * 2 + b->a;
                expected.x[b->a > 3] = b->x[0];
            }
            cr_expect_arr_eq(&got[i], &expected, sizeof expected, "run %d", i);
        }
    }
}
