// SPDX-License-Identifier: Apache-2.0
// The identifiers of generated OpenCL C (codegen/opencl/identifiers.h).
#include "codegen/opencl/identifiers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// One underscore stands for whatever is neither letter nor digit, however much of it. Those in front go: C keeps such names for itself.
const char *hdst__name_spell(hdst__arena *arena, const char *wanted)
{
    char *name = hdst__arena_alloc(arena, strlen(wanted) + 4), *end = name;
    for (const char *c = wanted; *c; c++) {
        const bool word = isalnum((unsigned char)*c);
        if (end == name && (!word || isdigit((unsigned char)*c))) *end++ = 'v';
        if (word) *end++ = *c;
        else if (end[-1] != '_') *end++ = '_';
    }
    if (end == name) *end++ = 'v';
    if (end[-1] != '_') *end++ = '_';
    *end = '\0';
    return name;
}

hdst__names *hdst__names_create(hdst__arena *arena, const hdst__names *outer)
{
    hdst__names *names = HDST__NEW(arena, hdst__names);
    *names = (hdst__names){.arena = arena, .outer = outer};
    return names;
}

// The number that the name was last told apart by; NULL: nobody has it.
static uint32_t *find(const hdst__names *names, const char *name)
{
    for (; names; names = names->outer) {
        uint32_t *last = hdst__name_map_find(&names->taken, name);
        if (last) return last;
    }
    return NULL;
}

const char *hdst__name_take(hdst__names *names, const char *wanted)
{
    const char *first = hdst__name_spell(names->arena, wanted), *name = first;
    const uint32_t *last = find(names, first);
    uint32_t number = last ? *last : 1;
    while (find(names, name)) name = hdst__arena_printf(names->arena, "%s%" PRIu32 "_", first, ++number);
    uint32_t *own = HDST__NEW(names->arena, uint32_t);
    *own = 1;
    hdst__name_map_add(&names->taken, names->arena, name, own);
    uint32_t *counted = hdst__name_map_find(&names->taken, first);
    if (counted) *counted = number;
    return name;
}
