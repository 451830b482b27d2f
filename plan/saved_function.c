// SPDX-License-Identifier: Apache-2.0
// Reduces as bytes (plan/saved_function.h).
#include "plan/saved_function.h"

#include "codegen/front/front.h"
#include "codegen/front/module.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "io/replay_file.h"
#include "plan/map_spec.h"
#include "plan/replay_save.h"
#include "plan/stage_call.h"
#include "record/schema.h"

#include <string.h>

// --- Writing ---

static void put_u8(hdst__buffer *out, uint8_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }

static void put_text(hdst__buffer *out, const char *text, size_t length)
{
    hdst__put_u32(out, (uint32_t)length);
    hdst__buffer_add(out, text, length);
}

static void put_param(hdst__buffer *out, const hdst__param_value *param)
{
    uint64_t real;
    memcpy(&real, &param->real, sizeof real);
    put_text(out, param->name, strlen(param->name));
    hdst__put_u64(out, param->bits);
    hdst__put_u64(out, real);
    put_u8(out, param->is_real);
    put_u8(out, param->is_unsigned);
}

void hdst__saved_function_write(hdst__arena *arena, const hdst_dataset *reduce, hdst__buffer *out)
{
    hdst__replay texts = {0};
    hdst__replay_add_module(arena, reduce->spec->module, &texts);
    put_text(out, reduce->spec->function->name, strlen(reduce->spec->function->name));
    put_text(out, texts.module, strlen(texts.module));
    hdst__put_u32(out, (uint32_t)texts.source_count);
    for (size_t i = 0; i < texts.source_count; i++) {
        put_text(out, texts.sources[i].name, strlen(texts.sources[i].name));
        put_text(out, texts.sources[i].text, texts.sources[i].length);
    }
    put_text(out, texts.records, strlen(texts.records));
    hdst__put_u32(out, (uint32_t)texts.param_count);
    for (size_t i = 0; i < texts.param_count; i++) put_param(out, &texts.params[i]);
}

// --- Texts ---

typedef struct saved_texts {
    hdst__arena *arena;
    const char *function, *module, *records;
    hdst__source_text *sources;
    uint32_t source_count, param_count;
    hdst__param_value *params;
} saved_texts;

enum { LEAST_SOURCE_BYTES = 8, LEAST_PARAM_BYTES = 22 };

static const char *take_text(hdst__arena *arena, hdst__byte_cursor *from, size_t *bytes)
{
    uint32_t length;
    if (!hdst__cursor_take(from, &length, sizeof length) || length > from->left || memchr(from->at, 0, length)) return NULL;
    const char *text = hdst__arena_strndup(arena, (const char *)from->at, length);
    from->at += length;
    from->left -= length;
    if (bytes) *bytes = length;
    return text;
}

static bool take_sources(saved_texts *texts, hdst__byte_cursor *from)
{
    if (!hdst__cursor_take(from, &texts->source_count, sizeof texts->source_count) || texts->source_count > from->left / LEAST_SOURCE_BYTES) return false;
    texts->sources = HDST__NEW_ARRAY(texts->arena, hdst__source_text, texts->source_count);
    for (uint32_t i = 0; i < texts->source_count; i++) {
        texts->sources[i].name = take_text(texts->arena, from, NULL);
        texts->sources[i].text = texts->sources[i].name ? take_text(texts->arena, from, &texts->sources[i].length) : NULL;
        if (!texts->sources[i].text) return false;
    }
    return true;
}

static bool take_params(saved_texts *texts, hdst__byte_cursor *from)
{
    if (!hdst__cursor_take(from, &texts->param_count, sizeof texts->param_count) || texts->param_count > from->left / LEAST_PARAM_BYTES) return false;
    texts->params = HDST__NEW_ARRAY(texts->arena, hdst__param_value, texts->param_count);
    for (uint32_t i = 0; i < texts->param_count; i++) {
        hdst__param_value *param = &texts->params[i];
        uint8_t is_real, is_unsigned;
        param->name = take_text(texts->arena, from, NULL);
        if (!param->name || !hdst__cursor_take(from, &param->bits, sizeof param->bits) || !hdst__cursor_take(from, &param->real, sizeof param->real) ||
            !hdst__cursor_take(from, &is_real, 1) || !hdst__cursor_take(from, &is_unsigned, 1)) return false;
        param->is_real = is_real;
        param->is_unsigned = is_unsigned;
    }
    return true;
}

static bool take_texts(saved_texts *texts, hdst__byte_cursor *from)
{
    texts->function = take_text(texts->arena, from, NULL);
    texts->module = texts->function ? take_text(texts->arena, from, NULL) : NULL;
    if (!texts->module || !take_sources(texts, from)) return false;
    texts->records = take_text(texts->arena, from, NULL);
    return texts->records && take_params(texts, from);
}

// --- Compiling ---

static const hdst__source_text *find_source(const saved_texts *texts, const char *name)
{
    for (uint32_t i = 0; i < texts->source_count; i++)
        if (!strcmp(texts->sources[i].name, name)) return &texts->sources[i];
    return NULL;
}

static bool read_source(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    const saved_texts *texts = user;
    const hdst__source_text *source = find_source(texts, hdst__module_path(texts->arena, name, importing));
    if (!source) return false;
    *text = hdst__strdup(allocator, source->text);
    *length = source->length;
    return *text != NULL;
}

// NULL: they do not compile, or have no such function of such records.
static const ast_function *compile(saved_texts *texts, hdst__diags *diags, const hdst__record *record, const ast_module **module)
{
    const hdst__source_text *source = find_source(texts, texts->module);
    hdst__schema schema = {0};
    if (!source) return NULL;
    if (*texts->records) hdst__schema_read(diags, "records", texts->records, strlen(texts->records), NULL, 0, false, &schema);
    const hdst__front_options options = {.params = texts->params, .param_count = texts->param_count, .read_import = read_source, .import_user = texts,
                                         .records = schema.records, .record_count = schema.record_count};
    *module = hdst__module_compile(diags, source->name, source->text, source->length, &options);
    const ast_function *function = diags->errors ? NULL : hdst__module_function(*module, texts->function);
    if (!function || function->kind != AST_REDUCE || function->unsupported) return NULL;
    if (function->reduce_class != AST_ASSOCIATIVE && function->reduce_class != AST_ASSOCIATIVE_COMMUTATIVE) return NULL;
    const hdst__type *type = function->params[0]->type;
    if (type->kind == HDST__RECORD) return hdst__same_records(type->record, record) ? function : NULL;
    return record->leaf_count == 1 && record->leaves[0].kind == type->kind && record->leaves[0].elements == 1 &&
           record->size == hdst__scalar_size(type->kind) ? function : NULL;
}

hdst_status hdst__saved_function_read(hdst__arena *arena, const hdst_context *context, hdst__byte_cursor *from, const hdst__record *record,
                                      hdst__saved_function *saved, hdst_error *error)
{
    saved_texts texts = {.arena = arena};
    const ast_module *module;
    hdst__diags *diags = HDST__NEW(arena, hdst__diags);        // of whoever tells about a failing record
    hdst__diags_init(diags, arena);
    if (!take_texts(&texts, from)) return hdst__partial_damaged(error, "its function makes no sense");
    const ast_function *function = compile(&texts, diags, record, &module);
    ir_func *func = function ? hdst__lower(arena, module, function) : NULL;
    if (!func || func->param_count != 3 || func->params[1].kind != IR_INPUT) return hdst__partial_damaged(error, "its function cannot be compiled");
    if (context->unchecked) hdst__pass_unchecked(func);
    const hdst_status status = hdst__plan_passes(func, error);
    if (status != HDST_OK) return status;
    saved->func = func;
    saved->identity = hdst__plan_identity(arena, function, record, error);
    return saved->identity || !function->identity ? HDST_OK : error->code;
}
