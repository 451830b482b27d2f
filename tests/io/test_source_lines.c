// SPDX-License-Identifier: Apache-2.0
// Lines as records: their bytes, places and numbers against a loop over the text, in every layout, by one thread and by several.
#include "packed.h"

#include "engine/memory/reader.h"
#include "io/bound.h"
#include "record/text_bytes.h"
#include "record/text_span.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

TestSuite(source_lines, .init = set_up, .fini = tear_down);

static hdst_error failed;

// --- A place for bytes ---

typedef struct bytes_place {
    hdst__bytes_place place;
    pthread_mutex_t mutex;
    char *block[4096];
    size_t blocks;
    uint64_t bytes, most;           // taken; that there are
} bytes_place;

static hdst_status take(void *user, uint64_t bytes, char **at, hdst_error *error)
{
    bytes_place *p = user;
    if (p->bytes + bytes > p->most) return hdst__error_memory(error, "the test's texts");
    pthread_mutex_lock(&p->mutex);
    p->bytes += bytes;
    *at = p->block[p->blocks++] = calloc(1, bytes + 16);        // to the byte: a sanitizer sees one too many
    cr_assert_leq(p->blocks, 4096);
    pthread_mutex_unlock(&p->mutex);
    return HDST_OK;
}

static bytes_place *make_place(void)
{
    bytes_place *p = hdst__arena_alloc(&arena, sizeof *p);
    *p = (bytes_place){.place = {take, p}, .mutex = PTHREAD_MUTEX_INITIALIZER, .most = UINT64_MAX};
    return p;
}

static void free_place(bytes_place *p)
{
    for (size_t i = 0; i < p->blocks; i++) free(p->block[i]);
}

// --- What is expected ---

typedef struct line {
    const char *bytes;
    size_t count;
    uint64_t offset, line;
    uint32_t source;
} line;

enum { MOST_LINES = 200000 };

static size_t split(line *lines, size_t held, const char *text, size_t count, uint32_t source, bool strip)
{
    uint64_t number = 1;
    for (size_t at = 0; at < count; number++) {
        size_t end = at;
        while (end < count && text[end] != '\n') end++;
        const bool returns = strip && end < count && end > at && text[end - 1] == '\r';
        cr_assert_lt(held, MOST_LINES);
        lines[held++] = (line){text + at, end - at - returns, at, number, source};
        at = end + 1;
    }
    return held;
}

static const char *const names[] = {"source", "text", "line", "offset"};       // in another order than the source's
static const hdst__kind kinds[] = {HDST__I64, HDST__TEXT, HDST__U32, HDST__U64};

typedef struct row {
    int64_t source;
    hdst__text_span text;
    uint32_t line;
    uint64_t offset;
} row;

static void expect_row(const row *got, const line *want, size_t number)
{
    cr_assert(got->source == want->source && got->line == want->line && got->offset == want->offset, "record %zu", number);
    cr_assert_eq(got->text.length, want->count, "record %zu has %u bytes", number, got->text.length);
    cr_assert(!memcmp(hdst__text_bytes(&got->text), want->bytes, want->count), "record %zu", number);
    const hdst__text_span span = hdst__text_span_of(want->bytes, (uint32_t)want->count);
    cr_assert(!memcmp(&span, &got->text, want->count <= HDST__TEXT_INLINE ? 16 : 8), "record %zu", number);
}

// As fill_layout of the helper, with a place for bytes, by the pool where there is one.
static row *fill_rows(hdst__bound_source *bound, const hdst__record *record, uint64_t rows, uint64_t piece, int which, bytes_place *place,
                      hdst__thread_pool *pool)
{
    hdst__storage storage = *hdst__storage_make(&arena, record, layouts[which].layout, layouts[which].block, rows + SHIFT);
    void *buffers[4];
    storage.text = &place->place;
    for (uint32_t b = 0; b < storage.buffers; b++) buffers[b] = malloc(storage.buffer_bytes[b]);
    const hdst__reader reader = {hdst__bound_source_fill, bound, rows, record, layouts[which].layout, layouts[which].block, .concurrent = true};
    for (uint64_t pieces = (rows + piece - 1) / piece; pieces-- > 0;) {
        const uint64_t first = pieces * piece, count = rows - first < piece ? rows - first : piece;
        hdst_status status = pool ? hdst__reader_fill(&reader, pool, first, count, &storage, buffers, first + SHIFT, &failed)
                                  : hdst__bound_source_fill(bound, first, count, &storage, buffers, first + SHIFT, &failed);
        cr_assert_eq(status, HDST_OK, "%s", failed.message);
    }
    row *out = calloc(rows + 1, sizeof *out);
    const hdst__storage *structs = hdst__storage_make(&arena, record, HDST__AOS, 0, rows);
    hdst__storage_copy(structs, (void *[]){out}, 0, &storage, (const void *const *)buffers, SHIFT, rows);
    for (uint32_t b = 0; b < storage.buffers; b++) free(buffers[b]);
    return out;
}

static void expect_source(hdst__source *source, const line *lines, size_t count, hdst__thread_pool *pool)
{
    hdst__bound_source *bound;
    const hdst__record *record = scalars_record(4, names, kinds);
    cr_assert_eq(record->size, sizeof(row));
    cr_assert_eq(hdst__source_count(source, pool, &failed), HDST_OK, "%s", failed.message);
    cr_assert_eq(source->rows, count, "%zu lines", (size_t)source->rows);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &failed), HDST_OK, "%s", failed.message);
    cr_assert(hdst__bound_source_concurrent(bound) && !hdst__bound_source_rows(bound));
    for (int which = 0; which < LAYOUTS; which++) {
        for (uint64_t piece = count > 2000 ? 1999 : 3; piece <= 1000000; piece += 1000000 - piece / 2) {
            bytes_place *place = make_place();
            row *rows = fill_rows(bound, record, count, piece, which, place, pool);
            for (size_t i = 0; i < count; i++) expect_row(&rows[i], &lines[i], i);
            free(rows);
            free_place(place);
        }
    }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// --- Before they are counted ---

// Fills `count` records from `first` on into C structs; behind the end they are nothing.
static void expect_range(hdst__bound_source *bound, const line *lines, size_t all, uint64_t first, uint64_t count)
{
    const hdst__storage *structs = hdst__storage_make(&arena, bound->record, HDST__AOS, 0, count);
    hdst__storage storage = *structs;
    bytes_place *place = make_place();
    row *rows = malloc(count * sizeof *rows);
    storage.text = &place->place;
    memset(rows, 0xAA, count * sizeof *rows);
    cr_assert_eq(hdst__bound_source_fill(bound, first, count, &storage, (void *[]){rows}, 0, &failed), HDST_OK, "%s", failed.message);
    const line nothing = {"", 0, 0, 0, 0};
    for (uint64_t i = 0; i < count; i++) expect_row(&rows[i], first + i < all ? &lines[first + i] : &nothing, first + i);
    cr_assert_eq(hdst__open_end_within(bound->source->open_end, first, count), first >= all ? 0 : all - first < count ? all - first : count);
    free(rows);
    free_place(place);
}

enum { FORWARD, BACKWARD, ANYHOW, ORDERS };

static uint64_t range_at(int order, uint64_t i, uint64_t ranges)
{
    return order == FORWARD ? i : order == BACKWARD ? ranges - 1 - i : (i * 7919 + 3) % ranges;
}

// All of them, and some behind the end, in ranges of `piece`.
static void expect_order(hdst__source *source, const line *lines, size_t count, uint64_t piece, int order)
{
    hdst__bound_source *bound;
    const uint64_t ranges = (count + piece - 1) / piece + 2;
    cr_assert_eq(hdst__source_bind_uncounted(source, scalars_record(4, names, kinds), &bound, &failed), HDST_OK, "%s", failed.message);
    cr_assert(!hdst__source_knows_rows(source));
    for (uint64_t i = 0; i < ranges; i++) expect_range(bound, lines, count, range_at(order, i, ranges) * piece, piece);
    cr_assert(hdst__open_end_is_found(source->open_end));
    cr_assert_eq(hdst__source_count(source, NULL, &failed), HDST_OK);
    cr_assert_eq(source->rows, count);
    expect_range(bound, lines, count, count / 2, count - count / 2);        // now that they are counted
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static hdst__source *open_lines(const char *const *paths, size_t count, bool strip);

static void expect_open(const char *const *paths, size_t files, bool strip, const line *lines, size_t count, hdst__thread_pool *pool)
{
    const uint64_t piece[] = {count > 2000 ? 997 : 1, count > 2000 ? 9001 : 4, count + 1};
    for (size_t i = 0; i < sizeof piece / sizeof *piece; i++)
        for (int order = 0; order < ORDERS; order++) {
            hdst__source *source = open_lines(paths, files, strip);
            source->threads = i % 2 ? NULL : pool;
            expect_order(source, lines, count, piece[i], order);
        }
}

static hdst__source *open_lines(const char *const *paths, size_t count, bool strip)
{
    return OPEN_OK(hdst__source_lines(NULL, paths, count, &(hdst__lines_options){.strip_returns = strip}, error));
}

static const char crlf[] = "a\r\nbb\r\r\n\r\n\n\r", corner[] = "\0\n\n\xFF\xFEz\nexactly 12 b\nexactly 13 by\nno end", once[] = "one line";

Test(source_lines, files_packed_and_not)
{
    static line lines[MOST_LINES];
    char *big = some_text(600000, 1), *longs = some_text(300000, 2);
    for (char *p = longs; (p = memchr(p, '\n', (size_t)(longs + 300000 - p)));) *p = ' ';
    longs[270001] = '\n';                   // one line longer than what is read at once
    const struct { const char *bytes; size_t count; } texts[] = {{"", 0}, {big, 600000}, {crlf, sizeof crlf - 1}, {"", 0}, {corner, sizeof corner - 1},
                                                                 {once, sizeof once - 1}, {longs, 300000}, {"", 0}};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 4);
    for (int strip = 0; strip < 2; strip++) {
        const char *paths[8];
        size_t count = 0;
        for (uint32_t i = 0; i < 8; i++) {
            const packed_bytes p = i % 2 ? packers[i / 2 % 3].pack(texts[i].bytes, texts[i].count) : (packed_bytes){(char *)texts[i].bytes, texts[i].count};
            paths[i] = write_file(hdst__arena_printf(&arena, "t%u", i), p.bytes, p.count);
            count = split(lines, count, texts[i].bytes, texts[i].count, i, strip);
        }
        expect_source(open_lines(paths, 8, strip), lines, count, strip ? NULL : pool);
        expect_open(paths, 8, strip, lines, count, pool);
    }
    hdst__thread_pool_destroy(pool);
}

Test(source_lines, every_length_around_what_a_span_holds)
{
    static line lines[2000];
    char *text = hdst__arena_alloc(&arena, 100000);
    size_t count = 0;
    for (size_t length = 0; length < 40; length++)
        for (size_t i = 0; i < 7; i++) {
            for (size_t k = 0; k < length; k++) text[count++] = (char)(33 + (k * 7 + i * 11 + length) % 90);
            text[count++] = '\n';
        }
    for (size_t cut = 0; cut < 14; cut++) {         // nothing but what was read lies behind the last line
        const char *path = write_file("t", text, count - cut);
        expect_source(open_lines(&path, 1, false), lines, split(lines, 0, text, count - cut, 0, false), NULL);
        expect_open(&path, 1, false, lines, split(lines, 0, text, count - cut, 0, false), NULL);
    }
}

static const hdst__record *one_field(const char *name, hdst__kind kind) { return scalars_record(1, &name, &kind); }

Test(source_lines, a_record_that_is_one_text_and_one_that_is_none)
{
    const char *path = write_text("t", "first\nsecond and longer\n");
    hdst__source *source = open_lines(&path, 1, false);
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_count(source, NULL, NULL), HDST_OK);
    cr_assert_eq(hdst__source_bind(source, one_field("line", HDST__TEXT), &bound, &failed), HDST_OK, "%s", failed.message);
    hdst__text_span spans[2];
    hdst__storage storage = *hdst__storage_make(&arena, bound->record, HDST__AOS, 0, 2);
    bytes_place *place = make_place();
    storage.text = &place->place;
    cr_assert_eq(hdst__bound_source_fill(bound, 0, 2, &storage, (void *[]){spans}, 0, &failed), HDST_OK);
    cr_assert(spans[1].length == 17 && !memcmp(hdst__text_bytes(&spans[1]), "second and longer", 17));
    storage.text = NULL;
    cr_assert_eq(hdst__bound_source_fill(bound, 0, 2, &storage, (void *[]){spans}, 0, &failed), HDST_E_UNSUPPORTED);
    hdst__source_unbind(bound);
    free_place(place);
    uint64_t offsets[2];
    cr_assert_eq(hdst__source_bind(source, one_field("offset", HDST__U64), &bound, &failed), HDST_OK);
    storage = *hdst__storage_make(&arena, bound->record, HDST__AOS, 0, 2);
    cr_assert_eq(hdst__bound_source_fill(bound, 0, 2, &storage, (void *[]){offsets}, 0, &failed), HDST_OK);
    cr_assert(offsets[0] == 0 && offsets[1] == 6);
    hdst__source_unbind(bound);
    cr_assert_eq(hdst__source_bind(source, one_field("text", HDST__F32), &bound, &failed), HDST_E_FORMAT);
    cr_assert(strstr(failed.message, "field 'text' of record 'row' is a number, column 'text' holds text"), "%s", failed.message);
    cr_assert_eq(hdst__source_bind(source, scalars_record(2, (const char *[]){"text", "other"}, (hdst__kind[]){HDST__TEXT, HDST__TEXT}), &bound, &failed),
                 HDST_E_FORMAT);
    cr_assert(strstr(failed.message, "no column for field 'other'"), "%s", failed.message);
    hdst__source_close(source);
    source = OPEN_OK(hdst__source_floats(NULL, (const float[]){1, 2}, 2, 1, error));
    cr_assert_eq(hdst__source_bind(source, one_field("x", HDST__TEXT), &bound, &failed), HDST_E_FORMAT);
    cr_assert(strstr(failed.message, "is a text, column 'of its place' holds numbers"), "%s", failed.message);
    hdst__source_close(source);
}

static uint32_t longest;
static bool uncounted;

// A bound source over one text, filled into structs of one text.
static hdst_status fill_texts(const char *path, uint64_t first, uint64_t count, uint64_t room, void (*before)(const char *path))
{
    hdst__source *source = OPEN_OK(hdst__source_lines(NULL, &path, 1, &(hdst__lines_options){.longest = longest}, error));
    hdst__bound_source *bound;
    bytes_place *place = make_place();
    place->most = room;
    if (!uncounted) cr_assert_eq(hdst__source_count(source, NULL, NULL), HDST_OK);
    cr_assert_eq(hdst__source_bind_uncounted(source, one_field("text", HDST__TEXT), &bound, NULL), HDST_OK);
    hdst__storage storage = *hdst__storage_make(&arena, bound->record, HDST__AOS, 0, count);
    storage.text = &place->place;
    void *buffer = malloc(count * 16);
    if (before) before(path);
    failed = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__bound_source_fill(bound, first, count, &storage, &buffer, 0, &failed);
    free(buffer);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    free_place(place);
    return status;
}

Test(source_lines, no_room_for_a_line)
{
    char *text = hdst__arena_alloc(&arena, 100003);
    memcpy(text, "a\nb\n", 4);
    memset(text + 4, 'c', 99999);
    const char *path = write_file("t", text, 100003);
    for (int i = 0; i < 2; i++) {
        uncounted = i;
        cr_assert_eq(fill_texts(path, 2, 1, 99998, NULL), HDST_E_MEMORY);
        cr_assert(strstr(failed.message, "line 3 of '") && strstr(failed.message, "has 99999 bytes, for which there is no room"), "%s", failed.message);
        cr_assert(failed.line == 3 && !strcmp(failed.file, path) && strstr(failed.hint, "--memory") && *failed.cause);
        cr_assert_eq(fill_texts(path, 1, 2, 99999, NULL), HDST_E_MEMORY);
        cr_assert(strstr(failed.message, "line 2 of '") && strstr(failed.message, "and those behind it have 100001 bytes"), "%s", failed.message);
        cr_assert_eq(fill_texts(path, 0, 3, 100003 * (1 + 2 * (uint64_t)i), NULL), HDST_OK);       // not counted: guesses come before it
    }
}

Test(source_lines, a_line_that_is_too_long)
{
    const char *path = write_text("t", "first\n12345678\r\n123456789\n\nlast\n");
    const hdst__record *numbers = scalars_record(2, (const char *[]){"line", "offset"}, (hdst__kind[]){HDST__U64, HDST__U64});
    for (int strip = 0; strip < 2; strip++) {
        hdst__source *source = OPEN_OK(hdst__source_lines(NULL, &path, 1, &(hdst__lines_options){.strip_returns = strip, .longest = 8}, error));
        const hdst_error error = failure_of(source, numbers, (hdst_error)HDST_ERROR_INIT);
        cr_assert_eq(error.code, HDST_E_FORMAT);
        cr_assert(strstr(error.message, strip ? "line 3 of '" : "line 2 of '") && strstr(error.message, "has 9 bytes, a line at most 8"), "%s", error.message);
        cr_assert(error.line == (strip ? 3 : 2) && !strcmp(error.file, path) && *error.hint);
    }
    longest = 3;
    for (int i = 0; i < 2; i++) {
        uncounted = i;
        cr_assert_eq(fill_texts(path, 0, 1, 0, NULL), HDST_E_FORMAT);        // it is told though there is no room
        cr_assert_eq(fill_texts(path, 0, 5, 0, NULL), HDST_E_FORMAT, "with lines behind it, too");
        cr_assert_eq(fill_texts(path, 4, 1, 100, NULL), HDST_E_FORMAT);
        cr_assert_eq(fill_texts(path, 3, 1, 100, NULL), HDST_OK);
    }
}

// The same size and the same time, but other lines: what stands in memory is never written beyond.
static void swap_lines(const char *path)
{
    struct stat then;
    stat(path, &then);
    FILE *file = fopen(path, "rb+");
    fwrite("\n\n\n\n", 1, 4, file);
    fclose(file);
    utimensat(AT_FDCWD, path, (const struct timespec[]){then.st_atim, then.st_mtim}, 0);
}

static void join_lines(const char *path)
{
    struct stat then;
    stat(path, &then);
    FILE *file = fopen(path, "rb+");
    fwrite("abcdefgh", 1, 8, file);
    fclose(file);
    utimensat(AT_FDCWD, path, (const struct timespec[]){then.st_atim, then.st_mtim}, 0);
}

static void lengthen(const char *path) { cr_assert_eq(truncate(path, 100), 0); }

Test(source_lines, files_that_change)
{
    static void (*const ways[])(const char *) = {swap_lines, join_lines, lengthen};
    for (size_t i = 0; i < 4; i++) {
        uncounted = i == 3;         // of which only its size and time can tell it
        const char *path = write_text("t", "one\ntwo\nthree\n");
        cr_assert_eq(fill_texts(path, 0, 3, UINT64_MAX, ways[i % 4 == 3 ? 2 : i]), HDST_E_IO, "way %zu", i);
        cr_assert(strstr(failed.message, "changed while it was read"), "%s", failed.message);
    }
}

// --- What is begun ---

// A text of some MiB, short lines in front and long ones behind.
static char *uneven_text(size_t *count)
{
    enum { BYTES = 3 << 20 };
    char *text = hdst__arena_alloc(&arena, BYTES);
    memset(text, 'x', BYTES);
    for (size_t at = 0, i = 0; at < BYTES; i++, at += at < BYTES / 2 ? i % 30 + 1 : 20000 + i % 777) text[at] = '\n';
    *count = BYTES;
    return text;
}

Test(source_lines, begun_they_are_about_so_long)
{
    static line lines[MOST_LINES];
    size_t bytes;
    const char *text = uneven_text(&bytes), *short_text = "one\ntwo\n";
    const char *paths[] = {write_file("big", text, bytes), write_file("small", short_text, 8)};
    size_t count = split(lines, 0, text, bytes, 0, false);
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 3);
    hdst__source *source = open_lines(paths, 1, false);
    cr_assert_eq(hdst__source_begin(source, pool, &failed), HDST_OK, "%s", failed.message);
    cr_assert(!hdst__open_end_is_found(source->open_end));
    cr_assert(source->text_bytes > bytes / count / 2 && source->text_bytes < 2 * bytes / count, "%zu", (size_t)source->text_bytes);
    expect_order(source, lines, count, 30011, FORWARD);
    source = open_lines(paths, 1, false);
    cr_assert_eq(hdst__source_begin(source, pool, &failed), HDST_OK);
    cr_assert_eq(hdst__source_look(source, count - 1, &failed), HDST_OK);
    cr_assert_eq(atomic_load(&source->open_end->given), count);
    expect_order(source, lines, count, 5003, ANYHOW);
    source = open_lines(&paths[1], 1, false);
    cr_assert_eq(hdst__source_begin(source, pool, &failed), HDST_OK);
    cr_assert(hdst__open_end_is_found(source->open_end) && atomic_load(&source->open_end->records) == 2);       // a short one is at its end
    hdst__source_close(source);
    hdst__thread_pool_destroy(pool);
}

// Bytes that this process has read; 0: the system does not tell.
static uint64_t bytes_read(void)
{
    unsigned long long bytes = 0;
    FILE *io = fopen("/proc/self/io", "r");
    if (io && fscanf(io, "rchar: %llu", &bytes) != 1) bytes = 0;
    if (io) fclose(io);
    return bytes;
}

// Once filled nobody notices that the file is gone. *was_read: bytes, until then.
static void expect_counted(const char *text, size_t bytes, uint64_t *was_read)
{
    hdst__bound_source *bound;
    const char *path = write_file("t", text, bytes);
    uint64_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += text[i] == '\n';
    count += text[bytes - 1] != '\n';
    hdst__source *source = open_lines(&path, 1, false);
    cr_assert_eq(hdst__source_bind_uncounted(source, one_field("offset", HDST__U64), &bound, &failed), HDST_OK);
    hdst__storage storage = *hdst__storage_make(&arena, bound->record, HDST__AOS, 0, count + 1);
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    const uint64_t before = bytes_read();
    cr_assert_eq(hdst__bound_source_fill(bound, 0, count + 1, &storage, (void *[]){offsets}, 0, &failed), HDST_OK);
    *was_read = bytes_read() - before;
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_eq(hdst__source_count(source, NULL, &failed), HDST_OK, "%s", failed.message);
    cr_assert_eq(source->rows, count);
    free(offsets);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// Of lines as long as each other hardly any byte is read twice.
Test(source_lines, counted_as_they_were_read)
{
    uint64_t was_read;
    size_t bytes;
    char *text = uneven_text(&bytes);
    expect_counted(text, bytes, &was_read);
    for (size_t i = 0; i < bytes; i++) text[i] = i % 64 ? 'x' : '\n';
    expect_counted(text, bytes, &was_read);
    cr_assert_lt(was_read, bytes + bytes / 2);
}
