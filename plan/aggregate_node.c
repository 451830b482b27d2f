// SPDX-License-Identifier: Apache-2.0
// The node of reductions by key (plan/aggregate_node.h).
#include "plan/aggregate_node.h"

#include "plan/keyed_records.h"
#include "plan/stage_node.h"
#include "shuffle/aggregate/aggregation_layout.h"

// --- The key ---

// Whether the leaves of the key, or all, can be hashed.
static hdst_status check_leaves(hdst__arena *arena, const hdst__record *record, const char *what, bool all, hdst_error *error)
{
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, record->leaf_count), count = (uint32_t)record->leaf_count;
    for (uint32_t i = 0; i < count; i++) leaves[i] = i;
    if (!all) count = hdst__key_leaves(record, leaves);
    if (count == 0) {
        hdst__error_set(error, HDST_E_USAGE, "%s needs records with a key; '%s' has none", what, record->name);
        hdst__error_hint(error, "let a map give '-> (key uint32_t k, ...)', or call a field 'key'");
        return HDST_E_USAGE;
    }
    uint32_t leaf;
    const char *why = hdst__aggregation_layout_why_not(record, leaves, count, &leaf);
    if (!why) return HDST_OK;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "%s cannot tell records of '%s' apart by '%s': %s", what, record->name, record->leaves[leaf].path, why);
}

hdst_status hdst__aggregate_check_key(const hdst_dataset *parent, const char *what, bool all, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, HDST__ALLOCATOR(parent), &out_of_memory);
    const hdst_status status = setjmp(out_of_memory) ? hdst__error_memory(error, "an operator") : check_leaves(&arena, parent->record, what, all, error);
    hdst__arena_destroy(&arena);
    return status;
}

static void set_container(hdst_dataset *dataset, hdst_container container)
{
    ((hdst__aggregate_own *)dataset->own)->container = (hdst__container)container;
}

const hdst__container_rule hdst__aggregate_containers = {
    .allowed = 1u << HDST_CONTAINER_AUTO | 1u << HDST_CONTAINER_TABLE | 1u << HDST_CONTAINER_PARTS | 1u << HDST_CONTAINER_SORTED, .set = set_container,
    .why = "it has no declared range of keys", .hint = "hdst_reduce_dense takes keys from 0 to n - 1",
};

// --- Making ---

typedef struct aggregate_node {
    hdst__by_partition parts;
    bool keeps_partial;             // the state of its keys, too
    hdst__text_heap *texts;         // of the keys in its rows, which may have gone on to other nodes; NULL: keys have none
} aggregate_node;

void hdst__aggregate_node_make(hdst__arena *arena, hdst__node *node, const hdst__aggregate_spec *spec, bool by_parts)
{
    hdst__aggregate_spec *copy = HDST__NEW(arena, hdst__aggregate_spec);
    aggregate_node *own = HDST__NEW(arena, aggregate_node);
    *copy = *spec;
    own->parts.spec = copy;
    node->own = own;
    hdst__node_consume(node);
    if (by_parts) hdst__by_partition_make(arena, node, &own->parts);
}

const hdst__aggregate *hdst__aggregate_node_of(const hdst__node *node) { return ((const aggregate_node *)node->own)->parts.aggregate; }

// --- Running ---

static void forget_rows(hdst__node *node)
{
    node->rows = NULL;
    node->resident = NULL;
    node->row_count = 0;
    node->part_counts = NULL;
    node->ran = false;
}

static hdst__aggregate *make(hdst__node *node, hdst_error *error)
{
    aggregate_node *own = node->own;
    if (hdst__by_partition_create(node, &own->parts, error) != HDST_OK) return NULL;
    if (own->keeps_partial) hdst__aggregate_keep_state(own->parts.aggregate);
    hdst__aggregate_keys_below(own->parts.aggregate, node->keys_below);
    return own->parts.aggregate;
}

const hdst__aggregate_spec *hdst__aggregate_node_keyed(const hdst__node *node)
{
    if (node->op->run != hdst__aggregate_node_run) return NULL;
    const hdst__by_partition *parts = &((const aggregate_node *)node->own)->parts;
    return parts->partition ? NULL : parts->spec;
}

bool hdst__aggregate_node_has_rows(const hdst__node *node)
{
    const hdst__aggregate_spec *spec = hdst__aggregate_node_keyed(node);
    return spec && spec->key_leaves[0] == 0 && node->ran && hdst__aggregate_has_rows(hdst__aggregate_node_of(node));
}

void hdst__aggregate_node_keep_partial(hdst__node *node) { ((aggregate_node *)node->own)->keeps_partial = true; }

bool hdst__aggregate_node_wants_whole(hdst__node *node, uint64_t records, hdst_error *error)
{
    hdst__aggregate *aggregate = make(node, error);
    return aggregate && hdst__aggregate_wants_whole(aggregate, records);
}

const hdst__consumer *hdst__aggregate_node_consumer(hdst__node *node, hdst_error *error)
{
    hdst__aggregate *aggregate = make(node, error);
    return aggregate ? hdst__aggregate_consumer(aggregate) : NULL;
}

// Rows were given that may refer to the reduction's texts. The first heap of a run of parts holds those of the others.
static hdst_status hold_texts(aggregate_node *own, hdst_error *error)
{
    hdst__text_heap *texts = own->parts.aggregate ? hdst__aggregate_texts(own->parts.aggregate) : NULL;
    if (!own->texts) own->texts = hdst__text_heap_hold(texts);
    return !texts || hdst__text_heap_holds(own->texts, texts) ? HDST_OK : hdst__error_memory(error, "the texts of a reduce by key");
}

static void drop_texts(hdst__node *node)
{
    aggregate_node *own = node->own;
    hdst__text_heap_drop(own->texts);
    own->texts = NULL;
}

// What the maps in front give goes in while they run; else it is read. Which of both may have been found out just before they run for the first time.
static hdst_status run_whole(hdst__plan *plan, hdst__node *node, hdst__aggregate *aggregate, hdst_error *error)
{
    hdst__node *from = node->inputs[0];
    hdst_status status = from->consumer == node ? from->op->run(plan, from, error) : HDST_OK;
    if (status == HDST_OK && from->consumer == node) {
        status = hdst__aggregate_end(aggregate, &node->rows, &node->row_count, error);
    } else if (status == HDST_OK) {
        const hdst__aggregate_input input = {&from->reader, from->resident, from->resident ? NULL : from->rows, hdst__node_version(from)};
        status = hdst__aggregate_run(aggregate, &input, &node->rows, &node->row_count, error);
    }
    hdst__plan_add_stats(&plan->stats, hdst__aggregate_stats(aggregate));
    return status;
}

static hdst_status run_part(hdst__node *node, const hdst__reader *part, uint64_t first, hdst__run_stats *stats, hdst_error *error)
{
    hdst__by_partition *parts = &((aggregate_node *)node->own)->parts;
    const hdst__node *from = node->inputs[0];
    const hdst__aggregate_input input = {part, NULL, from->resident || !from->rows ? NULL : (const char *)from->rows + first * from->dataset->record->size};
    const void *rows;
    uint64_t count;
    hdst_status status = hdst__aggregate_run(parts->aggregate, &input, &rows, &count, error);
    hdst__plan_add_stats(stats, hdst__aggregate_stats(parts->aggregate));
    if (status == HDST_OK) status = hold_texts(node->own, error);
    return status == HDST_OK ? hdst__by_partition_add(parts, rows, count, error) : status;
}

hdst_status hdst__aggregate_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__by_partition *parts = &((aggregate_node *)node->own)->parts;
    forget_rows(node);
    drop_texts(node);
    hdst_status status = make(node, error) ? HDST_OK : HDST_E_MEMORY;
    if (status == HDST_OK)
        status = parts->partition ? hdst__by_partition_run(node, parts, run_part, &plan->stats, error)
            : run_whole(plan, node, parts->aggregate, error);
    if (status == HDST_OK) status = hold_texts(node->own, error);
    if (status != HDST_OK) {
        forget_rows(node);
        return status;
    }
    node->ran = true;
    node->texts = hdst__text_heap_hold(((const aggregate_node *)node->own)->texts);
    node->resident = hdst__aggregate_resident(parts->aggregate);
    node->reader = node->resident ? *hdst__dataset_cache_own_reader(node->resident) : hdst__node_rows_reader(node, node->dataset->record);
    return HDST_OK;
}

// --- Explaining and ending ---

hdst_status hdst__aggregate_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const hdst__by_partition *parts = &((const aggregate_node *)node->own)->parts;
    hdst__buffer_printf(out, "by key %u\n", (unsigned)node->number);
    if (parts->partition) hdst__buffer_printf(out, "    each of the parts of %u by itself; of the last one:\n", (unsigned)parts->partition->number);
    if (parts->aggregate) hdst__aggregate_explain(parts->aggregate, out);
    else hdst__buffer_puts(out, "  the container is chosen by the next run\n");
    return HDST_OK;
}

void hdst__aggregate_node_drop(hdst__node *node)
{
    hdst__by_partition *parts = &((aggregate_node *)node->own)->parts;
    hdst__by_partition_drop(node, parts);
    if (parts->aggregate && !node->table_count) hdst__aggregate_forget(parts->aggregate);
}

void hdst__aggregate_node_release(hdst__node *node)
{
    hdst__by_partition *parts = &((aggregate_node *)node->own)->parts;
    forget_rows(node);
    drop_texts(node);
    hdst__aggregate_destroy(parts->aggregate);
    parts->aggregate = NULL;
    hdst__by_partition_drop(node, parts);
}
