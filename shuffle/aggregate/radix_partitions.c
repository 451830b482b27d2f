// SPDX-License-Identifier: Apache-2.0
// Partitioning by hash (shuffle/aggregate/radix_partitions.h).
#include "shuffle/aggregate/radix_partitions.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 64, LARGEST_GROUPED = 256 };

// As many records as fill whole cache lines.
static uint32_t group_of(uint32_t record_bytes)
{
    uint32_t group = 1;
    if (record_bytes > LARGEST_GROUPED) return 1;
    while (group * record_bytes % LINE) group *= 2;
    return group;
}

bool hdst__key_parts_create(hdst__key_parts *parts, const hdst__allocator *allocator, uint32_t bits, uint32_t record_bytes, hdst__key_memory more, void *user)
{
    const uint64_t count = UINT64_C(1) << bits;
    *parts = (hdst__key_parts){.allocator = allocator, .more = more, .user = user, .bits = bits, .record_bytes = record_bytes, .group = group_of(record_bytes)};
    const uint64_t line = (uint64_t)parts->group * record_bytes, wanted = bits <= 6 ? 64 << 10 : bits <= 9 ? 16 << 10 : 8 << 10;
    parts->chunk_room = ((wanted > line ? wanted : line) + LINE - 1) / LINE * LINE;
    parts->chunk_bytes = parts->chunk_room / line * line;
    parts->part = hdst__alloc_zero(allocator, count * sizeof *parts->part);
    parts->fill = hdst__alloc_zero(allocator, count);
    parts->line_memory = hdst__alloc(allocator, count * line + LINE);
    if (!parts->part || !parts->fill || !parts->line_memory) {
        hdst__key_parts_destroy(parts);
        return false;
    }
    parts->line = parts->line_memory + (LINE - (uintptr_t)parts->line_memory % LINE) % LINE;
    return true;
}

void hdst__key_parts_limit(hdst__key_parts *parts, uint64_t bytes)
{
    const uint64_t line = (uint64_t)parts->group * parts->record_bytes, room = ((bytes > line ? bytes : line) + LINE - 1) / LINE * LINE;
    if (room >= parts->chunk_room) return;
    parts->chunk_room = room;
    parts->chunk_bytes = room / line * line;
}

void hdst__key_parts_destroy(hdst__key_parts *parts)
{
    hdst__free(parts->allocator, parts->part);
    hdst__free(parts->allocator, parts->fill);
    hdst__free(parts->allocator, parts->line_memory);
    *parts = (hdst__key_parts){.allocator = parts->allocator};
}

// The length of its last chunk stands in the part as long as records come.
static void note_length(hdst__key_part *part)
{
    if (part->last) part->last->bytes = (uint64_t)(part->at - part->last->data);
}

static bool new_chunk(hdst__key_parts *parts, hdst__key_part *part)
{
    const uint64_t head = (sizeof(hdst__key_chunk) + LINE - 1) / LINE * LINE;
    hdst__key_chunk *chunk = parts->more(parts->user, head + parts->chunk_room);
    if (!chunk) return false;
    *chunk = (hdst__key_chunk){.data = (char *)chunk + head};
    note_length(part);
    if (part->last) part->last->next = chunk;
    else part->first = chunk;
    part->last = chunk;
    part->at = chunk->data;
    part->end = chunk->data + parts->chunk_bytes;
    return true;
}

hdst__key_chunk *hdst__key_parts_detach(hdst__key_parts *parts, uint32_t number)
{
    hdst__key_part *part = &parts->part[number];
    hdst__key_chunk *first = part->first;
    note_length(part);
    *part = (hdst__key_part){0};
    return first;
}

bool hdst__key_parts_put(hdst__key_parts *parts, uint32_t number, const void *records, uint64_t count)
{
    hdst__key_part *part = &parts->part[number];
    const char *from = records;
    for (uint64_t left = count * parts->record_bytes; left;) {
        if (part->at == part->end && !new_chunk(parts, part)) return false;
        const uint64_t room = (uint64_t)(part->end - part->at), bytes = left < room ? left : room;
        memcpy(part->at, from, bytes);
        part->at += bytes;
        from += bytes;
        left -= bytes;
    }
    return true;
}

void hdst__key_parts_seal(hdst__key_parts *parts, uint32_t number)
{
    hdst__key_part *part = &parts->part[number];
    part->end = part->at;
    note_length(part);          // hdst__key_parts_end may have been here before
}

static void copy_lines(char *to, const char *from, uint64_t bytes)
{
#ifdef __SSE2__
    for (uint64_t i = 0; i < bytes; i += 16) _mm_stream_si128((__m128i *)(void *)(to + i), _mm_load_si128((const __m128i *)(const void *)(from + i)));
#else
    memcpy(to, from, bytes);
#endif
}

bool hdst__key_parts_flush_line(hdst__key_parts *parts, uint32_t number)
{
    hdst__key_part *part = &parts->part[number];
    const uint64_t line = (uint64_t)parts->group * parts->record_bytes, bytes = (uint64_t)parts->fill[number] * parts->record_bytes;
    const char *from = parts->line + number * line;
    if (part->at == part->end && !new_chunk(parts, part)) return false;
    if (bytes == line && line % LINE == 0) copy_lines(part->at, from, bytes);
    else memcpy(part->at, from, bytes);
    part->at += bytes;
    parts->fill[number] = 0;
    return true;
}

bool hdst__key_parts_end(hdst__key_parts *parts)
{
    for (uint32_t p = 0; p < UINT32_C(1) << parts->bits; p++) {
        if (parts->fill[p] && !hdst__key_parts_flush_line(parts, p)) return false;
        note_length(&parts->part[p]);
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
    return true;
}

bool hdst__key_parts_add_pairs(hdst__key_parts *parts, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count)
{
    const uint32_t shift = 32 - parts->bits;
    uint64_t *line = (uint64_t *)(void *)parts->line;
    uint8_t *fill = parts->fill;
    if (parts->bits == 0 || parts->record_bytes != 8 || parts->group != LINE / 8) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, value + i * stride, sizeof bits);
        const uint32_t p = hash[i] >> shift, at = fill[p];
        line[p * (LINE / 8) + at] = (uint64_t)bits << 32 | hash[i];
        fill[p] = (uint8_t)(at + 1);
        if (at + 1 == LINE / 8 && !hdst__key_parts_flush_line(parts, p)) return false;
    }
    return true;
}
