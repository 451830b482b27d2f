// SPDX-License-Identifier: Apache-2.0
// Which units of a stretch of memory are free: numbers alone, so it serves memory that the host cannot reach. Free neighbours are one range at any time.
// Free ranges are listed by size class, a class for each power of two; whoever wants memory gets the best of its own class, or the first of the next one
// that has any. Taking looks at one class's list, giving back takes the same time always. Not thread-safe.
#ifndef HDST_ENGINE_DEVICE_SUB_ALLOCATOR_H
#define HDST_ENGINE_DEVICE_SUB_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

enum { HDST__SUB_MOST_UNITS = 4096, HDST__SUB_CLASSES = 13, HDST__SUB_NONE = UINT16_MAX };

typedef struct hdst__sub_allocator {
    uint32_t units, free_units;
    uint16_t head[HDST__SUB_CLASSES];           // of each class: the first unit of a free range; HDST__SUB_NONE: there is none
    uint16_t length[HDST__SUB_MOST_UNITS];      // at the first and the last unit of a range: how long it is
    bool is_free[HDST__SUB_MOST_UNITS];         //     the same: nobody has it
    uint16_t next[HDST__SUB_MOST_UNITS], previous[HDST__SUB_MOST_UNITS];        // at the first unit of a free range: others of its class
} hdst__sub_allocator;

// All units are free: one to HDST__SUB_MOST_UNITS.
void hdst__sub_allocator_init(hdst__sub_allocator *allocator, uint32_t units);
// So many neighbouring units (one at least), from *first on. False: there is no such range.
bool hdst__sub_allocator_take(hdst__sub_allocator *allocator, uint32_t units, uint16_t *first);
// What was taken there is free again.
void hdst__sub_allocator_give(hdst__sub_allocator *allocator, uint16_t first);
// Of a range that was taken: how many units it has.
static inline uint32_t hdst__sub_allocator_length(const hdst__sub_allocator *allocator, uint16_t first) { return allocator->length[first]; }

#endif
