// SPDX-License-Identifier: Apache-2.0
// From a graph of datasets to stages of the engine. A plan is a list of nodes in an order of running. A node stands where records must exist or are read in
// another way; operators between two nodes are fused into one stage. A dataset that several others use is computed once in a run.
//
// plan_graph.c    which datasets become nodes
// stage_node.c    a chain of functions: one function in IR, its parameters, its tables
// fold_node.c     reduces that are no accumulation
// op_reduce_dense.c     dense reduces to very many rows
// range_input.c    ranges of numbers, which kernels make themselves
// plan_sort.c     sorts
// group_node.c    functions over the records of each key
// plan_partition.c  records in the order of parts that the user names
// op_top.c      the records with the largest values
// aggregate_node.c   reductions by key, counts, distinct records
// by_partition.c   such that keep the parts of a partition
// op_union.c   how the next stage reads what a node holds: rows, slices, unions
// plan.c          making, running, ending
// plan_drop.c     what nodes give back in the middle of a run where memory is short
// plan_explain.c  a plan as a text for people
// materialised.c          cached datasets: a plan of their own, which runs once
#ifndef HDST_PLAN_PLAN_H
#define HDST_PLAN_PLAN_H

#include "base/arena.h"
#include "shuffle/aggregate/aggregate.h"
#include "engine/memory/output.h"
#include "engine/memory/spill.h"
#include "plan/dataset.h"

typedef enum hdst__node_kind {
    HDST__NODE_READ, HDST__NODE_LAYOUT, HDST__NODE_SLICE, HDST__NODE_UNION, HDST__NODE_CACHE,   // readers: nothing is computed
    HDST__NODE_STAGE,               // fused functions
    HDST__NODE_FOLD,                // a reduce that is not field-wise
    HDST__NODE_SORT,
    HDST__NODE_PARTITION,           // records in the order of their parts
    HDST__NODE_TOP,                 // the records with the largest values
    HDST__NODE_GROUP,               // records by key, and a stage over each key's
    HDST__NODE_BY_KEY,
} hdst__node_kind;

// What a parameter of the fused function reads or fills.
typedef struct hdst__plan_param {
    const char *function, *name;    // where the user declared it
    hdst_value *value;              // broadcast
    const void *data;               // broadcast of an operator: one row that never changes
    uint64_t rows, version;         // accum; with `data`: rows of it, a number that changes with it
} hdst__plan_param;

typedef struct hdst__plan_table {   // an accumulator
    const char *function, *name;    // "assign", "t"
    const hdst__record *record;
    uint32_t param;                 // of the node's function
    void *rows;                     // finished, as C structs; NULL before a run, and where they stayed on the device
    uint64_t row_count, bytes;
    hdst__dataset_cache *resident;  // where the last run left them on the device; NULL: nowhere
    bool keeps;                     // somebody reads them there: they come to the host when they are asked for
} hdst__plan_table;

struct hdst__node {
    hdst__node_kind kind;
    uint32_t number;                // in the order of running, from 1; people see it
    uint32_t read_until;            // plan_drop.c: the number of the last node that reads its records
    hdst_dataset *dataset;          // whose records these are
    hdst__node **inputs;
    size_t input_count;
    hdst__reader reader;            // of its records, in this run
    hdst__dataset_cache *resident;  // where they stay: a cache's, or a stage's on the device
    bool feeds;                     // another node reads its records, or a cache
    bool keeps;                     // a stage: a stage reads its records, or a cache holds them
    struct hdst__node *taker;       // a stage: who takes its records slice by slice, and runs it; they are nowhere in whole then. NULL: it runs in its turn and keeps them
    uint64_t enough;                // a stage: nobody reads more records of it than these, from the first on; 0: all
    bool ran;                       // a stage or a sort: its reader is the last run's
    bool dropped;                   // its records of this run were given back: all who read them have run

    // Stages and folds
    hdst_dataset **items;           // operators, first to last
    size_t item_count;
    const ir_func *func;
    hdst__plan_param *params;       // one per parameter of func
    const hdst__stage_values *values;       // refilled before each run
    hdst__stage *stage;             // made at the first run
    hdst__plan_table *tables;
    size_t table_count;
    const hdst__plan_table *records_table;  // whose rows are the records: a field-wise reduce; NULL: the stage's output
    uint64_t range_begin;           // a stage whose kernel makes the numbers of a range: the first one
    const hdst__record *nothing;    // then: the record without fields that its input has; NULL: it reads its input
    const void *identity;           // fold: one row, or NULL
    struct hdst__group_node *group; // group
    struct hdst__top_node *top;     // top
    const hdst__node *held;         // a stage: the top that runs it, as often as it takes; NULL: it runs when its turn comes
    const void *rows;               // the records, as C structs
    uint64_t row_count;
    hdst__sort *sort;               // of a sort: made at the first run
    const hdst__aggregate_spec *by_key_spec;   // of a reduction by key; of one that is no accumulation, only to tell keys apart
    hdst__aggregate *by_key;           // made at the first run
    const hdst__field_place *key_fields;
    const hdst__node *parted;       // of a reduction by key: the partition whose parts it keeps; NULL: none
    hdst__output parted_rows;       // then: its records, part by part
    hdst__spill parted_file;        // or, where the budget has no room for all of them, a file
    const void *parted_mapped;
    uint64_t parted_room;           // bytes that the budget had when the run began
    struct hdst__repartition *parting;  // of a partition: made at the first run
    const uint64_t *part_counts;    // records of each part, where there are parts, after a run
    uint64_t *own_counts;           // of a reduction by key that keeps parts
};

typedef struct hdst__plan {
    hdst_context *context;
    hdst__node **nodes;
    size_t node_count, node_capacity;
    hdst__node *target;
    hdst__run_stats stats;          // of all stages of the last run together
} hdst__plan;

// Builds nodes and IR; nothing is compiled for a device yet. All lives in `arena` (whose out-of-memory handler is the caller's), but for the stages and the
// rows of tables.
hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error);
// Ends the stages and frees what they gave. The plan can run again.
void hdst__plan_release(hdst__plan *plan);
// Reads the bound values as they are now and runs. The target's records are then what its reader reads; tables are those of its nodes.
hdst_status hdst__plan_run(hdst__plan *plan, hdst_error *error);
hdst_status hdst__plan_explain(hdst__plan *plan, hdst__buffer *out, hdst_error *error);
void hdst__plan_add_stats(hdst__run_stats *to, const hdst__run_stats *from);

// --- For the plan's files ---

// plan.c
hdst_status hdst__plan_run_node(hdst__plan *plan, hdst__node *node, hdst_error *error);
// Whether nothing has to be computed to read the node's records: they are in files, or filled caches, or were computed by the last run.
bool hdst__node_is_known(const hdst__node *node);

// plan_drop.c
void hdst__plan_drop_unread(hdst__plan *plan, const hdst__node *ran);       // where memory is short, once a node has run: what nobody reads any more
void hdst__node_drop_work(hdst__node *node);            // what it works with, where memory is very short
void hdst__plan_drop_last_run(hdst__plan *plan);        // where memory is short, before a run
// plan_graph.c
bool hdst__reads_index(ir_func *func);      // whether it asks which record of its input it has
hdst_status hdst__plan_nodes(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error);
// stage_node.c
hdst_status hdst__stage_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__stage_node_run(hdst__node *node, hdst_error *error);
hdst_status hdst__stage_node_input(hdst__node *node, hdst_error *error);    // tells the stage what it reads in this run; makes it first
hdst_status hdst__stage_node_values(const hdst__node *node, hdst_error *error);     // takes the snapshot, unless a value has an error, or rows that its parameter cannot have
void hdst__stage_node_drop(hdst__node *node);       // its records
void hdst__stage_node_release(hdst__node *node);
hdst__plan_param hdst__plan_param_of(const ir_func *func, const ir_param *param, const hdst_dataset *item);     // of an item's own function
ir_func *hdst__plan_lower(hdst__arena *arena, const hdst_dataset *item, hdst_error *error);
hdst_status hdst__plan_passes(ir_func *func, hdst_error *error);
// op_reduce_dense.c
void hdst__rows_node_make(hdst__arena *arena, hdst__node *node);
void hdst__rows_node_show(hdst__node *node);            // its rows, or none, as an accumulator's; other nodes have no such
void hdst__rows_node_error(const hdst__node *node, hdst_error *error);      // if it failed by a key that is no row: which one, where
// range_input.c
ir_func *hdst__range_node_make(hdst__arena *arena, hdst__node *node);       // the function that makes the stage's numbers; NULL: it reads its input
hdst__reader hdst__range_node_reader(const hdst__node *node);     // then, in place of its input's
// fold_node.c
hdst_status hdst__fold_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error);
// plan_sort.c
hdst_status hdst__sort_node_run(hdst__node *node, hdst_error *error);
void hdst__sort_node_release(hdst__node *node);
const void *hdst__plan_identity(hdst__arena *arena, const ast_function *reduce, const hdst__record *record, hdst_error *error);   // NULL: none, or with an error
// group_node.c
hdst_status hdst__group_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__group_node_run(hdst__node *node, hdst__run_stats *stats, hdst_error *error);
void hdst__group_node_explain(const hdst__node *node, hdst__buffer *out);
void hdst__group_node_release(hdst__node *node);
// op_top.c
void hdst__top_node_make(hdst__arena *arena, hdst__node *node);
hdst_status hdst__top_node_run(hdst__node *node, hdst__run_stats *stats, hdst_error *error);
bool hdst__top_node_sieves(const hdst__node *node);        // whether the next run asks the stage before it for candidates
void hdst__top_node_explain(const hdst__node *node, hdst__buffer *out);
void hdst__top_node_release(hdst__node *node);
// plan_partition.c
hdst_status hdst__partition_node_run(hdst__node *node, hdst_error *error);
void hdst__partition_node_explain(const hdst__node *node, hdst__buffer *out);
void hdst__partition_node_release(hdst__node *node);
uint64_t hdst__partition_count(const hdst__node *node);         // of its parts
// by_partition.c, of a reduction by key, whose node has its by_key_spec:
void hdst__parted_make(hdst__arena *arena, hdst__node *node);      // node->parted, if there is a partition below
void hdst__parted_release(hdst__node *node);
// A part's records, from record `first` of the input on: gives what they give to hdst__parted_add, in the order of hash and key.
typedef hdst_status (*hdst__part_step)(hdst__node *node, const hdst__reader *part, uint64_t first, hdst__run_stats *stats, hdst_error *error);
hdst_status hdst__parted_add(hdst__node *node, const void *rows, uint64_t count, hdst_error *error);
// All parts. The result is the node's rows then, and their counts. node->by_key is there, to tell keys apart.
hdst_status hdst__parted_run(hdst__node *node, hdst__part_step step, hdst__run_stats *stats, hdst_error *error);
// aggregate_node.c
hdst_status hdst__by_key_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__by_key_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
void hdst__by_key_node_explain(const hdst__node *node, hdst__buffer *out);
void hdst__by_key_node_release(hdst__node *node);
bool hdst__by_key_node_wants_whole(hdst__node *node, uint64_t records, hdst_error *error);    // what a stage gives, at most so many records
const hdst__sink *hdst__by_key_node_sink(hdst__node *node, hdst_error *error);      // NULL: no memory
// op_union.c
hdst__reader hdst__reader_of_rows(hdst__node *node, const hdst__record *record);       // node->rows
hdst__reader hdst__reader_of_slice(hdst__node *node);
hdst_status hdst__reader_of_union(hdst__node *node, hdst__reader *reader, hdst_error *error);

#endif
