// SPDX-License-Identifier: Apache-2.0
// Whether to spread a cached input over several GPUs (shuffle/aggregate/aggregate_spread_choose.h).
#include "shuffle/aggregate/aggregate_spread_choose.h"

#include "base/costs_host.h"
#include "engine/memory/dataset_cache.h"
#include "engine/stage/cache_layout.h"
#include "engine/worker.h"
#include "shuffle/aggregate/distinct_keys.h"

enum { STRETCHES = 16, MAP_BITS = 18 };     // of the sample: stretches of the input; bits of the map that keys are counted in

// Whether records, and tuples of them twice, have room on a device.
static bool has_room(const hdst__aggregate *aggregate, const hdst__device *device, uint64_t records)
{
    return records < hdst__budget_left(&device->budget) / (aggregate->layout->record->size * 4);
}

// *first: whether the first one has room for all.
static hdst_status all_can(const hdst__aggregate *aggregate, uint64_t records, bool *can, bool *first, hdst_error *error)
{
    hdst__engine *engine = aggregate->engine;
    uint32_t wanted = 0;
    *can = *first = true;
    for (uint32_t i = 0; i < hdst__engine_workers(engine) && *can; i++) {
        if (!hdst__worker_is_wanted(engine, i)) continue;
        const hdst__device_worker *worker = hdst__engine_worker(engine, i, error);
        if (!worker) return error->code;
        *can = hdst__aggregate_device_can_on(aggregate->on_device, worker->device, records);
        if (i == 0) *first = has_room(aggregate, worker->device, records);
        wanted++;
    }
    *can = *can && wanted > 1;
    return HDST_OK;
}

// Marks the keys of some records, one batch from each of several places.
static hdst_status mark_keys(const hdst__aggregate *aggregate, const hdst__reader *reader, hdst__arena *arena, uint64_t *map, uint64_t *seen, hdst_error *error)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    const hdst__allocator *allocator = hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY);
    const uint64_t records = reader->records, each = records / STRETCHES < layout->batch ? records / STRETCHES : layout->batch;
    const hdst__storage *storage = hdst__storage_make(arena, reader->record, HDST__AOS, 0, layout->batch);
    void *rows = hdst__arena_alloc(arena, layout->batch * layout->record->size);
    hdst__key_batch batch;
    const bool made = hdst__key_batch_create(&batch, allocator, layout);
    hdst_status status = made && storage ? HDST_OK : hdst__error_memory(error, "a reduce by key");
    for (uint64_t i = 0; i < STRETCHES && each && status == HDST_OK; i++) {
        status = reader->fill(reader->user, records / STRETCHES * i, each, storage, &rows, 0, error);
        if (status != HDST_OK) break;
        hdst__key_batch_open(&batch, layout, storage, (const void *const *)&rows, 0, (uint32_t)each);
        for (uint32_t k = 0; k < batch.count; k++) map[batch.hash[k] >> (32 - MAP_BITS) >> 6] |= UINT64_C(1) << (batch.hash[k] >> (32 - MAP_BITS) & 63);
        *seen += batch.count;
    }
    hdst__key_batch_destroy(&batch, allocator);
    return status;
}

static hdst_status estimate(const hdst__aggregate *aggregate, const hdst__reader *reader, hdst__arena *arena, bool *few, hdst_error *error)
{
    uint64_t *map = HDST__NEW_ARRAY(arena, uint64_t, (1 << MAP_BITS) / 64), seen = 0;
    const hdst_status status = mark_keys(aggregate, reader, arena, map, &seen, error);
    const double records = (double)reader->records, keys = hdst__distinct_keys_expected(hdst__distinct_keys_counted(map, MAP_BITS), (double)seen, records);
    *few = keys <= HDST__HOST_SPREAD_KEYS && keys * HDST__HOST_SPREAD_KEYS_SHARE <= records;
    return status;
}

static hdst_status has_few_keys(const hdst__aggregate *aggregate, const hdst__reader *reader, bool *few, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return hdst__error_memory(error, "a reduce by key");
    }
    const hdst_status status = estimate(aggregate, reader, &arena, few, error);
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst__aggregate_spread_pays(const hdst__aggregate *aggregate, const hdst__aggregate_input *input, bool *pays, hdst_error *error)
{
    const hdst__reader *reader = input->reader;
    const hdst__limits *limits = hdst__engine_limits(aggregate->engine);
    bool fits;
    *pays = false;
    if (reader->records < limits->by_key_device_least) return HDST_OK;
    const hdst_status status = all_can(aggregate, reader->records, pays, &fits, error);
    if (status != HDST_OK || !*pays || !fits) return status;
    *pays = reader->records * hdst__segment_record_bytes(reader->record) / HDST__HOST_SPREAD_TIMES >= limits->share_bytes;
    return *pays ? has_few_keys(aggregate, reader, pays, error) : HDST_OK;
}
