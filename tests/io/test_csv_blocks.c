// SPDX-License-Identifier: Apache-2.0
// Text files in blocks of every size, by several threads, give what a simple reader gives that goes through them byte by byte.
#include "tests/io/helper.h"

#include "io/byte_masks.h"
#include "io/csv_numbers.h"
#include "io/source_csv.h"

#include <math.h>
#include <stdatomic.h>

static hdst__thread_pool *threads;
static void begin(void)
{
    set_up();
    threads = hdst__thread_pool_create(NULL, 3);
}
static void end(void)
{
    hdst__thread_pool_destroy(threads);
    tear_down();
}

TestSuite(csv_blocks, .init = begin, .fini = end);

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static uint32_t below(uint32_t n) { return (uint32_t)(next_random() % n); }

// --- A simple reader: the rules of docs/io.md for text without mistakes, whose first row is data ---

typedef struct simple {
    const char *at;
    char delimiter;
} simple;

static bool is_blank(const simple *s, char c) { return c == ' ' || (c == '\t' && s->delimiter != '\t'); }

// The next field's text; quotes are taken off. Says whether the row goes on.
static bool simple_field(simple *s, char *text)
{
    while (is_blank(s, *s->at)) s->at++;
    if (*s->at == '"') {
        for (s->at++; s->at[0] != '"' || s->at[1] == '"'; s->at++) {
            if (*s->at == '"') s->at++;
            *text++ = *s->at;
        }
        s->at++;
    } else {
        while (*s->at && *s->at != '\n' && *s->at != '\r' && *s->at != s->delimiter && !(s->delimiter == ' ' && *s->at == '\t')) *text++ = *s->at++;
        while (is_blank(s, text[-1])) text--;
    }
    *text = 0;
    while (is_blank(s, *s->at)) s->at++;
    const bool more = s->delimiter == ' ' ? *s->at && *s->at != '\n' && *s->at != '\r' : *s->at == s->delimiter;
    s->at += more && s->delimiter != ' ';
    return more;
}

static bool simple_skips(const simple *s)
{
    const char *p = s->at + strspn(s->at, " \t\r");
    return !*p || *p == '\n' || *p == '#';
}

// Rows of `width` fields of which the last `wanted` are numbers.
static size_t simple_read(const char *text, char delimiter, size_t width, size_t wanted, double *numbers)
{
    simple s = {text, delimiter};
    size_t rows = 0;
    while (*s.at) {
        if (simple_skips(&s)) {
            s.at += strcspn(s.at, "\n");
        } else {
            char field[256];
            for (size_t i = 0; i < width; i++) {
                cr_assert_eq(simple_field(&s, field), i + 1 < width, "%.60s", s.at);
                if (i >= width - wanted) *numbers++ = strtod(field, NULL);
            }
            rows++;
        }
        s.at += *s.at == '\r';
        if (*s.at) {
            cr_assert_eq(*s.at, '\n');
            s.at++;
        }
    }
    return rows;
}

// --- Texts of all kinds ---

typedef struct texts {
    char delimiter;
    const char *line_end;
    bool quotes;        // line ends and delimiters within fields
    bool skips;         // blank lines and comments
    bool blanks;        // around fields
    bool last_end;      // the last line ends as the others do
} texts;

static char *put_number(char *p)
{
    static const char *const special[] = {"nan", "-inf", "Infinity", "1e400", "0", "-0", "+5", ".5", "5.", "1e5", "-2.5E-3", "12345678", "123456789",
                                          "0.12345678", "0.123456789", "123456789012345678901234567890", "9007199254740993", "1.7976931348623157e308"};
    const uint32_t kind = below(16);
    if (kind == 0) return p + sprintf(p, "%s", special[below(3)]);
    if (kind == 1) return p + sprintf(p, "%s", special[4 + below(14)]);
    if (kind == 2) return p + sprintf(p, "%.17g", (double)next_random() * 1e-19);
    return p + sprintf(p, "%s%u.%0*u", below(2) ? "-" : "", below(below(2) ? 10 : 100000), (int)(1 + below(8)), below(10));
}

static char *put_word(const texts *t, char *p)
{
    static const char *const words[] = {"setosa", "a", "Friday", "7\"", "5\" pipe", "x#y"};
    static const char *const quoted[] = {"\"a,b;c d\"", "\"two\nlines\"", "\"\n\n,\n\"", "\"say \"\"hi\"\"\"", "\"\"", "\"# no comment\n1,2,3\n\"", "\"nan\""};
    if (t->quotes && below(3) == 0) return p + sprintf(p, "%s", quoted[below(7)]);
    return p + sprintf(p, "%s", words[t->delimiter == ' ' ? below(4) : below(6)]);
}

static char *put_field(const texts *t, char *p, bool is_word)
{
    if (t->blanks && below(4) == 0) p += sprintf(p, " ");
    const bool quote = t->quotes && !is_word && below(8) == 0;
    if (quote) *p++ = '"';
    p = is_word ? put_word(t, p) : put_number(p);
    if (quote) *p++ = '"';
    if (t->blanks && below(4) == 0) p += sprintf(p, "%s", t->delimiter == '\t' ? " " : " \t");
    return p;
}

static char *put_skipped(const texts *t, char *p)
{
    static const char *const lines[] = {"", "   ", "# a comment", "  # with \"quotes", "#", "\t"};
    return p + sprintf(p, "%s%s", lines[below(6)], t->line_end);
}

static char *make_text(const texts *t, size_t rows, size_t width, size_t words)
{
    char *text = hdst__arena_alloc(&arena, rows * (width + 2) * 48 + 64), *p = text;
    for (size_t row = 0; row < rows; row++) {
        while (t->skips && below(4) == 0) p = put_skipped(t, p);
        for (size_t i = 0; i < width; i++) {
            if (i) *p++ = t->delimiter;
            p = row ? put_field(t, p, i < words) : p + sprintf(p, "1");      // the first row is no header
        }
        if (row + 1 < rows || t->last_end) p += sprintf(p, "%s", t->line_end);
        if (row + 1 == rows && t->last_end && t->skips) p = put_skipped(t, p);
    }
    *p = 0;
    return text;
}

// --- Blocks ---

typedef struct expectation {
    const char *path, *columns;
    const double *numbers;
    size_t rows, wanted;
} expectation;

static void expect_note(const hdst__source *source, const expectation *e)
{
    char note[64] = "";
    int count = 0;
    for (size_t i = 0; i < e->rows * e->wanted; i++) count += !isfinite(e->numbers[i]);
    if (count) snprintf(note, sizeof note, "%d number%s nan or inf", count, count == 1 ? " is" : "s are");
    cr_assert(strstr(source->note, note) && !source->note[0] == !count, "'%s' is not '%s'", source->note, note);
}

static void expect_numbers(const expectation *e, uint64_t block_bytes, uint64_t piece)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__source *source = hdst__source_csv_in_blocks(NULL, e->path, e->columns, block_bytes, NULL, &error);
    cr_assert(source, "%s", error.message);
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_count(source, threads, &error), HDST_OK, "blocks of %d: %s %s", (int)block_bytes, error.message, error.cause);
    cr_assert_eq(source->rows, e->rows, "blocks of %d: %d rows instead of %d", (int)block_bytes, (int)source->rows, (int)e->rows);
    expect_note(source, e);
    hdst__record *record = array_record(HDST__F64, e->wanted);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK, "%s", error.message);
    const double *got = (const double *)fill_layout(bound, record, e->rows, piece, 0, &error);
    cr_assert(got, "blocks of %d: %s %s", (int)block_bytes, error.message, error.cause);
    for (size_t i = 0; i < e->rows * e->wanted; i++)
        cr_assert(got[i] == e->numbers[i] || (got[i] != got[i] && e->numbers[i] != e->numbers[i]), "blocks of %d: number %d is %.17g, not %.17g",
                  (int)block_bytes, (int)i, got[i], e->numbers[i]);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static void check_text(const texts *t, size_t rows, size_t width, size_t words, int all_sizes)
{
    const char *text = make_text(t, rows, width, words);
    double *numbers = hdst__arena_alloc(&arena, rows * width * sizeof *numbers);
    char columns[32];
    snprintf(columns, sizeof columns, "%d-%d", (int)words, (int)width - 1);
    const expectation e = {write_text("a.csv", text), words ? columns : NULL, numbers, rows, width - words};
    cr_assert_eq(simple_read(text, t->delimiter, width, e.wanted, numbers), rows);
    for (uint64_t bytes = 1; bytes <= 200; bytes += all_sizes ? 1 : 1 + below(40)) expect_numbers(&e, bytes, 1 + below(9));
    expect_numbers(&e, 0, 1000000);
}

Test(csv_blocks, every_size_of_blocks_gives_what_a_simple_reader_gives)
{
    static const char delimiters[] = {',', ';', '\t', ' '};
    for (int kind = 0; kind < 64; kind++)
        for (int d = 0; d < 4; d++) {
            const texts t = {delimiters[d], kind & 1 ? "\r\n" : "\n", kind & 2, kind & 4, kind & 8, kind & 16};
            const size_t words = kind & 32 ? 1 : 0;
            check_text(&t, 40, 2 + words + below(3), words, kind % 21 == d);
        }
}

// Nothing but quoted line ends, so that whatever a block supposes of its start is wrong.
Test(csv_blocks, lines_within_quotes_across_many_blocks)
{
    enum { ROWS = 12, LINES = 60 };
    char *text = hdst__arena_alloc(&arena, ROWS * (LINES * 8 + 32)), *p = text;
    double numbers[ROWS];
    for (int row = 0; row < ROWS; row++) {
        p += sprintf(p, "\"");
        for (int line = 0; line < LINES; line++) p += sprintf(p, "7,%d\n", line);
        p += sprintf(p, "\",%d\n", row);
        numbers[row] = row;
    }
    const expectation e = {write_text("a.csv", text), "1", numbers, ROWS, 1};
    for (uint64_t bytes = 1; bytes <= 200; bytes++) expect_numbers(&e, bytes, 5);
}

static const struct {
    const char *end, *columns;
    uint32_t line, column;      // counted from the end's first line
    const char *message;
} mistakes[] = {
    {"1,2\n1,2,3\n1\n1,2\n", NULL, 2, 5, "the row has 3 fields, line 1 has 2"},
    {"1,2\n\"a\nb\",2\n1,\"2\n", NULL, 4, 3, "a quoted field is not closed"},          // all rows come before all numbers
    {"1,2\n# x\n\n1,\"2\" 3\n1,2,3\n", NULL, 4, 7, "text follows a quoted field"},
    {"1,2\n1,\"2\"\"3\n1,2,3\n", NULL, 2, 3, "a quoted field is not closed"},
    {"1,2\n1,3\"\n1\n", NULL, 3, 2, "the row has 1 field, line 1 has 2"},
    {"1,2\n\n3,four\n1,five\n", NULL, 3, 3, "'four' is not a number, in column 1"},
    {"1,2\n3,1e999\n", NULL, 2, 3, "'1e999' is too large for float32 in column 1"},
    {"1,\"two\nlines\"\n#\n 2 , \"\n\n\"\nthree,3\n", "0", 7, 1, "'three' is not a number, in column 0"},
    {"1,\"two\r\nlines\"\r\n\r\n\"three\",3\n", "0", 4, 2, "'three' is not a number, in column 0"},
};

// A mistake has the same message and place whatever the blocks, and it is the first one of the file.
Test(csv_blocks, mistakes_are_told_alike)
{
    enum { ROWS = 50, COMMENTS = 6 };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = hdst__arena_alloc(&arena, 4096), *p = text;
        for (int row = 0; row < ROWS; row++) p += sprintf(p, row % 9 ? "%d,%d\n" : "%d,%d\n# \"\n", row, row);
        strcpy(p, mistakes[i].end);
        const char *path = write_text("a.csv", text);
        for (uint64_t bytes = 0; bytes <= 200; bytes++) {
            hdst_error error = HDST_ERROR_INIT;
            hdst__source *source = hdst__source_csv_in_blocks(NULL, path, mistakes[i].columns, bytes, NULL, &error);
            cr_assert(source, "%s", error.message);
            if (hdst__source_count(source, threads, &error) == HDST_OK) error = failure_of(source, array_record(HDST__F32, source->width), error);
            else hdst__source_close(source);
            cr_assert_eq(error.code, HDST_E_FORMAT);
            cr_assert_str_eq(error.message, mistakes[i].message, "%d, blocks of %d: %s", (int)i, (int)bytes, error.message);
            cr_assert(error.line == ROWS + COMMENTS + mistakes[i].line && error.column == mistakes[i].column, "%s: blocks of %d: at %u:%u", error.message,
                      (int)bytes, error.line, error.column);
        }
    }
}

// --- Types ---

// Of short numbers and of what is just not short any more: eight digits on either side of the point, and what is exactly between two floats.
static void put_short(char *text)
{
    static const char *const edges[] = {"-0", "0", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32769", "65535", "65536", "2147483647",
                                        "2147483648", "-2147483648", "4294967295", "4294967296", "16777217", "33554435", "16777219.0", "0.00000001",
                                        "90071992.54740992", "90071992.54740993", "99999999.99999999", "-1", "1.0", "3.", "+7", "-0.0", "9223372036854775807"};
    const uint32_t kind = below(8), halves = 1 + below(1 << 23);
    if (kind == 0) strcpy(text, edges[below(sizeof edges / sizeof *edges)]);
    else if (kind == 1) sprintf(text, "%s%u", below(2) ? "-" : "", below(300));
    else if (kind == 2) sprintf(text, "%u.%u", (1 << 23) + halves, 5 * below(2));                  // between floats 1 apart
    else if (kind == 3) sprintf(text, "%.8f", (1 + 2 * (double)halves) / (1 << (24 - below(16))));  // odd multiples of a power of two, some cut off
    else sprintf(text, "%s%u.%0*u", below(2) ? "-" : "", below(100000000), 8, below(100000000));
}

// What the text is as a number of the kind, in the first bytes of *bits; false: it does not fit.
static bool value_of(const char *text, hdst__kind kind, uint64_t *bits)
{
    static const double least[HDST__SCALAR_KINDS] = {[HDST__I8] = -0x1p7, [HDST__I16] = -0x1p15, [HDST__I32] = -0x1p31, [HDST__I64] = -0x1p63};
    static const double most[HDST__SCALAR_KINDS] = {[HDST__I8] = 0x1p7, [HDST__I16] = 0x1p15, [HDST__I32] = 0x1p31, [HDST__I64] = 0x1p63,
                                                    [HDST__U8] = 0x1p8, [HDST__U16] = 0x1p16, [HDST__U32] = 0x1p32, [HDST__U64] = 0x1p64};
    const double value = strtod(text, NULL);
    const float single = strtof(text, NULL);
    *bits = 0;
    if (kind == HDST__F64) return memcpy(bits, &value, sizeof value) != NULL;
    if (kind == HDST__F32) return memcpy(bits, &single, sizeof single) != NULL;
    if (kind == HDST__BOOL) return memcpy(bits, &(uint8_t){value != 0}, 1) != NULL;
    const int64_t whole = strtoll(text, NULL, 10);              // behind a point there may be zeros only
    if (strchr(text, '.') && value != (double)whole) return false;
    if (value < least[kind] || (value >= most[kind] && whole != INT64_MAX)) return false;
    if (whole == INT64_MAX && hdst__scalar_size(kind) < 8) return false;
    memcpy(bits, &whole, hdst__scalar_size(kind));
    return true;
}

Test(csv_blocks, numbers_of_every_type_are_rounded_once_or_refused)
{
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U8, HDST__U16, HDST__U32, HDST__U64, HDST__F32, HDST__F64};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        enum { ROWS = 3000 };
        const size_t size = hdst__scalar_size(kinds[k]);
        char *text = hdst__arena_alloc(&arena, ROWS * 64), *p = text, *expected = hdst__arena_alloc(&arena, ROWS * 8);
        for (int row = 0; row < ROWS;) {
            char number[64], refused[128];
            uint64_t bits;
            put_short(number);
            if (value_of(number, kinds[k], &bits)) {
                memcpy(expected + size * (size_t)row++, &bits, size);
                p += sprintf(p, "%s\n", number);
            } else if (row % 50 == 0) {
                sprintf(refused, "1\n%s\n", number);
                hdst__source *wrong = OPEN_OK(hdst__source_csv(NULL, write_text("b.csv", refused), NULL, NULL, error));
                const hdst_error why = failure_of(wrong, array_record(kinds[k], 1), (hdst_error)HDST_ERROR_INIT);
                cr_assert_eq(why.code, HDST_E_FORMAT, "%s as kind %d", number, (int)kinds[k]);
                cr_assert_eq(why.line, 2);
            }
        }
        hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, error));
        expect_records(source, array_record(kinds[k], 1), expected, ROWS);
        hdst__source_close(source);
    }
}

// --- Several threads ---

typedef struct reading {
    hdst__bound_source *bound;
    const hdst__storage *storage;
    void **buffers;
    uint64_t rows;
    atomic_uint failures;
} reading;

static void read_piece(void *user, uint64_t i)
{
    reading *r = user;
    const uint64_t first = i * 37, count = r->rows - first < 37 ? r->rows - first : 37;
    r->failures += hdst__bound_source_fill(r->bound, first, count, r->storage, r->buffers, first, NULL) != HDST_OK;
}

// Numbers go straight into the segment, so that the threads share nothing but the source.
Test(csv_blocks, ranges_are_read_by_several_threads_at_once)
{
    enum { ROWS = 20000 };
    const texts t = {',', "\n", true, true, true, true};
    const char *text = make_text(&t, ROWS, 2, 0);
    double *numbers = hdst__arena_alloc(&arena, ROWS * 2 * sizeof *numbers), *got = hdst__arena_alloc(&arena, ROWS * 2 * sizeof *got);
    cr_assert_eq(simple_read(text, ',', 2, 2, numbers), ROWS);
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, error));
    cr_assert(source->concurrent);
    hdst__record *record = array_record(HDST__F64, 2);
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_count(source, threads, NULL), HDST_OK);
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    for (int round = 0; round < 3; round++) {
        void *buffers[] = {got};
        reading r = {bound, hdst__storage_make(&arena, record, HDST__AOS, 0, ROWS), buffers, ROWS, 0};
        memset(got, 0xAA, ROWS * 2 * sizeof *got);
        hdst__thread_pool_run(threads, (ROWS + 36) / 37, read_piece, &r);
        cr_assert_eq(r.failures, 0);
        for (int i = 0; i < ROWS * 2; i++) cr_assert(got[i] == numbers[i] || (got[i] != got[i] && numbers[i] != numbers[i]), "number %d", i);
    }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// Memory for a window of a text, and for one more at times.
typedef struct tight {
    atomic_int windows, most;
} tight;

enum { WINDOW = 4000 };

static void *allocate(size_t bytes, void *user)
{
    tight *t = user;
    size_t *block = malloc(bytes + 16);
    if (bytes == WINDOW + HDST__CSV_SLACK && atomic_fetch_add(&t->windows, 1) >= t->most) {
        t->windows--;
        free(block);
        return NULL;
    }
    *block = bytes;
    return (char *)block + 16;
}

static void release(void *pointer, void *user)
{
    tight *t = user;
    if (!pointer) return;
    size_t *block = (size_t *)((char *)pointer - 16);
    t->windows -= *block == WINDOW + HDST__CSV_SLACK;
    free(block);
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    void *moved = allocate(bytes, user);
    size_t held = pointer ? *(size_t *)((char *)pointer - 16) : 0;
    if (moved && pointer) memcpy(moved, pointer, held < bytes ? held : bytes);
    if (moved) release(pointer, user);
    return moved;
}

// All threads read, one after another, where there is memory for fewer; and where there is memory for none they say so.
Test(csv_blocks, threads_share_what_memory_there_is)
{
    enum { ROWS = 2000, ROW = 10 };
    char *text = hdst__arena_alloc(&arena, ROWS * ROW + 1);
    for (int row = 0; row < ROWS; row++) sprintf(text + row * ROW, "%04d,%04d\n", row, row);
    const char *path = write_text("a.csv", text);
    for (int most = 3; most >= 1; most--) {
        tight t = {.most = 3};
        const hdst__allocator allocator = {.allocate = allocate, .reallocate = reallocate, .release = release, .user = &t};
        hdst__source *source = OPEN_OK(hdst__source_csv_in_blocks(&allocator, path, NULL, WINDOW, NULL, error));
        hdst__record *record = array_record(HDST__F64, 2);
        hdst__bound_source *bound;
        double got[2 * ROWS];
        void *buffers[] = {got};
        t.most = most;
        cr_assert_eq(hdst__source_count(source, threads, NULL), HDST_OK);
        cr_assert_eq(source->rows, ROWS);
        cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
        reading r = {bound, hdst__storage_make(&arena, record, HDST__AOS, 0, ROWS), buffers, ROWS, 0};
        hdst__thread_pool_run(threads, (ROWS + 36) / 37, read_piece, &r);
        cr_assert_eq(r.failures, 0);
        for (int i = 0; i < 2 * ROWS; i++) cr_assert_eq(got[i], i / 2);
        hdst__source_unbind(bound);
        hdst__source_close(source);
        cr_assert_eq(t.windows, 0);
    }
    tight none = {.most = 1};
    const hdst__allocator allocator = {.allocate = allocate, .reallocate = reallocate, .release = release, .user = &none};
    hdst__source *source = OPEN_OK(hdst__source_csv_in_blocks(&allocator, path, NULL, WINDOW, NULL, error));
    hdst_error error = HDST_ERROR_INIT;
    none.most = 0;
    cr_assert_eq(hdst__source_count(source, threads, &error), HDST_E_MEMORY);
    none.most = 1;
    cr_assert_eq(hdst__source_count(source, threads, &error), HDST_OK);
    hdst__source_close(source);
}

// --- Parts ---

Test(csv_blocks, masks_tell_each_byte)
{
    char bytes[64];
    for (int round = 0; round < 4000; round++) {
        for (int i = 0; i < 64; i++) bytes[i] = round < 300 ? (char)(round + i) : (char)next_random();
        const hdst__bytes vector = hdst__bytes_load(bytes);
        const hdst__word_bytes words = hdst__word_bytes_load(bytes);
        const char c = round % 2 ? bytes[below(64)] : (char)round;
        uint64_t equal = 0, letters = 0;
        for (int i = 0; i < 64; i++) {
            equal |= (uint64_t)(bytes[i] == c) << i;
            letters |= (uint64_t)((unsigned char)bytes[i] > 0x40 && (unsigned char)bytes[i] < 0x80) << i;
        }
        cr_assert_eq(hdst__bytes_equal(&vector, c), equal);
        cr_assert_eq(hdst__word_bytes_equal(&words, c), equal);
        cr_assert_eq(hdst__bytes_letters(&vector), letters);
        cr_assert_eq(hdst__word_bytes_letters(&words), letters);
    }
}

static void expect_stretch(hdst__csv_stretch all, int rows, const char *behind)
{
    cr_expect_eq(all.rows, (uint64_t)rows);
    cr_expect_eq(all.behind, behind);
}

// Rows of one byte to many chunks: all of them are plain, and counted up to what is asked for.
Test(csv_blocks, plain_rows_are_counted_without_the_rules_for_others)
{
    char *text = hdst__arena_alloc(&arena, 100000 + HDST__CSV_SLACK), *p = text;
    const char *start[200];
    memset(text, 0, 100000 + HDST__CSV_SLACK);
    for (int row = 0; row < 200; row++) {
        start[row] = p;
        for (uint32_t n = 1 + below(row % 3 ? 5 : 300); n; n--) *p++ = (char)('0' + below(10));
        *p++ = ',';
        *p++ = '1';
        *p++ = '\n';
    }
    const hdst__csv_shape two = {',', 2}, three = {',', 3};
    for (int row = 0; row < 200; row++) {
        expect_stretch(hdst__csv_scan(&two, start[row], p, p, UINT64_MAX), 200 - row, p);
        expect_stretch(hdst__csv_scan(&two, text, p, p, (uint64_t)row), row, start[row]);
        expect_stretch(hdst__csv_scan(&two, text, start[row], p, UINT64_MAX), row, start[row]);
        expect_stretch(hdst__csv_scan(&two, text, p, start[row] + 1, UINT64_MAX), row, start[row]);       // of the last row only a part is there
    }
    expect_stretch(hdst__csv_scan(&three, text, p, p, UINT64_MAX), 0, text);
}

// What is not there is no field, also where it is passed over.
Test(csv_blocks, rows_that_lack_a_field_are_not_plain)
{
    static const hdst__csv_wanted wanted[] = {{.as.kind = HDST__F64}, {.as.kind = HDST__VOID}};
    static const struct { const char *text; char delimiter; int rows, counted; } cases[] = {
        {"1,\n", ',', 1, 1}, {"1,a b\r\n", ',', 1, 1}, {"1\n", ',', 0, 0}, {"1,a,b\n", ',', 0, 0}, {"1 a\n", ' ', 1, 1}, {" 1 \t a \r\n", ' ', 1, 1},
        {"1 \n", ' ', 0, 0}, {"1 \r\n", ' ', 0, 0}, {"1 a b\n", ' ', 0, 0}, {"1,\"a\n\"\n", ',', 1, 1}, {"1,\"a\n", ',', 0, 0}, {"1,\"a\"\"\n", ',', 0, 0},
        {"1,\"chunks have 64 bytes each, so that the first one ends inside the quotes \n\"\n", ',', 1, 1},
        {"1x,a\n", ',', 0, 1}, {"\"1\",a\n", ',', 1, 1}, {"\"1,a\n", ',', 0, 0},
    };
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256 + HDST__CSV_SLACK] = {0};
        double number = 0;
        strcpy(text, cases[i].text);
        const hdst__csv_shape shape = {cases[i].delimiter, 2};
        const hdst__csv_stretch all = hdst__csv_numbers(&shape, wanted, text, text + strlen(text), UINT64_MAX, (char *)&number, 8, plain);
        cr_expect_eq(all.rows, (uint64_t)cases[i].rows, "%s", text);
        cr_expect_eq(number, all.rows ? 1 : number, "%s", text);
        expect_stretch(hdst__csv_scan(&shape, text, text + strlen(text), text + strlen(text), UINT64_MAX), cases[i].counted,
                       cases[i].counted ? text + strlen(text) : text);
    }
    freelocale(plain);
}
