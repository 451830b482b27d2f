// SPDX-License-Identifier: Apache-2.0
// What a reduction by key on a GPU works with: programs, memory, records that lie there.
#include "shuffle/aggregate/aggregate_device_memory.h"

#include "engine/device/library_kernel.h"
#include "engine/stage/executor.h"
#include "base/clock.h"

#include <string.h>

static const char *const kernel_name[HDST__AGGREGATE_KERNELS] = {
    "hash_sample", "hash_sum", "hash_scan", "hash_starts", "hash_starts_high", "hash_count", "hash_count_all", "hash_place", "hash_count_heavy",
    "hash_place_heavy", "hash_place_many", "hash_place_many_heavy", "hash_count_low", "hash_place_low", "hash_distinct", "hash_total", "hash_tell",
    "hash_overflow", "hash_write", "hash_write_state", "rows_place", "rows_sort", "rows_add", "rows_count", "rows_write",
};

// --- Memory ---

hdst_status hdst__aggregate_device_provide(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t bytes, hdst_error *error)
{
    hdst__memory **memory = &d->memory[which];
    const uint64_t rounded = (bytes / 8 + 1) * 8;
    if (*memory && (*memory)->bytes >= rounded) return HDST_OK;
    d->device->ops->release(d->device, *memory);
    *memory = NULL;
    const hdst__memory_kind kind = d->device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    hdst_status status = d->device->ops->alloc(d->device, kind, HDST__OWNER_BY_KEY, rounded, "a reduce by key", memory, error);
    return status == HDST_OK ? d->device->ops->to_device(d->device, *memory, error) : status;
}

hdst_status hdst__aggregate_device_put(hdst__aggregate_device *d, hdst__aggregate_device_memory which, const void *bytes, uint64_t count, hdst_error *error)
{
    hdst_status status = hdst__aggregate_device_provide(d, which, count, error);
    return status == HDST_OK && count ? d->device->ops->write(d->device, d->memory[which], 0, bytes, count, true, error) : status;
}

hdst_status hdst__aggregate_device_clear(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t bytes, hdst_error *error)
{
    hdst_status status = hdst__aggregate_device_provide(d, which, bytes, error);
    return status == HDST_OK ? d->device->ops->fill(d->device, d->memory[which], (bytes + 7) / 8, 0, error) : status;
}

hdst_status hdst__aggregate_device_read(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t offset, void *bytes, uint64_t count,
                                        hdst_error *error)
{
    return d->device->ops->read(d->device, d->memory[which], offset, bytes, count, true, error);
}

static void unload_all(hdst__aggregate_device *d)
{
    for (int k = 0; k < HDST__AGGREGATE_KERNELS; k++) {
        if (d->device) d->device->ops->unload(d->device, d->program[k]);
        d->program[k] = NULL;
    }
    hdst__arena_destroy(&d->arena);
    hdst__arena_init(&d->arena, hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), NULL);
    d->storage = NULL;
    d->text = NULL;
}

void hdst__aggregate_device_release(hdst__aggregate_device *d)
{
    unload_all(d);
    for (int m = 0; m < HDST__AGGREGATE_MEMORIES; m++) {
        if (d->device) d->device->ops->release(d->device, d->memory[m]);
        d->memory[m] = NULL;
    }
    d->ready_for = 0;
    hdst__store_release(&d->store);
    hdst__store_init(&d->store, hdst__engine_runtime(d->engine), d->layout->record);
    d->store.whole = true;
}

// --- Records ---

hdst_status hdst__aggregate_device_load_cache(hdst__aggregate_device *d, hdst__dataset_cache *cache, hdst__run_stats *stats, hdst_error *error)
{
    const double start = hdst__now();
    const hdst_status status = hdst__dataset_cache_load(cache, d->device, "a reduce by key", &stats->bytes_to_device, error);
    stats->read_seconds += hdst__now() - start;
    return status;
}

size_t hdst__aggregate_device_sources(const hdst__aggregate_device *d, const hdst__segment *segment, hdst__work_arg *args)
{
    const hdst__aggregation_layout *layout = d->layout;
    size_t n = 0;
    for (uint32_t b = 0; b < segment->buffers; b++) args[n++].memory = segment->memory[b];
    if (segment->storage->layout == HDST__AOS) return n;
    for (uint64_t c = 0; c < layout->key_count; c++)
        args[n++] = (hdst__work_arg){.number = hdst__storage_offset(segment->storage, layout->key[c].leaf, 0, layout->key[c].element)};
    for (uint64_t c = 0; c < layout->value_count; c++)
        args[n++] = (hdst__work_arg){.number = hdst__storage_offset(segment->storage, layout->value[c].leaf, 0, layout->value[c].element)};
    return n;
}

// --- Programs ---

static bool text_fits(const hdst__aggregate_device *d, const hdst__storage *storage, bool in_rows)
{
    if (!d->text || d->storage->layout != storage->layout || d->shape.states != d->states || d->shape.in_rows != in_rows) return false;
    for (uint64_t v = 0; v < d->layout->value_count; v++)
        if (d->precision[v] != d->layout->value[v].cell.precision) return false;
    return true;
}

static const char *make_text(hdst__aggregate_device *d, const hdst__storage *storage, bool in_rows)
{
    jmp_buf out_of_memory;
    const char *volatile text = NULL;
    if (d->states) hdst__aggregation_layout_choose(d->layout);
    hdst__target_facts facts = d->device->facts;
    if (d->refuses_many) facts.max_group = 2 * HDST__AGGREGATE_LANES;
    hdst__aggregate_kernel_shape_of(d->layout, &facts, d->states, &d->shape);
    d->shape.in_rows = in_rows;
    d->arena.out_of_memory = &out_of_memory;
    if (!setjmp(out_of_memory)) {
        hdst__writer writer = {.arena = &d->arena};
        hdst__aggregate_kernels_text(&writer, d->layout, storage, &d->shape, d->device->facts.portable);
        d->storage = hdst__storage_make(&d->arena, storage->record, storage->layout, storage->block, 64);
        text = hdst__writer_text(&writer);
    }
    d->arena.out_of_memory = NULL;
    return text;
}

hdst_status hdst__aggregate_device_prepare_text(hdst__aggregate_device *d, const hdst__storage *storage, bool in_rows, hdst_error *error)
{
    if (text_fits(d, storage, in_rows)) return HDST_OK;
    unload_all(d);
    d->text = make_text(d, storage, in_rows);
    if (!d->text) return hdst__error_memory(error, "kernels of a reduce by key");
    for (uint64_t v = 0; v < d->layout->value_count; v++) d->precision[v] = d->layout->value[v].cell.precision;
    return HDST_OK;
}

// Of a work-group.
static uint32_t lanes_of(const hdst__aggregate_device *d, hdst__aggregate_device_kernel which)
{
    switch (which) {
    case HDST__AGGREGATE_TOTAL: return d->shape.total_lanes;
    case HDST__AGGREGATE_PLACE: case HDST__AGGREGATE_PLACE_HEAVY: case HDST__AGGREGATE_PLACE_LOW: return d->shape.few_lanes;
    case HDST__AGGREGATE_PLACE_MANY: case HDST__AGGREGATE_PLACE_MANY_HEAVY: return d->shape.many_lanes;
    default: return HDST__AGGREGATE_LANES;
    }
}

hdst_status hdst__aggregate_device_work(hdst__aggregate_device *d, hdst__aggregate_device_kernel which, const hdst__work_arg *args, size_t count,
                                        uint64_t groups, hdst_error *error)
{
    const uint32_t lanes = lanes_of(d, which);
    const hdst_status status = hdst__library_kernel_load(d->device, d->text, kernel_name[which], lanes, &d->kernel[which], &d->program[which], error);
    if (status != HDST_OK) return status;
    return d->device->ops->work(d->device, d->program[which], args, count, groups, lanes, error);
}

hdst_status hdst__aggregate_device_scan(hdst__aggregate_device *d, hdst__aggregate_device_memory which, uint64_t count, hdst_error *error)
{
    const uint64_t groups = hdst__device_groups(d->device, count / HDST__GPU_KEY_GROUP_TUPLES + 1, HDST__GPU_SCAN_GROUPS_PER_UNIT);
    hdst_status status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_SHARES, groups * 4, error);
    const hdst__work_arg args[] = {{.number = count}, {.memory = d->memory[which]}, {.memory = d->memory[HDST__AGGREGATE_SHARES]}};
    if (status == HDST_OK) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_SUM, args, 3, groups, error);
    return status == HDST_OK ? hdst__aggregate_device_work(d, HDST__AGGREGATE_SCAN, args, 3, groups, error) : status;
}
