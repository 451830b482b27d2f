// SPDX-License-Identifier: Apache-2.0
// What a run tells of itself, added up (engine/common/run_stats.h).
#include "engine/common/run_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hdst__run_stats_add_device(hdst__run_stats *stats, const hdst__device_use *use, const char *name, uint32_t index)
{
    enum { INDEX = 24 };                // characters that an index takes at most
    if (stats->device_count == HDST__MOST_DEVICES) return;
    hdst__device_use *to = &stats->device[stats->device_count];
    const size_t length = strnlen(name, sizeof to->name - INDEX);
    bool again = false;
    *to = *use;
    memcpy(to->name, name, length);
    to->name[length] = '\0';
    for (uint32_t i = 0; i < stats->device_count; i++) again |= strcmp(stats->device[i].name, to->name) == 0;
    if (again) snprintf(to->name + length, INDEX, " (device %" PRIu32 ")", index);
    stats->device_count++;
}

void hdst__run_stats_forget_counts(hdst__run_stats *stats)
{
    stats->records = stats->skipped = stats->cache_hit_bytes = stats->cache_miss_bytes = 0;
    stats->fast_sums = stats->level_count = 0;
    memset(stats->level, 0, sizeof stats->level);
    for (uint32_t i = 0; i < stats->device_count; i++) stats->device[i].slices = stats->device[i].records = 0;
}

void hdst__levels_count(hdst__run_stats *stats, hdst__hpr highest, uint64_t in, uint64_t from_blocks, uint64_t out)
{
    const uint64_t blocks = highest >= HDST__HPR_BLOCK ? from_blocks : in, device = highest >= HDST__HPR_DEVICE ? out : blocks;
    stats->level_count = 3;
    stats->level[0] = (hdst__level){"block", in, blocks};
    stats->level[1] = (hdst__level){"device", blocks, device};
    stats->level[2] = (hdst__level){"node", device, out};
}
