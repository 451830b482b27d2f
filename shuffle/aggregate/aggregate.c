// SPDX-License-Identifier: Apache-2.0
// Reductions by key (shuffle/aggregate/aggregate.h): the object, where a run takes place, what it tells of itself.
#include "shuffle/aggregate/aggregate_device.h"
#include "shuffle/aggregate/aggregate_once.h"
#include "shuffle/aggregate/aggregate_slices.h"
#include "shuffle/aggregate/aggregate_spread.h"
#include "shuffle/aggregate/aggregate_state.h"
#include "shuffle/aggregate/aggregate_stream.h"

#include "engine/common/run_stats.h"
#include "base/clock.h"

#include <inttypes.h>

// --- The object ---

hdst__aggregate *hdst__aggregate_create(hdst__engine *engine, const hdst__aggregate_spec *spec)
{
    jmp_buf out_of_memory;
    hdst__aggregate *aggregate = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_BY_KEY), sizeof *aggregate);
    if (!aggregate) return NULL;
    aggregate->engine = engine;
    aggregate->container = spec->container;
    hdst__arena_init(&aggregate->arena, hdst__engine_owned(engine, HDST__OWNER_BY_KEY), &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__aggregate_destroy(aggregate);
        return NULL;
    }
    aggregate->unchecked = spec->unchecked;
    aggregate->layout = spec->rows ? hdst__aggregation_layout_make_rows(&aggregate->arena, spec->record, *spec->key_leaves, spec->laws,
                                                                        spec->rows, spec->row_count)
                               : hdst__aggregation_layout_make(&aggregate->arena, spec->record, spec->key_leaves, spec->key_count, spec->laws);
    aggregate->arena.out_of_memory = NULL;
    aggregate->on_device = hdst__aggregate_device_create(engine, aggregate->layout);
    if (aggregate->on_device) return aggregate;
    hdst__aggregate_destroy(aggregate);
    return NULL;
}

void hdst__aggregate_forget(hdst__aggregate *aggregate)
{
    hdst__engine_lock(aggregate->engine);
    hdst__aggregate_drop(aggregate);
    for (uint32_t i = 0; i < aggregate->spread.parts; i++)
        if (aggregate->spread.part[i]) hdst__aggregate_free_kept(aggregate->spread.part[i]);
    hdst__aggregate_free_kept(aggregate);
    hdst__engine_unlock(aggregate->engine);
}

void hdst__aggregate_destroy(hdst__aggregate *aggregate)
{
    if (!aggregate) return;
    hdst__engine_lock(aggregate->engine);
    hdst__aggregate_forget_parts(aggregate);
    hdst__aggregate_release(aggregate);
    hdst__engine_unlock(aggregate->engine);
    hdst__free(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate);
}

bool hdst__aggregate_stray(const hdst__aggregate *aggregate, uint64_t *record, uint64_t *key)
{
    *record = aggregate->stray;
    *key = aggregate->stray_key;
    return aggregate->stray != UINT64_MAX && !hdst__engine_settings(aggregate->engine)->skip_failed;
}

const hdst__run_stats *hdst__aggregate_stats(const hdst__aggregate *aggregate) { return &aggregate->stats; }

void hdst__aggregate_keys_below(hdst__aggregate *aggregate, uint64_t bound) { hdst__aggregate_device_keys_below(aggregate->on_device, bound); }

bool hdst__aggregate_has_rows(const hdst__aggregate *aggregate)
{
    return aggregate->device_did && hdst__aggregate_device_did_rows(aggregate->on_device);
}

// What is unfinished is the host's.
hdst__dataset_cache *hdst__aggregate_resident(hdst__aggregate *aggregate)
{
    return aggregate->device_did && !aggregate->keeps_state ? hdst__aggregate_device_rows(aggregate->on_device) : NULL;
}

// --- Running ---

static bool may_on_device(const hdst__aggregate *aggregate)
{
    return !aggregate->layout->rows && aggregate->container == HDST__CONTAINER_AUTO && hdst__engine_settings(aggregate->engine)->hpr >= HDST__HPR_DEVICE;
}

bool hdst__aggregate_wants_whole(hdst__aggregate *aggregate, uint64_t records)
{
    if (!may_on_device(aggregate)) return false;
    hdst__engine_lock(aggregate->engine);
    const bool suits = hdst__aggregate_device_suits(aggregate->on_device, records);
    hdst__engine_unlock(aggregate->engine);
    return suits;
}

static hdst_status run_alone(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    hdst_status status = may_on_device(aggregate) ? hdst__aggregate_run_on_device(aggregate, input, error) : HDST_OK;
    return status == HDST_OK && !aggregate->device_did ? hdst__aggregate_run_on_host(aggregate, input, error) : status;
}

static void give_result(const hdst__aggregate *aggregate, const void **rows, uint64_t *count)
{
    hdst__dataset_cache *resident = hdst__aggregate_resident((hdst__aggregate *)aggregate);
    *rows = resident ? NULL : aggregate->spread_did ? aggregate->finished : aggregate->rows;
    *count = resident ? hdst__dataset_cache_own_reader(resident)->records : aggregate->row_count;
}

hdst_status hdst__aggregate_run(hdst__aggregate *aggregate, const hdst__aggregate_input *input, const void **rows, uint64_t *count, hdst_error *error)
{
    const double start = hdst__now();
    hdst_error own;
    if (!error) error = &own;
    hdst__engine_lock(aggregate->engine);
    hdst__aggregate_begin_anew(aggregate);
    hdst_status status = may_on_device(aggregate) ? hdst__aggregate_run_spread(aggregate, input, error) : HDST_OK;
    if (status == HDST_OK && !aggregate->spread_did) status = run_alone(aggregate, input, error);
    hdst__engine_unlock(aggregate->engine);
    aggregate->stats.run_seconds = aggregate->stats.total_seconds = hdst__now() - start;
    *rows = NULL;
    *count = 0;
    if (status == HDST_OK) give_result(aggregate, rows, count);
    return status == HDST_OK && aggregate->keeps_state && !aggregate->spread_did ? hdst__aggregate_finish_state(aggregate, rows, error) : status;
}

// --- Explain ---

static void explain_levels(const hdst__aggregate *aggregate, hdst__buffer *out)
{
    for (uint32_t i = 0; i < aggregate->stats.level_count; i++)
        hdst__buffer_printf(out, "    %s: %" PRIu64 " in, %" PRIu64 " out\n", aggregate->stats.level[i].name, aggregate->stats.level[i].in,
                            aggregate->stats.level[i].out);
}

void hdst__aggregate_explain(const hdst__aggregate *aggregate, hdst__buffer *out)
{
    const hdst__aggregate_choice *c = &aggregate->choice;
    if (hdst__engine_settings(aggregate->engine)->hpr < HDST__HPR_DEVICE)
        hdst__buffer_printf(out, "    hpr %s: %s; what reduces the parts counts as the node's step\n",
                            hdst__hpr_name(hdst__engine_settings(aggregate->engine)->hpr),
                            hdst__engine_settings(aggregate->engine)->hpr == HDST__HPR_NONE ? "tuples pass unreduced to the node's step"
                                : "only threads combine before the node's step");
    const char *why_not = hdst__aggregate_device_why_not(aggregate->on_device);
    if (aggregate->spread_did) {
        hdst__aggregate_explain_spread(aggregate, out);
        explain_levels(aggregate, out);
        return;
    }
    if (aggregate->device_did) {
        hdst__aggregate_device_explain(aggregate->on_device, out);
        if (aggregate->copied) hdst__buffer_puts(out, "    records: copied to the device for this run, as they lie in registered memory\n");
        explain_levels(aggregate, out);
        return;
    }
    if (*why_not && !aggregate->layout->rows) hdst__buffer_printf(out, "    not on the device: %s\n", why_not);
    if (!aggregate->ran && aggregate->layout->rows) {
        hdst__buffer_puts(out, "    container: in host memory, partitions by number of row; the first records of a run choose the rest\n");
        return;
    }
    if (!aggregate->ran) {
        hdst__buffer_puts(out, "    container: in host memory, chosen by the next run from its first records\n");
        return;
    }
    hdst__buffer_printf(out, "    container: %s\n", c->why);
    if (aggregate->layout->rows) hdst__buffer_printf(out, "    rows: %" PRIu64 "\n", aggregate->layout->row_count);
    else hdst__buffer_printf(out, "    keys: %" PRIu64 " (about %.0f expected from %" PRIu64 " records)\n", aggregate->keys, c->distinct, c->sampled);
    explain_levels(aggregate, out);
    if (aggregate->in_kernels)
        hdst__buffer_printf(out, "    in tables of the device's cores: %" PRIu64 " records to %" PRIu64 " rows\n", aggregate->in_kernels,
                            aggregate->kernel_rows);
    if (aggregate->slices) hdst__aggregate_slices_explain(aggregate->slices, out);
    if (aggregate->flushes) hdst__buffer_printf(out, "    full tables emptied to the next level: %" PRIu64 "\n", aggregate->flushes);
    if (aggregate->crowded_blocks)
        hdst__buffer_printf(out, "    tables of threads given up, as keys crowd in few of their places: %" PRIu64 "\n",
                            aggregate->crowded_blocks);
    if (aggregate->crowded_partitions)
        hdst__buffer_printf(out, "    parts in sorted runs, as keys crowd in few places of their tables: %" PRIu64 "\n",
                            aggregate->crowded_partitions);
    if (aggregate->pieces)
        hdst__buffer_printf(out,
                            "    pieces of parts that the memory budget has no room for: %" PRIu64 ", %" PRIu64 " of them ranges of the keys of one hash\n",
                            aggregate->pieces, aggregate->range_count);
    if (aggregate->combined_in)
        hdst__buffer_printf(out, "    combined where they piled up: %" PRIu64 " tuples and rows to %" PRIu64 "\n", aggregate->combined_in,
                            aggregate->combined_out);
    char bytes[24];
    if (aggregate->spilled) hdst__buffer_printf(out, "    over the memory budget, through a temporary file: %s\n", hdst__bytes_text(aggregate->spilled, bytes));
    if (aggregate->mapped)
        hdst__buffer_printf(out, "    result: over the memory budget, in a temporary file: %s\n",
                            hdst__bytes_text(aggregate->file.bytes, bytes));
    static const char *const held[] = {NULL, "one fixed-point word", "two fixed-point words", "superaccumulators"};
    for (int t = HDST__CLASS_ONE_WORD; t <= HDST__CLASS_SUPERACCUMULATOR; t++)
        if (c->class_count[t]) hdst__buffer_printf(out, "    sums of floats in %s: %u\n", held[t], (unsigned)c->class_count[t]);
}
