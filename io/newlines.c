// SPDX-License-Identifier: Apache-2.0
// Line ends, counted by vectors and found by masks (io/newlines.h).
#include "io/newlines.h"

#include "base/vector_targets.h"
#include "io/byte_masks.h"

enum { RUN = 64, RUNS = 255 };          // bytes that are compared at once; times that a counter of a byte may grow

// Each of RUN counters of a byte takes its byte of each run: no vector is taken apart on the way.
HDST__WIDE_VECTORS static uint64_t count_runs(const char *bytes, uint64_t runs)
{
    uint64_t count = 0;
    while (runs) {
        const uint64_t some = runs < RUNS ? runs : RUNS;
        uint8_t counter[RUN] = {0};
        for (uint64_t r = 0; r < some; r++, bytes += RUN)
            for (int i = 0; i < RUN; i++) counter[i] = (uint8_t)(counter[i] + (bytes[i] == '\n'));
        for (int i = 0; i < RUN; i++) count += counter[i];
        runs -= some;
    }
    return count;
}

uint64_t hdst__newlines_count(const char *bytes, uint64_t count)
{
    const uint64_t runs = count / RUN;
    uint64_t found = count_runs(bytes, runs);
    for (uint64_t i = runs * RUN; i < count; i++) found += bytes[i] == '\n';
    return found;
}

uint64_t hdst__newlines_find(const char *bytes, uint64_t count, uint64_t number)
{
    uint64_t at = 0;
    for (; count - at >= RUN; at += RUN) {
        const hdst__bytes run = hdst__bytes_load(bytes + at);
        uint64_t mask = hdst__bytes_equal(&run, '\n');
        const uint64_t here = (uint64_t)__builtin_popcountll(mask);
        if (here < number) {
            number -= here;
            continue;
        }
        while (--number) mask &= mask - 1;
        return at + (uint64_t)__builtin_ctzll(mask) + 1;
    }
    for (; at < count; at++)
        if (bytes[at] == '\n' && --number == 0) return at + 1;
    return count + 1;
}
