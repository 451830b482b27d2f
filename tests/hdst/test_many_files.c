// SPDX-License-Identifier: Apache-2.0
// Folders of many small files: read in their order, whatever the process may have open at once, within a small budget; one that is replaced meanwhile is told.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 600, MOST_ROWS = 5, MEMORY = 32 << 20, OPEN = 128 };

typedef struct point { double x, y; } point;

static const char kernels[] = "struct point { double x, y; }; struct line { text text; uint32_t source; };\n"
                              "map same(point p) -> point { return p; }\n"
                              "map length(line l) -> (uint32_t source, uint64_t length) { return (l.source, len(l.text)); }\n";

static char folder[64];

static int rows_of(int file) { return 1 + file * 7 % MOST_ROWS; }

static char *path_of(int file, const char *ending)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/f%04d%s", folder, file, ending);
    return path;
}

static void write_csv(const char *path, int file, int add)
{
    FILE *out = fopen(path, "w");
    cr_assert(out);
    for (int k = 0; k < rows_of(file); k++) fprintf(out, "%d.5,%d\n", file + add, k);
    fclose(out);
}

static void write_npy(const char *path, int file)
{
    char header[128];
    FILE *out = fopen(path, "wb");
    cr_assert(out);
    const int n = snprintf(header, sizeof header, "\x93NUMPY\x01%c%c%c{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 2), }", 0, 118, 0, rows_of(file));
    memset(header + n, ' ', sizeof header - (size_t)n);
    header[sizeof header - 1] = '\n';
    fwrite(header, 1, sizeof header, out);
    for (int k = 0; k < rows_of(file); k++) fwrite((double[]){file + 0.5, k}, sizeof(double), 2, out);
    fclose(out);
}

static void make_folder(const char *ending)
{
    strcpy(folder, "/tmp/hdst-many-XXXXXX");
    cr_assert(mkdtemp(folder));
    for (int i = 0; i < FILES; i++)
        if (!strcmp(ending, ".npy")) write_npy(path_of(i, ending), i);
        else write_csv(path_of(i, ending), i, 0);
}

static void remove_folder(const char *ending)
{
    for (int i = 0; i < FILES; i++) unlink(path_of(i, ending));
    rmdir(folder);
}

static void allow_few_open_files(void)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = OPEN;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static hdst_context *open_context(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = MEMORY;
    return hdst_context_create(&options);
}

static hdst_result *points(hdst_context *context)
{
    hdst_module *module = module_of(context, kernels);
    return hdst_result_create(hdst_map_function(hdst_read(hdst_source_open(context, folder), module, "point"), module, "same"));
}

static void expect_all(const char *ending)
{
    make_folder(ending);
    allow_few_open_files();
    hdst_context *context = open_context();
    hdst_result *r = points(context);
    uint64_t rows, at = 0;
    RUN(r);
    const point *p = hdst_result_rows(r, NULL, &rows);
    for (int i = 0; i < FILES; i++)
        for (int k = 0; k < rows_of(i); k++, at++) cr_assert(at < rows && p[at].x == i + 0.5 && p[at].y == k, "%s %d: row %d", ending, i, k);
    cr_assert_eq(at, rows);
    hdst_context_destroy(context);
    remove_folder(ending);
}

Test(many_files, separated_text_in_the_order_of_names) { expect_all(".csv"); }
Test(many_files, arrays_in_the_order_of_names) { expect_all(".npy"); }

Test(many_files, lines_in_the_order_of_names)
{
    typedef struct seen { uint32_t source; uint64_t length; } seen;
    make_folder(".txt");
    allow_few_open_files();
    hdst_context *context = open_context();
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_open_lines(context, folder), module, "line"), module, "length"));
    uint64_t rows, at = 0;
    RUN(r);
    const seen *s = hdst_result_rows(r, NULL, &rows);
    for (int i = 0; i < FILES; i++)
        for (int k = 0; k < rows_of(i); k++, at++)
            cr_assert(at < rows && s[at].source == (uint32_t)i && s[at].length == (uint64_t)snprintf(NULL, 0, "%d.5,%d", i, k), "%d: line %d", i, k);
    cr_assert_eq(at, rows);
    hdst_context_destroy(context);
    remove_folder(".txt");
}

// Folders beside each other are as many files as they have together.
Test(many_files, several_folders_are_many_files_together)
{
    enum { TIMES = 10 };        // each alone has fewer files than may be open
    const char *paths[TIMES];
    hdst_error error = HDST_ERROR_INIT;
    make_folder(".csv");
    for (int i = 25; i < FILES; i++) unlink(path_of(i, ".csv"));
    for (int i = 0; i < TIMES; i++) paths[i] = folder;
    allow_few_open_files();
    hdst_context *context = open_context();
    hdst_module *module = module_of(context, kernels);
    hdst_source *source = hdst_source_open_all(context, paths, TIMES, NULL);
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(source, module, "point"), module, "same"));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    uint64_t rows, at = 0;
    const point *p = hdst_result_rows(r, NULL, &rows);
    for (int i = 0; i < 25 * TIMES; i++)
        for (int k = 0; k < rows_of(i % 25); k++, at++) cr_assert(at < rows && p[at].x == i % 25 + 0.5 && p[at].y == k, "%d: row %d", i, k);
    cr_assert_eq(at, rows);
    hdst_context_destroy(context);
    remove_folder(".csv");
}

Test(many_files, lists_of_edges_one_behind_the_other)
{
    typedef struct edge { uint32_t from, to; } edge;
    static char names[FILES][128];
    const char *paths[FILES];
    hdst_error error = HDST_ERROR_INIT;
    strcpy(folder, "/tmp/hdst-many-XXXXXX");
    cr_assert(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        strcpy(names[i], path_of(i, ".txt"));
        paths[i] = names[i];
        FILE *out = fopen(names[i], "w");
        cr_assert(out);
        for (int k = 0; k < rows_of(i); k++) fprintf(out, "%d %d\n", i, k);
        fclose(out);
    }
    allow_few_open_files();
    hdst_context *context = open_context();
    hdst_module *module = module_of(context, "struct edge { uint32_t from; uint32_t to; };\nmap same(edge e) -> edge { return e; }\n");
    hdst_source *source = hdst_source_open_all_edges(context, paths, FILES, NULL);
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(source, module, "edge"), module, "same"));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    uint64_t rows, at = 0;
    const edge *e = hdst_result_rows(r, NULL, &rows);
    for (int i = 0; i < FILES; i++)
        for (int k = 0; k < rows_of(i); k++, at++) cr_assert(at < rows && e[at].from == (uint32_t)i && e[at].to == (uint32_t)k, "%d: edge %d", i, k);
    cr_assert_eq(at, rows);
    hdst_context_destroy(context);
    remove_folder(".txt");
}

// Of those that are opened again for each read.
Test(many_files, one_that_is_replaced_is_told)
{
    char other[128];
    hdst_error error = HDST_ERROR_INIT;
    make_folder(".csv");
    hdst_context *context = open_context();
    hdst_result *r = points(context);           // its first rows were read
    snprintf(other, sizeof other, "%s/.other", folder);
    write_csv(other, 501, 1);
    cr_assert_eq(rename(other, path_of(501, ".csv")), 0);
    cr_assert_eq(hdst_run(r, &error), HDST_E_IO);
    cr_assert(strstr(error.message, "f0501.csv' changed while it was read"), "%s", error.message);
    hdst_context_destroy(context);
    remove_folder(".csv");
}
