//# KEY uint | long
//# KEY_AT 0ul
//# RECORD_BYTES 8ul
#pragma once
// Where the records of keys begin, of records in the order of an integer key, none of which is negative: each key searches for its own, so it does not
// matter how far keys lie apart or how many records one has. Neighbours look at the same records nearly to the end.

inline ulong key_at(__global const uchar *records, ulong i) { return (ulong)*(__global const KEY *)(records + i * RECORD_BYTES + KEY_AT); }

// `begin`: the number of the first of these records. Keys from `from` on, of which there is none before these.
__kernel void find_starts(__global const uchar *restrict records, ulong count, ulong begin, ulong from, ulong keys, __global ulong *restrict starts)
{
    for (ulong k = get_global_id(0); k < keys; k += get_global_size(0)) {
        ulong low = 0, high = count;
        while (low < high) {
            const ulong middle = low + (high - low) / 2;
            if (key_at(records, middle) < from + k) low = middle + 1;
            else high = middle;
        }
        starts[k] = begin + low;
    }
}
