// SPDX-License-Identifier: Apache-2.0
// A histogram of the average ratings of items.
#include "bins.h"
#include "columns.h"

#include <inttypes.h>

typedef struct job {
    bool lines;
    const char *range_text;
    bins bins;
    hdst_module *module;
    hdst_dataset *averages, *rows;      // of each item; as rows of one number
    uint64_t ratings, items;
    bins_counts counts;
} job;

static hdst_status check(void *from, hdst_error *error)
{
    job *w = from;
    return bins_read_range(&w->bins, w->range_text, error);
}

// A total for each rating.
static hdst_dataset *totals_of(program_run *run, const job *w)
{
    const bool lines = w->lines;
    hdst_dataset *rows = hdst_with_layout(hdst_read(run->source, w->module, lines ? "text" : "rated"), program_layout(run, lines ? HDST_AOS : HDST_SOA));
    return lines ? hdst_flat_map_function(rows, w->module, "totals_of_line") : hdst_map_function(rows, w->module, "as_total");
}

static hdst_status open_job(program_run *run, job *w, hdst_error *error)
{
    hdst_status status = w->lines ? HDST_OK : columns_of_ratings(run, true, error);
    if (status != HDST_OK) return status;
    const hdst_param d = {"D", 1};
    status = program_load(run, "hist-movies.hk", &d, 1, &w->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *totals = program_contained(run, hdst_reduce_by_key(totals_of(run, w), w->module, "add"));
    w->averages = hdst_cache(hdst_map_function(totals, w->module, "find_average"));
    w->rows = hdst_map_function(w->averages, w->module, "as_row");
    return HDST_OK;
}

// The averages, in one pass over the input, which counts its rows.
static hdst_status find_averages(program_run *run, job *w, hdst_error *error)
{
    hdst_status status = hdst_count(w->averages, &w->items, error);
    if (status == HDST_OK) status = program_rows(run, &w->ratings, error);
    if (status != HDST_OK || w->ratings) return status;
    return program_fail(error, HDST_E_USAGE, 0, "there is nothing to average", "the input has no rows");
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    bins_write_json(j, &w->counts);
    json_uint(j, "items", w->items);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    bins_write_text(out, &w->counts);
    fprintf(out, "%" PRIu64 " items\n", w->items);
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_result *counted = NULL;
    hdst_status status = open_job(run, w, error);
    if (status == HDST_OK) status = find_averages(run, w, error);
    if (status == HDST_OK) status = bins_count(run, &w->bins, w->rows, w->module, 1, &counted, &w->counts, error);
    if (status == HDST_OK && run->common->output) status = hdst_save(hdst_sort(w->averages, "item"), run->common->output, error);
    if (status == HDST_OK) status = program_show(run, w->ratings, write_json, write_text, w, error);
    hdst_result_destroy(counted);
    hdst_module_destroy(w->module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.bins.count = 10};
    common_options common;
    const option own[] = {
        {"bins", OPTION_COUNT, &w.bins.count, "N", "how many bins (10)", true, NULL, 1, BINS_MOST},
        {"range", OPTION_TEXT, &w.range_text, "LOW,HIGH", "where the first bin begins and the last one ends (the smallest and the largest average)", true},
        OPTION_LINES(w.lines, REVIEWS_LINES),
        OPTION_CONTAINER(common),
    };
    const program_info info = {"hist-movies", "Counts items by their average rating. Writes each bin's lower edge and its count to standard output,\n"
        "and with --output each item, its average and its number of ratings to a .npy, .csv or .raw file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.lines_wanted = &w.lines, .check = check, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
