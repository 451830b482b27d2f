// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU (shuffle/aggregate/aggregate_device.h): the object, the order of steps.
#include "shuffle/aggregate/aggregate_device_choose.h"
#include "shuffle/aggregate/aggregate_device_memory.h"
#include "shuffle/aggregate/aggregate_device_rows.h"

#include "accum/overflow_table.h"
#include "base/costs_gpu.h"
#include "engine/device/driver_gate.h"
#include "engine/stage/executor.h"
#include "engine/common/run_stats.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ATTEMPTS = 8,
    MOST_BITS = 18,                         // of the hash that choose a partition: two rounds of 9
};

hdst__aggregate_device *hdst__aggregate_device_create(hdst__engine *engine, hdst__aggregation_layout *layout)
{
    hdst__aggregate_device *d = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_BY_KEY), sizeof *d);
    if (!d) return NULL;
    d->engine = engine;
    d->layout = layout;
    hdst__arena_init(&d->arena, hdst__engine_owned(engine, HDST__OWNER_BY_KEY), NULL);
    hdst__store_init(&d->store, hdst__engine_runtime(engine), layout->record);
    d->store.whole = true;
    return d;
}

void hdst__aggregate_device_destroy(hdst__aggregate_device *d)
{
    if (!d) return;
    hdst__aggregate_device_release(d);
    hdst__store_release(&d->store);
    hdst__arena_destroy(&d->arena);
    hdst__free(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), d);
}

void hdst__aggregate_device_put_on(hdst__aggregate_device *d, hdst__device *on)
{
    if (d->device && d->device != on) hdst__aggregate_device_release(d);
    if (d->device != on) d->refuses_many = false;
    d->device = on;
    d->given = true;
}

void hdst__aggregate_device_keys_below(hdst__aggregate_device *d, uint64_t bound) { d->keys_below = bound; }
bool hdst__aggregate_device_did_rows(const hdst__aggregate_device *d) { return d->in_rows; }
void hdst__aggregate_device_keep_states(hdst__aggregate_device *d) { d->states = true; }

hdst__dataset_cache *hdst__aggregate_device_rows(hdst__aggregate_device *d) { return &d->store.cache; }
const char *hdst__aggregate_device_why_not(const hdst__aggregate_device *d) { return d->why_not; }
bool hdst__aggregate_device_may_do_later(const hdst__aggregate_device *d) { return d->may_do_later; }

// --- Steps ---

typedef struct told { uint64_t failed, rows, tuples, overflow_state; } told;       // by the device; failed: as hash_total says

typedef struct pass {
    hdst__aggregate_device *d;
    const hdst__dataset_cache *cache;
    uint64_t records, chunks;           // chunks: of the first time
    bool counts_all;                    // the first time counts the partitions of the second time
    uint32_t starts[HDST__AGGREGATE_PARTITIONS + 1];      // of the partitions of the first time, where keys are to be counted
    hdst__aggregate_device_memory tuples, rows;      // where tuples lie, and then rows of partitions
} pass;

static uint64_t groups_for(const pass *p, uint64_t tuples) { return hdst__aggregate_groups(p->d, tuples, HDST__GPU_KEY_GROUP_TUPLES); }

// Counters to places, and where so many partitions begin. What follows takes the places.
static hdst_status place_partitions(const pass *p, uint64_t partitions, hdst_error *error)
{
    hdst_status status = hdst__aggregate_device_provide(p->d, HDST__AGGREGATE_OF_STARTS, (partitions + 1) * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_scan(p->d, HDST__AGGREGATE_COUNTERS, partitions + 1, error);
    const hdst__work_arg args[] = {{.number = partitions + 1}, hdst__arg_of(p->d, HDST__AGGREGATE_COUNTERS), hdst__arg_of(p->d, HDST__AGGREGATE_OF_STARTS)};
    return status == HDST_OK ? hdst__aggregate_device_work(p->d, HDST__AGGREGATE_STARTS, args, 3, partitions / HDST__AGGREGATE_LANES + 1, error) : status;
}

// Where those of the first time begin, each of which has so many of these.
static hdst_status place_high(const pass *p, uint32_t low_bits, hdst_error *error)
{
    const uint64_t count = (UINT64_C(1) << p->d->choice.high_bits) + 1;
    const hdst__work_arg args[] = {{.number = count}, {.number = low_bits}, hdst__arg_of(p->d, HDST__AGGREGATE_OF_STARTS),
                                   hdst__arg_of(p->d, HDST__AGGREGATE_HIGH_PLACES), hdst__arg_of(p->d, HDST__AGGREGATE_HIGH_STARTS)};
    return hdst__aggregate_device_work(p->d, HDST__AGGREGATE_STARTS_HIGH, args, 5, count / HDST__AGGREGATE_LANES + 1, error);
}

static uint64_t segment_groups(const pass *p, const hdst__segment *segment)
{
    const uint64_t groups = groups_for(p, p->records) * segment->count / p->records;
    return groups ? groups : 1;
}

static uint64_t tiles_of(const pass *p, uint64_t tuples, bool many)
{
    const hdst__aggregate_kernel_shape *shape = &p->d->shape;
    const uint64_t tile = (uint64_t)(many ? shape->many_rows * shape->many_lanes : shape->tile_rows * shape->few_lanes);
    return (tuples + tile - 1) / tile;
}

// Counting, each segment of the input in chunks of its own, or placing, tile by tile.
static hdst_status over_segment(const pass *p, bool counts, const hdst__segment *segment, uint64_t chunk, hdst_error *error)
{
    const hdst__aggregate_device_choice *c = &p->d->choice;
    const hdst__aggregate_device_kernel counting = c->heavy ? HDST__AGGREGATE_COUNT_HEAVY : p->counts_all ? HDST__AGGREGATE_COUNT_ALL : HDST__AGGREGATE_COUNT;
    const bool many = c->high_bits > HDST__AGGREGATE_FEW_BITS;
    const hdst__aggregate_device_kernel placing = many ? c->heavy ? HDST__AGGREGATE_PLACE_MANY_HEAVY : HDST__AGGREGATE_PLACE_MANY
        : c->heavy ? HDST__AGGREGATE_PLACE_HEAVY : HDST__AGGREGATE_PLACE;
    const uint64_t chunks = segment_groups(p, segment);
    const uint32_t bits = c->high_bits + (counts && p->counts_all ? c->low_bits : 0);
    hdst__work_arg args[HDST__AGGREGATE_COLUMNS * 2 + 16] = {{.number = segment->count}, {.number = 32 - bits}, {.number = (1u << bits) - 1}};
    size_t n = 3 + hdst__aggregate_device_sources(p->d, segment, args + 3);
    args[n++] = hdst__arg_of(p->d, counts ? HDST__AGGREGATE_COUNTERS : HDST__AGGREGATE_HIGH_PLACES);
    if (!counts) args[n++] = hdst__arg_of(p->d, HDST__AGGREGATE_TUPLES);
    if (c->heavy) {
        args[n++].number = chunk;
        if (!counts) args[n++].number = chunks;
        args[n++] = hdst__arg_of(p->d, HDST__AGGREGATE_LEFT);
        args[n++].number = c->heavy_places;
        args[n++].number = c->seed;
        if (counts) args[n++].number = c->copies;
        args[n++] = hdst__arg_of(p->d, HDST__AGGREGATE_SCALES);
        args[n++].number = c->bits;
        args[n++] = hdst__arg_of(p->d, HDST__AGGREGATE_HEAVY_KEYS);
        if (counts) args[n++] = hdst__arg_of(p->d, HDST__AGGREGATE_HEAVY_WORDS);
    }
    if (!counts && !segment->count) return HDST_OK;
    return hdst__aggregate_device_work(p->d, counts ? counting : placing, args, n, counts ? chunks : tiles_of(p, segment->count, many), error);
}

static hdst_status over_segments(const pass *p, bool counts, hdst_error *error)
{
    hdst_status status = HDST_OK;
    uint64_t chunk = 0;
    for (uint64_t i = 0; i < p->cache->count && status == HDST_OK; i++) {
        status = over_segment(p, counts, &p->cache->segment[i], chunk, error);
        chunk += segment_groups(p, &p->cache->segment[i]);
    }
    return status;
}

// Nobody waits for what the host writes: it stays in the object.
static hdst_status clear_overflow(const pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const uint64_t cells = d->choice.overflow_cells;
    d->last_overflow_place = cells - 1;
    hdst_status status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_OVERFLOW, hdst__overflow_words(cells, d->shape.overflow_cell_words) * 8, error);
    if (status == HDST_OK) status = d->device->ops->write(d->device, d->memory[HDST__AGGREGATE_OVERFLOW], HDST__OVERFLOW_LAST_PLACE * 8,
                                                          &d->last_overflow_place, sizeof d->last_overflow_place, false, error);
    return status == HDST_OK ? hdst__aggregate_device_provide(d, HDST__AGGREGATE_ROWS_OF_OVERFLOW, (cells + 1) * 8, error) : status;
}

static hdst_status put_scales(hdst__aggregate_device *d, hdst_error *error)
{
    for (uint64_t v = 0; v < d->layout->value_count; v++)
        if (d->layout->value[v].cell.digits) d->scales[d->shape.value[v].sum] = d->layout->value[v].s;
    const hdst_status status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_SCALES, sizeof d->scales, error);
    return status == HDST_OK ? d->device->ops->write(d->device, d->memory[HDST__AGGREGATE_SCALES], 0, d->scales, sizeof d->scales, false, error) : status;
}

// Memory of a run, and what is clear in it. `partitions`: that will be counted, and those of the first time among them.
static hdst_status make_room(pass *p, uint64_t partitions, uint64_t high, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const hdst__aggregate_device_choice *c = &d->choice;
    const uint64_t row_bytes = d->shape.row_bytes, tuple_bytes = (uint64_t)d->shape.tuple_words * 4;
    const uint64_t each = row_bytes > tuple_bytes ? row_bytes : tuple_bytes;
    hdst_status status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_COUNTERS, (partitions + 1) * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_HIGH_PLACES, (high + 1) * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_HIGH_STARTS, (high + 1) * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_LEFT, p->chunks * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_HEAVY_WORDS, ((uint64_t)c->heavy_places + 1) * d->shape.units * 8, error);
    if (status == HDST_OK) status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_TUPLES, (p->records + c->heavy_places) * each, error);
    return status == HDST_OK ? hdst__aggregate_device_provide(d, HDST__AGGREGATE_OTHER_TUPLES, (p->records + c->heavy_places) * each, error) : status;
}

static hdst_status first_time(pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const hdst__aggregate_device_choice *c = &d->choice;
    p->chunks = 0;
    for (uint64_t i = 0; i < p->cache->count; i++) p->chunks += segment_groups(p, &p->cache->segment[i]);
    p->counts_all = c->known && c->low_bits && !c->heavy && c->high_bits + c->low_bits <= d->shape.counted_bits;
    const uint32_t low = p->counts_all ? c->low_bits : 0;
    const uint64_t high = UINT64_C(1) << c->high_bits;
    hdst_status status = put_scales(d, error);
    if (status == HDST_OK) status = clear_overflow(p, error);
    if (status == HDST_OK) status = make_room(p, high << low, high, error);
    if (status == HDST_OK) status = over_segments(p, true, error);
    if (status == HDST_OK) status = place_partitions(p, high << low, error);
    if (status == HDST_OK) status = place_high(p, low, error);
    if (status == HDST_OK) status = over_segments(p, false, error);
    p->tuples = HDST__AGGREGATE_TUPLES;
    p->rows = HDST__AGGREGATE_OTHER_TUPLES;
    return status;
}

// The keys of some partitions, exactly enough: a sample tells little about keys that come once or twice.
static hdst_status count_distinct(pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    hdst__aggregate_device_choice *c = &d->choice;
    const uint64_t bytes = (UINT64_C(1) << HDST__GPU_KEY_MAP_BITS) / 8, partitions = UINT64_C(1) << c->high_bits;
    hdst_status status = hdst__aggregate_device_read(d, HDST__AGGREGATE_HIGH_STARTS, 0, p->starts, (partitions + 1) * 4, error);
    if (status != HDST_OK) return status;
    uint64_t end = 1;
    while (end < partitions && p->starts[end] < HDST__GPU_COUNTED_TUPLES) end++;
    uint32_t skip = 0;
    while (skip < c->high_bits && end <= partitions >> (skip + 1)) skip++;
    status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_MAP, bytes, error);
    const hdst__work_arg args[] = {
        {.number = 0}, {.number = p->starts[end]}, {.number = skip}, {.number = HDST__GPU_KEY_MAP_BITS}, hdst__arg_of(d, HDST__AGGREGATE_TUPLES),
        hdst__arg_of(d, HDST__AGGREGATE_MAP)};
    if (status == HDST_OK) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_DISTINCT, args, 6, groups_for(p, p->starts[end]), error);
    uint64_t *map = hdst__alloc(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), bytes);
    if (!map) return hdst__error_memory(error, "a reduce by key");
    if (status == HDST_OK) status = hdst__aggregate_device_read(d, HDST__AGGREGATE_MAP, 0, map, bytes, error);
    if (status == HDST_OK) c->distinct = hdst__aggregate_device_distinct_of(map, (double)end / (double)partitions) + c->heavy;
    hdst__free(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), map);
    return status;
}

// Work-groups have shares of the records; of those that heavy hitters took nothing is left, which the device alone knows.
static hdst_status second_time(pass *p, hdst_error *error)
{
    const hdst__aggregate_device_choice *c = &p->d->choice;
    const uint64_t high = UINT64_C(1) << c->high_bits, partitions = high << c->low_bits;
    const uint64_t groups = (tiles_of(p, p->records, false) + HDST__GPU_KEY_CHUNK_TILES - 1) / HDST__GPU_KEY_CHUNK_TILES;
    hdst_status status = p->counts_all ? HDST_OK : hdst__aggregate_device_clear(p->d, HDST__AGGREGATE_COUNTERS, (partitions + 1) * 4, error);
    if (status != HDST_OK) return status;
    const hdst__work_arg args[] = {{.number = high},
                                   {.number = c->low_bits},
                                   {.number = 32 - c->high_bits - c->low_bits},
                                   hdst__arg_of(p->d, HDST__AGGREGATE_HIGH_STARTS),
                                   hdst__arg_of(p->d, HDST__AGGREGATE_TUPLES),
                                   hdst__arg_of(p->d, HDST__AGGREGATE_COUNTERS),
                                   hdst__arg_of(p->d, HDST__AGGREGATE_OTHER_TUPLES)};
    if (!p->counts_all) status = hdst__aggregate_device_work(p->d, HDST__AGGREGATE_COUNT_LOW, args, 6, groups, error);
    if (status == HDST_OK && !p->counts_all) status = place_partitions(p, partitions, error);
    if (status == HDST_OK) status = hdst__aggregate_device_work(p->d, HDST__AGGREGATE_PLACE_LOW, args, 7, groups, error);
    p->tuples = HDST__AGGREGATE_OTHER_TUPLES;
    p->rows = HDST__AGGREGATE_TUPLES;
    return status;
}

// Partitions to rows, and what the host will want to know.
static hdst_status total(pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const hdst__aggregate_device_choice *c = &d->choice;
    const uint64_t bits = c->high_bits + c->low_bits, partitions = UINT64_C(1) << bits;
    hdst_status status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_ROWS_OF, (partitions + 1) * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_STAGED, partitions * 4, error);
    if (status == HDST_OK) status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_TOLD, sizeof(told), error);
    const hdst__work_arg args[] = {{.number = partitions},
                                   {.number = bits},
                                   {.number = c->slots},
                                   {.number = c->spread},
                                   {.number = c->heavy},
                                   hdst__arg_of(d, HDST__AGGREGATE_SCALES),
                                   {.number = c->bits},
                                   hdst__arg_of(d, HDST__AGGREGATE_OF_STARTS),
                                   hdst__arg_of(d, p->tuples),
                                   hdst__arg_of(d, HDST__AGGREGATE_HEAVY_KEYS),
                                   hdst__arg_of(d, HDST__AGGREGATE_RANKED),
                                   hdst__arg_of(d, HDST__AGGREGATE_HEAVY_WORDS),
                                   hdst__arg_of(d, HDST__AGGREGATE_OVERFLOW),
                                   hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF_OVERFLOW),
                                   hdst__arg_of(d, p->rows),
                                   hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF),
                                   hdst__arg_of(d, HDST__AGGREGATE_STAGED),
                                   hdst__arg_of(d, HDST__AGGREGATE_TOLD)};
    if (status == HDST_OK) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_TOTAL, args, sizeof args / sizeof *args, partitions, error);
    if (status == HDST_OK) status = hdst__aggregate_device_scan(d, HDST__AGGREGATE_ROWS_OF, partitions + 1, error);
    const hdst__work_arg tell[] = {{.number = partitions}, hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF), hdst__arg_of(d, HDST__AGGREGATE_OF_STARTS),
                                   hdst__arg_of(d, HDST__AGGREGATE_OVERFLOW), hdst__arg_of(d, HDST__AGGREGATE_TOLD)};
    return status == HDST_OK ? hdst__aggregate_device_work(d, HDST__AGGREGATE_TELL, tell, 5, 1, error) : status;
}

// Waits for all of it.
static hdst_status read_told(const pass *p, told *t, hdst_error *error)
{
    const hdst_status status = hdst__aggregate_device_read(p->d, HDST__AGGREGATE_TOLD, 0, t, sizeof *t, error);
    p->d->rows = t->rows;
    p->d->tuples = t->tuples;
    return status;
}

static hdst_status write_states(const pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const uint64_t partitions = UINT64_C(1) << (d->choice.high_bits + d->choice.low_bits);
    if (d->rows == 0) return HDST_OK;
    hdst_status status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_STATES, d->rows * d->shape.state_words * sizeof(uint64_t), error);
    const hdst__work_arg args[] = {{.number = partitions}, hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF), hdst__arg_of(d, HDST__AGGREGATE_STAGED),
                                   hdst__arg_of(d, p->rows), {.number = d->choice.bits}, hdst__arg_of(d, HDST__AGGREGATE_STATES)};
    if (status == HDST_OK) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_WRITE_STATE, args, 6, partitions, error);
    return status == HDST_OK ? hdst__device_wait(d->device, error) : status;
}

// As many of them as there are, or as `rows` says: the device need not wait until the host knows.
static hdst_status write_rows(const pass *p, uint64_t rows, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    const uint64_t partitions = UINT64_C(1) << (d->choice.high_bits + d->choice.low_bits);
    hdst__memory *out;
    hdst_status status = hdst__store_hold(&d->store, d->device, rows, &out, error);
    if (status != HDST_OK || rows == 0) return status;
    const hdst__work_arg spare[] = {hdst__arg_of(d, HDST__AGGREGATE_OVERFLOW), hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF_OVERFLOW), hdst__arg_of(d, p->rows),
                                    hdst__arg_of(d, HDST__AGGREGATE_TOLD)};
    const hdst__work_arg args[] = {{.number = partitions}, {.number = rows}, hdst__arg_of(d, HDST__AGGREGATE_ROWS_OF), hdst__arg_of(d, HDST__AGGREGATE_STAGED),
                                   hdst__arg_of(d, p->rows), {.memory = out}};
    if (d->shape.sums) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_FINISH_OVERFLOW, spare, 4, groups_for(p, d->choice.overflow_cells * 8), error);
    return status == HDST_OK ? hdst__aggregate_device_work(d, HDST__AGGREGATE_WRITE, args, 6, partitions, error) : status;
}

// --- Runs ---

// How many keys there are was estimated: what the first time left says more.
static hdst_status choose_low(pass *p, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    hdst__aggregate_device_choice *c = &d->choice;
    const uint32_t high = c->high_bits, forced = hdst__engine_limits(d->engine)->by_key_partition_bits;
    const hdst_status status = count_distinct(p, error);
    hdst__aggregate_device_choose_partitions(d);
    const uint32_t bits = c->high_bits + c->low_bits;
    c->high_bits = high;
    c->low_bits = bits > high && !forced ? bits - high : 0;
    return status;
}

// What no memory helps against: the next run need not try.
static hdst_status refuse_keys(hdst__aggregate_device *d, const char *why, hdst_error *error)
{
    d->may_do_later = false;
    return hdst__error_set(error, HDST_E_MEMORY, "%s", why);
}

static const char too_many[] = "the keys are too many for two rounds of parts, or crowd in few places of their tables";

// *again: with more room, as something was too small.
static hdst_status judge(hdst__aggregate_device *d, const told *t, bool *again, hdst_error *error)
{
    hdst__aggregate_device_choice *c = &d->choice;
    const bool full = t->failed & 1, overflow_full = hdst__overflow_is_full(t->overflow_state);
    *again = full || overflow_full;
    d->attempts += *again;
    if (overflow_full) c->overflow_cells *= 8;
    if (!full && t->failed) return refuse_keys(d, "keys of more than 8 bytes have one hash of 64 bits in common", error);
    if (!full) return HDST_OK;
    c->distinct = c->distinct * 3 + 1;
    c->known = c->crowded = true;
    hdst__aggregate_device_choose_partitions(d);
    return c->high_bits + c->low_bits > MOST_BITS ? refuse_keys(d, too_many, error) : HDST_OK;
}

// Where the last run told how many rows there will be they are written before the host knows that all went well, so it waits once.
static hdst_status attempt(pass *p, bool *again, hdst_error *error)
{
    hdst__aggregate_device *d = p->d;
    hdst__aggregate_device_choice *c = &d->choice;
    told t = {0};
    const uint64_t expected = c->counted && !d->states ? c->rows : 0;
    hdst_status status = hdst__cancel_check(hdst__engine_cancel(d->engine), 0, p->records, error);
    if (status == HDST_OK) status = first_time(p, error);
    if (status == HDST_OK && !c->known) status = choose_low(p, error);
    d->rounds = c->low_bits ? 2 : 1;
    d->counted_at_once = p->counts_all;
    if (status == HDST_OK && c->low_bits > HDST__AGGREGATE_FEW_BITS) status = refuse_keys(d, too_many, error);
    if (status == HDST_OK && c->low_bits) status = second_time(p, error);
    if (status == HDST_OK) status = total(p, error);
    if (status == HDST_OK && expected) status = write_rows(p, expected, error);
    if (status == HDST_OK) status = read_told(p, &t, error);
    if (status == HDST_OK) status = judge(d, &t, again, error);
    if (status != HDST_OK || *again) return status;
    if (d->states) return write_states(p, error);
    if (expected >= d->rows && expected) {
        hdst__store_keep_first(&d->store, d->rows);
        return HDST_OK;
    }
    status = write_rows(p, d->rows, error);
    return status == HDST_OK ? hdst__device_wait(d->device, error) : status;
}

static void default_classes(hdst__aggregate_device *d)
{
    for (uint64_t v = 0; v < d->layout->value_count; v++) {
        hdst__cell *cell = &d->layout->value[v].cell;
        if (cell->digits) cell->precision = cell->kind == HDST__F32 ? HDST__CLASS_ONE_WORD : HDST__CLASS_TWO_WORDS;
    }
}

static void look_at_kernels(hdst__aggregate_device *d, const hdst__storage *storage, const char **why)
{
    *why = hdst__aggregate_kernels_why_not(d->layout, storage, &d->device->facts);
    d->may_do_later = !*why;
}

// Looks at a sample, unless the last run had the same records. *why: what the kernels cannot do, or NULL.
static hdst_status choose(hdst__aggregate_device *d, const hdst__dataset_cache *cache, uint64_t version, const char **why, hdst_error *error)
{
    const hdst__storage *storage = cache->segment[0].storage;
    hdst_status status = HDST_OK;
    const hdst__aggregate_device_choice *c = &d->choice;
    const bool same = version && c->version == version && c->of == cache && c->records == cache->reader.records;
    if (!same) default_classes(d);
    look_at_kernels(d, storage, why);
    if (*why) return HDST_OK;
    status = hdst__aggregate_device_prepare_text(d, storage, false, error);
    if (same && status == HDST_OK) hdst__aggregate_device_choose_again(d);
    if (same || status != HDST_OK) return status;
    status = hdst__aggregate_device_choose(d, cache, error);
    look_at_kernels(d, storage, why);
    return status == HDST_OK && !*why ? hdst__aggregate_device_prepare_text(d, storage, false, error) : status;
}

static void proven(hdst__aggregate_device *d)
{
    for (int k = 0; k < HDST__AGGREGATE_KERNELS; k++)
        if (d->program[k]) d->device->ops->proven(d->device, d->program[k]);
}

static bool are_many(const hdst__aggregate_device *d, uint64_t records) { return records >= hdst__engine_limits(d->engine)->by_key_device_least; }

// Where keys are below a number that is known, as few records as there may be are worth it.
static hdst_status run_in_rows(hdst__aggregate_device *d, const hdst__dataset_cache *cache, hdst_error *error)
{
    const hdst__storage *storage = cache->segment[0].storage;
    d->in_rows = false;
    if (!hdst__aggregate_device_has_rows(d) || hdst__aggregate_kernels_why_not(d->layout, storage, &d->device->facts)) return HDST_OK;
    hdst_status status = hdst__aggregate_device_prepare_text(d, storage, true, error);
    return status == HDST_OK ? hdst__aggregate_device_run_rows(d, cache, &d->in_rows, error) : status;
}

static hdst_status run_by_hash(hdst__aggregate_device *d, const hdst__aggregate_input *input, const char **why, hdst_error *error)
{
    pass p = {.d = d, .cache = input->cache, .records = input->reader->records};
    bool again = true;
    d->attempts = 0;
    if (!are_many(d, p.records)) *why = "";
    hdst_status status = *why ? HDST_OK : choose(d, input->cache, input->version, why, error);
    for (int i = 0; i < ATTEMPTS && again && status == HDST_OK && !*why; i++) status = attempt(&p, &again, error);
    if (status != HDST_OK || *why) return status;
    if (again) return refuse_keys(d, too_many, error);
    d->choice.version = input->version;
    d->choice.distinct = (double)d->rows;
    d->choice.known = d->choice.counted = true;
    d->choice.rows = d->rows;
    d->heavy_rows = d->choice.heavy;
    return HDST_OK;
}

// A driver may refuse work-groups that the device allows, as a kernel takes too much of it: smaller ones will do.
static hdst_status run_in_groups(hdst__aggregate_device *d, const hdst__aggregate_input *input, const char **why, hdst_error *error)
{
    const hdst_status status = run_by_hash(d, input, why, error);
    const bool asked_for_many = d->choice.high_bits > HDST__AGGREGATE_FEW_BITS && d->shape.many_lanes > d->shape.few_lanes;
    if (status != HDST_E_DRIVER || !asked_for_many) return status;
    d->device->ops->finish(d->device);
    d->refuses_many = true;
    d->choice.of = NULL;
    hdst__aggregate_device_release(d);
    return run_by_hash(d, input, why, error);
}

static hdst_status run(hdst__aggregate_device *d, const hdst__aggregate_input *input, hdst__run_stats *stats, const char **why, hdst_error *error)
{
    const uint64_t records = input->reader->records;
    hdst_status status = hdst__aggregate_device_load_cache(d, input->cache, stats, error);
    if (status == HDST_OK && (input->cache->streamed || input->cache->device != d->device)) *why = "the records have no room on the device";
    if (status != HDST_OK || *why) return status;
    const double start = hdst__now();
    status = run_in_rows(d, input->cache, error);
    if (status == HDST_OK && !d->in_rows) status = run_in_groups(d, input, why, error);
    if (status != HDST_OK || *why) return status;
    proven(d);
    stats->records = records;
    stats->device[0] = (hdst__device_use){.slices = 1, .records = records, .busy_seconds = hdst__now() - start};
    memcpy(stats->device[0].name, d->device->info->name, sizeof stats->device[0].name);
    stats->device_count = 1;
    hdst__levels_count(stats, hdst__engine_settings(d->engine)->hpr, records, d->in_rows ? d->rows : d->tuples + d->heavy_rows, d->rows);
    return HDST_OK;
}

static hdst_status open_device(hdst__aggregate_device *d, hdst_error *error) { return d->given ? HDST_OK : hdst__engine_open(d->engine, &d->device, error); }

static bool can(const hdst__aggregate_device *d, const hdst__device *device, uint64_t records)
{
    const bool suits = (are_many(d, records) || (records && hdst__aggregate_device_has_rows(d))) && records <= UINT32_MAX / 4;
    return suits && device->facts.target == HDST__TARGET_GPU && device->ops->work && device->facts.max_group >= HDST__AGGREGATE_LANES;
}

bool hdst__aggregate_device_can(const hdst__aggregate_device *d, uint64_t records) { return can(d, d->device, records); }

bool hdst__aggregate_device_can_on(hdst__aggregate_device *d, const hdst__device *on, uint64_t records)
{
    jmp_buf out_of_memory;
    if (!can(d, on, records)) return false;
    hdst__arena arena;
    hdst__arena_init(&arena, hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), &out_of_memory);
    bool suits = false;
    if (!setjmp(out_of_memory)) {
        default_classes(d);
        suits = !hdst__aggregate_kernels_why_not(d->layout, hdst__storage_make(&arena, d->layout->record, HDST__AOS, 0, 1), &on->facts);
    }
    hdst__arena_destroy(&arena);
    return suits;
}

static bool opens_and_can(hdst__aggregate_device *d, uint64_t records)
{
    hdst_error ignored;         // whoever runs the stage is told
    return open_device(d, &ignored) == HDST_OK && hdst__aggregate_device_can_on(d, d->device, records);
}

// Bytes: the records, and tuples of them twice.
static uint64_t wanted_for(const hdst__aggregate_device *d, uint64_t records)
{
    const uint64_t tuple = hdst__aggregate_kernels_tuple_bytes(d->layout), size = d->layout->record->size;
    return records * 4 * (tuple > size ? tuple : size);
}

bool hdst__aggregate_device_suits(hdst__aggregate_device *d, uint64_t records)
{
    return opens_and_can(d, records) && wanted_for(d, records) < hdst__budget_left(&d->device->budget);
}

hdst__device *hdst__aggregate_device_suiting(hdst__aggregate_device *d, uint64_t records)
{
    char wanted[24], there[24];
    d->why_not[0] = 0;
    if (!opens_and_can(d, records)) return NULL;
    const uint64_t bytes = wanted_for(d, records), left = hdst__budget_left(&d->device->budget);
    if (bytes < left) return d->device;
    snprintf(d->why_not, sizeof d->why_not, "records and tuples of them take %s of its memory, and it has %s left", hdst__bytes_text(bytes, wanted),
             hdst__bytes_text(left, there));
    return NULL;
}

hdst_status hdst__aggregate_device_run(hdst__aggregate_device *d, const hdst__aggregate_input *input, hdst__run_stats *stats, bool *done, hdst_error *error)
{
    const char *why = NULL;
    hdst_error full = HDST_ERROR_INIT;
    *done = false;
    d->why_not[0] = 0;
    d->may_do_later = true;
    hdst_status status = input->cache ? open_device(d, error) : HDST_OK;
    if (!input->cache || status != HDST_OK || !hdst__aggregate_device_can(d, input->reader->records)) return status;
    hdst__driver_run_begin();
    status = run(d, input, stats, &why, &full);
    *done = status == HDST_OK && !why;
    if (why) snprintf(d->why_not, sizeof d->why_not, "%s", why);
    if (status == HDST_E_MEMORY) {              // the budget is not enough, or keys are too many
        snprintf(d->why_not, sizeof d->why_not, "%.150s", full.message[0] ? full.message : "its memory was short");
        status = HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    if (!*done) d->device->ops->finish(d->device);       // what it was given may read the object still
    hdst__driver_run_end();
    if (*done) return status;
    d->choice.of = NULL;
    hdst__aggregate_device_release(d);
    return status;
}

void hdst__aggregate_device_explain(const hdst__aggregate_device *d, hdst__buffer *out)
{
    const hdst__aggregate_device_choice *c = &d->choice;
    const uint32_t bits = c->high_bits + c->low_bits;
    if (d->in_rows) {
        hdst__buffer_printf(out, "    container: device rows: one for each key below %" PRIu64 ", as the records lie on the device\n    keys: %" PRIu64 "\n",
                            d->keys_below, d->rows);
        return;
    }
    hdst__buffer_printf(
        out, "    container: device hash: %u part%s by hash in %u round%s%s, a table of %u rows in local memory for each, as the records lie on the device\n",
        1u << bits, bits ? "s" : "", (unsigned)d->rounds, d->rounds > 1 ? "s" : "", d->counted_at_once ? " that are counted at once" : "",
        (unsigned)c->slots);
    if (c->heavy)
        hdst__buffer_printf(out, "    keys that work-groups add up themselves: %u%s\n", (unsigned)c->heavy,
                            c->few ? ", all that the sample has" : ", which come often");
    hdst__buffer_printf(out, "    keys: %" PRIu64 "\n", d->rows);
    if (d->refuses_many)
        hdst__buffer_printf(out, "    no more than %u parts in a round, as the driver refused work-groups for more\n", 1u << d->shape.most_bits);
    if (d->attempts) hdst__buffer_printf(out, "    runs again with more room, as a table was too small: %u\n", (unsigned)d->attempts);
}
