// SPDX-License-Identifier: Apache-2.0
// Records as a YAML schema that reads back to the same records.
#include "record/schema.h"
#include "record/schema_check.h"

typedef unsigned long long ull;

// In single quotes, of which one within a word is written twice.
static void write_null_values(const hdst__null_values *values, hdst__buffer *out)
{
    if (!values) return;
    for (size_t i = 0; i < values->count; i++) {
        hdst__buffer_puts(out, i ? ", '" : ", null_values: ['");
        for (size_t k = 0; k < values->value[i].length; k++)
            hdst__buffer_printf(out, "%s%c", values->value[i].bytes[k] == '\'' ? "'" : "", values->value[i].bytes[k]);
        hdst__buffer_puts(out, "'");
    }
    hdst__buffer_puts(out, "]");
}

static void write_field(const hdst__field *field, hdst__buffer *out)
{
    const hdst__type *type = field->type;
    hdst__buffer_printf(out, "      - {name: %s, ", field->name);
    const char *between = "count: [";
    for (; type->kind == HDST__ARRAY; type = type->element, between = ", ") hdst__buffer_printf(out, "%s%llu", between, (ull)type->count);
    if (field->type->kind == HDST__ARRAY) hdst__buffer_puts(out, "], ");
    const char *name = field->time ? hdst__time_type_name(field->time) : type->kind == HDST__RECORD ? type->record->name : hdst__scalar_yaml_name(type->kind);
    hdst__buffer_printf(out, "type: %s", name);
    if (hdst__time_unit_names[field->time]) hdst__buffer_printf(out, ", unit: %s", hdst__time_unit_names[field->time]);
    if (field->missing) hdst__buffer_printf(out, ", missing: %s", hdst__missing_names[field->missing]);
    if (field->valid) hdst__buffer_printf(out, ", valid: %s", field->valid);
    write_null_values(field->null_values, out);
    hdst__buffer_puts(out, "}\n");
}

void hdst__schema_write(hdst__record *const *records, size_t count, hdst__buffer *out)
{
    static const char *const layouts[] = {"aos", "soa", "aosoa", "aop"};
    hdst__buffer_puts(out, "records:\n");
    for (size_t i = 0; i < count; i++) {
        const hdst__record *record = records[i];
        hdst__buffer_printf(out, "  %s:\n", record->name);
        if (record->block) hdst__buffer_printf(out, "    layout: {aosoa: %llu}\n", (ull)record->block);
        else hdst__buffer_printf(out, "    layout: %s\n", layouts[record->layout]);
        if (record->pack) hdst__buffer_printf(out, "    align: %llu\n", (ull)record->pack);
        hdst__buffer_puts(out, "    fields:\n");
        for (size_t f = 0; f < record->field_count; f++) write_field(&record->fields[f], out);
    }
}
