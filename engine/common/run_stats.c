// SPDX-License-Identifier: Apache-2.0
// What a run tells of itself, added up (engine/common/run_stats.h).
#include "engine/common/run_stats.h"

void hdst__levels_count(hdst__run_stats *stats, hdst__hpr highest, uint64_t in, uint64_t from_blocks, uint64_t out)
{
    const uint64_t blocks = highest >= HDST__HPR_BLOCK ? from_blocks : in, device = highest >= HDST__HPR_DEVICE ? out : blocks;
    stats->level_count = 3;
    stats->level[0] = (hdst__level){"block", in, blocks};
    stats->level[1] = (hdst__level){"device", blocks, device};
    stats->level[2] = (hdst__level){"node", device, out};
}
