// SPDX-License-Identifier: Apache-2.0
// Records on the host that no stage computed: read as they are, for a result or a file.
#include "engine/engine_private.h"

#include "codegen/layout.h"
#include "engine/executor.h"

enum { BATCH_BYTES = 16 << 20 };        // between two looks at whether the run was cancelled

static hdst_status take_memory(hdst__engine *engine, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(reader->records, reader->record->size, &bytes) || bytes > SIZE_MAX / 2) return hdst__error_memory(error, "records");
    if (!hdst__budget_reserve(&engine->memory, bytes)) return hdst__budget_error(&engine->memory, bytes, "records", error);
    rows->records = hdst__alloc_zero(engine->allocator, bytes ? bytes : 1);
    if (!rows->records) {
        hdst__budget_release(&engine->memory, bytes);
        return hdst__error_memory(error, "records");
    }
    rows->bytes = bytes;
    return HDST_OK;
}

static hdst_status read_batches(hdst__engine *engine, const hdst__reader *reader, const hdst__storage *storage, hdst__rows *rows, hdst_error *error)
{
    uint64_t batch = BATCH_BYTES / reader->record->size + 1;
    void *buffers[] = {rows->records};
    hdst_status status = HDST_OK;
    for (; rows->count < reader->records && status == HDST_OK;) {
        uint64_t left = reader->records - rows->count, count = left < batch ? left : batch;
        if (atomic_exchange(&engine->cancelled, false))
            return hdst__error_set(error, HDST_E_CANCELLED, "cancelled after %llu of %llu records", (unsigned long long)rows->count, (unsigned long long)reader->records);
        status = reader->fill(reader->user, rows->count, count, storage, buffers, rows->count, error);
        rows->count += count;
    }
    return status;
}

static hdst_status read_rows(hdst__engine *engine, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, engine->allocator, &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records");
    } else {
        const hdst__storage *storage = hdst__storage_make(&arena, reader->record, HDST__AOS, 0, reader->records ? reader->records : 1);
        status = storage ? read_batches(engine, reader, storage, rows, error) : hdst__error_memory(error, "records");
    }
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst__engine_read(hdst__engine *engine, const hdst__reader *reader, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error)
{
    double start = hdst__now();
    *rows = (hdst__rows){0};
    pthread_mutex_lock(&engine->mutex);
    hdst_status status = take_memory(engine, reader, rows, error);
    if (status == HDST_OK) status = read_rows(engine, reader, rows, error);
    pthread_mutex_unlock(&engine->mutex);
    if (status != HDST_OK) hdst__engine_free_rows(engine, rows);
    double seconds = hdst__now() - start;
    stats->records += status == HDST_OK ? rows->count : 0;
    stats->read_seconds += seconds;
    stats->total_seconds += seconds;
    return status;
}

void hdst__engine_free_rows(hdst__engine *engine, hdst__rows *rows)
{
    if (!rows->records) return;
    hdst__free(engine->allocator, rows->records);
    hdst__budget_release(&engine->memory, rows->bytes);
    *rows = (hdst__rows){0};
}
