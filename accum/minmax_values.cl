#pragma once

// The bits of the float or double that a key of minimum (counted from the other end) or maximum stands for.
inline ulong value_of_key(ulong key, bool is_min, ulong sign, ulong infinity, ulong quiet_nan)
{
    const ulong last = 2 * infinity + 1;
    if (key > last) return quiet_nan;
    const ulong rank = is_min ? last - key : key;
    return rank <= infinity ? sign | (infinity - rank) : rank - infinity - 1;
}
inline ulong float_of_key(ulong key, bool is_min) { return value_of_key(key, is_min, 0x80000000UL, 0x7f800000UL, 0x7fc00000UL); }
inline ulong double_of_key(ulong key, bool is_min)
{
    return value_of_key(key, is_min, 0x8000000000000000UL, 0x7ff0000000000000UL, 0x7ff8000000000000UL);
}
