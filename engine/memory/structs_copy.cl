//# WORD uchar | ushort | uint | ulong
#pragma once
// Element after element of records in any layout becomes one of C structs: all addresses are in bytes (record/layout.h). block: 0: records of a buffer are
// evenly spaced.
__kernel void copy_element(__global const uchar *restrict from, ulong from_at, ulong stride, ulong block, ulong block_stride, ulong count,
                           __global uchar *restrict to, ulong to_at, ulong to_stride)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        const ulong record = block ? i / block * block_stride + i % block * stride : i * stride;
        *(__global WORD *)(to + to_at + i * to_stride) = *(__global const WORD *)(from + from_at + record);
    }
}
