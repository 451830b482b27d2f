// SPDX-License-Identifier: Apache-2.0
// Chunks that the memory budget has no room for: to a temporary file, a thread's chunks at a time, those of a part together.
#include "engine/by_key_run.h"

#include <string.h>

enum { READ_BYTES = 256 << 10 };

static hdst__by_key_extent_on_disk *place_of(hdst__by_key_spilled *spilled, const hdst__by_key_pass *run, uint32_t kind, uint32_t part)
{
    return &spilled->extent[((uint64_t)kind << run->choice.part_bits) + part];
}

// Writes the chunks of one part and forgets them. Its line stays.
static hdst_status write_part(hdst__by_key_worker *worker, hdst__key_part *part, hdst__by_key_extent_on_disk *extent)
{
    hdst__spill *file = &worker->run->spill;
    extent->offset = file->bytes;
    hdst_status status = HDST_OK;
    for (const hdst__key_chunk *chunk = part->first; chunk && status == HDST_OK; chunk = chunk->next) {
        const uint64_t bytes = chunk->next ? chunk->bytes : (uint64_t)(part->at - chunk->data);
        status = hdst__spill_add(file, chunk->data, bytes, &worker->error);
        extent->bytes += bytes;
    }
    *part = (hdst__key_part){0};
    return status;
}

static hdst_status write_all(hdst__by_key_worker *worker, hdst__by_key_spilled *spilled)
{
    hdst__by_key_pass *run = worker->run;
    hdst__key_parts *const kinds[] = {&worker->raw, &worker->rows};
    hdst_status status = run->spill.open ? HDST_OK : hdst__spill_open(&run->spill, &worker->error);
    for (uint32_t kind = 0; kind < 2; kind++)
        for (uint32_t part = 0; part < UINT32_C(1) << run->choice.part_bits && status == HDST_OK; part++) {
            status = hdst__cancel_check(run->engine->cancel, 0, 0, &worker->error);
            if (status == HDST_OK) status = write_part(worker, &kinds[kind]->part[part], place_of(spilled, run, kind, part));
        }
    return status;
}

hdst_status hdst__by_key_spill(hdst__by_key_worker *worker)
{
    hdst__by_key_pass *run = worker->run;
    hdst__by_key_spilled *spilled = hdst__alloc_zero(run->engine->allocator, sizeof *spilled + ((2 * sizeof *spilled->extent) << run->choice.part_bits));
    if (!spilled) return hdst__error_memory(&worker->error, "a reduce by key");
    pthread_mutex_lock(&run->lock);
    const hdst_status status = write_all(worker, spilled);
    spilled->next = run->spilled;
    run->spilled = spilled;
    pthread_mutex_unlock(&run->lock);
    return status;
}

hdst_status hdst__by_key_spill_rest(hdst__by_key_pass *run, hdst_error *error)
{
    if (!run->spilled) return HDST_OK;
    for (uint32_t i = 0; i < run->workers; i++) {
        hdst__by_key_worker *worker = &run->worker[i];
        const hdst_status status = hdst__by_key_spill(worker);
        if (status != HDST_OK) {
            *error = worker->error;
            return status;
        }
        hdst__by_key_give_slabs(worker);
    }
    return HDST_OK;
}

hdst_status hdst__by_key_read_spilled(hdst__by_key_worker *worker, uint32_t kind, uint32_t part, hdst__by_key_adder add)
{
    hdst__by_key_pass *run = worker->run;
    const uint64_t record = kind ? worker->rows.record_bytes : worker->raw.record_bytes, most = READ_BYTES < record ? record : READ_BYTES / record * record;
    hdst_status status = HDST_OK;
    if (run->spilled && !worker->read_memory) worker->read_memory = hdst__alloc(run->engine->allocator, READ_BYTES + record);
    if (run->spilled && !worker->read_memory) return hdst__error_memory(&worker->error, "a reduce by key");
    for (hdst__by_key_spilled *s = run->spilled; s && status == HDST_OK; s = s->next) {
        const hdst__by_key_extent_on_disk *extent = place_of(s, run, kind, part);
        for (uint64_t done = 0; done < extent->bytes && status == HDST_OK; done += most) {
            const uint64_t left = extent->bytes - done;
            const hdst__key_chunk chunk = {.bytes = left < most ? left : most, .data = worker->read_memory};
            status = hdst__cancel_check(run->engine->cancel, 0, 0, &worker->error);
            if (status != HDST_OK) return status;
            pthread_mutex_lock(&run->lock);
            status = hdst__spill_read(&run->spill, extent->offset + done, chunk.data, chunk.bytes, &worker->error);
            pthread_mutex_unlock(&run->lock);
            if (status == HDST_OK && !add(worker, &chunk)) status = worker->error.code;
        }
    }
    return status;
}

void hdst__by_key_forget_spilled(hdst__by_key_pass *run)
{
    while (run->spilled) {
        hdst__by_key_spilled *spilled = run->spilled;
        run->spilled = spilled->next;
        hdst__free(run->engine->allocator, spilled);
    }
    hdst__spill_close(&run->spill);
}
