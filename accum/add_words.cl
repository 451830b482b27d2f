#pragma once
// Words of a table that came from another device, added to this one's at the same scale. All of them are sums.
#define ADD_WORDS_GROUP 256

__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void add_words(__global long *restrict to, __global const long *restrict from, ulong words)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) to[i] += from[i];
}
