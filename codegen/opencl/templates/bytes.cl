#pragma once
// Fields that are not aligned to their size, as a packed record has them, are read and written by bytes.

#define BY_BYTES(T, N)                                                                                     \
    inline T read_##T(__global const uchar *at) { return as_##T(vload##N(0, at)); }                        \
    inline void write_##T(__global uchar *at, T v) { vstore##N(as_uchar##N(v), 0, at); }
BY_BYTES(short, 2)
BY_BYTES(ushort, 2)
BY_BYTES(int, 4)
BY_BYTES(uint, 4)
BY_BYTES(long, 8)
BY_BYTES(ulong, 8)
BY_BYTES(float, 4)

