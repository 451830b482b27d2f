// SPDX-License-Identifier: Apache-2.0
// A Bloom filter of the records of a file, and whether the records of others are in it.
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BITS_MOST (UINT64_C(1) << 32)

typedef struct job {
    uint64_t bits, hashes;      // bits 0: not given
    text_list lookups;
    const char *found_path;
    uint32_t columns;
    uint64_t inserted, set_bits, looked_up, found;
    hdst_module *module;
    hdst_value *bits_value;
    hdst_result *filter, *answers;
} job;

static hdst_status check(void *from, hdst_error *error)
{
    const job *w = from;
    if (w->found_path && w->lookups.count == 0) return options_misuse(error, "--lookup others.csv", "--found needs --lookup");
    return HDST_OK;
}

static hdst_status open_job(program_run *run, job *w, hdst_error *error)
{
    w->columns = hdst_source_columns(run->source);
    const hdst_param params[] = {{"D", w->columns}, {"HASHES", (int64_t)w->hashes}};
    hdst_status status = program_load(run, "bloom-filter.hk", params, 2, &w->module, error);
    if (status == HDST_OK) status = program_records(run, w->module, "key", &w->inserted, error);
    if (status != HDST_OK) return status;
    if (w->inserted == 0) return program_fail(error, HDST_E_USAGE, 0, "there is nothing to insert", "the input has no rows");
    if (w->bits == 0) w->bits = w->inserted < BITS_MOST / 10 ? 10 * w->inserted : BITS_MOST;
    w->bits_value = hdst_value_create(w->module, "uint64_t", 1);
    return hdst_value_set(w->bits_value, &w->bits, 1) == HDST_OK ? HDST_OK : hdst_value_status(w->bits_value, error);
}

static hdst_dataset *keys(const program_run *run, const job *w, hdst_source *source)
{
    return hdst_with_layout(hdst_read(source, w->module, "key"), program_layout(run, HDST_SOA));
}

static hdst_status insert(program_run *run, job *w, hdst_error *error)
{
    const uint64_t words = (w->bits + 63) / 64;
    hdst_map_spec *spec = hdst_map_spec_create(w->module, "insert");
    hdst_bind_value(spec, "bits", w->bits_value);
    hdst_bind_accum(spec, "filter", words);
    w->filter = hdst_result_create(hdst_map(keys(run, w, run->source), spec));
    hdst_map_spec_destroy(spec);
    hdst_status status = program_run_result(run, w->filter, NULL, error);
    const uint64_t *table = status == HDST_OK ? hdst_result_rows(w->filter, "filter", NULL) : NULL;
    for (uint64_t i = 0; table && i < words; i++) w->set_bits += (uint64_t)__builtin_popcountll(table[i]);
    if (status == HDST_OK && run->common->output) status = hdst_view_save(hdst_result_field(w->filter, "filter", NULL), run->common->output, error);
    return status;
}

// Reads the same columns of the files of --lookup.
static hdst_status look_up(program_run *run, job *w, hdst_error *error)
{
    hdst_source *source = hdst_source_open_all(run->context, w->lookups.items, w->lookups.count, run->common->columns);
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK && hdst_source_columns(source) != w->columns)
        status = program_fail(error, HDST_E_USAGE, 0, "choose the same ones with --columns", "--lookup has %" PRIu32 " columns, --input %" PRIu32,
                              hdst_source_columns(source), w->columns);
    hdst_value *table = hdst_value_create(w->module, "uint64_t", 1);
    if (status == HDST_OK) status = hdst_value_set_result(table, w->filter, "filter", error);
    if (status == HDST_OK) {
        hdst_map_spec *spec = hdst_map_spec_create(w->module, "look_up");
        hdst_bind_value(spec, "bits", w->bits_value);
        hdst_bind_value(spec, "filter", table);
        w->answers = hdst_result_create(hdst_map(keys(run, w, source), spec));
        hdst_map_spec_destroy(spec);
        status = program_run_result(run, w->answers, NULL, error);
    }
    hdst_value_destroy(table);
    hdst_source_destroy(source);
    const uint8_t *found = status == HDST_OK ? hdst_result_rows(w->answers, NULL, NULL) : NULL;
    if (status == HDST_OK) w->looked_up = hdst_result_field(w->answers, NULL, NULL).rows;       // less those that --on-error skip leaves out
    for (uint64_t i = 0; found && i < w->looked_up; i++) w->found += found[i];
    if (status == HDST_OK && w->found_path) status = hdst_view_save(hdst_result_field(w->answers, NULL, NULL), w->found_path, error);
    return status;
}

// Of a key that was not inserted: all its bits are set.
static double false_positive_rate(const job *w) { return pow((double)w->set_bits / (double)w->bits, (double)w->hashes); }

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "inserted", w->inserted);
    json_uint(j, "set_bits", w->set_bits);
    json_double(j, "false_positive_rate", false_positive_rate(w));
    json_uint(j, "bits", w->bits);
    json_uint(j, "hashes", w->hashes);
    if (w->lookups.count == 0) return;
    json_uint(j, "looked_up", w->looked_up);
    json_uint(j, "found", w->found);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " records inserted set %" PRIu64 " of %" PRIu64 " bits; false positive rate %.3g\n", w->inserted, w->set_bits, w->bits,
            false_positive_rate(w));
    if (w->lookups.count) fprintf(out, "%" PRIu64 " of %" PRIu64 " records found\n", w->found, w->looked_up);
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_status status = open_job(run, w, error);
    if (status == HDST_OK) status = insert(run, w, error);
    if (status == HDST_OK && w->lookups.count) status = look_up(run, w, error);
    if (status == HDST_OK) status = program_show(run, w->inserted, write_json, write_text, w, error);
    hdst_result_destroy(w->filter);
    hdst_result_destroy(w->answers);
    hdst_value_destroy(w->bits_value);
    hdst_module_destroy(w->module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.hashes = 7};
    const char **lookups = calloc(argc > 0 ? (size_t)argc : 1, sizeof *lookups);
    w.lookups.items = lookups;
    common_options common;
    const option own[] = {
        {"bits", OPTION_COUNT, &w.bits, "M", "bits of the filter (10 for each record)", true, NULL, 1, BITS_MOST},
        {"hashes", OPTION_COUNT, &w.hashes, "K", "bits that each record sets (7)", true, NULL, 1, 64},
        {"lookup", OPTION_TEXTS, &w.lookups, "PATH", "records to look up in the filter; may be repeated", true},
        {"found", OPTION_TEXT, &w.found_path, "FILE", "write 1 or 0 for each of them, as uint8 numbers in a .npy file", true},
    };
    const program_info info = {"bloom-filter", "Inserts all records in a Bloom filter. Writes how full it is and how often it errs to standard output,\n"
        "and with --output the filter as uint64 numbers in a .npy file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    const int code = program_main(&info, &common, &steps, &w, argc, argv);
    free(lookups);
    return code;
}
