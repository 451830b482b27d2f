// SPDX-License-Identifier: Apache-2.0
// Joins: pairs of records of two inputs with equal keys, or records of one by whether the other has such. Both sides are ordered (join_side.h), of one that
// is much larger only what may have a partner (join_filter.h), unless it keeps the order of an earlier run. Then they are walked through side by side
// (join_walk.h), once to count the results and again where they are read; only the sides are ever held.
//
// Order of the results: (hash of the key, key, place in the left input, place in the right one). Keys are equal where their bits are, as in reductions by key.
#ifndef HDST_SHUFFLE_JOIN_JOIN_H
#define HDST_SHUFFLE_JOIN_JOIN_H

#include "base/buffer.h"
#include "engine/common/run_stats.h"
#include "engine/engine.h"
#include "engine/memory/reader.h"
#include "record/key_field.h"

typedef enum hdst__join_kind {
    HDST__JOIN_PAIRS,               // each left record with each right one of its key
    HDST__JOIN_SEMI,                // left records whose key is on the right
    HDST__JOIN_ANTI,                // those whose key is not
} hdst__join_kind;

typedef struct hdst__join_spec {
    hdst__join_kind kind;
    bool optional[2];               // of pairs: the left, the right record may be missing: the other one then comes alone
    const hdst__record *record[2];
    const hdst__key_field *key[2];  // of the same kinds, in order
    size_t key_count;
    // Of pairs {the left record; the right one; bool for each that is optional, whether it is there}; a record that is not there is zero. Else the left record.
    const hdst__record *result;
} hdst__join_spec;

typedef struct hdst__join hdst__join;

// Records and keys must outlive it. NULL: out of memory.
hdst__join *hdst__join_create(hdst__engine *engine, const hdst__join_spec *spec, hdst_error *error);
void hdst__join_forget(hdst__join *join);       // gives the records back; how it ran stays
void hdst__join_destroy(hdst__join *join);      // NULL is fine
// Reads both inputs, the left one first. The results are then what hdst__join_reader reads, from any thread, until the next run or the end. same: the input
// has the records that it had in the last run, which need not be ordered again then.
hdst_status hdst__join_run(hdst__join *join, const hdst__reader *const input[2], const bool same[2], hdst_error *error);
hdst__reader hdst__join_reader(hdst__join *join);
const hdst__run_stats *hdst__join_stats(const hdst__join *join);
void hdst__join_explain(const hdst__join *join, hdst__buffer *out);     // of the last run, appended

#endif
