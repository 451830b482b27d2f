// SPDX-License-Identifier: Apache-2.0
// A node's input as C structs one after another: for operators whose records are made of neighbouring ones (scans by functions, windows).
#ifndef HDST_PLAN_ROW_SOURCE_H
#define HDST_PLAN_ROW_SOURCE_H

#include "plan/named_keys.h"
#include "plan/plan.h"

typedef struct hdst__row_source {
    const hdst__node *node;         // whose first input it is
    const hdst__record *record;
    const hdst__storage *storage;   // the rule of its addresses
    hdst__key_fields key;           // where a record differs in them from the one in front of it a run begins; none: all are one run
} hdst__row_source;

void hdst__row_source_make(hdst__arena *arena, const hdst__node *node, const hdst__named_keys *key, hdst__row_source *source);
uint64_t hdst__row_source_count(const hdst__row_source *source);
hdst_status hdst__row_source_read(const hdst__row_source *source, uint64_t first, uint64_t count, char *rows, hdst_error *error);
bool hdst__row_source_differs(const hdst__row_source *source, const char *a, const char *b);      // whether their keys do
const hdst__allocator *hdst__row_source_allocator(const hdst__row_source *source);     // for rows
// A reader of `records` records of type `record` that are made of the source's, as C structs, by `fill`.
hdst__reader hdst__row_source_reader(const hdst__row_source *source, const hdst__record *record, uint64_t records);

#endif
