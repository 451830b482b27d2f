// SPDX-License-Identifier: Apache-2.0
// A reader that several threads may call (engine/memory/shared_reader.h).
#include "engine/memory/shared_reader.h"

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
