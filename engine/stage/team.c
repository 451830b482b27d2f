// SPDX-License-Identifier: Apache-2.0
// What the workers of one run share (engine/stage/team.h).
#include "engine/stage/team.h"

void hdst__team_note_failure(hdst__team *team, uint64_t word)
{
    uint64_t least = atomic_load(&team->failure);
    while (word < least && !atomic_compare_exchange_weak(&team->failure, &least, word)) continue;
}

bool hdst__team_stops(const hdst__team *team, uint64_t at)
{
    const uint64_t failure = atomic_load(&team->failure);
    return atomic_load(&team->stops) || (failure != UINT64_MAX && at > failure >> 16);
}
