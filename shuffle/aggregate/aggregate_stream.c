// SPDX-License-Identifier: Apache-2.0
// Reductions by key of records that a stage gives, slice by slice: each is taken apart where it lies, while the device works on the next ones. The first ones
// are kept until there are enough to choose by.
#include "shuffle/aggregate/aggregate_stream.h"

#include "engine/stage/executor.h"
#include "shuffle/aggregate/aggregate_block.h"
#include "shuffle/aggregate/aggregate_choose.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_order.h"
#include "shuffle/aggregate/aggregate_slice_text.h"
#include "shuffle/aggregate/aggregate_slices.h"
#include "shuffle/aggregate/aggregate_state.h"
#include "shuffle/aggregate/aggregate_steps.h"
#include "shuffle/aggregate/aggregate_texts.h"
#include "base/clock.h"
#include "base/costs_host.h"

#include <string.h>

typedef struct hdst__aggregate_stream {
    hdst__aggregation run;
    hdst__arena arena;
    hdst__aggregate_extent *extent;         // of the slice at hand: its runs
    const void **buffer;                // of each
    uint64_t room;                      // runs that there is memory for
    const hdst__storage *storage;
    char *first;                        // the first records, until there are `wanted`
    hdst__text_writer texts;            // for theirs
    uint64_t kept, wanted;
    bool has_begun;
    hdst__aggregate_order order;        // in place of all this
    bool orders;
} stream;

static void forget_first(stream *s)
{
    hdst__aggregate_give(&s->run, s->first);
    s->first = NULL;
}

void hdst__aggregate_drop(hdst__aggregate *aggregate)
{
    stream *s = aggregate->stream;
    if (!s) return;
    forget_first(s);
    hdst__aggregate_order_free(&s->order);
    hdst__aggregate_end_run(&s->run);
    hdst__arena_destroy(&s->arena);
    const hdst__allocator *allocator = hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY);
    hdst__free(allocator, s->extent);
    hdst__free(allocator, s->buffer);
    hdst__free(allocator, s);
    aggregate->stream = NULL;
}

static bool make_storage(stream *s)
{
    jmp_buf out_of_memory;
    s->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return false;
    s->storage = hdst__storage_make(&s->arena, s->run.layout->record, HDST__AOS, 0, 1);       // of C structs, it is the same for any number
    s->arena.out_of_memory = NULL;
    return s->storage;
}

static hdst_status start(void *user, hdst_error *error)
{
    hdst__aggregate *aggregate = user;
    hdst__engine *engine = aggregate->engine;
    hdst__aggregate_drop(aggregate);
    hdst__aggregate_forget_state(aggregate);
    hdst__aggregate_drop_texts(aggregate);
    aggregate->stats = (hdst__run_stats){0};
    aggregate->ran = false;
    aggregate->device_did = false;
    aggregate->stray = UINT64_MAX;
    aggregate->in_kernels = aggregate->kernel_rows = 0;
    if (aggregate->slices) hdst__aggregate_slices_begin(aggregate->slices);
    stream *s = aggregate->stream = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_BY_KEY), sizeof *s);
    if (!s) return hdst__error_memory(error, "a reduce by key");
    hdst__arena_init(&s->arena, hdst__engine_owned(engine, HDST__OWNER_BY_KEY), NULL);
    s->run = (hdst__aggregation){.aggregate = aggregate, .engine = engine, .arena = &s->arena, .layout = aggregate->layout};
    hdst__aggregate_begin_run(&s->run);
    const uint64_t most = hdst__aggregate_sample(&s->run),
        fit = hdst__budget_left(hdst__engine_memory(engine)) / HDST__HOST_KEY_SAMPLE_SHARE / aggregate->layout->record->size;
    s->wanted = fit < most ? fit + 1 : most;
    return make_storage(s) ? HDST_OK : hdst__error_memory(error, "a reduce by key");
}

static bool make_room(stream *s, uint64_t runs)
{
    if (runs <= s->room) return true;
    const hdst__allocator *allocator = hdst__engine_owned(s->run.engine, HDST__OWNER_BY_KEY);
    hdst__free(allocator, s->extent);
    hdst__free(allocator, s->buffer);
    s->extent = hdst__alloc(allocator, runs * sizeof *s->extent);
    s->buffer = hdst__alloc(allocator, runs * sizeof *s->buffer);
    s->room = s->extent && s->buffer ? runs : 0;
    return s->room;
}

// Runs of records from `records` on, as a consumer is given them.
static hdst_status open_slice(stream *s, const char *records, const uint64_t *run, uint64_t runs, hdst_error *error)
{
    if (!make_room(s, runs)) return hdst__error_memory(error, "a reduce by key");
    s->run.before += s->run.end;
    s->run.end = s->run.next_record = 0;
    for (uint64_t i = 0; i < runs; i++) {
        s->buffer[i] = run[2 * i] ? records + run[2 * i] * s->run.layout->record->size : records;       // of no records there is no memory
        s->extent[i] = (hdst__aggregate_extent){s->storage, &s->buffer[i], s->run.end, run[2 * i + 1]};
        s->run.end += run[2 * i + 1];
    }
    s->run.extent = s->extent;
    s->run.extents = runs;
    return HDST_OK;
}

static hdst_status begin(stream *s, hdst_error *error)
{
    jmp_buf out_of_memory;
    s->has_begun = true;
    s->arena.out_of_memory = &out_of_memory;
    const hdst_status status = setjmp(out_of_memory) ? hdst__error_memory(error, "a reduce by key") : hdst__aggregate_begin(&s->run, error);
    s->arena.out_of_memory = NULL;
    return status;
}

static hdst_status add_runs(stream *s, const void *records, const uint64_t *run, uint64_t runs, hdst_error *error)
{
    hdst_status status = open_slice(s, records, run, runs, error);
    if (status == HDST_OK && !s->has_begun) status = begin(s, error);
    return status == HDST_OK && s->run.end ? hdst__aggregate_add(&s->run, error) : status;
}

static hdst_status add(stream *s, const void *records, uint64_t count, hdst_error *error)
{
    return add_runs(s, records, (const uint64_t[]){0, count}, 1, error);
}

// The bytes that a slice's records refer to last no longer than they do.
static hdst_status keep_texts(stream *s, char *records, uint64_t count, hdst_error *error)
{
    const hdst_status status = hdst__aggregate_take_texts(&s->run, error);
    if (status != HDST_OK || !s->run.layout->texts) return status;
    s->texts.heap = s->run.aggregate->texts;
    return hdst__text_keep_rows(&s->texts, s->run.layout->record, records, count, error);
}

static hdst_status keep(stream *s, const char *records, uint64_t count, hdst_error *error)
{
    const uint64_t size = s->run.layout->record->size;
    if (!s->first) s->first = hdst__aggregate_take(&s->run, s->wanted * size, "the first tuples of a reduce by key", error);
    if (!s->first) return HDST_E_MEMORY;
    char *to = s->first + s->kept * size;
    memcpy(to, records, count * size);
    s->kept += count;
    return keep_texts(s, to, count, error);
}

// What was kept is enough, or all there is.
static hdst_status add_first(stream *s, hdst_error *error)
{
    const hdst_status status = add(s, s->first, s->kept, error);
    forget_first(s);
    return status;
}

// --- Put in order in place of it ---

// What there is goes through tables after all.
static hdst_status leave_order(stream *s, hdst_error *error)
{
    s->orders = false;
    s->run.records = s->order.order.count;
    const hdst_status status = add(s, s->order.order.records, s->order.order.count, error);
    hdst__aggregate_order_free(&s->order);
    return status;
}

// Each key comes once from here on, but for few: so many at least.
static void begin_order(stream *s, uint64_t keys)
{
    if (!hdst__aggregate_order_suits(s->run.aggregate) || hdst__aggregate_take_texts(&s->run, NULL) != HDST_OK) return;
    s->orders = hdst__aggregate_order_room(&s->order, &s->run, s->kept + keys + keys / 8);
    if (!s->orders || !s->kept) return;
    hdst__aggregate_order_take(&s->order, s->first, s->kept);       // the bytes of their texts are kept
    forget_first(s);
    s->kept = 0;
}

static hdst_status take_to_order(stream *s, const void *records, uint64_t count, hdst_error *error)
{
    const uint64_t all = s->order.order.count + count;
    if (all > s->order.order.room && !hdst__aggregate_order_room(&s->order, &s->run, all + all / 2)) {
        const hdst_status status = leave_order(s, error);
        return status == HDST_OK ? add(s, records, count, error) : status;
    }
    char *referring = hdst__aggregate_order_take(&s->order, records, count);
    return referring ? keep_texts(s, referring, count, error) : HDST_OK;
}

static hdst_status end_order(stream *s, hdst_error *error)
{
    bool done;
    const hdst_status status = hdst__aggregate_order_end(&s->order, &done, error);
    if (status != HDST_OK || done) return status;
    const hdst_status left = leave_order(s, error);
    return left == HDST_OK ? hdst__aggregate_finish(&s->run, error) : left;
}

// --- What a stage calls ---

static hdst_status take(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error)
{
    stream *s = ((hdst__aggregate *)user)->stream;
    hdst_error own;
    hdst_status status = HDST_OK;
    if (!error) error = &own;
    if (s->orders) return take_to_order(s, records, count, error);
    if (s->has_begun) return add(s, records, count, error);
    s->run.records = expected > s->kept + count ? expected : s->kept + count;
    if (s->kept == 0 && count >= s->wanted) return add(s, records, count, error);
    const uint64_t missing = s->wanted - s->kept, more = count < missing ? count : missing;
    status = keep(s, records, more, error);
    if (status == HDST_OK && s->kept == s->wanted) status = add_first(s, error);
    return status == HDST_OK && more < count ? add(s, (const char *)records + more * s->run.layout->record->size, count - more, error) : status;
}

// The first ones are looked at together.
static hdst_status take_runs(void *user, const void *records, const uint64_t *run, uint64_t runs, uint64_t expected, hdst_error *error)
{
    stream *s = ((hdst__aggregate *)user)->stream;
    hdst_error own;
    hdst_status status = HDST_OK;
    if (!error) error = &own;
    if (s->has_begun) return add_runs(s, records, run, runs, error);
    for (uint64_t i = 0; i < runs && status == HDST_OK; i++)
        if (run[2 * i + 1]) status = take(user, (const char *)records + run[2 * i] * s->run.layout->record->size, run[2 * i + 1], expected, error);
    return status;
}

static hdst_status take_rows(hdst__aggregate *aggregate, hdst_error *error)
{
    return aggregate->slices ? hdst__aggregate_slices_give(aggregate->slices, &aggregate->stats, take, aggregate, error) : HDST_OK;
}

static hdst_status end(hdst__aggregate *aggregate, hdst_error *error)
{
    stream *s = aggregate->stream;
    if (!s) return hdst__error_set(error, HDST_E_INTERNAL, "no records were given to a reduce by key");
    hdst_status status = take_rows(aggregate, error);
    if (s->orders) {
        if (status == HDST_OK) status = end_order(s, error);
        hdst__aggregate_drop(aggregate);
        return status;
    }
    if (!s->has_begun) s->run.records = s->kept;
    if (status == HDST_OK && !s->has_begun) status = add_first(s, error);
    if (status == HDST_OK) status = hdst__aggregate_finish(&s->run, error);
    hdst__aggregate_drop(aggregate);
    return status;
}

static hdst_status combine(void *user, uint32_t slot, const hdst__slice_records *records, hdst_error *error)
{
    hdst__aggregate *aggregate = user;
    if (!aggregate->slices) aggregate->slices = hdst__aggregate_slices_create(aggregate->engine, aggregate->layout);
    return aggregate->slices ? hdst__aggregate_slices_combine(aggregate->slices, slot, records, error) : hdst__error_memory(error, "a reduce by key");
}

static hdst_status left(void *user, uint32_t slot, hdst__slice_records *records, hdst_error *error)
{
    hdst__aggregate *aggregate = user;
    if (!aggregate->slices) return HDST_OK;
    const hdst_status status = hdst__aggregate_slices_left(aggregate->slices, slot, records, error);
    return status == HDST_OK && hdst__aggregate_slices_is_full(aggregate->slices) ? take_rows(aggregate, error) : status;
}

// Tables of threads would only grow, for records that are those of one kernel's table after another's.
static void combined(void *user, uint64_t keys, bool once)
{
    stream *s = ((hdst__aggregate *)user)->stream;
    if (once && !s->has_begun && !s->orders) begin_order(s, keys);
    for (uint32_t i = 0; s->has_begun && i < s->run.workers; i++) s->run.worker[i].blocks = false;
    if (s->has_begun) hdst__aggregate_expect_keys(&s->run, keys);
}

// Where all keys fit a thread's table, which is then made in the kernel's core.
static bool rows_like(void *user, hdst__combined_like *like)
{
    const stream *s = ((hdst__aggregate *)user)->stream;
    return s && s->has_begun && hdst__aggregate_rows_like(&s->run, like);
}

static hdst_status rows(void *user, const uint64_t *rows, uint64_t count, uint64_t records, hdst_error *error)
{
    stream *s = ((hdst__aggregate *)user)->stream;
    return hdst__aggregate_add_rows(&s->run, rows, count, records, error);
}

const hdst__consumer *hdst__aggregate_consumer(hdst__aggregate *aggregate)
{
    const bool combines = !hdst__aggregate_slice_why_not(aggregate->layout) && aggregate->container == HDST__CONTAINER_AUTO &&
                          hdst__engine_settings(aggregate->engine)->hpr >= HDST__HPR_DEVICE;
    const bool in_kernels = (aggregate->container == HDST__CONTAINER_AUTO || aggregate->container == HDST__CONTAINER_TABLE) &&
                            hdst__engine_settings(aggregate->engine)->hpr >= HDST__HPR_BLOCK;
    aggregate->consumer = (hdst__consumer){.start = start, .take = take, .take_runs = take_runs, .user = aggregate,
                                          .combine = combines ? combine : NULL, .left = combines ? left : NULL,
                                          .combining = in_kernels ? aggregate->layout->combining : NULL, .combined = combined,
                                          .rows_like = rows_like, .rows = rows};
    return &aggregate->consumer;
}

hdst_status hdst__aggregate_end(hdst__aggregate *aggregate, const void **rows, uint64_t *count, hdst_error *error)
{
    const double begun = hdst__now();
    hdst_error own;
    hdst__engine_lock(aggregate->engine);
    const hdst_status status = end(aggregate, error ? error : &own);
    hdst__engine_unlock(aggregate->engine);
    aggregate->stats.run_seconds = aggregate->stats.total_seconds = hdst__now() - begun;
    *rows = status == HDST_OK ? aggregate->rows : NULL;
    *count = status == HDST_OK ? aggregate->row_count : 0;
    return status == HDST_OK && aggregate->keeps_state ? hdst__aggregate_finish_state(aggregate, rows, error) : status;
}
