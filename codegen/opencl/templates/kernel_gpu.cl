//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: DIALECT
//: TITLE example
//: PRELUDE
//: FILE_SCOPE
//: EMIT_SCOPE
//: SETUP
//: RECORDS
//: FLUSH
//: GROUP_SIZE 256
//: SPAN_SIZE 512
//: CHUNK_LOOP {
#pragma once
DIALECT
// TITLE
// Form for GPUs: a lane takes a record at a time, or several; work-groups stride over the slice.
PRELUDE
// A constant, not get_local_size(0): with that as the step of a loop behind a barrier PoCL 3.1 drops the loop when only one lane enters it.
#define LANES GROUP_SIZE
// Records that a work-group takes at once. Those of a lane lie LANES apart, so that neighbours read neighbours.
#define SPAN SPAN_SIZE
// Lanes of a warp that parted in a rare branch would go on apart for good, each part at the price of the whole. No
// memory is clobbered: nothing is ordered by it.
#if defined(__NV_CL_C_VERSION) && LANES >= 32
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;")
#else
#define TOGETHER()
#endif
// A condition that stands again and again between barriers. PoCL 3.1 would lead the way from one place to the next, and fail on what it made.
#if defined(__NV_CL_C_VERSION)
#define LOOKED_AT
#else
#define LOOKED_AT volatile
#endif
FILE_SCOPE
EMIT_SCOPE

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL(ARGS)
{
    const uint lane = get_local_id(0);
    SETUP
    ulong base = get_group_id(0) * (ulong)SPAN;
    do {
        CHUNK_LOOP
            TOGETHER();
            RECORDS
        }
        FLUSH
    } while (base < count);
}
