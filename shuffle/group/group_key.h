// SPDX-License-Identifier: Apache-2.0
// The number that a record is ordered by: its key's hash, or the dense key. For loops over all records.
#ifndef HDST_SHUFFLE_GROUP_GROUP_KEY_H
#define HDST_SHUFFLE_GROUP_GROUP_KEY_H

#include "record/key_hash.h"
#include "shuffle/group/group.h"

#include <string.h>

// false: a dense key out of range.
static inline bool hdst__group_number_of(const hdst__group *g, const char *row, uint64_t *number)
{
    if (!g->dense && g->key.count == 1 && g->key.bytes == 4) {        // the usual keys
        uint32_t bits;
        memcpy(&bits, row + g->key.field->offset, sizeof bits);
        *number = hdst__key_mix32(bits);
        return true;
    }
    if (!g->dense && g->key.count == 1 && g->key.bytes == 8 && !g->key.has_text) {
        uint64_t bits;
        memcpy(&bits, row + g->key.field->offset, sizeof bits);
        *number = hdst__key_mix64(bits) >> 32;
        return true;
    }
    *number = g->dense ? hdst__key_field_read(g->key.field, row) : hdst__key_fields_hash(&g->key, row);
    return !g->dense || *number < g->dense_rows;
}

static inline bool hdst__group_same_key(const hdst__group *g, const char *a, const char *b)
{
    if (g->key.count == 1 && g->key.bytes == 4) return !memcmp(a + g->key.field->offset, b + g->key.field->offset, 4);     // the usual key, in one instruction
    if (g->key.has_text) return hdst__key_fields_compare(&g->key, a, b) == 0;
    for (size_t i = 0; i < g->key.count; i++)
        if (memcmp(a + g->key.field[i].offset, b + g->key.field[i].offset, hdst__scalar_size(g->key.field[i].kind))) return false;
    return true;
}

#endif
