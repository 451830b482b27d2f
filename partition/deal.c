// SPDX-License-Identifier: Apache-2.0
// A job of several workers under way.
#include "partition/deal.h"

#include "base/costs_host.h"
#include "partition/slice_by_time.h"

#include <math.h>

// --- Begin and end ---

static void free_worker(hdst__dealt_worker *worker)
{
    hdst__ranges_free(&worker->resident);
    hdst__ranges_free(&worker->own);
}

void hdst__deal_end(hdst__schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->workers; i++) free_worker(&schedule->worker[i]);
    hdst__ranges_free(&schedule->pool);
    pthread_mutex_destroy(&schedule->mutex);
    hdst__free(schedule->allocator, schedule->worker);
    hdst__free(schedule->allocator, schedule->allotment);
    hdst__free(schedule->allocator, schedule);
}

static bool begin_worker(hdst__dealt_worker *worker, const hdst__worker *told, const hdst__allocator *allocator)
{
    const hdst__power *power = told->power;
    *worker = (hdst__dealt_worker){
        .power = told->power, .copies_apart = told->copies_apart, .resident.allocator = allocator, .own.allocator = allocator,
        .fixed = power->fixed, .copy = power->copy, .kernel = power->kernel, .spread = power->spread, .slices = power->slices,
    };
    for (uint32_t i = 0; i < told->resident_count; i++)
        if (!hdst__ranges_add(&worker->resident, &told->resident[i])) return false;
    return true;
}

// The records that lie with nobody: of all resident shares, in ascending order, what is between them.
static bool fill_pool(hdst__schedule *schedule, uint64_t records)
{
    hdst__ranges taken = {.allocator = schedule->allocator};
    bool ok = true;
    for (uint32_t i = 0; i < schedule->workers && ok; i++) ok = hdst__ranges_add_all(&taken, &schedule->worker[i].resident);
    uint64_t reached = 0;
    for (uint32_t i = 0; i < taken.count && ok; i++) {
        ok = hdst__ranges_add(&schedule->pool, &(hdst__share){reached, taken.range[i].first - reached});
        reached = taken.range[i].first + taken.range[i].count;
    }
    ok = ok && hdst__ranges_add(&schedule->pool, &(hdst__share){reached, records - reached});
    hdst__ranges_free(&taken);
    return ok;
}

static hdst__schedule *make(uint32_t workers, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    if (!schedule) return NULL;
    schedule->allocator = schedule->pool.allocator = allocator;
    schedule->worker = hdst__alloc_zero(allocator, workers * sizeof *schedule->worker);
    schedule->allotment = hdst__alloc_zero(allocator, workers * sizeof *schedule->allotment);
    if (schedule->worker && schedule->allotment && pthread_mutex_init(&schedule->mutex, NULL) == 0) return schedule;
    hdst__free(allocator, schedule->worker);
    hdst__free(allocator, schedule->allotment);
    hdst__free(allocator, schedule);
    return NULL;
}

hdst__schedule *hdst__deal_begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = make(job->workers, allocator);
    if (!schedule) return NULL;
    schedule->unit = job->unit ? job->unit : 64;
    bool ok = true;
    for (; ok && schedule->workers < job->workers; schedule->workers++)
        ok = begin_worker(&schedule->worker[schedule->workers], &job->worker[schedule->workers], allocator);
    if (ok && fill_pool(schedule, job->records)) return schedule;
    hdst__deal_end(schedule);
    return NULL;
}

// --- What workers tell ---

uint64_t hdst__deal_slice(hdst__schedule *schedule, uint32_t number, const hdst__slice_limits *limits)
{
    pthread_mutex_lock(&schedule->mutex);
    const uint64_t records = hdst__slice_by_time(schedule->worker[number].kernel, limits);
    pthread_mutex_unlock(&schedule->mutex);
    // What would be left alone is not worth a launch.
    const bool rest = limits->left > records && limits->left - records < records / 2 && limits->left <= limits->most;
    return rest ? limits->left : records;
}

// Shares are of different lengths: of their fixed parts the same part is over.
static void no_longer_under_way(hdst__dealt_worker *worker, uint64_t records)
{
    if (!worker->under_way) return;
    const uint64_t left = records < worker->under_way ? worker->under_way - records : 0;
    worker->fixed_under_way *= (double)left / (double)worker->under_way;
    worker->under_way = left;
}

// What is seen last counts most: half of it is of the last slices that took as long as one should.
static double follow(double known, double seen, double weight) { return known > 0 ? known + weight * (seen - known) : seen; }

static void learn(hdst__dealt_worker *worker, const hdst__slice_cost *cost)
{
    const double records = (double)cost->records, kernel = cost->kernel / records;
    const double weight = worker->slices ? fmin(0.5, cost->kernel / HDST__HOST_SLICE_SECONDS) : 1;      // a guess is worth nothing any more
    if (worker->slices) worker->spread = follow(worker->spread, fabs(kernel - worker->kernel) / worker->kernel, weight);
    worker->kernel = follow(worker->kernel, kernel, weight);
    if (cost->copy > 0) worker->copy = follow(worker->copy, cost->copy / records, weight);
    if (cost->fixed > 0) worker->fixed = follow(worker->fixed, cost->fixed, weight);
    if (worker->slices < UINT32_MAX) worker->slices++;
}

void hdst__deal_done(hdst__schedule *schedule, uint32_t number, const hdst__slice_cost *cost)
{
    pthread_mutex_lock(&schedule->mutex);
    hdst__dealt_worker *worker = &schedule->worker[number];
    no_longer_under_way(worker, cost->records);
    worker->waits = false;              // it asks again
    if (cost->kernel > 0 && cost->records) learn(worker, cost);
    if (worker->slices > worker->power->slices)
        *worker->power = (hdst__power){.fixed = worker->fixed, .copy = worker->copy, .kernel = worker->kernel, .spread = worker->spread,
                                       .slices = worker->slices};
    pthread_mutex_unlock(&schedule->mutex);
}

// To others: what lay with it and what was put down for it go with it when it leaves.
bool hdst__deal_give_back(hdst__schedule *schedule, uint32_t number, const hdst__share *share, bool leaves)
{
    pthread_mutex_lock(&schedule->mutex);
    hdst__dealt_worker *worker = &schedule->worker[number];
    const bool ok = hdst__ranges_reserve(&schedule->pool, 1 + worker->resident.count + worker->own.count);
    if (ok) {
        hdst__ranges_add(&schedule->pool, share);
        no_longer_under_way(worker, share->count);
        worker->leaves |= leaves;
    }
    if (ok && leaves) {
        hdst__ranges_add_all(&schedule->pool, &worker->resident);
        hdst__ranges_add_all(&schedule->pool, &worker->own);
        hdst__ranges_clear(&worker->resident);
        hdst__ranges_clear(&worker->own);
    }
    pthread_mutex_unlock(&schedule->mutex);
    return ok;
}

const char *hdst__deal_left_out(hdst__schedule *schedule, uint32_t number)
{
    pthread_mutex_lock(&schedule->mutex);
    const char *reason = schedule->worker[number].reason;
    pthread_mutex_unlock(&schedule->mutex);
    return reason;
}

double hdst__deal_seconds(hdst__schedule *schedule)
{
    pthread_mutex_lock(&schedule->mutex);
    const double seconds = schedule->seconds;
    pthread_mutex_unlock(&schedule->mutex);
    return seconds;
}
