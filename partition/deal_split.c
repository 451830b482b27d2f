// SPDX-License-Identifier: Apache-2.0
// The powers of a job's workers, as partitioning by them wants them; the pool divided by them, and undivided again.
#include "partition/deal.h"

#include <math.h>

double hdst__dealt_each(const hdst__dealt_worker *worker)
{
    return worker->copies_apart ? fmax(worker->copy, worker->kernel) : worker->copy + worker->kernel;
}

static hdst__allotment allotment_of(const hdst__dealt_worker *worker)
{
    const double records = (double)worker->under_way, resident = (double)worker->resident.records;
    const double taken = worker->kernel > 0 ? records * hdst__dealt_each(worker) + resident * worker->kernel : 0;
    return (hdst__allotment){
        .busy = worker->fixed_under_way + taken, .copying = records * worker->copy, .fixed = worker->fixed, .copy = worker->copy, .kernel = worker->kernel,
        .copies_apart = worker->copies_apart,
    };
}

void hdst__dealt_allotments(const hdst__schedule *schedule, uint32_t without, hdst__allotment *allotment)
{
    for (uint32_t i = 0; i < schedule->workers; i++) {
        const hdst__dealt_worker *worker = &schedule->worker[i];
        allotment[i] = allotment_of(worker);
        if (i == without || worker->leaves || worker->waits || !(worker->kernel > 0)) allotment[i].fixed = HUGE_VAL;
    }
}

bool hdst__dealt_all_measured(const hdst__schedule *schedule, uint32_t slices)
{
    for (uint32_t i = 0; i < schedule->workers; i++) {
        const hdst__dealt_worker *worker = &schedule->worker[i];
        if (!worker->leaves && (worker->slices < slices || !(worker->kernel > 0))) return false;
    }
    return true;
}

double hdst__dealt_spread(const hdst__schedule *schedule)
{
    double most = 0;
    for (uint32_t i = 0; i < schedule->workers; i++)
        if (!schedule->worker[i].leaves) most = fmax(most, schedule->worker[i].spread);
    return most;
}

// So many records of the pool, from its start: ranges of it, and of the last one a part.
static void put_down(hdst__schedule *schedule, hdst__dealt_worker *worker, uint64_t records)
{
    hdst__share share;
    while (records && hdst__ranges_take_first(&schedule->pool, records, schedule->unit, &share)) {
        hdst__ranges_add(&worker->own, &share);
        records -= share.count < records ? share.count : records;
    }
}

static const char *reason_of(const hdst__allotment *worker, double seconds)
{
    if (worker->busy + worker->fixed > seconds) return "the others end all of it before this one is ready to begin";
    return "one unit of records would take this one longer than the others take for all";
}

// What rounding to units leaves goes to the last one that has a part.
void hdst__dealt_split(hdst__schedule *schedule)
{
    hdst__allotment *all = schedule->allotment;
    uint32_t last = 0;
    for (uint32_t i = 0; i < schedule->workers; i++)
        if (!hdst__ranges_reserve(&schedule->worker[i].own, schedule->pool.count + 1)) return;
    hdst__dealt_allotments(schedule, UINT32_MAX, all);
    const double end = hdst__allot(all, schedule->workers, schedule->pool.records, schedule->unit);
    if (!(end < HUGE_VAL)) return;
    schedule->seconds = end;
    for (uint32_t i = 0; i < schedule->workers; i++) {
        hdst__dealt_worker *worker = &schedule->worker[i];
        schedule->seconds = fmax(schedule->seconds, all[i].busy);
        if (all[i].records) last = i;
        else if (!worker->had_any && !worker->resident.records && !worker->leaves) worker->reason = reason_of(&all[i], end);
    }
    for (uint32_t i = 0; i < schedule->workers; i++) put_down(schedule, &schedule->worker[i], i == last ? UINT64_MAX : all[i].records);
    schedule->split = true;
}

void hdst__dealt_join(hdst__schedule *schedule)
{
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < schedule->workers; i++) ranges += schedule->worker[i].own.count;
    if (!hdst__ranges_reserve(&schedule->pool, ranges)) return;
    for (uint32_t i = 0; i < schedule->workers; i++) {
        hdst__ranges_add_all(&schedule->pool, &schedule->worker[i].own);
        hdst__ranges_clear(&schedule->worker[i].own);
    }
    schedule->split = false;
}
