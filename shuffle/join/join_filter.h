// SPDX-License-Identifier: Apache-2.0
// Which hashes the keys of a small side have, as bits: records of a large side whose hash is not among them have no partner, and need not be ordered.
#ifndef HDST_SHUFFLE_JOIN_JOIN_FILTER_H
#define HDST_SHUFFLE_JOIN_JOIN_FILTER_H

#include "shuffle/join/join_side.h"

typedef struct hdst__join_filter {
    hdst__engine *engine;
    uint64_t *bits;
    unsigned shift;                 // a hash's bit is number hash >> shift
    const hdst__join_side *of;      // the large side, whose records go through it
    char *kept;                     // those that may have a partner, in their order
    uint64_t count, capacity, most; // records of it; bytes of `kept` at most
    bool full;                      // there were more
} hdst__join_filter;

// Whether the sides differ so much in size that it pays.
bool hdst__join_filter_pays(uint64_t small, uint64_t large);
// Marks the hashes of `small`, which is ordered, and reads the input of `large` through them. *kept: what came through, until the filter's end; where memory
// has no room for that it is false, and nothing is there.
hdst_status hdst__join_filter_run(hdst__join_filter *filter, const hdst__join_side *small, const hdst__join_side *large, const hdst__reader *input, bool *kept,
                                  hdst__run_stats *stats, hdst_error *error);
hdst__reader hdst__join_filter_reader(hdst__join_filter *filter);
void hdst__join_filter_end(hdst__join_filter *filter);      // safe on a zeroed one, and twice

#endif
