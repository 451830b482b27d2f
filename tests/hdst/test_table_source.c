// SPDX-License-Identifier: Apache-2.0
// Tables with columns of texts through the public interface: read from .csv, plain and compressed, aggregated by a text, filtered, saved and read again; in the
// interpreter and on a CPU, with plenty of memory and little. What is expected is computed from what the table was made of.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 60000, CITIES = 150 };
static char folder[64];
static char city[CITIES][80];
static int64_t total[CITIES], large[CITIES], many;      // of each city's rows; of those of more than 900; how many these are

static const char *path_of(const char *name)
{
    static char path[4][128];
    static int turn;
    snprintf(path[++turn % 4], sizeof path[0], "%s/%s", folder, name);
    return path[turn % 4];
}

// Short names and long ones, with what needs quotes.
static void name_cities(void)
{
    for (int i = 0; i < CITIES; i++)
        snprintf(city[i], sizeof city[i], i % 3 ? "City %d" : "a place, called \"%d\",\n a name of more than twelve bytes", i);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/hdst-table-XXXXXX");
    cr_assert(mkdtemp(folder));
    name_cities();
    FILE *file = fopen(path_of("sales.csv"), "w");
    fputs("id,city,remark,amount\n", file);
    for (int i = 0; i < ROWS; i++) {
        const int c = (int)((uint32_t)i * 2654435761u >> 16) % CITIES, amount = i * 7 % 1000;
        fprintf(file, "%d,%s", i, c % 3 ? "" : "\"");
        for (const char *p = city[c]; *p; p++) fprintf(file, *p == '"' ? "\"\"" : "%c", *p);
        fprintf(file, "%s,remark number %d,%d\n", c % 3 ? "" : "\"", i, amount);
        total[c] += amount;
        large[c] += amount > 900 ? amount : 0;
        many += amount > 900;
    }
    cr_assert_eq(fclose(file), 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(table_source, .init = set_up, .fini = tear_down);

static const char functions[] =
    "struct sale { text city; int64_t amount; text remark; };\n"
    "map by_city(sale s) -> (key text city, int64_t amount) { return (s.city, s.amount); }\n"
    "reduce add(int64_t a, int64_t b) { return a + b; }\n"
    "filter large(sale s) { return s.amount > 900; }\n";

static hdst_context *open_with(const char *device, uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = memory;
    return hdst_context_create(&options);
}

static void expect_totals(hdst_result *result, const int64_t *wanted)
{
    const hdst_view cities = hdst_result_field(result, NULL, "city"), amounts = hdst_result_field(result, NULL, "amount");
    bool seen[CITIES] = {false};
    cr_assert_eq(cities.rows, CITIES, "%llu cities", (unsigned long long)cities.rows);
    for (uint64_t i = 0; i < cities.rows; i++) {
        const hdst_text name = hdst_view_text(cities, i, 0);
        int c = 0;
        while (c < CITIES && (name.length != strlen(city[c]) || memcmp(name.data, city[c], name.length))) c++;
        cr_assert(c < CITIES && !seen[c], "'%.*s'", (int)name.length, name.data);
        seen[c] = true;
        cr_assert_eq(hdst_view_int64(amounts, i, 0), wanted[c], "%s", city[c]);
    }
}

static void check_totals(hdst_module *module, hdst_source *source, const int64_t *wanted)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_map_function(hdst_read(source, module, "sale"), module, "by_city"), module, "add"));
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s: %s", error.message, error.cause);
    expect_totals(result, wanted);
    hdst_result_destroy(result);
    hdst_source_destroy(source);
}

static void check(const char *device, uint64_t memory)
{
    static const char *const saved[] = {"large.csv", "large.tsv"};
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_with(device, memory);
    hdst_module *module = module_of(context, functions);
    hdst_source *source = hdst_source_open(context, path_of("sales.csv"));
    for (int i = 0; i < 2; i++) {
        hdst_dataset *data = hdst_filter_function(hdst_read(source, module, "sale"), module, "large");
        cr_assert_eq(hdst_save(data, path_of(saved[i]), &error), HDST_OK, "%s", error.message);
        hdst_source *again = hdst_source_open(context, path_of(saved[i]));
        cr_assert_eq(hdst_source_rows(again), many);
        check_totals(module, again, large);
    }
    hdst_source_destroy(source);
    check_totals(module, hdst_source_open(context, path_of("sales.csv")), total);
    check_totals(module, hdst_source_open_columns(context, path_of("sales.csv"), "1,3,2"), total);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(table_source, sums_by_a_column_of_texts)
{
    check("interp", 0);
    check("interp", 24 << 20);
    if (!has_cpu()) return;
    check("cpu", 0);
    check("cpu", 48 << 20);
}

Test(table_source, compressed_tables)
{
    char command[300];
    hdst_context *context = open_with("interp", 0);
    hdst_module *module = module_of(context, functions);
    snprintf(command, sizeof command, "cd '%s' && gzip -k sales.csv && xz -k1 sales.csv", folder);
    cr_assert_eq(system(command), 0);
    check_totals(module, hdst_source_open(context, path_of("sales.csv.gz")), total);
    check_totals(module, hdst_source_open(context, path_of("sales.csv.xz")), total);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}
