// SPDX-License-Identifier: Apache-2.0
// Schemas made in C, a call per record and field, under the same rules as those from YAML.
#include "base/name_set.h"
#include "record/missing.h"
#include "record/schema.h"
#include "record/schema_check.h"

#include <string.h>

typedef struct hdst__schema_draft {
    hdst__record record;
    hdst__field *fields;
    size_t count, capacity;
    hdst__name_set names;
    bool failed;
} draft;

static hdst_status refuse(const hdst__complaint *complaint, hdst_error *error)
{
    hdst__error_set(error, HDST_E_SCHEMA, "%s", complaint->message);
    if (complaint->hint) hdst__error_hint(error, "%s", complaint->hint);
    return HDST_E_SCHEMA;
}

hdst_status hdst__schema_close(hdst__arena *arena, hdst__schema *schema, hdst_error *error)
{
    draft *d = schema->draft;
    schema->draft = NULL;
    if (!d || d->failed) return HDST_OK;    // what was wrong has been said by the call that was refused
    hdst__record *record = HDST__NEW(arena, hdst__record);
    *record = d->record;
    record->fields = d->fields;
    record->field_count = d->count;
    const char *why = NULL;
    if (!hdst__record_finish(arena, record, &why)) return hdst__error_set(error, HDST_E_SCHEMA, "record '%s': %s", record->name, why);
    HDST__PUSH(arena, schema->records, schema->record_count, schema->record_capacity, record);
    return HDST_OK;
}

hdst_status hdst__schema_add_record(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__layout layout, uint64_t align, uint64_t block,
                                    hdst_error *error)
{
    hdst_status status = hdst__schema_close(arena, schema, error);
    if (status != HDST_OK) return status;
    draft *d = schema->draft = HDST__NEW(arena, draft);
    d->failed = true;                       // until all of this is right: fields of a refused record are taken and dropped
    const hdst__complaint *wrong = hdst__check_name(arena, "record", name);
    if (!wrong && hdst__schema_record(schema, name)) wrong = hdst__complain(arena, NULL, "record '%s' is declared twice", name);
    if (!wrong && (layout < HDST__AOS || layout > HDST__AOP)) wrong = hdst__complain(arena, NULL, "record '%s': %d is no layout", name, (int)layout);
    if (!wrong && align) wrong = hdst__check_align(arena, align);
    if (!wrong && block && layout != HDST__AOSOA) wrong = hdst__complain(arena, "give 0 for the block", "record '%s': only the layout aosoa has blocks", name);
    if (!wrong && block) wrong = hdst__check_block(arena, block);
    if (wrong) return refuse(wrong, error);
    d->record = (hdst__record){.name = hdst__arena_strdup(arena, name), .pack = align, .layout = layout};
    if (layout == HDST__AOSOA) d->record.block = block ? block : HDST__DEFAULT_BLOCK;
    d->failed = false;
    return HDST_OK;
}

static hdst_status add_field(hdst__arena *arena, hdst__schema *schema, const char *name, const hdst__type *type, hdst__time_unit time,
                             const uint64_t *counts, size_t dims, hdst_error *error)
{
    draft *d = schema->draft;
    const hdst__complaint *wrong = hdst__check_name(arena, "field", name);
    if (!wrong && dims > HDST__LEAF_DIMS) wrong = hdst__complain(arena, NULL, "field '%s' has more than %d dimensions", name, HDST__LEAF_DIMS);
    for (size_t i = dims; !wrong && i-- > 0;) {
        wrong = hdst__check_count(arena, counts[i]);
        type = hdst__type_array(arena, type, counts[i]);
    }
    hdst__field field = {.name = hdst__arena_strdup(arena, name), .type = type, .time = time};
    if (!wrong && hdst__name_set_add(arena, &d->names, field.name, 0) != HDST__NO_NAME)
        wrong = hdst__complain(arena, NULL, "field '%s' is declared twice", name);
    if (wrong) {
        d->failed = true;
        return refuse(wrong, error);
    }
    HDST__PUSH(arena, d->fields, d->count, d->capacity, field);
    return HDST_OK;
}

static hdst_status no_record(const char *name, hdst_error *error)
{
    return hdst__error_set(error, HDST_E_USAGE, "field '%s' belongs to no record: add a record first", name);
}

hdst_status hdst__schema_add_field(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__kind kind, const uint64_t *counts, size_t dims,
                                   hdst_error *error)
{
    if (!schema->draft) return no_record(name, error);
    if (kind >= HDST__BOOL && kind <= HDST__TEXT) return add_field(arena, schema, name, hdst__type_scalar(kind), HDST__NO_TIME, counts, dims, error);
    schema->draft->failed = true;
    return refuse(hdst__complain(arena, NULL, "field '%s': %d is no type", name, (int)kind), error);
}

hdst_status hdst__schema_add_time(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__time_unit time, const uint64_t *counts, size_t dims,
                                  hdst_error *error)
{
    if (!schema->draft) return no_record(name, error);
    if (time >= HDST__DAYS && time <= HDST__NANOSECONDS) return add_field(arena, schema, name, hdst__time_type(time), time, counts, dims, error);
    schema->draft->failed = true;
    return refuse(hdst__complain(arena, NULL, "field '%s': %d is no unit of a time", name, (int)time), error);
}

hdst_status hdst__schema_set_missing(hdst__arena *arena, hdst__schema *schema, hdst__missing missing, const char *valid, hdst_error *error)
{
    draft *d = schema->draft;
    if (!d || !d->count) return hdst__error_set(error, HDST_E_USAGE, "what is missing is said of the field that was added last: add a field first");
    if (missing < HDST__MISSING_ERROR || missing > HDST__MISSING_SKIP) {
        d->failed = true;
        return refuse(hdst__complain(arena, NULL, "field '%s': %d says nothing of empty cells", d->fields[d->count - 1].name, (int)missing), error);
    }
    d->fields[d->count - 1].missing = missing;
    d->fields[d->count - 1].valid = valid ? hdst__arena_strdup(arena, valid) : NULL;
    return HDST_OK;
}

static const char *null_values_wrong(hdst__arena *arena, const char *const *words, size_t count)
{
    if (!count || count > HDST__NULL_VALUES) return hdst__arena_printf(arena, "%zu null values: 1 to %d words", count, HDST__NULL_VALUES);
    for (size_t i = 0; i < count; i++) {
        const char *wrong = words[i] ? hdst__null_value_wrong(words[i], strlen(words[i])) : "a null value is a word";
        if (wrong) return hdst__arena_printf(arena, "null value %zu: %s", i, wrong);
    }
    return NULL;
}

hdst_status hdst__schema_set_null_values(hdst__arena *arena, hdst__schema *schema, const char *const *words, size_t count, hdst_error *error)
{
    draft *d = schema->draft;
    if (!d || !d->count) return hdst__error_set(error, HDST_E_USAGE, "null values are said of the field that was added last: add a field first");
    const char *wrong = null_values_wrong(arena, words, count);
    if (wrong) {
        d->failed = true;
        return refuse(hdst__complain(arena, NULL, "field '%s': %s", d->fields[d->count - 1].name, wrong), error);
    }
    hdst__null_value *copies = HDST__NEW_ARRAY(arena, hdst__null_value, count);
    for (size_t i = 0; i < count; i++) copies[i] = (hdst__null_value){hdst__arena_strdup(arena, words[i]), strlen(words[i])};
    hdst__null_values *values = HDST__NEW(arena, hdst__null_values);
    *values = (hdst__null_values){copies, count};
    d->fields[d->count - 1].null_values = values;
    return HDST_OK;
}

hdst_status hdst__schema_add_nested(hdst__arena *arena, hdst__schema *schema, const char *name, const char *record, const uint64_t *counts, size_t dims,
                                    hdst_error *error)
{
    if (!schema->draft) return no_record(name, error);
    const hdst__record *nested = hdst__schema_record(schema, record);
    if (nested) return add_field(arena, schema, name, hdst__type_record(arena, nested), HDST__NO_TIME, counts, dims, error);
    schema->draft->failed = true;
    const char *hint = "a record must be complete before another can hold it";
    return refuse(hdst__complain(arena, hint, "field '%s': unknown record %s", name, hdst__quoted(arena, record)), error);
}
