#pragma once
// Loads of records that are read once, in functions that look up others: these stay in the caches (PTX: ld.cs, "likely accessed once").

#if defined(__NV_CL_C_VERSION)
inline uint2 streamed_uint2(__global const uint2 *from)
{
    uint2 v;
    asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
    return v;
}
inline uint4 streamed_uint4(__global const uint4 *from)
{
    uint4 v;
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}
#else
inline uint2 streamed_uint2(__global const uint2 *from) { return *from; }
inline uint4 streamed_uint4(__global const uint4 *from) { return *from; }
#endif
