// SPDX-License-Identifier: Apache-2.0
// Identifiers of a printed kernel: the user's names, made legal in OpenCL C and different from everything the templates say.
#ifndef HDST_CODEGEN_NAMES_H
#define HDST_CODEGEN_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__names {
    hdst__arena *arena;
    const char **taken;         // in the order in which they were taken
    size_t count, capacity;
    uint32_t *slots;            // a hash table of them: place in `taken` + 1, or 0
    size_t slot_count;          // a power of two
} hdst__names;

void hdst__names_init(hdst__names *names, hdst__arena *arena);
// `wanted` with dots made underscores, and underscores added at its end until it is free; then it is taken.
const char *hdst__name_take(hdst__names *names, const char *wanted);
// Gives back all that was taken after the first `count`.
void hdst__names_give_back(hdst__names *names, size_t count);
bool hdst__name_is_reserved(const char *name);     // a word of OpenCL C or of a template

#endif
