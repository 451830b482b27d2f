// SPDX-License-Identifier: Apache-2.0
// Sorting: what the text of the keys means for a record.
#include "plan/dataset.h"

#include <string.h>

enum { MOST_KEYS = 4096 };

typedef struct key_reader {
    const hdst__record *record;
    const hdst__allocator *allocator;
    hdst__sort_key *keys;
    size_t count;
    hdst_error *error;
} key_reader;

static hdst_status add_keys(key_reader *r, const hdst__field_place *place, bool descending)
{
    const hdst__leaf *leaf = &r->record->leaves[place->leaf];
    if (leaf->kind == HDST__TEXT) {
        hdst__error_set(r->error, HDST_E_UNSUPPORTED, "hdst_sort by '%s' is not available yet: it is a text", leaf->path);
        hdst__error_hint(r->error, "keys are numbers, bools, and arrays of them");
        return HDST_E_UNSUPPORTED;
    }
    if (place->elements > MOST_KEYS - r->count) return hdst__error_set(r->error, HDST_E_UNSUPPORTED, "hdst_sort by more than %d numbers", MOST_KEYS);
    hdst__sort_key *grown = hdst__realloc(r->allocator, r->keys, (r->count + place->elements) * sizeof *grown);
    if (!grown) return hdst__error_memory(r->error, "sort keys");
    r->keys = grown;
    for (uint64_t e = 0; e < place->elements; e++) r->keys[r->count++] = (hdst__sort_key){place->leaf, descending, place->element + e};
    return HDST_OK;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Whether the text up to *end ends in the word, which is then cut off.
static bool cut_word(const char *start, const char **end, const char *word)
{
    const size_t length = strlen(word);
    const char *at = *end - length;
    if (*end - start <= (ptrdiff_t)length || memcmp(at, word, length) || !is_space(at[-1])) return false;
    *end = at;
    return true;
}

static const char *cut_space(const char *start, const char *end)
{
    while (end > start && is_space(end[-1])) end--;
    return end;
}

// One key: a field's path and perhaps a direction.
static hdst_status read_key(key_reader *r, const char *start, const char *end)
{
    hdst__field_place place;
    while (start < end && is_space(*start)) start++;
    end = cut_space(start, end);
    const bool descending = cut_word(start, &end, "desc") || cut_word(start, &end, "descending");
    if (!descending && !cut_word(start, &end, "asc")) cut_word(start, &end, "ascending");
    end = cut_space(start, end);
    const size_t length = (size_t)(end - start);
    if (memchr(start, ' ', length)) {
        hdst__error_set(r->error, HDST_E_USAGE, "'%.*s' is no sort key", (int)(length < 60 ? length : 60), start);
        hdst__error_hint(r->error, "a key is a field, perhaps with asc or desc behind it: \"price desc, name, size[2]\"");
        return HDST_E_USAGE;
    }
    hdst_status status = hdst__field_find_part(r->record, start, length, &place, r->error);
    return status == HDST_OK ? add_keys(r, &place, descending) : status;
}

static hdst_status read_keys(key_reader *r, const char *text)
{
    for (;; text++) {
        const char *end = text + strcspn(text, ",");
        hdst_status status = read_key(r, text, end);
        if (status != HDST_OK || !*end) return status;
        text = end;
    }
}

static hdst_status fill_sort(hdst_dataset *dataset, const char *keys, hdst_error *error)
{
    hdst_status status = hdst__dataset_has_records(dataset, "hdst_sort", error);
    if (status != HDST_OK) return status;
    if (!keys) keys = "";
    key_reader reader = {.record = dataset->record, .allocator = HDST__ALLOCATOR(dataset), .error = error};
    status = read_keys(&reader, keys);
    dataset->sort_keys = reader.keys;
    dataset->sort_key_count = reader.count;
    if (status != HDST_OK) return status;
    dataset->sort_text = hdst__strdup(HDST__ALLOCATOR(dataset), keys);
    dataset->layout = HDST__AOS;
    dataset->block = 0;
    return dataset->sort_text ? HDST_OK : hdst__error_memory(error, "sort keys");
}

hdst_dataset *hdst_sort(hdst_dataset *from, const char *keys)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_SORT, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_sort(dataset, keys, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
