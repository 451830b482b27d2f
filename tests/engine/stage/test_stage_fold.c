// SPDX-License-Identifier: Apache-2.0
// Reduces without accumulators against plain C: the fixed tree of 64 to one, and input order. The functions are
// order-sensitive, so a record out of place shows.
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { INTERP, CPU, GPU_FORM, TEAM, GPU_TEAM, FORMS };     // a team: two halves of the CPU and the interpreter

typedef struct pair { uint32_t p, q; } pair;

// Affine maps x -> p x + q modulo 2^32 under composition: associative, not commutative.
static pair compose(pair a, pair b) { return (pair){a.p * b.p, a.q * b.p + b.q}; }
// Not associative.
static pair mix(pair a, pair b) { return (pair){a.p * 3 + b.p, a.q * 5 + b.q * b.p}; }

static hdst__arena arena;
static jmp_buf out_of_memory;
static const hdst__record *record;
static hdst__engine *engine;
static uint64_t bad_record;         // its p is 0, by which `divide` divides
static uint64_t bad_every;          // not 0: so are those that leave 7 modulo it

static pair input(uint64_t i)
{
    uint32_t h = (uint32_t)((i + 1) * 2654435761u);
    return (pair){(i && i == bad_record) || (bad_every && i % bad_every == 7) ? 0 : h | 1, h >> 7};
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        pair value = input(first + i);
        memcpy((char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, to_first + i, 0), &value.p, 4);
        memcpy((char *)buffers[storage->leaf[1].buffer] + hdst__storage_offset(storage, 1, to_first + i, 0), &value.q, 4);
    }
    return HDST_OK;
}

static void set_up(void)
{
    bad_record = bad_every = 0;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__record *made = HDST__NEW(&arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "p", .type = hdst__type_scalar(HDST__U32)};
    fields[1] = (hdst__field){.name = "q", .type = hdst__type_scalar(HDST__U32)};
    *made = (hdst__record){.name = "pair", .fields = fields, .field_count = 2};
    const char *why;
    cr_assert(hdst__record_finish(&arena, made, &why));
    record = made;
}

static void tear_down(void)
{
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}

TestSuite(fold, .init = set_up, .fini = tear_down);

static void open_engine_with(int form, hdst__engine_options options)
{
    static const char *const devices[FORMS] = {"interp", "cpu", "cpu", "0,1,2", "0,1,2"};
    const hdst__device_info *device;
    options.device = devices[form];
    options.cpu_parts = form >= TEAM ? 2 : 0;
    options.gpu_form_on_cpu = form == GPU_FORM || form == GPU_TEAM;
    engine = hdst__engine_create(&options);
    cr_assert_not_null(engine);
    if (form >= TEAM) hdst__engine_limits(engine)->share_bytes = 0;
    if (form >= TEAM && hdst__engine_device(engine, &device, NULL) != HDST_OK) cr_skip("no OpenCL CPU device that can be halved\n");
}

static void open_engine(int form) { open_engine_with(form, (hdst__engine_options){.skip_failed = false}); }

// --- The functions in IR ---

static ir_expr *field(ir_func *f, uint32_t param, uint32_t leaf)
{
    ir_expr *e = hdst__ir_const(f, HDST__U32, 0);
    e->op = IR_FIELD;
    e->param = param;
    e->leaf = leaf;
    return e;
}

static ir_expr *times(ir_func *f, ir_expr *a, ir_expr *b) { return hdst__ir_binary(f, IR_MUL, HDST__U32, a, b); }
static ir_expr *plus(ir_func *f, ir_expr *a, ir_expr *b) { return hdst__ir_binary(f, IR_ADD, HDST__U32, a, b); }
static ir_expr *number(ir_func *f, uint64_t v) { return hdst__ir_const(f, HDST__U32, v); }

static void store(ir_func *f, uint32_t leaf, ir_expr *value)
{
    ir_stmt *stmt = hdst__ir_stmt(f, IR_STORE, (hdst__span){0, 0, 0});
    stmt->param = 2;
    stmt->leaf = leaf;
    stmt->value = value;
    hdst__ir_push(f, &f->body, stmt);
}

static ir_func *new_func(const char *name)
{
    ir_func *f = HDST__NEW(&arena, ir_func);
    f->arena = &arena;
    f->name = name;
    hdst__ir_add_param(f, (ir_param){.kind = IR_INPUT, .name = "a", .bind = "a", .record = record});
    hdst__ir_add_param(f, (ir_param){.kind = IR_INPUT, .name = "b", .bind = "b", .record = record});
    hdst__ir_add_param(f, (ir_param){.kind = IR_OUTPUT, .name = "out", .bind = "out", .record = record});
    return f;
}

static ir_func *compose_func(void)
{
    ir_func *f = new_func("compose");
    store(f, 0, times(f, field(f, 0, 0), field(f, 1, 0)));
    store(f, 1, plus(f, times(f, field(f, 0, 1), field(f, 1, 0)), field(f, 1, 1)));
    return f;
}

static ir_func *mix_func(void)
{
    ir_func *f = new_func("mix");
    store(f, 0, plus(f, times(f, field(f, 0, 0), number(f, 3)), field(f, 1, 0)));
    store(f, 1, plus(f, times(f, field(f, 0, 1), number(f, 5)), times(f, field(f, 1, 1), field(f, 1, 0))));
    return f;
}

// compose with a check that b.p is not 0
static ir_func *checked_func(void)
{
    ir_func *f = new_func("checked");
    ir_stmt *check = hdst__ir_stmt(f, IR_CHECK, (hdst__span){0, 0, 0});
    check->cond = hdst__ir_binary(f, IR_NE, HDST__BOOL, field(f, 1, 0), number(f, 0));
    check->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_DIVISION, .what = ""});
    hdst__ir_push(f, &f->body, check);
    store(f, 0, times(f, field(f, 0, 0), field(f, 1, 0)));
    store(f, 1, plus(f, times(f, field(f, 0, 1), field(f, 1, 0)), field(f, 1, 1)));
    return f;
}

// --- Running ---

static pair failed[2];              // what the last run could not combine

static hdst_status reduce(hdst__stage_kind kind, const ir_func *func, uint64_t records, hdst__layout layout, const pair *identity, pair *result,
                          hdst_error *error)
{
    hdst__reader reader = {.fill = fill, .records = records, .record = record, .layout = layout, .block = layout == HDST__AOSOA ? 64 : 0};
    hdst__stage *stage = hdst__stage_create(engine, &(hdst__stage_spec){.kind = kind, .func = func, .reader = reader, .identity = identity});
    cr_assert_not_null(stage);
    hdst__stage_output output;
    hdst_status status = HDST_OK;
    for (int i = 0; i < 2 && status == HDST_OK; i++) status = hdst__stage_run(stage, NULL, &output, error);
    if (status == HDST_E_RECORD) memcpy(failed, hdst__stage_failed_pair(stage), sizeof failed);
    if (status == HDST_OK) {
        cr_assert_eq(output.record_count, 1);
        memcpy(result, output.records, sizeof *result);
    }
    hdst__stage_destroy(stage);
    return status;
}

static pair in_order(pair (*f)(pair, pair), uint64_t records)
{
    pair sum = input(0);
    for (uint64_t i = 1; i < records; i++) sum = f(sum, input(i));
    return sum;
}

static pair by_tree(pair (*f)(pair, pair), uint64_t records)
{
    pair *rows = malloc(records * sizeof *rows);
    for (uint64_t i = 0; i < records; i++) rows[i] = input(i);
    while (records > 1) {
        uint64_t runs = (records + 63) / 64;
        for (uint64_t r = 0; r < runs; r++) {
            pair sum = rows[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < records; i++) sum = f(sum, rows[i]);
            rows[r] = sum;
        }
        records = runs;
    }
    pair result = rows[0];
    free(rows);
    return result;
}

static void expect(hdst__stage_kind kind, const ir_func *func, uint64_t records, hdst__layout layout, pair wanted)
{
    pair got;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(reduce(kind, func, records, layout, NULL, &got, &error), HDST_OK, "%s %s", error.message, error.cause);
    cr_assert(got.p == wanted.p && got.q == wanted.q, "%llu records: %u %u, not %u %u", (unsigned long long)records, got.p, got.q, wanted.p, wanted.q);
}

static const uint64_t counts[] = {1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 300000};

static void trees(int form)
{
    open_engine(form);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        expect(HDST__STAGE_FOLD, compose_func(), counts[i], HDST__SOA, in_order(compose, counts[i]));      // associative: the tree shows nothing
        expect(HDST__STAGE_FOLD, mix_func(), counts[i], HDST__SOA, by_tree(mix, counts[i]));               // not associative: it must be this tree
    }
    for (hdst__layout layout = HDST__AOS; layout <= HDST__AOP; layout++) expect(HDST__STAGE_FOLD, mix_func(), 10000, layout, by_tree(mix, 10000));
}

Test(fold, interp_folds_on_the_fixed_tree) { trees(INTERP); }
Test(fold, cpu_form_folds_on_the_fixed_tree) { trees(CPU); }
Test(fold, gpu_form_folds_on_the_fixed_tree) { trees(GPU_FORM); }
Test(fold, several_devices_fold_on_the_fixed_tree) { trees(TEAM); }
Test(fold, several_devices_in_the_gpu_form_fold_on_the_fixed_tree) { trees(GPU_TEAM); }

Test(fold, ordered_reduces_take_the_records_one_by_one)
{
    open_engine(INTERP);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) expect(HDST__STAGE_FOLD_ORDERED, mix_func(), counts[i], HDST__AOS, in_order(mix, counts[i]));
}

Test(fold, an_empty_input_gives_the_identity_or_an_error)
{
    open_engine(INTERP);
    pair identity = {1, 0}, got;
    hdst_error error = HDST_ERROR_INIT;
    for (hdst__stage_kind kind = HDST__STAGE_FOLD; kind <= HDST__STAGE_FOLD_ORDERED; kind++) {
        cr_assert_eq(reduce(kind, compose_func(), 0, HDST__SOA, &identity, &got, &error), HDST_OK);
        cr_assert(got.p == 1 && got.q == 0);
        cr_assert_eq(reduce(kind, compose_func(), 0, HDST__SOA, NULL, &got, &error), HDST_E_USAGE);
        cr_assert(strstr(error.hint, "identity"), "%s", error.hint);
    }
}

static void failing(int form, hdst__stage_kind kind)
{
    open_engine(form);
    bad_record = 123457;
    pair got;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(reduce(kind, checked_func(), 200000, HDST__SOA, NULL, &got, &error), HDST_E_RECORD, "%s", error.message);
    cr_assert_eq(error.record, 123457, "%llu", (unsigned long long)error.record);
    cr_assert(strstr(error.message, "division by zero"), "%s", error.message);
    if (kind == HDST__STAGE_FOLD) {                 // the second of its run
        const pair before = input(123456), bad = input(123457);
        cr_assert(!memcmp(&failed[0], &before, sizeof before) && !memcmp(&failed[1], &bad, sizeof bad));
    }
    bad_record = 0;
    bad_every = 4001;                               // many, of which the first is told
    cr_assert_eq(reduce(kind, checked_func(), 200000, HDST__SOA, NULL, &got, &error), HDST_E_RECORD, "%s", error.message);
    cr_assert_eq(error.record, 7, "%llu", (unsigned long long)error.record);
    pair before = input(0);
    for (uint64_t i = 1; i < 7; i++) before = compose(before, input(i));
    const pair bad = input(7);
    cr_assert(!memcmp(&failed[0], &before, sizeof before) && !memcmp(&failed[1], &bad, sizeof bad));
}

Test(fold, interp_names_the_record_that_failed) { failing(INTERP, HDST__STAGE_FOLD); }
Test(fold, cpu_form_names_the_record_that_failed) { failing(CPU, HDST__STAGE_FOLD); }
Test(fold, gpu_form_names_the_record_that_failed) { failing(GPU_FORM, HDST__STAGE_FOLD); }
Test(fold, several_devices_name_the_first_record_that_failed) { failing(TEAM, HDST__STAGE_FOLD); }
Test(fold, ordered_reduces_name_the_record_that_failed) { failing(INTERP, HDST__STAGE_FOLD_ORDERED); }

// --- Rows of numbers ---

enum { NUMBERS = 32, LANES = 16, ROWS = 5000 };        // a C struct of whole vectors, in loops over lanes

typedef struct row { uint32_t x[NUMBERS]; } row;

static row row_input(uint64_t i)
{
    row made;
    for (uint32_t e = 0; e < NUMBERS; e++) made.x[e] = (uint32_t)((i + 1) * 2654435761u) + e * e;
    return made;
}

static hdst_status fill_rows(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                             hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        const row value = row_input(first + i);
        for (uint32_t e = 0; e < NUMBERS; e++)
            memcpy((char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, to_first + i, e), &value.x[e], sizeof value.x[e]);
    }
    return HDST_OK;
}

static row mix_rows(row a, row b)
{
    for (uint32_t e = 0; e < NUMBERS; e++) a.x[e] = a.x[e] * 3 + b.x[e];
    return a;
}

static ir_expr *element(ir_func *f, uint32_t param, ir_expr *index)
{
    ir_expr *e = field(f, param, 0);
    e->a = index;
    return e;
}

// for first = 0 to 32 step 16 { for lane = 0 to 16 { out.x[first + lane] = a.x[first + lane] * 3 + b.x[first + lane] } }
static ir_func *row_func(void)
{
    const char *why;
    hdst__record *made = HDST__NEW(&arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 1);
    fields[0] = (hdst__field){.name = "x", .type = hdst__type_array(&arena, hdst__type_scalar(HDST__U32), NUMBERS)};
    *made = (hdst__record){.name = "row", .fields = fields, .field_count = 1};
    cr_assert(hdst__record_finish(&arena, made, &why));
    record = made;
    ir_func *f = new_func("rows");
    const uint32_t first = hdst__ir_add_var(f, "first", HDST__U32, 0), lane = hdst__ir_add_var(f, "lane", HDST__U32, 0);
    ir_stmt *outer = hdst__ir_for(f, first, number(f, 0), number(f, NUMBERS), LANES), *inner = hdst__ir_for(f, lane, number(f, 0), number(f, LANES), 1);
    ir_expr *index = plus(f, hdst__ir_var(f, first), hdst__ir_var(f, lane));
    ir_stmt *stmt = hdst__ir_stmt(f, IR_STORE, (hdst__span){0, 0, 0});
    stmt->param = 2;
    stmt->index = index;
    stmt->value = plus(f, times(f, element(f, 0, hdst__ir_copy(f, index)), number(f, 3)), element(f, 1, hdst__ir_copy(f, index)));
    hdst__ir_push(f, &inner->body, stmt);
    hdst__ir_push(f, &outer->body, inner);
    hdst__ir_push(f, &f->body, outer);
    return f;
}

static row rows_by_tree(void)
{
    row *rows = malloc(ROWS * sizeof *rows);
    uint64_t count = ROWS;
    for (uint64_t i = 0; i < count; i++) rows[i] = row_input(i);
    for (; count > 1; count = (count + 63) / 64)
        for (uint64_t r = 0; r < (count + 63) / 64; r++) {
            row sum = rows[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < count; i++) sum = mix_rows(sum, rows[i]);
            rows[r] = sum;
        }
    const row result = rows[0];
    free(rows);
    return result;
}

// Lanes of the record are loaded as vectors, those of the running value lie in an array of its own.
Test(fold, gpu_form_folds_rows_over_lanes)
{
    open_engine(GPU_FORM);
    hdst_error error = HDST_ERROR_INIT;
    hdst__stage_output output;
    const ir_func *func = row_func();
    const hdst__reader reader = {.fill = fill_rows, .records = ROWS, .record = record, .layout = HDST__AOS};
    hdst__stage *stage = hdst__stage_create(engine, &(hdst__stage_spec){.kind = HDST__STAGE_FOLD, .func = func, .reader = reader});
    cr_assert_eq(hdst__stage_run(stage, NULL, &output, &error), HDST_OK, "%s %s", error.message, error.cause);
    const row wanted = rows_by_tree();
    cr_expect(!memcmp(output.records, &wanted, sizeof wanted));
    hdst__stage_destroy(stage);
}

// --- Records that are skipped ---

typedef struct counted { pair value; uint64_t taken; } counted;

// The tree again, in which a right-hand side that would be divided by takes no part, with all that it stands for.
static counted tree_without_failures(uint64_t records)
{
    counted *rows = malloc(records * sizeof *rows);
    for (uint64_t i = 0; i < records; i++) rows[i] = (counted){input(i), 1};
    for (; records > 1; records = (records + 63) / 64)
        for (uint64_t r = 0; r < (records + 63) / 64; r++) {
            counted sum = rows[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < records; i++)
                if (rows[i].value.p) sum = (counted){compose(sum.value, rows[i].value), sum.taken + rows[i].taken};
            rows[r] = sum;
        }
    counted result = rows[0];
    free(rows);
    return result;
}

static counted order_without_failures(uint64_t records)
{
    counted sum = {input(0), 1};
    for (uint64_t i = 1; i < records; i++)
        if (input(i).p) sum = (counted){compose(sum.value, input(i)), sum.taken + 1};
    return sum;
}

static int warnings;
static void count_warning(int level, const char *message, void *user)
{
    (void)user;
    warnings += level == HDST__LOG_WARN && strstr(message, "division by zero in record") && strstr(message, "; records with errors are left out");
}

static void skip(int form, hdst__stage_kind kind, uint64_t records, uint64_t every)
{
    const hdst__log log = {count_warning, NULL, HDST__LOG_WARN};
    open_engine_with(form, (hdst__engine_options){.skip_failed = true, .log = &log});
    bad_every = every;
    warnings = 0;
    const counted wanted = kind == HDST__STAGE_FOLD ? tree_without_failures(records) : order_without_failures(records);
    hdst__reader reader = {.fill = fill, .records = records, .record = record, .layout = HDST__SOA};
    pair identity = {77, 78};
    hdst__stage *stage = hdst__stage_create(engine, &(hdst__stage_spec){.kind = kind, .func = checked_func(), .reader = reader, .identity = &identity});
    hdst_error error = HDST_ERROR_INIT;
    hdst__stage_output output;
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(hdst__stage_run(stage, NULL, &output, &error), HDST_OK, "%s", error.message);
        pair got;
        memcpy(&got, output.records, sizeof got);
        cr_assert(output.record_count == 1 && got.p == wanted.value.p && got.q == wanted.value.q, "%u %u, not %u %u", got.p, got.q, wanted.value.p,
                  wanted.value.q);
        cr_assert_eq(hdst__stage_stats(stage)->skipped, records - wanted.taken, "%llu, not %llu", (unsigned long long)hdst__stage_stats(stage)->skipped,
                     (unsigned long long)(records - wanted.taken));
    }
    cr_assert_eq(warnings, 1);
    // Nothing to reduce, where there was something before.
    reader.records = 0;
    cr_assert_eq(hdst__stage_set_input(stage, &reader, NULL, &error), HDST_OK);
    cr_assert_eq(hdst__stage_run(stage, NULL, &output, &error), HDST_OK, "%s", error.message);
    cr_assert(output.record_count == 1 && !memcmp(output.records, &identity, sizeof identity));
    cr_assert_eq(hdst__stage_stats(stage)->skipped, 0);
    hdst__stage_destroy(stage);
}

// Some of them begin a run of 64: then what came of the run is what fails one level up.
Test(fold, interp_skips_what_fails) { skip(INTERP, HDST__STAGE_FOLD, 100000, 57); }
Test(fold, cpu_form_skips_what_fails) { skip(CPU, HDST__STAGE_FOLD, 100000, 57); }
Test(fold, gpu_form_skips_what_fails) { skip(GPU_FORM, HDST__STAGE_FOLD, 100000, 57); }
Test(fold, several_devices_skip_what_fails) { skip(TEAM, HDST__STAGE_FOLD, 100000, 57); }
Test(fold, ordered_reduces_skip_what_fails) { skip(INTERP, HDST__STAGE_FOLD_ORDERED, 20000, 57); }
Test(fold, whole_runs_are_skipped_with_what_they_begin_with)
{
    bad_every = 57;
    cr_assert_lt(tree_without_failures(100000).taken, order_without_failures(100000).taken);     // else the tests above show little
}
