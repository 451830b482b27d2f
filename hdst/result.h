// SPDX-License-Identifier: Apache-2.0
// What a result consists of: the plan that it runs, and the tables that its functions filled.
#ifndef HDST_RESULT_H
#define HDST_RESULT_H

#include "engine/memory_usage.h"
#include "hdst/row_view.h"
#include "plan/plan.h"

typedef struct hdst__result_table {
    const char *function, *name;    // "assign", "t"
    const hdst__record *record;
    const void *rows;               // as C structs
    uint64_t row_count;
    void *copy;                     // rows of a table that belongs to a cache: this result's own
    hdst__plan_table *from;         // of the plan; NULL: of a cache's
    const void *same;               // whose copy this is, to tell tables apart: it may be gone
    bool hidden, hidden_in_full;    // a stage that reads the cache above it has a table "t"; has "assign.t"
    hdst__dataset_cache *resident;  // where the rows stayed on the device; `read` takes them when somebody asks
    hdst__rows read;
} hdst__result_table;

struct hdst_result {
    hdst__object object;
    hdst_dataset *dataset;
    hdst__arena arena;              // of the plan
    hdst__plan plan;
    bool planned, ran;
    bool keeps_partial, ran_partial;    // what it reduces is kept unfinished, too, by the next run; was by the last one
    uint64_t part_first, ran_first;     //     and the number of its first record in the whole
    hdst__result_table *tables;     // made anew by each run
    size_t table_count, table_capacity;
    const void *records;            // the target node's, or `read`'s
    uint64_t record_count;
    hdst__rows read;                // records that no stage computed, or that stayed on the device until they were asked for
    char *explanation;
    hdst__memory_usage memory;      // of the last run
    uint64_t lean_at;               // plan/run_memory.c: its runs had no memory for cached datasets in whole
    hdst_error view_error;          // why the last view was NULL
};

// With the context's lock held.

// The rows of a table or (NULL) the records of the last run; false with result->view_error filled.
bool hdst__result_find_rows(hdst_result *result, const char *table, hdst__row_block *block);
// The same, but what is on the device stays there.
bool hdst__result_find_block(hdst_result *result, const char *table, hdst__row_block *block);
// From the next run on the records of the result stay on the device until somebody asks for them, where a stage computes them.
void hdst__result_keep_records(hdst_result *result);
// The same for the rows of an accumulator.
void hdst__result_keep_table(hdst_result *result, const char *table);
hdst_status hdst__result_plan(hdst_result *result, hdst_error *error);      // makes it, unless there is one
// The same, with accumulators for what is wanted unfinished; unless it ran.
hdst_status hdst__result_plan_for_partials(hdst_result *result, hdst_error *error);
hdst_status hdst__result_run(hdst_result *result, hdst_error *error);

void hdst__jobs_end(hdst_context *context);     // job_object.c: cancels those that run, and waits for all. Without the context's lock

#endif
