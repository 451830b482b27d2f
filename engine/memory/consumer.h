// SPDX-License-Identifier: Apache-2.0
// Who takes the records that a stage gives, slice by slice.
#ifndef HDST_ENGINE_MEMORY_CONSUMER_H
#define HDST_ENGINE_MEMORY_CONSUMER_H

#include "base/error_object.h"

#include <stdint.h>

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
} hdst__consumer;

#endif
