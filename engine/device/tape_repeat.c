// SPDX-License-Identifier: Apache-2.0
// Tapes of commands, repeated (engine/device/command_tape.h).
#include "engine/device/command_tape_private.h"

#include <string.h>

// --- What a command uses ---

enum { USES_NOT = 0, READS = 1, WRITES = 2, ODD = 4 };      // ODD: something else, or a piece of it

typedef struct place {              // a memory as a command names it
    const hdst__memory *memory;
    uint64_t offset;
} place;

static place place_of(const hdst__tape *tape, const hdst__memory *memory)
{
    const hdst__tape_part *p = hdst__tape_part_of(tape, memory);
    return p ? (place){p->of, p->offset} : (place){memory, 0};
}

// Parts that were made before the tape are none that it knows; those that the host sees too tell by where they are.
static bool overlap(const hdst__memory *a, const hdst__memory *b)
{
    const uintptr_t first = (uintptr_t)a->host, second = (uintptr_t)b->host;
    return first && second && first < second + b->bytes && second < first + a->bytes;
}

static unsigned if_is(const hdst__tape *tape, const hdst__memory *named, const hdst__memory *memory, unsigned use)
{
    const place at = place_of(tape, named);
    if (!named || !memory) return USES_NOT;
    if (at.memory != memory) return overlap(at.memory, memory) ? use | ODD : USES_NOT;
    return at.offset ? use | ODD : use;
}

static unsigned uses_in_launch(const hdst__tape *tape, const hdst__launch *at, const hdst__memory *memory)
{
    const hdst__memory *const others[] = {at->table, at->strips, at->factors, at->scales, at->overflow, at->partitions, at->tuples, at->places, at->error,
                                          at->texts, at->text_constants, at->combined};
    unsigned uses = if_is(tape, at->output, memory, WRITES);
    for (size_t i = 0; at->input && i < at->storage->buffers; i++) uses |= if_is(tape, at->input[i], memory, READS);
    for (size_t i = 0; at->broadcast && i < at->param_count; i++) uses |= if_is(tape, at->broadcast[i], memory, READS);
    for (size_t i = 0; at->finished && i < at->accum_count; i++) uses |= if_is(tape, at->finished[i], memory, WRITES);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) uses |= if_is(tape, others[i], memory, ODD);
    return uses;
}

static unsigned uses_of(const hdst__tape *tape, const hdst__command *c, const hdst__memory *memory)
{
    const bool copies = c->kind == HDST__COMMAND_COPY, reads = copies || c->kind == HDST__COMMAND_READ, fills = c->kind == HDST__COMMAND_FILL;
    unsigned uses = USES_NOT;
    if (c->kind == HDST__COMMAND_LAUNCH || c->kind == HDST__COMMAND_FINISH) return uses_in_launch(tape, &c->launch, memory);
    for (size_t i = 0; i < c->arg_count; i++) uses |= if_is(tape, c->args[i].memory, memory, ODD);
    uses |= if_is(tape, c->to, memory, (copies || fills) && !c->to_offset ? WRITES : ODD);
    return uses | if_is(tape, c->from, memory, reads && !c->from_offset ? READS : ODD);
}

// --- Copies that need not be ---

typedef struct stand_in {           // rows are read, or made, in place of this memory
    const hdst__memory *memory;
    size_t rows, begin;             // from this command on
    bool is_made;                   // as this turn leaves them; else as they are at that command
} stand_in;

// Where rows are that turns make anew: the copy that makes them is the first that writes there.
typedef struct moving {
    const hdst__tape_rows *rows;
    size_t count;
    size_t *made;                   // by rows: the command that makes them
    stand_in *stand_in;
    size_t stand_ins;
    uint64_t turn;
} moving;

// How the commands from `begin` to `end` use it, all together.
static unsigned uses_within(const hdst__tape *tape, size_t begin, size_t end, const hdst__memory *memory)
{
    unsigned uses = USES_NOT;
    for (size_t i = begin; i < end; i++) uses |= uses_of(tape, &tape->command[0][i], memory);
    return uses;
}

static size_t first_use(const hdst__tape *tape, const hdst__memory *memory)
{
    size_t i = 0;
    while (i < tape->count && !uses_of(tape, &tape->command[0][i], memory)) i++;
    return i;
}

static size_t rows_of(const moving *m, const hdst__memory *memory)
{
    size_t i = 0;
    while (i < m->count && m->rows[i].ring[0] != memory) i++;
    return i;
}

// All that a turn does with it is to write it, anew, and to read it then: whoever writes it may as well write the rows, those of one value.
static bool is_passed_on(const hdst__tape *tape, const moving *m, size_t at, const hdst__memory *memory)
{
    const size_t first = first_use(tape, memory);
    for (size_t i = 0; i < m->stand_ins; i++)
        if (m->stand_in[i].memory == memory) return false;
    if (rows_of(m, memory) < m->count || (uses_within(tape, 0, tape->count, memory) & ODD)) return false;
    return uses_of(tape, &tape->command[0][first], memory) == WRITES && first < at && !(uses_within(tape, at, tape->count, memory) & WRITES);
}

// The rows get it as a whole, and from nobody else.
static bool makes_rows(const hdst__tape *tape, const moving *m, size_t at, size_t rows)
{
    const hdst__memory *to = m->rows[rows].ring[0];
    bool alone = at == m->made[rows];
    for (size_t i = at + 1; i < tape->count; i++) alone &= !(uses_of(tape, &tape->command[0][i], to) & ~(unsigned)READS);
    return alone;
}

static void stand_in_for(moving *m, const hdst__memory *memory, size_t rows, size_t begin, bool is_made)
{
    m->stand_in[m->stand_ins++] = (stand_in){memory, rows, begin, is_made};
}

// A copy that makes rows of a memory, or a memory of rows: whether the one stands in for the other, which has room for as much.
static bool skip_copy(const hdst__tape *tape, moving *m, size_t at)
{
    const hdst__command *c = &tape->command[0][at];
    if (c->kind != HDST__COMMAND_COPY || c->to_offset || c->from_offset) return false;
    const hdst__memory *from = place_of(tape, c->from).memory;
    const size_t to_rows = rows_of(m, c->to), from_rows = rows_of(m, c->from);
    if (to_rows < m->count && from->bytes <= c->to->bytes && makes_rows(tape, m, at, to_rows) && is_passed_on(tape, m, at, from)) {
        stand_in_for(m, from, to_rows, 0, true);
        return true;
    }
    if (from_rows == m->count || to_rows < m->count || c->to->bytes > c->from->bytes) return false;
    if (first_use(tape, c->to) != at || (uses_within(tape, at + 1, tape->count, c->to) & ~(unsigned)READS)) return false;
    stand_in_for(m, c->to, from_rows, at, false);
    return true;
}

// --- Commands as they are in a turn ---

static const hdst__memory *rows_at(const moving *m, size_t rows, size_t at)
{
    return m->rows[rows].ring[(m->turn + (at >= m->made[rows])) % HDST__TAPE_RING];
}

static const hdst__memory *moved(const hdst__tape *tape, const moving *m, size_t at, const hdst__memory *memory)
{
    const size_t rows = memory ? rows_of(m, memory) : m->count;
    if (rows < m->count) return rows_at(m, rows, at);
    const hdst__memory *whole = memory ? place_of(tape, memory).memory : NULL;
    for (size_t i = 0; whole && i < m->stand_ins; i++) {
        const stand_in *s = &m->stand_in[i];
        if (whole == s->memory) return rows_at(m, s->rows, s->is_made ? SIZE_MAX : s->begin);
    }
    return memory;
}

static hdst__memory **moved_list(hdst__tape *tape, const moving *m, size_t at, hdst__memory *const *from, size_t count)
{
    hdst__memory **to = hdst__tape_keep(tape, from, count * sizeof *to);
    for (size_t i = 0; to && i < count; i++) to[i] = (hdst__memory *)moved(tape, m, at, to[i]);
    return to;
}

static void move_command(hdst__tape *tape, const moving *m, size_t at, hdst__command *c)
{
    hdst__launch *launch = &c->launch;
    launch->input = moved_list(tape, m, at, launch->input, launch->storage ? launch->storage->buffers : 0);
    launch->broadcast = moved_list(tape, m, at, launch->broadcast, launch->param_count);
    launch->finished = moved_list(tape, m, at, launch->finished, launch->accum_count);
    launch->output = (hdst__memory *)moved(tape, m, at, launch->output);
    c->args = hdst__tape_keep(tape, c->args, c->arg_count * sizeof *c->args);
    for (size_t i = 0; c->args && i < c->arg_count; i++) c->args[i].memory = moved(tape, m, at, c->args[i].memory);
    c->to = moved(tape, m, at, c->to);
    c->from = moved(tape, m, at, c->from);
}

static void place_words(hdst__tape *tape)
{
    for (size_t i = 0; i < tape->count; i++) {
        hdst__command *c = &tape->command[0][i];
        if (c->kind != HDST__COMMAND_READ) continue;
        c->place = tape->word_bytes;
        tape->word_bytes += (c->bytes + 7) / 8 * 8;
    }
}

static void find_makers(const hdst__tape *tape, const moving *m)
{
    for (size_t k = 0; k < m->count; k++) {
        size_t at = 0;
        while (at < tape->count && (tape->command[0][at].kind != HDST__COMMAND_COPY || tape->command[0][at].to != m->rows[k].ring[0])) at++;
        m->made[k] = at;
    }
}

// A copy to the host between kernels costs a device twice as much as one behind another copy, so each goes as far back as what it reads stays as it is.
static void sink_reads(const hdst__tape *tape, hdst__command *commands)
{
    for (size_t i = tape->count; i-- > 0;)
        for (size_t k = i; commands[k].kind == HDST__COMMAND_READ && k + 1 < tape->count && commands[k + 1].kind != HDST__COMMAND_READ; k++) {
            const hdst__command read = commands[k];
            if (uses_of(tape, &commands[k + 1], place_of(tape, read.from).memory)) break;
            commands[k] = commands[k + 1];
            commands[k + 1] = read;
        }
}

static bool make_moving(hdst__tape *tape, const hdst__tape_rows *rows, size_t count, moving *m)
{
    *m = (moving){.rows = rows, .count = count, .made = hdst__tape_take(tape, count * sizeof *m->made),
                  .stand_in = hdst__tape_take(tape, tape->count * sizeof *m->stand_in)};
    return m->made && m->stand_in;
}

bool hdst__tape_prepare(hdst__tape *tape, const hdst__tape_rows *rows, size_t count)
{
    moving m;
    bool *skips = hdst__tape_take(tape, tape->count);
    if (!make_moving(tape, rows, count, &m) || !skips) return false;
    place_words(tape);
    find_makers(tape, &m);
    for (size_t i = 0; i < tape->count; i++) skips[i] = skip_copy(tape, &m, i);
    for (m.turn = HDST__TAPE_RING; m.turn-- > 0;) {         // the first, in place, is the last one made
        if (m.turn) tape->command[m.turn] = hdst__tape_keep(tape, tape->command[0], tape->count * sizeof *tape->command[0]);
        for (size_t i = 0; tape->command[m.turn] && i < tape->count; i++) move_command(tape, &m, i, &tape->command[m.turn][i]);
    }
    size_t left = 0;
    for (size_t i = 0; i < tape->count && !tape->why; i++) {
        for (int k = 0; k < HDST__TAPE_RING; k++) tape->command[k][left] = tape->command[k][i];
        left += !skips[i];
    }
    tape->count = left;
    for (int k = 0; k < HDST__TAPE_RING && !tape->why; k++) sink_reads(tape, tape->command[k]);
    return !tape->why;
}

uint64_t hdst__tape_word_bytes(const hdst__tape *tape) { return tape->word_bytes; }

static hdst_status repeat(hdst__device *device, const hdst__command *c, char *words, hdst_error *error)
{
    const hdst__device_ops *ops = device->ops;
    hdst__memory *to = (hdst__memory *)c->to, *from = (hdst__memory *)c->from;
    switch (c->kind) {
    case HDST__COMMAND_LAUNCH: return ops->launch(device, c->program, &c->launch, error);
    case HDST__COMMAND_FINISH: return ops->finish_table(device, c->program, &c->launch, error);
    case HDST__COMMAND_WORK: return ops->work(device, c->program, c->args, c->arg_count, c->groups, c->local, error);
    case HDST__COMMAND_COPY: return ops->copy(device, to, c->to_offset, from, c->from_offset, c->bytes, error);
    case HDST__COMMAND_FILL: return ops->fill(device, to, c->bytes, c->pattern, error);
    case HDST__COMMAND_WRITE: return ops->write(device, to, c->to_offset, c->data, c->bytes, false, error);
    case HDST__COMMAND_READ: return ops->read(device, from, c->from_offset, words + c->place, c->bytes, false, error);
    }
    return HDST_OK;
}

hdst_status hdst__tape_repeat(const hdst__tape *tape, uint64_t turn, bool decides, char *words, hdst_error *error)
{
    const hdst__command *commands = tape->command[turn % HDST__TAPE_RING];
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
        const hdst__command *c = &tape->command[0][i];
        if (c->kind == HDST__COMMAND_READ && !c->decides) alike &= !memcmp(words + c->place, c->data, c->bytes);
    }
    return alike;
}

const void *hdst__tape_decision(const hdst__tape *tape, const char *words)
{
    for (size_t i = 0; i < tape->count; i++)
        if (tape->command[0][i].kind == HDST__COMMAND_READ && tape->command[0][i].decides) return words + tape->command[0][i].place;
    return NULL;
}
