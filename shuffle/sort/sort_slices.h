// SPDX-License-Identifier: Apache-2.0
// A sort's input as it comes from the stage in front, slice by slice (shuffle/sort/sort.h says to whom it is given). The first records are gathered; when they
// are many, they and all that follow are dealt to buckets. What has no room goes to a temporary file, and is sorted from there as any other input.
#ifndef HDST_SHUFFLE_SORT_SORT_SLICES_H
#define HDST_SHUFFLE_SORT_SORT_SLICES_H

#include "engine/memory/consumer.h"
#include "engine/memory/output.h"
#include "engine/memory/reader.h"
#include "engine/memory/spill.h"
#include "shuffle/sort/msd_radix.h"

struct hdst__sort;

typedef struct hdst__sort_slices {
    hdst__consumer consumer;
    uint64_t count, left;           // records that came; what the budget had left before the first one
    hdst__output whole;             // all, in order, while they are few or nobody wants buckets
    bool stays_whole;
    hdst__msd_slices *dealt;        // NULL: no buckets yet, or no longer
    hdst__spill file;               // open: the budget has no room; all are there
    const void *mapped;
} hdst__sort_slices;

void hdst__sort_slices_init(struct hdst__sort *sort);
void hdst__sort_slices_forget(struct hdst__sort *sort);        // all that came; safe twice
// No more come. *done: they are sorted; else hdst__sort_slices_reader reads them.
hdst_status hdst__sort_slices_end(struct hdst__sort *sort, bool keep, bool *done, hdst_error *error);
hdst__reader hdst__sort_slices_reader(struct hdst__sort *sort, const void **rows);    // *rows: where all lie; NULL: there are none

#endif
