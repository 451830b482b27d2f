//# COPIES 4
#pragma once
// Tables of a work-group in local memory: COPIES of them interleaved, so that the lanes of a warp hit different banks and rarely the same word.
// A 64-bit word is two 32-bit words, COPIES apart, with a carry.
inline void local_add64(volatile __local uint *low, long v)
{
    uint part = (uint)v, old = atomic_add(low, part);
    atomic_add(low + COPIES, (uint)(v >> 32) + ((uint)(old + part) < old));
}
// The same of two words `stride` apart, mostly of small numbers.
inline void strided_add64(volatile __local uint *low, uint stride, long v)
{
    const uint part = (uint)v, old = atomic_add(low, part), high = (uint)(v >> 32) + ((uint)(old + part) < old);
    if (high) atomic_add(low + stride, high);
}
inline void local_add32(volatile __local uint *word, long v) { atomic_add(word, (uint)v); }
inline void local_max32(volatile __local uint *word, ulong key) { if ((uint)key > LOOK_LOCAL(word)) atomic_max(word, (uint)key); }
// Of a word in one piece, as two words apart cannot have their maximum taken.
inline void whole_max64(volatile __local ulong *word, ulong key)
{
    ulong old = (ulong)LOOK(word);
    while (key > old) {
        const ulong seen = atom_cmpxchg(word, old, key);
        if (seen == old) return;
        old = seen;
    }
}
inline void local_or32(volatile __local uint *word, ulong bits) { atomic_or(word, (uint)bits); }
inline void local_xor32(volatile __local uint *word, ulong bits) { atomic_xor(word, (uint)bits); }
inline void local_or64(volatile __local uint *low, ulong bits)
{
    atomic_or(low, (uint)bits);
    atomic_or(low + COPIES, (uint)(bits >> 32));
}
inline void local_xor64(volatile __local uint *low, ulong bits)
{
    atomic_xor(low, (uint)bits);
    atomic_xor(low + COPIES, (uint)(bits >> 32));
}
// What all copies of a word come to; they are zero afterwards.
#define TAKE32(NAME, COMBINE)                                                                              \
    inline ulong take_##NAME##32(volatile __local uint *word)                                              \
    {                                                                                                      \
        ulong all = 0;                                                                                     \
        for (uint c = 0; c < COPIES; c++) {                                                                \
            ulong one = word[c];                                                                           \
            all = COMBINE;                                                                                 \
            word[c] = 0;                                                                                   \
        }                                                                                                  \
        return all;                                                                                        \
    }
#define TAKE64(NAME, COMBINE)                                                                              \
    inline ulong take_##NAME##64(volatile __local uint *low)                                               \
    {                                                                                                      \
        ulong all = 0;                                                                                     \
        for (uint c = 0; c < COPIES; c++) {                                                                \
            ulong one = ((ulong)low[COPIES + c] << 32) + low[c];                                           \
            all = COMBINE;                                                                                 \
            low[c] = low[COPIES + c] = 0;                                                                  \
        }                                                                                                  \
        return all;                                                                                        \
    }
TAKE32(add, all + one)
TAKE32(max, max(all, one))
TAKE32(or, all | one)
TAKE32(xor, all ^ one)
TAKE64(add, all + one)
TAKE64(or, all | one)
TAKE64(xor, all ^ one)

