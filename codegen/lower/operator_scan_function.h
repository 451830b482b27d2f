// SPDX-License-Identifier: Apache-2.0
// Scans by a function of two records, made as IR: over blocks of 64 records.
#ifndef HDST_CODEGEN_LOWER_OPERATOR_SCAN_FUNCTION_H
#define HDST_CODEGEN_LOWER_OPERATOR_SCAN_FUNCTION_H

#include "codegen/ir/fold_tree.h"
#include "codegen/ir/ir.h"

enum { HDST__SCAN_RECORDS = HDST__FOLD_RECORDS };       // of a block: part of the meaning of a scan

// A block: its records {uint32_t count; uint32_t has; uint64_t begins; T before; T rows[64]}. `begins` has bit i set where row i begins a run; `before` is
// what the records in front of the block come to, if `has`. NULL: T is too large.
const hdst__record *hdst__scan_block_record(hdst__arena *arena, const hdst__record *record);
// What a block comes to: {T value; uint32_t begins}, of its last run; `begins`: a run begins in it, so that what is in front of it does not count behind it.
const hdst__record *hdst__scan_total_record(hdst__arena *arena, const hdst__record *record);

// A map from blocks to totals. `reduce` is lowered as a function of two records and an output (hdst__lower_reduce); the rows of a block are taken from left to
// right, from its first one or the last that begins a run.
ir_func *hdst__operator_scan_total(hdst__arena *arena, const ir_func *reduce, const hdst__record *block, const hdst__record *total);
// A flat_map from blocks to the records of the scan, one for each row: what `before` and all rows up to this one come to, from left to right. exclusive: up
// to the one in front of it, and where there is none the broadcast "identity" (T).
ir_func *hdst__operator_scan(hdst__arena *arena, const ir_func *reduce, const hdst__record *block, bool exclusive);

#endif
