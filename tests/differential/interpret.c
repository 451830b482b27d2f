// SPDX-License-Identifier: Apache-2.0
// The side under test: kernel text through the compiler to the interpreter.
#include "harness.h"

#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/fuse.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "codegen/pass/row_form.h"
#include "accum/reduce.h"
#include "codegen/ir/accum_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)K_BOOL == (int)HDST__BOOL && (int)K_U64 == (int)HDST__U64 && (int)K_F64 == (int)HDST__F64, "kinds are numbered alike");

bool diff_read_import(const char *name, const char *importing_file, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    const diff_program *program = user;
    (void)importing_file;
    if (!program->yaml || strcmp(name, "records.yaml")) return false;
    *length = strlen(program->yaml);
    *text = hdst__alloc(allocator, *length + 1);
    if (*text) memcpy(*text, program->yaml, *length + 1);
    return *text != NULL;
}

const char diff_too_large[] = "a function is too large";

// Whether the compiler has nothing else to say, but for warnings, than that functions are too large.
static bool says_too_large(const hdst__diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        const char *message = diags->items[i].message;
        if (diags->items[i].severity == HDST__ERROR && !strstr(message, "grows too large with its helper functions") &&
            !strstr(message, "statements once its helper functions are in place"))
            return false;
    }
    return diags->errors > 0;
}

static ir_func *lower(hdst__arena *arena, const diff_program *program, hdst__diags *diags, const char **wrong)
{
    hdst__diags_init(diags, arena);
    const hdst__front_options options = {.read_import = diff_read_import, .import_user = (void *)program};
    const ast_module *module = hdst__module_compile(diags, "program.hk", program->hk, strlen(program->hk), &options);
    if (diags->errors) {
        hdst__buffer text;
        hdst__buffer_init(&text, NULL);
        hdst__diags_render(diags, &text);
        *wrong = says_too_large(diags) ? diff_too_large : hdst__arena_strdup(arena, hdst__buffer_text(&text));
        hdst__buffer_destroy(&text);
        return NULL;
    }
    ir_func *stages[3];
    size_t count = 0;
    const char *const names[] = {program->filtered ? program->g : NULL, program->mapped ? program->m : NULL, program->f};
    for (int i = 0; i < 3; i++) {
        if (!names[i]) continue;
        const ast_function *function = hdst__module_function(module, names[i]);
        *wrong = function ? function->unsupported : "a function is missing";
        if (*wrong) return NULL;
        stages[count] = hdst__lower(arena, module, function);
        if (!stages[count++]) {
            *wrong = says_too_large(diags) ? diff_too_large : "a function is not lowered, without a reason";
            return NULL;
        }
    }
    ir_func *func = hdst__fuse(arena, stages, count);
    if (!func) *wrong = diff_too_large;     // so that the planner makes several stages of it
    return func;
}

// Float sums in every precision class, at scales that suit most data, some of it, or none.
static const char *to_cpu_form(hdst__arena *arena, const diff_program *program, ir_func *func, diff_compiled *result, diff_form form)
{
    const uint32_t count = result->tables->scale_count;
    hdst__precision_class *classes = HDST__NEW_ARRAY(arena, hdst__precision_class, count);
    int32_t *scales = HDST__NEW_ARRAY(arena, int32_t, count);
    uint64_t state = program->seed;
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        classes[i] = (hdst__precision_class)(HDST__CLASS_ONE_WORD + state % 3);
        scales[i] = (int32_t)(state >> 40) % 60 - 20;
    }
    result->tables = hdst__ir_accum_tables(arena, func, classes);
    result->scales = scales;
    if (form == DIFF_ROW) return hdst__passes_row(func, result->tables);
    func->apart = form == DIFF_BLOCK_OF_ROWS;
    if (func->apart) hdst__pass_element_loops_of_rows(func, result->tables);
    return hdst__passes_block(func, result->tables);
}

diff_compiled diff_compile(hdst__arena *arena, const diff_program *program, hdst__diags *diags, diff_form form)
{
    diff_compiled result = {0};
    ir_func *func = lower(arena, program, diags, &result.wrong);
    result.func = func;
    if (!result.wrong) result.wrong = hdst__ir_verify(func);
    if (result.wrong) return result;
    if (form == DIFF_LOWERED) {
        hdst__pass_fma_placement(func);
        hdst__pass_structured_exits(func);
        hdst__pass_canonical_nans(func);
    } else {
        result.wrong = hdst__passes_scalar(func);
        uint32_t counter;
        if (!result.wrong && form == DIFF_SKIP) result.wrong = hdst__passes_skip(func, &counter);
    }
    result.tables = hdst__ir_accum_tables(arena, func, NULL);
    if (!result.wrong && form >= DIFF_BLOCK) result.wrong = to_cpu_form(arena, program, func, &result, form);
    return result;
}

static const char *compare_layout(hdst__arena *arena, const hdst__record *record, size_t size, const diff_leaf *leaves, int count)
{
    if (record->leaf_count != (size_t)count) return hdst__arena_printf(arena, "%s has %zu leaves, gcc's %d", record->name, record->leaf_count, count);
    if (record->size != size) return hdst__arena_printf(arena, "%s has %" PRIu64 " bytes, gcc's %zu", record->name, record->size, size);
    for (int i = 0; i < count; i++) {
        const hdst__leaf *leaf = &record->leaves[i];
        if ((int)leaf->kind != (int)leaves[i].kind || leaf->elements != leaves[i].count ||
            hdst__leaf_offset(leaf, 0) != diff_leaf_at(&leaves[i], 0) ||
            hdst__leaf_offset(leaf, leaf->elements - 1) != diff_leaf_at(&leaves[i], leaves[i].count - 1) ||
            hdst__leaf_offset(leaf, leaf->elements / 2) != diff_leaf_at(&leaves[i], leaves[i].count / 2))
            return hdst__arena_printf(arena, "%s.%s lies elsewhere than in gcc's", record->name, leaf->path);
    }
    return NULL;
}

static int find_param(const diff_program *program, const char *name)
{
    for (int i = 1; i < program->param_count; i++)     // an accumulator may be called as the record is
        if (!strcmp(program->params[i].name, name)) return i;
    return -1;
}

typedef struct bindings {           // by parameter of the function in IR
    hdst__interp_table *broadcast;
    uint64_t *rows;
    int *program_param;
} bindings;

static const char *bind(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data, const ir_func *func, bindings *b)
{
    b->broadcast = HDST__NEW_ARRAY(arena, hdst__interp_table, func->param_count);
    b->rows = HDST__NEW_ARRAY(arena, uint64_t, func->param_count);
    b->program_param = HDST__NEW_ARRAY(arena, int, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *p = &func->params[i];
        const int k = b->program_param[i] = find_param(program, p->name);
        const char *wrong = NULL;
        if (p->kind == IR_INPUT) {
            wrong = compare_layout(arena, p->record, exports->in_size, exports->in, exports->in_leaves);
        } else if (p->kind == IR_OUTPUT) {
            wrong = compare_layout(arena, p->record, exports->out_size, exports->out, exports->out_leaves);
        } else {
            b->rows[i] = 1;
            if (k < 0 && !strcmp(p->name, "records_skipped")) continue;
            if (k < 0) return hdst__arena_printf(arena, "the program has no parameter %s", p->name);
            b->rows[i] = program->params[k].rows;
            b->broadcast[i] = (hdst__interp_table){data->tables[k], program->params[k].rows};
            wrong = compare_layout(arena, p->record, exports->row_size[k], exports->row[k], exports->row_leaves[k]);
        }
        if (wrong) return wrong;
    }
    return NULL;
}

static void read_cells(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const hdst__interp_run *run, const bindings *b,
                       diff_result *result)
{
    for (size_t i = 0; i < run->tables->accum_count; i++) {
        const int k = b->program_param[run->tables->accum[i].param];
        if (k < 0) {                // how many were skipped
            result->skipped = hdst__table_read(run->tables, b->rows, run->device_table, i, 0, 0, 0);
            continue;
        }
        const diff_param *p = &program->params[k];
        result->cells[k] = HDST__NEW_ARRAY(arena, uint64_t, diff_cells(exports, k, p->rows));
        for (uint64_t row = 0; row < p->rows; row++)
            for (int l = 0; l < exports->row_leaves[k]; l++)
                for (uint64_t e = 0; e < exports->row[k][l].count; e++)
                    result->cells[k][diff_cell(exports, k, row, l, e)] = hdst__table_read(run->tables, b->rows, run->device_table, i, row, (uint32_t)l, e);
    }
}

diff_result diff_interpret(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data,
                           const diff_compiled *compiled, hdst__layout layout, const char **wrong)
{
    const ir_func *func = compiled->func;
    diff_result result = {0};
    bindings b;
    *wrong = bind(arena, program, exports, data, func, &b);
    if (*wrong) return result;
    const hdst__record *record = func->params[0].record;
    const uint64_t skip = layout == HDST__AOS ? 3 : 64, capacity = data->count + skip;
    const hdst__storage *plain = hdst__storage_make(arena, record, HDST__AOS, 0, data->count);
    const hdst__storage *storage = hdst__storage_make(arena, record, layout, layout == HDST__AOSOA ? 64 : 0, capacity);
    void **buffers = HDST__NEW_ARRAY(arena, void *, storage->buffers);
    for (uint32_t i = 0; i < storage->buffers; i++) buffers[i] = hdst__arena_alloc(arena, storage->buffer_bytes[i]);
    const void *plain_buffer[1] = {data->records};
    hdst__storage_copy(storage, buffers, skip, plain, plain_buffer, 0, data->count);
    const uint64_t room = func->emits ? data->room : data->count;
    result.output = hdst__arena_alloc(arena, room * exports->out_size + 1);
    memset(result.output, 0xA5, room * exports->out_size);      // a zero that was not stored is not there
    result.gives = func->emits ? HDST__NEW_ARRAY(arena, uint32_t, data->count) : NULL;
    hdst__interp_run run = {.func = func, .input = {storage}, .input_buffers = {(const void *const *)buffers}, .input_skip = {skip}, .first = data->first,
                            .count = data->count, .broadcast = b.broadcast, .accum_rows = b.rows, .output = result.output,
                            .output_room = room, .emits_of = result.gives, .strict = true};
    run.tables = compiled->tables;
    run.scales = compiled->scales;
    run.device_table = HDST__NEW_ARRAY(arena, int64_t, hdst__tables_device_words(run.tables, b.rows));
    hdst_error error = HDST_ERROR_INIT;
    hdst_status (*const interpret)(hdst__interp_run *, hdst_error *) =
        program->shape != DIFF_FOLD ? hdst__interpret : program->ordered ? hdst__interpret_fold_ordered : hdst__interpret_fold;
    if (interpret(&run, &error) != HDST_OK) *wrong = hdst__arena_strdup(arena, error.message);
    result.failed_record = run.failed_record;
    result.outputs = func->emits ? run.emitted : program->shape == DIFF_FOLD ? 1 : data->count;
    if (run.failed_record != UINT64_MAX) {
        result.fault = func->checks[run.failed_check].kind == IR_CHECK_DIVISION ? FAULT_DIVISION : FAULT_INDEX;
        result.fault_index = run.failed_index;
        result.fault_limit = run.failed_limit;
    }
    read_cells(arena, program, exports, &run, &b, &result);
    return result;
}

bool diff_instead(hdst__arena *arena, const diff_program *program, const diff_exports *exports, diff_data *data, diff_result *expected)
{
    hdst__diags diags;
    const diff_compiled compiled = diff_compile(arena, program, &diags, DIFF_LOWERED);
    const char *wrong = compiled.wrong;
    data->room = 100 * data->count;
    if (!wrong) *expected = diff_interpret(arena, program, exports, data, &compiled, HDST__AOS, &wrong);
    if (wrong) fprintf(stderr, "no program: %s\n", wrong);
    return !wrong;
}

const char *diff_text_of(hdst__arena *arena, const char *path)
{
    enum { MOST = 1 << 20 };
    char *text = hdst__arena_alloc(arena, MOST);
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    text[fread(text, 1, MOST - 1, file)] = 0;
    fclose(file);
    return text;
}
