// SPDX-License-Identifier: Apache-2.0
// Lines that a GPU finds in the bytes of a text, through the public interface: the form on a CPU device gives what the interpreter gives, of several files,
// packed ones, lines longer than a segment, runs again, slices of the input; records cross no link; explain says so.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINES = 25000, MOST_BYTES = 20 << 20 };

static const char functions[] =
    "struct place { uint64_t offset, line; uint32_t source; text text; };\n"
    "struct seen { uint64_t offset, line, source, length, first; text text; };\n"
    "map look(place p) -> seen { return (seen){ .offset = p.offset, .line = p.line, .source = p.source, .length = len(p.text),\n"
    "    .first = len(p.text) > 0 ? (uint64_t)p.text[0] : 256, .text = p.text }; }\n"
    "flat_map words(text t) -> (key text word, uint64_t n) { for (text w : tokens(t, SPACE)) emit(w, 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n";

static const char *const fields[] = {"offset", "line", "source", "length", "first", "text", NULL}, *const words[] = {"word", "n", NULL};
static char folder[64];

static void set_up(void)
{
    strcpy(folder, "/tmp/hdst-told-XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(told_lines, .init = set_up, .fini = tear_down);

// Lines of 0 to 200 bytes, one in a thousand much longer, the last half five times as long as the others; the last one has no end.
static void write_lines(const char *name, uint32_t seed)
{
    char path[128];
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1, at = 0;
    char *text = malloc(MOST_BYTES);
    for (int i = 0; i < LINES; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const uint64_t length = (x % 1000 ? x / 1000 % (i % 7 ? 12 : 100) : x / 1000 % 9000) * (i < LINES / 2 ? 1 : 5);
        for (uint64_t k = 0; k < length; k++) text[at++] = "abcdefgh ij\0lmnop\r"[(x >> k % 40) % 18];
        text[at++] = '\n';
        cr_assert_lt(at, MOST_BYTES - 50000);
    }
    text[at++] = 'z';
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_eq(fwrite(text, 1, at, file), at);
    cr_assert_eq(fclose(file), 0);
    free(text);
}

static hdst_context *open_context(bool gpu, uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu ? "cpu" : "interp";
    options.memory = memory;
    hdst_context *context = hdst_context_create(&options);
    if (gpu) context->engine->options.gpu_form_on_cpu = true;
    return context;
}

static void expect_same(hdst_result *a, hdst_result *b, const char *const *names)
{
    uint64_t n, m;
    (void)hdst_result_rows(a, NULL, &n);
    (void)hdst_result_rows(b, NULL, &m);
    cr_assert_eq(n, m, "%d and %d rows", (int)n, (int)m);
    for (; *names; names++) {
        const hdst_view x = hdst_result_field(a, NULL, *names), y = hdst_result_field(b, NULL, *names);
        const bool is_text = !strcmp(*names, "text") || !strcmp(*names, "word");
        for (uint64_t i = 0; i < n; i++) {
            if (!is_text) cr_assert_eq(hdst_view_int64(x, i, 0), hdst_view_int64(y, i, 0), "row %d, %s", (int)i, *names);
            if (!is_text) continue;
            const hdst_text u = hdst_view_text(x, i, 0), v = hdst_view_text(y, i, 0);
            cr_assert(u.length == v.length && !memcmp(u.data, v.data, u.length), "row %d", (int)i);
        }
    }
}

static hdst_dataset *lines_of(hdst_context *context, hdst_module *module, const char *pattern, const char *record, uint64_t first, uint64_t count)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    hdst_dataset *lines = hdst_read(hdst_source_open_lines(context, path), module, record);
    return count ? hdst_slice(lines, first, count) : lines;
}

static void check(const char *pattern, uint64_t memory, uint64_t first, uint64_t count)
{
    hdst_context *context[2];
    hdst_result *places[2], *counts[2];
    for (int gpu = 0; gpu < 2; gpu++) {
        context[gpu] = open_context(gpu, memory);
        hdst_module *module = module_of(context[gpu], functions);
        places[gpu] = hdst_result_create(hdst_map_function(lines_of(context[gpu], module, pattern, "place", first, count), module, "look"));
        counts[gpu] = hdst_result_create(hdst_reduce_by_key(
            hdst_flat_map_function(lines_of(context[gpu], module, pattern, "text", first, count), module, "words"), module, "add"));
        for (int again = 0; again < 2; again++) {
            RUN(places[gpu]);
            RUN(counts[gpu]);
        }
    }
    expect_same(places[0], places[1], fields);
    expect_same(counts[0], counts[1], words);
    const char *told = hdst_explain(counts[1], NULL);
    cr_assert(strstr(told, "lines: the device finds them"), "%s", told);
    for (int gpu = 0; gpu < 2; gpu++) hdst_context_destroy(context[gpu]);
}

Test(told_lines, are_those_of_the_interpreter)
{
    if (!has_cpu()) return;
    write_lines("a", 1);
    check("a", 0, 0, 0);
    check("a", 0, 5432, 12345);
}

Test(told_lines, of_several_files_and_packed_ones)
{
    char command[300];
    if (!has_cpu()) return;
    for (int i = 0; i < 3; i++) write_lines((char[]){(char)('a' + i), 0}, (uint32_t)i + 5);
    snprintf(command, sizeof command, "gzip -1 '%s/b'; : > '%s/c'; printf '\\n' > '%s/d'", folder, folder, folder);
    cr_assert_eq(system(command), 0);
    check("[a-d]*", 0, 0, 0);
    check("b*", 48 << 20, 0, 0);
}

// Records are 16 bytes beside a line of two; of them none crosses.
Test(told_lines, cross_no_link_as_records)
{
    enum { SHORT = 3000000 };
    char path[128], *text = malloc(SHORT);
    if (!has_cpu()) return;
    for (int i = 0; i < SHORT; i++) text[i] = i % 2 ? '\n' : 'a';
    snprintf(path, sizeof path, "%s/short", folder);
    FILE *file = fopen(path, "w");
    cr_assert(fwrite(text, 1, SHORT, file) == SHORT && fclose(file) == 0);
    hdst_context *context = open_context(true, 0);
    hdst_module *module = module_of(context, functions);
    hdst_result *counts = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(lines_of(context, module, "short", "text", 0, 0), module, "words"),
                                                                module, "add"));
    RUN(counts);
    cr_assert_eq(hdst_view_int64(hdst_result_field(counts, NULL, "n"), 0, 0), SHORT / 2);
    cr_assert_lt(hdst_result_stats(counts).bytes_to_device, 2 * SHORT, "%d bytes", (int)hdst_result_stats(counts).bytes_to_device);
    hdst_context_destroy(context);
    free(text);
}

Test(told_lines, are_the_hosts_in_a_cache)
{
    if (!has_cpu()) return;
    write_lines("a", 3);
    hdst_context *context = open_context(true, 0);
    hdst_module *module = module_of(context, functions);
    hdst_result *counts = hdst_result_create(hdst_reduce_by_key(
        hdst_flat_map_function(hdst_cache(lines_of(context, module, "a", "text", 0, 0)), module, "words"), module, "add"));
    RUN(counts);
    cr_assert(!strstr(hdst_explain(counts, NULL), "lines: the device finds them"), "%s", hdst_explain(counts, NULL));
    hdst_context_destroy(context);
}
