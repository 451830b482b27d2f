// SPDX-License-Identifier: Apache-2.0
// Texts in separated text: generated tables, written in many ways, against what was generated, in every layout, by one thread and by several; what our
// writers wrote; compressed files; errors.
#include "packed.h"
#include "text_place.h"

#include "io/source_csv.h"
#include "io/write.h"

TestSuite(csv_texts, .init = set_up, .fini = tear_down);

static hdst_error failed;

typedef struct note {
    int32_t number;
    hdst__text_span text, more;
} note;

typedef struct bytes {
    char *at;
    size_t count;
} bytes;

typedef struct wanted {
    int32_t number;
    bytes text, more;
} wanted;

static const hdst__record *note_record(void)
{
    static const char *const names[] = {"number", "text", "more"};
    static const hdst__kind kinds[] = {HDST__I32, HDST__TEXT, HDST__TEXT};
    return scalars_record(3, names, kinds);
}

static void expect_notes(const note *got, const wanted *want, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        cr_assert_eq(got[i].number, want[i].number, "row %zu", i);
        expect_text(&got[i].text, want[i].text.at, want[i].text.count, "text", i);
        expect_text(&got[i].more, want[i].more.at, want[i].more.count, "more", i);
    }
}

static void expect_source(hdst__source *source, const wanted *want, size_t rows, hdst__thread_pool *pool)
{
    hdst__bound_source *bound;
    const hdst__record *record = note_record();
    cr_assert_eq(record->size, sizeof(note));
    cr_assert_eq(hdst__source_count(source, pool, &failed), HDST_OK, "%s %s", failed.message, failed.cause);
    cr_assert_eq(source->rows, rows, "%zu rows", (size_t)source->rows);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &failed), HDST_OK, "%s", failed.message);
    cr_assert(hdst__bound_source_concurrent(bound) && hdst__bound_source_makes_texts(bound) && hdst__bound_source_text_bytes(bound));
    for (int which = 0; which < LAYOUTS; which++) {
        for (uint64_t piece = rows > 500 ? 333 : 3; piece <= 1000000; piece += 1000000 - piece / 2) {
            bytes_place *place = make_place();
            note *got = fill_structs(bound, record, rows, piece, which, place, pool, &failed);
            cr_assert(got, "%s %s", failed.message, failed.cause);
            expect_notes(got, want, rows);
            free(got);
            free_place(place);
        }
    }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// --- Generated tables ---

typedef struct generator {
    uint32_t seed;
    char delimiter;
    const char *line_end;
    char *text;                 // of the file
    size_t used;
} generator;

static uint32_t below(generator *g, uint32_t n)
{
    g->seed = g->seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(g->seed >> 4) * n) >> 28);
}

static void put(generator *g, const char *at, size_t count)
{
    memcpy(g->text + g->used, at, count);
    g->used += count;
}

static void put_words(generator *g, const char *words) { put(g, words, strlen(words)); }

// Bytes of all kinds, many that mean something, of lengths around those that spans treat apart.
static bytes any_text(generator *g)
{
    static const char alphabet[] = "abcnfyNANinfity,;\t \"\"\"#\r\n\\\0\xC3\xA9\xFF" "0123456789.";
    const size_t count = below(g, 4) ? below(g, 18) : below(g, 50) ? below(g, 150) : below(g, 5000);
    bytes b = {hdst__arena_alloc(&arena, count + 1), count};
    for (size_t i = 0; i < count; i++) b.at[i] = alphabet[below(g, sizeof alphabet - 1)];
    return b;
}

// RFC 4180: what may stand without quotes here.
static bool may_be_bare(const generator *g, bytes b)
{
    static const char odd[] = "\"\r\n", blanks[] = " \t";
    if (b.count == 0) return g->delimiter != ' ';
    for (size_t i = 0; i < b.count; i++)
        if (b.at[i] == g->delimiter || (b.at[i] && strchr(odd, b.at[i])) || (g->delimiter == ' ' && b.at[i] == '\t')) return false;
    return !strchr(blanks, b.at[0] ? b.at[0] : 'x') && !strchr(blanks, b.at[b.count - 1] ? b.at[b.count - 1] : 'x');
}

static void put_text(generator *g, bytes b)
{
    const bool quoted = !may_be_bare(g, b) || below(g, 3) == 0, blanks = below(g, 10) == 0 && g->delimiter != '\t';
    if (blanks) put_words(g, "  ");
    if (!quoted) put(g, b.at, b.count);
    if (quoted) put_words(g, "\"");
    for (size_t i = 0; quoted && i < b.count; i++) put(g, b.at[i] == '"' ? "\"\"" : &b.at[i], b.at[i] == '"' ? 2 : 1);
    if (quoted) put_words(g, "\"");
    if (blanks) put_words(g, " ");
}

static wanted *make_table(generator *g, size_t rows, bool tells_all)
{
    wanted *want = hdst__arena_alloc(&arena, rows * sizeof *want);
    char number[32];
    const char delimiter[2] = {g->delimiter, 0};
    g->text = hdst__arena_alloc(&arena, rows * 1500 + 100000);
    g->used = 0;
    put_words(g, "number"), put_words(g, delimiter), put_words(g, "text"), put_words(g, delimiter), put_words(g, "more"), put_words(g, g->line_end);
    for (size_t i = 0; i < rows; i++) {
        want[i] = (wanted){(int32_t)below(g, 1 << 20) - 1000, any_text(g), any_text(g)};
        if (tells_all && i < 32) want[i].text = want[i].more = (bytes){"x", 1};     // the delimiter is found in these
        snprintf(number, sizeof number, below(g, 4) ? "%d" : "\"%d\"", want[i].number);
        put_words(g, number), put_words(g, delimiter);
        put_text(g, want[i].text), put_words(g, delimiter);
        put_text(g, want[i].more);
        if (i + 1 < rows || below(g, 2)) put_words(g, g->line_end);
        if (below(g, 20) == 0 && i + 1 < rows) put_words(g, below(g, 2) ? "# no \"row, of this\n" : "\n");
    }
    return want;
}

Test(csv_texts, what_was_written_is_read)
{
    static const char delimiters[] = {',', ';', '\t', ' '};
    static const uint64_t blocks[] = {0, 1, 7, 64, 1000};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 3);
    for (uint32_t i = 0; i < 40; i++) {
        generator g = {.seed = i * 77 + 5, .delimiter = delimiters[i % 4], .line_end = i / 4 % 2 ? "\r\n" : "\n"};
        const size_t rows = i % 10 == 9 ? 3000 : 32 + i * 7;
        const wanted *want = make_table(&g, rows, true);
        const char *path = write_file("t.csv", g.text, g.used);
        expect_source(OPEN_OK(hdst__source_csv_in_blocks(NULL, path, NULL, blocks[i % 5], NULL, error)), want, rows, i % 3 ? pool : NULL);
    }
    hdst__thread_pool_destroy(pool);
}

Test(csv_texts, compressed_files_are_unpacked)
{
    static const char *const names[PACKERS] = {"t.csv.gz", "t.csv.zst", "t.CSV.XZ"};
    generator g = {.seed = 9, .delimiter = ',', .line_end = "\n"};
    const wanted *want = make_table(&g, 2000, true);
    for (int p = 0; p < PACKERS; p++) {
        const packed_bytes packed = packers[p].pack(g.text, g.used);
        expect_source(OPEN_OK(hdst__source_open(NULL, write_file(names[p], packed.bytes, packed.count), NULL, NULL, error)), want, 2000, NULL);
        cr_assert_null(hdst__source_open(NULL, write_file(names[p], packed.bytes, packed.count / 2), NULL, NULL, &failed));
        cr_assert_eq(failed.code, HDST_E_FORMAT, "%s: %s", names[p], failed.message);
    }
    cr_assert_null(hdst__source_open(NULL, write_file("t.csv", "BZh91AY&SY..", 12), NULL, NULL, &failed));
    cr_assert(strstr(failed.message, "bzip2"), "%s", failed.message);
}

// --- Round trips ---

Test(csv_texts, our_own_files_come_back)
{
    generator g = {.seed = 3, .delimiter = ',', .line_end = "\n"};
    enum { ROWS = 4000 };
    const wanted *want = make_table(&g, ROWS, false);
    note *rows = hdst__arena_alloc(&arena, ROWS * sizeof *rows);
    memset(rows, 0, ROWS * sizeof *rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (note){want[i].number, hdst__text_span_of(want[i].text.at, (uint32_t)want[i].text.count),
                         hdst__text_span_of(want[i].more.at, (uint32_t)want[i].more.count)};
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("r.csv"), note_record(), rows, ROWS, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_tsv, NULL, path_of("r.tsv"), note_record(), rows, ROWS, NULL), HDST_OK);
    expect_source(OPEN_OK(hdst__source_open(NULL, path_of("r.csv"), NULL, NULL, error)), want, ROWS, NULL);
    expect_source(OPEN_OK(hdst__source_open(NULL, path_of("r.tsv"), NULL, NULL, error)), want, ROWS, NULL);
}

static void expect_texts(const char *name, const char *text, const char *columns, size_t width, const char *const *want, size_t rows)
{
    static const char *const names[] = {"a", "b", "c"};
    static const hdst__kind kinds[] = {HDST__TEXT, HDST__TEXT, HDST__TEXT};
    const hdst__record *record = scalars_record(width, names, kinds);
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_text(name, text), columns, NULL, error));
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_bind(source, record, &bound, &failed), HDST_OK, "%s: %s", text, failed.message);
    cr_assert_eq(source->rows, rows, "%s: %zu rows", text, (size_t)source->rows);
    bytes_place *place = make_place();
    hdst__text_span *got = fill_structs(bound, record, rows, 100, 0, place, NULL, &failed);
    cr_assert(got, "%s: %s", text, failed.message);
    for (size_t i = 0; i < rows * width; i++) expect_text(&got[i], want[i], strlen(want[i]), text, i);
    free(got);
    free_place(place);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

#define EXPECT(name, text, columns, width, ...)                                                                                                      \
    expect_texts(name, text, columns, width, (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) / (width))

Test(csv_texts, the_rules)
{
    EXPECT("a.csv", "a,b\nx,\"y, \"\"z\"\"\"\n\"two\r\nlines\",  trimmed \t\n\" kept \",\n", NULL, 2, "x", "y, \"z\"", "two\r\nlines", "trimmed", " kept ", "");
    EXPECT("a.csv", "b,other,a\nx,1,y\n", NULL, 2, "y", "x");                         // by name
    EXPECT("a.csv", "b,other,a\nx,1,y\n", "b,a", 2, "x", "y");                        // in the order of the choice
    EXPECT("a.csv", "a\n1\nnan\n\"\"\n", NULL, 1, "1", "nan", "");                    // what could be numbers
    EXPECT("a.csv", "a,b\nback\\tslash,\"\\n\"\n", NULL, 2, "back\\tslash", "\\n");   // escapes are those of .tsv
    EXPECT("a.tsv", "a\tb\nback\\tslash\\\\n\t\"\\n \"\"\\q\\\"\n", NULL, 2, "back\tslash\\n", "\n \"\\q\\");
    EXPECT("a.csv", "a,b\nx y \"quoted\" z,\"q\"\n", NULL, 2, "x y \"quoted\" z", "q");
    EXPECT("a.csv", "a,b\nCity,xnan\ninfinity,Nan\nbrief,any\n", NULL, 2, "City", "xnan", "infinity", "Nan", "brief", "any");
}

Test(csv_texts, a_header_that_names_no_field_is_told)
{
    hdst__bound_source *bound;
    static const char *const names[] = {"who", "where"};
    static const hdst__kind kinds[] = {HDST__TEXT, HDST__TEXT};
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_text("a.csv", "Ada,London\nGrace,New York\n"), NULL, NULL, error));
    cr_assert_eq(hdst__source_bind(source, scalars_record(2, names, kinds), &bound, &failed), HDST_OK, "%s", failed.message);
    cr_assert(strstr(hdst__bound_source_note(bound), "the first row ('Ada' ...) is taken for a header"), "%s", hdst__bound_source_note(bound));
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// --- Errors ---

// The message of filling `rows` rows of a record of number, text, more.
static hdst_error failure(hdst__source *source, uint64_t most)
{
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    bytes_place *place = make_place();
    place->most = most;
    cr_assert_eq(hdst__source_bind(source, note_record(), &bound, &error), HDST_OK, "%s", error.message);
    cr_assert_null(fill_structs(bound, note_record(), source->rows, 1000000, 0, place, NULL, &error));
    free_place(place);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    return error;
}

Test(csv_texts, a_number_that_is_none_is_told_behind_texts)
{
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_text("a.csv", "number,text,more\n1,\"a\nb\",\"\"\"\"\n 2x,c,d\n"), NULL, NULL, error));
    const hdst_error error = failure(source, UINT64_MAX);
    cr_assert(error.code == HDST_E_FORMAT && error.line == 4 && error.column == 2, "%s at %u:%u", error.message, error.line, error.column);
    cr_assert(strstr(error.message, "'2x' is not a number, in column 'number'"), "%s", error.message);
}

Test(csv_texts, a_budget_that_is_too_small_is_told)
{
    generator g = {.seed = 8, .delimiter = ',', .line_end = "\n"};
    make_table(&g, 500, true);
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_file("b.csv", g.text, g.used), NULL, NULL, error));
    const hdst_error error = failure(source, 5000);
    cr_assert_eq(error.code, HDST_E_MEMORY);
    cr_assert(strstr(error.message, "500 rows of") && strstr(error.message, "there is no room") && strstr(error.hint, "--memory"), "%s", error.message);
    cr_assert(strstr(error.file, "b.csv") && error.line == 2 && strstr(error.cause, "the test's texts"), "%s:%u", error.file, error.line);
}

Test(csv_texts, a_file_that_shrinks_or_changes_is_an_error)
{
    generator g = {.seed = 8, .delimiter = ',', .line_end = "\n"};
    make_table(&g, 500, true);
    for (int i = 0; i < 2; i++) {
        hdst__source *source = OPEN_OK(hdst__source_open(NULL, write_file("b.csv", g.text, g.used), NULL, NULL, error));
        cr_assert_eq(hdst__source_count(source, NULL, NULL), HDST_OK);
        if (i == 0) cr_assert_eq(truncate(path_of("b.csv"), 1000), 0);
        else memset(g.text + g.used / 2, 'x', g.used - g.used / 2), write_file("b.csv", g.text, g.used);
        const hdst_error error = failure(source, UINT64_MAX);
        cr_assert(error.code == HDST_E_IO || error.code == HDST_E_FORMAT, "%s", error.message);
        cr_assert(strstr(error.file, "b.csv"));
    }
}
