// SPDX-License-Identifier: Apache-2.0
// Where the records of each key begin, of records in the order of an integer key that lie in a device's own memory: found there (sorted_keys.cl), so that no
// record comes to the host.
#ifndef HDST_ENGINE_MEMORY_SORTED_KEYS_H
#define HDST_ENGINE_MEMORY_SORTED_KEYS_H

#include "engine/memory/cached_dataset.h"

// For key k of `starts`, which has room for `limit`, the number of the first record whose key is k or larger, up to the largest key; *count: so many. 0: there
// are no records, or the key of one is negative or not below the limit. *why_not: why nothing was done, a text that stays, where the host had better do it
// ("": its memory is the device's, or they do not lie on one); else NULL. Takes the runtime's mutex.
hdst_status hdst__sorted_keys_find(hdst__dataset_cache *cache, const hdst__leaf *key, uint64_t limit, uint64_t *starts, uint64_t *count, const char **why_not,
                                   hdst_error *error);

#endif
