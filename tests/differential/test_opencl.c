// SPDX-License-Identifier: Apache-2.0
// Random programs as OpenCL kernels, all on an OpenCL CPU device, in the forms of `forms`: that for CPUs and that for
// GPUs (most times with so little local memory that large tables, or all, have no room there), against their C
// translations: outputs, kept records, accumulators and the first failing record, bit for bit; fast sums as close as
// their roundings allow. A random layout each. Every kernel costs the driver's compiler about half a second, so there
// are few.
//
// HDST_DIFF_KERNELS: how many (24 unless given), and a third as many of loops over arrays; HDST_DIFF_SEED: the first seed (1); HDST_DIFF_THEMES: how many of a
// hundred have a theme (50); HDST_DIFF_FORM: all in one form (its number in `forms`); HDST_DIFF_SHOW: writes the
// programs too.
#include "harness.h"

#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"
#include "accum/reduce.h"
#include "accum/first_level.h"
#include "codegen/lower/fuse.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 100, RECORDS = 1300, THEMES = 50 /* percent */ };

// Numbers of records where blocks, vectors, groups and tiles end, and one more or one less.
static const uint64_t edges[] = {1300, 0, 1, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 383, 511, 512, 513, 767, 769, 1023, 1024, 1025, 1537,
                                 2047, 2048, 2049, 4097};

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

typedef struct memory_reader {
    const hdst__storage *storage;       // the records as C structs
    const void *records;
} memory_reader;

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)error;
    const memory_reader *reader = user;
    hdst__storage_copy(storage, buffers, to_first, reader->storage, &reader->records, first, count);
    return HDST_OK;
}

typedef struct trial {
    hdst__arena *arena;
    const diff_program *program;
    const diff_exports *exports;
    const diff_data *data;
    const diff_result *expected;
    const ir_func *func;
    int *program_param;                 // by parameter of func
    hdst__stage_values values;
} trial;

static int find_param(const diff_program *program, const char *name)
{
    for (int i = 1; i < program->param_count; i++)     // an accumulator may be called as the record is
        if (!strcmp(program->params[i].name, name)) return i;
    return -1;
}

static void bind(trial *t)
{
    size_t n = t->func->param_count;
    const void **broadcast = HDST__NEW_ARRAY(t->arena, const void *, n);
    uint64_t *rows = HDST__NEW_ARRAY(t->arena, uint64_t, n), *version = HDST__NEW_ARRAY(t->arena, uint64_t, n);
    t->program_param = HDST__NEW_ARRAY(t->arena, int, n);
    for (size_t i = 0; i < n; i++) {
        int k = t->program_param[i] = find_param(t->program, t->func->params[i].name);
        if (t->func->params[i].kind != IR_BROADCAST_TABLE && t->func->params[i].kind != IR_ACCUM_TABLE) continue;
        rows[i] = t->program->params[k].rows;
        broadcast[i] = t->data->tables[k];
    }
    t->values = (hdst__stage_values){broadcast, rows, version};
}

static const char *compile(trial *t, hdst__diags *diags)
{
    diff_compiled compiled = diff_compile(t->arena, t->program, diags, 0);      // as lowered
    if (compiled.wrong) return compiled.wrong;
    ir_func *lowered = (ir_func *)compiled.func, *func = hdst__fuse(t->arena, &lowered, 1);
    t->func = func;
    return hdst__passes_scalar(func);
}

static uint64_t read_cell(const trial *t, const hdst__stage_output *output, size_t accum, uint64_t row, int leaf, uint64_t element)
{
    const hdst__tables *tables = output->tables;
    if (tables->first_level) return hdst__first_level_read(tables, t->values.rows, &output->first_level, accum, row, (uint32_t)leaf, element);
    return hdst__table_read(tables, t->values.rows, output->table, accum, row, (uint32_t)leaf, element);
}

// Rows that the device made C structs of; NULL: it did not.
static const void *read_rows(const trial *t, hdst__stage *stage, size_t accum, int param)
{
    if (!hdst__stage_finished(stage, accum)) return NULL;
    void *rows = hdst__arena_alloc(t->arena, t->program->params[param].rows * t->exports->row_size[param]);
    hdst_error error;
    cr_assert_eq(hdst__stage_read_finished(stage, accum, rows, &error), HDST_OK, "%s", error.message);
    return rows;
}

static void read_accum(const trial *t, hdst__stage *stage, const hdst__stage_output *output, size_t a, diff_result *found)
{
    const hdst__accum *accum = &output->tables->accum[a];
    const int k = accum->param < t->func->param_count ? t->program_param[accum->param] : -1;
    if (k < 0) return;              // how many records were skipped: the statistics say it
    const int leaves = t->exports->row_leaves[k];
    const void *rows = read_rows(t, stage, a, k);
    found->cells[k] = HDST__NEW_ARRAY(t->arena, uint64_t, diff_cells(t->exports, k, t->program->params[k].rows));
    found->rounded[k] = HDST__NEW_ARRAY(t->arena, bool, (size_t)leaves);
    for (int l = 0; l < leaves; l++) {
        const diff_leaf *leaf = &t->exports->row[k][l];
        found->rounded[k][l] = accum->cell[l].fast;
        for (uint64_t row = 0; row < t->program->params[k].rows; row++)
            for (uint64_t e = 0; e < leaf->count; e++)
                found->cells[k][diff_cell(t->exports, k, row, l, e)] =
                    rows ? diff_load(rows, t->exports->row_size[k], row, leaf, e) : read_cell(t, output, a, row, l, e);
    }
}

static diff_result read_output(const trial *t, hdst__stage *stage, const hdst__stage_output *output)
{
    diff_result found = {.failed_record = UINT64_MAX, .output = (void *)output->records,
                         .outputs = output->record_count, .skipped = hdst__stage_stats(stage)->skipped};
    for (size_t a = 0; output->tables && a < output->tables->accum_count; a++) read_accum(t, stage, output, a, &found);
    return found;
}

static const char *check_failure(const trial *t, hdst_status status, const hdst_error *error)
{
    if (status != HDST_E_RECORD) return hdst__arena_printf(t->arena, "status %d: %s %s", status, error->message, error->cause);
    if (error->record != t->expected->failed_record)
        return hdst__arena_printf(t->arena, "record %" PRIu64 " is said to fail first, not %" PRIu64 ": %s",
                                  error->record, t->expected->failed_record, error->message);
    const char *words = t->expected->fault == FAULT_DIVISION ? "division" : "out of range";
    return strstr(error->message, words) ? NULL : hdst__arena_printf(t->arena, "'%s' lacks '%s'", error->message, words);
}

static hdst__stage_kind stage_kind(const diff_program *program)
{
    return program->shape != DIFF_FOLD ? HDST__STAGE_MAP : program->ordered ? HDST__STAGE_FOLD_ORDERED : HDST__STAGE_FOLD;
}

static uint64_t dice(const diff_program *program) { return program->seed * UINT64_C(0x9e3779b97f4a7c15) >> 40; }

// Rows of sums of a factor times an array that records have lie as C structs, or there is no form for them.
static hdst__layout layout_of(const diff_program *program)
{
    if (!program->theme) return (hdst__layout)(program->seed / 2 % 4);
    return program->theme == DIFF_LAYER && dice(program) % 8 ? HDST__AOS : (hdst__layout)(dice(program) / 8 % 4);
}

static const char *run_trial(trial *t, hdst__engine *engine)
{
    hdst__diags diags;
    const char *wrong = compile(t, &diags);
    if (wrong) return wrong;
    bind(t);
    const hdst__record *record = t->func->params[0].record;
    memory_reader memory = {hdst__storage_make(t->arena, record, HDST__AOS, 0, t->data->count), t->data->records};
    hdst__layout layout = layout_of(t->program);
    hdst__reader reader = {fill, &memory, t->data->count, record, layout, layout == HDST__AOSOA ? 64 : 0};
    hdst__stage *stage =
        hdst__stage_create(engine, &(hdst__stage_spec){stage_kind(t->program), t->func, reader, NULL, NULL,
                                                       .takes_rows = true, .keep_rows = dice(t->program) % 2});
    hdst__stage_output output = {0};
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst__stage_run(stage, &t->values, &output, &error);
    if (status != HDST_OK || t->expected->failed_record != UINT64_MAX) {
        wrong = check_failure(t, status, &error);
    } else {
        diff_result found = read_output(t, stage, &output);
        if (!wrong) wrong = diff_compare(t->arena, t->program, t->exports, t->data, t->expected, &found);
    }
    hdst__stage_destroy(stage);
    return wrong;
}

// --- Forms ---

static const struct {
    const char *name;
    hdst__engine_options options;
} forms[] = {
    {"CPU", {0}},
    {"GPU", {.gpu_form_on_cpu = true}},
    {"GPU, 16 KiB of local memory", {.gpu_form_on_cpu = true, .local_bytes = 16384}},
    {"GPU, 512 bytes of local memory", {.gpu_form_on_cpu = true, .local_bytes = 512}},
    {"GPU, 4 KiB of local memory, tables by way of tuples",
     {.gpu_form_on_cpu = true, .local_bytes = 4096, .tuples_always = true}},
    {"GPU, 8 KiB of local memory, tables by way of tuples, few overflow cells",
     {.gpu_form_on_cpu = true, .local_bytes = 8192, .tuples_always = true, .overflow_cells = 4}},
    {"CPU, fast sums", {.fast_sums = true}},
    {"GPU, fast sums", {.gpu_form_on_cpu = true, .fast_sums = true}},
    {"CPU, foreign NaNs", {.foreign_nans = true}},
    {"GPU, foreign NaNs", {.gpu_form_on_cpu = true, .foreign_nans = true}},
    {"CPU, no tables of blocks", {.hpr = HDST__HPR_NONE}},
    {"GPU, no tables of blocks", {.gpu_form_on_cpu = true, .hpr = HDST__HPR_NONE}},
    {"CPU, skipping", {.skip_failed = true}},
    {"GPU, skipping", {.gpu_form_on_cpu = true, .skip_failed = true}},
    {"GPU, 2 KiB of local memory", {.gpu_form_on_cpu = true, .local_bytes = 2048}},
    {"GPU, fast sums, 2 KiB of local memory", {.gpu_form_on_cpu = true, .local_bytes = 2048, .fast_sums = true}},
};
enum {
    CPU, GPU, GPU_16K, GPU_512, GPU_4K, GPU_8K, CPU_FAST, GPU_FAST, CPU_NANS, GPU_NANS, CPU_NONE, GPU_NONE, CPU_SKIP,
    GPU_SKIP, GPU_2K, GPU_FAST_2K, FORMS = sizeof forms / sizeof *forms, TURN = 16
};

// By the seed alone, so that a program by itself runs in the same form.
static const int turns[DIFF_THEMES][TURN] = {
    [DIFF_ANYTHING] = {CPU, GPU_16K, CPU, GPU, CPU_NANS, GPU_512, CPU, GPU_NANS, CPU_NONE, GPU_16K, CPU, GPU, CPU_FAST, GPU_512, GPU_NONE, GPU_FAST},
    [DIFF_LAYER] = {CPU, CPU_FAST, GPU_FAST_2K, GPU_4K, GPU_2K, CPU_FAST, CPU, GPU_512, CPU_NANS, GPU, CPU_FAST, GPU_16K, GPU_FAST_2K, CPU_FAST, GPU_2K,
                    CPU_NONE},
    [DIFF_NEAREST] = {GPU_16K, GPU_4K, CPU, GPU, GPU_4K, GPU_16K, GPU_8K, CPU, GPU_4K, GPU_512, CPU_FAST, GPU_16K, GPU_NANS, GPU_4K, CPU, GPU_NONE},
    [DIFF_BY_KEY] = {GPU_8K, GPU_8K, GPU_512, GPU_8K, CPU, GPU_4K, GPU_8K, GPU_16K, GPU_8K, CPU, GPU_4K, GPU, GPU_8K, CPU_NONE, GPU_8K, GPU_NONE},
    [DIFF_WEIGHTS] = {CPU, GPU, CPU, GPU_512, CPU, CPU_NANS, GPU_16K, CPU, GPU_2K, CPU_FAST, CPU, GPU_NONE, CPU_NONE, GPU_NANS, CPU, GPU_FAST},
    [DIFF_NEST] = {CPU, GPU, GPU_512, CPU, GPU_16K, CPU_NANS, CPU, GPU, CPU_NONE, GPU_2K, CPU, GPU_NONE, CPU_FAST, GPU_NANS, CPU, GPU_4K},
    [DIFF_TOTALS] = {CPU_FAST, GPU_FAST, CPU_FAST, CPU, CPU_FAST, GPU, CPU_FAST, CPU, CPU_FAST, GPU_16K, CPU_NANS, GPU_FAST, CPU, GPU_512, CPU_FAST, GPU_NANS},
};

static int form_of(const diff_program *program)
{
    const uint64_t form = setting("HDST_DIFF_FORM", FORMS);
    if (form < FORMS) return (int)form;
    if (program->may_fail && dice(program) % 3 == 0) return program->seed % 2 ? GPU_SKIP : CPU_SKIP;
    return turns[program->theme][(program->theme ? program->turn : dice(program)) % TURN];
}

static uint64_t records_of(const diff_program *program)
{
    const uint64_t records = setting("HDST_DIFF_RECORDS", UINT64_MAX);
    return records != UINT64_MAX ? records : program->theme < DIFF_IN_TURN ? RECORDS : edges[dice(program) / 7 % (sizeof edges / sizeof *edges)];
}

static bool run_program(hdst__engine *engine, int form, const diff_library *library, const diff_program *program)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_watch(program->seed);
    const diff_exports *exports = diff_library_find(library, program);
    cr_assert_not_null(exports);
    const uint64_t records = records_of(program);
    diff_data data = diff_make_data(&arena, program, exports, records, true);   // a stage's input begins at record 0
    if (data.count < records) {
        hdst__arena_destroy(&arena);
        return true;
    }
    data.skip = forms[form].options.skip_failed;
    diff_result expected = diff_reference(&arena, program, exports, &data);
    if (getenv("HDST_DIFF_TEXT") && !diff_instead(&arena, program, exports, &data, &expected)) return true;
    trial t = {.arena = &arena, .program = program, .exports = exports, .data = &data, .expected = &expected};
    const char *wrong = run_trial(&t, engine);
    if (wrong == diff_too_large) wrong = NULL;      // test_interpreter.c counts these
    if (wrong) fprintf(stderr, "--- seed %" PRIu64 " (%s form): %s\n%s", program->seed, forms[form].name, wrong, program->hk);
    hdst__arena_destroy(&arena);
    return !wrong;
}

// Programs are translated by the hundred: one call of the C compiler for each lot. Returns how many differ.
static int run_batch(hdst__engine *const *engines, uint64_t first, int count, bool arrays)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_program *programs[BATCH];
    const diff_options options = {.themes = (int)setting("HDST_DIFF_THEMES", THEMES), .arrays = arrays};
    for (int i = 0; i < count; i++) programs[i] = diff_generate(&arena, first + (uint64_t)i, &options);
    if (getenv("HDST_DIFF_TEXT")) programs[0]->hk = diff_text_of(&arena, getenv("HDST_DIFF_TEXT"));
    for (int i = 0; i < count && getenv("HDST_DIFF_SHOW"); i++) printf("%s", programs[i]->hk);
    diff_library library = {0};
    cr_assert(diff_library_open(&library, programs, count));
    int different = 0;
    for (int i = 0; i < count; i++) {
        const int form = form_of(programs[i]);
        different += !run_program(engines[form], form, &library, programs[i]);
    }
    diff_library_close(&library);
    hdst__arena_destroy(&arena);
    return different;
}

static void run_kernels(uint64_t count, bool arrays)
{
    const uint64_t first = setting("HDST_DIFF_SEED", 1);
    hdst__engine *engines[FORMS];
    for (int form = 0; form < FORMS; form++) {
        hdst__engine_options options = forms[form].options;
        options.device = "cpu";
        engines[form] = hdst__engine_create(&options);
    }
    const hdst__device_info *device;
    hdst_error error;
    if (hdst__engine_device(engines[0], &device, &error) != HDST_OK) cr_skip("no OpenCL CPU device: %s\n", error.message);
    int different = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        if (done) fprintf(stderr, "%" PRIu64 " of %" PRIu64 " kernels, %d differ\n", done, count, different);
        different += run_batch(engines, first + done, count - done < BATCH ? (int)(count - done) : BATCH, arrays);
    }
    fprintf(stderr, "%" PRIu64 " kernels from seed %" PRIu64 "\n", count, first);
    cr_expect_eq(different, 0, "%d of %" PRIu64 " kernels differ", different, count);
    for (int form = 0; form < FORMS; form++) hdst__engine_destroy(engines[form]);
}

Test(differential, kernels_in_both_forms_give_the_bits_of_their_c_translations) { run_kernels(setting("HDST_DIFF_KERNELS", 24), false); }

Test(differential, kernels_of_loops_over_arrays_give_the_bits_of_their_c_translations) { run_kernels(setting("HDST_DIFF_KERNELS", 24) / 3, true); }
