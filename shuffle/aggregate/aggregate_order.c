// SPDX-License-Identifier: Apache-2.0
// Records that are put in order (shuffle/aggregate/aggregate_order.h): their memory, the result, what is told of it.
#include "shuffle/aggregate/aggregate_order.h"

#include "engine/common/run_stats.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_result.h"
#include "base/costs_host.h"

#include <stdio.h>
#include <string.h>

static const char what[] = "the rows of a reduce by key";

bool hdst__aggregate_order_suits(const hdst__aggregate *aggregate)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    return aggregate->container == HDST__CONTAINER_AUTO && !aggregate->keeps_state && layout->combining && !layout->combining->in_rows;
}

// --- Memory ---

// One that an earlier run left, or a new one.
static hdst__aggregate_slab *take_slab(hdst__aggregation *run, uint64_t bytes)
{
    hdst_error ignored;
    for (hdst__aggregate_slab **at = &run->aggregate->slabs; *at; at = &(*at)->next) {
        hdst__aggregate_slab *const slab = *at;
        if (slab->bytes < bytes) continue;
        *at = slab->next;
        slab->next = NULL;
        return slab;
    }
    if (bytes > hdst__budget_left(hdst__engine_memory(run->engine)) / HDST__HOST_KEY_RESULT_SHARE) return NULL;
    hdst__aggregate_slab *slab = hdst__aggregate_take(run, bytes, what, &ignored);
    if (slab) *slab = (hdst__aggregate_slab){.bytes = bytes};
    return slab;
}

bool hdst__aggregate_order_room(hdst__aggregate_order *order, hdst__aggregation *run, uint64_t records)
{
    hdst__text_order *o = &order->order;
    const uint64_t size = run->layout->record->size;
    if (order->slab && records <= o->room) return true;
    if (records > HDST__TEXT_ORDER_MOST) return false;
    hdst__aggregate_slab *slab = take_slab(run, sizeof *slab + hdst__text_order_bytes(run->layout, records));
    if (!slab) return false;
    const hdst__text_order old = *o;
    *o = (hdst__text_order){.layout = run->layout, .threads = hdst__engine_threads(run->engine), .cancel = hdst__engine_cancel(run->engine),
                            .allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), .place = (uint64_t *)(void *)(slab + 1), .count = old.count,
                            .room = records};
    o->spare = o->place + records;
    o->records = (char *)(o->spare + records);
    if (old.count) memcpy(o->place, old.place, old.count * sizeof *o->place);
    if (old.count) memcpy(o->records, old.records, old.count * size);
    if (order->slab) hdst__aggregate_keep_slabs(run, order->slab);
    order->run = run;
    order->slab = slab;
    return true;
}

void hdst__aggregate_order_free(hdst__aggregate_order *order)
{
    if (!order->slab) return;
    hdst__text_order_free(&order->order);
    hdst__aggregate_keep_slabs(order->run, order->slab);
    *order = (hdst__aggregate_order){0};
}

char *hdst__aggregate_order_take(hdst__aggregate_order *order, const void *records, uint64_t count)
{
    char *const to = order->order.records + order->order.count * order->run->layout->record->size;
    return hdst__text_order_take(&order->order, records, count) ? to : NULL;
}

// --- The result ---

static void note(const hdst__aggregate_order *order)
{
    hdst__aggregate *aggregate = order->run->aggregate;
    const uint64_t in = order->order.count, keys = order->order.keys;
    aggregate->choice = (hdst__aggregate_choice){.sampled = in, .distinct = (double)in, .rows = (double)in};
    snprintf(aggregate->choice.why, sizeof aggregate->choice.why, "none: records that the device had made one for each key were put in order");
    aggregate->ran = true;
    aggregate->keys = aggregate->row_count = keys;
    aggregate->flushes = aggregate->spilled = aggregate->combined_in = aggregate->combined_out = 0;
    aggregate->crowded_partitions = aggregate->crowded_blocks = aggregate->longest = aggregate->pieces = aggregate->range_count = 0;
    aggregate->stats.records = in;
    hdst__levels_count(&aggregate->stats, hdst__engine_settings(aggregate->engine)->hpr, in, in, keys);
}

hdst_status hdst__aggregate_order_end(hdst__aggregate_order *order, bool *done, hdst_error *error)
{
    hdst__aggregation *run = order->run;
    hdst__aggregate *aggregate = run->aggregate;
    const uint64_t bytes = order->order.count * run->layout->record->size;
    if (aggregate->row_bytes < bytes) hdst__aggregate_forget_rows(aggregate);
    run->records = order->order.count;
    run->choice.rows = (double)order->order.count;
    run->room = hdst__budget_left(hdst__engine_memory(run->engine));
    hdst__aggregate_expect_rows(run);
    *done = aggregate->rows && aggregate->row_bytes >= bytes;
    hdst_status status = *done ? hdst__text_order_sort(&order->order, error) : HDST_OK;
    if (status == HDST_E_MEMORY) *done = false;
    if (!*done || status != HDST_OK) return *done ? status : HDST_OK;
    hdst__text_order_write(&order->order, aggregate->rows);
    note(order);
    return HDST_OK;
}
