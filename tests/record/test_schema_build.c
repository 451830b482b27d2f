// SPDX-License-Identifier: Apache-2.0
// Records made in C equal those from YAML, and are refused for the same reasons.
#include "record/schema.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__schema made;
static hdst_error error;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    memset(&made, 0, sizeof made);
    memset(&error, 0, sizeof error);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(schema_build, .init = set_up, .fini = tear_down);

static hdst_status add_record(const char *name) { return hdst__schema_add_record(&arena, &made, name, HDST__AOS, 0, 0, &error); }
static hdst_status add_field(const char *name, hdst__kind kind) { return hdst__schema_add_field(&arena, &made, name, kind, NULL, 0, &error); }
static hdst_status close_schema(void) { return hdst__schema_close(&arena, &made, &error); }

#define ASSERT_OK(call) cr_assert_eq((call), HDST_OK, "%s", error.message)
#define ASSERT_REFUSED(call, text)             \
    cr_assert_eq((call), HDST_E_SCHEMA);       \
    cr_assert_str_eq(error.message, text)

Test(schema_build, dates_times_and_empty_cells)
{
    const uint64_t two = 2;
    ASSERT_OK(add_record("trade"));
    ASSERT_OK(hdst__schema_add_time(&arena, &made, "day", HDST__DAYS, NULL, 0, &error));
    ASSERT_OK(hdst__schema_set_missing(&arena, &made, HDST__MISSING_ZERO, "has_day", &error));
    ASSERT_OK(hdst__schema_add_time(&arena, &made, "at", HDST__NANOSECONDS, &two, 1, &error));
    ASSERT_OK(add_field("has_day", HDST__BOOL));
    ASSERT_OK(close_schema());
    const hdst__leaf *leaves = made.records[0]->leaves;
    cr_assert(leaves[0].kind == HDST__I32 && leaves[0].time == HDST__DAYS && leaves[0].valid == 3 && leaves[0].missing == HDST__MISSING_ZERO);
    cr_assert(leaves[1].kind == HDST__I64 && leaves[1].time == HDST__NANOSECONDS && leaves[1].elements == 2 && leaves[1].missing == HDST__MISSING_ERROR);
    cr_assert(leaves[2].is_validity && !leaves[2].valid);
    ASSERT_OK(add_record("other"));
    cr_assert_eq(hdst__schema_set_missing(&arena, &made, HDST__MISSING_ZERO, NULL, &error), HDST_E_USAGE);
    ASSERT_REFUSED(hdst__schema_add_time(&arena, &made, "t", (hdst__time_unit)9, NULL, 0, &error), "field 't': 9 is no unit of a time");
    ASSERT_OK(add_record("third"));
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_REFUSED(hdst__schema_set_missing(&arena, &made, (hdst__missing)9, NULL, &error), "field 'x': 9 says nothing of empty cells");
}

// Each is refused, and with it its schema.
static void refuse_null_values(const char *const *words, size_t count, const char *text)
{
    ASSERT_OK(add_record("row"));
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_REFUSED(hdst__schema_set_null_values(&arena, &made, words, count, &error), text);
    close_schema();
}

Test(schema_build, null_values)
{
    static const char *const good[] = {"NA", "-"};
    ASSERT_OK(add_record("row"));
    cr_assert_eq(hdst__schema_set_null_values(&arena, &made, good, 2, &error), HDST_E_USAGE, "there is no field yet");
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_OK(hdst__schema_set_null_values(&arena, &made, good, 2, &error));
    ASSERT_OK(add_field("y", HDST__F32));
    ASSERT_OK(close_schema());
    const hdst__null_values *values = made.records[0]->leaves[0].null_values;
    cr_assert(values && values->count == 2 && !memcmp(values->value[1].bytes, "-", values->value[1].length) && !made.records[0]->leaves[1].null_values);
}

Test(schema_build, null_values_that_are_none)
{
    static const char *const empty[] = {"NA", ""}, *const blank[] = {" NA"}, *const quoted[] = {"N\"A"}, *const none[] = {NULL};
    refuse_null_values(empty, 2, "field 'x': null value 1: a cell without anything is empty anyway");
    refuse_null_values(blank, 1, "field 'x': null value 0: blanks around a cell are no part of it, nor of a null value");
    refuse_null_values(quoted, 1, "field 'x': null value 0: a null value has no quotes or control characters");
    refuse_null_values(none, 1, "field 'x': null value 0: a null value is a word");
    refuse_null_values(empty, 0, "field 'x': 0 null values: 1 to 64 words");
    refuse_null_values(empty, 65, "field 'x': 65 null values: 1 to 64 words");
}

Test(schema_build, records_are_the_same_as_from_yaml)
{
    static const char yaml[] = "records:\n"
                               "  place: {align: 4, fields: [{name: x, type: float64, count: [3, 2]}, {name: tag, type: uint8}, {name: w, type: float64}]}\n"
                               "  track: {layout: {aosoa: 128}, fields: [{name: places, type: place, count: 5}, {name: name, type: text}]}\n";
    hdst__diags diags;
    hdst__schema read;
    hdst__diags_init(&diags, &arena);
    cr_assert(hdst__schema_read(&diags, "t.yaml", yaml, sizeof yaml - 1, NULL, 0, false, &read));

    const uint64_t three_two[] = {3, 2}, five = 5;
    ASSERT_OK(hdst__schema_add_record(&arena, &made, "place", HDST__AOS, 4, 0, &error));
    ASSERT_OK(hdst__schema_add_field(&arena, &made, "x", HDST__F64, three_two, 2, &error));
    ASSERT_OK(add_field("tag", HDST__U8));
    ASSERT_OK(add_field("w", HDST__F64));
    ASSERT_OK(hdst__schema_add_record(&arena, &made, "track", HDST__AOSOA, 0, 128, &error));
    ASSERT_OK(hdst__schema_add_nested(&arena, &made, "places", "place", &five, 1, &error));
    ASSERT_OK(add_field("name", HDST__TEXT));
    ASSERT_OK(close_schema());

    hdst__buffer from_yaml, from_c;
    hdst__buffer_init(&from_yaml, NULL);
    hdst__buffer_init(&from_c, NULL);
    hdst__schema_show(&arena, read.records, read.record_count, &from_yaml);
    hdst__schema_show(&arena, made.records, made.record_count, &from_c);
    cr_assert_eq(made.record_count, 2);
    cr_assert_str_eq(hdst__buffer_text(&from_c), hdst__buffer_text(&from_yaml));
    hdst__buffer_destroy(&from_yaml);
    hdst__buffer_destroy(&from_c);
}

Test(schema_build, names_are_copied)
{
    char name[] = "point", field[] = "x";
    ASSERT_OK(add_record(name));
    ASSERT_OK(add_field(field, HDST__F32));
    ASSERT_OK(close_schema());
    name[0] = field[0] = '?';
    cr_assert_not_null(hdst__schema_record(&made, "point"));
    cr_assert_not_null(hdst__record_field(made.records[0], "x"));
}

Test(schema_build, a_block_of_256_unless_given)
{
    ASSERT_OK(hdst__schema_add_record(&arena, &made, "p", HDST__AOSOA, 0, 0, &error));
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_OK(close_schema());
    cr_assert_eq(made.records[0]->block, 256);
}

Test(schema_build, mistakes_are_refused)
{
    ASSERT_REFUSED(add_record("struct"), "'struct' cannot be the name of a record: it is a keyword of C");
    cr_assert_str_eq(error.hint, "for example 'struct_'");
    ASSERT_REFUSED(hdst__schema_add_record(&arena, &made, "p", HDST__AOS, 3, 0, &error), "align must be a power of two from 1 to 4096");
    ASSERT_REFUSED(hdst__schema_add_record(&arena, &made, "p", HDST__SOA, 0, 64, &error), "record 'p': only the layout aosoa has blocks");
    ASSERT_REFUSED(hdst__schema_add_record(&arena, &made, "p", HDST__AOSOA, 0, 63, &error),
                   "the block of an aosoa layout must be a power of two from 64 to 65536 records");
    ASSERT_REFUSED(hdst__schema_add_record(&arena, &made, "p", (hdst__layout)7, 0, 0, &error), "record 'p': 7 is no layout");
    ASSERT_OK(add_record("p"));
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_REFUSED(add_field("x", HDST__F32), "field 'x' is declared twice");
    ASSERT_REFUSED(add_field("", HDST__F32), "the name of a field is empty");
    ASSERT_REFUSED(add_field("y", HDST__VOID), "field 'y': 14 is no type");
    const uint64_t zero = 0;
    ASSERT_REFUSED(hdst__schema_add_field(&arena, &made, "y", HDST__F32, &zero, 1, &error), "a count must be at least 1, not 0");
    ASSERT_REFUSED(hdst__schema_add_nested(&arena, &made, "y", "p", NULL, 0, &error), "field 'y': unknown record 'p'");
    ASSERT_OK(close_schema());
    cr_assert_eq(made.record_count, 0, "a record with a mistake is dropped");
}

Test(schema_build, a_field_needs_a_record)
{
    cr_assert_eq(add_field("x", HDST__F32), HDST_E_USAGE);
    cr_assert_str_eq(error.message, "field 'x' belongs to no record: add a record first");
}

Test(schema_build, an_empty_record_is_refused_when_it_is_closed)
{
    ASSERT_OK(add_record("p"));
    ASSERT_REFUSED(close_schema(), "record 'p': the record has no fields");
    ASSERT_OK(add_record("p"));
    ASSERT_REFUSED(add_record("q"), "record 'p': the record has no fields");
}

Test(schema_build, a_name_is_taken_once)
{
    ASSERT_OK(add_record("p"));
    ASSERT_OK(add_field("x", HDST__F32));
    ASSERT_REFUSED(add_record("p"), "record 'p' is declared twice");
    ASSERT_OK(add_field("x", HDST__F32));       // of the refused record: dropped with it
    ASSERT_OK(close_schema());
    cr_assert_eq(made.record_count, 1);
}
