// SPDX-License-Identifier: Apache-2.0
// A part of the fixed tree by which associative reduces fold (codegen/ir/fold_tree.h): over a range of the records of the whole, whose ends need not be
// those of a run of 64. What can be folded within the range is folded: its rows are, from its first record on, what came of the largest runs of 64, 64 * 64
// and so on records that begin at multiples of their length. So there are at most 63 of each length before and behind the longest ones, and which they are
// is told by the range alone.
//
// Functions run in the interpreter: of a range that a device has folded once these are few.
#ifndef HDST_CODEGEN_INTERP_FOLD_RANGE_H
#define HDST_CODEGEN_INTERP_FOLD_RANGE_H

#include "accum/ranged_partial.h"
#include "codegen/interp/interp.h"

typedef struct hdst__folder {
    const ir_func *func;            // of two records; scalar passes done
    const hdst__allocator *allocator;
    const hdst__cancel *cancel;     // NULL: never
} hdst__folder;

uint64_t hdst__fold_range_rows(uint64_t first, uint64_t count);        // that stand for so many records
// Folds what is left to fold in range->rows: `head` records, then `runs` results of 64 records each, then records. The rows are the folder's allocator's.
// HDST_E_RECORD: the function failed, with the number of the record in the whole.
hdst_status hdst__fold_range_complete(const hdst__folder *folder, hdst__record_range *range, uint64_t head, uint64_t runs, hdst_error *error);
// hdst__range_rule: user is an hdst__folder.
hdst_status hdst__fold_range_join(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error);
bool hdst__fold_range_is_sound(void *user, const hdst__record_range *range);
// The one record that all of a range that begins at 0 come to.
hdst_status hdst__fold_range_finish(const hdst__folder *folder, const hdst__record_range *range, void *record, hdst_error *error);

#endif
