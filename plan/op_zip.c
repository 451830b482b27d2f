// SPDX-License-Identifier: Apache-2.0
// Operators that need no function of the user: the same records elsewhere, some of them, several datasets as one, records with their index.
#include "plan/dataset.h"
#include "plan/materialised.h"

#include <math.h>
#include <string.h>

enum { MOST_NESTED = 200 };     // caches below one another: a run goes into them one inside the other

// --- Layouts and caches ---

hdst_dataset *hdst_with_layout(hdst_dataset *from, hdst_layout layout)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_LAYOUT, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        if ((unsigned)layout > HDST_AOP) hdst__error_set(&error, HDST_E_USAGE, "layout %d; HDST_AOS, HDST_SOA, HDST_AOSOA and HDST_AOP exist", (int)layout);
        else hdst__dataset_has_records(from, "hdst_with_layout", &error);
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
        dataset->layout = (hdst__layout)layout;
        dataset->block = layout != HDST_AOSOA ? 0 : from->block ? from->block : 256;
    }
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_cache(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_CACHE, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        dataset->nested++;
        if (dataset->nested > MOST_NESTED) {
            hdst__error_set(&error, HDST_E_USAGE, "more than %d caches below one another", MOST_NESTED);
            hdst__error_hint(&error, "collect the records of a long loop and read them again");
        } else {
            hdst__dataset_has_records(from, "hdst_cache", &error);
        }
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
    }
    hdst__unlock(from->object.context);
    return dataset;
}

void hdst_uncache(hdst_dataset *dataset)
{
    if (!dataset || !dataset->object.context) return;
    hdst__lock(dataset->object.context);
    if (dataset->kept) hdst__kept_release(dataset->kept);
    hdst__unlock(dataset->object.context);
}

// --- Some of the records ---

hdst_dataset *hdst_slice(hdst_dataset *from, uint64_t first, uint64_t count)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_SLICE, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && hdst__dataset_has_records(from, "hdst_slice", &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    if (dataset->object.context) {
        dataset->first = first;
        dataset->count = count;
    }
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_sample(hdst_dataset *from, double fraction, uint64_t seed)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_SAMPLE, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        if (!(fraction >= 0 && fraction <= 1)) {
            hdst__error_set(&error, HDST_E_USAGE, "a sample of the fraction %g", fraction);
            hdst__error_hint(&error, "a fraction is from 0 (no record) to 1 (all)");
        } else {
            hdst__dataset_has_records(from, "hdst_sample", &error);
        }
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
        else dataset->limit = (uint64_t)ldexp(fraction, 63);
        dataset->seed = seed;
        dataset->layout = HDST__AOS;
        dataset->block = 0;
    }
    hdst__unlock(from->object.context);
    return dataset;
}

// --- Several as one ---

static hdst_status fill_union(hdst_dataset *dataset, const char *call, const char *const names[2], hdst_dataset *const *inputs, size_t count, hdst_error *error)
{
    dataset->inputs = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *dataset->inputs);
    if (!dataset->inputs) return hdst__error_memory(error, "a union");
    for (size_t i = 0; i < count; i++) {
        hdst_status status = hdst__check_object(dataset->object.context, call, names[i > 0], inputs[i], error);
        if (status == HDST_OK) status = hdst__dataset_has_records(inputs[i], "hdst_union", error);
        if (status != HDST_OK) return status;
        if (!hdst__same_records(inputs[i]->record, inputs[0]->record)) {
            hdst__error_set(error, HDST_E_USAGE, "a union of records of '%s' and of '%s'", inputs[0]->record->name, inputs[i]->record->name);
            hdst__error_hint(error, "records of a union have the same fields; a map makes them so");
            return HDST_E_USAGE;
        }
        dataset->inputs[i] = inputs[i];
        dataset->input_count++;
        if (inputs[i]->nested > dataset->nested) dataset->nested = inputs[i]->nested;
    }
    return HDST_OK;
}

static const hdst_error nothing_to_unite = {.code = HDST_E_USAGE, .message = "a union of no datasets", .hint = "give one at least: it says which record there is"};
static hdst_dataset no_union = {.object = {.error = (hdst_error *)&nothing_to_unite}};

// names: of the first dataset, of others.
static hdst_dataset *unite(const char *call, const char *const names[2], hdst_dataset *const *datasets, size_t count)
{
    hdst_context *context = datasets[0]->object.context;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, HDST__OP_UNION, datasets[0]);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_union(dataset, call, names, datasets, count, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(context);
    return dataset;
}

hdst_dataset *hdst_union_all(hdst_dataset *const *datasets, size_t count)
{
    static const char *const names[] = {"datasets", "datasets"};
    if (count == 0) return &no_union;
    HDST__NEEDS(hdst_dataset, datasets ? datasets[0] : NULL, "datasets");
    return unite(__func__, names, datasets, count);
}

hdst_dataset *hdst_union(hdst_dataset *first, hdst_dataset *second)
{
    static const char *const names[] = {"first", "second"};
    HDST__NEEDS(hdst_dataset, first, "first");
    return unite(__func__, names, (hdst_dataset *[]){first, second}, 2);
}

// --- Records with their index ---

static hdst_status zip_misfit(const hdst__record *from, const hdst__record *to, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold an index and then the fields of '%s'", to->name, from->name);
    if (to->leaves[0].kind != HDST__U64 || to->leaves[0].elements != 1) {
        hdst__error_hint(error, "its first field is a uint64_t for the index; '%s' is %s%s", to->leaves[0].path, to->leaves[0].elements != 1 ? "an array of " : "",
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
    dataset->layout = HDST__AOS;
    dataset->block = 0;
    dataset->module = module;
    hdst__object_retain(&module->object);
    return HDST_OK;
}

hdst_dataset *hdst_zip_with_index(hdst_dataset *from, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_ZIP, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_zip(dataset, module, record, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
