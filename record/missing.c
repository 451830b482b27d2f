// SPDX-License-Identifier: Apache-2.0
// What fields hold whose cell is empty (record/type.h): the rules, and how they come to the leaves.
#include "record/missing.h"

#include <string.h>

static bool same_counts(const hdst__type *a, const hdst__type *b)
{
    for (; a->kind == HDST__ARRAY && b->kind == HDST__ARRAY; a = a->element, b = b->element)
        if (a->count != b->count) return false;
    return a->kind != HDST__ARRAY && b->kind != HDST__ARRAY;
}

static const char *wrong_validity(hdst__arena *arena, const hdst__record *record, const hdst__field *field)
{
    const hdst__field *valid = hdst__record_field(record, field->valid);
    if (!valid) return hdst__arena_printf(arena, "there is no field '%s', which is to say whether '%s' is valid", field->valid, field->name);
    const hdst__kind kind = hdst__type_base(valid->type)->kind;
    const char *must = kind != HDST__BOOL && kind != HDST__U8   ? "is a bool or uint8"
                       : !same_counts(field->type, valid->type) ? "has the same count"
                       : valid->valid || valid->missing         ? "takes no cell of its own"
                                                                : NULL;
    if (must) return hdst__arena_printf(arena, "'%s' says whether '%s' is valid: it %s", valid->name, field->name, must);
    for (const hdst__field *other = record->fields; other < field; other++)
        if (other->valid && !strcmp(other->valid, field->valid))
            return hdst__arena_printf(arena, "'%s' cannot say whether '%s' is valid and '%s', too", valid->name, other->name, field->name);
    return NULL;
}

const char *hdst__missing_wrong(hdst__arena *arena, const hdst__record *record)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        const hdst__kind kind = hdst__type_base(field->type)->kind;
        if (!field->missing && !field->valid && !field->null_values) continue;
        if (kind == HDST__RECORD) return hdst__arena_printf(arena, "'%s' is a record: what is missing is said of its fields", field->name);
        if (field->missing == HDST__MISSING_NAN && !hdst__kind_is_float(kind))
            return hdst__arena_printf(arena, "'%s' cannot be nan: it is no float", field->name);
        if (field->valid && (field->missing == HDST__MISSING_ERROR || field->missing == HDST__MISSING_SKIP))
            return hdst__arena_printf(arena, "'%s' says whether '%s' is valid, so an empty cell is no error", field->valid, field->name);
        const char *wrong = field->valid ? wrong_validity(arena, record, field) : NULL;
        if (wrong) return wrong;
    }
    return NULL;
}

const char *hdst__null_value_wrong(const char *text, size_t length)
{
    enum { LONGEST = 64 };
    if (length == 0) return "a cell without anything is empty anyway";
    if (length > LONGEST) return "a null value has 64 bytes at most";
    if (text[0] == ' ' || text[length - 1] == ' ') return "blanks around a cell are no part of it, nor of a null value";
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127 || text[i] == '"') return "a null value has no quotes or control characters";
    return NULL;
}

hdst__missing hdst__missing_of(const hdst__field *field)
{
    if (field->missing) return field->missing;
    return field->valid || hdst__type_base(field->type)->kind == HDST__TEXT ? HDST__MISSING_ZERO : HDST__MISSING_ERROR;
}

static uint32_t first_leaf(const hdst__record *record, const hdst__field *field)
{
    uint32_t leaf = 0;
    for (const hdst__field *f = record->fields; f < field; f++) {
        const hdst__type *base = hdst__type_base(f->type);
        leaf += base->kind == HDST__RECORD ? (uint32_t)base->record->leaf_count : 1;
    }
    return leaf;
}

void hdst__missing_link(const hdst__record *record, hdst__leaf *leaves)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        if (!field->valid) continue;
        const uint32_t valid = first_leaf(record, hdst__record_field(record, field->valid));
        leaves[first_leaf(record, field)].valid = valid + 1;
        leaves[valid].is_validity = true;
    }
}
