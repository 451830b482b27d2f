// SPDX-License-Identifier: Apache-2.0
// Which shape of a GPU kernel is quickest (engine/stage/shape_search.h).
#include "engine/stage/shape_search.h"

static bool tuning_shape_is(const hdst__tuning_shape *a, const hdst__tuning_shape *b)
{
    return a->group == b->group && a->records == b->records && a->units == b->units;
}

// --- Rounds ---

static bool is_new(const hdst__tuning *t, const hdst__tuning_shape *shape)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (tuning_shape_is(&t->tries[i].shape, shape)) return false;
    return true;
}

static void propose(hdst__tuning *t, hdst__tuning_shape shape)
{
    const bool fits = shape.group >= t->least.group && shape.group <= t->most.group && shape.records >= t->least.records && shape.records <= t->most.records &&
        shape.units >= t->least.units && shape.units <= t->most.units;
    if (fits && is_new(t, &shape) && t->count < HDST__GPU_TUNING_TRIES) t->tries[t->count++] = (hdst__tuning_try){.shape = shape};
}

static void propose_round(hdst__tuning *t)
{
    hdst__tuning_shape shape = t->tries[t->best].shape, near = shape;
    switch (t->round) {
    case HDST__TUNING_UNITS:
        for (uint32_t quarters = 1; quarters <= 8; quarters *= 2) {
            near.units = shape.units * quarters / 4;
            propose(t, near);
        }
        break;
    case HDST__TUNING_MORE_RECORDS:
        near.records = shape.records * 2;
        propose(t, near);
        break;
    case HDST__TUNING_FEWER_RECORDS:
        near.records = shape.records / 2;
        propose(t, near);
        break;
    case HDST__TUNING_GROUP:        // as many lanes in all
        propose(t, (hdst__tuning_shape){shape.group / 2, shape.records, shape.units * 2});
        propose(t, (hdst__tuning_shape){shape.group * 2, shape.records, shape.units / 2});
        break;
    case HDST__TUNING_DONE: break;
    }
}

static void forget_samples(hdst__tuning_try *try) { try->submitted = try->samples = 0; }

// A round in which there is nothing to try is over at once.
static void begin_round(hdst__tuning *t)
{
    for (; t->round != HDST__TUNING_DONE; t->round++) {
        t->first = t->count;
        t->reference = 0;
        forget_samples(&t->tries[t->best]);
        propose_round(t);
        if (t->count > t->first) return;
    }
    t->first = t->count;
}

void hdst__tuning_start(hdst__tuning *t, hdst__tuning_shape shape, hdst__tuning_round round, hdst__tuning_shape least, hdst__tuning_shape most,
                        uint64_t least_records)
{
    *t = (hdst__tuning){.least = least, .most = most, .round = round, .count = 1, .least_records = least_records};
    t->tries[0].shape = shape;
    begin_round(t);
}

// --- Slices ---

void hdst__tuning_resume(hdst__tuning *t)
{
    for (uint32_t i = 0; i < t->count; i++) t->tries[i].submitted = t->tries[i].samples;
}

static bool in_round(const hdst__tuning *t, uint32_t i) { return i == t->best || i >= t->first; }

static double median(const hdst__tuning_try *try)
{
    double sorted[HDST__GPU_TUNING_SAMPLES];
    for (uint32_t i = 0; i < try->samples; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > try->sample[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = try->sample[i];
    }
    return sorted[try->samples / 2];
}

static double least_of(const hdst__tuning_try *try)
{
    double least = try->sample[0];
    for (uint32_t i = 1; i < try->samples; i++)
        if (try->sample[i] < least) least = try->sample[i];
    return least;
}

static void look_for_hopeless(hdst__tuning *t)
{
    const hdst__tuning_try *best = &t->tries[t->best];
    for (uint32_t i = t->first; i < t->count && best->samples; i++)
        if (t->tries[i].samples && least_of(&t->tries[i]) > HDST__GPU_TUNING_HOPELESS * least_of(best)) t->tries[i].out = true;
}

// Times of short slices do not compare with those of long ones: what was measured before slices became long is measured again.
static bool compares(hdst__tuning *t, uint64_t records)
{
    if (records < t->reference / 2) return false;
    if (records / 2 > t->reference) {
        for (uint32_t i = 0; i < t->count && t->reference; i++) {
            t->tries[i].submitted -= t->tries[i].samples;
            t->tries[i].samples = 0;
            t->tries[i].out = t->tries[i].failed;
        }
        t->reference = records;
    }
    return true;
}

static bool is_sampled(const hdst__tuning *t, uint64_t records)
{
    return t->round != HDST__TUNING_DONE && records >= t->least_records && t->slices < HDST__GPU_TUNING_SLICES;
}

// The quickest of those that have all samples.
static uint32_t leader(const hdst__tuning *t)
{
    uint32_t leader = t->best;
    for (uint32_t i = t->first; i < t->count; i++)
        if (!t->tries[i].out && t->tries[i].samples == HDST__GPU_TUNING_SAMPLES && t->tries[leader].samples == HDST__GPU_TUNING_SAMPLES &&
            median(&t->tries[i]) < median(&t->tries[leader])) leader = i;
    return leader;
}

// The one with the fewest slices so far, so that all meet the same weather.
uint32_t hdst__tuning_next(hdst__tuning *t, uint64_t records)
{
    uint32_t next = t->best;
    for (uint32_t i = t->first; i < t->count; i++)
        if (!t->tries[i].out && t->tries[i].submitted < t->tries[next].submitted) next = i;
    if (!is_sampled(t, records) || t->tries[next].submitted >= HDST__GPU_TUNING_SAMPLES) return leader(t);
    t->tries[next].submitted++;
    t->slices++;
    return next;
}

void hdst__tuning_note(hdst__tuning *t, uint32_t index, double seconds, uint64_t records, bool valid)
{
    hdst__tuning_try *try = &t->tries[index];
    if (t->round == HDST__TUNING_DONE || !in_round(t, index) || records < t->least_records || try->samples == try->submitted) return;
    if (t->clock) seconds = t->clock(&try->shape, records, t->clock_user);
    if (valid && seconds > 0 && compares(t, records)) try->sample[try->samples++] = seconds / (double)records;
    else try->submitted--;
    look_for_hopeless(t);
}

void hdst__tuning_drop(hdst__tuning *t, uint32_t index) { t->tries[index].out = t->tries[index].failed = true; }

// --- The choice ---

bool hdst__tuning_is_measured(const hdst__tuning *t)
{
    if (t->round == HDST__TUNING_DONE) return false;
    if (t->slices >= HDST__GPU_TUNING_SLICES) return true;
    for (uint32_t i = 0; i < t->count; i++)
        if (in_round(t, i) && !t->tries[i].out && t->tries[i].samples < HDST__GPU_TUNING_SAMPLES) return false;
    return true;
}

static uint32_t choose(hdst__tuning *t)
{
    uint32_t best = t->best;
    if (t->tries[best].samples < HDST__GPU_TUNING_SAMPLES) return best;
    double least = t->tries[best].seconds = median(&t->tries[best]);
    for (uint32_t i = t->first; i < t->count; i++) {
        if (t->tries[i].out || t->tries[i].samples < HDST__GPU_TUNING_SAMPLES) continue;
        t->tries[i].seconds = median(&t->tries[i]);
        const double needed = best == t->best ? least * (1 - HDST__GPU_TUNING_MARGIN) : least;
        if (t->tries[i].seconds >= needed) continue;
        best = i;
        least = t->tries[i].seconds;
    }
    return best;
}

void hdst__tuning_advance(hdst__tuning *t)
{
    const uint32_t best = choose(t);
    const bool better = best != t->best;
    const bool goes_on = better && (t->round == HDST__TUNING_MORE_RECORDS || t->round == HDST__TUNING_FEWER_RECORDS);
    t->best = best;
    if (t->slices >= HDST__GPU_TUNING_SLICES) t->round = HDST__TUNING_DONE;
    else if (t->round == HDST__TUNING_MORE_RECORDS && t->tries[best].shape.records > t->tries[0].shape.records && !better) t->round = HDST__TUNING_GROUP;
    else if (!goes_on) t->round++;
    begin_round(t);
}
