// SPDX-License-Identifier: Apache-2.0
// The number that a record is ordered by: its key's hash, or the dense key. For loops over all records.
#ifndef HDST_SHUFFLE_GROUP_GROUP_NUMBER_H
#define HDST_SHUFFLE_GROUP_GROUP_NUMBER_H

#include "record/key_hash.h"
#include "shuffle/group/group.h"

#include <string.h>

// false: a dense key out of range.
static inline bool hdst__group_number_of(const hdst__group *g, const char *row, uint64_t *number)
{
    if (!g->dense && g->part_count == 1 && g->key_bytes == 4) {        // the usual keys
        uint32_t bits;
        memcpy(&bits, row + g->part->offset, sizeof bits);
        *number = hdst__key_mix32(bits);
        return true;
    }
    if (!g->dense && g->part_count == 1 && g->key_bytes == 8) {
        uint64_t bits;
        memcpy(&bits, row + g->part->offset, sizeof bits);
        *number = hdst__key_mix64(bits) >> 32;
        return true;
    }
    *number = g->dense ? hdst__group_number(g->part, row) : hdst__group_hash(g, row);
    return !g->dense || *number < g->dense_rows;
}

static inline bool hdst__group_same_key(const hdst__group *g, const char *a, const char *b)
{
    if (g->part_count == 1 && g->key_bytes == 4) return !memcmp(a + g->part->offset, b + g->part->offset, 4);     // the usual key, in one instruction
    for (size_t i = 0; i < g->part_count; i++)
        if (memcmp(a + g->part[i].offset, b + g->part[i].offset, hdst__scalar_size(g->part[i].kind))) return false;
    return true;
}

#endif
