// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_PLAN_DATASET_H
#define HDST_PLAN_DATASET_H

#include "codegen/ir/ir.h"
#include "record/field_path.h"
#include "shuffle/aggregate/aggregate.h"
#include "shuffle/sort/sort.h"
#include "plan/map_spec.h"
#include "io/source.h"

typedef struct hdst__operator hdst__operator;         // operator.h

struct hdst_source {                // made by hdst/source_object.c
    hdst__object object;
    hdst__source *source;           // NULL after an error
};

typedef struct hdst__node hdst__node;
typedef struct hdst__kept hdst__kept;

// What a planner notes at a dataset; of no meaning between two plans (plan/plan_graph.c).
typedef struct hdst__plan_mark {
    uint64_t plan;                  // whose notes these are
    uint32_t consumers;
    const hdst_dataset *consumer;   // the only one, when there is one
    ir_func *func;                  // of a function: in the plan's arena
    hdst__node *node;               // NULL: fused into its consumer
    uint32_t length;                // functions that are fused with it, so far
    bool whole;                     // one of them asks for the index or accumulates: it must see every record, whichever are wanted of it
    bool drops;                     // one of them filters or emits any number: indices of its input are no indices of its own
} hdst__plan_mark;

// A node of the graph. It is immutable but for `kept`, and belongs to the context.
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

    hdst_source *source;            // read: retained
    hdst_module *module;            // read, zip: whose record it is; retained
    hdst__bound_source *bound;      // read: the source with its columns matched to the record
    hdst__reader reader;            // read
    hdst_map_spec *spec;            // functions of the user
    uint64_t first, count;          // slice: from which record, how many; top: how many; dense reduce: rows; partition: parts
    uint64_t seed, limit;           // sample: of random numbers below 2^63, those below limit are in
    uint32_t key;                   // dense reduce: leaf of the key
    hdst__field_place *keys;        // group: of the key, in the parent's record
    size_t key_count;
    hdst__container container;      // reductions by key: that the user insists on
    bool dense;                     // group: the key is the number of a record of the result, which has `count`
    hdst__field_place place;        // sieve, top: what is compared
    bool largest;                   // top: not the smallest
    const char *extreme;            // top: one record, which must be; for messages. NULL: any number
    hdst__sort_key *sort_keys;      // sort
    size_t sort_key_count;
    char *sort_text;                // as the user wrote them
    uint32_t nested;                // caches below one another
    hdst__kept *kept;               // cache: made by the first run that reads it
    hdst__plan_mark mark;
};

// --- For the files of operators; the context's lock is held ---

extern hdst_dataset hdst__no_dataset;       // stands in where there is no memory
hdst_dataset *hdst__dataset_new(hdst_context *context, const hdst__operator *op, hdst_dataset *parent);     // takes over the parent's error, layout and record
void hdst__dataset_as_structs(hdst_dataset *dataset);       // computed records are C structs
hdst_dataset *hdst__dataset_fail(hdst_dataset *dataset, const hdst_error *error);
// A dataset with records, or HDST_E_USAGE: `what` needs them.
hdst_status hdst__dataset_has_records(const hdst_dataset *dataset, const char *what, hdst_error *error);
// Records of one read as the other: names, types and places of all fields are equal.
bool hdst__same_records(const hdst__record *a, const hdst__record *b);

#endif
