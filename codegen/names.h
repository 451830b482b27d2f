// SPDX-License-Identifier: Apache-2.0
// A map from names to pointers, in an arena: what is declared in a module. Entries are never removed.
#ifndef HDST_CODEGEN_NAMES_H
#define HDST_CODEGEN_NAMES_H

#include "base/arena.h"

typedef struct hdst__names {        // zero-initialised: empty
    struct hdst__names_entry { const char *name; void *value; } *entries;
    size_t count, capacity;         // capacity: a power of two
} hdst__names;

void *hdst__names_find(const hdst__names *names, const char *name);     // NULL when absent
// Returns what was there under the name, which stays; NULL when the new entry was added. value must not be NULL.
void *hdst__names_add(hdst__names *names, hdst__arena *arena, const char *name, void *value);

#endif
