// SPDX-License-Identifier: Apache-2.0
// Joins as functions of one side's records, which find their partners in a frozen hash table of the other side's (shuffle/join/frozen_table.h).
#ifndef HDST_CODEGEN_LOWER_OPERATOR_PROBE_H
#define HDST_CODEGEN_LOWER_OPERATOR_PROBE_H

#include "codegen/ir/ir.h"
#include "record/field_path.h"

typedef enum hdst__probe_way {
    HDST__PROBE_PAIRS,              // a pair for each partner
    HDST__PROBE_THERE,              // records that have a partner, as they are
    HDST__PROBE_NOT_THERE,          // those that have none
} hdst__probe_way;

typedef struct hdst__probe {
    hdst__probe_way way;
    const hdst__record *input, *table;      // the side whose records go by; the other one
    const hdst__record *result;             // of pairs
    bool input_is_right;            // of pairs: {the left side's record, the right side's, bool for one that may be missing}
    bool alone;                     // of pairs: a record without a partner makes one with zeroes
    bool runs;                      // of pairs: slots are runs of rows with one key; else rows, each with a key of its own
    const hdst__field_place *input_key, *table_key;     // integers of the same types, in order
    size_t key_count;
} hdst__probe;

// Lives in `arena`. Parameters: the record, "slots", "slots displacements", with runs "rows".
ir_func *hdst__operator_probe(hdst__arena *arena, const hdst__probe *probe);

#endif
