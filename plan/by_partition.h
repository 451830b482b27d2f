// SPDX-License-Identifier: Apache-2.0
// What keeps the parts of a partition below: each part is reduced by itself, and what they give stands one after another. A part of a reduction by
// key and of a group.
#ifndef HDST_PLAN_BY_PARTITION_H
#define HDST_PLAN_BY_PARTITION_H

#include "engine/memory/output.h"
#include "engine/memory/spill.h"
#include "plan/plan.h"
#include "record/field_path.h"
#include "shuffle/aggregate/aggregate.h"

typedef struct hdst__by_partition {
    const hdst__aggregate_spec *spec;   // NULL: it is no reduction
    hdst__aggregate *aggregate;     // made at the first run; of a group only to tell keys apart
    const hdst__node *partition;    // whose parts are kept; NULL: none
    const hdst__field_place *key_fields;
    uint64_t *counts;               // records of each part
    hdst__output rows;              // the result, part by part
    hdst__spill file;               // or, where the budget has no room for all of them, a file
    const void *mapped;
    uint64_t room;                  // bytes that the budget had when the run began
} hdst__by_partition;

void hdst__by_partition_make(hdst__arena *arena, hdst__node *node, hdst__by_partition *p);     // p->partition, if there is one below. p->spec is there
hdst_status hdst__by_partition_create(const hdst__node *node, hdst__by_partition *p, hdst_error *error);       // p->aggregate
void hdst__by_partition_drop(const hdst__node *node, hdst__by_partition *p);           // the records
// A part's records, from record `first` of the input on: gives what they give to hdst__by_partition_add, in the order of hash and key.
typedef hdst_status (*hdst__part_step)(hdst__node *node, const hdst__reader *part, uint64_t first, hdst__run_stats *stats, hdst_error *error);
hdst_status hdst__by_partition_add(hdst__by_partition *p, const void *rows, uint64_t count, hdst_error *error);
// All parts. The result is the node's rows then, and their counts. p->aggregate is there.
hdst_status hdst__by_partition_run(hdst__node *node, hdst__by_partition *p, hdst__part_step step, hdst__run_stats *stats, hdst_error *error);

#endif
