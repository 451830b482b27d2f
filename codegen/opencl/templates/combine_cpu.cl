//# COMBINED_RECORD_WORDS 3
//# COMBINED_KEY 0
//# COMBINE_VALUES row[2] += record[2]
#pragma once
#include "codegen/opencl/templates/combine_tables_cpu.cl"

// Records with equal keys become one before they leave a core. A row is such a record; where it has none, the length of its key is 0.

inline ulong combined_home(__global const ulong *record, ulong bits)
{
    const ulong h = (record[COMBINED_KEY] ^ record[COMBINED_KEY + 1] * 0x9e3779b97f4a7c15UL) * 0xbf58476d1ce4e5b9UL;
    return h >> (64 - bits);
}

// Where the record is looked for at the turn number `probe`: two rows lie in a cache line, mostly, and the other one of those comes first.
inline ulong combined_place(ulong home, uint probe, ulong bits)
{
    return ((home ^ (probe & 1)) + (probe & ~1u)) & ((1UL << bits) - 1);
}

inline bool combined_is_free(__global const ulong *row) { return (uint)row[COMBINED_KEY] == 0; }

// Texts of up to 12 bytes lie in the record as a whole; of an empty one a row would be taken for free.
inline bool combined_is_same(__global const ulong *row, ulong low, ulong high)
{
    return row[COMBINED_KEY] == low && row[COMBINED_KEY + 1] == high;
}

inline void combined_copy(__global ulong *to, __global const ulong *record)
{
    for (uint w = 0; w < COMBINED_RECORD_WORDS; w++) to[w] = record[w];
}

// Rows of 2^bits places lie behind as many places, so that a larger table is beside the smaller one.
inline void combined_grow(__global ulong *rows, ulong bits)
{
    __global ulong *larger = rows + ((ulong)COMBINED_ROW_WORDS << (bits + 1));
    rows += (ulong)COMBINED_ROW_WORDS << bits;
    for (ulong i = 0; i < 1UL << bits; i++, rows += COMBINED_ROW_WORDS) {
        if (combined_is_free(rows)) continue;
        const ulong home = combined_home(rows, bits + 1);
        uint probe = 0;
        while (!combined_is_free(larger + COMBINED_ROW_WORDS * combined_place(home, probe, bits + 1))) probe++;
        combined_copy(larger + COMBINED_ROW_WORDS * combined_place(home, probe, bits + 1), rows);
    }
}

// The record that is not at its home: whether it found another place, or its key there. *found: so many keys were there.
inline bool combined_elsewhere(__global ulong *head, __global ulong *own, ulong home, ulong bits, __global ulong *record, ulong *found)
{
    const ulong low = record[COMBINED_KEY], high = record[COMBINED_KEY + 1];
    if ((uint)low - 1 >= 12) return false;
    for (uint probe = 0; probe < COMBINED_PROBES; probe++) {
        __global ulong *row = own + COMBINED_ROW_WORDS * combined_place(home, probe, bits);
        if (combined_is_same(row, low, high)) {
            COMBINE_VALUES;
            ++*found;
            return true;
        }
        if (!combined_is_free(row)) continue;
        if (head[2] >= 3UL << bits >> 2) return false;
        combined_copy(row, record);
        head[2]++;
        return true;
    }
    return false;
}

// Records `from` ... `to` of the output, COMBINED_BATCH of them at most: those whose keys are in the table, or find a place there, leave it. Returns where
// the others end.
inline ulong combine_records(__global ulong *head, __global ulong *rows, ulong most, __global ulong *record, ulong from, ulong to)
{
    uint home[COMBINED_BATCH];
    const ulong bits = head[1];
    __global ulong *own = rows + ((ulong)COMBINED_ROW_WORDS << bits);
    const uint count = (uint)(to - from);
    ulong found = 0;
    record += from * COMBINED_RECORD_WORDS;
    for (uint i = 0; i < count; i++) {
        home[i] = (uint)combined_home(record + i * COMBINED_RECORD_WORDS, bits);
        PREFETCH_ROW(own + (ulong)home[i] * COMBINED_ROW_WORDS);
    }
    __global ulong *stays = record;
    for (uint i = 0; i < count; i++, record += COMBINED_RECORD_WORDS) {
        __global ulong *row = own + (ulong)home[i] * COMBINED_ROW_WORDS;
        if (combined_is_same(row, record[COMBINED_KEY], record[COMBINED_KEY + 1]) && !combined_is_free(row)) {
            COMBINE_VALUES;
            found++;
        } else if (!combined_elsewhere(head, own, home[i], bits, record, &found)) {
            combined_copy(stays, record);
            stays += COMBINED_RECORD_WORDS;
            from++;
        }
    }
    if (bits < most && head[2] * 2 > 1UL << bits) {
        combined_grow(rows, bits);
        head[1]++;
    }
    head[3] += count;
    head[4] += found;
    return from;
}
