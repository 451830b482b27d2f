// SPDX-License-Identifier: Apache-2.0
// Cached datasets of which all stays give way to what a run cannot do without (engine/memory/dataset_cache.h). They take three quarters of what is left when
// they are read for the first time, and nobody knows then what is compiled or computed later. Without this a larger budget could do less than a small one,
// in which they had no room to begin with. They come back when a run begins that may have as much memory for them as the one that read them first.
#include "engine/memory/dataset_cache.h"

// Of what lies on several devices each part is a cache.
static hdst__dataset_cache *known(hdst__dataset_cache *cache) { return cache->whole ? cache->whole : cache; }

// Whoever read its segments looks again: it is another one from now on.
static void become_another(hdst__dataset_cache *cache)
{
    cache->number = ++cache->runtime->caches;
    cache->spreads++;
}

bool hdst__whole_caches_stream(hdst__runtime *runtime, const hdst_error *cause)
{
    bool some = false;
    pthread_mutex_lock(&runtime->mutex);
    for (hdst__dataset_cache *cache; (cache = runtime->partial.whole); some = true) {
        hdst__dataset_cache_stream(cache, cause);       // which takes it off the list
        hdst__dataset_cache_list(cache, &runtime->partial.gave_way);
        become_another(known(cache));
    }
    pthread_mutex_unlock(&runtime->mutex);
    return some;
}

// As it was before anybody read it.
static void come_back(hdst__dataset_cache *cache)
{
    hdst__dataset_cache *all = known(cache);
    if (all != cache) hdst__dataset_cache_gather(all);
    else hdst__dataset_cache_release(cache);
    all->device = NULL;
    all->streamed = false;
    all->returns++;
    all->cuts = 0;
    become_another(all);
}

bool hdst__whole_caches_return(hdst__runtime *runtime)
{
    bool some = false;
    pthread_mutex_lock(&runtime->mutex);
    for (hdst__dataset_cache *cache = runtime->partial.gave_way; cache;) {
        const bool has_room = hdst__dataset_cache_has_room(cache);
        if (has_room) come_back(cache);                 // which takes it off the list, with other parts of the same dataset
        some |= has_room;
        cache = has_room ? runtime->partial.gave_way : cache->next_whole;
    }
    pthread_mutex_unlock(&runtime->mutex);
    return some;
}
