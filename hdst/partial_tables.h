// SPDX-License-Identifier: Apache-2.0
// What the accumulators of a public partial are called, and their rows as C structs: the description that goes along in its bytes
// (accum/partial_bytes.h), so that who reads them needs neither kernel nor dataset. Numbers are little-endian, a text is its u32 length and bytes:
//
//     u32 tables; for each: text function, text parameter, u64 rows, u8 whether it is the records of the result, then its record:
//     text name, u64 bytes, u64 alignment, u32 leaves; for each: text path, u8 kind, u64 offset, u64 elements, u32 dimensions,
//     for each: u64 count, u64 stride; then the key, of a reduction by key: u32 leaves, the u32 number of each
//     of a reduction by key, which is one table: its packed keys in order (record/key_hash.h), u64 words; of texts spans (accum/row_texts.h)
#ifndef HDST_PARTIAL_TABLES_H
#define HDST_PARTIAL_TABLES_H

#include "accum/keyed_partial.h"
#include "accum/partial_bytes.h"
#include "accum/row_texts.h"
#include "plan/plan.h"

typedef struct hdst__partial_table {
    const char *function, *name;
    uint64_t row_count;
    bool is_records;                // of the result: a reduce's
    const hdst__record *record;
    uint32_t key_count;             // of a reduction by key: leaves of the key, by number, ascending; 0: it is none
    const uint32_t *key_leaves;
    const hdst__record *values;     // the record's leaves but those, in its struct
    void *rows;                     // finished, since the partial last changed; NULL: not yet
} hdst__partial_table;

// Appends the description. `keyed`: NULL, or the keys of the only table.
void hdst__partial_tables_describe(const hdst__partial_table *tables, size_t count, const hdst__keyed_partial *keyed, hdst__buffer *out);
// In the arena; the bytes of texts in keys go where `place` says. `state` is of the same bytes; where the description has keys it becomes a part of *keyed,
// and is NULL. HDST_E_FORMAT: it makes no sense, or is not of this state; nothing that follows it reaches beyond a row. HDST_E_MEMORY.
hdst_status hdst__partial_tables_read(hdst__arena *arena, const hdst__bytes_place *place, const hdst__partial_label *label, hdst__partial **state,
                                      hdst__keyed_partial **keyed, hdst__partial_table **tables, size_t *count, hdst_error *error);
// One table without keys, in the arena; what follows it is left. false: it makes no sense.
bool hdst__partial_table_read(hdst__arena *arena, hdst__byte_cursor *from, hdst__partial_table *table);
// The keys into the structs of all rows.
void hdst__partial_table_write_keys(const hdst__partial_table *table, const hdst__keyed_partial *keyed, void *rows);

#endif
