// SPDX-License-Identifier: Apache-2.0
// Partials of what depends on where records stand in the whole: the ranges of records that they cover, each with rows that stand for them. What the rows
// are, and how those of two neighbours become one, says whoever has them: pieces of a fold's tree (codegen/interp/fold_range.h), the best records.
//
// Two ranges that touch are always joined, so what a partial is depends on the records that it covers alone, not on the order in which they came.
#ifndef HDST_ACCUM_RANGED_PARTIAL_H
#define HDST_ACCUM_RANGED_PARTIAL_H

#include "accum/partial_frame.h"
#include "accum/row_texts.h"
#include "base/alloc.h"
#include "record/type.h"

typedef struct hdst__record_range {
    uint64_t first, count;          // records of the whole; never 0
    uint64_t row_count;
    char *rows;                     // as C structs
} hdst__record_range;

typedef struct hdst__ranged_partial {
    const hdst__allocator *allocator;
    uint64_t row_bytes;
    hdst__record_range *range;      // ascending; between two of them records are missing
    size_t range_count;
} hdst__ranged_partial;

// What is to be known of the rows.
typedef struct hdst__range_rule {
    // Of two neighbours; *joined has no rows yet, which are the allocator's. They stay as they are.
    hdst_status (*join)(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error);
    bool (*is_sound)(void *user, const hdst__record_range *range);      // whether a range that came as bytes can be
    void *user;
} hdst__range_rule;

void hdst__ranged_partial_destroy(hdst__ranged_partial *partial);      // safe on a zeroed one
// Takes the rows over, also with an error. A range of no records changes nothing.
hdst_status hdst__ranged_partial_add(hdst__ranged_partial *partial, hdst__record_range *range, const hdst__range_rule *rule, hdst_error *error);
// HDST_E_USAGE: some records are in both. After any error `to` is as it was.
hdst_status hdst__ranged_partial_merge(hdst__ranged_partial *to, const hdst__ranged_partial *from, const hdst__range_rule *rule, hdst_error *error);
// Whether it covers all records from the first one on; else HDST_E_USAGE, which says which are missing.
hdst_status hdst__ranged_partial_is_whole(const hdst__ranged_partial *partial, hdst_error *error);
// Fills what is between the fields of the rows with zeroes, so that equal rows are equal bytes. false: no memory.
bool hdst__clear_padding(const hdst__allocator *allocator, const hdst__record *record, char *rows, uint64_t count);

// In the frame (accum/partial_frame.h): u64 bytes of a row, u64 ranges; for each: u64 first, u64 records, u64 rows, the rows, and the bytes of their texts
// (accum/row_texts.h)
void hdst__ranged_partial_write(const hdst__ranged_partial *partial, const hdst__record *record, hdst__buffer *out);
// Into one without ranges, with its row_bytes; the bytes of texts go where `place` says. HDST_E_FORMAT without a message: the caller has one. HDST_E_MEMORY.
hdst_status hdst__ranged_partial_read(hdst__ranged_partial *partial, const hdst__record *record, const hdst__range_rule *rule,
                                      const hdst__bytes_place *place, hdst__byte_cursor *from);

#endif
