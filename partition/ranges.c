// SPDX-License-Identifier: Apache-2.0
// Ranges of records that are not given out.
#include "partition/ranges.h"

#include <string.h>

bool hdst__ranges_reserve(hdst__ranges *ranges, uint32_t more)
{
    const uint32_t needed = ranges->count + more;
    if (needed <= ranges->room) return true;
    const uint32_t room = needed < 8 ? 8 : 2 * needed;
    hdst__share *grown = hdst__realloc(ranges->allocator, ranges->range, room * sizeof *grown);
    if (!grown) return false;
    ranges->range = grown;
    ranges->room = room;
    return true;
}

static void remove_at(hdst__ranges *ranges, uint32_t i)
{
    ranges->count--;
    memmove(ranges->range + i, ranges->range + i + 1, (ranges->count - i) * sizeof *ranges->range);
}

bool hdst__ranges_add(hdst__ranges *ranges, const hdst__share *range)
{
    if (range->count == 0) return true;
    if (!hdst__ranges_reserve(ranges, 1)) return false;
    uint32_t i = 0;
    while (i < ranges->count && ranges->range[i].first < range->first) i++;
    memmove(ranges->range + i + 1, ranges->range + i, (ranges->count - i) * sizeof *ranges->range);
    ranges->range[i] = *range;
    ranges->count++;
    ranges->records += range->count;
    for (uint32_t at = i ? i - 1 : i; at <= i && at + 1 < ranges->count;) {        // with the one before, with the one behind
        hdst__share *here = &ranges->range[at];
        if (here->first + here->count != here[1].first) {
            at++;
            continue;
        }
        here->count += here[1].count;
        remove_at(ranges, at + 1);
    }
    return true;
}

bool hdst__ranges_add_all(hdst__ranges *ranges, const hdst__ranges *others)
{
    if (!hdst__ranges_reserve(ranges, others->count)) return false;
    for (uint32_t i = 0; i < others->count; i++) hdst__ranges_add(ranges, &others->range[i]);
    return true;
}

void hdst__ranges_clear(hdst__ranges *ranges) { ranges->count = 0, ranges->records = 0; }

void hdst__ranges_free(hdst__ranges *ranges)
{
    hdst__free(ranges->allocator, ranges->range);
    *ranges = (hdst__ranges){.allocator = ranges->allocator};
}

bool hdst__ranges_take_first(hdst__ranges *ranges, uint64_t records, uint64_t unit, hdst__share *taken)
{
    if (!ranges->count) return false;
    hdst__share *range = ranges->range;
    *taken = *range;
    const uint64_t next = range->first / unit * unit + unit;       // the first place for a cut
    if (records < range->count) {
        const uint64_t cut = (range->first + records) / unit * unit, end = cut < next ? next : cut;
        if (end - range->first < range->count) taken->count = end - range->first;
    }
    ranges->records -= taken->count;
    range->first += taken->count;
    range->count -= taken->count;
    if (!range->count) remove_at(ranges, 0);
    return true;
}

bool hdst__ranges_take_last(hdst__ranges *ranges, uint64_t records, uint64_t unit, hdst__share *taken)
{
    if (!ranges->count) return false;
    hdst__share *range = &ranges->range[ranges->count - 1];
    *taken = *range;
    const uint64_t end = range->first + range->count, last = (end - 1) / unit * unit;      // the last place for a cut
    if (records < range->count) {
        const uint64_t cut = (end - records + unit - 1) / unit * unit, begin = cut > last ? last : cut;
        if (begin > range->first) *taken = (hdst__share){begin, end - begin};
    }
    ranges->records -= taken->count;
    range->count -= taken->count;
    if (!range->count) ranges->count--;
    return true;
}
