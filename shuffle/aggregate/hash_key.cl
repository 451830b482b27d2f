//# MIXED_BYTES 4 | 8
#pragma once
// Mixed keys (record/key_hash.h): one-to-one, and their upper 32 bits are the key's hash.
inline uint mix32(uint x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
inline uint unmix32(uint x)
{
    x = (x ^ x >> 16) * 0x43021123u;
    x = (x ^ x >> 15 ^ x >> 30) * 0x1d69e2a5u;
    return x ^ x >> 16;
}
inline ulong mix64(ulong x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;
    return x ^ x >> 31;
}
inline ulong unmix64(ulong x)
{
    x = (x ^ x >> 31 ^ x >> 62) * 0x319642b2d24d8ec3UL;
    x = (x ^ x >> 27 ^ x >> 54) * 0x96de1b173f119089UL;
    return x ^ x >> 30 ^ x >> 60;
}
#if MIXED_BYTES == 4
#define MIXED uint
#define HASH_OF(m) (m)
#define TAG_CHANGE atomic_cmpxchg
#define MIXED_OF(tag, part, bits) ((tag) >> 1 | (uint)((part) >> ((bits) - 1)) << 31)
#else
#define MIXED ulong
#define HASH_OF(m) ((uint)((m) >> 32))
#define TAG_CHANGE atom_cmpxchg
#define MIXED_OF(tag, part, bits) ((tag) >> 1 | (ulong)((part) >> ((bits) - 1)) << 63)
#endif
// Tags in the order of their keys: by hash, keys of one hash by themselves. `top`: the first bit, which tags lack.
inline bool comes_before(ulong a, ulong b, ulong top)
{
    if (a >> 33 != b >> 33) return a < b;
    return unmix64(a >> 1 | top) < unmix64(b >> 1 | top);
}
