// SPDX-License-Identifier: Apache-2.0
// The graph of datasets: what every operator's dataset has. What one operator alone has is its own struct, which it makes sense of in its own file.
#ifndef HDST_PLAN_DATASET_H
#define HDST_PLAN_DATASET_H

#include "codegen/ir/ir.h"
#include "plan/map_spec.h"

typedef struct hdst__operator hdst__operator;         // operator.h

typedef struct hdst__node hdst__node;

// What a planner notes at a dataset; of no meaning between two plans (plan/plan_graph.c).
typedef struct hdst__plan_mark {
    uint64_t plan;                  // whose notes these are
    uint32_t consumers;
    const hdst_dataset *consumer;   // the only one, when there is one
    ir_func *func;                  // of a function: in the plan's arena
    hdst__node *node;               // NULL: fused into its consumer
    const hdst__operator *runs_as;  // of a function: the operator of its own node; NULL: it is part of a stage
    hdst_dataset *front;            // then: what functions before it end with (hdst__operator.in_front); NULL: nothing
    hdst_dataset *stand_in;         // who gives its records in this plan (hdst__operator.stands_in); NULL: itself
    hdst__node **lookups;           // nodes of the tables of its spec's lookups by key, by binding; NULL where a binding is none. NULL: there are none
    hdst_dataset *looked_up;        // of a stand-in: whose records a node of its own makes a hash table of (op_probe.c); NULL: there is none
    uint32_t length;                // functions that are fused with it, so far
    bool whole;                     // one of them asks for the index or accumulates: it must see every record, whichever are wanted of it
    bool drops;                     // one of them filters or emits any number: indices of its input are no indices of its own
} hdst__plan_mark;

// A node of the graph. It is immutable but for its marks, what a cache holds and what a run had no memory for, and belongs to the context.
struct hdst_dataset {
    hdst__object object;
    const hdst__operator *op;
    uint64_t serial;                // a dataset's inputs have smaller ones
    hdst_dataset *parent;           // NULL for a read; the first of a union
    hdst_dataset **inputs;          // of a union: all; of a partition: two
    size_t input_count;
    const hdst__record *record;     // what it holds; NULL when a map gives accumulators only
    hdst__layout layout;            // how its records lie where a stage reads them
    uint64_t block;                 // AoSoA
    uint32_t arranged;              // one more than the leaf in whose order its records are (op_arrange.c); 0: in none that is known

    hdst_module *module;            // whose record it is, where the user named it there; retained. NULL: the parent's, or that of the spec's function
    hdst_map_spec *spec;            // the function of the user that it calls; NULL: none
    uint32_t nested;                // caches below one another
    void *own;                      // the operator's own struct, of op->own_bytes; zeroed when it is made
    uint32_t row_passes;            // in how many passes its stage makes tables of accumulators (row_passes.h); 0: one
    bool row_tuples;                // its large tables of accumulators go by way of tuples instead (row_tuples.h)
    bool row_tuples_failed;         //     for which there was no memory either
    char *row_passes_why;           // what had no memory in one; NULL: nothing
    hdst__plan_mark mark;
};

// --- For the files of operators; the context's lock is held ---

extern hdst_dataset hdst__no_dataset;       // stands in where there is no memory
hdst_dataset *hdst__dataset_new(hdst_context *context, const hdst__operator *op, hdst_dataset *parent);     // takes over the parent's error, layout and record
void hdst__dataset_as_structs(hdst_dataset *dataset);       // computed records are C structs
// Whose records it reads in the plan that its mark is of.
static inline hdst_dataset *hdst__dataset_before(const hdst_dataset *dataset)
{
    hdst_dataset *parent = dataset->parent;
    return parent && parent->mark.plan == dataset->mark.plan && parent->mark.stand_in ? parent->mark.stand_in : parent;
}

hdst_dataset *hdst__dataset_fail(hdst_dataset *dataset, const hdst_error *error);
// A dataset with records, or HDST_E_USAGE: `what` needs them.
hdst_status hdst__dataset_has_records(const hdst_dataset *dataset, const char *what, hdst_error *error);
// What the first function of those fused with `last` runs over; NULL: nothing.
const hdst_dataset *hdst__fused_input(const hdst_dataset *last);
// The leaf, counted from 1, in whose order the records are that the first function of those fused with `last` runs over; 0: in none.
uint32_t hdst__input_arranged_by(const hdst_dataset *last);
// Records of one read as the other: names, types and places of all fields are equal.
bool hdst__same_records(const hdst__record *a, const hdst__record *b);

#endif
