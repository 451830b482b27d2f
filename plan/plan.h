// SPDX-License-Identifier: Apache-2.0
// From a graph of datasets to stages of the engine. A plan is a list of nodes in an order of running. A node stands where records must exist or are
// read in another way; operators between two nodes are fused into one stage. A dataset that several others use is computed once in a run.
#ifndef HDST_PLAN_PLAN_H
#define HDST_PLAN_PLAN_H

#include "engine/engine.h"
#include "engine/memory/text_heap.h"
#include "plan/operator.h"

// What a parameter of a function reads or fills.
struct hdst__plan_param {
    const char *function, *name;    // where the user declared it
    hdst_value *value;              // broadcast
    const void *data;               // broadcast of an operator: rows that are its own
    uint64_t rows, version;         // accum; with `data`: rows of it, a number that changes with it
    hdst__value_rows *there;        //     or where they are on a device, and `data` is NULL
    const struct hdst__plan_rows *held;     // broadcast of an operator: the same, of a node that has run by then; NULL: of none
};

typedef struct hdst__plan_rows {    // rows that a node holds
    const void *data;
    uint64_t rows, version;
} hdst__plan_rows;

typedef struct hdst__plan_table {   // an accumulator
    const char *function, *name;    // "assign", "t"
    const hdst__record *record;
    uint32_t param;                 // of the node's function
    void *rows;                     // finished, as C structs; NULL before a run, and where they stayed on the device
    uint64_t row_count, bytes;
    bool was_read, is_pinned;       // a device has copied to `rows`; they are registered, so that it does so at the speed of the link
    hdst__dataset_cache *resident;  // where the last run left them on the device; NULL: nowhere
    bool keeps;                     // somebody reads them there: they come to the host when they are asked for
} hdst__plan_table;

// Whether a table is called so: "parameter", or "function.parameter" where two maps have a parameter of the same name.
bool hdst__is_called(const char *function, const char *parameter, const char *name);
// HDST_E_USAGE: tables of two functions (or of one that is there twice) are called so.
void hdst__tell_two_tables(const char *function, const char *other, const char *name, hdst_error *error);

// What every operator's node has. The rest is its own.
struct hdst__node {
    const hdst__operator *op;       // not always the dataset's: functions run as stages
    void *own;                      // the operator's own struct: made by build, in the arena
    struct hdst__stage_call *call;  // a function in IR that it runs, in `own` (stage_call.h); NULL: it runs none
    uint32_t number;                // in the order of running, from 1; people see it
    uint32_t read_until;            // plan_drop.c: the number of the last node that reads its records
    hdst_dataset *dataset;          // whose records these are
    hdst__node **inputs;
    size_t input_count;
    bool keeps;                     // a stage reads its records, or a cache holds them: they are best left on the device
    bool keeps_many;                // the same of as many records as a function of it gives, which nobody knows before
    uint64_t keys_below;            // a reduction by key: all keys are expected to be below this; 0: nothing is
    bool uncounted;                 // a read: whoever reads it can do without the number of its records (uncounted_input.h)
    bool folded;                    // a fold reads them: on several devices only in runs of 64
    hdst__node *consumer;           // a stage: who takes its records slice by slice, and runs it; they are nowhere in whole then. NULL: it keeps them
    const hdst__node *driver;       // a stage: who runs it, as often as it takes; NULL: it runs when its turn comes

    // The last run
    bool ran;                       // its reader is that run's
    bool dropped;                   // its records were given back: all who read them have run
    hdst__reader reader;            // of its records
    hdst__dataset_cache *resident;  // where they stay: a cache's, or on the device
    const void *rows;               // as C structs; NULL: elsewhere
    uint64_t row_count;
    hdst__plan_table *tables;       // accumulators, which are the result's
    size_t table_count;
    const uint64_t *part_counts;    // records of each part of the user's; NULL: there are no parts
    uint64_t parts;                 // how many
    hdst__text_heap *texts;         // of the last run: holds what the texts of its records refer to, but for memory of the program's; NULL: nothing
};

struct hdst__plan {
    hdst_context *context;
    hdst__node **nodes;
    size_t node_count, node_capacity;
    hdst__node *target;
    bool alone;                     // it has run out of memory with several devices: one does it
    hdst__run_stats stats;          // of all stages of the last run together
    bool keeps_partials;            // accumulators are wanted unfinished, which those of stages can be. Before the plan is made
    bool may_run_again;             // whoever runs it asks hdst__plan_runs_otherwise of a run that failed. Before the plan is made
};

// Marks the nodes that read what node `of`, counted from 0, gives, or what was made of it. reads: zeroed, one for each node.
void hdst__plan_find_readers(const hdst__plan *plan, size_t of, bool *reads);

// Builds nodes and IR; nothing is compiled for a device yet. All lives in `arena`, but for the stages and the rows of tables. HDST_E_MEMORY and
// HDST_E_CANCELLED leave a part of it, which is to be released.
hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error);
// Ends the stages and frees what they gave. The plan can run again.
void hdst__plan_release(hdst__plan *plan);
// Reads the bound values as they are now and runs. The target's records are then what its reader reads; tables are those of its nodes.
hdst_status hdst__plan_run(hdst__plan *plan, hdst_error *error);
// Behind a run that failed: whether a new plan may end otherwise, for it needs less memory, or goes another way. It says so a limited number of times.
bool hdst__plan_runs_otherwise(hdst__plan *plan, hdst_status status);
// run_memory.c: before a plan is made or run by a call. lean_at: what the next function noted of the same result before; 0: nothing.
void hdst__plan_begin_run(hdst_context *context, uint64_t lean_at);
// Behind a run, or the making of a plan, that ended for want of memory in a budget, which the error tells: whether there is more now, as what is there only
// so that runs are quicker was given back. It says so once in a call, and notes at *lean_at (which may be NULL) that this is so. The plan, if there is one,
// is to be released, and may run again.
bool hdst__plan_has_more_memory(hdst_context *context, hdst_status status, uint64_t *lean_at, hdst_error *error);
hdst_status hdst__plan_explain(hdst__plan *plan, hdst__buffer *out, hdst_error *error);
void hdst__plan_add_stats(hdst__run_stats *to, const hdst__run_stats *from);

// --- For operators ---

// hdst__operator.known of those that compute, and of those whose reader reads those of their inputs.
bool hdst__node_has_run(const hdst__node *node);
bool hdst__node_inputs_known(const hdst__node *node);
bool hdst__node_is_known(const hdst__node *node);
uint64_t hdst__node_version(const hdst__node *node);            // hdst__operator.version
bool hdst__node_is_range(const hdst__node *node, uint64_t *first);     // hdst__operator.is_range
bool hdst__plan_is_known(const hdst__plan *plan);               // all of its nodes are
// op_read.c: records that a node has, which may be more than `wanted`. Of a read with an open end, or a layout of one, it is asked whether the last of these
// is there, and if it is not, where the end is.
hdst_status hdst__read_reach(const hdst__node *node, uint64_t wanted, uint64_t *records, hdst_error *error);
bool hdst__node_reads_texts(const hdst__node *node);           // op_read.c: of a source that makes texts
uint64_t hdst__read_records(const hdst_dataset *dataset);      // op_read.c: of a source, as far as they are counted; UINT64_MAX: they are not
hdst__reader hdst__node_rows_reader(hdst__node *node, const hdst__record *record);     // of node->rows
// node_texts.c: once it has run; before the next time, or when its records are given back
hdst_status hdst__node_hold_texts(hdst__node *node, hdst_error *error);
void hdst__node_drop_texts(hdst__node *node);
// plan_explain.c
void hdst__node_describe_inputs(const hdst__node *node, hdst__buffer *out);     // "records of 1, 2"
const char *hdst__layout_name(hdst__layout layout);
// plan_drop.c
bool hdst__plan_memory_is_short(const hdst_context *context, unsigned share);       // more than one part in `share` of the budget is in use
void hdst__node_drop_work(hdst__node *node);            // what it works with, where memory is very short

// --- For the plan's files ---

// plan_drop.c
void hdst__plan_drop_unread(hdst__plan *plan, const hdst__node *ran);       // where memory is short, once a node has run: what nobody reads any more
void hdst__plan_drop_last_run(hdst__plan *plan);        // where memory is short, before a run
void hdst__plan_drop_idle(hdst__plan *plan);            // the same before a run of another plan: also what it alone works with
// plan_graph.c
hdst_status hdst__plan_nodes(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error);
bool hdst__dataset_fuses(const hdst_dataset *dataset);  // whether this function can be put behind what its only input has fused so far

#endif
