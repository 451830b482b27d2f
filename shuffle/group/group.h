// SPDX-License-Identifier: Apache-2.0
// Records by their keys: those with equal keys one after another, in the order of the input. So each key has a run of records, whatever is done with it.
//
// Order of the keys: by their hash, then by their bits (record/key_hash.h); of dense keys by the key. Floats count by their bits: -0 and +0 are two keys.
#ifndef HDST_SHUFFLE_GROUP_GROUP_H
#define HDST_SHUFFLE_GROUP_GROUP_H

#include "base/arena.h"
#include "engine/engine.h"

typedef struct hdst__run {
    uint64_t first, count;
} hdst__run;

typedef struct hdst__key_field {   // of a key: a number in the C struct
    uint64_t offset;
    hdst__kind kind;
} hdst__key_field;

typedef struct hdst__group_batch {  // records as they are read, a few at a time
    hdst__arena arena;
    const hdst__storage *storage;
    char *rows;
    uint64_t records;               // at most
} hdst__group_batch;

typedef struct hdst__group {
    hdst__engine *engine;
    const hdst__record *record;
    const hdst__key_field *part;
    size_t part_count, key_bytes;   // key_bytes: of the packed key
    bool dense;                     // one part, an integer: it is the number of a row below `dense_rows`
    uint64_t dense_rows;

    // The part at hand
    char *rows;                     // in order, as C structs
    uint64_t row_count;
    hdst__run *run;
    uint64_t run_count;

    bool large;                     // those of one hash, or dense key, that have no room at once: `rows` has the first record of each of its keys, `run` their counts and where
                                    // they would lie if the keys' records stood one after another. hdst__group_large_open reads them

    // Of the last start
    bool whole, wide;               // whole: there is one part; wide: numbers and places do not fit 32 bits
    uint64_t from, step, end;       // the next part: the hashes, or dense keys, from ... from + step - 1
    uint64_t usual;                 // the step, where keys are spread evenly
    uint64_t most, parts;           // records that fit; parts so far
    uint64_t skipped;               // records with a dense key out of range, where such are left out
    uint64_t bad_record, bad_key;   // the first of them; UINT64_MAX: none
    hdst__run_stats stats;
} hdst__group;

// The record and the parts of the key must outlive it.
void hdst__group_init(hdst__group *group, hdst__engine *engine, const hdst__record *record, const hdst__key_field *part, size_t part_count);
void hdst__group_release(hdst__group *group);      // the part at hand; safe on a zeroed one
// Where half of what is left of the host's budget has no room for all records, keys come in parts, by ranges of their hashes: each part is a pass over the input.
hdst_status hdst__group_start(hdst__group *group, const hdst__reader *input, hdst_error *error);
// The next part, in the order of the keys; *more is false, and nothing there, after the last one. All records of a key lie in one part. HDST_OK also with a bad record that is not
// to be skipped: then there are no rows.
hdst_status hdst__group_next(hdst__group *group, const hdst__reader *input, bool *more, hdst_error *error);
uint64_t hdst__group_number(const hdst__key_field *part, const char *row);     // its bits; signed integers extended

// --- group_large.c ---
typedef struct hdst__group_large {        // reads the records of one key
    hdst__group *group;
    const hdst__reader *input;
    const char *key;                // a record with it
    hdst__group_batch batch;
    uint64_t at, in_batch, left;    // records of the input that were read; in the last batch; of these, not looked at yet
} hdst__group_large;

// All keys of the part at hand, where it is too large: counts them.
hdst_status hdst__group_list_large(hdst__group *group, const hdst__reader *input, hdst_error *error);
// The records of key `k` of a large part, in the order of the input. The group must stay as it is.
hdst_status hdst__group_large_open(hdst__group_large *large, hdst__group *group, const hdst__reader *input, uint64_t k, hdst_error *error);
// The next ones, at most `most`; fewer only at the end.
hdst_status hdst__group_large_next(hdst__group_large *large, char *rows, uint64_t most, uint64_t *count, hdst_error *error);
void hdst__group_large_close(hdst__group_large *large);     // safe on a zeroed one

// --- group_read.c ---
// The records of the next part. *full: there are more than fit.
hdst_status hdst__group_read_part(hdst__group *group, hdst__rows *rows, const hdst__reader *input, bool *full, hdst_error *error);
// Makes the next part smaller, so that its records fit; `large` where it is a single hash or dense key and they do not.
hdst_status hdst__group_narrow(hdst__group *group, const hdst__reader *input, hdst_error *error);
hdst_status hdst__group_batch_make(const hdst__group *group, hdst__group_batch *batch, const hdst__reader *input, hdst_error *error);
// Records first ... first + count - 1 of the input, as many as a batch has at most.
hdst_status hdst__group_batch_read(const hdst__group *group, const hdst__group_batch *batch, const hdst__reader *input, uint64_t first, uint64_t *count, hdst_error *error);
// Whether the record is of the next part. Notes in the first part what has a dense key out of range; `index`: of the record in the input.
bool hdst__group_in_part(hdst__group *group, const char *row, uint64_t index);
void hdst__group_forget_bad(hdst__group *group);     // before the input is read once more for the first part
uint32_t hdst__group_hash(const hdst__group *group, const char *row);

// --- group_order.c ---
// Orders the rows of a part, which become the group's, and finds their runs. With a bad record that is not to be skipped HDST_OK, and nothing else.
hdst_status hdst__group_order(hdst__group *group, hdst__rows *rows, hdst_error *error);

// --- group_sort.c ---
typedef struct hdst__group_entry {
    uint64_t key, index;            // the key's hash, or the dense key; which row
} hdst__group_entry;

enum { HDST__KEY_WORDS = 64, HDST__LEAST_PART = 64 };     // of a key, at most; records of a part, where there is memory at all
// Bytes of the packed key.
size_t hdst__group_key_bytes(const hdst__key_field *part, size_t count);
void hdst__group_pack(const hdst__group *g, const char *row, uint64_t *words);
// Sorts by the number `key`, stably: returns the array of the two that holds the entries in order.
hdst__group_entry *hdst__group_order_numbers(hdst__group_entry *entries, hdst__group_entry *scratch, uint64_t count);
// The same by the upper 32 bits of words.
uint64_t *hdst__group_order_words(uint64_t *words, uint64_t *scratch, uint64_t count);
// Sorts rows by their packed keys, stably: those of several keys with one hash, a few. False: out of memory.
bool hdst__group_order_rows(const hdst__group *group, char *rows, uint64_t count);

#endif
