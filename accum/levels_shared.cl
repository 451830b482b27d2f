// On devices that have doubles: products b * a0, b * a1 ... of floats that share the factor b, and b itself, without a look at each of them. Groups with other
// factors b, but the same a, are a family. What is looked at is each record's factors: they tell what its products are at least, and the sum of the |b| of a
// lane, beside the greatest |a|, what the sums of a block are at most. Between these two ends, 20 binades, two levels of floats lose nothing in 16 additions:
// the first beside a base that rounds, the second plain. A block's sums then go to those in double (levels_double_path.cl). Records with a smaller product, or
// zeros, are put aside until they fill a block of their own, which goes to the sums in double addend by addend.
//
// Magnitudes are compared by the bits of floats, which are nearly a logarithm: of normal numbers x, y of exponents e, f and fractions m, n in [0, 1) the bits'
// sum says e + f + m + n, and log2(x * y) is no less.
#pragma once
#include "accum/levels_float.cl"
// FAMILY_BELOW: by so many binades the sums in double reach lower than the two levels. FAMILY_MOVES: how often a family takes other binades in a strip.
enum { FAMILY_BINADES = 20, FAMILY_BELOW = 5, FAMILY_PART = 256, FAMILY_MOVES = 64, FAMILY_LEAST = -100, FAMILY_GREATEST = 100, FAMILY_GROUPS = 8 };
typedef struct family_sum {
    float_levels *sum;
    volatile __global long *cell;
    uint last;
    int lowest;
    float base, up;             // what its first level starts from; units of the second in 1
} family_sum;
// Arrays are the kernel's. What is put aside takes rows of `room` numbers: a row for each b, then for each a.
typedef struct family {
    family_sum *sums;               // of the first group: its products, then b; of the next
    float *aside;
    int *top;                       // of each b: what a lane's sum of |b| over a block is below, as exponent; of each a: what |a| is at most
    uint groups, products, count;   // count: sums of a group
    uint room, records;             // of a block
    uint held;                      // records put aside
    uint settled;                   // all sums are in double, in the binades that `top` says, and nobody else adds to them
    uint turns;                     // additions to each lane since they were emptied
    uint fails, pause, moves;       // blocks in a row that did not fit, and for how many nobody tries
    uint found;                     // records of this block that are put aside, and which
    ushort at[LEVELS_BLOCK];
} family;
inline void family_start(family *f, family_sum *sums, float *aside, int *top, uint groups, uint products, uint count, uint records)
{
    f->sums = sums, f->aside = aside, f->top = top;
    f->groups = groups, f->products = products, f->count = count;
    f->records = records, f->room = records + records / 8;
    f->held = f->settled = f->turns = f->fails = f->pause = f->moves = f->found = 0;
}
// A fused multiply-add, or not: so that additions share out among the processor's ports.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define PLUS_FUSED(a, b) fma(a, one, b)
#else
#define PLUS_FUSED(a, b) ((a) + (b))
#endif
// What has this bit pattern is 2^top.
inline int family_bits(int top) { return (127 + top) << 23; }
// Of the two levels, in whose units levels' `units` are: a sum of 2^22 of the first, and 16 remainders of 2^-1 of the first in 2^24 of the second.
inline int family_unit(int top, uint level) { return top - (level ? 43 : 22); }
inline int family_low(int top) { return top - FAMILY_BINADES - FAMILY_BELOW; }
inline int family_top(const family *f, uint group, uint i) { return f->top[group] + (i < f->products ? f->top[f->groups + i] : 0); }

// --- What was put aside ---

// Zeros are nothing to add; what is too small for the sum in double goes to the cell.
inline void family_take_aside(const family_sum *to, const float *b, const float *a, uint records)
{
    const uint least = (uint)(127 + to->sum->low) << 24;
    for (uint r = 0; r < records; r += 16) {
        const float16 factor = *(const packed_float16 *)(b + r), v = a ? factor * *(const packed_float16 *)(a + r) : factor;
        const uint16 magnitude = as_uint16(v) << 1, small = as_uint16(magnitude < (uint16)(least)) & magnitude;
        const float16 held = as_float16(as_uint16(v) & ~as_uint16(magnitude < (uint16)(least)));
        to->sum->in_double[0] += convert_double8(held.lo);
        to->sum->in_double[1] += convert_double8(held.hi);
        if (!any_bit_float(small)) continue;
        for (uint n = r; n < r + 16; n++) {
            const float one = a ? b[n] * a[n] : b[n];
            if (one != 0 && as_uint(one) << 1 < least) levels_to_cell_float(to->cell, to->last, to->lowest, one);
        }
    }
}
// Room for so many additions to each lane.
__attribute__((noinline)) void family_empty(family *f)
{
    for (uint i = 0; i < f->groups * f->count; i++) {
        const family_sum *to = f->sums + i;
        // In units of 2^(low - 23), which is 2^(top - 48).
        to->sum->double_path_units[0] += (convert_long8(to->sum->units[0].lo) << 26) + (convert_long8(to->sum->units[1].lo) << 5);
        to->sum->double_path_units[1] += (convert_long8(to->sum->units[0].hi) << 26) + (convert_long8(to->sum->units[1].hi) << 5);
        to->sum->units[0] = to->sum->units[1] = 0;
        levels_empty_float(to->sum);
        if (to->sum->emptied >= 256) levels_publish_float(to->sum, to->cell, to->last, to->lowest);
    }
    f->turns = 0;
}
inline void family_ready(family *f, uint turns)
{
    if (f->turns + turns > LEVELS_BLOCK / 16) family_empty(f);
    f->turns += turns;
}
__attribute__((noinline)) void family_add_aside(family *f)
{
    const uint taken = min(f->held, f->records), whole = (taken + 15) / 16 * 16, rows = f->groups + f->products;
    for (uint k = 0; taken < whole && k < rows; k++)
        for (uint r = taken; r < whole; r++) f->aside[k * f->room + r] = 0;
    family_ready(f, whole / 16);
    for (uint g = 0; g < f->groups; g++)
        for (uint i = 0; i < f->count; i++)
            family_take_aside(f->sums + g * f->count + i, f->aside + g * f->room, i < f->products ? f->aside + (f->groups + i) * f->room : 0, whole);
    f->held -= taken;
    for (uint k = 0; f->held && k < rows; k++)
        for (uint r = 0; r < f->held; r++) f->aside[k * f->room + r] = f->aside[k * f->room + taken + r];
}
// From now on others may add to the sums.
__attribute__((noinline)) void family_end(family *f)
{
    if (!f->settled) return;
    if (f->held) family_add_aside(f);
    family_empty(f);
    f->settled = 0;
}

// --- Which binades ---

inline bool family_choose(int *top, float most, bool grows)
{
    const int chosen = (int)(as_uint(most) >> 23) - 127 + 1;
    *top = grows ? max(*top, chosen) : chosen;
    return *top >= FAMILY_LEAST && *top <= FAMILY_GREATEST;
}
// By the factors of this block. `grows`: no top becomes less. A lane's sum may grow by a quarter at least.
inline bool family_choose_all(family *f, const float *const *b, __global const float *const *a, bool grows)
{
    for (uint g = 0; g < f->groups; g++) {
        float most = 0;
        for (uint n = 0; n < 16; n++) {
            float sum = 0;
            for (uint r = n; r < f->records; r += 16) sum += fabs(b[g][r]);
            most = max(most, sum);
        }
        if (!family_choose(f->top + g, 1.25f * most, grows)) return false;
    }
    for (uint i = 0; i < f->products; i++) {
        uint most = 0;
        for (uint r = 0; r < f->records; r++) most = max(most, as_uint(a[i][r]) & 0x7fffffffu);
        if (!family_choose(f->top + f->groups + i, as_float(most), grows)) return false;
    }
    return true;
}
inline void family_move(family_sum *to, int top)
{
    const int low = family_low(top);
    to->base = level_base_float(family_unit(top, 0));
    to->up = as_float((uint)(127 - family_unit(top, 1)) << 23);
    if (!on_double_path_float(to->sum) || to->sum->low != low) {
        levels_publish_float(to->sum, to->cell, to->last, to->lowest);
        to->sum->count = DOUBLE_PATH;
        to->sum->low = low;
        for (uint h = 0; h < 2; h++) {
            to->sum->in_double[h] = 0;
            to->sum->double_path_units[h] = 0;
        }
    }
    to->sum->units[0] = to->sum->units[1] = 0;
}
inline void family_fail(family *f)
{
    f->pause = f->fails;
    f->fails = min(2 * f->fails + 1, 63u);
}
// All sums take binades that hold this block.
__attribute__((noinline)) bool family_settle(family *f, const float *const *b, __global const float *const *a, bool grows)
{
    if (f->pause && !grows) {
        f->pause--;
        return false;
    }
    bool may = f->moves < FAMILY_MOVES && family_choose_all(f, b, a, grows);
    for (uint g = 0; may && g < f->groups; g++)
        for (uint i = 0; may && i < f->count; i++) may = family_top(f, g, i) <= FAMILY_GREATEST && family_low(family_top(f, g, i)) >= FAMILY_LEAST;
    if (!may) {
        family_fail(f);
        return false;
    }
    for (uint g = 0; g < f->groups; g++)
        for (uint i = 0; i < f->count; i++) family_move(f->sums + g * f->count + i, family_top(f, g, i));
    family_empty(f);
    f->moves++;
    f->settled = 1;
    return true;
}

// --- A block ---

// Whether the tops hold. aside: a bit for each record with a product that may be too small: of 16 records' lanes the bit of how many come before.
// `products`, `groups` and `records` are constants where this is called.
inline __attribute__((always_inline)) bool family_fits(const family *f, uint16 *aside, const float *const *b, __global const float *const *a,
    const uint products, const uint groups, const uint records)
{
    int top[FAMILY_GROUPS + 4];
    int16 most[4];
    float16 sum[FAMILY_GROUPS];
    uint16 outside = 0, small = 0, bit = 1;
#pragma unroll
    for (uint k = 0; k < groups + products; k++) top[k] = family_bits(f->top[k]);
#pragma unroll
    for (uint g = 0; g < groups; g++) sum[g] = 0;
#pragma unroll
    for (uint i = 0; i < products; i++) most[i] = 0;
    for (uint r = 0; r < records; r += 16, bit += bit) {
        int16 least_a = INT_MAX, least_b = INT_MAX;
#pragma unroll
        for (uint i = 0; i < products; i++) {
            const int16 magnitude = as_int16(*(__global const packed_float16 *)(a[i] + r)) & 0x7fffffff;
            least_a = min(least_a, magnitude - top[groups + i]);
            most[i] = max(most[i], magnitude);
        }
#pragma unroll
        for (uint g = 0; g < groups; g++) {
            const int16 magnitude = as_int16(*(const packed_float16 *)(b[g] + r)) & 0x7fffffff;
            least_b = min(least_b, magnitude - top[g]);
            sum[g] += as_float16(magnitude);
        }
        small |= as_uint16(least_b < -(FAMILY_BINADES << 23) - least_a) & bit;
    }
    // 0.99: what a float sum of 32 numbers rounds is far less. NaN is outside, too.
#pragma unroll
    for (uint g = 0; g < groups; g++) outside |= ~as_uint16(sum[g] <= 0.99f * as_float(top[g]));
#pragma unroll
    for (uint i = 0; i < products; i++) outside |= as_uint16(most[i] > top[groups + i]);
    *aside = small;
    return !any_bit_float(outside);
}
inline void family_find(family *f, uint16 aside)
{
    const ulong8 lanes = as_ulong8(aside);
    const ulong *lane = (const ulong *)&lanes;
    uint found = 0;
    for (uint n = 0; n < 8; n++)
        for (ulong left = lane[n]; left; left &= left - 1) {
            const uint bit = 63 - (uint)clz(left & -left);
            f->at[found++] = (ushort)(bit % 32 * 16 + 2 * n + bit / 32);
        }
    f->found = found;
}
// Their b become zeros, until family_restore.
inline void family_put_aside(family *f, float *const *b, __global const float *const *a)
{
    for (uint k = 0; k < f->found; k++) {
        const uint r = f->at[k];
        float *to = f->aside + f->held + k;
        for (uint g = 0; g < f->groups; g++) {
            to[g * f->room] = b[g][r];
            b[g][r] = 0;
        }
        for (uint i = 0; i < f->products; i++) to[(f->groups + i) * f->room] = a[i][r];
    }
    f->held += f->found;
}
inline void family_restore(family *f, float *const *b)
{
    const float *from = f->aside + f->held - f->found;
    for (uint k = 0; k < f->found; k++)
        for (uint g = 0; g < f->groups; g++) b[g][f->at[k]] = from[g * f->room + k];
    if (f->held >= f->records) family_add_aside(f);
}
// Whether the tops hold: then `found` is set.
inline __attribute__((always_inline)) bool family_look(family *f, const float *const *b, __global const float *const *a, const uint products,
    const uint groups, const uint records)
{
    uint16 aside;
    if (!family_fits(f, &aside, b, a, products, groups, records)) return false;
    family_find(f, aside);
    return true;
}
// Whether family_take may add the block. `products`, `groups` and `records` are constants where this is called.
inline __attribute__((always_inline)) bool family_holds(family *f, float *const *b, __global const float *const *a, const uint products,
    const uint groups, const uint records)
{
    const float *const *read_b = (const float *const *)b;
    bool holds = false;
    // The second time with greater tops.
    for (uint turn = 0; turn < 2 && !holds; turn++) {
        if (!f->settled && !family_settle(f, read_b, a, turn)) return false;
        holds = family_look(f, read_b, a, products, groups, records);
        if (!holds) family_end(f);
    }
    if (!holds || f->found > records / 8) {
        family_end(f);
        family_fail(f);
        return false;
    }
    f->fails = 0;
    family_ready(f, 1);
    family_put_aside(f, b, a);
    return true;
}
// Adds all groups' products, and b where there is one sum more. `products`, `count` and `records` are constants where this is called.
inline __attribute__((always_inline)) void family_take(const family *f, float *const *b, __global const float *const *a, const uint products,
    const uint count, const uint records)
{
    const float16 one = f->sums->sum->one;
    for (uint g = 0; g < f->groups; g++) {
        const family_sum *to = f->sums + g * count;
        const float *const of = b[g];
        for (uint part = 0; part < records; part += FAMILY_PART) {
            float16 first[5], second[5];
#pragma unroll
            for (uint i = 0; i < count; i++) {
                first[i] = to[i].base;
                second[i] = 0;
            }
            for (uint r = part; r < records && r < part + FAMILY_PART; r += 16) {
                const float16 factor = *(const packed_float16 *)(of + r);
#pragma unroll
                for (uint i = 0; i < count; i++) {
                    const float16 v = i < products ? factor * *(__global const packed_float16 *)(a[i] + r) : factor;
                    const float16 now = i % 2 == 0 ? PLUS_FUSED(first[i], v) : first[i] + v;
                    second[i] += LESS(v, now - first[i]);
                    first[i] = now;
                }
            }
#pragma unroll
            for (uint i = 0; i < count; i++) {
                to[i].sum->units[0] += as_int16(first[i]) - as_int(to[i].base);
                to[i].sum->units[1] += convert_int16(second[i] * to[i].up);
            }
        }
    }
}
