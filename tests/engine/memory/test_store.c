// SPDX-License-Identifier: Apache-2.0
// Records that stay on a device: chunks, what is read back from them in every layout, memory that is used again and given back.
#include "engine/engine_state.h"
#include "engine/memory/store.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct item { uint16_t tag; uint32_t value[2]; } item;

enum { COUNT = 1000 };

static const char *const devices[] = {"interp", "cpu", "gpu-form"};

typedef struct job {
    hdst__engine *engine;
    hdst__device *device;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record;
    hdst__store store;
    hdst__memory *source;       // COUNT items as a kernel would have written them
} job;

static item item_at(uint64_t i) { return (item){(uint16_t)(i * 7), {(uint32_t)i, (uint32_t)(i * i)}}; }

static const hdst__record *make_record(hdst__arena *arena)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field fields[] = {{.name = "tag", .type = hdst__type_scalar(HDST__U16)},
                            {.name = "value", .type = hdst__type_array(arena, hdst__type_scalar(HDST__U32), 2)}};
    *record = (hdst__record){.name = "item", .fields = fields, .field_count = 2};
    const char *why;
    cr_assert(hdst__record_finish(arena, record, &why));
    cr_assert_eq(record->size, sizeof(item));
    return record;
}

static bool open_job(job *j, const char *name, uint64_t memory)
{
    *j = (job){0};
    bool gpu = !strcmp(name, "gpu-form");
    j->engine = hdst__engine_create(&(hdst__engine_options){.device = gpu ? "cpu" : name, .gpu_form_on_cpu = gpu, .device_memory = memory});
    hdst_error error;
    if (hdst__engine_open(j->engine, &j->device, &error) != HDST_OK) {
        cr_log_warn("no %s device: skipped (%s)", name, error.message);
        hdst__engine_destroy(j->engine);
        return false;
    }
    hdst__arena_init(&j->arena, NULL, &j->out_of_memory);
    cr_assert(setjmp(j->out_of_memory) == 0);
    j->record = make_record(&j->arena);
    hdst__store_init(&j->store, hdst__engine_runtime(j->engine), j->record);
    cr_assert_eq(j->device->ops->alloc(j->device, HDST__MEMORY_SHARED, HDST__OWNER_OTHER, COUNT * sizeof(item), "items", &j->source, &error), HDST_OK);
    for (uint64_t i = 0; i < COUNT; i++) ((item *)j->source->host)[i] = item_at(i);
    cr_assert_eq(j->device->ops->to_device(j->device, j->source, &error), HDST_OK);
    if (!j->device->unified) cr_assert_eq(j->device->ops->write(j->device, j->source, 0, j->source->host, COUNT * sizeof(item), true, &error), HDST_OK);
    return true;
}

static void close_job(job *j)
{
    const hdst__meter *caches = &j->device->budget.owned[HDST__OWNER_CACHES];
    const uint64_t before = atomic_load(&caches->now);
    hdst__store_release(&j->store);
    hdst__store_release(&j->store);     // twice is once
    cr_assert(j->device->facts.target == HDST__TARGET_INTERP || atomic_load(&caches->now) < before);
    j->device->ops->release(j->device, j->source);
    cr_assert(j->device->facts.target == HDST__TARGET_INTERP || atomic_load(&j->device->budget.used) == 0, "all memory is given back");
    hdst__arena_destroy(&j->arena);
    hdst__engine_destroy(j->engine);
}

#define ON_EACH_DEVICE(j) for (size_t d_ = 0; d_ < 3; d_++) if (open_job(&(j), devices[d_], 0))

// Items 0 ... count - 1 in uneven parts.
static void append_all(job *j, uint64_t count)
{
    hdst_error error;
    for (uint64_t first = 0, part = 1; first < count; first += part, part = part * 3 % 101 + 1) {
        if (part > count - first) part = count - first;
        cr_assert_eq(hdst__store_append(&j->store, j->source, first * sizeof(item), part, &error), HDST_OK, "%s", error.message);
    }
    cr_assert_eq(hdst__store_end(&j->store, &error), HDST_OK);
}

static void expect_items(job *j, uint64_t count)
{
    const hdst__reader *reader = &j->store.cache.reader;
    hdst_error error;
    cr_assert_eq(reader->records, count);
    for (int layout = HDST__AOS; layout <= HDST__AOP; layout++) {
        const hdst__storage *storage = hdst__storage_make(&j->arena, j->record, (hdst__layout)layout, 0, count + 3);
        void **buffers = HDST__NEW_ARRAY(&j->arena, void *, storage->buffers);
        for (uint32_t b = 0; b < storage->buffers; b++) buffers[b] = hdst__arena_alloc(&j->arena, storage->buffer_bytes[b]);
        const uint64_t half = count / 2;        // in two reads, the second part first
        cr_assert_eq(reader->fill(reader->user, half, count - half, storage, buffers, 3 + half, &error), HDST_OK);
        cr_assert_eq(reader->fill(reader->user, 0, half, storage, buffers, 3, &error), HDST_OK);
        for (uint64_t i = 0; i < count; i++) {
            item want = item_at(i);
            uint16_t tag;
            uint32_t value;
            memcpy(&tag, (char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, i + 3, 0), sizeof tag);
            memcpy(&value, (char *)buffers[storage->leaf[1].buffer] + hdst__storage_offset(storage, 1, i + 3, 1), sizeof value);
            cr_assert(tag == want.tag && value == want.value[1], "item %llu in layout %d", (unsigned long long)i, layout);
        }
    }
}

// Segments follow each other, all but the last are full and whole runs of 64.
static void expect_segments(const job *j, uint64_t least)
{
    const hdst__dataset_cache *cache = &j->store.cache;
    uint64_t next = 0;
    cr_assert_geq(cache->count, least);
    cr_assert_eq(cache->loaded, cache->count);
    for (uint64_t i = 0; i < cache->count; i++) {
        cr_assert_eq(cache->segment[i].first, next);
        if (i + 1 < cache->count) cr_assert(cache->segment[i].count == cache->segment[i].storage->capacity && cache->segment[i].count % 64 == 0);
        next += cache->segment[i].count;
    }
    cr_assert_eq(next, cache->reader.records);
}

Test(store, one_chunk_when_the_number_is_known)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_error error;
        cr_assert_eq(hdst__store_begin(&j.store, j.device, COUNT, &error), HDST_OK);
        append_all(&j, COUNT);
        expect_segments(&j, 1);
        cr_assert_eq(j.store.cache.count, 1);
        expect_items(&j, COUNT);
        close_job(&j);
    }
}

Test(store, many_chunks_and_memory_that_is_used_again)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_error error;
        j.store.limit = 200 * sizeof(item);     // 192 records
        for (int run = 0; run < 3; run++) {
            const uint64_t count = run == 1 ? 70 : COUNT;
            cr_assert_eq(hdst__store_begin(&j.store, j.device, run ? 0 : COUNT, &error), HDST_OK);
            append_all(&j, count);
            expect_segments(&j, run == 1 ? 1 : 6);
            expect_items(&j, count);
            cr_assert_eq(j.store.chunks, 6, "%llu chunks after run %d", (unsigned long long)j.store.chunks, run);
        }
        cr_assert_eq(hdst__store_begin(&j.store, j.device, 0, &error), HDST_OK);
        cr_assert_eq(hdst__store_end(&j.store, &error), HDST_OK);
        expect_segments(&j, 0);
        close_job(&j);
    }
}

// As kernels write that know the place of their output: into parts of chunks.
Test(store, places_for_kernels)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_error error;
        cr_assert(j.device->has_sub_buffers);
        j.store.limit = 700 * sizeof(item);     // 512 records: where a part may end
        cr_assert_eq(hdst__store_begin(&j.store, j.device, COUNT, &error), HDST_OK);
        for (uint64_t first = 0, room; first < COUNT; first += room) {
            hdst__memory place;
            cr_assert_eq(hdst__store_room(&j.store, COUNT - first, &room, &error), HDST_OK);
            if (room > COUNT - first) room = COUNT - first;
            cr_assert_eq(hdst__store_place(&j.store, room, &place, &error), HDST_OK, "%s", error.message);
            cr_assert_eq(j.device->ops->copy(j.device, &place, 0, j.source, first * sizeof(item), room * sizeof(item), &error), HDST_OK);
            j.device->ops->release_sub_buffer(j.device, &place);
        }
        j.device->ops->finish(j.device);
        cr_assert_eq(hdst__store_end(&j.store, &error), HDST_OK);
        cr_assert_eq(j.store.cache.count, 2);
        expect_segments(&j, 2);
        expect_items(&j, COUNT);
        close_job(&j);
    }
}

Test(store, a_full_device_says_so)
{
    job j;
    if (!open_job(&j, "gpu-form", 64 << 10)) return;
    hdst_error error;
    j.store.limit = 16 << 10;
    cr_assert_eq(hdst__store_begin(&j.store, j.device, COUNT, &error), HDST_OK);
    hdst_status status = HDST_OK;
    for (int i = 0; i < 100 && status == HDST_OK; i++) status = hdst__store_append(&j.store, j.source, 0, COUNT, &error);
    cr_assert_eq(status, HDST_E_MEMORY);
    cr_assert(strstr(error.message, "records between stages"), "%s", error.message);
    close_job(&j);
}
