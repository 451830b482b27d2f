// SPDX-License-Identifier: Apache-2.0
// Dense reduces to very many rows: a node like a reduction by key, whose keys are the numbers of rows (shuffle/aggregate/aggregate.h).
#include "plan/plan.h"

#include "codegen/interp/interp.h"

enum { RESULT = 1 };        // the parameter of the function that is the table

// The result is also what the accumulator of a stage would be, under its name.
void hdst__rows_node_make(hdst__arena *arena, hdst__node *node)
{
    hdst_dataset *dataset = node->dataset;
    const ir_param *result = &dataset->mark.func->params[RESULT];
    hdst__aggregate_spec *spec = HDST__NEW(arena, hdst__aggregate_spec);
    *spec = (hdst__aggregate_spec){.record = dataset->parent->record, .key_leaves = &dataset->key, .key_count = 1, .laws = result->leaf_op, .rows = dataset->record,
                                .row_count = dataset->count, .unchecked = dataset->object.context->unchecked};
    node->by_key_spec = spec;
    node->func = dataset->mark.func;
    node->tables = HDST__NEW(arena, hdst__plan_table);
    node->tables[node->table_count++] = (hdst__plan_table){.function = node->func->name, .name = result->name, .record = dataset->record, .param = RESULT};
}

void hdst__rows_node_show(hdst__node *node)
{
    if (node->dataset->op != HDST__OP_REDUCE_DENSE) return;
    hdst__plan_table *table = node->tables;
    table->rows = (void *)node->rows;
    table->row_count = node->row_count;
    table->bytes = node->row_count * table->record->size;
}

// As a stage would say it, of the check of the key's range, which is the function's only one.
void hdst__rows_node_error(const hdst__node *node, hdst_error *error)
{
    uint64_t record, key;
    if (node->dataset->op != HDST__OP_REDUCE_DENSE || !node->by_key || error->code != HDST_E_RECORD || !hdst__aggregate_stray(node->by_key, &record, &key)) return;
    hdst__check_to_error(node->func, 0, key, node->dataset->count, record, error);
}
