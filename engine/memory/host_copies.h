// SPDX-License-Identifier: Apache-2.0
// Of a cached dataset of which a part stays on a device with memory of its own: the rest, as it goes to the device, in memory of the host that is pinned. So
// later runs read and convert nothing; they copy at the speed of the link. A segment gets its copy once reading it has taken nearly as long as that, while the
// host has room; the copies go as soon as anybody else wants their memory.
#ifndef HDST_ENGINE_MEMORY_HOST_COPIES_H
#define HDST_ENGINE_MEMORY_HOST_COPIES_H

#include "engine/memory/dataset_cache.h"

// The copy of the segment of that number, which counts whoever asked as a user, once it pays and if there is room; NULL: there is none. It must be filled
// unless it is `loaded`. These are for the thread that works with the cache's device.
hdst__segment *hdst__host_copy_pin(hdst__dataset_cache *cache, uint64_t number);
hdst_status hdst__host_copy_fill(hdst__dataset_cache *cache, hdst__segment *copy, hdst_error *error);
void hdst__host_copy_note(hdst__dataset_cache *cache, uint64_t number, double seconds);     // it had none, and was read from where it comes from
uint64_t hdst__host_copies_count(const hdst__dataset_cache *cache);     // there are now

// With the partial caches' mutex held: one that nobody uses; false: there is none. All of them, whoever uses them.
bool hdst__host_copies_let_one_go(hdst__dataset_cache *cache);
void hdst__host_copies_release(hdst__dataset_cache *cache);

#endif
