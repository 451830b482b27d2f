// SPDX-License-Identifier: Apache-2.0
// Where lines are, against plain loops over the bytes, wc, and a count of the same text in one piece.
#include "packed.h"

#include "io/line_index.h"
#include "io/newlines.h"

TestSuite(line_index, .init = set_up, .fini = tear_down);

static hdst_error failed;

typedef struct text {
    const char *bytes;
    size_t count;
} text;

static hdst__text_input *open_texts(const text *texts, size_t count)
{
    const char *paths[64];
    hdst__text_input *input;
    for (size_t i = 0; i < count; i++) {
        const packed_bytes p = i % 3 == 2 ? pack_gzip(texts[i].bytes, texts[i].count) : (packed_bytes){(char *)texts[i].bytes, texts[i].count};
        paths[i] = write_file(hdst__arena_printf(&arena, "t%zu", i), p.bytes, p.count);
    }
    cr_assert_eq(hdst__text_input_open(NULL, paths, count, NULL, NULL, &input, &failed), HDST_OK, "%s", failed.message);
    cr_assert_eq(hdst__text_input_prepare(input, NULL, &failed), HDST_OK);
    return input;
}

// Every line's place, and where the next line begins for any byte.
static uint64_t expect_file(const hdst__text_input *input, const hdst__line_index *index, size_t file, const text *t, uint64_t before)
{
    uint64_t line = 0, begins;
    hdst__line_place place;
    for (size_t at = 0; at < t->count; at++) {
        const bool starts = at == 0 || t->bytes[at - 1] == '\n';
        if (starts) {
            cr_assert_eq(hdst__line_index_find(index, before + line, &place, NULL), HDST_OK);
            cr_assert(place.file == file && place.offset == at && place.line == line, "line %zu of file %zu at %zu", (size_t)line, file, at);
            line++;
        }
        if (at % 7 && !starts) continue;
        const char *newline = starts ? NULL : memchr(t->bytes + at, '\n', t->count - at);
        const uint64_t next = starts ? at : newline ? (uint64_t)(newline - t->bytes) + 1 : t->count;
        cr_assert_eq(hdst__line_begins(input, file, at, &begins, NULL), HDST_OK);
        cr_assert_eq(begins, next);
    }
    cr_assert_eq(hdst__line_begins(input, file, t->count, &begins, NULL), HDST_OK);
    cr_assert_eq(begins, t->count);
    cr_assert_eq(hdst__line_index_file_lines(index, file), line);
    return line;
}

static void expect_lines(const text *texts, size_t count, uint64_t block_bytes, hdst__thread_pool *pool)
{
    hdst__text_input *input = open_texts(texts, count);
    hdst__line_index *index;
    hdst__line_place place;
    cr_assert_eq(hdst__line_index_make(input, NULL, block_bytes, pool, NULL, &index, &failed), HDST_OK, "%s", failed.message);
    uint64_t lines = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        lines += expect_file(input, index, i, &texts[i], lines);
        bytes += texts[i].count;
    }
    cr_assert_eq(hdst__line_index_lines(index), lines);
    cr_assert_eq(hdst__line_index_find(index, lines, &place, NULL), HDST_OK);
    cr_assert(place.file == count - 1 && place.offset == texts[count - 1].count);
    cr_assert_geq(hdst__line_index_bytes(index, 0, lines), bytes);
    hdst__line_index_free(index);
    hdst__text_input_close(input);
}

static const text corners[] = {{"", 0}, {"\n", 1}, {"a", 1}, {"a\n", 2}, {"\n\n\n", 3}, {"a\nb", 3}, {"\r\n\r\n", 4},
                               {"no end at all, and longer than a block or two", 45},
                               {"a\0b\n\0\n", 6}, {"", 0}, {"\xFF\xFE\n\x80", 4}, {"x\r\ny\r\n", 6}, {"", 0}};
enum { CORNERS = sizeof corners / sizeof *corners };

Test(line_index, corners_one_by_one_and_together)
{
    static const uint64_t blocks[] = {1, 2, 3, 5, 64, 0};
    for (size_t b = 0; b < 6; b++) {
        for (size_t i = 0; i < CORNERS; i++) expect_lines(&corners[i], 1, blocks[b], NULL);
        expect_lines(corners, CORNERS, blocks[b], NULL);
    }
}

Test(line_index, texts_by_several_threads_in_small_blocks)
{
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 4);
    const text texts[] = {{some_text(40000, 1), 40000}, {"", 0}, {some_text(12345, 2), 12345}, {some_text(777, 3), 777}};
    static const uint64_t blocks[] = {100, 1000, 4096, 0};
    for (size_t b = 0; b < 4; b++) expect_lines(texts, 4, blocks[b], pool);
    hdst__thread_pool_destroy(pool);
}

// Against wc, which counts line ends: a text that ends in one.
Test(line_index, as_many_as_wc_says)
{
    char *bytes = some_text(5000000, 4), command[200];
    bytes[4999999] = '\n';
    unsigned long long lines = 0;
    const char *path = write_file("t", bytes, 5000000);
    snprintf(command, sizeof command, "wc -l < '%s'", path);
    FILE *wc = popen(command, "r");
    cr_assert_eq(fscanf(wc, "%llu", &lines), 1);
    pclose(wc);
    hdst__text_input *input;
    hdst__line_index *index;
    cr_assert_eq(hdst__text_input_open(NULL, &path, 1, NULL, NULL, &input, NULL), HDST_OK);
    cr_assert_eq(hdst__text_input_prepare(input, NULL, NULL), HDST_OK);
    cr_assert_eq(hdst__line_index_make(input, NULL, 0, NULL, NULL, &index, NULL), HDST_OK);
    cr_assert_eq(hdst__line_index_lines(index), lines);
    // No line's bytes are counted short.
    hdst__line_place from, to;
    for (uint64_t first = 0; first + 1000 < lines; first += 997) {
        hdst__line_index_find(index, first, &from, NULL);
        hdst__line_index_find(index, first + 1000, &to, NULL);
        const uint64_t about = hdst__line_index_bytes(index, first, 1000);
        cr_assert(about >= to.offset - from.offset && about <= to.offset - from.offset + (3 << 18));
    }
    hdst__line_index_free(index);
    hdst__text_input_close(input);
}

Test(line_index, line_ends_are_counted_and_found_at_every_length)
{
    const char *bytes = some_text(70000, 5);
    for (size_t start = 0; start < 70; start++)
        for (size_t count = 0; start + count < 700; count++) {
            uint64_t ends = 0;
            for (size_t i = 0; i < count; i++) {
                if (bytes[start + i] != '\n') continue;
                ends++;
                cr_assert(count % 13 || hdst__newlines_find(bytes + start, count, ends) == i + 1);
            }
            cr_assert_eq(hdst__newlines_count(bytes + start, count), ends);
            cr_assert_eq(hdst__newlines_find(bytes + start, count, ends + 1), count + 1);
        }
    char *all = hdst__arena_alloc(&arena, 70000);       // more in a place than a byte counts
    memset(all, '\n', 70000);
    cr_assert_eq(hdst__newlines_count(all, 70000), 70000);
    cr_assert_eq(hdst__newlines_count(all + 3, 64 * 255 + 5), 64 * 255 + 5);
}

Test(line_index, cancelled_and_changed)
{
    const text t = {some_text(900000, 6), 900000};
    hdst__cancel cancel = {0};
    hdst__line_index *index;
    hdst__text_input *input = open_texts(&t, 1);
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert_eq(hdst__line_index_make(input, NULL, 0, NULL, &cancel, &index, &failed), HDST_E_CANCELLED);
    cr_assert_null(index);
    cr_assert_eq(truncate(path_of("t0"), 500000), 0);
    cr_assert_eq(hdst__line_index_make(input, NULL, 0, NULL, NULL, &index, &failed), HDST_E_IO);
    cr_assert(strstr(failed.message, "changed while it was read"));
    hdst__text_input_close(input);
}
