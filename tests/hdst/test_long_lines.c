// SPDX-License-Identifier: Apache-2.0
// Records that give more than a slice has room for: lines of hundreds of thousands of words among short ones, with little memory and plenty, beside plain C.
// Functions that take such a line in parts, and those that may not. What is too much names the same record on all devices: the first that fails.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { LITTLE = 8 << 20, LINES = 200, LONG = 60, LAST_LONG = LINES - 1, WORDS = 30000, LONG_WORD = 60000 };

static const char functions[] =
    "flat_map words(text line) -> (text w, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, len(w)); }\n"
    "flat_map fields(text line) -> (text w, uint64_t n)\n"
    "{ for (text w : tokens(lower(line), SPACE)) if (len(w) != 2) for (int i = 0; i < 2; i++) emit(w, i); }\n"
    "flat_map beside(text line) -> (text w, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, len(line)); }\n"
    "flat_map counted(text line) -> (text w, uint64_t n) { uint64_t n = 0; for (text w : tokens(line, WORD)) { emit(w, n); n++; } }\n"
    "flat_map placed(text line) -> (text w, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, record_index()); }\n"
    "flat_map repeated(text line) -> (text w, uint64_t n) { for (text w : tokens(line, WORD)) for (uint64_t i = 0; i < len(w) * 8; i++) emit(w, i); }\n"
    "flat_map twin(text line) -> (text w, uint64_t n) { text low = lower(line); for (text w : tokens(low, WORD)) emit(w, len(low)); }\n"
    "flat_map late(text line) -> (text w, uint64_t n)\n"
    "{ for (text w : tokens(line, WORD)) for (uint64_t i = 0; i < (len(w) == 60001 ? 480008 : 1); i++) emit(w, i); }\n"
    "flat_map keyed(text line) -> (key text w, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n";

static char path[64], *book;
static size_t length;

static void add_byte(char c) { book[length++] = c; }

// Words of one to three letters, large and small, with one byte or two between them; bytes that belong to words and to fields, or to these alone.
static void add_words(uint32_t count, uint32_t *state)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t h = (*state = *state * 1664525 + 1013904223) >> 8;
        for (uint32_t k = 0; k <= h % 3; k++) add_byte("abXY_\xc3z9"[(h >> (3 * k + 4)) & 7]);
        add_byte(" -\t "[h >> 20 & 3]);
        if ((h >> 16 & 7) == 0) add_byte(' ');
    }
}

static void make_book(void)
{
    uint32_t state = 4711;
    book = malloc(2 << 20);
    length = 0;
    for (uint32_t line = 0; line < LINES; line++) {
        const bool is_long = line == LONG || line == LAST_LONG;
        add_words(is_long ? WORDS / 2 : line * 7 % 12, &state);
        for (int i = 0; i < LONG_WORD + (line == LAST_LONG) && is_long; i++) add_byte("qQ"[i % 2]);
        if (is_long) add_byte(' '), add_words(WORDS / 2, &state);
        if (line != LAST_LONG) add_byte('\n');
    }
    strcpy(path, "/tmp/hdst-lines-XXXXXX");
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, book, length) == (ssize_t)length && close(file) == 0);
}

static void end_book(void)
{
    unlink(path);
    free(book);
}

TestSuite(long_lines, .init = make_book, .fini = end_book);

// --- The same in C ---

typedef struct given { const char *word; size_t bytes; uint64_t n; bool is_lower; } given;
typedef struct list { given *at; size_t count; } list;
typedef struct line { const char *at; size_t bytes; uint64_t number; } line;

static bool in_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80); }
static bool in_field(char c) { return c != ' ' && c != '\t'; }

static size_t next_token(const line *l, size_t *at, bool (*in)(char))
{
    while (*at < l->bytes && !in(l->at[*at])) ++*at;
    size_t end = *at;
    while (end < l->bytes && in(l->at[end])) end++;
    return end - *at;
}

static void expect_line(list *to, const line *l, const char *name)
{
    const bool fields = !strcmp(name, "fields");
    uint64_t turn = 0;
    for (size_t at = 0, bytes; (bytes = next_token(l, &at, fields ? in_field : in_word)) > 0; at += bytes, turn++) {
        const bool tells_line = !strcmp(name, "beside") || !strcmp(name, "twin");
        const uint64_t n = !strcmp(name, "words") ? bytes : tells_line ? l->bytes : !strcmp(name, "counted") ? turn : l->number;
        if (!fields) to->at[to->count++] = (given){l->at + at, bytes, n, !strcmp(name, "twin")};
        for (uint64_t i = 0; fields && bytes != 2 && i < 2; i++) to->at[to->count++] = (given){l->at + at, bytes, i, true};
    }
}

static list expected(const char *name)
{
    list all = {malloc(2 * length * sizeof *all.at), 0};
    uint64_t number = 0;
    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(book + at, '\n', length - at);
        const size_t bytes = end ? (size_t)(end - (book + at)) : length - at;
        expect_line(&all, &(line){book + at, bytes, number}, name);
        at += bytes + 1;
    }
    return all;
}

static bool is_same(const given *g, const hdst_text *t)
{
    if (t->length != g->bytes) return false;
    for (size_t i = 0; i < g->bytes; i++) {
        const char c = g->word[i];
        if (t->data[i] != (g->is_lower && c >= 'A' && c <= 'Z' ? c + 32 : c)) return false;
    }
    return true;
}

static hdst_context *open_with(const char *form, uint64_t memory)
{
    const bool is_team = !strcmp(form, "team"), gpu_form = !strcmp(form, "gpu form");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = is_team ? "0,1,2" : gpu_form ? "cpu" : form;
    options.memory = memory;
    if (is_team) options.cpu_parts = 2;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = gpu_form;
    if (is_team) hdst__engine_limits(context->engine)->share_bytes = 0;
    return context;
}

static void check_list(const char *form, uint64_t memory, const char *name)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_with(form, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *r = hdst_result_create(hdst_flat_map_function(hdst_read(lines, module, "text"), module, name));
    const list wanted = expected(name);
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s, %s: %s", form, name, error.message);
    const hdst_view words = hdst_result_field(r, NULL, "w"), numbers = hdst_result_field(r, NULL, "n");
    cr_assert_eq(words.rows, wanted.count, "%s, %s: %llu, not %zu", form, name, (unsigned long long)words.rows, wanted.count);
    for (size_t i = 0; i < wanted.count; i++) {
        const hdst_text t = hdst_view_text(words, i, 0);
        cr_assert(is_same(&wanted.at[i], &t) && (uint64_t)hdst_view_int64(numbers, i, 0) == wanted.at[i].n, "%s, %s: record %zu", form, name, i);
    }
    if (memory) cr_assert_leq(context->engine->runtime.memory.peak, memory);
    free(wanted.at);
    hdst_context_destroy(context);
}

static int by_word(const void *a, const void *b)
{
    const given *x = a, *y = b;
    const int order = memcmp(x->word, y->word, x->bytes < y->bytes ? x->bytes : y->bytes);
    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void check_counts(const char *form, uint64_t memory)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_with(form, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_dataset *words = hdst_flat_map_function(hdst_read(lines, module, "text"), module, "keyed");
    hdst_result *r = hdst_result_create(hdst_sort(hdst_reduce_by_key(words, module, "add"), "w"));
    const list wanted = expected("words");
    qsort(wanted.at, wanted.count, sizeof *wanted.at, by_word);
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s: %s", form, error.message);
    const hdst_view keys = hdst_result_field(r, NULL, "w"), numbers = hdst_result_field(r, NULL, "n");
    uint64_t key = 0;
    for (size_t i = 0, behind; i < wanted.count; i = behind, key++) {
        for (behind = i + 1; behind < wanted.count && !by_word(&wanted.at[i], &wanted.at[behind]); behind++) {}
        cr_assert_lt(key, keys.rows);
        const hdst_text t = hdst_view_text(keys, key, 0);
        cr_assert(is_same(&wanted.at[i], &t) && (uint64_t)hdst_view_int64(numbers, key, 0) == behind - i, "%s: key %llu", form, (unsigned long long)key);
    }
    cr_assert_eq(key, keys.rows);
    free(wanted.at);
    hdst_context_destroy(context);
}

static const char *const names[] = {"words", "fields", "beside", "counted", "placed", "twin"};

static void check_all(const char *form, uint64_t memory)
{
    if (strcmp(form, "interp") && !has_cpu()) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_list(form, memory, names[i]);
    check_counts(form, memory);
}

Test(long_lines, in_the_interpreter) { check_all("interp", LITTLE); }
Test(long_lines, on_a_cpu) { check_all("cpu", LITTLE); }
Test(long_lines, on_a_cpu_with_plenty_of_memory) { check_all("cpu", 0); }
Test(long_lines, in_the_gpu_form) { check_all("gpu form", 16 << 20); }
Test(long_lines, on_several_devices)
{
    if (have_team()) check_all("team", 16 << 20);
}

// --- A record that is large beside its text ---

enum { NUMBERS = 8192, LARGE = 3, LETTERS = 30000 };
typedef struct large { hdst_text_span line; uint64_t v[NUMBERS]; } large;

static const char of_large[] =
    "struct large { text line; uint64_t v[8192]; };\n"
    "flat_map words(large r) -> (text w, uint64_t n) { for (text w : tokens(r.line, WORD)) emit(w, r.v[0] + r.v[8191]); }\n";

// Single letters, a blank behind each; of record 1 very many.
static void check_large(const char *form, const char *letters)
{
    hdst_error error = HDST_ERROR_INIT;
    large *records = calloc(LARGE, sizeof *records);
    for (uint64_t i = 0; i < LARGE; i++) {
        const uint32_t bytes = i == 1 ? 2 * LETTERS : 5;
        records[i].line.length = bytes;
        memcpy((char *)&records[i].line + 4, letters, bytes > 12 ? 4 : bytes);      // a short text lies in its span
        if (bytes > 12) records[i].line.address = (uintptr_t)letters;
        records[i].v[0] = i;
        records[i].v[NUMBERS - 1] = 100 * i;
    }
    hdst_context *context = open_with(form, 16 << 20);
    hdst_module *module = module_of(context, of_large);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(context, records, LARGE, sizeof *records), module, "large");
    hdst_result *r = hdst_result_create(hdst_flat_map_function(read, module, "words"));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s: %s", form, error.message);
    const hdst_view words = hdst_result_field(r, NULL, "w"), numbers = hdst_result_field(r, NULL, "n");
    cr_assert_eq(words.rows, 3 + LETTERS + 3);
    for (uint64_t row = 0; row < words.rows; row++) {
        const uint64_t i = row < 3 ? 0 : row < 3 + LETTERS ? 1 : 2, letter = i == 0 ? row : i == 1 ? row - 3 : row - 3 - LETTERS;
        const hdst_text t = hdst_view_text(words, row, 0);
        cr_assert(t.length == 1 && t.data[0] == letters[2 * letter] && (uint64_t)hdst_view_int64(numbers, row, 0) == 101 * i, "%s: row %d", form, (int)row);
    }
    hdst_context_destroy(context);
    free(records);
}

Test(long_lines, parts_of_a_large_record_are_as_many_as_have_room)
{
    char *letters = malloc(2 * LETTERS);
    for (int i = 0; i < LETTERS; i++) letters[2 * i] = (char)('a' + i % 26), letters[2 * i + 1] = ' ';
    check_large("interp", letters);
    if (has_cpu()) check_large("cpu", letters);
    if (has_cpu()) check_large("gpu form", letters);
    free(letters);
}

// --- Which record is told ---

static void check_too_much(const char *form, const char *name, uint64_t record)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_with(form, LITTLE);
    hdst_module *module = module_of(context, functions);
    hdst_dataset *lines = hdst_read(hdst_source_open_lines(context, path), module, "text");
    cr_assert_eq(hdst_run(hdst_result_create(hdst_flat_map_function(lines, module, name)), &error), HDST_E_RECORD, "%s: %s", form, error.message);
    cr_assert_eq(error.record, record, "%s: %s", form, error.message);
    hdst_context_destroy(context);
}

Test(long_lines, a_part_that_gives_too_much_names_its_record)
{
    static const char *const forms[] = {"interp", "cpu", "gpu form", "team"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms && (i == 0 || (i < 3 ? has_cpu() : have_team())); i++) {
        check_too_much(forms[i], "repeated", LONG);
        check_too_much(forms[i], "late", LAST_LONG);
    }
}

typedef struct gift { uint32_t n, k; } gift;
enum { GIFTS = 300, CASES = 12, GIFT_MEMORY = 8 << 20, ROWS = 5, GIVEN_BYTES = 8 };
enum { MOST_GIVEN = GIFT_MEMORY / 4 / GIVEN_BYTES };

static gift gifts[GIFTS];

static bool fill_gifts(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    memcpy(records, gifts + first, count * sizeof *gifts);
    return true;
}

static const char giving[] =
    "struct gift { uint32_t n; uint32_t k; };\n"
    "flat_map gives(gift g) -> (key uint32_t k, uint32_t n) { const uint32_t c[5] = {1, 2, 3, 4, 5}; uint32_t v = c[g.k];\n"
    "    for (uint32_t i = 0; i < g.n; i++) emit(i % 7, v); }\n"
    "flat_map twice(gift g) -> (key uint32_t k, uint32_t n)\n"
    "{\n"
    "    for (uint32_t i = 0; i < g.n; i++) emit(i % 7, 1u);\n"
    "    for (uint32_t i = 0; i < g.n; i++) emit(i % 7, 2u);\n"
    "}\n"
    "flat_map late(gift g) -> (key uint32_t k, uint32_t n)\n"
    "{ const uint32_t c[5] = {1, 2, 3, 4, 5}; for (uint32_t i = 0; i < g.n; i++) emit(i % 7, 1u); uint32_t v = c[g.k]; emit(0, v); }\n"
    "reduce add(uint32_t a, uint32_t b) { return a + b; }\n";

// Some give more than a slice has room for, some of the cases have one that gives too much, or one that reads what is not there. -1: none fails.
static int make_gifts(uint32_t which)
{
    uint32_t state = which * 77777 + 5;
    int first = -1;
    for (int i = 0; i < GIFTS; i++) {
        const uint32_t h = (state = state * 1664525 + 1013904223) >> 8;
        gifts[i] = (gift){h % 13, h % ROWS};
        if (h % 97 == 5) gifts[i].n = 38000 + h % 25000;
        if (which % 4 && h % 101 == 7) gifts[i].n = MOST_GIVEN + 1 + h % 3;
        if (which % 3 && h % 89 == 11) gifts[i].k = ROWS;
        if (first < 0 && (gifts[i].n > MOST_GIVEN || gifts[i].k == ROWS)) first = i;
    }
    return first;
}

static void check_gifts(hdst_context *context, hdst_module *module, const char *form, uint32_t which)
{
    hdst_error error = HDST_ERROR_INIT;
    const int first = make_gifts(which);
    hdst_dataset *read = hdst_read(hdst_source_from_callback(context, GIFTS, fill_gifts, NULL), module, "gift");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(read, module, "gives"), module, "add"));
    const hdst_status status = hdst_run(r, &error);
    cr_assert_eq(status, first < 0 ? HDST_OK : HDST_E_RECORD, "%s, %u: %d, %s", form, which, (int)status, error.message);
    if (first >= 0) {
        char words[128];
        if (gifts[first].k == ROWS) snprintf(words, sizeof words, "index 5 out of range 0..4 in record %d", first);
        else snprintf(words, sizeof words, "'gives' emits %u records, room is for %u, in record %d", gifts[first].n, (unsigned)MOST_GIVEN, first);
        cr_assert_str_eq(error.message, words, "%s, %u: %s", form, which, error.message);
        cr_assert_eq(error.record, (uint64_t)first);
    }
    uint64_t sum[7] = {0};
    for (int i = 0; i < GIFTS && first < 0; i++)
        for (uint32_t k = 0; k < gifts[i].n; k++) sum[k % 7] += gifts[i].k + 1;
    for (uint64_t row = 0; row < 7 && first < 0; row++) {
        const uint64_t key = (uint64_t)hdst_view_int64(hdst_result_field(r, NULL, "k"), row, 0);
        cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(r, NULL, "n"), row, 0), sum[key], "%s, %u: key %u", form, which, (unsigned)key);
    }
}

static void check_gifts_on(const char *form)
{
    hdst_context *context = open_with(form, GIFT_MEMORY);
    hdst_module *module = module_of(context, giving);
    for (uint32_t which = 0; which < CASES; which++) check_gifts(context, module, form, which);
    hdst_context_destroy(context);
}

Test(long_lines, the_first_record_that_fails_is_told_in_the_interpreter) { check_gifts_on("interp"); }
Test(long_lines, the_first_record_that_fails_is_told_on_a_cpu)
{
    if (has_cpu()) check_gifts_on("cpu");
}
Test(long_lines, the_first_record_that_fails_is_told_in_the_gpu_form)
{
    if (has_cpu()) check_gifts_on("gpu form");
}
Test(long_lines, the_first_record_that_fails_is_told_by_several_devices)
{
    if (have_team()) check_gifts_on("team");
}

// --- What is told of it ---

static void expect_told(const char *form, const char *name, gift wrong, const char *words, uint32_t at_line)
{
    enum { PLACE = 77 };
    hdst_error error = HDST_ERROR_INIT;
    for (int i = 0; i < GIFTS; i++) gifts[i] = (gift){3, 1};
    gifts[PLACE] = wrong;
    hdst_context *context = open_with(form, GIFT_MEMORY);
    hdst_module *module = module_of(context, giving);
    hdst_dataset *read = hdst_read(hdst_source_from_callback(context, GIFTS, fill_gifts, NULL), module, "gift");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(read, module, name), module, "add"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s: %s", form, error.message);
    cr_expect(strstr(error.message, words), "%s: %s", form, error.message);
    cr_expect(error.record == PLACE && error.line == at_line, "%s: record %d, line %d", form, (int)error.record, (int)error.line);
    hdst_context_destroy(context);
}

Test(long_lines, what_a_record_gave_is_told_where_it_was_too_much)
{
    static const char *const forms[] = {"interp", "cpu", "gpu form", "team"};
    char all[64], most[64];
    snprintf(all, sizeof all, "'twice' emits %u records, room is for %u", 2 * MOST_GIVEN + 2, (unsigned)MOST_GIVEN);
    snprintf(most, sizeof most, "'twice' emits %u records, room is for %u", MOST_GIVEN + 2, (unsigned)MOST_GIVEN);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && (i == 0 || (i < 3 ? has_cpu() : have_team())); i++) {
        expect_told(forms[i], "twice", (gift){MOST_GIVEN + 1, 1}, all, 6);
        expect_told(forms[i], "twice", (gift){MOST_GIVEN / 2 + 1, 1}, most, 7);
        expect_told(forms[i], "late", (gift){MOST_GIVEN + 1, ROWS}, "index 5 out of range 0..4", 10);
    }
}
