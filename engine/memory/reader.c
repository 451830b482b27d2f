// SPDX-License-Identifier: Apache-2.0
// Records of a reader into memory, by several threads where it may be called so (engine/memory/reader.h).
#include "engine/memory/reader.h"

#include "base/costs_host.h"
#include "base/timeline.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct filling {
    const hdst__reader *reader;
    hdst__timeline *timeline;
    uint64_t first, count, to_first;
    const hdst__storage *storage;
    void *const *buffers;
    uint64_t each, lead;                // records of a part; fewer of the first one, so that the others begin at whole lines
    pthread_mutex_t lock;
    hdst_error *error;                  // of the first part that failed; guarded by the lock, and so is its status
    hdst_status status;
    _Atomic uint64_t failed;            // the first part that did, so far
} filling;

static void note_failure(filling *f, uint64_t part, hdst_status status, const hdst_error *error)
{
    pthread_mutex_lock(&f->lock);
    if (part < atomic_load(&f->failed)) {
        f->status = status;
        if (f->error) *f->error = *error;
        atomic_store(&f->failed, part);
    }
    pthread_mutex_unlock(&f->lock);
}

// Those behind a part that failed are left out; those before it are not, as one of them may fail too: the error does not depend on who was quicker.
static void fill_part(void *user, uint64_t part)
{
    filling *f = user;
    if (part > atomic_load(&f->failed)) return;
    const uint64_t begin = part ? f->lead + (part - 1) * f->each : 0, most = part ? f->each : f->lead, left = f->count - begin;
    const uint64_t count = left < most ? left : most;
    hdst_error error = HDST_ERROR_INIT;
    const double start = hdst__timeline_begin(f->timeline);
    hdst_status status = f->reader->fill(f->reader->user, f->first + begin, count, f->storage, f->buffers, f->to_first + begin, &error);
    hdst__timeline_end(f->timeline, start, "read a part", NULL, count);
    if (status != HDST_OK) note_failure(f, part, status, &error);
}

// Records of a part: whole blocks and rows of 64, so that threads write to different lines of the cache.
static uint64_t part_records(const hdst__storage *storage)
{
    const uint64_t unit = storage->block > 64 ? storage->block : 64, bytes = storage->record->size ? storage->record->size : 1;
    const uint64_t records = HDST__HOST_FILL_BYTES / bytes / unit * unit;
    return records ? records : unit;
}

hdst_status hdst__reader_fill(const hdst__reader *reader, hdst__thread_pool *pool, uint64_t first, uint64_t count, const hdst__storage *storage,
                              void *const *buffers, uint64_t to_first, hdst_error *error)
{
    filling f = {.reader = reader, .first = first, .count = count, .to_first = to_first, .storage = storage, .buffers = buffers,
                 .each = part_records(storage), .error = error, .failed = UINT64_MAX};
    if (!reader->concurrent || reader->parts_itself || hdst__thread_pool_size(pool) < 2 || count <= 2 * f.each)
        return reader->fill(reader->user, first, count, storage, buffers, to_first, error);
    f.lead = f.each - to_first % f.each;
    pthread_mutex_init(&f.lock, NULL);
    f.timeline = hdst__thread_pool_timeline(pool);
    hdst__thread_pool_run(pool, 1 + (count - f.lead + f.each - 1) / f.each, fill_part, &f);
    pthread_mutex_destroy(&f.lock);
    return f.status;
}
