// SPDX-License-Identifier: Apache-2.0
// GPU form: lanes take the tokens of a piece of a text. Words of lines of all lengths, tokens longer than several pieces and stretches without one among them,
// come in the order of the interpreter, which knows of no pieces; so do rows by key where a table on the device has hardly any room, and little beside it.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { LINES = 700, MOST = 1 << 20 };

static const char functions[] =
    "struct entry { text line; uint32_t number; };\n"
    "struct found { text word; uint64_t length, record; uint32_t number; };\n"
    "flat_map words(entry e) -> found {\n"
    "    for (text w : tokens(e.line, WORD)) if (len(w) != 3) emit(w, len(e.line), record_index(), e.number);\n"
    "}\n"
    "flat_map fields(entry e) -> (key text word, uint64_t n) { for (text w : tokens(upper(e.line), SPACE)) emit(w, e.number); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n";

static const char says[] = "a lane takes the tokens that begin in a piece of a text";

typedef struct entry { hdst_text_span line; uint32_t number; } entry;
typedef struct found { hdst_text_span word; uint64_t length, record; uint32_t number; } found;

static char bytes[MOST];
static entry lines[LINES];
static uint32_t state;

static uint32_t next(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

// One line in eight is long; one token in 50 is longer than a piece, one gap in 40 too. Lengths of a piece, and one less and more, are common.
static uint32_t line_bytes(uint32_t which)
{
    static const uint32_t near[] = {0, 1, 127, 128, 129, 255, 256, 257};
    return which % 8 == 0 ? next(9000) : which % 3 == 0 ? near[next(8)] : next(90);
}

static void make_lines(void)
{
    static const char letters[] = "abABZ_9\xc3", gaps[] = " .\t-";
    size_t at = 0;
    state = 2463534242u;
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t length = line_bytes(i);
        const size_t begin = at;
        cr_assert(at + length < MOST);
        while (at < begin + length) {
            uint32_t token = next(50) ? 1 + next(15) : 100 + next(500), gap = next(40) ? 1 + next(2) : next(400);
            for (; token-- && at < begin + length;) bytes[at++] = letters[next(sizeof letters - 1)];
            for (; gap-- && at < begin + length;) bytes[at++] = gaps[next(4)];
        }
        lines[i] = (entry){hdst_text_span_of(bytes + begin, length), i};
    }
}

TestSuite(token_pieces, .init = make_lines);

static hdst_dataset *records_of(hdst_context *context, hdst_module **module)
{
    *module = module_of(context, functions);
    return hdst_read(hdst_source_from_memory(context, lines, LINES, sizeof *lines), *module, "entry");
}

static hdst_result *words_of(hdst_context *context)
{
    hdst_module *module;
    hdst_dataset *records = records_of(context, &module);
    hdst_result *result = hdst_result_create(hdst_flat_map_function(records, module, "words"));
    RUN(result);
    return result;
}

static bool same_text(const hdst_text_span *a, const hdst_text_span *b)
{
    return a->length == b->length && !memcmp(hdst_text_bytes(a), hdst_text_bytes(b), a->length);
}

Test(token_pieces, words_come_in_the_order_of_the_input)
{
    if (!have_cpu()) return;
    hdst_context *interp = context_on("interp"), *gpu = context_in_form("gpu-form");
    hdst_result *right = words_of(interp), *pieces = words_of(gpu);
    uint64_t n, m;
    const found *a = hdst_result_rows(right, NULL, &n), *b = hdst_result_rows(pieces, NULL, &m);
    cr_assert(strstr(hdst_explain(pieces, NULL), says), "%s", hdst_explain(pieces, NULL));
    cr_assert_eq(n, m);
    cr_assert_gt(n, 10 * LINES);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(same_text(&a[i].word, &b[i].word) && a[i].length == b[i].length && a[i].record == b[i].record && a[i].number == b[i].number, "word %d",
                  (int)i);
    hdst_context_destroy(interp);
    hdst_context_destroy(gpu);
}

// --- By key ---

static hdst_result *keys_of(hdst_context *context, const char *function)
{
    hdst_module *module;
    hdst_dataset *records = records_of(context, &module);
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(records, module, function), module, "add"));
    RUN(result);
    return result;
}

typedef struct sum { hdst_text_span word; uint64_t n; } sum;

static void expect_same_keys(hdst_result *right, hdst_result *result, const char *function)
{
    uint64_t n, m;
    const sum *a = hdst_result_rows(right, NULL, &n), *b = hdst_result_rows(result, NULL, &m);
    cr_assert_eq(n, m, "%s: %d keys, not %d", function, (int)m, (int)n);
    cr_assert_gt(n, 100);
    for (uint64_t i = 0; i < n; i++) cr_assert(same_text(&a[i].word, &b[i].word) && a[i].n == b[i].n, "%s: key %d", function, (int)i);
}

// In a table of all keys, in one of 16 rows, and with room beside it for as many records as the longest line has, so that a slice takes many turns.
Test(token_pieces, keys_have_the_same_sums_however_little_room_there_is)
{
    if (!have_cpu()) return;
    static const struct { uint32_t bits; uint64_t room; } ways[] = {{0, 0}, {4, 0}, {4, 1500}};
    hdst_context *interp = context_on("interp");
    hdst_result *right = keys_of(interp, "fields");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hdst_context *gpu = context_in_form("gpu-form");
        gpu->engine->limits.by_key_slice_least = 100;
        gpu->engine->limits.combine_bits = ways[i].bits;
        gpu->engine->limits.combine_room = ways[i].room;
        hdst_result *result = keys_of(gpu, "fields");
        cr_assert(strstr(hdst_explain(result, NULL), says) && strstr(hdst_explain(result, NULL), "became one on the device"));
        expect_same_keys(right, result, "fields");
        RUN(result);
        expect_same_keys(right, result, "fields, again");
        hdst_context_destroy(gpu);
    }
    hdst_context_destroy(interp);
}
