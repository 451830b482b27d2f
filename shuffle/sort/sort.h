// SPDX-License-Identifier: Apache-2.0
// Sorting records, as the public door sees it: several keys, each ascending or descending, stable. What does not fit the memory budget goes through runs in
// temporary files.
//
// Order of a key: numbers by value; false before true; floats in the total order -NaN < -inf < ... < -0 < +0 < ... < inf < NaN, NaNs by their bits (IEEE
// 754-2008, 5.10). So equal inputs give equal bits on every device.
#ifndef HDST_SHUFFLE_SORT_SORT_H
#define HDST_SHUFFLE_SORT_SORT_H

#include "engine/engine.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/consumer.h"
#include "engine/memory/host_rows.h"
#include "base/buffer.h"
#include "record/key_field.h"

typedef struct hdst__sort_key {
    uint32_t leaf;                  // of the record; a number or a bool
    bool descending;
    uint64_t element;
} hdst__sort_key;

enum { HDST__SORT_SLICES_KEYS = 8 };    // of records that are taken as they come, at most

typedef struct hdst__sort hdst__sort;

// Keys are in order of weight, at least one; they and the record must outlive the sort. NULL: out of memory.
hdst__sort *hdst__sort_create(hdst__engine *engine, const hdst__record *record, const hdst__sort_key *keys, size_t count);
// By the hash of a key of numbers, of at most 8 bytes when it is packed; among equal hashes anyhow, but equal keys one after another, in the order of the
// input. Such records stay on a device, and hdst__sort_run_on_device alone sorts so.
hdst__sort *hdst__sort_create_by_hash(hdst__engine *engine, const hdst__record *record, const hdst__key_fields *key);
void hdst__sort_forget(hdst__sort *sort);       // gives the records back; how it sorted stays
void hdst__sort_destroy(hdst__sort *sort);      // NULL is fine
// Reads the input (a cached dataset's where it lies) and sorts it. `keep`: a stage reads the result, so it is best left on the device. The records are then
// what hdst__sort_reader reads, until the next run or the sort's end. `rows`: where all the input's records lie as C structs, which need not be copied then;
// NULL: the reader alone knows.
hdst_status hdst__sort_run(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, const void *rows, bool keep, hdst_error *error);
// Where the first device does it, and has room for it all (*done); else nothing is done.
hdst_status hdst__sort_run_on_device(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, bool *done, hdst_error *error);
void hdst__sort_rest_on_device(hdst__sort *sort);       // gives back what is not the records
// The same in three steps, for records that come from a stage as it runs: what the last run gave is forgotten; the stage gives them to the consumer; they are
// sorted. The same records in the same order as hdst__sort_run's.
void hdst__sort_begin(hdst__sort *sort);
const hdst__consumer *hdst__sort_consumer(hdst__sort *sort);
hdst_status hdst__sort_end(hdst__sort *sort, bool keep, hdst_error *error);
// Whether that pays: small records without texts, keys that are numbers, one CPU with few threads. Opens the device.
bool hdst__sort_takes_slices(hdst__engine *engine, const hdst__record *record, const hdst__sort_key *keys, size_t count);
hdst__reader hdst__sort_reader(hdst__sort *sort);
hdst__dataset_cache *hdst__sort_resident(hdst__sort *sort);     // where they are on the device; NULL: not there
// The records as C structs on the host; NULL: they are elsewhere, or there are none.
const void *hdst__sort_rows(const hdst__sort *sort);
const hdst__run_stats *hdst__sort_stats(const hdst__sort *sort);
// How the last run sorted, in a line. Appended to `out`.
void hdst__sort_explain(const hdst__sort *sort, hdst__buffer *out);

#endif
