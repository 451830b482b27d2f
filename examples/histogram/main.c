// SPDX-License-Identifier: Apache-2.0
// Histograms: how many numbers of each column lie in each bin.
#include "bins.h"
#include "numbers.h"

#include <inttypes.h>
#include <math.h>

typedef struct job {
    const char *range_text;
    uint64_t bin_count;         // 0: not given
    bins bins;
    uint32_t columns;
    bool bytes;                 // all columns are bytes, and each value is a bin
    hdst_module *module;
    hdst_result *counted;
} job;

static hdst_status check(void *from, hdst_error *error)
{
    job *w = from;
    return bins_read_range(&w->bins, w->range_text, error);
}

static bool all_bytes(const program_run *run, uint32_t columns)
{
    hdst_type type;
    for (uint32_t i = 0; i < columns; i++)
        if (!hdst_source_column_type(run->source, i, &type) || type != HDST_UINT8) return false;
    return true;
}

// Bins as they were asked for; of bytes, unless a range is given, over all values that a byte has.
static hdst_status open_job(program_run *run, job *w, hdst_error *error)
{
    w->columns = hdst_source_columns(run->source);
    const bool bytes = all_bytes(run, w->columns);
    if (bytes && !w->bins.chosen) w->bins.low = 0, w->bins.high = 256, w->bins.chosen = true;
    w->bins.count = w->bin_count ? w->bin_count : bytes ? 256 : 10;
    w->bytes = bytes && w->bins.low == 0 && w->bins.high == 256 && w->bins.count == 256;
    if (w->bins.count * w->columns > BINS_MOST)
        return program_fail(error, HDST_E_USAGE, 0, "fewer --bins, or fewer --columns", "%" PRIu64 " bins of %" PRIu32 " columns; there may be %d in all", w->bins.count,
                            w->columns, BINS_MOST);
    if (hdst_source_rows(run->source) == 0) return program_fail(error, HDST_E_USAGE, 0, "there is nothing to count", "the input has no rows");
    const hdst_param d = {"D", w->columns};
    return program_load(run, "histogram.hk", &d, 1, &w->module, error);
}

static hdst_status find_range(program_run *run, job *w, hdst_dataset *rows, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(rows, w->module, "find_extremes"));
    hdst_status status = program_run_result(run, r, NULL, error);
    double low = INFINITY, high = -INFINITY;
    if (status == HDST_OK) {
        numbers_copy(r, "e", "low", &low, 1);
        numbers_copy(r, "e", "high", &high, 1);
        if (low > high) status = program_fail(error, HDST_E_RECORD, 0, "choose bins with --range LOW,HIGH", "no number of the input is finite");
    }
    hdst_result_destroy(r);
    return status == HDST_OK ? bins_settle(&w->bins, low, high, error) : status;
}

static hdst_status count(program_run *run, job *w, hdst_dataset *rows, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(w->module, w->bytes ? "count_bytes" : "count");
    hdst_value *range = w->bytes ? NULL : hdst_value_create(w->module, "range", 1);
    if (range) {
        hdst_value_set(range, &w->bins, 1);         // its first three numbers
        hdst_bind_value(spec, "r", range);
    }
    hdst_bind_accum(spec, "t", w->bins.count + 3);
    w->counted = hdst_result_create(hdst_map(rows, spec));
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(range);
    return program_run_result(run, w->counted, NULL, error);
}

static void write_json(json *j, const void *from) { bins_write_json(j, from); }
static void write_text(FILE *out, const void *from) { bins_write_text(out, from); }

static hdst_status show(program_run *run, const job *w, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (run->common->output) {
        hdst_view view = hdst_result_field(w->counted, "t", "n");
        view.rows = w->bins.count;
        status = hdst_view_save(view, run->common->output, error);
    }
    const bins_counts counts = {&w->bins, hdst_result_rows(w->counted, "t", NULL), w->columns};
    return status == HDST_OK ? program_show(run, hdst_source_rows(run->source), write_json, write_text, &counts, error) : status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_status status = open_job(run, w, error);
    if (status == HDST_OK) {
        hdst_dataset *rows = hdst_read(run->source, w->module, w->bytes ? "pixel" : "row");
        rows = hdst_with_layout(rows, program_layout(run, w->bytes ? HDST_AOS : HDST_SOA));
        if (w->bins.chosen) status = bins_settle(&w->bins, 0, 0, error);
        else status = find_range(run, w, rows = hdst_cache(rows), error);
        if (status == HDST_OK) status = count(run, w, rows, error);
    }
    if (status == HDST_OK) status = show(run, w, error);
    hdst_result_destroy(w->counted);
    hdst_module_destroy(w->module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {0};
    common_options common;
    const option own[] = {
        {"bins", OPTION_COUNT, &w.bin_count, "N", "how many bins (10; of bytes 256, one per value)", true, NULL, 1, BINS_MOST},
        {"range", OPTION_TEXT, &w.range_text, "LOW,HIGH", "where the first bin begins and the last one ends (the smallest and the largest number)", true},
    };
    const program_info info = {"histogram", "Counts the numbers of each column by bins of equal width. Writes each bin's lower edge and its counts\n"
        "to standard output, and with --output the counts as uint64 numbers in a .npy file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
