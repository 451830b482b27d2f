// SPDX-License-Identifier: Apache-2.0
// The commands of a turn, noted and repeated (engine/device/command_tape.h). Noting stands in the place of the device's functions, so that nobody else
// need know of it: each does what it did, and writes down what that was.
#include "engine/device/command_tape.h"

#include "base/costs_gpu.h"

#include <string.h>

typedef enum command_kind { LAUNCH, FINISH, WORK, COPY, FILL, WRITE, READ } command_kind;

typedef struct command {
    command_kind kind;
    bool decides, answered;         // a read: see above; `data` is what it gave
    const char *function;           // of the stage, for the timeline
    hdst__program *program;
    hdst__launch launch;
    hdst__work_arg *args;           // of the engine's own kernels
    size_t arg_count;
    uint64_t groups;
    uint32_t local;
    const hdst__memory *to, *from;
    uint64_t to_offset, from_offset, bytes, pattern;        // fill: words
    void *data;                     // what is written, or was read
    const void *host;               // where it is read to, and before which mark: until it is answered
    const hdst__ticket *ticket;
    uint64_t place;                 // of a read, in the words of a repetition
} command;

typedef struct part {               // of a memory, the place of a kernel's output; the tape's once its user gives it back
    struct part *next;
    hdst__memory memory;
    const hdst__memory *of;
    uint64_t offset, bytes;
    bool held;
} part;

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

struct hdst__tape {
    hdst__device *device;
    const hdst__device_ops *real;   // what the device does, while it notes
    hdst__device_ops noting;        // the same, noted
    hdst__tape *before;             // of a loop around this one, which misses what is noted here
    const char *why;                // it cannot be repeated; NULL: it can
    bool decides;
    command *command[HDST__TAPE_RING];      // [0]: as noted; each of them with the rows where they are in its turns
    size_t count, capacity;
    uint64_t word_bytes;
    part *parts;
    block *blocks;                  // memory of arrays and data
};

// --- Memory ---

void hdst__tape_refuse(hdst__tape *tape, const char *why)
{
    if (!tape->why) tape->why = why;
}

const char *hdst__tape_refusal(const hdst__tape *tape) { return tape->why; }

void hdst__tape_decide(hdst__tape *tape, bool decides) { tape->decides = decides; }

static void *take(hdst__tape *tape, size_t bytes)
{
    block *made = hdst__alloc_zero(tape->device->runtime->allocator, sizeof *made + bytes);
    if (!made) {
        hdst__tape_refuse(tape, "there was no memory to note them");
        return NULL;
    }
    made->next = tape->blocks;
    tape->blocks = made;
    return made->data;
}

// A copy that is the tape's; NULL of nothing, and where memory is out.
static void *keep(hdst__tape *tape, const void *from, size_t bytes)
{
    void *to = from && bytes ? take(tape, bytes) : NULL;
    if (to) memcpy(to, from, bytes);
    return to;
}

static void forget(hdst__tape *tape)
{
    const hdst__allocator *allocator = tape->device->runtime->allocator;
    for (part *p = tape->parts, *next; p; p = next) {
        next = p->next;
        if (p->held) tape->device->ops->release_sub_buffer(tape->device, &p->memory);
        hdst__free(allocator, p);
    }
    for (block *b = tape->blocks, *next; b; b = next) {
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
    if (!tape) return;
    forget(tape);
    hdst__free(tape->device->runtime->allocator, tape->command[0]);
    hdst__free(tape->device->runtime->allocator, tape);
}

// --- Noting ---

static part *part_of(const hdst__tape *tape, const hdst__memory *memory)
{
    part *found = memory && memory->object ? tape->parts : NULL;
    while (found && found->memory.object != memory->object) found = found->next;
    return found;
}

// A part's struct is its user's, and soon gone; others stay as long as their memory.
static const hdst__memory *hold(const hdst__tape *tape, const hdst__memory *memory)
{
    const part *p = part_of(tape, memory);
    return p ? &p->memory : memory;
}

static hdst__memory **hold_all(hdst__tape *tape, hdst__memory *const *memories, size_t count)
{
    hdst__memory **held = keep(tape, memories, count * sizeof *held);
    for (size_t i = 0; held && i < count; i++) held[i] = (hdst__memory *)hold(tape, held[i]);
    return held;
}

static command *add(hdst__tape *tape, command_kind kind)
{
    const hdst__allocator *allocator = tape->device->runtime->allocator;
    if (tape->why) return NULL;         // it is of no use any more
    if (tape->count == tape->capacity) {
        const size_t capacity = tape->capacity * 2 + 32;
        command *grown = hdst__realloc(allocator, tape->command[0], capacity * sizeof *grown);
        if (!grown) {
            hdst__tape_refuse(tape, "there was no memory to note them");
            return NULL;
        }
        tape->command[0] = grown;
        tape->capacity = capacity;
    }
    command *c = &tape->command[0][tape->count++];
    *c = (command){.kind = kind, .function = tape->device->function};
    return c;
}

static void hold_launch(hdst__tape *tape, hdst__launch *at)
{
    if ((at->rows && !at->param_count) || (at->finished && !at->accum_count)) hdst__tape_refuse(tape, "several devices share them");
    at->input = hold_all(tape, at->input, at->storage ? at->storage->buffers : 0);
    at->broadcast = hold_all(tape, at->broadcast, at->param_count);
    at->finished = hold_all(tape, at->finished, at->accum_count);
    at->rows = keep(tape, at->rows, at->param_count * sizeof *at->rows);
    at->values = NULL;              // rows in the host's memory are for functions that run there
    at->output = (hdst__memory *)hold(tape, at->output);
    at->error = (hdst__memory *)hold(tape, at->error);
    at->table = (hdst__memory *)hold(tape, at->table);
}

static hdst_status note_kernel(hdst__device *device, command_kind kind, hdst__program *program, const hdst__launch *at, hdst_status status)
{
    command *c = status == HDST_OK ? add(device->tape, kind) : NULL;
    if (!c) return status;
    c->program = program;
    c->launch = *at;
    hold_launch(device->tape, &c->launch);
    return status;
}

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    return note_kernel(device, LAUNCH, program, at, device->tape->real->launch(device, program, at, error));
}

static hdst_status finish_table(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    return note_kernel(device, FINISH, program, at, device->tape->real->finish_table(device, program, at, error));
}

static hdst_status work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                        hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->work(device, program, args, count, groups, local, error);
    command *c = status == HDST_OK ? add(tape, WORK) : NULL;
    if (!c) return status;
    c->program = program;
    c->groups = groups;
    c->local = local;
    c->args = keep(tape, args, count * sizeof *args);
    c->arg_count = c->args ? count : 0;
    for (size_t i = 0; i < c->arg_count; i++) c->args[i].memory = hold(tape, c->args[i].memory);
    return status;
}

static hdst_status copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t bytes,
                        hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->copy(device, to, to_offset, from, from_offset, bytes, error);
    command *c = status == HDST_OK ? add(tape, COPY) : NULL;
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
    command *c = status == HDST_OK ? add(tape, FILL) : NULL;
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
    command *c = count ? add(tape, WRITE) : NULL;
    if (c) {
        c->to = hold(tape, memory);
        c->to_offset = offset;
        c->bytes = count;
        c->data = keep(tape, bytes, count);
    }
    return tape->real->write(device, memory, offset, bytes, count, wait, error);
}

// What a read gives is there when it has waited, or when the ticket of a mark behind it has ended.
static void answer(hdst__tape *tape, command *c)
{
    c->data = keep(tape, c->host, c->bytes);
    c->answered = true;
}

static hdst_status read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    if (count > HDST__GPU_SMALL_COPY_BYTES) hdst__tape_refuse(tape, "results come to the host in each");
    hdst_status status = tape->real->read(device, memory, offset, bytes, count, wait, error);
    command *c = status == HDST_OK && count ? add(tape, READ) : NULL;
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
        command *c = &tape->command[0][i];
        if (c->kind == READ && !c->answered && !c->ticket) c->ticket = ticket;
    }
    return tape->real->mark(device, ticket, error);
}

static hdst_status settle(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    const hdst_status status = tape->real->settle(device, ticket, error);
    for (size_t i = 0; i < tape->count && status == HDST_OK; i++) {
        command *c = &tape->command[0][i];
        if (c->kind == READ && !c->answered && c->ticket == ticket) answer(tape, c);
    }
    return status;
}

static hdst_status sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *made, hdst_error *error)
{
    hdst__tape *tape = device->tape;
    hdst_status status = tape->real->sub_buffer(device, of, offset, bytes, made, error);
    part *p = status == HDST_OK ? hdst__alloc_zero(device->runtime->allocator, sizeof *p) : NULL;
    if (!p) {
        hdst__tape_refuse(tape, "there was no memory to note them");
        return status;
    }
    *p = (part){.next = tape->parts, .memory = *made, .of = of, .offset = offset, .bytes = bytes};
    tape->parts = p;
    return status;
}

static void release_sub_buffer(hdst__device *device, hdst__memory *memory)
{
    part *p = part_of(device->tape, memory);
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
        if (tape->command[0][i].kind == READ && !tape->command[0][i].answered) hdst__tape_refuse(tape, "a copy to the host was not waited for");
    for (const part *p = tape->parts; p; p = p->next)
        if (!p->held) hdst__tape_refuse(tape, memory_changes);
}

// --- Comparing ---

typedef struct tapes {
    const hdst__tape *a, *b;
} tapes;

static bool same_memory(const tapes *t, const hdst__memory *a, const hdst__memory *b)
{
    if (a == b) return true;
    const part *p = a ? part_of(t->a, a) : NULL, *q = b ? part_of(t->b, b) : NULL;
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
           a->gathers == b->gathers && a->flush == b->flush && a->room == b->room;
}

static bool same_launch(const tapes *t, const hdst__launch *a, const hdst__launch *b)
{
    if (!same_numbers(a, b)) return false;
    return same_list(t, a->input, b->input, a->storage ? a->storage->buffers : 0) && same_list(t, a->broadcast, b->broadcast, a->param_count) &&
           same_list(t, a->finished, b->finished, a->accum_count) && same_bytes(a->rows, b->rows, a->param_count * sizeof *a->rows) &&
           same_memory(t, a->table, b->table) && same_memory(t, a->output, b->output) && same_memory(t, a->error, b->error) && a->strips == b->strips &&
           a->scales == b->scales && a->overflow == b->overflow && a->partitions == b->partitions && a->tuples == b->tuples && a->places == b->places &&
           a->texts == b->texts && a->text_constants == b->text_constants && a->combined == b->combined;
}

static bool same_args(const tapes *t, const command *a, const command *b)
{
    bool same = a->arg_count == b->arg_count;
    for (size_t i = 0; same && i < a->arg_count; i++)
        same = same_memory(t, a->args[i].memory, b->args[i].memory) && a->args[i].number == b->args[i].number;
    return same;
}

static bool same_command(const tapes *t, const command *a, const command *b)
{
    if (a->kind != b->kind || a->program != b->program || a->decides != b->decides) return false;
    if (a->kind == LAUNCH || a->kind == FINISH) return same_launch(t, &a->launch, &b->launch);
    if (a->kind == WORK) return a->groups == b->groups && a->local == b->local && same_args(t, a, b);
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

// --- Repeating ---

// Where rows are that turns make anew: the copy that makes them is the first that writes there.
typedef struct moving {
    const hdst__tape_rows *rows;
    size_t count;
    const size_t *made;             // by rows: the command that makes them
    uint64_t turn;
} moving;

static const hdst__memory *moved(const moving *m, size_t at, const hdst__memory *memory)
{
    for (size_t i = 0; memory && i < m->count; i++)
        if (memory == m->rows[i].ring[0]) return m->rows[i].ring[(m->turn + (at >= m->made[i])) % HDST__TAPE_RING];
    return memory;
}

static hdst__memory *const *moved_list(hdst__tape *tape, const moving *m, size_t at, hdst__memory *const *from, size_t count)
{
    hdst__memory **to = keep(tape, from, count * sizeof *to);
    for (size_t i = 0; to && i < count; i++) to[i] = (hdst__memory *)moved(m, at, to[i]);
    return to;
}

static void move_command(hdst__tape *tape, const moving *m, size_t at, command *c)
{
    hdst__launch *launch = &c->launch;
    launch->input = moved_list(tape, m, at, launch->input, launch->storage ? launch->storage->buffers : 0);
    launch->broadcast = moved_list(tape, m, at, launch->broadcast, launch->param_count);
    c->args = keep(tape, c->args, c->arg_count * sizeof *c->args);
    for (size_t i = 0; c->args && i < c->arg_count; i++) c->args[i].memory = moved(m, at, c->args[i].memory);
    c->to = moved(m, at, c->to);
    c->from = moved(m, at, c->from);
}

static void place_words(hdst__tape *tape)
{
    for (size_t i = 0; i < tape->count; i++) {
        command *c = &tape->command[0][i];
        if (c->kind != READ) continue;
        c->place = tape->word_bytes;
        tape->word_bytes += (c->bytes + 7) / 8 * 8;
    }
}

static void find_makers(const hdst__tape *tape, const hdst__tape_rows *rows, size_t count, size_t *made)
{
    for (size_t k = 0; k < count; k++)
        for (made[k] = 0; made[k] < tape->count; made[k]++) {
            const command *c = &tape->command[0][made[k]];
            if (c->kind == COPY && c->to == rows[k].ring[0]) break;
        }
}

bool hdst__tape_prepare(hdst__tape *tape, const hdst__tape_rows *rows, size_t count)
{
    size_t *made = take(tape, count * sizeof *made);
    if (!made) return false;
    place_words(tape);
    find_makers(tape, rows, count, made);
    for (uint64_t turn = HDST__TAPE_RING; turn-- > 0;) {        // the first, in place, is the last one made
        const moving m = {rows, count, made, turn};
        if (turn) tape->command[turn] = keep(tape, tape->command[0], tape->count * sizeof *tape->command[0]);
        for (size_t i = 0; tape->command[turn] && i < tape->count; i++) move_command(tape, &m, i, &tape->command[turn][i]);
    }
    return !tape->why;
}

uint64_t hdst__tape_word_bytes(const hdst__tape *tape) { return tape->word_bytes; }

static hdst_status repeat(hdst__device *device, const command *c, char *words, hdst_error *error)
{
    const hdst__device_ops *ops = device->ops;
    hdst__memory *to = (hdst__memory *)c->to, *from = (hdst__memory *)c->from;
    switch (c->kind) {
    case LAUNCH: return ops->launch(device, c->program, &c->launch, error);
    case FINISH: return ops->finish_table(device, c->program, &c->launch, error);
    case WORK: return ops->work(device, c->program, c->args, c->arg_count, c->groups, c->local, error);
    case COPY: return ops->copy(device, to, c->to_offset, from, c->from_offset, c->bytes, error);
    case FILL: return ops->fill(device, to, c->bytes, c->pattern, error);
    case WRITE: return ops->write(device, to, c->to_offset, c->data, c->bytes, false, error);
    case READ: return ops->read(device, from, c->from_offset, words + c->place, c->bytes, false, error);
    }
    return HDST_OK;
}

hdst_status hdst__tape_repeat(const hdst__tape *tape, uint64_t turn, bool decides, char *words, hdst_error *error)
{
    const command *commands = tape->command[turn % HDST__TAPE_RING];
    const char *function = tape->device->function;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < tape->count && status == HDST_OK; i++) {
        if (commands[i].decides && !decides) continue;
        tape->device->function = commands[i].function;
        status = repeat(tape->device, &commands[i], words, error);
    }
    tape->device->function = function;
    return status;
}

bool hdst__tape_is_answered_alike(const hdst__tape *tape, const char *words)
{
    bool alike = true;
    for (size_t i = 0; i < tape->count; i++) {
        const command *c = &tape->command[0][i];
        if (c->kind == READ && !c->decides) alike &= !memcmp(words + c->place, c->data, c->bytes);
    }
    return alike;
}

const void *hdst__tape_decision(const hdst__tape *tape, const char *words)
{
    for (size_t i = 0; i < tape->count; i++)
        if (tape->command[0][i].kind == READ && tape->command[0][i].decides) return words + tape->command[0][i].place;
    return NULL;
}
