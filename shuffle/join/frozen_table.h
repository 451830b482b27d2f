// SPDX-License-Identifier: Apache-2.0
// A frozen hash table: records by their key, made once and then only read, by kernels too (record/frozen_hash.h says where a key stands).
//
// Slots are rows as C structs. A slot that no key has holds some record of another slot, whose key is looked for elsewhere; so a key is there if the row of its
// slot has it, and there is any key at all. A table of no keys has one slot, of zeroes.
//
// Threads: one makes it, any may read it.
#ifndef HDST_SHUFFLE_JOIN_FROZEN_TABLE_H
#define HDST_SHUFFLE_JOIN_FROZEN_TABLE_H

#include "base/budget.h"
#include "base/cancel.h"
#include "base/error_object.h"
#include "base/thread_pool.h"
#include "record/key_field.h"

typedef enum hdst__frozen_form {
    HDST__FROZEN_FIRST,             // a slot is a record, of equal keys the first one
    HDST__FROZEN_ONLY,              // the same; equal keys are found (`twice`), and nothing is made then
    HDST__FROZEN_RUNS,              // a slot is a run of the records with one key, which lie one after another, apart
} hdst__frozen_form;

typedef struct hdst__frozen_run { uint32_t first, count; } hdst__frozen_run;        // count 0: no key has the slot

typedef struct hdst__frozen_spec {
    const char *rows;               // C structs, `step` apart
    uint64_t count, step;
    hdst__key_fields key;           // of integers and texts
    hdst__frozen_form form;
} hdst__frozen_spec;

typedef struct hdst__frozen_table {
    void *slots;                    // rows, or runs
    uint64_t slot_count;
    uint32_t *displacements;
    uint64_t displacement_count;
    void *rows;                     // of runs: the records in their order; room for one at least
    uint64_t row_count;
    uint64_t key_count;
    uint64_t twice[2];              // HDST__FROZEN_ONLY: the numbers of two records with one key; the same number: there are none
    hdst__budget *memory;
    hdst__owner owner;
} hdst__frozen_table;

// Bytes that a table of so many records takes, and its making with it.
uint64_t hdst__frozen_table_bytes(uint64_t count, uint64_t row_bytes, hdst__frozen_form form);
// table->memory and ->owner are set, the rest is zero. HDST_E_MEMORY; HDST_E_UNSUPPORTED: 2^31 records or more, or keys that no seed keeps apart;
// HDST_E_CANCELLED. On a failure, and where keys are there twice, nothing is left in it but `twice`.
hdst_status hdst__frozen_table_make(hdst__frozen_table *table, const hdst__frozen_spec *spec, hdst__thread_pool *pool, const hdst__cancel *cancel,
                                    hdst_error *error);
void hdst__frozen_table_free(hdst__frozen_table *table);        // safe on a zeroed one, and twice

#endif
