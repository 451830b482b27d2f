// SPDX-License-Identifier: Apache-2.0
// Tables of accumulators that would take many passes over ranges of their rows (plan/row_passes.h): what a stage adds to one comes as tuples of a row and
// addends (codegen/lower/row_addends.h), which are taken apart by ranges of rows, spilled where memory is short, and added up range by range
// (shuffle/aggregate/aggregate.h). So the stage runs once for each such table, and once for all that it does beside them.
#ifndef HDST_PLAN_ROW_TUPLES_H
#define HDST_PLAN_ROW_TUPLES_H

#include "codegen/lower/row_addends.h"
#include "plan/plan.h"
#include "plan/stage_call.h"
#include "shuffle/aggregate/aggregate.h"

typedef struct hdst__table_by_tuples {
    hdst__stage_call call;          // the function that gives them; of the first, where the node does nothing else, the node's own
    hdst__plan_table *table;        // the node's. Its rows are the reduction's
    uint64_t rows;                  // of it
    hdst__row_tuple tuple;
    hdst__aggregate_spec spec;
    hdst__aggregate *aggregate;     // made at the first run
} hdst__table_by_tuples;

typedef struct hdst__row_tuples {
    hdst__table_by_tuples *table;
    size_t count;                   // 0: no table goes so
    bool alone;                     // the node does nothing else: its stage gives the tuples of the first
} hdst__row_tuples;

// Whether large tables of the function can go so; `rows`: of all, by parameter. Those that are small stay with the node's stage.
bool hdst__row_tuples_can(const hdst_dataset *dataset, const ir_func *func, const uint64_t *rows);

// Of a node whose dataset says so, with its function fused, its parameters bound and its tables listed, before the passes: what each stage runs.
hdst_status hdst__row_tuples_make(hdst__arena *arena, hdst__node *node, hdst_error *error);
bool hdst__row_tuples_has(const hdst__row_tuples *tuples, const hdst__plan_table *table);
// Where the stage's records go that gives the tuples of one; NULL: out of memory.
const hdst__consumer *hdst__row_tuples_consumer(const hdst__node *node, hdst__table_by_tuples *by);
// Behind its run: the table's rows.
hdst_status hdst__row_tuples_end(hdst__table_by_tuples *by, hdst_error *error);
void hdst__row_tuples_explain(const hdst_dataset *dataset, const hdst__row_tuples *tuples, hdst__buffer *out);
void hdst__row_tuples_release(hdst__row_tuples *tuples);

#endif
