// SPDX-License-Identifier: Apache-2.0
// A join as a function of one side's records, which look up those of the other side: what stands in a plan in the place of a join for whose order nobody asks
// (join_stand_in.c). The other side's records are a frozen hash table (shuffle/join/frozen_table.h), which a node of its own makes before the stage runs.
#include "plan/frozen_node.h"
#include "plan/probe.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <string.h>

// --- The function ---

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_probe(arena, &((const hdst__probe_own *)dataset->own)->probe);
}

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__join_node_describe(((const hdst__probe_own *)dataset->own)->join, out); }

// --- The table ---

static hdst__plan_param bind(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    const hdst__probe_own *own = dataset->own;
    const hdst__frozen_node *table = own->table->own;
    const int which = !strcmp(param->name, "slots") ? HDST__FROZEN_SLOTS_PARAM
        : !strcmp(param->name, "rows") ? HDST__FROZEN_ROWS_PARAM : HDST__FROZEN_DISPLACEMENTS_PARAM;
    return (hdst__plan_param){.function = func->name, .name = param->name, .rows = 1, .held = &table->held[which]};
}

// Equal keys call for another function, want of room and records that fail for the order of the join: there records have the numbers that errors tell.
static bool runs_otherwise(hdst_dataset *dataset, hdst_status status)
{
    hdst__probe_own *own = dataset->own;
    hdst__join_own *join = own->join->own;
    if (status == HDST_E_CANCELLED) return false;
    if (own->twice && !own->probe.runs) join->repeats = true;
    else if (status == HDST_E_MEMORY || status == HDST_E_RECORD || status == HDST_E_UNSUPPORTED) join->ordered = true;
    else return false;
    own->twice = false;
    return true;
}

const hdst__operator hdst__op_probe = {
    .name = "a join by lookup", .gives = HDST__GIVES_MANY, .describe = describe, .lower = lower, .bind = bind, .runs_otherwise = runs_otherwise,
};

// --- Its node ---

static const hdst__probe_own *own_of(const hdst__node *node) { return node->dataset->own; }

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const hdst__probe *probe = &own_of(node)->probe;
    const hdst__join_own *join = own_of(node)->join->own;
    hdst__frozen_node *own = HDST__NEW(arena, hdst__frozen_node);
    hdst__key_field *fields;
    const size_t count = hdst__named_keys_fields(arena, &join->key[!probe->input_is_right], probe->table, &fields);
    own->spec = (hdst__frozen_spec){.step = probe->table->size, .key = hdst__key_fields_of(fields, count),
                                    .form = probe->way != HDST__PROBE_PAIRS ? HDST__FROZEN_FIRST : probe->runs ? HDST__FROZEN_RUNS : HDST__FROZEN_ONLY};
    node->own = own;
    return HDST_OK;
}

static hdst_status has_room(const hdst__node *node, uint64_t records, hdst_error *error)
{
    const hdst__frozen_node *own = node->own;
    hdst__budget *memory = hdst__engine_memory(node->dataset->object.context->engine);
    const uint64_t bytes = hdst__frozen_table_bytes(records, own->spec.step, own->spec.form);
    if (bytes <= hdst__budget_left(memory) / HDST__HOST_FROZEN_SHARE) return HDST_OK;
    return hdst__budget_error(memory, bytes, "a hash table of one side of a join", error);
}

static hdst_status make_table(hdst__node *node, const void *rows, uint64_t count, hdst_error *error)
{
    hdst__probe_own *probe = node->dataset->own;
    const hdst_status status = hdst__frozen_node_make(node, rows, count, &probe->twice, error);
    if (!probe->twice) return status;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "keys that a side of a join has more than once, in a hash table of single rows");
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    if (hdst__frozen_node_keeps(node)) return HDST_OK;
    hdst__frozen_node_drop(node);           // its memory is room
    const hdst_status status = has_room(node, node->inputs[0]->reader.records, error);
    return status == HDST_OK ? hdst__frozen_node_run(plan, node, make_table, error) : status;
}

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__node_describe_inputs(node, out);
    hdst__buffer_puts(out, " -> hash table by key");
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const hdst__probe *probe = &own_of(node)->probe;
    hdst__buffer_printf(out, "hash table %u: the join's %s side; the %s one is looked up in it as it comes, for nobody asks for the order of the result\n",
                        (unsigned)node->number, probe->input_is_right ? "left" : "right", probe->input_is_right ? "right" : "left");
    hdst__frozen_node_explain(node, out);
    return HDST_OK;
}

const hdst__operator hdst__op_join_table = {
    .name = "a hash table of a join", .gives = HDST__GIVES_OTHERS, .line = line, .build = build, .run = run, .known = hdst__node_has_run,
    .explain = explain, .drop = hdst__frozen_node_drop, .release = hdst__frozen_node_drop,
};
