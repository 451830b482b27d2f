// SPDX-License-Identifier: Apache-2.0
// Records as tables for people: fields with offsets and padding, then where the values lie in the record's layout.
#include "record/layout.h"
#include "record/missing.h"
#include "record/schema.h"
#include "record/schema_check.h"

#include <string.h>

typedef unsigned long long ull;

// "3", "[2, 3]", or "" for a plain field
static const char *count_text(hdst__arena *arena, const hdst__type *type)
{
    if (type->kind != HDST__ARRAY) return "";
    if (type->element->kind != HDST__ARRAY) return hdst__arena_printf(arena, "%llu", (ull)type->count);
    const char *list = "";
    for (; type->kind == HDST__ARRAY; type = type->element) list = hdst__arena_printf(arena, "%s%s%llu", list, *list ? ", " : "", (ull)type->count);
    return hdst__arena_printf(arena, "[%s]", list);
}

// "float32", "point", "date32", "timestamp ms"
static const char *base_name(hdst__arena *arena, const hdst__field *field)
{
    const hdst__type *type = field->type;
    while (type->kind == HDST__ARRAY) type = type->element;
    if (field->time == HDST__DAYS) return "date32";
    if (field->time) return hdst__arena_printf(arena, "timestamp %s", hdst__time_unit_names[field->time]);
    return type->kind == HDST__RECORD ? type->record->name : hdst__scalar_yaml_name(type->kind);
}

static int wider(int width, const char *text) { return (int)strlen(text) > width ? (int)strlen(text) : width; }

static uint64_t show_padding(uint64_t from, uint64_t to, int name_width, int type_width, int count_width, hdst__buffer *out)
{
    if (to > from)
        hdst__buffer_printf(out, "  %-*s  %-*s  %-*s  %8llu  %8llu\n", name_width, "(padding)", type_width, "", count_width, "", (ull)from, (ull)(to - from));
    return to - from;
}

static void show_fields(hdst__arena *arena, const hdst__record *record, hdst__buffer *out)
{
    int name_width = 5, type_width = 4, count_width = 5;
    uint64_t end = 0, padding = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        name_width = wider(name_width, record->fields[i].name);
        type_width = wider(type_width, base_name(arena, &record->fields[i]));
        count_width = wider(count_width, count_text(arena, record->fields[i].type));
        padding += record->fields[i].offset - end;
        end = record->fields[i].offset + hdst__type_size(record->fields[i].type);
    }
    padding += record->size - end;
    if (padding) name_width = wider(name_width, "(padding)");
    hdst__buffer_printf(out, "  %-*s  %-*s  %-*s  %8s  %8s\n", name_width, "field", type_width, "type", count_width, "count", "offset", "bytes");
    end = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        show_padding(end, field->offset, name_width, type_width, count_width, out);
        hdst__buffer_printf(out, "  %-*s  %-*s  %-*s  %8llu  %8llu\n", name_width, field->name, type_width, base_name(arena, field), count_width,
                            count_text(arena, field->type), (ull)field->offset, (ull)hdst__type_size(field->type));
        end = field->offset + hdst__type_size(field->type);
    }
    show_padding(end, record->size, name_width, type_width, count_width, out);
}

// The arrays of soa and aop depend on how many records there are, so they are shown by number and per-record bytes; those of an aosoa block have fixed places.
static void show_arrays(hdst__arena *arena, const hdst__record *record, hdst__buffer *out)
{
    bool blocks = record->layout == HDST__AOSOA, buffers = record->layout == HDST__AOP;
    const hdst__storage *block = blocks ? hdst__storage_make(arena, record, HDST__AOSOA, record->block, record->block) : NULL;
    int width = 5;
    for (size_t i = 0; i < record->leaf_count; i++) width = wider(width, record->leaves[i].path);
    hdst__buffer_printf(out, "  %-*s  %-7s  %8s  %8s%s%s\n", width, "value", "type", "arrays", "stride", blocks ? "  in block  array bytes" : "  array number",
                        buffers ? "  buffer" : "");
    for (size_t i = 0; i < record->leaf_count; i++) {
        const hdst__leaf *leaf = &record->leaves[i];
        hdst__buffer_printf(out, "  %-*s  %-7s  %8llu  %8llu", width, leaf->path, hdst__scalar_yaml_name(leaf->kind), (ull)leaf->elements,
                            (ull)hdst__scalar_size(leaf->kind));
        if (block) hdst__buffer_printf(out, "  %8llu  %11llu", (ull)block->leaf[i].offset, (ull)block->leaf[i].element_stride);
        else if (leaf->elements == 1) hdst__buffer_printf(out, "  %12llu", (ull)leaf->first);
        else hdst__buffer_printf(out, "  %12s", hdst__arena_printf(arena, "%llu..%llu", (ull)leaf->first, (ull)(leaf->first + leaf->elements - 1)));
        hdst__buffer_puts(out, buffers ? hdst__arena_printf(arena, "  %6zu\n", i) : "\n");
    }
}

static void show_layout(hdst__arena *arena, const hdst__record *record, hdst__buffer *out)
{
    switch (record->layout) {
    case HDST__AOS:
        hdst__buffer_printf(out, "  layout aos: record i starts at byte i * %llu\n", (ull)record->size);
        return;
    case HDST__SOA:
        hdst__buffer_puts(out, "  layout soa: an array per value, one after another, each from a multiple of 64 bytes\n");
        break;
    case HDST__AOP:
        hdst__buffer_puts(out, "  layout aop: an array per value, each from a multiple of 64 bytes, the arrays of a field in a buffer of their own\n");
        break;
    case HDST__AOSOA: {
        const hdst__storage *one = hdst__storage_make(arena, record, HDST__AOSOA, record->block, 1);
        if (!one) return (void)hdst__buffer_printf(out, "  layout aosoa: a block of %llu records is too large\n", (ull)record->block);
        hdst__buffer_printf(out, "  layout aosoa: blocks of %llu records, %llu bytes each, an array per value within a block\n", (ull)record->block,
                            (ull)hdst__storage_bytes(one));
        break;
    }
    }
    show_arrays(arena, record, out);
}

static void show_null_values(const hdst__null_values *values, hdst__buffer *out)
{
    for (size_t i = 0; i < values->count; i++)
        hdst__buffer_printf(out, "%s'%.*s'", i ? ", " : "    as empty count: ", (int)values->value[i].length, values->value[i].bytes);
    hdst__buffer_puts(out, "\n");
}

static void show_missing(const hdst__record *record, hdst__buffer *out)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        if (!field->missing && !field->valid && !field->null_values) continue;
        hdst__buffer_printf(out, "  empty cells of %s: %s", field->name, hdst__missing_names[hdst__missing_of(field)]);
        hdst__buffer_printf(out, field->valid ? ", and 0 in %s\n" : "\n", field->valid);
        if (field->null_values) show_null_values(field->null_values, out);
    }
}

void hdst__schema_show(hdst__arena *arena, hdst__record *const *records, size_t count, hdst__buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const hdst__record *record = records[i];
        hdst__buffer_printf(out, "%srecord %s: %llu byte%s, alignment %llu%s\n", i ? "\n" : "", record->name, (ull)record->size, record->size == 1 ? "" : "s",
                            (ull)record->align, record->pack ? " (given)" : "");
        show_fields(arena, record, out);
        show_layout(arena, record, out);
        show_missing(record, out);
        if (record->has_text)
            hdst__buffer_puts(out, "  text: a length (uint32), then its bytes, if there are 12 at most, else the first 4 and the address of all (uint64)\n");
    }
}
