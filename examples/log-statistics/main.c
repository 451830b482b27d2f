// SPDX-License-Identifier: Apache-2.0
// Totals of a log: how many lines there are with each key, and the sum of a number of theirs.
#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct total {          // as in log-statistics.hk
    int64_t key;
    uint64_t count;
    double sum;
} total;

typedef struct job {
    bool raw;                       // the input is lines of a web server's log
    const char *key, *value;
    uint64_t top;
    int by;                     // 0: count; 1: sum
    hdst_module *module;
    hdst_dataset *totals;
    uint64_t lines, keys, shown;
    const total *rows;          // `shown` of them
} job;

static hdst_status check(void *from, hdst_error *error)
{
    const job *w = from;
    if (!w->key) return options_misuse(error, "--key status --value bytes", "no --key given");
    return w->value ? HDST_OK : options_misuse(error, "the column that is summed: --value bytes", "no --value given");
}

static hdst_status find_column(const program_run *run, const char *option_name, const char *word, int64_t *column, hdst_error *error)
{
    *column = columns_find(run->source, word, strlen(word));
    if (*column >= 0) return HDST_OK;
    return options_misuse(error, "a name of the header, or an index from 0", "--%s: no column '%.200s'", option_name, word);
}

static const char *const fields[] = {"host", "ident", "user", "time", "request", "status", "bytes", "referer", "agent"};      // of a line

static hdst_status find_field(const char *option_name, const char *word, int64_t *field, hdst_error *error)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!strcmp(fields[i], word)) return *field = (int64_t)i, HDST_OK;
    char *end;
    const unsigned long number = strtoul(word, &end, 10);
    *field = (int64_t)number;
    if (*word && !*end && strspn(word, "0123456789") == strlen(word) && number < UINT32_MAX) return HDST_OK;
    return options_misuse(error, "host, ident, user, time, request, status, bytes, referer, agent, or an index from 0", "--%s: no field '%.200s'", option_name,
                          word);
}

// Totals of raw lines, one of each.
static hdst_status open_lines(program_run *run, job *w, hdst_dataset **each, hdst_error *error)
{
    int64_t key, value = 0;
    hdst_status status = find_field("key", w->key, &key, error);
    if (status == HDST_OK) status = find_field("value", w->value, &value, error);
    const hdst_param params[] = {{"KEY", (double)key}, {"VALUE", (double)value}};
    if (status == HDST_OK) status = program_load(run, "log-lines.hk", params, 2, &w->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *lines = hdst_with_layout(hdst_read(run->source, w->module, "text"), program_layout(run, HDST_AOS));
    *each = hdst_flat_map_function(lines, w->module, "totals_of_line");
    return HDST_OK;
}

// Totals of rows of a table, one of each.
static hdst_status open_table(program_run *run, job *w, hdst_dataset **each, hdst_error *error)
{
    if (run->common->columns) return options_misuse(error, "leave it out", "--key and --value choose the columns, not --columns");
    int64_t key, value = 0;
    char list[64];
    hdst_status status = find_column(run, "key", w->key, &key, error);
    if (status == HDST_OK) status = find_column(run, "value", w->value, &value, error);
    if (status == HDST_OK && key == value) status = options_misuse(error, "choose two columns", "--key and --value are one column");
    snprintf(list, sizeof list, "%" PRId64 ",%" PRId64, key, value);
    if (status == HDST_OK) status = columns_reopen(run, list, error);
    if (status != HDST_OK) return status;
    status = program_load(run, "log-statistics.hk", HDST_NO_PARAMS, &w->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *entries = hdst_with_layout(hdst_read(run->source, w->module, "entry"), program_layout(run, HDST_SOA));
    *each = hdst_map_function(entries, w->module, "as_total");
    return HDST_OK;
}

static hdst_status open_job(program_run *run, job *w, hdst_error *error)
{
    hdst_dataset *each = NULL;
    const hdst_status status = (w->raw ? open_lines : open_table)(run, w, &each, error);
    if (status != HDST_OK) return status;
    w->totals = hdst_cache(program_contained(run, hdst_reduce_by_key(each, w->module, "add")));
    return HDST_OK;
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "keys", w->keys);
    json_open(j, "top", '[');
    for (uint64_t i = 0; i < w->shown; i++) {
        json_open(j, NULL, '{');
        json_int(j, "key", w->rows[i].key);
        json_uint(j, "count", w->rows[i].count);
        json_double(j, "sum", w->rows[i].sum);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    char text[32];
    fprintf(out, "%20s %14s %24s\n", "key", "count", "sum");
    for (uint64_t i = 0; i < w->shown; i++)
        fprintf(out, "%20" PRId64 " %14" PRIu64 " %24s\n", w->rows[i].key, w->rows[i].count, shortest_double(w->rows[i].sum, text));
    fprintf(out, "%" PRIu64 " key%s\n", w->keys, w->keys == 1 ? "" : "s");
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_status status = open_job(run, w, error);
    hdst_result *top = NULL;
    if (status == HDST_OK) {
        top = hdst_result_create(hdst_slice(hdst_sort(w->totals, w->by ? "sum desc, key" : "count desc, key"), 0, w->top));
        status = program_run_result(run, top, NULL, error);
    }
    if (status == HDST_OK) status = program_rows(run, &w->lines, error);        // the run has counted them
    if (status == HDST_OK && w->lines == 0) status = program_fail(error, HDST_E_USAGE, 0, "there is nothing to total", "the input has no rows");
    if (status == HDST_OK && !(w->rows = hdst_result_rows(top, NULL, &w->shown))) status = hdst_result_status(top, error);
    if (status == HDST_OK) status = hdst_count(w->totals, &w->keys, error);
    if (status == HDST_OK && run->common->output) status = hdst_save(hdst_sort(w->totals, "key"), run->common->output, error);
    if (status == HDST_OK) status = program_show(run, w->lines, write_json, write_text, w, error);
    hdst_result_destroy(top);
    hdst_module_destroy(w->module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.top = 10};
    common_options common;
    const option own[] = {
        OPTION_LINES(w.raw, "the input is raw lines of a web server's log, whose fields --key and --value name"),
        {"key", OPTION_TEXT, &w.key, "COLUMN", "the column of whole numbers that lines are totalled by, by name or index", true},
        {"value", OPTION_TEXT, &w.value, "COLUMN", "the column that is summed", true},
        {"top", OPTION_COUNT, &w.top, "N", "how many keys are shown (10)", true, NULL, 1, UINT64_MAX},
        {"by", OPTION_WORD, &w.by, "count|sum", "which keys are shown first: those of most lines, or of the largest sum", true},
        OPTION_CONTAINER(common),
    };
    const program_info info = {"log-statistics",
                               "Totals the lines of a log for each key: their number, and the sum of a column. Writes the first keys to standard output,\n"
                               "and with --output all of them to a .npy, .csv or .raw file.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.lines_wanted = &w.raw, .check = check, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
