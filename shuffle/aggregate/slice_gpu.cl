//# LANES 256u
#pragma once
#include "shuffle/aggregate/slice_key.cl"
// What slices give, by key, in rows that stay on the device until the run ends. A hash table has for each key a record that stands for it: in the slice where
// it comes first its number there, later its row. Who finds another one at its place compares the keys, so equal hashes do no harm. Who finds no place in a
// few tries, or may not stay, is left as it is, and so is who would need a row or bytes that there is no room for: the host takes those.
#define GROUP __attribute__((reqd_work_group_size(LANES, 1, 1)))
#define TRIES 64u
// What the table has: 0, a row's number and 1, a record's number and this bit, or a key that got no row.
#define NEW 0x80000000u
#define NO_ROW 0x7fffffffu
// Where a record's key is: a place in the table, with this bit if it brought the key; it has been added; nowhere.
#define FIRST 0x80000000u
#define ADDED 0xfffffffeu
#define ALONE 0xffffffffu
enum { ROWS, BYTES };               // counters: rows and bytes of the heap that were asked for; behind them, for each slice in flight, records that are left

// Records of a slice: known to the host, or counted by the stage's kernel, which gives none where there was no room for them.
#define SLICE ulong known, __global const ulong *restrict counted, ulong room, __global const uchar *restrict records
inline ulong slice_count(ulong known, __global const ulong *counted, ulong room) { return known != ~0ul ? known : counted[0] <= room ? counted[0] : 0; }

// Rows that came first are those of frequent keys more often than not: a work-group adds to these in its local memory.
inline void add_to_row(__global uchar *rows, __local uint *hot, uint row, __global const uchar *record)
{
    if (row < HOT_ROWS) add_to_hot(hot + row, record);
    else add_values(rows + (ulong)row * RECORD_BYTES, record);
}

inline void hot_begin(__local uint *hot)
{
    for (uint row = (uint)get_local_id(0); row < HOT_ROWS; row += LANES) start_hot(hot + row);
    barrier(CLK_LOCAL_MEM_FENCE);
}

inline void hot_end(__global uchar *rows, __local uint *hot)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = (uint)get_local_id(0); row < HOT_ROWS; row += LANES) end_hot(rows + (ulong)row * RECORD_BYTES, hot + row);
}

// Of a slice: those whose keys have rows are added to them; of the others, the places of their keys.
// The table is read as other memory is, so that a frequent key's place is in a cache; what is not seen there yet the atomic operation sees.
__kernel GROUP void slice_find(SLICE, TEXTS, ulong homes, ulong mask, __global uchar *rows, __global uint *table, __global uint *restrict places,
    __global ulong *restrict left_count)
{
    __local uint hot[HOT_WORDS];
    const ulong count = slice_count(known, counted, room);
    if (get_global_id(0) == 0) *left_count = 0;
    hot_begin(hot);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        __global const uchar *record = records + i * RECORD_BYTES;
        uint place = ALONE;
        if (can_stay(record, TEXTS_OF)) {
            ulong at = hash_of_key(record, TEXTS_OF) & homes;
            for (uint tries = 0; tries < TRIES && place == ALONE; tries++, at = (at + 1) & mask) {
                uint entry = table[at];
                if (entry == 0) entry = atomic_cmpxchg((volatile __global uint *)table + at, 0u, NEW | (uint)i);
                if (entry == 0) place = FIRST | (uint)at;
                else if (entry & NEW) place = same_key(records + (ulong)(entry ^ NEW) * RECORD_BYTES, record, TEXTS_OF) ? (uint)at : ALONE;
                else if (entry != NO_ROW && same_key(rows + (ulong)(entry - 1) * RECORD_BYTES, record, TEXTS_OF)) {
                    add_to_row(rows, hot, entry - 1, record);
                    place = ADDED;
                }
            }
        }
        places[i] = place;
    }
    hot_end(rows, hot);
}

inline void copy_record(__global uchar *to, __global const uchar *from)
{
    for (uint w = 0; w < (uint)(RECORD_BYTES / 8); w++) ((__global ulong *)to)[w] = ((__global const ulong *)from)[w];
}

// Rows for the keys that are new.
__kernel GROUP void slice_rows(SLICE, TEXTS, ulong row_room, ulong heap_room, __global uchar *rows, __global uint *restrict table,
    __global uint *restrict places, volatile __global ulong *counter)
{
    const ulong count = slice_count(known, counted, room);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        if (places[i] >= ADDED || !(places[i] & FIRST)) continue;
        __global const uchar *record = records + i * RECORD_BYTES;
        const ulong bytes = heap_bytes(record), at = bytes ? atom_add(counter + BYTES, bytes) : 0;
        const ulong row = bytes <= heap_room && at <= heap_room - bytes ? atom_inc(counter + ROWS) : row_room;
        const uint place = places[i] ^ FIRST;
        places[i] = row < row_room ? ADDED : ALONE;
        table[place] = row < row_room ? (uint)row + 1 : NO_ROW;
        if (row >= row_room) continue;
        copy_record(rows + row * RECORD_BYTES, record);
        stay(rows + row * RECORD_BYTES, heap, at, TEXTS_OF);
    }
}

// The slice's other records go to these rows, or are left.
__kernel GROUP void slice_add(SLICE, __global uchar *rows, __global const uint *restrict table, __global const uint *restrict places,
    volatile __global ulong *left_count, __global uchar *left)
{
    __local uint hot[HOT_WORDS];
    const ulong count = slice_count(known, counted, room);
    hot_begin(hot);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        __global const uchar *record = records + i * RECORD_BYTES;
        const uint place = places[i];
        if (place == ADDED) continue;
        const uint entry = place == ALONE ? NO_ROW : table[place];
        if (entry == NO_ROW) copy_record(left + (ulong)atom_inc(left_count) * RECORD_BYTES, record);
        else add_to_row(rows, hot, entry - 1, record);
    }
    hot_end(rows, hot);
}
