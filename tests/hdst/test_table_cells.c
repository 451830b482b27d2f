// SPDX-License-Identifier: Apache-2.0
// A table with dates, times and empty cells through the public interface: kernels see integers and what says whether they are valid; what is saved is ISO text
// again. In the interpreter, on a CPU and with the GPU's form of kernels, from a file and from several, one of them compressed.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};
static char folder[64];

static const char schema[] = "record: trade\n"
                             "fields:\n"
                             "  - {name: day, type: date32}\n"
                             "  - {name: at, type: timestamp, unit: ms, missing: zero}\n"
                             "  - {name: price, type: float64, missing: nan}\n"
                             "  - {name: size, type: int32, valid: has_size}\n"
                             "  - {name: has_size, type: bool}\n"
                             "  - {name: note, type: text}\n";

// Days are integers, so a month's are a range.
static const char functions[] = "filter in_february(trade t) { return t.day >= 19754 && t.day < 19783; }\n"
                                "map totals(trade t, accum int64_t rows, accum int64_t sizes, accum int64_t size, accum int64_t prices, accum int64_t last)\n"
                                "{\n"
                                "    rows += 1;\n"
                                "    sizes += t.has_size ? 1 : 0;\n"
                                "    size += t.size;\n"
                                "    prices += isnan(t.price) ? 0 : 1;\n"
                                "    acc_max(last, t.at);\n"
                                "}\n";

static const char header[] = "note,size,price,at,day\n";
static const char first[] = "a,5,1.5,2024-02-01T00:00:00.250+01:00,2024-02-01\n"
                            ",,2.5,,2024-01-31\n"
                            "\"b, c\",7,,2024-02-29 23:59:59,2024-02-29\n";
static const char second[] = "\"\",,,,2024-02-02\n"
                             "a note that is longer than twelve bytes,-3,0.25,2024-02-03T04:05:06.789Z,2024-03-01\n";
// Of both, in the order of the record's fields.
static const char saved[] = "day,at,price,size,note\n"
                            "2024-02-01,2024-01-31T23:00:00.250Z,1.5,5,a\n"
                            "2024-02-29,2024-02-29T23:59:59.000Z,nan,7,\"b, c\"\n"
                            "2024-02-02,1970-01-01T00:00:00.000Z,nan,,\n";

static const char *path_of(const char *name)
{
    static char path[16][128];
    static int turn;
    snprintf(path[++turn % 16], sizeof path[0], "%s/%s", folder, name);
    return path[turn % 16];
}

static void set_up(void)
{
    strcpy(folder, "/tmp/hdst-cells-XXXXXX");
    cr_assert(mkdtemp(folder));
    FILE *one = fopen(path_of("one.csv"), "w"), *all = fopen(path_of("all.csv"), "w");
    gzFile two = gzopen(path_of("two.csv.gz"), "w");
    fprintf(one, "%s%s", header, first);
    fprintf(all, "%s%s%s", header, first, second);
    gzprintf(two, "%s%s", header, second);
    cr_assert(fclose(one) == 0 && fclose(all) == 0 && gzclose(two) == Z_OK);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(table_cells, .init = set_up, .fini = tear_down);

static int64_t total(hdst_result *result, const char *name) { return hdst_view_int64(hdst_result_field(result, name, NULL), 0, 0); }

static void expect_file(const char *path, const char *wanted)
{
    char text[1000];
    FILE *file = fopen(path, "r");
    cr_assert(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    cr_assert_str_eq(text, wanted);
}

static void check_source(hdst_module *module, hdst_source *source)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *trades = hdst_filter_function(hdst_read(source, module, "trade"), module, "in_february");
    hdst_result *result = hdst_result_create(hdst_map_function(trades, module, "totals"));
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s: %s", error.message, error.cause);
    cr_assert_eq(total(result, "rows"), 3);
    cr_assert_eq(total(result, "sizes"), 2);
    cr_assert_eq(total(result, "size"), 12);
    cr_assert_eq(total(result, "prices"), 1);
    cr_assert_eq(total(result, "last"), INT64_C(1709251199000));
    hdst_result_destroy(result);
    cr_assert_eq(hdst_save(trades, path_of("saved.csv"), &error), HDST_OK, "%s", error.message);
    expect_file(path_of("saved.csv"), saved);
    hdst_source_destroy(source);
}

static void check(const char *form)
{
    hdst_context *context = context_in_form(form);
    hdst_schema *trade = hdst_schema_parse(context, "trade.yaml", schema, HDST_NO_PARAMS);
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &trade;
    options.schema_count = 1;
    hdst_module *module = hdst_module_parse(context, "trade.hk", functions, &options);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_OK, "%s", hdst_module_diagnostics(module));
    const char *const parts[] = {path_of("one.csv"), path_of("two.csv.gz")};
    check_source(module, hdst_source_open(context, path_of("all.csv")));
    check_source(module, hdst_source_open_all(context, parts, 2, NULL));
    hdst_context_destroy(context);
}

Test(table_cells, kernels_see_integers_and_what_is_valid)
{
    for (size_t form = 0; form < 3; form++)
        if (!strcmp(forms[form], "interp") || have_cpu()) check(forms[form]);
}

static const char *const made_from_c = "b,day\n7,2024-02-29\n,1969-12-31\nN/A,1970-01-02\n-,1970-01-01\n";

Test(table_cells, schemas_made_in_c_have_dates_and_empty_cells)
{
    hdst_context *context = context_in_form("interp");
    hdst_schema *s = hdst_schema_create(context);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_schema_add_record(s, "row", HDST_AOS, 0, 0, &error), HDST_OK);
    cr_assert_eq(hdst_schema_add_time(s, "day", HDST_DAYS, 1, &error), HDST_OK);
    cr_assert_eq(hdst_schema_add_field(s, "b", HDST_UINT8, 1, &error), HDST_OK);
    cr_assert_eq(hdst_schema_set_missing(s, HDST_MISSING_ZERO, "has_b", &error), HDST_OK);
    char words[2][4] = {"N/A", "-"};
    cr_assert_eq(hdst_schema_set_null_values(s, (const char *const[]){words[0], words[1]}, 2, &error), HDST_OK);
    memset(words, 'x', sizeof words);       // they were copied
    cr_assert_eq(hdst_schema_add_field(s, "has_b", HDST_BOOL, 1, &error), HDST_OK);
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &s;
    options.schema_count = 1;
    hdst_module *module = hdst_module_parse(context, "m.hk", "filter all(row r) { return true; }\n", &options);
    FILE *file = fopen(path_of("c.csv"), "w");
    fputs(made_from_c, file);
    cr_assert_eq(fclose(file), 0);
    struct {
        int32_t day;
        uint8_t b, has_b;
    } * rows;
    uint64_t count;
    cr_assert_eq(hdst_collect(hdst_read(hdst_source_open(context, path_of("c.csv")), module, "row"), (void **)&rows, &count, &error), HDST_OK, "%s",
                 error.message);
    cr_assert(count == 4 && rows[0].day == 19782 && rows[0].b == 7 && rows[0].has_b && rows[1].day == -1 && !rows[1].b && !rows[1].has_b);
    cr_assert(rows[2].day == 1 && !rows[2].b && !rows[2].has_b && rows[3].day == 0 && !rows[3].b && !rows[3].has_b);
    hdst_rows_destroy(context, rows);
    hdst_context_destroy(context);
}

// --- Rows that are left out ---

typedef struct log_lines {
    int warnings;
    char last[600];
} log_lines;

static void note_line(hdst_log_level level, const char *message, void *user)
{
    log_lines *log = user;
    if (level != HDST_LOG_WARN) return;
    log->warnings++;
    snprintf(log->last, sizeof log->last, "%s", message);
}

static const char dirty[] = "day,b\n2024-02-29,7\n2023-02-29,8\n2024-03-01,x\n2024-03-02\n1970-01-03,5\n\"1970-01-04\"z,6\n,9\n";

static hdst_status sum_rows(const char *device, hdst_on_error on_error, int64_t *sum, uint64_t *skipped, log_lines *log, hdst_error *error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.on_error = on_error;
    options.log = note_line;
    options.log_user = log;
    hdst_context *context = hdst_context_create(&options);
    hdst_schema *s = hdst_schema_parse(context, "row.yaml", "record: row\nfields: [{name: day, type: date32}, {name: b, type: int64}]\n", HDST_NO_PARAMS);
    hdst_module_options with = HDST_MODULE_OPTIONS_INIT;
    with.schemas = &s;
    with.schema_count = 1;
    hdst_module *module = hdst_module_parse(context, "m.hk", "map add(row r, accum int64_t sum) { sum += r.b * 100000 + r.day; }\n", &with);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_read(hdst_source_open(context, path_of("d.csv")), module, "row"), module, "add"));
    hdst_status status = HDST_OK;
    for (int run = 0; run < 2 && status == HDST_OK; run++) status = hdst_run(result, error);
    *sum = status == HDST_OK ? hdst_view_int64(hdst_result_field(result, "sum", NULL), 0, 0) : 0;
    *skipped = hdst_result_stats(result).records_skipped;
    hdst_result_destroy(result);
    hdst_context_destroy(context);
    return status;
}

Test(table_cells, rows_that_do_not_parse_are_left_out_and_told_once)
{
    FILE *file = fopen(path_of("d.csv"), "w");
    fputs(dirty, file);
    cr_assert_eq(fclose(file), 0);
    for (size_t form = 0; form < 2; form++) {
        if (form && !have_cpu()) continue;
        log_lines log = {0};
        hdst_error error = HDST_ERROR_INIT;
        int64_t sum;
        uint64_t skipped;
        cr_assert_eq(sum_rows(forms[form], HDST_ON_ERROR_SKIP, &sum, &skipped, &log, &error), HDST_OK, "%s", error.message);
        cr_assert_eq(sum, 12 * 100000 + 19782 + 2);
        cr_assert_eq(skipped, 5);
        cr_assert_eq(log.warnings, 1);
        cr_assert(strstr(log.last, "d.csv:3:1: '2023-02-29' in column 'day' is in no calendar: there is no such date; 5 rows are left out"), "%s", log.last);
        cr_assert_eq(sum_rows(forms[form], HDST_ON_ERROR_FAIL, &sum, &skipped, &log, &error), HDST_E_FORMAT);
        cr_assert(error.line == 5 && hdst_status_exit_code(error.code) == 6, "%u: %s", error.line, error.message);
    }
}
