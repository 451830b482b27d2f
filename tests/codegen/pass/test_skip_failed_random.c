// SPDX-License-Identifier: Apache-2.0
// A function that skips records with errors, against the plain one: the records that pass give the same, the others nothing.
#include "codegen/pass/block_form.h"
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "accum/reduce.h"
#include "tests/support/random_checks.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(skip, .init = set_up, .fini = tear_down);

static ir_func *scalar(const char *text)
{
    const char *source = hdst__arena_printf(&arena, "%s%s", RANDOM_CHECKS_DECLARATIONS, text);
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "t.hk", source, strlen(source), &(hdst__front_options){0});
    if (diags.errors) return NULL;
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "f"));
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static ir_func *skipping(const ir_func *func, uint32_t *counter)
{
    ir_func *copy = hdst__ir_copy_func(&arena, func);
    const char *wrong = hdst__passes_skip(copy, counter);
    cr_assert_null(wrong, "%s", wrong);
    return copy;
}

Test(skip, the_parameters_keep_their_order)
{
    const ir_func *func = scalar("map f(in p, broadcast row t[], accum int64_t n) -> out { n += t[p.a].v[0]; return (out){ p.a }; }");
    cr_assert_not_null(func);
    uint32_t counter;
    const ir_func *skips = skipping(func, &counter);
    cr_expect_eq(skips->param_count, 5);
    cr_expect_eq(counter, 3);
    cr_expect_str_eq(skips->params[2].name, "n");
    cr_expect_eq(skips->params[3].kind, IR_ACCUM_TABLE);
    cr_expect_eq(skips->params[4].kind, IR_OUTPUT);
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(skips, &text);
    cr_expect_null(strstr(hdst__buffer_text(&text), "check 0:"), "%s", hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

Test(skip, nothing_is_computed_twice_that_no_check_needs)
{
    const ir_func *func = scalar("map f(in p, broadcast row t[], accum double n) { double x = sqrt(p.x) * 2.0; n += x + t[p.a].v[0]; }");
    cr_assert_not_null(func);
    uint32_t counter;
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(skipping(func, &counter), &text);
    const char *first = strstr(hdst__buffer_text(&text), "sqrt");
    cr_expect(first && !strstr(first + 1, "sqrt"), "%s", hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

// --- Random programs ---

enum { RECORDS = 96, TABLE = 24 };

typedef struct outcome {
    int64_t result[RECORDS];            // one after another
    uint32_t emits_of[RECORDS];
    uint64_t failed, skipped;
} outcome;

static void run_all(const ir_func *func, const random_record *records, uint64_t count, const int32_t *rows, uint64_t t_rows, outcome *o)
{
    const void *const buffers[] = {records};
    const hdst__interp_table tables[] = {{0}, {rows, t_rows}, {rows, 6}, {0}, {0}};
    const uint64_t row_counts[] = {0, t_rows, 6, 1, 0};
    const hdst__tables *accums = hdst__ir_accum_tables(&arena, func, NULL);
    int64_t *table = HDST__NEW_ARRAY(&arena, int64_t, TABLE);
    *o = (outcome){0};
    hdst__interp_run run = {.strict = true, .func = func,
                            .input = {hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS)},
                            .input_buffers = {buffers}, .count = count, .broadcast = tables, .accum_rows = row_counts,
                            .tables = accums->accum_count ? accums : NULL, .device_table = table, .output = o->result,
                            .output_room = RECORDS, .emits_of = o->emits_of};
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__interpret(&run, &error), HDST_OK, "%s", error.message);
    o->failed = run.failed_record;
    o->skipped = accums->accum_count ? hdst__table_read(accums, row_counts, table, 0, 0, 0, 0) : 0;
}

static uint64_t failures, passes;

static void try_program(unsigned seed, bool block_form)
{
    const char *text = random_checks(&arena, seed);
    const ir_func *func = scalar(text);
    if (!func) return;
    uint32_t counter;
    ir_func *skips = skipping(func, &counter);
    if (block_form) {
        const char *wrong = hdst__passes_block(skips, hdst__ir_accum_tables(&arena, skips, NULL));
        cr_assert_null(wrong, "%s", wrong);
    }
    random_record records[RECORDS];
    int32_t rows[8 * 3];
    const uint64_t t_rows = (uint64_t)rand() % 8;
    for (int n = 0; n < 24; n++) rows[n] = rand() % 9 - 1;
    for (int n = 0; n < RECORDS; n++) records[n] = random_checks_record();
    static outcome all, one;
    run_all(skips, records, RECORDS, rows, t_rows, &all);
    cr_assert_eq(all.failed, UINT64_MAX);
    uint64_t failed = 0;
    for (int n = 0, at = 0; n < RECORDS; n++) {
        run_all(func, &records[n], 1, rows, t_rows, &one);
        const bool fails = one.failed != UINT64_MAX;
        failed += fails;
        cr_assert_eq(all.emits_of[n], !fails, "seed %u, record %d\n%s", seed, n, text);
        cr_assert(fails || all.result[at++] == one.result[0], "seed %u, record %d\n%s", seed, n, text);
    }
    cr_assert_eq(all.skipped, failed, "seed %u", seed);
    failures += failed;
    passes += RECORDS - failed;
}

Test(skip, random_programs_skip_what_fails)
{
    const char *many = getenv("HDST_CHECK_PROGRAMS");
    const unsigned programs = many ? (unsigned)atoi(many) : 150;
    for (unsigned seed = 1; seed <= programs; seed++) {
        try_program(seed, seed % 2);
        tear_down();
        set_up();
    }
    cr_expect(failures > programs && passes > programs, "%llu records failed, %llu passed", (unsigned long long)failures, (unsigned long long)passes);
}
