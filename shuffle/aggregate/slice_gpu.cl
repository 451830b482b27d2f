//# LANES 256u
#pragma once
#include "shuffle/aggregate/slice_example.cl"
// What a slice gave, by key, in fewer records that come to the same. A hash table in the device's memory has, for each key, the number of the record that came
// first, which stands for it; whoever finds another record at its place compares the keys, so equal hashes do no harm. Who finds no place in a few tries
// remains as it is. The host meets whatever has the same key in the end.
#define GROUP __attribute__((reqd_work_group_size(LANES, 1, 1)))
#define TRIES 64u
#define ALONE 0xffffffffu
#define FIRST 0xfffffffeu

// The place of each record's key.
__kernel GROUP void slice_find(ulong count, ulong mask, __global const uchar *restrict records, TEXTS, volatile __global uint *table,
    __global uint *restrict places)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        __global const uchar *record = records + i * RECORD_BYTES;
        ulong at = hash_of_key(record, TEXTS_OF) & mask;
        uint place = ALONE;
        for (uint tries = 0; tries < TRIES && place == ALONE; tries++, at = (at + 1) & mask) {
            const uint first = atomic_cmpxchg(table + at, 0u, (uint)i + 1);
            if (first == 0 || same_key(records + (ulong)(first - 1) * RECORD_BYTES, record, TEXTS_OF)) place = (uint)at;
        }
        places[i] = place;
    }
}

inline void copy_record(__global uchar *to, __global const uchar *from)
{
    for (uint w = 0; w < (uint)(RECORD_BYTES / 8); w++) ((__global ulong *)to)[w] = ((__global const ulong *)from)[w];
}

// A row for each key: the record that came first. The table has the rows' numbers then.
__kernel GROUP void slice_rows(ulong size, __global const uchar *restrict records, __global uint *restrict table, __global uint *restrict places,
    volatile __global uint *count, __global uchar *restrict rows)
{
    for (ulong at = get_global_id(0); at < size; at += get_global_size(0)) {
        const uint first = table[at];
        if (first == 0) continue;
        const uint row = atomic_inc(count);
        copy_record(rows + (ulong)row * RECORD_BYTES, records + (ulong)(first - 1) * RECORD_BYTES);
        table[at] = row;
        places[first - 1] = FIRST;
    }
}

// All others go to the row of their key.
__kernel GROUP void slice_add(ulong count, __global const uchar *restrict records, __global const uint *restrict table, __global const uint *restrict places,
    volatile __global uint *row_count, __global uchar *rows)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        __global const uchar *record = records + i * RECORD_BYTES;
        const uint place = places[i];
        if (place == FIRST) continue;
        if (place == ALONE) copy_record(rows + (ulong)atomic_inc(row_count) * RECORD_BYTES, record);
        else add_values(rows + (ulong)table[place] * RECORD_BYTES, record);
    }
}
