#pragma once
// Words of the device table, which several work-items may change at once. OpenCL 1.2 has 64-bit add and compare-and-swap everywhere we run; bits go by halves.
// LOOK: a word's value for a first guess, which the atomic operation after it makes sure of. A plain read is quick and, for a race detector, a race.
inline void device_add(volatile __global long *word, long v) { if (v != 0) atom_add(word, v); }
inline void device_max(volatile __global long *word, ulong key)
{
    ulong old = (ulong)LOOK(word);
    while (key > old) {
        ulong seen = atom_cmpxchg((volatile __global ulong *)word, old, key);
        if (seen == old) return;
        old = seen;
    }
}
inline void device_or(volatile __global long *word, ulong bits)
{
    volatile __global uint *half_word = (volatile __global uint *)word;
    if ((uint)bits) atomic_or(half_word, (uint)bits);
    if ((uint)(bits >> 32)) atomic_or(half_word + 1, (uint)(bits >> 32));
}
inline void device_xor(volatile __global long *word, ulong bits)
{
    volatile __global uint *half_word = (volatile __global uint *)word;
    if ((uint)bits) atomic_xor(half_word, (uint)bits);
    if ((uint)(bits >> 32)) atomic_xor(half_word + 1, (uint)(bits >> 32));
}

