// SPDX-License-Identifier: Apache-2.0
// Lines of texts through the public interface: places and numbers of lines, files of all kinds, options, mistakes, and what memory says of them.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[4][128];
    static int turn;
    snprintf(path[++turn % 4], sizeof path[0], "%s/%s", folder, name);
    return path[turn % 4];
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void set_up(void)
{
    char command[256];
    strcpy(folder, "/tmp/hdst-lines-XXXXXX");
    cr_assert(mkdtemp(folder));
    write_text("b", "one\r\ntwo\r\n\r\nfour");
    write_text("a", "alpha\n\nbeta\n");
    snprintf(command, sizeof command, "gzip -c '%s' > '%s'", path_of("a"), path_of("c"));
    cr_assert_eq(system(command), 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(line_source, .init = set_up, .fini = tear_down);

typedef struct place { uint64_t offset, line; uint32_t source; } place;

static const char records[] = "struct place { uint64_t offset; uint64_t line; uint32_t source; };\n"
                              "map later(place p) -> place { place r = p; r.line = p.line + 100; return r; }\n";

static void expect_places(hdst_dataset *data, const place *wanted, size_t count)
{
    place got[16];
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_dataset_take(data, 0, count, got, &error), HDST_OK, "%s", error.message);
    for (size_t i = 0; i < count; i++)
        cr_assert(got[i].offset == wanted[i].offset && got[i].line == wanted[i].line && got[i].source == wanted[i].source, "line %zu", i);
}

Test(line_source, a_folder_with_a_packed_file)
{
    static const place wanted[] = {{0, 1, 0}, {6, 2, 0}, {7, 3, 0}, {0, 1, 1}, {5, 2, 1}, {10, 3, 1}, {12, 4, 1}, {0, 1, 2}, {6, 2, 2}, {7, 3, 2}};
    static const char *const names[] = {"text", "offset", "source", "line"};
    hdst_context *context = context_on("interp");
    hdst_source *source = hdst_source_open_lines(context, folder);
    hdst_type type;
    cr_assert_eq(hdst_source_columns(source), 4);
    for (uint32_t i = 0; i < 4; i++) cr_assert_str_eq(hdst_source_column_name(source, i), names[i]);
    cr_assert(hdst_source_column_type(source, 0, &type) && type == HDST_TEXT);
    cr_assert(hdst_source_column_type(source, 2, &type) && type == HDST_UINT32);
    cr_assert_eq(hdst_source_rows(source), 10);
    hdst_module *module = module_of(context, records);
    expect_places(hdst_read(source, module, "place"), wanted, 10);
    place later[10];
    memcpy(later, wanted, sizeof later);
    for (size_t i = 0; i < 10; i++) later[i].line += 100;
    expect_places(hdst_map_function(hdst_read(source, module, "place"), module, "later"), later, 10);
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    cr_assert_eq(hdst_memory_usage(context, &use, NULL), HDST_OK);
    cr_assert_eq(use.files, 12);          // what was unpacked
    hdst_source_destroy(source);
    hdst_context_destroy(context);
}

Test(line_source, patterns_lists_and_options)
{
    hdst_context *context = context_on("interp");
    hdst_error error = HDST_ERROR_INIT;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%s/[ab]", folder);
    hdst_source *source = hdst_source_open_lines(context, pattern);
    cr_assert_eq(hdst_source_rows(source), 7);
    hdst_lines_options options = HDST_LINES_OPTIONS_INIT;
    options.longest = 4;
    options.strip_returns = true;
    const char *const paths[] = {path_of("b"), path_of("a")};
    source = hdst_source_open_all_lines(context, paths, 2, &options);
    cr_assert_eq(hdst_source_rows(source), 7);
    place got[7];
    cr_assert_eq(hdst_dataset_take(hdst_read(source, module_of(context, records), "place"), 0, 7, got, &error), HDST_E_FORMAT);
    cr_assert(strstr(error.message, "line 1 of '") && strstr(error.message, "has 5 bytes, a line at most 4"), "%s", error.message);
    cr_assert(!strcmp(error.file, paths[1]) && error.line == 1);
    hdst_context_destroy(context);
}

Test(line_source, mistakes)
{
    hdst_context *context = context_on("interp");
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_source_status(hdst_source_open_lines(context, path_of("none")), &error), HDST_E_IO);
    cr_assert(strstr(error.message, "cannot open '") && strstr(error.file, "none"));
    hdst_lines_options options = HDST_LINES_OPTIONS_INIT;
    options.size = 0;
    cr_assert_eq(hdst_source_status(hdst_source_open_all_lines(context, (const char *[]){path_of("a")}, 1, &options), &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "hdst_lines_options of size 0") && strstr(error.hint, "HDST_LINES_OPTIONS_INIT"), "%s", error.message);
    cr_assert_eq(hdst_source_status(hdst_source_open_all_lines(context, NULL, 0, NULL), &error), HDST_E_USAGE);
    cr_assert_eq(truncate(path_of("c"), 20), 0);
    hdst_source *source = hdst_source_open_lines(context, path_of("c"));
    cr_assert_eq(hdst_source_status(source, NULL), HDST_OK);
    cr_assert_eq(hdst_source_rows(source), 0);
    cr_assert_eq(hdst_source_status(source, &error), HDST_E_FORMAT);
    cr_assert(strstr(error.message, "ends within its gzip data, at byte 20"), "%s", error.message);
    hdst_context_destroy(context);
}

// --- Texts that are longer than what is counted before it is read ---

enum { LONG_LINES = 70001 };

static const char entries[] = "struct entry { text text; uint64_t line; uint64_t offset; };\n"
                              "filter some(entry e) { return e.line % 7u == 3u && len(e.text) > 2u; }\n";

typedef struct entry {
    hdst_text_span text;
    uint64_t line, offset;
} entry;

static size_t length_of(uint64_t line) { return line * 2654435761u % 67; }
static char letter_of(uint64_t line, size_t at) { return (char)('a' + (line + at * at) % 26); }

static void write_long(const char *path)
{
    FILE *file = fopen(path, "w");
    for (uint64_t line = 1; line <= LONG_LINES; line++) {
        for (size_t i = 0; i < length_of(line); i++) putc(letter_of(line, i), file);
        if (line < LONG_LINES) putc('\n', file);
    }
    cr_assert_eq(fclose(file), 0);
}

static void expect_some(hdst_result *result)
{
    uint64_t count, at = 0, offset = 0;
    const entry *got = hdst_result_rows(result, NULL, &count);
    for (uint64_t line = 1; line <= LONG_LINES; offset += length_of(line++) + 1) {
        if (line % 7 != 3 || length_of(line) <= 2) continue;
        cr_assert_lt(at, count);
        const entry *e = &got[at++];
        cr_assert(e->line == line && e->offset == offset && e->text.length == length_of(line), "line %u", (unsigned)line);
        for (size_t i = 0; i < length_of(line); i++) cr_assert_eq(hdst_text_bytes(&e->text)[i], letter_of(line, i));
    }
    cr_assert_eq(at, count);
}

// The first run counts them as it reads, the second one has them counted.
Test(line_source, long_texts_are_counted_as_they_are_read, .timeout = 300)
{
    static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
    const char *path = path_of("long");
    write_long(path);
    for (int i = 0; i < 4; i++) {
        if ((i && !have_cpu()) || (i == 3 && !have_team())) continue;
        hdst_context *context = context_in_form(forms[i]);
        hdst_error error = HDST_ERROR_INIT;
        hdst_source *source = hdst_source_open_lines(context, path);
        hdst_module *module = module_of(context, entries);
        hdst_result *result = hdst_result_create(hdst_filter_function(hdst_read(source, module, "entry"), module, "some"));
        for (int turn = 0; turn < 2; turn++) {
            cr_assert((strstr(hdst_explain(result, &error), "records of entry that come") != NULL) == (turn == 0), "%s", hdst_explain(result, &error));
            cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s", error.message);
            expect_some(result);
            cr_assert_eq(hdst_source_rows(source), LONG_LINES);
        }
        entry last[2];
        cr_assert_eq(hdst_dataset_take(hdst_read(hdst_source_open_lines(context, path), module, "entry"), LONG_LINES - 2, 2, last, &error), HDST_OK);
        cr_assert_eq(last[1].line, LONG_LINES);
        hdst_context_destroy(context);
    }
}
