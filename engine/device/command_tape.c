// SPDX-License-Identifier: Apache-2.0
// The commands of a turn, noted and repeated (engine/device/command_tape.h). Noting stands in the place of the device's functions, so that nobody else
// need know of it: each does what it did, and writes down what that was.
#include "engine/device/command_tape_private.h"

#include "base/costs_gpu.h"
#include "engine/device/give_up.h"

#include <string.h>

// --- Memory ---

void hdst__tape_refuse(hdst__tape *tape, const char *why)
{
    if (!tape->why) tape->why = why;
}

const char *hdst__tape_refusal(const hdst__tape *tape) { return tape->why; }

void hdst__tape_decide(hdst__tape *tape, bool decides) { tape->decides = decides; }

void *hdst__tape_take(hdst__tape *tape, size_t bytes)
{
    hdst__tape_block *made = hdst__alloc_zero(tape->device->runtime->allocator, sizeof *made + bytes);
    if (!made) {
        hdst__tape_refuse(tape, "there was no memory to note them");
        return NULL;
    }
    made->next = tape->blocks;
    tape->blocks = made;
    return made->data;
}

// A copy that is the tape's; NULL of nothing, and where memory is out.
void *hdst__tape_keep(hdst__tape *tape, const void *from, size_t bytes)
{
    void *to = from && bytes ? hdst__tape_take(tape, bytes) : NULL;
    if (to) memcpy(to, from, bytes);
    return to;
}

static void forget(hdst__tape *tape)
{
    const hdst__allocator *allocator = tape->device->runtime->allocator;
    for (hdst__tape_part *p = tape->parts, *next; p; p = next) {
        next = p->next;
        if (p->held) tape->device->ops->release_sub_buffer(tape->device, &p->memory);
        hdst__free(allocator, p);
    }
    for (hdst__tape_block *b = tape->blocks, *next; b; b = next) {
        next = b->next;
        hdst__free(allocator, b);
    }
    tape->parts = NULL;
    tape->blocks = NULL;
    tape->command[1] = tape->command[2] = NULL;     // which are blocks
    tape->count = 0;
    tape->word_bytes = 0;
    tape->why = NULL;
}

hdst__tape *hdst__tape_create(hdst__device *device)
{
    hdst__tape *tape = hdst__alloc_zero(device->runtime->allocator, sizeof *tape);
    if (tape) tape->device = device;
    return tape;
}

void hdst__tape_destroy(hdst__tape *tape)
{
    if (!tape || hdst__given_up(tape->device)) return;      // whose driver may still read what was to be written
    forget(tape);
    hdst__free(tape->device->runtime->allocator, tape->command[0]);
    hdst__free(tape->device->runtime->allocator, tape);
}

// --- Noting ---

hdst__tape_part *hdst__tape_part_of(const hdst__tape *tape, const hdst__memory *memory)
{
    hdst__tape_part *found = memory && memory->object ? tape->parts : NULL;
    while (found && found->memory.object != memory->object) found = found->next;
    return found;
}

// A part's struct is its user's, and soon gone; others stay as long as their memory.
static const hdst__memory *hold(const hdst__tape *tape, const hdst__memory *memory)
{
    const hdst__tape_part *p = hdst__tape_part_of(tape, memory);
    return p ? &p->memory : memory;
}

static hdst__memory **hold_all(hdst__tape *tape, hdst__memory *const *memories, size_t count)
{
    hdst__memory **held = hdst__tape_keep(tape, memories, count * sizeof *held);
    for (size_t i = 0; held && i < count; i++) held[i] = (hdst__memory *)hold(tape, held[i]);
    return held;
}

enum { MOST_COMMANDS = 1 << 12 };       // whose uses are looked for among all others

static hdst__command *add(hdst__tape *tape, hdst__command_kind kind)
{
    const hdst__allocator *allocator = tape->device->runtime->allocator;
    if (tape->why) return NULL;         // it is of no use any more
    if (tape->count == MOST_COMMANDS) {
        hdst__tape_refuse(tape, "a turn has too many commands");
        return NULL;
    }
    if (tape->count == tape->capacity) {
        const size_t capacity = tape->capacity * 2 + 32;
        hdst__command *grown = hdst__realloc(allocator, tape->command[0], capacity * sizeof *grown);
        if (!grown) {
            hdst__tape_refuse(tape, "there was no memory to note them");
            return NULL;
        }
        tape->command[0] = grown;
        tape->capacity = capacity;
    }
    hdst__command *c = &tape->command[0][tape->count++];
    *c = (hdst__command){.kind = kind, .function = tape->device->function};
    return c;
}

static void hold_launch(hdst__tape *tape, hdst__launch *at)
{
    if ((at->rows && !at->param_count) || (at->finished && !at->accum_count)) hdst__tape_refuse(tape, "several devices share them");
    at->input = hold_all(tape, at->input, at->storage ? at->storage->buffers : 0);
    at->broadcast = hold_all(tape, at->broadcast, at->param_count);
    at->finished = hold_all(tape, at->finished, at->accum_count);
    at->rows = hdst__tape_keep(tape, at->rows, at->param_count * sizeof *at->rows);
    at->values = NULL;              // rows in the host's memory are for functions that run there
    at->output = (hdst__memory *)hold(tape, at->output);
    at->error = (hdst__memory *)hold(tape, at->error);
    at->table = (hdst__memory *)hold(tape, at->table);
}

static hdst_status note_kernel(hdst__device *device, hdst__command_kind kind, hdst__program *program, const hdst__launch *at, hdst_status status)
{
    hdst__command *c = status == HDST_OK ? add(device->tape, kind) : NULL;
    if (!c) return status;
    c->program = program;
    c->launch = *at;
    hold_launch(device->tape, &c->launch);
    return status;
}

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    return note_kernel(device, HDST__COMMAND_LAUNCH, program, at, device->tape->real->launch(device, program, at, error));
}

static hdst_status finish_table(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    return note_kernel(device, HDST__COMMAND_FINISH, program, at, device->tape->real->finish_table(device, program, at, error));
}

static hdst_status work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                        hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->work(device, program, args, count, groups, local, error);
    hdst__command *c = status == HDST_OK ? add(tape, HDST__COMMAND_WORK) : NULL;
    if (!c) return status;
    c->program = program;
    c->groups = groups;
    c->local = local;
    c->args = hdst__tape_keep(tape, args, count * sizeof *args);
    c->arg_count = c->args ? count : 0;
    for (size_t i = 0; i < c->arg_count; i++) c->args[i].memory = hold(tape, c->args[i].memory);
    return status;
}

static hdst_status copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t bytes,
                        hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->copy(device, to, to_offset, from, from_offset, bytes, error);
    hdst__command *c = status == HDST_OK ? add(tape, HDST__COMMAND_COPY) : NULL;
    if (!c) return status;
    c->to = hold(tape, to), c->to_offset = to_offset;
    c->from = hold(tape, from), c->from_offset = from_offset;
    c->bytes = bytes;
    return status;
}

static hdst_status fill(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->fill(device, memory, words, pattern, error);
    hdst__command *c = status == HDST_OK ? add(tape, HDST__COMMAND_FILL) : NULL;
    if (!c) return status;
    c->to = hold(tape, memory);
    c->bytes = words;
    c->pattern = pattern;
    return status;
}

static hdst_status write(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    if (count > HDST__GPU_SMALL_COPY_BYTES) hdst__tape_refuse(tape, "records or values go from the host to the device in each");
    hdst__command *c = count ? add(tape, HDST__COMMAND_WRITE) : NULL;
    if (c) {
        c->to = hold(tape, memory);
        c->to_offset = offset;
        c->bytes = count;
        c->data = hdst__tape_keep(tape, bytes, count);
    }
    return tape->real->write(device, memory, offset, bytes, count, wait, error);
}

// What a read gives is there when it has waited, or when the ticket of a mark behind it has ended.
static void answer(hdst__tape *tape, hdst__command *c)
{
    c->data = hdst__tape_keep(tape, c->host, c->bytes);
    c->answered = true;
}

static hdst_status read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    if (count > HDST__GPU_SMALL_COPY_BYTES) hdst__tape_refuse(tape, "results come to the host in each");
    hdst_status status = tape->real->read(device, memory, offset, bytes, count, wait, error);
    hdst__command *c = status == HDST_OK && count ? add(tape, HDST__COMMAND_READ) : NULL;
    if (!c) return status;
    c->from = hold(tape, memory);
    c->from_offset = offset;
    c->bytes = count;
    c->decides = tape->decides;
    c->host = bytes;
    if (wait) answer(tape, c);
    return status;
}

static hdst_status mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    for (size_t i = 0; i < tape->count; i++) {
        hdst__command *c = &tape->command[0][i];
        if (c->kind == HDST__COMMAND_READ && !c->answered && !c->ticket) c->ticket = ticket;
    }
    return tape->real->mark(device, ticket, error);
}

static hdst_status settle(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    const hdst_status status = tape->real->settle(device, ticket, error);
    for (size_t i = 0; i < tape->count && status == HDST_OK; i++) {
        hdst__command *c = &tape->command[0][i];
        if (c->kind == HDST__COMMAND_READ && !c->answered && c->ticket == ticket) answer(tape, c);
    }
    return status;
}

static hdst_status sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *made, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->sub_buffer(device, of, offset, bytes, made, error);
    if (status != HDST_OK || tape->why) return status;
    hdst__tape_part *p = hdst__alloc_zero(device->runtime->allocator, sizeof *p);
    if (!p) {
        hdst__tape_refuse(tape, "there was no memory to note them");
        return status;
    }
    *p = (hdst__tape_part){.next = tape->parts, .memory = *made, .of = of, .offset = offset, .bytes = bytes};
    tape->parts = p;
    return status;
}

static void release_sub_buffer(hdst__device *device, hdst__memory *memory)
{
    hdst__tape_part *p = hdst__tape_part_of(device->tape, memory);
    if (!p || p->held) {
        device->tape->real->release_sub_buffer(device, memory);
        return;
    }
    p->held = true;
    *memory = (hdst__memory){0};
}

// --- What no tape has ---

static const char memory_changes[] = "memory of the device is taken or given back in each";

static hdst_status alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                         hdst_error *error)
{
    hdst__tape_refuse(device->tape, memory_changes);
    return device->tape->real->alloc(device, kind, owner, bytes, what, memory, error);
}

static void release(hdst__device *device, hdst__memory *memory)
{
    if (memory) hdst__tape_refuse(device->tape, memory_changes);
    device->tape->real->release(device, memory);
}

static hdst_status wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error)
{
    hdst__tape_refuse(device->tape, "memory of the host is lent to the device in each");
    return device->tape->real->wrap(device, host, bytes, memory, error);
}

static hdst_status load(hdst__device *device, const hdst__code *code, hdst__program **program, hdst_error *error)
{
    hdst__tape_refuse(device->tape, "kernels are made in each");
    return device->tape->real->load(device, code, program, error);
}

static void unload(hdst__device *device, hdst__program *program)
{
    if (program) hdst__tape_refuse(device->tape, "kernels are made in each");
    device->tape->real->unload(device, program);
}

// --- Beginning and end ---

void hdst__tape_begin(hdst__tape *tape)
{
    hdst__device *device = tape->device;
    forget(tape);
    if (device->tape) hdst__tape_refuse(device->tape, "a loop runs in the body");
    tape->before = device->tape;
    tape->real = tape->before ? tape->before->real : device->ops;
    tape->noting = *tape->real;
    tape->noting.alloc = alloc, tape->noting.release = release, tape->noting.wrap = wrap, tape->noting.load = load, tape->noting.unload = unload;
    tape->noting.write = write, tape->noting.read = read, tape->noting.copy = copy, tape->noting.fill = fill;
    tape->noting.sub_buffer = sub_buffer, tape->noting.release_sub_buffer = release_sub_buffer;
    tape->noting.launch = launch, tape->noting.finish_table = finish_table, tape->noting.work = work;      // asked of GPUs only
    tape->noting.mark = mark, tape->noting.settle = settle;
    device->tape = tape;
    device->ops = &tape->noting;
}

// Of a device that was given up meanwhile the functions are others already.
void hdst__tape_end(hdst__tape *tape)
{
    hdst__device *device = tape->device;
    if (device->ops == &tape->noting) device->ops = tape->before ? &tape->before->noting : tape->real;
    else hdst__tape_refuse(tape, "the device was given up");
    device->tape = tape->before;
    for (size_t i = 0; i < tape->count; i++)
        if (tape->command[0][i].kind == HDST__COMMAND_READ && !tape->command[0][i].answered) hdst__tape_refuse(tape, "a copy to the host was not waited for");
    for (const hdst__tape_part *p = tape->parts; p; p = p->next)
        if (!p->held) hdst__tape_refuse(tape, memory_changes);
}

// --- Comparing ---

typedef struct tapes {
    const hdst__tape *a, *b;
} tapes;

static bool same_memory(const tapes *t, const hdst__memory *a, const hdst__memory *b)
{
    if (a == b) return true;
    const hdst__tape_part *p = a ? hdst__tape_part_of(t->a, a) : NULL, *q = b ? hdst__tape_part_of(t->b, b) : NULL;
    return p && q && p->of == q->of && p->offset == q->offset && p->bytes == q->bytes;
}

static bool same_list(const tapes *t, hdst__memory *const *a, hdst__memory *const *b, size_t count)
{
    bool same = !a == !b;
    for (size_t i = 0; a && b && i < count; i++) same &= same_memory(t, a[i], b[i]);
    return same;
}

static bool same_bytes(const void *a, const void *b, size_t bytes) { return !a == !b && (!a || !memcmp(a, b, bytes)); }

static bool same_numbers(const hdst__launch *a, const hdst__launch *b)
{
    return a->first == b->first && a->skip == b->skip && a->count == b->count && a->storage == b->storage && a->param_count == b->param_count &&
           a->accum_count == b->accum_count && a->first_row == b->first_row && a->text_bytes == b->text_bytes && a->text_host == b->text_host &&
           a->text_constants_host == b->text_constants_host && a->combined_tables == b->combined_tables && a->combined_bits == b->combined_bits &&
           a->gathers == b->gathers && a->flush == b->flush && a->batch == b->batch && a->room == b->room && a->clears == b->clears &&
           a->fits == b->fits && a->divides == b->divides;
}

static bool same_launch(const tapes *t, const hdst__launch *a, const hdst__launch *b)
{
    if (!same_numbers(a, b)) return false;
    return same_list(t, a->input, b->input, a->storage ? a->storage->buffers : 0) && same_list(t, a->broadcast, b->broadcast, a->param_count) &&
           same_list(t, a->finished, b->finished, a->accum_count) && same_bytes(a->rows, b->rows, a->param_count * sizeof *a->rows) &&
           same_memory(t, a->table, b->table) && same_memory(t, a->output, b->output) && same_memory(t, a->error, b->error) && a->strips == b->strips &&
           a->factors == b->factors && a->scales == b->scales && a->overflow == b->overflow && a->partitions == b->partitions && a->tuples == b->tuples &&
           a->places == b->places &&
           a->texts == b->texts && a->text_constants == b->text_constants && a->combined == b->combined;
}

static bool same_args(const tapes *t, const hdst__command *a, const hdst__command *b)
{
    bool same = a->arg_count == b->arg_count;
    for (size_t i = 0; same && i < a->arg_count; i++)
        same = same_memory(t, a->args[i].memory, b->args[i].memory) && a->args[i].number == b->args[i].number;
    return same;
}

static bool same_command(const tapes *t, const hdst__command *a, const hdst__command *b)
{
    if (a->kind != b->kind || a->program != b->program || a->decides != b->decides) return false;
    if (a->kind == HDST__COMMAND_LAUNCH || a->kind == HDST__COMMAND_FINISH) return same_launch(t, &a->launch, &b->launch);
    if (a->kind == HDST__COMMAND_WORK) return a->groups == b->groups && a->local == b->local && same_args(t, a, b);
    const bool same = same_memory(t, a->to, b->to) && same_memory(t, a->from, b->from) && a->to_offset == b->to_offset && a->from_offset == b->from_offset &&
                      a->bytes == b->bytes && a->pattern == b->pattern;
    return same && (a->decides || same_bytes(a->data, b->data, a->bytes));
}

bool hdst__tape_alike(const hdst__tape *a, const hdst__tape *b)
{
    const tapes both = {a, b};
    bool same = !a->why && !b->why && a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) same = same_command(&both, &a->command[0][i], &b->command[0][i]);
    return same;
}
