// SPDX-License-Identifier: Apache-2.0
// A run whose records a table of the device has made one for each key, but for few: they are put in order (text_order.h) rather than going through the tables
// of threads and through partitions, for which such records are the worst.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_ORDER_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_ORDER_H

#include "shuffle/aggregate/aggregate_run.h"
#include "shuffle/aggregate/text_order.h"

typedef struct hdst__aggregate_order {
    hdst__aggregation *run;
    hdst__aggregate_slab *slab;         // where the records are; NULL: there are none, and no room for any
    hdst__text_order order;
} hdst__aggregate_order;

// Whether the reduction's records may be put in order so.
bool hdst__aggregate_order_suits(const hdst__aggregate *aggregate);
// Room for so many records in all; those that are there stay. false: the budget has none.
bool hdst__aggregate_order_room(hdst__aggregate_order *order, hdst__aggregation *run, uint64_t records);
// Adds records that there is room for. The bytes that their texts refer to must stay: NULL, or where the records are, as some of them refer to such bytes.
char *hdst__aggregate_order_take(hdst__aggregate_order *order, const void *records, uint64_t count);
// The result, in host memory. *done false: the budget has no room for it, and all records are still there.
hdst_status hdst__aggregate_order_end(hdst__aggregate_order *order, bool *done, hdst_error *error);
void hdst__aggregate_order_free(hdst__aggregate_order *order);      // keeps its memory for the next run; fine in any case

#endif
