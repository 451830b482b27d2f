#pragma once

// A value that does not lie at a multiple of its size.
inline void put_bytes(__global uchar *at, ulong bits, uint size)
{
    for (uint b = 0; b < size; b++) at[b] = (uchar)(bits >> 8 * b);
}
