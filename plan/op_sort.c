// SPDX-License-Identifier: Apache-2.0
// Sorts by several keys (shuffle/sort/sort.h).
#include "plan/op_sort.h"
#include "plan/plan.h"
#include "plan/stage_node.h"
#include "record/field_path.h"
#include "shuffle/sort/sort.h"

#include <string.h>

typedef struct sort_own {
    hdst__sort_key *keys;
    size_t count;
    char *text;                     // as the user wrote them
} sort_own;

// --- The node ---

typedef struct sort_node {
    hdst__sort *sort;               // made at the first run
} sort_node;

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " sorted by %s", ((const sort_own *)dataset->own)->text); }

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const hdst_dataset *dataset = node->dataset;
    const sort_own *by = dataset->own;
    node->own = HDST__NEW(arena, sort_node);
    // What maps and filters give is written to where it stays at once, by all threads: dealing it as it comes, by one, would be no gain.
    const hdst__node *from = node->inputs[0];
    if (from->op == &hdst__op_stage && hdst__stage_node_gives_many(from->own) &&
        hdst__sort_takes_slices(dataset->object.context->engine, dataset->record, by->keys, by->count))
        hdst__node_consume(node);
    return HDST_OK;
}

static hdst__sort *make(hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    const sort_own *by = dataset->own;
    sort_node *own = node->own;
    if (!own->sort) own->sort = hdst__sort_create(dataset->object.context->engine, dataset->record, by->keys, by->count);
    if (!own->sort) hdst__error_memory(error, "a sort");
    return own->sort;
}

static const hdst__consumer *consumer(hdst__node *node, hdst_error *error)
{
    hdst__sort *sort = make(node, error);
    return sort ? hdst__sort_consumer(sort) : NULL;
}

static bool wants_whole(hdst__node *node, uint64_t records, hdst_error *error)
{
    (void)node, (void)records, (void)error;
    return false;
}

// What the functions in front give goes in while they run; else it is read.
static hdst_status sort_input(hdst__plan *plan, hdst__node *node, hdst__sort *sort, hdst_error *error)
{
    hdst__node *input = node->inputs[0];
    if (input->consumer == node) {
        hdst__sort_begin(sort);
        const hdst_status status = input->op->run(plan, input, error);
        return status == HDST_OK ? hdst__sort_end(sort, node->keeps, error) : status;
    }
    const void *rows = !input->resident && input->row_count == input->reader.records ? input->rows : NULL;
    return hdst__sort_run(sort, &input->reader, input->resident, rows, node->keeps, error);
}

static hdst_status run_sort(hdst__plan *plan, hdst__node *node, hdst__sort *sort, hdst_error *error)
{
    const hdst_status status = sort_input(plan, node, sort, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__sort_reader(sort);
    node->resident = hdst__sort_resident(sort);
    node->rows = hdst__sort_rows(sort);
    node->row_count = node->reader.records;
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__sort *sort = make(node, error);
    node->ran = false;
    if (!sort) return HDST_E_MEMORY;
    const hdst_status status = run_sort(plan, node, sort, error);
    hdst__plan_add_stats(&plan->stats, hdst__sort_stats(sort));
    return status;
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const sort_node *own = node->own;
    hdst__buffer_printf(out, "sort %u\n", (unsigned)node->number);
    if (own->sort) hdst__sort_explain(own->sort, out);
    else hdst__buffer_puts(out, "  how it sorts is chosen by the next run\n");
    return HDST_OK;
}

static void drop(hdst__node *node)
{
    const sort_node *own = node->own;
    if (own->sort) hdst__sort_forget(own->sort);
}

static void release(hdst__node *node)
{
    sort_node *own = node->own;
    hdst__sort_destroy(own->sort);
    own->sort = NULL;
}

static void end(hdst_dataset *dataset)
{
    const sort_own *own = dataset->own;
    hdst__free(HDST__ALLOCATOR(dataset), own->keys);
    hdst__free(HDST__ALLOCATOR(dataset), own->text);
}

const hdst__operator hdst__op_sort = {
    .name = "hdst_sort", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(sort_own), .may_stay_on_host = true, .describe = describe, .build = build,
    .run = run, .known = hdst__node_has_run, .explain = explain, .drop = drop, .release = release, .end = end,
    .consumer = consumer, .wants_whole = wants_whole,
};

// --- The keys ---

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

// --- The dataset ---

static hdst_status fill_sort(hdst_dataset *dataset, const char *keys, hdst_error *error)
{
    sort_own *own = dataset->own;
    hdst_status status = hdst__dataset_has_records(dataset, "hdst_sort", error);
    if (status != HDST_OK) return status;
    if (!keys) keys = "";
    key_reader reader = {.record = dataset->record, .allocator = HDST__ALLOCATOR(dataset), .error = error};
    status = read_keys(&reader, keys);
    own->keys = reader.keys;
    own->count = reader.count;
    if (status != HDST_OK) return status;
    own->text = hdst__strdup(HDST__ALLOCATOR(dataset), keys);
    hdst__dataset_as_structs(dataset);
    return own->text ? HDST_OK : hdst__error_memory(error, "sort keys");
}

bool hdst__sort_begins_with(const hdst_dataset *dataset, uint32_t leaf)
{
    const sort_own *own = dataset->op == &hdst__op_sort ? dataset->own : NULL;
    return own && own->count > 0 && own->keys->leaf == leaf && own->keys->element == 0 && !own->keys->descending;
}

hdst_dataset *hdst_sort(hdst_dataset *from, const char *keys)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_sort, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_sort(dataset, keys, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
