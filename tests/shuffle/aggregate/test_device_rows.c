// SPDX-License-Identifier: Apache-2.0
// Keys that are short texts become one in a table of a GPU as their records are made: the rows are those of the interpreter, which has no such table, whatever
// the table holds and however little room there is beside it.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n)\n"
    "{\n"
    "    if (len(line) % 7 == 0) emit(line[0:0], 1);\n"          // a key without bytes
    "    for (text w : tokens(line, SPACE)) emit(lower(w), 0x80000001);\n"
    "}\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "struct seen { uint32_t least; int32_t most; uint64_t bits, odd; int32_t low; uint32_t all, sum; };\n"
    "flat_map looks(text line) -> (uint32_t least, int32_t most, uint64_t bits, key text word, uint64_t odd, int32_t low, uint32_t all, uint32_t sum)\n"
    "{\n"
    "    for (text w : tokens(line, SPACE))\n"
    "        if (!starts_with(w, \"k\")) emit((uint32_t)len(line), (int32_t)len(line) - 400, 1ul << len(line) % 64, w, len(line) * 0x100000001ul,\n"
    "                              40 - (int32_t)len(line), ~(uint32_t)len(line), (uint32_t)len(line) << 24);\n"
    "}\n"
    "reduce look(seen a, seen b)\n"
    "{\n"
    "    return (seen){ .least = min(a.least, b.least), .most = max(a.most, b.most), .bits = a.bits | b.bits, .odd = a.odd ^ b.odd, .low = min(a.low, b.low),\n"
    "                   .all = a.all & b.all, .sum = a.sum + b.sum };\n"
    "}\n";

static const char says[] = "became one on the device as they were made: ";

static char path[64];
static uint32_t state = 2463534242u;

static uint32_t next(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

// Of 1 to 40 bytes, those of 11 to 13 among them; NUL bytes, which fill the second half of a span of 12 bytes at times; about so many different ones.
static void put_word(FILE *out, uint32_t different)
{
    const uint32_t which = next(different), length = which % 3 ? 1 + which % 14 : 10 + which % 31;
    for (uint32_t i = 0; i < length; i++) fputc(i >= 4 && which % 5 == 0 ? 0 : "abkXYZ09"[(which >> i % 16) % 8], out);
    fprintf(out, which % 5 ? "%u" : "", which % 97);
}

static void write_lines(uint32_t lines, uint32_t different)
{
    strcpy(path, "/tmp/hdst-rows-XXXXXX");
    const int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    cr_assert(file >= 0 && out);
    for (uint32_t line = 0; line < lines; line++) {
        for (uint32_t words = next(40) ? next(14) : next(200); words--;) {
            put_word(out, different);
            fputs(next(9) ? " " : "  ", out);
        }
        if (line + 1 < lines) fputc('\n', out);
    }
    fclose(out);
}

static hdst_result *result_of(hdst_context *context, const char *map, const char *reduce)
{
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    return hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(hdst_read(lines, module, "text"), module, map), module, reduce));
}

typedef struct way {
    uint64_t slice, room;               // records of a slice; that have room beside the table
    uint32_t bits;                      // of the table. 0: chosen
} way;

static hdst_context *gpu_context(const way *w)
{
    hdst_context *gpu = context_in_form("gpu-form");
    hdst__limits *limits = &gpu->engine->limits;
    limits->by_key_slice_least = 100;
    limits->slice_records = w->slice;
    limits->combine_room = w->room;
    limits->combine_bits = w->bits;
    return gpu;
}

// The same rows in the same order: texts by their bytes, numbers by theirs (what lies between fields may be anything).
static void expect_same_rows(hdst_result *a, hdst_result *b, const char *const *fields)
{
    uint64_t n, m;
    (void)hdst_result_rows(a, NULL, &n);
    (void)hdst_result_rows(b, NULL, &m);
    cr_assert_eq(n, m);
    cr_assert_gt(n, 100);
    for (; *fields; fields++) {
        hdst_view x = hdst_result_field(a, NULL, *fields), y = hdst_result_field(b, NULL, *fields);
        for (uint64_t i = 0; i < n; i++) {
            const hdst_text u = hdst_view_text(x, i, 0), v = hdst_view_text(y, i, 0);
            cr_assert(u.length == v.length && (!u.length || !memcmp(u.data, v.data, u.length)), "key %d", (int)i);
            cr_assert_eq(hdst_view_int64(x, i, 0), hdst_view_int64(y, i, 0), "%s of key %d", *fields, (int)i);
        }
    }
}

static const char *const counted[] = {"word", "n", NULL};
static const char *const looked[] = {"word", "least", "most", "bits", "odd", "low", "all", "sum", NULL};

static hdst_result *check(const way *w, hdst_context **context, const char *map, const char *reduce, const char *const *fields)
{
    hdst_context *interp = context_on("interp"), *gpu = gpu_context(w);
    hdst_result *right = result_of(interp, map, reduce), *found = result_of(gpu, map, reduce);
    RUN(right);
    for (int run = 0; run < 2; run++) {             // the second one begins with nothing of the first
        RUN(found);
        expect_same_rows(right, found, fields);
    }
    hdst_context_destroy(interp);
    *context = gpu;
    return found;
}

// made, rows, left: as explain tells them
static void numbers_of(hdst_result *r, uint64_t number[3])
{
    const char *text = hdst_explain(r, NULL), *at = strstr(text, says);
    cr_assert(at, "%s", text);
    number[0] = strtoull(at + strlen(says), (char **)&at, 10);
    number[1] = strtoull(at + strlen(" to "), (char **)&at, 10);
    number[2] = strtoull(at + strlen(", beside "), (char **)&at, 10);
}

Test(device_rows, all_short_keys_find_a_place)
{
    if (!have_cpu()) return;
    static const way ways[] = {{0}, {.slice = 448}};
    write_lines(3000, 900);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hdst_context *gpu;
        uint64_t number[3], rows;
        hdst_result *found = check(&ways[i], &gpu, "words", "add", counted);
        numbers_of(found, number);
        (void)hdst_result_rows(found, NULL, &rows);
        cr_assert(number[1] > rows / 3 && number[1] < rows, "%s", hdst_explain(found, NULL));      // those with more than 12 bytes have none
        cr_assert_gt(number[0], number[2] + number[1]);
        hdst_context_destroy(gpu);
        numbers_of(check(&ways[i], &gpu, "looks", "look", looked), number);
        cr_assert_gt(number[1], 100);
        hdst_context_destroy(gpu);
    }
    unlink(path);
}

// A table of 1,024 or 16 rows; beside it room for 70 records of a slice, which then takes many turns.
Test(device_rows, what_a_full_table_has_no_place_for_goes_on)
{
    if (!have_cpu()) return;
    static const way ways[] = {{.bits = 10}, {.bits = 4, .room = 70}, {.bits = 10, .room = 1000, .slice = 640}};
    write_lines(2000, 20000);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hdst_context *gpu;
        uint64_t number[3];
        numbers_of(check(&ways[i], &gpu, "words", "add", counted), number);
        cr_assert(number[1] > 0 && number[1] <= UINT64_C(1) << ways[i].bits);
        cr_assert_gt(number[2], 1000);
        hdst_context_destroy(gpu);
        if (ways[i].room != 70) continue;
        check(&ways[i], &gpu, "looks", "look", looked);
        hdst_context_destroy(gpu);
    }
    unlink(path);
}

// As many words as records: once that is seen the table is left alone.
Test(device_rows, words_that_come_once)
{
    if (!have_cpu()) return;
    hdst_context *gpu;
    uint64_t number[3];
    write_lines(4000, 1u << 30);
    numbers_of(check(&(way){.bits = 4, .slice = 448}, &gpu, "words", "add", counted), number);
    cr_assert(number[0] > 1000 && number[0] < 20000);       // of some 35,000: of the slices that were submitted before that
    hdst_context_destroy(gpu);
    unlink(path);
}
