#pragma once
// Words of tables that came from other devices, one behind the other in `from`, meet this one's from word `first` on: sums at the same scale, or words of one
// operation (hdst__word_op).
#define ADD_WORDS_GROUP 256

__kernel __attribute__((reqd_work_group_size(ADD_WORDS_GROUP, 1, 1)))
void add_words(__global ulong *restrict to, ulong first, __global const ulong *restrict from, ulong words, ulong tables, ulong op)
{
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        ulong all = to[first + i];
        for (ulong t = 0; t < tables; t++) {
            const ulong one = from[t * words + i];
            all = op == 0 ? all + one : op == 1 ? max(all, one) : op == 2 ? all | one : all ^ one;
        }
        to[first + i] = all;
    }
}
