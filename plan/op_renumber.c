// SPDX-License-Identifier: Apache-2.0
// Numbers in place of keys: the distinct values of some fields (a dictionary), and records in which each stands as its number there.
#include "codegen/lower/operator_functions.h"
#include "plan/key_numbers.h"
#include "plan/plan.h"
#include "record/field_path.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_FIELDS = 64, PIECE_BYTES = 64 << 10 };

// Fields that a text names with commas between: each one number, or one text, all of the same type.
typedef struct field_list {
    uint32_t leaf[MOST_FIELDS];
    size_t count;
} field_list;

static hdst_status add_field(field_list *fields, const hdst__record *record, const hdst__field_place *place, hdst_error *error)
{
    const hdst__leaf *leaf = &record->leaves[place->leaf];
    if (leaf->elements != 1) {
        hdst__error_set(error, HDST_E_UNSUPPORTED, "field '%s' of record '%s' is an array: what is numbered is single numbers, or texts", leaf->path,
                        record->name);
        return HDST_E_UNSUPPORTED;
    }
    if (fields->count && record->leaves[fields->leaf[0]].kind != leaf->kind) {
        hdst__error_set(error, HDST_E_USAGE, "fields '%s' and '%s' of record '%s' are of two types", record->leaves[fields->leaf[0]].path, leaf->path,
                        record->name);
        hdst__error_hint(error, "values of one dictionary are of one type; a map makes them so");
        return HDST_E_USAGE;
    }
    if (fields->count == MOST_FIELDS) return hdst__error_set(error, HDST_E_UNSUPPORTED, "more than %d fields to number", (int)MOST_FIELDS);
    fields->leaf[fields->count++] = place->leaf;
    return HDST_OK;
}

static hdst_status read_fields(field_list *fields, const hdst__record *record, const char *text, hdst_error *error)
{
    fields->count = 0;
    for (const char *at = text ? text : "";; at++) {
        const char *end = at + strcspn(at, ","), *last = end;
        hdst__field_place place;
        while (at < end && *at == ' ') at++;
        while (last > at && last[-1] == ' ') last--;
        hdst_status status = hdst__field_find_part(record, at, (size_t)(last - at), &place, error);
        if (status == HDST_OK) status = add_field(fields, record, &place, error);
        if (status != HDST_OK || !*end) return status;
        at = end;
    }
}

// --- One field of each record, a function ---

typedef struct field_own {
    uint32_t leaf;
} field_own;

static void describe_field(const hdst_dataset *dataset, hdst__buffer *out)
{
    hdst__buffer_printf(out, " -> its %s", dataset->parent->record->leaves[((const field_own *)dataset->own)->leaf].path);
}

static ir_func *lower_field(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_field(arena, dataset->parent->record, dataset->record, ((const field_own *)dataset->own)->leaf);
}

const hdst__operator hdst__op_field = {
    .name = "field", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(field_own), .describe = describe_field, .lower = lower_field,
};

// --- The node ---

typedef struct renumber_own {
    field_list fields;
} renumber_own;

typedef struct renumber_node {
    hdst__key_numbers numbers;      // of the last run
    const hdst__storage *from, *to; // C structs
} renumber_node;

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const renumber_own *own = dataset->own;
    hdst__buffer_puts(out, ", numbered by the second: ");
    for (size_t i = 0; i < own->fields.count; i++)
        hdst__buffer_printf(out, "%s%s", i ? ", " : "", dataset->parent->record->leaves[own->fields.leaf[i]].path);
}

// A capacity that no index reaches: only the rule of the addresses is wanted.
static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    renumber_node *own = HDST__NEW(arena, renumber_node);
    own->from = hdst__storage_make(arena, node->dataset->parent->record, HDST__AOS, 0, (uint64_t)1 << 20);
    own->to = hdst__storage_make(arena, node->dataset->record, HDST__AOS, 0, (uint64_t)1 << 20);
    node->own = own;
    return HDST_OK;
}

static bool is_numbered(const field_list *fields, uint32_t leaf)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->leaf[i] == leaf) return true;
    return false;
}

static hdst_status refuse(const hdst__node *node, uint32_t leaf, uint64_t record, uint64_t number, hdst_error *error)
{
    const hdst__record *from = node->inputs[0]->dataset->record, *to = node->dataset->record;
    if (number == UINT64_MAX)
        hdst__error_set(error, HDST_E_RECORD, "field '%s' of record %" PRIu64 " has a value that the dictionary does not have", from->leaves[leaf].path,
                        record);
    else
        hdst__error_set(error, HDST_E_RECORD, "number %" PRIu64 " does not fit field '%s' (%s), in record %" PRIu64, number, to->leaves[leaf].path,
                        hdst__scalar_c_name(to->leaves[leaf].kind), record);
    if (error) error->record = record;
    return HDST_E_RECORD;
}

static uint64_t largest_of(hdst__kind kind)
{
    switch (kind) {
    case HDST__U32: return UINT32_MAX;
    case HDST__I32: return INT32_MAX;
    case HDST__I64: return INT64_MAX;
    default: return UINT64_MAX - 1;
    }
}

static hdst_status number_field(const hdst__node *node, uint32_t i, const char *from, char *to, uint64_t record, hdst_error *error)
{
    const renumber_node *own = node->own;
    const hdst__leaf *target = &node->dataset->record->leaves[i];
    const uint64_t number = hdst__key_numbers_find(&own->numbers, from), size = hdst__scalar_size(target->kind);
    if (number > largest_of(target->kind)) return refuse(node, i, record, number, error);
    if (size == 4) memcpy(to, &(uint32_t){(uint32_t)number}, 4);
    else memcpy(to, &number, 8);
    return HDST_OK;
}

// A record as its C struct.
static hdst_status number_record(const hdst__node *node, const char *from, char *to, uint64_t record, hdst_error *error)
{
    const hdst__record *source = node->inputs[0]->dataset->record, *target = node->dataset->record;
    const field_list *fields = &((const renumber_own *)node->dataset->own)->fields;
    for (uint32_t i = 0; i < source->leaf_count; i++) {
        const hdst__leaf *a = &source->leaves[i], *b = &target->leaves[i];
        if (is_numbered(fields, i)) {
            hdst_status status = number_field(node, i, from + hdst__leaf_offset(a, 0), to + hdst__leaf_offset(b, 0), record, error);
            if (status != HDST_OK) return status;
            continue;
        }
        for (uint64_t e = 0; e < a->elements; e++) memcpy(to + hdst__leaf_offset(b, e), from + hdst__leaf_offset(a, e), hdst__scalar_size(a->kind));
    }
    return HDST_OK;
}

static hdst_status fill_piece(const hdst__node *node, char *rows, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                              uint64_t to_first, hdst_error *error)
{
    const renumber_node *own = node->own;
    const hdst__reader *from = &node->inputs[0]->reader;
    const uint64_t size = own->from->record->size, to_size = own->to->record->size;
    char *to = rows + count * size;
    void *input[] = {rows};
    hdst_status status = from->fill(from->user, first, count, own->from, input, 0, error);
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) status = number_record(node, rows + i * size, to + i * to_size, first + i, error);
    if (status == HDST_OK) hdst__storage_copy(storage, buffers, to_first, own->to, (const void *[]){to}, 0, count);
    return status;
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__node *node = user;
    const renumber_node *own = node->own;
    const hdst__allocator *allocator = hdst__owned_by(node->dataset->object.context, HDST__OWNER_READERS);
    const uint64_t bytes = own->from->record->size + own->to->record->size, fit = PIECE_BYTES / bytes ? PIECE_BYTES / bytes : 1;
    if (!count) return HDST_OK;
    char *rows = hdst__alloc_zero(allocator, (count < fit ? count : fit) * bytes);
    hdst_status status = rows ? HDST_OK : hdst__error_memory(error, "records to number");
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t part = count - done < fit ? count - done : fit;
        status = fill_piece(node, rows, first + done, part, storage, buffers, to_first + done, error);
        done += part;
    }
    hdst__free(allocator, rows);
    return status;
}

static void release(hdst__node *node) { hdst__key_numbers_free(&((renumber_node *)node->own)->numbers); }

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    renumber_node *own = node->own;
    const hdst__reader *from = &node->inputs[0]->reader, *dictionary = &node->inputs[1]->reader;
    const hdst__allocator *allocator = hdst__owned_by(plan->context, HDST__OWNER_BY_KEY);
    release(node);
    node->ran = false;
    hdst_status status = hdst__key_numbers_fill(&own->numbers, allocator, dictionary, dictionary->record->leaves[0].kind, &plan->context->cancel, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = (hdst__reader){.fill = fill, .user = node, .records = from->records, .record = node->dataset->record, .layout = HDST__AOS,
                                  .held = from->held, .concurrent = from->concurrent, .on_device = from->on_device};
    return HDST_OK;
}

const hdst__operator hdst__op_renumber = {
    .name = "hdst_renumber", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(renumber_own), .describe = describe, .build = build, .run = run,
    .known = hdst__node_has_run, .release = release,
};

// --- The datasets ---

static hdst_status check_call(const hdst_dataset *dataset, const char *call, const hdst_module *module, const char *record, hdst_error *error)
{
    hdst_status status = hdst__check_object(dataset->object.context, call, "module", module, error);
    if (status == HDST_OK) status = hdst__check_pointer(call, "record", record, error);
    return status == HDST_OK ? hdst__dataset_has_records(dataset->parent, call, error) : status;
}

static void keep_record(hdst_dataset *dataset, hdst_module *module, const hdst__record *record)
{
    dataset->record = record;
    dataset->module = module;
    hdst__object_retain(&module->object);
    hdst__dataset_as_structs(dataset);
}

// Of the field at `place` of the list; *count is how many it has.
static hdst_status fill_field(hdst_dataset *dataset, const char *text, size_t place, hdst_module *module, const char *name, size_t *count, hdst_error *error)
{
    field_list fields;
    hdst_status status = check_call(dataset, "hdst_dictionary", module, name, error);
    if (status == HDST_OK) status = read_fields(&fields, dataset->parent->record, text, error);
    if (status != HDST_OK) return status;
    const hdst__record *to = hdst__module_find_record(module, name, error);
    if (!to) return error->code;
    const hdst__leaf *leaf = &dataset->parent->record->leaves[fields.leaf[place]];
    if (to->leaf_count != 1 || to->leaves[0].elements != 1 || to->leaves[0].kind != leaf->kind) {
        hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold a value of '%s'", to->name, leaf->path);
        hdst__error_hint(error, "records of a dictionary have one field, a %s", hdst__scalar_c_name(leaf->kind));
        return HDST_E_USAGE;
    }
    ((field_own *)dataset->own)->leaf = fields.leaf[place];
    *count = fields.count;
    keep_record(dataset, module, to);
    return HDST_OK;
}

static hdst_dataset *field_of(hdst_dataset *from, const char *fields, size_t place, hdst_module *module, const char *record, size_t *count)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_field, from);
    if (!dataset->object.error && fill_field(dataset, fields, place, module, record, count, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_dictionary(hdst_dataset *from, const char *fields, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_dataset *values[MOST_FIELDS];
    size_t count = 1;
    values[0] = field_of(from, fields, 0, module, record, &count);
    for (size_t i = 1; i < count; i++) values[i] = field_of(from, fields, i, module, record, &count);
    return hdst_distinct(count > 1 ? hdst_union_all(values, count) : values[0]);
}

static hdst_status check_target(const hdst__record *from, const hdst__record *to, const field_list *fields, hdst_error *error)
{
    uint32_t i = 0;
    for (; i < from->leaf_count && i < to->leaf_count; i++) {
        const hdst__leaf *a = &from->leaves[i], *b = &to->leaves[i];
        const bool whole = b->kind == HDST__U32 || b->kind == HDST__U64 || b->kind == HDST__I32 || b->kind == HDST__I64;
        if (is_numbered(fields, i) ? b->elements != 1 || !whole : a->kind != b->kind || a->elements != b->elements) break;
    }
    if (i == from->leaf_count && i == to->leaf_count) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold the fields of '%s' with numbers in place of keys", to->name, from->name);
    if (i < from->leaf_count && i < to->leaf_count)
        hdst__error_hint(error, "field '%s' stands where %s comes", to->leaves[i].path,
                         is_numbered(fields, i) ? "a number (uint32_t, uint64_t, int32_t or int64_t)" : from->leaves[i].path);
    else hdst__error_hint(error, "it has %zu fields, '%s' has %zu", to->leaf_count, from->name, from->leaf_count);
    return HDST_E_USAGE;
}

static hdst_status check_dictionary(const hdst_dataset *dictionary, const hdst__record *from, const field_list *fields, hdst_error *error)
{
    const hdst__record *keys = dictionary->record;
    const hdst__leaf *leaf = &from->leaves[fields->leaf[0]];
    if (keys->leaf_count == 1 && keys->leaves[0].elements == 1 && keys->leaves[0].kind == leaf->kind) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "records of '%s' are no dictionary of '%s'", keys->name, leaf->path);
    hdst__error_hint(error, "records of a dictionary have one field, a %s: hdst_dictionary makes them", hdst__scalar_c_name(leaf->kind));
    return HDST_E_USAGE;
}

static hdst_status fill_renumber(hdst_dataset *dataset, const char *text, hdst_dataset *dictionary, hdst_module *module, const char *name, hdst_error *error)
{
    renumber_own *own = dataset->own;
    const hdst__record *from = dataset->parent->record;
    hdst_status status = check_call(dataset, "hdst_renumber", module, name, error);
    if (status == HDST_OK) status = hdst__check_object(dataset->object.context, "hdst_renumber", "dictionary", dictionary, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(dictionary, "hdst_renumber", error);
    if (status == HDST_OK) status = read_fields(&own->fields, from, text, error);
    if (status != HDST_OK) return status;
    const hdst__record *to = hdst__module_find_record(module, name, error);
    if (!to) return error->code;
    status = check_dictionary(dictionary, from, &own->fields, error);
    if (status == HDST_OK) status = check_target(from, to, &own->fields, error);
    if (status != HDST_OK) return status;
    dataset->inputs = hdst__alloc_zero(HDST__ALLOCATOR(dataset), 2 * sizeof *dataset->inputs);
    if (!dataset->inputs) return hdst__error_memory(error, "numbers of keys");
    dataset->inputs[dataset->input_count++] = dataset->parent;
    dataset->inputs[dataset->input_count++] = dictionary;
    if (dictionary->nested > dataset->nested) dataset->nested = dictionary->nested;
    keep_record(dataset, module, to);
    return HDST_OK;
}

hdst_dataset *hdst_renumber(hdst_dataset *from, const char *fields, hdst_dataset *dictionary, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_renumber, from);
    if (!dataset->object.error && fill_renumber(dataset, fields, dictionary, module, record, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
