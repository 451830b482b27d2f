// SPDX-License-Identifier: Apache-2.0
// Structs, floats, ranges and callbacks arrive in every layout; what cannot be is refused.
#include "tests/io/helper.h"

TestSuite(source_memory, .init = set_up, .fini = tear_down);

enum { ROWS = 1000 };

struct row { uint8_t tag; double value; bool flag; };

static hdst__record *row_record(void)
{
    static const char *const names[] = {"tag", "value", "flag"};
    static const hdst__kind kinds[] = {HDST__U8, HDST__F64, HDST__BOOL};
    return scalars_record(3, names, kinds);
}

static struct row *make_rows(void)
{
    struct row *rows = hdst__arena_alloc(&arena, ROWS * sizeof *rows);
    for (int i = 0; i < ROWS; i++) rows[i].tag = (uint8_t)i, rows[i].value = i / 7.0, rows[i].flag = i % 3 == 0;
    return rows;
}

Test(source_memory, structs_arrive_in_every_layout)
{
    struct row *rows = make_rows();
    hdst__source *source = OPEN_OK(hdst__source_memory(NULL, rows, ROWS, sizeof *rows, error));
    expect_records(source, row_record(), rows, ROWS);
    hdst__source_close(source);
}

Test(source_memory, a_bool_of_any_byte_becomes_one)
{
    struct row *rows = make_rows(), *raw = make_rows();
    for (int i = 0; i < ROWS; i++) *((unsigned char *)&raw[i] + offsetof(struct row, flag)) = rows[i].flag ? 255 : 0;
    hdst__source *source = OPEN_OK(hdst__source_memory(NULL, raw, ROWS, sizeof *raw, error));
    expect_records(source, row_record(), rows, ROWS);
    hdst__source_close(source);
}

Test(source_memory, a_struct_of_another_size_is_refused)
{
    struct row *rows = make_rows();
    hdst__source *source = OPEN_OK(hdst__source_memory(NULL, rows, ROWS, sizeof *rows - 8, error));
    hdst_error error = failure_of(source, row_record(), (hdst_error)HDST_ERROR_INIT);
    cr_assert_eq(error.code, HDST_E_USAGE);
    cr_assert_str_eq(error.message, "the rows in memory have 16 bytes each, record 'row' has 24");
}

Test(source_memory, floats_arrive_as_floats_and_doubles)
{
    static float table[ROWS][3];
    static double wide[ROWS][3];
    for (int i = 0; i < ROWS * 3; i++) table[i / 3][i % 3] = (float)i / 3, wide[i / 3][i % 3] = table[i / 3][i % 3];
    hdst__source *source = OPEN_OK(hdst__source_floats(NULL, table[0], ROWS, 3, error));
    cr_assert_eq(source->width, 3);
    expect_records(source, array_record(HDST__F32, 3), table, ROWS);
    expect_records(source, array_record(HDST__F64, 3), wide, ROWS);
    hdst__source_close(source);
}

Test(source_memory, a_record_of_another_width_is_refused)
{
    float table[4] = {0};
    hdst__source *source = OPEN_OK(hdst__source_floats(NULL, table, 2, 2, error));
    hdst_error error = failure_of(source, array_record(HDST__F32, 3), (hdst_error)HDST_ERROR_INIT);
    cr_assert_eq(error.code, HDST_E_FORMAT);
    cr_assert_str_eq(error.message, "'memory' has 2 numbers in a row, record 'point' takes 3");
}

Test(source_memory, a_range_counts_up_in_the_type_of_the_field)
{
    int64_t whole[ROWS];
    float real[ROWS];
    uint16_t narrow[ROWS];
    for (int i = 0; i < ROWS; i++) whole[i] = i - 500, real[i] = (float)(i - 500), narrow[i] = (uint16_t)i;
    hdst__source *source = OPEN_OK(hdst__source_range(NULL, -500, 500, error));
    expect_records(source, array_record(HDST__I64, 1), whole, ROWS);
    expect_records(source, array_record(HDST__F32, 1), real, ROWS);
    hdst__source_close(source);
    source = OPEN_OK(hdst__source_range(NULL, 0, ROWS, error));
    expect_records(source, array_record(HDST__U16, 1), narrow, ROWS);
    hdst__source_close(source);
}

Test(source_memory, a_range_that_leaves_the_type_of_the_field_names_the_record)
{
    hdst__source *source = OPEN_OK(hdst__source_range(NULL, 200, 300, error));
    hdst_error error = failure_of(source, array_record(HDST__U8, 1), (hdst_error)HDST_ERROR_INIT);
    cr_assert_eq(error.code, HDST_E_FORMAT);
    // The last piece is read first and starts at record 64, which is the number 264.
    cr_assert_str_eq(error.message, "record 64: 264 is no value of field 'x' (uint8)");
}

Test(source_memory, a_range_may_span_all_of_int64)
{
    hdst__source *source = OPEN_OK(hdst__source_range(NULL, INT64_MIN, INT64_MAX, error));
    cr_assert_eq(source->rows, UINT64_MAX);
    hdst__bound_source *bound;
    hdst__record *record = array_record(HDST__I64, 1);
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    int64_t value[2];
    void *buffers[] = {value};
    cr_assert_eq(hdst__bound_source_fill(bound, UINT64_MAX - 2, 2, hdst__storage_make(&arena, record, HDST__AOS, 0, 2), buffers, 0, NULL), HDST_OK);
    cr_assert_eq(value[0], INT64_MAX - 2);
    cr_assert_eq(value[1], INT64_MAX - 1);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    cr_assert_null(hdst__source_range(NULL, 1, 0, NULL));
}

static bool give_rows(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    if (first + count > ROWS) {
        strcpy(message, "no more rows");
        return false;
    }
    memcpy(records, (struct row *)user + first, count * sizeof(struct row));
    return true;
}

Test(source_memory, a_callback_gives_structs)
{
    struct row *rows = make_rows();
    hdst__source *source = OPEN_OK(hdst__source_from_callback(NULL, ROWS, give_rows, rows, false, error));
    expect_records(source, row_record(), rows, ROWS);
    hdst__source_close(source);
}

Test(source_memory, a_failing_callback_says_why)
{
    hdst__source *source = OPEN_OK(hdst__source_from_callback(NULL, ROWS + 1, give_rows, make_rows(), false, error));
    hdst_error error = failure_of(source, row_record(), (hdst_error)HDST_ERROR_INIT);
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert_str_eq(error.cause, "no more rows");
}

Test(source_memory, parts_follow_one_another_whatever_their_types)
{
    static float table[ROWS][1];
    double expected[3 * ROWS];
    for (int i = 0; i < ROWS; i++) table[i][0] = (float)i / 8, expected[i] = i - 3, expected[ROWS + i] = i / 8.0, expected[2 * ROWS + i] = i + 9;
    hdst__source *parts[] = {OPEN_OK(hdst__source_range(NULL, -3, ROWS - 3, error)), OPEN_OK(hdst__source_floats(NULL, table[0], ROWS, 1, error)),
                             OPEN_OK(hdst__source_range(NULL, 9, ROWS + 9, error))};
    hdst__source *source = OPEN_OK(hdst__source_concat(NULL, parts, 3, error));
    cr_assert_eq(source->width, 1);
    expect_records(source, array_record(HDST__F64, 1), expected, 3 * ROWS);
    hdst__source_close(source);
}

Test(source_memory, parts_of_unlike_width_are_refused)
{
    static float table[4];
    hdst__source *parts[] = {OPEN_OK(hdst__source_floats(NULL, table, 2, 2, error)), OPEN_OK(hdst__source_range(NULL, 0, 2, error))};
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_null(hdst__source_concat(NULL, parts, 2, &error));
    cr_assert_str_eq(error.message, "'range' has 1 numbers in a row, 'memory' has 2");
}

// What a device may read without a copy: the record's own bytes, aligned, and no bool, of which any byte but 0 has to become 1.
Test(source_memory, tells_where_rows_lie_that_are_structs_to_the_byte)
{
    static const char *const names[] = {"x", "y"};
    static const struct { hdst__kind kinds[2]; uint64_t bytes, shift; bool direct; } cases[] = {
        {{HDST__F32, HDST__F32}, 8, 0, true}, {{HDST__F32, HDST__F32}, 8, 4, true}, {{HDST__F32, HDST__F32}, 8, 2, false},
        {{HDST__U8, HDST__U8}, 2, 1, true}, {{HDST__BOOL, HDST__U8}, 2, 0, false},
    };
    static _Alignas(8) char bytes[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdst__source *source = OPEN_OK(hdst__source_memory(NULL, bytes + cases[i].shift, 3, cases[i].bytes, error));
        hdst__bound_source *bound;
        cr_assert_eq(hdst__source_bind(source, scalars_record(2, names, cases[i].kinds), &bound, NULL), HDST_OK);
        cr_assert_eq(hdst__bound_source_rows(bound), cases[i].direct ? bytes + cases[i].shift : NULL, "case %zu", i);
        hdst__source_unbind(bound);
        hdst__source_close(source);
    }
    static const float table[6];
    for (int same = 0; same < 2; same++) {
        hdst__source *source = OPEN_OK(hdst__source_floats(NULL, table, 3, 2, error));
        hdst__bound_source *bound;
        cr_assert_eq(hdst__source_bind(source, array_record(same ? HDST__F32 : HDST__F64, 2), &bound, NULL), HDST_OK);
        cr_assert_eq(hdst__bound_source_rows(bound), same ? table : NULL);
        hdst__source_unbind(bound);
        hdst__source_close(source);
    }
}
