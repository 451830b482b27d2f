// SPDX-License-Identifier: Apache-2.0
// A stage made by hand, its input and the same sums in plain C (tests/engine/fixture.h).
#include "tests/engine/fixture.h"

#include "engine/engine_state.h"
#include "base/clock.h"

#include "accum/reduce.h"
#include "accum/first_level.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

float fixture_value(uint64_t record, uint32_t element)
{
    return (float)((double)(((record + element) * 7919) % 2001) - 1000) / 8;
}

uint32_t fixture_key(const fixture *f, uint64_t record)
{
    return (uint32_t)((record * 2654435761u >> 7) % f->options.rows);
}

// --- The stage's function ---

static hdst__record *make_record(hdst__arena *arena, const char *name, const char *const *names, const hdst__kind *kinds, const uint64_t *elements,
                                 size_t count)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, count);
    for (size_t i = 0; i < count; i++) {
        const hdst__type *scalar = hdst__type_scalar(kinds[i]);
        fields[i] = (hdst__field){.name = names[i], .type = elements[i] > 1 ? hdst__type_array(arena, scalar, elements[i]) : scalar};
    }
    record->name = name;
    record->fields = fields;
    record->field_count = count;
    const char *why = NULL;
    return hdst__record_finish(arena, record, &why) ? record : NULL;
}

static ir_expr *leaf(ir_func *f, ir_op op, uint32_t param, uint32_t leaf_index, ir_expr *row)
{
    ir_expr *e = hdst__ir_const(f, f->params[param].record->leaves[leaf_index].kind, 0);
    e->op = op;
    e->param = param;
    e->leaf = leaf_index;
    e->a = row;
    return e;
}

static ir_stmt *add_to(ir_func *f, ir_block *block, ir_stmt_kind kind)
{
    ir_stmt *stmt = hdst__ir_stmt(f, kind, (hdst__span){0, 0, 0});
    hdst__ir_push(f, block, stmt);
    return stmt;
}

static ir_stmt *add(ir_func *f, ir_stmt_kind kind) { return add_to(f, &f->body, kind); }

static ir_expr *value_of(ir_func *f) { return leaf(f, IR_FIELD, 0, 1, NULL); }
static ir_expr *weight_of(ir_func *f) { return leaf(f, IR_BROADCAST, 1, 0, hdst__ir_const(f, HDST__U64, 0)); }
static ir_expr *key_of(ir_func *f) { return hdst__ir_convert(f, HDST__U64, leaf(f, IR_FIELD, 0, 0, NULL)); }

static void add_accumulation(ir_func *f, uint64_t private_bytes)
{
    ir_expr *length = hdst__ir_const(f, HDST__U64, 0);
    length->op = IR_LENGTH;
    length->param = 2;
    uint32_t key = hdst__ir_add_var(f, "key", HDST__U64, 0), in = hdst__ir_add_var(f, "in", HDST__BOOL, 0);
    hdst__ir_push(f, &f->body, hdst__ir_set(f, key, key_of(f)));
    hdst__ir_push(f, &f->body, hdst__ir_set(f, in, hdst__ir_binary(f, IR_LT, HDST__BOOL, hdst__ir_var(f, key), length)));
    ir_stmt *check = add(f, IR_CHECK);
    check->cond = hdst__ir_var(f, in);
    check->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_TABLE_INDEX, .what = "t"});
    check->index = hdst__ir_var(f, key);
    check->index2 = hdst__ir_copy(f, length);
    if (private_bytes) {
        ir_stmt *set = add(f, IR_SET_ELEM);
        set->var = hdst__ir_add_var(f, "big", HDST__U8, private_bytes);
        set->index = hdst__ir_select(f, hdst__ir_var(f, in), hdst__ir_var(f, key), hdst__ir_const(f, HDST__U64, 0));
        set->value = hdst__ir_const(f, HDST__U8, 1);
    }
    ir_block *block = &f->body;
    uint32_t e = 0;
    bool loops = f->params[0].record->leaves[1].elements > 1;
    if (loops) {
        e = hdst__ir_add_var(f, "e", HDST__U64, 0);
        ir_stmt *loop = add(f, IR_FOR);
        loop->var = e;
        loop->lo = hdst__ir_const(f, HDST__U64, 0);
        loop->hi = hdst__ir_const(f, HDST__U64, f->params[0].record->leaves[1].elements);
        loop->step = 1;
        block = &loop->body;
    }
    for (uint32_t i = 0; i < 2; i++) {
        ir_stmt *accum = add_to(f, i == 0 ? block : &f->body, IR_ACCUM);
        accum->param = 2;
        accum->leaf = i;
        accum->acc = HDST__SUM;
        accum->index = hdst__ir_select(f, hdst__ir_var(f, in), hdst__ir_var(f, key), hdst__ir_const(f, HDST__U64, 0));
        accum->value = hdst__ir_const(f, HDST__U64, 1);
        if (i > 0) continue;
        accum->index2 = loops ? hdst__ir_var(f, e) : NULL;
        ir_expr *value = value_of(f);
        value->a = loops ? hdst__ir_var(f, e) : NULL;
        accum->value = hdst__ir_binary(f, IR_MUL, HDST__F32, value, weight_of(f));
    }
}

static void add_output(ir_func *f, uint32_t param, bool filters)
{
    ir_stmt *y = add(f, IR_STORE), *k = add(f, IR_STORE);
    y->param = k->param = param;
    k->leaf = 1;
    y->value = hdst__ir_binary(f, IR_ADD, HDST__F32, value_of(f), weight_of(f));
    k->value = leaf(f, IR_FIELD, 0, 0, NULL);
    if (!filters) return;
    f->emits = true;
    add(f, IR_EMIT)->cond = hdst__ir_binary(f, IR_GT, HDST__BOOL, value_of(f), hdst__ir_const(f, HDST__F32, 0));
}

static bool make_func(fixture *f)
{
    static const char *const point[] = {"k", "v"}, *const weight[] = {"by"}, *const sum[] = {"s", "n"}, *const pick[] = {"y", "k"};
    static const hdst__kind point_kinds[] = {HDST__U32, HDST__F32}, float_kind[] = {HDST__F32}, sum_kinds[] = {HDST__F32, HDST__U64},
        pick_kinds[] = {HDST__F32, HDST__U32};
    const uint64_t ones[] = {1, 1}, wide_second[] = {1, f->options.width}, wide_first[] = {f->options.width, 1};
    if (setjmp(f->out_of_memory)) return false;
    hdst__arena *arena = &f->arena;
    ir_func *func = HDST__NEW(arena, ir_func);
    func->arena = arena;
    func->name = "total";
    f->reader.record = make_record(arena, "point", point, point_kinds, wide_second, 2);
    hdst__ir_add_param(func, (ir_param){.kind = IR_INPUT, .name = "p", .bind = "p", .record = f->reader.record});
    hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = "w", .bind = "w",
                                        .record = make_record(arena, "weight", weight, float_kind, ones, 1), .is_table = true});
    ir_param accum = {.kind = IR_ACCUM_TABLE, .name = "t", .bind = "t", .record = make_record(arena, "sum", sum, sum_kinds, wide_first, 2), .is_table = true};
    accum.leaf_op = HDST__NEW_ARRAY(arena, hdst__accumulate_op, 2);
    if (f->options.accumulates) hdst__ir_add_param(func, accum);
    if (f->options.accumulates) add_accumulation(func, f->options.private_bytes);
    if (f->options.outputs) {
        uint32_t param = hdst__ir_add_param(func, (ir_param){.kind = IR_OUTPUT, .name = "out", .bind = "out",
                                                             .record = make_record(arena, "pick", pick, pick_kinds, ones, 2)});
        add_output(func, param, f->options.filters);
    }
    f->func = func;
    const char *wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s", wrong);
    return true;
}

// --- Its input ---

static uint32_t key_read(const fixture *f, uint64_t record)
{
    bool bad = record && (record == f->options.bad[0] || record == f->options.bad[1]);
    return bad ? f->options.rows + (uint32_t)(record % 100) : fixture_key(f, record);
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    fixture *f = user;
    f->fills++;
    if (f->fills >= f->options.waits_at && f->fills - f->options.waits_at < f->options.wait_fills) hdst__sleep(f->options.wait_seconds);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t record = first + i;
        if (f->options.fail_at && record == f->options.fail_at)
            return hdst__error_set(error, HDST_E_IO, "record %llu cannot be read", (unsigned long long)record);
        uint32_t key = key_read(f, record);
        memcpy((char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, to_first + i, 0), &key, sizeof key);
        for (uint32_t e = 0; e < f->options.width; e++) {
            float value = fixture_value(record, e);
            memcpy((char *)buffers[storage->leaf[1].buffer] + hdst__storage_offset(storage, 1, to_first + i, e), &value, sizeof value);
        }
    }
    return HDST_OK;
}

static void keep_log(int level, const char *message, void *user)
{
    fixture *f = user;
    f->warnings += level == HDST__LOG_WARN;
    size_t used = strlen(f->log);
    snprintf(f->log + used, sizeof f->log - used, "%s\n", message);
}

// --- Life ---

hdst_status fixture_open(fixture *f, const fixture_options *options)
{
    *f = (fixture){.options = *options, .weight = 0.5f, .version = 1, .error = HDST_ERROR_INIT};
    if (!f->options.rows) f->options.rows = 7;
    if (!f->options.width) f->options.width = 1;
    hdst__arena_init(&f->arena, options->allocator, &f->out_of_memory);
    if (!make_func(f)) return HDST_E_MEMORY;
    f->reader.fill = fill;
    f->reader.user = f;
    f->reader.records = options->records;
    f->reader.layout = options->layout;
    f->reader.block = options->block;
    hdst__log log = {.write = keep_log, .user = f, .level = HDST__LOG_DEBUG};
    f->engine = hdst__engine_create(&(hdst__engine_options){
        .allocator = options->allocator, .log = &log, .cancel = &f->cancel, .device = options->device, .memory = options->memory,
        .device_memory = options->device_memory,
        .gpu_form_on_cpu = options->gpu_form, .cache_dir = options->cache_dir, .cpu_parts = options->cpu_parts});
    if (!f->engine) return HDST_E_MEMORY;
    f->engine->limits.binary_after = options->binary_after;
    if (options->share_bytes) f->engine->limits.share_bytes = options->share_bytes;
    if (options->cached && !(f->cache = hdst__dataset_cache_create(hdst__engine_runtime(f->engine), &f->reader))) return HDST_E_MEMORY;
    f->stage = hdst__stage_create(f->engine, &(hdst__stage_spec){.kind = HDST__STAGE_MAP, .func = f->func, .reader = f->reader, .cache = f->cache});
    return f->stage ? HDST_OK : HDST_E_MEMORY;
}

void fixture_bind(fixture *f)
{
    f->broadcast[1] = &f->weight;
    f->rows[1] = 1;
    f->rows[2] = f->options.rows;
    f->versions[1] = f->version;
    f->values = (hdst__stage_values){.broadcast = f->broadcast, .rows = f->rows, .version = f->versions};
}

hdst_status fixture_run(fixture *f)
{
    fixture_bind(f);
    f->error = (hdst_error)HDST_ERROR_INIT;
    return hdst__stage_run(f->stage, &f->values, &f->output, &f->error);
}

void fixture_close(fixture *f)
{
    hdst__stage_destroy(f->stage);
    hdst__dataset_cache_destroy(f->cache);
    hdst__engine_destroy(f->engine);
    hdst__arena_destroy(&f->arena);
}

// --- The answer ---

static uint64_t cell_of(const fixture *f, uint64_t row, uint32_t leaf, uint64_t element)
{
    if (f->output.partial) return hdst__partial_read(f->output.partial, 0, row, leaf, element);
    if (f->output.tables->first_level) return hdst__first_level_read(f->output.tables, f->rows, &f->output.first_level, 0, row, leaf, element);
    return hdst__table_read(f->output.tables, f->rows, f->output.table, 0, row, leaf, element);
}

static void expect_table(const fixture *f)
{
    uint32_t width = f->options.width, rows = f->options.rows;
    double *sum = calloc((size_t)rows * width, sizeof *sum);
    uint64_t *n = calloc(rows, sizeof *n);
    for (uint64_t i = 0; i < f->options.records; i++) {
        uint32_t key = key_read(f, i);
        if (key >= rows) continue;      // a record that fails
        for (uint32_t e = 0; e < width; e++) sum[(size_t)key * width + e] += (double)(fixture_value(i, e) * f->weight);
        n[key]++;
    }
    for (uint64_t row = 0; row < rows; row++) {
        for (uint32_t e = 0; e < width; e++) {
            float wanted = (float)sum[row * width + e], got;
            uint32_t bits = (uint32_t)cell_of(f, row, 0, e);
            memcpy(&got, &bits, sizeof got);
            cr_assert_eq(got, wanted, "sum %d of row %d: %a, not %a", (int)e, (int)row, got, wanted);
        }
        cr_assert_eq(cell_of(f, row, 1, 0), n[row], "count of row %d", (int)row);
    }
    free(sum);
    free(n);
}

static void expect_records(const fixture *f)
{
    const fixture_pick *got = f->output.records;
    uint64_t at = 0;
    for (uint64_t i = 0; i < f->options.records; i++) {
        if (f->options.filters && !(fixture_value(i, 0) > 0)) continue;
        cr_assert_lt(at, f->output.record_count, "records end before input record %llu", (unsigned long long)i);
        cr_assert_eq(got[at].y, fixture_value(i, 0) + f->weight, "record %llu", (unsigned long long)i);
        cr_assert_eq(got[at].k, fixture_key(f, i), "key of record %llu", (unsigned long long)i);
        at++;
    }
    cr_assert_eq(at, f->output.record_count);
}

void fixture_expect_right(const fixture *f)
{
    if (f->options.accumulates) expect_table(f);
    if (f->options.outputs) expect_records(f);
    else cr_assert_eq(f->output.record_count, 0);
}
