// SPDX-License-Identifier: Apache-2.0
// Records on the host that no stage computed (engine/memory/host_rows.h).
#include "engine/memory/host_rows.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/costs_host.h"

static hdst_status take_memory(hdst__runtime *runtime, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(reader->records, reader->record->size, &bytes) || bytes > SIZE_MAX / 2) return hdst__error_memory(error, "records");
    rows->records = hdst__budget_alloc_zero(&runtime->memory, HDST__OWNER_OUTPUT, bytes, "records", error);
    if (!rows->records) return HDST_E_MEMORY;
    rows->bytes = bytes;
    return HDST_OK;
}

// What becomes of a batch: it stays in `all`, one behind the other, or goes through `piece` to `take`.
typedef struct batches {
    hdst__runtime *runtime;
    const hdst__reader *reader;
    hdst__rows *all;
    char *piece;
    hdst__take_rows take;
    void *user;
    uint64_t batch;             // records
    hdst__text_room texts;      // of a piece
    hdst__text_heap **kept;     // or of all of them, where they stay; NULL: they do not
} batches;

// Memory for the texts of the next batch.
static hdst_status text_room(batches *b, const hdst__storage **storage, hdst_error *error)
{
    if (!b->kept || !b->reader->makes_texts) return hdst__text_room_open(&b->texts, b->runtime, HDST__OWNER_SEGMENTS, b->reader, storage, error);
    if (!*b->kept) *b->kept = hdst__text_heap_create(b->runtime, HDST__OWNER_OUTPUT);
    if (!*b->kept) return hdst__error_memory(error, "texts");
    b->texts.sink = hdst__text_heap_sink(*b->kept);
    b->texts.with = **storage;
    b->texts.with.text = &b->texts.sink;
    *storage = &b->texts.with;
    return HDST_OK;
}

static hdst_status read_batches(batches *b, const hdst__storage *storage, hdst_error *error)
{
    const hdst__reader *reader = b->reader;
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < reader->records && status == HDST_OK;) {
        uint64_t left = reader->records - done, count = left < b->batch ? left : b->batch;
        void *buffers[] = {b->piece ? b->piece : b->all->records};
        status = hdst__cancel_check(b->runtime->cancel, done, reader->records, error);
        const hdst__storage *to = storage;
        if (status == HDST_OK) status = text_room(b, &to, error);
        if (status == HDST_OK) status = hdst__reader_fill(reader, b->runtime->threads, done, count, to, buffers, b->piece ? 0 : done, error);
        if (status == HDST_OK && b->piece) status = b->take(b->user, b->piece, count, error);
        done += count;
        if (b->all) b->all->count = done;
    }
    return status;
}

static hdst_status read_rows(batches *b, uint64_t capacity, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, b->runtime->allocator, &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records");
    } else {
        const hdst__storage *storage = hdst__storage_make(&arena, b->reader->record, HDST__AOS, 0, capacity ? capacity : 1);
        status = storage ? read_batches(b, storage, error) : hdst__error_memory(error, "records");
    }
    hdst__arena_destroy(&arena);
    hdst__text_room_close(&b->texts);
    return status;
}

static void add_stats(hdst__run_stats *stats, uint64_t records, double start)
{
    double seconds = hdst__now() - start;
    stats->records += records;
    stats->read_seconds += seconds;
    stats->total_seconds += seconds;
}

hdst_status hdst__rows_read(hdst__runtime *runtime, const hdst__reader *reader, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error)
{
    double start = hdst__now();
    batches b = {.runtime = runtime, .reader = reader, .all = rows, .batch = HDST__HOST_BATCH_BYTES / reader->record->size + 1, .kept = &rows->texts};
    *rows = (hdst__rows){0};
    pthread_mutex_lock(&runtime->mutex);
    hdst_status status = take_memory(runtime, reader, rows, error);
    if (status == HDST_OK) status = read_rows(&b, reader->records, error);
    pthread_mutex_unlock(&runtime->mutex);
    if (status != HDST_OK) hdst__rows_free(runtime, rows);
    add_stats(stats, status == HDST_OK ? rows->count : 0, start);
    return status;
}

static hdst_status stream(hdst__runtime *runtime, const hdst__reader *reader, hdst__take_rows take, void *user, hdst__text_heap **texts,
                          hdst__run_stats *stats, hdst_error *error)
{
    const double start = hdst__now();
    const uint64_t size = reader->record->size, share = hdst__budget_left(&runtime->memory) / HDST__HOST_PIECE_SHARE,
        fit = (share < HDST__HOST_PIECE_BYTES ? share : HDST__HOST_PIECE_BYTES) / size + 1, most = reader->records < fit ? reader->records : fit;
    batches b = {.runtime = runtime, .reader = reader, .take = take, .user = user, .batch = most, .kept = texts,
                 .piece = hdst__alloc_zero(hdst__budget_owned(&runtime->memory, HDST__OWNER_SEGMENTS), most * size)};
    if (!b.piece) return hdst__error_memory(error, "records");
    pthread_mutex_lock(&runtime->mutex);
    hdst_status status = read_rows(&b, most, error);
    pthread_mutex_unlock(&runtime->mutex);
    hdst__free(runtime->allocator, b.piece);
    add_stats(stats, status == HDST_OK ? reader->records : 0, start);
    return status;
}

hdst_status hdst__rows_stream(hdst__runtime *runtime, const hdst__reader *reader, hdst__take_rows take, void *user, hdst__run_stats *stats, hdst_error *error)
{
    return stream(runtime, reader, take, user, NULL, stats, error);
}

static hdst_status to_file(void *user, const void *records, uint64_t count, hdst_error *error)
{
    hdst__rows *rows = user;
    const uint64_t size = rows->bytes;          // of a record, meanwhile
    rows->count += count;
    return hdst__spill_add(&rows->file, records, count * size, error);
}

static hdst_status read_through_file(hdst__runtime *runtime, const hdst__reader *reader, bool writable, hdst__rows *rows, hdst__run_stats *stats,
                                     hdst_error *error)
{
    *rows = (hdst__rows){.bytes = reader->record->size};
    hdst_status status = hdst__spill_open(runtime, &rows->file, error);
    if (status == HDST_OK) status = stream(runtime, reader, to_file, rows, &rows->texts, stats, error);
    rows->bytes = rows->file.bytes;
    const void *data = NULL;
    if (status == HDST_OK) status = writable ? hdst__spill_map_private(&rows->file, &rows->records, error) : hdst__spill_map(&rows->file, &data, error);
    if (data) rows->records = (void *)data;
    rows->mapped = rows->records != NULL;
    if (status != HDST_OK) hdst__rows_free(runtime, rows);
    return status;
}

hdst_status hdst__rows_read_all(hdst__runtime *runtime, const hdst__reader *reader, bool writable, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error)
{
    uint64_t bytes;
    hdst_error full = HDST_ERROR_INIT;
    if (__builtin_mul_overflow(reader->records, reader->record->size, &bytes)) return hdst__error_memory(error, "records");
    if (bytes <= hdst__budget_left(&runtime->memory) / HDST__HOST_LEFT_SHARE * (HDST__HOST_LEFT_SHARE - 1)) {
        hdst_status status = hdst__rows_read(runtime, reader, rows, stats, &full);
        if (status != HDST_OK && status != HDST_E_MEMORY && error) *error = full;
        if (status != HDST_E_MEMORY) return status;
    }
    return read_through_file(runtime, reader, writable, rows, stats, error);
}

void hdst__rows_free(const hdst__runtime *runtime, hdst__rows *rows)
{
    if (rows->mapped) hdst__spill_unmap_read(runtime, &rows->file, rows->records);
    else if (rows->records) hdst__free(runtime->allocator, rows->records);
    hdst__spill_close(&rows->file);
    hdst__text_heap_drop(rows->texts);
    *rows = (hdst__rows){0};
}
