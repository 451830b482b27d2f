// SPDX-License-Identifier: Apache-2.0
// Dates, times and empty cells of separated text: generated tables, written in many ways, against what was generated, in every layout, with blocks of many
// sizes and by several threads; what is written reads back; mistakes have their place.
#include "text_place.h"

#include "io/source_csv.h"
#include "io/write.h"

#include <math.h>
#include <stdarg.h>
#include <time.h>

TestSuite(csv_cells, .init = set_up, .fini = tear_down);

enum { ROWS = 700 };

// Of both records: the fields that say what is valid come first in one, so that they lie elsewhere than the cells.
typedef struct reading {
    bool has_day;
    uint8_t has_level[2];
    int32_t day;
    int64_t at;
    float level[2];
    double depth;
    int16_t code;
} reading;

typedef struct remark {
    hdst__text_span words;
    int64_t at;
    uint8_t has_words;
} remark;

static const hdst__record *reading_record(void)
{
    hdst__field fields[] = {
        {.name = "has_day", .type = hdst__type_scalar(HDST__BOOL)},
        {.name = "has_level", .type = hdst__type_array(&arena, hdst__type_scalar(HDST__U8), 2)},
        {.name = "day", .type = hdst__type_scalar(HDST__I32), .time = HDST__DAYS, .valid = "has_day"},
        {.name = "at", .type = hdst__type_scalar(HDST__I64), .time = HDST__MILLISECONDS},
        {.name = "level", .type = hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 2), .missing = HDST__MISSING_NAN, .valid = "has_level"},
        {.name = "depth", .type = hdst__type_scalar(HDST__F64), .missing = HDST__MISSING_NAN},
        {.name = "code", .type = hdst__type_scalar(HDST__I16), .missing = HDST__MISSING_ZERO},
    };
    return make_record("reading", memcpy(HDST__NEW_ARRAY(&arena, hdst__field, 7), fields, sizeof fields), 7);
}

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 4) * n) >> 28);
}

typedef struct table {
    char *text;
    size_t used;
    char delimiter;
    const char *line_end, *empty;
} table;

static void put(table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->used += (size_t)vsprintf(t->text + t->used, format, args);
    va_end(args);
}

static void put_cell(table *t, bool there, bool last, const char *text)
{
    static const char *const blanks[] = {"", "", "", " "};
    const char *quote = there && below(5) == 0 ? "\"" : "";
    put(t, "%s%s%s%s%s", blanks[below(4)], quote, there ? text : t->empty, quote, last ? t->line_end : (char[]){t->delimiter, 0});
}

// 2000-01-01 is day 10957; the dates of the file come from the C library.
static void make_reading(reading *r, table *t)
{
    const float nothing = NAN;
    char text[64];
    struct tm parts;
    const time_t day = (time_t)below(20000) * 86400, at = (time_t)below(2000000000);
    const int thousandth = (int)below(1000), hours = (int)below(3) - 1;
    memset(r, 0, sizeof *r);
    r->has_day = below(3) > 0;
    r->day = r->has_day ? (int32_t)(day / 86400) : 0;
    strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&day, &parts));
    put_cell(t, r->has_day, false, text);
    r->at = (int64_t)at * 1000 + thousandth - hours * 3600000;
    const size_t n = strftime(text, sizeof text, below(2) ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &parts));
    snprintf(text + n, sizeof text - n, ".%03d%s", thousandth, hours == 0 ? (below(2) ? "" : "Z") : hours > 0 ? "+01:00" : "-0100");
    put_cell(t, true, false, text);
    for (int i = 0; i < 2; i++) {
        r->has_level[i] = below(4) > 0;
        r->level[i] = r->has_level[i] ? (float)below(1000) / 8 : nothing;
        snprintf(text, sizeof text, "%.3f", (double)r->level[i]);
        put_cell(t, r->has_level[i], false, text);
    }
    const bool has_depth = below(2), has_code = below(2);
    r->depth = has_depth ? below(100000) / 1024.0 : (double)nothing;
    snprintf(text, sizeof text, "%.17g", r->depth);
    put_cell(t, has_depth, false, text);
    r->code = has_code ? (int16_t)below(30000) : 0;
    snprintf(text, sizeof text, "%d", r->code);
    put_cell(t, has_code, true, text);
}

static reading *make_readings(table *t)
{
    reading *rows = hdst__arena_alloc(&arena, ROWS * sizeof *rows);
    t->text = hdst__arena_alloc(&arena, ROWS * 200);
    t->used = 0;
    put(t, "day%cat%clevel[0]%clevel[1]%cdepth%ccode%s", t->delimiter, t->delimiter, t->delimiter, t->delimiter, t->delimiter, t->line_end);
    for (int i = 0; i < ROWS; i++) make_reading(&rows[i], t);
    return rows;
}

Test(csv_cells, dates_times_and_empty_cells_in_every_layout)
{
    static const struct {
        char delimiter;
        const char *line_end, *empty;
    } ways[] = {{',', "\n", ""}, {';', "\r\n", ""}, {'\t', "\n", ""}, {',', "\n", "\"\""}, {',', "\r\n", "  "}};
    static const uint64_t blocks[] = {0, 1, 64, 1000};
    const hdst__record *record = reading_record();
    cr_assert_eq(record->size, sizeof(reading));
    seed = 7;
    for (size_t way = 0; way < 5; way++) {
        table t = {.delimiter = ways[way].delimiter, .line_end = ways[way].line_end, .empty = ways[way].empty};
        const reading *rows = make_readings(&t);
        const char *path = write_file(t.delimiter == '\t' ? "a.tsv" : "a.csv", t.text, t.used);
        for (size_t b = 0; b < 4; b++) {
            hdst__source *source = OPEN_OK(hdst__source_csv_in_blocks(NULL, path, NULL, blocks[b], NULL, error));
            expect_records(source, record, rows, ROWS);
            hdst__source_close(source);
        }
    }
}

// Columns in an order of their own, and others between them; and the columns of the record's order, chosen.
Test(csv_cells, columns_are_found_by_name_or_in_order)
{
    static const char text[] = "id,code,at,note,level[0],level[1],depth,day\n1,,1970-01-01,x,1.5,,,1970-01-02\n2,7,1970-01-01 00:00:01,y,,2,8,\n";
    static const reading rows[] = {{true, {1, 0}, 1, 0, {1.5f, NAN}, (double)NAN, 0}, {false, {0, 1}, 0, 1000, {NAN, 2}, 8, 7}};
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, error));
    expect_records(source, reading_record(), rows, 2);
    hdst__source_close(source);
    source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), "day,at,level[0],level[1],depth,code", NULL, error));
    expect_records(source, reading_record(), rows, 2);
    hdst__source_close(source);
}

Test(csv_cells, a_date_in_the_first_row_makes_it_no_header)
{
    static const char *const names[] = {"day", "n"};
    static const hdst__kind kinds[] = {HDST__I32, HDST__I32};
    hdst__record *record = scalars_record(2, names, kinds);
    hdst__field *fields = (hdst__field *)record->fields;
    fields[0].time = HDST__DAYS;
    cr_assert(hdst__record_finish(&arena, record, NULL));
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", "1970-01-03,5\n1969-12-31,6\n"), NULL, NULL, error));
    expect_records(source, record, (int32_t[]){2, 5, -1, 6}, 2);
    hdst__source_close(source);
}

static const hdst__record *remark_record(void)
{
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 3);
    fields[0] = (hdst__field){.name = "words", .type = hdst__type_scalar(HDST__TEXT), .valid = "has_words"};
    fields[1] = (hdst__field){.name = "at", .type = hdst__type_scalar(HDST__I64), .time = HDST__NANOSECONDS, .missing = HDST__MISSING_ZERO};
    fields[2] = (hdst__field){.name = "has_words", .type = hdst__type_scalar(HDST__U8)};
    return make_record("remark", fields, 3);
}

static void expect_remarks(hdst__source *source, const remark *rows, size_t count)
{
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__record *record = remark_record();
    cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(source->rows, count);
    for (int which = 0; which < LAYOUTS; which++) {
        bytes_place *place = make_place();
        remark *got = fill_structs(bound, record, count, 2, which, place, NULL, &error);
        cr_assert(got, "%s %s", error.message, error.cause);
        for (size_t i = 0; i < count; i++) {
            expect_text(&got[i].words, hdst__text_bytes(&rows[i].words), rows[i].words.length, "words", i);
            cr_assert_eq(got[i].at, rows[i].at, "row %zu", i);
            cr_assert_eq(got[i].has_words, rows[i].has_words, "row %zu: %d", i, got[i].has_words);
        }
        free(got);
        free_place(place);
    }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// A text in quotes is there, though it has no bytes.
Test(csv_cells, empty_texts_and_texts_that_are_missing)
{
    const remark rows[] = {{hdst__text_span_of("a, \"b\"", 6), 1, 1},
                           {hdst__text_span_of("", 0), 0, 0},
                           {hdst__text_span_of("", 0), 5, 1},
                           {hdst__text_span_of("more than twelve bytes", 22), -1, 1},
                           {hdst__text_span_of("", 0), 0, 1}};
    const char *path = write_text("a.csv", "words,at\n\"a, \"\"b\"\"\",1970-01-01T00:00:00.000000001\n,\n\"\",1970-01-01T00:00:00.000000005\n"
                                           "more than twelve bytes ,1969-12-31T23:59:59.999999999Z\n\"\", \"\" \n");
    expect_remarks(OPEN_OK(hdst__source_csv(NULL, path, NULL, NULL, error)), rows, 5);
    static const struct {
        const char *name;
        const hdst__record_format *format;
    } ways[] = {{"b.csv", &hdst__records_csv}, {"b.tsv", &hdst__records_tsv}};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(hdst__records_write(ways[i].format, NULL, path_of(ways[i].name), remark_record(), rows, 4, NULL), HDST_OK);
        expect_remarks(OPEN_OK(hdst__source_csv(NULL, path_of(ways[i].name), NULL, NULL, error)), rows, 4);
    }
}

Test(csv_cells, what_is_written_reads_back)
{
    table t = {.delimiter = ',', .line_end = "\n", .empty = ""};
    seed = 11;
    const reading *rows = make_readings(&t);
    const hdst__record *record = reading_record();
    static const struct {
        const char *name;
        const hdst__record_format *format;
    } ways[] = {{"b.csv", &hdst__records_csv}, {"b.tsv", &hdst__records_tsv}};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(hdst__records_write(ways[i].format, NULL, path_of(ways[i].name), record, rows, ROWS, NULL), HDST_OK);
        hdst__source *source = OPEN_OK(hdst__source_csv(NULL, path_of(ways[i].name), NULL, NULL, error));
        expect_records(source, record, rows, ROWS);
        hdst__source_close(source);
    }
    size_t length;
    const reading one = {true, {1, 0}, -1, 1709210096007, {0.5f, NAN}, 3, 4};
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("c.csv"), record, &one, 1, NULL), HDST_OK);
    const char *text = read_whole(path_of("c.csv"), &length);
    cr_assert_eq(strncmp(text, "day,at,level[0],level[1],depth,code\n1969-12-31,2024-02-29T12:34:56.007Z,0.5,,3,4\n", length), 0, "%s", text);
}

// The one cell of a row that is empty stands in quotes, as a blank line is no row.
Test(csv_cells, a_single_column_reads_back)
{
    static const hdst__record_format *const formats[] = {&hdst__records_csv, &hdst__records_tsv};
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "n", .type = hdst__type_scalar(HDST__U8), .valid = "has_n"};
    fields[1] = (hdst__field){.name = "has_n", .type = hdst__type_scalar(HDST__BOOL)};
    const hdst__record *record = make_record("one", fields, 2);
    const uint8_t rows[] = {5, 1, 0, 0, 7, 1, 0, 0};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(hdst__records_write(formats[i], NULL, path_of("b.csv"), record, rows, 4, NULL), HDST_OK);
        hdst__source *source = OPEN_OK(hdst__source_csv(NULL, path_of("b.csv"), NULL, NULL, error));
        expect_records(source, record, rows, 4);
        hdst__source_close(source);
    }
}

// --- Mistakes ---

static void expect_failure(const char *cells, const char *message, uint32_t line, uint32_t column)
{
    const char *text = hdst__arena_printf(&arena, "day,at,level[0],level[1],depth,code\n2020-01-01,2020-01-01,1,2,3,4\n%s\n", cells);
    hdst_error opened = HDST_ERROR_INIT;
    hdst__source *source = hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, &opened);
    const hdst_error error = failure_of(source, reading_record(), opened);
    cr_assert_eq(error.code, HDST_E_FORMAT, "%s", cells);
    cr_assert_str_eq(error.message, message);
    cr_assert_eq(error.line, line);
    cr_assert_eq(error.column, column);
    cr_assert(strstr(error.cause, "^") && error.hint[0]);
}

Test(csv_cells, mistakes_have_their_place)
{
    expect_failure("2023-02-29,2020-01-01,1,2,3,4", "'2023-02-29' in column 'day' is in no calendar: there is no such date", 3, 1);
    expect_failure("2023-02-28,,1,2,3,4", "there is no time in column 'at'", 3, 12);
    expect_failure("2023-02-28,29.02.2024,1,2,3,4", "'29.02.2024' is not a time, in column 'at'", 3, 12);
    expect_failure("2023-02-28T10:00,2020-01-01,1,2,3,4", "'2023-02-28T10:00' in column 'day' has a time of day, which a date32 has not", 3, 1);
    expect_failure("2023-02-28,2020-01-01T00:00:00.0005,1,2,3,4", "'2020-01-01T00:00:00.0005' in column 'at' is finer than the unit of the field", 3, 12);
    expect_failure("+9999999-02-28,2020-01-01,1,2,3,4", "'+9999999-02-28' in column 'day' is too far from 1970 for the field", 3, 1);
    expect_failure("2023-02-28,2020-01-01T99,1,2,3,4", "'2020-01-01T99' is not a time, in column 'at'", 3, 12);
    expect_failure(",2020-01-01,NA,,,", "'NA' is not a number, in column 'level[0]'", 3, 13);
    expect_failure(",2020-01-01,,,,70000", "'70000' is too large for int16 in column 'code'", 3, 16);
}
