// SPDX-License-Identifier: Apache-2.0
// How accumulator tables meet and are read: `combine` and `finish` of a reduction (accum/representation.h tells of the words; `identity` is all zero).
// Everything here works on device tables: exact states, so the order and the grouping of merges change no bit.
// Row counts are indexed by the parameters of the function that the tables were made for.
#ifndef HDST_ACCUM_REDUCE_H
#define HDST_ACCUM_REDUCE_H

#include "accum/tables.h"

// Merges `from` into `to`, both hdst__tables_device_words long.
void hdst__tables_merge(const hdst__tables *tables, const uint64_t *rows, int64_t *to, const int64_t *from);

// The value of one cell as a 64-bit pattern of its kind: element `element` of leaf `leaf` of row `row` of accumulator `accum` (index into tables->accum).
uint64_t hdst__table_read(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, uint64_t row, uint32_t leaf, uint64_t element);

// Writes rows first .. first + count - 1 as C structs of `record` (the accumulator's) to `out`. Padding bytes are set to zero.
void hdst__table_read_rows(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, const hdst__record *record,
                           uint64_t first, uint64_t count, void *out);

#endif
