// SPDX-License-Identifier: Apache-2.0
// Places in texts that are looked for 64 bytes at a time: where a text stands in another one, in whatever case, and where tokens begin. The texts have all
// lengths around one and two times 64 bytes, begin at any byte and end where a page begins that nobody may read. What is expected is computed here, one byte
// after another; all devices give it, in all forms of kernels.
#define _GNU_SOURCE     // MAP_ANONYMOUS
#include "tests/hdst/support.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 200, COUNT = 3 * LONGEST };

typedef struct places {         // as the function below gives them
    int64_t first, folded, loud;
    uint64_t words, parts, pieces;
} places;

static const char function[] =
    "struct places { int64_t first, folded, loud; uint64_t words, parts, pieces; };\n"
    "map look(text t, broadcast text what) -> places { places p; p.first = find(t, what); p.folded = find(lower(t), what); p.loud = find(upper(t), \"A\");\n"
    "    p.words = 0; for (text w : tokens(t, WORD)) p.words = p.words * 31 + len(w);\n"
    "    p.parts = 0; for (text w : tokens(t, SPACE)) p.parts = p.parts * 31 + len(w);\n"
    "    p.pieces = 0; for (text w : tokens(t, chars(\"ab{\"))) p.pieces = p.pieces * 31 + len(w); return p; }\n";

static char *memory;            // three pages, of which the last one is closed
static size_t page;
static hdst_text_span texts[COUNT];

static void make_texts(void)
{
    static const char bytes[] = "abABabbA zZ@[`{/09:_\t\n\x0e\x80\xc3\xff-";
    uint32_t state = 1;
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED && !mprotect(memory + 2 * page, page, PROT_NONE));
    for (size_t i = 0; i < 2 * page; i++) {
        state = state * 1664525 + 1013904223;
        memory[i] = bytes[(state >> 24) % sizeof bytes];        // the NUL, too
    }
    // Up to the closed page; over the border of two open ones; somewhere.
    for (uint32_t n = 0; n < LONGEST; n++) {
        texts[3 * n] = hdst_text_span_of(memory + 2 * page - n, n);
        texts[3 * n + 1] = hdst_text_span_of(memory + page - n / 2, n);
        texts[3 * n + 2] = hdst_text_span_of(memory + 7 * n % 64 + 100, n);
    }
}

TestSuite(text_places, .init = make_texts);

static int64_t place_of(const char *bytes, size_t count, const char *what, size_t wanted, int (*turned)(int))
{
    for (size_t i = 0; i + wanted <= count; i++) {
        size_t same = 0;
        while (same < wanted && (turned ? turned((unsigned char)bytes[i + same]) : (unsigned char)bytes[i + same]) == (unsigned char)what[same]) same++;
        if (same == wanted) return (int64_t)i;
    }
    return -1;
}

static int in_word(int c) { return isalnum(c) || c == '_' || c >= 0x80; }
static int in_part(int c) { return !isspace(c); }
static int in_piece(int c) { return c != 'a' && c != 'b' && c != '{'; }

static uint64_t tokens_of(const char *bytes, size_t count, int (*belongs)(int))
{
    uint64_t sum = 0;
    for (size_t i = 0, end; i < count; i = end + (end == i)) {
        for (end = i; end < count && belongs((unsigned char)bytes[end]); end++) {}
        if (end > i) sum = sum * 31 + (end - i);
    }
    return sum;
}

static void expect(const places *got, const hdst_text_span *text, const char *what)
{
    const char *bytes = hdst_text_bytes(text);
    const size_t count = text->length, wanted = strlen(what);
    cr_assert_eq(got->first, place_of(bytes, count, what, wanted, NULL), "'%s' in %zu bytes: %lld", what, count, (long long)got->first);
    cr_assert_eq(got->folded, place_of(bytes, count, what, wanted, tolower), "'%s' in %zu bytes: %lld", what, count, (long long)got->folded);
    cr_assert_eq(got->loud, place_of(bytes, count, "A", 1, toupper), "%zu bytes: %lld", count, (long long)got->loud);
    cr_assert_eq(got->words, tokens_of(bytes, count, in_word), "%zu bytes", count);
    cr_assert_eq(got->parts, tokens_of(bytes, count, in_part), "%zu bytes", count);
    cr_assert_eq(got->pieces, tokens_of(bytes, count, in_piece), "%zu bytes", count);
}

static void check(const char *device, bool gpu_form)
{
    static const char *const wanted[] = {"", "a", "\xc3", "ab", "abab", "abbbbbaaaab", "@[`", "/09:_ab",
                                         "a text of more than sixty-four bytes, none of which is as long as that"};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    hdst_context *context = hdst_context_create(&options);
    if (gpu_form) context->engine->options.gpu_form_on_cpu = true;         // no device is open yet
    hdst_module *module = module_of(context, function);
    hdst_source *source = hdst_source_from_memory(context, texts, COUNT, sizeof *texts);
    hdst_value *value = hdst_value_create(module, "text", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "look");
    cr_assert_eq(hdst_bind_value(spec, "what", value), HDST_OK);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(source, module, "text"), spec));
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        const hdst_text_span span = hdst_text_span_of(wanted[w], (uint32_t)strlen(wanted[w]));
        uint64_t count;
        cr_assert_eq(hdst_value_set(value, &span, 1), HDST_OK);
        RUN(result);
        const places *got = hdst_result_rows(result, NULL, &count);
        cr_assert_eq(count, COUNT);
        for (uint64_t i = 0; i < count; i++) expect(&got[i], &texts[i], wanted[w]);
    }
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(text_places, in_the_interpreter) { check("interp", false); }
Test(text_places, on_a_cpu)
{
    if (has_cpu()) check("cpu", false);
}
Test(text_places, on_a_cpu_in_the_form_of_a_gpu)
{
    if (has_cpu()) check("cpu", true);
}
