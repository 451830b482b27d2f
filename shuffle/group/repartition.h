// SPDX-License-Identifier: Apache-2.0
// Records in the order of parts that the program names for them, those of a part in input order: a stable sort (shuffle/sort/sort.h) of the records behind
// their parts' numbers, so what the memory budget has no room for goes through a temporary file.
#ifndef HDST_SHUFFLE_GROUP_REPARTITION_H
#define HDST_SHUFFLE_GROUP_REPARTITION_H

#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "base/buffer.h"

typedef struct hdst__repartition hdst__repartition;

// The record must outlive it. NULL: out of memory, or there is no room for a number in front of the record; *why then says so.
hdst__repartition *hdst__repartition_create(hdst__engine *engine, const hdst__record *record, uint64_t parts, const char **why);
void hdst__repartition_forget(hdst__repartition *repartition);      // gives the records back; the counts stay
void hdst__repartition_destroy(hdst__repartition *repartition);     // NULL is fine
// `numbers` has a uint32_t for each record. One that is no part ends the run with HDST_E_RECORD (hdst__repartition_bad; the message is the caller's), or where
// the engine skips records that fail the record is left out. What was read last is forgotten.
hdst_status hdst__repartition_run(hdst__repartition *repartition, const hdst__reader *records, const hdst__reader *numbers, hdst_error *error);
void hdst__repartition_bad(const hdst__repartition *repartition, uint64_t *record, uint32_t *number);
hdst__reader hdst__repartition_reader(hdst__repartition *repartition);              // of the records in order, until the next run; by one thread at a time
const uint64_t *hdst__repartition_counts(const hdst__repartition *repartition);     // records of each part
const hdst__run_stats *hdst__repartition_stats(const hdst__repartition *repartition);
void hdst__repartition_explain(const hdst__repartition *repartition, hdst__buffer *out);    // of the last run, appended

#endif
