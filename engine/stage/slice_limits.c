// SPDX-License-Identifier: Apache-2.0
// How long a slice may be, and must be to be worth a launch: by the device, by the room for its output, by what is still wanted. A policy chooses within.
#include "base/costs_cpu.h"
#include "base/costs_host.h"
#include "engine/memory/store.h"
#include "engine/memory/window.h"
#include "engine/stage/combined_tables.h"
#include "engine/stage/executor.h"

#include <math.h>

// Output records of the slices that have ended; where each record has its place, of those that have begun. Of several workers that of the input's first
// records, without a gap.
uint64_t hdst__pass_output(const hdst__pass *pass)
{
    if (pass->team && pass->team->assembly) return pass->team->assembly->whole_outputs;
    const hdst__output *output = pass->output;
    return output->store ? output->store->cache.reader.records : output->count + (pass->window && pass->window->is_open ? pass->window->used : 0);
}

// Where that has an open end, as many again as there were so far.
uint64_t hdst__pass_records(const hdst__pass *pass)
{
    const uint64_t found = hdst__reader_records(pass->reader), seen = 2 * pass->stats->device[0].records;
    if (!pass->reader->open_end || found < pass->reader->records) return found;
    return seen > HDST__HOST_OPEN_RECORDS ? seen : HDST__HOST_OPEN_RECORDS;
}

// So many records give what is missing, going by what was seen, or all that were looked at so far over again.
static uint64_t records_for_limit(const hdst__pass *pass)
{
    const uint64_t have = hdst__pass_output(pass), done = pass->stats->device[0].records;
    const double rate = pass->way == IR_OUTPUT_DENSE ? 1 : *pass->outputs_per_record;
    const double missing = have < pass->limit ? (double)(pass->limit - have) : 0, records = rate > 0 ? missing / rate * HDST__HOST_OUTPUT_MARGIN : 0;
    return records < (double)done ? done / 64 * 64 + 64 : records < (double)pass->slice_most ? (uint64_t)records / 64 * 64 + 64 : pass->slice_most;
}

static uint64_t within(uint64_t records, uint64_t least, uint64_t most) { return records < least ? least : records < most ? records : most; }

// So many records give output that is expected to fit a slot.
static uint64_t records_for_room(const hdst__pass *pass)
{
    const bool is_limited = pass->way == IR_OUTPUT_COUNTED && !pass->window && *pass->outputs_per_record > 0;
    const double fit = is_limited ? (double)pass->room / *pass->outputs_per_record / HDST__HOST_OUTPUT_MARGIN : HUGE_VAL;
    return fit >= (double)pass->slice_most ? pass->slice_most : fit < 64 ? 64 : (uint64_t)fit / 64 * 64;
}

// Until it is known whether cores have tables, and of which rows: what comes by then takes the longer way.
static uint64_t records_for_tables(const hdst__pass *pass)
{
    const bool waits = pass->combined && pass->combined->combining->in_rows && !pass->combined->tried;
    return waits && pass->came < HDST__CPU_COMBINE_WAITS ? HDST__CPU_COMBINE_LEAST : UINT64_MAX;
}

// Where records stay where kernels write them, slices end on borders of parts. The last one of a segment ends where that does: at one, or with the input.
static uint64_t end_in_place(const hdst__pass *pass, uint64_t records, uint64_t left)
{
    if (!pass->in_place || records >= left) return records;
    return records < HDST__SUB_BUFFER_RECORDS ? HDST__SUB_BUFFER_RECORDS : records / HDST__SUB_BUFFER_RECORDS * HDST__SUB_BUFFER_RECORDS;
}

hdst__slice_limits hdst__pass_slice_limits(const hdst__pass *pass, uint64_t left)
{
    const bool tries = pass->tuning && pass->tuning->round != HDST__TUNING_DONE;
    const uint64_t limit = pass->limit ? records_for_limit(pass) : UINT64_MAX, compares = tries ? pass->tuning->least_records : 0;
    const uint64_t room = records_for_room(pass), few = records_for_tables(pass), fit = room < few ? room : few;
    const uint64_t least = within(compares < limit ? compares : limit, pass->slice_least, pass->slice_most);
    const uint64_t most = within(limit, pass->slice_least, pass->slice_most), most_asked = fit < pass->slice_most ? fit : pass->slice_most,
                   asked = within(pass->slice_records / 64 * 64, 64, most_asked);
    if (pass->slice_records)
        return (hdst__slice_limits){.left = left, .unit = 64, .least = end_in_place(pass, asked, left), .most = end_in_place(pass, asked, left)};
    return (hdst__slice_limits){
        .left = left, .unit = pass->in_place ? HDST__SUB_BUFFER_RECORDS : 64,
        .least = end_in_place(pass, least < fit ? least : fit, left), .most = end_in_place(pass, most < fit ? most : fit, left),
        .seconds = tries ? HDST__HOST_TRY_SECONDS : pass->slice_seconds,
    };
}
