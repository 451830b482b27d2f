// SPDX-License-Identifier: Apache-2.0
// GPU form: work-groups look through texts together, a lane a piece. Places, filtered records and counts are those of a plain search in C, with texts of all
// lengths, some of which are many pieces, matches within a piece, at its edges and across them, and patterns that are longer than pieces, or empty.
#include "tests/hdst/support.h"

#include <ctype.h>
#include <stdlib.h>

enum { LINES = 1500, MOST = 2 << 20, PIECE = 256 };

static const char functions[] =
    "struct entry { uint32_t number; text line; };\n"
    "struct place { uint32_t number; int64_t at; };\n"
    "map place_of(entry e) -> place { return (place){e.number, find(e.line, \"needle\")}; }\n"
    "filter has(entry e, broadcast text what) { return find(lower(e.line), what) >= 0 && e.number % 7 != 0; }\n"
    "map numbered(entry e) -> place { return (place){e.number, (int64_t)len(e.line)}; }\n"
    "map count(entry e, accum uint64_t n, accum uint64_t sum) { int64_t at = find(e.line, \"q\"); if (at >= 0) { n += 1; sum += (uint64_t)at; } }\n";

static const char says[] = "a work-group looks through them together";

typedef struct entry { uint32_t number; hdst_text_span line; } entry;
typedef struct place { uint32_t number; int64_t at; } place;

static char bytes[MOST];
static entry lines[LINES];
static uint32_t state;

static uint32_t next(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

// Tiles without a long line, and with some; needles stand about the edges of pieces as often as anywhere.
static void make_lines(void)
{
    static const uint32_t near[] = {0, 1, 5, 6, 255, 256, 257, 261, 262, 511, 513};
    size_t at = 0;
    state = 2463534242u;
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t wanted = i / 300 % 2 && i % 8 == 0 ? next(12000) : i % 3 ? next(90) : near[next(11)],
                       length = i / 300 % 2 || wanted <= PIECE ? wanted : PIECE;
        cr_assert(at + length < MOST);
        for (uint32_t b = 0; b < length; b++) bytes[at + b] = "neEdlab \xc3\0"[next(10)];
        for (uint32_t many = next(3); many && length > 6; many--) {
            const uint32_t edge = next(2) && length > 2 * PIECE ? PIECE * (1 + next(length / PIECE - 1)) - next(7) : next(length - 5);
            memcpy(bytes + at + edge, next(2) ? "needle" : "NeedlE", 6);
        }
        if (length && next(3) == 0) bytes[at + next(length)] = 'q';
        lines[i] = (entry){i, hdst_text_span_of(bytes + at, length)};
        at += length;
    }
}

TestSuite(search_pieces, .init = make_lines);

// As find() is described; `folded`: letters of the line count as small ones.
static int64_t place_in(const entry *e, const char *what, size_t wanted, bool folded)
{
    const char *line = hdst_text_bytes(&e->line);
    for (size_t at = 0; at + wanted <= e->line.length; at++) {
        size_t same = 0;
        while (same < wanted && (folded && line[at + same] >= 'A' && line[at + same] <= 'Z' ? line[at + same] + 32 : line[at + same]) == what[same]) same++;
        if (same == wanted) return (int64_t)at;
    }
    return -1;
}

static hdst_dataset *records_of(hdst_context *context, hdst_module **module)
{
    *module = module_of(context, functions);
    return hdst_read(hdst_source_from_memory(context, lines, LINES, sizeof *lines), *module, "entry");
}

static void expect_said(hdst_result *result) { cr_assert(strstr(hdst_explain(result, NULL), says), "%s", hdst_explain(result, NULL)); }

static hdst_context *gpu_context(uint64_t slice)
{
    hdst_context *context = context_in_form("gpu-form");
    context->engine->limits.slice_records = slice;
    return context;
}

Test(search_pieces, have_the_first_place)
{
    if (!have_cpu()) return;
    hdst_module *module;
    hdst_context *context = gpu_context(0);
    hdst_dataset *records = records_of(context, &module);
    hdst_result *result = hdst_result_create(hdst_map_function(records, module, "place_of"));
    uint64_t n, found = 0;
    RUN(result);
    expect_said(result);
    const place *rows = hdst_result_rows(result, NULL, &n);
    cr_assert_eq(n, LINES);
    for (uint32_t i = 0; i < LINES; i++) {
        cr_assert(rows[i].number == i && rows[i].at == place_in(&lines[i], "needle", 6, false), "line %d: %d", (int)i, (int)rows[i].at);
        found += rows[i].at > PIECE;
    }
    cr_assert_gt(found, 20);
    hdst_context_destroy(context);
}

static void expect_filtered(hdst_result *result, const char *what, size_t wanted)
{
    uint64_t n, at = 0;
    RUN(result);
    const entry *rows = hdst_result_rows(result, NULL, &n);
    for (uint32_t i = 0; i < LINES; i++) {
        if (place_in(&lines[i], what, wanted, true) < 0 || i % 7 == 0) continue;
        cr_assert(at < n && rows[at].number == i, "%s: line %d", what, (int)i);
        at++;
    }
    cr_assert_eq(at, n);
}

Test(search_pieces, are_of_texts_that_are_filtered)
{
    if (!have_cpu()) return;
    static const char *const patterns[] = {"needle", "e", "", "zz"};
    char longer[PIECE + 50];
    hdst_module *module;
    hdst_context *context = gpu_context(640);
    hdst_dataset *records = records_of(context, &module);
    hdst_value *what = hdst_value_create(module, "text", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "has");
    cr_assert_eq(hdst_bind_value(spec, "what", what), HDST_OK);
    hdst_result *result = hdst_result_create(hdst_filter(records, spec));
    for (size_t p = 0; p <= sizeof patterns / sizeof *patterns; p++) {
        const entry *long_line = &lines[300];
        while (long_line->line.length < 3 * sizeof longer || long_line->number % 7 == 0) long_line++;
        for (size_t b = 0; b < sizeof longer; b++) longer[b] = (char)tolower((unsigned char)hdst_text_bytes(&long_line->line)[600 + b]);
        const bool last = p == sizeof patterns / sizeof *patterns;
        const hdst_text_span span = hdst_text_span_of(last ? longer : patterns[p], last ? sizeof longer : (uint32_t)strlen(patterns[p]));
        cr_assert_eq(hdst_value_set(what, &span, 1), HDST_OK);
        expect_filtered(result, hdst_text_bytes(&span), span.length);
    }
    expect_said(result);
    hdst_context_destroy(context);
}

// A kernel that counts what comes behind the filter reads the text's column for the search alone.
Test(search_pieces, are_of_columns)
{
    if (!have_cpu()) return;
    static const hdst_layout layouts[] = {HDST_SOA, HDST_AOP, HDST_AOSOA};
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        hdst_module *module;
        hdst_context *context = gpu_context(0);
        hdst_dataset *records = hdst_with_layout(records_of(context, &module), layouts[l]);
        const hdst_text_span span = hdst_text_span_of("needle", 6);
        hdst_value *what = hdst_value_create(module, "text", 1);
        cr_assert_eq(hdst_value_set(what, &span, 1), HDST_OK);
        hdst_map_spec *spec = hdst_map_spec_create(module, "has");
        cr_assert_eq(hdst_bind_value(spec, "what", what), HDST_OK);
        hdst_result *result = hdst_result_create(hdst_map_function(hdst_filter(records, spec), module, "numbered"));
        uint64_t n, at = 0;
        RUN(result);
        expect_said(result);
        const place *rows = hdst_result_rows(result, NULL, &n);
        for (uint32_t i = 0; i < LINES; i++) {
            if (place_in(&lines[i], "needle", 6, true) < 0 || i % 7 == 0) continue;
            cr_assert(at < n && rows[at].number == i && rows[at].at == lines[i].line.length, "layout %d, line %d", (int)layouts[l], (int)i);
            at++;
        }
        cr_assert(at == n && n > 20);
        hdst_context_destroy(context);
    }
}

Test(search_pieces, are_counted)
{
    if (!have_cpu()) return;
    hdst_module *module;
    hdst_context *context = gpu_context(448);
    hdst_dataset *records = records_of(context, &module);
    hdst_result *result = hdst_result_create(hdst_map(records, hdst_map_spec_create(module, "count")));
    uint64_t n = 0, sum = 0;
    RUN(result);
    expect_said(result);
    for (uint32_t i = 0; i < LINES; i++) {
        const int64_t at = place_in(&lines[i], "q", 1, false);
        n += at >= 0;
        sum += at >= 0 ? (uint64_t)at : 0;
    }
    cr_assert_gt(n, 100);
    cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(result, "n", NULL), 0, 0), n);
    cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(result, "sum", NULL), 0, 0), sum);
    hdst_context_destroy(context);
}
