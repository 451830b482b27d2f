// SPDX-License-Identifier: Apache-2.0
// The C layout of records: offsets, sizes, alignment, leaves.
#include "record/missing.h"

#include <string.h>

enum { MAX_LEAVES = 10000, MAX_PATH_BYTES = 1000 };
#define MAX_ELEMENTS ((uint64_t)UINT32_MAX - 16)        // of a leaf: loops over them count to the end, by 16 even, in 32 bits
#define MAX_RECORD_BYTES ((uint64_t)1 << 40)

static uint64_t multiply(uint64_t a, uint64_t b)     // saturates: the sizes of types that are refused later must not wrap to small ones
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

// Places the fields one after another as a C compiler does. Works on a copy, so that the caller's array may be constant.
static const char *place_fields(hdst__arena *arena, hdst__record *record)
{
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, record->field_count);
    uint64_t end = 0, widest = 1;
    for (size_t i = 0; i < record->field_count; i++) {
        fields[i] = record->fields[i];
        uint64_t size = hdst__type_size(fields[i].type), align = hdst__type_align(fields[i].type, record->pack);
        if (size > MAX_RECORD_BYTES) return hdst__arena_printf(arena, "field '%s' is larger than 2^40 bytes", fields[i].name);
        fields[i].offset = round_up(end, align);
        end = fields[i].offset + size;
        if (end > MAX_RECORD_BYTES) return "the record is larger than 2^40 bytes";
        if (align > widest) widest = align;
    }
    record->fields = fields;
    record->align = record->pack ? record->pack : widest;
    record->size = round_up(end, record->align);
    return NULL;
}

// The leaf of a field of `dims` array dimensions that comes from `inner`, a leaf of its base type.
static const char *make_leaf(hdst__arena *arena, const hdst__field *field, const hdst__leaf *inner, hdst__leaf *leaf)
{
    leaf->path = *inner->path ? hdst__arena_printf(arena, "%s.%s", field->name, inner->path) : field->name;
    if (strlen(leaf->path) > MAX_PATH_BYTES) return "records are nested too deeply: the path to a field is longer than 1000 characters";
    leaf->kind = inner->kind;
    leaf->time = field->time ? field->time : inner->time;
    leaf->missing = inner->missing ? inner->missing : hdst__missing_of(field);
    leaf->null_values = inner->null_values ? inner->null_values : field->null_values;
    leaf->is_validity = inner->is_validity;
    leaf->elements = 1;
    leaf->offset = field->offset + inner->offset;
    for (const hdst__type *type = field->type; type->kind == HDST__ARRAY; type = type->element) {
        if (leaf->dims == HDST__LEAF_DIMS) return hdst__arena_printf(arena, "'%s' has more than %d dimensions", leaf->path, HDST__LEAF_DIMS);
        leaf->dim[leaf->dims].count = type->count;
        leaf->dim[leaf->dims++].stride = hdst__type_size(type->element);
        leaf->elements = multiply(leaf->elements, type->count);
    }
    if (leaf->dims + inner->dims > HDST__LEAF_DIMS) return hdst__arena_printf(arena, "'%s' has more than %d dimensions", leaf->path, HDST__LEAF_DIMS);
    for (uint32_t d = 0; d < inner->dims; d++) leaf->dim[leaf->dims++] = inner->dim[d];
    leaf->elements = multiply(leaf->elements, inner->elements);
    if (leaf->elements > MAX_ELEMENTS) return hdst__arena_printf(arena, "'%s' has more than %llu numbers", leaf->path, (unsigned long long)MAX_ELEMENTS);
    return NULL;
}

// Nested records are finished already, so their leaves only get this record's path, dimensions and offset in front.
static const char *make_leaves(hdst__arena *arena, hdst__record *record)
{
    size_t count = 0, made = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__type *base = hdst__type_base(record->fields[i].type);
        count += base->kind == HDST__RECORD ? base->record->leaf_count : 1;
        if (count > MAX_LEAVES) return hdst__arena_printf(arena, "the record has more than %d scalar fields, nested ones counted", MAX_LEAVES);
    }
    hdst__leaf *leaves = HDST__NEW_ARRAY(arena, hdst__leaf, count);
    record->elements = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        const hdst__type *base = hdst__type_base(field->type);
        const hdst__leaf scalar = {.path = "", .kind = base->kind, .elements = 1};
        size_t inner_count = base->kind == HDST__RECORD ? base->record->leaf_count : 1;
        for (size_t j = 0; j < inner_count; j++, made++) {
            const char *why = make_leaf(arena, field, base->kind == HDST__RECORD ? &base->record->leaves[j] : &scalar, &leaves[made]);
            if (why) return why;
            const uint32_t inner_valid = base->kind == HDST__RECORD ? base->record->leaves[j].valid : 0;
            leaves[made].valid = inner_valid ? inner_valid + (uint32_t)(made - j) : 0;
            leaves[made].first = record->elements;
            record->elements += leaves[made].elements;
            record->has_text |= leaves[made].kind == HDST__TEXT;
        }
    }
    hdst__missing_link(record, leaves);
    record->leaves = leaves;
    record->leaf_count = count;
    return NULL;
}

bool hdst__record_finish(hdst__arena *arena, hdst__record *record, const char **why)
{
    const char *reason = record->field_count ? place_fields(arena, record) : "the record has no fields";
    if (!reason) reason = hdst__missing_wrong(arena, record);
    if (!reason) reason = make_leaves(arena, record);
    if (reason && why) *why = reason;
    return !reason;
}
