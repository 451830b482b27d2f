// SPDX-License-Identifier: Apache-2.0
// Segments: memory of a fixed size that holds records (engine/memory/segment.h).
#include "engine/memory/segment.h"

#include "engine/memory/registered.h"

uint64_t hdst__segment_record_bytes(const hdst__record *record)
{
    uint64_t leaves = 0;
    for (size_t i = 0; i < record->leaf_count; i++) leaves += record->leaves[i].elements * hdst__scalar_size(record->leaves[i].kind);
    return record->size > leaves ? record->size : leaves;
}

uint64_t hdst__segment_records(const hdst__reader *reader, uint64_t bytes, uint64_t records)
{
    const uint64_t unit = reader->layout == HDST__AOSOA && reader->block > 64 ? reader->block : 64;
    const uint64_t each = hdst__segment_record_bytes(reader->record) + reader->text_bytes;
    uint64_t fit = bytes / (each ? each : 1) / unit * unit, need = (records + unit - 1) / unit * unit;
    if (fit > need) fit = need;
    return fit < unit ? unit : fit;
}

// A few pieces, so that reading and computing overlap.
uint64_t hdst__segment_stream_records(const hdst__reader *reader, const hdst__device *device, uint64_t left)
{
    const uint64_t least = hdst__segment_records(reader, HDST__HOST_STREAM_LEAST_BYTES, reader->records), share = left / HDST__HOST_STREAM_SHARE;
    const uint64_t wanted = reader->makes_texts && device->facts.target != HDST__TARGET_GPU ? HDST__HOST_TEXT_STREAM_BYTES : HDST__HOST_STREAM_BYTES;
    const uint64_t most = hdst__segment_records(reader, share < wanted ? share : wanted, reader->records);
    const uint64_t unit = hdst__segment_records(reader, 0, 0), quarter = (reader->records / 4 + unit - 1) / unit * unit, border = HDST__SUB_BUFFER_BYTES;
    const uint64_t capacity = quarter > most ? most : quarter < least ? (least < most ? least : most) : quarter;
    const bool ends_on_border = capacity < reader->records && capacity > border && border % unit == 0;      // see HDST__SUB_BUFFER_RECORDS
    return ends_on_border ? capacity / border * border : capacity;
}

hdst_status hdst__segment_create(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, const hdst__storage *storage, const char *what,
                                 hdst__segment *segment, hdst_error *error)
{
    *segment = (hdst__segment){.storage = storage};
    segment->memory = hdst__alloc_zero(device->runtime->allocator, storage->buffers * sizeof *segment->memory);
    if (!segment->memory) return hdst__error_memory(error, what);
    for (; segment->buffers < storage->buffers; segment->buffers++) {
        hdst_status status = device->ops->alloc(device, kind, owner, storage->buffer_bytes[segment->buffers], what, &segment->memory[segment->buffers], error);
        if (status == HDST_OK) continue;
        hdst__segment_destroy(device, segment);
        return status;
    }
    return HDST_OK;
}

static void give_back_lent(hdst__segment *segment, hdst__device *device)
{
    if (!segment->own) return;
    device->ops->release_sub_buffer(device, &segment->lent);
    segment->memory[0] = segment->own;
    segment->own = NULL;
}

void hdst__segment_destroy(hdst__device *device, hdst__segment *segment)
{
    give_back_lent(segment, device);
    for (uint32_t i = 0; i < segment->buffers; i++) device->ops->release(device, segment->memory[i]);
    hdst__free(device->runtime->allocator, segment->memory);
    hdst__text_room_close(&segment->texts);
    hdst__text_mirror_close(&segment->mirror, device);
    hdst__line_notes_close(&segment->lines, device);
    *segment = (hdst__segment){0};
}

// --- The ring ---

bool hdst__segment_has_room(const hdst__segment *segment, const hdst__storage *storage)
{
    if (!storage->buffers) return true;         // records without fields take no memory, whatever the segment has
    if (segment->buffers != storage->buffers) return false;
    for (uint32_t i = 0; i < storage->buffers; i++)
        if (segment->memory[i]->bytes < storage->buffer_bytes[i]) return false;
    return true;
}

// With one segment nothing overlaps, and all is done. Where memory was short once, others have to be small beside what is left.
static bool takes_much(const hdst__device *device, const hdst__storage *storage)
{
    const hdst__runtime *runtime = device->runtime;
    const uint64_t host = hdst__budget_unused(&runtime->memory), own = hdst__budget_unused(&device->budget), left = host < own ? host : own;
    return runtime->lean && hdst__storage_bytes(storage) > left / HDST__HOST_LEAN_SHARE;
}

hdst_status hdst__ring_prepare(hdst__ring *ring, hdst__device *device, const hdst__storage *storage, uint32_t count, hdst_error *error)
{
    if (count > HDST__HOST_RING_SEGMENTS) count = HDST__HOST_RING_SEGMENTS;
    for (uint32_t i = 0; i < ring->count; i++) give_back_lent(&ring->segment[i], device);
    for (uint32_t i = 0; i < ring->count; i++)
        if (!hdst__segment_has_room(&ring->segment[i], storage)) hdst__ring_destroy(ring, device);
    ring->next = 0;
    while (ring->count < count && (ring->count == 0 || !takes_much(device, storage))) {
        hdst_error full = HDST_ERROR_INIT;
        hdst_status status = hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, storage, "a segment for input",
                                                  &ring->segment[ring->count], &full);
        if (status == HDST_E_MEMORY && ring->count) {
            if (ring->told != ring->count)          // a loop has the same in every run
                hdst__log_write(&device->runtime->log, HDST__LOG_INFO, "memory for %u segments of input only: reading and computing overlap less", ring->count);
            ring->told = ring->count;
            return HDST_OK;
        }
        if (status != HDST_OK && error) *error = full;
        if (status != HDST_OK) return status;
        ring->count++;
        ring->of_run = device->runtime->runs;
    }
    return HDST_OK;
}

void hdst__ring_destroy(hdst__ring *ring, hdst__device *device)
{
    for (uint32_t i = 0; i < ring->count; i++) hdst__segment_destroy(device, &ring->segment[i]);
    ring->count = ring->next = 0;
}

// --- Loading ---

// `tells`: the reader may say where lines are.
static hdst_status read_with_texts(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first,
                                   uint64_t count, void *const *buffers, bool tells, hdst_error *error)
{
    hdst_status status = hdst__text_room_open(&segment->texts, device->runtime, HDST__OWNER_SEGMENTS, reader, &storage, error);
    if (status == HDST_OK && reader->copies_texts) status = hdst__text_mirror_open(&segment->mirror, device, reader, count, &storage, error);
    if (status != HDST_OK) return status;
    if (tells) hdst__line_notes_open(&segment->lines, device->runtime, &segment->mirror, &storage);
    status = hdst__reader_fill(reader, device->runtime->threads, first, count, storage, buffers, 0, error);
    if (tells) hdst__line_notes_end(&segment->lines);
    return status;
}

// Where the device makes the records of all lines. A reader that told of some only, as others had no room in the mirror, is asked again: then there is more.
static hdst_status read_told(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first,
                             uint64_t count, void *const *buffers, bool *is_read, hdst_error *error)
{
    enum { TURNS = 2 };
    hdst_status status = HDST_OK;
    bool some = true;
    for (int turn = 0; turn < TURNS && status == HDST_OK && some && !segment->device_makes; turn++) {
        status = read_with_texts(segment, device, reader, storage, first, count, buffers, true, error);
        const hdst__line_notes *lines = &segment->lines;
        some = lines->lines || lines->refused;
        segment->device_makes = lines->lines && !lines->refused && lines->lines == hdst__reader_filled(reader, first, count);
    }
    *is_read = !some || segment->device_makes;
    return status;
}

static hdst_status call_reader(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first,
                               uint64_t count, hdst_error *error)
{
    enum { FEW = 8 };
    void *few[FEW] = {0};
    const hdst__allocator *allocator = device->runtime->allocator;
    void **buffers = segment->buffers <= FEW ? few : hdst__alloc(allocator, segment->buffers * sizeof *buffers);
    if (!buffers) return hdst__error_memory(error, "addresses of a segment");
    for (uint32_t i = 0; i < storage->buffers; i++) buffers[i] = segment->memory[i]->host;
    const double begin = hdst__timeline_begin(device->runtime->timeline);
    hdst__storage lacking;
    if (segment->may_lack) {
        lacking = *storage;
        lacking.needed = &segment->needed;
        storage = &lacking;
    }
    hdst_status status = HDST_OK;
    bool is_read = false;
    segment->device_makes = false;
    if (segment->may_tell && !hdst__line_spans_refusal(device, reader, storage))
        status = read_told(segment, device, reader, storage, first, count, buffers, &is_read, error);
    if (status == HDST_OK && !is_read) status = read_with_texts(segment, device, reader, storage, first, count, buffers, false, error);
    if (status == HDST_OK && reader->copies_texts && !segment->device_makes)
        status = hdst__text_mirror_gather(&segment->mirror, device, storage, buffers, count, error);
    hdst__timeline_end(device->runtime->timeline, begin, "read into a segment", device->function, count);
    if (buffers != few) hdst__free(allocator, buffers);
    return status;
}

static hdst_status fill_on_host(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage,
                                uint64_t first, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < storage->buffers && status == HDST_OK; i++) status = device->ops->to_host(device, segment->memory[i], error);
    if (status == HDST_OK) status = call_reader(segment, device, reader, storage, first, count, error);
    segment->storage = storage;
    segment->first = first;
    segment->count = status == HDST_OK ? hdst__reader_filled(reader, first, count) : count;
    return status;
}

hdst_status hdst__segment_load(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage,
                               uint64_t first, uint64_t count, uint64_t *moved, hdst_error *error)
{
    hdst_status status = fill_on_host(segment, device, reader, storage, first, count, error);
    for (uint32_t i = 0; i < storage->buffers && status == HDST_OK; i++) {
        hdst__memory *memory = segment->memory[i];
        status = device->ops->to_device(device, memory, error);
        if (status != HDST_OK || device->unified || segment->device_makes) continue;
        status = device->ops->write(device, memory, 0, memory->host, storage->buffer_bytes[i], false, error);
        *moved += storage->buffer_bytes[i];
    }
    if (status == HDST_OK && reader->copies_texts) status = hdst__text_mirror_write(&segment->mirror, device, moved, error);
    if (status != HDST_OK || !segment->device_makes) return status;
    return hdst__line_notes_make(&segment->lines, device, reader->lines, storage, segment->memory, moved, error);
}

// --- Registered memory ---

static const char *registered_rows(hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first, uint64_t count)
{
    const uint64_t size = storage->record->size;
    if (!reader->rows || storage->layout != HDST__AOS || count == 0) return NULL;
    const char *rows = (const char *)reader->rows + first * size;
    return hdst__registered_holds(device->runtime->registered, device, rows, count * size) ? rows : NULL;
}

const char *hdst__segment_registered_rows(hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first, uint64_t count)
{
    return reader->copies_texts ? NULL : registered_rows(device, reader, storage, first, count);
}

// On a unified device kernels read the rows themselves, elsewhere they are copied from where they lie.
static hdst_status lend_rows(hdst__segment *segment, hdst__device *device, const char *rows, uint64_t bytes, uint64_t *moved, hdst_error *error)
{
    if (!device->unified) {
        *moved += bytes;
        return device->ops->write(device, segment->memory[0], 0, rows, bytes, false, error);
    }
    hdst_status status = device->ops->wrap(device, (char *)rows, bytes, &segment->lent, error);
    if (status != HDST_OK) return status;
    segment->own = segment->memory[0];
    segment->memory[0] = &segment->lent;
    return HDST_OK;
}

hdst_status hdst__segment_stream(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage,
                                 uint64_t first, uint64_t count, uint64_t *moved, hdst_error *error)
{
    give_back_lent(segment, device);
    const char *rows = registered_rows(device, reader, storage, first, count);
    if (rows && reader->copies_texts && !hdst__text_mirror_lend(&segment->mirror, device, storage, rows, count)) rows = NULL;
    segment->may_tell = !rows;
    const hdst_status loaded = rows ? HDST_OK : hdst__segment_load(segment, device, reader, storage, first, count, moved, error);
    segment->may_tell = false;
    if (!rows) return loaded;
    segment->storage = storage;
    segment->first = first;
    segment->count = count;
    segment->device_makes = false;
    const hdst_status status = lend_rows(segment, device, rows, count * storage->record->size, moved, error);
    return status == HDST_OK && reader->copies_texts ? hdst__text_mirror_write(&segment->mirror, device, moved, error) : status;
}

// --- Copies on the host ---

void hdst__segment_let_copy_go(hdst__segment *segment)
{
    if (segment->copied) atomic_fetch_sub(&segment->copied->users, 1);
    segment->copied = NULL;
}

hdst_status hdst__segment_fill(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, hdst_error *error)
{
    return call_reader(segment, device, reader, segment->storage, segment->first, segment->count, error);
}

hdst_status hdst__segment_stream_copy(hdst__segment *segment, hdst__device *device, const hdst__segment *copy, uint64_t *moved, hdst_error *error)
{
    const hdst__storage *storage = copy->storage;
    hdst_status status = HDST_OK;
    give_back_lent(segment, device);
    segment->storage = storage;
    segment->first = copy->first;
    segment->count = copy->count;
    for (uint32_t b = 0; b < storage->buffers && status == HDST_OK; b++) {
        status = device->ops->write(device, segment->memory[b], 0, copy->memory[b]->host, storage->buffer_bytes[b], false, error);
        *moved += storage->buffer_bytes[b];
    }
    return status;
}
