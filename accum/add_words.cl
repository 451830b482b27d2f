#pragma once
// Words of a table that came from another device meet this one's: sums at the same scale, or words of one operation (hdst__word_op).
#define ADD_WORDS_GROUP 256

__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void add_words(__global ulong *restrict to, __global const ulong *restrict from, ulong words, ulong op)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0))
        to[i] = op == 0 ? to[i] + from[i] : op == 1 ? max(to[i], from[i]) : op == 2 ? to[i] | from[i] : to[i] ^ from[i];
}
