// SPDX-License-Identifier: Apache-2.0
// The shape of a plan's GPU kernel (engine/stage/launch_shape.h).
#include "engine/stage/launch_shape.h"
#include "engine/stage/launch_fixed_point.h"
#include "base/clock.h"
#include "base/costs_gpu.h"
#include "engine/device/program_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// --- Files ---

// Slices of a few million records and of a hundred million have different best shapes.
static hdst__hash key_of(const hdst__launch_plan *plan)
{
    hdst__hash key = hdst__device_program_key(plan->device, plan->kernel);
    uint8_t size = 0;
    for (uint64_t records = plan->reader.records; records > 1; records /= 4) size++;
    hdst__hash_add(&key, &size, sizeof size);
    return key;
}

#define NOTE_FORMAT "hdst shape 1\ngroup %" PRIu32 "\nrecords %" PRIu32 "\nunits %" PRIu32 "\nround %u\nseconds_per_record %.17g\nby_rule %.17g\n"
#define NOTE_SCAN "hdst shape 1 group %" SCNu32 " records %" SCNu32 " units %" SCNu32 " round %u seconds_per_record %lf by_rule %lf"

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

static bool can_be(const hdst__tuning_shape *shape, const hdst__tuning_shape *least, const hdst__tuning_shape *most)
{
    return is_power_of_two(shape->group) && shape->group >= least->group && shape->group <= most->group && shape->records >= least->records &&
        shape->records <= most->records && shape->units >= least->units && shape->units <= most->units;
}

static bool parse(const char *text, hdst__plan_tuning *t, hdst__tuning_shape *shape, unsigned *round)
{
    return sscanf(text, NOTE_SCAN, &shape->group, &shape->records, &shape->units, round, &t->seconds, &t->rule_seconds) == 6 && *round <= HDST__TUNING_DONE &&
        t->seconds >= 0 && t->rule_seconds >= 0;
}

// False when there is no file that is of use.
static bool read_kept(const hdst__launch_plan *plan, hdst__plan_tuning *t, const hdst__tuning_shape *least, const hdst__tuning_shape *most,
                      hdst__tuning_shape *shape,
                      unsigned *round)
{
    hdst__device *device = plan->device;
    size_t length;
    char text[512], *bytes = hdst__program_cache_read_note(device->cache, &t->key, &length);
    if (!bytes) return false;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), bytes);
    hdst__free(device->runtime->allocator, bytes);
    if (parse(text, t, shape, round) && can_be(shape, least, most)) return true;
    t->seconds = t->rule_seconds = 0;
    hdst__log_write(&device->runtime->log, HDST__LOG_DEBUG, "the kernel cache names a shape for %s that cannot be, ignored", plan->kernel->name);
    return false;
}

static void keep(const hdst__launch_plan *plan)
{
    const hdst__plan_tuning *t = plan->tuning;
    const hdst__tuning_shape *shape = &t->search.tries[t->search.best].shape;
    char text[512];
    snprintf(text, sizeof text, NOTE_FORMAT, shape->group, shape->records, shape->units, (unsigned)t->search.round, t->seconds, t->rule_seconds);
    hdst__program_cache_write_note(plan->device->cache, &t->key, text);
}

// --- Shapes and kernels ---

static hdst__tuning_shape shape_of(const hdst__launch_plan *plan)
{
    const uint32_t lanes = plan->device->info->compute_units * plan->kernel->local_size;
    return (hdst__tuning_shape){plan->kernel->shape.group, plan->kernel->shape.records, plan->items / lanes};
}

static bool same_source(const hdst__tuning_shape *a, const hdst__tuning_shape *b) { return a->group == b->group && a->records == b->records; }

static uint32_t items_of(const hdst__launch_plan *plan, const hdst__tuning_shape *shape)
{
    return plan->device->info->compute_units * shape->units * shape->group;
}

// The kernel in another shape; NULL when that is not to be had, or would not fit the tables there are.
static const hdst__kernel *make_kernel(hdst__launch_plan *plan, const hdst__tuning_shape *shape)
{
    const hdst__kernel *kernel = hdst__plan_kernel_of_shape(plan, &(hdst__gpu_shape){.group = shape->group, .records = shape->records});
    if (!kernel || kernel->shape.group != shape->group || kernel->shape.records != shape->records) return NULL;
    if (kernel->product_items != plan->kernel->product_items || kernel->factor_bytes != plan->kernel->factor_bytes) return NULL;
    if (kernel->merges != plan->kernel->merges || kernel->group_tables != plan->kernel->group_tables) return NULL;
    if (plan->tables && kernel->tables && hdst__tables_device_words(kernel->tables, plan->rows) != hdst__tables_device_words(plan->tables,
        plan->rows)) return NULL;
    return kernel;
}

static void take(hdst__launch_plan *plan, const hdst__kernel *kernel, const hdst__tuning_shape *shape)
{
    hdst__plan_tuning *t = plan->tuning;
    plan->kernel = plan->code.kernel = kernel;
    plan->items = plan->code.items = items_of(plan, shape);
    snprintf(t->why, sizeof t->why, "%" PRIu32 " work-groups per compute unit: measured", shape->units);
    plan->items_why = t->why;
}

static bool is_tunable(const hdst__launch_plan *plan)
{
    if (!plan->kernel || plan->device->facts.target != HDST__TARGET_GPU || !plan->kernel->shape.group || plan->kernel->tuple_kernel_count ||
        plan->code.fold || plan->kernel->text_constants) return false;      // each shape's kernel would have its own
    if (hdst__plan_writes_rows(plan)) return false;         // in tiles of one size
    const uint32_t lanes = plan->device->info->compute_units * plan->kernel->local_size;
    // else memory decided how many groups there are
    return plan->device->options->tuning != HDST__TUNING_OFF && plan->items >= lanes && plan->items % lanes == 0;
}

// Work-groups with tables of their own in device memory: never more of them than there are tables.
static bool owns_tables(const hdst__launch_plan *plan) { return plan->kernel->merges && !plan->kernel->group_tables; }

// Of a slice whose time is worth comparing: a tenth of a millisecond or more on a large GPU.
static uint64_t least_records(const hdst__launch_plan *plan)
{
    const uint64_t size = plan->reader.record->size, most = plan->device->limits->tuning_least;
    uint64_t records = size ? HDST__GPU_TUNING_BYTES / size : most;
    if (records < HDST__GPU_TUNING_FEWEST) records = HDST__GPU_TUNING_FEWEST;
    return records < most ? records : most;
}

void hdst__plan_tuning_begin(hdst__launch_plan *plan)
{
    if (!is_tunable(plan)) return;
    const hdst__limits *limits = plan->device->limits;
    const uint32_t max_group = plan->device->facts.max_group;
    const uint32_t most_group = max_group && max_group < HDST__GPU_TRIED_MOST_GROUP ? max_group : HDST__GPU_TRIED_MOST_GROUP;
    const uint32_t most_records = plan->func->emits ? 1 : HDST__GPU_TRIED_MOST_RECORDS;
    hdst__tuning_shape shape = shape_of(plan), kept;
    const hdst__tuning_shape least = {owns_tables(plan) ? shape.group : HDST__GPU_TRIED_LEAST_GROUP, 1, 1};
    hdst__tuning_shape most = {most_group, most_records, owns_tables(plan) ? shape.units : HDST__GPU_TUNING_MOST_UNITS};
    hdst__plan_tuning *t = HDST__NEW(&plan->arena, hdst__plan_tuning);
    unsigned round = HDST__TUNING_UNITS;
    const hdst__kernel *kernel = plan->kernel;
    plan->tuning = t;
    t->key = key_of(plan);
    if (read_kept(plan, t, &least, &most, &kept, &round)) {
        if (!same_source(&shape, &kept)) kernel = make_kernel(plan, &kept);
        t->was_kept = kernel != NULL;
        if (kernel) take(plan, kernel, &kept);
        if (kernel) shape = kept;
        else round = HDST__TUNING_UNITS;
    }
    if (owns_tables(plan)) most.units = shape.units;
    hdst__tuning_start(&t->search, shape, (hdst__tuning_round)round, least, most, least_records(plan));
    t->search.clock = limits->tuning_clock;
    t->search.clock_user = limits->tuning_clock_user;
    t->kernel[0] = plan->kernel;
}

static void unload(hdst__launch_plan *plan, uint32_t i)
{
    hdst__plan_tuning *t = plan->tuning;
    if (t->program[i] && t->program[i] != plan->program) plan->device->ops->unload(plan->device, t->program[i]);
    t->program[i] = NULL;
}

void hdst__plan_tuning_end(hdst__launch_plan *plan)
{
    for (uint32_t i = 0; plan->tuning && i < HDST__GPU_TUNING_TRIES; i++) unload(plan, i);
}

uint64_t hdst__plan_tuning_places(const hdst__launch_plan *plan, uint64_t words)
{
    const hdst__plan_tuning *t = plan->tuning;
    for (uint32_t i = 0; t && i < t->search.count; i++) {
        const uint32_t units = plan->device->info->compute_units, items = items_of(plan, &t->search.tries[i].shape);
        const uint64_t needed = t->program[i] ? hdst__kernel_places(t->kernel[i], units, items, plan->slice_most) : 0;
        if (needed > words) words = needed;
    }
    return words;
}

// --- Runs ---

static uint32_t to_compile(const hdst__plan_tuning *t)
{
    uint32_t kernels = 0;
    for (uint32_t i = t->search.first; i < t->search.count; i++)
        kernels += !t->program[i] && !t->search.tries[i].out && !same_source(&t->search.tries[i].shape, &t->search.tries[t->search.best].shape);
    return kernels;
}

static bool pays(const hdst__launch_plan *plan)
{
    const hdst__plan_tuning *t = plan->tuning;
    const uint32_t kernels = to_compile(t);
    return kernels == 0 || plan->device->options->tuning == HDST__TUNING_FULL ||
        t->busy_seconds >= HDST__GPU_COMPILE_SHARE * (t->compile_seconds + kernels * HDST__GPU_COMPILE_SECONDS);
}

static bool load(hdst__launch_plan *plan, uint32_t i)
{
    hdst__plan_tuning *t = plan->tuning;
    const hdst__tuning_shape *shape = &t->search.tries[i].shape;
    const uint32_t best = t->search.best;
    hdst_error why = HDST_ERROR_INIT;
    t->kernel[i] = same_source(shape, &t->search.tries[best].shape) ? t->kernel[best] : make_kernel(plan, shape);
    if (!t->kernel[i]) return false;
    hdst__code code = plan->code;
    code.kernel = t->kernel[i];
    code.items = items_of(plan, shape);
    if (plan->device->ops->load(plan->device, &code, &t->program[i], &why) == HDST_OK) return true;
    hdst__log_write(&plan->device->runtime->log, HDST__LOG_DEBUG, "%s with %" PRIu32 " work-items a group and %" PRIu32 " records a lane: %s",
                    t->kernel[i]->name, shape->group,
                    shape->records, why.message);
    return false;
}

hdst__tuning *hdst__plan_tuning_before(hdst__launch_plan *plan)
{
    hdst__plan_tuning *t = plan->tuning;
    if (!t || t->search.round == HDST__TUNING_DONE || plan->reader.records < t->search.least_records || !pays(plan)) return NULL;
    const bool compiles = to_compile(t) > 0;
    const double start = hdst__now();
    hdst__tuning_resume(&t->search);
    t->program[t->search.best] = plan->program;
    for (uint32_t i = t->search.first; i < t->search.count; i++)
        if (!t->program[i] && !t->search.tries[i].out && !load(plan, i)) hdst__tuning_drop(&t->search, i);
    if (compiles) t->compile_seconds += hdst__now() - start;
    return &t->search;
}

static void note_times(hdst__plan_tuning *t, bool first)
{
    const hdst__tuning *search = &t->search;
    t->seconds = search->tries[search->best].seconds;
    if (first && !t->was_kept) t->rule_seconds = search->tries[0].seconds;
}

void hdst__plan_tuning_after(hdst__launch_plan *plan, double busy_seconds)
{
    hdst__plan_tuning *t = plan->tuning;
    if (!t) return;
    t->busy_seconds += busy_seconds;
    if (t->search.round == HDST__TUNING_DONE || !t->program[t->search.best] || !hdst__tuning_is_measured(&t->search)) return;
    const bool first = t->search.best == 0 && t->rule_seconds == 0;
    for (uint32_t i = 0; i < t->search.count; i++)      // the next process may try them again, or take one
        if (t->program[i] && t->search.tries[i].samples) plan->device->ops->proven(plan->device, t->program[i]);
    hdst__tuning_advance(&t->search);
    note_times(t, first);
    const uint32_t best = t->search.best;
    hdst__program *before = plan->program;
    plan->program = t->program[best];
    if (before != plan->program) plan->device->ops->unload(plan->device, before);
    for (uint32_t i = 0; i < HDST__GPU_TUNING_TRIES; i++) {
        if (t->program[i] == before && before != plan->program) t->program[i] = NULL;
        if (i != best) unload(plan, i);
    }
    take(plan, t->kernel[best], &t->search.tries[best].shape);
    plan->proven = false;           // its program may be new, and then is to be kept too
    keep(plan);
}

// --- For people ---

static void explain_shape(const hdst__tuning_shape *shape, hdst__buffer *out)
{
    hdst__buffer_printf(out, "%" PRIu32 " work-items a group, %" PRIu32 " record%s a lane, %" PRIu32 " groups per compute unit", shape->group, shape->records,
                        shape->records > 1 ? "s" : "", shape->units);
}

void hdst__plan_tuning_explain(const hdst__launch_plan *plan, hdst__buffer *out)
{
    const hdst__plan_tuning *t = plan->tuning;
    if (!t) return;
    const hdst__tuning *search = &t->search;
    hdst__buffer_puts(out, "  shape: ");
    explain_shape(&search->tries[search->best].shape, out);
    if (t->seconds > 0) hdst__buffer_printf(out, ": %.4f ns a record", t->seconds * 1e9);
    if (t->seconds > 0 && t->rule_seconds > 0) hdst__buffer_printf(out, " (%.4f with the shape that rules gave)", t->rule_seconds * 1e9);
    hdst__buffer_puts(out, t->was_kept && search->best == 0 ? ", from the kernel cache" : t->seconds > 0 ? ", measured in this process" : ", by rule");
    hdst__buffer_puts(out, search->round == HDST__TUNING_DONE ? "\n" : "; more will be tried while it runs\n");
    for (uint32_t i = 0; i < search->count; i++) {
        const hdst__tuning_try *try = &search->tries[i];
        if (i == search->best || (try->seconds == 0 && !try->out)) continue;
        hdst__buffer_puts(out, "    tried: ");
        explain_shape(&try->shape, out);
        if (try->seconds > 0) hdst__buffer_printf(out, ": %.4f ns a record\n", try->seconds * 1e9);
        else hdst__buffer_puts(out, try->failed ? ": cannot run\n" : ": far slower\n");
    }
}
