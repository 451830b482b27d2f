// SPDX-License-Identifier: Apache-2.0
// A dataset that stays where the device reads it, segment by segment. What does not fit the budgets is streamed instead, but for a part of it.
#ifndef HDST_ENGINE_MEMORY_DATASET_CACHE_H
#define HDST_ENGINE_MEMORY_DATASET_CACHE_H

#include "base/arena.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/segment.h"
#include "engine/memory/shared_reader.h"

#include <stdatomic.h>

struct hdst__dataset_cache {
    hdst__runtime *runtime;
    hdst__reader reader;
    hdst__device *device;       // NULL until prepared
    hdst__arena arena;          // of the storages
    hdst__segment *segment;
    uint64_t count, loaded;     // segments, and how many of them (from the first) hold their records
    bool texts_apart;           // its records have texts, and the device memory of its own: the segments' memory is the host's, too, and has the bytes with it
    bool lent;                  // its segments are the host's until they are given back
    bool streamed;
    char why[160];              // why it is streamed
    // Streamed, but a part of it stays (partial_cache.c): all is cut into `count` segments, of which those that have memory stay.
    uint64_t each;              // records of such a segment; 0: no part of it does
    bool chosen;                // which
    _Atomic uint64_t resident;  // how many of them
    uint64_t segment_host_bytes, segment_device_bytes;      // that one takes at most, of each budget
    bool pins_nothing;          // the device could not pin one
    struct hdst__host_copy *copies;         // by segment: of those that do not stay, on the host (host_copies.h); NULL: of none
    struct hdst__dataset_cache *next_partial;               // under the mutex of the runtime's partial caches
    struct hdst__dataset_cache *next_whole;                 // the same, of those that are there in whole, or gave way (whole_cache.c)
    uint32_t returns;           // how often it gave way and was there again
    // Spread over several devices (spread_cache.c): runs of the records, each a cache of its own. Those who know nothing of it take it for streamed.
    struct hdst__dataset_cache **part;      // NULL: it is not
    uint32_t parts;
    uint64_t number;            // which of all it is, as another one may lie at this address later; 0: one that lies in a store, and stays there
    uint32_t spreads;           // how often it was laid out: who knows an older layout has to look again
    uint32_t cuts;              // how often that was since it came back last
    hdst__shared_reader source; // where the parts come from, which several threads load; `reader` then reads the parts
    struct hdst__dataset_cache *whole;      // of a part: what it is a part of
    uint64_t first;             // of a part: its first record there
    bool joined;                // its parts were made where they lie: they are not its own, and cannot be laid out anew
};

// Plans the segments and takes their memory at the first call. HDST_OK also when it has to be streamed.
hdst_status hdst__dataset_cache_prepare(hdst__dataset_cache *cache, hdst__device *device, hdst_error *error);

// Whether a stage finds segments there, of all of it or of a part. NULL: no.
static inline bool hdst__dataset_cache_stays(const hdst__dataset_cache *cache) { return cache && (!cache->streamed || cache->each); }

bool hdst__dataset_cache_has_room(const hdst__dataset_cache *cache);       // one that is streamed: whether all of it fits now, in place of what streams it
void hdst__dataset_cache_release(hdst__dataset_cache *cache);      // the segments' memory
void hdst__dataset_cache_end(hdst__dataset_cache *cache);          // hdst__dataset_cache_destroy for who holds the runtime's mutex

// Loads a segment of records with texts, where the device has memory of its own.
hdst_status hdst__dataset_cache_load_texts(hdst__dataset_cache *cache, hdst__segment *segment, uint64_t *moved, hdst_error *error);
// For want of memory, which `cause` tells: its segments, which no slice may be using, are given back, and it is streamed from now on.
void hdst__dataset_cache_stream(hdst__dataset_cache *cache, const hdst_error *cause);

// Plans them, and loads all that is not loaded yet; nothing where it has to be streamed. `what` is for messages, *moved counts the bytes that crossed into
// another memory.
hdst_status hdst__dataset_cache_load(hdst__dataset_cache *cache, hdst__device *device, const char *what, uint64_t *moved, hdst_error *error);

// For reading on the host: loads what is not loaded yet, and makes the segments' memory the host's until the second call gives it back. *there is
// false, and nothing is to be given back, where the host cannot reach them, or there are none.
hdst_status hdst__dataset_cache_to_host(hdst__dataset_cache *cache, hdst__device *device, bool *there, hdst_error *error);
hdst_status hdst__dataset_cache_to_device(hdst__dataset_cache *cache, hdst_error *error);

// spread_cache.c: lays the records out over several devices, share by share (one for each, ascending, together all). Before anything else prepared it.
// HDST_OK also where a part has to be streamed: its device reads it again in every run.
hdst_status hdst__dataset_cache_spread(hdst__dataset_cache *cache, hdst__device *const *devices, const uint64_t *counts, uint32_t parts, hdst_error *error);
// A dataset whose parts somebody made and keeps, one behind the other; zeroed before the first time. Its `spreads` tell when they are others than before.
void hdst__dataset_cache_join(hdst__dataset_cache *cache, hdst__dataset_cache **part, uint32_t parts, hdst__device *device);
void hdst__dataset_cache_gather(hdst__dataset_cache *cache);       // no longer: its parts are freed, unless they are joined

// partial_cache.c: what does not fit in whole stays in part: segments spread evenly over the input, always the same ones (of a scan that is larger than
// its cache, the least recently used ones would never be found), as long as nobody else wants their memory (hdst__budget_evictable). Whoever asks for
// all of it takes it for streamed. Cuts it into such segments, if that gains anything:
void hdst__partial_cache_cut(hdst__dataset_cache *cache);
// Chooses which of them stay, and takes their memory, once for all, when those who run have taken theirs.
void hdst__partial_cache_choose(hdst__dataset_cache *cache);
// How many would, or do.
uint64_t hdst__partial_cache_resident(const hdst__dataset_cache *cache);
// The segment of that number, if it stays, for whoever reads it until it is no longer counted as a user; NULL.
hdst__segment *hdst__partial_cache_pin(hdst__dataset_cache *cache, uint64_t number);
static inline uint64_t hdst__partial_cache_records(const hdst__dataset_cache *cache, uint64_t number)      // of that segment
{
    const uint64_t left = cache->reader.records - number * cache->each;
    return left < cache->each ? left : cache->each;
}
void hdst__partial_cache_release(hdst__dataset_cache *cache);       // from now on it is streamed as a whole
bool hdst__partial_caches_release(hdst__runtime *runtime);          // all that nobody uses at the moment; false: there was none

void hdst__dataset_cache_list(hdst__dataset_cache *cache, hdst__dataset_cache **list);     // of the runtime's: `whole` or `gave_way`, until it is released

#endif
