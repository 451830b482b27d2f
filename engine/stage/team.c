// SPDX-License-Identifier: Apache-2.0
// What the workers of one run share (engine/stage/team.h).
#include "engine/stage/team.h"
#include "engine/memory/consumer.h"

bool hdst__team_note_share(hdst__team *team, uint32_t worker, const hdst__share *share)
{
    return !team->survives || hdst__ranges_add(&team->given[worker], share);
}

// The last range says that it leaves: it has one, or nothing failed.
bool hdst__team_give_back(hdst__team *team, uint32_t worker)
{
    hdst__ranges *given = &team->given[worker];
    bool ok = true;
    for (uint32_t i = 0; i < given->count && ok; i++) ok = team->policy->give_back(team->schedule, worker, &given->range[i], i + 1 == given->count);
    hdst__ranges_clear(given);
    return ok;
}

void hdst__team_forget_shares(hdst__team *team)
{
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) hdst__ranges_free(&team->given[i]);
}

void hdst__team_keep_tables(hdst__team *team, uint32_t worker, hdst__combined_tables *tables)
{
    team->combined[worker] = *tables;
    tables->allocation = NULL;
}

static hdst_status give(void *user, const char *records, uint64_t count, hdst_error *error)
{
    hdst__output *to = user;
    to->count += count;
    return to->consumer->take(to->consumer->user, records, count, to->count, error);
}

hdst_status hdst__team_give_tables(const hdst__team *team, hdst__output *to, hdst_error *error)
{
    uint64_t most = 0;
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) {
        const uint64_t has = team->combined[i].allocation ? hdst__combined_tables_most(&team->combined[i]) : 0;
        if (has > most) most = has;
    }
    if (most) to->consumer->combined(to->consumer->user, most, false);
    for (uint32_t i = 0; i < HDST__MOST_WORKERS && status == HDST_OK; i++)
        if (team->combined[i].allocation) status = hdst__combined_tables_give(&team->combined[i], give, to, error);
    return status;
}

void hdst__team_end_tables(hdst__team *team)
{
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) hdst__combined_tables_end(&team->combined[i]);
}

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
