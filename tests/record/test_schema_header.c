// SPDX-License-Identifier: Apache-2.0
// What is written from schemas: goldens (tests/refresh-goldens writes them anew), and the golden header put to use beside the library's own addresses.
#include "record/layout.h"
#include "record/schema.h"
#include "schema/golden/nested.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static hdst__schema schema;
static hdst__buffer out;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    hdst__buffer_init(&out, NULL);
}

static void tear_down(void)
{
    hdst__buffer_destroy(&out);
    hdst__arena_destroy(&arena);
}

TestSuite(schema_header, .init = set_up, .fini = tear_down);

static void read_text(const char *text)
{
    hdst__param_value d = {.name = "D", .bits = 2};
    cr_assert(hdst__schema_read(&diags, "test.yaml", text, strlen(text), &d, 1, false, &schema), "%s", diags.count ? diags.items[0].message : "");
}

static char *golden(const char *name, const char *extension)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", HDST_GOLDEN_SCHEMAS, name, extension);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = hdst__arena_alloc(&arena, 1 << 16);
    cr_assert_lt(fread(text, 1, 1 << 16, file), 1 << 16);
    fclose(file);
    return text;
}

static const char *const names[] = {"smallest", "empty_params", "nested", "times"};
#define FOR_EACH_GOLDEN(name) for (size_t g = 0; g < 4; g++) for (const char *name = names[g]; name; name = NULL)

Test(schema_header, headers_are_as_checked)
{
    FOR_EACH_GOLDEN(name) {
        read_text(golden(name, "yaml"));
        hdst__buffer text;
        hdst__buffer_init(&text, NULL);
        const char *source = hdst__arena_printf(&arena, "some/folder/%s.yaml", name);
        cr_assert_eq(hdst__schema_header(&arena, source, schema.records, schema.record_count, &text, NULL), HDST_OK);
        cr_assert_str_eq(hdst__buffer_text(&text), golden(name, "h"));
        hdst__buffer_destroy(&text);
    }
}

Test(schema_header, tables_are_as_checked)
{
    FOR_EACH_GOLDEN(name) {
        read_text(golden(name, "yaml"));
        hdst__buffer text;
        hdst__buffer_init(&text, NULL);
        hdst__schema_show(&arena, schema.records, schema.record_count, &text);
        cr_assert_str_eq(hdst__buffer_text(&text), golden(name, "txt"));
        hdst__buffer_destroy(&text);
    }
}

static const hdst__storage *storage(const char *record, uint64_t capacity)
{
    read_text(golden("nested", "yaml"));
    const hdst__record *r = hdst__schema_record(&schema, record);
    return hdst__storage_make(&arena, r, r->layout, 0, capacity);
}

static uint64_t offset(const hdst__storage *s, const char *path, uint64_t i, uint64_t element)
{
    return hdst__storage_offset(s, (uint32_t)hdst__record_leaf(s->record, path), i, element);
}

Test(schema_header, soa_functions_agree_with_the_storage)
{
    enum { CAPACITY = 77 };
    const hdst__storage *s = storage("track", CAPACITY);
    char *memory = hdst__arena_alloc(&arena, hdst__storage_bytes(s));
    cr_assert_eq(track_storage_bytes(CAPACITY), hdst__storage_bytes(s));
    for (uint64_t i = 0; i < CAPACITY; i += 19) {
        cr_assert_eq((char *)&track_at_id(memory, CAPACITY, 0)[i] - memory, offset(s, "id", i, 0));
        cr_assert_eq((char *)&track_at_name(memory, CAPACITY, 0)[i] - memory, offset(s, "name", i, 0));
        for (uint64_t e = 0; e < 6; e++) cr_assert_eq((char *)&track_at_places_x(memory, CAPACITY, e)[i] - memory, offset(s, "places.x", i, e));
        for (uint64_t e = 0; e < 3; e++) cr_assert_eq((char *)&track_at_places_tag(memory, CAPACITY, e)[i] - memory, offset(s, "places.tag", i, e));
        for (uint64_t e = 0; e < 3; e++) cr_assert_eq((char *)&track_at_places_weight(memory, CAPACITY, e)[i] - memory, offset(s, "places.weight", i, e));
    }
}

Test(schema_header, aop_functions_agree_with_the_storage)
{
    enum { CAPACITY = 77 };
    const hdst__storage *s = storage("pixel", CAPACITY);
    cr_assert_eq(s->buffers, pixel_buffer_count);
    cr_assert_eq(s->buffer_bytes[0], pixel_bytes_of_rgb(CAPACITY));
    cr_assert_eq(s->buffer_bytes[1], pixel_bytes_of_depth(CAPACITY));
    void *buffers[] = {hdst__arena_alloc(&arena, s->buffer_bytes[0]), hdst__arena_alloc(&arena, s->buffer_bytes[1])};
    for (uint64_t e = 0; e < 4; e++) cr_assert_eq((char *)&pixel_at_depth(buffers, CAPACITY, e)[76] - (char *)buffers[1], offset(s, "depth", 76, e));
    for (uint64_t e = 0; e < 3; e++) cr_assert_eq((char *)&pixel_at_rgb(buffers, CAPACITY, e)[5] - (char *)buffers[0], offset(s, "rgb", 5, e));
}

Test(schema_header, aosoa_blocks_agree_with_the_storage)
{
    const hdst__storage *s = storage("sample", 200);
    struct sample_block *block = hdst__arena_alloc(&arena, hdst__storage_bytes(s));
    cr_assert_eq(hdst__storage_bytes(s), 4 * sizeof *block);
    for (uint64_t i = 0; i < 200; i += 33) {
        struct sample_block *b = &block[i / 64];
        cr_assert_eq((char *)&b->good[i % 64] - (char *)block, offset(s, "good", i, 0));
        for (uint64_t e = 0; e < 4; e++) cr_assert_eq((char *)&b->at_x[e / 2][e % 2][i % 64] - (char *)block, offset(s, "at.x", i, e));
    }
}

Test(schema_header, a_name_that_two_fields_need_is_an_error)
{
    read_text("records:\n  p: {layout: soa, fields: [{name: a, type: q}, {name: a_x, type: uint8}]}\n  q: {fields: [{name: x, type: uint8}]}\n");
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__schema_header(&arena, "p.yaml", schema.records, schema.record_count, &out, &error), HDST_E_SCHEMA);
    cr_assert_str_eq(error.message, "the header would need the name 'p_offset_of_a_x' twice");
}

Test(schema_header, a_nested_record_that_was_not_named_is_written_first)
{
    read_text("records:\n  p: {fields: [{name: a, type: q}]}\n  q: {layout: soa, fields: [{name: x, type: uint8}]}\n");
    hdst__record *only[] = {hdst__schema_record(&schema, "p")};
    cr_assert_eq(hdst__schema_header(&arena, "p.yaml", only, 1, &out, NULL), HDST_OK);
    const char *text = hdst__buffer_text(&out), *q = strstr(text, "struct q {"), *p = strstr(text, "struct p {");
    cr_assert(q && p && q < p);
    cr_assert(strstr(text, "hdst_array_bytes(uint64_t"));
}
