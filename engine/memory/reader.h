// SPDX-License-Identifier: Apache-2.0
// Where records come from: a file, memory, another stage.
#ifndef HDST_ENGINE_MEMORY_READER_H
#define HDST_ENGINE_MEMORY_READER_H

#include "base/error_object.h"
#include "record/layout.h"

#include <stdbool.h>
#include <stdint.h>

// Where a stage's records come from: fills records [first, first + count) of the input at record `to_first` of a storage. Called from one thread at
// a time, in any order.
typedef struct hdst__reader {
    hdst_status (*fill)(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error);
    void *user;
    uint64_t records;
    const hdst__record *record;     // must outlive caches and stages made with it
    hdst__layout layout;            // of the segments
    uint64_t block;                 // AoSoA
    bool held;                      // they are computed or cached: with more memory more of them are there. For errors
} hdst__reader;

#endif
