// SPDX-License-Identifier: Apache-2.0
// Whether a join's order is asked for by nobody, and one of its sides is so small that its records can be a hash table: then a function of the other side's
// records stands in its place (op_probe.c), and neither side is ordered. What comes out is the same. Reductions that are field by field do not ask for the
// order of their input, for their sums are exact.
//
// A run may find that the table has no room, or that a record fails, whose number in the result an error tells: the next plan orders both sides.
#include "plan/join_node.h"
#include "plan/map_spec.h"
#include "plan/probe.h"
#include "plan/stage_call.h"

#include "base/costs_host.h"
#include "shuffle/join/frozen_table.h"

enum { MOST_WORDS = 8 };            // of a key: kernels hash them one by one

static bool is_join(const hdst__operator *op) { return op->stands_in == hdst__join_stands_in; }

// --- Who asks for the order ---

static bool folds(const ir_func *func) { return func->param_count > 1 && func->params[1].kind == IR_INPUT; }

static bool is_function_in_order(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    if (dataset->spec && dataset->spec->separate) return true;
    ir_func *func = dataset->op->lower(arena, dataset, error);
    return !func || folds(func) || hdst__reads_index(func);
}

// Nodes whose result is the same for any order of their input.
static bool takes_any_order(const hdst__operator *op)
{
    return op == &hdst__op_reduce_by_key || op == &hdst__op_count_by_key || op == &hdst__op_distinct;
}

// Nodes of whose result nobody asks for the order where nobody asks for that of theirs.
static bool hands_on(const hdst__operator *op)
{
    return is_join(op) || op == &hdst__op_union || op == &hdst__op_layout;
}

static const hdst_dataset *itself(const hdst_dataset *dataset) { return dataset; }

static bool order_is_asked_for(hdst__arena *arena, const hdst_dataset *dataset)
{
    hdst_error ignored = HDST_ERROR_INIT;
    while (dataset->mark.consumers == 1) {
        const hdst_dataset *reader = dataset->mark.consumer;
        if (reader->spec && hdst__map_spec_looks_up_in(reader->spec, dataset, itself)) return true;     // errors tell of two records with one key
        if (takes_any_order(reader->op)) return false;
        if (!hands_on(reader->op) && (!reader->op->lower || is_function_in_order(arena, reader, &ignored))) return true;
        if (reader->op->lower && (reader->op->gives == HDST__GIVES_OTHERS || !reader->record)) return false;     // a reduction; accumulators alone
        if (reader->op->gives == HDST__GIVES_NONE) return false;
        dataset = reader;
    }
    return true;
}

// --- How many records there are at most, as far as that is known before a run ---

static bool gives_no_more(const hdst_dataset *dataset)
{
    const hdst__operator *op = dataset->op;
    if (is_join(op)) return ((const hdst__join_own *)dataset->own)->kind != HDST__JOIN_PAIRS;
    if (op->gives == HDST__GIVES_EACH || op->gives == HDST__GIVES_SOME || op->gives == HDST__GIVES_FEW) return true;
    return op == &hdst__op_layout || op == &hdst__op_slice || op == &hdst__op_cache || op == &hdst__op_sort || op == &hdst__op_partition ||
        op == &hdst__op_top || takes_any_order(op);
}

static uint64_t most_records(const hdst_dataset *dataset)
{
    while (gives_no_more(dataset) && dataset->parent) dataset = dataset->parent;
    return dataset->op == &hdst__op_read ? hdst__read_records(dataset) : UINT64_MAX;
}

// --- The side that becomes a table ---

static bool keys_are_integers(const hdst_dataset *dataset)
{
    const hdst__named_keys *key = &((const hdst__join_own *)dataset->own)->key[0];
    uint64_t words = 0;
    for (size_t i = 0; i < key->count; i++) {
        if (!hdst__kind_is_integer(dataset->inputs[0]->record->leaves[key->place[i].leaf].kind)) return false;
        words += key->place[i].elements;
    }
    return words <= MOST_WORDS;
}

static bool has_room(const hdst_dataset *dataset, int side, uint64_t records)
{
    const hdst__join_own *own = dataset->own;
    const hdst__record *record = dataset->inputs[side]->record;
    const hdst__frozen_form form = own->kind == HDST__JOIN_PAIRS && own->repeats ? HDST__FROZEN_RUNS : HDST__FROZEN_FIRST;
    if (records >> 31) return false;
    return hdst__frozen_table_bytes(records, record->size, form) <=
        hdst__budget_left(hdst__engine_memory(dataset->object.context->engine)) / HDST__HOST_FROZEN_SHARE;
}

// Records of the table that have no partner give nothing: who goes by does not see them.
static bool may_be_table(const hdst_dataset *dataset, int side)
{
    const hdst__join_own *own = dataset->own;
    return !dataset->inputs[side]->record->has_text && (own->kind == HDST__JOIN_PAIRS ? !own->optional[!side] : side == 1);
}

// -1: none.
static int choose_table(const hdst_dataset *dataset)
{
    const uint64_t records[2] = {most_records(dataset->inputs[0]), most_records(dataset->inputs[1])};
    int table = -1;
    for (int side = 0; side < 2; side++)
        if (may_be_table(dataset, side) && records[side] <= records[!side] && has_room(dataset, side, records[side])) table = side;
    return table;
}

// --- The stand-in ---

static hdst__probe describe_probe(const hdst_dataset *dataset, int table)
{
    const hdst__join_own *own = dataset->own;
    const bool pairs = own->kind == HDST__JOIN_PAIRS;
    return (hdst__probe){.way = pairs ? HDST__PROBE_PAIRS : own->kind == HDST__JOIN_SEMI ? HDST__PROBE_THERE : HDST__PROBE_NOT_THERE,
                         .input = dataset->inputs[!table]->record, .table = dataset->inputs[table]->record, .result = pairs ? dataset->record : NULL,
                         .input_is_right = table == 0, .alone = pairs && own->optional[table], .runs = pairs && own->repeats,
                         .input_key = own->key[!table].place, .table_key = own->key[table].place, .key_count = own->key[0].count};
}

static hdst_dataset *make_stand_in(hdst__arena *arena, hdst_dataset *dataset, int table)
{
    hdst_dataset *stand_in = HDST__NEW(arena, hdst_dataset);
    hdst__probe_own *own = HDST__NEW(arena, hdst__probe_own);
    *own = (hdst__probe_own){.join = dataset, .probe = describe_probe(dataset, table)};
    *stand_in = *dataset;
    stand_in->op = &hdst__op_probe;
    stand_in->parent = dataset->inputs[!table];
    stand_in->inputs = NULL;
    stand_in->input_count = 0;
    stand_in->own = own;
    stand_in->mark.looked_up = dataset->inputs[table];
    return stand_in;
}

static bool may_look_up(const hdst_dataset *dataset)
{
    const bool leaves_out = hdst__engine_settings(dataset->object.context->engine)->skip_failed;
    return !((const hdst__join_own *)dataset->own)->ordered && !leaves_out && keys_are_integers(dataset);
}

bool hdst__join_looks_up(const hdst_dataset *dataset)
{
    return is_join(dataset->op) && !dataset->object.error && may_look_up(dataset) && choose_table(dataset) >= 0;
}

hdst_dataset *hdst__join_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset)
{
    if (!plan->may_run_again || plan->keeps_partials || !may_look_up(dataset)) return NULL;
    const int table = choose_table(dataset);
    return table >= 0 && !order_is_asked_for(arena, dataset) ? make_stand_in(arena, dataset, table) : NULL;
}
