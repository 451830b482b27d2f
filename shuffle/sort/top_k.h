// SPDX-License-Identifier: Apache-2.0
// The records with the largest (or smallest) values of a field, picked while all records pass by: candidates are at most twice as many as wanted, or a few
// thousand.
//
// Descending (ascending); records of equal values (-0 and +0 are equal) in the order of the input; NaN after all numbers. Texts byte for byte. The bytes of
// texts in records are copied, so that the input's need not stay.
#ifndef HDST_SHUFFLE_SORT_TOP_K_H
#define HDST_SHUFFLE_SORT_TOP_K_H

#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "record/text_span.h"

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
    hdst__text_heap *texts;         // that they refer to; NULL: they have no texts
    hdst__run_stats stats;
} hdst__top_k;

// The record must outlive it.
void hdst__top_k_init(hdst__top_k *top, hdst__engine *engine, const hdst__record *record, uint32_t leaf, uint64_t element, uint64_t wanted, bool largest);
void hdst__top_k_release(hdst__top_k *top);     // what the last run gave; safe on a zeroed one
hdst_status hdst__top_k_run(hdst__top_k *top, const hdst__reader *input, hdst_error *error);
// Which of two C structs comes earlier: below 0: the first one; 0: their values are equal.
int hdst__top_k_order(const hdst__top_k *top, const char *a, const char *b);
// The bits of the value of a C struct, as record/key_field.h has them; of a text the number of its first 8 bytes, which grows with it.
uint64_t hdst__top_k_value(const hdst__top_k *top, const char *row);
hdst__kind hdst__top_k_value_kind(const hdst__top_k *top);
// Puts records, none of which is better, behind those that the last run gave.
hdst_status hdst__top_k_append(hdst__top_k *top, const void *rows, uint64_t count, hdst_error *error);

#endif
