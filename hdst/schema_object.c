// SPDX-License-Identifier: Apache-2.0
// Schemas of the public interface: from YAML files, from memory, or record by record from C.
#include "hdst/schema_object.h"

#include "hdst/read_file.h"

#include <string.h>

HDST__STAND_IN(hdst_schema, no_schema);

static void release_schema(hdst__object *object) { hdst__arena_destroy(&((hdst_schema *)object)->arena); }

static hdst_schema *new_schema(hdst_context *context)
{
    hdst_schema *schema = hdst__object_create(context, sizeof *schema, release_schema, &no_schema);
    if (schema != &no_schema) {
        hdst__arena_init(&schema->arena, &context->allocator, NULL);
        hdst__diags_init(&schema->diags, &schema->arena);
    }
    return schema;
}

static void parse(hdst_schema *schema, const char *name, const char *yaml, const hdst_param *params, size_t count)
{
    jmp_buf out_of_memory;
    schema->arena.out_of_memory = &out_of_memory;
    hdst_error error;
    hdst__arena_compiles(&schema->arena, &schema->object.context->cancel);
    if (setjmp(out_of_memory)) {
        schema->arena.out_of_memory = NULL;
        hdst__arena_error(&schema->arena, "a schema", &error);
        hdst__error_at(&error, name, 0, 0);
        hdst__object_fail(&schema->object, &error);
        return;
    }
    hdst__param_value *values = HDST__NEW_ARRAY(&schema->arena, hdst__param_value, count);
    for (size_t i = 0; i < count; i++)
        values[i] = (hdst__param_value){.name = params[i].name, .bits = (uint64_t)params[i].value, .real = (double)params[i].value};
    hdst__schema_read(&schema->diags, name, yaml, strlen(yaml), values, count, false, &schema->schema);
    schema->arena.out_of_memory = NULL;
    hdst__arena_compiled(&schema->arena);
    if (hdst__diags_to_error(&schema->diags, HDST_E_SCHEMA, &error) != HDST_OK) hdst__object_fail(&schema->object, &error);
}

// What both loaders are given. HDST_E_USAGE.
static hdst_status check_params(const char *call, const char *name, const char *text, const hdst_param *params, size_t count, hdst_error *error)
{
    hdst_status status = hdst__check_pointer(call, name, text, error);
    if (status == HDST_OK && count) status = hdst__check_pointer(call, "params", params, error);
    for (size_t i = 0; i < count && status == HDST_OK; i++) status = hdst__check_pointer(call, "params[].name", params[i].name, error);
    return status;
}

hdst_schema *hdst_schema_parse(hdst_context *context, const char *name, const char *yaml, const hdst_param *params, size_t count)
{
    HDST__NEEDS(hdst_schema, context, "context");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_schema *schema = new_schema(context);
    hdst_status status = hdst__check_pointer(__func__, "name", name, &error);
    if (status == HDST_OK) status = check_params(__func__, "yaml", yaml, params, count, &error);
    if (status != HDST_OK && schema != &no_schema) hdst__object_fail(&schema->object, &error);
    if (!schema->object.error) parse(schema, name, yaml, params, count);
    hdst__unlock(context);
    return schema;
}

hdst_schema *hdst_schema_load(hdst_context *context, const char *path, const hdst_param *params, size_t count)
{
    HDST__NEEDS(hdst_schema, context, "context");
    hdst__lock(context);
    hdst_schema *schema = new_schema(context);
    hdst_error error = HDST_ERROR_INIT;
    char *yaml = NULL;
    hdst_status status = check_params(__func__, "path", path, params, count, &error);
    if (status == HDST_OK && !schema->object.error) status = hdst__read_file(&context->allocator, path, &yaml, &error);
    if (status != HDST_OK && schema != &no_schema) hdst__object_fail(&schema->object, &error);
    if (yaml) parse(schema, path, yaml, params, count);
    hdst__free(&context->allocator, yaml);
    hdst__unlock(context);
    return schema;
}

hdst_schema *hdst_schema_create(hdst_context *context)
{
    HDST__NEEDS(hdst_schema, context, "context");
    hdst__lock(context);
    hdst_schema *schema = new_schema(context);
    hdst__unlock(context);
    return schema;
}

// --- Building from C ---

typedef struct build_step {
    enum { ADD_RECORD, ADD_FIELD, ADD_TIME, ADD_NESTED, SET_MISSING, SET_NULL_VALUES, CLOSE } what;
    const char *name, *record;      // SET_MISSING: `record` is the field that says whether another is valid
    hdst_layout layout;
    hdst_type type;
    hdst_time_unit unit;
    hdst_missing missing;
    uint64_t count, align, block;
    const char *const *words;       // SET_NULL_VALUES: `count` of them
} build_step;

static hdst_status build(hdst_schema *schema, const build_step *step, hdst_error *error)
{
    hdst__arena *arena = &schema->arena;
    size_t dims = step->count == 1 ? 0 : 1;
    switch (step->what) {
    case ADD_RECORD: return hdst__schema_add_record(arena, &schema->schema, step->name, (hdst__layout)step->layout, step->align, step->block, error);
    case ADD_FIELD: return hdst__schema_add_field(arena, &schema->schema, step->name, (hdst__kind)step->type, &step->count, dims, error);
    case ADD_TIME: return hdst__schema_add_time(arena, &schema->schema, step->name, (hdst__time_unit)step->unit, &step->count, dims, error);
    case ADD_NESTED: return hdst__schema_add_nested(arena, &schema->schema, step->name, step->record, &step->count, dims, error);
    case SET_MISSING: return hdst__schema_set_missing(arena, &schema->schema, (hdst__missing)step->missing, step->record, error);
    case SET_NULL_VALUES: return hdst__schema_set_null_values(arena, &schema->schema, step->words, step->count, error);
    case CLOSE: break;
    }
    return hdst__schema_close(arena, &schema->schema, error);
}

// In its own function, so that nothing that setjmp could clobber is alive around it.
static hdst_status build_guarded(hdst_schema *schema, const build_step *step, hdst_error *error)
{
    jmp_buf out_of_memory;
    schema->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a schema");
    return build(schema, step, error);
}

static hdst_status build_locked(hdst_schema *schema, const build_step *step, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    hdst_status status = hdst__object_status(&schema->object, error);
    if (status != HDST_OK) return status;
    status = build_guarded(schema, step, error);
    schema->arena.out_of_memory = NULL;
    if (status != HDST_OK) hdst__object_fail(&schema->object, error);
    return status;
}

// A NULL name sticks too: what follows would be fields of nothing.
static hdst_status build_step_public(const char *call, hdst_schema *schema, const build_step *step, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    hdst_status status = hdst__check_alive(call, "schema", schema, error);
    if (status != HDST_OK) return status;
    hdst__lock(schema->object.context);
    status = hdst__check_pointer(call, "name", step->name, error);
    if (status == HDST_OK && step->what == ADD_NESTED) status = hdst__check_pointer(call, "record", step->record, error);
    if (status == HDST_OK && step->what == SET_NULL_VALUES) status = hdst__check_pointer(call, "words", step->words, error);
    if (status == HDST_OK) status = build_locked(schema, step, error);
    else hdst__object_fail(&schema->object, error);
    hdst__unlock(schema->object.context);
    return status;
}

hdst_status hdst_schema_add_record(hdst_schema *schema, const char *name, hdst_layout layout, uint32_t align, uint32_t block, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = ADD_RECORD, .name = name, .layout = layout, .align = align, .block = block}, error);
}

hdst_status hdst_schema_add_field(hdst_schema *schema, const char *name, hdst_type type, uint64_t count, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = ADD_FIELD, .name = name, .type = type, .count = count}, error);
}

hdst_status hdst_schema_add_time(hdst_schema *schema, const char *name, hdst_time_unit unit, uint64_t count, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = ADD_TIME, .name = name, .unit = unit, .count = count}, error);
}

hdst_status hdst_schema_add_nested(hdst_schema *schema, const char *name, const char *record, uint64_t count, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = ADD_NESTED, .name = name, .record = record, .count = count}, error);
}

hdst_status hdst_schema_set_missing(hdst_schema *schema, hdst_missing missing, const char *valid, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = SET_MISSING, .name = "", .record = valid, .missing = missing}, error);
}

hdst_status hdst_schema_set_null_values(hdst_schema *schema, const char *const *words, size_t count, hdst_error *error)
{
    return build_step_public(__func__, schema, &(build_step){.what = SET_NULL_VALUES, .name = "", .words = words, .count = count}, error);
}

hdst_status hdst__schema_settle(hdst_schema *schema) { return build_locked(schema, &(build_step){.what = CLOSE}, NULL); }
size_t hdst__schema_record_count(const hdst_schema *schema) { return schema->schema.record_count; }
hdst__record *hdst__schema_record_at(const hdst_schema *schema, size_t index) { return schema->schema.records[index]; }

uint64_t hdst_schema_record_size(hdst_schema *schema, const char *name)
{
    if (!schema || !schema->object.context || !name) return 0;
    hdst__lock(schema->object.context);
    uint64_t size = 0;
    if (hdst__schema_settle(schema) == HDST_OK) {
        const hdst__record *record = hdst__schema_record(&schema->schema, name);
        size = record ? record->size : 0;
    }
    hdst__unlock(schema->object.context);
    return size;
}

hdst_status hdst_schema_status(const hdst_schema *schema, hdst_error *error) { return hdst__check_alive(__func__, "schema", schema, error); }

void hdst_schema_destroy(hdst_schema *schema)
{
    if (schema) hdst__object_destroy(&schema->object);
}
