// SPDX-License-Identifier: Apache-2.0
// How often each rating was given: a count for each value that occurs.
#include "columns.h"

#include <inttypes.h>

typedef struct count {          // as in hist-ratings.hk
    double value;
    uint64_t n;
} count;

typedef struct answer {
    const count *rows;
    uint64_t values;
} answer;

static void write_json(json *j, const void *from)
{
    const answer *a = from;
    json_open(j, "bins", '[');
    for (uint64_t i = 0; i < a->values; i++) {
        json_open(j, NULL, '[');
        json_double(j, NULL, a->rows[i].value);
        json_uint(j, NULL, a->rows[i].n);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void write_text(FILE *out, const void *from)
{
    const answer *a = from;
    char text[32];
    for (uint64_t i = 0; i < a->values; i++) fprintf(out, "%24s %14" PRIu64 "\n", shortest_double(a->rows[i].value, text), a->rows[i].n);
}

// The ratings, one a record, as they are counted.
static hdst_dataset *ratings_of(program_run *run, hdst_module *module, bool lines)
{
    hdst_dataset *rows = hdst_with_layout(hdst_read(run->source, module, lines ? "text" : "rating"), program_layout(run, lines ? HDST_AOS : HDST_SOA));
    return lines ? hdst_flat_map_function(rows, module, "ratings_of_line") : hdst_map_function(rows, module, "as_key");
}

static hdst_status count_values(program_run *run, hdst_module *module, bool lines, hdst_error *error)
{
    uint64_t ratings;
    hdst_dataset *counts = hdst_sort(program_contained(run, hdst_count_by_key(ratings_of(run, module, lines), module, "count")), "value");
    if (run->common->output) counts = hdst_cache(counts);
    hdst_result *result = hdst_result_create(counts);
    answer a;
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) status = program_rows(run, &ratings, error);         // the run has counted them
    if (status == HDST_OK && ratings == 0) status = program_fail(error, HDST_E_USAGE, 0, "there is nothing to count", "the input has no rows");
    if (status == HDST_OK && run->common->output) status = hdst_save(counts, run->common->output, error);
    if (status == HDST_OK && !(a.rows = hdst_result_rows(result, NULL, &a.values))) status = hdst_result_status(result, error);
    if (status == HDST_OK) status = program_show(run, ratings, write_json, write_text, &a, error);
    hdst_result_destroy(result);
    return status;
}

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    const bool *lines = settings;
    hdst_module *module = NULL;
    hdst_status status = *lines ? HDST_OK : columns_of_ratings(run, false, error);
    if (status == HDST_OK) status = program_load(run, "hist-ratings.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) status = count_values(run, module, *lines, error);
    hdst_module_destroy(module);
    return status;
}

int main(int argc, char **argv)
{
    bool lines = false;
    common_options common;
    const option own[] = {OPTION_LINES(lines, REVIEWS_LINES), OPTION_CONTAINER(common)};
    const program_info info = {"hist-ratings", "Counts how often each rating was given. Writes each value and its count to standard output,\n"
        "and with --output to a .npy, .csv or .raw file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.lines_wanted = &lines, .work = work};
    return program_main(&info, &common, &steps, &lines, argc, argv);
}
