// SPDX-License-Identifier: Apache-2.0
// The interpreter as a device: every command is done when its function returns, all memory is the host's.
#include "codegen/interp/interp.h"
#include "base/budget.h"
#include "engine/device/backend.h"
#include "engine/device/callback.h"
#include "partition/power_table.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct interp_device {
    hdst__device base;
    double seconds;                     // of the last launch
} interp_device;

struct hdst__program {
    hdst__code code;
    hdst__interp_table *broadcast;      // by param: filled for each launch
    const void **buffers;               // of the input: filled for each launch
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void destroy(hdst__device *device)
{
    hdst__power_table_destroy(device->powers);
    hdst__free(device->runtime->allocator, device);
}

static hdst_status alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **out,
                         hdst_error *error)
{
    const hdst__allocator *allocator = device->runtime->allocator;
    hdst__memory *memory = hdst__alloc_zero(allocator, sizeof *memory);
    if (!memory) return hdst__error_memory(error, what);
    memory->kind = kind;
    memory->owner = owner;
    memory->bytes = bytes;
    hdst_status status = hdst__device_host_memory(device, memory, what, error);
    if (status != HDST_OK) {
        hdst__free(allocator, memory);
        return status;
    }
    hdst__budget_reserve(&device->budget, owner, hdst__page_round(bytes));     // which has no limit: so that it is told
    *out = memory;
    return HDST_OK;
}

static void release(hdst__device *device, hdst__memory *memory)
{
    if (!memory) return;
    hdst__budget_release(&device->budget, memory->owner, hdst__page_round(memory->bytes));
    hdst__device_free_host_memory(device, memory);
    hdst__free(device->runtime->allocator, memory);
}

static hdst_status hand_over(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    (void)device, (void)memory, (void)error;
    return HDST_OK;
}

static hdst_status write(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    (void)device, (void)wait, (void)error;
    if (count) memcpy((char *)memory->host + offset, bytes, count);
    return HDST_OK;
}

static hdst_status read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    (void)device, (void)wait, (void)error;
    if (count) memcpy(bytes, (const char *)memory->host + offset, count);
    return HDST_OK;
}

static hdst_status sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *out, hdst_error *error)
{
    (void)device, (void)error;
    *out = (hdst__memory){.kind = of->kind, .bytes = bytes, .host = (char *)of->host + offset};
    return HDST_OK;
}

static void release_sub_buffer(hdst__device *device, hdst__memory *out)
{
    (void)device;
    *out = (hdst__memory){0};
}

static hdst_status copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t count,
                        hdst_error *error)
{
    (void)device, (void)error;
    if (count) memcpy((char *)to->host + to_offset, (const char *)from->host + from_offset, count);
    return HDST_OK;
}

static hdst_status fill(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error)
{
    (void)device, (void)error;
    uint64_t *word = memory->host;
    for (uint64_t i = 0; i < words; i++) word[i] = pattern;
    return HDST_OK;
}

static void unload(hdst__device *device, hdst__program *program)
{
    if (!program) return;
    hdst__free(device->runtime->allocator, program->broadcast);
    hdst__free(device->runtime->allocator, program->buffers);
    hdst__free(device->runtime->allocator, program);
}

static hdst_status load(hdst__device *device, const hdst__code *code, hdst__program **out, hdst_error *error)
{
    const hdst__allocator *allocator = device->runtime->allocator;
    hdst__program *program = hdst__alloc_zero(allocator, sizeof *program);
    if (!program) return hdst__error_memory(error, "a program");
    program->code = *code;
    size_t leaves = code->func->params[0].record->leaf_count;
    program->broadcast = hdst__alloc_zero(allocator, code->func->param_count * sizeof *program->broadcast);
    program->buffers = hdst__alloc_zero(allocator, (leaves + 1) * sizeof *program->buffers);
    if (!program->broadcast || !program->buffers) {
        unload(device, program);
        return hdst__error_memory(error, "a program");
    }
    *out = program;
    return HDST_OK;
}

static void note_failure(hdst__memory *error_word, const hdst__interp_run *run)
{
    if (run->failed_record == UINT64_MAX || !error_word) return;
    uint64_t *word = error_word->host, found = run->failed_record << 16 | run->failed_check;
    if (found < *word) *word = found;
}

enum { COUNTED_TIMES = 4 };     // the room: whoever is told of more cuts the slice into so many pieces, or a few more

// Counts first where the output might not fit: what accumulates must not do so twice. places[0] takes the number of output records.
static hdst_status run_emitting(hdst__interp_run *run, uint64_t *places, bool fits, bool divides, hdst_error *error)
{
    places[0] = 0;
    const uint64_t bound = hdst__ir_emit_bound(run->func);
    uint64_t most;
    if (!fits && (__builtin_mul_overflow(bound, run->count, &most) || most > run->output_room)) {
        hdst__interp_run count = *run;
        if (divides && run->output_room < UINT64_MAX / COUNTED_TIMES) count.most_emitted = (run->count > 1 ? COUNTED_TIMES : 1) * run->output_room + 1;
        count.output = NULL;
        count.device_table = NULL;
        hdst_status status = hdst__interpret(&count, error);
        if (status != HDST_OK) return status;
        places[0] = count.emitted;
        run->failed_record = count.failed_record;
        run->failed_check = count.failed_check;
        if (count.failed_record != UINT64_MAX || count.emitted > run->output_room) return HDST_OK;
    }
    hdst_status status = hdst__interpret(run, error);
    places[0] = run->emitted;
    return status;
}

static hdst_status interpret(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    const ir_func *func = program->code.func;
    for (uint32_t i = 0; i < at->storage->buffers; i++) program->buffers[i] = at->input[i]->host;
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_BROADCAST_TABLE)
            program->broadcast[i] = (hdst__interp_table){.data = at->broadcast[i]->host, .rows = at->rows[i]};
    hdst__interp_run run = {
        .func = func, .allocator = device->runtime->allocator, .cancel = device->runtime->cancel,
        .input = {at->storage}, .input_buffers = {program->buffers}, .input_skip = {at->skip},
        .first = at->first, .count = at->count,
        .broadcast = program->broadcast, .accum_rows = at->rows,
        .tables = program->code.tables, .device_table = at->table ? at->table->host : NULL,
        .output = at->output ? at->output->host : NULL, .output_room = at->room,
    };
    hdst_status status = program->code.fold ? hdst__interpret_fold_level(&run, error)
                         : func->emits      ? run_emitting(&run, at->places->host, at->fits, at->divides, error)
                                            : hdst__interpret(&run, error);
    if (status == HDST_OK) note_failure(at->error, &run);
    return status;
}

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    double start = now();
    hdst__timeline *timeline = device->runtime->timeline;
    hdst_status status = HDST_OK;
    if (program->code.callback) {
        hdst__callback_slice slice = hdst__callback_slice_of(program->code.func, at);
        hdst__callback_run(program->code.callback, &slice);
    } else {
        status = interpret(device, program, at, error);
    }
    const double end = now();
    ((interp_device *)device)->seconds = end - start;
    if (timeline)
        hdst__timeline_add(timeline, &(hdst__timeline_span){.process = hdst__device_process(device), .track = HDST__TRACK_COMPUTE,
            .name = program->code.func->name, .function = device->function, .begin = start, .end = end, .queued = start, .submitted = start,
            .records = at->count});
    return status;
}

static hdst_status mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    (void)error;
    ticket->seconds = ((interp_device *)device)->seconds;
    if (ticket->notify) ticket->done(ticket->user);
    return HDST_OK;
}

static hdst_status settle(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    (void)device, (void)ticket, (void)error;
    return HDST_OK;
}

static void finish(hdst__device *device)
{
    (void)device;
}

static hdst_status wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error)
{
    (void)device, (void)error;
    *memory = (hdst__memory){.kind = HDST__MEMORY_SHARED, .bytes = bytes, .host = host};
    return HDST_OK;
}

static hdst_status unwrap(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    (void)device, (void)error;
    *memory = (hdst__memory){0};
    return HDST_OK;
}

static bool proven(hdst__device *device, hdst__program *program)
{
    (void)device, (void)program;
    return true;
}

static const hdst__device_ops ops = {
    .destroy = destroy, .alloc = alloc, .release = release, .to_host = hand_over, .to_device = hand_over, .write = write, .read = read,
        .sub_buffer = sub_buffer,
        .release_sub_buffer = release_sub_buffer, .wrap = wrap, .unwrap = unwrap, .copy = copy, .fill = fill,
    .load = load, .unload = unload, .launch = launch, .mark = mark, .settle = settle, .finish = finish, .proven = proven,
};

static hdst_status open_device(const hdst__device_setup *setup, hdst__device **out, hdst_error *error)
{
    interp_device *made = hdst__alloc_zero(setup->runtime->allocator, sizeof *made);
    if (!made) return hdst__error_memory(error, "a device");
    hdst__device *device = &made->base;
    *device = (hdst__device){
        .ops = &ops, .runtime = setup->runtime, .options = setup->options, .limits = setup->limits, .info = setup->info, .unified = true,
            .has_sub_buffers = true,
    };
    device->facts = (hdst__target_facts){.target = HDST__TARGET_INTERP, .max_group = 1, .compute_units = 1, .correctly_rounded = true,
                                         .has_double = true, .has_int64_atomics = true};
    hdst__budget_init(&device->budget, "interpreter memory", "--memory", UINT64_MAX);
    hdst__device_name_tracks(device);
    *out = device;
    return HDST_OK;
}

static hdst_status find(hdst__device_list *list, void **own, hdst_error *error)
{
    (void)own;
    hdst__device_info *info = hdst__device_list_add(list);
    if (!info) return hdst__error_memory(error, "the list of devices");
    info->class_ = HDST__DEVICE_INTERP;
    snprintf(info->name, sizeof info->name, "interpreter");
    snprintf(info->platform, sizeof info->platform, "hdst");
    info->compute_units = info->max_group = 1;
    info->memory_bytes = info->max_alloc_bytes = hdst__host_memory_limit();
    info->has_double = info->has_int64_atomics = info->correctly_rounded = info->usable = true;
    return HDST_OK;
}

const hdst__device_backend hdst__device_interp = {.name = "interpreter", .find = find, .open = open_device};
