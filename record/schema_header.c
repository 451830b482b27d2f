// SPDX-License-Identifier: Apache-2.0
// The C header of records: structs with assertions on their layout, and access to arrays and blocks for the other layouts. Usable as C11 and as C++11.
#include "base/name_set.h"
#include "record/layout.h"
#include "record/schema.h"
#include "record/schema_check.h"

#include <string.h>

typedef unsigned long long ull;

typedef struct writer {
    hdst__arena *arena;
    hdst__buffer *out;
    hdst__name_set records;         // written already
    hdst__name_set identifiers;     // structs and functions at file scope
    const char *clash;              // the first identifier that was needed twice
} writer;

static const char *c_type(writer *w, const hdst__type *base)
{
    if (base->kind == HDST__RECORD) return hdst__arena_printf(w->arena, "struct %s", base->record->name);
    return base->kind == HDST__TEXT ? "struct hdst_text_span" : hdst__scalar_c_name(base->kind);
}

// The path of a leaf as one identifier: "from.x" -> "from_x".
static char *flat_name(writer *w, const char *path)
{
    char *name = hdst__arena_strdup(w->arena, path);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}

static const char *claim(writer *w, hdst__name_set *scope, const char *identifier)
{
    if (hdst__name_set_add(w->arena, scope, identifier, 0) != HDST__NO_NAME && !w->clash) w->clash = identifier;
    return identifier;
}

// --- The head ---

// "dir/point.yaml" -> "HDST_POINT_YAML_H"
static const char *guard_name(writer *w, const char *source)
{
    const char *slash = strrchr(source, '/');
    char *guard = hdst__arena_printf(w->arena, "HDST_%s_H", slash ? slash + 1 : source);
    for (char *c = guard; *c; c++) {
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
        else if (!(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9')) *c = '_';
    }
    return guard;
}

static void write_head(writer *w, const char *source, const char *guard, bool text, bool arrays)
{
    const char *slash = strrchr(source, '/'), *name = hdst__quoted(w->arena, slash ? slash + 1 : source);
    hdst__buffer_printf(w->out, "// Written by hdst from %s: do not edit.\n#ifndef %s\n#define %s\n\n", name, guard, guard);
    hdst__buffer_puts(w->out, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
                              "#if defined(__cplusplus) && !defined(_Static_assert)\n#define _Static_assert static_assert\n#endif\n");
    if (text)
        hdst__buffer_puts(w->out, "\n#ifndef HDST_TEXT_SPAN\n#define HDST_TEXT_SPAN\n"
                                  "// A text: up to 12 bytes lie in it, of a longer one the first 4 and the address of all.\n"
                                  "typedef struct hdst_text_span {\n    uint32_t length;\n    char start[4];\n"
                                  "    union {\n        char rest[8];\n        uint64_t address;\n    };\n} hdst_text_span;\n#endif\n");
    if (arrays)
        hdst__buffer_puts(w->out,
                          "\n#ifndef HDST_ARRAY_BYTES\n#define HDST_ARRAY_BYTES\n"
                          "// The arrays of the layouts soa and aop start at multiples of 64 bytes.\n"
                          "static inline uint64_t hdst_array_bytes(uint64_t capacity, uint64_t size) { return (capacity * size + 63) / 64 * 64; }\n#endif\n");
}

// --- The struct ---

static uint64_t natural_align(const hdst__record *record)
{
    uint64_t widest = 1;
    for (size_t i = 0; i < record->field_count; i++) {
        uint64_t align = hdst__type_align(record->fields[i].type, 0);
        if (align > widest) widest = align;
    }
    return widest;
}

static void write_field(writer *w, const hdst__record *record, const hdst__field *field, bool packed)
{
    hdst__buffer_printf(w->out, "    %s %s", c_type(w, hdst__type_base(field->type)), field->name);
    for (const hdst__type *type = field->type; type->kind == HDST__ARRAY; type = type->element) hdst__buffer_printf(w->out, "[%llu]", (ull)type->count);
    uint64_t align = hdst__type_align(field->type, record->pack);
    if (packed && align > 1) hdst__buffer_printf(w->out, " __attribute__((aligned(%llu)))", (ull)align);    // `packed` alone would mean 1
    static const char *const counts[] = {[HDST__DAYS] = "days", [HDST__SECONDS] = "seconds", [HDST__MILLISECONDS] = "milliseconds",
                                         [HDST__MICROSECONDS] = "microseconds", [HDST__NANOSECONDS] = "nanoseconds"};
    hdst__buffer_puts(w->out, ";");
    if (field->time) hdst__buffer_printf(w->out, "        // %s since 1970-01-01%s", counts[field->time], field->time == HDST__DAYS ? "" : "T00:00:00Z");
    hdst__buffer_puts(w->out, "\n");
}

static void write_struct(writer *w, const hdst__record *record)
{
    bool packed = hdst__record_is_packed(record);
    hdst__buffer_printf(w->out, "\n// %llu byte%s, alignment %llu, layout %s\nstruct ", (ull)record->size, record->size == 1 ? "" : "s", (ull)record->align,
                        hdst__layout_names[record->layout]);
    if (packed) hdst__buffer_printf(w->out, "__attribute__((packed, aligned(%llu))) ", (ull)record->align);
    else if (record->align > natural_align(record)) hdst__buffer_printf(w->out, "__attribute__((aligned(%llu))) ", (ull)record->align);
    hdst__buffer_printf(w->out, "%s {\n", claim(w, &w->identifiers, record->name));
    for (size_t i = 0; i < record->field_count; i++) write_field(w, record, &record->fields[i], packed);
    hdst__buffer_puts(w->out, "};\n");
    hdst__buffer_printf(w->out, "_Static_assert(sizeof(struct %s) == %llu, \"size of %s\");\n", record->name, (ull)record->size, record->name);
    for (size_t i = 0; i < record->field_count; i++)
        hdst__buffer_printf(w->out, "_Static_assert(offsetof(struct %s, %s) == %llu, \"offset of %s.%s\");\n", record->name, record->fields[i].name,
                            (ull)record->fields[i].offset, record->name, record->fields[i].name);
}

// --- Arrays: soa and aop ---

static const char *leaf_c_type(const hdst__leaf *leaf) { return leaf->kind == HDST__TEXT ? "struct hdst_text_span" : hdst__scalar_c_name(leaf->kind); }

typedef struct array_counts {
    uint64_t of_size[17];       // how many arrays of values of so many bytes
} array_counts;

static const char *some_arrays(writer *w, uint64_t count, uint64_t size)
{
    if (count == 1) return hdst__arena_printf(w->arena, "hdst_array_bytes(capacity, %llu)", (ull)size);
    return hdst__arena_printf(w->arena, "%llu * hdst_array_bytes(capacity, %llu)", (ull)count, (ull)size);
}

// The bytes of these arrays, as an expression of `capacity`; "" for none.
static const char *bytes_of_arrays(writer *w, const array_counts *counts)
{
    const char *sum = "";
    for (int size = 1; size <= 16; size++)
        if (counts->of_size[size])
            sum = hdst__arena_printf(w->arena, "%s%s%s", sum, *sum ? " + " : "", some_arrays(w, counts->of_size[size], size));
    return sum;
}

static void write_soa(writer *w, const hdst__record *record)
{
    const char *r = record->name;
    hdst__buffer_printf(w->out, "\n// Layout soa: memory for `capacity` records holds an array per value, and per element of an array field.\n"
                                "// %s_at_F(memory, capacity, e)[i] is element e of F in record i; %s_offset_of_F is where that array starts.\n", r, r);
    array_counts before = {{0}};
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        const char *path = flat_name(w, leaf->path), *type = leaf_c_type(leaf);
        const char *offset_of = claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_offset_of_%s", r, path));
        const char *start = bytes_of_arrays(w, &before);
        hdst__buffer_printf(w->out, "static inline uint64_t %s(uint64_t capacity, uint64_t element)\n{\n    return %s%selement * %s;\n}\n", offset_of, start,
                            *start ? " + " : "", some_arrays(w, 1, hdst__scalar_size(leaf->kind)));
        before.of_size[hdst__scalar_size(leaf->kind)] += leaf->elements;
        hdst__buffer_printf(w->out,
                            "static inline %s *%s(void *memory, uint64_t capacity, uint64_t element)\n{\n"
                            "    return (%s *)((char *)memory + %s(capacity, element));\n}\n",
                            type, claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_at_%s", r, path)), type, offset_of);
    }
    hdst__buffer_printf(w->out, "static inline uint64_t %s(uint64_t capacity)\n{\n    return %s;\n}\n",
                        claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_storage_bytes", r)), bytes_of_arrays(w, &before));
}

static void write_aop(writer *w, const hdst__record *record)
{
    const char *r = record->name;
    hdst__buffer_printf(w->out, "\n// Layout aop: a buffer per value; the elements of an array field are arrays in one buffer.\n"
                                "// %s_at_F(buffers, capacity, e)[i] is element e of F in record i; %s_bytes_of_F is the size of its buffer.\n", r, r);
    hdst__buffer_printf(w->out, "enum { %s = %zu };\n", claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_buffer_count", r)), record->leaf_count);
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        const char *path = flat_name(w, leaf->path), *type = leaf_c_type(leaf);
        ull size = hdst__scalar_size(leaf->kind);
        hdst__buffer_printf(w->out, "static inline uint64_t %s(uint64_t capacity)\n{\n    return %s;\n}\n",
                            claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_bytes_of_%s", r, path)), some_arrays(w, leaf->elements, size));
        hdst__buffer_printf(w->out, "static inline %s *%s(void *const *buffers, uint64_t capacity, uint64_t element)\n{\n"
                                    "    return (%s *)((char *)buffers[%zu] + element * hdst_array_bytes(capacity, %llu));\n}\n",
                            type, claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_at_%s", r, path)), type, l, size);
    }
}

// --- Blocks: aosoa ---

static void write_aosoa(writer *w, const hdst__record *record)
{
    const hdst__storage *block = hdst__storage_make(w->arena, record, HDST__AOSOA, record->block, record->block);
    if (!block) return;         // beyond 2^60 bytes: no machine holds one
    const char *name = claim(w, &w->identifiers, hdst__arena_printf(w->arena, "%s_block", record->name));
    hdst__name_set members = {0};
    hdst__buffer_printf(w->out,
                        "\n// Layout aosoa: record i is in block[i / %llu], its values at [i %% %llu] of their arrays. A block has %llu bytes.\nstruct %s {\n",
                        (ull)record->block, (ull)record->block, (ull)hdst__storage_bytes(block), name);
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        hdst__buffer_printf(w->out, "    %s %s", leaf_c_type(leaf), claim(w, &members, flat_name(w, leaf->path)));
        for (uint32_t d = 0; d < leaf->dims; d++) hdst__buffer_printf(w->out, "[%llu]", (ull)leaf->dim[d].count);
        hdst__buffer_printf(w->out, "[%llu];\n", (ull)record->block);
    }
    hdst__buffer_printf(w->out, "};\n_Static_assert(sizeof(struct %s) == %llu, \"size of %s\");\n", name, (ull)hdst__storage_bytes(block), name);
    for (size_t l = 0; l < record->leaf_count; l++) {
        const char *member = flat_name(w, record->leaves[l].path);
        hdst__buffer_printf(w->out, "_Static_assert(offsetof(struct %s, %s) == %llu, \"offset of %s.%s\");\n", name, member, (ull)block->leaf[l].offset, name,
                            member);
    }
}

// --- All of it ---

static void write_record(writer *w, const hdst__record *record)
{
    if (hdst__name_set_add(w->arena, &w->records, record->name, 0) != HDST__NO_NAME) return;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__type *base = hdst__type_base(record->fields[i].type);
        if (base->kind == HDST__RECORD) write_record(w, base->record);      // C wants it first
    }
    write_struct(w, record);
    switch (record->layout) {
    case HDST__AOS: break;
    case HDST__SOA: write_soa(w, record); break;
    case HDST__AOP: write_aop(w, record); break;
    case HDST__AOSOA: write_aosoa(w, record); break;
    }
}

static bool has_arrays(const hdst__record *record)
{
    if (record->layout == HDST__SOA || record->layout == HDST__AOP) return true;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__type *base = hdst__type_base(record->fields[i].type);
        if (base->kind == HDST__RECORD && has_arrays(base->record)) return true;
    }
    return false;
}

hdst_status hdst__schema_header(hdst__arena *arena, const char *source, hdst__record *const *records, size_t count, hdst__buffer *out, hdst_error *error)
{
    writer w = {.arena = arena, .out = out};
    bool text = false, arrays = false;
    for (size_t i = 0; i < count; i++) {
        text |= records[i]->has_text;
        arrays |= has_arrays(records[i]);
    }
    const char *guard = guard_name(&w, source);
    write_head(&w, source, guard, text, arrays);
    for (size_t i = 0; i < count; i++) write_record(&w, records[i]);
    hdst__buffer_puts(out, "\n#endif\n");
    if (!w.clash) return HDST_OK;
    hdst__error_set(error, HDST_E_SCHEMA, "the header would need the name '%s' twice", w.clash);
    hdst__error_hint(error, "rename one of the fields or records that lead to it");
    return HDST_E_SCHEMA;
}
