// SPDX-License-Identifier: Apache-2.0
// A record that failed, from the run to what `hdst replay` prints; files that are no such thing.
#define _GNU_SOURCE     // memmem
#include "io/replay_file.h"
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdst-replay-XXXXXX";

static void set_up(void) { cr_assert_not_null(mkdtemp(folder)); }

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(replay, .init = set_up, .fini = tear_down);

typedef struct row { float x; int32_t k; } row;

static const char kernels[] = "import \"other.yaml\";\n"
                              "param uint32_t N;\n"
                              "struct row { float x; int32_t k; };\n"
                              "struct limit { double most[N]; };\n"
                              "filter positive(row r) { return r.x > 0; }\n"
                              "map shift(row r, broadcast int32_t by) -> row { return (row){ r.x * 2, r.k + by }; }\n"
                              "float halve(float v) { return v / 2; }\n"
                              "map total(row r, broadcast limit c[], accum double t[], accum uint64_t n)\n"
                              "{\n"
                              "    double sum = 0;\n"
                              "    for (uint32_t j = 0; j < len(c); j++) {\n"
                              "        for (uint32_t i = 0; i < N; i++) sum += c[j].most[i];\n"
                              "    }\n"
                              "    n += (uint64_t)exp(r.x * 0.0f);\n"
                              "    if (r.k > 2) t[r.k] += halve(r.x) + sum;\n"
                              "}\n";

static char *import(const char *name, const char *importing, void *user)
{
    (void)importing, (void)user;
    return strcmp(name, "other.yaml") ? NULL : strdup("params: [N]\nrecords:\n  other:\n    fields:\n      - {name: v, type: float32, count: N}\n");
}

// What the tool prints for the file; its exit code.
static int show(const char *path, char *text, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "%s replay %s 2>&1", HDST_TOOL, path);
    FILE *out = popen(command, "r");
    cr_assert_not_null(out);
    const size_t length = fread(text, 1, size - 1, out);
    text[length] = 0;
    return WEXITSTATUS(pclose(out));
}

// Runs the chain over records of which number 70,001 fails in `total`; the path of the file.
static const char *failing_run(const char *device, hdst_error *error)
{
    enum { RECORDS = 100000 };
    static row rows[RECORDS];
    for (int i = 0; i < RECORDS; i++) rows[i] = (row){i % 2 ? 1.5f : -1, i % 3};
    rows[70001].k = 8;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.replay_dir = folder;
    hdst_context *context = hdst_context_create(&options);
    hdst_module_options front = HDST_MODULE_OPTIONS_INIT;
    front.params = &(hdst_param){"N", 20};
    front.param_count = 1;
    front.import_file = import;
    hdst_module *m = hdst_module_parse(context, "lib/test.hk", kernels, &front);
    cr_assert_eq(hdst_module_status(m, NULL), HDST_OK, "%s", hdst_module_diagnostics(m));
    hdst_value *by = hdst_value_create(m, "int32_t", 1), *c = hdst_value_create(m, "limit", 7);
    double limits[7 * 20];
    for (int i = 0; i < 7 * 20; i++) limits[i] = i * 0.25;
    hdst_value_set(by, &(int32_t){3}, 1);
    hdst_value_set(c, limits, 7);
    hdst_map_spec *shift = hdst_map_spec_create(m, "shift"), *total = hdst_map_spec_create(m, "total");
    hdst_bind_value(shift, "by", by);
    hdst_bind_value(total, "c", c);
    hdst_bind_accum(total, "t", 9);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), m, "row");
    hdst_result *r = hdst_result_create(hdst_map(hdst_map(hdst_filter_function(data, m, "positive"), shift), total));
    cr_assert_eq(hdst_run(r, error), HDST_E_RECORD, "%s", error->message);
    cr_assert_str_eq(error->message, "index 11 out of range 0..8 in record 70,001");
    hdst_context_destroy(context);
    static char path[256];
    snprintf(path, sizeof path, "%s/total.replay", folder);
    return path;
}

#define EXPECT_IN(text, part) cr_expect(strstr((text), (part)), "no '%s' in\n%s", (part), (text))

Test(replay, shows_the_way_of_the_record_to_its_failure)
{
    static char text[1 << 16];
    hdst_error error;
    const char *path = failing_run("interp", &error);
    EXPECT_IN(error.hint, "hdst replay");
    EXPECT_IN(error.hint, path);
    cr_assert_eq(show(path, text, sizeof text), 0, "%s", text);
    EXPECT_IN(text, "lib/test.hk:15:20: index 11 out of range 0..8 in record 70,001");
    EXPECT_IN(text, "r.x = 3\n");                       // as `shift` left it
    EXPECT_IN(text, "r.k = 11\n");
    EXPECT_IN(text, "c: 7 rows\n");
    EXPECT_IN(text, "t: 9 rows, accumulated\n");
    EXPECT_IN(text, "   10 |     double sum = 0;\n");
    EXPECT_IN(text, "turn 1: j = 0\n");
    EXPECT_IN(text, "(turns 3 to 6 are like these)");
    EXPECT_IN(text, "(turns 3 to 19 are like these)");
    EXPECT_IN(text, "turn 7: j = 6\n");
    EXPECT_IN(text, "sum = 2432.5\n");                  // the sum of i / 4 for i < 140
    EXPECT_IN(text, "n += 1\n");
    cr_expect_null(strstr(text, "hdst:exp.hk"), "%s", text);     // the inside of exp() is not shown
    EXPECT_IN(text, "the condition is true\n");
    EXPECT_IN(text, "index 11 is not in 0..8: the record fails here\n");
    const char *caret = strstr(text, "|                    ^~~\n");
    cr_expect(caret, "%s", text);
    cr_expect_null(strstr(text, "turn 4: j"), "%s", text);
    cr_expect_null(strstr(text, "t[11] +="), "nothing after the failure: %s", text);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
}

Test(replay, is_the_same_from_another_device)
{
    if (!have_cpu()) return;
    static char first[1 << 16], second[1 << 16];
    hdst_error error;
    cr_assert_eq(show(failing_run("interp", &error), first, sizeof first), 0);
    cr_assert_eq(show(failing_run("cpu", &error), second, sizeof second), 0);
    cr_expect_str_eq(first, second);
}

Test(replay, nothing_is_saved_where_that_is_not_wanted)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = "";
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = module_of(context, "struct row { float x; int32_t k; };\nmap f(row r, accum int32_t n) { n += 1 / r.k; }\n");
    const row rows[] = {{0, 0}};
    hdst_map_spec *spec = hdst_map_spec_create(m, "f");
    hdst_error error;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, rows, 1, sizeof *rows), m, "row"), spec)), &error),
                 HDST_E_RECORD);
    cr_expect_str_eq(error.hint, "test the divisor before you divide");
    hdst_context_destroy(context);
}

Test(replay, records_of_a_schema_made_in_c_are_written_too)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = folder;
    hdst_context *context = hdst_context_create(&options);
    hdst_schema *schema = hdst_schema_create(context);
    hdst_schema_add_record(schema, "pair", HDST_AOS, 0, 0, NULL);
    hdst_schema_add_field(schema, "a", HDST_INT16, 1, NULL);
    hdst_schema_add_field(schema, "b", HDST_INT64, 3, NULL);
    hdst_module_options front = HDST_MODULE_OPTIONS_INIT;
    front.schemas = &schema;
    front.schema_count = 1;
    hdst_module *m = hdst_module_parse(context, "pairs.hk", "map f(pair p, accum int64_t n) { n += p.b[2] / p.a; }\n", &front);
    cr_assert_eq(hdst_module_status(m, NULL), HDST_OK, "%s", hdst_module_diagnostics(m));
    const struct { int16_t a; int64_t b[3]; } rows[] = {{1, {1, 2, 3}}, {0, {4, 5, -6}}};
    hdst_map_spec *spec = hdst_map_spec_create(m, "f");
    hdst_error error;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, rows, 2, sizeof *rows), m, "pair"), spec)), &error),
                 HDST_E_RECORD);
    hdst_context_destroy(context);
    char path[128];
    static char text[1 << 14];
    snprintf(path, sizeof path, "%s/f.replay", folder);
    cr_assert_eq(show(path, text, sizeof text), 0, "%s", text);
    EXPECT_IN(text, "p.b = [4, 5, -6]\n");
    EXPECT_IN(text, "division by zero: the record fails here\n");
}

// --- Reduces ---

typedef struct span { int32_t first, last; double sum; } span;

// Neighbours must touch: `step` of the first record divides by 0 when they do not.
static const char reduces[] = "struct span { int32_t first, last; double sum; };\n"
                              "associative reduce join_spans(span a, span b)\n"
                              "{\n"
                              "    int32_t gap = b.first - a.last - 1;\n"
                              "    int32_t touches = gap == 0 ? 1 : 0;\n"
                              "    return (span){ a.first, b.last / touches, a.sum + b.sum };\n"
                              "}\n"
                              "reduce in_order(span a, span b) { return (span){ a.first, b.last / (b.first == a.last + 1 ? 1 : 0), a.sum + b.sum }; }\n";

// Record `gap` and all behind it are one further to the right than they should be.
static void failing_reduce(const char *device, const char *function, int gap, hdst_error *error, char *text, size_t size)
{
    enum { RECORDS = 5000 };
    static span spans[RECORDS];
    for (int i = 0; i < RECORDS; i++) spans[i] = (span){2 * i + (i >= gap), 2 * i + 1 + (i >= gap), 0.5};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.replay_dir = folder;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = module_of(context, reduces);
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_read(hdst_source_from_memory(context, spans, RECORDS, sizeof(span)), m, "span"), m, function));
    cr_assert_eq(hdst_run(r, error), HDST_E_RECORD, "%s", error->message);
    hdst_context_destroy(context);
    char path[128];
    snprintf(path, sizeof path, "%s/%s.replay", folder, function);
    EXPECT_IN(error->hint, path);
    cr_assert_eq(show(path, text, size), 0, "%s", text);
}

Test(replay, of_a_reduce_shows_the_two_records)
{
    static const char *const devices[] = {"interp", "cpu"};
    static char text[1 << 14], line[64];
    hdst_error error;
    for (size_t d = 0; d < 2; d++) {
        if (d && !have_cpu()) continue;
        failing_reduce(devices[d], "join_spans", 70, &error, text, sizeof text);
        EXPECT_IN(text, "division by zero in record 70\n");
        EXPECT_IN(text, "join_spans is called with\n  a.first = 128\n  a.last = 139\n  a.sum = 3\n  b.first = 141\n  b.last = 142\n  b.sum = 0.5\n");
        EXPECT_IN(text, "gap = 1\n");
        EXPECT_IN(text, "touches = 0\n");
        EXPECT_IN(text, "division by zero: the record fails here\n");
        // Between two runs of 64: what came of the whole run is the second record.
        failing_reduce(devices[d], "join_spans", 128, &error, text, sizeof text);
        EXPECT_IN(text, "division by zero in record 128\n");
        EXPECT_IN(text, "  a.first = 0\n  a.last = 255\n  a.sum = 64\n  b.first = 257\n  b.last = 384\n  b.sum = 32\n");
    }
    failing_reduce("interp", "in_order", 4500, &error, text, sizeof text);
    snprintf(line, sizeof line, "  a.first = 0\n  a.last = 8999\n  a.sum = %g\n  b.first = 9001\n", 4500 * 0.5);
    EXPECT_IN(text, line);
    EXPECT_IN(text, "division by zero: the record fails here\n");
}

// --- By key ---

typedef struct keyed { uint32_t key; int32_t first, last; double sum; } keyed;

static hdst_context *context_that_saves(const char *device)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.replay_dir = folder;
    return hdst_context_create(&options);
}

static void show_saved(const char *function, const hdst_error *error, char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.replay", folder, function);
    EXPECT_IN(error->hint, path);
    cr_assert_eq(show(path, text, size), 0, "%s", text);
}

// Key 7 has the records of failing_reduce, between them lie those of key 8.
static void failing_by_key(const char *device, const char *function, int gap, hdst_error *error, char *text, size_t size)
{
    enum { RECORDS = 5000 };
    static keyed rows[2 * RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        rows[2 * i] = (keyed){7, 2 * i + (i >= gap), 2 * i + 1 + (i >= gap), 0.5};
        rows[2 * i + 1] = (keyed){8, 2 * i, 2 * i + 1, 0.25};
    }
    char source[2048];
    snprintf(source, sizeof source, "struct keyed { uint32_t key; int32_t first; int32_t last; double sum; };\n%s", reduces);
    hdst_context *context = context_that_saves(device);
    hdst_module *m = module_of(context, source);
    hdst_dataset *d = hdst_read(hdst_source_from_memory(context, rows, 2 * RECORDS, sizeof *rows), m, "keyed");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(d, m, function));
    cr_assert_eq(hdst_run(r, error), HDST_E_RECORD, "%s", error->message);
    hdst_context_destroy(context);
    show_saved(function, error, text, size);
}

Test(replay, of_a_reduce_by_key_shows_the_two_records)
{
    static char text[1 << 14];
    hdst_error error;
    failing_by_key("interp", "join_spans", 70, &error, text, sizeof text);
    EXPECT_IN(text, "division by zero in the records with key = 7\n");
    EXPECT_IN(text, "join_spans is called with\n  a.first = 128\n  a.last = 139\n  a.sum = 3\n  b.first = 141\n  b.last = 142\n  b.sum = 0.5\n");
    EXPECT_IN(text, "division by zero: the record fails here\n");
    failing_by_key("interp", "join_spans", 128, &error, text, sizeof text);
    EXPECT_IN(text, "  a.first = 0\n  a.last = 255\n  a.sum = 64\n  b.first = 257\n  b.last = 384\n  b.sum = 32\n");
    failing_by_key("interp", "in_order", 4500, &error, text, sizeof text);
    EXPECT_IN(text, "  a.first = 0\n  a.last = 8999\n  a.sum = 2250\n  b.first = 9001\n");
    EXPECT_IN(text, "division by zero: the record fails here\n");
}

// The group fails on the second of two bills of user 9 on a day.
static void failing_group(const char *device, hdst_error *error, char *text, size_t size)
{
    static const struct { uint32_t user; int32_t day[2]; float amount; } bills[] = {
        {5, {0, 1}, 1}, {9, {0, 2}, 2}, {5, {0, 3}, 3}, {9, {0, 4}, 4}, {9, {0, 4}, 5}, {5, {0, 6}, 6}, {9, {0, 7}, 7}};
    hdst_context *context = context_that_saves(device);
    hdst_module *m = module_of(context,
        "struct bill { uint32_t user; int32_t day[2]; float amount; };\n"
        "struct pace { uint32_t user; int32_t most; };\n"
        "group fastest(key uint32_t user, stream bill bills, broadcast int32_t by) -> pace\n"
        "{\n"
        "    int32_t last = 0;\n"
        "    int32_t most = 0;\n"
        "    for (bill b : bills) {\n"
        "        most = max(most, by / (b.day[1] - last));\n"
        "        last = b.day[1];\n"
        "    }\n"
        "    return (pace){ user, most };\n"
        "}\n");
    hdst_value *by = hdst_value_create(m, "int32_t", 1);
    hdst_value_set(by, &(int32_t){24}, 1);
    hdst_map_spec *spec = hdst_map_spec_create(m, "fastest");
    hdst_bind_value(spec, "by", by);
    hdst_result *r = hdst_result_create(hdst_group(hdst_read(hdst_source_from_memory(context, bills, 7, sizeof *bills), m, "bill"), "user", spec));
    cr_assert_eq(hdst_run(r, error), HDST_E_RECORD, "%s", error->message);
    hdst_context_destroy(context);
    show_saved("fastest", error, text, size);
}

Test(replay, of_a_group_shows_all_its_records)
{
    static const char *const devices[] = {"interp", "cpu"};
    static char text[1 << 14];
    for (size_t d = 0; d < 2; d++) {
        hdst_error error;
        if (d && !have_cpu()) continue;
        failing_group(devices[d], &error, text, sizeof text);
        EXPECT_IN(text, "division by zero in the records with user = 9\n");
        EXPECT_IN(text, "fastest is called with\n  bills: 4 rows\n  by: 1 row\n");
        EXPECT_IN(text, "user = 9\n");
        EXPECT_IN(text, "most = 12\n");
        EXPECT_IN(text, "last = 4\n");
        EXPECT_IN(text, "division by zero: the record fails here\n");
    }
}

// --- Files that are broken ---

static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    const size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    fwrite(bytes, 1, length, file);
    fclose(file);
}

Test(replay, broken_files_are_refused_in_words)
{
    static char bytes[1 << 16], text[1 << 16];
    hdst_error error;
    char other[128];
    const size_t length = read_file(failing_run("interp", &error), bytes, sizeof bytes);
    snprintf(other, sizeof other, "%s/other", folder);
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "other");
    write_file(other, "", 0);
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "not a record saved by hdst");
    write_file(other, "\x93NUMPY", 6);
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "not a record saved by hdst");
    write_file(other, bytes, length - 1);
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "cut off");
    write_file(other, "\xdd\xff\xff\xff\xff that many items are not in this file", 39);     // so no memory is taken for them
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "cut off");
    char *version = memmem(bytes, length, "\xa7version\x01", 9);
    cr_assert_not_null(version);
    version[8] = 2;                     // of a later hdst
    write_file(other, bytes, length);
    cr_expect_eq(show(other, text, sizeof text), 6);
    EXPECT_IN(text, "version 2 of the format; this hdst reads version 1");
    version[8] = 1;
    bytes[length] = 1;
    write_file(other, bytes, length + 1);
    cr_expect_eq(show(other, text, sizeof text), 6);
}

// Whatever bytes change, it is read or refused, and never crashes.
static void change_bytes(const char *path, int times)
{
    static char bytes[1 << 16], changed[1 << 16], text[1 << 16];
    char other[128];
    const size_t length = read_file(path, bytes, sizeof bytes);
    snprintf(other, sizeof other, "%s/other", folder);
    srand(1);
    for (int i = 0; i < times; i++) {
        memcpy(changed, bytes, length);
        for (int n = rand() % 3; n >= 0; n--) changed[(size_t)rand() % length] = (char)rand();
        write_file(other, changed, length);
        const int code = show(other, text, sizeof text);
        cr_expect(code == 0 || code == 3 || code == 6, "exit code %d: %s", code, text);
    }
}

Test(replay, changed_bytes_do_no_harm)
{
    static char text[1 << 14];
    hdst_error error;
    change_bytes(failing_run("interp", &error), 60);
    failing_group("interp", &error, text, sizeof text);
    snprintf(text, sizeof text, "%s/fastest.replay", folder);
    change_bytes(text, 60);
}

// --- Texts ---

static const char line_kernel[] = "struct cut { text key, rest; int32_t n; };\n"
                                  "map cut_up(text line) -> cut\n"
                                  "{\n"
                                  "    const int64_t at = find(line, \"=\");\n"
                                  "    return (cut){ upper(line[0:at]), line[at + 1:len(line)], 7 };\n"
                                  "}\n"
                                  "filter some(cut c) { return len(c.rest) > 0; }\n"
                                  "map number(cut c, broadcast int32_t by) -> int64_t\n"
                                  "{\n"
                                  "    const text last = c.rest[len(c.rest) - 2:len(c.rest)];\n"
                                  "    return by * parse_int(last);\n"
                                  "}\n";

// Line 40,321 has a long key and ends in "7x".
static void failing_lines(const char *device, const char *path)
{
    FILE *out = fopen(path, "w");
    for (int i = 0; i < 50000; i++) {
        if (i == 40321) fprintf(out, "the key of a line that is long=and a rest \"of\" it, 7x\n");
        else fprintf(out, "key of line %d=%s %d\n", i, i % 3 ? "" : "something that does not fit a span", 10 + i % 90);
    }
    fclose(out);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.replay_dir = folder;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = hdst_module_parse(context, "lines.hk", line_kernel, NULL);
    cr_assert_eq(hdst_module_status(m, NULL), HDST_OK, "%s", hdst_module_diagnostics(m));
    hdst_value *by = hdst_value_create(m, "int32_t", 1);
    hdst_value_set(by, &(int32_t){3}, 1);
    hdst_map_spec *number = hdst_map_spec_create(m, "number");
    hdst_bind_value(number, "by", by);
    hdst_error error = HDST_ERROR_INIT;
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_dataset *cuts = hdst_map_function(hdst_read(lines, m, "text"), m, "cut_up");
    hdst_result *r = hdst_result_create(hdst_map(hdst_filter_function(cuts, m, "some"), number));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    cr_expect_str_eq(error.message, "\"7x\" is no integer in record 40,321");
    EXPECT_IN(error.hint, "number.replay");
    hdst_context_destroy(context);
}

static void expect_texts(const char *device)
{
    static char text[1 << 16];
    char lines[64], path[64];
    snprintf(lines, sizeof lines, "%s/lines.txt", folder);
    snprintf(path, sizeof path, "%s/number.replay", folder);
    failing_lines(device, lines);
    cr_assert_eq(unlink(lines), 0);
    cr_assert_eq(show(path, text, sizeof text), 0, "%s", text);
    EXPECT_IN(text, "lines.hk:11:27: \"7x\" is no integer in record 40,321");
    EXPECT_IN(text, "c.key = \"THE KEY OF A LINE THAT IS LONG\"\n");       // as it is looked at
    EXPECT_IN(text, "c.rest = \"and a rest \\\"of\\\" it, 7x\"\n");
    EXPECT_IN(text, "c.n = 7\n");
    EXPECT_IN(text, "  last = \"7x\"\n");
    EXPECT_IN(text, "the text is no number: the record fails here\n");
}

Test(replay, texts_are_in_the_file_in_the_interpreter) { expect_texts("interp"); }
Test(replay, texts_are_in_the_file_on_a_cpu)
{
    if (have_cpu()) expect_texts("cpu");
}

// A file whose texts are cut, or missing, tells so and reads nothing else.
Test(replay, texts_that_are_not_in_the_file)
{
    static char text[1 << 16];
    char lines[64], path[64];
    snprintf(lines, sizeof lines, "%s/lines.txt", folder);
    snprintf(path, sizeof path, "%s/number.replay", folder);
    failing_lines("interp", lines);
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert_eq(setjmp(out_of_memory), 0);
    hdst__replay replay;
    cr_assert_eq(hdst__replay_read(path, &arena, &replay, NULL), HDST_OK);
    cr_assert_gt(replay.text_bytes, 40);
    replay.text_bytes--;
    cr_assert_eq(hdst__replay_write(&replay, NULL, path, NULL), HDST_OK);
    cr_expect_eq(show(path, text, sizeof text), hdst_status_exit_code(HDST_E_FORMAT));
    EXPECT_IN(text, "a text of the record is not in it");
    replay.text_bytes = 0;
    cr_assert_eq(hdst__replay_write(&replay, NULL, path, NULL), HDST_OK);
    cr_expect_eq(show(path, text, sizeof text), hdst_status_exit_code(HDST_E_FORMAT));
    hdst__arena_destroy(&arena);
}
