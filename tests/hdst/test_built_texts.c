// SPDX-License-Identifier: Apache-2.0
// Texts that functions build in arrays (text(b, n)): of all lengths around those that a span holds itself, in all records of several slices; what does not fit
// its array is told with its place and record, or left out; where text(b, n) may not stand.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { BYTES = 16, RECORDS = 70000 };

static const char functions[] = "map copied(text t) -> text\n"
                                "{\n"
                                "    uint8_t b[16];\n"
                                "    for (uint64_t i = 0; i < len(t); i++) b[i] = t[i];\n"
                                "    return text(b, len(t));\n"
                                "}\n"
                                "map same(text t) -> text { uint8_t b[16]; return text(b, len(t)); }\n"
                                "map less(text t) -> text { uint8_t b[16]; return text(b, (int64_t)len(t) - 10); }\n"
                                "map behind(text t) -> text\n"
                                "{\n"
                                "    uint8_t b[16];\n"
                                "    b[0] = 33;\n"
                                "    for (uint64_t i = 1; i < len(t); i++) b[i] = t[i];\n"
                                "    return text(b, len(t));\n"
                                "}\n";

static hdst_result *over(hdst_context *context, const hdst_text_span *spans, uint64_t count, const char *function)
{
    hdst_module *module = module_of(context, functions);
    hdst_source *source = hdst_source_from_memory(context, spans, count, sizeof *spans);
    return hdst_result_create(hdst_map_function(hdst_read(source, module, "text"), module, function));
}

// Of 0 to 16 letters, by turns.
static hdst_text_span *all_lengths(void)
{
    static char letters[RECORDS][BYTES + 1];
    hdst_text_span *spans = calloc(RECORDS, sizeof *spans);
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < BYTES; k++) letters[i][k] = (char)('a' + (i * 7 + k * 5) % 26);
        spans[i] = hdst_text_span_of(letters[i], (uint32_t)(i % (BYTES + 1)));
    }
    return spans;
}

// `first`: what the first byte of each has become; 0: it is as it was.
static void expect_texts(hdst_result *r, char first)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    const hdst_view texts = hdst_result_field(r, NULL, "value");
    cr_assert_eq(texts.rows, RECORDS);
    for (uint64_t i = 0; i < RECORDS; i++) {
        const hdst_text t = hdst_view_text(texts, i, 0);
        cr_assert_eq(t.length, i % (BYTES + 1), "%d", (int)i);
        for (uint64_t k = 0; k < t.length; k++) cr_assert_eq(t.data[k], k || !first ? (char)('a' + (i * 7 + k * 5) % 26) : first, "%d: %d", (int)i, (int)k);
    }
}

static void come_out(const char *device)
{
    hdst_context *context = context_on(device);
    hdst_text_span *spans = all_lengths();
    hdst_result *r = over(context, spans, RECORDS, "copied");
    expect_texts(r, 0);
    hdst_context_destroy(context);
    free(spans);
}

// A function reads what the one before it built.
static void come_out_of_two(const char *device)
{
    hdst_context *context = context_on(device);
    hdst_text_span *spans = all_lengths();
    hdst_module *module = module_of(context, functions);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(context, spans, RECORDS, sizeof *spans), module, "text");
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_map_function(read, module, "behind"), module, "copied"));
    expect_texts(r, '!');
    hdst_context_destroy(context);
    free(spans);
}

static void fails(const char *device, const char *function, const char *text, uint32_t line, const char *wanted)
{
    hdst_context *context = context_on(device);
    hdst_error error = HDST_ERROR_INIT;
    const hdst_text_span spans[] = {hdst_text_span_of("ten bytes.", 10), hdst_text_span_of("16 bytes in all.", 16),
                                    hdst_text_span_of(text, (uint32_t)strlen(text))};
    hdst_result *r = over(context, spans, 3, function);
    cr_expect_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", function);
    cr_expect(strstr(error.message, wanted), "%s", error.message);
    cr_expect(!strcmp(error.file, "test.hk") && error.line == line, "%s:%d", error.file, (int)error.line);
    cr_expect_eq(error.record, 2);
    hdst_context_destroy(context);
}

static void tell(const char *device)
{
    fails(device, "copied", "one more than that", 4, "index 16 out of range 0..15 in record 2");
    fails(device, "same", "one more than that", 7, "a text of 18 bytes of 'b', which has 16, in record 2");
}

Test(built_texts, come_out_in_the_interpreter) { come_out("interp"); }
Test(built_texts, come_out_of_a_cpu)
{
    if (have_cpu()) come_out("cpu");
}

Test(built_texts, are_read_by_the_next_function)
{
    come_out_of_two("interp");
    if (has_cpu()) come_out_of_two("cpu");
}

Test(built_texts, that_do_not_fit_are_told_by_the_interpreter)
{
    tell("interp");
    fails("interp", "less", "short", 8, "a text of -5 bytes of 'b' in record 2");
}

Test(built_texts, that_do_not_fit_are_told_by_a_cpu)
{
    if (have_cpu()) tell("cpu");
}

Test(built_texts, that_do_not_fit_are_left_out)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    hdst_error error = HDST_ERROR_INIT;
    const hdst_text_span spans[] = {hdst_text_span_of("a", 1), hdst_text_span_of("seventeen bytes..", 17), hdst_text_span_of("sixteen bytes...", 16)};
    hdst_result *r = over(context, spans, 3, "copied");
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    const hdst_view texts = hdst_result_field(r, NULL, "value");
    cr_assert_eq(texts.rows, 2);
    cr_assert_arr_eq(hdst_view_text(texts, 1, 0).data, "sixteen bytes...", 16);
    hdst_context_destroy(context);
}

static void refused(hdst_context *context, const char *text, const char *wanted)
{
    hdst_module *module = hdst_module_parse(context, "bad.hk", text, NULL);
    hdst_error error = HDST_ERROR_INIT;
    cr_expect_eq(hdst_module_status(module, &error), HDST_E_KERNEL, "%s", text);
    cr_expect(strstr(hdst_module_diagnostics(module), wanted), "%s", hdst_module_diagnostics(module));
}

Test(built_texts, stand_where_a_record_is_given)
{
    hdst_context *context = context_on("interp");
    const char *const alone = "text(b, n) stands by itself in emit(...) or return";
    refused(context, "map f(text t) -> text { uint8_t b[9]; text s = text(b, 3); return s; }", alone);
    refused(context, "map f(text t) -> bool { uint8_t b[9]; return text(b, 3) == t; }", alone);
    refused(context, "map f(text t) -> text { uint8_t b[9]; return len(t) > 3 ? text(b, 3) : t; }", alone);
    refused(context, "text h() { uint8_t b[9]; return text(b, 3); } map f(text t) -> text { return h(); }", "only what a map, flat_map, group or join gives");
    refused(context, "struct two { text t[2]; }; map f(text t) -> two { uint8_t b[9]; return (two){ .t = { text(b, 3), t } }; }", "array of texts");
    refused(context, "map f(text t) -> text { uint32_t b[9]; return text(b, 3); }", "text(b, n) takes an array of uint8_t");
    refused(context, "map f(text t) -> text { uint8_t b[4097]; return text(b, 3); }", "at most 4096 bytes");
    refused(context, "map f(text t) -> text { uint8_t b[9]; return text(b, 3.0); }", "is an integer");
    hdst_context_destroy(context);
}
