// SPDX-License-Identifier: Apache-2.0
// A map from names to pointers, in an arena (base/name_map.h).
#include "base/name_map.h"

#include <stdint.h>
#include <string.h>

// FNV-1a
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h ^ h >> 32;
}

// The place of the name, or the free place where it would go. There is always a free one.
static struct hdst__name_map_entry *place(const hdst__name_map *names, const char *name)
{
    size_t mask = names->capacity - 1;
    for (size_t i = (size_t)hash(name) & mask;; i = (i + 1) & mask) {
        struct hdst__name_map_entry *entry = &names->entries[i];
        if (!entry->name || !strcmp(entry->name, name)) return entry;
    }
}

static void grow(hdst__name_map *names, hdst__arena *arena)
{
    hdst__name_map larger = {.count = names->count, .capacity = names->capacity ? names->capacity * 2 : 64};
    larger.entries = HDST__NEW_ARRAY(arena, struct hdst__name_map_entry, larger.capacity);
    for (size_t i = 0; i < names->capacity; i++)
        if (names->entries[i].name) *place(&larger, names->entries[i].name) = names->entries[i];
    *names = larger;
}

void *hdst__name_map_find(const hdst__name_map *names, const char *name)
{
    return names->count ? place(names, name)->value : NULL;
}

void *hdst__name_map_add(hdst__name_map *names, hdst__arena *arena, const char *name, void *value)
{
    if (names->count * 2 >= names->capacity) grow(names, arena);
    struct hdst__name_map_entry *entry = place(names, name);
    if (entry->name) return entry->value;
    *entry = (struct hdst__name_map_entry){name, value};
    names->count++;
    return NULL;
}
