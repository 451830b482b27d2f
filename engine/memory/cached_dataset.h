// SPDX-License-Identifier: Apache-2.0
// Datasets that stay in memory, as those who make and read them see them; dataset_cache.h has what they consist of.
#ifndef HDST_ENGINE_MEMORY_CACHED_DATASET_H
#define HDST_ENGINE_MEMORY_CACHED_DATASET_H

#include "base/runtime.h"
#include "engine/memory/reader.h"

typedef struct hdst__dataset_cache hdst__dataset_cache;

// A dataset that stays: read at its first run into segments that remain in memory (and, on a GPU, in device memory) until destroyed.
// Over budget a part of it stays, and the rest is streamed again in every run, with a warning and a line in explain.
hdst__dataset_cache *hdst__dataset_cache_create(hdst__runtime *runtime, const hdst__reader *reader);   // NULL: out of memory
// Reads the dataset on the host: from the segments once they are all there and the host can reach them, else as the cache itself reads it.
hdst__reader hdst__dataset_cache_reader(hdst__dataset_cache *cache);
// Around fills of that reader for several places: all segments are the host's meanwhile, where each fill would have them handed over and back, which on a
// CPU device is a command for its driver to carry out and to be waited for. No kernel may read them until they are given back. Nothing happens where the
// host does not reach them. NULL is fine.
hdst_status hdst__dataset_cache_lend(hdst__dataset_cache *cache, hdst_error *error);
hdst_status hdst__dataset_cache_give_back(hdst__dataset_cache *cache, hdst_error *error);
// Its own, where a stage made it: copies from the device.
const hdst__reader *hdst__dataset_cache_own_reader(const hdst__dataset_cache *cache);
void hdst__dataset_cache_destroy(hdst__dataset_cache *cache);
// whole_cache.c: no dataset has to be in memory as a whole, so those that are give way where a run came to no end for want of it: they are read again in
// every run from now on, for `cause`, as if there had been no room to begin with. While nothing runs. False: there was none.
bool hdst__whole_caches_stream(hdst__runtime *runtime, const hdst_error *cause);
// Those that gave way, and for which there is room now, if they get that of the segments through which inputs stream: the next run that reads one keeps all
// of it again. While nothing runs. False: there is none.
bool hdst__whole_caches_return(hdst__runtime *runtime);

#endif
