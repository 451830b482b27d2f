// SPDX-License-Identifier: Apache-2.0
// The table of computing powers: what a record costs, for each kernel on each device, as measured. What is measured anew replaces what stands there when it
// has drifted by more than HDST__HOST_DRIFT, or stands on firmer ground. May be used from several threads.
#ifndef HDST_PARTITION_POWER_TABLE_H
#define HDST_PARTITION_POWER_TABLE_H

#include "base/hash.h"
#include "partition/policy.h"

typedef struct hdst__power_table hdst__power_table;

hdst__power_table *hdst__power_table_create(const hdst__allocator *allocator);      // NULL: out of memory
void hdst__power_table_destroy(hdst__power_table *table);       // NULL is fine

// `key`: of the kernel on the device. False: it is not in the table.
bool hdst__power_table_find(hdst__power_table *table, const hdst__hash *key, hdst__power *power);
// Whether the table says something new now, which is worth keeping elsewhere. Out of memory: it does not.
bool hdst__power_table_note(hdst__power_table *table, const hdst__hash *key, const hdst__power *power);

// Whether a part of it has changed by more than HDST__HOST_DRIFT of what a record, or a slice, takes in all.
bool hdst__power_has_drifted(const hdst__power *old, const hdst__power *now);
// Whether these can be the powers of anything: finite, not negative, measured.
bool hdst__power_can_be(const hdst__power *power);

#endif
