// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much: filters and flat_maps in the interpreter and in both OpenCL forms, against
// plain C. Input order, all layouts, none and all kept, large fan-out, slices that are cut, records that emit too
// much or fail.
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage.h"
#include "codegen/front/front.h"
#include "codegen/lower/fuse.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { INTERP, CPU, GPU_FORM, FORMS };

typedef struct item { uint32_t n; float v; int16_t s; float a[3]; } item;
typedef struct bit { float v; uint32_t from; int16_t s; } bit;

static const char kernels[] =
    "struct item { uint32_t n; float v; int16_t s; float a[3]; };\n"
    "struct bit { float v; uint32_t from; int16_t s; };\n"
    "struct tally { uint64_t n; float v; };\n"
    "filter every(item i, broadcast uint32_t m[]) { return i.n % m[0] == 0; }\n"
    "flat_map spread(item i) -> bit\n"
    "{\n"
    "    for (uint32_t j = 0; j < i.n % 5; j++) emit(i.v + (float)j, i.n, i.s);\n"
    "}\n"
    "flat_map ends(item i) -> bit\n"
    "{\n"
    "    if (i.v > 0) emit((bit){ .v = i.v * 2.0f, .s = i.s, .from = i.n });\n"
    "    emit(-i.v, i.n, i.s);\n"
    "}\n"
    "flat_map parts(item i, broadcast uint32_t m[], accum tally all[]) -> bit\n"
    "{\n"
    "    if (i.n % 7 == 3) return;\n"
    "    for (uint32_t j = 0; j < m[0]; j++) {\n"
    "        if (j % 3 == i.n % 3) continue;\n"
    "        emit(i.a[j % 3], j, i.s);\n"
    "        all[j % 4].n++;\n"
    "        all[j % 4].v += i.v;\n"
    "    }\n"
    "}\n"
    "filter small(bit b) { return b.v < 0.5f; }\n"
    "map shift(bit b) -> bit { return (bit){ .v = b.v + 10.0f, .from = b.from + 1, .s = b.s }; }\n"
    "map total(bit b, accum tally t[]) { t[b.from % 4].n++; t[b.from % 4].v += b.v; }\n"
    "flat_map two(bit b) -> bit { for (int k = 0; k < 2; k++) emit(b.v + k, b.from, b.s); }\n"
    "flat_map nothing(item i, accum uint64_t n) -> bit { n += 1; return; emit(0, 0, 0); }\n"
    "flat_map picks(item i, broadcast float c[]) -> float { for (uint32_t j = 0; j < i.n % 4; j++) emit(c[(uint32_t)i.s + j]); }\n";

static item input(uint64_t i)
{
    uint32_t h = (uint32_t)((i + 1) * 2654435761u);
    return (item){h >> 9, (float)(h % 401) / 256 - 0.75f, (int16_t)(h % 11), {(float)(h % 13), (float)(h % 17) - 8, (float)i}};
}

typedef struct job {
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__diags diags;
    hdst__engine *engine;
    hdst__stage *stage;
    ir_func *func;
    uint64_t bad_record;                // its s leads out of the table
    const void *broadcast[8];
    uint64_t rows[8], versions[8];
    hdst__stage_output output;
    hdst_error error;
} job;

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)error;
    const job *j = user;
    for (uint64_t i = 0; i < count; i++) {
        item value = input(first + i);
        if (j->bad_record && first + i == j->bad_record) value.s = 500, value.n = 3;
        const void *from[] = {&value.n, &value.v, &value.s, value.a};
        for (uint32_t leaf = 0; leaf < 4; leaf++)
            for (uint64_t e = 0; e < storage->record->leaves[leaf].elements; e++) {
                size_t size = hdst__scalar_size(storage->record->leaves[leaf].kind);
                memcpy((char *)buffers[storage->leaf[leaf].buffer] + hdst__storage_offset(storage, leaf, to_first + i, e),
                       (const char *)from[leaf] + e * size, size);
            }
    }
    return HDST_OK;
}

typedef struct setup {
    int form;
    hdst__layout layout;
    uint64_t records, memory;
    const char *chain[5];
} setup;

// False: there is no OpenCL CPU device.
static bool job_open(job *j, const setup *s)
{
    *j = (job){.error = HDST_ERROR_INIT};
    hdst__arena_init(&j->arena, NULL, &j->out_of_memory);
    hdst__diags_init(&j->diags, &j->arena);
    hdst__front_options options = {0};
    ast_module *module = hdst__module_compile(&j->diags, "emit.hk", kernels, sizeof kernels - 1, &options);
    hdst__buffer report;
    hdst__buffer_init(&report, NULL);
    hdst__diags_render(&j->diags, &report);
    cr_assert_eq(j->diags.errors, 0, "%s", hdst__buffer_text(&report));
    hdst__buffer_destroy(&report);
    ir_func *functions[5];
    size_t count = 0;
    for (; count < 5 && s->chain[count]; count++) {
        functions[count] = hdst__lower(&j->arena, module, hdst__module_function(module, s->chain[count]));
        cr_assert_not_null(functions[count], "%s", s->chain[count]);
    }
    j->func = hdst__fuse(&j->arena, functions, count);
    const char *wrong = hdst__passes_scalar(j->func);
    cr_assert_null(wrong, "%s", wrong);
    hdst__engine_options engine = {.device = s->form == INTERP ? "interp" : "cpu", .gpu_form_on_cpu = s->form == GPU_FORM, .memory = s->memory};
    j->engine = hdst__engine_create(&engine);
    const hdst__device_info *device;
    if (hdst__engine_device(j->engine, &device, &j->error) != HDST_OK) return false;
    hdst__reader reader = {fill, j, s->records, j->func->params[0].record, s->layout, s->layout == HDST__AOSOA ? 64 : 0};
    j->stage = hdst__stage_create(j->engine, &(hdst__stage_spec){HDST__STAGE_MAP, j->func, reader, NULL, NULL});
    return true;
}

static void job_close(job *j)
{
    hdst__stage_destroy(j->stage);
    hdst__engine_destroy(j->engine);
    hdst__arena_destroy(&j->arena);
}

static void bind(job *j, const char *name, const void *data, uint64_t rows)
{
    for (size_t i = 0; i < j->func->param_count; i++)
        if (!strcmp(j->func->params[i].name, name)) {
            j->broadcast[i] = data;
            j->rows[i] = rows;
            j->versions[i]++;
        }
}

static hdst_status job_run(job *j)
{
    hdst__stage_values values = {j->broadcast, j->rows, j->versions};
    j->error = (hdst_error)HDST_ERROR_INIT;
    return hdst__stage_run(j->stage, &values, &j->output, &j->error);
}

static uint64_t cell(const job *j, size_t accum, uint64_t row, uint32_t leaf)
{
    return hdst__table_read(j->output.tables, j->rows, j->output.table, accum, row, leaf, 0);
}

// --- The same in C ---

typedef struct bits { bit *items; size_t count, capacity; } bits;

static void put(bits *to, float v, uint32_t from, int16_t s)
{
    if (to->count == to->capacity) to->items = realloc(to->items, (to->capacity = to->capacity ? 2 * to->capacity : 1024) * sizeof *to->items);
    to->items[to->count++] = (bit){v, from, s};
}

static void expect_bits(const job *j, const bits *wanted)
{
    const bit *got = j->output.records;
    cr_assert_eq(j->output.record_count, wanted->count, "%llu records, not %zu", (unsigned long long)j->output.record_count, wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        cr_assert(got[i].v == wanted->items[i].v && got[i].from == wanted->items[i].from && got[i].s == wanted->items[i].s,
                  "record %zu: %g %u %d, not %g %u %d",
                  i, got[i].v, got[i].from, got[i].s, wanted->items[i].v, wanted->items[i].from, wanted->items[i].s);
    free(wanted->items);
}

// --- Filters ---

static void filters(int form)
{
    static const uint64_t counts[] = {0, 1, 63, 64, 65, 255, 256, 257, 5000, 150001};
    static const uint32_t moduli[] = {1, 3, 97, UINT32_MAX};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = counts[c], .chain = {"every"}})) return job_close(&j);
        for (size_t m = 0; m < sizeof moduli / sizeof *moduli; m++) {
            bind(&j, "m", &moduli[m], 1);
            cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
            const item *got = j.output.records;
            uint64_t at = 0;
            for (uint64_t i = 0; i < counts[c]; i++) {
                item wanted = input(i);
                if (wanted.n % moduli[m]) continue;
                cr_assert_lt(at, j.output.record_count);
                cr_assert(got[at].n == wanted.n && got[at].v == wanted.v && got[at].s == wanted.s && !memcmp(got[at].a, wanted.a, sizeof wanted.a),
                          "record %llu of %llu, modulus %u", (unsigned long long)i, (unsigned long long)counts[c], moduli[m]);
                at++;
            }
            cr_assert_eq(at, j.output.record_count);
            const hdst__run_stats *stats = hdst__stage_stats(j.stage);
            cr_assert_eq(stats->level_count, 3);
            cr_assert(stats->level[0].in == counts[c] && stats->level[0].out == at && stats->level[2].out == at);
        }
        job_close(&j);
    }
}

Test(emit, filters_keep_their_input_records_in_order) { filters(INTERP); }
Test(emit, filters_in_the_cpu_form) { filters(CPU); }
Test(emit, filters_in_the_gpu_form) { filters(GPU_FORM); }

// --- flat_map ---

static void spread(bits *to, item i)
{
    for (uint32_t k = 0; k < i.n % 5; k++) put(to, i.v + (float)k, i.n, i.s);
}

static void layouts(int form)
{
    for (hdst__layout layout = HDST__AOS; layout <= HDST__AOP; layout++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .layout = layout, .records = 20011, .chain = {"spread"}})) return job_close(&j);
        cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
        bits wanted = {0};
        for (uint64_t i = 0; i < 20011; i++) spread(&wanted, input(i));
        expect_bits(&j, &wanted);
        job_close(&j);
    }
}

Test(emit, zero_to_four_records_in_every_layout) { layouts(INTERP); }
Test(emit, zero_to_four_records_in_every_layout_cpu) { layouts(CPU); }
Test(emit, zero_to_four_records_in_every_layout_gpu) { layouts(GPU_FORM); }

static void few_from_each(int form)
{
    job j;
    if (!job_open(&j, &(setup){.form = form, .layout = HDST__SOA, .records = 30000, .chain = {"ends"}})) return job_close(&j);
    cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
    bits wanted = {0};
    for (uint64_t i = 0; i < 30000; i++) {
        item it = input(i);
        if (it.v > 0) put(&wanted, it.v * 2, it.n, it.s);
        put(&wanted, -it.v, it.n, it.s);
    }
    expect_bits(&j, &wanted);
    job_close(&j);
}

Test(emit, two_emits_keep_their_order)
{
    for (int form = 0; form < FORMS; form++) few_from_each(form);
}

// --- Chains ---

static void chain(int form)
{
    job j;
    if (!job_open(&j, &(setup){.form = form, .records = 25000, .chain = {"every", "spread", "small", "shift", "two"}})) return job_close(&j);
    bind(&j, "m", &(uint32_t){2}, 1);
    cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
    bits wanted = {0}, between = {0};
    for (uint64_t i = 0; i < 25000; i++)
        if (input(i).n % 2 == 0) spread(&between, input(i));
    for (size_t i = 0; i < between.count; i++) {
        bit b = between.items[i];
        for (int k = 0; k < 2 && b.v < 0.5f; k++) put(&wanted, b.v + 10.0f + (float)k, b.from + 1, b.s);
    }
    free(between.items);
    expect_bits(&j, &wanted);
    job_close(&j);
}

Test(emit, a_chain_of_filters_maps_and_flat_maps)
{
    for (int form = 0; form < FORMS; form++) chain(form);
}

static float float_of(uint64_t pattern)
{
    uint32_t low = (uint32_t)pattern;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

static void accumulating_chain(int form)
{
    job j;
    if (!job_open(&j, &(setup){.form = form, .records = 25000, .chain = {"spread", "small", "total"}})) return job_close(&j);
    bind(&j, "t", NULL, 4);
    cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
    cr_assert_eq(j.output.record_count, 0);
    bits all = {0};
    for (uint64_t i = 0; i < 25000; i++) spread(&all, input(i));
    double sum[4] = {0};        // multiples of 1/256 far from overflow: exact
    uint64_t n[4] = {0};
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].v < 0.5f) sum[all.items[i].from % 4] += (double)all.items[i].v, n[all.items[i].from % 4]++;
    for (uint64_t row = 0; row < 4; row++) {
        cr_expect_eq(cell(&j, 0, row, 0), n[row]);
        cr_expect_eq(float_of(cell(&j, 0, row, 1)), (float)sum[row]);
    }
    free(all.items);
    job_close(&j);
}

Test(emit, what_is_emitted_can_be_totalled_without_being_stored)
{
    for (int form = 0; form < FORMS; form++) accumulating_chain(form);
}

// --- Records and accumulators of one pass; output that does not fit ---

static void expect_parts(job *j, uint32_t m, uint64_t records)
{
    bits wanted = {0};
    double sum[4] = {0};
    uint64_t n[4] = {0};
    for (uint64_t i = 0; i < records; i++) {
        item it = input(i);
        if (it.n % 7 == 3) continue;
        for (uint32_t k = 0; k < m; k++) {
            if (k % 3 == it.n % 3) continue;
            put(&wanted, it.a[k % 3], k, it.s);
            n[k % 4]++;
            sum[k % 4] += (double)it.v;
        }
    }
    for (uint64_t row = 0; row < 4; row++) {
        cr_assert_eq(cell(j, 0, row, 0), n[row], "row %d: %llu, not %llu", (int)row, (unsigned long long)cell(j, 0, row, 0), (unsigned long long)n[row]);
        cr_assert_eq(float_of(cell(j, 0, row, 1)), (float)sum[row]);
    }
    expect_bits(j, &wanted);
}

// The first run sees little output, so the next one's slices are far too large for theirs.
static void fan_out(int form)
{
    enum { RECORDS = 40000 };
    job j;
    if (!job_open(&j, &(setup){.form = form, .records = RECORDS, .memory = 24 << 20, .chain = {"parts"}})) return job_close(&j);
    bind(&j, "all", NULL, 4);
    static const uint32_t m[] = {0, 1, 30, 2};
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        bind(&j, "m", &m[i], 1);
        cr_assert_eq(job_run(&j), HDST_OK, "form %d, %u: %s", form, m[i], j.error.message);
        expect_parts(&j, m[i], RECORDS);
    }
    job_close(&j);
}

Test(emit, slices_are_cut_where_their_output_does_not_fit) { fan_out(INTERP); }
Test(emit, slices_are_cut_in_the_cpu_form) { fan_out(CPU); }
Test(emit, slices_are_cut_in_the_gpu_form) { fan_out(GPU_FORM); }

// Kernels of the CPU form write where the output stays: all of it must fit the budget, and nothing else is asked of a record.
Test(emit, a_record_may_emit_as_much_as_the_output_has_room_for)
{
    job j;
    if (!job_open(&j, &(setup){.form = CPU, .records = 100, .memory = 128 << 20, .chain = {"parts"}})) return job_close(&j);
    bind(&j, "all", NULL, 4);
    static const uint32_t m[] = {2, 40000, 3};
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        bind(&j, "m", &m[i], 1);
        cr_assert_eq(job_run(&j), HDST_OK, "%u: %s", m[i], j.error.message);
        expect_parts(&j, m[i], 100);
    }
    job_close(&j);
}

// What a record gives may be more than a slice has room for; what all give must fit the budget.
Test(emit, output_that_does_not_fit_the_budget_is_an_error)
{
    for (int form = 0; form < FORMS; form++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 100, .memory = 8 << 20, .chain = {"parts"}})) return job_close(&j);
        bind(&j, "all", NULL, 4);
        bind(&j, "m", &(uint32_t){40000}, 1);
        cr_assert_eq(job_run(&j), HDST_E_MEMORY, "form %d: %s", form, j.error.message);
        cr_expect(strstr(j.error.message, "output records") || strstr(j.error.message, "the output of record"), "form %d: %s", form, j.error.message);
        cr_expect_neq(j.error.hint[0], 0);
        bind(&j, "m", &(uint32_t){3}, 1);       // the stage is sound afterwards
        cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
        expect_parts(&j, 3, 100);
        job_close(&j);
    }
}

// 100,000 of 12 bytes, where a slice has room for a thirty-second of the memory.
Test(emit, a_record_may_give_more_than_a_slice_has_room_for)
{
    for (int form = 0; form < FORMS; form++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 3, .memory = 24 << 20, .chain = {"parts"}})) return job_close(&j);
        bind(&j, "all", NULL, 4);
        for (int turn = 0; turn < 2; turn++) {
            bind(&j, "m", &(uint32_t){150000}, 1);
            cr_assert_eq(job_run(&j), HDST_OK, "form %d: %s", form, j.error.message);
            expect_parts(&j, 150000, 3);
        }
        job_close(&j);
    }
}

Test(emit, a_record_that_emits_more_than_fits_is_an_error)
{
    for (int form = 0; form < FORMS; form++) {
        if (form == CPU) continue;
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 100, .memory = 8 << 20, .chain = {"parts"}})) return job_close(&j);
        bind(&j, "all", NULL, 4);
        bind(&j, "m", &(uint32_t){300000}, 1);
        cr_assert_eq(job_run(&j), HDST_E_RECORD, "form %d: %s", form, j.error.message);
        uint64_t first = 0;
        while (input(first).n % 7 == 3) first++;
        cr_expect_eq(j.error.record, first);
        cr_expect(strstr(j.error.message, "'parts' emits 200000 records, room is for 174762, in record "), "%s", j.error.message);
        cr_expect_str_eq(j.error.file, "emit.hk");
        cr_expect_eq(j.error.line, 19, "line %d", (int)j.error.line);
        cr_expect_neq(j.error.hint[0], 0);
        bind(&j, "m", &(uint32_t){3}, 1);       // the stage is sound afterwards
        cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
        expect_parts(&j, 3, 100);
        job_close(&j);
    }
}

// A look at the data does not take a record's whole output in.
Test(emit, a_sample_is_of_a_bounded_part_of_a_record)
{
    enum { MOST = 3 * (HDST__HOST_SAMPLE_EMITTED + 64) };
    for (int form = 0; form < FORMS; form++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 9, .memory = 128 << 20, .chain = {"parts"}})) return job_close(&j);
        bind(&j, "all", NULL, 4);
        bind(&j, "m", &(uint32_t){100000}, 1);
        cr_assert_eq(job_run(&j), HDST_OK, "form %d: %s", form, j.error.message);
        expect_parts(&j, 100000, 9);
        cr_expect(j.stage->plan->emitted > HDST__HOST_SAMPLE_EMITTED / 2 && j.stage->plan->emitted < MOST, "%llu", (unsigned long long)j.stage->plan->emitted);
        job_close(&j);
    }
}

Test(emit, a_flat_map_that_never_emits)
{
    for (int form = 0; form < FORMS; form++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 3000, .chain = {"nothing", "shift"}})) return job_close(&j);
        cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
        cr_expect_eq(j.output.record_count, 0);
        cr_expect_eq(cell(&j, 0, 0, 0), 3000);
        job_close(&j);
    }
}

Test(emit, a_record_that_fails_in_the_middle_is_named)
{
    static float c[20];
    for (int i = 0; i < 20; i++) c[i] = (float)i;
    for (int form = 0; form < FORMS; form++) {
        job j;
        if (!job_open(&j, &(setup){.form = form, .records = 9000, .chain = {"picks"}})) return job_close(&j);
        bind(&j, "c", c, 20);
        j.bad_record = 7777;
        cr_assert_eq(job_run(&j), HDST_E_RECORD, "form %d", form);
        cr_expect_eq(j.error.record, 7777);
        cr_expect(strstr(j.error.message, "index 500 out of range 0..19"), "%s", j.error.message);
        j.bad_record = 0;
        cr_assert_eq(job_run(&j), HDST_OK, "%s", j.error.message);
        const float *got = j.output.records;
        uint64_t at = 0;
        for (uint64_t i = 0; i < 9000; i++)
            for (uint32_t k = 0; k < input(i).n % 4; k++, at++) {
                cr_assert_lt(at, j.output.record_count);
                cr_assert_eq(got[at], c[input(i).s + (int)k]);
            }
        cr_assert_eq(at, j.output.record_count);
        job_close(&j);
    }
}
