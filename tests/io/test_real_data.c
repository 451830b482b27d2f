// SPDX-License-Identifier: Apache-2.0
// Published data sets, whose facts are known from elsewhere. Needs HDST_TEST_DATA, the name of a folder that holds them, and gunzip.
#include "tests/io/helper.h"

TestSuite(real_data, .init = set_up, .fini = tear_down);

static const char *data_file(const char *name)
{
    const char *data = getenv("HDST_TEST_DATA");
    if (!data || !*data) {
        tear_down();        // a skipped test does not come to it
        cr_skip_test("HDST_TEST_DATA is not set");
    }
    const char *dot = strrchr(name, '.');
    const char *path = hdst__arena_printf(&arena, "%s/%s", data, name);
    if (strcmp(dot, ".gz")) return path;
    const char *slash = strrchr(name, '/');
    const char *plain = hdst__arena_printf(&arena, "%s/%.*s", folder, (int)(dot - slash - 1), slash + 1);
    cr_assert_eq(system(hdst__arena_printf(&arena, "gunzip -c '%s' >'%s'", path, plain)), 0);
    return plain;
}

static const double *read_doubles(const char *name, const char *columns, uint64_t width, uint64_t rows)
{
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, data_file(name), columns, NULL, error));
    hdst__bound_source *bound;
    hdst__record *record = array_record(HDST__F64, width);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__source_count(source, NULL, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(source->rows, rows, "%s: %llu rows", name, (unsigned long long)source->rows);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK, "%s", error.message);
    const char *got = fill_layout(bound, record, rows, 100000, 0, &error);
    cr_assert(got, "%s", error.message);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    return (const double *)got;
}

static uint64_t count_equal(const double *rows, uint64_t count, uint64_t width, uint64_t column, double value)
{
    uint64_t equal = 0;
    for (uint64_t i = 0; i < count; i++) equal += rows[i * width + column] == value;
    return equal;
}

// 150 flowers; the means of the four measures were published by Fisher (1936) as 5.006, 3.428, 1.462, 0.246 for the first 50.
Test(real_data, iris)
{
    const double *rows = read_doubles("small/iris.csv", "0-3", 4, 150);
    const double means[] = {5.006, 3.428, 1.462, 0.246};
    for (int c = 0; c < 4; c++) {
        double sum = 0;
        for (int i = 0; i < 50; i++) sum += rows[4 * i + c];
        cr_assert_float_eq(sum / 50, means[c], 1e-12);
    }
}

Test(real_data, skin_is_separated_by_tabs_with_crlf)
{
    const double *rows = read_doubles("points/Skin_NonSkin.txt.gz", NULL, 4, 245057);
    cr_assert_eq(count_equal(rows, 245057, 4, 3, 1), 50859);
    cr_assert_eq(count_equal(rows, 245057, 4, 3, 2), 194198);
}

Test(real_data, pulsars_have_a_header)
{
    const double *rows = read_doubles("points/HTRU_2.csv.gz", NULL, 9, 17898);
    cr_assert_eq(count_equal(rows, 17898, 9, 8, 1), 1639);
    cr_assert_eq(count_equal(rows, 17898, 9, 8, 0), 16259);
}

Test(real_data, cities_have_a_text_column_that_is_not_chosen)
{
    const double *rows = read_doubles("points/geonames-cities-latlng.csv.gz", "0,1", 2, 171075);
    for (int i = 0; i < 171075; i++) cr_assert(rows[2 * i] >= -180 && rows[2 * i] <= 180 && rows[2 * i + 1] >= -90 && rows[2 * i + 1] <= 90);
}
