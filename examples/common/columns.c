// SPDX-License-Identifier: Apache-2.0
// Columns that a program finds by itself (columns.h).
#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t columns_find(const hdst_source *source, const char *word, size_t length)
{
    char text[256], *end;
    if (length == 0 || length >= sizeof text) return -1;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    unsigned long index = strtoul(text, &end, 10);
    if (!*end && strspn(text, "0123456789") == length && index < hdst_source_columns(source)) return (int64_t)index;
    for (uint32_t i = 0; i < hdst_source_columns(source); i++) {
        const char *name = hdst_source_column_name(source, i);
        if (name && !strcmp(name, text)) return i;
    }
    return -1;
}

hdst_status columns_reopen(program_run *run, const char *list, hdst_error *error)
{
    const common_options *c = run->common;
    hdst_source_destroy(run->source);
    run->source = hdst_source_open_all(run->context, c->inputs.items, c->inputs.count, list);
    return hdst_source_status(run->source, error);
}

hdst_status columns_of_ratings(program_run *run, bool with_item, hdst_error *error)
{
    const uint32_t have = hdst_source_columns(run->source), wanted = with_item ? 2 : 1;
    const char *what = with_item ? "an item and a rating" : "a rating";
    if (run->common->columns && have != wanted)
        return options_misuse(error, with_item ? "--columns item,rating" : "--columns rating", "--columns chooses %" PRIu32 " columns, not those of %s", have,
                              what);
    if (have < wanted)
        return options_misuse(error, "a rating needs an item beside it", "the input has %" PRIu32 " column%s, not %s", have, have == 1 ? "" : "s", what);
    if (run->common->columns) return HDST_OK;
    char list[32];
    int64_t rating = columns_find(run->source, "rating", strlen("rating"));
    if (rating < 0) rating = have - 1;
    if (with_item) snprintf(list, sizeof list, "%d,%" PRId64, rating == 0, rating);
    else snprintf(list, sizeof list, "%" PRId64, rating);
    return columns_reopen(run, list, error);
}
