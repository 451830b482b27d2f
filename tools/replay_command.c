// SPDX-License-Identifier: Apache-2.0
// hdst replay FILE: runs a record that failed through the interpreter and shows every step.
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "codegen/front/module.h"
#include "record/schema.h"
#include "record/text_span.h"
#include "io/replay_file.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/replay_print.h"
#include "codegen/ir/accum_tables.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: hdst replay FILE\n"
    "\n"
    "FILE holds a record that failed in a kernel; the message of the run names it. Shows each source line as the record reaches it, what was set\n"
    "there, of loops the first two turns and the last, and the check that failed.\n";

typedef struct session {
    hdst__arena *arena;
    hdst__replay replay;
    hdst__diags diags;
    ir_func *func;
    bool is_group;
    hdst_error *error;
} session;

// --- The function ---

static bool read_source(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    session *s = user;
    const char *path = hdst__module_path(s->arena, name, importing);
    for (size_t i = 0; i < s->replay.source_count; i++) {
        if (strcmp(s->replay.sources[i].name, path)) continue;
        *text = hdst__strdup(allocator, s->replay.sources[i].text);
        *length = s->replay.sources[i].length;
        return *text != NULL;
    }
    return false;
}

static const hdst__source_text *main_source(const session *s)
{
    for (size_t i = 0; i < s->replay.source_count; i++)
        if (!strcmp(s->replay.sources[i].name, s->replay.module)) return &s->replay.sources[i];
    return NULL;
}

static hdst_status broken(session *s, const char *what)
{
    hdst__error_set(s->error, HDST_E_FORMAT, "the file does not fit its kernel: %s", what);
    hdst__error_hint(s->error, "it was written by another version of hdst, or is broken; run the program again to get a new one");
    return HDST_E_FORMAT;
}

static const ast_decl *find_param(const ast_function *function, ast_qualifier qualifier)
{
    for (size_t i = 0; i < function->param_count; i++)
        if (function->params[i]->qualifier == qualifier) return function->params[i];
    return NULL;
}

static hdst__leaf leaf_of(const hdst__type *type, size_t i)
{
    return type->kind == HDST__RECORD ? type->record->leaves[i] : (hdst__leaf){.kind = type->kind, .elements = 1};
}

// The leaves of the stream's records that are the key; NULL: what the file says of them does not fit the function.
static const hdst__key_leaf *find_keys(const session *s, const ast_function *function)
{
    const ast_decl *key = find_param(function, AST_KEY), *stream = find_param(function, AST_STREAM);
    if (!key || !stream || s->replay.key_count != hdst__type_leaves(key->type)) return NULL;
    const hdst__type *element = function->pair ? function->pair->type : stream->type->element;
    hdst__key_leaf *keys = HDST__NEW_ARRAY(s->arena, hdst__key_leaf, s->replay.key_count);
    for (size_t i = 0; i < s->replay.key_count; i++) {
        const hdst__replay_key *from = &s->replay.keys[i];
        if (from->leaf >= hdst__type_leaves(element)) return NULL;
        const hdst__leaf has = leaf_of(element, from->leaf), wanted = leaf_of(key->type, i);
        if (has.kind != wanted.kind || from->element >= has.elements || wanted.elements > has.elements - from->element) return NULL;
        keys[i] = (hdst__key_leaf){from->leaf, from->element};
    }
    return keys;
}

static hdst_status lower(session *s, const ast_module *module, const ast_function *function)
{
    s->is_group = function->kind == AST_GROUP;
    if (s->is_group != (s->replay.keys != NULL)) return broken(s, "its function is another kind of function");
    const hdst__key_leaf *keys = s->is_group ? find_keys(s, function) : NULL;
    if (s->is_group && !keys) return broken(s, "the key of its group has other fields");
    s->func = s->is_group ? hdst__lower_group(s->arena, module, function, keys) : hdst__lower(s->arena, module, function);
    if (!s->func || s->func->param_count == 0 || s->func->params[0].kind != IR_INPUT) return broken(s, "its function is no map, filter, reduce or group");
    return HDST_OK;
}

static hdst_status compile(session *s)
{
    const hdst__source_text *source = main_source(s);
    if (!source) return broken(s, "its kernel file is missing");
    hdst__schema schema = {0};
    hdst__diags_init(&s->diags, s->arena);
    if (*s->replay.records) hdst__schema_read(&s->diags, "records", s->replay.records, strlen(s->replay.records), NULL, 0, false, &schema);
    const hdst__front_options options = {.params = s->replay.params, .param_count = s->replay.param_count, .read_import = read_source, .import_user = s,
                                         .records = schema.records, .record_count = schema.record_count};
    const ast_module *module = hdst__module_compile(&s->diags, source->name, source->text, source->length, &options);
    if (hdst__diags_to_error(&s->diags, HDST_E_KERNEL, s->error) != HDST_OK) return HDST_E_KERNEL;
    const ast_function *function = hdst__module_function(module, s->replay.function);
    if (!function || function->kind == AST_HELPER || function->unsupported) return broken(s, "its function is missing");
    hdst_status status = lower(s, module, function);
    if (status != HDST_OK) return status;
    hdst__pass_fma_placement(s->func);        // the only pass that changes bits
    const char *wrong = hdst__ir_verify(s->func);
    return wrong ? hdst__error_set(s->error, HDST_E_INTERNAL, "%s", wrong) : HDST_OK;
}

// --- Texts: spans of the file have offsets among its texts for addresses ---

static bool find_text(void *user, hdst__text_span *span)
{
    const hdst__replay *replay = user;
    if (hdst__text_is_inline(span)) return true;
    if (span->address > replay->text_bytes || span->length > replay->text_bytes - span->address) return false;
    span->address = (uint64_t)(uintptr_t)(replay->texts + span->address);
    return true;
}

static bool find_texts(session *s, const hdst__record *record, const void *rows, uint64_t count)
{
    return hdst__record_texts(record, (void *)(uintptr_t)rows, count, find_text, &s->replay);      // in the arena
}

// --- What it works on ---

static const hdst__replay_table *find_table(const session *s, const char *name)
{
    for (size_t i = 0; i < s->replay.table_count; i++)
        if (!strcmp(s->replay.tables[i].parameter, name)) return &s->replay.tables[i];
    return NULL;
}

// A group is called with {0, how many}, rows of the first table.
static bool fits_stream(const session *s)
{
    uint64_t run[2];
    const hdst__replay_table *stream = s->func->param_count > 1 ? find_table(s, s->func->params[1].name) : NULL;
    if (!stream || s->replay.input_bytes != sizeof run) return false;
    memcpy(run, s->replay.input, sizeof run);
    return run[0] == 0 && run[1] == stream->rows && run[1] > 0;
}

static hdst_status bind(session *s, hdst__interp_table *tables, uint64_t *rows)
{
    const ir_param *input = s->func->params;
    if (s->replay.input_bytes != input[0].record->size) return broken(s, "the record has another size");
    if (s->is_group && !fits_stream(s)) return broken(s, "its group has another number of records");
    const bool has_next = s->func->param_count > 1 && input[1].kind == IR_INPUT;
    if (has_next ? !s->replay.next || s->replay.next_bytes != input[1].record->size : s->replay.next != NULL)
        return broken(s, "the second record has another size");
    if (!find_texts(s, input[0].record, s->replay.input, 1) || (has_next && !find_texts(s, input[1].record, s->replay.next, 1)))
        return broken(s, "a text of the record is not in it");
    for (size_t i = 0; i < s->func->param_count; i++) {
        const ir_param *param = &s->func->params[i];
        if (param->kind != IR_BROADCAST_TABLE && param->kind != IR_ACCUM_TABLE) continue;
        const hdst__replay_table *table = find_table(s, param->name);
        if (!table) return broken(s, "a parameter is not bound");
        rows[i] = param->is_table ? table->rows : 1;
        if (param->kind != IR_BROADCAST_TABLE) continue;
        if (!table->data || table->rows > HDST__REPLAY_BYTES || table->bytes != table->rows * param->record->size || (!param->is_table && table->rows != 1))
            return broken(s, "a table has another size");
        void *data = hdst__arena_alloc(s->arena, table->bytes + param->record->size);      // one row is there in any case
        memcpy(data, table->data, table->bytes);
        if (!find_texts(s, param->record, data, table->rows)) return broken(s, "a text of a table is not in it");
        tables[i] = (hdst__interp_table){data, table->rows};
    }
    return HDST_OK;
}

static void show_record(const ir_param *input, const void *row, hdst__buffer *out)
{
    for (size_t i = 0; i < input->record->leaf_count; i++) {
        hdst__buffer_printf(out, "  %s%s%s = ", input->name, input->record->is_scalar ? "" : ".",
                            input->record->is_scalar ? "" : input->record->leaves[i].path);
        hdst_replay_leaf(&input->record->leaves[i], row, out);
        hdst__buffer_puts(out, "\n");
    }
}

static void show_input(const session *s, hdst__buffer *out)
{
    hdst__buffer_printf(out, "%s\n\n%s is called with\n", s->replay.message, s->replay.function);
    if (!s->is_group) show_record(&s->func->params[0], s->replay.input, out);
    if (s->replay.next) show_record(&s->func->params[1], s->replay.next, out);
    for (size_t i = 0; i < s->replay.table_count; i++) {
        const hdst__replay_table *table = &s->replay.tables[i];
        hdst__buffer_printf(out, "  %s: %llu row%s%s\n", table->parameter, (unsigned long long)table->rows, table->rows == 1 ? "" : "s",
                            table->data ? "" : ", accumulated");
    }
    hdst__buffer_puts(out, "\n");
}

static hdst_status run(session *s, hdst__buffer *out)
{
    hdst__interp_table *tables = HDST__NEW_ARRAY(s->arena, hdst__interp_table, s->func->param_count + 1);
    uint64_t *rows = HDST__NEW_ARRAY(s->arena, uint64_t, s->func->param_count + 1);
    hdst_status status = bind(s, tables, rows);
    if (status != HDST_OK) return status;
    show_input(s, out);
    hdst_replay_printer *printer = HDST__NEW(s->arena, hdst_replay_printer);
    hdst_replay_printer_init(printer, s->func, out);
    const hdst__trace trace = {hdst_replay_event, printer};
    const hdst__tables *accums = hdst__ir_accum_tables(s->arena, s->func, NULL);
    hdst__interp_run interpreter = {
        .func = s->func, .input = {hdst__storage_make(s->arena, s->func->params[0].record, HDST__AOS, 0, 1)}, .input_buffers = {&s->replay.input},
        .first = s->replay.record, .count = 1, .broadcast = tables, .accum_rows = rows, .tables = accums->accum_count ? accums : NULL,
        .trace = &trace,
    };
    if (s->replay.next) {
        interpreter.input[1] = hdst__storage_make(s->arena, s->func->params[1].record, HDST__AOS, 0, 1);
        interpreter.input_buffers[1] = &s->replay.next;
    }
    status = hdst__interpret(&interpreter, s->error);
    if (status == HDST_OK && !printer->failed) hdst__buffer_puts(out, "      | the record passes: this version of hdst finds nothing wrong with it\n");
    return status;
}

// --- The command ---

static hdst_status replay(session *s, const char *path, hdst__buffer *out)
{
    hdst_status status = hdst__replay_read(path, s->arena, &s->replay, s->error);
    if (status == HDST_OK) status = compile(s);
    return status == HDST_OK ? run(s, out) : status;
}

static hdst_status replay_guarded(hdst__arena *arena, const char *path, hdst__buffer *out, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(arena, NULL, &out_of_memory);
    session s = {.arena = arena, .error = error};
    if (setjmp(out_of_memory)) return hdst__error_memory(error, path);
    return replay(&s, path, out);
}

int hdst_replay_command(int argc, char **argv)
{
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc == 2 && argv[1][0] == '-' && argv[1][1]) return hdst_refuse_unknown("hdst replay", "unknown option", argv[1], (const char *const[]){"--help"}, 1);
    if (argc != 2 || argv[1][0] == '-') {
        fputs(usage, stderr);
        return hdst_status_exit_code(HDST_E_USAGE);
    }
    hdst__arena arena;
    hdst__buffer out;
    hdst__buffer_init(&out, NULL);
    hdst_error error = HDST_ERROR_INIT;
    const hdst_status status = replay_guarded(&arena, argv[1], &out, &error);
    hdst__arena_destroy(&arena);
    if (status == HDST_OK) {
        fputs(hdst__buffer_text(&out), stdout);
    } else {
        char text[4096];
        hdst_error_format(&error, text, sizeof text);
        fprintf(stderr, "hdst replay: %s", text);
    }
    hdst__buffer_destroy(&out);
    return hdst_status_exit_code(status);
}
