//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: GROUP_SIZE 256
//: STRETCHES 1UL
//: ITEMS 1
//: PRODUCT_SETUP
//: STRETCH_SETUP
//: PRODUCTS
#pragma once

// Behind the records, which left what they bring along in device memory: wide sums. A stretch of records has a table, whose parts some work-groups share.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_products(ARGS)
{
    const uint lane = get_local_id(0);
    PRODUCT_SETUP
    const ulong stretches = STRETCHES, each = (count + stretches - 1) / stretches;
    for (ulong part = get_group_id(0); part < stretches * ITEMS; part += get_num_groups(0)) {
        const ulong stretch = part / ITEMS, start = min(count, stretch * each), stop = min(count, start + each);
        const uint item = (uint)(part % ITEMS);
        STRETCH_SETUP
        PRODUCTS
    }
}
