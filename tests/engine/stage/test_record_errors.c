// SPDX-License-Identifier: Apache-2.0
// Records that fail in a kernel: the same words on the interpreter, in the form for CPUs and in the form for GPUs; the first record counts.
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1050000, TABLE_ROWS = 3, MOST_BAD = 3 };

static const char text[] = "struct in { uint32_t what; int32_t k; };\n"
                           "const float FEW[50] = { 1 };\n"
                           "map f(in p, broadcast float c[], broadcast float none[], accum uint32_t t[], accum double sum)\n"
                           "{\n"
                           "    if (p.what == 1) sum += FEW[p.k];\n"
                           "    if (p.what == 2) sum += c[p.k];\n"
                           "    if (p.what == 3) t[p.k] += 1;\n"
                           "    if (p.what == 4) sum += 100 / p.k;\n"
                           "    if (p.what == 5) sum += 100 % p.k;\n"
                           "    if (p.what == 6) sum += none[p.k];\n"
                           "}\n"
                           "struct out { uint32_t what; float c; };\n"
                           "map g(in p, broadcast float c[], broadcast float none[], accum uint32_t t[], accum double sum) -> out\n"
                           "{\n"
                           "    sum += p.what;\n"
                           "    t[p.k] += 1;\n"
                           "    return (out){ p.what, c[p.k] };\n"
                           "}\n";

typedef struct bad_record { uint64_t record; uint32_t what; int32_t k; } bad_record;

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static const ir_func *func, *with_output;
static bad_record bad[MOST_BAD];

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t values[2] = {0, 0};
        for (int b = 0; b < MOST_BAD; b++)
            if (bad[b].what && bad[b].record == first + i) values[0] = bad[b].what, values[1] = (uint32_t)bad[b].k;
        for (uint32_t leaf = 0; leaf < 2; leaf++)
            memcpy((char *)buffers[storage->leaf[leaf].buffer] + hdst__storage_offset(storage, leaf, to_first + i, 0), &values[leaf], 4);
    }
    return HDST_OK;
}

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "f.hk", text, strlen(text), &(hdst__front_options){0});
    cr_assert_eq(diags.errors, 0, "%s", diags.count ? diags.items[0].message : "");
    ir_func *f = hdst__lower(&arena, module, hdst__module_function(module, "f")), *g = hdst__lower(&arena, module, hdst__module_function(module, "g"));
    cr_assert_null(hdst__passes_scalar(f));
    cr_assert_null(hdst__passes_scalar(g));
    func = f;
    with_output = g;
    memset(bad, 0, sizeof bad);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(record_errors, .init = set_up, .fini = tear_down);

typedef struct job {
    hdst__engine *engine;
    hdst__stage *stage;
    float c[TABLE_ROWS];
    const void *broadcast[5];
    uint64_t rows[5], versions[5];
    hdst__stage_values values;
    hdst__stage_output output;
} job;

static bool open_job(job *j, const char *device, bool gpu_form, const ir_func *which, bool skip)
{
    *j = (job){.engine = hdst__engine_create(&(hdst__engine_options){.device = device, .gpu_form_on_cpu = gpu_form, .skip_failed = skip}),
               .rows = {0, TABLE_ROWS, 0, TABLE_ROWS, 1}};
    j->broadcast[1] = j->c;
    j->broadcast[2] = j->c;
    j->values = (hdst__stage_values){j->broadcast, j->rows, j->versions};
    const hdst__stage_spec spec = {.kind = HDST__STAGE_MAP, .func = which,
                                   .reader = {.fill = fill, .records = RECORDS, .record = func->params[0].record, .layout = HDST__SOA}};
    j->stage = hdst__stage_create(j->engine, &spec);
    hdst_error error;
    const hdst__device_info *info;
    if (hdst__engine_device(j->engine, &info, &error) == HDST_OK) return true;
    cr_log_warn("%s: skipped (%s)", device, error.message);
    return false;
}

static void close_job(job *j)
{
    hdst__stage_destroy(j->stage);
    hdst__engine_destroy(j->engine);
}

typedef struct expectation { bad_record bad[MOST_BAD]; const char *message, *at; uint64_t record; const char *hint; } expectation;

static const expectation cases[] = {
    {{{1048577, 1, 53}}, "index 53 out of range 0..49 in record 1,048,577", "p.k];\n    if (p.what == 2)", 1048577, ""},
    {{{1049999, 2, 3}}, "index 3 out of range 0..2 in record 1,049,999", "p.k];\n    if (p.what == 3)", 1049999, "`len(c)`"},
    {{{0, 3, -1}}, "index -1 out of range 0..2 in record 0", "p.k] +=", 0, "`len(t)`"},
    {{{999, 4, 0}}, "division by zero in record 999", "100 / p.k", 999, "test the divisor"},
    {{{1000, 5, 0}}, "division by zero in record 1,000", "100 % p.k", 1000, "test the divisor"},
    {{{5000, 6, 0}}, "index 0 out of range: none has no rows in record 5,000", "p.k];\n}\nstruct", 5000, "`len(none)`"},
    {{{900001, 1, 50}, {900000, 5, 0}, {1000000, 2, 9}}, "division by zero in record 900,000", "100 % p.k", 900000, "test the divisor"},
};

static void expect_message(job *j, const char *device, const expectation *e)
{
    memcpy(bad, e->bad, sizeof bad);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__stage_run(j->stage, &j->values, &j->output, &error), HDST_E_RECORD, "%s: %s", device, e->message);
    cr_expect_str_eq(error.message, e->message, "%s: %s", device, error.message);
    cr_expect_eq(error.record, e->record);
    cr_expect_str_eq(error.file, "f.hk");
    const char *at = strstr(text, e->at);
    uint32_t line = 1, column = 1;
    for (const char *c = text; c < at; c++) column = *c == '\n' ? (line++, 1) : column + 1;
    cr_expect(error.line == line && error.column >= column && error.column <= column + 6, "%s, %s: %u:%u", device, e->message, error.line, error.column);
    cr_expect(strstr(error.hint, e->hint), "%s: %s", device, error.hint);
    cr_expect(strchr(error.cause, '^'), "%s: %s", device, error.cause);
}

static const struct { const char *name, *device; bool gpu_form; } forms[] = {{"interp", "interp", false}, {"cpu", "cpu", false}, {"gpu form", "cpu", true}};

Test(record_errors, say_the_same_on_every_device)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        job j;
        if (open_job(&j, forms[i].device, forms[i].gpu_form, func, false))
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) expect_message(&j, forms[i].name, &cases[c]);
        close_job(&j);
    }
}

// --- Records that are skipped ---

static void run(job *j, const char *device)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__stage_run(j->stage, &j->values, &j->output, &error), HDST_OK, "%s: %s %s", device, error.message, error.cause);
}

typedef struct out { uint32_t what; float c; } out;

// Records of g are counted in row k; the bad ones have k = 7.
static void expect_all_but_bad(job *j, const char *device, unsigned skipped)
{
    run(j, device);
    uint64_t at = 0;
    const out *got = j->output.records;
    cr_expect_eq(hdst__stage_stats(j->stage)->skipped, skipped, "%s", device);
    cr_assert_eq(j->output.record_count, RECORDS - skipped, "%s", device);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint32_t what = 0;
        int32_t k = 0;
        for (int b = 0; b < MOST_BAD; b++)
            if (bad[b].what && bad[b].record == i) what = bad[b].what, k = bad[b].k;
        if (k == 7) continue;
        cr_assert(got[at].what == what && got[at].c == j->c[k], "%s: record %d", device, (int)i);
        at++;
    }
    const int64_t *first = j->output.table;
    cr_expect_eq(first[0], RECORDS - skipped - 1, "%s: row 0", device);     // a narrow sum is a word of the table
    cr_expect_eq(first[2], 1, "%s: row 2", device);
}

Test(record_errors, records_that_fail_take_no_part)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        job j;
        if (open_job(&j, forms[i].device, forms[i].gpu_form, with_output, true)) {
            for (int row = 0; row < TABLE_ROWS; row++) j.c[row] = 0.5f * (float)row;
            memcpy(bad, (bad_record[]){{5, 3, 2}, {70001, 1, 0}, {0, 0, 0}}, sizeof bad);
            expect_all_but_bad(&j, forms[i].name, 0);
            memcpy(bad, (bad_record[]){{5, 3, 2}, {70001, 1, 7}, {1049999, 1, 7}}, sizeof bad);
            expect_all_but_bad(&j, forms[i].name, 2);
            memcpy(bad, (bad_record[]){{0, 3, 7}, {70001, 1, 2}, {70002, 4, 0}}, sizeof bad);
            expect_all_but_bad(&j, forms[i].name, 1);
            bad[0].k = 0;
            expect_all_but_bad(&j, forms[i].name, 0);
        }
        close_job(&j);
    }
}
