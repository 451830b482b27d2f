// SPDX-License-Identifier: Apache-2.0
// Sorts rows by columns.
#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 64, PIECE_BYTES = 8 << 20 };

typedef struct job {
    common_options common;
    text_list keys;             // --key; none: all columns in order
    bool descending;
    columns columns;
    uint32_t key[MOST_KEYS];
    size_t key_count;
    char *text;                 // the keys as hdst_sort reads them
    hdst_module *module;
    uint64_t records;
    bool sorted;                // every row was compared with the one before
} job;

// --- Keys ---

static hdst_status add_key(const program_run *run, job *w, const char *word, hdst_error *error)
{
    const int64_t found = columns_find(run, &w->columns, word);
    if (found < 0) return options_misuse(error, "a name of the header, or an index from 0", "--key: no column '%.200s'", word);
    if (w->key_count == MOST_KEYS) return options_misuse(error, "fewer keys", "--key: more than %d keys", MOST_KEYS);
    w->key[w->key_count++] = (uint32_t)found;
    return HDST_OK;
}

static hdst_status add_list(const program_run *run, job *w, const char *list, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (bool more = true; more && status == HDST_OK;) {
        char word[256];
        const size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), list);
        status = add_key(run, w, word, error);
        more = list[length] != 0;
        list += length + more;
    }
    return status;
}

static hdst_status read_keys(const program_run *run, job *w, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < w->keys.count && status == HDST_OK; i++) status = add_list(run, w, w->keys.items[i], error);
    for (uint32_t i = 0; w->keys.count == 0 && i < w->columns.count && i < MOST_KEYS; i++) w->key[w->key_count++] = i;
    w->text = calloc(w->key_count + 1, sizeof w->columns.column->name + 16);
    if (!w->text) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the keys");
    for (size_t i = 0; i < w->key_count; i++) {
        if (i) strcat(w->text, ", ");
        strcat(w->text, w->columns.column[w->key[i]].name);
        if (w->descending) strcat(w->text, " desc");
    }
    return status;
}

// --- Whether it is sorted ---

static bool in_order(const job *w, const char *a, const char *b)
{
    for (size_t i = 0; i < w->key_count; i++) {
        const int order = columns_compare(&w->columns.column[w->key[i]], a, b);
        if (order) return w->descending ? order > 0 : order < 0;
    }
    return true;
}

// Each piece begins with the last row of the one before.
static hdst_status look_at_order(job *w, hdst_dataset *sorted, hdst_error *error)
{
    const uint64_t bytes = w->columns.row_bytes, each = PIECE_BYTES / bytes + 2;
    char *rows = malloc(each * bytes);
    if (!rows) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: rows to look at");
    hdst_status status = HDST_OK;
    w->sorted = true;
    for (uint64_t first = 0; first < w->records && status == HDST_OK; first += each - 1) {
        const uint64_t count = w->records - first < each ? w->records - first : each;
        status = hdst_dataset_take(sorted, first, count, rows, error);
        for (uint64_t i = 1; i < count && status == HDST_OK; i++) w->sorted &= in_order(w, rows + (i - 1) * bytes, rows + i * bytes);
    }
    free(rows);
    return status;
}

// --- The program ---

static void write_json(json *j, const void *user)
{
    const job *w = user;
    json_uint(j, "records", w->records);
    json_bool(j, "sorted", w->sorted);
}

static void write_text(FILE *out, const void *user)
{
    const job *w = user;
    fprintf(out, "%" PRIu64 " rows %s\n", w->records, w->sorted ? "sorted" : "NOT sorted");
}

static hdst_status sort(program_run *run, job *w, hdst_error *error)
{
    hdst_dataset *rows = hdst_with_layout(hdst_read(run->source, w->module, "row"), program_layout(run, HDST_AOS));
    hdst_dataset *sorted = hdst_cache(hdst_sort(rows, w->text));        // once, for all that follows
    hdst_result *r = hdst_result_create(hdst_slice(sorted, 0, 1));
    hdst_status status = program_run_result(run, r, NULL, error);
    if (status == HDST_OK) status = hdst_count(sorted, &w->records, error);
    if (status == HDST_OK) status = look_at_order(w, sorted, error);
    if (status == HDST_OK && w->common.output) status = hdst_save(sorted, w->common.output, error);
    if (status == HDST_OK) status = program_show(run, w->records, write_json, write_text, w, error);
    hdst_result_destroy(r);
    return status;
}

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    job *w = settings;
    hdst_status status = columns_open(run, &w->columns, &w->module, error);
    if (status == HDST_OK) status = read_keys(run, w, error);
    if (status == HDST_OK) status = sort(run, w, error);
    hdst_module_destroy(w->module);
    columns_free(&w->columns);
    free(w->text);
    return status;
}

int main(int argc, char **argv)
{
    job w = {0};
    const char **keys = calloc(argc > 0 ? (size_t)argc : 1, sizeof *keys);
    if (!keys) return hdst_status_exit_code(HDST_E_MEMORY);
    w.keys.items = keys;
    const option own[] = {
        {"key", OPTION_TEXTS, &w.keys, "COLUMN", "to sort by: a name or an index from 0; a list, or repeated: the weightiest first; all without it", true},
        {"descending", OPTION_FLAG, &w.descending, NULL, "the largest first", true}};
    const program_info program = {
        "sort", "Sorts rows by columns; rows that are equal there stay in their order. With --output the rows are written to a .npy or .csv file.", own,
        sizeof own / sizeof *own};
    const program_steps steps = {.work = work};
    const int code = program_main(&program, &w.common, &steps, &w, argc, argv);
    free(keys);
    return code;
}
