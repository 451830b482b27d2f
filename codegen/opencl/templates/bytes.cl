#pragma once
// Fields that are not aligned to their size, as a packed record has them. In a packed struct they are read and written in one go where the device can; PoCL's
// vstore goes byte by byte, and its vload hides from loops that they could be vectors.

#define BY_BYTES(T)                                                                                        \
    inline T read_##T(__global const uchar *at)                                                            \
    {                                                                                                      \
        struct __attribute__((packed, may_alias)) anywhere { T value; };                                   \
        return ((__global const struct anywhere *)at)->value;                                              \
    }                                                                                                      \
    inline void write_##T(__global uchar *at, T v)                                                         \
    {                                                                                                      \
        struct __attribute__((packed, may_alias)) anywhere { T value; };                                   \
        ((__global struct anywhere *)at)->value = v;                                                       \
    }
BY_BYTES(short)
BY_BYTES(ushort)
BY_BYTES(int)
BY_BYTES(uint)
BY_BYTES(long)
BY_BYTES(ulong)
BY_BYTES(float)

