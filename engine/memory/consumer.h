// SPDX-License-Identifier: Apache-2.0
// Who takes the records that a stage gives, slice by slice.
#ifndef HDST_ENGINE_MEMORY_CONSUMER_H
#define HDST_ENGINE_MEMORY_CONSUMER_H

#include "accum/combining.h"
#include "base/error_object.h"

#include <stdint.h>

// What a slice gives, where it lies: on a device with memory of its own.
typedef struct hdst__slice_records {
    struct hdst__device *device;
    const struct hdst__memory *memory;
    uint64_t count;                     // or, while `counted` tells, as many as may be expected
    const struct hdst__memory *counted; // NULL, or its first 64 bits are how many there are; none if that is more than `room`
    uint64_t room;                      // at most
    const struct hdst__memory *texts;   // NULL, or a copy of the stretch of the host's memory that long texts in them refer to:
    uint64_t text_bytes, text_host;     // so many bytes from this address on
    const struct hdst__memory *own_texts;       // NULL, or the same of texts of the function and of values:
    uint64_t own_host;                  // from this address on
} hdst__slice_records;

// Where records go that a stage gives, in place of its output: slice by slice, in the order of the input, from memory that is the stage's and is
// used again when `take` returns.
// All are called with the engine's mutex held.
typedef struct hdst__consumer {
    hdst_status (*start)(void *user, hdst_error *error);    // of a run, and again where it begins anew: what came before does not count
    // expected: of the whole run, as far as one can tell
    hdst_status (*take)(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error);
    // The same of records in several runs, which strips of a slice have given: 2 * `runs` numbers, of each run its first record and how many it has, from
    // `records` on. NULL: they are moved together.
    hdst_status (*take_runs)(void *user, const void *records, const uint64_t *run, uint64_t runs, uint64_t expected, hdst_error *error);
    void *user;
    // NULL, or: called when a slice was submitted, the number `slot` of those in flight, and submits behind it what makes fewer of its records that are the
    // same to the consumer; some may stay on the device.
    hdst_status (*combine)(void *user, uint32_t slot, const hdst__slice_records *records, hdst_error *error);
    // Then, when it has ended: *records, all of the slice's, become those that are left of them for `take`; they stay until `combine` of the same number.
    hdst_status (*left)(void *user, uint32_t slot, hdst__slice_records *records, hdst_error *error);
    const hdst__combining *combining;    // NULL, or how a kernel may make them fewer itself (accum/combining.h); then, before those records come that
    // it kept for the end: hardly two of them are of one key, of which there are so many at least. once: no two of them are.
    void (*combined)(void *user, uint64_t keys, bool once);
    // Of rows of words: what they are to be like; false: not yet, or there shall be none.
    bool (*rows_like)(void *user, hdst__combined_like *like);
    // Then, when all slices have ended: `count` rows, one after another, which so many records became; several may be of one key.
    hdst_status (*rows)(void *user, const uint64_t *rows, uint64_t count, uint64_t records, hdst_error *error);
} hdst__consumer;

#endif
