// SPDX-License-Identifier: Apache-2.0
// A reduction by key in one place, on the host's threads or on one device (shuffle/aggregate/aggregate_once.h).
#include "shuffle/aggregate/aggregate_once.h"

#include "shuffle/aggregate/aggregate_device.h"
#include "shuffle/aggregate/aggregate_input.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_registered.h"
#include "shuffle/aggregate/aggregate_result.h"
#include "shuffle/aggregate/aggregate_slices.h"
#include "shuffle/aggregate/aggregate_state.h"
#include "shuffle/aggregate/aggregate_steps.h"
#include "shuffle/aggregate/aggregate_stream.h"
#include "shuffle/aggregate/aggregate_texts.h"

#include <string.h>

// --- The object ---

static hdst__aggregation_layout *copy_layout(hdst__arena *arena, const hdst__aggregation_layout *from)
{
    hdst__aggregation_layout *layout = HDST__NEW(arena, hdst__aggregation_layout);
    *layout = *from;
    layout->value = HDST__NEW_ARRAY(arena, hdst__value_column, from->value_count);
    memcpy(layout->value, from->value, from->value_count * sizeof *layout->value);
    return layout;
}

hdst__aggregate *hdst__aggregate_create_part(const hdst__aggregate *of)
{
    jmp_buf out_of_memory;
    const hdst__allocator *allocator = hdst__engine_owned(of->engine, HDST__OWNER_BY_KEY);
    hdst__aggregate *part = hdst__alloc_zero(allocator, sizeof *part);
    if (!part) return NULL;
    part->engine = of->engine;
    part->container = of->container;
    part->keeps_state = true;
    hdst__arena_init(&part->arena, allocator, &out_of_memory);
    if (!setjmp(out_of_memory)) {
        part->layout = copy_layout(&part->arena, of->layout);
        part->on_device = hdst__aggregate_device_create(part->engine, part->layout);
    }
    part->arena.out_of_memory = NULL;
    if (part->on_device) {
        hdst__aggregate_device_keep_states(part->on_device);
        return part;
    }
    hdst__aggregate_release(part);
    hdst__free(allocator, part);
    return NULL;
}

void hdst__aggregate_free_kept(hdst__aggregate *aggregate)
{
    hdst__aggregate_free_slabs(aggregate);
    hdst__aggregate_forget_rows(aggregate);
    hdst__aggregate_drop_texts(aggregate);
    hdst__aggregate_forget_state(aggregate);
}

void hdst__aggregate_release(hdst__aggregate *aggregate)
{
    hdst__aggregate_drop(aggregate);
    hdst__aggregate_free_kept(aggregate);
    hdst__aggregate_device_destroy(aggregate->on_device);
    hdst__aggregate_slices_destroy(aggregate->slices);
    hdst__arena_destroy(&aggregate->arena);
}

void hdst__aggregate_begin_anew(hdst__aggregate *aggregate)
{
    aggregate->stats = (hdst__run_stats){0};
    aggregate->ran = aggregate->device_did = aggregate->spread_did = false;
    aggregate->stray = UINT64_MAX;
    hdst__aggregate_drop(aggregate);
    hdst__aggregate_forget_state(aggregate);
    hdst__aggregate_drop_texts(aggregate);
}

// --- On the host ---

static hdst_status run_steps(hdst__aggregation *run, hdst_error *error)
{
    jmp_buf out_of_memory;
    run->arena->out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = hdst__aggregate_open_input(run, error);
    if (status == HDST_OK) status = hdst__aggregate_begin(run, error);
    if (status == HDST_OK) status = hdst__aggregate_add(run, error);
    return status == HDST_OK ? hdst__aggregate_finish(run, error) : status;
}

// What was taken is given back however the steps end.
hdst_status hdst__aggregate_run_on_host(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    hdst__arena arena;
    hdst__arena_init(&arena, hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), NULL);
    hdst__aggregation run = {.aggregate = aggregate, .engine = aggregate->engine, .input = input, .arena = &arena, .layout = aggregate->layout};
    hdst__aggregate_begin_run(&run);
    const hdst_status status = run_steps(&run, error);
    hdst__aggregate_end_run(&run);
    const hdst_status closed = hdst__aggregate_close_input(&run, status == HDST_OK ? error : NULL);
    hdst__arena_destroy(&arena);
    return status == HDST_OK ? closed : status;
}

// --- On a device ---

hdst_status hdst__aggregate_run_on_device(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    hdst_status status = input->cache ? hdst__aggregate_device_run(aggregate->on_device, input, &aggregate->stats, &aggregate->device_did, error)
        : hdst__aggregate_run_registered(aggregate, input, error);
    return status == HDST_OK && aggregate->device_did && aggregate->keeps_state ? hdst__aggregate_read_state(aggregate, error) : status;
}
