// SPDX-License-Identifier: Apache-2.0
// A sort on the host, on all threads, by numbers that stand for the first bytes of the keys: records are dealt to buckets by splitters of a sample
// (Frazer and McKellar, "Samplesort", 1970), buckets are sorted by the digits of the number, and where numbers are equal texts go on with their next
// eight bytes (Bentley and Sedgewick, "Fast algorithms for sorting and searching strings", 1997, with the bytes at hand: Kärkkäinen and Rantala,
// "Engineering radix sort for strings", 2008); whatever is equal then is compared.
#ifndef HDST_SHUFFLE_SORT_SORT_PREFIXES_H
#define HDST_SHUFFLE_SORT_SORT_PREFIXES_H

#include "base/thread_pool.h"
#include "shuffle/sort/sort_host.h"

// As hdst__sort_entries does. `threads`: NULL: the calling thread alone.
hdst__sort_entry *hdst__sort_by_prefixes(hdst__thread_pool *threads, const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size,
                                         uint64_t count, hdst__sort_entry *entries, hdst__sort_entry *scratch, const hdst__cancel *cancel);

#endif
