// SPDX-License-Identifier: Apache-2.0
// Partitioning by hash (shuffle/aggregate/radix_partitions.h).
#include "shuffle/aggregate/radix_partitions.h"
#include "base/costs_host.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = HDST__HOST_CACHE_LINE_BYTES };

// As many records as fill whole cache lines.
static uint32_t group_of(uint32_t record_bytes)
{
    uint32_t group = 1;
    if (record_bytes > HDST__HOST_LINE_RECORD_BYTES) return 1;
    while (group * record_bytes % LINE) group *= 2;
    return group;
}

bool hdst__radix_partitions_create(hdst__radix_partitions *partitions, const hdst__allocator *allocator, uint32_t bits, uint32_t record_bytes,
                                   hdst__chunk_memory more, void *user)
{
    const uint64_t count = UINT64_C(1) << bits;
    *partitions = (hdst__radix_partitions){
        .allocator = allocator, .more = more, .user = user, .bits = bits, .record_bytes = record_bytes, .group = group_of(record_bytes)};
    const uint64_t line = (uint64_t)partitions->group * record_bytes, wanted = HDST__HOST_PARTITION_CHUNK_BYTES(bits);
    partitions->chunk_room = ((wanted > line ? wanted : line) + LINE - 1) / LINE * LINE;
    partitions->chunk_bytes = partitions->chunk_room / line * line;
    partitions->partition = hdst__alloc_zero(allocator, count * sizeof *partitions->partition);
    partitions->fill = hdst__alloc_zero(allocator, count);
    partitions->line_memory = hdst__alloc(allocator, count * line + LINE);
    if (!partitions->partition || !partitions->fill || !partitions->line_memory) {
        hdst__radix_partitions_destroy(partitions);
        return false;
    }
    partitions->line = partitions->line_memory + (LINE - (uintptr_t)partitions->line_memory % LINE) % LINE;
    return true;
}

void hdst__radix_partitions_limit(hdst__radix_partitions *partitions, uint64_t bytes)
{
    const uint64_t line = (uint64_t)partitions->group * partitions->record_bytes, room = ((bytes > line ? bytes : line) + LINE - 1) / LINE * LINE;
    if (room >= partitions->chunk_room) return;
    partitions->chunk_room = room;
    partitions->chunk_bytes = room / line * line;
}

void hdst__radix_partitions_destroy(hdst__radix_partitions *partitions)
{
    hdst__free(partitions->allocator, partitions->partition);
    hdst__free(partitions->allocator, partitions->fill);
    hdst__free(partitions->allocator, partitions->line_memory);
    *partitions = (hdst__radix_partitions){.allocator = partitions->allocator};
}

// The length of its last chunk stands in the partition as long as records come.
static void note_length(hdst__radix_partition *partition)
{
    if (partition->last) partition->last->bytes = (uint64_t)(partition->at - partition->last->data);
}

static bool new_chunk(hdst__radix_partitions *partitions, hdst__radix_partition *partition)
{
    const uint64_t head = (sizeof(hdst__partition_chunk) + LINE - 1) / LINE * LINE;
    hdst__partition_chunk *chunk = partitions->more(partitions->user, head + partitions->chunk_room);
    if (!chunk) return false;
    *chunk = (hdst__partition_chunk){.data = (char *)chunk + head};
    note_length(partition);
    if (partition->last) partition->last->next = chunk;
    else partition->first = chunk;
    partition->last = chunk;
    partition->at = chunk->data;
    partition->end = chunk->data + partitions->chunk_bytes;
    return true;
}

hdst__partition_chunk *hdst__radix_partitions_detach(hdst__radix_partitions *partitions, uint32_t number)
{
    hdst__radix_partition *partition = &partitions->partition[number];
    hdst__partition_chunk *first = partition->first;
    note_length(partition);
    *partition = (hdst__radix_partition){0};
    return first;
}

bool hdst__radix_partitions_put(hdst__radix_partitions *partitions, uint32_t number, const void *records, uint64_t count)
{
    hdst__radix_partition *partition = &partitions->partition[number];
    const char *from = records;
    for (uint64_t left = count * partitions->record_bytes; left;) {
        if (partition->at == partition->end && !new_chunk(partitions, partition)) return false;
        const uint64_t room = (uint64_t)(partition->end - partition->at), bytes = left < room ? left : room;
        memcpy(partition->at, from, bytes);
        partition->at += bytes;
        from += bytes;
        left -= bytes;
    }
    return true;
}

void hdst__radix_partitions_seal(hdst__radix_partitions *partitions, uint32_t number)
{
    hdst__radix_partition *partition = &partitions->partition[number];
    partition->end = partition->at;
    note_length(partition);          // hdst__radix_partitions_end may have been here before
}

static void copy_lines(char *to, const char *from, uint64_t bytes)
{
#ifdef __SSE2__
    for (uint64_t i = 0; i < bytes; i += 16) _mm_stream_si128((__m128i *)(void *)(to + i), _mm_load_si128((const __m128i *)(const void *)(from + i)));
#else
    memcpy(to, from, bytes);
#endif
}

bool hdst__radix_partitions_flush_line(hdst__radix_partitions *partitions, uint32_t number)
{
    hdst__radix_partition *partition = &partitions->partition[number];
    const uint64_t line = (uint64_t)partitions->group * partitions->record_bytes, bytes = (uint64_t)partitions->fill[number] * partitions->record_bytes;
    const char *from = partitions->line + number * line;
    if (partition->at == partition->end && !new_chunk(partitions, partition)) return false;
    if (bytes == line && line % LINE == 0) copy_lines(partition->at, from, bytes);
    else memcpy(partition->at, from, bytes);
    partition->at += bytes;
    partitions->fill[number] = 0;
    return true;
}

bool hdst__radix_partitions_end(hdst__radix_partitions *partitions)
{
    for (uint32_t p = 0; p < UINT32_C(1) << partitions->bits; p++) {
        if (partitions->fill[p] && !hdst__radix_partitions_flush_line(partitions, p)) return false;
        note_length(&partitions->partition[p]);
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
    return true;
}

bool hdst__radix_partitions_add_tuples(hdst__radix_partitions *partitions, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count)
{
    const uint32_t shift = 32 - partitions->bits;
    uint64_t *line = (uint64_t *)(void *)partitions->line;
    uint8_t *fill = partitions->fill;
    if (partitions->bits == 0 || partitions->record_bytes != 8 || partitions->group != LINE / 8) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, value + i * stride, sizeof bits);
        const uint32_t p = hash[i] >> shift, at = fill[p];
        line[p * (LINE / 8) + at] = (uint64_t)bits << 32 | hash[i];
        fill[p] = (uint8_t)(at + 1);
        if (at + 1 == LINE / 8 && !hdst__radix_partitions_flush_line(partitions, p)) return false;
    }
    return true;
}

bool hdst__radix_partitions_add_wide_tuples(hdst__radix_partitions *partitions, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count)
{
    enum { WORDS = 2 };
    const uint32_t shift = 32 - partitions->bits;
    uint64_t *line = (uint64_t *)(void *)partitions->line;
    uint8_t *fill = partitions->fill;
    if (partitions->bits == 0 || partitions->record_bytes != WORDS * 8 || partitions->group != LINE / (WORDS * 8)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t p = hash[i] >> shift, at = fill[p];
        uint64_t *to = line + p * (LINE / 8) + at * WORDS;
        to[0] = hash[i];
        memcpy(&to[1], value + i * stride, sizeof to[1]);
        fill[p] = (uint8_t)(at + 1);
        if (at + 1 == LINE / (WORDS * 8) && !hdst__radix_partitions_flush_line(partitions, p)) return false;
    }
    return true;
}
