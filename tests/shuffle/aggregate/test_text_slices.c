// SPDX-License-Identifier: Apache-2.0
// Keys with texts that come from a GPU: slices are reduced there before they cross the link. The rows are those of the interpreter, bit for bit and in its
// order, and there are as many of a slice as it has keys, long ones too; what is not reduced there says so.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "flat_map loud(text line) -> (key text word, uint64_t n)\n"
    "{ for (text w : tokens(line, WORD)) emit(len(w) > 30 ? \"a text of the function's own\" : upper(w), 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "struct seen { uint32_t least; int32_t most; uint64_t bits, odd; uint32_t all; };\n"
    "flat_map looks(text line) -> (key text word, key uint8_t c, uint32_t least, int32_t most, uint64_t bits, uint64_t odd, uint32_t all)\n"
    "{\n"
    "    for (text w : tokens(line, WORD))\n"
    "        emit(w, w[0], (uint32_t)len(line), (int32_t)len(line) - 40, 1ul << len(line) % 64, len(line) * 0x100000001ul, ~(uint32_t)len(line));\n"
    "}\n"
    "reduce look(seen a, seen b)\n"
    "{\n"
    "    return (seen){ .least = min(a.least, b.least), .most = max(a.most, b.most), .bits = a.bits | b.bits, .odd = a.odd ^ b.odd, .all = a.all & b.all };\n"
    "}\n"
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

static void check(const char *map, const char *reduce, size_t row_bytes, const char *tells, const char *tells_not)
{
    hdst_context *interp = context_on("interp"), *gpu = context_in_form("gpu-form");
    gpu->engine->limits.by_key_slice_least = 100;
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
    hdst_context *gpu = context_in_form("gpu-form");
    gpu->engine->limits.by_key_slice_least = 100;
    hdst_result *r = run_on(gpu, "words", "add");
    uint64_t keys;
    (void)hdst_result_rows(r, NULL, &keys);
    cr_assert_eq(keys, 300);
    const char *text = hdst_explain(r, NULL);
    cr_assert_eq(number_behind(text, "slices reduced on the device first: "), keys, "%s", text);       // one slice
    hdst_context_destroy(gpu);
    unlink(path);
}

Test(text_slices, the_rows_are_those_of_the_interpreter)
{
    static const char reduced[] = "slices reduced on the device first";
    if (!have_cpu()) return;
    write_lines(false);
    check("words", "add", sizeof(hdst_text_span) + 8, reduced, "any more");
    check("loud", "add", sizeof(hdst_text_span) + 8, reduced, NULL);
    check("looks", "look", sizeof(hdst_text_span) + 40, reduced, NULL);
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
