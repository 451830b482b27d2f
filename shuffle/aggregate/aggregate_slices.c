// SPDX-License-Identifier: Apache-2.0
// Rows by keys with texts that stay on the device whose slices they come from (shuffle/aggregate/aggregate_slices.h).
#include "shuffle/aggregate/aggregate_slices.h"

#include "engine/device/device.h"
#include "engine/device/library_kernel.h"
#include "engine/stage/executor.h"
#include "shuffle/aggregate/aggregate_slice_text.h"
#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <stdio.h>

enum { FIND, ROWS, ADD, KERNELS };
enum { SLOTS = HDST__HOST_SLICES_IN_FLIGHT };
enum { TABLE, KEPT, HEAP, PIECE, PLACES, COUNTERS, LEFT_COUNT, LEFT = LEFT_COUNT + SLOTS, MEMORIES = LEFT + SLOTS };    // the last two for each slice in flight
enum { MOST_RECORDS = 1 << 30 };        // numbers of records, and places of the table, have so many bits

static const char *const kernel_name[KERNELS] = {"slice_find", "slice_rows", "slice_add"};
static const char what[] = "a reduce by key";

typedef struct counters {               // as slice_gpu.cl has them
    uint64_t rows, bytes;
} counters;

typedef struct in_flight {              // a slice
    hdst__ticket ticket;
    bool submitted;
    uint32_t since;                     // how often the rows had gone to the host when it was
    counters after;                     // what the device had behind it
    uint64_t left;                      // of its records
} in_flight;

struct hdst__aggregate_slices {
    hdst__engine *engine;
    const hdst__aggregation_layout *layout;
    hdst__device *device;               // that what follows is of; NULL: there is nothing yet
    hdst__arena arena;                  // of the text
    const char *text;
    hdst__kernel kernel[KERNELS];
    hdst__program *program[KERNELS];
    hdst__memory *memory[MEMORIES];
    char *heap;                         // on the host, for what the device's has
    uint64_t row_room, heap_room, places, piece_rows;       // places of the table
    bool clear;                         // there are no rows yet, and the table is to be cleared
    counters kept;                      // on the device, as far as slices have ended
    in_flight slot[SLOTS];
    uint64_t last_left;                 // of the last slice that has ended
    uint64_t in, out;                   // in this run: records, and what the host had of them so far
    uint32_t emptied;                   // how often the rows went to the host
    bool ended;                         // it does not pay, or there is no memory
    char why[160];
};

hdst__aggregate_slices *hdst__aggregate_slices_create(hdst__engine *engine, const hdst__aggregation_layout *layout)
{
    hdst__aggregate_slices *s = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_BY_KEY), sizeof *s);
    if (!s) return NULL;
    s->engine = engine;
    s->layout = layout;
    s->clear = true;
    hdst__arena_init(&s->arena, hdst__engine_owned(engine, HDST__OWNER_BY_KEY), NULL);
    return s;
}

// What was submitted and nobody asked for.
static void settle(hdst__aggregate_slices *s)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (s->slot[i].submitted) s->device->ops->settle(s->device, &s->slot[i].ticket, NULL);
        s->slot[i].submitted = false;
    }
}

static void release_memory(hdst__aggregate_slices *s)
{
    settle(s);
    for (int m = 0; s->device && m < MEMORIES; m++) s->device->ops->release(s->device, s->memory[m]), s->memory[m] = NULL;
    hdst__free(hdst__engine_owned(s->engine, HDST__OWNER_BY_KEY), s->heap);
    s->heap = NULL;
    s->row_room = 0;
    s->kept = (counters){0};
    s->clear = true;
}

static void release(hdst__aggregate_slices *s)
{
    release_memory(s);
    for (int k = 0; s->device && k < KERNELS; k++) s->device->ops->unload(s->device, s->program[k]), s->program[k] = NULL;
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
    settle(s);
    s->in = s->out = s->emptied = 0;
    s->kept = (counters){0};
    s->clear = true;
    s->ended = false;
    s->why[0] = 0;
}

static void end(hdst__aggregate_slices *s, const char *why)
{
    s->ended = true;
    snprintf(s->why, sizeof s->why, "%.150s", why);
}

// --- Kernels ---

static void write_text(hdst__writer *out, const void *layout) { hdst__aggregate_slice_text(out, layout); }

static hdst_status load(hdst__aggregate_slices *s, hdst__device *device, hdst_error *error)
{
    if (s->device != device) release(s);
    s->device = device;
    hdst_status status = s->text ? HDST_OK : hdst__library_kernel_text(&s->arena, write_text, s->layout, "kernels of a reduce by key", &s->text, error);
    for (int k = 0; k < KERNELS && status == HDST_OK; k++)
        status = hdst__library_kernel_load(device, s->text, kernel_name[k], HDST__SLICE_LANES, &s->kernel[k], &s->program[k], error);
    return status;
}

// --- Memory ---

static hdst_status provide(hdst__aggregate_slices *s, int which, uint64_t bytes, hdst_error *error)
{
    const uint64_t rounded = (bytes / 8 + 1) * 8;
    const hdst__memory_kind kind = which == PIECE ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    if (s->memory[which] && s->memory[which]->bytes >= rounded) return HDST_OK;
    if (s->memory[which]) s->device->ops->finish(s->device);        // a slice may be using it
    s->device->ops->release(s->device, s->memory[which]);
    s->memory[which] = NULL;
    return s->device->ops->alloc(s->device, kind, HDST__OWNER_BY_KEY, rounded, what, &s->memory[which], error);
}

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Twice as many places as rows, or more.
static uint64_t places_for(uint64_t rows)
{
    uint64_t places = 64;
    while (places < 2 * rows) places *= 2;
    return places;
}

// What stays from slice to slice: shares of what is left when the first one comes. Bytes of keys have as much room on the host, where they go in the end.
static hdst_status take_memory(hdst__aggregate_slices *s, hdst_error *error)
{
    const hdst__limits *limits = hdst__engine_limits(s->engine);
    hdst__budget *host = hdst__engine_memory(s->engine);
    const uint64_t size = s->layout->record->size, share = hdst__budget_left(&s->device->budget) / HDST__GPU_SLICE_SHARE,
                   host_share = hdst__budget_left(host) / HDST__GPU_SLICE_SHARE;
    if (s->row_room) return HDST_OK;
    uint64_t rows = least_of(share / (size + 4 * sizeof(uint32_t)), HDST__GPU_SLICE_ROWS);
    if (limits->by_key_slice_rows) rows = least_of(rows, limits->by_key_slice_rows);
    if (!rows) return hdst__error_memory(error, what);
    s->heap_room = least_of(least_of(share, host_share), HDST__GPU_SLICE_HEAP_BYTES) / 8 * 8;
    s->places = places_for(rows + 1);
    s->piece_rows = least_of(least_of(host_share, HDST__GPU_SLICE_PIECE_BYTES) / size + 1, rows + 1);
    s->heap = hdst__budget_alloc(host, HDST__OWNER_BY_KEY, s->heap_room + 1, what, error);
    hdst_status status = s->heap ? HDST_OK : HDST_E_MEMORY;
    if (status == HDST_OK) status = provide(s, TABLE, s->places * sizeof(uint32_t), error);
    if (status == HDST_OK) status = provide(s, KEPT, (rows + 1) * size, error);
    if (status == HDST_OK) status = provide(s, HEAP, s->heap_room, error);
    if (status == HDST_OK) status = provide(s, PIECE, s->piece_rows * size, error);
    if (status == HDST_OK) status = provide(s, COUNTERS, sizeof(counters), error);
    if (status == HDST_OK) s->row_room = rows;
    return status;
}

static hdst_status prepare(hdst__aggregate_slices *s, uint32_t slot, uint64_t records, hdst_error *error)
{
    const hdst__device_ops *ops = s->device->ops;
    hdst_status status = take_memory(s, error);
    if (status == HDST_OK) status = provide(s, PLACES, records * sizeof(uint32_t), error);
    if (status == HDST_OK) status = provide(s, LEFT_COUNT + (int)slot, sizeof(uint64_t), error);
    if (status == HDST_OK) status = provide(s, LEFT + (int)slot, records * s->layout->record->size, error);
    if (status != HDST_OK) return status;
    if (s->clear) status = ops->fill(s->device, s->memory[TABLE], s->places * sizeof(uint32_t) / sizeof(uint64_t), 0, error);
    if (s->clear && status == HDST_OK) status = ops->fill(s->device, s->memory[COUNTERS], sizeof(counters) / sizeof(uint64_t), 0, error);
    if (status == HDST_OK) s->clear = false;
    return status;
}

// --- A slice ---

enum { SLICE_ARGS = 4, TEXT_ARGS = 7, MOST_ARGS = 20 };

typedef struct arguments {
    hdst__work_arg arg[MOST_ARGS];
    size_t count;
} arguments;

static void add_memory(arguments *a, const hdst__memory *memory) { a->arg[a->count++] = (hdst__work_arg){.memory = memory}; }
static void add_number(arguments *a, uint64_t n) { a->arg[a->count++] = (hdst__work_arg){.number = n}; }

// The records, in the order of SLICE in slice_gpu.cl.
static arguments slice_args(const hdst__slice_records *records)
{
    arguments a = {.count = 0};
    add_number(&a, records->counted ? UINT64_MAX : records->count);
    add_memory(&a, records->counted ? records->counted : records->memory);
    add_number(&a, records->room);
    add_memory(&a, records->memory);
    return a;
}

// Where long texts are. In place of a memory that there is none of there is some other, of which nothing is looked at.
static void add_texts(arguments *a, const hdst__aggregate_slices *s, const hdst__slice_records *records)
{
    add_memory(a, records->texts ? records->texts : records->memory);
    add_number(a, records->texts ? records->text_bytes : 0);
    add_number(a, records->text_host);
    add_memory(a, records->own_texts ? records->own_texts : records->memory);
    add_number(a, records->own_texts ? records->own_texts->bytes : 0);
    add_number(a, records->own_host);
    add_memory(a, s->memory[HEAP]);
}

static hdst_status work(hdst__aggregate_slices *s, int kernel, const arguments *a, uint64_t items, hdst_error *error)
{
    const uint64_t groups = hdst__device_groups(s->device, items / HDST__SLICE_LANES + 1, HDST__GPU_SLICE_GROUPS_PER_UNIT);
    return s->device->ops->work(s->device, s->program[kernel], a->arg, a->count, groups, HDST__SLICE_LANES, error);
}

static uint64_t homes_of(const hdst__aggregate_slices *s)
{
    const uint64_t homes = hdst__engine_limits(s->engine)->by_key_slice_homes;
    return (homes ? least_of(homes, s->places) : s->places) - 1;
}

static hdst_status find(hdst__aggregate_slices *s, uint32_t slot, const hdst__slice_records *records, hdst_error *error)
{
    const int rest[] = {KEPT, TABLE, PLACES, LEFT_COUNT + (int)slot};
    arguments a = slice_args(records);
    add_texts(&a, s, records);
    add_number(&a, homes_of(s));
    add_number(&a, s->places - 1);
    for (size_t m = 0; m < sizeof rest / sizeof *rest; m++) add_memory(&a, s->memory[rest[m]]);
    return work(s, FIND, &a, records->room, error);
}

static hdst_status make_rows(hdst__aggregate_slices *s, const hdst__slice_records *records, hdst_error *error)
{
    const int rest[] = {KEPT, TABLE, PLACES, COUNTERS};
    arguments a = slice_args(records);
    add_texts(&a, s, records);
    add_number(&a, s->row_room);
    add_number(&a, s->heap_room);
    for (size_t m = 0; m < sizeof rest / sizeof *rest; m++) add_memory(&a, s->memory[rest[m]]);
    return work(s, ROWS, &a, records->room, error);
}

static hdst_status add_others(hdst__aggregate_slices *s, uint32_t slot, const hdst__slice_records *records, hdst_error *error)
{
    const int rest[] = {KEPT, TABLE, PLACES, LEFT_COUNT + (int)slot, LEFT + (int)slot};
    arguments a = slice_args(records);
    for (size_t m = 0; m < sizeof rest / sizeof *rest; m++) add_memory(&a, s->memory[rest[m]]);
    return work(s, ADD, &a, records->room, error);
}

static hdst_status submit(hdst__aggregate_slices *s, uint32_t slot, const hdst__slice_records *records, hdst_error *error)
{
    const hdst__device_ops *ops = s->device->ops;
    in_flight *f = &s->slot[slot];
    hdst_status status = find(s, slot, records, error);
    if (status == HDST_OK) status = make_rows(s, records, error);
    if (status == HDST_OK) status = add_others(s, slot, records, error);
    if (status == HDST_OK) status = ops->read(s->device, s->memory[COUNTERS], 0, &f->after, sizeof f->after, false, error);
    if (status == HDST_OK) status = ops->read(s->device, s->memory[LEFT_COUNT + slot], 0, &f->left, sizeof f->left, false, error);
    f->ticket.notify = false;
    if (status == HDST_OK) status = ops->mark(s->device, &f->ticket, error);
    f->submitted = status == HDST_OK;
    f->since = s->emptied;
    return status;
}

static bool can(const hdst__aggregate_slices *s, const hdst__slice_records *records)
{
    const hdst__device *device = records->device;
    return !s->ended && records->count >= hdst__engine_limits(s->engine)->by_key_slice_least && records->room <= MOST_RECORDS && device->ops->work &&
           device->facts.target == HDST__TARGET_GPU && device->facts.has_int64_atomics && device->facts.max_group >= HDST__SLICE_LANES;
}

// Nobody's slice is in flight, and no row is there, on a device that is left for another.
static bool is_free_for(const hdst__aggregate_slices *s, const hdst__device *device)
{
    bool is_busy = s->kept.rows > 0;
    for (uint32_t i = 0; i < SLOTS; i++) is_busy |= s->slot[i].submitted;
    return s->device == device || !is_busy;
}

hdst_status hdst__aggregate_slices_combine(hdst__aggregate_slices *s, uint32_t slot, const hdst__slice_records *records, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = HDST_OK;
    if (slot < SLOTS && s->slot[slot].submitted) {       // nobody asked what was left of the slice before it
        status = s->device->ops->settle(s->device, &s->slot[slot].ticket, error);
        s->slot[slot].submitted = false;
    }
    if (status != HDST_OK || slot >= SLOTS || !can(s, records) || !is_free_for(s, records->device)) return status;
    status = load(s, records->device, &full);
    if (status == HDST_OK) status = prepare(s, slot, records->room, &full);
    if (status == HDST_E_MEMORY) {
        if (!s->row_room) release_memory(s);        // nothing stays there yet
        end(s, full.message);
        return HDST_OK;
    }
    if (status == HDST_OK) status = submit(s, slot, records, &full);
    if (status != HDST_OK && error) *error = full;
    return status;
}

// --- When it has ended ---

static uint64_t rows_of(const hdst__aggregate_slices *s) { return least_of(s->kept.rows, s->row_room); }

// Few records say little: all of their keys are new.
static bool pays(const hdst__aggregate_slices *s)
{
    return s->in < HDST__GPU_SLICE_LOOKS * hdst__engine_limits(s->engine)->by_key_slice_least || (s->out + rows_of(s)) * 2 <= s->in;
}

hdst_status hdst__aggregate_slices_left(hdst__aggregate_slices *s, uint32_t slot, hdst__slice_records *records, hdst_error *error)
{
    in_flight *f = slot < SLOTS ? &s->slot[slot] : NULL;
    if (!f || !f->submitted) return HDST_OK;
    f->submitted = false;
    const hdst_status status = s->device->ops->settle(s->device, &f->ticket, error);
    if (status != HDST_OK) return status;
    if (f->since == s->emptied) s->kept = f->after;
    s->in += records->count;
    s->out += f->left;
    s->last_left = f->left;
    if (!s->ended && !pays(s)) end(s, "more than half of the records had a key of their own");
    records->memory = s->memory[LEFT + slot];
    records->count = f->left;
    return HDST_OK;
}

// --- To the host ---

bool hdst__aggregate_slices_is_full(const hdst__aggregate_slices *s)
{
    const bool no_room = s->kept.rows >= s->row_room, no_bytes = s->kept.bytes > s->heap_room;
    return s->kept.rows && (s->ended || no_room || (no_bytes && s->last_left > rows_of(s)));
}

static bool refer_to_host(void *user, hdst__text_span *span)
{
    const hdst__aggregate_slices *s = user;
    if (!hdst__text_is_inline(span)) span->address = (uint64_t)(uintptr_t)s->heap + (span->address ^ HDST__SLICE_HEAP_BIT);
    return true;
}

static hdst_status read_texts(hdst__aggregate_slices *s, hdst__run_stats *stats, hdst_error *error)
{
    const uint64_t bytes = least_of(s->kept.bytes, s->heap_room);
    if (!bytes) return HDST_OK;
    stats->bytes_from_device += bytes;
    return s->device->ops->read(s->device, s->memory[HEAP], 0, s->heap, bytes, true, error);
}

hdst_status hdst__aggregate_slices_give(hdst__aggregate_slices *s, hdst__run_stats *stats, hdst__take_rows take, void *user, hdst_error *error)
{
    if (!s->kept.rows) return HDST_OK;
    hdst_status status = s->device->ops->read(s->device, s->memory[COUNTERS], 0, &s->kept, sizeof s->kept, true, error);      // behind all slices in flight
    const uint64_t rows = rows_of(s), size = s->layout->record->size;
    char *const piece = s->memory[PIECE]->host;
    if (status == HDST_OK) status = read_texts(s, stats, error);
    for (uint64_t first = 0; first < rows && status == HDST_OK; first += s->piece_rows) {
        const uint64_t count = least_of(rows - first, s->piece_rows);
        status = s->device->ops->read(s->device, s->memory[KEPT], first * size, piece, count * size, true, error);
        stats->bytes_from_device += count * size;
        if (status == HDST_OK) hdst__record_texts(s->layout->record, piece, count, refer_to_host, s);
        if (status == HDST_OK) status = take(user, piece, count, rows, error);
    }
    s->out += rows;
    s->emptied++;
    s->kept = (counters){0};
    s->clear = true;
    return status;
}

void hdst__aggregate_slices_explain(const hdst__aggregate_slices *s, hdst__buffer *out)
{
    if (s->in) {
        hdst__buffer_printf(out, "    slices reduced on the device first: %" PRIu64 " records to %" PRIu64 "\n", s->in, s->out);
        hdst__buffer_printf(out, "    container there: a hash table, whose rows stay from slice to slice: up to %" PRIu64 " of them\n", s->row_room);
    }
    if (s->emptied > 1) hdst__buffer_printf(out, "    its rows went to the host %" PRIu32 " times, as there was no room for more\n", s->emptied);
    if (s->ended) hdst__buffer_printf(out, "    slices not reduced on the device any more: %s\n", s->why);
}
