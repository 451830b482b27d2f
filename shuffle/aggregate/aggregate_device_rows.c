// SPDX-License-Identifier: Apache-2.0
// Reductions by key in a table with a row for each key there may be, on a GPU (shuffle/aggregate/aggregate_device_rows.h).
#include "shuffle/aggregate/aggregate_device_rows.h"

#include "engine/stage/executor.h"
#include "shuffle/aggregate/aggregate_device_memory.h"

enum {
    TILE = 8 * HDST__AGGREGATE_LANES,       // ROW_TILE
    KEYS_OF_A_PLACE = 4,                    // which are sorted one by one
    ROOM_SHARE = 2,                         // one part in so many of what the device has left is the table's at most
};
#define MOST_KEYS (UINT64_C(1) << 31)

bool hdst__aggregate_device_has_rows(const hdst__aggregate_device *d)
{
    const hdst__aggregation_layout *layout = d->layout;
    const hdst__kind kind = layout->record->leaves[layout->key[0].leaf].kind;
    if (hdst__kind_is_signed(kind) && layout->key_bytes < 4) return false;      // negative ones would pass for positive ones
    if (!d->keys_below || d->keys_below > MOST_KEYS || d->states || layout->texts || layout->key_count != 1 || layout->key_bytes > 4) return false;
    for (uint64_t v = 0; v < layout->value_count; v++)
        if (layout->value[v].cell.digits) return false;         // sums of floats need scales, and more than a row
    return true;
}

static uint64_t groups_for(const hdst__aggregate_device *d, uint64_t keys) { return hdst__aggregate_groups(d, keys, HDST__AGGREGATE_LANES); }

// --- The order of all keys ---

static uint32_t place_bits(uint64_t keys)
{
    uint32_t bits = 1;
    while (bits < 31 && (keys >> bits) > KEYS_OF_A_PLACE) bits++;
    return bits;
}

static hdst_status place_keys(hdst__aggregate_device *d, bool placing, hdst_error *error)
{
    const uint64_t keys = d->keys_below;
    const hdst__work_arg args[] = {{.number = placing}, {.number = keys}, {.number = 32 - place_bits(keys)}, hdst__arg_of(d, HDST__AGGREGATE_COUNTERS),
                                   hdst__arg_of(d, HDST__AGGREGATE_ROW_ORDER)};
    return hdst__aggregate_device_work(d, HDST__AGGREGATE_ROWS_PLACE, args, 5, groups_for(d, keys), error);
}

static hdst_status order_keys(hdst__aggregate_device *d, hdst_error *error)
{
    const uint64_t places = UINT64_C(1) << place_bits(d->keys_below);
    hdst_status status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_ROW_ORDER, d->keys_below * sizeof(uint32_t), error);
    if (status == HDST_OK) status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_COUNTERS, places * sizeof(uint32_t), error);
    if (status == HDST_OK) status = place_keys(d, false, error);
    if (status == HDST_OK) status = hdst__aggregate_device_scan(d, HDST__AGGREGATE_COUNTERS, places, error);
    if (status == HDST_OK) status = place_keys(d, true, error);
    const hdst__work_arg args[] = {{.number = places}, hdst__arg_of(d, HDST__AGGREGATE_COUNTERS), hdst__arg_of(d, HDST__AGGREGATE_ROW_ORDER)};
    return status == HDST_OK ? hdst__aggregate_device_work(d, HDST__AGGREGATE_ROWS_SORT, args, 3, groups_for(d, places), error) : status;
}

// The table is clear behind each run that went well.
static hdst_status make_ready(hdst__aggregate_device *d, hdst_error *error)
{
    const int32_t no_scale = 0;
    if (d->ready_for == d->keys_below) return HDST_OK;
    hdst_status status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_ROW_WORDS, d->keys_below * d->shape.units * sizeof(uint64_t), error);
    if (status == HDST_OK) status = hdst__aggregate_device_put(d, HDST__AGGREGATE_SCALES, &no_scale, sizeof no_scale, error);
    return status == HDST_OK ? order_keys(d, error) : status;
}

static bool has_room(const hdst__aggregate_device *d)
{
    const uint64_t bytes = d->keys_below * (d->shape.units * sizeof(uint64_t) + 2 * sizeof(uint32_t));
    return d->ready_for == d->keys_below || bytes < hdst__budget_left(&d->device->budget) / ROOM_SHARE;
}

// --- Records ---

static uint64_t tiles_of(const hdst__aggregate_device *d) { return (d->keys_below + TILE - 1) / TILE; }

static hdst_status add_segment(hdst__aggregate_device *d, const hdst__segment *segment, hdst_error *error)
{
    hdst__work_arg args[HDST__AGGREGATE_COLUMNS * 2 + 8] = {{.number = segment->count}, {.number = d->keys_below}};
    size_t n = 2 + hdst__aggregate_device_sources(d, segment, args + 2);
    args[n++] = hdst__arg_of(d, HDST__AGGREGATE_SCALES);
    args[n++].number = 0;
    args[n++] = hdst__arg_of(d, HDST__AGGREGATE_ROW_SEEN);
    args[n++] = hdst__arg_of(d, HDST__AGGREGATE_ROW_WORDS);
    args[n++] = hdst__arg_of(d, HDST__AGGREGATE_COUNTERS);
    args[n++].number = tiles_of(d) + 1;
    return segment->count ? hdst__aggregate_device_work(d, HDST__AGGREGATE_ROWS_ADD, args, n, groups_for(d, segment->count), error) : HDST_OK;
}

// Behind the counters of the tiles stand the rows of the result, and whether a key is not below the number.
static hdst_status add_all(hdst__aggregate_device *d, const hdst__dataset_cache *cache, hdst_error *error)
{
    const uint64_t tiles = tiles_of(d);
    hdst_status status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_ROW_SEEN, (d->keys_below + 31) / 32 * sizeof(uint32_t), error);
    if (status == HDST_OK) status = hdst__aggregate_device_clear(d, HDST__AGGREGATE_COUNTERS, (tiles + 2) * sizeof(uint32_t), error);
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) status = add_segment(d, &cache->segment[i], error);
    const hdst__work_arg args[] = {{.number = d->keys_below}, hdst__arg_of(d, HDST__AGGREGATE_ROW_ORDER), hdst__arg_of(d, HDST__AGGREGATE_ROW_SEEN),
                                   hdst__arg_of(d, HDST__AGGREGATE_COUNTERS)};
    if (status == HDST_OK) status = hdst__aggregate_device_work(d, HDST__AGGREGATE_ROWS_COUNT, args, 4, groups_for(d, d->keys_below), error);
    return status == HDST_OK ? hdst__aggregate_device_scan(d, HDST__AGGREGATE_COUNTERS, tiles + 1, error) : status;
}

// There is room for as many rows as there may be, so the host need not know how many there are before they are written.
static hdst_status write_rows(hdst__aggregate_device *d, uint64_t records, hdst_error *error)
{
    hdst__memory *out;
    hdst_status status = hdst__store_hold(&d->store, d->device, records < d->keys_below ? records : d->keys_below, &out, error);
    if (status != HDST_OK) return status;
    const hdst__work_arg args[] = {{.number = d->keys_below}, hdst__arg_of(d, HDST__AGGREGATE_ROW_ORDER), hdst__arg_of(d, HDST__AGGREGATE_ROW_SEEN),
                                   hdst__arg_of(d, HDST__AGGREGATE_COUNTERS), hdst__arg_of(d, HDST__AGGREGATE_SCALES), {.number = 0},
                                   hdst__arg_of(d, HDST__AGGREGATE_ROW_WORDS), {.memory = out}};
    return hdst__aggregate_device_work(d, HDST__AGGREGATE_ROWS_WRITE, args, 8, groups_for(d, d->keys_below), error);
}

// Waits for all of it.
static hdst_status read_counts(hdst__aggregate_device *d, bool *stray, hdst_error *error)
{
    uint32_t told[2] = {0};
    hdst_status status = hdst__aggregate_device_read(d, HDST__AGGREGATE_COUNTERS, tiles_of(d) * sizeof(uint32_t), told, sizeof told, error);
    d->rows = told[0];
    *stray = told[1];
    if (status == HDST_OK) hdst__store_keep_first(&d->store, d->rows);
    return status;
}

hdst_status hdst__aggregate_device_run_rows(hdst__aggregate_device *d, const hdst__dataset_cache *cache, bool *done, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    bool stray = false;
    *done = false;
    if (!has_room(d)) return HDST_OK;
    hdst_status status = make_ready(d, &full);
    d->ready_for = 0;
    if (status == HDST_OK) status = add_all(d, cache, &full);
    if (status == HDST_OK) status = write_rows(d, cache->reader.records, &full);
    if (status == HDST_OK) status = read_counts(d, &stray, &full);
    *done = status == HDST_OK && !stray;
    if (*done) d->ready_for = d->keys_below;
    if (status == HDST_OK || status == HDST_E_MEMORY) return HDST_OK;
    if (error) *error = full;
    return status;
}
