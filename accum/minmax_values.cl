#pragma once

// The float or double that a key of minimum (counted from the other end) or maximum stands for.
inline ulong value_of_key(ulong key, bool is_min, ulong sign, ulong infinity, ulong quiet_nan)
{
    const ulong last = 2 * infinity + 1;
    if (key > last) return quiet_nan;
    const ulong rank = is_min ? last - key : key;
    return rank <= infinity ? sign | (infinity - rank) : rank - infinity - 1;
}
