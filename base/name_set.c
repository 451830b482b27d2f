// SPDX-License-Identifier: Apache-2.0
// Names and where they were seen first (base/name_set.h).
#include "base/name_set.h"

#include "base/hash.h"

#include <string.h>

// The slot that holds `name`, or the free one where it belongs.
static hdst__name_entry *slot_of(const hdst__name_set *set, const char *name)
{
    hdst__hash hash = HDST__HASH_INIT;
    hdst__hash_add_text(&hash, name);
    for (size_t i = (hash.low ^ hash.high) & (set->capacity - 1);; i = (i + 1) & (set->capacity - 1))
        if (!set->slots[i].name || !strcmp(set->slots[i].name, name)) return &set->slots[i];
}

static void grow(hdst__arena *arena, hdst__name_set *set)
{
    hdst__name_set bigger = {.count = set->count, .capacity = set->capacity ? set->capacity * 2 : 16};
    bigger.slots = HDST__NEW_ARRAY(arena, hdst__name_entry, bigger.capacity);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].name) *slot_of(&bigger, set->slots[i].name) = set->slots[i];
    *set = bigger;
}

uint32_t hdst__name_set_find(const hdst__name_set *set, const char *name)
{
    const hdst__name_entry *slot = set->capacity ? slot_of(set, name) : NULL;
    return slot && slot->name ? slot->value : HDST__NO_NAME;
}

uint32_t hdst__name_set_add(hdst__arena *arena, hdst__name_set *set, const char *name, uint32_t value)
{
    if (set->count * 2 >= set->capacity) grow(arena, set);
    hdst__name_entry *slot = slot_of(set, name);
    if (slot->name) return slot->value;
    *slot = (hdst__name_entry){name, value};
    set->count++;
    return HDST__NO_NAME;
}
