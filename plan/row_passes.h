// SPDX-License-Identifier: Apache-2.0
// Tables of accumulators for which there is no room: a stage's node reads its input several times, and in each pass accumulates a range of their rows
// (codegen/lower/row_window.h). How often is noted at the dataset, by a run that ended for want of memory, for the plans that follow.
#ifndef HDST_PLAN_ROW_PASSES_H
#define HDST_PLAN_ROW_PASSES_H

#include "engine/common/run_stats.h"
#include "engine/stage/stage_run.h"
#include "plan/plan.h"
#include "plan/stage_call.h"

typedef struct hdst__window {       // of a table's rows, in a pass
    uint64_t first, rows, all;
    size_t table, first_param, all_param;   // of the node's function
} hdst__window_of_rows;

typedef struct hdst__row_passes {
    uint32_t count;                 // 1: all rows at once
    hdst__window_of_rows *window;   // by table of accumulators; NULL: all rows at once
    size_t windows;
    hdst__stage *rest;              // where the stage gives records, too: runs all passes but the first, and gives none
    bool lacks_memory;              // the last run ended for want of it
    hdst_error why;                 //     in these words
    hdst__run_stats stats;          // of all passes of the last run
} hdst__row_passes;

// What a dataset notes: 1 or more.
uint32_t hdst__row_passes_noted(const hdst_dataset *dataset);
// Behind a run of the dataset's stage: whether it ended for want of memory that tables of fewer rows need not. Noted then.
bool hdst__row_passes_take_less(hdst_dataset *dataset, const hdst__stage_call *call, hdst__row_passes *passes);

// Of a node whose dataset has noted some: finds the windows' parameters in the fused function, and binds them.
void hdst__row_passes_bind(hdst__arena *arena, hdst__stage_call *call, hdst__row_passes *passes);
// The rows of parameter `param` of the last pass that are new, and how many rows its table has in all.
void hdst__row_passes_range(const hdst__row_passes *passes, const hdst__stage_call *call, size_t param, uint64_t *first, uint64_t *all);
void hdst__row_passes_move(hdst__row_passes *passes, hdst__stage_call *call, uint32_t pass);       // before pass 0, 1 ...
const hdst__consumer *hdst__row_passes_sink(void);      // for records of all passes but the first
void hdst__row_passes_count(hdst__row_passes *passes, const hdst__run_stats *stats, uint32_t pass);        // behind it
void hdst__row_passes_explain(const hdst_dataset *dataset, const hdst__row_passes *passes, hdst__buffer *out);

#endif
