// SPDX-License-Identifier: Apache-2.0
// Records of lines that a device makes of their bytes (engine/memory/line_spans.h).
#include "engine/memory/line_spans.h"

#include "base/pieces.h"
#include "engine/device/library_kernel.h"

extern const hdst__pieces hdst__memory_pieces;      // engine/memory/*.cl

enum { LANES = 256, GROUPS_PER_UNIT = 8, FIRST_BLOCKS = 64, FIELDS = 4, FIELD_ARGS = 4 };

struct hdst__line_spans {
    hdst__arena text;
    hdst__kernel kernel;
    hdst__program *program;
};

// --- The kernel ---

static void write_text(hdst__writer *out, const void *user)
{
    (void)user;
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__memory_pieces, "line_spans.cl"));
}

void hdst__line_spans_destroy(hdst__line_spans *spans, hdst__device *device)
{
    if (!spans) return;
    device->ops->unload(device, spans->program);
    hdst__arena_destroy(&spans->text);
    hdst__free(device->runtime->allocator, spans);
}

static hdst_status provide_kernel(hdst__device *device, hdst_error *error)
{
    if (device->line_spans) return HDST_OK;
    hdst__line_spans *spans = hdst__alloc_zero(device->runtime->allocator, sizeof *spans);
    if (!spans) return hdst__error_memory(error, "lines on a device");
    hdst__arena_init(&spans->text, device->runtime->allocator, NULL);
    const char *text;
    hdst_status status = hdst__library_kernel_text(&spans->text, write_text, NULL, "lines on a device", &text, error);
    if (status == HDST_OK) status = hdst__library_kernel_load(device, text, "line_spans", LANES, &spans->kernel, &spans->program, error);
    if (status == HDST_OK) device->line_spans = spans;
    else hdst__line_spans_destroy(spans, device);
    return status;
}

// --- Whether ---

static bool is_aligned(const hdst__storage *storage, uint32_t leaf)
{
    if (leaf == UINT32_MAX) return true;
    const uint64_t width = storage->record->leaves[leaf].kind == HDST__TEXT ? 8 : hdst__scalar_size(storage->record->leaves[leaf].kind);
    return (storage->leaf[leaf].offset | storage->leaf[leaf].stride) % width == 0;
}

const char *hdst__line_spans_refusal(const hdst__device *device, const hdst__reader *reader, const hdst__storage *storage)
{
    const hdst__line_leaves *leaves = reader->lines;
    if (!leaves || device->unified || !reader->copies_texts || !reader->makes_texts) return "";
    if (!device->ops->work || device->facts.max_group < LANES) return "the device has no kernels for it";
    if (storage->block) return "records lie in blocks";
    if (!is_aligned(storage, leaves->text) || !is_aligned(storage, leaves->offset) || !is_aligned(storage, leaves->source) ||
        !is_aligned(storage, leaves->line)) return "fields do not lie at whole words";
    return NULL;
}

// --- What is told ---

static bool grow(hdst__line_notes *notes, uint64_t count)
{
    uint64_t room = notes->room ? notes->room : FIRST_BLOCKS;
    while (room < notes->count + count) room *= 2;
    if (room == notes->room) return true;
    hdst__line_block *block = hdst__realloc(notes->runtime->allocator, notes->block, room * sizeof *block);
    if (!block) return false;
    notes->block = block;
    notes->room = room;
    return true;
}

// Only of bytes that go to the device.
static bool lies_in_mirror(const hdst__text_mirror *mirror, const hdst__line_block *block)
{
    const uint64_t from = hdst__text_mirror_host(mirror), bytes = mirror->memory ? mirror->memory->bytes : 0;
    return block->start >= from && block->end >= block->start && block->end - from <= bytes;
}

static bool add(void *user, const hdst__line_block *blocks, uint64_t count)
{
    hdst__line_notes *notes = user;
    pthread_mutex_lock(&notes->mutex);
    bool fits = true;
    for (uint64_t i = 0; i < count; i++) fits &= lies_in_mirror(notes->mirror, &blocks[i]);
    fits = fits && grow(notes, count);
    notes->refused |= !fits;
    for (uint64_t i = 0; i < count && fits; i++) {
        notes->block[notes->count++] = blocks[i];
        notes->lines += blocks[i].lines;
    }
    pthread_mutex_unlock(&notes->mutex);
    return fits;
}

void hdst__line_notes_open(hdst__line_notes *notes, hdst__runtime *runtime, hdst__text_mirror *mirror, const hdst__storage **storage)
{
    notes->mirror = mirror;
    notes->runtime = runtime;
    notes->count = notes->lines = 0;
    notes->refused = false;
    notes->sink = (hdst__line_blocks){add, notes};
    pthread_mutex_init(&notes->mutex, NULL);
    mirror->with.lines = &notes->sink;
    *storage = &mirror->with;
}

void hdst__line_notes_end(hdst__line_notes *notes)
{
    pthread_mutex_destroy(&notes->mutex);
}

// --- On the device ---

static void place_leaf(const hdst__storage *storage, hdst__memory *const *memory, uint32_t leaf, hdst__work_arg *args)
{
    args[0].memory = memory[0];         // where there is none, nothing is written
    if (leaf == UINT32_MAX) return;
    const hdst__leaf_address *address = &storage->leaf[leaf];
    args[0].memory = memory[address->buffer];
    args[1].number = address->offset;
    args[2].number = address->stride;
    args[3].number = hdst__scalar_size(storage->record->leaves[leaf].kind);
}

static hdst_status provide_memory(hdst__line_notes *notes, hdst__device *device, uint64_t bytes, hdst_error *error)
{
    if (notes->memory && notes->memory->bytes >= bytes) return HDST_OK;
    device->ops->release(device, notes->memory);
    notes->memory = NULL;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_SEGMENTS, bytes, "the lines of a segment", &notes->memory, error);
}

hdst_status hdst__line_notes_make(hdst__line_notes *notes, hdst__device *device, const hdst__line_leaves *leaves, const hdst__storage *storage,
                                  hdst__memory *const *memory, uint64_t *moved, hdst_error *error)
{
    const uint64_t bytes = notes->count * sizeof *notes->block, groups = hdst__device_groups(device, notes->count, GROUPS_PER_UNIT);
    hdst__work_arg args[4 + FIELDS * FIELD_ARGS] = {
        {.memory = hdst__text_mirror_copy(notes->mirror)}, {.number = hdst__text_mirror_host(notes->mirror)}, {0}, {.number = notes->count}};
    hdst_status status = provide_kernel(device, error);
    if (status == HDST_OK) status = provide_memory(notes, device, notes->room * sizeof *notes->block, error);
    if (status == HDST_OK) status = device->ops->write(device, notes->memory, 0, notes->block, bytes, false, error);
    if (status != HDST_OK) return status;
    *moved += bytes;
    args[2].memory = notes->memory;
    place_leaf(storage, memory, leaves->text, &args[4]);
    place_leaf(storage, memory, leaves->offset, &args[4 + FIELD_ARGS]);
    place_leaf(storage, memory, leaves->source, &args[4 + 2 * FIELD_ARGS]);
    place_leaf(storage, memory, leaves->line, &args[4 + 3 * FIELD_ARGS]);
    return device->ops->work(device, device->line_spans->program, args, sizeof args / sizeof *args, groups, LANES, error);
}

void hdst__line_notes_close(hdst__line_notes *notes, hdst__device *device)
{
    device->ops->release(device, notes->memory);
    if (notes->runtime) hdst__free(notes->runtime->allocator, notes->block);
    *notes = (hdst__line_notes){0};
}
