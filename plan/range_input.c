// SPDX-License-Identifier: Apache-2.0
// A stage over a range of numbers reads no memory: the kernel makes the numbers of the records' indices. Its input is as many records without fields.
#include "plan/stage_node.h"

#include "codegen/lower/operator_functions.h"

// As another type the numbers are converted where they are read, which may fail.
static bool is_number(const hdst__record *record)
{
    return record->leaf_count == 1 && record->leaves[0].elements == 1 && record->leaves[0].kind == HDST__I64;
}

ir_func *hdst__range_input_make(hdst__arena *arena, hdst__node *node)
{
    hdst__stage_node *own = node->own;
    const hdst__record *record = node->inputs[0]->dataset->record;
    if (!hdst__node_is_range(node->inputs[0], &own->range_begin) || !is_number(record)) return NULL;
    hdst__record *nothing = HDST__NEW(arena, hdst__record);
    *nothing = (hdst__record){.name = record->name, .align = 1};
    own->nothing = nothing;
    return hdst__operator_range(arena, nothing, record);
}

static hdst_status fill_nothing(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                uint64_t to_first, hdst_error *error)
{
    (void)user, (void)first, (void)count, (void)storage, (void)buffers, (void)to_first, (void)error;
    return HDST_OK;
}

hdst__reader hdst__range_input_reader(const hdst__node *node)
{
    return (hdst__reader){fill_nothing, NULL, node->inputs[0]->reader.records, ((const hdst__stage_node *)node->own)->nothing,
                          HDST__AOP /* no fields, no buffers */, 0, false};
}
