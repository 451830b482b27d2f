// SPDX-License-Identifier: Apache-2.0
// Records in the order of parts that the program names for them, those of a part in input order: a stable sort (shuffle/sort/sort.h) of the records behind their parts'
// numbers, so what the memory budget has no room for goes through a temporary file.
#ifndef HDST_SHUFFLE_GROUP_REPARTITION_H
#define HDST_SHUFFLE_GROUP_REPARTITION_H

#include "engine/engine.h"

typedef struct hdst__parting hdst__parting;

// The record must outlive it. NULL: out of memory, or there is no room for a number in front of the record; *why then says so.
hdst__parting *hdst__parting_create(hdst__engine *engine, const hdst__record *record, uint64_t parts, const char **why);
void hdst__parting_forget(hdst__parting *parting);      // gives the records back; the counts stay
void hdst__parting_destroy(hdst__parting *parting);     // NULL is fine
// `numbers` has a uint32_t for each record. One that is no part ends the run with HDST_E_RECORD (hdst__parting_bad; the message is the caller's), or where the engine
// skips records that fail the record is left out. What was read last is forgotten.
hdst_status hdst__parting_run(hdst__parting *parting, const hdst__reader *records, const hdst__reader *numbers, hdst_error *error);
void hdst__parting_bad(const hdst__parting *parting, uint64_t *record, uint32_t *number);
hdst__reader hdst__parting_reader(hdst__parting *parting);              // of the records in order, until the next run; by one thread at a time
const uint64_t *hdst__parting_counts(const hdst__parting *parting);     // records of each part
const hdst__run_stats *hdst__parting_stats(const hdst__parting *parting);
void hdst__parting_explain(const hdst__parting *parting, hdst__buffer *out);    // of the last run, appended

#endif
