//# COMBINED_ROW_WORDS 4
#pragma once

// Tables of a CPU's cores in which records with equal keys meet before they leave a core: rows of them (combine_cpu.cl), or of words (combine_rows_cpu.cl).
// Tables are taken by strips, one for each core at a time. A table's head: whether it is taken; of its rows, the logarithm of their number, how many have a
// record; how many records were looked for there, how many of them were found. For rows of words: how many sums were added to since they were looked
// through, after how many they are, from which size on a sum moves on, the scales of the sums, how many rows did move on, whether there is no place for more.
#define COMBINED_HEAD 24
#define COMBINED_BATCH 128
#define COMBINED_PROBES 16
#define COMBINED_LOOK 65536
#define COMBINED_ADDED 5
#define COMBINED_LOOK_AFTER 6
#define COMBINED_FULL 7
#define COMBINED_SCALES 8
#define COMBINED_MOVED 16
#define COMBINED_CLOSED 17

// The table number `number` of as many as there are; none of them: it holds as many rows as all of its sizes together.
inline __global ulong *combined_rows(__global ulong *combined, ulong tables, ulong most, ulong number)
{
    return combined + COMBINED_HEAD * tables + ((ulong)COMBINED_ROW_WORDS << (most + 1)) * number;
}

inline ulong combined_take(__global ulong *combined, ulong tables)
{
    for (ulong t = 0; t < tables; t++)
        if (atomic_cmpxchg((volatile __global uint *)(combined + COMBINED_HEAD * t), 0u, 1u) == 0u) {
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            return t;
        }
    return tables;
}

inline void combined_leave(__global ulong *combined, ulong tables, ulong number)
{
    if (number >= tables) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg((volatile __global uint *)(combined + COMBINED_HEAD * number), 0u);
}

// Once a table is as good as full, and most records are not found there, it is no longer looked at.
inline bool combined_pays(__global const ulong *head)
{
    return !head[COMBINED_CLOSED] && (head[3] < COMBINED_LOOK || head[4] >= head[3] / 4);
}
