// SPDX-License-Identifier: Apache-2.0
// What a worker gets next: of what lies with it, of what is put down for it, of the pool, of what is put down for others.
#include "partition/deal.h"

#include "base/costs_host.h"

#include <math.h>

// Nobody knows what a record takes: few, so that little is lost where it is much, and everybody has some.
static uint64_t probe_records(const hdst__schedule *schedule, uint64_t left)
{
    const uint64_t part = left / (HDST__HOST_PROBE_SHARE * schedule->workers);
    return part < HDST__HOST_PROBE_RECORDS ? part : HDST__HOST_PROBE_RECORDS;
}

// A guess may be wrong by far, so the first slice goes no further, and the next one waits for it.
static bool may_take(const hdst__dealt_worker *worker) { return !worker->leaves && (worker->slices || !worker->under_way); }

static uint64_t slice_records(const hdst__schedule *schedule, const hdst__dealt_worker *worker, bool resident, uint64_t left)
{
    const double copy = resident ? 0 : worker->copy, seconds = worker->slices ? HDST__HOST_SLICE_SECONDS : HDST__HOST_SLICE_SECONDS / HDST__HOST_GUESSED_SHARE;
    if (!(worker->kernel > 0)) return probe_records(schedule, left);
    const double fit = seconds / (worker->copies_apart ? fmax(copy, worker->kernel) : copy + worker->kernel);
    return fit < (double)left ? (uint64_t)fit : left;
}

bool hdst__dealt_resident(hdst__schedule *schedule, uint32_t number, hdst__share *share)
{
    hdst__dealt_worker *worker = &schedule->worker[number];
    if (!may_take(worker)) return false;
    return hdst__ranges_take_first(&worker->resident, slice_records(schedule, worker, true, worker->resident.records), schedule->unit, share);
}

bool hdst__dealt_own(hdst__schedule *schedule, uint32_t number, hdst__share *share)
{
    return hdst__ranges_take_first(&schedule->worker[number].own, UINT64_MAX, schedule->unit, share);
}

// --- Slices, shrinking towards the end ---

static uint64_t left_of(const hdst__schedule *schedule)
{
    uint64_t left = schedule->pool.records;
    for (uint32_t i = 0; i < schedule->workers; i++) left += schedule->worker[i].own.records;
    return left;
}

// So many records of the rest should be the worker's next slice; 0: the others do better without it. All that nobody has taken is thought of as divided so
// that all end together, by `*end`: a slice is a part of what is this worker's then, so that enough is left to even out what comes otherwise, but not so
// short that it is not worth its fixed cost. One unit may end later than that, but not later than the others would have done all without this worker.
static uint64_t next_records(const hdst__schedule *schedule, uint32_t number, double *end)
{
    hdst__allotment *all = schedule->allotment, *worker = &all[number];
    const uint64_t left = left_of(schedule), unit = schedule->unit;
    hdst__dealt_allotments(schedule, number, all);
    const double without = hdst__allot_seconds(all, schedule->workers, left, unit);
    worker->fixed = schedule->worker[number].fixed;
    *end = hdst__allot_seconds(all, schedule->workers, left, unit);
    const double mine = hdst__allotment_records(worker, *end), slice = (double)slice_records(schedule, &schedule->worker[number], false, left);
    const double worth = fmax(HDST__HOST_TAIL_SECONDS, HDST__HOST_FIXED_TIMES * worker->fixed) / worker->kernel;
    const double records = fmin(fmax(fmin(slice, mine / HDST__HOST_TAIL_SHARE), worth), mine);
    if (records >= (double)left) return left;
    if (records >= (double)unit) return (uint64_t)records;
    return hdst__allotment_end(worker, (double)(left < unit ? left : unit)) > without ? 0 : unit;
}

static bool too_late(hdst__dealt_worker *worker)
{
    if (!worker->had_any) worker->reason = "the others end all of it sooner than this one would end one slice";
    return false;
}

bool hdst__dealt_pool(hdst__schedule *schedule, uint32_t number, hdst__share *share)
{
    hdst__dealt_worker *worker = &schedule->worker[number];
    if (!may_take(worker) || !schedule->pool.records) return false;
    double end;
    const bool known = worker->kernel > 0;
    const uint64_t records = known ? next_records(schedule, number, &end) : probe_records(schedule, schedule->pool.records);
    if (known && !records) return too_late(worker);
    return hdst__ranges_take_first(&schedule->pool, records, schedule->unit, share);
}

// Of those that have more put down than they can do by then, the one that would be latest; what is too much for it. One that waits does none of it.
static hdst__dealt_worker *victim_of(const hdst__schedule *schedule, uint32_t thief, double end, double *records)
{
    hdst__dealt_worker *victim = NULL;
    double latest = 0;
    for (uint32_t i = 0; i < schedule->workers; i++) {
        hdst__dealt_worker *worker = &schedule->worker[i];
        if (i == thief || !worker->own.records) continue;
        const double can = worker->waits ? 0 : fmax(hdst__allotment_records(&schedule->allotment[i], end), 0), over = (double)worker->own.records - can;
        if (over < (double)schedule->unit && !worker->waits) continue;
        if (over * hdst__dealt_each(worker) <= latest) continue;
        victim = worker;
        latest = over * hdst__dealt_each(worker);
        *records = over;
    }
    return victim;
}

bool hdst__dealt_own_or_others(hdst__schedule *schedule, uint32_t number, hdst__share *share)
{
    hdst__dealt_worker *worker = &schedule->worker[number], *victim;
    if (!may_take(worker)) return false;
    if (!(worker->kernel > 0)) return hdst__dealt_pool(schedule, number, share);
    double end, over;
    const uint64_t records = next_records(schedule, number, &end);
    if (!records) return too_late(worker);
    if (hdst__ranges_take_first(&worker->own, records, schedule->unit, share)) return true;
    if (hdst__ranges_take_first(&schedule->pool, records, schedule->unit, share)) return true;
    if (!(victim = victim_of(schedule, number, end, &over))) return false;
    return hdst__ranges_take_last(&victim->own, over < (double)records ? (uint64_t)over : records, schedule->unit, share);
}

// --- In turns ---

bool hdst__dealt_in_turns(hdst__schedule *schedule, uint32_t number, hdst__dealt_function *other, hdst__share *share)
{
    hdst__dealt_worker *worker = &schedule->worker[number];
    const bool turn = worker->had_resident && worker->copies_apart;
    worker->had_resident = false;
    if (turn && other(schedule, number, share)) return true;
    worker->had_resident = hdst__dealt_resident(schedule, number, share);
    return worker->had_resident || (!turn && other(schedule, number, share));
}

bool hdst__dealt(hdst__schedule *schedule, uint32_t number, const hdst__share *share, bool given)
{
    hdst__dealt_worker *worker = &schedule->worker[number];
    worker->waits = !given;
    if (!given) return false;
    worker->under_way += share->count;
    worker->fixed_under_way += worker->fixed;
    worker->had_any = true;
    worker->reason = NULL;
    return true;
}
