// SPDX-License-Identifier: Apache-2.0
// The NumPy dtype of a record: names, formats, offsets and item size, so that padding and packing are as in C.
#include "record/schema.h"

static const char *scalar_format(hdst__kind kind)
{
    static const char *const formats[HDST__SCALAR_KINDS] = {
        [HDST__BOOL] = "'?'", [HDST__I8] = "'<i1'", [HDST__I16] = "'<i2'", [HDST__I32] = "'<i4'", [HDST__I64] = "'<i8'", [HDST__U8] = "'<u1'",
        [HDST__U16] = "'<u2'", [HDST__U32] = "'<u4'", [HDST__U64] = "'<u8'", [HDST__F32] = "'<f4'", [HDST__F64] = "'<f8'",
        [HDST__TEXT] = "{'names': ['length', 'start', 'rest'], 'formats': ['<u4', 'V4', 'V8'], 'offsets': [0, 4, 8], 'itemsize': 16}",
    };
    return formats[kind];
}

static void print_type(const hdst__type *type, hdst__buffer *out)
{
    const hdst__type *base = type;
    while (base->kind == HDST__ARRAY) base = base->element;
    if (base != type) hdst__buffer_puts(out, "(");
    if (base->kind == HDST__RECORD) hdst__schema_numpy(base->record, out);
    else hdst__buffer_puts(out, scalar_format(base->kind));
    if (base == type) return;
    hdst__buffer_puts(out, ", (");
    for (; type != base; type = type->element) hdst__buffer_printf(out, "%llu,%s", (unsigned long long)type->count, type->element == base ? "" : " ");
    hdst__buffer_puts(out, "))");
}

void hdst__schema_numpy(const hdst__record *record, hdst__buffer *out)
{
    hdst__buffer_puts(out, "{'names': [");
    for (size_t i = 0; i < record->field_count; i++) hdst__buffer_printf(out, "%s'%s'", i ? ", " : "", record->fields[i].name);
    hdst__buffer_puts(out, "], 'formats': [");
    for (size_t i = 0; i < record->field_count; i++) {
        hdst__buffer_puts(out, i ? ", " : "");
        print_type(record->fields[i].type, out);
    }
    hdst__buffer_puts(out, "], 'offsets': [");
    for (size_t i = 0; i < record->field_count; i++) hdst__buffer_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)record->fields[i].offset);
    hdst__buffer_printf(out, "], 'itemsize': %llu}", (unsigned long long)record->size);
}
