// SPDX-License-Identifier: Apache-2.0
// Records with their index in front.
#include "codegen/lower/operator_functions.h"
#include "plan/plan.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> zip with index");
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_zip(arena, dataset->parent->record, dataset->record);
}

const hdst__operator hdst__op_zip_with_index = {.name = "hdst_zip_with_index", .gives = HDST__GIVES_EACH, .describe = describe, .lower = lower};

// --- The dataset ---

static hdst_status zip_misfit(const hdst__record *from, const hdst__record *to, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold an index and then the fields of '%s'", to->name, from->name);
    if (to->leaves[0].kind != HDST__U64 || to->leaves[0].elements != 1) {
        hdst__error_hint(error, "its first field is a uint64_t for the index; '%s' is %s%s", to->leaves[0].path,
                         to->leaves[0].elements != 1 ? "an array of " : "",
                         hdst__scalar_c_name(to->leaves[0].kind));
        return HDST_E_USAGE;
    }
    if (to->leaf_count != from->leaf_count + 1) {
        hdst__error_hint(error, "'%s' has %zu field%s beside the index, '%s' has %zu", to->name, to->leaf_count - 1, to->leaf_count == 2 ? "" : "s", from->name,
                         from->leaf_count);
        return HDST_E_USAGE;
    }
    for (size_t i = 0; i < from->leaf_count; i++) {
        const hdst__leaf *a = &from->leaves[i], *b = &to->leaves[i + 1];
        if (a->kind == b->kind && a->elements == b->elements) continue;
        hdst__error_hint(error, "field '%s' (%s) stands where '%s' (%s) comes", b->path, hdst__scalar_c_name(b->kind), a->path, hdst__scalar_c_name(a->kind));
        break;
    }
    return HDST_E_USAGE;
}

static bool zip_fits(const hdst__record *from, const hdst__record *to)
{
    if (to->leaf_count != from->leaf_count + 1 || to->leaves[0].kind != HDST__U64 || to->leaves[0].elements != 1) return false;
    for (size_t i = 0; i < from->leaf_count; i++)
        if (from->leaves[i].kind != to->leaves[i + 1].kind || from->leaves[i].elements != to->leaves[i + 1].elements) return false;
    return true;
}

static hdst_status fill_zip(hdst_dataset *dataset, hdst_module *module, const char *name, hdst_error *error)
{
    hdst_status status = hdst__check_object(dataset->object.context, "hdst_zip_with_index", "module", module, error);
    if (status == HDST_OK) status = hdst__check_pointer("hdst_zip_with_index", "record", name, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(dataset->parent, "hdst_zip_with_index", error);
    if (status != HDST_OK) return status;
    const hdst__record *to = hdst__module_find_record(module, name, error);
    if (!to) return error->code;
    if (!zip_fits(dataset->parent->record, to)) return zip_misfit(dataset->parent->record, to, error);
    dataset->record = to;
    hdst__dataset_as_structs(dataset);
    dataset->module = module;
    hdst__object_retain(&module->object);
    return HDST_OK;
}

hdst_dataset *hdst_zip_with_index(hdst_dataset *from, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_zip_with_index, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_zip(dataset, module, record, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
