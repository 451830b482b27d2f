// SPDX-License-Identifier: Apache-2.0
// Texts in files, read back by Python.
#include "tests/io/helper.h"

#include "base/buffer.h"
#include "io/write.h"
#include "record/text_span.h"

TestSuite(text_write, .init = set_up, .fini = tear_down);

typedef struct note {
    int32_t number;
    hdst__text_span text;
    hdst__text_span more;
} note;

static hdst__text_span span_of(const char *bytes, size_t count) { return hdst__text_span_of(bytes, (uint32_t)count); }

static const struct { const char *bytes; size_t count; } some_texts[] = {
    {"", 0}, {"plain", 5}, {"a,b", 3}, {"say \"so\"", 8}, {"\"", 1}, {"two\nlines", 9}, {"r\r", 2}, {" blank", 6}, {"blank\t", 6}, {"# no comment", 12},
    {"back\\slash and tab\tand more than twelve bytes", 44}, {"\0\xFF", 2}, {"1.5", 3}, {"a # in it", 9}};
enum { SOME_TEXTS = sizeof some_texts / sizeof *some_texts };

static note *make_notes(void)
{
    static note notes[SOME_TEXTS * SOME_TEXTS];
    memset(notes, 0, sizeof notes);
    for (size_t i = 0; i < SOME_TEXTS * SOME_TEXTS; i++) {
        notes[i].number = (int32_t)i - 5;
        notes[i].text = span_of(some_texts[i % SOME_TEXTS].bytes, some_texts[i % SOME_TEXTS].count);
        notes[i].more = span_of(some_texts[i / SOME_TEXTS].bytes, some_texts[i / SOME_TEXTS].count);
    }
    return notes;
}

static const hdst__record *note_record(void)
{
    static const char *const names[] = {"number", "text", "more"};
    static const hdst__kind kinds[] = {HDST__I32, HDST__TEXT, HDST__TEXT};
    return scalars_record(3, names, kinds);
}

// Python's csv module (or, for tabs, Python's own words) reads what was written; the script prints each field as hexadecimal digits.
static void expect_as_python_reads(const char *name)
{
    const note *notes = make_notes();
    const char *out = path_of("out");
    cr_assert_eq(system(hdst__arena_printf(&arena, "python3 '%s' '%s' > '%s'", HEX_ROWS, path_of(name), out)), 0);
    hdst__buffer want;
    hdst__buffer_init(&want, NULL);
    hdst__buffer_puts(&want, "6e756d626572|74657874|6d6f7265;");     // the header
    for (size_t i = 0; i < SOME_TEXTS * SOME_TEXTS; i++) {
        char number[16];
        const int length = snprintf(number, sizeof number, "%d", notes[i].number);
        for (int k = 0; k < length; k++) hdst__buffer_printf(&want, "%02x", (unsigned char)number[k]);
        hdst__buffer_puts(&want, "|");
        for (size_t k = 0; k < some_texts[i % SOME_TEXTS].count; k++) hdst__buffer_printf(&want, "%02x", (unsigned char)some_texts[i % SOME_TEXTS].bytes[k]);
        hdst__buffer_puts(&want, "|");
        for (size_t k = 0; k < some_texts[i / SOME_TEXTS].count; k++) hdst__buffer_printf(&want, "%02x", (unsigned char)some_texts[i / SOME_TEXTS].bytes[k]);
        hdst__buffer_puts(&want, ";");
    }
    size_t length;
    const char *got = read_whole(out, &length);
    cr_assert(length == want.length && !memcmp(got, want.data, length));
    hdst__buffer_destroy(&want);
}

Test(text_write, texts_as_csv_and_tsv)
{
    const hdst__record *record = note_record();
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("t.csv"), record, make_notes(), SOME_TEXTS * SOME_TEXTS, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_tsv, NULL, path_of("t.tsv"), record, make_notes(), SOME_TEXTS * SOME_TEXTS, NULL), HDST_OK);
    expect_as_python_reads("t.csv");
    expect_as_python_reads("t.tsv");
    size_t length;
    cr_assert(strstr(read_whole(path_of("t.csv"), &length), "\n-4,plain,\n"), "what needs no quotes has none");
}

Test(text_write, texts_as_lines)
{
    const char *name = "line";
    const hdst__kind kind = HDST__TEXT;
    const hdst__record *line = scalars_record(1, &name, &kind);
    hdst__text_span rows[SOME_TEXTS];
    hdst_error error = HDST_ERROR_INIT;
    size_t length, wanted = 0;
    char want[500];
    for (size_t i = 0; i < SOME_TEXTS; i++) {
        rows[i] = span_of(some_texts[i].bytes, some_texts[i].count);
        memcpy(want + wanted, some_texts[i].bytes, some_texts[i].count);
        wanted += some_texts[i].count;
        want[wanted++] = '\n';
    }
    cr_assert_eq(hdst__records_write(&hdst__records_lines, NULL, path_of("t.txt"), line, rows, SOME_TEXTS, NULL), HDST_OK);
    const char *got = read_whole(path_of("t.txt"), &length);
    cr_assert(length == wanted && !memcmp(got, want, length));
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("o.csv"), line, rows, 3, NULL), HDST_OK);
    cr_assert_str_eq(read_whole(path_of("o.csv"), &length), "line\n\"\"\nplain\n\"a,b\"\n");
    cr_assert_eq(hdst__records_write(&hdst__records_lines, NULL, path_of("n.txt"), note_record(), make_notes(), 1, &error), HDST_E_FORMAT);
    cr_assert(strstr(error.message, "not a single text") && strstr(error.hint, ".tsv"), "%s", error.message);
}
