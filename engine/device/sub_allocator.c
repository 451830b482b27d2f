// SPDX-License-Identifier: Apache-2.0
// Which units of a stretch of memory are free (engine/device/sub_allocator.h). Both ends of a range know its length, so that neighbours are found at once.
#include "engine/device/sub_allocator.h"

#include <string.h>

static uint32_t class_of(uint32_t units) { return 31 - (uint32_t)__builtin_clz(units); }

static void describe(hdst__sub_allocator *a, uint32_t first, uint32_t units, bool is_free)
{
    const uint32_t last = first + units - 1;
    a->length[first] = a->length[last] = (uint16_t)units;
    a->is_free[first] = a->is_free[last] = is_free;
}

static void list(hdst__sub_allocator *a, uint32_t first, uint32_t units)
{
    uint16_t *head = &a->head[class_of(units)];
    describe(a, first, units, true);
    a->previous[first] = HDST__SUB_NONE;
    a->next[first] = *head;
    if (*head != HDST__SUB_NONE) a->previous[*head] = (uint16_t)first;
    *head = (uint16_t)first;
}

static void unlist(hdst__sub_allocator *a, uint32_t first)
{
    const uint16_t next = a->next[first], previous = a->previous[first];
    if (previous == HDST__SUB_NONE) a->head[class_of(a->length[first])] = next;
    else a->next[previous] = next;
    if (next != HDST__SUB_NONE) a->previous[next] = previous;
}

void hdst__sub_allocator_init(hdst__sub_allocator *a, uint32_t units)
{
    a->units = a->free_units = units;
    memset(a->head, 0xff, sizeof a->head);
    list(a, 0, units);
}

// The shortest range of the class that is long enough.
static uint16_t best_of(const hdst__sub_allocator *a, uint32_t class_, uint32_t units)
{
    uint16_t best = HDST__SUB_NONE;
    for (uint16_t at = a->head[class_]; at != HDST__SUB_NONE; at = a->next[at])
        if (a->length[at] >= units && (best == HDST__SUB_NONE || a->length[at] < a->length[best])) best = at;
    return best;
}

bool hdst__sub_allocator_take(hdst__sub_allocator *a, uint32_t units, uint16_t *first)
{
    if (units > a->free_units) return false;
    uint32_t class_ = class_of(units);
    uint16_t found = best_of(a, class_, units);
    while (found == HDST__SUB_NONE && ++class_ < HDST__SUB_CLASSES) found = a->head[class_];
    if (found == HDST__SUB_NONE) return false;
    const uint32_t has = a->length[found];
    unlist(a, found);
    describe(a, found, units, false);
    if (has > units) list(a, found + units, has - units);
    a->free_units -= units;
    *first = found;
    return true;
}

void hdst__sub_allocator_give(hdst__sub_allocator *a, uint16_t given)
{
    uint32_t first = given, units = a->length[given];
    const uint32_t behind = first + units;
    a->free_units += units;
    if (behind < a->units && a->is_free[behind]) {
        units += a->length[behind];
        unlist(a, behind);
    }
    if (first > 0 && a->is_free[first - 1]) {
        const uint32_t before = a->length[first - 1];
        first -= before;
        units += before;
        unlist(a, first);
    }
    list(a, first, units);
}
