// SPDX-License-Identifier: Apache-2.0
// Types, and the C layout of records: offsets, sizes, alignment, leaves.
#include "record/type.h"

#include <string.h>

enum { MAX_LEAVES = 10000, MAX_PATH_BYTES = 1000 };
#define MAX_ELEMENTS ((uint64_t)UINT32_MAX - 16)        // of a leaf: loops over them count to the end, by 16 even, in 32 bits
#define MAX_RECORD_BYTES ((uint64_t)1 << 40)

static const struct scalar {
    uint8_t size, align;
    const char *c_name, *yaml_name, *cl_name;
} scalars[HDST__SCALAR_KINDS] = {
    [HDST__BOOL] = {1, 1, "bool", "bool", "uchar"},
    [HDST__I8] = {1, 1, "int8_t", "int8", "char"},
    [HDST__I16] = {2, 2, "int16_t", "int16", "short"},
    [HDST__I32] = {4, 4, "int32_t", "int32", "int"},
    [HDST__I64] = {8, 8, "int64_t", "int64", "long"},
    [HDST__U8] = {1, 1, "uint8_t", "uint8", "uchar"},
    [HDST__U16] = {2, 2, "uint16_t", "uint16", "ushort"},
    [HDST__U32] = {4, 4, "uint32_t", "uint32", "uint"},
    [HDST__U64] = {8, 8, "uint64_t", "uint64", "ulong"},
    [HDST__F32] = {4, 4, "float", "float32", "float"},
    [HDST__F64] = {8, 8, "double", "float64", "double"},
    [HDST__TEXT] = {16, 8, "text", "text", "hdst_text"},     // record/text_span.h
};

uint64_t hdst__scalar_size(hdst__kind kind) { return hdst__kind_is_scalar(kind) ? scalars[kind].size : 0; }
const char *hdst__scalar_c_name(hdst__kind kind) { return hdst__kind_is_scalar(kind) ? scalars[kind].c_name : "void"; }
const char *hdst__scalar_yaml_name(hdst__kind kind) { return hdst__kind_is_scalar(kind) ? scalars[kind].yaml_name : "void"; }
const char *hdst__scalar_cl_name(hdst__kind kind) { return hdst__kind_is_scalar(kind) ? scalars[kind].cl_name : "void"; }
bool hdst__kind_is_integer(hdst__kind kind) { return kind >= HDST__I8 && kind <= HDST__U64; }
bool hdst__kind_is_signed(hdst__kind kind) { return kind >= HDST__I8 && kind <= HDST__I64; }
bool hdst__kind_is_float(hdst__kind kind) { return kind == HDST__F32 || kind == HDST__F64; }
bool hdst__kind_is_scalar(hdst__kind kind) { return kind <= HDST__TEXT; }

const hdst__type *hdst__type_scalar(hdst__kind kind)
{
    static const hdst__type types[] = {
        [HDST__BOOL] = {.kind = HDST__BOOL}, [HDST__I8] = {.kind = HDST__I8}, [HDST__I16] = {.kind = HDST__I16}, [HDST__I32] = {.kind = HDST__I32},
        [HDST__I64] = {.kind = HDST__I64}, [HDST__U8] = {.kind = HDST__U8}, [HDST__U16] = {.kind = HDST__U16}, [HDST__U32] = {.kind = HDST__U32},
        [HDST__U64] = {.kind = HDST__U64}, [HDST__F32] = {.kind = HDST__F32}, [HDST__F64] = {.kind = HDST__F64}, [HDST__TEXT] = {.kind = HDST__TEXT},
        [HDST__VOID] = {.kind = HDST__VOID},
    };
    return &types[hdst__kind_is_scalar(kind) ? kind : HDST__VOID];
}

const hdst__type *hdst__type_array(hdst__arena *arena, const hdst__type *element, uint64_t count)
{
    hdst__type *type = HDST__NEW(arena, hdst__type);
    *type = (hdst__type){.kind = HDST__ARRAY, .element = element, .count = count};
    return type;
}

const hdst__type *hdst__type_record(hdst__arena *arena, const hdst__record *record)
{
    hdst__type *type = HDST__NEW(arena, hdst__type);
    *type = (hdst__type){.kind = HDST__RECORD, .record = record};
    return type;
}

bool hdst__type_equal(const hdst__type *a, const hdst__type *b)
{
    for (; a != b; a = a->element, b = b->element) {
        if (!a || !b || a->kind != b->kind) return false;
        if (a->kind == HDST__RECORD) return a->record == b->record;
        if (a->kind != HDST__ARRAY && a->kind != HDST__STREAM) return true;
        if (a->count != b->count) return false;
    }
    return true;
}

const char *hdst__type_name(hdst__arena *arena, const hdst__type *type)
{
    switch (type->kind) {
    case HDST__RECORD: return hdst__arena_printf(arena, "struct %s", type->record->name);
    case HDST__STREAM: return hdst__arena_printf(arena, "stream %s", hdst__type_name(arena, type->element));
    case HDST__ARRAY: break;
    default: return hdst__scalar_c_name(type->kind);
    }
    const char *dims = "";      // as C declares: the outermost dimension first
    for (; type->kind == HDST__ARRAY; type = type->element) dims = hdst__arena_printf(arena, "%s[%llu]", dims, (unsigned long long)type->count);
    return hdst__arena_printf(arena, "%s%s", hdst__type_name(arena, type), dims);
}

static uint64_t multiply(uint64_t a, uint64_t b)     // saturates: the sizes of types that are refused later must not wrap to small ones
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t hdst__type_size(const hdst__type *type)
{
    uint64_t count = 1;
    for (; type->kind == HDST__ARRAY; type = type->element) count = multiply(count, type->count);
    return multiply(count, type->kind == HDST__RECORD ? type->record->size : hdst__scalar_size(type->kind));
}

uint64_t hdst__type_align(const hdst__type *type, uint64_t pack)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    uint64_t align = type->kind == HDST__RECORD ? type->record->align : hdst__kind_is_scalar(type->kind) ? scalars[type->kind].align : 1;
    return pack && pack < align ? pack : align;
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

static const hdst__type *base_type(const hdst__type *type)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    return type;
}

// Nested records are finished already, so their leaves only get this record's path, dimensions and offset in front.
static const char *make_leaves(hdst__arena *arena, hdst__record *record)
{
    size_t count = 0, made = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__type *base = base_type(record->fields[i].type);
        count += base->kind == HDST__RECORD ? base->record->leaf_count : 1;
        if (count > MAX_LEAVES) return hdst__arena_printf(arena, "the record has more than %d scalar fields, nested ones counted", MAX_LEAVES);
    }
    hdst__leaf *leaves = HDST__NEW_ARRAY(arena, hdst__leaf, count);
    record->elements = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__field *field = &record->fields[i];
        const hdst__type *base = base_type(field->type);
        const hdst__leaf scalar = {.path = "", .kind = base->kind, .elements = 1};
        size_t inner_count = base->kind == HDST__RECORD ? base->record->leaf_count : 1;
        for (size_t j = 0; j < inner_count; j++, made++) {
            const char *why = make_leaf(arena, field, base->kind == HDST__RECORD ? &base->record->leaves[j] : &scalar, &leaves[made]);
            if (why) return why;
            leaves[made].first = record->elements;
            record->elements += leaves[made].elements;
            record->has_text |= leaves[made].kind == HDST__TEXT;
        }
    }
    record->leaves = leaves;
    record->leaf_count = count;
    return NULL;
}

bool hdst__record_finish(hdst__arena *arena, hdst__record *record, const char **why)
{
    const char *reason = record->field_count ? place_fields(arena, record) : "the record has no fields";
    if (!reason) reason = make_leaves(arena, record);
    if (reason && why) *why = reason;
    return !reason;
}

const hdst__field *hdst__record_field(const hdst__record *record, const char *name)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (!strcmp(record->fields[i].name, name)) return &record->fields[i];
    return NULL;
}

int hdst__record_leaf(const hdst__record *record, const char *path)
{
    for (size_t i = 0; i < record->leaf_count; i++)
        if (!strcmp(record->leaves[i].path, path)) return (int)i;
    return -1;
}

uint64_t hdst__leaf_offset(const hdst__leaf *leaf, uint64_t element)
{
    uint64_t offset = leaf->offset;
    for (uint32_t d = leaf->dims; d-- > 0; element /= leaf->dim[d].count) offset += element % leaf->dim[d].count * leaf->dim[d].stride;
    return offset;
}

const hdst__type *hdst__type_base(const hdst__type *type)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    return type;
}

bool hdst__record_is_packed(const hdst__record *record)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (hdst__type_align(record->fields[i].type, 0) > hdst__type_align(record->fields[i].type, record->pack)) return true;
    return false;
}

bool hdst__leaf_is_aligned(const hdst__record *record, const hdst__leaf *leaf)
{
    const uint64_t size = hdst__scalar_size(leaf->kind);
    bool aligned = leaf->offset % size == 0 && record->size % size == 0;
    for (uint32_t d = 0; d < leaf->dims; d++) aligned &= leaf->dim[d].stride % size == 0;
    return aligned;
}

bool hdst__leaf_is_dense(const hdst__leaf *leaf)
{
    uint64_t packed = hdst__scalar_size(leaf->kind);
    bool dense = true;
    for (uint32_t d = leaf->dims; d-- > 0;) {
        dense &= leaf->dim[d].stride == packed;
        packed *= leaf->dim[d].count;
    }
    return dense;
}
