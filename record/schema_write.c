// SPDX-License-Identifier: Apache-2.0
// Records as a YAML schema that reads back to the same records.
#include "record/schema.h"

typedef unsigned long long ull;

static void write_field(const hdst__field *field, hdst__buffer *out)
{
    const hdst__type *type = field->type;
    hdst__buffer_printf(out, "      - {name: %s, ", field->name);
    const char *between = "count: [";
    for (; type->kind == HDST__ARRAY; type = type->element, between = ", ") hdst__buffer_printf(out, "%s%llu", between, (ull)type->count);
    if (field->type->kind == HDST__ARRAY) hdst__buffer_puts(out, "], ");
    hdst__buffer_printf(out, "type: %s}\n", type->kind == HDST__RECORD ? type->record->name : hdst__scalar_yaml_name(type->kind));
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
