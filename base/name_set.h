// SPDX-License-Identifier: Apache-2.0
// Names and where they were seen first: finds duplicates among many names without comparing all pairs. Lives in an arena.
#ifndef HDST_BASE_NAME_SET_H
#define HDST_BASE_NAME_SET_H

#include "base/arena.h"

#include <stdint.h>

typedef struct hdst__name_entry {
    const char *name;           // NULL: free
    uint32_t value;
} hdst__name_entry;

typedef struct hdst__name_set {     // zero-initialised: empty
    hdst__name_entry *slots;
    size_t count, capacity;         // capacity is 0 or a power of two, at most half full
} hdst__name_set;

enum { HDST__NO_NAME = UINT32_MAX };

// The value of `name`, or HDST__NO_NAME.
uint32_t hdst__name_set_find(const hdst__name_set *set, const char *name);
// Adds `name`, which is not copied, unless it is there: returns the value it had before, or HDST__NO_NAME when it is new.
uint32_t hdst__name_set_add(hdst__arena *arena, hdst__name_set *set, const char *name, uint32_t value);

#endif
