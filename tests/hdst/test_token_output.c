// SPDX-License-Identifier: Apache-2.0
// Records that loops over tokens give, of which only the most is known in advance: as many as there is room for to the last one, hardly any, several loops,
// loops in loops, some before and behind them; in order, into a cache, to a sort, with plenty of memory and little.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINES = 5000, LONGEST = 301 };

static const char functions[] =
    "flat_map letters(text line) -> uint64_t { for (text w : tokens(line, WORD)) emit(len(w) * 1000 + w[0]); }\n"
    "flat_map some(text line) -> uint64_t { emit(7); for (text w : tokens(line, WORD)) if (w[0] == 'x') emit(len(w)); if (len(line) > 9) emit(8); }\n"
    "flat_map pairs(text line) -> uint64_t { for (text w : tokens(line, SPACE)) {\n"
    "    emit(len(w)); for (text p : tokens(w, chars(\"-\"))) { emit(p[0]); emit(1); } } }\n";

static char path[64], *book;
static size_t length;

// Every second line is of single letters with one byte between them: no line of its length has more words.
static void make_book(void)
{
    uint32_t state = 12345;
    book = malloc(LINES * (LONGEST + 1));
    length = 0;
    for (int line = 0; line < LINES; line++) {
        const uint32_t bytes = (state = state * 1664525 + 1013904223) >> 8;
        for (uint32_t i = 0; i < bytes % LONGEST; i++) book[length++] = line % 2 ? "a "[i % 2] : "xa- b"[(state >> (i % 24) & 15) % 5];
        book[length++] = '\n';
    }
    strcpy(path, "/tmp/hdst-tokens-XXXXXX");
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, book, length) == (ssize_t)length && close(file) == 0);
}

static void end_book(void)
{
    unlink(path);
    free(book);
}

TestSuite(token_output, .init = make_book, .fini = end_book);

typedef struct numbers { uint64_t *at; size_t count; } numbers;

static void give(numbers *n, uint64_t number) { n->at[n->count++] = number; }
static bool in_word(char c) { return c == 'a' || c == 'b' || c == 'x'; }

static void expect_letters(numbers *n, const char *line, size_t bytes)
{
    for (size_t i = 0, end; i < bytes; i = end + 1) {
        for (end = i; end < bytes && in_word(line[end]); end++) {}
        if (end > i) give(n, (end - i) * 1000 + (uint64_t)line[i]);
    }
}

static void expect_some(numbers *n, const char *line, size_t bytes)
{
    give(n, 7);
    for (size_t i = 0, end; i < bytes; i = end + 1) {
        for (end = i; end < bytes && in_word(line[end]); end++) {}
        if (end > i && line[i] == 'x') give(n, end - i);
    }
    if (bytes > 9) give(n, 8);
}

static void expect_pairs(numbers *n, const char *line, size_t bytes)
{
    for (size_t i = 0, end; i < bytes; i = end + 1) {
        for (end = i; end < bytes && line[end] != ' '; end++) {}
        if (end > i) give(n, end - i);
        for (size_t at = i, behind; at < end; at = behind + 1) {
            for (behind = at; behind < end && line[behind] != '-'; behind++) {}
            if (behind > at) give(n, (uint64_t)line[at]), give(n, 1);
        }
    }
}

static numbers expected(void (*expect)(numbers *, const char *, size_t))
{
    numbers n = {malloc(4 * length * sizeof *n.at), 0};
    for (size_t at = 0; at < length;) {
        const size_t bytes = (size_t)((char *)memchr(book + at, '\n', length - at) - (book + at));
        expect(&n, book + at, bytes);
        at += bytes + 1;
    }
    return n;
}

static void check_numbers(hdst_dataset *dataset, const numbers *wanted)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(dataset);
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s: %s", error.message, error.cause);
    const hdst_view view = hdst_result_field(result, NULL, NULL);
    cr_assert_eq(view.rows, wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        cr_assert_eq((uint64_t)hdst_view_int64(view, i, 0), wanted->at[i], "record %zu", i);
    hdst_result_destroy(result);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_all(const char *device, uint64_t memory)
{
    static const struct { const char *name; void (*expect)(numbers *, const char *, size_t); } cases[] = {
        {"letters", expect_letters}, {"some", expect_some}, {"pairs", expect_pairs}};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = memory;
    hdst_context *context = hdst_context_create(&options);
    if (strchr(device, ',')) hdst__engine_limits(context->engine)->share_bytes = 0;
    hdst_module *module = module_of(context, functions);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdst_source *lines = hdst_source_open_lines(context, path);
        hdst_dataset *given = hdst_flat_map_function(hdst_read(lines, module, "text"), module, cases[i].name);
        numbers wanted = expected(cases[i].expect);
        check_numbers(given, &wanted);
        check_numbers(hdst_cache(given), &wanted);
        qsort(wanted.at, wanted.count, sizeof *wanted.at, by_value);
        check_numbers(hdst_sort(given, "value"), &wanted);
        free(wanted.at);
        hdst_source_destroy(lines);
    }
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(token_output, in_the_interpreter) { check_all("interp", 0); }
Test(token_output, on_a_cpu)
{
    if (has_cpu()) check_all("cpu", 0);
}

Test(token_output, on_a_cpu_with_little_memory)
{
    if (has_cpu()) check_all("cpu", 48 << 20);
}

Test(token_output, on_a_cpu_and_in_the_interpreter_at_once)
{
    if (has_cpu()) check_all("0,1", 0);
}
