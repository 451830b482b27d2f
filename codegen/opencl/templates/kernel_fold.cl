//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: DIALECT
//: TITLE example
//: RUN 64
//: PRELUDE
//: FILE_SCOPE
//: SETUP
//: LOAD
//: BODY
//: STORE
#pragma once
DIALECT
// TITLE
// Folds each run of RUN records in order into one: work-item n makes record n of the output.
PRELUDE
FILE_SCOPE

__kernel
void KERNEL(ARGS)
{
    const ulong n = get_global_id(0), start = n * RUN;
    if (start >= count) return;
    const ulong end = count - start < RUN ? count : start + RUN;
    SETUP
    ulong i = start;
    LOAD
    for (i = start + 1; i < end; i++) {
        BODY
    }
    STORE
}
