// SPDX-License-Identifier: Apache-2.0
// The columns of a source as fields of a record that fits them (columns.h).
#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- The record ---

static bool is_identifier(const char *name)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t length = strlen(name);
    return length > 0 && length < sizeof ((column *)NULL)->name && strspn(name, characters) == length && !strchr("0123456789", name[0]);
}

static void name_columns(const program_run *run, columns *c)
{
    bool all = true;
    for (uint32_t i = 0; i < c->count; i++) {
        const char *name = hdst_source_column_name(run->source, i);
        all = all && name && is_identifier(name);
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (all) strcpy(c->column[i].name, hdst_source_column_name(run->source, i));
        else snprintf(c->column[i].name, sizeof c->column[i].name, "c%" PRIu32, i);
    }
}

static uint64_t size_of(hdst_type type)
{
    switch (type) {
    case HDST_BOOL: case HDST_INT8: case HDST_UINT8: return 1;
    case HDST_INT16: case HDST_UINT16: return 2;
    case HDST_INT32: case HDST_UINT32: case HDST_FLOAT32: return 4;
    default: return 8;
    }
}

static hdst_status make_schema(program_run *run, columns *c, hdst_schema *schema, hdst_error *error)
{
    uint64_t end = 0;
    hdst_status status = hdst_schema_add_record(schema, "row", HDST_AOS, 0, 0, error);
    for (uint32_t i = 0; i < c->count && status == HDST_OK; i++) {
        column *one = &c->column[i];
        if (!hdst_source_column_type(run->source, i, &one->type) || one->type == HDST_TEXT) one->type = HDST_FLOAT64;
        const uint64_t size = size_of(one->type);
        one->offset = (end + size - 1) / size * size;
        end = one->offset + size;
        status = hdst_schema_add_field(schema, one->name, one->type, 1, error);
    }
    c->row_bytes = hdst_schema_record_size(schema, "row");
    return status;
}

hdst_status columns_open(program_run *run, columns *c, hdst_module **module, hdst_error *error)
{
    *c = (columns){.count = hdst_source_columns(run->source)};
    c->column = calloc(c->count ? c->count : 1, sizeof *c->column);
    if (!c->column) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the columns");
    name_columns(run, c);
    hdst_schema *schema = hdst_schema_create(run->context);
    hdst_status status = make_schema(run, c, schema, error);
    if (status == HDST_OK) {
        hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
        options.schemas = &schema;
        options.schema_count = 1;
        *module = hdst_module_parse(run->context, "columns", "", &options);
        status = hdst_module_status(*module, error);
    }
    hdst_schema_destroy(schema);
    return status;
}

void columns_free(columns *c) { free(c->column); }

int64_t columns_find(const program_run *run, const columns *c, const char *word)
{
    char *end;
    const unsigned long index = strtoul(word, &end, 10);
    if (*word && strspn(word, "0123456789") == strlen(word) && index < c->count) return (int64_t)index;
    for (uint32_t i = 0; i < c->count; i++) {
        const char *name = hdst_source_column_name(run->source, i);
        if (!strcmp(c->column[i].name, word) || (name && !strcmp(name, word))) return i;
    }
    return -1;
}

// --- Order ---

#define COMPARE(type)                                   \
    do {                                                \
        type p, q;                                      \
        memcpy(&p, a + c->offset, sizeof p);            \
        memcpy(&q, b + c->offset, sizeof q);            \
        return p < q ? -1 : p > q;                      \
    } while (0)

// Bits of a float as a signed number in the total order: those of a negative float count backwards.
static int compare_bits(uint64_t x, uint64_t y, uint64_t sign)
{
    const int64_t p = x & sign ? -(int64_t)(x & (sign - 1)) - 1 : (int64_t)x, q = y & sign ? -(int64_t)(y & (sign - 1)) - 1 : (int64_t)y;
    return p < q ? -1 : p > q;
}

int columns_compare(const column *c, const char *a, const char *b)
{
    uint64_t x = 0, y = 0;
    switch (c->type) {
    case HDST_INT8: COMPARE(int8_t);
    case HDST_INT16: COMPARE(int16_t);
    case HDST_INT32: COMPARE(int32_t);
    case HDST_INT64: COMPARE(int64_t);
    case HDST_BOOL: case HDST_UINT8: COMPARE(uint8_t);
    case HDST_UINT16: COMPARE(uint16_t);
    case HDST_UINT32: COMPARE(uint32_t);
    case HDST_UINT64: COMPARE(uint64_t);
    default: break;
    }
    const uint64_t size = size_of(c->type);
    memcpy(&x, a + c->offset, size);
    memcpy(&y, b + c->offset, size);
    return compare_bits(x, y, (uint64_t)1 << (size * 8 - 1));
}
