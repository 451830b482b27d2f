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

static hdst_status fill_in_turn(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                hdst_error *error)
{
    hdst__shared_reader *shared = user;
    pthread_mutex_lock(&shared->mutex);
    hdst_status status = shared->reader.fill(shared->reader.user, first, count, storage, buffers, to_first, error);
    pthread_mutex_unlock(&shared->mutex);
    return status;
}

void hdst__shared_reader_init(hdst__shared_reader *shared, const hdst__reader *reader)
{
    shared->reader = shared->shared = *reader;
    pthread_mutex_init(&shared->mutex, NULL);
    if (reader->concurrent) return;
    shared->shared.fill = fill_in_turn;
    shared->shared.user = shared;
}

void hdst__shared_reader_destroy(hdst__shared_reader *shared) { pthread_mutex_destroy(&shared->mutex); }
