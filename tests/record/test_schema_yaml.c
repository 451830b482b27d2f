// SPDX-License-Identifier: Apache-2.0
// What a good schema becomes. Mistakes are in test_schema_bad.c.
#include "record/schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;
static hdst__schema schema;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(schema_yaml, .init = set_up, .fini = tear_down);

static void read_with(const char *text, const hdst__param_value *params, size_t count)
{
    bool good = hdst__schema_read(&diags, "test.yaml", text, strlen(text), params, count, false, &schema);
    cr_assert(good, "%s", diags.count ? diags.items[0].message : "no message");
}

static void read_schema(const char *text) { read_with(text, NULL, 0); }

static const char *type_of(const char *record, const char *field)
{
    return hdst__type_name(&arena, hdst__record_field(hdst__schema_record(&schema, record), field)->type);
}

Test(schema_yaml, the_schema_of_the_design_reads_as_written)
{
    hdst__param_value d = {.name = "D", .bits = 3};
    read_with("# a comment\nparams: [D]\nrecords:\n  point:\n    layout: soa\n    align: 4\n    fields:\n      - {name: x, type: float32, count: D}\n", &d, 1);
    cr_assert_eq(schema.record_count, 1);
    hdst__record *point = hdst__schema_record(&schema, "point");
    cr_assert_eq(point->layout, HDST__SOA);
    cr_assert_eq(point->pack, 4);
    cr_assert_eq(point->size, 12);
    cr_assert_str_eq(type_of("point", "x"), "float[3]");
    cr_assert_eq(schema.param_count, 1);
    cr_assert(schema.params[0].given);
    cr_assert_null(hdst__schema_record(&schema, "line"));
    uint32_t line, column;
    hdst__span_position(&diags, (hdst__span){point->source, point->offset, 0}, &line, &column);
    cr_assert_eq(line, 4);
    cr_assert_eq(column, 3);
}

Test(schema_yaml, a_single_record_needs_no_records)
{
    read_schema("record: pair\nlayout: {aosoa: 128}\nfields:\n- name: a\n  type: int64\n- name: b\n  type: bool\n");
    hdst__record *pair = hdst__schema_record(&schema, "pair");
    cr_assert_eq(pair->layout, HDST__AOSOA);
    cr_assert_eq(pair->block, 128);
    cr_assert_eq(pair->size, 16);
}

Test(schema_yaml, every_type_has_its_name)
{
    read_schema("record: all\nfields:\n"
                "- {name: a, type: bool}\n- {name: b, type: int8}\n- {name: c, type: int16}\n- {name: d, type: int32}\n- {name: e, type: int64}\n"
                "- {name: f, type: uint8}\n- {name: g, type: uint16}\n- {name: h, type: uint32}\n- {name: i, type: uint64}\n- {name: j, type: float32}\n"
                "- {name: k, type: float64}\n- {name: l, type: text}\n- {name: m, type: float32x3}\n- {name: n, type: uint8x16, count: [2, 5]}\n"
                "- {name: o, type: int8, count: 1}\n");
    static const char *const types[] = {"bool", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float",
                                        "double", "text", "float[3]", "uint8_t[2][5][16]", "int8_t[1]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char name[] = {(char)('a' + i), 0};
        cr_assert_str_eq(type_of("all", name), types[i]);
    }
    cr_assert(schema.records[0]->has_text);
}

Test(schema_yaml, a_vector_of_three_floats_takes_twelve_bytes)
{
    read_schema("record: v\nfields: [{name: p, type: float32x3}, {name: q, type: float32}]\n");
    cr_assert_eq(hdst__record_field(schema.records[0], "q")->offset, 12);
}

Test(schema_yaml, records_may_come_in_any_order)
{
    read_schema("records:\n"
                "  line: {fields: [{name: from, type: point}, {name: to, type: point}, {name: via, type: point, count: [2, 3]}]}\n"
                "  point: {fields: [{name: x, type: float64}, {name: tag, type: tag}]}\n"
                "  tag: {fields: [{name: letter, type: int8}]}\n");
    cr_assert_eq(schema.record_count, 3);
    cr_assert_str_eq(schema.records[0]->name, "line");
    cr_assert_str_eq(schema.records[2]->name, "tag");
    cr_assert_eq(schema.records[0]->size, 8 * 16);
    cr_assert_str_eq(type_of("line", "via"), "struct point[2][3]");
    cr_assert_eq(hdst__record_leaf(schema.records[0], "via.tag.letter"), 5);
}

Test(schema_yaml, words_of_the_kernel_language_are_free_for_fields)
{
    read_schema("record: map\nfields: [{name: key, type: uint32}, {name: text, type: text}, "
                "{name: filter, type: bool}, {name: y, type: float32}, {name: n, type: int8}]\n");
    cr_assert_eq(schema.records[0]->field_count, 5);
}

Test(schema_yaml, a_param_without_a_value_may_be_assumed_with_a_note)
{
    const char *text = "params: [D, E]\nrecord: p\nfields: [{name: x, type: float32, count: D}, {name: y, type: uint8, count: D}]\n";
    cr_assert(hdst__schema_read(&diags, "test.yaml", text, strlen(text), NULL, 0, true, &schema));
    cr_assert_str_eq(type_of("p", "y"), "uint8_t[4]");
    cr_assert_eq(diags.count, 1);
    cr_assert_eq(diags.items[0].severity, HDST__NOTE);
    cr_assert_str_eq(diags.items[0].message, "param 'D' has no value: 4 is assumed");
    cr_assert_not(schema.params[0].given);
}

Test(schema_yaml, params_of_others_are_passed_by)
{
    hdst__param_value values[] = {{.name = "K", .bits = 9}, {.name = "D", .bits = 2}, {.name = "eps", .real = 0.5, .is_real = true}};
    read_with("params: [D]\nrecord: p\nfields: [{name: x, type: float32, count: [D, 2]}]\n", values, 3);
    cr_assert_str_eq(type_of("p", "x"), "float[2][2]");
}

Test(schema_yaml, a_byte_order_mark_and_crlf_are_no_trouble)
{
    read_schema("\xEF\xBB\xBFrecord: p\r\nfields:\r\n  - {name: x, type: float32}\r\n");
    cr_assert_str_eq(schema.records[0]->name, "p");
    cr_assert_eq(schema.records[0]->offset, 11);
}

Test(schema_yaml, good_records_are_there_beside_bad_ones)
{
    const char *text = "records:\n  a: {fields: [{name: x, type: no}]}\n  b: {fields: [{name: x, type: uint8}]}\n  c: {fields: [{name: a, type: a}]}\n";
    cr_assert_not(hdst__schema_read(&diags, "test.yaml", text, strlen(text), NULL, 0, false, &schema));
    cr_assert_eq(diags.errors, 1, "a record that nests a bad one is not blamed");
    cr_assert_eq(schema.record_count, 1);
    cr_assert_str_eq(schema.records[0]->name, "b");
}

static char *chain(size_t length, bool innermost_first)
{
    char *text = calloc(1, 100 * length + 100), *at = text + sprintf(text, "records:\n");
    for (size_t i = 0; i < length; i++) {
        size_t r = innermost_first ? length - 1 - i : i;
        if (r + 1 < length) at += sprintf(at, "  r%zu: {fields: [{name: f, type: r%zu}]}\n", r, r + 1);
        else at += sprintf(at, "  r%zu: {fields: [{name: f, type: uint8}]}\n", r);
    }
    return text;
}

Test(schema_yaml, nesting_is_bounded_whatever_the_order)
{
    for (int innermost_first = 0; innermost_first < 2; innermost_first++) {
        char *deep = chain(65, innermost_first), *too_deep = chain(66, innermost_first);
        read_schema(deep);
        size_t errors = diags.errors;
        cr_assert_not(hdst__schema_read(&diags, "test.yaml", too_deep, strlen(too_deep), NULL, 0, false, &schema));
        cr_assert_eq(diags.errors, errors + 1);
        cr_assert_str_eq(diags.items[diags.count - 1].message, "records are nested more than 64 deep");
        free(deep);
        free(too_deep);
    }
}

// Each allocation of the whole reading fails once: no leak, no crash, and the handler that was there before is back.
static size_t allocations_left;

static void *allocate_or_fail(size_t bytes, void *user)
{
    (void)user;
    return allocations_left-- ? malloc(bytes) : NULL;
}

static void release(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

static bool read_with_allocations(size_t allowed, const char *text)
{
    hdst__allocator allocator = {.allocate = allocate_or_fail, .release = release};
    hdst__arena small;
    jmp_buf failed;
    allocations_left = allowed;
    hdst__arena_init(&small, &allocator, &failed);
    if (setjmp(failed)) {
        cr_assert_eq(small.out_of_memory, &failed);
        hdst__arena_destroy(&small);
        return false;
    }
    hdst__diags small_diags;
    hdst__schema out;
    hdst__diags_init(&small_diags, &small);
    cr_assert(hdst__schema_read(&small_diags, "test.yaml", text, strlen(text), NULL, 0, false, &out));
    hdst__arena_destroy(&small);
    return true;
}

Test(schema_yaml, every_allocation_may_fail)
{
    // Long enough for several blocks of the arena.
    char *text = calloc(1, 400000), *at = text + sprintf(text, "record: wide\nfields:\n");
    for (int i = 0; i < 5000; i++) at += sprintf(at, "  - {name: field%d, type: float32x3, count: [2, 2]}\n", i);
    size_t allowed = 0;
    while (!read_with_allocations(allowed, text)) allowed++;
    cr_assert_gt(allowed, 10);
    free(text);
}

static const char *shown(const char *text, size_t length, hdst__buffer *again)
{
    hdst__diags some;
    hdst__schema read;
    hdst__buffer table;
    hdst__diags_init(&some, &arena);
    hdst__buffer_init(&table, NULL);
    cr_assert(hdst__schema_read(&some, "t.yaml", text, length, NULL, 0, false, &read));
    hdst__schema_show(&arena, read.records, read.record_count, &table);
    if (again) hdst__schema_write(read.records, read.record_count, again);
    const char *copy = hdst__arena_printf(&arena, "%s", hdst__buffer_text(&table));
    hdst__buffer_destroy(&table);
    return copy;
}

Test(schema_yaml, what_is_written_of_empty_cells_reads_back)
{
    static const char text[] = "record: a\nnull_values: [NA, \"it's\", 'no value']\nfields:\n  - {name: x, type: float32, missing: nan}\n"
                               "  - {name: n, type: int32, null_values: [-, ~], valid: has_n}\n  - {name: has_n, type: bool}\n";
    hdst__buffer written;
    hdst__buffer_init(&written, NULL);
    const char *first = shown(text, sizeof text - 1, &written);
    cr_assert(strstr(first, "empty cells of x: nan\n    as empty count: 'NA', 'it's', 'no value'\n"), "%s", first);
    cr_assert(strstr(first, "empty cells of n: zero, and 0 in has_n\n    as empty count: '-', '~'\n"), "%s", first);
    cr_assert_str_eq(shown(hdst__buffer_text(&written), strlen(hdst__buffer_text(&written)), NULL), first);
    hdst__buffer_destroy(&written);
}
