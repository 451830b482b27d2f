// SPDX-License-Identifier: Apache-2.0
// Columns become C structs on a device (engine/memory/structs_copy.h).
#include "engine/memory/structs_copy.h"

#include "base/costs_gpu.h"
#include "base/pieces.h"
#include "engine/device/library_kernel.h"
#include "engine/memory/dataset_cache.h"

extern const hdst__pieces hdst__memory_pieces;      // engine/memory/*.cl

enum { LANES = 256, SIZES = 4, MOST_ELEMENTS = 16 };    // SIZES: words of 1, 2, 4, 8 bytes

struct hdst__structs_copy {
    hdst__device *device;
    hdst__arena arena;              // of the kernels' texts
    const char *text[SIZES];
    hdst__kernel kernel[SIZES];
    hdst__program *program[SIZES];
};

hdst__structs_copy *hdst__structs_copy_create(hdst__device *device)
{
    hdst__structs_copy *copy = hdst__alloc_zero(device->runtime->allocator, sizeof *copy);
    if (!copy) return NULL;
    copy->device = device;
    hdst__arena_init(&copy->arena, device->runtime->allocator, NULL);
    return copy;
}

void hdst__structs_copy_destroy(hdst__structs_copy *copy)
{
    if (!copy) return;
    for (int i = 0; i < SIZES; i++) copy->device->ops->unload(copy->device, copy->program[i]);
    hdst__arena_destroy(&copy->arena);
    hdst__free(copy->device->runtime->allocator, copy);
}

// --- Kernels ---

static void write_text(hdst__writer *out, const void *word)
{
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write(out, "#define WORD %s\n%s", (const char *)word, hdst__pieces_text(out->arena, &hdst__memory_pieces, "structs_copy.cl"));
}

static hdst_status load(hdst__structs_copy *copy, int size, hdst_error *error)
{
    static const char *const words[] = {"uchar", "ushort", "uint", "ulong"};
    hdst_status status = copy->text[size] ? HDST_OK
        : hdst__library_kernel_text(&copy->arena, write_text, words[size], "a copy of columns", &copy->text[size], error);
    if (status != HDST_OK) return status;
    return hdst__library_kernel_load(copy->device, copy->text[size], "copy_element", LANES, &copy->kernel[size], &copy->program[size], error);
}

// --- Copies ---

static hdst_status copy_element(hdst__structs_copy *copy, const hdst__segment *segment, uint32_t leaf, uint64_t element, hdst__memory *to, hdst_error *error)
{
    const hdst__device *device = copy->device;
    const hdst__storage *storage = segment->storage;
    const hdst__record *record = storage->record;
    const hdst__leaf_address *from = &storage->leaf[leaf];
    const int size = __builtin_ctzll(hdst__scalar_size(record->leaves[leaf].kind));
    const uint64_t groups = hdst__device_groups(device, (segment->count + LANES - 1) / LANES, HDST__GPU_GROUPS_PER_UNIT);
    const hdst__work_arg args[] = {
        {.memory = segment->memory[from->buffer]}, {.number = hdst__storage_offset(storage, leaf, 0, element)}, {.number = from->stride},
        {.number = storage->block}, {.number = from->block_stride}, {.number = segment->count}, {.memory = to},
        {.number = segment->first * record->size + hdst__leaf_offset(&record->leaves[leaf], element)}, {.number = record->size}};
    const hdst_status status = load(copy, size, error);
    if (status != HDST_OK || !segment->count) return status;
    return device->ops->work(copy->device, copy->program[size], args, sizeof args / sizeof *args, groups, LANES, error);
}

static hdst_status copy_segment(hdst__structs_copy *copy, const hdst__segment *segment, hdst__memory *to, hdst_error *error)
{
    const hdst__record *record = segment->storage->record;
    hdst_status status = HDST_OK;
    for (uint32_t leaf = 0; leaf < record->leaf_count; leaf++)
        for (uint64_t e = 0; e < record->leaves[leaf].elements && status == HDST_OK; e++) status = copy_element(copy, segment, leaf, e, to, error);
    return status;
}

static uint64_t bytes_of_elements(const hdst__record *record)
{
    uint64_t bytes = 0;
    for (uint32_t leaf = 0; leaf < record->leaf_count; leaf++) bytes += record->leaves[leaf].elements * hdst__scalar_size(record->leaves[leaf].kind);
    return bytes;
}

hdst_status hdst__structs_copy_run(hdst__structs_copy *copy, const hdst__dataset_cache *cache, hdst__memory *to, hdst_error *error)
{
    const hdst__record *record = cache->reader.record;
    hdst_status status = HDST_OK;
    if (bytes_of_elements(record) < record->size) status = copy->device->ops->fill(copy->device, to, to->bytes / 8, 0, error);
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) status = copy_segment(copy, &cache->segment[i], to, error);
    for (int i = 0; i < SIZES && status == HDST_OK; i++)
        if (copy->program[i]) copy->device->ops->proven(copy->device, copy->program[i]);
    return status;
}

// --- Whether ---

static bool is_aligned(const hdst__record *record)
{
    for (uint32_t leaf = 0; leaf < record->leaf_count; leaf++) {
        const hdst__leaf *l = &record->leaves[leaf];
        const uint64_t bytes = hdst__scalar_size(l->kind);
        if (record->size % bytes || l->offset % bytes || (l->elements > 1 && hdst__leaf_offset(l, 1) % bytes)) return false;
    }
    return true;
}

bool hdst__structs_copy_suits(const hdst__device *device, const hdst__record *record)
{
    if (device->unified || !device->ops->work || device->facts.max_group < LANES) return false;
    return !record->has_text && record->elements <= MOST_ELEMENTS && is_aligned(record);
}
