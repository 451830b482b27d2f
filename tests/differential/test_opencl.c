// SPDX-License-Identifier: Apache-2.0
// Random programs as OpenCL kernels, in the form for CPUs and in the form for GPUs (most times with so little local memory that large tables, or all, have no room there), all on an OpenCL CPU device, against their C translations: outputs, kept records, accumulators
// and the first failing record, bit for bit. A random layout each. Every kernel costs the driver's compiler about half a second, so there are few.
//
// HDST_DIFF_KERNELS: how many (40 unless given); HDST_DIFF_SEED: the first seed (1); HDST_DIFF_FORM: all in one form (0 to 3, in the order of `names`).
#include "harness.h"

#include "engine/engine.h"
#include "shuffle/reduce.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 100, RECORDS = 1300 };

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
    if (tables->front) return hdst__front_read(tables, t->values.rows, &output->front, accum, row, (uint32_t)leaf, element);
    return hdst__table_read(tables, t->values.rows, output->table, accum, row, (uint32_t)leaf, element);
}

static diff_result read_output(const trial *t, const hdst__stage_output *output)
{
    diff_result found = {.failed_record = UINT64_MAX, .output = (void *)output->records, .outputs = output->record_count};
    for (size_t a = 0; output->tables && a < output->tables->accum_count; a++) {
        int k = t->program_param[output->tables->accum[a].param];
        uint64_t rows = t->program->params[k].rows;
        found.cells[k] = HDST__NEW_ARRAY(t->arena, uint64_t, diff_cells(t->exports, k, rows));
        for (uint64_t row = 0; row < rows; row++)
            for (int l = 0; l < t->exports->row_leaves[k]; l++)
                for (uint64_t e = 0; e < t->exports->row[k][l].count; e++) found.cells[k][diff_cell(t->exports, k, row, l, e)] = read_cell(t, output, a, row, l, e);
    }
    return found;
}

static const char *check_failure(const trial *t, hdst_status status, const hdst_error *error)
{
    if (status != HDST_E_RECORD) return hdst__arena_printf(t->arena, "status %d: %s %s", status, error->message, error->cause);
    if (error->record != t->expected->failed_record)
        return hdst__arena_printf(t->arena, "record %" PRIu64 " is said to fail first, not %" PRIu64 ": %s", error->record, t->expected->failed_record, error->message);
    const char *words = t->expected->fault == FAULT_DIVISION ? "division" : "out of range";
    return strstr(error->message, words) ? NULL : hdst__arena_printf(t->arena, "'%s' lacks '%s'", error->message, words);
}

static hdst__stage_kind stage_kind(const diff_program *program)
{
    return program->shape != DIFF_FOLD ? HDST__STAGE_MAP : program->ordered ? HDST__STAGE_FOLD_ORDERED : HDST__STAGE_FOLD;
}

static const char *run_trial(trial *t, hdst__engine *engine)
{
    hdst__diags diags;
    const char *wrong = compile(t, &diags);
    if (wrong) return wrong;
    bind(t);
    const hdst__record *record = t->func->params[0].record;
    memory_reader memory = {hdst__storage_make(t->arena, record, HDST__AOS, 0, t->data->count), t->data->records};
    hdst__layout layout = (hdst__layout)(t->program->seed / 2 % 4);
    hdst__reader reader = {fill, &memory, t->data->count, record, layout, layout == HDST__AOSOA ? 64 : 0};
    hdst__stage *stage = hdst__stage_create(engine, &(hdst__stage_spec){stage_kind(t->program), t->func, reader, NULL, NULL});
    hdst__stage_output output = {0};
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst__stage_run(stage, &t->values, &output, &error);
    if (status != HDST_OK || t->expected->failed_record != UINT64_MAX) {
        wrong = check_failure(t, status, &error);
    } else {
        diff_result found = read_output(t, &output);
        if (!wrong) wrong = diff_compare(t->arena, t->program, t->exports, t->data, t->expected, &found);
    }
    hdst__stage_destroy(stage);
    return wrong;
}

static bool run_program(hdst__engine *engine, const char *form, const diff_library *library, const diff_program *program)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_watch(program->seed);
    const diff_exports *exports = diff_library_find(library, program);
    cr_assert_not_null(exports);
    diff_data data = diff_make_data(&arena, program, exports, RECORDS, true);   // a stage's input begins at record 0
    if (!data.count) {
        hdst__arena_destroy(&arena);
        return true;
    }
    diff_result expected = diff_reference(&arena, program, exports, &data);
    if (getenv("HDST_DIFF_TEXT") && !diff_instead(&arena, program, exports, &data, &expected)) return true;
    trial t = {.arena = &arena, .program = program, .exports = exports, .data = &data, .expected = &expected};
    const char *wrong = run_trial(&t, engine);
    if (wrong == diff_too_large) wrong = NULL;      // test_interpreter.c counts these
    if (wrong) fprintf(stderr, "--- seed %" PRIu64 " (%s form): %s\n%s", program->seed, form, wrong, program->hk);
    hdst__arena_destroy(&arena);
    return !wrong;
}

enum { CPU_FORM, GPU_FORM, SMALL_GPU_FORM, TINY_GPU_FORM, FORMS };
static const char *const names[FORMS] = {"CPU", "GPU", "GPU, 16 KiB of local memory", "GPU, 512 bytes of local memory"};
static const uint64_t local_bytes[FORMS] = {0, 0, 16384, 512};
static const int forms[] = {CPU_FORM, SMALL_GPU_FORM, CPU_FORM, GPU_FORM, CPU_FORM, SMALL_GPU_FORM, CPU_FORM, TINY_GPU_FORM};
enum { TURN = sizeof forms / sizeof *forms };

// Programs are translated by the hundred: one call of the C compiler for each lot. Returns how many differ.
static int run_batch(hdst__engine *const *engines, uint64_t first, int count)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_program *programs[BATCH];
    for (int i = 0; i < count; i++) programs[i] = diff_generate(&arena, first + (uint64_t)i, NULL);
    if (getenv("HDST_DIFF_TEXT")) programs[0]->hk = diff_text_of(&arena, getenv("HDST_DIFF_TEXT"));
    diff_library library = {0};
    cr_assert(diff_library_open(&library, programs, count));
    int different = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t form = setting("HDST_DIFF_FORM", (uint64_t)forms[i % TURN]) % FORMS;
        different += !run_program(engines[form], names[form], &library, programs[i]);
    }
    diff_library_close(&library);
    hdst__arena_destroy(&arena);
    return different;
}

Test(differential, kernels_in_both_forms_give_the_bits_of_their_c_translations)
{
    const uint64_t count = setting("HDST_DIFF_KERNELS", 40), first = setting("HDST_DIFF_SEED", 1);
    hdst__engine *engines[FORMS];
    for (int form = 0; form < FORMS; form++)
        engines[form] = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .gpu_form_on_cpu = form != CPU_FORM, .local_bytes = local_bytes[form]});
    const hdst__device_info *device;
    hdst_error error;
    if (hdst__engine_device(engines[0], &device, &error) != HDST_OK) cr_skip("no OpenCL CPU device: %s\n", error.message);
    int different = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        if (done) fprintf(stderr, "%" PRIu64 " of %" PRIu64 " kernels, %d differ\n", done, count, different);
        different += run_batch(engines, first + done, count - done < BATCH ? (int)(count - done) : BATCH);
    }
    fprintf(stderr, "%" PRIu64 " kernels from seed %" PRIu64 "\n", count, first);
    cr_expect_eq(different, 0, "%d of %" PRIu64 " kernels differ", different, count);
    for (int form = 0; form < FORMS; form++) hdst__engine_destroy(engines[form]);
}
