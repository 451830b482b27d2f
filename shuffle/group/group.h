// SPDX-License-Identifier: Apache-2.0
// Records by their keys: those with equal keys one after another, in the order of the input. So each key has a run of records, whatever is done with it.
//
// Order of the keys: by their hash, then by their bits (record/key_hash.h); of dense keys by the key. Floats count by their bits: -0 and +0 are two keys.
#ifndef HDST_SHUFFLE_GROUP_GROUP_H
#define HDST_SHUFFLE_GROUP_GROUP_H

#include "engine/engine.h"
#include "record/key_field.h"
#include "engine/common/run_stats.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/reader.h"
#include "engine/memory/resident_value.h"

typedef struct hdst__run {
    uint64_t first, count;
} hdst__run;

typedef struct hdst__group {
    hdst__engine *engine;
    const hdst__record *record;
    hdst__key_fields key;
    bool without_runs;              // they are not wanted
    bool may_stay;                  // records may be ordered on a device and stay there (group_device.h), as who reads them finds them there
    hdst__dataset_cache *cache;     // what the input stays in, which is read where it lies if that can be; NULL: nothing
    const char *lies;               // where all its records are as C structs; NULL: only the reader knows
    bool dense;                     // the key is one integer, the number of a row below `dense_rows`
    uint64_t dense_rows;

    // The part at hand
    char *rows;                     // in order, as C structs; NULL: they are `there`
    hdst__value_rows *there;        // NULL, or where they are on a device
    uint64_t row_bytes;             // of that memory, where another part may have it
    uint64_t row_count;
    hdst__run *run;
    uint64_t run_count;

    bool large; // those of one hash, or dense key, that have no room at once: `rows` has the first record of each of its keys, `run` their counts and where
                // they would lie if the keys' records stood one after another. hdst__group_large_open reads them

    char *kept;                     // memory of an earlier part's rows
    uint64_t kept_bytes;

    struct hdst__group_device *by_device;       // NULL: nothing was ordered there
    const char *why_host;           // the last order was not made there: why, "": there is nothing to tell. NULL: it was

    // Of the last start
    bool whole, wide;               // whole: there is one part; wide: numbers and places do not fit 32 bits
    uint64_t from, step, end;       // the next part: the hashes, or dense keys, from ... from + step - 1
    uint64_t usual;                 // the step, where keys are spread evenly
    uint64_t most, parts;           // records that fit; parts so far
    uint64_t skipped;               // records with a dense key out of range, where such are left out
    uint64_t bad_record, bad_key;   // the first of them; UINT64_MAX: none
    hdst__run_stats stats;
} hdst__group;

// The record and the fields of the key must outlive it.
void hdst__group_init(hdst__group *group, hdst__engine *engine, const hdst__record *record, const hdst__key_field *field, size_t field_count);
void hdst__group_release(hdst__group *group);      // the part at hand, and all memory; safe on a zeroed one
void hdst__group_rest(hdst__group *group);         // the same until the next start, which finds memory for its rows if the budget has plenty
// Where half of what is left of the host's budget has no room for all records, keys come in parts, by ranges of their hashes: each part is a pass over the
// input.
hdst_status hdst__group_start(hdst__group *group, const hdst__reader *input, hdst_error *error);
// The next part, in the order of the keys; *more is false, and nothing there, after the last one. All records of a key lie in one part. HDST_OK also with a bad
// record that is not to be skipped: then there are no rows.
hdst_status hdst__group_next(hdst__group *group, const hdst__reader *input, bool *more, hdst_error *error);

#endif
