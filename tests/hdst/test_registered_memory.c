// SPDX-License-Identifier: Apache-2.0
// Memory that was registered gives what the same memory gives without, on all devices; kernels read nothing beside it, and wrong use of it is told.
#include "engine/memory/dataset_cache.h"
#include "plan/op_cache.h"
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

typedef struct point {
    float x, y;
    int32_t n;
} point;

static const char kernels[] = "struct point { float x; float y; int32_t n; };\n"
                              "struct flagged { bool b; uint8_t c; };\n"
                              "map add(point p, accum double x, accum double y, accum int64_t n, accum int64_t at)\n"
                              "{ x += p.x; y += p.y; n += p.n; at += record_index() * p.n; }\n"
                              "map turn(point p) -> point { return (point){p.y * 2, p.x, p.n + 1}; }\n"
                              "filter few(point p) { return p.n % 3 == 0; }\n"
                              "struct line { uint32_t n; text t; };\n"
                              "flat_map words(line l) -> (text word, uint32_t n) { for (text w : tokens(l.t, WORD)) if (len(w) > 2) emit(w, l.n); }\n"
                              "map flags(flagged f, accum int64_t n) { n += f.b; }\n";

// Rows that end where a page begins that nobody may touch.
typedef struct guarded {
    char *pages;
    uint64_t bytes;
    point *rows;
    uint64_t count;
} guarded;

static guarded make_rows(uint64_t count)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = (count * sizeof(point) + page - 1) / page * page;
    guarded g = {mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes + page, NULL, count};
    cr_assert(g.pages != MAP_FAILED);
    cr_assert_eq(mprotect(g.pages + bytes, page, PROT_NONE), 0);
    g.rows = (point *)(g.pages + bytes - count * sizeof(point));
    for (uint64_t i = 0; i < count; i++) g.rows[i] = (point){(float)(i % 1009) / 8, (float)(i % 31) - 15, (int32_t)(i * 7919 % 1000)};
    return g;
}

static void free_rows(const guarded *g) { munmap(g->pages, g->bytes); }

typedef struct totals {
    double x, y;
    int64_t n, at;
} totals;

static totals expected(const guarded *g, uint64_t first, uint64_t count)
{
    totals t = {0};
    for (uint64_t i = 0; i < count && first + i < g->count; i++) {      // multiples of 1/8 far from overflow: exact
        t.x += (double)g->rows[first + i].x;
        t.y += (double)g->rows[first + i].y;
        t.n += g->rows[first + i].n;
        t.at += (int64_t)i * g->rows[first + i].n;
    }
    return t;
}

static void expect_totals(hdst_dataset *d, hdst_module *m, totals t)
{
    hdst_result *r = hdst_result_create(hdst_map_function(d, m, "add"));
    RUN(r);
    cr_expect_eq(hdst_view_double(hdst_result_field(r, "x", NULL), 0, 0), t.x);
    cr_expect_eq(hdst_view_double(hdst_result_field(r, "y", NULL), 0, 0), t.y);
    cr_expect_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), t.n);
    cr_expect_eq(hdst_view_int64(hdst_result_field(r, "at", NULL), 0, 0), t.at);
    hdst_result_destroy(r);
}

static void expect_rows(hdst_context *context, hdst_dataset *d, hdst_module *m, const guarded *g)
{
    void *rows;
    uint64_t count;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_collect(hdst_map_function(hdst_filter_function(d, m, "few"), m, "turn"), &rows, &count, &error), HDST_OK, "%s", error.message);
    uint64_t at = 0;
    for (uint64_t i = 0; i < g->count; i++) {
        if (g->rows[i].n % 3) continue;
        const point *p = (const point *)rows + at++;
        cr_assert(p->x == g->rows[i].y * 2 && p->y == g->rows[i].x && p->n == g->rows[i].n + 1, "row %llu", (unsigned long long)i);
    }
    cr_assert_eq(count, at);
    hdst_rows_destroy(context, rows);
}

Test(registered_memory, gives_the_same_and_nothing_beside_it_is_read)
{
    static const uint64_t counts[] = {1, 63, 64, 1000, 3000017};        // the last one takes several segments
    ON_EACH_FORM
        for (size_t c = 0; c < sizeof counts / sizeof *counts - !form; c++) {
            guarded g = make_rows(counts[c]);
            hdst_error error = HDST_ERROR_INIT;
            hdst_context *context = context_in_form(forms[form]);
            hdst_module *m = module_of(context, kernels);
            cr_assert_eq(hdst_memory_register(context, g.rows, g.count * sizeof(point), &error), HDST_OK, "%s", error.message);
            hdst_dataset *d = hdst_read(hdst_source_from_memory(context, g.rows, g.count, sizeof(point)), m, "point");
            for (int turn = 0; turn < 2; turn++) {      // also when it is registered no longer
                expect_totals(d, m, expected(&g, 0, g.count));
                expect_totals(hdst_slice(d, 37, g.count / 2), m, expected(&g, 37, g.count / 2));
                expect_totals(hdst_slice(d, g.count + 5, 10), m, (totals){0});
                expect_totals(hdst_with_layout(d, HDST_SOA), m, expected(&g, 0, g.count));
                expect_totals(hdst_cache(d), m, expected(&g, 0, g.count));
                expect_rows(context, d, m, &g);
                if (turn == 0) cr_assert_eq(hdst_memory_unregister(context, g.rows, &error), HDST_OK);
            }
            hdst_context_destroy(context);
            free_rows(&g);
        }
}

// Only a part of the rows lies in the range: they are copied.
Test(registered_memory, that_holds_a_part_of_the_rows_changes_nothing)
{
    ON_EACH_FORM {
        guarded g = make_rows(5000);
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, kernels);
        cr_assert_eq(hdst_memory_register(context, g.rows + 10, 4000 * sizeof(point), NULL), HDST_OK);
        expect_totals(hdst_read(hdst_source_from_memory(context, g.rows, g.count, sizeof(point)), m, "point"), m, expected(&g, 0, g.count));
        hdst_context_destroy(context);
        free_rows(&g);
    }
}

// Each GPU has a part of the records in its memory: the second one those that lie behind the first one's.
Test(registered_memory, that_is_cached_lies_on_two_gpus_part_by_part)
{
    if (!have_team()) return;
    const guarded g = make_rows(10007);
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = pair_of_gpus(0, 0);
    hdst_module *m = module_of(context, kernels);
    cr_assert_eq(hdst_memory_register(context, g.rows, g.count * sizeof(point), &error), HDST_OK, "%s", error.message);
    hdst_dataset *d = hdst_cache(hdst_read(hdst_source_from_memory(context, g.rows, g.count, sizeof(point)), m, "point"));
    for (int run = 0; run < 2; run++) {
        expect_totals(d, m, expected(&g, 0, g.count));
        expect_rows(context, d, m, &g);
    }
    const hdst__dataset_cache *cache = ((const hdst__cache_own *)d->own)->resident;
    cr_assert_eq(cache->parts, 2);
    cr_expect_null(cache->reader.rows);
    cr_expect_eq((const char *)cache->part[1]->reader.rows, (const char *)(g.rows + cache->part[1]->first));
    hdst_context_destroy(context);
    free_rows(&g);
}

// Any byte but 0 is true, which a kernel that reads it where it lies would not know.
Test(registered_memory, with_bools_is_read_as_without)
{
    ON_EACH_FORM {
        static const uint8_t bytes[] = {2, 0, 0, 7, 255, 0, 1, 0};
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, kernels);
        cr_assert_eq(hdst_memory_register(context, bytes, sizeof bytes, NULL), HDST_OK);
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, bytes, 4, 2), m, "flagged"), m, "flags"));
        RUN(r);
        cr_expect_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), 3);
        hdst_context_destroy(context);
    }
}

static void expect_refused(hdst_status status, const hdst_error *error, const char *words)
{
    cr_expect_eq(status, HDST_E_USAGE);
    cr_expect(strstr(error->message, words), "%s", error->message);
}

Test(registered_memory, wrong_use_is_an_error)
{
    static char bytes[1000];
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = context_in_form("interp");
    expect_refused(hdst_memory_register(context, NULL, 10, &error), &error, "NULL");
    expect_refused(hdst_memory_register(context, bytes, 0, &error), &error, "no bytes");
    expect_refused(hdst_memory_register(context, bytes, UINT64_MAX, &error), &error, "beyond all addresses");
    expect_refused(hdst_memory_unregister(context, bytes, &error), &error, "no memory that is registered");
    cr_assert_eq(hdst_memory_register(context, bytes + 100, 100, &error), HDST_OK);
    expect_refused(hdst_memory_register(context, bytes + 100, 100, &error), &error, "registered already");
    expect_refused(hdst_memory_register(context, bytes, 101, &error), &error, "registered already");
    expect_refused(hdst_memory_register(context, bytes + 199, 1, &error), &error, "registered already");
    expect_refused(hdst_memory_register(context, bytes, 1000, &error), &error, "registered already");
    cr_expect_eq(hdst_memory_register(context, bytes, 100, &error), HDST_OK, "neighbours do not meet");
    cr_expect_eq(hdst_memory_register(context, bytes + 200, 800, &error), HDST_OK);
    expect_refused(hdst_memory_unregister(context, bytes + 101, &error), &error, "no memory that is registered");
    cr_expect_eq(hdst_memory_unregister(context, bytes + 100, &error), HDST_OK);
    expect_refused(hdst_memory_unregister(context, bytes + 100, &error), &error, "no memory that is registered");
    cr_expect_eq(hdst_memory_register(context, bytes + 150, 50, &error), HDST_OK);
    hdst_context_destroy(context);
}

// --- Texts ---

enum { LINES = 3000, LINE_BYTES = 100 };

typedef struct line { uint32_t n; hdst_text_span t; } line;
typedef struct word { hdst_text_span word; uint32_t n; } word;

// Lines one behind the other that end where a page begins that nobody may touch; a few are short.
static char *make_lines(const guarded *g, line *lines)
{
    char *text = (char *)g->rows;
    for (uint32_t i = 0; i < LINES * LINE_BYTES; i++) text[i] = i * 2654435761u >> 29 ? "abcdefgh"[i * 40503u >> 9 & 7] : ' ';
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t length = i + 1 == LINES ? LINE_BYTES : i % 9 ? LINE_BYTES - i % 30 : 9;
        lines[i] = (line){i, hdst_text_span_of(text + i * LINE_BYTES, length)};
    }
    return text;
}

static hdst_result *words_of(hdst_context *context, const line *lines, hdst_layout layout)
{
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *d = hdst_with_layout(hdst_read(hdst_source_from_memory(context, lines, LINES, sizeof *lines), m, "line"), layout);
    hdst_result *r = hdst_result_create(hdst_flat_map_function(d, m, "words"));
    RUN(r);
    return r;
}

static void expect_same_words(hdst_result *a, hdst_result *b)
{
    uint64_t n, m;
    const word *x = hdst_result_rows(a, NULL, &n), *y = hdst_result_rows(b, NULL, &m);
    cr_assert(n == m && n > LINES);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(x[i].n == y[i].n && x[i].word.length == y[i].word.length &&
                  !memcmp(hdst_text_bytes(&x[i].word), hdst_text_bytes(&y[i].word), x[i].word.length), "word %d", (int)i);
}

// Of rows and texts, of rows alone, of texts alone, of rows and a part of the texts, of both in another layout.
Test(registered_memory, of_texts_gives_the_same_and_nothing_beside_them_is_read)
{
    static line lines[LINES];
    guarded g = make_rows(LINES * LINE_BYTES / sizeof(point));
    char *text = make_lines(&g, lines);
    const uint64_t all = LINES * LINE_BYTES;
    const struct { uint64_t rows, text; } ways[] = {{sizeof lines, all}, {sizeof lines, 0}, {0, all}, {sizeof lines, 9000}, {sizeof lines, all}};
    hdst_context *interp = context_on("interp");
    hdst_result *right = words_of(interp, lines, HDST_AOS);
    if (have_cpu())
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            hdst_context *context = context_in_form("gpu-form");
            context->engine->limits.slice_records = i % 2 ? 640 : 0;
            if (ways[i].rows) cr_assert_eq(hdst_memory_register(context, lines, ways[i].rows, NULL), HDST_OK);
            if (ways[i].text) cr_assert_eq(hdst_memory_register(context, text, ways[i].text, NULL), HDST_OK);
            hdst_result *r = words_of(context, lines, i == 4 ? HDST_SOA : HDST_AOS);
            expect_same_words(right, r);
            RUN(r);
            expect_same_words(right, r);
            hdst_context_destroy(context);
        }
    hdst_context_destroy(interp);
    free_rows(&g);
}
