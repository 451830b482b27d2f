// SPDX-License-Identifier: Apache-2.0
// The bytes that the texts of a partial's keys or rows refer to: a heap of its own, so that it needs nothing of the run, or of the other partial, that they
// came from.
#ifndef HDST_PARTIAL_TEXTS_H
#define HDST_PARTIAL_TEXTS_H

#include "accum/keyed_partial.h"
#include "accum/ranged_partial.h"
#include "engine/memory/text_heap.h"

// Copies what rows refer to into the heap, as it is looked at; they refer to the copies then.
hdst_status hdst__partial_texts_keep(hdst__text_heap *heap, const hdst__text_rows *of, void *rows, uint64_t count, hdst_error *error);

// Keys and ranges, of partials without texts too. After an error `to` is as the merge without texts leaves it.
hdst_status hdst__keyed_texts_merge(hdst__text_heap *heap, hdst__keyed_partial *to, const hdst__keyed_partial *from, hdst_error *error);
hdst_status hdst__ranged_texts_merge(hdst__text_heap *heap, const hdst__record *record, hdst__ranged_partial *to, const hdst__ranged_partial *from,
                                     const hdst__range_rule *rule, hdst_error *error);

// What nobody refers to any more goes, if it is more than what they do: *heap becomes another one. Without memory for that it stays.
void hdst__keyed_texts_compact(hdst__text_heap **heap, hdst__runtime *runtime, hdst__keyed_partial *partial);
void hdst__ranged_texts_compact(hdst__text_heap **heap, hdst__runtime *runtime, const hdst__record *record, hdst__ranged_partial *partial);

#endif
