#pragma once
// Words of tables that came from other devices, one behind the other in `from` from word `at` on, meet this one's from word `first` on: sums at the same
// scale, or words of one operation (hdst__word_op). Words of which 32 bits say all travel as these (narrow_words).
#define ADD_WORDS_GROUP 256

ulong meet_words(ulong a, ulong b, ulong op) { return op == 0 ? a + b : op == 1 ? max(a, b) : op == 2 ? a | b : a ^ b; }

__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void add_words(__global ulong *restrict to, ulong first, __global const ulong *restrict from, ulong at, ulong words, ulong tables, ulong op)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        ulong all = to[first + i];
        for (ulong t = 0; t < tables; t++) all = meet_words(all, from[at + t * words + i], op);
        to[first + i] = all;
    }
}

// What the words of a table have of bits: all of them together, and the same of their distance from 0, or from -1 below it; by work-group.
__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void span_words(__global const ulong *restrict table, ulong words, __global ulong *restrict spans)
{
    __local ulong own[2 * ADD_WORDS_GROUP];
    ulong bits = 0, size = 0;
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        const ulong word = table[i];
        bits |= word;
        size |= word ^ (ulong)((long)word >> 63);
    }
    own[get_local_id(0)] = bits;
    own[ADD_WORDS_GROUP + get_local_id(0)] = size;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0)) return;
    for (uint i = 1; i < ADD_WORDS_GROUP; i++) {
        bits |= own[i];
        size |= own[ADD_WORDS_GROUP + i];
    }
    spans[2 * get_group_id(0)] = bits;
    spans[2 * get_group_id(0) + 1] = size;
}

__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void narrow_words(__global const ulong *restrict table, ulong words, ulong shift, __global uint *restrict narrow)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) narrow[i] = (uint)((long)table[i] >> shift);
}

// Such words, from number `at` of `from` on: those of sums have a sign.
__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void add_narrow_words(__global ulong *restrict to, ulong first, __global const uint *restrict from, ulong at, ulong words, ulong shift, ulong op)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        const ulong word = op == 0 ? (ulong)(long)(int)from[at + i] << shift : (ulong)from[at + i];
        to[first + i] = meet_words(to[first + i], word, op);
    }
}
