//# WORD uint | ulong
//# RECORD_BYTES 16ul
//# NUMBER uint | long
//# NUMBER_AT 0ul
//# ROW_BYTES 8ul
//# MOVES MOVE(8, 0, 8)
#pragma once
// Records change rows of a value: each has the number of a row, negative ones beyond all rows. Of several with one number the last one counts: `last` has
// for each row, counted through all calls from 1, which record named it last, so it need not be cleared.
#define MOVE(from, to, bytes) \
    for (ulong at = 0; at < (bytes); at += sizeof(WORD)) *(__global WORD *)(row + (to) + at) = *(__global const WORD *)(record + (from) + at);

inline ulong number_at(__global const uchar *records, ulong i) { return (ulong)*(__global const NUMBER *)(records + i * RECORD_BYTES + NUMBER_AT); }

inline void move_record(__global const uchar *restrict records, ulong i, __global uchar *restrict rows)
{
    __global const uchar *record = records + i * RECORD_BYTES;
    __global uchar *row = rows + number_at(records, i) * ROW_BYTES;
    MOVES
}

// Of records of which each names a row of its own.
__kernel void move_rows(__global const uchar *restrict records, ulong count, __global uchar *restrict rows)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) move_record(records, i, rows);
}

// `before`: records before these, of all calls.
__kernel void name_rows(__global const uchar *restrict records, ulong count, ulong before, ulong row_count, volatile __global uint *restrict last,
                        __global uint *restrict stray)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        const ulong number = number_at(records, i);
        if (number < row_count) atomic_max(&last[number], (uint)(before + i + 1));
        else *stray = 1;
    }
}

// Behind all of them: nothing is changed if one names a row that there is not.
__kernel void change_rows(__global const uchar *restrict records, ulong count, ulong before, __global const uint *restrict last,
                          __global const uint *restrict stray, __global uchar *restrict rows)
{
    if (*stray) return;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        if (last[number_at(records, i)] == (uint)(before + i + 1)) move_record(records, i, rows);
}
