// SPDX-License-Identifier: Apache-2.0
// Types; records by their fields and leaves.
#include "record/type.h"

#include <string.h>


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
uint64_t hdst__type_leaves(const hdst__type *type) { return type->kind == HDST__RECORD ? type->record->leaf_count : 1; }
const char *hdst__unsigned_cl_name(uint64_t bytes) { return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong"; }
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
