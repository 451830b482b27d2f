// SPDX-License-Identifier: Apache-2.0
// What a turn of a loop did (plan/loop_turns.h): noted, told, and looked at for whether the loop has settled.
#include "plan/loop_turns.h"

#include "base/clock.h"
#include "record/scalar_convert.h"

#include <math.h>
#include <string.h>

// Signed numbers are extended with their sign.
static double number(hdst__kind kind, const void *at)
{
    const size_t bytes = hdst__scalar_size(kind);
    const unsigned unused = 64 - 8 * (unsigned)bytes;
    uint64_t bits = 0;
    double value;
    memcpy(&bits, at, bytes);
    if (hdst__kind_is_signed(kind)) bits = (uint64_t)((int64_t)(bits << unused) >> unused);
    bits = hdst__scalar_convert(HDST__F64, kind, bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

double hdst__loop_decision(const hdst__loop *loop, const void *at) { return number(loop->decides->record->leaves[0].kind, at); }

bool hdst__loop_looks(const hdst__loop *loop, uint64_t turn) { return loop->decides && (turn == loop->limit || turn % loop->every == 0); }

static bool has_settled(const hdst__loop *loop, const hdst_loop_turn *turn)
{
    return turn->value <= loop->threshold || (loop->work && loop->work->rows == 0);
}

void hdst__loop_tell_progress(const hdst__loop *loop, const hdst__runtime *runtime, double now)
{
    const double done = (double)loop->turn_count;
    hdst__progress_set_turn(runtime->progress, (hdst__progress_turn){.number = loop->turn_count + 1, .of = loop->limit, .until = loop->until,
                                                                     .value = loop->looked, .seconds = loop->turn_count ? (now - loop->began) / done : 0});
}

static hdst_status note_turn(hdst__loop *loop, const hdst_dataset *dataset, hdst_loop_turn turn, hdst_error *error)
{
    if (loop->turn_count == loop->turn_capacity) {
        const uint64_t capacity = loop->turn_capacity * 2 + 16;
        hdst_loop_turn *turns = hdst__realloc(HDST__ALLOCATOR(dataset), loop->turns, capacity * sizeof *turns);
        if (!turns) return hdst__error_memory(error, "figures of a loop");
        loop->turns = turns;
        loop->turn_capacity = capacity;
    }
    loop->turns[loop->turn_count++] = turn;
    return HDST_OK;
}

hdst_status hdst__loop_end_turn(hdst__loop *loop, const hdst_dataset *dataset, double begin, hdst_loop_turn turn, hdst_error *error)
{
    const hdst__runtime *runtime = hdst__engine_runtime(dataset->object.context->engine);
    turn.seconds = hdst__now() - begin;
    hdst__timeline_end_turn(runtime->timeline, begin, loop->turn_count + 1, turn.records, turn.value);
    if (!isnan(turn.value)) loop->looked = turn.value;
    const hdst_status status = note_turn(loop, dataset, turn, error);
    loop->converged = status == HDST_OK && has_settled(loop, &turn);
    return status;
}
