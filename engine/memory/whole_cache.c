// SPDX-License-Identifier: Apache-2.0
// Cached datasets of which all stays give way to what a run cannot do without (engine/memory/dataset_cache.h). They take three quarters of what is left when
// they are read for the first time, and nobody knows then what is compiled or computed later. Without this a larger budget could do less than a small one,
// in which they had no room to begin with.
#include "engine/memory/dataset_cache.h"

// Whoever read its segments looks again: it is another one from now on. Of what lies on several devices each part is a cache.
static void stream(hdst__dataset_cache *cache, const hdst_error *cause)
{
    hdst__dataset_cache *known = cache->whole ? cache->whole : cache;
    hdst__dataset_cache_stream(cache, cause);
    known->number = ++cache->runtime->caches;
    known->spreads++;
}

bool hdst__whole_caches_stream(hdst__runtime *runtime, const hdst_error *cause)
{
    bool some = false;
    pthread_mutex_lock(&runtime->mutex);
    for (hdst__dataset_cache *cache; (cache = runtime->partial.whole); some = true) stream(cache, cause);      // which takes it off the list
    pthread_mutex_unlock(&runtime->mutex);
    return some;
}
