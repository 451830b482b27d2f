// SPDX-License-Identifier: Apache-2.0
// Keys with texts that come from a GPU: slices are reduced there, to rows that stay until the run ends. The rows are those of the interpreter, bit for bit and
// in its order, and counts are those of a sort of the lines; as many cross the link as there are keys, long ones too. What has no room there, no place, or
// more bytes than a work-item goes through, the host reduces; what is not reduced there says so.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "flat_map loud(text line) -> (key text word, uint64_t n)\n"
    "{ for (text w : tokens(line, WORD)) emit(len(w) > 30 ? \"a text of the function's own\" : upper(w), 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "struct seen { uint32_t least; int32_t most; uint64_t bits, odd, wide; uint32_t all, narrow; };\n"
    "flat_map looks(text line) -> (key text word, key uint8_t c, uint32_t least, int32_t most, uint64_t bits, uint64_t odd, uint64_t wide,\n"
    "               uint32_t all, uint32_t narrow)\n"
    "{\n"
    "    for (text w : tokens(line, WORD))\n"
    "        emit(w, w[0], (uint32_t)len(line), (int32_t)len(line) - 40, 1ul << len(line) % 64, len(line) * 0x100000001ul, len(line) * 0x7fffffff9ul,\n"
    "             ~(uint32_t)len(line), (uint32_t)len(line) * 0x1234567);\n"
    "}\n"
    "reduce look(seen a, seen b)\n"
    "{\n"
    "    return (seen){ .least = min(a.least, b.least), .most = max(a.most, b.most), .bits = a.bits | b.bits, .odd = a.odd ^ b.odd, .wide = a.wide + b.wide,\n"
    "                   .all = a.all & b.all, .narrow = a.narrow + b.narrow };\n"
    "}\n"
    "flat_map lines(text line) -> (key text line, uint64_t n) { emit(line, 1); }\n"
    "flat_map shares(text line) -> (key text word, float n) { for (text w : tokens(line, WORD)) emit(w, 1.0f / (float)len(line)); }\n"
    "reduce share(float a, float b) { return a + b; }\n";

static char path[64];
static uint32_t state = 2463534242u;

static uint32_t next(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

// Words of 1 to 40 bytes, 300 different ones, or (`rare`) as many as there are words.
static void write_lines(bool rare)
{
    strcpy(path, "/tmp/hdst-slices-XXXXXX");
    const int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    cr_assert(file >= 0 && out);
    for (uint32_t line = 0; line < 3000; line++) {
        for (uint32_t words = next(12); words--;) {
            const uint32_t which = rare ? next(1u << 30) : next(300);
            fprintf(out, "%.*sw%u ", (int)(which % 5 * 8), "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop", which);
        }
        fputc('\n', out);
    }
    fclose(out);
}

static hdst_result *run_on(hdst_context *context, const char *map, const char *reduce)
{
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(hdst_read(lines, module, "text"), module, map), module, reduce));
    RUN(r);
    return r;
}

static uint64_t text_bytes(const hdst_text_span *span, const char **bytes)
{
    *bytes = hdst_text_bytes(span);
    return span->length;
}

// Rows of a text, then numbers: the same, in the same order.
static void expect_same_rows(hdst_result *a, hdst_result *b, size_t row_bytes)
{
    uint64_t n, m;
    const char *x = hdst_result_rows(a, NULL, &n), *y = hdst_result_rows(b, NULL, &m), *s, *t;
    cr_assert_eq(n, m);
    cr_assert_gt(n, 100);
    for (uint64_t i = 0; i < n; i++, x += row_bytes, y += row_bytes) {
        const uint64_t length = text_bytes((const hdst_text_span *)x, &s);
        cr_assert(text_bytes((const hdst_text_span *)y, &t) == length && !memcmp(s, t, length), "key %d", (int)i);
        cr_assert(!memcmp(x + sizeof(hdst_text_span), y + sizeof(hdst_text_span), row_bytes - sizeof(hdst_text_span)), "values of key %d", (int)i);
    }
}

// What tests let a context do with little data: slices of so many records (0: chosen), rows that stay, values of a hash (0: as many as there are).
typedef struct way {
    uint64_t slice, rows, homes;
} way;

static hdst_context *gpu_context(way w)
{
    hdst_context *gpu = context_in_form("gpu-form");
    hdst__limits *limits = &gpu->engine->limits;
    limits->by_key_slice_least = 100;
    limits->slice_records = w.slice;
    limits->by_key_slice_rows = w.rows;
    limits->by_key_slice_homes = w.homes;
    return gpu;
}

static void check(const char *map, const char *reduce, size_t row_bytes, const char *tells, const char *tells_not)
{
    hdst_context *interp = context_on("interp"), *gpu = gpu_context((way){0});
    hdst_result *right = run_on(interp, map, reduce), *found = run_on(gpu, map, reduce);
    expect_same_rows(right, found, row_bytes);
    const char *text = hdst_explain(found, NULL);
    cr_assert(strstr(text, tells) && (!tells_not || !strstr(text, tells_not)), "%s: %s", map, text);
    hdst_context_destroy(interp);
    hdst_context_destroy(gpu);
}

static uint64_t number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    cr_assert(at, "%s", text);
    return strtoull(strstr(at + strlen(words), "to ") + 3, NULL, 10);
}

Test(text_slices, as_many_rows_as_keys_cross_the_link)
{
    if (!have_cpu()) return;
    write_lines(false);
    for (uint64_t slice = 0; slice < 800; slice += 448) {           // of several slices no more than of one
        hdst_context *gpu = gpu_context((way){.slice = slice});
        for (int run = 0; run < 2; run++) {
            hdst_result *r = run_on(gpu, "words", "add");
            uint64_t keys;
            (void)hdst_result_rows(r, NULL, &keys);
            cr_assert_eq(keys, 300);
            const char *text = hdst_explain(r, NULL);
            const uint64_t long_ones = number_behind(text, "slices reduced on the device first: ");
            cr_assert_eq(number_behind(text, "became one on the device as they were made: ") + long_ones, keys, "%s", text);
        }
        hdst_context_destroy(gpu);
    }
    unlink(path);
}

// --- Lines as keys, counted by a sort ---

enum { LINES = 6000, DIFFERENT = 400, LONGEST = 100000 };

typedef struct line {
    const char *bytes;
    size_t length, times;
} line;

static int by_bytes(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

// Alike but for the last bytes; with NULs, and of lengths around those at which a text is held another way.
static void make_line(line *to, char *bytes, uint32_t which)
{
    static const size_t length[] = {0, 1, 4, 5, 11, 12, 13, 16, 17, 24, 300, 4095, 4096, 4097, LONGEST};
    const size_t n = which < 300 ? length[which % 10] : length[which % (sizeof length / sizeof *length)];
    memset(bytes, which % 3 ? 'a' : 0, n);
    for (uint32_t i = 0, left = which / 10; i < n && i < 3; i++, left /= 7) bytes[n - 1 - i] = (char)("\0ab\xff\x80yz"[left % 7]);
    *to = (line){bytes, n, 0};
}

// The counts of all lines that were written, in the order of bytes.
static size_t write_hostile_lines(line *counted, char *memory)
{
    line *different = malloc(DIFFERENT * sizeof *different), *all = malloc(LINES * sizeof *all);
    size_t keys = 0;
    for (uint32_t d = 0; d < DIFFERENT; d++) make_line(&different[d], memory + (size_t)d * LONGEST, d);
    strcpy(path, "/tmp/hdst-slices-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    cr_assert(out);
    for (size_t i = 0; i < LINES; i++) {
        all[i] = different[next(i % 50 ? 300 : DIFFERENT)];
        fwrite(all[i].bytes, 1, all[i].length, out);
        fputc('\n', out);
    }
    fclose(out);
    qsort(all, LINES, sizeof *all, by_bytes);
    for (size_t i = 0; i < LINES; i++) {
        if (i == 0 || by_bytes(&all[i], &all[i - 1])) counted[keys++] = all[i];
        counted[keys - 1].times++;
    }
    free(different);
    free(all);
    return keys;
}

typedef struct counted_line {           // as the rows have them
    hdst_text_span line;
    uint64_t n;
} counted_line;

static void expect_counts(const hdst_result *r, const line *counted, size_t keys)
{
    uint64_t rows;
    const counted_line *row = hdst_result_rows((hdst_result *)r, NULL, &rows);
    cr_assert_eq(rows, keys);
    for (uint64_t i = 0; i < rows; i++) {
        const line wanted = {hdst_text_bytes(&row[i].line), row[i].line.length, 0}, *found = bsearch(&wanted, counted, keys, sizeof *counted, by_bytes);
        cr_assert(found, "a line of %d bytes that is none", (int)row[i].line.length);
        cr_assert_eq(row[i].n, found->times, "a line of %d bytes", (int)row[i].line.length);
    }
}

static void count_lines(way w, hdst_result *right, const line *counted, size_t keys, const char *tells)
{
    hdst_context *gpu = gpu_context(w);
    hdst_result *found = run_on(gpu, "lines", "add");
    expect_counts(found, counted, keys);
    expect_same_rows(right, found, sizeof(counted_line));
    const char *text = hdst_explain(found, NULL);
    cr_assert(strstr(text, "slices reduced on the device first") && strstr(text, tells), "%s", text);
    hdst_context_destroy(gpu);
}

Test(text_slices, counts_are_those_of_a_sort_whatever_has_no_room)
{
    if (!have_cpu()) return;
    line *counted = malloc(LINES * sizeof *counted);
    char *memory = malloc((size_t)DIFFERENT * LONGEST);
    const size_t keys = write_hostile_lines(counted, memory);
    hdst_context *interp = context_on("interp");
    hdst_result *right = run_on(interp, "lines", "add");
    expect_counts(right, counted, keys);
    count_lines((way){0}, right, counted, keys, "slices");
    count_lines((way){.slice = 640}, right, counted, keys, "slices");
    count_lines((way){.slice = 640, .rows = 40}, right, counted, keys, "as there was no room for more");
    count_lines((way){.slice = 640, .homes = 2}, right, counted, keys, "slices");       // most hashes are equal
    count_lines((way){.slice = 640, .homes = 1, .rows = 30}, right, counted, keys, "slices");
    hdst_context_destroy(interp);
    unlink(path);
    free(counted);
    free(memory);
}

Test(text_slices, the_rows_are_those_of_the_interpreter)
{
    static const char reduced[] = "slices reduced on the device first";
    if (!have_cpu()) return;
    write_lines(false);
    check("words", "add", sizeof(hdst_text_span) + 8, reduced, "any more");
    check("loud", "add", sizeof(hdst_text_span) + 8, reduced, "any more");
    check("looks", "look", sizeof(hdst_text_span) + 48, reduced, "any more");
    check("shares", "share", sizeof(hdst_text_span) + 8, "by key", reduced);     // sums of floats see all addends
    unlink(path);
}

Test(text_slices, where_most_keys_come_once_it_is_given_up)
{
    if (!have_cpu()) return;
    write_lines(true);
    check("words", "add", sizeof(hdst_text_span) + 8, "not reduced on the device any more: more than half", NULL);
    unlink(path);
}
