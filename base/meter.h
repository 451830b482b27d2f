// SPDX-License-Identifier: Apache-2.0
// How much there is of something, and how much there was at most: ever, and since a mark. Thread-safe; a mark or a reset beside an addition may miss that one.
#ifndef HDST_BASE_METER_H
#define HDST_BASE_METER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct hdst__meter {
    _Atomic uint64_t now, peak, earlier;        // peak: since the mark; earlier: before it
} hdst__meter;

static inline void hdst__meter_init(hdst__meter *meter)
{
    atomic_init(&meter->now, 0);
    atomic_init(&meter->peak, 0);
    atomic_init(&meter->earlier, 0);
}

static inline void hdst__meter_note(hdst__meter *meter, uint64_t value)
{
    uint64_t peak = atomic_load_explicit(&meter->peak, memory_order_relaxed);
    while (peak < value && !atomic_compare_exchange_weak(&meter->peak, &peak, value)) {}
}

static inline void hdst__meter_add(hdst__meter *meter, uint64_t amount)
{
    hdst__meter_note(meter, atomic_fetch_add(&meter->now, amount) + amount);
}

static inline void hdst__meter_take(hdst__meter *meter, uint64_t amount) { atomic_fetch_sub(&meter->now, amount); }

// The highest of all times, which is no less than what there is now.
static inline uint64_t hdst__meter_highest(const hdst__meter *meter)
{
    const uint64_t now = atomic_load(&meter->now), peak = atomic_load(&meter->peak), earlier = atomic_load(&meter->earlier);
    const uint64_t before = peak > earlier ? peak : earlier;
    return now > before ? now : before;
}

// From here on `peak` counts anew.
static inline void hdst__meter_mark(hdst__meter *meter)
{
    const uint64_t highest = hdst__meter_highest(meter);
    atomic_store(&meter->earlier, highest);
    atomic_store(&meter->peak, atomic_load(&meter->now));
}

// What was before is forgotten.
static inline void hdst__meter_reset(hdst__meter *meter)
{
    atomic_store(&meter->earlier, 0);
    atomic_store(&meter->peak, atomic_load(&meter->now));
}

#endif
