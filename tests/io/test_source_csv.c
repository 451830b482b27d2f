// SPDX-License-Identifier: Apache-2.0
// Text files in all their dialects give the same numbers; everything malformed gets a place and a message.
#include "tests/io/helper.h"
#include "tests/support/comma_locale.h"

#include <math.h>

TestSuite(source_csv, .init = set_up, .fini = tear_down);

static hdst__source *open_text(const char *text, const char *columns, hdst_error *error)
{
    return hdst__source_csv(NULL, write_text("a.csv", text), columns, NULL, error);
}

static void expect_floats(const char *text, const char *columns, uint64_t width, const float *expected, uint64_t rows)
{
    hdst__source *source = OPEN_OK(open_text(text, columns, error));
    cr_assert_eq(source->width, width, "%s: %d columns", text, (int)source->width);
    expect_records(source, array_record(HDST__F32, width), expected, rows);
    hdst__source_close(source);
}

static const float four[] = {1, 2.5f, -3, 4e3f};

Test(source_csv, every_dialect_gives_the_same_numbers)
{
    static const char *const dialects[] = {
        "1,2.5\n-3,4e3\n", "1;2.5\n-3;4e3\n", "1\t2.5\n-3\t4e3\n", "1 2.5\n-3 4e3\n", "  1   2.5  \n\t-3 \t 4e3\n",   // delimiters
        "1,2.5\r\n-3,4e3\r\n", "1,2.5\n-3,4e3", "1 2.5\r\n-3 4e3 \r\n", "1,2.5\r\n-3,4e3\r",                           // line ends
        "\xEF\xBB\xBF" "1,2.5\n-3,4e3\n", "\xEF\xBB\xBF" "a,b\n1,2.5\n-3,4e3\n",                                       // byte order mark
        "lon,lat\n1,2.5\n-3,4e3\n", "\"lon\",\"lat\"\n1,2.5\n-3,4e3\n", "the x, the y\n1,2.5\n-3,4e3\n", ",y\n1,2.5\n-3,4e3\n",  // headers
        "\n\n1,2.5\n   \n\t\r\n-3,4e3\n\n\n", "# a comment, with 1\n1,2.5\n  # another\n-3,4e3\n#", "# lon lat\n1 2.5\n-3 4e3\n", // blank, comments
        "\"1\",\"2.5\"\n\"-3\" , 4e3\n", " 1 , 2.5 \n-3,\t4e3\n", "+1,02.50\n-3.,4.0E+03\n",
    };
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) expect_floats(dialects[i], NULL, 2, four, 2);
}

Test(source_csv, one_column_needs_no_delimiter)
{
    expect_floats("1\n2.5\n-3\n4e3\n", NULL, 1, four, 4);
    expect_floats("my value\n1\n2.5\n-3\n4e3\n", NULL, 1, four, 4);
}

Test(source_csv, columns_are_chosen_by_name_index_and_range)
{
    const char *text = "id,lat,\"the \"\"lon\"\"\",name\na,2.5,1,\"x, \"\"y\"\"\"\nb,4e3,-3,\"two\nlines\"\n";
    expect_floats(text, "2,1", 2, four, 2);
    expect_floats(text, "the \"lon\", lat", 2, four, 2);
    expect_floats("9,1,2.5\n9,-3,4e3\n", "1-2", 2, four, 2);
    // A number is an index where there is such a column, else a name.
    expect_floats("2020,1,2021\n9,2,1\n9,2,2.5\n9,2,-3\n9,2,4e3\n", "2", 1, (float[]){2021, 1, 2.5f, -3, 4e3f}, 5);
    expect_floats("year,1999\n9,1\n9,2.5\n9,-3\n9,4e3\n", "year,1999", 2, (float[]){9, 1, 9, 2.5f, 9, -3, 9, 4e3f}, 4);
}

Test(source_csv, fields_of_the_record_find_columns_of_their_names)
{
    static const char *const names[] = {"x", "n"};
    static const hdst__kind kinds[] = {HDST__F64, HDST__I16};
    struct { double x; int16_t n; } rows[2] = {{0.1, -7}, {2.5, 300}};
    char expected[32] = {0};
    for (int i = 0; i < 2; i++) memcpy(expected + 16 * i, &rows[i].x, 8), memcpy(expected + 16 * i + 8, &rows[i].n, 2);
    hdst__source *source = OPEN_OK(open_text("name,n,x\nAda,-7,0.1\nBob,3e2,2.5\n", NULL, error));
    expect_records(source, scalars_record(2, names, kinds), expected, 2);
    hdst__source_close(source);
}

Test(source_csv, integers_keep_all_their_digits)
{
    hdst__source *source = OPEN_OK(open_text("9223372036854775807\n-9223372036854775808\n1e3\n7.0\n", NULL, error));
    expect_records(source, array_record(HDST__I64, 1), (int64_t[]){INT64_MAX, INT64_MIN, 1000, 7}, 4);
    hdst__source_close(source);
    source = OPEN_OK(open_text("18446744073709551615\n0\n", NULL, error));
    expect_records(source, array_record(HDST__U64, 1), (uint64_t[]){UINT64_MAX, 0}, 2);
    hdst__source_close(source);
}

Test(source_csv, numbers_that_are_not_finite_are_read_and_counted)
{
    hdst__source *source = OPEN_OK(open_text("1,nan\n-inf,Infinity\nNaN,2\n", NULL, error));
    cr_assert_eq(hdst__source_count(source, NULL, NULL), HDST_OK);
    cr_assert(strstr(source->note, "4 numbers are nan or inf"), "%s", source->note);
    hdst__bound_source *bound;
    hdst__record *record = array_record(HDST__F32, 2);
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    float *got = (float *)fill_layout(bound, record, 3, 100, 0, NULL);
    cr_assert(got[0] == 1 && isnan(got[1]) && got[2] == -INFINITY && got[3] == INFINITY && isnan(got[4]) && got[5] == 2);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

Test(source_csv, a_mixed_first_row_is_a_header_but_not_silently)
{
    hdst__source *source = OPEN_OK(open_text("1,2.O\n3,4\n", NULL, error));
    cr_assert(strstr(source->note, "taken for a header, though 1 of its 2 chosen fields is a number"), "%s", source->note);
    cr_assert_eq(hdst__source_count(source, NULL, NULL), HDST_OK);
    cr_assert_eq(source->rows, 1);
    hdst__source_close(source);
}

Test(source_csv, a_word_above_a_number_makes_a_header_also_where_it_is_not_chosen)
{
    hdst__source *source = OPEN_OK(open_text("150,4,setosa\n5.1,3.5,1.4\n4.9,3,1.4\n", "0,1", error));
    cr_assert(strstr(source->note, "taken for a header, though 2 of its 2 chosen fields are numbers"), "%s", source->note);
    expect_records(source, array_record(HDST__F32, 2), (float[]){5.1f, 3.5f, 4.9f, 3}, 2);
    hdst__source_close(source);
    source = OPEN_OK(open_text("1,2,a\n3,4,b\n", "0,1", error));
    cr_assert_str_eq(source->note, "");
    expect_records(source, array_record(HDST__F32, 2), (float[]){1, 2, 3, 4}, 2);
    hdst__source_close(source);
}

Test(source_csv, a_locale_with_decimal_commas_changes_nothing)
{
    if (!set_comma_locale()) cr_skip_test("there is no locale with decimal commas");
    expect_floats("1,2.5\n-3,4000.00000000000000000000000000000\n", NULL, 2, four, 2);
}

Test(source_csv, more_rows_than_the_index_has_places_in_any_order)
{
    enum { ROWS = 3000 };
    float *expected = hdst__arena_alloc(&arena, ROWS * 2 * sizeof(float));
    char *text = hdst__arena_alloc(&arena, ROWS * 64), *end = text;
    for (int i = 0; i < ROWS; i++) {
        if (i % 10 == 0) end += sprintf(end, "# comment\n\n");
        if (i % 100 == 99) end += sprintf(end, "%d,%d,\"a\n,\nb\"\n", i, i % 7);
        else end += sprintf(end, "%d,%d,c\n", i, i % 7);
        expected[2 * i] = (float)i, expected[2 * i + 1] = (float)(i % 7);
    }
    expect_floats(text, "0,1", 2, expected, ROWS);      // in pieces of 7 from the last to the first, then at once
}

Test(source_csv, rows_longer_than_the_window_are_read)
{
    enum { COLUMNS = 100000 };
    float *expected = hdst__arena_alloc(&arena, 2 * COLUMNS * sizeof(float));
    char *text = hdst__arena_alloc(&arena, 2 * COLUMNS * 8), *end = text;
    for (int i = 0; i < 2 * COLUMNS; i++) {
        expected[i] = (float)(i % 99991);
        end += sprintf(end, "%d%c", i % 99991, (i + 1) % COLUMNS ? ',' : '\n');
    }
    hdst__source *source = OPEN_OK(open_text(text, NULL, error));
    hdst__record *record = array_record(HDST__F32, COLUMNS);
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    cr_assert_eq(memcmp(fill_layout(bound, record, 2, 2, 0, NULL), expected, 2 * COLUMNS * sizeof(float)), 0);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static const struct {
    const char *text, *columns;
    uint64_t width;         // of the record of int16 (is_int) or float
    bool is_int;
    hdst_status code;
    uint32_t line, column;
    const char *message, *hint;
} bad[] = {
    {"", NULL, 1, false, HDST_E_FORMAT, 0, 0, "the file has no rows", "it is empty"},
    {"\n  \n# x\n", NULL, 1, false, HDST_E_FORMAT, 0, 0, "the file has no rows", "there are only blank lines and comments"},
    {"1,2\n3,4\n5\n", NULL, 2, false, HDST_E_FORMAT, 3, 2, "the row has 1 field, line 1 has 2", "separated by ','"},
    {"1,2\n3,4,5\n", NULL, 2, false, HDST_E_FORMAT, 2, 5, "the row has 3 fields, line 1 has 2", "separated by ','"},
    {"1 2\n3\n", NULL, 2, false, HDST_E_FORMAT, 2, 2, "the row has 1 field, line 1 has 2", "separated by blanks"},
    {"x,y\n1,2\n3,four\n", NULL, 2, false, HDST_E_FORMAT, 3, 3, "'four' is not a number, in column 'y'", "choose the columns"},
    {"1,2\n3,0x10\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'0x10' is not a number, in column 1", "choose the columns"},
    {"1,2\n3,\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "there is no number in column 1", "choose the columns"},
    {"1,2\n3,1e\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'1e' is not a number", ""},
    {"1,2\n3,1.2.3\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'1.2.3' is not a number", ""},
    {"1,2\n3,1 2\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'1 2' is not a number", ""},
    {"1,2\n3,-\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'-' is not a number", ""},
    {"1,2\n3,.\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'.' is not a number", ""},
    {"1;2\n3,5;4\n", NULL, 2, false, HDST_E_FORMAT, 2, 1, "'3,5' is not a number", "with a point"},
    {"1,2\n3,1e39\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "'1e39' is too large for float32 in column 1", "type that holds it"},
    {"1,2\n3,-40000\n", NULL, 2, true, HDST_E_FORMAT, 2, 3, "'-40000' is too small for int16 in column 1", ""},
    {"1,2\n3,40000\n", NULL, 2, true, HDST_E_FORMAT, 2, 3, "'40000' is too large for int16 in column 1", ""},
    {"1,2\n3,2.5\n", NULL, 2, true, HDST_E_FORMAT, 2, 3, "'2.5' is not a whole number for int16", ""},
    {"1,2\n3,nan\n", NULL, 2, true, HDST_E_FORMAT, 2, 3, "'nan' is not a whole number for int16", ""},
    {"1,2\n3,99999999999999999999999\n", NULL, 2, true, HDST_E_FORMAT, 2, 3, "is too large for int16", ""},
    {"1,2\n3,\"4\n", NULL, 2, false, HDST_E_FORMAT, 2, 3, "a quoted field is not closed", "written twice"},
    {"a,b\n1,\"x\n\ny\"\n1,2\n", NULL, 2, false, HDST_E_FORMAT, 2, 4, "'x??y' is not a number, in column 'b'", ""},
    {"a,b\n\"x\ny\",2\n\"z\n\",b\n", "b", 1, false, HDST_E_FORMAT, 5, 3, "'b' is not a number, in column 'b'", ""},
    {"1,2\n3,\"4\" 5\n", NULL, 2, false, HDST_E_FORMAT, 2, 7, "text follows a quoted field", "written twice"},
    {"x,y\n1,2\n", "x,z", 2, false, HDST_E_USAGE, 0, 0, "there is no column 'z'", "the columns are x, y"},
    {"longitude,latitude\n1,2\n", "longitude,lattitude", 2, false, HDST_E_USAGE, 0, 0, "there is no column 'lattitude'", "did you mean 'latitude'?"},
    {"1,2\n", "0,2", 2, false, HDST_E_USAGE, 0, 0, "there is no column '2'", "from 0 to 1"},
    {"1,2\n", "0,0", 2, false, HDST_E_USAGE, 0, 0, "a column is chosen twice, again by '0'", ""},
    {"1,2\n", "1-0", 2, false, HDST_E_USAGE, 0, 0, "runs backwards", ""},
    {"1,2\n", "0,,1", 2, false, HDST_E_USAGE, 0, 0, "empty part", ""},
    {"x,x\n1,2\n", "x", 1, false, HDST_E_USAGE, 0, 0, "several columns have the name 'x'", "columns 0 and 1"},
    {"1,2,3\n", NULL, 2, false, HDST_E_FORMAT, 0, 0, "has 3 numbers in a row, record 'point' takes 2", "'point' takes x[2]; choose columns"},
    {"lon,lat\n1,2\n", NULL, 3, false, HDST_E_FORMAT, 0, 0, "has 2 numbers in a row, record 'point' takes 3",
     "'point' takes x[3], the file has lon, lat; choose columns"},
    {"\xFF\xFE" "1\0,\0", NULL, 1, false, HDST_E_FORMAT, 1, 1, "the text is in UTF-16", "iconv"},
};

Test(source_csv, what_is_malformed_gets_a_place_and_a_message)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hdst_error error = HDST_ERROR_INIT;
        hdst__source *source = open_text(bad[i].text, bad[i].columns, &error);
        error = failure_of(source, array_record(bad[i].is_int ? HDST__I16 : HDST__F32, bad[i].width), error);
        cr_expect_eq(error.code, bad[i].code, "%s: code %d", bad[i].text, error.code);
        cr_expect(strstr(error.message, bad[i].message), "%s: '%s' instead of '%s'", bad[i].text, error.message, bad[i].message);
        cr_expect(strstr(error.hint, bad[i].hint), "%s: hint '%s'", bad[i].text, error.hint);
        cr_expect(error.line == bad[i].line && error.column == bad[i].column, "%s: at %u:%u", bad[i].text, error.line, error.column);
        cr_expect(strstr(error.file, "a.csv"), "%s", error.file);
    }
}

// Of many fields and columns those that fit are named.
Test(source_csv, a_record_of_many_fields_over_another_file)
{
    enum { FIELDS = 40, COLUMNS = 30 };
    hdst__record *record = hdst__arena_alloc(&arena, sizeof *record);
    hdst__field *fields = hdst__arena_alloc(&arena, FIELDS * sizeof *fields);
    char *text = hdst__arena_alloc(&arena, COLUMNS * 32);
    const char *why;
    size_t used = 0;
    for (int i = 0; i < FIELDS; i++) fields[i] = (hdst__field){.name = hdst__arena_printf(&arena, "field%d", i), .type = hdst__type_scalar(HDST__F32)};
    *record = (hdst__record){.name = "wide", .fields = fields, .field_count = FIELDS};
    cr_assert(hdst__record_finish(&arena, record, &why));
    for (int i = 0; i < COLUMNS; i++) used += (size_t)sprintf(text + used, "column%d%c", i, i + 1 < COLUMNS ? ',' : '\n');
    for (int i = 0; i < COLUMNS; i++) used += (size_t)sprintf(text + used, "%d%c", i, i + 1 < COLUMNS ? ',' : '\n');
    hdst_error error = HDST_ERROR_INIT;
    error = failure_of(open_text(text, NULL, &error), record, error);
    const char *of_file = strstr(error.hint, " ..., the file has column0, column1, "), *end = strstr(error.hint, " ...; choose columns");
    cr_assert(strstr(error.hint, "'wide' takes field0, field1, ") == error.hint && of_file && end && of_file < end, "%s", error.hint);
    cr_assert(strstr(error.hint, "column29") == NULL && strstr(error.hint, "field39") == NULL, "%s", error.hint);
}

Test(source_csv, the_cause_shows_the_line_with_a_caret)
{
    hdst_error error = HDST_ERROR_INIT;
    error = failure_of(open_text("x,y\n1,2\n3,four\n", NULL, &error), array_record(HDST__F32, 2), error);
    cr_assert_str_eq(error.cause, "    3,four\n      ^~~~");
}

Test(source_csv, a_missing_file_and_a_folder_are_input_errors)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_null(hdst__source_csv(NULL, path_of("none.csv"), NULL, NULL, &error));
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert_str_eq(error.cause, "No such file or directory");
    cr_assert_null(hdst__source_csv(NULL, folder, NULL, NULL, &error));
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert(strstr(error.message, "it is a folder, not a file"));
}

Test(source_csv, a_file_that_shrinks_while_it_is_read_is_an_input_error)
{
    char *text = hdst__arena_alloc(&arena, 2 << 20);
    for (int i = 0; i < 200000; i++) memcpy(text + 8 * i, "1.25,33\n", 8);
    hdst__source *source = OPEN_OK(open_text(text, NULL, error));
    cr_assert_eq(truncate(path_of("a.csv"), 1000), 0);
    hdst_error error = failure_of(source, array_record(HDST__F32, 2), (hdst_error)HDST_ERROR_INIT);
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert(strstr(error.hint, "shortened"), "%s", error.message);
}

// A row of the same length with other fields: read as one of those that were seen it would give numbers that nobody wrote.
Test(source_csv, fields_that_changed_after_opening_are_an_error)
{
    enum { ROWS = 400000, LINE = 100001 };              // more than is kept of a file
    static const char *const changed[] = {"7 8,9\n", "7,,,9\n"};
    char *text = hdst__arena_alloc(&arena, 6 * ROWS + 1);
    for (int i = 0; i < 2; i++) {
        for (int row = 0; row < ROWS; row++) memcpy(text + 6 * row, "7,8,9\n", 7);
        hdst__source *source = OPEN_OK(open_text(text, NULL, error));
        memcpy(text + 6 * (LINE - 1), changed[i], 6);
        write_text("a.csv", text);
        hdst_error error = failure_of(source, array_record(HDST__F32, 3), (hdst_error)HDST_ERROR_INIT);
        cr_assert_eq(error.code, HDST_E_FORMAT);
        cr_assert_str_eq(error.message, i ? "the row has 4 fields, line 1 has 3" : "the row has 2 fields, line 1 has 3");
        cr_assert_eq(error.line, LINE);
    }
}

Test(source_csv, the_ending_of_the_name_chooses_the_reader)
{
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_text("a.TSV", "1\t2\n"), NULL, NULL, error));
    cr_assert_eq(source->width, 2);
    hdst__source_close(source);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_null(hdst__source_open(NULL, write_text("a.xlsx", "1"), NULL, NULL, &error));
    cr_assert(strstr(error.message, "cannot be told from its name"));
    cr_assert_null(hdst__source_open(NULL, write_text("a.npy.gz", "1"), NULL, NULL, &error));
    cr_assert_str_eq(error.hint, "unpack it first");
    cr_assert_null(hdst__source_open(NULL, path_of("none.npy"), NULL, NULL, &error));
    cr_assert_eq(error.code, HDST_E_IO);
}
