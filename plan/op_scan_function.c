// SPDX-License-Identifier: Apache-2.0
// Scans by a function of two records: each record becomes what it and all in front of it come to. The blocks that it runs over are a dataset of their own
// (scan_blocks.h), as pairs of a join are; the function is a flat_map over these, and so fuses with what comes behind it.
#include "codegen/lower/operator_scan_function.h"
#include "plan/map_spec.h"
#include "plan/scan_blocks.h"
#include "plan/user_function.h"

#include <string.h>

static void end(hdst_dataset *dataset)
{
    hdst__scan_own *own = dataset->own;
    hdst__free(HDST__ALLOCATOR(dataset), own->within.place);
    hdst__arena_destroy(&own->memory);
    if (own->spec) hdst__object_drop(&own->spec->object);
}

const hdst__operator hdst__op_scan_blocks = {
    .name = "blocks of hdst_scan_function", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__scan_own), .describe = hdst__scan_blocks_describe,
    .build = hdst__scan_blocks_build, .run = hdst__scan_blocks_run, .known = hdst__node_has_run, .explain = hdst__scan_blocks_explain,
    .name_failed = hdst__scan_blocks_name_failed, .drop = hdst__scan_blocks_drop, .reads_on = true,
    .release = hdst__scan_blocks_release, .end = end,
};

// --- The function ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> scan %s", dataset->spec->function->name); }

static hdst__scan_own *blocks_of(const hdst_dataset *dataset) { return dataset->parent->own; }

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    const ir_func *reduce = hdst__scan_reduce(arena, dataset->spec, error);
    const hdst__record *block = reduce ? hdst__scan_block_record(arena, reduce->params[0].record) : NULL;
    if (block) return hdst__operator_scan(arena, reduce, block, blocks_of(dataset)->exclusive);
    if (reduce) hdst__error_set(error, HDST_E_UNSUPPORTED, "records of '%s' are too large for hdst_scan_function", dataset->record->name);
    return NULL;
}

static hdst__plan_param bind(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    return (hdst__plan_param){.function = func->name, .name = param->name, .rows = 1, .data = blocks_of(dataset)->identity};
}

const hdst__operator hdst__op_scan_function = {
    .name = "hdst_scan_function", .gives = HDST__GIVES_MANY, .gives_blocks = true, .describe = describe, .lower = lower, .bind = bind,
};

// --- The datasets ---

static hdst_status fill_blocks(hdst_dataset *blocks, hdst_map_spec *spec, const hdst_scan_options *given, hdst_error *error)
{
    hdst__scan_own *own = blocks->own;
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    own->spec = spec;
    hdst_status status = hdst__object_status(&spec->object, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(blocks, "hdst_scan_function", error);
    if (status == HDST_OK && given)
        status = hdst__read_options("hdst_scan_options", "HDST_SCAN_OPTIONS_INIT", &options, sizeof options, sizeof options, given, given->size, error);
    if (status == HDST_OK && options.within)
        status = hdst__named_keys_read(&own->within, HDST__ALLOCATOR(blocks), "hdst_scan_function", blocks->record, options.within, error);
    own->exclusive = options.exclusive;
    hdst__dataset_as_structs(blocks);
    return status;
}

static hdst_dataset *add_blocks(hdst_dataset *from, hdst_map_spec *spec, const hdst_scan_options *options)
{
    hdst_dataset *blocks = hdst__dataset_new(from->object.context, &hdst__op_scan_blocks, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!blocks->object.context || blocks->object.error) {
        hdst__object_drop(&spec->object);
        return blocks;
    }
    return fill_blocks(blocks, spec, options, &error) == HDST_OK ? blocks : hdst__dataset_fail(blocks, &error);
}

static hdst_status take_identity(hdst__scan_own *own, const hdst_dataset *dataset, const ast_function *function, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&own->memory, HDST__ALLOCATOR(dataset), &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "an identity");
    own->identity = hdst__plan_identity(&own->memory, function, dataset->parent->record, error);
    return own->identity ? HDST_OK : error->code;
}

static hdst_status check_function(hdst_dataset *dataset, const ast_function *function, hdst_error *error)
{
    hdst__scan_own *own = blocks_of(dataset);
    hdst_status status = hdst__user_function_takes(dataset->parent, function, error);
    if (status != HDST_OK) return status;
    if (function->reduce_class == AST_ORDERED) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' is not declared associative: a scan regroups its records", function->name);
        hdst__error_hint(error, "associative reduce %s(...), if f(f(a, b), c) is f(a, f(b, c)); it need not be commutative", function->name);
        return HDST_E_USAGE;
    }
    if (!own->exclusive) return HDST_OK;
    if (function->identity) return take_identity(own, dataset, function, error);
    hdst__error_set(error, HDST_E_USAGE, "'%s' has no identity, which is what an exclusive scan has in front of the first record", function->name);
    hdst__error_hint(error, "reduce %s(T a, T b) identity { ... } { ... }", function->name);
    return HDST_E_USAGE;
}

static const hdst__user_function function_of_blocks = {&hdst__op_scan_function, AST_REDUCE, check_function};

hdst_dataset *hdst_scan_function(hdst_dataset *from, hdst_module *module, const char *function, const hdst_scan_options *options)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = from->object.context;
    hdst__lock(context);
    hdst_status status = hdst__check_object(context, __func__, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "function", function, &error);
    hdst_dataset *blocks = status == HDST_OK ? add_blocks(from, hdst__map_spec_make(module, function), options)
        : hdst__dataset_fail(hdst__dataset_new(context, &hdst__op_scan_function, from), &error);
    hdst__unlock(context);
    return status != HDST_OK || !blocks->object.context ? blocks : hdst__user_function_by_name(__func__, blocks, &function_of_blocks, module, function);
}
