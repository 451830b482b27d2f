// SPDX-License-Identifier: Apache-2.0
// What the accumulators of a public partial are called, and their rows as C structs: the description that goes along in its bytes
// (accum/partial_bytes.h), so that who reads them needs neither kernel nor dataset. Numbers are little-endian, a text is its u32 length and bytes:
//
//     u32 tables; for each: text function, text parameter, u64 rows, u8 whether it is the records of the result, then its record:
//     text name, u64 bytes, u64 alignment, u32 leaves; for each: text path, u8 kind, u64 offset, u64 elements, u32 dimensions,
//     for each: u64 count, u64 stride
#ifndef HDST_PARTIAL_TABLES_H
#define HDST_PARTIAL_TABLES_H

#include "accum/partial_bytes.h"
#include "plan/plan.h"

typedef struct hdst__partial_table {
    const char *function, *name;
    uint64_t row_count;
    bool is_records;                // of the result: a reduce's
    const hdst__record *record;
    void *rows;                     // finished, since the partial last changed; NULL: not yet
} hdst__partial_table;

// Appends what one table of a plan is to a description that begins with their number.
void hdst__describe_partial_table(const hdst__plan_table *table, bool is_records, hdst__buffer *out);
// In the arena. HDST_E_FORMAT: it makes no sense, or is not of this state; nothing that follows it reaches beyond a row.
hdst_status hdst__partial_tables_read(hdst__arena *arena, const hdst__partial_label *label, const hdst__partial *state, hdst__partial_table **tables,
                                      size_t *count, hdst_error *error);

#endif
