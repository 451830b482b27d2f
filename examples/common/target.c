// SPDX-License-Identifier: Apache-2.0
// The option --target COLUMN (target.h).
#include "target.h"

#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

hdst_status target_is_given(const char *target, hdst_error *error)
{
    return target ? HDST_OK : options_misuse(error, "--target y, or its index from 0; the other chosen columns are the predictors", "no --target given");
}

// One entry of --columns: a column, or a range of indices. false: neither.
static bool find_range(const hdst_source *source, const char *word, size_t length, int64_t *first, int64_t *last)
{
    *first = *last = columns_find(source, word, length);
    if (*first >= 0) return true;
    const char *dash = memchr(word, '-', length);
    if (!dash) return false;
    *first = columns_find(source, word, (size_t)(dash - word));
    *last = columns_find(source, dash + 1, length - (size_t)(dash + 1 - word));
    return *first >= 0 && *last >= *first;
}

static hdst_status write_range(const hdst_source *source, const char *entry, size_t length, int64_t target, FILE *list, uint32_t *count, hdst_error *error)
{
    int64_t first, last;
    if (!find_range(source, entry, length, &first, &last))
        return options_misuse(error, "columns are names, indices from 0 and ranges of indices: x,y or 0,3-5", "--columns: no column '%.*s'", (int)length,
                              entry);
    for (int64_t i = first; i <= last; i++) {
        if (i == target) continue;
        fprintf(list, "%" PRId64 ",", i);
        ++*count;
    }
    return HDST_OK;
}

// All as indices: "0,2,3,1" for target 1.
static hdst_status write_list(const hdst_source *source, const char *columns, const char *word, FILE *list, hdst_error *error)
{
    char all[32];
    uint32_t count = 0;
    int64_t target = columns_find(source, word, strlen(word));
    if (target < 0) return options_misuse(error, "a name of the header, or an index from 0", "--target: no column '%.200s'", word);
    snprintf(all, sizeof all, "0-%" PRIu32, hdst_source_columns(source) - 1);
    for (const char *entry = columns ? columns : all; ; entry++) {
        size_t length = strcspn(entry, ",");
        hdst_status status = write_range(source, entry, length, target, list, &count, error);
        if (status != HDST_OK) return status;
        entry += length;
        if (!*entry) break;
    }
    fprintf(list, "%" PRId64, target);
    return count ? HDST_OK : options_misuse(error, "choose at least one other column with --columns", "no column is left to predict '%.200s' from", word);
}

hdst_status target_open(program_run *run, const char *target, hdst_error *error)
{
    const common_options *c = run->common;
    hdst_source *probe = c->columns ? hdst_source_open(run->context, c->inputs.items[0]) : run->source;     // names and indices are the file's
    hdst_status status = hdst_source_status(probe, error);
    char *text = NULL;
    size_t size = 0;
    FILE *list = status == HDST_OK ? open_memstream(&text, &size) : NULL;
    if (status == HDST_OK && !list) status = program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the list of columns");
    if (list) {
        status = write_list(probe, c->columns, target, list, error);
        if (fclose(list) != 0 && status == HDST_OK) status = program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the list of columns");
    }
    if (probe != run->source) hdst_source_destroy(probe);
    if (status == HDST_OK) status = columns_reopen(run, text, error);
    free(text);
    return status;
}
