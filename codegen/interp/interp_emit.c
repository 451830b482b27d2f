// SPDX-License-Identifier: Apache-2.0
// Output records of a function that emits. The lanes of a block go through the statements together, so their output records
// come mixed; they are put in the order of the input at the end of the block.
#include "codegen/interp/interp_state.h"

#include <string.h>

static const hdst__record *output_record(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_OUTPUT) return func->params[i].record;
    return NULL;
}

bool hdst__interp_given_open(interp_state *s)
{
    interp_given *given = &s->given;
    const hdst__record *record = output_record(s->func);
    if (!s->func->emits) return true;
    given->of_lane = hdst__alloc_zero(s->run->allocator, s->width * sizeof *given->of_lane);
    if (!given->of_lane) return false;
    if (!record || !s->run->output) return true;
    given->record_bytes = record->size;
    given->next = hdst__alloc_zero(s->run->allocator, s->width * record->size);
    return given->next != NULL;
}

void hdst__interp_given_close(interp_state *s)
{
    hdst__free(s->run->allocator, s->given.of_lane);
    hdst__free(s->run->allocator, s->given.next);
    hdst__free(s->run->allocator, s->given.records);
    hdst__free(s->run->allocator, s->given.lane);
}

static bool has_room(interp_state *s)
{
    interp_given *given = &s->given;
    if (given->count < given->capacity) return true;
    const size_t wanted = given->capacity ? given->capacity * 2 : INTERP_LANES;
    char *records = hdst__realloc(s->run->allocator, given->records, wanted * given->record_bytes);
    if (records) given->records = records;
    uint32_t *lane = hdst__realloc(s->run->allocator, given->lane, wanted * sizeof *lane);
    if (lane) given->lane = lane;
    if (records && lane) given->capacity = wanted;
    else given->out_of_memory = true;
    return records && lane;
}

static void give(interp_state *s, const ir_stmt *stmt, size_t lane)
{
    interp_given *given = &s->given;
    given->of_lane[lane]++;
    s->run->emitted++;
    if (s->run->emitted == s->run->output_room + 1) s->run->full_check = stmt->check;
    // Beyond the room only the number is wanted.
    if (!given->record_bytes || s->run->emitted > s->run->output_room) return;
    if (s->n == 1) {        // nothing comes mixed, and it may be very many
        memcpy((char *)s->run->output + (s->run->emitted - 1) * given->record_bytes, given->next, given->record_bytes);
        return;
    }
    if (!has_room(s)) return;
    memcpy(given->records + given->count * given->record_bytes, given->next + lane * given->record_bytes, given->record_bytes);
    given->lane[given->count++] = (uint32_t)lane;
}

void hdst__interp_emit(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const uint64_t *cond = stmt->cond ? hdst__interp_eval_lanes(s, stmt->cond, s->top) : NULL;
    for (size_t i = 0; i < s->n; i++)
        if (mask->bits[i] && (!cond || cond[i])) give(s, stmt, i);
}

void hdst__interp_give_block(interp_state *s)
{
    interp_given *given = &s->given;
    const uint64_t fit = s->run->emitted < s->run->output_room ? s->run->emitted : s->run->output_room;
    uint64_t place = fit - given->count;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t count = given->of_lane[i];
        if (s->run->emits_of) s->run->emits_of[s->block + i] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        given->of_lane[i] = place;      // of its next record
        place += count;
    }
    for (size_t k = 0; k < given->count && s->run->emitted <= s->run->output_room; k++)
        memcpy((char *)s->run->output + given->of_lane[given->lane[k]]++ * given->record_bytes, given->records + k * given->record_bytes, given->record_bytes);
    memset(given->of_lane, 0, s->n * sizeof *given->of_lane);
    given->count = 0;
}
