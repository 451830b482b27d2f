// SPDX-License-Identifier: Apache-2.0
// Numbers of many records at once (shuffle/group/group_numbers.h). The usual keys, of four bytes, are gathered first, so that the hash of many is one loop
// without branches.
#include "shuffle/group/group_numbers.h"

#include "base/vector_targets.h"
#include "record/key_hash.h"
#include "shuffle/group/group_key.h"

#include <string.h>

bool hdst__group_has_usual_key(const hdst__group *g) { return !g->dense && g->key.count == 1 && g->key.bytes == 4; }

// The hash of each, less `base`, without its lowest bits.
HDST__WIDE_VECTORS static void mix(uint32_t *restrict word, uint64_t count, uint32_t base, unsigned shift)
{
    for (uint64_t i = 0; i < count; i++) word[i] = (hdst__key_mix32(word[i]) - base) >> shift;
}

static void hash_keys(const char *key, uint64_t stride, uint64_t count, uint64_t base, unsigned shift, uint32_t *out)
{
    for (uint64_t i = 0; i < count; i++) memcpy(&out[i], key + i * stride, sizeof *out);
    mix(out, count, (uint32_t)base, shift);
}

void hdst__group_parts_of_keys(const char *key, uint64_t stride, uint64_t count, uint64_t base, unsigned shift, uint32_t *part)
{
    if (shift < 32) hash_keys(key, stride, count, base, shift, part);
    else memset(part, 0, count * sizeof *part);
}

void hdst__group_parts_of(const hdst__group *g, const char *rows, uint64_t count, uint64_t base, unsigned shift, uint32_t *part)
{
    const uint64_t size = g->record->size;
    uint64_t number;
    if (hdst__group_has_usual_key(g)) {
        hdst__group_parts_of_keys(rows + g->key.field->offset, size, count, base, shift, part);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        part[i] = hdst__group_number_of(g, rows + i * size, &number) ? (uint32_t)((number - base) >> shift) : HDST__GROUP_NOWHERE;
}

void hdst__group_numbers_of(const hdst__group *g, const char *rows, uint64_t count, uint64_t base, uint32_t *out)
{
    const uint64_t size = g->record->size;
    uint64_t number;
    if (hdst__group_has_usual_key(g)) {
        hash_keys(rows + g->key.field->offset, size, count, base, 0, out);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        hdst__group_number_of(g, rows + i * size, &number);
        out[i] = (uint32_t)(number - base);
    }
}
