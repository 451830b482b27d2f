// SPDX-License-Identifier: Apache-2.0
// Nodes that hold a frozen hash table (plan/frozen_node.h).
#include "plan/frozen_node.h"

#include "base/clock.h"
#include "engine/memory/host_rows.h"

#include <inttypes.h>
#include <string.h>

static void hold(hdst__frozen_node *own)
{
    const hdst__frozen_table *t = &own->table;
    own->version++;
    own->held[HDST__FROZEN_SLOTS_PARAM] = (hdst__plan_rows){t->slots, t->slot_count, own->version};
    own->held[HDST__FROZEN_DISPLACEMENTS_PARAM] = (hdst__plan_rows){t->displacements, t->displacement_count, own->version};
    own->held[HDST__FROZEN_ROWS_PARAM] = (hdst__plan_rows){t->rows, t->row_count + 1, own->version};
}

hdst_status hdst__frozen_node_make(hdst__node *node, const void *rows, uint64_t count, bool *twice, hdst_error *error)
{
    hdst__frozen_node *own = node->own;
    hdst__engine *engine = node->dataset->object.context->engine;
    own->table = (hdst__frozen_table){.memory = hdst__engine_memory(engine), .owner = HDST__OWNER_SORTS};
    own->spec.rows = rows;
    own->spec.count = own->records = count;
    const hdst_status status = hdst__frozen_table_make(&own->table, &own->spec, hdst__engine_threads(engine), hdst__engine_cancel(engine), error);
    *twice = status == HDST_OK && own->table.twice[0] != own->table.twice[1];
    if (status != HDST_OK || *twice) return status;
    own->input = hdst__node_version(node->inputs[0]);
    hold(own);
    return HDST_OK;
}

bool hdst__frozen_node_keeps(const hdst__node *node)
{
    hdst__frozen_node *own = node->own;
    return own->kept = node->ran && own->input && own->input == hdst__node_version(node->inputs[0]);
}

hdst_status hdst__frozen_node_run(hdst__plan *plan, hdst__node *node, hdst__frozen_make *make, hdst_error *error)
{
    const hdst__reader *reader = &node->inputs[0]->reader;
    hdst__runtime *runtime = hdst__engine_runtime(plan->context->engine);
    const double start = hdst__now();
    hdst__rows rows = {0};
    if (hdst__frozen_node_keeps(node)) return HDST_OK;
    node->op->drop(node);
    hdst_status status = reader->rows ? HDST_OK : hdst__rows_read_all(runtime, reader, false, &rows, &plan->stats, error);
    if (status == HDST_OK) status = make(node, reader->rows ? reader->rows : rows.records, reader->rows ? reader->records : rows.count, error);
    hdst__rows_free(runtime, &rows);
    node->ran = status == HDST_OK;
    if (!node->ran) node->op->drop(node);
    hdst__run_stats stats = {.records = ((const hdst__frozen_node *)node->own)->records, .total_seconds = hdst__now() - start};
    hdst__plan_add_stats(&plan->stats, &stats);
    return status;
}

void hdst__frozen_node_drop(hdst__node *node)
{
    hdst__frozen_node *own = node->own;
    hdst__frozen_table_free(&own->table);
    memset(own->held, 0, sizeof own->held);
    own->input = 0;
    node->ran = false;
}

void hdst__frozen_node_explain(const hdst__node *node, hdst__buffer *out)
{
    const hdst__frozen_node *own = node->own;
    if (!node->ran) return;
    hdst__buffer_printf(out, "  last run: %" PRIu64 " records, %" PRIu64 " keys in %" PRIu64 " slots%s\n", own->records, own->table.key_count,
                        own->table.slot_count, own->kept ? ", the table of an earlier run, as its records are the same" : "");
}
