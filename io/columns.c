// SPDX-License-Identifier: Apache-2.0
// Reads a list of column names, indices and ranges.
#include "io/columns.h"

#include "base/diag.h"

#include <stdio.h>
#include <string.h>

typedef struct choice {
    const hdst__allocator *allocator;
    const char *file;
    const char *const *names;
    size_t available;
    size_t *chosen;
    size_t count;
    bool *taken;            // by column
    hdst_error *error;
} choice;

// A part of the list without the blanks around it.
static const char *next_part(const char **list, size_t *length)
{
    const char *start = *list, *end = start + strcspn(start, ",");
    *list = *end ? end + 1 : NULL;
    while (start < end && (*start == ' ' || *start == '\t')) start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *length = (size_t)(end - start);
    return start;
}

static size_t read_index(const char *text, size_t length, size_t *value)
{
    size_t used = 0;
    for (*value = 0; used < length && text[used] >= '0' && text[used] <= '9'; used++)
        if (*value <= HDST__MAX_COLUMNS) *value = *value * 10 + (size_t)(text[used] - '0');
    return used;
}

static bool read_range(const char *text, size_t length, size_t *first, size_t *last)
{
    size_t used = read_index(text, length, first);
    *last = *first;
    if (used == 0 || used == length) return used > 0;
    if (text[used] != '-') return false;
    size_t rest = length - used - 1;
    return rest > 0 && read_index(text + used + 1, rest, last) == rest;
}

bool hdst__columns_has_names(const char *list)
{
    while (list) {
        size_t length, first, last;
        const char *part = next_part(&list, &length);
        if (!read_range(part, length, &first, &last)) return true;
    }
    return false;
}

static hdst_status refuse(const choice *c, const char *what, const char *part, size_t length)
{
    hdst__error_set(c->error, HDST_E_USAGE, "%s '%.*s'", what, (int)(length < 200 ? length : 200), part);
    hdst__error_at(c->error, c->file, 0, 0);
    hdst__error_hint(c->error, "columns are names or indices from 0 to %zu, as in \"0,2-4\"", c->available ? c->available - 1 : 0);
    return HDST_E_USAGE;
}

static hdst_status unknown_name(const choice *c, const char *part, size_t length)
{
    if (!c->names) {
        refuse(c, "there are no column names, so there is no column", part, length);
        return HDST_E_USAGE;
    }
    refuse(c, "there is no column", part, length);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(length < 127 ? length : 127), part);
    hdst__error_suggest(c->error, "the columns are", name, c->names, c->available);
    return HDST_E_USAGE;
}

static hdst_status add(choice *c, size_t column, const char *part, size_t length)
{
    if (c->taken[column]) return refuse(c, "a column is chosen twice, again by", part, length);
    c->taken[column] = true;
    c->chosen[c->count++] = column;
    return HDST_OK;
}

static hdst_status add_named(choice *c, const char *part, size_t length)
{
    size_t found = c->available;
    for (size_t i = 0; c->names && i < c->available; i++) {
        if (!c->names[i] || strlen(c->names[i]) != length || memcmp(c->names[i], part, length)) continue;
        if (found < c->available) {
            refuse(c, "several columns have the name", part, length);
            hdst__error_hint(c->error, "columns %zu and %zu have it: choose by index", found, i);
            return HDST_E_USAGE;
        }
        found = i;
    }
    return found < c->available ? add(c, found, part, length) : unknown_name(c, part, length);
}

static hdst_status add_part(choice *c, const char *part, size_t length)
{
    size_t first, last;
    if (length == 0) return refuse(c, "the choice of columns has an empty part in", part, length);
    bool is_range = read_range(part, length, &first, &last);
    // "2020" may be the name of a column where there is no column number 2020.
    if (!is_range || (c->names && first == last && first >= c->available)) return add_named(c, part, length);
    if (last >= c->available || last < first) return refuse(c, last < first ? "this range of columns runs backwards:" : "there is no column", part, length);
    for (size_t i = first; i <= last; i++) {
        hdst_status status = add(c, i, part, length);
        if (status != HDST_OK) return status;
    }
    return HDST_OK;
}

hdst_status hdst__columns_choose(const hdst__allocator *allocator, const char *file, const char *list, const char *const *names, size_t available,
                                 size_t **chosen, size_t *count, hdst_error *error)
{
    choice c = {.allocator = allocator, .file = file, .names = names, .available = available, .error = error};
    c.chosen = hdst__alloc(allocator, available * sizeof *c.chosen);     // no column twice, so no more than there are
    c.taken = hdst__alloc_zero(allocator, available);
    hdst_status status = c.chosen && c.taken ? HDST_OK : hdst__error_memory(error, "a choice of columns");
    while (status == HDST_OK && list) {
        size_t length;
        const char *part = next_part(&list, &length);
        status = add_part(&c, part, length);
    }
    hdst__free(allocator, c.taken);
    if (status != HDST_OK) {
        hdst__free(allocator, c.chosen);
        return status;
    }
    *chosen = c.chosen;
    *count = c.count;
    return HDST_OK;
}

size_t hdst__element_name(const hdst__leaf *leaf, uint64_t element, char *name, size_t size)
{
    size_t length = (size_t)snprintf(name, size, "%s", leaf->path);
    uint64_t below = leaf->elements;
    for (uint32_t d = 0; d < leaf->dims; d++) {
        below /= leaf->dim[d].count;
        size_t used = length < size ? length : size;
        length += (size_t)snprintf(name + used, size - used, "[%llu]", (unsigned long long)(element / below % leaf->dim[d].count));
    }
    return length;
}
