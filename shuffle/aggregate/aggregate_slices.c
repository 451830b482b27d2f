// SPDX-License-Identifier: Apache-2.0
// Slices reduced on the device that made them (shuffle/aggregate/aggregate_slices.h).
#include "shuffle/aggregate/aggregate_slices.h"

#include "engine/device/device.h"
#include "engine/stage/executor.h"
#include "shuffle/aggregate/aggregate_slice_text.h"
#include "base/costs_gpu.h"

#include <inttypes.h>
#include <stdio.h>

enum { FIND, ROWS, ADD, KERNELS };
enum { TABLE, PLACES, COUNT, RESULT, MEMORIES };
enum { MOST_RECORDS = 1 << 30 };        // numbers of records have 32 bits, the table twice as many places

static const char *const kernel_name[KERNELS] = {"slice_find", "slice_rows", "slice_add"};

struct hdst__aggregate_slices {
    hdst__engine *engine;
    const hdst__aggregation_layout *layout;
    hdst__device *device;               // that what follows is of; NULL: there is nothing yet
    hdst__arena arena;                  // of the text
    const char *text;
    hdst__kernel kernel[KERNELS];
    hdst__program *program[KERNELS];
    hdst__memory *memory[MEMORIES];
    uint64_t in, out;                   // in this run
    bool ended;                         // it does not pay, or there is no memory
    char why[160];
};

hdst__aggregate_slices *hdst__aggregate_slices_create(hdst__engine *engine, const hdst__aggregation_layout *layout)
{
    hdst__aggregate_slices *s = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_BY_KEY), sizeof *s);
    if (!s) return NULL;
    s->engine = engine;
    s->layout = layout;
    hdst__arena_init(&s->arena, hdst__engine_owned(engine, HDST__OWNER_BY_KEY), NULL);
    return s;
}

static void release(hdst__aggregate_slices *s)
{
    for (int k = 0; s->device && k < KERNELS; k++) s->device->ops->unload(s->device, s->program[k]), s->program[k] = NULL;
    for (int m = 0; s->device && m < MEMORIES; m++) s->device->ops->release(s->device, s->memory[m]), s->memory[m] = NULL;
    s->device = NULL;
}

void hdst__aggregate_slices_destroy(hdst__aggregate_slices *s)
{
    if (!s) return;
    release(s);
    hdst__arena_destroy(&s->arena);
    hdst__free(hdst__engine_owned(s->engine, HDST__OWNER_BY_KEY), s);
}

void hdst__aggregate_slices_begin(hdst__aggregate_slices *s)
{
    s->in = s->out = 0;
    s->ended = false;
    s->why[0] = 0;
}

static void end(hdst__aggregate_slices *s, const char *why)
{
    s->ended = true;
    snprintf(s->why, sizeof s->why, "%.150s", why);
}

// --- Kernels and memory ---

static bool make_text(hdst__aggregate_slices *s)
{
    jmp_buf out_of_memory;
    if (s->text) return true;
    s->arena.out_of_memory = &out_of_memory;
    if (!setjmp(out_of_memory)) {
        hdst__writer writer = {.arena = &s->arena};
        hdst__aggregate_slice_text(&writer, s->layout);
        s->text = hdst__writer_text(&writer);
    }
    s->arena.out_of_memory = NULL;
    return s->text;
}

static hdst_status load(hdst__aggregate_slices *s, hdst__device *device, hdst_error *error)
{
    if (s->device != device) release(s);
    s->device = device;
    if (!make_text(s)) return hdst__error_memory(error, "kernels of a reduce by key");
    hdst_status status = HDST_OK;
    for (int k = 0; k < KERNELS && status == HDST_OK; k++) {
        if (s->program[k]) continue;
        s->kernel[k] = (hdst__kernel){.name = kernel_name[k], .source = s->text, .build_options = "-cl-std=CL1.2 -w", .local_size = HDST__SLICE_LANES};
        status = device->ops->load(device, &(hdst__code){.kernel = &s->kernel[k]}, &s->program[k], error);
    }
    return status;
}

static hdst_status provide(hdst__aggregate_slices *s, int which, uint64_t bytes, hdst_error *error)
{
    const uint64_t rounded = (bytes / 8 + 1) * 8;
    if (s->memory[which] && s->memory[which]->bytes >= rounded) return HDST_OK;
    s->device->ops->release(s->device, s->memory[which]);
    s->memory[which] = NULL;
    return s->device->ops->alloc(s->device, HDST__MEMORY_DEVICE, HDST__OWNER_BY_KEY, rounded, "a reduce by key", &s->memory[which], error);
}

static uint64_t places_for(uint64_t records)
{
    uint64_t places = 64;
    while (places < 2 * records) places *= 2;
    return places;
}

static hdst_status take_memory(hdst__aggregate_slices *s, uint64_t records, hdst_error *error)
{
    const uint64_t places = places_for(records);
    hdst_status status = provide(s, TABLE, places * sizeof(uint32_t), error);
    if (status == HDST_OK) status = provide(s, PLACES, records * sizeof(uint32_t), error);
    if (status == HDST_OK) status = provide(s, COUNT, sizeof(uint64_t), error);
    if (status == HDST_OK) status = provide(s, RESULT, records * s->layout->record->size, error);
    if (status == HDST_OK) status = s->device->ops->fill(s->device, s->memory[TABLE], places * sizeof(uint32_t) / sizeof(uint64_t), 0, error);
    return status == HDST_OK ? s->device->ops->fill(s->device, s->memory[COUNT], 1, 0, error) : status;
}

// --- A slice ---

static hdst__work_arg memory_of(const hdst__aggregate_slices *s, int which) { return (hdst__work_arg){.memory = s->memory[which]}; }
static hdst__work_arg number(uint64_t n) { return (hdst__work_arg){.number = n}; }

static hdst_status work(hdst__aggregate_slices *s, int kernel, const hdst__work_arg *args, size_t count, uint64_t items, hdst_error *error)
{
    const uint64_t most = (uint64_t)s->device->facts.compute_units * HDST__GPU_HASH_GROUPS_PER_UNIT, wanted = items / HDST__SLICE_LANES + 1;
    return s->device->ops->work(s->device, s->program[kernel], args, count, wanted < most ? wanted : most, HDST__SLICE_LANES, error);
}

static hdst_status reduce(hdst__aggregate_slices *s, const hdst__slice_records *records, uint64_t *rows, hdst_error *error)
{
    const uint64_t count = records->count, places = places_for(count);
    const hdst__work_arg all = {.memory = records->memory}, texts = {.memory = records->texts ? records->texts : records->memory};
    const hdst__work_arg find[] = {number(count), number(places - 1), all, texts, number(records->texts ? records->text_bytes : 0),
                                   number(records->text_host), memory_of(s, TABLE), memory_of(s, PLACES)};
    const hdst__work_arg write[] = {number(places), all, memory_of(s, TABLE), memory_of(s, PLACES), memory_of(s, COUNT), memory_of(s, RESULT)};
    const hdst__work_arg add[] = {number(count), all, memory_of(s, TABLE), memory_of(s, PLACES), memory_of(s, COUNT), memory_of(s, RESULT)};
    *rows = 0;
    hdst_status status = work(s, FIND, find, sizeof find / sizeof *find, count, error);
    if (status == HDST_OK) status = work(s, ROWS, write, sizeof write / sizeof *write, places, error);
    if (status == HDST_OK) status = work(s, ADD, add, sizeof add / sizeof *add, count, error);
    return status == HDST_OK ? s->device->ops->read(s->device, s->memory[COUNT], 0, rows, sizeof(uint32_t), true, error) : status;
}

static bool can(const hdst__aggregate_slices *s, const hdst__slice_records *records)
{
    const hdst__device *device = records->device;
    return !s->ended && records->count >= hdst__engine_limits(s->engine)->by_key_slice_least && records->count <= MOST_RECORDS && device->ops->work &&
           device->facts.target == HDST__TARGET_GPU && device->facts.has_int64_atomics && device->facts.max_group >= HDST__SLICE_LANES;
}

hdst_status hdst__aggregate_slices_combine(hdst__aggregate_slices *s, hdst__slice_records *records, hdst_error *error)
{
    uint64_t rows = 0;
    hdst_error full = HDST_ERROR_INIT;
    if (!can(s, records)) return HDST_OK;
    hdst_status status = load(s, records->device, &full);
    if (status == HDST_OK) status = take_memory(s, records->count, &full);
    if (status == HDST_OK) status = reduce(s, records, &rows, &full);
    if (status == HDST_E_MEMORY) {
        release(s);
        end(s, full.message);
        return HDST_OK;
    }
    if (status != HDST_OK) {
        if (error) *error = full;
        return status;
    }
    s->in += records->count;
    s->out += rows;
    if (rows * 2 > records->count) end(s, "more than half of a slice's records had a key of their own");
    records->memory = s->memory[RESULT];
    records->count = rows;
    return HDST_OK;
}

void hdst__aggregate_slices_explain(const hdst__aggregate_slices *s, hdst__buffer *out)
{
    if (s->in) hdst__buffer_printf(out, "    slices reduced on the device first: %" PRIu64 " records to %" PRIu64 "\n", s->in, s->out);
    if (s->ended) hdst__buffer_printf(out, "    slices not reduced on the device any more: %s\n", s->why);
}
