// SPDX-License-Identifier: Apache-2.0
// A sort on the host: an index array, sorted by merging. Memory for both arrays is the caller's.
#ifndef HDST_SHUFFLE_SORT_SORT_HOST_H
#define HDST_SHUFFLE_SORT_SORT_HOST_H

#include "shuffle/sort/radix_sort.h"
#include "shuffle/sort/sort_key.h"
#include "base/cancel.h"

typedef hdst__radix_entry hdst__sort_entry;     // the prefix of the row's key; which row

// Sorts `count` rows stably: returns the entries in order, in one of the two arrays, which have `count` entries each. NULL: cancelled; the entries are in no
// order then.
hdst__sort_entry *hdst__sort_entries(const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size, uint64_t count,
                                     hdst__sort_entry *entries, hdst__sort_entry *scratch, const hdst__cancel *cancel);

#endif
