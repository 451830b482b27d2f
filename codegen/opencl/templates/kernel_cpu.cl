//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: DIALECT
//: TITLE example
//: PRELUDE
//: FILE_SCOPE
//: BLOCK_DEFINE
//: SUM_LOOPS
//: SETUP
//: CHUNK
//: BLOCK_LOOP
//: RECORD_LOOP
//: FLUSH
//: FINISH
//: STRIP_STEP 64
//: FEW_STEP 64 | 4
#pragma once
DIALECT
// TITLE
// Form for CPU devices: one work-item is one strip of records. Blocks of records first, then what is left one by one.
PRELUDE
FILE_SCOPE
SUM_LOOPS
BLOCK_DEFINE

// Where strip number `strip` starts: a multiple of STRIP_STEP records from the segment's first one, so that blocks are whole and a strip shares no cache line
// with its neighbour; of few records a multiple of FEW_STEP, so that all strips have some.
inline ulong strip_start(ulong skip, ulong count, ulong strip, ulong strips)
{
    if (strip == strips) return count;
    const ulong step = count < strips * STRIP_STEP ? FEW_STEP : STRIP_STEP;
    const ulong start = (skip + count / strips * strip + count % strips * strip / strips) / step * step;
    const long past = (long)(start - skip);     // signed: Oclgrind does not know the saturating subtraction that clang makes of an unsigned choice
    return past > 0 ? (ulong)past : 0;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void KERNEL(ARGS)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong start = strip_start(skip, count, strip, strips), end = strip_start(skip, count, strip + 1, strips);
    SETUP
    ulong i = start;
    while (i < end) {
        CHUNK
        BLOCK_LOOP
        RECORD_LOOP
        FLUSH
    }
    FINISH
}
