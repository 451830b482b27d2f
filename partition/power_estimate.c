// SPDX-License-Identifier: Apache-2.0
// A worker's power from the slices that it ran.
#include "partition/power_estimate.h"

#include "base/costs_host.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = HDST__POWER_SAMPLES * (HDST__POWER_SAMPLES - 1) / 2, FEWEST_PAIRS = 8 };

void hdst__power_estimate_add(hdst__power_estimate *estimate, const hdst__slice_cost *cost)
{
    if (!(cost->kernel > 0) || !cost->records) return;
    estimate->sample[estimate->slices++ % HDST__POWER_SAMPLES] = *cost;
    if (estimate->slices == UINT32_MAX) estimate->slices = HDST__POWER_SAMPLES;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *value, uint32_t count)
{
    qsort(value, count, sizeof *value, by_size);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

typedef struct line {               // seconds = fixed + each * records
    double fixed, each;
} line;

typedef double (*part_of)(const hdst__slice_cost *cost);

static double kernel_of(const hdst__slice_cost *cost) { return cost->kernel; }
static double copy_of(const hdst__slice_cost *cost) { return cost->copy; }
static double fixed_of(const hdst__slice_cost *cost) { return cost->fixed; }

static double median_each(const hdst__slice_cost *sample, uint32_t count, part_of part)
{
    double each[HDST__POWER_SAMPLES];
    for (uint32_t i = 0; i < count; i++) each[i] = part(&sample[i]) / (double)sample[i].records;
    return median(each, count);
}

// Between slices of nearly the same length a slope is noise.
static bool differ(uint64_t a, uint64_t b) { return a > b ? a - b > b / 4 : b - a > a / 4; }

static line fit(const hdst__slice_cost *sample, uint32_t count, part_of part)
{
    double slope[PAIRS], rest[HDST__POWER_SAMPLES];
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (differ(sample[i].records, sample[j].records))
                slope[pairs++] = (part(&sample[i]) - part(&sample[j])) / ((double)sample[i].records - (double)sample[j].records);
    const double each = pairs >= FEWEST_PAIRS ? median(slope, pairs) : 0;
    for (uint32_t i = 0; i < count; i++) rest[i] = part(&sample[i]) - each * (double)sample[i].records;
    const double fixed = median(rest, count);
    return each > 0 && fixed > 0 ? (line){fixed, each} : (line){0, median_each(sample, count, part)};
}

// 1.4826 times the median distance from the median is the standard deviation where things are normal.
static double spread_of(const hdst__slice_cost *sample, uint32_t count, const line *kernel)
{
    double distance[HDST__POWER_SAMPLES];
    for (uint32_t i = 0; i < count; i++) {
        const double expected = kernel->fixed + kernel->each * (double)sample[i].records;
        distance[i] = fabs(sample[i].kernel - expected) / expected;
    }
    return 1.4826 * median(distance, count);
}

bool hdst__power_estimate_read(const hdst__power_estimate *estimate, hdst__power *power)
{
    const hdst__slice_cost *sample = estimate->sample;
    const uint32_t count = estimate->slices < HDST__POWER_SAMPLES ? estimate->slices : HDST__POWER_SAMPLES;
    if (count < HDST__HOST_STEADY_SLICES) return false;
    line kernel = fit(sample, count, kernel_of);
    // Where slices differ much, what is left beside a line is noise too, and a fixed part that is not there would keep work from a device.
    if (spread_of(sample, count, &kernel) > HDST__HOST_STEADY) kernel = (line){0, median_each(sample, count, kernel_of)};
    double fixed[HDST__POWER_SAMPLES];
    for (uint32_t i = 0; i < count; i++) fixed[i] = fixed_of(&sample[i]);
    *power = (hdst__power){.fixed = kernel.fixed + median(fixed, count), .copy = median_each(sample, count, copy_of), .kernel = kernel.each,
                           .spread = spread_of(sample, count, &kernel), .slices = estimate->slices};
    return true;
}
