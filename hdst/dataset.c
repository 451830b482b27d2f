// SPDX-License-Identifier: Apache-2.0
// The graph: datasets and the operators that make one from another. Nothing runs here.
#include "hdst/dataset.h"

#include <string.h>

HDST__STAND_IN(hdst_dataset, no_dataset);

static void release_dataset(hdst__object *object)
{
    hdst_dataset *dataset = (hdst_dataset *)object;
    if (dataset->cache) hdst__dataset_cache_destroy(dataset->cache);
    if (dataset->bound) hdst__source_unbind(dataset->bound);
    if (dataset->source) hdst__object_drop(&dataset->source->object);
    if (dataset->module) hdst__object_drop(&dataset->module->object);
    if (dataset->spec) hdst__object_drop(&dataset->spec->object);
}

static hdst_dataset *new_dataset(hdst_context *context, hdst__operator op)
{
    hdst_dataset *dataset = hdst__object_create(context, sizeof *dataset, release_dataset, &no_dataset);
    if (dataset != &no_dataset) dataset->op = op;
    return dataset;
}

static hdst_status fill_read(hdst_dataset *dataset, hdst_source *source, hdst_module *module, const char *record, hdst_error *error)
{
    if (hdst__object_status(&source->object, error) != HDST_OK || hdst__object_status(&module->object, error) != HDST_OK) return error->code;
    dataset->record = hdst__module_find_record(module, record, error);
    if (!dataset->record) return error->code;
    hdst_status status = hdst__source_bind(source->source, dataset->record, &dataset->bound, error);
    if (status != HDST_OK) return status;
    const char *note = hdst__bound_source_note(dataset->bound);
    if (note) hdst__log_write(&source->object.context->log, HDST__LOG_INFO, "%s", note);
    dataset->source = source;
    dataset->module = module;
    hdst__object_retain(&source->object);
    hdst__object_retain(&module->object);
    dataset->reader = (hdst__reader){hdst__bound_source_fill, dataset->bound, source->source->rows, dataset->record, dataset->record->layout, dataset->record->block};
    return HDST_OK;
}

hdst_dataset *hdst_read(hdst_source *source, hdst_module *module, const char *record)
{
    hdst_context *context = source->object.context;
    if (!context) return &no_dataset;
    hdst__lock(context);
    hdst_dataset *dataset = new_dataset(context, HDST__OP_READ);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_read(dataset, source, module, record, &error) != HDST_OK) hdst__object_fail(&dataset->object, &error);
    hdst__unlock(context);
    return dataset;
}

// A read like `from` under another name; layout and cache are the copy's own.
static hdst_dataset *copy_read(hdst_dataset *from, const char *operator_name)
{
    hdst_dataset *dataset = new_dataset(from->object.context, HDST__OP_READ);
    if (dataset->object.error || hdst__object_inherit(&dataset->object, &from->object) != HDST_OK) return dataset;
    hdst_error error = HDST_ERROR_INIT;
    if (from->op != HDST__OP_READ) {
        hdst__error_set(&error, HDST_E_UNSUPPORTED, "%s is only possible directly after hdst_read so far", operator_name);
    } else if (hdst__source_bind(from->source->source, from->record, &dataset->bound, &error) == HDST_OK) {
        dataset->source = from->source;
        dataset->module = from->module;
        dataset->record = from->record;
        hdst__object_retain(&from->source->object);
        hdst__object_retain(&from->module->object);
        dataset->reader = from->reader;
        dataset->reader.user = dataset->bound;
        dataset->cached = from->cached;
    }
    if (error.code != HDST_OK) hdst__object_fail(&dataset->object, &error);
    return dataset;
}

hdst_dataset *hdst_with_layout(hdst_dataset *from, hdst_layout layout)
{
    if (!from->object.context) return &no_dataset;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = copy_read(from, "hdst_with_layout");
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        if ((unsigned)layout > HDST_AOP) {
            hdst__error_set(&error, HDST_E_USAGE, "layout %d; HDST_AOS, HDST_SOA, HDST_AOSOA and HDST_AOP exist", (int)layout);
            hdst__object_fail(&dataset->object, &error);
        }
        dataset->reader.layout = (hdst__layout)layout;
        dataset->reader.block = layout != HDST_AOSOA ? 0 : from->reader.block ? from->reader.block : 256;
    }
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_cache(hdst_dataset *from)
{
    if (!from->object.context) return &no_dataset;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = copy_read(from, "hdst_cache");
    if (!dataset->object.error) dataset->cached = true;
    hdst__unlock(from->object.context);
    return dataset;
}

void hdst_uncache(hdst_dataset *dataset)
{
    if (!dataset->object.context) return;
    hdst__lock(dataset->object.context);
    if (dataset->cache) hdst__dataset_cache_release(dataset->cache);
    hdst__unlock(dataset->object.context);
}

static hdst_status take_rows(hdst_dataset *dataset, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, HDST__ALLOCATOR(dataset), &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records");
    } else {
        const hdst__storage *storage = hdst__storage_make(&arena, dataset->record, HDST__AOS, 0, count ? count : 1);
        status = storage ? dataset->reader.fill(dataset->reader.user, first, count, storage, &rows, 0, error) : hdst__error_memory(error, "records");
    }
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst_dataset_take(hdst_dataset *dataset, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    hdst_status status = hdst__object_status(&dataset->object, error);
    if (status != HDST_OK) return status;
    if (dataset->op != HDST__OP_READ) return hdst__error_set(error, HDST_E_UNSUPPORTED, "records can only be taken from what hdst_read gives so far");
    if (first > dataset->reader.records || count > dataset->reader.records - first)
        return hdst__error_set(error, HDST_E_USAGE, "records %llu to %llu of %llu", (unsigned long long)first, (unsigned long long)(first + count),
                               (unsigned long long)dataset->reader.records);
    hdst__lock(dataset->object.context);
    status = take_rows(dataset, first, count, rows, error);
    hdst__unlock(dataset->object.context);
    return status;
}

// The record a function takes as its first parameter must have the dataset's fields.
static hdst_status check_input(const hdst_dataset *parent, const ast_function *function, hdst_error *error)
{
    const hdst__type *type = function->params[0]->type;
    if (!parent->record) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' needs records, but the map before it gives accumulators only", function->name);
        hdst__error_hint(error, "give that map a result with '-> record'");
        return HDST_E_USAGE;
    }
    if (type->kind == HDST__RECORD ? type->record == parent->record : parent->record->is_scalar && parent->record->leaves[0].kind == type->kind) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' takes records of '%s', the dataset has '%s'", function->name,
                           type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), parent->record->name);
}

static bool kind_fits(hdst__operator op, ast_function_kind kind)
{
    return (op == HDST__OP_MAP && kind == AST_MAP) || (op == HDST__OP_FILTER && kind == AST_FILTER) || (op == HDST__OP_REDUCE && kind == AST_REDUCE);
}

static const char *kind_word(ast_function_kind kind)
{
    static const char *const words[] = {"a helper function", "a map", "a filter", "a flat_map", "a reduce", "a group", "a join"};
    return words[kind];
}

// The record around a map's result. A scalar result is a record of one field.
static const hdst__record *result_record(const ast_function *function, hdst_module *module, hdst_error *error)
{
    if (function->result->kind == HDST__RECORD) return function->result->record;
    return hdst__module_find_record(module, hdst__scalar_c_name(function->result->kind), error);
}

static hdst_status fill_operator(hdst_dataset *dataset, hdst_dataset *parent, hdst_map_spec *spec, hdst_error *error)
{
    if (hdst__object_status(&parent->object, error) != HDST_OK || hdst__object_status(&spec->object, error) != HDST_OK) return error->code;
    const ast_function *function = spec->function;
    static const char *const operators[] = {"hdst_read", "hdst_map", "hdst_filter", "hdst_reduce"};
    if (!kind_fits(dataset->op, function->kind))
        return hdst__error_set(error, HDST_E_USAGE, "%s was given '%s', which is %s", operators[dataset->op], function->name, kind_word(function->kind));
    if (parent->op == HDST__OP_REDUCE)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' after a reduce: what follows a reduce is not available yet", function->name);
    hdst_status status = check_input(parent, function, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(spec, error);
    if (status != HDST_OK) return status;
    dataset->parent = parent;
    if (dataset->op == HDST__OP_FILTER) dataset->record = parent->record;
    else if (function->result->kind != HDST__VOID) {
        dataset->record = result_record(function, spec->module, error);
        if (!dataset->record) return error->code;
    }
    return HDST_OK;
}

// Takes over `spec`.
static hdst_dataset *add_operator(hdst_dataset *parent, hdst__operator op, hdst_map_spec *spec)
{
    hdst_dataset *dataset = new_dataset(parent->object.context, op);
    if (!dataset->object.context) {
        hdst__object_drop(&spec->object);
        return dataset;
    }
    dataset->spec = spec;
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_operator(dataset, parent, spec, &error) != HDST_OK) hdst__object_fail(&dataset->object, &error);
    return dataset;
}

static hdst_dataset *with_spec(hdst_dataset *parent, hdst__operator op, const hdst_map_spec *spec)
{
    if (!parent->object.context) return &no_dataset;
    hdst__lock(parent->object.context);
    hdst_dataset *dataset = add_operator(parent, op, hdst__map_spec_copy(spec));
    hdst__unlock(parent->object.context);
    return dataset;
}

static hdst_dataset *with_function(hdst_dataset *parent, hdst__operator op, hdst_module *module, const char *function)
{
    if (!parent->object.context || !module->object.context) return &no_dataset;
    hdst__lock(parent->object.context);
    hdst_dataset *dataset = add_operator(parent, op, hdst__map_spec_make(module, function));
    hdst__unlock(parent->object.context);
    return dataset;
}

hdst_dataset *hdst_map(hdst_dataset *dataset, const hdst_map_spec *spec) { return with_spec(dataset, HDST__OP_MAP, spec); }
hdst_dataset *hdst_filter(hdst_dataset *dataset, const hdst_map_spec *spec) { return with_spec(dataset, HDST__OP_FILTER, spec); }

hdst_dataset *hdst_map_function(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    return with_function(dataset, HDST__OP_MAP, module, function);
}

hdst_dataset *hdst_filter_function(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    return with_function(dataset, HDST__OP_FILTER, module, function);
}

hdst_dataset *hdst_reduce(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    return with_function(dataset, HDST__OP_REDUCE, module, function);
}
