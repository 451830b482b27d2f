// SPDX-License-Identifier: Apache-2.0
// The address rule of every layout, and copies between layouts.
#include "record/layout.h"
#include "base/strided_copy.h"

#include <string.h>

enum { ARRAY_ALIGN = 64, DEFAULT_BLOCK = 256 };
#define MAX_STORAGE_BYTES ((uint64_t)1 << 60)

static void address_aos(const hdst__record *record, hdst__leaf_address *address)
{
    for (size_t l = 0; l < record->leaf_count; l++)
        address[l] = (hdst__leaf_address){.offset = record->leaves[l].offset, .stride = record->size};
}

// Places an array of `rows` scalars for each element of each leaf: one after another, or each leaf in a buffer of its own.
static uint64_t address_arrays(const hdst__record *record, uint64_t rows, bool own_buffers, uint64_t *buffer_bytes, hdst__leaf_address *address)
{
    uint64_t end = 0;
    for (size_t l = 0; l < record->leaf_count; l++) {
        uint64_t size = hdst__scalar_size(record->leaves[l].kind);
        uint64_t array_bytes = (rows * size + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
        address[l] = (hdst__leaf_address){.offset = own_buffers ? 0 : end, .stride = size, .element_stride = array_bytes};
        end += array_bytes * record->leaves[l].elements;
        if (!own_buffers) continue;
        address[l].buffer = (uint32_t)l;
        buffer_bytes[l] = array_bytes * record->leaves[l].elements;
    }
    return end;
}

const hdst__storage *hdst__storage_make(hdst__arena *arena, const hdst__record *record, hdst__layout layout, uint64_t block, uint64_t capacity)
{
    if (layout != HDST__AOSOA) block = 0;
    else if (!block) block = record->block ? record->block : DEFAULT_BLOCK;
    if (capacity > MAX_STORAGE_BYTES || block > MAX_STORAGE_BYTES) return NULL;
    uint64_t rows = block ? (capacity + block - 1) / block * block : capacity, bytes;
    if (__builtin_mul_overflow(rows, record->size, &bytes) || bytes > MAX_STORAGE_BYTES) return NULL;

    uint32_t buffers = layout == HDST__AOP ? (uint32_t)record->leaf_count : 1;
    hdst__leaf_address *address = HDST__NEW_ARRAY(arena, hdst__leaf_address, record->leaf_count);
    uint64_t *buffer_bytes = HDST__NEW_ARRAY(arena, uint64_t, buffers);
    switch (layout) {
    case HDST__AOS:
        address_aos(record, address);
        buffer_bytes[0] = bytes;
        break;
    case HDST__SOA:
        buffer_bytes[0] = address_arrays(record, rows, false, NULL, address);
        break;
    case HDST__AOP:
        address_arrays(record, rows, true, buffer_bytes, address);
        break;
    case HDST__AOSOA: {
        uint64_t block_bytes = address_arrays(record, block, false, NULL, address);
        for (size_t l = 0; l < record->leaf_count; l++) address[l].block_stride = block_bytes;
        buffer_bytes[0] = rows / block * block_bytes;
        break;
    }
    }
    hdst__storage *storage = HDST__NEW(arena, hdst__storage);
    *storage = (hdst__storage){record, layout, block, rows, address, buffers, buffer_bytes};
    return storage;
}

uint64_t hdst__storage_bytes(const hdst__storage *storage)
{
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < storage->buffers; b++) bytes += storage->buffer_bytes[b];
    return bytes;
}

uint64_t hdst__storage_offset(const hdst__storage *storage, uint32_t leaf, uint64_t i, uint64_t element)
{
    const hdst__leaf_address *a = &storage->leaf[leaf];
    uint64_t record_part = storage->block ? i / storage->block * a->block_stride + i % storage->block * a->stride : i * a->stride;
    if (storage->layout == HDST__AOS) return hdst__leaf_offset(&storage->record->leaves[leaf], element) + record_part;
    return a->offset + record_part + element * a->element_stride;
}

static uint64_t left_in_block(const hdst__storage *storage, uint64_t i) { return storage->block ? storage->block - i % storage->block : UINT64_MAX; }

void hdst__storage_copy(const hdst__storage *to, void *const *to_buffers, uint64_t to_first,
                        const hdst__storage *from, const void *const *from_buffers, uint64_t from_first, uint64_t count)
{
    const hdst__record *record = from->record;
    if (to->layout == HDST__AOS && from->layout == HDST__AOS && to->record == record) {
        if (count) memcpy((char *)to_buffers[0] + to_first * record->size, (const char *)from_buffers[0] + from_first * record->size, count * record->size);
        return;
    }
    enum { RUN = 256 };     // few enough records that structs stay in cache while each of their fields is visited
    for (uint64_t done = 0, n; done < count; done += n) {
        uint64_t i = to_first + done, j = from_first + done, to_left = left_in_block(to, i), from_left = left_in_block(from, j);
        n = count - done < RUN ? count - done : RUN;
        if (n > to_left) n = to_left;
        if (n > from_left) n = from_left;
        for (uint32_t l = 0; l < record->leaf_count; l++) {
            char *to_base = to_buffers[to->leaf[l].buffer];
            const char *from_base = from_buffers[from->leaf[l].buffer];
            for (uint64_t e = 0; e < record->leaves[l].elements; e++)
                hdst__strided_copy(to_base + hdst__storage_offset(to, l, i, e), to->leaf[l].stride, from_base + hdst__storage_offset(from, l, j, e),
                             from->leaf[l].stride, hdst__scalar_size(record->leaves[l].kind), n);
        }
    }
}
