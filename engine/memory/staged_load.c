// SPDX-License-Identifier: Apache-2.0
// Records into memory that the host cannot reach: piece by piece through memory that both reach, one piece copied while the next one is read.
#include "engine/memory/segment.h"

// Copies one run of one leaf's element (SoA, AoP), or whole records (AoS, AoSoA: from the start of leaf 0), from the staging segment to its place.
static hdst_status copy_run(hdst__segment *to, uint64_t to_offset, const hdst__segment *from, uint64_t from_offset, uint32_t buffer, uint64_t bytes,
                            hdst__device *device, uint64_t *moved, hdst_error *error)
{
    *moved += bytes;
    return device->ops->write(device, to->memory[buffer], to_offset, (const char *)from->memory[buffer]->host + from_offset, bytes, true, error);
}

static uint64_t whole_record_offset(const hdst__storage *storage, uint64_t record)
{
    if (!storage->block) return record * storage->record->size;
    return record / storage->block * storage->leaf[0].block_stride;     // pieces start at blocks
}

static hdst_status copy_piece(hdst__segment *to, uint64_t at, const hdst__segment *from, hdst__device *device, uint64_t *moved, hdst_error *error)
{
    const hdst__storage *target = to->storage, *source = from->storage;
    if (target->layout == HDST__AOS || target->layout == HDST__AOSOA) {
        uint64_t count = source->block ? (from->count + source->block - 1) / source->block * source->block : from->count;
        return copy_run(to, whole_record_offset(target, at), from, 0, 0, whole_record_offset(source, count), device, moved, error);
    }
    for (uint32_t leaf = 0; leaf < target->record->leaf_count; leaf++) {
        uint64_t size = hdst__scalar_size(target->record->leaves[leaf].kind);
        for (uint64_t e = 0; e < target->record->leaves[leaf].elements; e++) {
            hdst_status status = copy_run(to, hdst__storage_offset(target, leaf, at, e), from, hdst__storage_offset(source, leaf, 0, e),
                                          target->leaf[leaf].buffer, from->count * size, device, moved, error);
            if (status != HDST_OK) return status;
        }
    }
    return HDST_OK;
}

// --- One piece after the other ---

static hdst_status to_host(const hdst__segment *staging, hdst__device *device, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < staging->buffers && status == HDST_OK; i++) status = device->ops->to_host(device, staging->memory[i], error);
    return status;
}

static hdst_status fill_piece(hdst__segment *piece, const hdst__reader *reader, hdst__device *device, uint64_t first, uint64_t count, hdst_error *error)
{
    enum { FEW = 8 };
    void *few[FEW] = {0};
    void **buffers = piece->buffers <= FEW ? few : hdst__alloc(device->runtime->allocator, piece->buffers * sizeof *buffers);
    if (!buffers) return hdst__error_memory(error, "addresses of a segment");
    for (uint32_t i = 0; i < piece->storage->buffers; i++) buffers[i] = piece->memory[i]->host;
    hdst_status status = hdst__reader_fill(reader, device->runtime->threads, first, count, piece->storage, buffers, 0, error);
    if (buffers != few) hdst__free(device->runtime->allocator, buffers);
    piece->first = first;
    piece->count = count;
    return status;
}

static hdst_status load_in_turn(hdst__segment *segment, hdst__segment *staging, const hdst__storage *piece, hdst__device *device, const hdst__reader *reader,
                                uint64_t *moved, hdst_error *error)
{
    hdst_status status = to_host(staging, device, error);
    staging->storage = piece;
    for (uint64_t at = 0; at < segment->count && status == HDST_OK; at += piece->capacity) {
        const uint64_t left = segment->count - at;
        status = fill_piece(staging, reader, device, segment->first + at, left < piece->capacity ? left : piece->capacity, error);
        if (status == HDST_OK) status = copy_piece(segment, at, staging, device, moved, error);
    }
    return status;
}

// --- One piece while the other ---

typedef struct overlap {
    hdst__segment *segment;
    hdst__device *device;
    const hdst__reader *reader;
    uint64_t *moved;
    hdst__segment half[2];              // views of the staging memory
    uint64_t pieces, now;               // the piece that is read; the one before it is copied
    hdst_status status[2];              // of copying, of reading
    hdst_error error[2];
} overlap;

enum { COPY, READ };

// Of the pool's two numbers one copies and one reads, with more threads if there are. Only the one that copies asks the device: a reader that may be read
// by several threads asks none.
static void do_half(void *user, uint64_t which)
{
    overlap *o = user;
    const uint64_t each = o->half[0].storage->capacity, at = o->now * each, left = o->segment->count - at;
    if (which == READ && o->now < o->pieces)
        o->status[READ] = fill_piece(&o->half[o->now % 2], o->reader, o->device, o->segment->first + at, left < each ? left : each, &o->error[READ]);
    if (which == COPY && o->now > 0)
        o->status[COPY] = copy_piece(o->segment, at - each, &o->half[(o->now - 1) % 2], o->device, o->moved, &o->error[COPY]);
}

static hdst_status load_overlapped(overlap *o, hdst__segment *staging, hdst_error *error)
{
    hdst_status status = to_host(staging, o->device, error);
    if (status != HDST_OK) return status;
    for (o->now = 0; o->now <= o->pieces; o->now++) {
        hdst__thread_pool_run(o->device->runtime->threads, 2, do_half, o);
        for (int i = COPY; i <= READ; i++) {
            if (o->status[i] == HDST_OK) continue;
            if (error) *error = o->error[i];
            return o->status[i];
        }
    }
    return HDST_OK;
}

// Two views of the staging memory, each with half of every buffer. false: they do not fit.
static bool make_halves(hdst__arena *arena, overlap *o, const hdst__segment *staging, const hdst__storage *piece)
{
    const uint64_t unit = piece->block > 64 ? piece->block : 64, records = piece->capacity / 2 / unit * unit;
    const hdst__storage *half = records ? hdst__storage_make(arena, piece->record, piece->layout, piece->block, records) : NULL;
    if (!half) return false;
    for (uint32_t b = 0; b < half->buffers; b++)
        if (2 * half->buffer_bytes[b] > staging->memory[b]->bytes) return false;
    for (int i = 0; i < 2; i++) {
        hdst__memory *views = HDST__NEW_ARRAY(arena, hdst__memory, half->buffers);
        o->half[i] = (hdst__segment){.storage = half, .memory = HDST__NEW_ARRAY(arena, hdst__memory *, half->buffers), .buffers = half->buffers};
        for (uint32_t b = 0; b < half->buffers; b++) {
            views[b] = (hdst__memory){.bytes = half->buffer_bytes[b], .host = (char *)staging->memory[b]->host + (uint64_t)i * half->buffer_bytes[b]};
            o->half[i].memory[b] = &views[b];
        }
    }
    o->pieces = (o->segment->count + records - 1) / records;
    return o->pieces > 1;
}

static hdst_status copy_rows(hdst__segment *segment, const char *rows, hdst__device *device, uint64_t *moved, hdst_error *error)
{
    const uint64_t bytes = segment->count * segment->storage->record->size;
    *moved += bytes;
    return device->ops->write(device, segment->memory[0], 0, rows, bytes, true, error);
}

hdst_status hdst__segment_load_staged(hdst__segment *segment, hdst__segment *staging, const hdst__storage *piece, hdst__device *device,
                                      const hdst__reader *reader, uint64_t *moved, hdst_error *error)
{
    const char *rows = hdst__segment_registered_rows(device, reader, segment->storage, segment->first, segment->count);
    if (rows) return copy_rows(segment, rows, device, moved, error);
    overlap o = {.segment = segment, .device = device, .reader = reader, .moved = moved, .error = {HDST_ERROR_INIT, HDST_ERROR_INIT}};
    hdst__arena arena;
    jmp_buf out_of_memory;
    volatile bool overlaps = reader->concurrent && hdst__thread_pool_size(device->runtime->threads) > 1;
    hdst__arena_init(&arena, device->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) overlaps = false;
    else if (overlaps) overlaps = make_halves(&arena, &o, staging, piece);
    hdst_status status = overlaps ? load_overlapped(&o, staging, error) : load_in_turn(segment, staging, piece, device, reader, moved, error);
    hdst__arena_destroy(&arena);
    return status;
}
