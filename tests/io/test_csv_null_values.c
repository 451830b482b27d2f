// SPDX-License-Identifier: Apache-2.0
// Words that stand for no value in cells of separated text: tables that a script writes, against what Python's csv module makes of them, in every layout, with
// blocks of many sizes; what becomes of such cells where nothing else is said; words that are no fields of their own.
#include "text_place.h"

#include "io/source_csv.h"

TestSuite(csv_null_values, .init = set_up, .fini = tear_down);

static const hdst__null_value words[] = {{"NA", 2}, {"N/A", 3}, {"-", 1}, {"-999", 4}, {"no value", 8}, {"it's", 4}, {"1;2", 3}};
static const hdst__null_values null_values = {words, 7};

typedef struct sale {
    double price;
    int32_t n, day;
    hdst__text_span note;
    uint8_t has_n, has_note;
} sale;

static const hdst__record *sale_record(void)
{
    const hdst__field fields[] = {
        {.name = "price", .type = hdst__type_scalar(HDST__F64), .missing = HDST__MISSING_NAN, .null_values = &null_values},
        {.name = "n", .type = hdst__type_scalar(HDST__I32), .valid = "has_n", .null_values = &null_values},
        {.name = "day", .type = hdst__type_scalar(HDST__I32), .time = HDST__DAYS, .missing = HDST__MISSING_ZERO, .null_values = &null_values},
        {.name = "note", .type = hdst__type_scalar(HDST__TEXT), .valid = "has_note", .null_values = &null_values},
        {.name = "has_n", .type = hdst__type_scalar(HDST__U8)},
        {.name = "has_note", .type = hdst__type_scalar(HDST__BOOL)},
    };
    return make_record("sale", memcpy(HDST__NEW_ARRAY(&arena, hdst__field, 6), fields, sizeof fields), 6);
}

// The answer's next row.
static const char *expect_sale(const sale *got, const char *at, size_t row)
{
    double price;
    int32_t n, day;
    uint16_t length;
    memcpy(&price, at, 8);
    memcpy(&n, at + 8, 4);
    memcpy(&day, at + 12, 4);
    memcpy(&length, at + 18, 2);
    cr_assert(got->price == price || (got->price != got->price && price != price), "price of row %zu: %g, not %g", row, got->price, price);
    cr_assert(got->n == n && got->day == day, "row %zu: %d %d, not %d %d", row, got->n, got->day, n, day);
    cr_assert(got->has_n == at[16] && got->has_note == at[17], "row %zu: %d %d, not %d %d", row, got->has_n, got->has_note, at[16], at[17]);
    expect_text(&got->note, at + 20, length, "note", row);
    return at + 20 + length;
}

static void expect_answer(const char *table, const char *answer, uint64_t block, int which)
{
    size_t length;
    hdst_error failed = HDST_ERROR_INIT;
    hdst__bound_source *bound;
    const char *at = read_whole(answer, &length), *end = at + length;
    const hdst__record *record = sale_record();
    hdst__source *source = OPEN_OK(hdst__source_csv_in_blocks(NULL, table, NULL, block, NULL, error));
    cr_assert_eq(hdst__source_bind(source, record, &bound, &failed), HDST_OK, "%s", failed.message);
    bytes_place *place = make_place();
    sale *got = fill_structs(bound, record, source->rows, 300, which, place, NULL, &failed);
    cr_assert(got, "%s %s", failed.message, failed.cause);
    for (uint64_t i = 0; i < source->rows; i++) at = expect_sale(&got[i], at, i);
    cr_assert_eq(at, end);
    free(got);
    free_place(place);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

Test(csv_null_values, as_python_reads_them)
{
    static const struct {
        const char *delimiter, *line_end;
        int quoting;
        uint64_t block;
    } ways[] = {{",", "lf", 0, 0}, {";", "crlf", 0, 64}, {"tab", "lf", 0, 1000}, {",", "crlf", 1, 0}, {";", "lf", 1, 1}};
    for (int i = 0; i < 5; i++) {
        const char *table = path_of("t.csv"), *answer = path_of("answer");
        const char *command = hdst__arena_printf(&arena, "python3 '%s' '%s' '%s' %d '%s' %s %d", NULL_VALUES, table, answer, i, ways[i].delimiter,
                                                 ways[i].line_end, ways[i].quoting);
        cr_assert_eq(system(command), 0);
        expect_answer(table, answer, ways[i].block, i % LAYOUTS);
    }
}

static const hdst__record *number_record(hdst__missing missing, const hdst__null_values *values)
{
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "a", .type = hdst__type_scalar(HDST__I32), .missing = missing, .null_values = values};
    fields[1] = (hdst__field){.name = "b", .type = hdst__type_scalar(HDST__I32)};
    return make_record("pair", fields, 2);
}

static hdst_status count_rows(const char *text, const hdst__record *record, uint64_t *records, hdst_error *why)
{
    hdst__bound_source *bound;
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, error));
    cr_assert_eq(hdst__source_bind_uncounted(source, record, &bound, why), HDST_OK, "%s", why->message);
    hdst_status status = hdst__bound_source_count(bound, NULL, why);
    if (status == HDST_OK) *records = hdst__bound_source_records(bound);
    const char *rows = status == HDST_OK ? fill_layout(bound, record, *records, 100, 0, why) : NULL;
    if (status == HDST_OK && !rows) status = why->code;
    if (status == HDST_OK) hdst__bound_source_left_out(bound, why);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    return status;
}

// A word says no more than an empty cell does, though it may be a number; others are told how to say so.
Test(csv_null_values, what_becomes_of_them)
{
    uint64_t records;
    hdst_error error = HDST_ERROR_INIT;
    static const char text[] = "a,b\n1,2\n-999,3\n 4 ,5\n\"NA\",6\n";
    cr_assert_eq(count_rows(text, number_record(HDST__MISSING_UNSAID, &null_values), &records, &error), HDST_E_FORMAT);
    cr_assert_str_eq(error.message, "there is no number in column 'a'");
    cr_assert(error.line == 3 && error.column == 1 && strstr(error.hint, "missing: zero"), "%s", error.hint);
    error = (hdst_error)HDST_ERROR_INIT;
    cr_assert_eq(count_rows(text, number_record(HDST__MISSING_SKIP, &null_values), &records, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(records, 2);
    cr_assert_eq(error.line, 3);
    cr_assert_eq(count_rows(text, number_record(HDST__MISSING_ZERO, NULL), &records, &error), HDST_E_FORMAT);
    cr_assert_str_eq(error.message, "'NA' is not a number, in column 'a'");
    cr_assert(error.line == 5 && strstr(error.hint, "null_values: [\"NA\"]"), "%s", error.hint);
}

// The word "1;2" is no cell where semicolons divide cells, unless it stands in quotes.
Test(csv_null_values, a_word_with_the_delimiter)
{
    const hdst__record *record = number_record(HDST__MISSING_ZERO, &null_values);
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", "a;b\n1;2\n3;4\n\"1;2\";5\n"), NULL, NULL, error));
    expect_records(source, record, (int32_t[]){1, 2, 3, 4, 0, 5}, 3);
    hdst__source_close(source);
    uint64_t records;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(count_rows("a;b\n3;4\n1;2;5\n", record, &records, &error), HDST_E_FORMAT, "two fields are one");
    cr_assert_str_eq(error.message, "the row has 3 fields, line 1 has 2");
}
