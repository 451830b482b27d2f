// SPDX-License-Identifier: Apache-2.0
// Partitioning by a table of computing powers.
#include "partition/allot.h"

#include <math.h>

double hdst__allotment_end(const hdst__allotment *worker, double records)
{
    if (!(records > 0)) return worker->busy;
    if (!worker->copies_apart) return worker->busy + worker->fixed + records * (worker->copy + worker->kernel);
    return worker->fixed + fmax(worker->copying + records * worker->copy, worker->busy + records * worker->kernel);
}

double hdst__allotment_records(const hdst__allotment *worker, double seconds)
{
    const double kernels = seconds - worker->fixed - worker->busy, copies = seconds - worker->fixed - worker->copying;
    if (!worker->copies_apart) return kernels / (worker->copy + worker->kernel);
    return fmin(worker->copy > 0 ? copies / worker->copy : copies < 0 ? copies : HUGE_VAL, kernels / worker->kernel);
}

// Units that a worker has done by a time.
static uint64_t units_by(const hdst__allotment *worker, double seconds, uint64_t unit, uint64_t most)
{
    const double fit = hdst__allotment_records(worker, seconds) / (double)unit;
    return !(fit >= 1) ? 0 : fit < (double)most ? (uint64_t)fit : most;
}

static bool suffices(const hdst__allotment *worker, uint32_t workers, double seconds, uint64_t unit, uint64_t units)
{
    uint64_t left = units;
    for (uint32_t i = 0; i < workers; i++) {
        const uint64_t done = units_by(&worker[i], seconds, unit, left);
        if (done == left) return true;
        left -= done;
    }
    return left == 0;
}

static double ends(const hdst__allotment *worker, uint64_t units, uint64_t unit)
{
    return hdst__allotment_end(worker, (double)unit * (double)units);
}

// Alone, the one that is done first: a time that suffices.
static double alone(const hdst__allotment *worker, uint32_t workers, uint64_t units, uint64_t unit)
{
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < workers; i++) least = fmin(least, ends(&worker[i], units, unit));
    return least;
}

// A time that does not suffice, next below one that does: bisection until the doubles are neighbours, or nearly.
static double not_enough(const hdst__allotment *worker, uint32_t workers, uint64_t unit, uint64_t units, double enough)
{
    double low = 0, high = enough;
    while (high - low > enough * 1e-12) {
        const double middle = low + (high - low) / 2;
        if (suffices(worker, workers, middle, unit, units)) high = middle;
        else low = middle;
    }
    return low;
}

static uint32_t first_to_end(const hdst__allotment *worker, uint32_t workers, uint64_t unit)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < workers; i++)
        if (ends(&worker[i], worker[i].records / unit + 1, unit) < ends(&worker[best], worker[best].records / unit + 1, unit)) best = i;
    return best;
}

// Each has what it would have done by a time that is just too short; the few units that are left go to whoever ends first with one more.
double hdst__allot(hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit)
{
    const uint64_t units = records / unit + (records % unit > 0);
    const double enough = alone(worker, workers, units, unit), time = enough < HUGE_VAL ? not_enough(worker, workers, unit, units, enough) : 0;
    uint64_t left = units;
    for (uint32_t i = 0; i < workers; i++) {
        const uint64_t done = enough < HUGE_VAL ? units_by(&worker[i], time, unit, left) : 0;
        worker[i].records = done * unit;
        left -= done;
    }
    if (!(enough < HUGE_VAL)) return HUGE_VAL;
    uint32_t last = 0;
    for (; left; left--) worker[last = first_to_end(worker, workers, unit)].records += unit;
    double seconds = 0;
    for (uint32_t i = 0; i < workers; i++)
        if (worker[i].records) seconds = fmax(seconds, ends(&worker[i], worker[i].records / unit, unit));
    if (records % unit) worker[last].records -= unit - records % unit;
    return seconds;
}

double hdst__allot_seconds(const hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit)
{
    const uint64_t units = records / unit + (records % unit > 0);
    const double enough = alone(worker, workers, units, unit);
    return enough < HUGE_VAL ? not_enough(worker, workers, unit, units, enough) : enough;
}
