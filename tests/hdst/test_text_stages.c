// SPDX-License-Identifier: Apache-2.0
// Texts from lines to results: words that are counted, lines that a filter keeps, texts that a map cuts and turns, in the interpreter and on a CPU, with plenty
// of memory and little. What is expected is computed here from the bytes of the file, one byte after another.
#include "tests/hdst/support.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];
static char *book;
static size_t length;

static uint64_t state = 88172645463325252u;
static uint32_t next(uint32_t below)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (uint32_t)(state % below);
}

// Words of 1 to 40 letters, few of which are frequent, between blanks and marks; empty lines, NUL bytes, letters that are not ASCII; no newline at the end.
static void make_book(void)
{
    enum { LINES = 9000 };
    book = malloc(LINES * 900);
    length = 0;
    for (int line = 0; line < LINES; line++) {
        for (uint32_t words = next(10) ? next(12) : 0; words--;) {
            const uint32_t kind = next(3) ? next(12) : next(700), letters = 1 + kind % 40;
            for (uint32_t i = 0; i < letters; i++) {
                const char letter = (char)((next(9) ? 'a' : 'A') + (kind * 7 + i * (kind % 5)) % 26);
                book[length++] = next(200) ? letter : "_7\xc3\xa4"[i % 4];
            }
            book[length++] = " ,.-\t'\0;"[next(8)];
        }
        book[length++] = '\n';
    }
    length--;
    strcpy(path, "/tmp/hdst-texts-XXXXXX");
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, book, length) == (ssize_t)length && close(file) == 0);
}

static void end_book(void)
{
    unlink(path);
    free(book);
}

TestSuite(text_stages, .init = make_book, .fini = end_book);

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(lower(w), 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "filter has_ab(text line) { return find(line, \"ab\") >= 0 && !starts_with(line, \"b\"); }\n"
    "struct cut { text rest; uint32_t commas; text last; };\n"
    "map cut_up(text line) -> cut { cut c; c.rest = upper(line[2:len(line) - 1]); c.commas = 0;\n"
    "    for (uint32_t i = 0; i < len(line); i++) if (line[i] == ',') c.commas++;\n"
    "    c.last = \"none\"; for (text t : tokens(line, chars(\",;\"))) c.last = t; return c; }\n";

static const char long_line[] = "a line of more than forty bytes, with words", short_line[] = "one of fewer bytes than that";
static const char label_function[] =
    "struct label { text what, loud, line; };\n"
    "map labelled(text line) -> label { label l; if (len(line) > 40) l.what = \"a line of more than forty bytes, with words\";\n"
    "    else l.what = \"one of fewer bytes than that\"; l.loud = upper(l.what[2:len(l.what) - 1]); l.line = line; return l; }\n";

typedef struct item { char *bytes; size_t length; uint64_t n; } item;

static int by_bytes(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static size_t merged(item *items, size_t count)
{
    size_t kept = 0;
    qsort(items, count, sizeof *items, by_bytes);
    for (size_t i = 0; i < count; i++) {
        if (kept && !by_bytes(&items[kept - 1], &items[i])) items[kept - 1].n += items[i].n;
        else items[kept++] = items[i];
    }
    return kept;
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static size_t count_words(char *bytes, item *items)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) bytes[i] = book[i] >= 'A' && book[i] <= 'Z' ? (char)(book[i] + 32) : book[i];
    for (size_t i = 0; i < length;) {
        size_t end = i;
        while (end < length && in_word(bytes[end])) end++;
        if (end > i) items[count++] = (item){bytes + i, end - i, 1};
        i = end > i ? end : i + 1;
    }
    return merged(items, count);
}

static hdst_text_span span_at(const hdst_view *view, uint64_t row)
{
    hdst_text_span span;
    memcpy(&span, (const char *)view->base + row * view->stride, sizeof span);
    return span;
}

// "gpu-form" is the CPU device with kernels as a GPU gets them, "apart" with its own; both have memory that is not shared with the host.
static hdst_context *open_with(const char *device, uint64_t memory)
{
    const bool gpu_form = !strcmp(device, "gpu-form"), apart = !strcmp(device, "apart");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu_form || apart ? "cpu" : device;
    options.memory = memory;
    hdst_context *context = hdst_context_create(&options);
    if (strchr(device, ',')) hdst__engine_limits(context->engine)->share_bytes = 0;
    if (gpu_form) context->engine->options.gpu_form_on_cpu = true;        // no device is open yet
    if (apart) context->engine->options.no_mapping = true;
    return context;
}

static hdst_result *run(hdst_dataset *dataset)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(dataset);
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s: %s", error.message, error.cause);
    return result;
}

static void expect_counts(const hdst_view *words, const hdst_view *n, const item *wanted, size_t count)
{
    item *got = calloc(n->rows + 1, sizeof *got);
    hdst_text_span *spans = calloc(n->rows + 1, sizeof *spans);
    for (uint64_t i = 0; i < n->rows; i++) {
        spans[i] = span_at(words, i);
        got[i] = (item){(char *)hdst_text_bytes(&spans[i]), spans[i].length, (uint64_t)hdst_view_int64(*n, i, 0)};
    }
    qsort(got, n->rows, sizeof *got, by_bytes);
    cr_assert_eq(n->rows, count);
    for (size_t i = 0; i < count; i++) cr_assert(!by_bytes(&got[i], &wanted[i]) && got[i].n == wanted[i].n, "word %zu", i);
    free(got);
    free(spans);
}

static void check_words(const char *device, uint64_t memory)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *result = run(hdst_reduce_by_key(hdst_flat_map_function(hdst_read(lines, module, "text"), module, "words"), module, "add"));
    char *bytes = malloc(length);
    item *items = malloc(length * sizeof *items);
    const size_t count = count_words(bytes, items);
    cr_assert_gt(count, 100);
    const hdst_view words = hdst_result_field(result, NULL, "word"), n = hdst_result_field(result, NULL, "n");
    expect_counts(&words, &n, items, count);
    free(items);
    free(bytes);
    hdst_result_destroy(result);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static bool contains(const char *text, size_t n, const char *two)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (text[i] == two[0] && text[i + 1] == two[1]) return true;
    return false;
}

// The next line: its start and length; false behind the last one.
static bool next_line(size_t *at, const char **start, size_t *n)
{
    if (*at >= length) return false;
    const char *end = memchr(book + *at, '\n', length - *at);
    *start = book + *at;
    *n = end ? (size_t)(end - *start) : length - *at;
    *at += *n + 1;
    return true;
}

static void expect_text(const hdst_view *view, uint64_t row, const char *bytes, size_t n)
{
    const hdst_text_span span = span_at(view, row);
    cr_assert(span.length == n && !memcmp(hdst_text_bytes(&span), bytes, n), "row %llu: '%.*s', not '%.*s'", (unsigned long long)row, (int)span.length,
              hdst_text_bytes(&span), (int)n, bytes);
}

static void check_filter(const char *device, uint64_t memory)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *result = run(hdst_filter_function(hdst_read(lines, module, "text"), module, "has_ab"));
    const hdst_view kept = hdst_result_field(result, NULL, "value");
    uint64_t row = 0;
    const char *start;
    for (size_t at = 0, n; next_line(&at, &start, &n);)
        if (contains(start, n, "ab") && start[0] != 'b') expect_text(&kept, row++, start, n);
    cr_assert_eq(kept.rows, row);
    cr_assert_gt(row, 10);
    hdst_result_destroy(result);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static void expect_cut(const hdst_view *rest, const hdst_view *commas, const hdst_view *last, uint64_t row, const char *start, size_t n)
{
    char upper[1000];
    const size_t begin = n > 2 ? 2 : n, end = n ? n - 1 : 0, cut = end > begin ? end - begin : 0;
    int64_t wanted = 0;
    for (size_t i = 0; i < cut; i++) upper[i] = start[begin + i] >= 'a' && start[begin + i] <= 'z' ? (char)(start[begin + i] - 32) : start[begin + i];
    expect_text(rest, row, upper, cut);
    for (size_t i = 0; i < n; i++) wanted += start[i] == ',';
    cr_assert_eq(hdst_view_int64(*commas, row, 0), wanted);
    while (n && (start[n - 1] == ',' || start[n - 1] == ';')) n--;
    size_t token = n;
    while (token && start[token - 1] != ',' && start[token - 1] != ';') token--;
    if (n) expect_text(last, row, start + token, n - token);
    else expect_text(last, row, "none", 4);
}

static void check_map(const char *device, uint64_t memory, bool cached)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_dataset *read = hdst_read(lines, module, "text"), *cut = hdst_map_function(cached ? hdst_cache(read) : read, module, "cut_up");
    for (int turn = 0; turn < 2; turn++) {
        hdst_result *result = run(cached ? hdst_cache(cut) : cut);
        const hdst_view rest = hdst_result_field(result, NULL, "rest"), commas = hdst_result_field(result, NULL, "commas");
        const hdst_view last = hdst_result_field(result, NULL, "last");
        uint64_t row = 0;
        const char *start;
        for (size_t at = 0, n; next_line(&at, &start, &n);) expect_cut(&rest, &commas, &last, row++, start, n);
        cr_assert_eq(rest.rows, row);
        hdst_result_destroy(result);
    }
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

// Texts of the function's own, parts of them, and the line as it is.
static void check_constants(const char *device, uint64_t memory)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, label_function);
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *result = run(hdst_map_function(hdst_read(lines, module, "text"), module, "labelled"));
    const hdst_view what = hdst_result_field(result, NULL, "what"), loud = hdst_result_field(result, NULL, "loud");
    const hdst_view line = hdst_result_field(result, NULL, "line");
    uint64_t row = 0;
    const char *start;
    for (size_t at = 0, n; next_line(&at, &start, &n); row++) {
        const char *label = n > 40 ? long_line : short_line;
        char upper[sizeof long_line];
        for (size_t i = 0; label[i]; i++) upper[i] = (char)toupper((unsigned char)label[i]);
        expect_text(&what, row, label, strlen(label));
        expect_text(&loud, row, upper + 2, strlen(label) - 3);
        expect_text(&line, row, start, n);
    }
    cr_assert_eq(what.rows, row);
    hdst_result_destroy(result);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static size_t split(item *lines)
{
    const char *start;
    size_t count = 0;
    for (size_t at = 0, n; next_line(&at, &start, &n); count++) lines[count] = (item){(char *)start, n, count + 1};
    return count;
}

static int by_bytes_and_number(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const int order = by_bytes(a, b);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static int by_bytes_backwards(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const int order = by_bytes(b, a);
    return order ? order : (x->n > y->n) - (x->n < y->n);      // stable
}

// Straight from the source, by the text alone; and behind a map, by text and number.
static void check_sort(const char *device, uint64_t memory)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, "struct numbered { uint64_t line; text text; };\n"
                                             "map same(numbered a) -> numbered { return a; }\n");
    hdst_source *lines = hdst_source_open_lines(context, path);
    item *wanted = calloc(length + 1, sizeof *wanted);
    const size_t count = split(wanted);
    hdst_dataset *numbered = hdst_read(lines, module, "numbered");
    for (int backwards = 0; backwards < 2; backwards++) {
        hdst_dataset *data = backwards ? hdst_sort(numbered, "text desc") : hdst_sort(hdst_map_function(numbered, module, "same"), "text, line");
        hdst_result *result = run(data);
        const hdst_view text = hdst_result_field(result, NULL, "text"), line = hdst_result_field(result, NULL, "line");
        qsort(wanted, count, sizeof *wanted, backwards ? by_bytes_backwards : by_bytes_and_number);
        cr_assert_eq(text.rows, count);
        for (size_t i = 0; i < count; i++) {
            expect_text(&text, i, wanted[i].bytes, wanted[i].length);
            cr_assert_eq((uint64_t)hdst_view_int64(line, i, 0), wanted[i].n);
        }
        hdst_result_destroy(result);
    }
    free(wanted);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static bool has_text(const char *bytes, size_t count, const char *text)
{
    const size_t wanted = strlen(text);
    for (size_t i = 0; i + wanted <= count; i++)
        if (!memcmp(bytes + i, text, wanted)) return true;
    return false;
}

// Lines that have one of some texts, whose bytes are gone when the run begins: short and long ones, then others, then what a result has.
static void check_broadcast(const char *device, uint64_t memory)
{
    static const char *const wanted[] = {"ab", "\xc3\xa4", "aaaaaaaaaaaaaaaaaaaa", "no such text in any of the lines of this book"};
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, "filter has(text line, broadcast text some[])\n"
        "{ for (uint32_t i = 0; i < len(some); i++) if (find(line, some[i]) >= 0) return true; return false; }\n");
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_value *value = hdst_value_create(module, "text", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "has");
    cr_assert_eq(hdst_bind_value(spec, "some", value), HDST_OK);
    hdst_result *found = hdst_result_create(hdst_filter(hdst_read(lines, module, "text"), spec));
    for (int first = 0; first < 4; first++) {
        hdst_error error = HDST_ERROR_INIT;
        hdst_text_span spans[4];
        char *copies[4];
        uint64_t n = 0;
        for (int i = first; i < 4; i++) spans[i - first] = hdst_text_span_of(copies[i] = strdup(wanted[i]), (uint32_t)strlen(wanted[i]));
        cr_assert_eq(hdst_value_set(value, spans, (uint64_t)(4 - first)), HDST_OK);
        for (int i = first; i < 4; i++) memset(copies[i], 'x', strlen(wanted[i])), free(copies[i]);
        cr_assert_eq(hdst_run(found, &error), HDST_OK, "%s: %s", error.message, error.cause);
        for (size_t at = 0, end; at <= length; at = end + 1) {
            bool has = false;
            for (end = at; end < length && book[end] != '\n'; end++) {}
            for (int i = first; i < 4; i++) has |= has_text(book + at, end - at, wanted[i]);
            n += has && end > at;
        }
        cr_assert_eq(hdst_result_field(found, NULL, NULL).rows, n);
    }
    hdst_result_destroy(found);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

// As many texts as in the run before, but others.
static void check_broadcast_anew(const char *device, uint64_t memory)
{
    static const char *const wanted[] = {"no such text in any of the lines of this book", "ab"};
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, "filter has(text line, broadcast text what[]) { return find(line, what[0]) >= 0; }\n");
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_value *value = hdst_value_create(module, "text", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "has");
    cr_assert_eq(hdst_bind_value(spec, "what", value), HDST_OK);
    hdst_result *found = hdst_result_create(hdst_filter(hdst_read(lines, module, "text"), spec));
    for (int turn = 0; turn < 4; turn++) {
        hdst_error error = HDST_ERROR_INIT;
        const hdst_text_span span = hdst_text_span_of(wanted[turn % 2], (uint32_t)strlen(wanted[turn % 2]));
        uint64_t n = 0;
        const char *start;
        for (size_t at = 0, bytes; next_line(&at, &start, &bytes);) n += has_text(start, bytes, wanted[turn % 2]);
        cr_assert_eq(hdst_value_set(value, &span, 1), HDST_OK);
        cr_assert_eq(hdst_run(found, &error), HDST_OK, "%s: %s", error.message, error.cause);
        cr_assert_eq(hdst_result_field(found, NULL, NULL).rows, n);
    }
    hdst_result_destroy(found);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

// Of lines of one length the first; what the function gives is looked at in another case, which the next one looks at again.
static void check_reduce(const char *device, uint64_t memory)
{
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, "associative reduce longer(text a, text b) { return upper(len(b) > len(a) ? b : a); }\n");
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *result = run(hdst_reduce(hdst_read(lines, module, "text"), module, "longer"));
    const hdst_view view = hdst_result_field(result, NULL, "value");
    const char *start, *longest = NULL;
    size_t most = 0;
    for (size_t at = 0, n; next_line(&at, &start, &n);)
        if (!longest || n > most) longest = start, most = n;
    char *wanted = malloc(most + 1);
    for (size_t i = 0; i < most; i++) wanted[i] = longest[i] >= 'a' && longest[i] <= 'z' ? (char)(longest[i] - 32) : longest[i];
    cr_assert(most > 100 && view.rows == 1);
    expect_text(&view, 0, wanted, most);
    free(wanted);
    hdst_result_destroy(result);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static void check_all(const char *device, uint64_t memory)
{
    check_reduce(device, memory);
    check_broadcast_anew(device, memory);
    check_broadcast(device, memory);
    check_words(device, memory);
    check_filter(device, memory);
    check_map(device, memory, false);
    check_map(device, memory, true);
    check_constants(device, memory);
    check_sort(device, memory);
}

Test(text_stages, in_the_interpreter) { check_all("interp", 0); }
Test(text_stages, in_the_interpreter_with_little_memory) { check_all("interp", 16 << 20); }
Test(text_stages, on_a_cpu)
{
    if (has_cpu()) check_all("cpu", 0);
}
Test(text_stages, on_a_cpu_with_little_memory)
{
    if (has_cpu()) check_all("cpu", 24 << 20);
}

Test(text_stages, on_a_cpu_and_in_the_interpreter_at_once)
{
    if (!has_cpu()) return;
    check_all("0,1", 0);
    check_all("0,1", 48 << 20);
}

Test(text_stages, on_a_cpu_in_the_form_of_a_gpu)
{
    if (has_cpu()) check_all("gpu-form", 0);
}
Test(text_stages, on_a_cpu_in_the_form_of_a_gpu_with_little_memory)
{
    if (has_cpu()) check_all("gpu-form", 24 << 20);
}
Test(text_stages, on_a_cpu_with_memory_of_its_own)
{
    if (has_cpu()) check_all("apart", 0);
}
