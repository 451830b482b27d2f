// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_DATASET_H
#define HDST_DATASET_H

#include "hdst/map_spec.h"
#include "hdst/source.h"

typedef enum hdst__operator { HDST__OP_READ, HDST__OP_MAP, HDST__OP_FILTER, HDST__OP_REDUCE } hdst__operator;

// A node of the graph. It is immutable but for `cache`, and belongs to the context.
struct hdst_dataset {
    hdst__object object;
    hdst__operator op;
    hdst_dataset *parent;           // NULL for a read
    hdst_source *source;            // read: retained
    hdst_module *module;            // read: whose record it is; retained
    hdst__bound_source *bound;      // read: the source with its columns matched to the record
    hdst__reader reader;            // read
    bool cached;
    hdst__dataset_cache *cache;     // made by the first run of a cached read
    hdst_map_spec *spec;            // map, filter, reduce
    const hdst__record *record;     // what it holds; NULL when a map gives accumulators only
};

#endif
