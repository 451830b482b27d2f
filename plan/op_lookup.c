// SPDX-License-Identifier: Apache-2.0
// The tables of lookup parameters that are read by key: a node that makes a frozen hash table of the records they are bound to, before the function runs.
// Rows of the table are the key and what t[k] gives (codegen/front/check_lookup.c). The table stays for the next run where its records do.
#include "plan/frozen_node.h"
#include "plan/lookup_tables.h"

#include <inttypes.h>
#include <string.h>

typedef struct lookup_node {
    hdst__frozen_node frozen;
    const hdst__bound_lookup *lookup;
    const hdst__bytes_move *moves;
    size_t move_count;
    hdst__text_heap *texts;         // what texts of the table refer to
} lookup_node;

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    lookup_node *own = node->own;           // made with the node
    const hdst__record *keyed = own->lookup->parameter->keyed;
    hdst__bytes_move *moves;
    own->move_count = hdst__bound_lookup_moves(arena, own->lookup, &moves);
    own->moves = moves;
    size_t count = 0;
    for (size_t i = 0; i < own->lookup->key_count; i++) count += keyed->leaves[i].elements;
    hdst__key_field *fields = HDST__NEW_ARRAY(arena, hdst__key_field, count);
    for (size_t i = 0, at = 0; i < own->lookup->key_count; i++)
        for (uint64_t e = 0; e < keyed->leaves[i].elements; e++)
            fields[at++] = (hdst__key_field){hdst__leaf_offset(&keyed->leaves[i], e), keyed->leaves[i].kind};
    own->frozen.spec = (hdst__frozen_spec){.step = keyed->size, .key = hdst__key_fields_of(fields, count), .form = HDST__FROZEN_ONLY};
    return HDST_OK;
}

static void drop(hdst__node *node)
{
    lookup_node *own = node->own;
    hdst__frozen_node_drop(node);
    hdst__text_heap_drop(own->texts);
    own->texts = NULL;
}

// --- Rows ---

static hdst_status convert(const hdst__node *node, const void *records, uint64_t count, void **rows, hdst_error *error)
{
    const lookup_node *own = node->own;
    hdst__engine *engine = node->dataset->object.context->engine;
    const uint64_t step = own->lookup->parameter->keyed->size;
    *rows = hdst__budget_alloc_zero(hdst__engine_memory(engine), HDST__OWNER_SORTS, count * step + 1, "rows of a lookup", error);
    if (!*rows) return HDST_E_MEMORY;
    const hdst__rows_to_move move = {own->moves, own->move_count, records, *rows, count, own->lookup->records->record->size, step};
    hdst__bytes_move_rows(hdst__engine_threads(engine), &move);
    return HDST_OK;
}

static hdst_status keep_texts(const hdst__node *node, hdst_error *error)
{
    lookup_node *own = node->own;
    const hdst__record *keyed = own->lookup->parameter->keyed;
    if (!keyed->has_text) return HDST_OK;
    hdst__text_writer writer = {.heap = own->texts = hdst__text_heap_create(hdst__engine_runtime(node->dataset->object.context->engine), HDST__OWNER_SORTS)};
    if (!writer.heap) return hdst__error_memory(error, "texts of a lookup");
    return hdst__text_keep_rows(&writer, keyed, own->frozen.table.slots, own->frozen.table.slot_count, error);
}

// --- A run ---

static hdst_status tell_twice(const lookup_node *own, const char *records, hdst_error *error)
{
    const hdst__bound_lookup *lookup = own->lookup;
    const uint64_t *twice = own->frozen.table.twice;
    char key[200];
    hdst__fields_describe(lookup->records->record, lookup->key, lookup->key_count, records + twice[1] * lookup->records->record->size, key, sizeof key);
    hdst__error_set(error, HDST_E_RECORD, "lookup '%s' has a key twice, %s, in records %" PRIu64 " and %" PRIu64 " of its dataset", lookup->parameter->name,
                    key, twice[0], twice[1]);
    hdst__error_hint(error, "hdst_reduce_by_key or hdst_group makes one record of those with one key; a join pairs with each");
    error->record = twice[1];
    return HDST_E_RECORD;
}

static hdst_status make_table(hdst__node *node, const void *records, uint64_t count, hdst_error *error)
{
    const lookup_node *own = node->own;
    hdst__engine *engine = node->dataset->object.context->engine;
    void *rows = NULL;
    bool twice = false;
    hdst_status status = own->move_count ? convert(node, records, count, &rows, error) : HDST_OK;
    if (status == HDST_OK) status = hdst__frozen_node_make(node, own->move_count ? rows : records, count, &twice, error);
    if (rows) hdst__free(hdst__budget_owned(hdst__engine_memory(engine), HDST__OWNER_SORTS), rows);
    if (twice) return tell_twice(own, records, error);
    return status == HDST_OK ? keep_texts(node, error) : status;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error) { return hdst__frozen_node_run(plan, node, make_table, error); }

// --- What people see ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const hdst__bound_lookup *lookup = ((const lookup_node *)node->own)->lookup;
    hdst__node_describe_inputs(node, out);
    hdst__buffer_puts(out, " -> hash table by ");
    for (size_t i = 0; i < lookup->key_count; i++)
        hdst__buffer_printf(out, "%s%s", i ? ", " : "", lookup->records->record->leaves[lookup->key[i].leaf].path);
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const hdst__bound_lookup *lookup = ((const lookup_node *)node->own)->lookup;
    hdst__buffer_printf(out, "hash table %u: what '%s' of %s looks up\n", (unsigned)node->number, lookup->parameter->name,
                        node->dataset->spec->function->name);
    hdst__frozen_node_explain(node, out);
    return HDST_OK;
}

const hdst__operator hdst__op_lookup_table = {
    .name = "a hash table of a lookup", .gives = HDST__GIVES_OTHERS, .line = line, .build = build, .run = run, .known = hdst__node_has_run,
    .explain = explain, .drop = drop, .release = drop,
};

// --- In plans ---

void hdst__lookup_table_init(hdst__arena *arena, hdst__node *table, const hdst__bound_lookup *lookup)
{
    lookup_node *own = HDST__NEW(arena, lookup_node);
    own->lookup = lookup;
    table->own = own;
}

static const char displacements[] = " displacements";       // codegen/lower/frozen_slot.c

const hdst__plan_rows *hdst__lookup_table_rows(const hdst__node *table, const char *param)
{
    if (table->op == &hdst__op_stretches) return hdst__stretches_rows(table, param);
    const lookup_node *own = table->own;
    const char *name = own->lookup->parameter->name;
    const size_t length = strlen(name);
    if (!strcmp(param, name)) return &own->frozen.held[HDST__FROZEN_SLOTS_PARAM];
    if (!strncmp(param, name, length) && !strcmp(param + length, displacements)) return &own->frozen.held[HDST__FROZEN_DISPLACEMENTS_PARAM];
    return NULL;
}
