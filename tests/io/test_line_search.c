// SPDX-License-Identifier: Apache-2.0
// A text in the bytes of lines against a comparison at each place; lines that have it, as records, where others need not come.
#include "packed.h"

#include "base/thread_pool.h"
#include "io/bound.h"
#include "record/needed_records.h"
#include "record/text_bytes.h"

TestSuite(line_search, .init = set_up, .fini = tear_down);

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static bool equal(const char *a, const char *b, size_t count, bool small)
{
    for (size_t i = 0; i < count; i++) {
        const char c = small && a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];
        if (c != b[i]) return false;
    }
    return true;
}

// The first place, by looking at each.
static uint64_t place_of(const char *bytes, uint64_t at, uint64_t end, const char *text, size_t length, bool small)
{
    for (; at + length <= end; at++)
        if (equal(bytes + at, text, length, small)) return at;
    return end;
}

static hdst__line_search search_of(const char *text, size_t length, bool small)
{
    return (hdst__line_search){hdst__text_span_of(text, (uint32_t)length), small};
}

Test(line_search, finds_the_first_place)
{
    static const char letters[] = "aaabAB@`\xE1\0{[";         // what differs from a letter in the bit of its case
    uint64_t found = 0;
    for (int turn = 0; turn < 30000; turn++) {
        const size_t count = draw(turn % 3 ? 90 : 400), length = 1 + draw(draw(4) ? 4 : 70);
        char *bytes = malloc(count + 1), text[80];            // to the byte: a sanitizer sees one too many
        const uint64_t at = draw((uint32_t)count + 1);
        const bool small = draw(2);
        for (size_t i = 0; i < count; i++) bytes[i] = letters[draw(sizeof letters - 1)];
        for (size_t i = 0; i < length; i++) text[i] = letters[draw(draw(3) ? 4 : 12)];
        if (draw(2) && length <= count) memcpy(bytes + draw((uint32_t)(count - length) + 1), text, length);
        const hdst__line_search search = search_of(text, length, small);
        const uint64_t wanted = place_of(bytes, at, count, text, length, small);
        cr_assert_eq(hdst__line_search_find(&search, bytes, at, count), wanted, "turn %d", turn);
        found += wanted < count;
        free(bytes);
    }
    cr_assert_gt(found, 5000);
    const hdst__line_search other = search_of("a\nb", 3, false);
    cr_assert_eq(hdst__line_search_find(&other, "a\nb", 0, 3), 3, "no line has a line end in it");
}

// --- As records ---

typedef struct row {
    int64_t source;
    hdst__text_span text;
    uint32_t line;
    uint64_t offset;
} row;

static const char *const names[] = {"source", "text", "line", "offset"};
static const hdst__kind kinds[] = {HDST__I64, HDST__TEXT, HDST__U32, HDST__U64};

typedef struct bytes_place {
    hdst__bytes_place place;
    pthread_mutex_t mutex;
    char *block[4096];
    size_t blocks;
} bytes_place;

static hdst_status take(void *user, uint64_t bytes, char **at, hdst_error *error)
{
    (void)error;
    bytes_place *p = user;
    pthread_mutex_lock(&p->mutex);
    cr_assert_lt(p->blocks, 4096);
    *at = p->block[p->blocks++] = calloc(1, bytes + 16);
    pthread_mutex_unlock(&p->mutex);
    return HDST_OK;
}

// Lines of a few letters; some are longer than what is read at once, and then the text may be in any of its pieces.
static char *make_text(size_t lines, bool ends, size_t *count)
{
    char *text = hdst__arena_alloc(&arena, lines * 60 + 4 * 700000), *to = text;
    for (size_t i = 0; i < lines; i++) {
        const size_t length = i % 9001 == 4000 ? 600000 + draw(99999) : draw(50);
        for (size_t k = 0; k < length; k++) *to++ = "abc \r\0\xC3"[draw(7)];
        *to++ = '\n';
    }
    if (!ends) *to++ = 'b';
    *count = (size_t)(to - text);
    return text;
}

typedef struct found {
    uint64_t with, without, empty;      // lines that have the text; that have not; those of them that came as records of nothing
} found;

static void expect_row(const row *got, const char *line, size_t length, uint64_t offset, uint64_t number, const hdst__line_search *search, found *f)
{
    const char *text = hdst__text_bytes(&search->text);
    const bool has = place_of(line, 0, length, text, search->text.length, search->small_letters) < length;
    const hdst__text_span nothing = {0};
    *(has ? &f->with : &f->without) += 1;
    if (!has && !memcmp(&got->text, &nothing, sizeof nothing) && !got->source && !got->line && !got->offset) {
        f->empty++;
        return;
    }
    cr_assert(got->source == 0 && got->line == (uint32_t)number && got->offset == offset, "line %zu", (size_t)number);
    cr_assert(got->text.length == length && !memcmp(hdst__text_bytes(&got->text), line, length), "line %zu", (size_t)number);
}

static found expect_rows(const row *rows, uint64_t count, const char *text, size_t bytes, const hdst__line_search *search)
{
    found f = {0};
    uint64_t number = 0;
    for (size_t at = 0; at < bytes; number++) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        const size_t end = newline ? (size_t)(newline - text) : bytes;
        cr_assert_lt(number, count);
        expect_row(&rows[number], text + at, end - at, at, number + 1, search, &f);
        at = end + 1;
    }
    cr_assert_eq(number, count);
    return f;
}

// Records that nobody needs were left as they were: they become records of nothing.
static void clear_others(const hdst__storage *storage, void *const *buffers, uint64_t first, uint64_t behind)
{
    const hdst__needed_records *needed = storage->needed;
    const size_t size = storage->record->size;
    cr_assert(needed->first <= needed->behind && (needed->first == needed->behind || (needed->first >= first && needed->behind <= behind)));
    for (uint64_t i = first; i < behind; i++) {
        char *at = (char *)buffers[0] + i * size;
        if (i >= needed->first && i < needed->behind) continue;
        for (size_t b = 0; b < size; b++) cr_assert_eq((unsigned char)at[b], 0xAA, "record %zu", (size_t)i);
        memset(at, 0, size);
    }
}

// In pieces, in the layout, by all threads of the source. `lacks`: those that nobody needs may be missing.
static row *fill_rows(hdst__bound_source *bound, uint64_t rows, uint64_t piece, int which, bool lacks, bytes_place *place)
{
    hdst__needed_records needed;
    hdst__storage storage = *hdst__storage_make(&arena, bound->record, layouts[which].layout, layouts[which].block, rows);
    hdst_error error = HDST_ERROR_INIT;
    void *buffers[4];
    storage.text = &place->place;
    for (uint32_t b = 0; b < storage.buffers; b++) memset(buffers[b] = malloc(storage.buffer_bytes[b]), 0xAA, storage.buffer_bytes[b]);
    for (uint64_t at = 0; at < rows; at += piece) {
        const uint64_t count = rows - at < piece ? rows - at : piece;
        needed = (hdst__needed_records){at, at + count};
        if (lacks) storage.needed = &needed;
        cr_assert_eq(hdst__bound_source_fill(bound, at, count, &storage, buffers, at, &error), HDST_OK, "%s", error.message);
        if (lacks) clear_others(&storage, buffers, at, at + count);
    }
    row *out = calloc(rows, sizeof *out);
    const hdst__storage *structs = hdst__storage_make(&arena, bound->record, HDST__AOS, 0, rows);
    hdst__storage_copy(structs, (void *[]){out}, 0, &storage, (const void *const *)buffers, 0, rows);
    for (uint32_t b = 0; b < storage.buffers; b++) free(buffers[b]);
    return out;
}

static found look(hdst__source *source, const char *text, size_t bytes, uint64_t rows, uint64_t piece, int which, bool lacks,
                  const hdst__line_search *search)
{
    hdst__bound_source *bound, *all;
    hdst_error error = HDST_ERROR_INIT;
    bytes_place *place = hdst__arena_alloc(&arena, sizeof *place);
    *place = (bytes_place){.place = {take, place}, .mutex = PTHREAD_MUTEX_INITIALIZER};
    cr_assert_eq(hdst__source_bind_uncounted(source, scalars_record(4, names, kinds), &all, &error), HDST_OK, "%s", error.message);
    cr_assert(hdst__bound_source_finds(all));
    cr_assert_eq(hdst__source_bind_search(all, search, &bound, &error), HDST_OK, "%s", error.message);
    row *got = fill_rows(bound, rows, piece, which, lacks, place);
    const found f = expect_rows(got, rows, text, bytes, search);
    free(got);
    for (size_t i = 0; i < place->blocks; i++) free(place->block[i]);
    hdst__source_unbind(bound);
    hdst__source_unbind(all);
    return f;
}

static hdst__source *open_text(const char *path, hdst__thread_pool *threads)
{
    hdst__source *source = OPEN_OK(hdst__source_lines(NULL, &path, 1, NULL, error));
    source->threads = threads;
    return source;
}

// Counted before they are read, and as they are; with texts that hardly any line has, and that all of them have.
Test(line_search, lines_that_have_it_come_as_they_are)
{
    static const char *const wanted[] = {"abcabca", "b\rc", "aa", "a", "cab cab cab cab"};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 3);
    hdst_error error = HDST_ERROR_INIT;
    uint64_t empty = 0, with = 0;
    for (int turn = 0; turn < 10; turn++) {
        size_t bytes;
        const char *text = make_text(20000, turn % 2, &bytes), *path = write_file("t", text, bytes);
        hdst__source *source = open_text(path, turn % 3 ? pool : NULL);
        uint64_t rows = turn % 2 ? 20000 : 20001;
        if (turn < 4) cr_assert_eq(hdst__source_count(source, NULL, &error), HDST_OK);
        const hdst__line_search search = search_of(wanted[turn % 5], strlen(wanted[turn % 5]), turn % 4 == 3);
        const found f = look(source, text, bytes, rows, turn % 2 ? 30000 : 977, turn % LAYOUTS, false, &search);
        empty += f.empty;
        with += f.with;
        if (turn % 5 == 4) cr_assert_geq(f.empty + 1, f.without, "lines without a rare text are none");
        hdst__source_close(source);
    }
    cr_assert(empty > 50000 && with > 50000, "%zu, %zu", (size_t)empty, (size_t)with);
    hdst__thread_pool_destroy(pool);
}

// Lines in which a text stands at few places, of which those at ends of what is read at once are likely ones.
static char *make_rare_text(size_t bytes, const char *wanted, uint64_t *lines)
{
    enum { READ = 1 << 16, LONGEST = 600000 };
    const size_t length = strlen(wanted);
    char *text = hdst__arena_alloc(&arena, bytes + 1);
    for (size_t i = 0, left = 0; i < bytes; i++, left--) {
        if (left == 0) left = draw(20000) == 0 ? LONGEST : 1 + draw(200);
        text[i] = left == 1 ? '\n' : "xyz "[draw(4)];
    }
    for (uint32_t places = draw(6); places; places--) {
        size_t at = draw(2) ? (1 + draw((uint32_t)(bytes / READ) - 2)) * READ - draw((uint32_t)length + 2) : draw((uint32_t)(bytes - length));
        if (draw(8) == 0) at = bytes - length;
        memcpy(text + at, wanted, length);
    }
    *lines = text[bytes - 1] != '\n';
    for (size_t i = 0; i < bytes; i++) *lines += text[i] == '\n';
    return text;
}

// Whoever says that records may be missing gets those between the first and the last place of a call, at most by a piece too many.
Test(line_search, lines_without_it_are_not_written_where_nobody_needs_them)
{
    static const char *const wanted[] = {"needle", "n", "a longer needle than a span has room for"};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 3);
    uint64_t with = 0, without = 0, empty = 0;
    for (int turn = 0; turn < 30; turn++) {
        const char *what = wanted[turn % 3];
        uint64_t rows;
        const size_t bytes = 2000000 + draw(200000);
        const char *text = make_rare_text(bytes, what, &rows), *path = write_file("t", text, bytes);
        hdst__source *source = open_text(path, turn % 4 ? pool : NULL);
        const hdst__line_search search = search_of(what, strlen(what), false);
        const found f = look(source, text, bytes, rows, turn % 2 ? rows : 3000, 0, turn % 5 != 0, &search);
        with += f.with;
        without += f.without;
        empty += f.empty;
        hdst__source_close(source);
    }
    cr_assert(with > 30 && empty > without / 2, "%zu; %zu of %zu", (size_t)with, (size_t)empty, (size_t)without);
    hdst__thread_pool_destroy(pool);
}

// Of lines that may be too long, each is looked at.
Test(line_search, a_line_that_is_too_long_is_told)
{
    const char *path = write_text("t", "first\n123456789\nneedle\n");
    hdst__source *source = OPEN_OK(hdst__source_lines(NULL, &path, 1, &(hdst__lines_options){.longest = 8}, error));
    const hdst__line_search search = search_of("needle", 6, false);
    hdst__bound_source *all, *bound;
    hdst_error error = HDST_ERROR_INIT;
    uint64_t numbers[3];
    cr_assert_eq(hdst__source_bind_uncounted(source, scalars_record(1, (const char *[]){"line"}, (hdst__kind[]){HDST__U64}), &all, &error), HDST_OK);
    cr_assert_eq(hdst__source_bind_search(all, &search, &bound, &error), HDST_OK);
    const hdst__storage *storage = hdst__storage_make(&arena, bound->record, HDST__AOS, 0, 3);
    cr_assert_eq(hdst__bound_source_fill(bound, 0, 3, storage, (void *[]){numbers}, 0, &error), HDST_E_FORMAT);
    cr_assert(error.line == 2 && strstr(error.message, "has 9 bytes, a line at most 8"), "%s", error.message);
    hdst__source_unbind(bound);
    hdst__source_unbind(all);
    hdst__source_close(source);
}
