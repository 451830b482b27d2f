// SPDX-License-Identifier: Apache-2.0
// The tables of lookup parameters with any number of rows of a key, `lookup V t[K][]`: a node that finds the rows of an arranged dataset, and where those of
// each key begin (plan/key_stretches.h), before the function runs. They stay with the dataset.
#include "plan/lookup_tables.h"
#include "plan/op_cache.h"

#include "base/clock.h"
#include "codegen/lower/operator_functions.h"

#include <inttypes.h>
#include <string.h>

typedef struct stretches_node {
    hdst__stretches_wanted wanted;
    const hdst__key_stretches *found;   // by the last run
    uint64_t input, version;            // hdst__node_version of the input then; another number for other rows
    hdst__plan_rows held[2];            // rows, starts
    bool kept;                          // they were there
} stretches_node;

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    stretches_node *own = node->own;        // made with the node
    const hdst__type *value = own->wanted.lookup->parameter->type;
    hdst__bytes_move *moves;
    own->wanted.move_count = hdst__bound_lookup_row_moves(arena, own->wanted.lookup, &moves);
    own->wanted.moves = moves;
    own->wanted.row = value->kind == HDST__RECORD ? value->record : hdst__number_record(arena, value->kind);
    return HDST_OK;
}

static void hold(hdst__node *node, const hdst__key_stretches *found)
{
    stretches_node *own = node->own;
    const uint64_t input = hdst__node_version(node->inputs[0]);
    if (found != own->found || input != own->input) own->version++;
    own->found = found;
    own->input = input;
    own->held[0] = (hdst__plan_rows){found->rows, found->count, own->version};
    own->held[1] = (hdst__plan_rows){found->starts, found->keys + 1, own->version};
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    stretches_node *own = node->own;
    hdst__cache_own *cache = own->wanted.lookup->records->own;      // a cache (plan/bound_lookup.c)
    const double start = hdst__now();
    hdst__key_stretches *found = NULL;
    bool made = false;
    const hdst_status status = hdst__key_stretches_find(&cache->stretches, plan->context->engine, &own->wanted, &node->inputs[0]->reader, &found, &made,
                                                        &plan->stats, error);
    node->ran = status == HDST_OK;
    own->kept = node->ran && !made;
    if (node->ran) hold(node, found);
    const hdst__run_stats stats = {.records = made ? found->count : 0, .total_seconds = hdst__now() - start};
    hdst__plan_add_stats(&plan->stats, &stats);
    return status;
}

// --- What people see ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const stretches_node *own = node->own;
    const hdst__bound_lookup *lookup = own->wanted.lookup;
    hdst__node_describe_inputs(node, out);
    hdst__buffer_printf(out, " -> rows of each %s, for '%s'", lookup->records->record->leaves[lookup->key->leaf].path, lookup->parameter->name);
    if (!node->ran) return;
    hdst__buffer_printf(out, ": %" PRIu64 " with keys below %" PRIu64 "%s", own->held[0].rows, own->held[1].rows - 1,
                        own->kept ? ", which the dataset had already" : "");
}

const hdst__operator hdst__op_stretches = {
    .name = "the rows of each key of a lookup", .gives = HDST__GIVES_OTHERS, .line = line, .build = build, .run = run, .known = hdst__node_has_run,
};

// --- In plans ---

void hdst__stretches_init(hdst__arena *arena, hdst__node *table, const hdst__bound_lookup *lookup)
{
    stretches_node *own = HDST__NEW(arena, stretches_node);
    own->wanted.lookup = lookup;
    table->own = own;
}

static const char starts[] = " starts";         // codegen/lower/rows_of_key.c

const hdst__plan_rows *hdst__stretches_rows(const hdst__node *table, const char *param)
{
    const stretches_node *own = table->own;
    const char *name = own->wanted.lookup->parameter->name;
    const size_t length = strlen(name);
    if (!strcmp(param, name)) return &own->held[0];
    return !strncmp(param, name, length) && !strcmp(param + length, starts) ? &own->held[1] : NULL;
}
