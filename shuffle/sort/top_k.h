// SPDX-License-Identifier: Apache-2.0
// The records with the largest (or smallest) values of a field, picked while all records pass by: candidates are at most twice as many as wanted, or a few
// thousand.
//
// Descending (ascending); records of equal values (-0 and +0 are equal) in the order of the input; NaN after all numbers.
#ifndef HDST_SHUFFLE_SORT_TOP_K_H
#define HDST_SHUFFLE_SORT_TOP_K_H

#include "engine/engine.h"
#include "engine/memory/host_rows.h"

typedef struct hdst__top_k {
    hdst__engine *engine;
    const hdst__record *record;
    uint64_t offset;                // of the value in the C struct
    hdst__kind kind;
    uint64_t wanted;
    bool largest;

    // Of the last run
    char *rows;                     // as C structs
    uint64_t row_count, seen, kept; // kept: records that were among the best when they came
    hdst__run_stats stats;
} hdst__top_k;

// The record must outlive it.
void hdst__top_k_init(hdst__top_k *top, hdst__engine *engine, const hdst__record *record, uint32_t leaf, uint64_t element, uint64_t wanted, bool largest);
void hdst__top_k_release(hdst__top_k *top);     // what the last run gave; safe on a zeroed one
hdst_status hdst__top_k_run(hdst__top_k *top, const hdst__reader *input, hdst_error *error);
// The value of a C struct as a number: smaller for what comes earlier.
uint64_t hdst__top_k_key(const hdst__top_k *top, const char *row);
// Puts records, none of which is better, behind those that the last run gave.
hdst_status hdst__top_k_append(hdst__top_k *top, const void *rows, uint64_t count, hdst_error *error);

#endif
