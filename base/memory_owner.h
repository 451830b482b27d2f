// SPDX-License-Identifier: Apache-2.0
// What memory is for. Every block of a budget has an owner, so that it can be told who takes how much. The public names (hdst_memory_owner) are the same, in
// the same order.
#ifndef HDST_BASE_MEMORY_OWNER_H
#define HDST_BASE_MEMORY_OWNER_H

typedef enum hdst__owner {
    HDST__OWNER_OTHER,              // objects of the graph, plans, texts
    HDST__OWNER_SEGMENTS,           // through which input streams
    HDST__OWNER_CACHES,             // cached datasets, and records that stay on a device between stages
    HDST__OWNER_VALUES,             // bound values
    HDST__OWNER_ACCUMULATORS,       // accumulators and tables, on devices and merged
    HDST__OWNER_OUTPUT,             // output records and results
    HDST__OWNER_BY_KEY,             // reductions by key: tables, partitions, rows
    HDST__OWNER_SORTS,              // sorts, groups, partitions, top: runs and their order
    HDST__OWNER_READERS,            // sources: indexes of texts, rows that are read ahead
    HDST__OWNER_COMPILER,           // modules, kernels, programs
    HDST__OWNERS
} hdst__owner;

// "segments", "cached datasets": for people.
const char *hdst__owner_name(hdst__owner owner);

#endif
