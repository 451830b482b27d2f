//# SUPERACCUMULATOR_LIMBS 12 | 69
#pragma once
// Rounding to nearest, ties to even: the one place in kernels where an exact sum becomes a float or a double, once, when it is read (accum/rounding.h
// is its like on the host).

// A count of multiples of `unit`, a power of two: where it and all its multiples that come are zero or normal numbers, converting the count is the
// only rounding. (Scales keep it so: accum/fixed_point.cl.)
inline float round_float(long count, float unit) { return (float)count * unit; }

// The sum of a superaccumulator, as IEEE bits. (Kulisch, "Advanced Arithmetic for the Digital Computer", 2002.)
// The digits become limbs of 32 bits, of the absolute value, lowest first.
inline bool superaccumulator_limbs(__global const long *cell, uint digits, uint *limb)
{
    long rest = 0;
    for (uint i = 0; i + 1 < digits; i++) {
        const long digit = cell[i] + rest;
        limb[i] = (uint)digit;
        rest = digit >> 32;
    }
    const long last = cell[digits - 1] + rest;
    limb[digits - 1] = (uint)last;
    limb[digits] = (uint)((ulong)last >> 32);
    limb[digits + 1] = limb[digits + 2] = 0;
    if (last >= 0) return false;
    ulong carry = 1;                    // two's complement: invert and add one
    for (uint i = 0; i <= digits; i++) {
        carry += (uint)~limb[i];
        limb[i] = (uint)carry;
        carry >>= 32;
    }
    return true;
}
// 64 bits from bit `first` on.
inline ulong limb_bits(const uint *limb, uint first)
{
    const uint at = first / 32, shift = first % 32;
    const ulong low = limb[at] | (ulong)limb[at + 1] << 32;
    return shift ? low >> shift | (ulong)limb[at + 2] << (64 - shift) : low;
}
inline ulong superaccumulator_magnitude(const uint *limb, uint digits, uint fraction_bits, uint exponent_mask, ulong infinity)
{
    int top = (int)digits;
    while (top >= 0 && limb[top] == 0) top--;
    const int highest = top < 0 ? -1 : 32 * top + 31 - (int)clz(limb[top]), precision = (int)fraction_bits + 1;
    if (highest < precision) return limb_bits(limb, 0);        // exact: zero, a denormal, the first binade
    const uint shift = (uint)(highest - precision + 1);
    if (shift + 1 >= exponent_mask) return infinity;
    const ulong mantissa = limb_bits(limb, shift);
    const bool half_way = limb[(shift - 1) / 32] >> (shift - 1) % 32 & 1;
    bool more = (limb[(shift - 1) / 32] & ((1U << (shift - 1) % 32) - 1)) != 0;
    for (uint i = 0; i < (shift - 1) / 32; i++) more |= limb[i] != 0;
    const ulong bits = ((ulong)shift << fraction_bits) + mantissa + (half_way && (more || (mantissa & 1)));
    return min(bits, infinity);
}
inline ulong superaccumulator_round(__global const long *cell, uint digits, uint fraction_bits, uint exponent_mask, ulong sign, ulong infinity)
{
    const long flags = cell[digits];    // 1: NaN, 2: infinity, 4: negative infinity
    if (flags & 1 || (flags & 6) == 6) return infinity | 1UL << (fraction_bits - 1);
    if (flags) return flags & 4 ? sign | infinity : infinity;
    uint limb[SUPERACCUMULATOR_LIMBS];
    const bool negative = superaccumulator_limbs(cell, digits, limb);
    const ulong magnitude = superaccumulator_magnitude(limb, digits, fraction_bits, exponent_mask, infinity);
    return negative ? sign | magnitude : magnitude;
}
inline ulong superaccumulator_round_float(__global const long *cell) { return superaccumulator_round(cell, 9, 23, 0xff, 0x80000000UL, 0x7f800000UL); }
inline ulong superaccumulator_round_double(__global const long *cell)
{
    return superaccumulator_round(cell, 66, 52, 0x7ff, 0x8000000000000000UL, 0x7ff0000000000000UL);
}
