// SPDX-License-Identifier: Apache-2.0
// Records by their keys: those with equal keys one after another, in the order of the input. So each key has a run of records, whatever is done with it.
//
// Order of the keys: by their hash, then by their bits (codegen/key_hash.h); of dense keys by the key. Floats count by their bits: -0 and +0 are two keys.
#ifndef HDST_ENGINE_GROUPING_H
#define HDST_ENGINE_GROUPING_H

#include "engine/engine.h"

typedef struct hdst__run {
    uint64_t first, count;
} hdst__run;

typedef struct hdst__group_part {   // of a key: a number in the C struct
    uint64_t offset;
    hdst__kind kind;
} hdst__group_part;

typedef struct hdst__grouping {
    hdst__engine *engine;
    const hdst__allocator *engine_allocator;
    const hdst__record *record;
    const hdst__group_part *part;
    size_t part_count;
    bool dense;                     // one part, an integer: it is the number of a row below `dense_rows`
    uint64_t dense_rows;

    // Of the last run
    char *rows;                     // in order, as C structs
    uint64_t row_count;
    hdst__run *run;
    uint64_t run_count, skipped;    // skipped: records with a dense key out of range, where such are left out
    uint64_t bad_record, bad_key;   // the first of them; UINT64_MAX: none
    uint64_t reserved;              // bytes of the host's budget
    hdst__run_stats stats;
} hdst__grouping;

// The record and the parts must outlive it.
void hdst__grouping_init(hdst__grouping *grouping, hdst__engine *engine, const hdst__record *record, const hdst__group_part *part, size_t part_count);
void hdst__grouping_release(hdst__grouping *grouping);      // what the last run gave; safe on a zeroed one
// Reads the input and orders it. Host memory: twice the records and 16 bytes for each (32 where there are 2^32 or more), while it runs. HDST_OK also with a bad record that is not to be skipped: then there are
// no rows.
hdst_status hdst__grouping_run(hdst__grouping *grouping, const hdst__reader *input, hdst_error *error);
uint64_t hdst__group_number(const hdst__group_part *part, const char *row);     // its bits; signed integers extended

// --- grouping_order.c ---
typedef struct hdst__group_entry {
    uint64_t key, index;            // the key's hash, or the dense key; which row
} hdst__group_entry;

enum { HDST__KEY_WORDS = 64 };      // of a key, at most
// Bytes of the packed key.
size_t hdst__group_key_bytes(const hdst__group_part *part, size_t count);
void hdst__group_pack(const hdst__group_part *part, size_t count, const char *row, uint64_t *words);
// Sorts by the number `key`, stably: returns the array of the two that holds the entries in order.
hdst__group_entry *hdst__group_order_numbers(hdst__group_entry *entries, hdst__group_entry *scratch, uint64_t count);
// The same by the upper 32 bits of words.
uint64_t *hdst__group_order_words(uint64_t *words, uint64_t *scratch, uint64_t count);
// Sorts rows by their packed keys, stably: those of several keys with one hash, a few. False: out of memory.
bool hdst__group_order_rows(const hdst__grouping *grouping, char *rows, uint64_t count);

#endif
