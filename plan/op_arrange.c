// SPDX-License-Identifier: Apache-2.0
// Arranged datasets: sorted by an integer key once and kept, so that reductions by the key find its records one behind the other.
#include "plan/op_cache.h"
#include "plan/op_sort.h"
#include "record/field_path.h"

#include <string.h>

typedef struct arrange_own {
    hdst__cache_own cache;          // first: the functions of caches find it
    char *key;                      // for explain
} arrange_own;

static const arrange_own *own_of(const hdst_dataset *dataset) { return dataset->own; }

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const arrange_own *own = own_of(node->dataset);
    hdst__buffer_printf(out, "arranged by %s (%s", own->key, own->cache.filled ? "sorted and kept" : "sorted by the next run, then kept");
    hdst__cache_line_starts(&own->cache, out);
    hdst__buffer_puts(out, ")");
}

static void end(hdst_dataset *dataset)
{
    hdst__free(HDST__ALLOCATOR(dataset), own_of(dataset)->key);
    hdst__cache_end(dataset);
}

const hdst__operator hdst__op_arrange = {
    .name = "hdst_arrange", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(arrange_own), .line = line, .build = hdst__cache_build,
    .run = hdst__cache_run, .known = hdst__cache_known, .below = hdst__cache_below, .key_starts = hdst__cache_key_starts,
    .end = end,
    .version = hdst__cache_version,
};

// --- The dataset ---

static hdst_status find_key(const hdst_dataset *from, const char *key, uint32_t *leaf, hdst_error *error)
{
    hdst__field_place place;
    hdst_status status = hdst__dataset_has_records(from, "hdst_arrange", error);
    if (status == HDST_OK) status = hdst__field_find_scalar(from->record, key, &place, error);
    if (status != HDST_OK) return status;
    const hdst__leaf *found = &from->record->leaves[place.leaf];
    if (hdst__kind_is_integer(found->kind) && found->elements == 1) {
        *leaf = place.leaf;
        return HDST_OK;
    }
    hdst__error_set(error, HDST_E_USAGE, "'%s' of '%s' is no integer, so no records can be arranged by it", found->path, from->record->name);
    hdst__error_hint(error, "the key is an integer field, as for hdst_reduce_dense; hdst_sort takes any");
    return HDST_E_USAGE;
}

static hdst_status fill(hdst_dataset *dataset, const char *key, uint32_t leaf, hdst_error *error)
{
    arrange_own *own = dataset->own;
    dataset->arranged = leaf + 1;
    own->key = hdst__strdup(HDST__ALLOCATOR(dataset), key);
    return own->key ? hdst__cache_nest(dataset, error) : hdst__error_memory(error, "an arranged dataset");
}

hdst_dataset *hdst_arrange(hdst_dataset *from, const char *key)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    uint32_t leaf = 0;
    hdst_error error = HDST_ERROR_INIT;
    if (!from->object.error) find_key(from, key ? key : "", &leaf, &error);
    const char *path = error.code == HDST_OK && !from->object.error ? from->record->leaves[leaf].path : "";
    const bool in_order = from->object.error || error.code != HDST_OK || hdst__sort_begins_with(from, leaf);
    hdst_dataset *sorted = in_order ? from : hdst_sort(from, path);
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_arrange, sorted);
    if (!dataset->object.error && error.code == HDST_OK) fill(dataset, path, leaf, &error);
    if (!dataset->object.error && error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
