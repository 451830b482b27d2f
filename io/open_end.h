// SPDX-License-Identifier: Apache-2.0
// The end of a source that does not say beforehand how many records it has. Its records are read as if there were very many; those behind the end come as
// zeroes, and whoever reads asks here how many there were. Any number of threads read at once, so what is found first need not be the end itself, but lies
// behind it; once all records before the end were asked for, it is found.
#ifndef HDST_IO_OPEN_END_H
#define HDST_IO_OPEN_END_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__open_end {
    _Atomic uint64_t records;       // the first record that was found not to be there, so far; UINT64_MAX: none
    _Atomic uint64_t given;         // behind the last one that was there, so far
} hdst__open_end;

// So many are taken for as many as there may be: a run of all of them takes hours on any machine, and their bytes can be counted in 64 bits.
static const uint64_t HDST__OPEN_RECORDS = (uint64_t)1 << 44;

// How many of these records there are, once they were read.
static inline uint64_t hdst__open_end_within(hdst__open_end *end, uint64_t first, uint64_t count)
{
    const uint64_t records = atomic_load(&end->records), there = records > first ? records - first : 0;
    return there < count ? there : count;
}

// Whether it is known how many records there are.
static inline bool hdst__open_end_is_found(hdst__open_end *end)
{
    return atomic_load(&end->records) == atomic_load(&end->given);
}

#endif
