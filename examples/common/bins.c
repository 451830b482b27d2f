// SPDX-License-Identifier: Apache-2.0
// Bins of equal width over a range of numbers, for histograms (bins.h).
#include "bins.h"

#include "numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool read_number(const char *text, char end, double *value, const char **rest)
{
    char *after;
    *value = strtod(text, &after);
    *rest = after + (*after != 0);
    return after != text && *after == end && isfinite(*value);
}

hdst_status bins_read_range(bins *b, const char *text, hdst_error *error)
{
    if (!text) return HDST_OK;
    const char *rest;
    if (!read_number(text, ',', &b->low, &rest) || !read_number(rest, 0, &b->high, &rest))
        return options_misuse(error, "two numbers: --range 0,100 or --range=-1.5,1.5", "--range: not LOW,HIGH: '%.200s'", text);
    if (b->low >= b->high) return options_misuse(error, "the first number is the lower one: --range 0,100", "--range: %.100s does not rise", text);
    b->chosen = true;
    return HDST_OK;
}

// Sets the range, that of the data unless it was chosen, and the width. Data of one value get half a unit on each side.
static hdst_status settle(bins *b, double low, double high, hdst_error *error)
{
    if (!b->chosen) b->low = low < high ? low : low - 0.5, b->high = low < high ? high : high + 0.5;
    b->width = (b->high - b->low) / (double)b->count;
    const double largest = fmax(fabs(b->low), fabs(b->high));
    if (!isfinite(b->width)) return options_misuse(error, "choose a smaller one: --range LOW,HIGH", "the range from %g to %g is too wide", b->low, b->high);
    if (b->width >= 4 * (nextafter(largest, INFINITY) - largest)) return HDST_OK;       // so that a place by division is at most one off
    return options_misuse(error, "fewer --bins, or a wider --range", "%" PRIu64 " bins from %.17g to %.17g are narrower than double can tell apart", b->count,
                          b->low, b->high);
}

double bins_edge(const bins *b, uint64_t k)
{
    volatile double from_low = (double)k * b->width;    // volatile: no compiler makes one operation of two
    return from_low + b->low;
}

// --- Counting ---

static hdst_status find_range(program_run *run, bins *b, hdst_dataset *rows, hdst_module *module, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(rows, module, "find_extremes"));
    hdst_status status = program_run_result(run, r, NULL, error);
    double low = INFINITY, high = -INFINITY;
    if (status == HDST_OK) {
        numbers_copy(r, "e", "low", &low, 1);
        numbers_copy(r, "e", "high", &high, 1);
        if (low > high) status = program_fail(error, HDST_E_RECORD, 0, "choose bins with --range LOW,HIGH", "no number of the input is finite");
    }
    hdst_result_destroy(r);
    return status == HDST_OK ? settle(b, low, high, error) : status;
}

hdst_status bins_count(program_run *run, bins *b, hdst_dataset *rows, hdst_module *module, uint32_t columns, hdst_result **result, bins_counts *counts,
                       hdst_error *error)
{
    hdst_status status = b->chosen ? settle(b, 0, 0, error) : find_range(run, b, rows, module, error);
    if (status != HDST_OK) return status;
    hdst_map_spec *spec = hdst_map_spec_create(module, "count");
    hdst_value *range = hdst_value_create(module, "range", 1);
    hdst_value_set(range, b, 1);        // its first three numbers
    hdst_bind_value(spec, "r", range);
    hdst_bind_accum(spec, "t", b->count + 3);
    *result = hdst_result_create(hdst_map(rows, spec));
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(range);
    status = program_run_result(run, *result, NULL, error);
    if (status == HDST_OK) *counts = (bins_counts){b, hdst_result_rows(*result, "t", NULL), columns};
    return status;
}

// --- Showing ---

enum { OUTSIDE = 3 };
static const char *const outside[OUTSIDE] = {"below", "above", "nan"};

void bins_write_json(json *j, const bins_counts *c)
{
    json_open(j, "bins", '[');
    for (uint64_t k = 0; k < c->of->count; k++) {
        json_open(j, NULL, '[');
        json_double(j, NULL, bins_edge(c->of, k));
        for (uint32_t i = 0; i < c->columns; i++) json_uint(j, NULL, c->n[k * c->columns + i]);
        json_close(j, ']');
    }
    json_close(j, ']');
    for (uint64_t o = 0; o < OUTSIDE; o++) {
        json_open(j, outside[o], '[');
        for (uint32_t i = 0; i < c->columns; i++) json_uint(j, NULL, c->n[(c->of->count + o) * c->columns + i]);
        json_close(j, ']');
    }
}

static uint64_t write_row(FILE *out, const char *name, const uint64_t *n, uint32_t columns)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < columns; i++) all += n[i];
    if (!out) return all;
    fprintf(out, "%24s", name);
    for (uint32_t i = 0; i < columns; i++) fprintf(out, " %14" PRIu64, n[i]);
    fputc('\n', out);
    return all;
}

void bins_write_text(FILE *out, const bins_counts *c)
{
    char text[32];
    for (uint64_t k = 0; k < c->of->count; k++) write_row(out, shortest_double(bins_edge(c->of, k), text), c->n + k * c->columns, c->columns);
    for (uint64_t o = 0; o < OUTSIDE; o++) {
        const uint64_t *n = c->n + (c->of->count + o) * c->columns;
        if (write_row(NULL, "", n, c->columns)) write_row(out, outside[o], n, c->columns);
    }
}
