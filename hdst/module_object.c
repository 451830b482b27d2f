// SPDX-License-Identifier: Apache-2.0
// Modules: a kernel file, compiled up to the checked tree, with the records it knows.
#include "plan/kernel_module.h"
#include "hdst/read_file.h"
#include "hdst/schema_object.h"
#include "codegen/front/front.h"

#include <stdlib.h>
#include <string.h>

HDST__STAND_IN(hdst_module, no_module);

static void release_module(hdst__object *object)
{
    hdst_module *module = (hdst_module *)object;
    for (size_t i = 0; i < module->schema_count; i++) hdst__object_drop(module->schemas[i]);
    hdst__free(HDST__ALLOCATOR(module), module->schemas);
    hdst__free(HDST__ALLOCATOR(module), module->diagnostics);
    hdst__arena_destroy(&module->arena);
}

typedef struct import_adapter {
    hdst_import_callback read;
    void *user;
} import_adapter;

static bool read_through_callback(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    import_adapter *adapter = user;
    char *given = adapter->read(name, importing, adapter->user);
    if (!given) return false;
    *text = hdst__strdup(allocator, given);
    *length = strlen(given);
    free(given);
    return *text != NULL;
}

static size_t count_records(const hdst_module_options *options)
{
    size_t n = 0;
    for (size_t i = 0; i < options->schema_count; i++) n += hdst__schema_record_count(options->schemas[i]);
    return n;
}

static void gather_records(const hdst_module_options *options, hdst__record **to)
{
    for (size_t i = 0; i < options->schema_count; i++)
        for (size_t j = 0; j < hdst__schema_record_count(options->schemas[i]); j++) *to++ = hdst__schema_record_at(options->schemas[i], j);
}

// In its own function, because of setjmp: what the arena's longjmp could clobber is not used after it.
static hdst_status compile(hdst_module *module, const char *name, const char *text, const hdst_module_options *options, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&module->arena, hdst__owned_by(module->object.context, HDST__OWNER_COMPILER), &out_of_memory);
    hdst__arena_compiles(&module->arena, &module->object.context->cancel);
    if (setjmp(out_of_memory)) {
        module->arena.out_of_memory = NULL;
        module->tree = NULL;
        const hdst_status status = hdst__arena_error(&module->arena, "a module", error);
        hdst__error_at(error, name, 0, 0);
        return status;
    }
    hdst__diags_init(&module->diags, &module->arena);
    hdst__param_value *params = HDST__NEW_ARRAY(&module->arena, hdst__param_value, options->param_count);
    for (size_t i = 0; i < options->param_count; i++)
        params[i] = (hdst__param_value){.name = hdst__arena_strdup(&module->arena, options->params[i].name),
                                        .bits = (uint64_t)options->params[i].value, .real = (double)options->params[i].value};
    module->params = params;
    module->param_count = options->param_count;
    hdst__record **records = HDST__NEW_ARRAY(&module->arena, hdst__record *, count_records(options));
    gather_records(options, records);
    module->records = records;
    module->record_count = count_records(options);
    import_adapter adapter = {options->import_file, options->import_user};
    hdst__front_options front = {.params = params, .param_count = options->param_count, .records = records, .record_count = module->record_count,
        .read_import = options->import_file ? read_through_callback : NULL, .import_user = &adapter};
    module->tree = hdst__module_compile(&module->diags, name, text, strlen(text), &front);
    module->arena.out_of_memory = NULL;
    hdst__arena_compiled(&module->arena);
    return HDST_OK;
}

static void finish(hdst_module *module, const char *name, const char *text, const hdst_module_options *options)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = compile(module, name, text, options, &error);
    if (status != HDST_OK) {
        hdst__object_fail(&module->object, &error);
        return;
    }
    hdst__buffer rendered;
    hdst__buffer_init(&rendered, HDST__ALLOCATOR(module));
    hdst__diags_render(&module->diags, &rendered);
    module->diagnostics = hdst__buffer_take(&rendered);
    if (hdst__diags_to_error(&module->diags, HDST_E_KERNEL, &error) != HDST_OK) {
        module->tree = NULL;
        hdst__object_fail(&module->object, &error);
    } else if (module->diagnostics && module->diagnostics[0]) {
        hdst__log_write(&module->object.context->log, HDST__LOG_WARN, "%s", module->diagnostics);
    }
}

// The tree points into the schemas' records, so they stay as long as the module.
static bool keep_schemas(hdst_module *module, const hdst_module_options *options)
{
    module->schemas = hdst__alloc_zero(HDST__ALLOCATOR(module), options->schema_count * sizeof *module->schemas);
    if (!module->schemas) return false;
    for (size_t i = 0; i < options->schema_count; i++) {
        hdst__schema_settle(options->schemas[i]);
        if (hdst__object_inherit(&module->object, &options->schemas[i]->object) != HDST_OK) return true;
        hdst__object_retain(&options->schemas[i]->object);
        module->schemas[module->schema_count++] = &options->schemas[i]->object;
    }
    return true;
}

// Options are as long as `size` says, which must be one of the lengths that there were; what a newer program has beyond them must be zeroes.
static hdst_status read_options(hdst_module_options *options, const hdst_module_options *given, hdst_error *error)
{
    return given ? hdst__read_options("hdst_module_options", "HDST_MODULE_OPTIONS_INIT", options, sizeof *options, sizeof *options, given,
                                      given->size, error) : HDST_OK;
}

static hdst_status check_options(const hdst_context *context, const char *call, const hdst_module_options *options, hdst_error *error)
{
    hdst_status status = options->param_count ? hdst__check_pointer(call, "params", options->params, error) : HDST_OK;
    for (size_t i = 0; i < options->param_count && status == HDST_OK; i++) status = hdst__check_pointer(call, "params[].name", options->params[i].name, error);
    if (status == HDST_OK && options->schema_count) status = hdst__check_pointer(call, "schemas", options->schemas, error);
    for (size_t i = 0; i < options->schema_count && status == HDST_OK; i++) status = hdst__check_object(context, call, "schemas[]", options->schemas[i], error);
    return status;
}

static hdst_module *parse_once(hdst_context *context, const char *name, const char *text, const hdst_module_options *options)
{
    hdst_module *module = hdst__object_create(context, sizeof *module, release_module, &no_module);
    if (module->object.error) return module;
    if (!keep_schemas(module, options)) hdst__object_fail(&module->object, &hdst__no_memory);
    if (!module->object.error) finish(module, name, text, options);
    return module;
}

static hdst_module *parse_locked(hdst_context *context, const char *name, const char *text, const hdst_module_options *options)
{
    hdst_error error;
    hdst_module *module = parse_once(context, name, text, options);
    if (!hdst__call_has_more_memory(context, hdst__object_status(&module->object, &error), &error)) return module;
    hdst__object_drop(&module->object);
    return parse_once(context, name, text, options);
}

static hdst_module *fail_locked(hdst_context *context, const hdst_error *error)
{
    hdst_module *module = hdst__object_create(context, sizeof *module, release_module, &no_module);
    if (module != &no_module) hdst__object_fail(&module->object, error);
    return module;
}

hdst_module *hdst_module_parse(hdst_context *context, const char *name, const char *text, const hdst_module_options *given)
{
    HDST__NEEDS(hdst_module, context, "context");
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst__check_pointer(__func__, "name", name, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "text", text, &error);
    if (status == HDST_OK) status = read_options(&options, given, &error);
    hdst__lock(context);
    if (status == HDST_OK) status = check_options(context, __func__, &options, &error);
    hdst_module *module = status == HDST_OK ? parse_locked(context, name, text, &options) : fail_locked(context, &error);
    hdst__unlock(context);
    return module;
}

hdst_module *hdst_module_load(hdst_context *context, const char *path, const hdst_param *params, size_t count)
{
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.params = params;
    options.param_count = count;
    HDST__NEEDS(hdst_module, context, "context");
    hdst_error error = HDST_ERROR_INIT;
    char *text;
    hdst__lock(context);
    hdst_module *module;
    hdst_status status = hdst__check_pointer(__func__, "path", path, &error);
    if (status == HDST_OK) status = check_options(context, __func__, &options, &error);
    if (status == HDST_OK) status = hdst__read_file(&context->allocator, path, &text, &error);
    if (status == HDST_OK) {
        module = parse_locked(context, path, text, &options);
        hdst__free(&context->allocator, text);
    } else {
        module = fail_locked(context, &error);
    }
    hdst__unlock(context);
    return module;
}

const char *hdst_module_diagnostics(const hdst_module *module) { return module && module->object.context && module->diagnostics ? module->diagnostics : ""; }

hdst_status hdst_module_status(const hdst_module *module, hdst_error *error) { return hdst__check_alive(__func__, "module", module, error); }

void hdst_module_destroy(hdst_module *module)
{
    if (module) hdst__object_destroy(&module->object);
}

uint64_t hdst_module_record_size(hdst_module *module, const char *name)
{
    if (!module || module->object.error || !name) return 0;
    hdst__lock(module->object.context);
    const hdst__record *record = hdst__module_find_record(module, name, NULL);
    hdst__unlock(module->object.context);
    return record ? record->size : 0;
}
