// SPDX-License-Identifier: Apache-2.0
// Partials of what depends on where records stand in the whole: folds, and the best records. They know which records they cover, and have all that it takes
// to merge and to finish them. The description in their bytes (accum/partial_frame.h) is that of one table (hdst/partial_tables.h), then
//
//     of a fold: its function (plan/saved_function.h)
//     of the best records: u32 leaf, u64 element, u64 how many, u8 whether the largest, text how one is called that must be, or nothing
#ifndef HDST_PARTIAL_RANGES_H
#define HDST_PARTIAL_RANGES_H

#include "accum/ranged_partial.h"
#include "codegen/interp/fold_range.h"
#include "hdst/partial_tables.h"
#include "hdst/partial_texts.h"
#include "hdst/result.h"
#include "plan/saved_function.h"
#include "shuffle/sort/top_range.h"

typedef struct hdst__partial_ranges {
    hdst__partial_kind kind;
    hdst__ranged_partial state;
    hdst__range_rule rule;          // of its rows
    hdst__text_heap **texts;        // that they refer to: the partial's
    hdst__partial_table table;
    const void *own;                // what the description has behind the table
    size_t own_bytes;
    hdst__saved_function saved;     // of a fold
    hdst__folder folder;
    hdst__top_range top;
    const char *extreme;            // of one best record, which must be: "min_by"; "" else
} hdst__partial_ranges;

bool hdst__is_ranged(const hdst__node *target);        // an associative fold, or the best records
// Whether it can be kept unfinished.
hdst_status hdst__check_ranged(const hdst__node *target, hdst_error *error);
void hdst__keep_ranges(hdst__node *target, uint64_t first);        // from the next run on

// In the arena, but for the state, which is *ranges' as soon as that is there, and texts, which are in *texts. Running out of memory in the arena jumps to its
// handler.
// What the last run came to; `scratch` is filled. What is to be hashed of it is added to `identity`.
hdst_status hdst__partial_ranges_take(hdst__arena *arena, hdst__text_heap **texts, const hdst_result *result, hdst__buffer *scratch, hdst__hash *identity,
                                      hdst__partial_ranges **ranges, hdst_error *error);
hdst_status hdst__partial_ranges_from_bytes(hdst__arena *arena, hdst__text_heap **texts, hdst_context *context, const void *bytes, uint64_t size,
                                            hdst__hash *identity, hdst__partial_ranges **ranges, hdst_error *error);
bool hdst__are_ranges(const void *bytes, uint64_t size);   // bytes of such a partial, by their head
hdst_status hdst__partial_ranges_write(const hdst__partial_ranges *ranges, const hdst__hash *identity, hdst__buffer *scratch, hdst__buffer *out,
                                       hdst_error *error);
bool hdst__partial_ranges_meet(const hdst__partial_ranges *a, const hdst__partial_ranges *b);      // rows of the same kind
// After an error `to` is as it was.
hdst_status hdst__partial_ranges_merge(hdst__partial_ranges *to, const hdst__partial_ranges *from, hdst_error *error);
// Its records: table.rows, of the allocator, and table.row_count.
hdst_status hdst__partial_ranges_finish(hdst__partial_ranges *ranges, const hdst__allocator *allocator, hdst_error *error);

#endif
