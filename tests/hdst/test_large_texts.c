// SPDX-License-Identifier: Apache-2.0
// Lines and keys of which one alone is larger than the memory budget: their bytes lie in files, and they are counted right. Lines of all bytes, NUL and CR
// among them, with and without an end; a file without lines.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static void set_up(void)
{
    strcpy(folder, "/tmp/hdst-large-XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(large_texts, .init = set_up, .fini = tear_down);

static const char functions[] = "struct word { text t; };\n"
                                "map keyed(word w) -> (key text t, int64_t n) { return (w.t, 1); }\n"
                                "reduce add(int64_t a, int64_t b) { return a + b; }\n";

static const char *path_of(const char *name)
{
    static char path[4][128];
    static int turn;
    snprintf(path[++turn % 4], sizeof path[0], "%s/%s", folder, name);
    return path[turn % 4];
}

// `count` lines; line i is `bytes` letters, the (i mod 3)rd of the alphabet, and one other at its end.
static const char *write_lines(const char *name, int count, size_t bytes)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    char *line = malloc(bytes + 1);
    for (int i = 0; i < count; i++) {
        memset(line, 'a' + i % 3, bytes);
        line[bytes - 1] = 'z';
        line[bytes] = '\n';
        cr_assert_eq(fwrite(line, 1, bytes + 1, file), bytes + 1);
    }
    free(line);
    cr_assert_eq(fclose(file), 0);
    return path;
}

static hdst_context *open_with(const char *device, uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = memory;
    return hdst_context_create(&options);
}

static hdst_result *count_lines(hdst_module *module, hdst_context *context, const char *path)
{
    hdst_source *source = hdst_source_open_lines(context, path);
    return hdst_result_create(hdst_reduce_by_key(hdst_map_function(hdst_read(source, module, "word"), module, "keyed"), module, "add"));
}

static void check(const char *device, uint64_t memory, const char *path, uint64_t keys, size_t bytes, int64_t each)
{
    hdst_context *context = open_with(device, memory);
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *r = count_lines(module_of(context, functions), context, path);
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s: %s", error.message, error.cause);
    const hdst_view words = hdst_result_field(r, NULL, "t"), counts = hdst_result_field(r, NULL, "n");
    cr_assert_eq(words.rows, keys);
    for (uint64_t i = 0; i < keys; i++) {
        const hdst_text t = hdst_view_text(words, i, 0);
        cr_assert(t.length == bytes && t.data[0] == t.data[bytes - 2] && t.data[bytes - 1] == 'z');
        cr_assert_eq(hdst_view_int64(counts, i, 0), each);
    }
    hdst_context_destroy(context);
}

static void check_all(const char *device)
{
    check(device, 24 << 20, write_lines("large.txt", 2, 60 << 20), 2, 60 << 20, 1);
    check(device, 0, write_lines("keys.txt", 6, 5 << 20), 3, 5 << 20, 2);
}

Test(large_texts, in_the_interpreter) { check_all("interp"); }

Test(large_texts, on_a_cpu)
{
    if (have_cpu()) check_all("cpu");
}

Test(large_texts, lines_of_all_bytes_with_and_without_an_end)
{
    static const char bytes[] = "a\0b\r\n\r\n\n\0\n\xff\xfe\na\0b\r"; // lines: a\0b\r, \r, "", \0, \xff\xfe, a\0b\r
    FILE *file = fopen(path_of("bytes.txt"), "w");
    cr_assert_eq(fwrite(bytes, 1, sizeof bytes - 1, file), sizeof bytes - 1);
    cr_assert_eq(fclose(file), 0);
    fclose(fopen(path_of("empty.txt"), "w"));
    hdst_context *context = open_with("interp", 0);
    hdst_module *module = module_of(context, functions);
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *r = count_lines(module, context, path_of("bytes.txt")), *none = count_lines(module, context, path_of("empty.txt"));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    const hdst_view words = hdst_result_field(r, NULL, "t"), counts = hdst_result_field(r, NULL, "n");
    cr_assert_eq(words.rows, 5);
    for (uint64_t i = 0; i < 5; i++) {
        const hdst_text t = hdst_view_text(words, i, 0);
        const bool twice = t.length == 4 && !memcmp(t.data, "a\0b\r", 4);
        cr_assert_eq(hdst_view_int64(counts, i, 0), twice ? 2 : 1);
    }
    cr_assert_eq(hdst_run(none, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_result_field(none, NULL, "t").rows, 0);
    hdst_context_destroy(context);
}
