// SPDX-License-Identifier: Apache-2.0
// A map from names to pointers, in an arena: what is declared in a module. Entries are never removed.
#ifndef HDST_BASE_NAME_MAP_H
#define HDST_BASE_NAME_MAP_H

#include "base/arena.h"

typedef struct hdst__name_map {        // zero-initialised: empty
    struct hdst__name_map_entry { const char *name; void *value; } *entries;
    size_t count, capacity;         // capacity: a power of two
} hdst__name_map;

void *hdst__name_map_find(const hdst__name_map *names, const char *name);     // NULL when absent
// Returns what was there under the name, which stays; NULL when the new entry was added. value must not be NULL.
void *hdst__name_map_add(hdst__name_map *names, hdst__arena *arena, const char *name, void *value);

#endif
