// SPDX-License-Identifier: Apache-2.0
// Histograms: how many numbers of each column lie in each bin.
#include "bins.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    const char *range_text;
    uint64_t bin_count;         // 0: not given
    bins bins;
    uint32_t columns;
    uint64_t records;
    bool bytes;                 // all columns are bytes, and each value is a bin
    hdst_module *module;
    hdst_result *counted;
    uint64_t *by_value;         // of bytes
    bins_counts counts;
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
        return program_fail(error, HDST_E_USAGE, 0, "fewer --bins, or fewer --columns", "%" PRIu64 " bins of %" PRIu32 " columns; there may be %d in all",
                            w->bins.count, w->columns, BINS_MOST);
    const hdst_param d = {"D", w->columns};
    hdst_status status = program_load(run, "histogram.hk", &d, 1, &w->module, error);
    if (status == HDST_OK) status = program_records(run, w->module, w->bytes ? "pixel" : "row", &w->records, error);
    if (status == HDST_OK && w->records == 0) return program_fail(error, HDST_E_USAGE, 0, "there is nothing to count", "the input has no rows");
    return status;
}

// The kernel has a row of 256 for each column; bins are rows.
static hdst_status count_bytes(program_run *run, job *w, hdst_dataset *rows, hdst_error *error)
{
    w->counted = hdst_result_create(hdst_map_function(rows, w->module, "count_bytes"));
    hdst_status status = program_run_result(run, w->counted, NULL, error);
    const uint64_t *n = status == HDST_OK ? hdst_result_rows(w->counted, "t", NULL) : NULL;
    if (status != HDST_OK) return status;
    w->by_value = calloc((256 + 3) * (size_t)w->columns, sizeof *w->by_value);
    if (!w->by_value) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the table of counts");
    for (uint32_t i = 0; i < w->columns; i++)
        for (uint32_t value = 0; value < 256; value++) w->by_value[value * w->columns + i] = n[i * 256 + value];
    w->bins.width = 1;
    w->counts = (bins_counts){&w->bins, w->by_value, w->columns};
    return HDST_OK;
}

static void write_json(json *j, const void *from) { bins_write_json(j, from); }
static void write_text(FILE *out, const void *from) { bins_write_text(out, from); }

static hdst_status show(program_run *run, const job *w, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (run->common->output) {
        const hdst_view view = {w->counts.n, w->columns * sizeof *w->counts.n, w->bins.count, w->columns, HDST_UINT64};
        status = hdst_view_save(view, run->common->output, error);
    }
    return status == HDST_OK ? program_show(run, w->records, write_json, write_text, &w->counts, error) : status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_status status = open_job(run, w, error);
    if (status == HDST_OK) {
        hdst_dataset *rows = hdst_read(run->source, w->module, w->bytes ? "pixel" : "row");
        rows = hdst_with_layout(rows, program_layout(run, w->bytes ? HDST_AOS : HDST_SOA));
        if (w->bytes) status = count_bytes(run, w, rows, error);
        else status = bins_count(run, &w->bins, w->bins.chosen ? rows : hdst_cache(rows), w->module, w->columns, &w->counted, &w->counts, error);
    }
    if (status == HDST_OK) status = show(run, w, error);
    hdst_result_destroy(w->counted);
    hdst_module_destroy(w->module);
    free(w->by_value);
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
